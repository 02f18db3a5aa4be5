//! Texts, bounded in length, that say how a document reads now, so that the model's next positions
//! fit.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use copydesk_document::diff::{ChangedPassage, DiffLimits, common_ends, passages};
use copydesk_document::utf16_len;
use copydesk_ids::Version;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::event::UpdateExtent;

use super::document::read_document::ReadDocument;
use super::workspace::read::ReadFile;
use super::{
    DecidedChange, FinishedCall, ProposalResult, Tool as _, ToolContext, ToolError, ToolOutcome,
    UnreadRanges,
};

/// Maximum length of changed text in one note, in UTF-16 units.
const NOTE_LIMIT: usize = 8_000;
/// Time after which a comparison of passages stops; the rest is reported as one passage.
const DIFF_TIME: Duration = Duration::from_millis(20);

impl ToolContext {
    /// Returns the settings for notes about changes.
    pub fn change_note(&self) -> ChangeNote<'_> {
        ChangeNote { tag: &self.environment.tag, reads_with: self.reads_with() }
    }

    /// Returns the name of the tool that reads what the call is about.
    pub fn reads_with(&self) -> &'static str {
        if self.open_file.is_some() { ReadFile::NAME } else { ReadDocument::NAME }
    }
}

/// Returns text of a document, marked as data. `tag` is random, so that no text can contain the end
/// of its own block.
pub fn fenced(kind: &str, tag: &str, version: Version, text: &str) -> String {
    format!("<{kind}-{tag} version=\"{version}\">\n{text}\n</{kind}-{tag}>")
}

/// Returns lines that are no version of a document, marked as data. `tag` is random.
pub fn fenced_lines(kind: &str, tag: &str, text: &str) -> String {
    format!("<{kind}-{tag}>\n{text}\n</{kind}-{tag}>")
}

/// Returns the finished call for a decided proposal. The room has applied what was accepted.
pub fn report(context: &ToolContext, verdict: &ProposalResult) -> FinishedCall {
    let ProposalResult { resolution, applied, now, range, explanation, .. } = verdict;
    let proposed = verdict.proposed.as_ref().map(ToString::to_string);
    let shown = context.view.latest.as_ref().unwrap_or(now);
    let DocumentNews { text: note, unread } =
        news(shown, &context.view.latest_unread, now, proposed.as_deref(), context.change_note());
    let note = match &verdict.note {
        Some(understood) => format!("Note: {understood}.\n{note}"),
        None => note,
    };
    let change = DecidedChange {
        request: resolution.request.clone(),
        status: resolution.status,
        applied: *applied,
        version: resolution.version,
        range: range.clone(),
    };
    let mut outcome = ToolOutcome {
        text: resolution.report.text.clone(),
        is_error: resolution.report.is_error,
        note: Some(note),
        explanation: explanation.clone(),
        ..ToolOutcome::default()
    };
    let extent = if *applied { change.extent() } else { UpdateExtent::None };
    outcome.about.insert("updateType".into(), json!(extent.as_str()));
    outcome.about.insert("request_id".into(), json!(change.request));
    outcome.about.insert("status".into(), json!(change.status));
    if let Some(range) = range.as_ref().filter(|_| *applied) {
        let selection = json!({"start": range.start, "end": range.end});
        outcome.about.insert("selectionRange".into(), selection);
    }
    outcome.change = Some(change);
    FinishedCall { outcome, now: Some(now.clone()), unread, ..FinishedCall::default() }
}

/// Adds the present text of the document to a refusal, if it changed since the model last saw it.
pub async fn refresh(context: &ToolContext, finished: &mut FinishedCall) {
    let Some(shown) = &context.view.latest else { return };
    // A room that cannot be read now reports that when it is needed.
    let Ok(now) = context.room.read().await else { return };
    if now.version != shown.version {
        let DocumentNews { text, unread } =
            news(shown, &context.view.latest_unread, &now, None, context.change_note());
        finished.outcome.note = Some(text);
        finished.unread = unread;
        finished.now = Some(now);
    }
}

/// Returns the note for a model that reads units `from` to `to` of the document as it is now, and
/// the ranges that it has still not read.
pub fn read(
    context: &ToolContext,
    now: &DocumentSnapshot,
    (from, to): (usize, usize),
) -> (Option<String>, UnreadRanges) {
    let (text, mut unread) = match &context.view.latest {
        Some(shown) if shown.version != now.version => {
            let DocumentNews { text, unread } =
                news(shown, &context.view.latest_unread, now, None, context.change_note());
            (Some(text), unread)
        }
        Some(_) => (None, context.view.latest_unread.clone()),
        None => (None, UnreadRanges::all(now.text.len())),
    };
    unread.read(from, to);
    (text, unread)
}

/// Returns the ranges that a model has still not read after it reads units `from` to `to` of the
/// document as it is now, without a note. Passages that changed elsewhere count as unread.
pub fn read_alone(
    context: &ToolContext,
    now: &DocumentSnapshot,
    (from, to): (usize, usize),
) -> UnreadRanges {
    let mut unread = match &context.view.latest {
        Some(shown) if shown.version != now.version => {
            let since = since(shown, now);
            let mut unread = context.view.latest_unread.moved(&since);
            for passage in &since {
                unread.add(passage.new.start, passage.new.end);
            }
            unread
        }
        Some(_) => context.view.latest_unread.clone(),
        None => UnreadRanges::all(now.text.len()),
    };
    unread.read(from, to);
    unread
}

/// Returns the passages in which a document has changed between two snapshots.
pub fn since(before: &DocumentSnapshot, now: &DocumentSnapshot) -> Vec<ChangedPassage> {
    let limits = DiffLimits { deadline: Some(Instant::now() + DIFF_TIME) };
    passages(&before.text.to_string(), &now.text.to_string(), &limits)
}

/// Settings for notes about changes.
#[derive(Clone, Copy, Debug)]
pub struct ChangeNote<'a> {
    /// Random tag that marks text of the document as data.
    pub tag: &'a str,
    /// Name of the tool that reads the rest.
    pub reads_with: &'a str,
}

/// Note about how a document reads now, and the ranges that the model has not read ([`news`]).
#[derive(Debug, PartialEq, Eq)]
pub struct DocumentNews {
    /// Text for the model.
    pub text: String,
    /// Unread ranges, in positions of the present version.
    pub unread: UnreadRanges,
}

/// Returns how the document reads now, for a model that was last shown `shown` and had not read
/// `unread` of it. `proposed` is the text if the model's proposal had been accepted unchanged and
/// no one else had written.
///
/// The note has each passage that reads differently. Passages for which there is no room stay
/// unread, and the note says so.
pub fn news(
    shown: &DocumentSnapshot,
    unread: &UnreadRanges,
    now: &DocumentSnapshot,
    proposed: Option<&str>,
    ChangeNote { tag, reads_with }: ChangeNote<'_>,
) -> DocumentNews {
    let version = now.version;
    let (before, after) = (shown.text.to_string(), now.text.to_string());
    let reads_as_proposed = proposed == Some(after.as_str());
    let limits = DiffLimits { deadline: Some(Instant::now() + DIFF_TIME) };
    // Most proposals are accepted unchanged, and then there is nothing to compare.
    let since = if reads_as_proposed && unread.is_empty() {
        Vec::new()
    } else {
        passages(&before, &after, &limits)
    };
    let mut unread = unread.moved(&since);
    let own_words = |unread: &mut UnreadRanges| {
        for passage in &since {
            unread.read(passage.new.start, passage.new.end);
        }
    };
    if reads_as_proposed {
        own_words(&mut unread);
        let text = format!("The document is now at version {version} and reads as you proposed.");
        return DocumentNews { text, unread };
    }
    if since.is_empty() {
        let text = format!("The document is at version {version} and reads as you last saw it.");
        return DocumentNews { text, unread };
    }
    let apart = proposed.map(|proposed| passages(proposed, &after, &limits));
    let (changed, of) = match apart {
        // For a long rewrite, the changes that people made to it are the shorter note; the rest are
        // the model's own words.
        Some(apart) if size(&since) > NOTE_LIMIT && size(&apart) < size(&since) => {
            own_words(&mut unread);
            (apart, "what you proposed")
        }
        _ => (since, "what you last saw"),
    };
    let mut text =
        format!("The document is now at version {version}, {} UTF-16 units long.", now.text.len());
    tell(&changed, of, now, tag, &mut unread, &mut text);
    if !unread.is_empty() {
        let _ = write!(
            text,
            "\nUnits {unread} were changed too, and you have not read them: read them with {reads_with} before you \
             change them."
        );
    }
    DocumentNews { text, unread }
}

fn size(passages: &[ChangedPassage]) -> usize {
    passages.iter().map(|passage| passage.new.len()).sum()
}

fn tell(
    passages: &[ChangedPassage],
    of: &str,
    now: &DocumentSnapshot,
    tag: &str,
    unread: &mut UnreadRanges,
    text: &mut String,
) {
    let mut room = NOTE_LIMIT;
    for (index, ChangedPassage { old, new }) in passages.iter().enumerate() {
        let mut end = new.end.min(new.start + room);
        if !now.text.is_boundary(end) {
            end -= 1;
        }
        unread.read(new.start, end);
        unread.add(end, new.end);
        if end == new.start && !new.is_empty() {
            continue;
        }
        room -= end - new.start;
        let words = now.text.slice(new.start..end).unwrap_or_default();
        let block = fenced("document", tag, now.version, &words);
        let read = if end < new.end {
            format!(", of which {} to {end}", new.start)
        } else {
            " and".to_owned()
        };
        text.push(if index == 0 { ' ' } else { '\n' });
        let _ = write!(
            text,
            "Units {} to {} of {of} are now units {} to {}{read} read (data):\n{block}",
            old.start, old.end, new.start, new.end
        );
    }
}

/// Single range in which two texts differ, in UTF-16 units: `from..old_to` became `from..new_to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextDifference {
    /// First unit that differs.
    pub from: usize,
    /// One past the last differing unit in the old text.
    pub old_to: usize,
    /// One past the last differing unit in the new text.
    pub new_to: usize,
}

impl TextDifference {
    /// Returns the difference of `old` and `new`, or `None` if they are equal.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let (head, tail) = common_ends(old, new);
        let from = utf16_len(&old[..head]);
        let old_to = from + utf16_len(&old[head..old.len() - tail]);
        let new_to = from + utf16_len(&new[head..new.len() - tail]);
        Some(Self { from, old_to, new_to })
    }

    /// Maps a range of the old text to the new text. A rewrite within the range stays within it.
    pub fn map(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let start = if start < self.old_to { start.min(self.from) } else { self.shift(start) };
        let end = if end <= self.from { end } else { self.shift(end.max(self.old_to)) };
        (start, end.max(start))
    }

    fn shift(&self, at: usize) -> usize {
        at - self.old_to + self.new_to
    }
}

/// Returns a document at version 0, for tests.
#[cfg(any(test, feature = "rehearsal"))]
pub fn reading(text: &str) -> DocumentSnapshot {
    use copydesk_approvals::ApprovalSwitch;
    use copydesk_document::Text;
    use copydesk_rooms::settings::{OwnSettings, PermissionMode, ServerSettings};
    let server = ServerSettings {
        approvals: ApprovalSwitch::On,
        timeout_ms: Some(0),
        permission_mode: PermissionMode::Ask,
    };
    let settings = OwnSettings::default().in_force(&server);
    DocumentSnapshot {
        title: "Draft".into(),
        version: Version(0),
        text: Text::new(text),
        settings,
        file: None,
    }
}

pub(super) async fn refused(context: &ToolContext, error: &ToolError) -> FinishedCall {
    let mut outcome = ToolOutcome::failed("", error.to_string());
    outcome.about.insert("updateType".into(), "none".into());
    if let ToolError::Denied(_) | ToolError::NoSuchDocument(_) = error {
        // Names of the document agent protocol's `PreToolUse` hook.
        outcome.about.insert("permissionDecision".into(), "deny".into());
        outcome.about.insert("permissionDecisionReason".into(), error.to_string().into());
    }
    let mut finished = FinishedCall { outcome, ..FinishedCall::default() };
    refresh(context, &mut finished).await;
    finished
}

#[cfg(test)]
mod tests {
    use super::*;

    const K9: ChangeNote<'static> = ChangeNote { tag: "k9", reads_with: "read_document" };

    #[test]
    fn the_model_learns_how_the_text_reads_now() {
        let before = reading("One two three");
        let now = DocumentSnapshot { version: Version(2), ..reading("One 2 three") };
        let note = |shown: &DocumentSnapshot, now: &DocumentSnapshot, proposed, telling| {
            news(shown, &UnreadRanges::default(), now, proposed, telling).text
        };
        assert_eq!(
            note(&before, &now, Some("One 2 three"), K9),
            "The document is now at version 2 and reads as you proposed."
        );
        assert_eq!(
            note(&now, &now, Some("Else"), K9),
            "The document is at version 2 and reads as you last saw it."
        );
        assert_eq!(
            note(&before, &now, None, K9),
            "The document is now at version 2, 11 UTF-16 units long. Units 4 to 7 of what you last saw are now units \
             4 to 5 and read (data):\n<document-k9 version=\"2\">\n2\n</document-k9>"
        );
    }

    fn between(old: &str, new: &str) -> Option<(usize, usize, usize)> {
        TextDifference::between(old, new).map(|it| (it.from, it.old_to, it.new_to))
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
        let rewritten = TextDifference::between("one two three", "one 2 three").unwrap();
        assert_eq!(rewritten.map((4, 7)), (4, 5));
        assert_eq!(rewritten.map((8, 13)), (6, 11));
        assert_eq!(rewritten.map((0, 3)), (0, 3));
        assert_eq!(rewritten.map((0, 13)), (0, 11));
        assert_eq!(rewritten.map((5, 6)), (4, 5));
    }

    #[test]
    fn what_there_is_no_room_for_is_unread() {
        let long = "😀".repeat(NOTE_LIMIT);
        let text = |first: &str| format!("{first}\n\nKept.\n\n{long}");
        let before = reading("One.\n\nKept.\n\nThree");
        let now = DocumentSnapshot { version: Version(1), ..reading(&text("One!")) };
        let DocumentNews { text: note, unread } =
            news(&before, &UnreadRanges::default(), &now, None, K9);
        let first = "Units 3 to 4 of what you last saw are now units 3 to 4 and read (data):";
        assert!(note.contains(first) && note.contains("you have not read them"));
        assert!(utf16_len(&note) < NOTE_LIMIT + 1_000);
        let end = now.text.len();
        assert!(!unread.touches(0, 14) && unread.touches(end - 2, end));
        // Nothing of that is forgotten later on.
        let later = DocumentSnapshot { version: Version(2), ..reading(&text("One?")) };
        let later = news(&now, &unread, &later, None, K9);
        assert_eq!(later.unread, unread);
        assert!(later.text.contains("you have not read them"));
    }

    #[test]
    fn words_between_two_accepted_changes_are_told() {
        let paragraphs = |middle: &str| {
            format!(
                "Teh start.\n\n{}{middle}\n\n{}Teh end.",
                "Long. ".repeat(900),
                "Long. ".repeat(900)
            )
        };
        let before = reading(&paragraphs("Middle."));
        let mine = paragraphs("Middle.").replace("Teh", "The");
        let now = DocumentSnapshot {
            version: Version(3),
            ..reading(&paragraphs("Middle. (ANA WROTE THIS)").replace("Teh", "The"))
        };
        let DocumentNews { text, unread } =
            news(&before, &UnreadRanges::default(), &now, Some(&mine), K9);
        assert!(text.contains("ANA WROTE THIS"), "{text}");
        assert!(unread.is_empty() && text.len() < 1_000, "{text}");
    }

    #[test]
    fn of_a_long_rewrite_only_what_people_did_to_it_is_told() {
        let words = |word: &str| {
            let lines: Vec<_> = (0..3_000).map(|at| format!("{word}{at}.")).collect();
            lines.join("\n\n")
        };
        let (before, mine) = (reading(&words("old")), words("new"));
        let now =
            DocumentSnapshot { version: Version(2), ..reading(&mine.replace("new7.", "old7.")) };
        let DocumentNews { text, unread } =
            news(&before, &UnreadRanges::default(), &now, Some(&mine), K9);
        assert!(text.contains("of what you proposed are now"), "{text}");
        assert!(unread.is_empty() && text.len() < 500, "{text}");
    }
}
