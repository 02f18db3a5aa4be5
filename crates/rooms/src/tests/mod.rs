//! Tests of rooms: a real store in memory, real rooms, and everything that people are sent.

mod commenting;
mod failing;
mod fixture;
mod importing;
mod people;
mod previewing;
mod proposing;
mod reporting;
mod reviewing;
mod rules;
mod ruling;
mod settings;

mod suggesting;
mod timing;
mod undoing;
mod writing;

use copydesk_ids::MemberId;
use copydesk_ids::permissions::{Principal, Role};

use super::command::{ClientCapabilities, JoiningMember};

/// Returns a person with a role.
fn person(name: &str, role: Role) -> Principal {
    Principal::new(name, name.to_uppercase(), role)
}

/// Returns the person of this name. Ana is an owner, Rex a reviewer, Vic a viewer; all others are
/// editors.
fn who(name: &str) -> Principal {
    let role = match name {
        "ana" => Role::Owner,
        "rex" => Role::Reviewer,
        "vic" => Role::Viewer,
        _ => Role::Editor,
    };
    person(name, role)
}

/// Returns the connection of a person, named like them.
fn member(name: &str) -> JoiningMember {
    JoiningMember {
        id: MemberId::from(name),
        principal: who(name),
        capabilities: ClientCapabilities::default(),
    }
}
