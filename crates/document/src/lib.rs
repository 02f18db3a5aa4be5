//! Text and its changes. No input or output, and no clock except for the optional deadline of a
//! diff.
//!
//! Positions are UTF-16 code units, as in a browser; ranges are half-open, `[from, to)`; a line
//! break is `\n`, one unit. [`Text`] holds the words, [`ChangeSet`] describes a change of them, and
//! [`Document`] puts changes that were made at the same time into one order that every client
//! arrives at too.

mod change_set;
mod compose;
mod cursor;
pub mod diff;
mod encoded_text;
mod json;
mod json_reader;
mod log;
mod map_options;
mod position_index;
pub mod provenance;
pub mod quotation;
mod rebase;
mod text;
mod transform;

pub use change_set::{ChangeError, ChangeLimits, ChangeResult, ChangeSet, TextEdit};
pub use encoded_text::EncodedText;
pub use log::TailLimits;
pub use map_options::{InsertSide, MapOrder};
pub use position_index::PositionIndex;
pub use rebase::RebaseBudget;
pub use text::{ChangedRange, PositionError, Text, utf16_len};

use copydesk_ids::{ClientId, Version};
use json::TypedChange;
use log::{LoggedUpdate, UpdateLog};

/// Part of its log that a document keeps in memory, so that clients catch up, and late pushes are
/// rebased, without reading the store.
pub const TAIL: TailLimits = TailLimits { updates: 10_000, bytes: 8 * 1024 * 1024 };

/// One committed update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Editor instance that made the update.
    pub client: ClientId,
    /// Change as JSON, as it is stored and broadcast.
    pub changes: Box<str>,
    /// Cause of the update, for updates made by the server.
    pub origin: Option<Box<str>>,
}

/// An [`Update`] as a client sends it.
#[derive(Debug, Clone, Copy)]
pub struct IncomingUpdate<'a> {
    /// Editor instance that made the update.
    pub client: &'a ClientId,
    /// Change as JSON.
    pub changes: &'a str,
}

/// Reason why [`Document::push`] refused updates; none of them was committed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The base version does not exist yet.
    #[error("version {base} is ahead of the document, which is at {version}")]
    Ahead {
        /// Version the push was made on.
        base: Version,
        /// Version of the document.
        version: Version,
    },
    /// The updates since the base version are no longer in memory.
    #[error("version {base} is older than the log, which begins at {tail_start}")]
    TooOld {
        /// Version the push was made on.
        base: Version,
        /// Oldest version that can be rebased.
        tail_start: Version,
    },
    /// Rebasing the updates over those made meanwhile costs more than the budget; nothing was
    /// changed.
    #[error("moving these updates over those made meanwhile costs more than {budget} steps")]
    TooCostly {
        /// Budget of the push, in steps; see [`RebaseBudget`].
        budget: u64,
    },
    /// The push has more updates than the log is sure to hold, which could not all be broadcast.
    #[error("a push has at most {most} updates")]
    TooMany {
        /// Maximum number of updates of a push.
        most: usize,
    },
    /// An update is not a change of the text it was made on.
    #[error("update {index}: {source}")]
    Invalid {
        /// Index of the update in the push, from 0.
        index: usize,
        /// Error in the update.
        source: ChangeError,
    },
    /// An update differs from the one that was committed for this client in its place.
    #[error("update {index} is not the one that was committed for this client")]
    NotTheSame {
        /// Index of the update in the push, from 0.
        index: usize,
    },
}

/// A document: its text, its version, and the newest part of its log.
#[derive(Clone, Debug)]
pub struct Document {
    text: Text,
    log: UpdateLog,
}

impl Update {
    /// Parses the change from its JSON.
    pub fn change_set(&self) -> ChangeResult<ChangeSet> {
        ChangeSet::parse(&self.changes, &ChangeLimits::NONE)
    }
}

impl Document {
    /// Creates a document at `version` with an empty log that will keep what [`TAIL`] says.
    pub fn new(text: Text, version: Version) -> Self {
        Self::with_tail(text, version, TAIL)
    }

    /// Creates a document as [`Self::new`] does, with other limits for the log.
    pub fn with_tail(text: Text, version: Version, tail: TailLimits) -> Self {
        Self { text, log: UpdateLog::new(version, tail) }
    }

    /// Returns the current text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the current text to be sent; see [`Text::share`].
    pub fn shared_text(&mut self) -> Text {
        self.text.share()
    }

    /// Returns the number of updates committed since the document was created.
    pub fn version(&self) -> Version {
        self.log.end()
    }

    /// Returns the oldest version from which updates are still in memory.
    pub fn tail_start(&self) -> Version {
        self.log.start()
    }

    /// Returns the updates committed after `version`, oldest first; `None` if the log does not
    /// reach that far, or not yet.
    pub fn since(&self, version: Version) -> Option<impl ExactSizeIterator<Item = Update>> {
        Some(self.log.since(version)?.map(Update::from))
    }

    /// Puts updates that were committed directly before [`Self::tail_start`] back into the log, so
    /// that pushes made on them are rebased or recognised. The next commits drop them again where
    /// the log holds more than its limits.
    pub fn prepend_log<'a>(
        &mut self,
        older: impl IntoIterator<Item = &'a Update, IntoIter: ExactSizeIterator>,
    ) {
        self.log.prepend(older.into_iter().map(LoggedUpdate::from));
    }

    /// Returns the memory the log takes, in bytes.
    pub fn log_size_bytes(&self) -> usize {
        self.log.size_bytes()
    }

    /// Commits updates that a client made one after the other on version `base`, and returns them
    /// as committed.
    ///
    /// Updates made meanwhile come first: the new ones are rebased over them, one at a time, as the
    /// client itself does. Leading updates that are committed already (the client got no reply and
    /// sent them again) are recognised and left out. An update of which nothing is left still takes
    /// a version, because its author waits for it. `limits` hold for all updates together.
    ///
    /// # Errors
    /// [`PushError`] with the reason. All or nothing: on an error no update is committed. A push
    /// that would cost more than `budget` is refused before anything is changed.
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
    ///
    /// # Errors
    /// [`ChangeError`] if the change does not fit the text, which is then unchanged.
    pub fn commit(
        &mut self,
        change: &ChangeSet,
        client: &ClientId,
        origin: Option<&str>,
    ) -> ChangeResult<Update> {
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

    /// Commits a single [`TypedChange`] of the newest version, without the general rebase. Returns
    /// `false` and changes nothing if it is not one, or if it is invalid.
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
            // A single change leaves the text unchanged when it is refused.
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

impl<'a> From<&'a Update> for LoggedUpdate<'a> {
    fn from(update: &'a Update) -> Self {
        Self { client: &update.client, changes: &update.changes, origin: update.origin.as_deref() }
    }
}

#[cfg(test)]
mod tests;
