//! Grants: the properties of a token to be issued.

use super::{AuthError, AuthResult, parse_expiry};
use copydesk_ids::permissions::{Role, shown_name};
use copydesk_ids::{DocumentId, UserId};

/// Properties of a new token, for [`Authenticator::issue`](super::Authenticator::issue).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenGrant {
    /// Role of its holder.
    pub role: Role,
    /// Name of its holder.
    pub name: String,
    /// Only document it reaches; `None`: all.
    pub document: Option<DocumentId>,
    /// Time at which it expires, in milliseconds since the epoch; `None`: never.
    pub expires_ms: Option<u64>,
    /// Person to issue another token for; `None`: a new person.
    pub user: Option<UserId>,
}

impl TokenGrant {
    /// Reads a grant for a new person. `expires_in` is a duration such as `7d`, or `never`.
    pub fn read(
        role: Role,
        name: &str,
        document: Option<String>,
        expires_in: Option<&str>,
        now_ms: u64,
    ) -> AuthResult<Self> {
        if role == Role::Guest {
            return Err(AuthError::GuestToken);
        }
        let name = shown_name(name).ok_or(AuthError::Nameless)?;
        let expires_ms = match expires_in {
            Some(text) => parse_expiry(text, now_ms)?,
            None => None,
        };
        Ok(Self { role, name, document: document.map(Into::into), expires_ms, user: None })
    }
}
