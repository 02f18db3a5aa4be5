//! Text and how it changes; pure: no clock, no disk, no task.
//!
//! Positions are UTF-16 code units, as in a browser; ranges are half-open, `[from, to)`; a line
//! break is `\n`, one unit. [`Text`] holds the words, [`ChangeSet`] says how they change, and
//! [`Document`] puts changes that were made at the same time into one order that every client
//! arrives at too.

mod change_set;
mod compose;
mod cursor;
pub mod diff;
mod json;
mod json_reader;
mod log;
mod position_index;
pub mod provenance;
mod rebase;
mod text;
mod transform;

pub use change_set::{ChangeError, ChangeLimits, ChangeSet, ChangedRange, TextEdit};
pub use log::TailLimits;
pub use position_index::PositionIndex;
pub use rebase::RebaseBudget;
pub use text::{PositionError, Text, utf16_len};
pub use transform::{InsertSide, MapMode, MapOrder, RangeTouch};

use crate::ids::{ClientId, Version};
use json::TypedChange;
use log::{LoggedUpdate, UpdateLog};

/// How much of its log a document keeps in memory, so that clients catch up, and late pushes are
/// moved, without a look at the store.
pub const TAIL: TailLimits = TailLimits { updates: 10_000, bytes: 8 * 1024 * 1024 };

/// One committed update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The editor instance that made it.
    pub client: ClientId,
    /// The change as JSON, as it is stored and broadcast.
    pub changes: Box<str>,
    /// What caused it, for updates made by the server.
    pub origin: Option<Box<str>>,
}

/// An update as a client sends it.
#[derive(Debug, Clone, Copy)]
pub struct IncomingUpdate<'a> {
    /// The editor instance that made it.
    pub client: &'a ClientId,
    /// The change as JSON.
    pub changes: &'a str,
}

/// Why a push was refused; nothing of it was committed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The version has not happened yet.
    #[error("version {base} is ahead of the document, which is at {version}")]
    Ahead {
        /// The version the push was made on.
        base: Version,
        /// The version of the document.
        version: Version,
    },
    /// The updates since that version are no longer at hand.
    #[error("version {base} is older than the log, which begins at {tail_start}")]
    TooOld {
        /// The version the push was made on.
        base: Version,
        /// The oldest version that can be rebased.
        tail_start: Version,
    },
    /// Moving the updates over those made meanwhile costs more than the push may; nothing was
    /// changed.
    #[error("moving these updates over those made meanwhile costs more than {budget} steps")]
    TooCostly {
        /// What it may cost, in sections looked at.
        budget: u64,
    },
    /// There are more updates than the log is sure to hold, so that not all of them could be told.
    #[error("a push has at most {most} updates")]
    TooMany {
        /// How many it may have.
        most: usize,
    },
    /// An update is not a change of the text it was made on.
    #[error("update {index}: {source}")]
    Invalid {
        /// Which update of the push, from 0.
        index: usize,
        /// What is wrong with it.
        source: ChangeError,
    },
    /// An update stands where a committed one of the same client was, but is another change: the
    /// client lost track.
    #[error("update {index} is not the one that was committed for this client")]
    NotTheSame {
        /// Which update of the push, from 0.
        index: usize,
    },
}

/// A document: its text, its version, and the newest part of its log.
#[derive(Debug)]
pub struct Document {
    text: Text,
    log: UpdateLog,
}

/// A state of a document to go back to.
#[derive(Debug)]
pub struct DocumentCheckpoint {
    text: Text,
    version: Version,
}

impl Update {
    /// The change, read from its JSON.
    pub fn change_set(&self) -> Result<ChangeSet, ChangeError> {
        ChangeSet::parse(&self.changes, &ChangeLimits::NONE)
    }
}

impl Document {
    /// A document at `version` with an empty log that will keep what [`TAIL`] says.
    pub fn new(text: Text, version: Version) -> Self {
        Self::with_tail(text, version, TAIL)
    }

    /// As [`Self::new`], with another tail.
    pub fn with_tail(text: Text, version: Version, tail: TailLimits) -> Self {
        Self { text, log: UpdateLog::new(version, tail) }
    }

    /// The text now.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The number of updates committed since the document was created.
    pub fn version(&self) -> Version {
        self.log.end()
    }

    /// The oldest version from which updates are still at hand.
    pub fn tail_start(&self) -> Version {
        self.log.start()
    }

    /// The updates committed after `version`, oldest first; nothing if the log does not reach that
    /// far, or not yet.
    pub fn since(&self, version: Version) -> Option<impl ExactSizeIterator<Item = Update>> {
        Some(self.log.since(version)?.map(Update::from))
    }

    /// Memory the log takes, in bytes.
    pub fn log_size_bytes(&self) -> usize {
        self.log.size_bytes()
    }

    /// Commits updates that a client made one after the other on version `base`, and gives them as
    /// committed.
    ///
    /// Updates made meanwhile come first: the new ones are rebased over them, one at a time, as the
    /// client itself does. Leading updates that are committed already (the client did not hear of
    /// it and sent them again) are recognised and left out. An update of which nothing is left
    /// still takes a version, because its author waits for it. All or nothing; what would cost more
    /// than `budget` is refused before anything is changed. `limits` hold for all updates together.
    pub fn push(
        &mut self,
        base: Version,
        updates: &[IncomingUpdate<'_>],
        limits: &ChangeLimits,
        budget: RebaseBudget,
    ) -> Result<impl ExactSizeIterator<Item = Update> + use<'_>, PushError> {
        let version = self.version();
        let most = self.log.limits().updates;
        if updates.len() > most {
            return Err(PushError::TooMany { most });
        }
        if !self.push_typed(base, updates, limits) {
            self.push_any(base, updates, limits, budget)?;
        }
        Ok(self.log.after(version).map(Update::from))
    }

    /// Commits a change made by the server to the newest version.
    pub fn commit(
        &mut self,
        change: &ChangeSet,
        client: &ClientId,
        origin: Option<&str>,
    ) -> Result<Update, ChangeError> {
        change.apply(&mut self.text)?;
        let changes = change.to_json();
        self.log.trim();
        self.log.append(client, origin, &changes);
        Ok(Update {
            client: client.clone(),
            changes: changes.into(),
            origin: origin.map(Box::from),
        })
    }

    /// The state now, to go back to if what is committed next cannot be kept.
    pub fn checkpoint(&self) -> DocumentCheckpoint {
        DocumentCheckpoint { text: self.text.clone(), version: self.version() }
    }

    /// Goes back to a state this document was in.
    pub fn roll_back(&mut self, checkpoint: DocumentCheckpoint) {
        self.text = checkpoint.text;
        self.log.truncate(checkpoint.version);
    }

    /// The short way for a single update that is a [`TypedChange`] change of the newest version.
    /// Does nothing if it is not, or if anything is wrong with it.
    fn push_typed(
        &mut self,
        base: Version,
        updates: &[IncomingUpdate<'_>],
        limits: &ChangeLimits,
    ) -> bool {
        let ([update], true) = (updates, base == self.version()) else { return false };
        let Some(typed) = TypedChange::read(update.changes) else { return false };
        let (len, units, deleted) = (self.text.len(), typed.units, typed.range.len());
        let allowed = typed.len == len
            && limits.max_sections >= 3
            && units <= limits.max_inserted
            && (units <= deleted || len - deleted + units <= limits.max_length);
        if !allowed || self.text.replace(typed.range, &typed.insert, units).is_err() {
            return false;
        }
        self.log.trim();
        self.log.append(update.client, None, update.changes);
        true
    }

    fn push_any(
        &mut self,
        base: Version,
        updates: &[IncomingUpdate<'_>],
        limits: &ChangeLimits,
        budget: RebaseBudget,
    ) -> Result<(), PushError> {
        let version = self.version();
        let Some(missed) = self.log.since(base) else {
            let tail_start = self.tail_start();
            return Err(if base > version {
                PushError::Ahead { base, version }
            } else {
                PushError::TooOld { base, tail_start }
            });
        };
        let changes = rebase::rebase(updates, missed, self.text.len(), limits, budget)?;
        let known = updates.len() - changes.len();
        let invalid = |index, source| PushError::Invalid { index: known + index, source };
        if let [change] = changes.as_slice() {
            // A single change leaves the text as it is when it is refused.
            change.apply_within(&mut self.text, limits).map_err(|source| invalid(0, source))?;
        } else {
            let mut text = self.text.clone();
            for (index, change) in changes.iter().enumerate() {
                change.apply_within(&mut text, limits).map_err(|source| invalid(index, source))?;
            }
            self.text = text;
        }
        self.log.trim();
        for (change, update) in changes.iter().zip(&updates[known..]) {
            self.log.append(update.client, None, &change.to_json());
        }
        Ok(())
    }
}

impl From<LoggedUpdate<'_>> for Update {
    fn from(logged: LoggedUpdate<'_>) -> Self {
        Self {
            client: logged.client.clone(),
            changes: logged.changes.into(),
            origin: logged.origin.map(Box::from),
        }
    }
}

#[cfg(test)]
mod tests;
