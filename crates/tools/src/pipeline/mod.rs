//! Parts of the [approval step](super::approval_step), which calls them in a fixed order.

pub mod approval;
pub mod audit;
mod checks;
pub mod cross_document;
pub(crate) mod cross_document_consent;
pub(crate) mod document_path_rules;
pub(crate) mod elisions;
pub(crate) mod execute;
pub(crate) mod file_warnings;
pub mod format;
pub mod freeze;
pub mod hooks;
pub mod inbox_approval;
pub mod input_hooks;
pub(crate) mod invisible_chars;
pub(crate) mod open_file;
mod open_file_routing;
pub(crate) mod other_servers;
pub(crate) mod rule_targets;
mod target_room;
pub mod unread;

pub use hooks::{HookDenial, HookLists};

/// Hooks that every server runs.
pub const HOOKS: HookLists = HookLists {
    before: &[input_hooks::range, input_hooks::content_size],
    proposed: &[
        input_hooks::written_size,
        input_hooks::no_nul,
        unread::deny_removing_unread,
        unread::deny_overwriting_filled,
        unread::deny_second_rewrite,
        freeze::frozen,
        freeze::selection,
    ],
    after: &[format::stamp, audit::log],
};
