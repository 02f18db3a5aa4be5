//! Roles in single documents: who has one, giving and taking them. For owners.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use copydesk_ids::permissions::Role;

/// Payload of `document:share`, and body of `PUT /api/v1/documents/{id}/roles`. Names exactly one
/// of `login`, `email` and `group`. Who has a role in the document already gets this one instead.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareDocument {
    /// The document.
    pub document_id: String,
    /// Role in the document: `editor`, `reviewer` or `viewer`.
    pub role: Role,
    /// Person who has signed in: an entry of `logins` in `token:list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Mail address of a person, who may not have signed in yet. It counts if the identity provider
    /// has verified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Group of the identity provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Payload of `document:unshare`. Names exactly one of `login`, `email` and `group`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnshareDocument {
    /// The document.
    pub document_id: String,
    /// Person to whom the role was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Mail address to which the role was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Group to which the role was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Role that was given in a document. Exactly one of `login`, `email` and `group` is not `null`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct DocumentRoleLine {
    /// Person to whom it was given.
    pub login: Option<String>,
    /// Mail address to which it was given.
    pub email: Option<String>,
    /// Group of the identity provider to which it was given.
    pub group: Option<String>,
    /// Name of the person; `null` for a group, and for an address that nobody has signed in with.
    pub name: Option<String>,
    /// The role.
    pub role: Role,
    /// Time at which it was given, in RFC 3339.
    pub given_at: String,
    /// Name of the owner who gave it; `null`: they have no token any more.
    pub given_by: Option<String>,
}

/// Answer of `document:roles` and `GET /api/v1/documents/{id}/roles`, oldest first.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct DocumentRoleList {
    /// All roles that were given in the document.
    pub roles: Vec<DocumentRoleLine>,
}
