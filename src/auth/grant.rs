//! What a token is to allow, as it was asked for.

use super::{AuthError, parse_expiry};
use crate::ids::{DocumentId, UserId};
use crate::permissions::{Role, shown_name};

/// What a new token shall allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenGrant {
    /// What its holder may do.
    pub role: Role,
    /// The name of its holder.
    pub name: String,
    /// The only document it reaches; none: all.
    pub document: Option<DocumentId>,
    /// When it stops working; none: never.
    pub expires_ms: Option<u64>,
    /// A second token of a person who has one already; none: for a new person.
    pub user: Option<UserId>,
}

impl TokenGrant {
    /// Reads what somebody wrote into a form, a command line or a program, for a new person. `expires_in` is a duration
    /// such as `7d`, or `never`, which is also what a missing one means.
    pub fn read(
        role: &str,
        name: &str,
        document: Option<String>,
        expires_in: Option<&str>,
        now_ms: u64,
    ) -> Result<Self, AuthError> {
        let role = Role::parse(role).ok_or_else(|| {
            // Quoted in the complaint, however long.
            AuthError::UnknownRole(role.chars().take(40).collect())
        })?;
        let name = shown_name(name).ok_or(AuthError::Nameless)?;
        let expires_ms = match expires_in {
            Some(text) => parse_expiry(text, now_ms)?,
            None => None,
        };
        Ok(Self { role, name, document: document.map(Into::into), expires_ms, user: None })
    }
}
