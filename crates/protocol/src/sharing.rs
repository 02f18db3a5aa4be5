//! Roles in single documents: who has one, giving and taking them. For owners.

use copydesk_ids::permissions::Role;
use copydesk_macros::wire;

/// Payload of `document:share`, and body of `PUT /api/v1/documents/{id}/roles`. Names exactly one
/// of `login`, `email` and `group`. Who has a role in the document already gets this one instead.
#[wire(Deserialize, Serialize, TS, camelCase)]
#[serde(deny_unknown_fields)]
pub struct ShareDocument {
    /// The document.
    pub document_id: String,
    /// Role in the document: `editor`, `reviewer`, `suggester` or `viewer`.
    pub role: Role,
    /// Person who has signed in: an entry of `logins` in `token:list`.
    pub login: Option<String>,
    /// Mail address of a person, who may not have signed in yet. It counts if the identity provider
    /// has verified it.
    pub email: Option<String>,
    /// Group of the identity provider.
    pub group: Option<String>,
}

/// Payload of `document:unshare`. Names exactly one of `login`, `email` and `group`.
#[wire(Deserialize, Serialize, TS, camelCase)]
#[serde(deny_unknown_fields)]
pub struct UnshareDocument {
    /// The document.
    pub document_id: String,
    /// Person to whom the role was given.
    pub login: Option<String>,
    /// Mail address to which the role was given.
    pub email: Option<String>,
    /// Group to which the role was given.
    pub group: Option<String>,
}

/// Role that was given in a document. Exactly one of `login`, `email` and `group` is not `null`.
#[wire(Deserialize, Serialize, TS, camelCase, null)]
pub struct DocumentRoleLine {
    /// Person to whom it was given.
    pub login: Option<String>,
    /// Mail address to which it was given.
    pub email: Option<String>,
    /// Group of the identity provider to which it was given.
    pub group: Option<String>,
    /// Name of the person; `null` for a group, and for an address that no one has signed in with.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// Time at which it was given, in RFC 3339.
    pub given_at: String,
    /// Name of the owner who gave it; `null`: they have no token any more.
    pub given_by: Option<String>,
}

/// Answer of `document:roles` and `GET /api/v1/documents/{id}/roles`, oldest first.
#[wire(Deserialize, Serialize, TS)]
pub struct DocumentRoleList {
    /// All roles that were given in the document.
    pub roles: Vec<DocumentRoleLine>,
}
