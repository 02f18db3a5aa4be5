//! Choice of the model, the way to reach it, and what people learn of it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Person, Provider, Role, TestServer, found, python};

/// A server whose model is a local server that speaks chat completions.
fn local(provider: &Provider, model: &str) -> TestServer {
    TestServer::plan().model(model).variable("OPENAI_BASE_URL", &provider.url).start()
}

/// A server whose model is behind the Messages API.
fn rewrite(text: &str) -> Value {
    let input = json!({"new_content": text, "explanation": "Rewrote it."});
    json!({"type": "tool_use", "name": "update_full_document", "input": input})
}

#[test]
fn a_local_server_edits_a_document_like_any_other_model() {
    let words = json!({"type": "text", "text": "Done."});
    let provider = Provider::answering(vec![json!([rewrite("It was dark.\n")]), json!([words])]);
    let copydesk = local(&provider, "openai:story");
    let ana = copydesk.editor("Ana");
    ana.creates("It was very dark.\n");
    let run = ana.asks("Tighten this");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    ana.comes_to_read("It was dark.\n");
    let model_input = provider.asked(2)["messages"].as_array().cloned().expect("a conversation");
    let roles: Vec<_> =
        model_input.iter().map(|it| it["role"].as_str().unwrap_or_default()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(model_input[3]["tool_call_id"], model_input[2]["tool_calls"][0]["id"]);
}

#[test]
fn without_a_name_the_server_is_asked_which_model_it_has() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let copydesk = local(&provider, "openai");
    let ana = copydesk.editor("Ana");
    assert_eq!(ana.is_answered("Hello", &json!({}))["conversationMessage"], "Hello.");
    assert_eq!(provider.asked(1)["model"], "story:8b");
}

#[test]
fn arguments_that_are_no_json_are_refused_without_asking_anybody() {
    let mut broken = rewrite("x");
    broken["input"] = json!("{\"new_content\": oops}");
    let words = json!({"type": "text", "text": "Sorry."});
    let provider = Provider::answering(vec![json!([broken]), json!([words])]);
    let copydesk = local(&provider, "openai:story");
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    let run = ana.asks("Rewrite this");
    assert_eq!(ana.answer(&run)["conversationMessage"], "Sorry.");
    assert!(ana.saw("tool_approval_request").is_empty());
    let model_input = provider.asked(2)["messages"][3]["content"].as_str().map(str::to_owned);
    let model_input = model_input.expect("a result");
    assert!(
        model_input.starts_with("ERROR: Invalid input for update_full_document: invalid JSON"),
        "{model_input}"
    );
}

#[test]
fn people_are_offered_what_the_provider_has() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let copydesk = local(&provider, "openai:other");
    // The provider is asked while the server starts; a client that comes later sees its list.
    let token = copydesk.token("Ana", Role::Editor, &[]);
    let models = found(|| {
        let ana = Person::arrive(copydesk.url(), &token, "Ana");
        let models = ana.registered()["models"].clone();
        if models.as_array().map_or(0, Vec::len) > 2 { Ok(models) } else { Err(models) }
    });
    assert_eq!(models, json!(["openai:other", "openai:story:8b", "harper"]));
}

#[test]
fn each_question_may_name_its_model() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let copydesk = local(&provider, "openai:story");
    let ana = copydesk.editor("Ana");
    ana.creates("He could of slept.\n");
    let ask = |model: &str| {
        let context = json!({"documentId": ana.document()});
        let prompt = "Fix the grammar";
        let payload = json!({"sessionId": ana.session(), "prompt": prompt, "model": model, "context": context});
        ana.emit("askClaudeCode", &payload)
    };
    ana.answer(ask("openai:qwen3:8b").ok()["requestId"].as_str().expect("a run"));
    assert_eq!(provider.asked(1)["model"], "qwen3:8b");
    ask("harper").ok();
    ana.accepts_all(&ana.sees_request());
    ana.comes_to_read("He could have slept.\n");
    let refused = ask("gpt").refused();
    let words = refused["message"].as_str().unwrap_or_default().to_owned();
    assert!(words.starts_with("there is no model gpt; available: openai:story"), "{words}");
}

#[test]
fn what_a_run_used_is_told_with_its_end_and_remembered() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let mut copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    ana.answer(&ana.asks("What is this?"));
    let result = |it: &&Value| it["type"] == "result";
    let event = ana.saw("agent_event").iter().find(result).expect("an end")["content"].clone();
    let usage = json!({"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1});
    assert_eq!(event["usage"], usage);
    assert_eq!(
        (&event["model"], &event["cost_usd"]),
        (&json!("claude-sonnet-5-5"), &json!(0.000_012))
    );
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    let asked = json!({"sessionId": ana.session(), "documentId": ana.document()});
    let entries = ana.emit("transcript:get", &asked).ok()["entries"].clone();
    let entries = entries.as_array().expect("a transcript");
    assert_eq!(entries.iter().find(result).expect("an end")["content"], event);
}

#[test]
fn a_price_in_a_file_counts_instead_of_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prices.toml");
    let price =
        "[models]\nclaude-sonnet-5-5 = { input = 1, cached = 0, written = 0, output = 3 }\n";
    std::fs::write(&file, price).unwrap();
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let flags = ["--prices", file.to_str().unwrap()];
    let copydesk = TestServer::plan().provider(&provider).flags(&flags).start();
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    ana.answer(&ana.asks("What is this?"));
    let result = |it: &&Value| it["type"] == "result";
    let end = ana.saw("agent_event").iter().find(result).expect("an end")["content"].clone();
    // One token was sent and one received.
    assert_eq!(end["cost_usd"], json!(0.000_004));
}

/// Two changes and an answer at once, one change rejected, a second question: everything a request
/// can hold.
fn conversation() -> Vec<Value> {
    let change = |start: usize, end: usize, text: &str| {
        let range = json!({"start": start, "end": end});
        let input = json!({"new_text": text, "selection_range": range, "explanation": "Shorter."});
        json!({"type": "tool_use", "name": "update_selection", "input": input})
    };
    let answer = json!({"type": "tool_use", "name": "respond_conversation_only", "input": {"response": "Both."}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let thought = json!({"type": "thinking", "thinking": "Two words too many."});
    vec![
        json!([thought, text("Two changes."), change(3, 6, "is"), change(7, 11, "late"), answer]),
        json!([text("Done.")]),
        json!([text("You are welcome.")]),
        json!([text("A long text.")]),
    ]
}

fn holds_the_conversation(ana: &Person) {
    ana.creates("It was dark.\n");
    let run = ana.asks("Tighten this");
    ana.accepts_all(&ana.sees_request());
    ana.rejects(&ana.sees_request(), "No.");
    ana.answer(&run);
    ana.answer(&ana.asks("Thank you"));
    // So long that its tokens are counted first.
    ana.creates(&"été ".repeat(60_000));
    ana.answer(&ana.asks("What is this?"));
}

#[test]
fn requests_are_what_the_providers_own_types_allow() {
    let claude = Provider::answering(conversation());
    holds_the_conversation(&TestServer::behind(&claude).editor("Ana"));
    let others = Provider::answering(conversation());
    holds_the_conversation(&local(&others, "openai:story").editor("Ana"));
    let thought = &claude.asked(2)["messages"][1]["content"][0];
    assert_eq!((&thought["type"], &thought["signature"]), (&json!("thinking"), &json!("c2VhbA==")));
    let results = claude.asked(2)["messages"][2]["content"].as_array().map_or(0, Vec::len);
    assert_eq!(results, 3, "all results in one message");
    assert_eq!(claude.counted().len(), 1, "only the long text is counted");

    let lines = |api: &'static str, bodies: Vec<Value>| {
        bodies.into_iter().map(move |body| json!({"api": api, "body": body}).to_string() + "\n")
    };
    let requests: String = lines("messages", claude.all_asked())
        .chain(lines("count_tokens", claude.counted()))
        .chain(lines("chat", others.all_asked()))
        .collect();
    let Some(python) = python("requests to providers against their SDKs") else { return };
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/validate.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    let mut input = child.stdin.take().expect("stdin is piped");
    input.write_all(requests.as_bytes()).expect("the script reads");
    drop(input);
    let output = child.wait_with_output().expect("the script ends");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let counts: Value = serde_json::from_slice(&output.stdout).expect("counts");
    assert_eq!(counts, json!({"messages": 4, "count_tokens": 1, "chat": 4}));
}
