//! How much of requests' bodies is held at once: by one person, and by all of them together.
//!
//! Nothing is held that has not come: who announces much and sends little keeps nobody out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use futures_util::StreamExt as _;

use crate::ids::UserId;

/// Bytes of one person: two of the largest bodies.
const OF_ONE: usize = 64 * 1024 * 1024;
/// Bytes of everybody.
const OF_ALL: usize = 256 * 1024 * 1024;

/// What is held of all bodies. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Reading(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    each: HashMap<UserId, usize>,
}

/// What is held of one body, until the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<Hold>);

#[derive(Debug)]
struct Hold {
    reading: Reading,
    user: UserId,
    bytes: AtomicUsize,
    refused: AtomicBool,
}

/// There is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too much is being read at once")]
pub(super) struct Full;

impl Reading {
    /// Nothing yet, for this person.
    pub(super) fn begin(&self, user: &UserId) -> Held {
        let (reading, user) = (self.clone(), user.clone());
        let (bytes, refused) = (AtomicUsize::new(0), AtomicBool::new(false));
        Held(Arc::new(Hold { reading, user, bytes, refused }))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // The counts are consistent between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Holds so many bytes more.
    pub(super) fn hold(&self, more: usize) -> Result<(), Full> {
        let mut counts = self.0.reading.counts();
        let theirs = counts.each.get(&self.0.user).copied().unwrap_or_default();
        if theirs + more > OF_ONE || counts.all + more > OF_ALL {
            self.0.refused.store(true, Ordering::Relaxed);
            return Err(Full);
        }
        counts.each.insert(self.0.user.clone(), theirs + more);
        counts.all += more;
        self.0.bytes.fetch_add(more, Ordering::Relaxed);
        Ok(())
    }

    /// Whether there was no room for all of it.
    pub(super) fn is_refused(&self) -> bool {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// The body, each piece of which is held as it is read; it breaks off where there is no room.
    pub(super) fn of(&self, body: Body) -> Body {
        let held = self.clone();
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let piece = piece.map_err(axum::BoxError::from)?;
            held.hold(piece.len())?;
            Ok::<_, axum::BoxError>(piece)
        }))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let mut counts = self.reading.counts();
        counts.all -= bytes;
        if let Some(theirs) = counts.each.get_mut(&self.user) {
            *theirs -= bytes;
            if *theirs == 0 {
                counts.each.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_holds_so_much_and_everybody_so_much_together() {
        let reading = Reading::default();
        let ana = UserId::from("ana");
        let (first, second) = (reading.begin(&ana), reading.begin(&ana));
        assert_eq!((first.hold(OF_ONE), second.hold(1)), (Ok(()), Err(Full)));
        assert!(second.is_refused() && !first.is_refused());
        let others: Vec<_> = (1..OF_ALL / OF_ONE)
            .map(|number| reading.begin(&format!("p{number}").as_str().into()))
            .collect();
        assert!(others.iter().all(|other| other.hold(OF_ONE) == Ok(())));
        assert_eq!(reading.begin(&"ben".into()).hold(1), Err(Full));
        // Held by the body as well as by who waits for the answer.
        let again = first.clone();
        drop(first);
        assert_eq!(second.hold(1), Err(Full));
        drop(again);
        assert_eq!(second.hold(1), Ok(()));
        drop((second, others));
        let counts = reading.counts();
        assert!(counts.all == 0 && counts.each.is_empty(), "{counts:?}");
    }
}
