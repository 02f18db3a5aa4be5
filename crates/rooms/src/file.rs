//! Merging of a workspace file into its document: changes of the file become updates by `disk`.
//!
//! The room does not read files. `copydesk_file_sync` passes in what a file reads and takes the
//! text afterwards. Both are stored by one commit, so that no change of a file can be merged twice.

use serde_json::json;

use copydesk_approvals::{ArrivedHunks, Hunk, HunkDraft, ReturnedHunk};
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::{ClientId, RequestId, UserId};
use copydesk_store::StoreOp;

use super::RoomError;
use super::event::RoomEvent;
use super::file_state::{FileMerge, FileState, MergeOutcome};
use super::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::actor::room_effects::RoomEffects;
use crate::state::text::check_length;

/// Author of changes that were found in a file: who made them is unknown.
pub const DISK: &str = "disk";
/// Editor instance of these updates; clients cannot use it.
const CLIENT: &str = "ai:disk";

/// Merges changes of the file into the document. Where people changed the same words in the
/// document, theirs stay, and those of the file are logged.
pub(super) fn merge(
    state: &mut RoomState,
    merge: FileMerge,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Result<MergeOutcome, RoomError> {
    state.exists()?;
    let FileMerge { read, base, ours, theirs, disk, mut record } = merge;
    let bad = |source| RoomError::BadUpdate { index: 0, source };
    let updates = state.document.since(read).ok_or(RoomError::Resync)?;
    let updates: Result<Vec<_>, _> = updates.map(|update| update.change_set()).collect();
    let woven = weave(&base, &ours, theirs, &updates.map_err(bad)?).map_err(bad)?;
    check_length(woven.change.new_len())?;
    let is_changed = !woven.change.is_empty();
    if is_changed {
        let author = ChangeAuthor {
            moves: Vec::new(),
            client: ClientId::from(CLIENT),
            user: &UserId::from(DISK),
            origin: None,
            placements: None,
        };
        state.apply_server_change(&woven.change, &author, HunkChanges::default(), now, effects)?;
    }
    if !woven.kept.is_empty() {
        // The file is about to be overwritten, so the words it had are logged.
        let kept: Vec<_> = woven.kept.iter().map(returned_hunk_json).collect();
        let detail = json!({ "path": record.path, "version": state.version(), "kept": kept });
        effects.keep(state.audit("document.file_conflict", DISK, None, detail, now));
    }
    record.version = state.version();
    record.disk = (disk != *state.document.text()).then(|| disk.to_string());
    effects.keep(StoreOp::PutFile(record.clone()));
    Ok(MergeOutcome { record, kept: woven.kept, is_changed })
}

/// Adds an event with the state of the document's file, if it changed.
pub(super) fn queue_file_event(state: &mut RoomState, news: FileState, effects: &mut RoomEffects) {
    let standing = Some(FileState { merged: None, ..news.clone() });
    if news.merged.is_some() || state.file != standing {
        state.file = standing;
        effects.queue_event(RoomEvent::File(news));
    }
}

fn returned_hunk_json(ReturnedHunk { base, proposed, now }: &ReturnedHunk) -> serde_json::Value {
    json!({ "base": base, "disk": proposed, "kept": now })
}

/// Changes of both sides to one text, as one change of the text people have made of it.
#[derive(Debug)]
struct WovenChange {
    change: ChangeSet,
    kept: Vec<ReturnedHunk>,
}

/// Maps the changes of the file (`theirs`) over those of people: `ours`, and then `updates`. Where
/// both changed the same words, people's stay; where both made the same change, it is made once.
fn weave(
    base: &Text,
    ours: &[HunkDraft],
    mut theirs: Vec<HunkDraft>,
    updates: &[ChangeSet],
) -> Result<WovenChange, copydesk_document::ChangeError> {
    for hunk in &mut theirs {
        hunk.parts.retain(|part| !ours.iter().any(|it| it.parts.contains(part)));
    }
    theirs.retain(|hunk| !hunk.parts.is_empty());
    let parts = ours.iter().flat_map(|hunk| &hunk.parts).cloned();
    let edits: Vec<_> = parts.map(TextEdit::from).collect();
    let ours = ChangeSet::of(base.len(), &edits)?;
    let over = || std::iter::once(&ours).chain(updates);
    let mut text = base.clone();
    over().try_for_each(|change| change.apply(&mut text))?;
    let ArrivedHunks { hunks, returned: mut kept } =
        ArrivedHunks::map(&RequestId::from(DISK), theirs, base, over())?;
    let (mut edits, mut done) = (Vec::new(), 0);
    for hunk in hunks {
        // Words that were deleted and typed again can leave two places the other way round.
        if is_after(&hunk, done) {
            done = hunk.parts.last().map_or(done, |part| part.to);
            edits.extend(hunk.parts.into_iter().map(|part| TextEdit {
                from: part.from,
                to: part.to,
                insert: part.insert,
            }));
        } else {
            let now = text.slice(hunk.range()).unwrap_or_default();
            kept.push(ReturnedHunk { base: hunk.base(), proposed: hunk.proposed(), now });
        }
    }
    // If the text already reads as the file does, there is no conflict.
    kept.retain(|it| it.now != it.proposed);
    Ok(WovenChange { change: ChangeSet::of(text.len(), &edits)?, kept })
}

fn is_after(hunk: &Hunk, mut done: usize) -> bool {
    hunk.parts.iter().all(|part| {
        let fits = part.from >= done && part.to >= part.from;
        done = part.to;
        fits
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use copydesk_document::diff::{DiffLimits, diff_in_order as diff};

    fn changes(old: &str, new: &str) -> Vec<HunkDraft> {
        diff(old, new, &DiffLimits::default())
    }

    /// Returns the merged text, and the changes of the file that were not merged.
    fn woven(base: &str, ours: &str, theirs: &str) -> (String, Vec<String>) {
        let woven =
            weave(&Text::new(base), &changes(base, ours), changes(base, theirs), &[]).unwrap();
        let mut text = Text::new(ours);
        woven.change.apply(&mut text).unwrap();
        (text.to_string(), woven.kept.into_iter().map(|it| it.proposed).collect())
    }

    #[test]
    fn changes_in_different_places_come_together() {
        let base = "The first line.\n\nThe second line.\n";
        let ours = "The first line, ours.\n\nThe second line.\n";
        let theirs = "The first line.\n\nTheir second line.\n\nAnd a third.\n";
        let (text, kept) = woven(base, ours, theirs);
        assert_eq!(text, "The first line, ours.\n\nTheir second line.\n\nAnd a third.\n");
        assert_eq!(kept, [""; 0]);
    }

    #[test]
    fn where_both_changed_the_same_words_peoples_stay() {
        let (text, kept) =
            woven("The red lamp burns.", "The blue lamp burns.", "The green lamp burns.");
        assert_eq!(text, "The blue lamp burns.");
        assert_eq!(kept, ["green"]);
    }

    #[test]
    fn what_people_added_to_words_that_the_file_lost_stays() {
        let (text, _) = woven("One two three.\n", "One two and a half three.\n", "One.\n");
        assert!(text.contains("and a half"), "{text}");
    }

    #[test]
    fn the_same_change_on_both_sides_is_made_once() {
        let (text, kept) = woven("Teh lamp. A dog.", "The lamp. A dog.", "The lamp. A cat.");
        assert_eq!((text.as_str(), kept), ("The lamp. A cat.", vec![]));
        assert_eq!(woven("a", "a b", "a b").0, "a b");
    }

    #[test]
    fn what_came_after_the_texts_were_compared_counts_too() {
        let base = "One two three.";
        let typed = ChangeSet::of(14, &[TextEdit { from: 4, to: 7, insert: "2".into() }]).unwrap();
        let theirs = changes(base, "One zwei drei.");
        let woven = weave(&Text::new(base), &[], theirs, &[typed]).unwrap();
        let mut text = Text::new("One 2 three.");
        woven.change.apply(&mut text).unwrap();
        assert!(text.to_string().contains('2'), "{text}");
        assert_eq!(woven.kept.len(), 1);
    }

    /// Paragraphs of words that occur once, so that each word can be attributed.
    fn paragraphs() -> impl Strategy<Value = Vec<Vec<u16>>> {
        prop::collection::vec(prop::collection::vec(0..40_u16, 1..6), 1..6)
    }

    fn text(paragraphs: &[Vec<u16>]) -> String {
        let line = |(at, words): (usize, &Vec<u16>)| {
            let words = words.iter().enumerate().map(|(i, w)| format!("w{at}x{i}x{w}"));
            words.collect::<Vec<_>>().join(" ") + ".\n"
        };
        paragraphs.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Applies edits of some words: at a paragraph and a word, with a word of the side's own or
    /// nothing.
    fn edited(
        base: &[Vec<u16>],
        side: char,
        edits: &[(usize, usize, u8)],
    ) -> (String, Vec<String>) {
        let mut lines: Vec<Vec<String>> = text(base)
            .split("\n\n")
            .map(|line| line.trim_end().split(' ').map(str::to_owned).collect())
            .collect();
        let mut added = Vec::new();
        for (number, (line, word, kind)) in edits.iter().enumerate() {
            let at = line % lines.len();
            let line = &mut lines[at];
            let word = word % (line.len() + 1);
            let new = format!("{side}{number}new");
            match kind % 3 {
                0 => line.insert(word, new.clone()),
                1 if word < line.len() => line[word].clone_from(&new),
                _ if word < line.len() => {
                    line.remove(word);
                    continue;
                }
                _ => continue,
            }
            added.push(new);
        }
        let text = lines.iter().map(|line| line.join(" ")).collect::<Vec<_>>().join("\n\n") + "\n";
        // A later edit may have taken an earlier one out again.
        added.retain(|word| text.contains(word.as_str()));
        (text, added)
    }

    fn edits() -> impl Strategy<Value = Vec<(usize, usize, u8)>> {
        prop::collection::vec((0..6_usize, 0..6_usize, any::<u8>()), 0..5)
    }

    proptest! {
        #[test]
        fn no_word_that_a_person_wrote_is_lost(base in paragraphs(), ours in edits(), theirs in edits()) {
            let (mine, added) = edited(&base, 'p', &ours);
            let (disk, _) = edited(&base, 'd', &theirs);
            let (merged, _) = woven(&text(&base), &mine, &disk);
            for word in added {
                prop_assert!(merged.contains(&word), "{word} is lost in {merged:?}\nours {mine:?}\ndisk {disk:?}");
            }
        }

        #[test]
        fn what_the_file_changed_in_other_paragraphs_arrives(base in paragraphs(), ours in edits(), theirs in edits()) {
            let odd = |edits: Vec<(usize, usize, u8)>, odd: usize| {
                edits.into_iter().map(|(line, word, kind)| (line / 2 * 2 + odd, word, kind)).collect::<Vec<_>>()
            };
            // The number of paragraphs is even, so that a remainder stays on its side.
            let mut base = base;
            if base.len() % 2 == 1 {
                base.push(vec![7, 8, 9]);
            }
            let (mine, _) = edited(&base, 'p', &odd(ours, 0));
            let (disk, added) = edited(&base, 'd', &odd(theirs, 1));
            let (merged, kept) = woven(&text(&base), &mine, &disk);
            for word in added {
                prop_assert!(merged.contains(&word), "{word} is missing in {merged:?}; kept {kept:?}");
            }
        }

        #[test]
        fn a_file_that_no_one_wrote_to_elsewhere_wins_whole(base in paragraphs(), theirs in edits()) {
            let (disk, _) = edited(&base, 'd', &theirs);
            let old = text(&base);
            let (merged, kept) = woven(&old, &old, &disk);
            prop_assert_eq!(merged, disk);
            prop_assert!(kept.is_empty());
        }
    }
}
