//! How much of requests' bodies is held at once for one person.
//!
//! Nothing is held that has not come: who announces much and sends little keeps nobody out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use futures_util::StreamExt as _;

use crate::connections::{HeldBytes, MemoryAccounts, NoRoom, PersonAccount};
use crate::ids::UserId;

/// Holds bodies while they are read and worked on. Clones are the same.
#[derive(Clone, Debug)]
pub struct BodyQuota(MemoryAccounts);

/// What is held of one body, until the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct HeldBody(Arc<BodyHold>);

#[derive(Debug)]
struct BodyHold {
    account: Arc<PersonAccount>,
    bytes: Mutex<Option<HeldBytes>>,
    refused: AtomicBool,
}

impl BodyQuota {
    /// Counts in these accounts.
    pub fn new(accounts: MemoryAccounts) -> Self {
        Self(accounts)
    }

    /// What is held for this person.
    pub(crate) fn account(&self, user: &UserId) -> Arc<PersonAccount> {
        self.0.of_user(user)
    }

    /// Nothing yet, for this person.
    pub(crate) fn begin(&self, user: &UserId) -> HeldBody {
        let account = self.0.of_user(user);
        HeldBody(Arc::new(BodyHold {
            account,
            bytes: Mutex::default(),
            refused: AtomicBool::new(false),
        }))
    }
}

impl HeldBody {
    /// Holds so many bytes more.
    pub(crate) fn hold(&self, more: usize) -> Result<(), NoRoom> {
        let mut bytes = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let held = match &mut *bytes {
            Some(held) => held.grow(more),
            None => self.0.account.body(more).map(|held| *bytes = Some(held)),
        };
        if held.is_err() {
            self.0.refused.store(true, Ordering::Relaxed);
        }
        held
    }

    /// Whether there was no room for all of it.
    pub(crate) fn is_refused(&self) -> bool {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// The body, each piece of which is held as it is read; it breaks off where there is no room.
    pub(crate) fn of(&self, body: Body) -> Body {
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
        assert_eq!(second.hold(1), Err(NoRoom::Server));
        assert!(second.is_refused() && !first.is_refused());
        let again = first.clone();
        drop(first);
        assert_eq!(second.hold(1), Err(NoRoom::Server));
        drop(again);
        assert_eq!((second.hold(1), accounts.held()), (Ok(()), 1));
        drop(second);
        assert_eq!(accounts.held(), 0);
    }
}
