//! Texts for the model: the rules, and the context of each request (in the order of the document
//! agent protocol).
//!
//! The rules and the tools never change within a session, and the document stands in a block of its
//! own before the parts that differ between requests, so that a provider can cache everything that
//! stays equal.

use std::fmt::Write as _;

use copydesk_document::diff::ChangedPassage;
use copydesk_llm::messages_api::{CacheControl, ContentBlock};
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_tools::ToolScope;
use copydesk_tools::model_notes::{self, fenced, fenced_lines};

use super::decision_updates::DecisionUpdates;
use super::shown_documents::ShownDocument;

/// Returns the rules of a conversation.
pub fn rules(scope: ToolScope) -> &'static str {
    match scope {
        ToolScope::Document | ToolScope::Conversation => include_str!("../prompts/system.md"),
        ToolScope::Workspace => include_str!("../prompts/workspace.md"),
    }
}

/// Additional rules of a run in plan mode.
const PLAN_MODE: &str = include_str!("../prompts/plan.md");

/// Maximum number of UTF-16 units of a document that are shown, around the selection or from the
/// start.
pub const DOCUMENT_LIMIT: usize = 200_000;

/// Maximum size in bytes of the earlier messages that a client may add; the newest are kept.
const HISTORY_LIMIT: usize = 20_000;

/// Context of a request.
#[derive(Debug)]
pub struct PromptContext<'a> {
    /// Extra instructions of the client.
    pub instructions: Option<&'a str>,
    /// Document, if there is one.
    pub document: Option<&'a DocumentSnapshot>,
    /// Maximum number of UTF-16 units of the document that are shown.
    pub most: usize,
    /// Document with which the conversation begins; then only the changes since then are reported.
    pub seen: Option<&'a ShownDocument>,
    /// Selection of the person, in UTF-16 units of `document`; valid there.
    pub selection: Option<(usize, usize)>,
    /// Earlier messages that the server does not have: role and text, oldest first.
    pub history: &'a [(String, String)],
    /// Decisions of people since the last report to the model.
    pub news: &'a DecisionUpdates,
    /// Text that the person typed.
    pub prompt: &'a str,
    /// `true` if nothing may be changed before people have approved a plan.
    pub planning: bool,
    /// Available tools: name, and the situations in which to use it.
    pub tools: &'a [(&'static str, &'static str)],
    /// Random tag, so that no document can contain the end of its own block.
    pub tag: &'a str,
}

impl PromptContext<'_> {
    /// Returns the range of the document that is shown, in UTF-16 units.
    pub fn shown(&self) -> Option<(usize, usize)> {
        let reading = self.document?;
        let all = (0, reading.text.len());
        Some(if self.seen.is_some() { all } else { window(reading, self.selection, self.most) })
    }

    /// Returns the content blocks of the request's message.
    pub fn blocks(&self) -> Vec<ContentBlock> {
        let mut blocks = Vec::new();
        if let Some(instructions) = self.instructions.filter(|text| !text.trim().is_empty()) {
            blocks.push(ContentBlock::text(format!("Instructions: {instructions}")));
        }
        match (self.document, self.seen) {
            (Some(document), Some(seen)) => {
                blocks.push(ContentBlock::text(since(seen, document, self.tag)));
            }
            (Some(document), None) => blocks.push(self.document(document)),
            (None, _) => {}
        }
        blocks.push(ContentBlock::text(self.request()));
        blocks
    }

    fn document(&self, reading: &DocumentSnapshot) -> ContentBlock {
        let len = reading.text.len();
        let (from, to) = window(reading, self.selection, self.most);
        if (from, to) == (0, len) {
            return whole(reading, self.tag);
        }
        let shown = reading.text.slice(from..to).unwrap_or_default();
        let part =
            format!(" It is too long to be shown completely: these are units {from} to {to}.");
        let block = fenced("document", self.tag, reading.version, &shown);
        cached(format!("Current Document:\n(data, {len} UTF-16 units.{part})\n{block}"))
    }

    fn request(&self) -> String {
        let mut text = String::new();
        if let Some((start, end)) = self.selection
            && let Some(document) = self.document
            && let Ok(selected) = document.text.slice(start..end)
        {
            let block = fenced("selection", self.tag, document.version, &selected);
            text.push_str(&section(format!("Selected Text (chars {start}-{end}):\n{block}")));
        }
        if !self.history.is_empty() {
            text.push_str(&section(format!("Conversation so far:\n{}", self.history())));
        }
        if !self.news.is_nothing() {
            text.push_str(&section(self.news.as_told()));
        }
        if self.planning {
            text.push_str(&section(PLAN_MODE.trim_end().to_owned()));
        }
        text.push_str(&section(format!("User Request: {}", self.prompt)));
        text.push_str("Available Tools:");
        for (name, when) in self.tools {
            let _ = write!(text, "\n- {name}: {when}");
        }
        text
    }

    fn history(&self) -> String {
        let mut lines = Vec::new();
        let mut size = 0;
        for (role, said) in self.history.iter().rev() {
            size += said.len();
            if size > HISTORY_LIMIT {
                break;
            }
            let speaker = if role == "assistant" { "assistant" } else { "user" };
            lines.push(format!("{speaker}: {said}"));
        }
        lines.reverse();
        fenced_lines("history", self.tag, &lines.join("\n"))
    }
}

/// Returns the block with which a conversation begins.
pub fn opening(seen: &ShownDocument) -> ContentBlock {
    whole(&seen.reading, &seen.tag)
}

fn whole(reading: &DocumentSnapshot, tag: &str) -> ContentBlock {
    let block = fenced("document", tag, reading.version, &reading.text.to_string());
    cached(format!("Current Document:\n(data, {} UTF-16 units.)\n{block}", reading.text.len()))
}

/// Returns a block up to which a provider may cache the request; the parts that change least come
/// first.
fn cached(text: String) -> ContentBlock {
    ContentBlock::Text { text, cache_control: Some(CacheControl::one_hour()) }
}

/// Returns the changes of the document since `seen`, with which the conversation begins.
fn since(seen: &ShownDocument, now: &DocumentSnapshot, tag: &str) -> String {
    let (before, after) = (&seen.reading, now);
    let (len, version) = (after.text.len(), after.version);
    let head = format!("Current Document:\n(data, {len} UTF-16 units, version {version}.)");
    let shown =
        format!("as shown at the beginning of this conversation (version {})", before.version);
    let passage = |units: &str, ChangedPassage { old, new }: &ChangedPassage| {
        let words = after.text.slice(new.clone()).unwrap_or_default();
        let block = fenced("document", tag, version, &words);
        format!(
            "{units} {} to {} of that are now units {} to {} and read:\n{block}",
            old.start, old.end, new.start, new.end
        )
    };
    match &*model_notes::since(before, after) {
        [] => format!("{head} It reads {shown}."),
        [only] => format!("{head} It reads {shown}, except that {}", passage("units", only)),
        several => {
            let passages: Vec<_> = several.iter().map(|it| passage("Units", it)).collect();
            format!("{head} It reads {shown}, except for these passages:\n{}", passages.join("\n"))
        }
    }
}

fn section(mut text: String) -> String {
    text.push_str("\n\n");
    text
}

fn window(
    reading: &DocumentSnapshot,
    selection: Option<(usize, usize)>,
    most: usize,
) -> (usize, usize) {
    let len = reading.text.len();
    if len <= most {
        return (0, len);
    }
    let middle = selection.map_or(0, |(start, end)| usize::midpoint(start, end));
    let from = middle.saturating_sub(most / 2).min(len - most);
    let to = from + most;
    // One unit less on either side is always a character boundary.
    let inside = |at: usize, step: usize| if reading.text.is_boundary(at) { at } else { at + step };
    (inside(from, 1), if reading.text.is_boundary(to) { to } else { to - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_tools::model_notes::reading;

    static NOTHING: DecisionUpdates = DecisionUpdates {
        lines: Vec::new(),
        documents: Vec::new(),
        tag: String::new(),
        told: std::collections::BTreeMap::new(),
    };

    fn briefing<'a>(
        document: Option<&'a DocumentSnapshot>,
        history: &'a [(String, String)],
    ) -> PromptContext<'a> {
        PromptContext {
            instructions: Some("Be brief."),
            document,
            most: DOCUMENT_LIMIT,
            seen: None,
            selection: document.map(|_| (4, 7)),
            history,
            news: &NOTHING,
            prompt: "Translate this",
            planning: false,
            tools: &[("update_selection", "Use when request targets selected text only")],
            tag: "k9",
        }
    }

    fn texts(briefing: &PromptContext<'_>) -> Vec<String> {
        briefing.blocks().iter().filter_map(|block| block.as_text().map(str::to_owned)).collect()
    }

    #[test]
    fn the_context_is_worded_in_the_order_of_the_protocol() {
        let document = reading("One two three");
        let history = [("user".to_owned(), "Hi".to_owned()), ("assistant".into(), "Hello".into())];
        let expected = [
            "Instructions: Be brief.",
            "Current Document:\n(data, 13 UTF-16 units.)\n<document-k9 version=\"0\">\nOne two three\n</document-k9>",
            "Selected Text (chars 4-7):\n<selection-k9 version=\"0\">\ntwo\n</selection-k9>\n\n\
             Conversation so far:\n<history-k9>\nuser: Hi\nassistant: Hello\n</history-k9>\n\n\
             User Request: Translate this\n\n\
             Available Tools:\n- update_selection: Use when request targets selected text only",
        ];
        assert_eq!(texts(&briefing(Some(&document), &history)), expected);
    }

    #[test]
    fn what_the_conversation_begins_with_is_not_repeated() {
        let before = reading("one two three");
        let seen = ShownDocument { reading: before.clone(), tag: "old".into() };
        let head = |len| {
            format!(
                "Current Document:\n(data, {len} UTF-16 units, version 0.) It reads as shown at the beginning of this conversation (version 0)"
            )
        };
        let now = reading("one 2 three");
        let briefing =
            PromptContext { seen: Some(&seen), selection: None, ..briefing(Some(&now), &[]) };
        let changed = ", except that units 4 to 7 of that are now units 4 to 5 and read:\n<document-k9 version=\"0\">\n2\n</document-k9>";
        assert_eq!(texts(&briefing)[1], head(11) + changed);
        let far_apart = |first: &str, last: &str| reading(&format!("{first}\n\nKept.\n\n{last}"));
        let (seen_apart, apart) = (far_apart("one", "two"), far_apart("1", "2!"));
        let seen_apart = ShownDocument { reading: seen_apart, tag: "old".into() };
        let several = PromptContext { seen: Some(&seen_apart), document: Some(&apart), ..briefing };
        let changed = ", except for these passages:\n\
             Units 0 to 3 of that are now units 0 to 1 and read:\n<document-k9 version=\"0\">\n1\n</document-k9>\n\
             Units 12 to 15 of that are now units 10 to 12 and read:\n<document-k9 version=\"0\">\n2!\n</document-k9>";
        assert_eq!(texts(&several)[1], head(12) + changed);
        let briefing = PromptContext { document: Some(&before), seen: Some(&seen), ..several };
        assert_eq!(texts(&briefing)[1], head(13) + ".");
        let block = "Current Document:\n(data, 13 UTF-16 units.)\n<document-old version=\"0\">\none two three\n</document-old>";
        assert_eq!(opening(&seen).as_text(), Some(block));
    }

    #[test]
    fn without_a_document_there_is_only_the_request() {
        let blocks = texts(&briefing(None, &[]));
        assert!(blocks[1].starts_with("User Request: Translate this"), "{blocks:?}");
    }

    #[test]
    fn in_plan_mode_the_request_says_so() {
        let planning = PromptContext { planning: true, ..briefing(None, &[]) };
        let blocks = texts(&planning);
        assert!(blocks[1].starts_with("You are in plan mode."), "{blocks:?}");
        assert!(blocks[1].contains("\n\nUser Request: Translate this"), "{blocks:?}");
    }

    #[test]
    fn of_a_long_document_the_part_around_the_selection_is_shown() {
        let document = reading(&"😀".repeat(150_000));
        let mut briefing = briefing(Some(&document), &[]);
        assert_eq!(window(&document, None, DOCUMENT_LIMIT), (0, DOCUMENT_LIMIT));
        briefing.selection = Some((250_000, 250_002));
        let (from, to) = window(&document, briefing.selection, DOCUMENT_LIMIT);
        assert_eq!((from, to), (100_000, 300_000));
        let (from, to) = window(&document, Some((120_000, 120_002)), DOCUMENT_LIMIT);
        assert_eq!((from, to), (20_002, 220_000));
        assert!(texts(&briefing)[1].contains("these are units 100000 to 300000."));
    }

    #[test]
    fn the_newest_earlier_messages_are_kept() {
        let turn = |text: &str| ("user".to_owned(), text.to_owned());
        let history = [turn("old"), turn(&"x".repeat(HISTORY_LIMIT - 2)), turn("ab")];
        let text = texts(&briefing(None, &history)).remove(1);
        assert!(!text.contains("old") && text.contains("user: ab"));
    }
}
