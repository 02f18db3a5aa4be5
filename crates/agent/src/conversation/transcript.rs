//! Transcript of a conversation: its stored form, the messages for the model, and the events for
//! people.

use crate::conversation::agent_objects;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use copydesk_approvals::RequestStatus;
use copydesk_ids::{DocumentId, RequestId, RunId, SessionId};
use copydesk_llm::messages_api::{ChatMessage, ContentBlock, MessageRole, StopReason};
use copydesk_rooms::event::AgentObject;
use copydesk_store::{CLEAR, RunEndKind};
use copydesk_tools::{ToolCall, ToolOutcome};

use super::decision_updates::DecisionUpdates;
use crate::external_calls::call_source::CallSource;
use crate::run::end_reason::RunEndReason;
use crate::run::usage::UsageTotals;

/// Entry of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptEntry {
    /// Session of the entry.
    pub session: SessionId,
    /// Run of the entry.
    pub run: RunId,
    /// Time of the entry, in milliseconds since 1970.
    pub at_ms: u64,
    /// Content of the entry.
    pub kind: EntryKind,
}

/// Content of a [`TranscriptEntry`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryKind {
    /// Question of a person, with which a run begins.
    Prompt {
        /// Name of the person that others see.
        name: String,
        /// Text that was typed, word for word.
        text: String,
        /// Origin of an external call, in which no model took part.
        #[serde(rename = "door", default, skip_serializing_if = "Option::is_none")]
        source: Option<CallSource>,
        /// Decisions about earlier changes that were reported with the prompt.
        #[serde(default, skip_serializing_if = "DecisionUpdates::is_nothing")]
        news: DecisionUpdates,
    },
    /// Answer of the model.
    Answer {
        /// Blocks of the answer, to be sent back unchanged.
        content: Vec<ContentBlock>,
        /// Reason why the answer ended.
        stop: StopReason,
    },
    /// Beginning of a new conversation; the model is not sent this entry.
    Cleared {
        /// Name of the person who cleared the conversation, as others see it.
        name: String,
        /// Run from which the conversation continues; `None` if it begins empty.
        #[serde(default)]
        from: Option<RunId>,
    },
    /// Outcomes of all calls of the previous answer, in the order of the calls.
    Results {
        /// One outcome for each call.
        answers: Vec<ToolOutcome>,
        /// Decisions about earlier changes that are reported with the outcomes.
        #[serde(default, skip_serializing_if = "DecisionUpdates::is_nothing")]
        news: DecisionUpdates,
    },
    /// End of the run; the model is not sent this entry.
    End {
        /// Kind of the end: the subtype of the `result`.
        subtype: RunEndKind,
        /// Sentence for people.
        message: String,
        /// Code of the reason why there is no proper answer.
        code: Option<RunEndReason>,
        /// Usage of the run.
        #[serde(default)]
        spent: UsageTotals,
    },
}

impl EntryKind {
    /// Returns the outcomes of calls as they are stored without a report of decisions.
    pub fn of_outcomes(answers: Vec<ToolOutcome>) -> Self {
        Self::Results { answers, news: DecisionUpdates::default() }
    }

    /// Returns the decisions about earlier changes that are reported to the model with the entry.
    pub fn news(&self) -> Option<&DecisionUpdates> {
        match self {
            Self::Prompt { news, .. } | Self::Results { news, .. } => Some(news),
            Self::Cleared { .. } | Self::Answer { .. } | Self::End { .. } => None,
        }
    }

    /// Returns the role of the entry's message in the store.
    pub fn role(&self) -> &'static str {
        match self {
            Self::Prompt { .. } | Self::Results { .. } => "user",
            Self::Answer { .. } => "assistant",
            Self::End { .. } => "result",
            Self::Cleared { .. } => CLEAR,
        }
    }

    /// Returns the results of calls, if these are some.
    pub fn results(&self) -> &[ToolOutcome] {
        match self {
            Self::Results { answers, .. } => answers,
            Self::Cleared { .. } | Self::Prompt { .. } | Self::Answer { .. } | Self::End { .. } => {
                &[]
            }
        }
    }
}

/// Maximum size of a conversation that the model is sent, in bytes of JSON; older runs and results
/// are left out.
pub const CONVERSATION_LIMIT: usize = 400_000;

/// Returns the entries of one run.
pub fn of_run(entries: &[TranscriptEntry], run: &RunId) -> Vec<TranscriptEntry> {
    entries.iter().filter(|entry| entry.run == *run).cloned().collect()
}

/// Returns every call that people were asked about, newest first: its request, the status that was
/// reported to the model, and the model's explanation.
pub fn decided<'e>(
    entries: impl DoubleEndedIterator<Item = &'e TranscriptEntry>,
) -> impl Iterator<Item = DecisionNote<'e>> {
    let outcomes = entries
        .rev()
        .flat_map(|entry| entry.kind.results().iter().map(|outcome| (entry.at_ms, outcome)));
    outcomes.filter_map(|(kept_ms, outcome)| {
        let about = |name: &str| outcome.about.get(name).and_then(Value::as_str);
        let (request, status) = match &outcome.change {
            Some(change) => (change.request.clone(), change.status),
            None => (RequestId::from(about("request_id")?), outcome.status()?),
        };
        // Other calls of the same answer may have waited for people long after this one was
        // answered.
        let at_ms = about("timestamp").and_then(stamped_ms).unwrap_or(kept_ms);
        Some(DecisionNote { request, status, what: outcome.explanation.as_deref(), at_ms })
    })
}

/// Request as it was reported to the model ([`decided`]).
#[derive(Debug)]
pub struct DecisionNote<'e> {
    /// Id of the request.
    pub request: RequestId,
    /// Status at that time.
    pub status: RequestStatus,
    /// Explanation of the model, if it gave one.
    pub what: Option<&'e str>,
    /// Time of the outcome, in milliseconds since 1970.
    pub at_ms: u64,
}

fn stamped_ms(stamp: &str) -> Option<u64> {
    let stamp: jiff::Timestamp = stamp.parse().ok()?;
    u64::try_from(stamp.as_millisecond()).ok()
}

/// Returns `true` if people have approved a plan in these entries.
pub fn has_plan<'a>(mut entries: impl Iterator<Item = &'a TranscriptEntry>) -> bool {
    entries.any(|entry| entry.kind.results().iter().any(|answer| answer.plan.is_some()))
}

/// Returns the conversation as messages for the model: earlier prompts as they were typed, the
/// prompt of `run` as `prompt` (with its context), every call answered, and no two messages of the
/// same role in a row.
pub fn messages(
    entries: &[TranscriptEntry],
    run: &RunId,
    prompt: &[ContentBlock],
) -> Vec<ChatMessage> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    let untold = untold_runs(entries, run);
    for entry in entries.iter().filter(|entry| !untold.contains(&&entry.run)) {
        match &entry.kind {
            EntryKind::Prompt { text, news, .. } => {
                answer_open_calls(&mut messages, &mut open);
                let content = if entry.run == *run {
                    prompt.to_vec()
                } else {
                    let news = (!news.is_nothing()).then(|| news.as_told());
                    news.into_iter().chain([text.clone()]).map(ContentBlock::text).collect()
                };
                append(&mut messages, MessageRole::User, content);
            }
            EntryKind::Answer { content, .. } => {
                answer_open_calls(&mut messages, &mut open);
                open = content.iter().filter_map(ToolCall::of).collect();
                let mut content = content.clone();
                if entry.run != *run {
                    // Reasoning is needed only within its own turn, and other models refuse it.
                    content.retain(|block| !is_reasoning(block));
                }
                append(&mut messages, MessageRole::Assistant, content);
            }
            EntryKind::Results { answers, news } => {
                open.clear();
                append(&mut messages, MessageRole::User, result_blocks(answers, news));
            }
            EntryKind::Cleared { .. } | EntryKind::End { .. } => {}
        }
    }
    answer_open_calls(&mut messages, &mut open);
    messages
}

/// Returns the earlier runs that the model is not sent: calls from outside, and what it refused.
pub fn untold_runs<'e>(entries: &'e [TranscriptEntry], run: &RunId) -> Vec<&'e RunId> {
    let is_call =
        |entry: &&TranscriptEntry| matches!(entry.kind, EntryKind::Prompt { source: Some(_), .. });
    // Providers ask to leave out a declined turn with its question: a model that reads it continues
    // to decline (platform.claude.com, "Handle streaming refusals").
    let is_untold =
        |entry: &&TranscriptEntry| is_call(entry) || (entry.run != *run && is_refusal(entry));
    // Several may be under way at once, and their entries may lie between those of a model's own
    // run.
    entries.iter().filter(is_untold).map(|entry| &entry.run).collect()
}

/// Text in place of another document's words that not everyone who reads the conversation may read,
/// or that the model may not be shown.
const KEPT_APART: &str = "[Left out: not everybody here may read that document, or it may \
     not be shown to you. Read it again if you need it]";

/// Returns the other documents that earlier runs read, wrote, listed or heard of, each once.
pub fn elsewhere(entries: &[TranscriptEntry], run: &RunId) -> BTreeSet<DocumentId> {
    let earlier = entries.iter().filter(|entry| entry.run != *run);
    let named = earlier.flat_map(|entry| match &entry.kind {
        EntryKind::Results { answers, news } => {
            answers.iter().flat_map(told_of).chain(news.elsewhere().cloned()).collect()
        }
        EntryKind::Answer { content, .. } => {
            content.iter().filter_map(ToolCall::of).filter_map(|it| it.elsewhere()).collect()
        }
        EntryKind::Prompt { news, .. } => news.elsewhere().cloned().collect::<Vec<_>>(),
        EntryKind::Cleared { .. } | EntryKind::End { .. } => Vec::new(),
    });
    named.collect()
}

/// Removes everything of these documents from earlier runs. Returns `true` if anything was removed.
pub fn keep_apart(entries: &mut [TranscriptEntry], run: &RunId, of: &BTreeSet<DocumentId>) -> bool {
    let mut is_any = false;
    for entry in entries.iter_mut().filter(|entry| entry.run != *run) {
        match &mut entry.kind {
            EntryKind::Results { answers, news } => {
                is_any |= news.keep_apart(of, KEPT_APART);
                let answers =
                    answers.iter_mut().filter(|it| told_of(it).iter().any(|id| of.contains(id)));
                for answer in answers {
                    is_any |= answer.note.replace(KEPT_APART.to_owned()).is_some();
                    let about = |name: &str| answer.about.get(name).and_then(Value::as_str);
                    if let Some(id) = about("document_id") {
                        // The text for people contains the title.
                        answer.text = format!("({id}): {}.", about("status").unwrap_or("done"));
                    }
                }
            }
            EntryKind::Answer { content, .. } => {
                for block in content {
                    let call = ToolCall::of(block)
                        .filter(|it| it.elsewhere().is_some_and(|id| of.contains(&id)));
                    if let (Some(call), ContentBlock::ToolUse { input, .. }) = (call, block) {
                        *input = call.shown_input();
                        is_any = true;
                    }
                }
            }
            EntryKind::Prompt { news, .. } => is_any |= news.keep_apart(of, KEPT_APART),
            EntryKind::Cleared { .. } | EntryKind::End { .. } => {}
        }
    }
    is_any
}

/// Returns the documents that a result's note is about. Older results name the document in the
/// fields for people.
fn told_of(outcome: &ToolOutcome) -> Vec<DocumentId> {
    let named = || outcome.about.get("document_id").and_then(Value::as_str).map(DocumentId::from);
    if outcome.of.is_empty() { named().into_iter().collect() } else { outcome.of.clone() }
}

/// Removes the reasoning from all answers, because another model continues.
pub fn forget_reasoning(entries: &mut [TranscriptEntry]) {
    for entry in entries {
        if let EntryKind::Answer { content, .. } = &mut entry.kind {
            content.retain(|block| !is_reasoning(block));
        }
    }
}

fn is_refusal(entry: &TranscriptEntry) -> bool {
    match &entry.kind {
        EntryKind::Answer { stop, .. } => *stop == StopReason::Refusal,
        EntryKind::End { subtype, .. } => *subtype == RunEndKind::Refusal,
        EntryKind::Prompt { .. } | EntryKind::Cleared { .. } | EntryKind::Results { .. } => false,
    }
}

fn is_reasoning(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. })
}

/// Text for the model if a result has none, such as that of an empty file.
const NOTHING: &str = "(empty)";

/// Returns the results of calls. News is a part of the last one: some providers take nothing but
/// results after calls, and all read the text of a result.
fn result_blocks(answers: &[ToolOutcome], news: &DecisionUpdates) -> Vec<ContentBlock> {
    let mut results: Vec<_> = answers.iter().map(result_block).collect();
    if let Some(ContentBlock::ToolResult { content, .. }) = results.last_mut()
        && !news.is_nothing()
    {
        content.push(ContentBlock::text(news.as_told()));
    }
    results
}

fn result_block(outcome: &ToolOutcome) -> ContentBlock {
    let texts = std::iter::once(&outcome.text).chain(&outcome.note);
    // Providers refuse a whole conversation in which a text is blank.
    let said = texts.filter(|text| !text.trim().is_empty()).cloned();
    let mut content: Vec<_> = said.map(ContentBlock::text).collect();
    if content.is_empty() {
        content.push(ContentBlock::text(NOTHING));
    }
    let (tool_use_id, is_error) = (outcome.tool_use_id.clone(), outcome.is_error);
    ContentBlock::ToolResult { tool_use_id, content, is_error }
}

fn answer_open_calls(messages: &mut Vec<ChatMessage>, open: &mut Vec<ToolCall>) {
    let results: Vec<_> = open
        .drain(..)
        .map(|call| ContentBlock::tool_error(call.id, "This call was not executed"))
        .collect();
    if !results.is_empty() {
        append(messages, MessageRole::User, results);
    }
}

fn append(messages: &mut Vec<ChatMessage>, role: MessageRole, content: Vec<ContentBlock>) {
    if content.is_empty() {
        return;
    }
    match messages.last_mut() {
        Some(last) if last.role == role => last.content.extend(content),
        _ => messages.push(ChatMessage { role, content }),
    }
}

/// Returns the size of an entry in bytes of JSON.
pub fn size(entry: &TranscriptEntry) -> usize {
    json_size(&entry.kind)
}

/// Returns the size of a value in bytes of JSON.
pub fn json_size(value: &impl Serialize) -> usize {
    struct ByteCount(usize);
    impl std::io::Write for ByteCount {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = ByteCount(0);
    serde_json::to_writer(&mut count, value).map_or(0, |()| count.0)
}

/// Returns the newest runs that fit into `budget` bytes of JSON, at least the newest one, `run`.
pub fn recent<'e>(
    entries: &'e [TranscriptEntry],
    run: &RunId,
    budget: usize,
) -> &'e [TranscriptEntry] {
    let mut sum = 0;
    let mut keep_from = entries.len();
    for (index, entry) in entries.iter().enumerate().rev() {
        sum += size(entry);
        if sum > budget && entry.run != *run {
            break;
        }
        if matches!(entry.kind, EntryKind::Prompt { .. }) {
            keep_from = index;
        }
    }
    &entries[keep_from..]
}

/// Removes the texts of results that only the model got, for readers of a run's outcome.
pub fn leave_out_texts(entry: &mut TranscriptEntry) {
    if let EntryKind::Results { answers, news } = &mut entry.kind {
        for answer in answers {
            (answer.text, answer.note) = (String::new(), None);
        }
        *news = DecisionUpdates::default();
    }
}

impl TranscriptEntry {
    /// Returns the events of the entry for people, in order.
    pub fn shown(&self) -> Vec<AgentObject> {
        match &self.kind {
            EntryKind::Prompt { name, text, .. } => vec![agent_objects::prompt(name, text)],
            EntryKind::Answer { content, .. } => content.iter().filter_map(shown_block).collect(),
            EntryKind::Results { answers, .. } => {
                answers.iter().map(agent_objects::tool_result).collect()
            }
            EntryKind::Cleared { name, from } => vec![agent_objects::cleared(name, from.as_ref())],
            EntryKind::End { subtype, message, code, spent } => {
                vec![agent_objects::result(*subtype, message, code.as_ref(), spent)]
            }
        }
    }
}

fn shown_block(block: &ContentBlock) -> Option<AgentObject> {
    let text = block.as_text().map(agent_objects::text);
    text.or_else(|| ToolCall::of(block).map(|call| agent_objects::tool_use(&call)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(run: &str, kind: EntryKind) -> TranscriptEntry {
        TranscriptEntry { session: "ses".into(), run: run.into(), at_ms: 0, kind }
    }

    fn prompt(run: &str, text: &str) -> TranscriptEntry {
        entry(
            run,
            EntryKind::Prompt {
                name: "Ada".into(),
                text: text.into(),
                source: None,
                news: DecisionUpdates::default(),
            },
        )
    }

    fn answer(run: &str, content: Vec<ContentBlock>) -> TranscriptEntry {
        entry(run, EntryKind::Answer { content, stop: StopReason::EndTurn })
    }

    fn call(id: &str) -> ContentBlock {
        ContentBlock::tool_use(id, "tool", json!({}))
    }

    #[test]
    fn only_the_current_prompt_carries_its_context() {
        let entries = [
            prompt("1", "First"),
            answer("1", vec![ContentBlock::text("Yes.")]),
            prompt("2", "Second"),
        ];
        let context = [ContentBlock::text("Document"), ContentBlock::text("Second")];
        let messages = messages(&entries, &"2".into(), &context);
        assert_eq!(messages[0], ChatMessage::user("First"));
        assert_eq!(messages[2].content, context);
    }

    #[test]
    fn reasoning_is_sent_back_within_its_own_run_only() {
        let thought = ContentBlock::Thinking { thinking: "Hm.".into(), signature: "s".into() };
        let said = || vec![thought.clone(), ContentBlock::text("Yes.")];
        let mut entries =
            [prompt("1", "First"), answer("1", said()), prompt("2", "Second"), answer("2", said())];
        let sent = messages(&entries, &"2".into(), &[ContentBlock::text("Second")]);
        assert_eq!(sent[1].content, [ContentBlock::text("Yes.")]);
        assert_eq!(sent[3].content, said());
        forget_reasoning(&mut entries);
        let sent = messages(&entries, &"2".into(), &[ContentBlock::text("Second")]);
        assert_eq!(sent[3].content, [ContentBlock::text("Yes.")]);
    }

    #[test]
    fn what_was_refused_is_not_sent_back() {
        let refused = EntryKind::Answer {
            content: vec![ContentBlock::text("I can't.")],
            stop: StopReason::Refusal,
        };
        let silent = EntryKind::End {
            subtype: "refusal".into(),
            message: String::new(),
            code: None,
            spent: UsageTotals::default(),
        };
        for refused in [refused, silent] {
            let entries = [prompt("1", "First"), entry("1", refused), prompt("2", "Second")];
            let sent = messages(&entries, &"2".into(), &[ContentBlock::text("Second")]);
            assert_eq!(sent, [ChatMessage::user("Second")]);
        }
    }

    #[test]
    fn a_result_always_has_words() {
        let outcome = |text: &str, note: Option<&str>| ToolOutcome {
            text: text.into(),
            note: note.map(str::to_owned),
            ..ToolOutcome::default()
        };
        let told = |outcome| {
            let ContentBlock::ToolResult { content, .. } = result_block(&outcome) else { panic!() };
            content.iter().filter_map(|it| it.as_text().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(told(outcome("", None)), [NOTHING]);
        assert_eq!(told(outcome(" \n", Some("Note"))), ["Note"]);
        assert_eq!(told(outcome("Text", Some(""))), ["Text"]);
    }

    #[test]
    fn what_others_may_not_read_is_left_out_of_earlier_runs() {
        let input = json!({"document_id": "doc_b", "new_content": "Secret", "explanation": ""});
        let call = |id: &str| ContentBlock::tool_use(id, "update_document_by_id", input.clone());
        let read = |id: &str, of: &[&str]| ToolOutcome {
            tool_use_id: id.into(),
            text: "“B” was read".into(),
            note: Some("Secret".into()),
            of: of.iter().map(|it| (*it).into()).collect(),
            ..ToolOutcome::default()
        };
        let round = |run: &str, of: &[&str]| {
            let mut news = DecisionUpdates::default();
            for id in of {
                let told = (format!("- Secret of {id}"), String::new());
                news.push(format!("req_{id}").into(), told, Some((*id).into()));
            }
            news.push("req_own".into(), ("- Own".into(), String::new()), None);
            let answers = vec![read("1", of), read("2", &[])];
            let results = EntryKind::Results { answers, news };
            [prompt(run, "Do"), answer(run, vec![call("1")]), entry(run, results)]
        };
        let mut entries = [round("1", &["doc_c", "doc_b"]), round("2", &["doc_b"])].concat();
        let named: Vec<_> = elsewhere(&entries, &"2".into()).into_iter().collect();
        assert_eq!(named, ["doc_b".into(), "doc_c".into()]);
        let before = entries.clone();
        assert!(!keep_apart(&mut entries, &"2".into(), &["doc_d".into()].into()));
        assert_eq!(entries, before);
        assert!(keep_apart(&mut entries, &"2".into(), &["doc_b".into()].into()));
        let sent = serde_json::to_string(&messages(&entries[..3], &"3".into(), &[])).unwrap();
        // The result of the second call, and the decision in the third document.
        assert_eq!(sent.matches("Secret").count(), 2, "what is not of that document stays: {sent}");
        assert!(sent.contains("Secret of doc_c") && sent.contains("Own"), "{sent}");
        assert!(sent.contains("doc_b") && sent.contains("Left out"), "{sent}");
        assert_eq!(entries[3..], before[3..], "the run that goes on keeps what it read");
    }

    #[test]
    fn a_call_that_was_left_without_an_answer_gets_one_before_the_next_prompt() {
        let entries =
            [prompt("1", "First"), answer("1", vec![call("a"), call("b")]), prompt("2", "Second")];
        let messages = messages(&entries, &"2".into(), &[ContentBlock::text("Second")]);
        assert_eq!(messages.len(), 3);
        let ids = messages[2].content.iter().map(|block| match block {
            ContentBlock::ToolResult { tool_use_id, is_error: true, .. } => tool_use_id.as_str(),
            _ => "text",
        });
        assert_eq!(ids.collect::<Vec<_>>(), ["a", "b", "text"]);
    }

    #[test]
    fn a_result_and_the_note_about_the_text_go_together() {
        let note = Some("The document is now at version 3.".into());
        let outcome = ToolOutcome {
            tool_use_id: "a".into(),
            text: "Applied".into(),
            note,
            ..ToolOutcome::default()
        };
        let entries = [
            prompt("1", "First"),
            answer("1", vec![call("a")]),
            entry("1", EntryKind::of_outcomes(vec![outcome])),
            entry(
                "1",
                EntryKind::End {
                    subtype: "cancelled".into(),
                    message: String::new(),
                    code: None,
                    spent: UsageTotals::default(),
                },
            ),
            prompt("2", "Second"),
        ];
        let messages = messages(&entries, &"1".into(), &[ContentBlock::text("First")]);
        // The results and the next prompt are one message: two of the same side in a row are
        // refused.
        assert_eq!(messages.len(), 3);
        let ContentBlock::ToolResult { content, .. } = &messages[2].content[0] else { panic!() };
        assert_eq!(content.len(), 2);
        assert_eq!(messages[2].content[1].as_text(), Some("Second"));
    }

    #[test]
    fn older_runs_are_left_out_whole() {
        let long = "x".repeat(1_000);
        let mut entries = Vec::new();
        for run in ["1", "2", "3"] {
            entries.push(prompt(run, &long));
            entries.push(answer(run, vec![ContentBlock::text("Yes.")]));
        }
        let runs = |budget| {
            let kept = recent(&entries, &"3".into(), budget);
            kept.iter().map(|entry| entry.run.to_string()).collect::<String>()
        };
        assert_eq!(runs(100_000), "112233");
        assert_eq!(runs(2_600), "2233");
        assert_eq!(runs(10), "33");
    }
}
