//! Tokens and the people behind them: issue, verify, revoke, expire.
//!
//! A token is a secret text; the store keeps its SHA-256. Each token stands for a person
//! ([`Principal`]); two tokens can stand for the same one. Whoever stays connected holds a [`AccessGuard`], which ends
//! with the token: at once when it is revoked here, within a sweep when another process revoked it. Nothing here
//! reads a clock: callers say what time it is, in milliseconds since the epoch.

mod access_guard;
mod expiry;
mod grant;
mod owner;
mod people;
#[cfg(test)]
mod tests;
mod token;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;

use crate::ids::{DocumentId, TokenId, UserId};
use crate::permissions::{Principal, Role};
use crate::store::{AuditEntry, Store, StoreError, StoreOp, TokenRecord, WriteBatch};

pub use access_guard::{AccessEnd, AccessGuard, ended};
pub use expiry::{ExpiryError, parse_expiry};
pub use grant::TokenGrant;
pub use owner::{kept_owner_secret, owner_secret};
pub use people::{deciders, holders, may_still, provided};
pub use token::TokenSecret;

use access_guard::AccessGuards;

/// The owner's token has a fixed place, so that a new secret replaces the old one.
const OWNER_TOKEN: &str = "tok_owner";

/// The owner is the same person whatever their secret is.
const OWNER: &str = "usr_owner";

/// Tokens that may be in force at the same time: a list that people can look through.
const MOST_TOKENS: usize = 1_000;

/// The use of a token is remembered at most this often.
const USE_STEP_MS: u64 = 60_000;

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
    /// There is no token of this name to revoke.
    #[error("there is no token {0}")]
    NoToken(TokenId),
    /// A person without a name.
    #[error("a token needs the name of its holder: 1 to 80 characters")]
    Nameless,
    /// No such role.
    #[error("there is no role {0:?}; there are owner, editor, reviewer and viewer")]
    UnknownRole(String),
    /// It is not clear how long the token is to last.
    #[error(transparent)]
    Expiry(#[from] ExpiryError),
    /// Nobody could look through more.
    #[error("{limit} tokens are in force; revoke some first")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
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

/// A new token. The secret is nowhere else.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name, for revoking it.
    pub token: TokenId,
    /// To be shown once.
    pub secret: TokenSecret,
    /// The person it stands for.
    pub principal: Principal,
    /// When it stops working, in milliseconds since the epoch; none: never.
    pub expires_ms: Option<u64>,
}

/// A token that is good at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    /// The person it stands for.
    pub principal: Principal,
    /// Which token it is: what to look for when one is revoked.
    pub token: TokenId,
    /// When it stops being good; none: never.
    pub expires_ms: Option<u64>,
}

/// Who may come in. Clones share what they know of those who are here.
#[derive(Clone, Debug)]
pub struct Authenticator {
    store: Store,
    passes: AccessGuards,
    /// Counts the times somebody's token ended.
    changes: Arc<watch::Sender<u64>>,
}

impl Authenticator {
    /// The tokens of this store.
    pub fn new(store: Store) -> Self {
        Self { store, passes: AccessGuards::default(), changes: Arc::new(watch::Sender::new(0)) }
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

    /// The pass of somebody who needs no token, because everybody is the owner.
    pub fn everyone(principal: Principal) -> AccessGuard {
        AccessGuard::lasting(principal, OWNER_TOKEN.into())
    }

    /// From now on `secret` is the owner's, and no other is: given by `--token`, or kept by
    /// [`owner_secret`].
    pub async fn set_owner(&self, secret: &TokenSecret, now_ms: u64) -> Result<(), AuthError> {
        let hash = token::hash(secret.expose());
        match self.store.token_by_hash(&hash).await? {
            Some(held) if held.id.as_str() == OWNER_TOKEN => return Ok(()),
            Some(held) => return Err(AuthError::Taken(held.id)),
            None => {}
        }
        let owner = Self::owner();
        let record = record(OWNER_TOKEN.into(), hash, &owner, now_ms, None);
        let line = audit("token.owner_set", &owner.user, &record, now_ms);
        Ok(self.store.commit(WriteBatch::from(StoreOp::PutToken(record)).with(line)).await?)
    }

    /// A new token, durable and in the audit log when this returns. Whether `by` may issue it is the
    /// caller's question to [`permissions`](crate::permissions).
    pub async fn issue(
        &self,
        grant: TokenGrant,
        by: &UserId,
        now_ms: u64,
    ) -> Result<NewToken, AuthError> {
        let TokenGrant { role, name, document, expires_ms, user } = grant;
        if self.store.tokens_in_force(now_ms).await?.len() >= MOST_TOKENS {
            return Err(AuthError::TooMany { limit: MOST_TOKENS });
        }
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
        let (token, secret) = (TokenId::generate(), TokenSecret::generate()?);
        let hash = token::hash(secret.expose());
        let record = record(token.clone(), hash, &principal, now_ms, expires_ms);
        let line = audit("token.issued", by, &record, now_ms);
        self.store.commit(WriteBatch::from(StoreOp::PutToken(record)).with(line)).await?;
        Ok(NewToken { token, secret, principal, expires_ms })
    }

    /// Who holds this secret.
    ///
    /// Looked up by hash: how long that takes tells at most something about the hash, from which
    /// nobody can work towards the secret.
    pub async fn verify(&self, secret: &str, now_ms: u64) -> Result<VerifiedToken, AuthError> {
        let held = self.store.token_by_hash(&token::hash(secret)).await?;
        let held = held.ok_or(AuthError::Unknown)?;
        if let Some(ended) = access_guard::ended(&held, now_ms) {
            self.keep_ended(&held).await?;
            return Err(ended.into());
        }
        self.note_use(&held, now_ms).await;
        let TokenRecord { id, user, name, role, document, expires_ms, .. } = held;
        Ok(VerifiedToken {
            principal: Principal { user, name, role, document },
            token: id,
            expires_ms,
        })
    }

    /// Lets the holder of this secret in, to stay for as long as it is good.
    pub async fn admit(&self, secret: &str, now_ms: u64) -> Result<AccessGuard, AuthError> {
        let pass = self.passes.hand_out(self.verify(secret, now_ms).await?);
        // Revoked between the look and the pass, it would have found no pass to end.
        self.verify(secret, now_ms).await?;
        Ok(pass)
    }

    /// Remembers that a token is in use, now and then. Where that cannot be kept, people are let in all the same.
    async fn note_use(&self, held: &TokenRecord, now_ms: u64) {
        if held.used_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < USE_STEP_MS) {
            return;
        }
        let used = StoreOp::UseToken { token: held.id.clone(), at_ms: now_ms };
        if let Err(error) = self.store.commit(used).await {
            tracing::debug!(%error, "the use of a token could not be kept");
        }
    }

    /// Keeps that a token has run out: it stays expired if the clock is set back later.
    async fn keep_ended(&self, held: &TokenRecord) -> Result<(), AuthError> {
        if let (None, Some(at_ms)) = (held.revoked_ms, held.expires_ms) {
            self.store.commit(StoreOp::RevokeToken { token: held.id.clone(), at_ms }).await?;
        }
        Ok(())
    }

    /// Ends the passes whose tokens ran out, or were revoked by another process, and keeps which tokens have run out. To be
    /// called every second or so.
    pub async fn sweep(&self, now_ms: u64) -> Result<(), AuthError> {
        for token in self.store.tokens_run_out(now_ms).await? {
            self.keep_ended(&token).await?;
        }
        for (token, why) in self.passes.expired(now_ms) {
            self.end(&token, why);
        }
        // Only those that somebody is here with, however many there ever were.
        let here = self.passes.tokens();
        if here.is_empty() {
            return Ok(());
        }
        for token in self.store.tokens_named(&here).await? {
            if let Some(why) = access_guard::ended(&token, now_ms) {
                self.end(&token.id, why);
            }
        }
        Ok(())
    }

    fn end(&self, token: &TokenId, why: AccessEnd) {
        self.passes.end(token, why);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Changes whenever somebody's token has ended: what they may no longer do is to be looked at again.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The token stops working now, and whoever is here with it has to go. Revoking twice is fine.
    ///
    /// # Errors
    /// [`AuthError::NoToken`] for a token that is not there, [`AuthError::OwnerStays`] for the owner's.
    pub async fn revoke(&self, token: &TokenId, by: &UserId, now_ms: u64) -> Result<(), AuthError> {
        if token.as_str() == OWNER_TOKEN {
            return Err(AuthError::OwnerStays);
        }
        let line = StoreOp::Audit(AuditEntry {
            at_ms: now_ms,
            actor: by.to_string(),
            action: "token.revoked".to_owned(),
            document: None,
            request: None,
            detail: json!({"token": token}),
        });
        let revoke = StoreOp::RevokeToken { token: token.clone(), at_ms: now_ms };
        match self.store.commit(WriteBatch::from(revoke).with(line)).await {
            Err(StoreError::Missing { .. }) => Err(AuthError::NoToken(token.clone())),
            outcome => {
                outcome?;
                self.end(token, AccessEnd::Revoked { at_ms: now_ms });
                Ok(())
            }
        }
    }

    /// What these people are called: for showing who did something when they are not connected. Somebody with several tokens
    /// is called as on the newest; somebody without any is not there.
    pub async fn names<'a>(
        &self,
        people: impl IntoIterator<Item = &'a UserId>,
    ) -> Result<HashMap<UserId, String>, AuthError> {
        let people: BTreeSet<_> = people.into_iter().collect();
        let people: Vec<_> = people.into_iter().cloned().collect();
        Ok(self.store.names_of(&people).await?)
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
    let (revoked_ms, used_ms) = (None, None);
    TokenRecord {
        id,
        hash,
        user,
        name,
        role,
        document,
        created_ms,
        expires_ms,
        revoked_ms,
        used_ms,
    }
}

fn audit(action: &str, by: &UserId, record: &TokenRecord, at_ms: u64) -> StoreOp {
    StoreOp::Audit(AuditEntry {
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
