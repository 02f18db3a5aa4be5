//! Who may do what, as one match: principals, roles, actions. Pure.

use serde::{Deserialize, Serialize};

use crate::ids::{DocumentId, UserId};

/// What a token allows, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything, tokens and server settings included.
    Owner,
    /// Write, ask the agent, and decide.
    Editor,
    /// Read and decide, but not write.
    Reviewer,
    /// Read.
    Viewer,
}

impl Role {
    /// The role's name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Editor => "editor",
            Self::Reviewer => "reviewer",
            Self::Viewer => "viewer",
        }
    }

    /// The role with that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Owner, Self::Editor, Self::Reviewer, Self::Viewer]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

/// A person as the server knows them: the owner of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Whose token it is; two connections with the same token are the same person.
    pub user: UserId,
    /// The name others see; never used to decide anything.
    pub name: String,
    /// What the token allows.
    pub role: Role,
    /// The only document the token reaches, if it was issued for one.
    pub document: Option<DocumentId>,
}

/// Something a person wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open a document, its history and its requests.
    Read,
    /// Type into a document or rename it.
    Write,
    /// Ask the agent for something.
    Ask,
    /// Accept, reject or undo a proposed change.
    Decide,
    /// Read the audit log of a document.
    Audit,
    /// Create a document.
    Create,
    /// Delete a document or change its review settings.
    Manage,
    /// Run a shell command proposed by the agent.
    Command,
    /// Change server settings and issue or revoke tokens.
    Administer,
}

impl Principal {
    /// Whether this person may do `action` to `document` (`None`: to the server as a whole).
    ///
    /// A token issued for one document reaches nothing else.
    pub fn may(&self, action: Action, document: Option<&DocumentId>) -> bool {
        if let Some(only) = &self.document
            && document != Some(only)
        {
            return false;
        }
        match action {
            Action::Read => true,
            Action::Decide => matches!(self.role, Role::Owner | Role::Editor | Role::Reviewer),
            Action::Write | Action::Ask | Action::Create | Action::Audit => {
                matches!(self.role, Role::Owner | Role::Editor)
            }
            Action::Manage | Action::Command | Action::Administer => self.role == Role::Owner,
        }
    }
}
