//! Tokens and the people behind them: issue, verify, revoke, expire.
//!
//! A token is a secret text; the store keeps its SHA-256. Each token stands for a person
//! ([`Principal`]); two tokens can stand for the same one. Nothing here reads a clock: callers say what
//! time it is, in milliseconds since the epoch.

mod expiry;
mod owner;
#[cfg(test)]
mod tests;
mod token;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use serde_json::json;

use crate::ids::{DocumentId, TokenId, UserId};
use crate::store::{AuditEntry, Batch, Op, Store, StoreError, TokenRecord};
use crate::who::{Principal, Role};

pub use expiry::{ExpiryError, parse_expiry};
pub use owner::owner_secret;
pub use token::Secret;

/// The owner's token has a fixed place, so that a new secret replaces the old one.
const OWNER_TOKEN: &str = "tok_owner";

/// The owner is the same person whatever their secret is.
const OWNER: &str = "usr_owner";

/// Why somebody is not let in, or a token not issued.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// No such token, or a mistyped one.
    #[error("unknown token")]
    Unknown,
    /// It was valid once.
    #[error("this token expired")]
    Expired {
        /// When.
        at_ms: u64,
    },
    /// It was taken back.
    #[error("this token was revoked")]
    Revoked {
        /// When.
        at_ms: u64,
    },
    /// A token for a document that is not there.
    #[error("there is no document {0}")]
    NoDocument(DocumentId),
    /// An owner's token reaches everything, so it cannot be for one document.
    #[error("an owner's token cannot be for one document")]
    BoundOwner,
    /// The owner would be locked out: the next start brings the same secret.
    #[error(
        "the owner's token is not revoked but replaced: delete owner.token, or give --token, and restart"
    )]
    OwnerStays,
    /// The secret chosen for the owner is somebody else's: they would become the owner.
    #[error("this secret belongs to token {0} already: choose another")]
    Taken(TokenId),
    /// A secret nobody could send.
    #[error("a token is made of letters, digits and - . _ ~ + / =, and is not empty")]
    Unusable,
    /// The operating system gave no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(getrandom::Error),
    /// The file with the owner's secret.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The store failed; says nothing about the token.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a new token shall allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
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

/// A new token. The secret is nowhere else.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Its name, for revoking it.
    pub token: TokenId,
    /// To be shown once.
    pub secret: Secret,
    /// The person it stands for.
    pub principal: Principal,
}

/// A token that is good at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The person it stands for.
    pub principal: Principal,
    /// Which token it is: what to look for when one is revoked.
    pub token: TokenId,
    /// When it stops being good; none: never.
    pub expires_ms: Option<u64>,
}

/// Who may come in.
#[derive(Clone, Debug)]
pub struct Auth {
    store: Store,
}

impl Auth {
    /// The tokens of this store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// The person that the owner's token stands for.
    pub fn owner() -> Principal {
        Principal {
            user: OWNER.into(),
            name: "Owner".to_owned(),
            role: Role::Owner,
            document: None,
        }
    }

    /// From now on `secret` is the owner's, and no other is: given by `--token`, or kept by
    /// [`owner_secret`].
    pub async fn set_owner(&self, secret: &Secret, now_ms: u64) -> Result<(), AuthError> {
        let hash = token::hash(secret.expose());
        match self.store.token_by_hash(&hash).await? {
            Some(held) if held.id.as_str() == OWNER_TOKEN => return Ok(()),
            Some(held) => return Err(AuthError::Taken(held.id)),
            None => {}
        }
        let owner = Self::owner();
        let record = record(OWNER_TOKEN.into(), hash, &owner, now_ms, None);
        let line = audit("token.owner_set", &owner.user, &record, now_ms);
        Ok(self.store.commit(Batch::from(Op::PutToken(record)).with(line)).await?)
    }

    /// A new token, durable and in the audit log when this returns. Whether `by` may issue it is the
    /// caller's question to [`who`](crate::who).
    pub async fn issue(&self, grant: Grant, by: &UserId, now_ms: u64) -> Result<Issued, AuthError> {
        let Grant { role, name, document, expires_ms, user } = grant;
        if let Some(document) = &document {
            if role == Role::Owner {
                return Err(AuthError::BoundOwner);
            }
            let there = self.store.document(document).await?;
            if there.is_none_or(|there| there.deleted) {
                return Err(AuthError::NoDocument(document.clone()));
            }
        }
        let user = user.unwrap_or_else(UserId::generate);
        let principal = Principal { user, name, role, document };
        let (token, secret) = (TokenId::generate(), Secret::generate()?);
        let hash = token::hash(secret.expose());
        let record = record(token.clone(), hash, &principal, now_ms, expires_ms);
        let line = audit("token.issued", by, &record, now_ms);
        self.store.commit(Batch::from(Op::PutToken(record)).with(line)).await?;
        Ok(Issued { token, secret, principal })
    }

    /// Who holds this secret.
    ///
    /// Looked up by hash: how long that takes tells at most something about the hash, from which
    /// nobody can work towards the secret.
    pub async fn verify(&self, secret: &str, now_ms: u64) -> Result<Verified, AuthError> {
        let held = self.store.token_by_hash(&token::hash(secret)).await?;
        let held = held.ok_or(AuthError::Unknown)?;
        if let Some(at_ms) = held.revoked_ms {
            return Err(AuthError::Revoked { at_ms });
        }
        if let Some(at_ms) = held.expires_ms
            && at_ms <= now_ms
        {
            return Err(AuthError::Expired { at_ms });
        }
        let TokenRecord { id, user, name, role, document, expires_ms, .. } = held;
        Ok(Verified { principal: Principal { user, name, role, document }, token: id, expires_ms })
    }

    /// The token stops working now.
    ///
    /// # Errors
    /// [`AuthError::Unknown`] for a token that is not there, [`AuthError::OwnerStays`] for the owner's.
    pub async fn revoke(&self, token: &TokenId, by: &UserId, now_ms: u64) -> Result<(), AuthError> {
        if token.as_str() == OWNER_TOKEN {
            return Err(AuthError::OwnerStays);
        }
        let line = Op::Audit(AuditEntry {
            at_ms: now_ms,
            actor: by.to_string(),
            action: "token.revoked".to_owned(),
            document: None,
            request: None,
            detail: json!({"token": token}),
        });
        let revoke = Op::RevokeToken { token: token.clone(), at_ms: now_ms };
        match self.store.commit(Batch::from(revoke).with(line)).await {
            Err(StoreError::Missing { .. }) => Err(AuthError::Unknown),
            outcome => Ok(outcome?),
        }
    }

    /// What people are called: for showing who did something when they are not connected. Somebody
    /// with several tokens is called as on the newest.
    pub async fn names(&self) -> Result<HashMap<UserId, String>, AuthError> {
        let tokens = self.tokens().await?;
        Ok(tokens.into_iter().map(|token| (token.user, token.name)).collect())
    }

    /// All tokens, oldest first: hashes, never secrets.
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, AuthError> {
        Ok(self.store.tokens().await?)
    }
}

fn record(
    id: TokenId,
    hash: String,
    holder: &Principal,
    created_ms: u64,
    expires_ms: Option<u64>,
) -> TokenRecord {
    let Principal { user, name, role, document } = holder.clone();
    TokenRecord { id, hash, user, name, role, document, created_ms, expires_ms, revoked_ms: None }
}

fn audit(action: &str, by: &UserId, record: &TokenRecord, at_ms: u64) -> Op {
    Op::Audit(AuditEntry {
        at_ms,
        actor: by.to_string(),
        action: action.to_owned(),
        document: record.document.clone(),
        request: None,
        detail: json!({
            "token": record.id,
            "user": record.user,
            "name": record.name,
            "role": record.role,
            "expires_ms": record.expires_ms,
        }),
    })
}
