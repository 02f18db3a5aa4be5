//! Calls of the three tools that are denied (`validate_document_operation`): selections, sizes,
//! frozen ranges.

use serde_json::{Value, json};

use super::{OPENING, about};
use crate::support::script::{full, selection};
use crate::support::{Script, TestServer};

#[test]
fn test_validate_document_operation() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(100, 50, "x")));
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Fix this", &about("x".repeat(200).as_str()));
    assert_eq!(ana.answer(&run)["updateType"], "none");
    let tool_result = &ana.tool_results(&run)[0];
    assert_eq!(tool_result["permissionDecision"], "deny");
    assert_eq!(tool_result["permissionDecisionReason"], "Invalid selection range");
    assert_eq!(tool_result["is_error"], true);
}

#[test]
fn the_model_hears_of_a_denial_and_can_say_so() {
    let copydesk = TestServer::playing("invalid-range");
    let ana = copydesk.editor("Ana");
    let response = ana.is_answered("Turn it around", &about(OPENING));
    assert_eq!(response["conversationMessage"], "That range does not exist.");
    assert_eq!(response["updateType"], "none");
}

#[test]
fn every_invalid_selection_range_is_denied() {
    // "a😀bc": the pair stands at 1 and 2, the end is 5.
    let cases = [
        ("missing", json!({"new_text": "x", "explanation": "e"})),
        (
            "missing start",
            json!({"new_text": "x", "selection_range": {"end": 3}, "explanation": "e"}),
        ),
        (
            "missing end",
            json!({"new_text": "x", "selection_range": {"start": 3}, "explanation": "e"}),
        ),
        ("negative", selection(-1, 3, "x")),
        ("reversed", selection(4, 3, "x")),
        ("past the end", selection(0, 6, "x")),
        ("start inside a pair", selection(2, 3, "x")),
        ("end inside a pair", selection(0, 2, "x")),
        ("a word", selection("one", 3, "x")),
        ("a fraction", selection(0.5, 3, "x")),
        ("null", selection(Value::Null, 3, "x")),
    ];
    let script = cases.iter().fold(Script::default(), |script, (name, input)| {
        script.answering(&format!("^{name}$"), "update_selection", input)
    });
    let copydesk = TestServer::scripted(script.closing("Done."));
    let ana = copydesk.editor("Ana");
    ana.creates("a😀bc");
    for (name, _) in &cases {
        let run = ana.asks(name);
        assert_eq!(ana.answer(&run)["updateType"], "none", "{name}");
        let tool_results = ana.tool_results(&run);
        assert_eq!(tool_results[0]["content"], "Invalid selection range", "{name}");
        assert_eq!(tool_results[0]["is_error"], true, "{name}");
    }
    assert!(
        ana.saw("tool_approval_request").is_empty(),
        "no one was asked about what cannot be done"
    );
    assert_eq!(ana.text(), "a😀bc");
}

#[test]
fn an_empty_selection_inserts() {
    let copydesk = TestServer::scripted(Script::calling("update_selection", &selection(3, 3, "!")));
    let ana = copydesk.editor("Ana");
    ana.creates("a😀bc");
    ana.asks("Exclaim");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.text(), "a😀!bc");
}

#[test]
fn one_scalar_too_many_is_too_large() {
    // Astral characters: scalars are counted, not UTF-16 units and not bytes.
    let copydesk = TestServer::scripted(Script::rewriting(&"😀".repeat(100_001)));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Make it long");
    assert_eq!(ana.answer(&run)["updateType"], "none");
    let tool_result = &ana.tool_results(&run)[0];
    assert_eq!(
        (&tool_result["content"], &tool_result["is_error"]),
        (&json!("Content too large"), &json!(true))
    );
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn exactly_the_limit_is_not_too_large() {
    let long = "😀".repeat(100_000);
    let copydesk = TestServer::scripted(Script::rewriting(&long));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Make it long");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["updateType"], "full");
    assert_eq!(ana.text(), long);
}

#[test]
fn a_small_change_of_a_long_document_is_not_too_large() {
    let copydesk = TestServer::scripted(Script::calling(
        "update_selection",
        &selection(0, 0, &"y".repeat(11)),
    ));
    let ana = copydesk.editor("Ana");
    ana.creates(&"x".repeat(99_990));
    ana.asks("Add a little");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.text().len(), 100_001);
}

#[test]
fn no_tool_touches_a_frozen_range() {
    let script = Script::default()
        .answering("first", "update_selection", &selection(0, 3, "Two"))
        .answering("second", "update_selection", &selection(5, 8, "Three"))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let owner = copydesk.owner();
    let document = owner.creates("One. Two.\n");
    let frozen = json!({"version": 0, "ranges": [{"from": 0, "to": 4}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    let run = owner.asks("first");
    owner.answer(&run);
    assert_eq!(owner.tool_results(&run)[0]["permissionDecision"], "deny");
    owner.asks("second");
    owner.accepts_all(&owner.sees_request());
    assert_eq!(owner.text(), "One. Three.\n");
}

#[test]
fn the_model_is_told_which_frozen_words_it_tried_to_change() {
    let script = Script::rewriting("Uno. Dos.\n");
    let copydesk = TestServer::scripted(script);
    let owner = copydesk.owner();
    let document = owner.creates("One. Two.\n");
    let frozen = json!({"version": 0, "ranges": [{"from": 5, "to": 9}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    let run = owner.asks("Translate");
    owner.answer(&run);
    let tool_result = &owner.tool_results(&run)[0];
    assert_eq!(
        (&tool_result["is_error"], &tool_result["permissionDecision"]),
        (&json!(true), &json!("deny"))
    );
    assert!(
        tool_result["content"].as_str().unwrap().contains("units 5 to 9: \"Two.\""),
        "{tool_result}"
    );
    assert!(owner.saw("tool_approval_request").is_empty());
}

#[test]
fn whatever_tool_the_model_uses_only_the_selection_may_differ() {
    let script = Script::default()
        .answering(".", "update_full_document", &full("It was dark. She slept.\n"))
        .turn(json!({"when": {"tool_result": "only the selected text may be changed, units 0 to 20"}, "content": [
            {"type": "tool_use", "name": "update_full_document", "input": full("It was dark. The keeper slept.\n")}]}))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let selected = json!({"text": "It was a dark night.", "start": 0, "end": 20});
    let context = json!({"documentId": ana.document(), "selection": selected});
    let run = ana.asks_about("Shorter", &context);
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    let tool_results = ana.tool_results(&run);
    assert_eq!(
        (&tool_results[0]["is_error"], &tool_results[1]["is_error"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(ana.text(), "It was dark. The keeper slept.\n");
    assert_eq!(ana.saw("tool_approval_request").len(), 1);
}

#[test]
fn a_caret_is_no_selection() {
    let copydesk = TestServer::scripted(Script::rewriting("Night fell.\n"));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let caret = json!({"text": "", "start": 3, "end": 3});
    let context = json!({"documentId": ana.document(), "selection": caret});
    let run = ana.asks_about("Shorter", &context);
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    assert_eq!(ana.text(), "Night fell.\n");
}

#[test]
fn a_selection_that_is_out_of_date_is_refused_at_once() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let ask = |selection: Value| {
        let context = json!({"documentId": ana.document(), "selection": selection});
        let ask = json!({"sessionId": ana.session(), "prompt": "Hello", "context": context});
        ana.emit("askClaudeCode", &ask)
    };
    ask(json!({"text": "no such words", "start": 0, "end": 13})).refused_with("invalid_payload");
    ask(json!({"start": 0, "end": 1_000})).refused_with("invalid_payload");
    ask(json!({"start": 0, "end": 20})).ok();
}

#[test]
fn a_call_that_makes_no_sense_is_answered_and_the_run_goes_on() {
    let script = Script::default()
        .answering("^tool$", "delete_everything", &json!({}))
        .answering("^input$", "update_full_document", &json!({"new_content": 7}))
        .answering(
            "^field$",
            "update_full_document",
            &json!({"new_content": "x", "explanation": "e", "mode": "force"}),
        )
        .closing("Never mind.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    for (prompt, names) in
        [("tool", "update_full_document"), ("input", "new_content"), ("field", "mode")]
    {
        let run = ana.asks(prompt);
        assert_eq!(ana.answer(&run)["conversationMessage"], "Never mind.");
        let tool_result = &ana.tool_results(&run)[0];
        assert_eq!(tool_result["is_error"], true);
        assert!(
            tool_result["content"].as_str().unwrap().contains(names),
            "{prompt}: {tool_result}"
        );
    }
    assert_eq!(ana.text(), OPENING);
}
