use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::stream;
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{RecordedAnswer, collect_stream};

/// Of a model that is not known to think aloud.
const NONE: UnopenedThoughts<'static> = UnopenedThoughts { begun: false, learn: &|_| {} };

async fn replay(bytes: &[u8], size: usize) -> RecordedAnswer {
    let pieces: Vec<_> =
        bytes.chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let work =
        |sink: DeltaSink| async move { read(stream::iter(pieces), "m-0", NONE, &sink).await };
    collect_stream(delta_stream::answer(CancellationToken::new(), work)).await
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sse/openai")
}

/// The recorded stream `name`, one line for each thing; however it is cut into pieces, the outcome
/// is the same.
async fn play(name: &str) -> Vec<String> {
    let bytes = std::fs::read(folder().join(format!("{name}.sse"))).expect("a fixture");
    let whole = lines(&replay(&bytes, bytes.len().max(1)).await);
    for size in [1, 7, 64] {
        let pieces = lines(&replay(&bytes, size).await);
        assert_eq!(pieces, whole, "{name} in pieces of {size} bytes");
    }
    whole
}

fn lines(recorded: &RecordedAnswer) -> Vec<String> {
    let mut lines: Vec<String> = recorded.deltas.iter().map(line).collect();
    match &recorded.end {
        Ok(AssistantMessage { content, stop_reason, usage, .. }) => {
            lines.extend(content.iter().map(kept));
            lines.push(format!("= {}", stop_reason.as_str()));
            if *usage != TokenUsage::default() {
                let TokenUsage { input_tokens, cache_read_input_tokens, output_tokens, .. } = usage;
                lines.push(format!("{input_tokens}+{cache_read_input_tokens} -> {output_tokens}"));
            }
        }
        Err(error) => {
            let again = if error.retryable() { "again" } else { "final" };
            lines.push(format!("! {error} [{again}]"));
        }
    }
    lines
}

fn line(delta: &AnswerDelta) -> String {
    match delta {
        AnswerDelta::Text(text) => format!("say {text}"),
        AnswerDelta::ToolUse { index, id, name } => format!("call {index} {} {name}", known(id)),
        AnswerDelta::ToolInput { index, partial_json } => format!("more {index} {partial_json}"),
        AnswerDelta::Reset => "forget".into(),
        AnswerDelta::NextText(_)
        | AnswerDelta::Block(_)
        | AnswerDelta::Lost(_)
        | AnswerDelta::Done(_) => {
            panic!("never read")
        }
    }
}

fn kept(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text { text, .. } => format!("- {text}"),
        ContentBlock::ToolUse { id, name, input } => format!("- {} {name} {input}", known(id)),
        other => panic!("nothing makes {other:?}"),
    }
}

/// Returns an id, with one name for all that this program made up: they differ each time.
fn known(id: &str) -> &str {
    if id.starts_with("toolu_") { "minted" } else { id }
}

#[tokio::test]
async fn the_protocol_as_it_is_written_down() {
    let text = ["say Good ", "say morning 🦀.", "- Good morning 🦀.", "= end_turn", "12+8 -> 5"];
    assert_eq!(play("plain-text").await, text);
    let call = [
        "say I'll tighten it.",
        "call 1 call_abc1 update_selection",
        r#"more 1 {"new_text":"Sho"#,
        r#"more 1 rter."}"#,
        "- I'll tighten it.",
        r#"- call_abc1 update_selection {"new_text":"Shorter."}"#,
        "= tool_use",
        "20+0 -> 5",
    ];
    assert_eq!(play("one-call").await, call);
    let two = [
        r#"- call_abc1 Read {"file_path":"a"}"#,
        r#"- call_abc2 Read {"file_path":"b"}"#,
        "= tool_use",
        "20+0 -> 5",
    ];
    assert_eq!(play("two-calls").await[5..], two);
}

#[tokio::test]
async fn calls_that_are_written_at_the_same_time_are_kept_apart() {
    let interleaved = [
        "call 0 call_abc1 Read",
        r#"more 0 {"file_"#,
        "call 1 call_abc2 Read",
        r#"more 1 {"file_path""#,
        r#"more 0 path":"a"}"#,
        "say Both.",
        r#"more 1 :"b"}"#,
        r#"- call_abc1 Read {"file_path":"a"}"#,
        r#"- call_abc2 Read {"file_path":"b"}"#,
        "- Both.",
        "= tool_use",
        "20+0 -> 5",
    ];
    assert_eq!(play("calls-interleaved").await, interleaved);
    let in_their_order = [
        r#"- call_abc2 Read {"file_path":"b"}"#,
        r#"- call_abc1 Read {"file_path":"a"}"#,
        "= tool_use",
        "20+0 -> 5",
    ];
    assert_eq!(ends("calls-out-of-order").await, in_their_order);
    let late = [r#"- call_abc1 Read {"file_path":"a"}"#, "= tool_use", "20+0 -> 5"];
    assert_eq!(ends("reason-before-arguments").await, late);
}

/// The complete answer, without what was sent on the way.
async fn ends(name: &str) -> Vec<String> {
    let lines = play(name).await;
    lines.into_iter().skip_while(|line| !line.starts_with(['-', '=', '!'])).collect()
}

#[tokio::test]
async fn calls_are_told_apart_whatever_the_server_forgets() {
    let (a, b) = (r#"Read {"file_path":"a"}"#, r#"Read {"file_path":"b"}"#);
    let cases: [(&str, &[(&str, &str)]); 13] = [
        ("ollama-no-index-stop", &[("call_o1", a), ("call_o2", b)]),
        ("ollama-all-index-zero", &[("call_o1", a), ("call_o2", b)]),
        ("litellm-object-arguments", &[("minted", a), ("minted", b)]),
        ("same-index-no-ids", &[("minted", a), ("minted", b), ("minted", "list {}")]),
        ("vllm-new-id-in-each-piece", &[("chatcmpl-tool-1", a)]),
        ("vllm-no-arguments", &[("chatcmpl-tool-1", "list {}"), ("chatcmpl-tool-2", "list {}")]),
        ("name-in-each-piece", &[("call_r1", a)]),
        ("sglang-index-zero", &[("call_s1", a), ("call_s2", b)]),
        ("no-index-no-id", &[("minted", a), ("minted", "list {}")]),
        ("no-index-same-id", &[("call_n1", a)]),
        ("counters-for-ids", &[("minted", "Read {}"), ("minted", "list {}")]),
        ("same-id-twice", &[("call_d1", "Read {}"), ("minted", "list {}")]),
        ("id-after-name", &[("minted", a)]),
    ];
    for (name, calls) in cases {
        let mut expected: Vec<_> =
            calls.iter().map(|(id, call)| format!("- {id} {call}")).collect();
        expected.push("= tool_use".into());
        let mut recorded = ends(name).await;
        recorded.retain(|line| !line.contains(" -> "));
        assert_eq!(recorded, expected, "{name}");
    }
    assert_eq!(ends("old-function-call").await, [format!("- minted {a}"), "= tool_use".into()]);
    let spaced = ["- call_abc1 list {}", "- call_abc2 list {}", "= tool_use"];
    assert_eq!(ends("space-around-calls").await, spaced);
    assert_eq!(ends("no-reason-with-call").await, ["- call_abc1 Read {}", "= tool_use"]);
}

#[tokio::test]
async fn reasoning_is_neither_told_nor_kept() {
    let shorter = ["say Shorter.", "- Shorter.", "= end_turn"];
    assert_eq!(play("think-tags").await, shorter);
    assert_eq!(play("deepseek-reasoning").await[..3], shorter);
    assert_eq!(play("deepseek-reasoning").await[3], "4+16 -> 9");
    assert_eq!(play("openrouter-comments").await[..3], shorter);
    let parts = ["say Good ", "say morning.", "- Good morning.", "= end_turn"];
    assert_eq!(play("parts-of-content").await, parts);
}

#[tokio::test]
async fn an_answer_is_whole_with_a_reason_or_with_its_last_line() {
    let shorter = ["say Shorter.", "- Shorter.", "= end_turn"];
    for name in [
        "no-done",
        "no-reason",
        "done-without-end",
        "reason-without-calls",
        "another-choice",
        "after-done",
        "odd-shapes",
    ] {
        assert_eq!(play(name).await, shorter, "{name}");
    }
    assert_eq!(play("usage-in-each-chunk").await.last().expect("counts"), "20+0 -> 2");
    let glued = ["say Good ", "say morning.", "- Good morning.", "= end_turn"];
    assert_eq!(play("two-chunks-in-one-event").await, glued);
}

#[tokio::test]
async fn an_answer_that_was_cut_runs_nothing() {
    let cut = "! the model's answer was cut off [again]";
    assert_eq!(play("cut-in-words").await, ["say Half a ", cut]);
    assert_eq!(play("cut-in-chunk").await, ["say Half a ", cut]);
    assert_eq!(play("reason-error").await, ["say Half a ", cut]);
    assert_eq!(ends("cut-after-arguments").await, [cut]);
    let intro = ["- All of it.", "= max_tokens", "20+0 -> 1024"];
    assert_eq!(ends("length-after-arguments").await, intro);
    assert_eq!(ends("length-in-arguments").await, ["= max_tokens", "20+0 -> 1024"]);
    assert_eq!(ends("content-filter").await, ["- Half a ", "= refusal"]);
}

#[tokio::test]
async fn a_refusal_is_told_as_words() {
    let words = ["say I can't ", "say do that.", "- I can't do that.", "= refusal"];
    assert_eq!(play("refused").await, words);
}

#[tokio::test]
async fn arguments_that_cannot_be_read_stay_text_for_the_tool_to_refuse() {
    let refused =
        [r#"- call_abc1 Read "{\"file_path\": a}""#, r#"- call_abc2 Read "[1]""#, "= tool_use"];
    assert_eq!(ends("arguments-not-json").await, refused);
    let read = [r#"- call_abc1 Read {"file_path":"a"}"#, "- call_abc2 list {}", "= tool_use"];
    assert_eq!(ends("arguments-twice-encoded").await, read);
}

#[tokio::test]
async fn errors_in_the_middle_end_the_answer() {
    let half = "say Half a ";
    let bad = "! Provider disconnected (api_error, HTTP 502) [again]";
    assert_eq!(play("error-chunk").await, [half, bad]);
    let long = "! the request exceeds the available context size (exceed_context_size_error, HTTP 400) [final]";
    assert_eq!(play("llama-error-field").await, [half, long]);
    let died = "! engine died (InternalServerError, HTTP 500) [again]";
    assert_eq!(play("vllm-error-object").await, [died]);
    let server = "! The server had an error (server_error) [again]";
    assert_eq!(play("error-event").await, [server]);
    let json = &play("chunk-not-json").await[1];
    assert!(json.starts_with("! the model's answer cannot be read: a chunk: key must"), "{json}");
    let name = "! the model's answer cannot be read: a call without a name [again]";
    assert_eq!(play("no-name").await, [name]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_hangs_up_is_not_waited_for() {
    let bytes = std::fs::read(folder().join("no-done.sse")).expect("a fixture");
    let pieces = stream::iter([Ok(Bytes::from(bytes))]).chain(stream::pending());
    let work = |sink: DeltaSink| async move { read(pieces, "m-0", NONE, &sink).await };
    let heard = collect_stream(delta_stream::answer(CancellationToken::new(), work)).await;
    assert_eq!(lines(&heard).last().expect("an end"), "= end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_on_saying_that_it_is_there_is_not_waited_for_either() {
    let bytes = std::fs::read(folder().join("no-done.sse")).expect("a fixture");
    let comments = stream::unfold(0, async |said| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        (said < 100).then(|| (Ok(Bytes::from_static(b": still here\n\n")), said + 1))
    });
    let pieces = stream::iter([Ok(Bytes::from(bytes))]).chain(comments);
    let work = |sink: DeltaSink| async move { read(pieces, "m-0", NONE, &sink).await };
    let began = Instant::now();
    let heard = collect_stream(delta_stream::answer(CancellationToken::new(), work)).await;
    assert_eq!(lines(&heard).last().expect("an end"), "= end_turn");
    assert!(began.elapsed() <= LAST_WORDS + Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn thoughts_that_had_no_beginning_are_taken_back() {
    let expected = [
        "say Okay… ",
        "say hmm",
        "say </think>",
        "forget",
        "say four",
        "say .",
        "- four.",
        "= end_turn",
    ];
    assert_eq!(play("think-end-only").await, expected);
    let call = [
        "say Okay.",
        "say \n</think>",
        "forget",
        "call 0 call_abc1 Read",
        r#"more 0 {"file_path":"a"}"#,
        r#"- call_abc1 Read {"file_path":"a"}"#,
        "= tool_use",
    ];
    assert_eq!(play("think-end-before-call").await, call);
}

#[tokio::test]
async fn thoughts_like_the_last_are_not_told_at_all() {
    let learned = Mutex::new(Vec::new());
    let learned = Arc::new(learned);
    for (name, said) in [("think-end-only", "say four"), ("plain-text", "say Good morning 🦀.")] {
        let bytes = std::fs::read(folder().join(format!("{name}.sse"))).expect("a fixture");
        let pieces = stream::iter([Ok(Bytes::from(bytes))]);
        let notes = Arc::clone(&learned);
        let work = |sink: DeltaSink| async move {
            let learn = |begun| notes.lock().push(begun);
            read(pieces, "m-0", UnopenedThoughts { begun: true, learn: &learn }, &sink).await
        };
        let heard = collect_stream(delta_stream::answer(CancellationToken::new(), work)).await;
        assert_eq!(lines(&heard)[0], said, "{name}");
    }
    assert_eq!(*learned.lock(), [false], "the second had none");
}

#[tokio::test]
async fn an_answer_in_one_piece_is_an_answer() {
    let work = |answer: Value| {
        let work = |sink: DeltaSink| async move { read_whole(answer, "m-0", NONE, &sink).await };
        collect_stream(delta_stream::answer(CancellationToken::new(), work))
    };
    let call = json!({"id": "call_abc1", "type": "function", "function": {"name": "list", "arguments": "{}"}});
    let message = json!({"role": "assistant", "content": "Well.", "tool_calls": [call]});
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2});
    let whole = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage});
    let expected = [
        "say Well.",
        "call 1 call_abc1 list",
        "more 1 {}",
        "- Well.",
        "- call_abc1 list {}",
        "= tool_use",
        "3+0 -> 2",
    ];
    assert_eq!(lines(&work(whole).await), expected);
    let nothing = work(json!({"ok": true})).await;
    let words = "! the model's answer cannot be read: an answer without choices [again]";
    assert_eq!(lines(&nothing), [words]);
}

#[test]
fn tokens_of_the_prompt_are_counted_once_whatever_became_of_them() {
    let details = json!({"cached_tokens": 12_000, "cache_write_tokens": 2_900});
    let counts =
        json!({"prompt_tokens": 15_000, "completion_tokens": 7, "prompt_tokens_details": details});
    let expected = TokenUsage {
        input_tokens: 100,
        cache_creation_input_tokens: 2_900,
        cache_read_input_tokens: 12_000,
        output_tokens: 7,
    };
    assert_eq!(usage(&json!({"usage": counts})), Some(expected));
    let odd = json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9, "cache_write_tokens": 9}});
    let read = usage(&json!({"usage": odd})).expect("counts");
    assert_eq!((read.input_tokens, read.cache_read_input_tokens), (0, 5));
}

#[test]
fn every_recorded_stream_is_told_about_here() {
    let tests = include_str!("tests.rs");
    for file in std::fs::read_dir(folder()).expect("fixtures").flatten() {
        let name = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(tests.contains(&format!("\"{name}\"")), "no test plays {name}");
    }
}

#[tokio::test]
async fn lines_that_are_no_objects_are_skipped() {
    let chunk = |text: &str| {
        let choice = json!({"index": 0, "delta": {"content": text}});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let play = async |noise: &str| {
        let stream = [noise, &chunk("Fi"), noise, &chunk("ne."), noise, end].concat();
        lines(&replay(stream.as_bytes(), 7).await)
    };
    let plain = play("").await;
    for noise in [
        "data: : keepalive\n\n",
        "data: : OPENROUTER PROCESSING\n\n",
        "data: PROCESSING\n\n",
        "data: [PING]\n\n",
        "data:\n\n",
        "data: null\n\n",
        "event: keepalive\ndata: keepalive\n\n",
    ] {
        assert_eq!(play(noise).await, plain, "{noise:?}");
    }
    let together = chunk("Fine.").replace("\n\n", "\ndata: : keepalive\n\n") + end;
    assert!(lines(&replay(together.as_bytes(), 7).await).contains(&"- Fine.".to_owned()));
    let broken = play("data: {\"choices\": [\n\n").await;
    assert!(broken.iter().any(|line| line.contains("cannot be read")), "{broken:?}");
    // The end is the end, whatever comes after it.
    let after = [chunk("Fine."), "data: [DONE]\n\ndata: {broken\n\n".to_owned()].concat();
    assert!(lines(&replay(after.as_bytes(), 64).await).contains(&"= end_turn".to_owned()));
}
