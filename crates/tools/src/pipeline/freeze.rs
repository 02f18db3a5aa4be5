//! Hooks that protect frozen passages, and everything outside of the person's selection.
//!
//! A change that touches any of it is denied as a whole, also if most of it would be allowed: half
//! a rewrite is not what the model meant, and it can try again once it knows what is allowed. The
//! room also refuses changes of frozen passages, as the last check.

use std::fmt::Write as _;

use crate::EditableRange;
use copydesk_approvals::{ArrivedHunks, DraftPart};
use copydesk_document::{ChangeError, ChangeResult, ChangeSet, InsertSide};
use copydesk_ids::RequestId;
use copydesk_rooms::settings::{frozen_by, frozen_words};

use super::hooks::{CallOutlook, HookDenial};

/// Maximum number of changes outside of the selection that a denial names.
const MOST_NAMED: usize = 3;
/// Maximum length of a quotation, in characters.
const QUOTE_CHARS: usize = 60;

/// Denies changes of passages frozen now, in the text that the model read and in the present one.
pub fn frozen(call: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let now = &call.caught_up.now;
    if now.settings.frozen.is_empty() {
        return Ok(());
    }
    let missed = missed(call)?;
    let ranges = as_read(call, &missed).map_err(unreadable)?;
    let drafts = call.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    let mut touched = vec![false; ranges.len()];
    let mut mark = |ranges: &[(usize, usize)], part| {
        for (range, touched) in ranges.iter().zip(&mut touched) {
            *touched |= frozen_by(&[*range], part).is_some();
        }
    };
    drafts.for_each(|part| mark(&ranges, (part.from, part.to)));
    // A conflict goes back to the model anyway; all other hunks would be shown to people at their
    // present positions.
    let hunks = call.proposal.hunks.clone();
    let nameless = RequestId::from("");
    let arrival =
        ArrivedHunks::map(&nameless, hunks, &call.base.text, &missed).map_err(unreadable)?;
    let parts = arrival.hunks.iter().flat_map(|hunk| &hunk.parts);
    parts.for_each(|part| mark(&now.settings.frozen, (part.from, part.to)));
    let words = now.settings.frozen.iter().map(|&(from, to)| now.text.slice(from..to));
    let named = ranges.into_iter().zip(words).zip(touched).filter(|(_, touched)| *touched);
    let named: Vec<_> =
        named.map(|((range, words), _)| (range, words.unwrap_or_default())).collect();
    if named.is_empty() { Ok(()) } else { Err(HookDenial(frozen_words(named))) }
}

fn missed(call: &CallOutlook<'_>) -> Result<Vec<ChangeSet>, HookDenial> {
    let updates = call.caught_up.missed.iter();
    updates.map(|update| update.change_set()).collect::<Result<_, _>>().map_err(unreadable)
}

fn unreadable(_: ChangeError) -> HookDenial {
    HookDenial("The change could not be compared with what is frozen; nothing was proposed".into())
}

fn as_read(call: &CallOutlook<'_>, missed: &[ChangeSet]) -> ChangeResult<Vec<(usize, usize)>> {
    let mut text = call.base.text.clone();
    let mut back = Vec::with_capacity(missed.len());
    for change in missed {
        back.push(change.invert(&text)?);
        change.apply(&mut text)?;
    }
    let mut ranges = call.caught_up.now.settings.frozen.clone();
    for change in back.iter().rev() {
        for (from, to) in &mut ranges {
            *from = change.map_pos(*from, InsertSide::After);
            *to = change.map_pos(*to, InsertSide::Before).max(*from);
        }
    }
    Ok(ranges)
}

/// Denies changes outside of the selection if the person selected words, for every tool.
pub fn selection(call: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let (from, to) = match call.allowed {
        EditableRange::Everything => return Ok(()),
        EditableRange::Nothing => {
            let why = "Nothing was proposed: the words that were selected can no longer be found, and nothing else \
                       may be changed. Ask the person to select them again.";
            return Err(HookDenial(why.into()));
        }
        EditableRange::Only(from, to) => (from, to),
    };
    let outside = |part: &&DraftPart| part.from < from || part.to > to;
    let parts = call.proposal.hunks.iter().flat_map(|hunk| &hunk.parts).filter(outside);
    let outside: Vec<_> = parts.collect();
    if outside.is_empty() {
        return Ok(());
    }
    let selected = quoted(&call.base.text.slice(from..to).unwrap_or_default());
    let mut reason = format!(
        "Nothing was proposed: only the selected text may be changed, units {from} to {to} ({selected}). \
         This would also change:"
    );
    for part in outside.iter().take(MOST_NAMED) {
        let (base, insert) = (quoted(&part.base), quoted(&part.insert));
        let _ = write!(reason, "\n- units {} to {}: {base} to {insert}", part.from, part.to);
    }
    if outside.len() > MOST_NAMED {
        let _ = write!(reason, "\n- and {} more", outside.len() - MOST_NAMED);
    }
    let _ = write!(
        reason,
        "\nPropose again with everything outside of units {from} to {to} exactly as it is."
    );
    Err(HookDenial(reason))
}

fn quoted(words: &str) -> String {
    let short: String = words.chars().take(QUOTE_CHARS).collect();
    let more = if short.len() < words.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::DocumentProposal;
    use crate::model_notes::reading;
    use crate::{ReplacedText, UnreadRanges};
    use copydesk_approvals::Preview;
    use copydesk_document::diff::{DiffLimits, diff};
    use copydesk_document::{Text, TextEdit, Update};
    use copydesk_rooms::command::SnapshotWithUpdates;

    /// Test case: the text that the model read, its proposal, the changes of people meanwhile, and
    /// the frozen passages or the selection.
    struct FreezeStory {
        base: &'static str,
        proposed: &'static str,
        edits: Vec<(usize, usize, &'static str)>,
        frozen: Vec<(usize, usize)>,
        allowed: EditableRange,
    }

    impl FreezeStory {
        fn of(base: &'static str, proposed: &'static str) -> Self {
            let (edits, frozen) = (Vec::new(), Vec::new());
            Self { base, proposed, edits, frozen, allowed: EditableRange::Everything }
        }

        fn frozen(mut self, from: usize, to: usize) -> Self {
            self.frozen.push((from, to));
            self
        }

        fn typed(mut self, from: usize, to: usize, insert: &'static str) -> Self {
            self.edits.push((from, to, insert));
            self
        }

        fn only(self, from: usize, to: usize) -> Self {
            Self { allowed: EditableRange::Only(from, to), ..self }
        }

        /// Returns the reason of the denial; `None` if the proposal passes.
        fn denied(&self) -> Option<String> {
            let base = reading(self.base);
            let mut now = base.clone();
            let mut missed = Vec::new();
            for &(from, to, insert) in &self.edits {
                let edit = TextEdit { from, to, insert: insert.into() };
                let change = ChangeSet::of(now.text.len(), &[edit]).unwrap();
                change.apply(&mut now.text).unwrap();
                now.version = now.version.next();
                let changes = change.to_json().into();
                missed.push(Arc::new(Update { client: "bo".into(), changes, origin: None }));
            }
            now.settings.frozen.clone_from(&self.frozen);
            let limits = DiffLimits::default();
            let hunks = diff(self.base, self.proposed, &limits);
            let preview = Preview::diff("Draft", Some(self.base), self.proposed, &limits);
            let proposal = DocumentProposal::of(hunks, Text::new(self.proposed), preview);
            let caught_up = SnapshotWithUpdates { now, missed, causes: Vec::new() };
            let call = CallOutlook {
                proposal: &proposal,
                base: &base,
                unread: &UnreadRanges::default(),
                replaces: ReplacedText::Document,
                reads_with: "read_document",
                caught_up: &caught_up,
                allowed: self.allowed,
                session: &"ses_1".into(),
            };
            frozen(&call).and_then(|()| selection(&call)).err().map(|denial| denial.0)
        }
    }

    #[test]
    fn a_change_beside_frozen_words_passes() {
        let story = FreezeStory::of("One. Two. Three.", "One. Zwei. Three.");
        assert_eq!(story.frozen(0, 4).frozen(10, 16).denied(), None);
    }

    #[test]
    fn a_change_of_frozen_words_is_denied_and_names_them() {
        let denied = FreezeStory::of("One. Two. Three.", "Uno. Zwei. Three.").frozen(0, 4).denied();
        let denied = denied.unwrap();
        assert!(denied.contains("these words are frozen"), "{denied}");
        assert!(denied.ends_with("- units 0 to 4: \"One.\""), "{denied}");
    }

    #[test]
    fn frozen_words_are_named_where_the_model_read_them() {
        let story = FreezeStory::of("One. Two. Three.", "One. Two. Drei.").typed(0, 0, "Zero. ");
        let denied = story.frozen(16, 22).denied().unwrap();
        assert!(denied.ends_with("- units 10 to 16: \"Three.\""), "{denied}");
    }

    #[test]
    fn words_between_which_someone_put_frozen_ones_cannot_be_replaced() {
        let story = FreezeStory::of("One two three.", "Something else.").typed(8, 8, "and a half ");
        assert!(story.frozen(8, 18).denied().is_some());
    }

    #[test]
    fn what_moved_out_of_the_way_of_frozen_words_passes() {
        let story = FreezeStory::of("One. Two.", "One. Zwei.").typed(5, 5, "Frozen. ");
        assert_eq!(story.frozen(5, 12).denied(), None);
    }

    #[test]
    fn a_change_within_the_selection_passes_also_at_its_edges() {
        let changes = ["One 2 three.", "One three.", "One a two b three.", "One two, two three."];
        for proposed in changes {
            assert_eq!(FreezeStory::of("One two three.", proposed).only(4, 8).denied(), None);
        }
    }

    #[test]
    fn a_change_outside_of_the_selection_is_denied_as_a_whole() {
        let story = FreezeStory::of("One two three.", "Uno dos three.").only(4, 7);
        let denied = story.denied().unwrap();
        assert!(denied.contains("units 4 to 7 (\"two\")"), "{denied}");
        assert!(denied.contains("- units 0 to 7: \"One two\" to \"Uno dos\""), "{denied}");
    }

    #[test]
    fn selected_words_that_are_gone_leave_nothing_to_change() {
        let story =
            FreezeStory { allowed: EditableRange::Nothing, ..FreezeStory::of("One.", "Uno.") };
        assert!(story.denied().unwrap().contains("can no longer be found"));
    }

    #[test]
    fn a_rewrite_of_the_whole_is_confined_where_words_repeat() {
        use crate::document::text_changes::confined;
        let (base, text) = (Text::new("very very good"), Text::new("very good"));
        let range = confined(&base, &text, EditableRange::Only(5, 10)).unwrap();
        assert_eq!((range.start, range.old.as_str(), range.new.as_str()), (5, "very ", ""));
        assert!(confined(&base, &Text::new("very bad"), EditableRange::Only(5, 9)).is_none());
        assert!(confined(&base, &text, EditableRange::Everything).is_none());
    }
}
