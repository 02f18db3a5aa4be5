//! What the model is told about the text, so that its next positions fit. Pure, and bounded whatever the text.

use serde_json::json;

use crate::document::{ChangeSet, Limits, Text, utf16_len};
use crate::ids::Version;
use crate::room::command::Reading;

use super::{Change, Context, Finished, Outcome, Verdict};

/// UTF-16 units of changed text that a note repeats.
const NOTE_LIMIT: usize = 8_000;

/// Text of a document, marked as data; `tag` is random, so that no text can contain the end of its own block.
pub fn fenced(kind: &str, tag: &str, version: Version, text: &str) -> String {
    format!("<{kind}-{tag} version=\"{version}\">\n{text}\n</{kind}-{tag}>")
}

/// What came of a proposal: the room has done what there was to do, and the model is told.
pub fn report(context: &Context, verdict: &Verdict) -> Finished {
    let Verdict { resolution, applied, as_proposed: _, now, range, explanation, proposed } =
        verdict;
    let proposed = proposed.as_ref().map(ToString::to_string);
    let shown = context.shown.as_ref().unwrap_or(now);
    let change = Change {
        request: resolution.request.clone(),
        status: resolution.status.as_str().to_owned(),
        applied: *applied,
        version: resolution.version,
        range: range.clone(),
    };
    let mut outcome = Outcome {
        text: resolution.report.text.clone(),
        is_error: resolution.report.is_error,
        note: Some(note(shown, now, proposed.as_deref(), &context.tag)),
        explanation: explanation.clone(),
        ..Outcome::default()
    };
    let kind = if *applied { change.kind() } else { "none" };
    outcome.about.insert("updateType".into(), json!(kind));
    outcome.about.insert("request_id".into(), json!(change.request));
    outcome.about.insert("status".into(), json!(change.status));
    if let Some(range) = range.as_ref().filter(|_| *applied) {
        let selection = json!({"start": range.start, "end": range.end});
        outcome.about.insert("selectionRange".into(), selection);
    }
    outcome.change = Some(change);
    Finished { outcome, now: Some(now.clone()), ..Finished::default() }
}

/// Adds to a refusal how the document reads now, if it changed since the model saw it.
pub async fn refresh(context: &Context, finished: &mut Finished) {
    let Some(shown) = &context.shown else { return };
    // A room that cannot be read now says so when it is needed.
    let Ok(now) = context.room.read().await else { return };
    if now.version != shown.version {
        finished.outcome.note = Some(note(shown, &now, None, &context.tag));
        finished.now = Some(now);
    }
}

/// The text after `updates` (JSON, as the store keeps them); `None`: they do not fit.
pub fn replay<'a>(text: &str, updates: impl IntoIterator<Item = &'a str>) -> Option<Text> {
    let mut text = Text::new(text);
    for update in updates {
        ChangeSet::parse(update, &Limits::NONE).ok()?.apply(&mut text).ok()?;
    }
    Some(text)
}

/// How the document reads now, for a model that was last shown `shown`; `proposed` is what it would read if the
/// model's proposal had been accepted as it is and nobody else had written.
pub fn note(shown: &Reading, now: &Reading, proposed: Option<&str>, tag: &str) -> String {
    let version = now.version;
    let (before, after) = (shown.text.to_string(), now.text.to_string());
    if proposed == Some(after.as_str()) {
        return format!("The document is now at version {version} and reads as you proposed.");
    }
    let Some(Difference { from, old_to, new_to }) = Difference::between(&before, &after) else {
        return format!("The document is at version {version} and reads as you last saw it.");
    };
    let changed = now.text.slice(from..new_to).unwrap_or_default();
    let block = fenced("document", tag, version, &shorten(&changed));
    format!(
        "The document is now at version {version}, {} UTF-16 units long. Units {from} to {old_to} of what you last saw \
         are now units {from} to {new_to} and read (data):\n{block}",
        now.text.len()
    )
}

fn shorten(text: &str) -> String {
    let len = utf16_len(text);
    if len <= NOTE_LIMIT {
        return text.to_owned();
    }
    // Characters are at most two units, so half as many of them always fit.
    let side = NOTE_LIMIT / 4;
    let head: String = text.chars().take(side).collect();
    let mut tail: Vec<char> = text.chars().rev().take(side).collect();
    tail.reverse();
    let tail: String = tail.into_iter().collect();
    let left_out = len - utf16_len(&head) - utf16_len(&tail);
    format!("{head}\n[… {left_out} units left out …]\n{tail}")
}

/// The one range in which two texts differ, in UTF-16 units: `from..old_to` became `from..new_to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// First unit that differs.
    pub from: usize,
    /// One past the last in the old text.
    pub old_to: usize,
    /// One past the last in the new text.
    pub new_to: usize,
}

impl Difference {
    /// What differs between `old` and `new`; `None`: nothing.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let prefix: usize =
            old.chars().zip(new.chars()).take_while(same).map(|(a, _)| a.len_utf8()).sum();
        let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
        let backwards = old_rest.chars().rev().zip(new_rest.chars().rev());
        let suffix: usize = backwards.take_while(same).map(|(a, _)| a.len_utf8()).sum();
        let from = utf16_len(&old[..prefix]);
        let old_to = from + utf16_len(&old_rest[..old_rest.len() - suffix]);
        let new_to = from + utf16_len(&new_rest[..new_rest.len() - suffix]);
        Some(Self { from, old_to, new_to })
    }

    /// Where a range of the old text is in the new one. What was rewritten within it stays within it.
    pub fn map(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let start = if start < self.old_to { start.min(self.from) } else { self.shift(start) };
        let end = if end <= self.from { end } else { self.shift(end.max(self.old_to)) };
        (start, end.max(start))
    }

    fn shift(&self, at: usize) -> usize {
        at - self.old_to + self.new_to
    }
}

/// A document at version 0, for tests.
#[cfg(test)]
pub fn reading(text: &str) -> Reading {
    use crate::room::settings::{Approvals, OwnSettings, PermissionMode, ServerSettings};
    let server = ServerSettings {
        approvals: Approvals::On,
        timeout_ms: 0,
        permission_mode: PermissionMode::Sdk,
    };
    let settings = OwnSettings::default().in_force(&server);
    Reading {
        title: "Draft".into(),
        version: Version(0),
        text: Text::new(text),
        settings,
        file: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_learns_how_the_text_reads_now() {
        let before = reading("One two three");
        let now = Reading { version: Version(2), ..reading("One 2 three") };
        assert_eq!(
            note(&before, &now, Some("One 2 three"), "k9"),
            "The document is now at version 2 and reads as you proposed."
        );
        assert_eq!(
            note(&now, &now, Some("Else"), "k9"),
            "The document is at version 2 and reads as you last saw it."
        );
        assert_eq!(
            note(&before, &now, None, "k9"),
            "The document is now at version 2, 11 UTF-16 units long. Units 4 to 7 of what you last saw are now units \
             4 to 5 and read (data):\n<document-k9 version=\"2\">\n2\n</document-k9>"
        );
    }

    #[test]
    fn updates_lead_from_a_stored_text_to_a_later_one() {
        let updates = [r#"[[0,"a"],1]"#, "[1,[1]]"];
        assert_eq!(replay("b", updates).map(|text| text.to_string()).as_deref(), Some("a"));
        assert_eq!(replay("b", ["[7]"]), None);
    }

    fn between(old: &str, new: &str) -> Option<(usize, usize, usize)> {
        Difference::between(old, new).map(|it| (it.from, it.old_to, it.new_to))
    }

    #[test]
    fn a_difference_is_what_is_left_between_the_ends() {
        assert_eq!(between("same", "same"), None);
        assert_eq!(between("one two three", "one 2 three"), Some((4, 7, 5)));
        assert_eq!(between("aa", "aaa"), Some((2, 2, 3)));
        assert_eq!(between("a😀b", "a😁b"), Some((1, 3, 3)));
        assert_eq!(between("", "x"), Some((0, 0, 1)));
    }

    #[test]
    fn a_selection_follows_what_was_rewritten() {
        let rewritten = Difference::between("one two three", "one 2 three").unwrap();
        assert_eq!(rewritten.map((4, 7)), (4, 5));
        assert_eq!(rewritten.map((8, 13)), (6, 11));
        assert_eq!(rewritten.map((0, 3)), (0, 3));
        assert_eq!(rewritten.map((0, 13)), (0, 11));
        assert_eq!(rewritten.map((5, 6)), (4, 5));
    }

    #[test]
    fn long_changes_are_cut_in_the_middle() {
        let text = shorten(&"😀".repeat(10_000));
        assert!(text.contains("[… 12000 units left out …]"), "{}", text.len());
        assert!(utf16_len(&text) < NOTE_LIMIT + 50);
    }
}
