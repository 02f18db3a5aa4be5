//! Tokens and the people behind them: issue, verify, revoke, expire.
//!
//! A token is a secret text; the store keeps its SHA-256. Each token stands for a person
//! ([`Principal`]); two tokens can stand for one person. Each connection holds an [`AccessGuard`],
//! which ends with the token: at once when it is revoked here, within a sweep when another process
//! revoked it. Nothing here reads a clock: callers pass the time, in milliseconds since the epoch.

mod access_guard;
mod document_roles;
mod expiry;
mod grant;
mod login_roles;
mod logins;
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

use copydesk_ids::permissions::{Principal, Role, shown_name};
use copydesk_ids::{DocumentId, TokenId, UserId};
use copydesk_macros::boxed;
use copydesk_placement::{PeerMessage, Placement, SingleServer};
use copydesk_store::{AuditEntry, Store, StoreError, StoreOp, TokenRecord, WriteBatch};

pub use access_guard::{AccessEnd, AccessGuard, ended};
pub use expiry::{ExpiryError, parse_expiry};
pub use grant::TokenGrant;
pub use login_roles::{LoginRoleError, LoginRoles};
pub use logins::{LoginIdentity, SignInPolicy};
pub use owner::{kept_owner_secret, owner_secret};
pub use people::{KnownPerson, deciders, holders, with_current_rights};
pub use token::TokenSecret;

use access_guard::AccessGuards;

/// Identifier of the owner's token; it is fixed, so that a new secret replaces the old one.
const OWNER_TOKEN: &str = "tok_owner";

/// Identifier of the owner, who is the same person with every secret.
const OWNER: &str = "usr_owner";

/// Largest number of tokens in force at one time: a list that people can look through.
const MOST_TOKENS: usize = 1_000;

/// Shortest time between two records of a token's use, in ms.
const USE_STEP_MS: u64 = 60_000;

/// Reason why access is refused, or a token not issued.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// There is no such token; it may be mistyped.
    #[error("unknown token")]
    Unknown,
    /// The token has expired.
    #[error("this token expired")]
    Expired {
        /// Time of expiry, in ms.
        at_ms: u64,
    },
    /// The token was revoked.
    #[error("this token was revoked")]
    Revoked {
        /// Time of revocation, in ms.
        at_ms: u64,
    },
    /// The token belongs to a login since, or its holder has other roles in documents.
    #[error("what this token allows has changed; connect again")]
    Changed {
        /// Time of the change, in ms.
        at_ms: u64,
    },
    /// The document that the token shall reach does not exist.
    #[error("there is no document {0}")]
    NoDocument(DocumentId),
    /// The token to revoke does not exist.
    #[error("there is no token {0}")]
    NoToken(TokenId),
    /// The holder of the token has no name.
    #[error("a token needs the name of its holder: 1 to 80 characters")]
    Nameless,
    /// The lifetime of the token could not be read.
    #[error(transparent)]
    Expiry(#[from] ExpiryError),
    /// Too many tokens are in force.
    #[error("{limit} tokens are in force; revoke some first")]
    TooMany {
        /// Largest number of tokens in force.
        limit: usize,
    },
    /// An owner's token reaches everything, so it cannot be for one document.
    #[error("an owner's token cannot be for one document")]
    BoundOwner,
    /// The owner's token cannot be revoked: the next start would bring back its secret.
    #[error(
        "the owner's token is not revoked but replaced: delete owner.token, or give --token, and restart"
    )]
    OwnerStays,
    /// The login to which a token shall be tied does not exist.
    #[error("nobody with the login {0} has signed in")]
    NoLogin(UserId),
    /// The token belongs to a login already.
    #[error("token {0} belongs to another login; revoke it and issue another")]
    TiedElsewhere(TokenId),
    /// The person is not among those who may sign in.
    #[error("you may not sign in here; ask an owner")]
    NotAdmitted,
    /// The role is not one that a person or a group can be given in a document.
    #[error("the role in a document is editor, reviewer, suggester or viewer")]
    NotForOneDocument,
    /// The role is not one that a token can have.
    #[error("the role of a token is owner, editor, reviewer, suggester or viewer")]
    GuestToken,
    /// No one can be meant by this address or name.
    #[error("{0}")]
    NoGrantee(&'static str),
    /// The person or group has no role in the document.
    #[error("they were given no role in this document")]
    NoRole,
    /// Too many people and groups have a role in the document.
    #[error("{limit} people and groups have a role in this document; use a group")]
    TooManyGrantees {
        /// Largest number of people and groups.
        limit: usize,
    },
    /// The token did not come from signing in.
    #[error("this token did not come from signing in; an owner can revoke it")]
    NotSignedIn,
    /// The secret chosen for the owner belongs to another token, whose holder would become the
    /// owner.
    #[error("this secret belongs to token {0} already: choose another")]
    Taken(TokenId),
    /// The secret has characters that no client could send.
    #[error("a token is made of letters, digits and - . _ ~ + / =, and is not empty")]
    Unusable,
    /// The operating system gave no randomness.
    #[error("the operating system provides no random numbers: {0}")]
    Randomness(getrandom::Error),
    /// The file with the owner's secret could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The store failed; this says nothing about the token.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Result of an operation on tokens, logins and roles.
pub type AuthResult<T> = Result<T, AuthError>;

/// New token, made by [`Authenticator::issue`]. Its secret is stored nowhere else.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Identifier, for revoking it.
    pub token: TokenId,
    /// Secret, to be shown once.
    pub secret: TokenSecret,
    /// Person it stands for.
    pub principal: Principal,
    /// Time at which it expires, in milliseconds since the epoch; `None`: never.
    pub expires_ms: Option<u64>,
}

/// Token that was valid when [`Authenticator::verify`] checked it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedToken {
    /// Person it stands for.
    pub principal: Principal,
    /// Identifier of the token, by which a revocation finds it.
    pub token: TokenId,
    /// Time at which it expires, in milliseconds since the epoch; `None`: never.
    pub expires_ms: Option<u64>,
    /// Time at which the person behind it changed last; `None`: never.
    pub changed_ms: Option<u64>,
}

/// Authentication by token. Clones share the guards that are in use.
#[derive(Clone, Debug)]
pub struct Authenticator {
    store: Store,
    placement: Arc<dyn Placement>,
    guards: AccessGuards,
    /// Counter that grows whenever a person's token ends.
    changes: Arc<watch::Sender<u64>>,
}

#[boxed]
impl Authenticator {
    /// Returns the authentication by the tokens of this store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            placement: Arc::new(SingleServer::default()),
            guards: AccessGuards::default(),
            changes: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Returns the authentication that tells other servers when tokens end.
    #[must_use]
    pub fn with_placement(self, placement: Arc<dyn Placement>) -> Self {
        Self { placement, ..self }
    }

    /// Returns the person that the owner's token stands for.
    pub fn owner() -> Principal {
        Principal::new(OWNER, "Owner", Role::Owner)
    }

    /// Returns a guard for a server without tokens, on which everybody is the owner.
    pub fn everyone(principal: Principal) -> AccessGuard {
        AccessGuard::lasting(principal, OWNER_TOKEN.into())
    }

    /// Makes `secret` the owner's only secret: given by `--token`, or kept by [`owner_secret`].
    ///
    /// # Errors
    /// [`AuthError::Taken`] if the secret belongs to another token.
    pub async fn set_owner(&self, secret: &TokenSecret, now_ms: u64) -> AuthResult<()> {
        let hash = token::hash(secret.expose());
        match self.store.token_by_hash(&hash).await? {
            Some(held) if held.id.as_str() == OWNER_TOKEN => return Ok(()),
            Some(held) => return Err(AuthError::Taken(held.id)),
            None => {}
        }
        let kept = self.store.tokens_named(&[OWNER_TOKEN.into()]).await?.pop();
        let fresh = record(OWNER_TOKEN.into(), hash, &Self::owner(), now_ms, None);
        // A name, and a login to which the token was tied, stay with it.
        let record = match kept {
            Some(TokenRecord { user, name, login, former_user, .. }) => {
                // Connections with the secret before end, on other servers too.
                let changed_ms = Some(now_ms);
                TokenRecord { user, name, login, former_user, changed_ms, ..fresh }
            }
            None => fresh,
        };
        let line = audit("token.owner_set", &Self::owner().user, &record, now_ms);
        Ok(self.store.commit(WriteBatch::from(StoreOp::PutToken(record)).with(line)).await?)
    }

    /// Issues a new token, which is durable and in the audit log when this returns. The caller
    /// checks with [`permissions`](copydesk_ids::permissions) that `by` may issue it.
    ///
    /// # Errors
    /// [`AuthError::TooMany`], [`AuthError::BoundOwner`] or [`AuthError::NoDocument`].
    pub async fn issue(&self, grant: TokenGrant, by: &UserId, now_ms: u64) -> AuthResult<NewToken> {
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
        let principal = Principal { document, ..Principal::new(user, name, role) };
        let (token, secret) = (TokenId::generate(), TokenSecret::generate()?);
        let hash = token::hash(secret.expose());
        let record = record(token.clone(), hash, &principal, now_ms, expires_ms);
        let line = audit("token.issued", by, &record, now_ms);
        self.store.commit(WriteBatch::from(StoreOp::PutToken(record)).with(line)).await?;
        Ok(NewToken { token, secret, principal, expires_ms })
    }

    /// Names the holder of a token, who keeps the name with every later secret of that token.
    /// Connections that are open keep the name they came in with.
    ///
    /// # Errors
    /// [`AuthError::Nameless`], or [`AuthError::NoToken`] for an unknown token.
    pub async fn name(
        &self,
        token: &TokenId,
        name: &str,
        by: &UserId,
        now_ms: u64,
    ) -> AuthResult<String> {
        let name = shown_name(name).ok_or(AuthError::Nameless)?;
        let kept = self.store.tokens_named(std::slice::from_ref(token)).await?.pop();
        let kept = kept.ok_or_else(|| AuthError::NoToken(token.clone()))?;
        let record = TokenRecord { name: name.clone(), ..kept };
        let line = audit("token.named", by, &record, now_ms);
        self.store.commit(WriteBatch::from(StoreOp::PutToken(record)).with(line)).await?;
        Ok(name)
    }

    /// Returns the holder of this secret.
    ///
    /// The token is looked up by hash: the time this takes tells at most something about the hash,
    /// from which no one can work towards the secret.
    ///
    /// # Errors
    /// [`AuthError::Unknown`], [`AuthError::Expired`] or [`AuthError::Revoked`].
    pub async fn verify(&self, secret: &str, now_ms: u64) -> AuthResult<VerifiedToken> {
        let held = self.store.token_by_hash(&token::hash(secret)).await?;
        let held = held.ok_or(AuthError::Unknown)?;
        if let Some(ended) = access_guard::ended(&held, now_ms) {
            self.keep_ended(&held).await?;
            return Err(ended.into());
        }
        self.note_use(&held, now_ms).await;
        let former = match &held.login {
            Some(login) => self.former_of(login).await?,
            None => Vec::new(),
        };
        // Read after the token: a change meanwhile is found by the time of the next one.
        let granted = self.granted(held.login.as_ref(), held.document.as_ref()).await?;
        let TokenRecord { id, user, name, role, document, expires_ms, changed_ms, .. } = held;
        Ok(VerifiedToken {
            principal: Principal { user, name, role, document, former, granted },
            token: id,
            expires_ms,
            changed_ms,
        })
    }

    /// Admits the holder of this secret for as long as it is valid.
    ///
    /// # Errors
    /// As [`Authenticator::verify`].
    pub async fn admit(&self, secret: &str, now_ms: u64) -> AuthResult<AccessGuard> {
        let guard = self.guards.guard_of(self.verify(secret, now_ms).await?);
        // A revocation or change between the first check and the new guard would have found no
        // guard to end.
        let now = self.verify(secret, now_ms).await?;
        if let Some(at_ms) = now.changed_ms {
            self.guards.end_before_change(&now.token, at_ms);
        }
        Ok(guard)
    }

    /// Records the use of a token, at most once a minute. If that fails, the person is admitted
    /// anyway.
    async fn note_use(&self, held: &TokenRecord, now_ms: u64) {
        if held.used_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < USE_STEP_MS) {
            return;
        }
        let used = StoreOp::UseToken { token: held.id.clone(), at_ms: now_ms };
        if let Err(error) = self.store.commit(used).await {
            tracing::debug!(%error, "cannot store when a token was last used");
        }
    }

    /// Records that a token has expired: it stays expired if the clock is set back later.
    async fn keep_ended(&self, held: &TokenRecord) -> AuthResult<()> {
        if let (None, Some(at_ms)) = (held.revoked_ms, held.expires_ms) {
            self.store.commit(StoreOp::RevokeToken { token: held.id.clone(), at_ms }).await?;
        }
        Ok(())
    }

    /// Ends the guards whose tokens expired, or were revoked by another process, and records which
    /// tokens have expired. To be called about every second.
    ///
    /// # Errors
    /// [`AuthError::Store`] if tokens cannot be read or an expiry cannot be recorded; what is left
    /// is ended by the next sweep.
    pub async fn sweep(&self, now_ms: u64) -> AuthResult<()> {
        for token in self.store.tokens_run_out(now_ms).await? {
            self.keep_ended(&token).await?;
        }
        for (token, why) in self.guards.expired(now_ms) {
            self.end(&token, why);
        }
        // Only the tokens in use are read, however many there are.
        let here = self.guards.tokens();
        if here.is_empty() {
            return Ok(());
        }
        let known = self.store.tokens_named(&here).await?;
        // A guard is given for a token that is stored, so the record was removed since: a later
        // sign-in has taken the place of one that was revoked.
        for gone in here.iter().filter(|token| !known.iter().any(|it| it.id == **token)) {
            self.end(gone, AccessEnd::Revoked { at_ms: now_ms });
        }
        for token in known {
            if let Some(why) = access_guard::ended(&token, now_ms) {
                self.end(&token.id, why);
            } else if let Some(at_ms) = token.changed_ms
                && self.guards.end_before_change(&token.id, at_ms)
            {
                self.changes.send_modify(|count| *count += 1);
            }
        }
        Ok(())
    }

    fn end(&self, token: &TokenId, why: AccessEnd) {
        self.guards.end(token, why);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns a receiver that changes whenever a token has ended, so that callers check again what
    /// people may do.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Revokes a token and ends the access of everybody who uses it. Revoking twice is fine.
    ///
    /// # Errors
    /// [`AuthError::NoToken`] for an unknown token, [`AuthError::OwnerStays`] for the owner's.
    pub async fn revoke(&self, token: &TokenId, by: &UserId, now_ms: u64) -> AuthResult<()> {
        if token.as_str() == OWNER_TOKEN {
            return Err(AuthError::OwnerStays);
        }
        let detail = json!({"token": token});
        let line = StoreOp::Audit(AuditEntry::new("token.revoked", by, detail, now_ms));
        let revoke = StoreOp::RevokeToken { token: token.clone(), at_ms: now_ms };
        match self.store.commit(WriteBatch::from(revoke).with(line)).await {
            Err(StoreError::Missing { .. }) => Err(AuthError::NoToken(token.clone())),
            outcome => {
                outcome?;
                self.end(token, AccessEnd::Revoked { at_ms: now_ms });
                self.placement.tell(&PeerMessage::Tokens).await;
                Ok(())
            }
        }
    }

    /// Returns the names of these people, also of those who are not connected. A person with
    /// several tokens has the name on the newest; people without any are left out.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the tokens of these people cannot be read.
    pub async fn names<'a>(
        &self,
        people: impl IntoIterator<Item = &'a UserId>,
    ) -> AuthResult<HashMap<UserId, String>> {
        let people: BTreeSet<_> = people.into_iter().collect();
        let people: Vec<_> = people.into_iter().cloned().collect();
        Ok(self.store.names_of(&people).await?)
    }

    /// Returns all tokens, oldest first: hashes, never secrets.
    ///
    /// # Errors
    /// [`AuthError::Store`] if the tokens cannot be read.
    pub async fn tokens(&self) -> AuthResult<Vec<TokenRecord>> {
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
    let Principal { user, name, role, document, .. } = holder.clone();
    TokenRecord {
        id,
        hash,
        user,
        name,
        role,
        document,
        created_ms,
        expires_ms,
        revoked_ms: None,
        used_ms: None,
        login: None,
        former_user: None,
        changed_ms: None,
    }
}

fn audit(action: &str, by: &UserId, record: &TokenRecord, at_ms: u64) -> StoreOp {
    let detail = json!({
        "token": record.id,
        "user": record.user,
        "name": record.name,
        "role": record.role,
        "expires_ms": record.expires_ms,
    });
    let document = record.document.clone();
    StoreOp::Audit(AuditEntry { document, ..AuditEntry::new(action, by, detail, at_ms) })
}
