use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{RecordedAnswer, collect_stream};

/// Reads a recorded stream that arrives in pieces of `size` bytes.
async fn replay(bytes: &[u8], size: usize) -> RecordedAnswer {
    let pieces: Vec<_> =
        bytes.chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let work = |sink: DeltaSink| async move { read(stream::iter(pieces), &sink).await };
    collect_stream(delta_stream::answer(CancellationToken::new(), work)).await
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sse")
}

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.sse"))).expect("a fixture")
}

/// The recorded stream `name`; however it is cut into pieces, the outcome is the same.
async fn play(name: &str) -> RecordedAnswer {
    let bytes = recorded(name);
    let whole = replay(&bytes, bytes.len().max(1)).await;
    for size in [1, 7, 64] {
        let pieces = replay(&bytes, size).await;
        assert_eq!(pieces, whole, "{name} in pieces of {size} bytes");
    }
    whole
}

fn text(piece: &str) -> AnswerDelta {
    AnswerDelta::Text(piece.into())
}

fn call(index: usize, id: &str, name: &str) -> AnswerDelta {
    AnswerDelta::ToolUse { index, id: id.into(), name: name.into() }
}

fn input(index: usize, partial_json: &str) -> AnswerDelta {
    AnswerDelta::ToolInput { index, partial_json: partial_json.into() }
}

fn done(content: Vec<ContentBlock>, reason: &str, output: u64) -> AssistantMessage {
    AssistantMessage {
        content,
        stop_reason: StopReason::from(reason.to_owned()),
        stop_sequence: None,
        stop_details: None,
        usage: TokenUsage {
            input_tokens: 812,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 9120,
            output_tokens: output,
        },
        model: "claude-sonnet-5-5".into(),
        calls_left_out: 0,
        notice: None,
    }
}

/// The stream `name` tells `deltas` and ends with `message`.
async fn ends_well(name: &str, deltas: &[AnswerDelta], message: AssistantMessage) {
    let recorded = play(name).await;
    assert_eq!(recorded.deltas, deltas, "{name}");
    assert_eq!(recorded.end, Ok(message), "{name}");
}

/// The stream `name` tells `deltas` and ends with an error that reads `error`.
async fn ends_badly(name: &str, deltas: &[AnswerDelta], error: &str, retryable: bool) {
    let recorded = play(name).await;
    assert_eq!(recorded.deltas, deltas, "{name}");
    let end = recorded.end.expect_err(name);
    assert_eq!((end.to_string().as_str(), end.retryable()), (error, retryable), "{name}");
}

#[tokio::test]
async fn text_is_told_piece_by_piece() {
    let content = vec![ContentBlock::text("Good morning — café 🦀.")];
    let deltas = [text("Good morning — "), text("café 🦀.")];
    ends_well("text", &deltas, done(content, "end_turn", 12)).await;
}

#[tokio::test]
async fn line_ends_comments_and_split_data_lines_do_not_matter() {
    let line = "CRLF and three data lines.";
    ends_well("crlf", &[text(line)], done(vec![ContentBlock::text(line)], "end_turn", 9)).await;
}

#[tokio::test]
async fn a_call_is_told_as_it_is_written() {
    let (first, second) =
        (r#"{"new_text":"Sho"#, r#"rter.","selection_range":{"start":0,"end":12}}"#);
    let whole = json!({"new_text": "Shorter.", "selection_range": {"start": 0, "end": 12}});
    let content = vec![
        ContentBlock::text("I'll tighten it."),
        ContentBlock::tool_use("toolu_01", "update_selection", whole),
    ];
    let name = "update_selection";
    let deltas =
        [text("I'll tighten it."), call(1, "toolu_01", name), input(1, first), input(1, second)];
    ends_well("tool-use", &deltas, done(content, "tool_use", 63)).await;
}

#[tokio::test]
async fn several_calls_keep_their_order_and_no_input_is_an_empty_object() {
    let (a, b) = (r#"{"file_path":"a"}"#, r#"{"file_path":"b"}"#);
    let deltas =
        [call(0, "toolu_01", "Read"), input(0, a), call(1, "toolu_02", "Read"), input(1, b)];
    let content = vec![
        ContentBlock::tool_use("toolu_01", "Read", json!({"file_path": "a"})),
        ContentBlock::tool_use("toolu_02", "Read", json!({"file_path": "b"})),
    ];
    ends_well("parallel-calls", &deltas, done(content, "tool_use", 63)).await;
    let content = vec![ContentBlock::tool_use("toolu_01", "list", json!({}))];
    let deltas = [call(0, "toolu_01", "list")];
    ends_well("empty-input", &deltas, done(content, "tool_use", 63)).await;
}

#[tokio::test]
async fn blocks_that_come_in_another_order_are_put_together_by_their_place() {
    let read =
        |id: &str, path: &str| ContentBlock::tool_use(id, "Read", json!({"file_path": path}));
    let content =
        vec![ContentBlock::text("Both files."), read("toolu_01", "a"), read("toolu_02", "b")];
    let deltas = [
        call(1, "toolu_01", "Read"),
        text("Both "),
        call(2, "toolu_02", "Read"),
        input(1, r#"{"file_"#),
        input(2, r#"{"file_path""#),
        input(1, r#"path":"a"}"#),
        text("files."),
        input(2, r#":"b"}"#),
    ];
    ends_well("blocks-interleaved", &deltas, done(content, "tool_use", 63)).await;
    let whole = r#"{"file_path":"a"}"#;
    let deltas = [call(1, "toolu_01", "Read"), input(1, whole), text("I read it.")];
    let content = vec![ContentBlock::text("I read it."), read("toolu_01", "a")];
    ends_well("blocks-out-of-order", &deltas, done(content, "tool_use", 63)).await;
    // What is said of a block or of the answer before all of it is there changes nothing.
    let (first, second) = (r#"{"file_"#, r#"path":"a"}"#);
    let deltas = [call(0, "toolu_01", "Read"), input(0, first), input(0, second)];
    for name in ["end-before-its-blocks", "delta-after-its-stop"] {
        ends_well(name, &deltas, done(vec![read("toolu_01", "a")], "tool_use", 63)).await;
    }
}

#[tokio::test]
async fn pieces_of_an_input_in_the_wrong_order_are_no_input() {
    let content = |words: &str| vec![ContentBlock::tool_use("toolu_01", "Bash", words.into())];
    let (first, second) = (r#"":"ls"}"#, r#"{"command"#);
    let deltas = [call(0, "toolu_01", "Bash"), input(0, first), input(0, second)];
    let both = format!("{first}{second}");
    ends_well("deltas-swapped", &deltas, done(content(&both), "tool_use", 63)).await;
    let deltas = [call(0, "toolu_01", "Bash"), input(0, r#"{"command":"#)];
    let half = content(r#"{"command":"#);
    ends_well("delta-after-the-end", &deltas, done(half, "tool_use", 63)).await;
}

#[tokio::test]
async fn reasoning_is_told_when_it_is_complete() {
    let content = vec![
        ContentBlock::Thinking { thinking: "Two words too many.".into(), signature: "EqQB".into() },
        ContentBlock::RedactedThinking { data: "Zm9n".into() },
        ContentBlock::tool_use("toolu_01", "update_selection", json!({})),
    ];
    let whole = |at: usize| AnswerDelta::Block(content[at].clone());
    let deltas = [whole(0), whole(1), call(2, "toolu_01", "update_selection"), input(2, "{}")];
    ends_well("thinking", &deltas, done(content, "tool_use", 63)).await;
}

#[tokio::test]
async fn what_is_not_known_is_ignored_or_kept() {
    let hologram = json!({"type": "hologram", "rays": [1, 2]});
    let content = vec![ContentBlock::text("Still here."), ContentBlock::Other(hologram)];
    let deltas = [text("Still "), text("here."), AnswerDelta::Block(content[1].clone())];
    ends_well("unknown-everything", &deltas, done(content, "end_turn", 7)).await;
}

#[tokio::test]
async fn a_call_is_handed_over_only_when_the_model_waits_for_it() {
    let name = "update_full_document";
    let (cut, whole) = (r#"{"new_content":"Every night for thir"#, r#"{"new_content":"whole"}"#);
    let intro = "Here is all of it.";
    let deltas = [text(intro), call(1, "toolu_01", name), input(1, cut)];
    let said = vec![ContentBlock::text(intro)];
    let one_less = |answer| AssistantMessage { calls_left_out: 1, ..answer };
    ends_well("max-tokens-in-input", &deltas, one_less(done(said, "max_tokens", 1024))).await;
    let deltas = [call(0, "toolu_01", name), input(0, whole)];
    let nothing = one_less(done(vec![], "max_tokens", 1024));
    ends_well("max-tokens-after-input", &deltas, nothing).await;
    let deltas = [text("Hm."), call(1, "toolu_01", "Bash"), input(1, r#"{"command":"ls"}"#)];
    let said = vec![ContentBlock::text("Hm.")];
    ends_well("unknown-stop-reason", &deltas, one_less(done(said, "tide_turned", 63))).await;
}

#[tokio::test]
async fn input_that_is_no_object_stays_text_for_the_tool_to_refuse() {
    for (name, json) in [("broken-input", r#"{"command":"l"#), ("input-not-an-object", "[1]")] {
        let content = vec![ContentBlock::tool_use("toolu_01", "Bash", json.into())];
        let deltas = [call(0, "toolu_01", "Bash"), input(0, json)];
        ends_well(name, &deltas, done(content, "tool_use", 63)).await;
    }
}

#[tokio::test]
async fn a_later_delta_takes_nothing_back() {
    let content = done(vec![ContentBlock::text("a")], "end_turn", 9);
    ends_well("two-message-deltas", &[text("a")], content).await;
}

#[tokio::test]
async fn a_refusal_says_its_category() {
    let details = json!({"type": "refusal", "category": "cyber"});
    let content = done(vec![ContentBlock::text("I can't.")], "refusal", 3);
    let content = AssistantMessage { stop_details: Some(details), ..content };
    ends_well("refusal", &[text("I can't.")], content).await;
}

#[tokio::test]
async fn final_counts_replace_the_first_ones() {
    let usage = TokenUsage {
        input_tokens: 5,
        cache_creation_input_tokens: 6,
        cache_read_input_tokens: 7,
        output_tokens: 8,
    };
    let content = AssistantMessage { usage, ..done(vec![ContentBlock::text("a")], "end_turn", 0) };
    ends_well("usage-in-delta", &[text("a")], content).await;
}

#[tokio::test]
async fn nothing_is_read_after_the_end() {
    let content = done(vec![ContentBlock::text("Done.")], "end_turn", 2);
    ends_well("after-the-end", &[text("Done.")], content).await;
}

#[tokio::test]
async fn an_error_of_the_provider_ends_the_answer() {
    ends_badly("error-first", &[], "Overloaded (overloaded_error)", true).await;
    let half = [text("Half a ")];
    ends_badly("error-mid-stream", &half, "Internal server error (api_error)", true).await;
    ends_badly("error-final", &[], "Limit reached (rate_limit_error)", false).await;
}

#[tokio::test]
async fn an_input_that_is_there_from_the_start_counts_and_every_call_has_a_name_of_its_own() {
    let bytes = recorded("input-at-start");
    let Ok(answer) = replay(&bytes, bytes.len()).await.end else { panic!("it is complete") };
    let calls = answer.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse { id, input, .. } => Some((id.clone(), input.clone())),
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    assert_eq!(calls[0], ("toolu_01".to_owned(), json!({"path": "a"})));
    assert_eq!(calls[1].1, json!({"path": "b"}));
    assert_eq!(calls[2].1, json!({}));
    let mut names: Vec<_> = calls.iter().map(|(id, _)| id).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() == 3 && names.iter().all(|name| !name.is_empty()), "{names:?}");
}

#[tokio::test]
async fn an_answer_without_its_end_is_no_answer() {
    let cut = "the model's answer was cut off";
    ends_badly("empty", &[], cut, true).await;
    ends_badly("cut-in-text", &[text("Half a ")], cut, true).await;
    ends_badly("cut-in-event", &[], cut, true).await;
    let deltas = [call(0, "toolu_01", "Bash"), input(0, r#"{"command":"ls"}"#)];
    ends_badly("cut-before-stop", &deltas, cut, true).await;
}

#[tokio::test]
async fn an_answer_that_breaks_the_grammar_is_no_answer() {
    let cases: [(&str, &[AnswerDelta], &str); 9] = [
        ("broken-json", &[text("ok ")], "content_block_delta: EOF while parsing"),
        ("call-without-id", &[], "a tool_use without id or name"),
        ("delta-without-block", &[], "a delta without its block"),
        ("delta-of-another-kind", &[], "a delta of another kind than its block"),
        ("block-twice", &[], "a block started twice"),
        ("no-start", &[], "a block before message_start"),
        ("no-start-only-stop", &[], "an end without message_start"),
        ("no-stop-reason", &[text("x")], "an end without stop_reason"),
        ("not-utf8", &[text("fine")], "not UTF-8"),
    ];
    for (name, deltas, expected) in cases {
        let recorded = play(name).await;
        assert_eq!(recorded.deltas, deltas, "{name}");
        match recorded.end {
            Err(ModelError::Malformed { message }) => {
                assert!(message.starts_with(expected), "{name}: {message}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_runaway_answer_is_stopped() {
    let chunk = Bytes::from(vec![b'a'; MAX_ANSWER_BYTES / 8]);
    let read_chunks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&read_chunks);
    let chunks = stream::repeat_with(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(chunk.clone())
    });
    let work = |sink: DeltaSink| async move { read(chunks, &sink).await };
    let recorded = collect_stream(delta_stream::answer(CancellationToken::new(), work)).await;
    assert_eq!(recorded.end, Err(malformed("more than 64 MiB")));
    assert_eq!(read_chunks.load(Ordering::Relaxed), 9);
}

#[test]
fn every_recorded_stream_is_told_about_here() {
    let tests = include_str!("tests.rs");
    let entries = std::fs::read_dir(folder()).expect("fixtures").flatten();
    for file in entries.filter(|entry| entry.path().is_file()) {
        let name = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(tests.contains(&format!("\"{name}\"")), "no test plays {name}");
    }
}

/// Lines that gateways put into a stream to keep the connection open.
const NOISE: [&str; 7] = [
    "data: : keepalive\n\n",
    "data: OPENROUTER PROCESSING\n\n",
    "data:\n\n",
    "data: [1]\n\n",
    "data: null\n\n",
    "data: \"ping\"\n\n",
    "event: ping\ndata: : keepalive\n\n",
];

#[tokio::test]
async fn lines_that_are_no_objects_are_skipped() {
    let whole = String::from_utf8(recorded("text")).expect("UTF-8");
    let plain = replay(whole.as_bytes(), 64).await;
    for noise in NOISE {
        let noisy = whole.replace("event: ", &format!("{noise}event: "));
        let heard = replay(noisy.as_bytes(), 64).await;
        assert_eq!(heard.end, plain.end, "{noise:?}");
        assert_eq!(heard.deltas, plain.deltas, "{noise:?}");
        // In the same event as data.
        let line =
            noise.lines().last().filter(|line| line.starts_with("data")).unwrap_or("data: x");
        let noisy = whole.replace("\ndata: {", &format!("\n{line}\ndata: {{"));
        assert_eq!(replay(noisy.as_bytes(), 7).await.end, plain.end, "{line:?}");
    }
    let broken = whole.replacen("data: {", "data: {{", 1);
    let broken = replay(broken.as_bytes(), 64).await.end;
    assert!(matches!(broken, Err(ModelError::Malformed { .. })), "{broken:?}");
}
