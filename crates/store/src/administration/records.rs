//! Records of the administration.

use crate::records::LoginRecord;
use copydesk_ids::permissions::Role;
use copydesk_ids::{DocumentId, UserId};
use copydesk_macros::record;

/// Calls that a spending limit is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpendingScope {
    /// All calls of the server.
    Server,
    /// Calls of each person who has no limit of their own.
    Everyone,
    /// Calls of one person.
    Person(UserId),
    /// Calls about one document.
    Document(DocumentId),
}

impl SpendingScope {
    /// Returns the name of the kind, on the wire and in the store.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Everyone => "everyone",
            Self::Person(_) => "person",
            Self::Document(_) => "document",
        }
    }

    /// Returns the identifier of the person or document; empty if it is about no single one.
    pub fn subject(&self) -> &str {
        match self {
            Self::Server | Self::Everyone => "",
            Self::Person(user) => user.as_str(),
            Self::Document(document) => document.as_str(),
        }
    }

    /// Returns the scope of this kind and subject; `None` for an unknown kind.
    pub fn of(kind: &str, subject: &str) -> Option<Self> {
        match kind {
            "server" => Some(Self::Server),
            "everyone" => Some(Self::Everyone),
            "person" => Some(Self::Person(subject.into())),
            "document" => Some(Self::Document(subject.into())),
            _ => None,
        }
    }
}

/// Limit of what a calendar month may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingLimit {
    /// Calls that it is about.
    pub scope: SpendingScope,
    /// Limit in billionths of a US dollar.
    pub amount: u64,
}

/// Cost of one answer of a model, or of a try that gave none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingEntry {
    /// Time of the answer, in milliseconds since 1970; its month pays.
    pub at_ms: u64,
    /// Person for whom the model was called.
    pub user: UserId,
    /// Document that the call was about, if any.
    pub document: Option<DocumentId>,
    /// Name of the model, as its provider has it.
    pub model: String,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Cost in billionths of a US dollar; `None` if the price is not known.
    pub cost: Option<u64>,
}

/// Cost of one person's calls, of the calls about one document, or of those of one model.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct SpendingSum {
    /// Identifier of the person or document, or name of the model; empty without a document.
    pub subject: String,
    /// Title of the document, or name of the person's newest token; `None` for a model.
    pub title: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls whose price is not known; they are not in `cost`.
    pub unpriced: u64,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Cost in billionths of a US dollar.
    pub cost: u64,
}

/// Column by which spending is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendingGroup {
    /// A sum for each person.
    People,
    /// A sum for each document.
    Documents,
    /// A sum for each model that has no price; only of calls without one.
    UnpricedModels,
}

/// People to whom a role in a document is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grantee {
    /// Person of a login.
    Login(UserId),
    /// Person who signs in with this verified mail address, in lower case.
    Email(String),
    /// Everyone in this group of the identity provider.
    Group(String),
}

impl Grantee {
    /// Returns the name of the kind in the store and in the audit log.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Login(_) => "login",
            Self::Email(_) => "email",
            Self::Group(_) => "group",
        }
    }

    /// Returns the identifier, address or name.
    pub fn name(&self) -> &str {
        match self {
            Self::Login(user) => user.as_str(),
            Self::Email(name) | Self::Group(name) => name,
        }
    }

    pub(super) fn of(kind: &str, name: String) -> Option<Self> {
        match kind {
            "login" => Some(Self::Login(name.into())),
            "email" => Some(Self::Email(name)),
            "group" => Some(Self::Group(name)),
            _ => None,
        }
    }

    /// Returns `true` if the role is given to this person, by the identity provider's newest data.
    pub fn is(&self, login: &LoginRecord) -> bool {
        match self {
            Self::Login(user) => login.user == *user,
            Self::Email(address) => {
                login.email.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(address))
            }
            Self::Group(name) => login.groups.contains(name),
        }
    }
}

/// Role that an owner has given in one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRoleRecord {
    /// The document.
    pub document: DocumentId,
    /// People who have the role there.
    pub grantee: Grantee,
    /// The role.
    pub role: Role,
    /// Owner who gave it last.
    pub given_by: UserId,
    /// Time at which it was given last, in milliseconds since 1970.
    pub given_ms: u64,
}
