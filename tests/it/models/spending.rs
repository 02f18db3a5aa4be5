//! Spending limits: who pays for a call of a model, which limit refuses the next one, and what
//! owners are shown.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::support::messages_client::MessagesClient;
use crate::support::{
    OWNER, Person, Provider, RestClient, Role, StoryDatabase, TestServer, copydesk_command, found,
};

/// Cost of an answer of [`Provider`], which uses a token of input and one of output: 25 and 50
/// cents in [`prices`].
const CALL: f64 = 0.75;

/// An address for documentation, at which no server answers.
const ELSEWHERE: &str = "http://192.0.2.1:9/v1";

/// A price list for the model `story`.
fn prices() -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("there is room for a file");
    let story = "story = { input = 250_000, cached = 0, written = 0, output = 500_000 }";
    write!(file, "[models]\n{story}\n").expect("there is room for prices");
    file
}

fn words(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A server whose only model has a price.
fn priced_server(provider: &Provider, prices: &NamedTempFile) -> TestServer {
    let path = prices.path().display().to_string();
    let plan = TestServer::plan().provider(provider).model("anthropic:story,harper");
    plan.variable("COPYDESK_PRICES", &path).start()
}

fn spending(owner: &Person) -> Value {
    owner.emit("spending:get", &json!({})).ok()
}

/// The line of a person or document.
fn line(list: &Value, id: &str) -> Value {
    let lines = list.as_array().expect("a list");
    lines.iter().find(|line| line["id"] == id).cloned().unwrap_or_default()
}

fn limits(owner: &Person, kind: &str, id: Option<&str>, usd: Value) -> Value {
    let mut wish = json!({"for": kind, "usd": usd});
    if let Some(id) = id {
        wish["id"] = json!(id);
    }
    owner.emit("spending:limit", &wish).ok()
}

fn is(value: &Value, usd: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - usd).abs() < 1e-9)
}

/// Asks about the person's document; returns the code of the error, and the message.
fn asks(person: &Person) -> (String, String) {
    let answer = person.answer(&person.asks("Hello"));
    let text = |field: &str| answer["error"][field].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"))
}

fn user(person: &Person) -> String {
    person.user()["id"].as_str().expect("a person").to_owned()
}

#[test]
fn a_thread_says_that_a_question_in_it_was_beyond_the_limit_of_who_asked() {
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let copydesk = priced_server(&provider, &prices);
    let (owner, ana) = (copydesk.owner(), copydesk.editor_with("Ana", &["comments"]));
    let document = ana.creates("It was dark.\n");
    limits(&owner, "person", Some(&user(&ana)), json!(CALL));
    let answered = || {
        let wish = json!({"documentId": document, "text": "@AI?", "mentions": ["ai"]});
        let run = ana.emit("comment:create", &wish).ok()["thread"]["requestId"].clone();
        let changed = ana.sees_where("comment:changed", |it| {
            it["thread"]["requestId"] == run && it["thread"]["comments"][1].is_object()
        });
        changed["thread"]["comments"][1].clone()
    };
    assert_eq!(answered()["text"], "Hello.");
    let refused = answered();
    assert_eq!(refused["reasonCode"], "spending_limit");
    let text = refused["text"].as_str().expect("words");
    assert!(text.starts_with("Your spending limit ($0.75 a month) is reached"), "{text}");
    assert_eq!(provider.all_asked().len(), 1);
}

#[test]
fn a_person_who_has_spent_their_limit_is_refused_before_the_provider_is_asked() {
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let copydesk = priced_server(&provider, &prices);
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("It was dark.\n");
    ben.opens(&document);
    let set = limits(&owner, "person", Some(&user(&ana)), json!(CALL));
    let known = line(&set["people"], &user(&ana));
    assert!(is(&known["limitUsd"], CALL) && is(&known["usd"], 0.0) && known["name"] == "Ana");
    assert_eq!(asks(&ana).0, "", "nothing was spent yet");
    let month = spending(&owner)["month"].as_str().expect("a month").to_owned();
    let (code, message) = asks(&ana);
    assert_eq!(code, "spending_limit");
    assert!(
        message.starts_with("Your spending limit ($0.75 a month) is reached; it renews on 1 "),
        "{message}"
    );
    let result = |it: &&Value| it["type"] == "result";
    let event = ana.saw("agent_event").iter().rfind(result).expect("an end").clone();
    assert_eq!(event["subtype"], "limit");
    assert_eq!(event["content"]["reasonCode"], "spending_limit");
    assert_eq!(provider.all_asked().len(), 1);
    // Others have limits of their own, and the built-in editor costs nothing.
    assert_eq!(asks(&ben).0, "");
    let context = json!({"documentId": document});
    let payload = json!({"sessionId": ana.session(), "prompt": "Fix the grammar", "model": "harper", "context": context});
    let run = ana.emit("askClaudeCode", &payload).ok()["requestId"].clone();
    assert_eq!(ana.answer(run.as_str().expect("a run"))["error"], Value::Null);
    // More is allowed, and then anything.
    limits(&owner, "person", Some(&user(&ana)), json!(2.0 * CALL));
    assert_eq!(asks(&ana).0, "");
    assert_eq!(asks(&ana).0, "spending_limit");
    limits(&owner, "person", Some(&user(&ana)), Value::Null);
    assert_eq!(asks(&ana).0, "");
    let sums = spending(&owner);
    let (of_ana, of_ben) = (line(&sums["people"], &user(&ana)), line(&sums["people"], &user(&ben)));
    assert!(is(&of_ana["usd"], 3.0 * CALL) && of_ana["calls"] == 3, "{sums}");
    assert!(is(&of_ben["usd"], CALL) && of_ben["tokens"] == 2, "{sums}");
    let of_document = line(&sums["documents"], &document);
    assert!(is(&of_document["usd"], 4.0 * CALL) && is(&sums["usd"], 4.0 * CALL), "{sums}");
    assert_eq!(sums["month"], month.as_str());
}

#[test]
fn a_limit_that_is_reached_during_a_run_stops_it_at_its_next_call() {
    let input = json!({"new_content": "It was dark.\n", "explanation": "Shorter."});
    let rewrite = json!([{"type": "tool_use", "name": "update_full_document", "input": input}]);
    let (provider, prices) = (Provider::answering(vec![rewrite, words("Done.")]), prices());
    let copydesk = priced_server(&provider, &prices);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.creates("It was very dark.\n");
    limits(&owner, "document", Some(&ana.document()), json!(0.01));
    let run = ana.asks("Tighten this");
    ana.accepts_all(&ana.sees_request());
    let answer = ana.answer(&run);
    assert_eq!(answer["error"]["code"], "spending_limit", "{answer}");
    let message = answer["error"]["message"].as_str().expect("words");
    assert!(
        message.starts_with("The spending limit of this document ($0.01 a month)"),
        "{message}"
    );
    ana.comes_to_read("It was dark.\n");
    assert_eq!(provider.all_asked().len(), 1);
    // Another document is another matter, and so is this one once the limit is gone.
    ana.creates("Elsewhere.\n");
    assert_eq!(asks(&ana).0, "");
}

#[test]
fn a_limit_for_everyone_counts_each_person_alone_and_the_servers_counts_all() {
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let mut copydesk = priced_server(&provider, &prices);
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("It was dark.\n"));
    let set = limits(&owner, "everyone", None, json!(CALL));
    assert!(is(&set["personLimitUsd"], CALL) && set["limitUsd"] == Value::Null, "{set}");
    assert_eq!([asks(&ana).0, asks(&ben).0], ["", ""]);
    let (code, message) = asks(&ana);
    assert_eq!(code, "spending_limit");
    assert!(message.starts_with("The spending limit of each person ($0.75 a month)"), "{message}");
    // A limit of one's own comes first, also a higher one.
    limits(&owner, "person", Some(&user(&ana)), json!(100));
    assert_eq!([asks(&ana).0, asks(&ben).0], ["", "spending_limit"]);
    // What was spent and what was set outlive the server.
    copydesk.is_killed_and_restarted();
    let (owner, ana, ben) =
        (copydesk.owner(), ana.comes_back(&copydesk), ben.comes_back(&copydesk));
    assert_eq!([asks(&ana).0, asks(&ben).0], ["", "spending_limit"]);
    let set = limits(&owner, "server", None, json!(4.0 * CALL));
    assert!(is(&set["limitUsd"], 4.0 * CALL) && is(&set["usd"], 4.0 * CALL), "{set}");
    let (code, message) = asks(&ana);
    assert_eq!(code, "spending_limit");
    assert!(message.starts_with("The spending limit of this server ($3.00 a month)"), "{message}");
    assert_eq!(provider.all_asked().len(), 4);
}

#[test]
fn a_program_of_the_messages_api_pays_and_is_refused_like_a_person() {
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let copydesk = priced_server(&provider, &prices);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = ana.creates("It was dark.\n");
    let program = MessagesClient::with(&copydesk, &ana.token);
    program.opts_in(&json!(["document"]));
    let about = program.clone().header("x-copydesk-document", &document);
    let hello = json!([{"role": "user", "content": "Hello"}]);
    let asks =
        |program: &MessagesClient| program.asks(&hello, &json!({"model": "anthropic:story"}));
    asks(&program).ok();
    asks(&about).ok();
    let sums = spending(&owner);
    assert!(is(&line(&sums["documents"], &document)["usd"], CALL), "{sums}");
    assert!(is(&line(&sums["people"], &user(&ana))["usd"], 2.0 * CALL), "{sums}");
    let without = sums["documents"].as_array().expect("a list").iter();
    assert!(without.filter(|it| it["id"] == Value::Null).all(|it| is(&it["usd"], CALL)), "{sums}");
    limits(&owner, "document", Some(&document), json!(CALL));
    let refused = asks(&about);
    let details = refused.body["error"]["details"].clone();
    assert_eq!(
        (&details["error_code"], &details["limit"]),
        (&json!("spending_limit"), &json!("document"))
    );
    assert_eq!(details["renews_at"], sums["renewsAt"]);
    let message = refused.refused(402, "billing_error");
    assert!(
        message.starts_with("The spending limit of this document ($0.75 a month)"),
        "{message}"
    );
    asks(&program).ok();
    limits(&owner, "person", Some(&user(&ana)), json!(1));
    let message = asks(&program).refused(402, "billing_error");
    assert!(message.starts_with("Your spending limit ($1.00 a month)"), "{message}");
    // As a stream it has the same status: nothing was sent yet.
    let streamed = program.streams(&hello, &json!({"model": "anthropic:story"}));
    assert!(streamed.head.contains(" 402 "), "{}", streamed.head);
    assert_eq!(provider.all_asked().len(), 3);
    // Counting tokens costs nothing.
    let count = json!({"model": "anthropic:story", "messages": hello}).to_string();
    program.call("POST /v1/messages/count_tokens", &count).ok();
}

/// A provider that sends these events to everybody and then falls silent; returns its address.
fn provider_that_falls_silent(events: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(format!("{head}{events}").as_bytes()).ok();
            kept.push(stream);
        }
    });
    url
}

/// Reads the first words of an answer and hangs up; waits until the owner learns what it has cost.
fn hangs_up_and_pays(copydesk: &TestServer, model: &str, usd: impl Fn(f64) -> bool) {
    let owner = copydesk.owner();
    let program = MessagesClient::with(copydesk, OWNER);
    let hello = json!([{"role": "user", "content": "Hello"}]);
    let mut events = program.streams(&hello, &json!({"model": model}));
    assert!(events.any(|event| event["type"] == "content_block_delta"));
    drop(events);
    found(|| {
        let answer = spending(&owner);
        if answer["usd"].as_f64().is_some_and(&usd) { Ok(()) } else { Err(answer) }
    });
}

#[test]
fn a_program_that_hangs_up_pays_for_what_was_used() {
    // A provider that counts the input at the start.
    let usage = json!({"input_tokens": 3, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "story", "stop_reason": null, "stop_sequence": null, "usage": usage});
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": "Hel"});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
    ];
    let named = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    let url = provider_that_falls_silent(events.iter().map(named).collect());
    let prices = prices();
    let plan =
        TestServer::plan().model("anthropic:story").variable("ANTHROPIC_API_KEY", "sk-story");
    let plan = plan.variable("ANTHROPIC_BASE_URL", &url);
    let copydesk = plan.variable("COPYDESK_PRICES", &prices.path().display().to_string()).start();
    // Three tokens of input and one of output.
    hangs_up_and_pays(&copydesk, "anthropic:story", |usd| (usd - 1.25).abs() < 1e-9);
}

#[test]
fn a_program_that_hangs_up_pays_by_length_where_nothing_was_counted_yet() {
    // A provider that counts only at the end.
    let words = "word ".repeat(80);
    let choice = json!({"index": 0, "delta": {"role": "assistant", "content": words}});
    let chunk = json!({"id": "c_1", "object": "chat.completion.chunk", "model": "story",
        "choices": [choice]});
    let url = provider_that_falls_silent(format!("data: {chunk}\n\n"));
    let prices = prices();
    let plan = TestServer::plan().model("openai:story").variable("OPENAI_API_KEY", "sk-story");
    let plan = plan.variable("OPENAI_BASE_URL", &url);
    let copydesk = plan.variable("COPYDESK_PRICES", &prices.path().display().to_string()).start();
    // 400 characters are 100 tokens of output; the question is a few of input.
    hangs_up_and_pays(&copydesk, "openai:story", |usd| (50.25..60.0).contains(&usd));
}

/// A provider that takes a request and never answers; returns its address, and a receiver of the
/// moments at which requests arrived.
fn provider_that_says_nothing() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (seen, arrived) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let mut line = String::new();
            let begin = reader.read_line(&mut line).map(|_| line.clone()).unwrap_or_default();
            line.clear();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            // It has no list of models.
            if !begin.starts_with("POST ") {
                let mut stream = &stream;
                stream.write_all(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n").ok();
                continue;
            }
            seen.send(()).ok();
            kept.push(stream);
        }
    });
    (url, arrived)
}

#[test]
fn what_is_stopped_before_the_first_word_pays_for_the_request() {
    for (name, key, address) in [
        ("anthropic:story", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("openai:story", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ] {
        let (url, arrived) = provider_that_says_nothing();
        let prices = prices();
        let plan = TestServer::plan().model(name).variable(key, "sk-story").variable(address, &url);
        let path = prices.path().display().to_string();
        let copydesk = plan.variable("COPYDESK_PRICES", &path).start();
        let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
        ana.creates(&"word ".repeat(4_000));
        let run = ana.asks("Hello");
        let has_it = arrived.recv_timeout(Duration::from_secs(30));
        has_it.expect("the provider gets the request");
        ana.emit("cancel", &json!({"requestId": run})).ok();
        // 20,000 characters are 5,000 tokens of input, at 25 cents each.
        found(|| {
            let answer = spending(&owner);
            let is_paid = answer["usd"].as_f64().is_some_and(|usd| usd >= 1_250.0);
            if is_paid { Ok(()) } else { Err((name, answer)) }
        });
    }
}

#[test]
fn a_request_that_the_provider_refuses_costs_nothing() {
    let refusal = json!({"status": 400, "body": {"type": "error",
        "error": {"type": "invalid_request_error", "message": "No"}}});
    let (provider, prices) = (Provider::answering(vec![refusal]), prices());
    let copydesk = priced_server(&provider, &prices);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.creates("It was dark.\n");
    assert_eq!(asks(&ana).0, "model_refused_request");
    assert!(is(&spending(&owner)["usd"], 0.0), "{}", spending(&owner));
}

#[test]
fn a_model_without_a_price_counts_as_nothing_and_owners_are_told() {
    let provider = Provider::answering(vec![words("Hello.")]);
    let plan = TestServer::plan().provider(&provider).model("anthropic:unlisted");
    let copydesk = plan.start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.creates("It was dark.\n");
    limits(&owner, "everyone", None, json!(0));
    // Without a price, a model on this machine costs nothing.
    assert_eq!(asks(&ana).0, "");
    let sums = spending(&owner);
    assert!(is(&sums["usd"], 0.0), "{sums}");
    assert_eq!(sums["unpriced"], json!([{"model": "unlisted", "calls": 1, "tokens": 2}]));
    assert_eq!(line(&sums["people"], &user(&ana))["unpricedCalls"], 1);
}

#[test]
fn a_model_elsewhere_without_a_price_is_refused_too_once_a_limit_is_reached() {
    let plan = TestServer::plan().model("openai:far").variable("OPENAI_BASE_URL", ELSEWHERE);
    let copydesk = plan.start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.creates("It was dark.\n");
    limits(&owner, "server", None, json!(0));
    assert_eq!(asks(&ana).0, "spending_limit");
}

#[test]
fn what_is_no_limit_is_refused_and_changes_nothing() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let before = limits(&owner, "server", None, json!(5.5));
    for (wrong, code) in [
        (json!({"for": "server"}), "invalid_payload"),
        (json!({"for": "server", "usd": "5"}), "invalid_payload"),
        (json!({"for": "server", "usd": -1}), "invalid_payload"),
        (json!({"for": "server", "usd": 1e300}), "invalid_payload"),
        (json!({"for": "server", "id": "doc_1", "usd": 5}), "invalid_payload"),
        (json!({"for": "nobody", "usd": 5}), "invalid_payload"),
        (json!({"for": "person", "usd": 5}), "invalid_payload"),
        (json!({"for": "person", "id": "usr_none", "usd": 5}), "not_found"),
        (json!({"for": "document", "id": "doc_none", "usd": 5}), "not_found"),
        (json!({"for": "document", "id": "", "usd": 5}), "invalid_payload"),
        (json!({"for": "server", "usd": 5, "month": "2026-11"}), "invalid_payload"),
        (json!([]), "invalid_payload"),
    ] {
        owner.ack(owner.send_args("spending:limit", &json!([wrong]))).refused_with(code);
    }
    for month in ["", "2026", "2026-13", "november", "2026-11-01"] {
        let ack = owner.emit("spending:get", &json!({"month": month}));
        ack.refused_with("invalid_payload");
    }
    assert_eq!(spending(&owner)["limitUsd"], before["limitUsd"]);
    // A limit of something that is gone can still be removed, as often as anybody likes.
    for _ in 0..2 {
        limits(&owner, "document", Some("doc_none"), Value::Null);
    }
    let ana = copydesk.editor("Ana");
    let document = owner.creates("Soon gone.");
    limits(&owner, "document", Some(&document), json!(1.5));
    owner.emit("document:delete", &json!({"documentId": document})).ok();
    let again = json!({"for": "document", "id": document, "usd": 2.5});
    owner.emit("spending:limit", &again).refused_with("not_found");
    limits(&owner, "document", Some(&document), Value::Null);
    for event in ["spending:get", "spending:limit"] {
        let payload =
            if event == "spending:get" { json!({}) } else { json!({"for": "server", "usd": null}) };
        ana.emit(event, &payload).refused_with("not_allowed");
    }
}

#[test]
fn programs_read_and_set_limits_and_the_audit_log_has_who_did() {
    let copydesk = TestServer::quiet();
    let hand = RestClient::new(&copydesk, OWNER);
    let put = |body: &Value| hand.says("PUT /api/v1/spending/limits", &[], &body.to_string());
    let set = put(&json!({"for": "everyone", "usd": 12.5})).ok();
    assert!(is(&set["personLimitUsd"], 12.5), "{set}");
    put(&json!({"for": "everyone", "usd": -1})).refused_with(422, "invalid_request");
    put(&json!({"for": "person", "id": "usr_none", "usd": 1})).refused_with(404, "not_found");
    hand.gets("spending?month=2026-13").refused_with(400, "invalid_request");
    let past = hand.gets("spending?month=2020-02").ok();
    assert_eq!(
        (&past["month"], &past["renewsAt"]),
        (&json!("2020-02"), &json!("2020-03-01T00:00:00.000Z"))
    );
    let log = hand.gets("audit").ok();
    let entry = &log["lines"][0];
    assert_eq!(entry["action"], "spending.limit_set", "{log}");
    assert_eq!(entry["detail"], json!({"for": "everyone", "id": "", "usd": 12.5}));
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    ana.gets("spending").refused_with(403, "not_allowed");
}

#[test]
fn the_command_line_shows_spending_and_sets_limits() {
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let copydesk = priced_server(&provider, &prices);
    let ana = copydesk.editor("Ana");
    ana.creates("It was dark.\n");
    asks(&ana);
    let run = |more: &[&str]| {
        let output = copydesk_command()
            .args(["spending", "--url", copydesk.url(), "--token", OWNER])
            .args(more)
            .output()
            .expect("the binary is built");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, said, _) = run(&["--limit", "20", "--person", &user(&ana)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("$0.75") && said.contains("$20.00") && said.contains("Ana"), "{said}");
    let (code, said, _) = run(&["--json"]);
    assert_eq!(code, Some(0));
    let read: Value = serde_json::from_str(&said).expect("JSON");
    assert!(is(&read["usd"], CALL), "{said}");
    let (_, said, _) = run(&["--limit", "none", "--person", &user(&ana), "--json"]);
    let read: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(line(&read["people"], &user(&ana))["limitUsd"], Value::Null);
    for wrong in ["much", "nan", "inf", "-1", ""] {
        let wrong = format!("--limit={wrong}");
        assert_eq!(run(&[&wrong, "--everyone"]).0, Some(1), "{wrong}");
    }
    assert_eq!(run(&["--limit", "5"]).0, Some(2), "a limit for whom?");
    assert_eq!(run(&["--everyone"]).0, Some(2), "which limit?");
    assert_eq!(run(&["--limit", "5", "--everyone", "--whole-server"]).0, Some(2));
}

#[test]
fn what_was_spent_on_one_server_counts_on_the_other() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let (provider, prices) = (Provider::answering(vec![words("Hello.")]), prices());
    let plan = TestServer::plan().provider(&provider).model("anthropic:story");
    let plan = plan.variable("COPYDESK_PRICES", &prices.path().display().to_string());
    let first = plan.flags(&["--cluster"]).start_on(Some(database));
    let second = first.another_node();
    let owner = Person::arrive(&second.url, OWNER, "Owner");
    let token = first.token("Ana", Role::Editor, &[]);
    let here = Person::arrive(first.url(), &token, "Ana");
    let there = Person::arrive(&second.url, &token, "Ana");
    limits(&owner, "everyone", None, json!(CALL));
    here.creates("It was dark.\n");
    assert_eq!(asks(&here).0, "");
    there.creates("It was dark elsewhere.\n");
    assert_eq!(asks(&there).0, "spending_limit");
    assert!(is(&spending(&owner)["usd"], CALL));
    assert_eq!(provider.all_asked().len(), 1);
}
