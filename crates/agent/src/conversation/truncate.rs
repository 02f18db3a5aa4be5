//! Shortens the conversation that a model is sent: earlier runs are removed first, then results of
//! calls of this run, oldest first.
//!
//! Each shortening is large, so that many following requests begin equally and a provider's cache
//! holds them.

use serde_json::Value;

use copydesk_ids::RunId;
use copydesk_llm::messages_api::ContentBlock;
use copydesk_tools::ToolOutcome;

use super::transcript::{self, EntryKind, TranscriptEntry};

/// Text in place of a call's result, or of a field of its input.
const LEFT_OUT: &str = "[left out to make room; call the tool again if you still need it]";
/// Text in place of a note about the document that came with a result.
const NEWS_LEFT_OUT: &str = "[left out to make room; read the document to see how it reads now]";
/// Maximum size in bytes of a text that is not worth removing.
const SHORT: usize = 1_000;

/// Shortens `entries` of more than `most` bytes to half of that, or as near as possible; `run`, the
/// newest, keeps its words. Returns `true` if anything was removed.
pub fn make_room(entries: &mut Vec<TranscriptEntry>, run: &RunId, most: usize) -> bool {
    let mut total = entries.iter().map(sent).sum::<usize>();
    if total <= most {
        return false;
    }
    let before = total;
    let goal = most / 2;
    let kept = transcript::recent(entries, run, goal).len();
    let left_out = entries.drain(..entries.len() - kept);
    total -= left_out.as_slice().iter().map(sent).sum::<usize>();
    drop(left_out);
    let newest = entries.iter().rposition(|it| matches!(it.kind, EntryKind::Answer { .. }));
    let newest = newest.unwrap_or(entries.len());
    for entry in &mut entries[..newest] {
        if total <= goal {
            break;
        }
        total -= shorten(entry);
    }
    // The latest results are kept as far as possible.
    for entry in &mut entries[newest..] {
        if let EntryKind::Results { answers, .. } = &mut entry.kind {
            for answer in answers {
                if total > most {
                    total -= shorten_result(answer);
                }
            }
        }
    }
    total < before
}

/// Returns the approximate size in bytes that a model is sent of an entry.
fn sent(entry: &TranscriptEntry) -> usize {
    match &entry.kind {
        EntryKind::Prompt { text, news, .. } => text.len() + news.size(),
        EntryKind::Answer { .. } => transcript::size(entry),
        EntryKind::Results { answers, news } => {
            answers.iter().map(text_len).sum::<usize>() + news.size()
        }
        EntryKind::Cleared { .. } | EntryKind::End { .. } => 0,
    }
}

fn text_len(answer: &ToolOutcome) -> usize {
    answer.text.len() + answer.note.as_ref().map_or(0, String::len)
}

fn shorten(entry: &mut TranscriptEntry) -> usize {
    match &mut entry.kind {
        EntryKind::Results { answers, .. } => answers.iter_mut().map(shorten_result).sum(),
        EntryKind::Answer { content, .. } => content.iter_mut().map(shorten_call).sum(),
        EntryKind::Prompt { .. } | EntryKind::Cleared { .. } | EntryKind::End { .. } => 0,
    }
}

fn shorten_result(answer: &mut ToolOutcome) -> usize {
    let before = text_len(answer);
    if answer.text.len() > SHORT {
        LEFT_OUT.clone_into(&mut answer.text);
    }
    if let Some(note) = answer.note.as_mut().filter(|note| note.len() > SHORT) {
        NEWS_LEFT_OUT.clone_into(note);
    }
    before - text_len(answer)
}

fn shorten_call(block: &mut ContentBlock) -> usize {
    let ContentBlock::ToolUse { input, .. } = block else { return 0 };
    shorten_value(input)
}

fn shorten_value(value: &mut Value) -> usize {
    match value {
        Value::String(text) if text.len() > SHORT => {
            let left_out = text.len() - LEFT_OUT.len();
            LEFT_OUT.clone_into(text);
            left_out
        }
        Value::Array(items) => items.iter_mut().map(shorten_value).sum(),
        Value::Object(fields) => fields.values_mut().map(shorten_value).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::conversation::decision_updates::DecisionUpdates;
    use copydesk_llm::messages_api::StopReason;

    use super::*;

    fn entry(run: &str, kind: EntryKind) -> TranscriptEntry {
        TranscriptEntry { session: "ses".into(), run: run.into(), at_ms: 0, kind }
    }

    fn prompt(run: &str) -> TranscriptEntry {
        entry(
            run,
            EntryKind::Prompt {
                name: "Ada".into(),
                text: "Why?".into(),
                source: None,
                news: DecisionUpdates::default(),
            },
        )
    }

    /// Returns a call and its result of so many bytes.
    fn round(run: &str, id: &str, bytes: usize) -> [TranscriptEntry; 2] {
        let content = vec![ContentBlock::tool_use(id, "Read", json!({"file_path": id}))];
        [
            entry(run, EntryKind::Answer { content, stop: StopReason::ToolUse }),
            entry(run, EntryKind::of_outcomes(vec![result(id, bytes)])),
        ]
    }

    fn result(id: &str, bytes: usize) -> ToolOutcome {
        ToolOutcome { tool_use_id: id.into(), text: "x".repeat(bytes), ..ToolOutcome::default() }
    }

    /// Returns the calls whose results are there, and those whose results are left out.
    fn calls(entries: &[TranscriptEntry]) -> (String, String) {
        let answers = entries.iter().flat_map(|entry| match &entry.kind {
            EntryKind::Results { answers, .. } => answers.as_slice(),
            _ => &[],
        });
        let (mut there, mut gone) = (String::new(), String::new());
        for answer in answers {
            let side = if answer.text == LEFT_OUT { &mut gone } else { &mut there };
            side.push_str(&answer.tool_use_id);
        }
        (there, gone)
    }

    #[test]
    fn old_results_make_room_in_steps_and_every_call_keeps_its_answer() {
        let mut entries = vec![prompt("1")];
        let mut steps = Vec::new();
        for id in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            entries.extend(round("1", id, 10_000));
            if make_room(&mut entries, &"1".into(), 45_000) {
                steps.push(calls(&entries));
            }
        }
        let step = |there: &str, gone: &str| (there.to_owned(), gone.to_owned());
        assert_eq!(steps, [step("de", "abc"), step("gh", "abcdef")]);
        assert_eq!(entries.len(), 17);
    }

    #[test]
    fn earlier_runs_go_before_anything_of_this_one() {
        let mut entries = vec![prompt("1")];
        entries.extend(round("1", "a", 10_000));
        entries.push(prompt("2"));
        entries.extend(round("2", "b", 10_000));
        assert!(!make_room(&mut entries, &"2".into(), 30_000));
        assert!(make_room(&mut entries, &"2".into(), 20_000));
        assert_eq!(calls(&entries), ("b".to_owned(), String::new()));
        assert_eq!(entries[0], prompt("2"));
    }

    #[test]
    fn of_what_was_just_read_as_much_stays_as_fits() {
        let mut entries = vec![prompt("1")];
        let content = ["a", "b", "c"].map(|id| ContentBlock::tool_use(id, "Read", json!({})));
        entries.push(entry(
            "1",
            EntryKind::Answer { content: content.to_vec(), stop: StopReason::ToolUse },
        ));
        let answers = vec![result("a", 10_000), result("b", 10_000), result("c", 10_000)];
        entries.push(entry("1", EntryKind::of_outcomes(answers)));
        assert!(make_room(&mut entries, &"1".into(), 21_000));
        assert_eq!(calls(&entries), ("bc".to_owned(), "a".to_owned()));
        assert!(make_room(&mut entries, &"1".into(), 0));
        assert!(!make_room(&mut entries, &"1".into(), 0), "there is no more to be left out");
    }

    #[test]
    fn what_calls_were_made_with_makes_room_too() {
        let input = json!({"new_content": "x".repeat(10_000), "explanation": "Shorter."});
        let content = vec![ContentBlock::tool_use("a", "update_full_document", input)];
        let mut entries =
            vec![prompt("1"), entry("1", EntryKind::Answer { content, stop: StopReason::ToolUse })];
        entries.push(entry("1", EntryKind::of_outcomes(vec![result("a", 10)])));
        entries.extend(round("1", "b", 10));
        assert!(make_room(&mut entries, &"1".into(), 5_000));
        let EntryKind::Answer { content, .. } = &entries[1].kind else { panic!() };
        let ContentBlock::ToolUse { input, .. } = &content[0] else { panic!() };
        assert_eq!(*input, json!({"new_content": LEFT_OUT, "explanation": "Shorter."}));
    }
}
