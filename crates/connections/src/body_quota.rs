//! Quota of the memory that request bodies of one person take at once. Only bytes that have arrived
//! count: a client that announces much and sends little keeps no one out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use futures_util::StreamExt as _;
use parking_lot::Mutex;

use copydesk_ids::UserId;

use super::memory_accounts::{
    HeldBytes, HeldPurpose, MemoryAccounts, MemoryExhausted, PersonAccount,
};

/// Quota for bodies while they are read and worked on. Clones share it.
#[derive(Clone, Debug)]
pub struct BodyQuota(MemoryAccounts);

/// Bytes held for one body, until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct HeldBody(Arc<BodyHold>);

#[derive(Debug)]
struct BodyHold {
    account: Arc<PersonAccount>,
    bytes: Mutex<Option<HeldBytes>>,
    refused: AtomicBool,
}

impl BodyQuota {
    /// Returns a quota that counts in these accounts.
    pub fn new(accounts: MemoryAccounts) -> Self {
        Self(accounts)
    }

    /// Returns the account of a person.
    pub fn account(&self, user: &UserId) -> Arc<PersonAccount> {
        self.0.of_user(user)
    }

    /// Begins a body of this person, with nothing held yet.
    pub fn begin(&self, user: &UserId) -> HeldBody {
        HeldBody::new(self.0.of_user(user))
    }
}

impl HeldBody {
    /// Begins a body of the person of this account, with nothing held yet.
    pub fn new(account: Arc<PersonAccount>) -> Self {
        let (bytes, refused) = (Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(BodyHold { account, bytes, refused }))
    }

    /// Holds `more` bytes.
    pub fn hold(&self, more: usize) -> Result<(), MemoryExhausted> {
        let mut bytes = self.0.bytes.lock();
        let held = match &mut *bytes {
            Some(held) => held.grow(more),
            None => self.0.account.hold(HeldPurpose::Body, more).map(|held| *bytes = Some(held)),
        };
        if held.is_err() {
            self.0.refused.store(true, Ordering::Relaxed);
        }
        held
    }

    /// Returns `true` if the quota did not suffice for the whole body.
    pub fn is_refused(&self) -> bool {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Wraps a body so that each piece is held as it is read, up to the quota.
    pub fn of(&self, body: Body) -> Body {
        let held = self.clone();
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let piece = piece.map_err(axum::BoxError::from)?;
            held.hold(piece.len())?;
            Ok::<_, axum::BoxError>(piece)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_held_as_long_as_anybody_waits_for_its_answer() {
        let accounts = MemoryAccounts::new(1_000);
        let reading = BodyQuota::new(accounts.clone());
        let ana = UserId::from("ana");
        let (first, second) = (reading.begin(&ana), reading.begin(&ana));
        assert_eq!((first.hold(600), first.hold(400)), (Ok(()), Ok(())));
        assert_eq!(second.hold(1), Err(MemoryExhausted::Server));
        assert!(second.is_refused() && !first.is_refused());
        let again = first.clone();
        drop(first);
        assert_eq!(second.hold(1), Err(MemoryExhausted::Server));
        drop(again);
        assert_eq!((second.hold(1), accounts.held()), (Ok(()), 1));
        drop(second);
        assert_eq!(accounts.held(), 0);
    }
}
