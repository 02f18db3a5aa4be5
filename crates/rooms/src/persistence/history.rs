//! Older versions of a text: reading them, comparing them, restoring them.

use std::time::{Duration, Instant};

use copydesk_cpu_pool as cpu_pool;
use copydesk_document::diff::{DiffLimits, DraftPart, diff_whole, word_edits};
use copydesk_document::{Text, TextEdit};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, Version};
use copydesk_macros::boxed;
use copydesk_store::{LogPiece, PERMANENT_BYTES, PERMANENT_UPDATES, StartingText, Store, StoreOp};

use super::loading::PIECE;
use crate::command::{RoomCommand, TextRestore};
use crate::state::text::PUSH_LIMITS;
use crate::work_size::{is_long_answer, is_long_log};
use crate::{RoomError, RoomHandle, RoomResult};

/// Distance of two snapshots of a room at most.
const BETWEEN: LogPiece = LogPiece { updates: 4_000, bytes: 64 * 1024 * 1024 };
/// Time after which a comparison of two texts stops looking for small differences.
const DIFF_TIME: Duration = Duration::from_millis(250);
/// Number of attempts when the document changed while the texts were compared.
const ATTEMPTS: usize = 5;

/// Returns the text of a document at a version, which must be durable; of a version newer than the
/// document's, the newest. `person` asks for it: see [`cpu_pool::run`].
#[boxed]
pub async fn text_at(
    store: &Store,
    document: &DocumentId,
    version: Version,
    person: &str,
) -> RoomResult<Text> {
    let start = store.starting_text(document, version).await?;
    let StartingText { record, snapshot, text } = start.ok_or(RoomError::NoDocument)?;
    let long = is_long_answer(text.len(), 0);
    let mut text = cpu_pool::run_if(long, person, move || Text::new(&text)).await?;
    let (mut at, mut since) = (snapshot, ReplayedText::default());
    while at < record.version {
        let piece = store.piece(document, at, record.version, PIECE).await?;
        at = at.plus(piece.len());
        let bytes = piece.iter().map(|update| update.changes.len()).sum();
        since = since.and(piece.len(), bytes);
        let id = document.clone();
        let follow = move || super::restore::follow(&id, &mut text, &piece).map(|()| text);
        text = cpu_pool::run_if(is_long_log(since.updates, bytes), person, follow).await??;
        if since.is_far(&text) {
            keep(store, document, at, &text, since.bytes, person).await?;
            since = ReplayedText::default();
        }
    }
    Ok(text)
}

#[derive(Clone, Copy, Default)]
struct ReplayedText {
    updates: usize,
    bytes: usize,
}

impl ReplayedText {
    fn and(self, updates: usize, bytes: usize) -> Self {
        Self { updates: self.updates + updates, bytes: self.bytes + bytes }
    }

    /// Returns `true` if these are more than may lie between two permanent snapshots: earlier
    /// versions of the program wrote logs without such snapshots.
    fn is_far(self, text: &Text) -> bool {
        let bytes = PERMANENT_BYTES.max(2 * text.len() as u64) + BETWEEN.bytes;
        self.updates as u64 >= PERMANENT_UPDATES + BETWEEN.updates || self.bytes as u64 >= bytes
    }
}

async fn keep(
    store: &Store,
    document: &DocumentId,
    version: Version,
    text: &Text,
    bytes: usize,
    person: &str,
) -> RoomResult<()> {
    let copied = text.clone();
    let text = cpu_pool::run(person, move || copied.to_string()).await?;
    let (document, replayed_bytes) = (document.clone(), bytes as u64);
    let snapshot =
        StoreOp::PutSnapshot { document, version, text, replayed_bytes, permanent: true };
    if let Err(error) = store.commit(snapshot).await {
        tracing::debug!(%error, "cannot store an older text; it will be computed again");
    }
    Ok(())
}

/// Returns the changes that turn the text of one version into that of another, word by word,
/// ordered and disjoint; positions are of `from`.
pub async fn compare(
    store: &Store,
    document: &DocumentId,
    from: Version,
    to: Version,
    person: &str,
) -> RoomResult<Vec<DraftPart>> {
    let old = text_at(store, document, from, person).await?;
    let new = text_at(store, document, to, person).await?;
    let for_readers = |old: &str, new: &str, limits: &DiffLimits| {
        diff_whole(old, new, limits).into_iter().flat_map(|hunk| hunk.parts).collect()
    };
    difference(&old, &new, person, for_readers).await
}

/// Compares two texts on the pool: long ones take longer than other people should have to wait.
async fn difference(
    old: &Text,
    new: &Text,
    person: &str,
    compare: impl FnOnce(&str, &str, &DiffLimits) -> Vec<DraftPart> + Send + 'static,
) -> RoomResult<Vec<DraftPart>> {
    let (old, new) = (old.clone(), new.clone());
    let compared = cpu_pool::run(person, move || {
        let limits = DiffLimits { deadline: Some(Instant::now() + DIFF_TIME) };
        compare(&old.to_string(), &new.to_string(), &limits)
    });
    Ok(compared.await?)
}

/// Returns the words in which two texts differ as no more changes than one update may hold: those
/// closest to each other become one, with the words between.
pub(crate) async fn difference_in_one_update(
    old: &Text,
    new: &Text,
    person: &str,
) -> RoomResult<Vec<DraftPart>> {
    let parts = difference(old, new, person, word_edits).await?;
    // Each change is a section, and so is the unchanged text before it; one more stays at the end.
    let most = (PUSH_LIMITS.max_sections - 1) / 2;
    if parts.len() <= most {
        return Ok(parts);
    }
    let old = old.clone();
    let merged = cpu_pool::run(person, move || merge_closest(parts, &old, most)).await?;
    merged.ok_or_else(|| RoomError::Invalid("the texts could not be compared".to_owned()))
}

/// Returns at most `most` changes of `old` with the effect of `parts`: neighbours with the fewest
/// UTF-16 units between them become one. Returns `None` if `parts` are not changes of `old`.
fn merge_closest(parts: Vec<DraftPart>, old: &Text, most: usize) -> Option<Vec<DraftPart>> {
    let mut gaps: Vec<(usize, usize)> = parts
        .windows(2)
        .enumerate()
        .map(|(at, pair)| (pair[1].from - pair[0].to, at + 1))
        .collect();
    gaps.sort_unstable();
    let mut is_merged = vec![false; parts.len()];
    for (_, at) in gaps.into_iter().take(parts.len().saturating_sub(most)) {
        is_merged[at] = true;
    }
    let mut merged: Vec<DraftPart> = Vec::with_capacity(most);
    for (part, is_merged) in parts.into_iter().zip(is_merged) {
        match merged.last_mut().filter(|_| is_merged) {
            Some(last) => {
                let between = old.slice(last.to..part.from).ok()?;
                for (words, more) in
                    [(&mut last.base, &part.base), (&mut last.insert, &part.insert)]
                {
                    words.push_str(&between);
                    words.push_str(more);
                }
                last.to = part.to;
            }
            None => merged.push(part),
        }
    }
    Some(merged)
}

impl RoomHandle {
    /// Restores the text of `version` by one update of the person's, and returns the version after
    /// it. With `only_at`, only if that is still the newest version.
    ///
    /// Compares the old text with the newest and lets the room apply the differences; tries again
    /// if the document changed meanwhile.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if other people's updates kept coming between.
    pub async fn restore(
        &self,
        store: &Store,
        version: Version,
        only_at: Option<Version>,
        by: &Principal,
    ) -> RoomResult<Version> {
        let mut last = Err(RoomError::Resync);
        for _ in 0..ATTEMPTS {
            let now = self.read().await?;
            if version > now.version {
                return Err(RoomError::Ahead { asked: version, newest: now.version });
            }
            if only_at.is_some_and(|only| only != now.version) {
                return Err(RoomError::Resync);
            }
            let person = by.user.as_str();
            let old = text_at(store, self.document(), version, person).await?;
            let parts = difference_in_one_update(&now.text, &old, person).await?;
            let edits = parts.into_iter().map(TextEdit::from).collect();
            let wanted = Box::new(TextRestore { version, base: now.version, edits });
            last = self.ask(|reply| RoomCommand::Restore(wanted, by.clone(), reply)).await;
            if !matches!(last, Err(RoomError::Resync)) {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use copydesk_document::ChangeSet;

    use super::*;

    #[test]
    fn changes_closest_to_each_other_become_one_and_come_to_the_same() {
        let old = "a😀b.c.d".to_owned() + &"x".repeat(10) + "e.f";
        let new = "A😀B.C.D".to_owned() + &"x".repeat(10) + "E.F";
        let part = |at: usize, base: &str| {
            let insert = base.to_uppercase();
            DraftPart { from: at, to: at + 1, base: base.to_owned(), insert }
        };
        let parts: Vec<_> = [(0, "a"), (3, "b"), (5, "c"), (7, "d"), (18, "e"), (20, "f")]
            .map(|(at, base)| part(at, base))
            .into();
        for most in 1..=parts.len() {
            let text = Text::new(&old);
            let merged = merge_closest(parts.clone(), &text, most).unwrap();
            assert_eq!(merged.len(), most);
            assert!(merged.iter().all(|it| text.slice(it.from..it.to).unwrap() == it.base));
            let edits: Vec<_> = merged.into_iter().map(TextEdit::from).collect();
            let mut text = text;
            ChangeSet::of(text.len(), &edits).unwrap().apply(&mut text).unwrap();
            assert_eq!(text.to_string(), new, "{most}");
        }
        let two = merge_closest(parts, &Text::new(&old), 2).unwrap();
        assert_eq!((two[0].to, two[1].from), (8, 18), "not over the long stretch between");
    }
}
