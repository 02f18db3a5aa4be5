//! Writes of people that must happen once, and what the people know of their outcome.

use copydesk_ids::{DocumentId, UserId};
use copydesk_rooms::RoomError;
use copydesk_store::StoreError;

use super::database_document::DatabaseDocument;
use crate::invariants::Invariant::{AcknowledgedIsDurable, RefusedIsNotApplied};
use crate::invariants::{CheckResult, ensure};

/// Identity of a write in the database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WriteKey {
    /// A decision, by its note.
    Decision(String),
    /// A comment, by its text.
    Comment(String),
    /// An update of a person's suggestion, by its digest.
    Suggestion(UserId, String),
}

/// The outcome of a command, as far as its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Unknown,
    Acknowledged,
    Refused,
}

impl WriteOutcome {
    /// Returns the outcome that a reply shows.
    pub fn of<T>(result: &Result<T, RoomError>) -> Self {
        match result {
            Ok(_) => Self::Acknowledged,
            Err(RoomError::Closed) => Self::Unknown,
            Err(RoomError::Store(error))
                if matches!(**error, StoreError::OutcomeUnknown { .. }) =>
            {
                Self::Unknown
            }
            Err(_) => Self::Refused,
        }
    }
}

/// A write that was sent, perhaps several times.
struct SentWrite {
    document: DocumentId,
    key: WriteKey,
    copies: usize,
    refusals: usize,
    outcome: WriteOutcome,
}

/// All writes that were sent.
#[derive(Default)]
pub struct SentWrites(Vec<SentWrite>);

impl SentWrites {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Notes that copies of a write are sent; returns its number.
    pub fn send(&mut self, document: &DocumentId, key: WriteKey, copies: usize) -> usize {
        let known = self.0.iter().position(|it| it.document == *document && it.key == key);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            let (document, outcome) = (document.clone(), WriteOutcome::Unknown);
            self.0.push(SentWrite { document, key, copies: 0, refusals: 0, outcome });
        }
        let write = &mut self.0[at];
        write.copies += copies;
        if write.outcome == WriteOutcome::Refused {
            write.outcome = WriteOutcome::Unknown;
        }
        at
    }

    /// Returns whether the write was sent more than once.
    pub fn is_repeated(&self, at: usize) -> bool {
        self.0[at].copies > 1
    }

    pub fn document(&self, at: usize) -> &DocumentId {
        &self.0[at].document
    }

    /// Notes the outcome of one copy. The write is refused once all copies are.
    pub fn hear(&mut self, at: usize, outcome: WriteOutcome) {
        let write = &mut self.0[at];
        match outcome {
            WriteOutcome::Acknowledged => write.outcome = outcome,
            WriteOutcome::Refused => {
                write.refusals += 1;
                if write.outcome == WriteOutcome::Unknown && write.refusals == write.copies {
                    write.outcome = outcome;
                }
            }
            WriteOutcome::Unknown => {}
        }
    }

    /// Checks what the database has of a write.
    pub fn check(&self, at: usize, document: &DatabaseDocument) -> CheckResult {
        let SentWrite { key, outcome, .. } = &self.0[at];
        let count = document.applied(key);
        match outcome {
            WriteOutcome::Acknowledged => ensure(AcknowledgedIsDurable, count == 1, || {
                format!("{key:?} was acknowledged, and is recorded {count} times")
            }),
            WriteOutcome::Refused => ensure(RefusedIsNotApplied, count == 0, || {
                format!("{key:?} was refused, and is recorded {count} times")
            }),
            WriteOutcome::Unknown => Ok(()),
        }
    }
}
