//! Access guards: each connection holds one, and it ends when its token does.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{AuthError, VerifiedToken};
use copydesk_ids::TokenId;
use copydesk_ids::permissions::Principal;
use copydesk_store::TokenRecord;

/// Reason why a token is no longer valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessEnd {
    /// The token has expired.
    Expired {
        /// Time of expiry, in milliseconds since the epoch.
        at_ms: u64,
    },
    /// The token was revoked.
    Revoked {
        /// Time of revocation, in milliseconds since the epoch.
        at_ms: u64,
    },
    /// The token is valid, but its person's login or roles changed: they have to come in again.
    Changed {
        /// Time of the change, in milliseconds since the epoch.
        at_ms: u64,
    },
}

impl From<AccessEnd> for AuthError {
    fn from(ended: AccessEnd) -> Self {
        match ended {
            AccessEnd::Expired { at_ms } => Self::Expired { at_ms },
            AccessEnd::Revoked { at_ms } => Self::Revoked { at_ms },
            AccessEnd::Changed { at_ms } => Self::Changed { at_ms },
        }
    }
}

/// Returns the reason why the token in this record is not valid at `now_ms`; `None` if it is valid.
pub fn ended(record: &TokenRecord, now_ms: u64) -> Option<AccessEnd> {
    match (record.revoked_ms, record.expires_ms) {
        // Stored when the token was found to be expired, which it stays whatever the clock says.
        (Some(at_ms), Some(expires_ms)) if at_ms == expires_ms => {
            Some(AccessEnd::Expired { at_ms })
        }
        (Some(at_ms), _) => Some(AccessEnd::Revoked { at_ms }),
        (None, expires_ms) => expired(expires_ms, now_ms),
    }
}

fn expired(expires_ms: Option<u64>, now_ms: u64) -> Option<AccessEnd> {
    expires_ms.filter(|&at_ms| at_ms <= now_ms).map(|at_ms| AccessEnd::Expired { at_ms })
}

/// Access of one [`Principal`], for as long as their token is valid. Clones share one state.
#[derive(Clone, Debug)]
pub struct AccessGuard {
    principal: Principal,
    state: Arc<TokenState>,
}

#[derive(Debug)]
struct TokenState {
    token: TokenId,
    expires_ms: Option<u64>,
    /// Time of the last change of the person, when the first of the connections came in.
    changed_ms: Option<u64>,
    reason: OnceLock<AccessEnd>,
    ended: CancellationToken,
}

impl TokenState {
    fn new(token: TokenId, expires_ms: Option<u64>, changed_ms: Option<u64>) -> Arc<Self> {
        let (reason, ended) = (OnceLock::new(), CancellationToken::new());
        Arc::new(Self { token, expires_ms, changed_ms, reason, ended })
    }

    /// Ends the access; the first reason counts.
    fn end(&self, reason: AccessEnd) {
        self.reason.set(reason).ok();
        self.ended.cancel();
    }

    /// Ends the access if the person behind the token changed at `at_ms`, after the first of the
    /// connections came in; returns `true` if so.
    fn end_before_change(&self, at_ms: u64) -> bool {
        let is_older = self.changed_ms.is_none_or(|known_ms| known_ms < at_ms);
        if is_older {
            self.end(AccessEnd::Changed { at_ms });
        }
        is_older
    }
}

impl AccessGuard {
    /// Returns a guard that cannot be ended: for the owner of a server without tokens.
    pub fn lasting(principal: Principal, token: TokenId) -> Self {
        Self { principal, state: TokenState::new(token, None, None) }
    }

    /// Returns the person.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the token that the person came in with.
    pub fn token(&self) -> &TokenId {
        &self.state.token
    }

    /// Checks that the access is still valid at `now_ms`, without reading the store.
    pub fn check(&self, now_ms: u64) -> Result<(), AccessEnd> {
        if let Some(expired) = expired(self.state.expires_ms, now_ms) {
            self.state.end(expired);
        }
        self.state.reason.get().map_or(Ok(()), |reason| Err(*reason))
    }

    /// Returns `true` if the access is known to have ended.
    pub fn has_ended(&self) -> bool {
        self.state.ended.is_cancelled()
    }

    /// Waits until the access ends; returns the reason.
    pub async fn ended(&self) -> AccessEnd {
        self.state.ended.cancelled().await;
        // Set before the wait is over; the other value only satisfies the compiler.
        self.state.reason.get().copied().unwrap_or(AccessEnd::Revoked { at_ms: 0 })
    }
}

/// All guards that are in use. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct AccessGuards(Arc<Mutex<HashMap<TokenId, Weak<TokenState>>>>);

impl AccessGuards {
    /// Returns a guard for the holder of a token, which the caller must verify once more after
    /// this: a revocation before the guard existed could not end it.
    pub(super) fn guard_of(&self, verified: VerifiedToken) -> AccessGuard {
        let VerifiedToken { principal, token, expires_ms, changed_ms } = verified;
        let mut states = self.0.lock();
        let known = states.get(&token).and_then(Weak::upgrade);
        match (known.as_ref().map(|known| known.changed_ms), changed_ms) {
            // Verified before a change that others have come in after.
            (Some(Some(at_ms)), verified_ms) if Some(at_ms) > verified_ms => {
                let state = TokenState::new(token, expires_ms, changed_ms);
                state.end(AccessEnd::Changed { at_ms });
                return AccessGuard { principal, state };
            }
            (Some(known_ms), Some(at_ms)) if known_ms < Some(at_ms) => {
                if let Some(known) = &known {
                    known.end_before_change(at_ms);
                }
            }
            _ => {}
        }
        let is_same = |known: &Arc<TokenState>| known.changed_ms == changed_ms;
        let state = known.filter(is_same).unwrap_or_else(|| {
            // Entries that no connection holds any more.
            states.retain(|_, state| state.strong_count() > 0);
            let state = TokenState::new(token.clone(), expires_ms, changed_ms);
            states.insert(token, Arc::downgrade(&state));
            state
        });
        AccessGuard { principal, state }
    }

    /// Ends the guards of a token, at once.
    pub(super) fn end(&self, token: &TokenId, reason: AccessEnd) {
        let state = self.0.lock().get(token).and_then(Weak::upgrade);
        if let Some(state) = state {
            state.end(reason);
        }
    }

    /// Ends the guards of a token from before a change of its person; `true` if there were any.
    pub(super) fn end_before_change(&self, token: &TokenId, at_ms: u64) -> bool {
        let state = self.0.lock().get(token).and_then(Weak::upgrade);
        state.is_some_and(|state| state.end_before_change(at_ms))
    }

    pub(super) fn expired(&self, now_ms: u64) -> Vec<(TokenId, AccessEnd)> {
        let ended =
            |it: &Arc<TokenState>| Some((it.token.clone(), expired(it.expires_ms, now_ms)?));
        self.valid().iter().filter_map(ended).collect()
    }

    /// Returns the tokens in use that are not known to have ended.
    pub(super) fn tokens(&self) -> Vec<TokenId> {
        self.valid().iter().map(|it| it.token.clone()).collect()
    }

    fn valid(&self) -> Vec<Arc<TokenState>> {
        let states = self.0.lock();
        states.values().filter_map(Weak::upgrade).filter(|it| it.reason.get().is_none()).collect()
    }
}
