use futures_util::StreamExt;
use serde_json::json;

use super::*;
use crate::AnswerDelta;
use crate::messages_api::StopReason;
use crate::testing::{asks, collect_answer, with_results};

fn scripted(turns: &serde_json::Value) -> ScriptedModel {
    let text = json!({"turns": turns}).to_string();
    ScriptedModel::new("test.json", ModelScript::parse("test.json", &text).expect("a valid script"))
}

fn refused(text: &str) -> String {
    ModelScript::parse("bad.json", text).expect_err("an invalid script").to_string()
}

fn fixture(name: &str) -> ScriptedModel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scripts").join(name);
    ScriptedModel::load(&path).expect("a valid script")
}

#[tokio::test(start_paused = true)]
async fn the_example_of_the_contract_plays_as_written() {
    let model = fixture("tighten-the-opening.json");
    let first = collect_answer(&model, asks("Please TIGHTEN this")).await;
    assert_eq!(first.message().stop_reason, StopReason::ToolUse);
    assert_eq!(first.text(), "I'll tighten it.");
    assert_eq!(first.call().0, "update_selection");
    let closing = collect_answer(
        &model,
        with_results(asks("x"), first.message(), "!User rejected the operation: rejected"),
    );
    assert_eq!(closing.await.text(), "Understood.");
    assert_eq!(collect_answer(&model, asks("anything")).await.text(), "Done.");
    assert_eq!(
        collect_answer(&model, asks("anything")).await.text(),
        "Done.",
        "repeat keeps it usable"
    );
}

#[tokio::test]
async fn a_turn_is_used_up_in_its_session_only() {
    let model = scripted(&json!([{"content": [{"type": "text", "text": "once"}]}]));
    assert_eq!(collect_answer(&model, asks("a")).await.text(), "once");
    assert!(matches!(collect_answer(&model, asks("a")).await.end, Err(ModelError::NoTurn { .. })));
    let elsewhere = ModelRequest { session: "ses_2".into(), ..asks("a") };
    assert_eq!(collect_answer(&model, elsewhere).await.text(), "once");
}

#[tokio::test]
async fn nothing_matching_names_the_request() {
    let model =
        scripted(&json!([{"when": {"user": "^b$"}, "content": [{"type": "text", "text": "b"}]}]));
    let error = collect_answer(&model, asks("say \"a\"")).await.end.expect_err("nothing matches");
    let words = r#"no turn of the script matches: prompt "say \"a\"" (session ses_1; 0 of 1 turns used up)"#;
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn conditions_look_at_the_message_they_are_about() {
    let model = scripted(&json!([
        {"when": {"user": "go"}, "content": [{"type": "tool_use", "name": "t", "input": {}}], "repeat": true},
        {"when": {"tool_result": "fine"}, "content": [{"type": "text", "text": "result"}], "repeat": true},
        {"when": {"system": "edit"}, "content": [{"type": "text", "text": "system"}], "repeat": true},
    ]));
    let call = collect_answer(&model, asks("go")).await;
    // The prompt is still in the conversation, but the last message holds results.
    let mut after = with_results(asks("go"), call.message(), "all fine");
    after.prompt = None;
    assert_eq!(collect_answer(&model, after).await.text(), "result");
    assert_eq!(collect_answer(&model, asks("that is fine")).await.text(), "system");
    let bare = ModelRequest { system: String::new(), ..asks("that is fine") };
    assert!(collect_answer(&model, bare).await.end.is_err());
}

#[tokio::test]
async fn text_and_input_come_in_chunks_and_calls_get_ids_of_their_own() {
    let model = scripted(&json!([{"chunk_chars": 2, "repeat": true, "content": [
        {"type": "text", "text": "añ🦀b"}, {"type": "tool_use", "name": "t", "input": {"k": 1}}]}]));
    let (one, two) =
        (collect_answer(&model, asks("a")).await, collect_answer(&model, asks("a")).await);
    let id = |delta: &AnswerDelta| match delta {
        AnswerDelta::ToolUse { index: 1, id, name } if name == "t" => id.clone(),
        other => panic!("not the start of the call: {other:?}"),
    };
    assert_eq!(one.deltas[..2], [AnswerDelta::Text("añ".into()), AnswerDelta::Text("🦀b".into())]);
    assert_ne!(id(&one.deltas[2]), id(&two.deltas[2]));
    let pieces = [r#"{""#, r#"k""#, ":1", "}"];
    let input = pieces.map(|piece| AnswerDelta::ToolInput { index: 1, partial_json: piece.into() });
    assert_eq!(one.deltas[3..], input);
}

#[tokio::test(start_paused = true)]
async fn delays_take_their_time_and_cancelling_ends_them() {
    let model = fixture("slow.json");
    let started = tokio::time::Instant::now();
    let said = collect_answer(&model, asks("go")).await;
    let pauses = u32::try_from(said.deltas.len()).expect("few deltas");
    assert_eq!(started.elapsed(), std::time::Duration::from_millis(200) * pauses);

    let cancel = CancellationToken::new();
    let mut stream = model.stream(asks("go"), cancel.clone());
    assert_eq!(stream.next().await, Some(Ok(AnswerDelta::Text("This".into()))));
    cancel.cancel();
    assert_eq!(stream.next().await, Some(Err(ModelError::Cancelled)));
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn failures_are_played_after_what_was_said() {
    let model = fixture("provider-errors.json");
    let at_once = collect_answer(&model, asks("overloaded")).await;
    assert_eq!(at_once.deltas, []);
    let error = at_once.end.expect_err("an error");
    assert_eq!(error.to_string(), "Overloaded (overloaded_error, HTTP 529)");
    assert!(error.retryable());
    assert_eq!(
        collect_answer(&model, asks("overloaded later")).await.streamed_text(),
        "I was about to "
    );
    assert!(!collect_answer(&model, asks("key")).await.end.expect_err("an error").retryable());
    let cut = collect_answer(&model, asks("cut")).await;
    assert_eq!((cut.streamed_text().as_str(), cut.end), ("Half a sent", Err(ModelError::CutOff)));
}

#[tokio::test]
async fn a_call_cut_by_max_tokens_is_shown_but_never_handed_over() {
    let said = collect_answer(&fixture("provider-errors.json"), asks("too long")).await;
    assert!(said.deltas.iter().any(|delta| matches!(delta, AnswerDelta::ToolUse { .. })));
    assert_eq!(said.message().stop_reason, StopReason::MaxTokens);
    assert_eq!(said.message().content, [ContentBlock::text("A very long answer")]);
}

const MISTAKES: &[(&str, &str)] = &[
    (
        "{\n  \"turns\": [,]}",
        "script bad.json, line 2, column 13: expected value at line 2 column 13",
    ),
    (r#"{"turns":[]}"#, "script bad.json, turns: a script needs at least one turn"),
    (r#"{"turns":[{"contents":[]}]}"#, "unknown field `contents`"),
    (r#"{"turns":[{}]}"#, "turns[0].content: a turn needs content, an `error` or `cut`"),
    (
        r#"{"turns":[{"cut":true},{"when":{"user":"("},"cut":true}]}"#,
        "turns[1].when.user: `(`: regex parse error",
    ),
    (
        r#"{"turns":[{"when":{"user":"a","tool_result":"b"},"cut":true}]}"#,
        "turns[0].when: `user` and `tool_result`",
    ),
    (
        r#"{"turns":[{"content":[{"type":"text","text":""}]}]}"#,
        "turns[0].content[0].text: must not be empty",
    ),
    (r#"{"turns":[{"content":[{"type":"image"}]}]}"#, "unknown variant `image`"),
    (
        r#"{"turns":[{"content":[{"type":"tool_use","name":"","input":{}}]}]}"#,
        "turns[0].content[0].name: must not be empty",
    ),
    (
        r#"{"turns":[{"content":[{"type":"tool_use","name":"t","input":[]}]}]}"#,
        "turns[0].content[0].input: must be an object",
    ),
    (
        r#"{"turns":[{"repeat":true,"content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}]}"#,
        "turns[0].content[0].id: a turn with `repeat`",
    ),
    (r#"{"turns":[{"cut":true,"chunk_chars":0}]}"#, "turns[0].chunk_chars: must be at least 1"),
    (r#"{"turns":[{"cut":true,"delay_ms":60001}]}"#, "turns[0].delay_ms: must be at most 60000"),
    (r#"{"turns":[{"cut":true,"delay_ms":-1}]}"#, "expected u64"),
    (
        r#"{"turns":[{"error":{"status":200,"type":"t"}}]}"#,
        "turns[0].error.status: must be between 400 and 599",
    ),
    (
        r#"{"turns":[{"cut":true,"error":{"status":500,"type":"t"}}]}"#,
        "turns[0].cut: a turn ends by `error` or by `cut`",
    ),
    (
        r#"{"turns":[{"cut":true,"stop_reason":"end_turn"}]}"#,
        "turns[0].stop_reason: a turn that ends by",
    ),
    (
        r#"{"turns":[{"content":[{"type":"text","text":"a"}],"stop_reason":"tool_use"}]}"#,
        "turns[0].stop_reason: `tool_use` needs",
    ),
];

#[test]
fn mistakes_in_a_script_are_named_with_their_place() {
    for (script, expected) in MISTAKES {
        let error = refused(script);
        assert!(
            error.starts_with("script bad.json, ") && error.contains(expected),
            "{script}: {error}"
        );
    }
}

#[tokio::test]
async fn a_call_of_a_refused_or_unknown_ending_is_not_handed_over_either() {
    for reason in ["refusal", "tide_turned", "end_turn"] {
        let call = json!({"type": "tool_use", "name": "t", "input": {}});
        let model = scripted(&json!([{"stop_reason": reason, "content": [call]}]));
        assert_eq!(collect_answer(&model, asks("a")).await.message().content, [], "{reason}");
    }
}

#[test]
fn a_missing_script_names_its_path() {
    let error = ScriptedModel::load(Path::new("no/such.json")).err().expect("nothing there");
    assert_eq!(error.to_string(), "cannot read the script no/such.json");
    let reason = std::error::Error::source(&error).expect("the system's reason is the cause");
    assert!(reason.to_string().contains("No such file"), "{reason}");
}

#[test]
fn every_script_in_the_fixtures_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scripts");
    let files: Vec<_> = std::fs::read_dir(folder).expect("scripts").flatten().collect();
    assert!(files.len() >= 7);
    for file in files {
        ScriptedModel::load(&file.path()).expect("a valid script");
    }
}
