//! Stories about the Claude CLI among several servers: a run stays where its document is, and asks
//! the CLI of the server that has one. People see and decide what they would see on one server.

use std::time::{Duration, Instant};

use copydesk::llm::ModelRequest;
use serde_json::{Value, json};

use crate::support::{
    ClaudeStandIn, OWNER, Person, Role, Script, Server, StoryDatabase, TestServer, executes, http,
};

/// How long something that all servers have to notice may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

const BEFORE: &str = "Teh keeper wrote.\n";
const AFTER: &str = "The keeper wrote.\n";
const MISSING: &str = "no server that has the Claude CLI is running at the moment";
/// A text that a server may have generated as a ticket.
const SECRET: &str = "cdk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn says(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn rewrites(text: &str) -> Value {
    let input = json!({"new_content": text, "explanation": "Spelling."});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": input});
    json!({"content": [{"type": "text", "text": "Let me see."}, call]})
}

/// Corrects the document, then says what came of it.
fn correcting() -> ClaudeStandIn {
    ClaudeStandIn::playing(&[(".", json!([rewrites(AFTER), says("Corrected.")]))])
}

/// Writes a word and hangs.
fn hanging() -> ClaudeStandIn {
    let hangs = json!([{"content": [{"type": "text", "text": "Well,"}], "hang": true}]);
    ClaudeStandIn::with(&json!({"child": true, "plays": [{"when": ".", "turns": hangs}]}))
}

/// A server of several without the CLI; `None` without PostgreSQL.
fn without_cli() -> Option<TestServer> {
    let plan = TestServer::plan().flags(&["--cluster"]).script(Script::talking());
    Some(plan.start_on(Some(StoryDatabase::on_postgres()?)))
}

/// A server without the CLI, and one with it.
fn two(cli: &ClaudeStandIn) -> Option<(TestServer, Server)> {
    let first = without_cli()?;
    let second = first.another_node_with_cli("second", cli);
    comes_to_be(&first, true);
    Some((first, second))
}

/// What a server offers its owner.
fn offers(server: &TestServer) -> (bool, bool) {
    let token = format!("Bearer {OWNER}");
    let headers = [("Host", server.address()), ("Authorization", token.as_str())];
    let me = http::ask(server.address(), "GET /api/v1/me", &headers);
    let me: Value = serde_json::from_str(&me.body).expect("JSON");
    let has = |list: &str, name: &str| {
        me[list].as_array().is_some_and(|all| all.iter().any(|it| it == name))
    };
    (has("permission_modes", "mcpProxy"), has("models", "claude-cli"))
}

/// Waits until a server offers the CLI, or does not any more.
fn comes_to_be(server: &TestServer, is_offered: bool) {
    let until = Instant::now() + PATIENCE;
    while offers(server) != (is_offered, is_offered) {
        assert!(Instant::now() < until, "offered: {:?}", offers(server));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until this is the mode of runs that name none.
fn comes_to_have_mode(person: &Person, mode: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        let settings = person.emit("settings:get", &json!({})).ok()["settings"].clone();
        if settings["permission_mode"] == mode {
            return;
        }
        assert!(Instant::now() < until, "{settings}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn question(person: &Person, prompt: &str) -> Value {
    json!({
        "sessionId": person.session(),
        "prompt": prompt,
        "permission_mode": "mcpProxy",
        "context": {"documentId": person.document()},
    })
}

/// Asks the CLI about the open document; the run.
fn asks(person: &Person, prompt: &str) -> String {
    let ack = person.emit("askClaudeCode", &question(person, prompt)).ok();
    ack["requestId"].as_str().expect("a run has a name").to_owned()
}

/// Ana, who writes a document on this server.
fn ana_writes(first: &TestServer) -> Person {
    let ana = first.editor("Ana");
    ana.creates(BEFORE);
    ana
}

fn editor_on(first: &TestServer, server: &Server, name: &str) -> Person {
    Person::arrive(&server.url, &first.token(name, Role::Editor, &[]), name)
}

fn arguments(cli: &ClaudeStandIn, number: usize) -> String {
    cli.noted("args")[number]["args"].to_string()
}

/// Waits until nothing of the CLI is left, longer than other stories do.
fn is_gone_in_the_end(cli: &ClaudeStandIn) {
    let until = Instant::now() + PATIENCE;
    while cli.alive() > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    cli.is_gone();
}

#[test]
fn a_change_of_another_servers_cli_is_decided_where_the_document_is() {
    let cli = correcting();
    let Some((first, _second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    let request = ana.sees_request_of(&run);
    assert_eq!(request.words(1), ("Teh".into(), "The".into()));
    assert_eq!(request["source"], "mcpProxy");
    assert_eq!((cli.noted("call").len(), ana.text()), (0, BEFORE.to_owned()));
    ana.accepts_all(&request);
    let answer = ana.answer(&run);
    ana.comes_to_read(AFTER);
    assert_eq!(answer["conversationMessage"], "Let me see.\nCorrected.");
    ana.saw_in_order(&[
        "claudeStreamStart",
        "claudeStreamChunk",
        "tool_approval_request",
        "claudeResponse",
    ]);
    // The process that made the call has waited for the decision.
    assert_eq!(
        (cli.noted("args").len(), cli.noted("call")[0]["isError"].clone()),
        (1, json!(false))
    );
    cli.is_gone();
}

#[test]
fn who_asks_on_the_server_with_the_cli_about_a_document_elsewhere_is_answered_too() {
    let cli = correcting();
    let Some((first, second)) = two(&cli) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = asks(&ben, "Fix the spelling");
    let request = ben.sees_request_of(&run);
    assert_eq!(ana.sees_request().id(), request.id());
    ana.rejects(&request, "It is a name");
    assert_eq!(ben.answer(&run)["updateType"], "none");
    let told = cli.noted("call").remove(0);
    assert!(told["result"].as_str().unwrap().starts_with("User rejected: It is a name"), "{told}");
    assert_eq!(ben.text(), BEFORE);
    cli.is_gone();
}

#[test]
fn the_cli_goes_on_with_its_conversation_and_is_told_all_of_it_where_it_knows_nothing() {
    let cli = ClaudeStandIn::playing(&[(".", json!([says("Fine.")]))]);
    let Some((first, _second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    for question in ["Is it fine?", "And now?"] {
        assert_eq!(ana.answer(&asks(&ana, question))["conversationMessage"], "Fine.");
    }
    assert!(arguments(&cli, 1).contains("--fork-session"), "{}", arguments(&cli, 1));
    let told = cli.noted("prompt").remove(1);
    assert!(!told["prompt"].as_str().unwrap().contains("Is it fine?"), "{told}");
    // As on another server that answers from now on.
    cli.forgets();
    assert_eq!(ana.answer(&asks(&ana, "Still?"))["conversationMessage"], "Fine.");
    let told = cli.noted("prompt").pop().unwrap();
    assert!(told["prompt"].as_str().unwrap().contains("Is it fine?"), "{told}");
}

#[test]
fn cancelling_ends_the_cli_on_the_other_server() {
    let cli = hanging();
    let Some((first, _second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    ana.sees("claudeStreamChunk");
    assert!(cli.alive() > 0);
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["conversationMessage"], "Well,");
    cli.is_gone();
}

#[test]
fn cancelling_while_people_are_asked_ends_the_cli_on_the_other_server() {
    let cli = correcting();
    let Some((first, _second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    let request = ana.sees_request_of(&run);
    assert!(cli.alive() > 0, "it waits for the decision");
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.sees_resolved(&request)["status"], "cancelled");
    cli.is_gone();
}

#[test]
fn when_the_server_with_the_cli_is_lost_the_run_fails_and_the_next_one_asks_another() {
    let cli = hanging();
    let Some((first, mut second)) = two(&cli) else { return };
    let other = correcting();
    let _third = first.another_node_with_cli("third", &other);
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    ana.sees("claudeStreamChunk");
    second.kill();
    let answer = ana.answer(&run);
    assert_eq!(answer["error"]["code"], "model_cut_off", "{answer}");
    assert_eq!((ana.text(), ana.pending().len()), (BEFORE.to_owned(), 0));
    // It waits until the other one answers for the CLI.
    let run = asks(&ana, "Fix the spelling");
    ana.accepts_all(&ana.sees_request_of(&run));
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    ana.comes_to_read(AFTER);
    // It does not know the conversation of the lost one, and was told all of it.
    let told = other.noted("prompt").pop().unwrap()["prompt"].as_str().unwrap().to_owned();
    assert!(told.contains("What was said before"), "{told}");
    assert_eq!(cli.noted("args").len(), 1);
}

#[test]
fn a_decision_reaches_the_next_server_with_the_cli_if_the_first_one_is_lost_meanwhile() {
    let cli = correcting();
    let Some((first, mut second)) = two(&cli) else { return };
    let other = ClaudeStandIn::playing(&[(".", json!([rewrites("Never."), says("Done.")]))]);
    let _third = first.another_node_with_cli("third", &other);
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    let request = ana.sees_request_of(&run);
    second.kill();
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nDone.");
    ana.comes_to_read(AFTER);
    let told = other.noted("prompt").pop().unwrap()["prompt"].as_str().unwrap().to_owned();
    assert!(told.contains("Fix the spelling") && told.contains("You were interrupted"), "{told}");
    assert!(told.contains("accepted"), "{told}");
}

#[test]
fn without_any_server_that_has_it_the_cli_is_refused_and_appears_when_one_comes() {
    let Some(first) = without_cli() else { return };
    let (ana, owner) = (first.editor("Ana"), first.owner());
    ana.creates(BEFORE);
    assert_eq!(offers(&first), (false, false));
    let modes = ana.registered()["permission_modes"].clone();
    assert_eq!(modes, json!(["toolApproval", "sdk"]));
    let refused = ana.emit("askClaudeCode", &question(&ana, "Fix it")).refused_with("unsupported");
    assert_eq!(refused["message"], MISSING);
    let mode = json!({"permission_mode": "mcpProxy"});
    owner.emit("settings:set", &mode).refused_with("unsupported");
    let cli = correcting();
    let mut second = first.another_node_with_cli("second", &cli);
    let changed = ana.sees("models:changed");
    assert_eq!(changed["permission_modes"], json!(["mcpProxy", "toolApproval", "sdk"]));
    assert!(changed["models"].as_array().unwrap().contains(&json!("claude-cli")), "{changed}");
    owner.emit("settings:set", &mode).ok();
    comes_to_have_mode(&ana, "mcpProxy");
    let run = ana.asks("Fix the spelling");
    ana.accepts_all(&ana.sees_request_of(&run));
    ana.answer(&run);
    ana.comes_to_read(AFTER);
    second.stop();
    assert_eq!(ana.sees("models:changed")["permission_modes"], modes);
    comes_to_have_mode(&ana, "sdk");
    let refused = ana.emit("askClaudeCode", &question(&ana, "Again")).refused_with("unsupported");
    assert_eq!(refused["message"], MISSING);
    // What an owner has chosen is in force again once it can be.
    let _third = first.another_node_with_cli("third", &cli);
    comes_to_have_mode(&ana, "mcpProxy");
}

#[test]
fn a_run_whose_cli_is_gone_for_good_ends_with_the_reason() {
    let cli = correcting();
    let Some((first, mut second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    let request = ana.sees_request_of(&run);
    second.stop();
    comes_to_be(&first, false);
    ana.accepts_all(&request);
    let answer = ana.answer(&run);
    let message = answer["error"]["message"].as_str().unwrap_or_default().to_lowercase();
    assert!(message.contains(&MISSING.to_lowercase()), "{answer}");
    // What people accepted stays.
    ana.comes_to_read(AFTER);
}

#[test]
fn the_cli_of_a_run_ends_some_time_after_the_server_of_the_run() {
    let cli = correcting();
    let Some((mut first, second)) = two(&cli) else { return };
    let ana = ana_writes(&first);
    let run = asks(&ana, "Fix the spelling");
    let request = ana.sees_request_of(&run);
    first.is_killed();
    is_gone_in_the_end(&cli);
    // The run itself waits on, and goes on where there is a CLI, too.
    let ana = ana.comes_back_to(&second.url);
    ana.opens(request["document_id"].as_str().unwrap());
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    ana.comes_to_read(AFTER);
}

#[test]
fn the_cli_of_another_server_can_be_the_default_model() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let plan = TestServer::plan().flags(&["--cluster"]).model("claude-cli");
    let first = plan.start_on(Some(database));
    let ana = ana_writes(&first);
    let context = json!({"documentId": ana.document()});
    let ask = json!({"sessionId": ana.session(), "prompt": "Hello", "context": context});
    assert_eq!(ana.emit("askClaudeCode", &ask).refused_with("unsupported")["message"], MISSING);
    let cli = ClaudeStandIn::playing(&[(".", json!([says("Hello.")]))]);
    let _second = first.another_node_with_cli("second", &cli);
    assert_eq!(ana.sees("models:changed")["models"][0], "claude-cli");
    assert_eq!(ana.answer(&ana.asks("Hello"))["conversationMessage"], "Hello.");
}

/// A file of `fixtures/tls`; `tests/it/tls.rs` says what they are.
fn fixture(name: &str) -> String {
    format!("{}/fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Ana, who writes a document over TLS, on a server without the CLI that trusts this authority.
fn ana_writes_over_tls(authority: &str) -> Option<(TestServer, Person)> {
    let database = StoryDatabase::on_postgres()?;
    let (certificate, key) = (fixture("first.pem"), fixture("first.key"));
    let plan = TestServer::plan().flags(&["--cluster", "--node-ca", &fixture(authority)]);
    let plan = plan.flags(&["--tls-certificate", &certificate, "--tls-key", &key]);
    let first = plan.start_on(Some(database));
    let token = first.token("Ana", Role::Editor, &[]);
    let auth = json!({"token": token, "name": "Ana", "protocol": 1});
    let trusted = std::fs::read_to_string(fixture("ca.pem")).unwrap();
    let options = json!({"auth": auth, "transports": ["websocket"], "ca": trusted});
    let ana = Person::connect(first.url(), &options);
    ana.creates(BEFORE);
    Some((first, ana))
}

#[test]
fn the_cli_of_another_server_is_asked_over_tls() {
    let cli = correcting();
    let Some((first, ana)) = ana_writes_over_tls("ca.pem") else { return };
    let second = first.another_node_with_cli("second", &cli);
    assert!(second.url.starts_with("https://"), "{}", second.url);
    ana.sees("models:changed");
    let run = asks(&ana, "Fix the spelling");
    ana.accepts_all(&ana.sees_request_of(&run));
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    ana.comes_to_read(AFTER);
    assert_eq!(cli.noted("call").len(), 1);
}

#[test]
fn a_server_whose_certificate_is_not_trusted_is_not_asked_for_its_cli_and_the_log_says_why() {
    let cli = correcting();
    // A certificate, but not of an authority of the others.
    let Some((first, ana)) = ana_writes_over_tls("second.pem") else { return };
    let second = first.another_node_with_cli("second", &cli);
    ana.sees("models:changed");
    let answer = ana.answer(&asks(&ana, "Fix the spelling"));
    assert_eq!(answer["error"]["code"], "model_unreachable", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("log has the cause"), "{answer}");
    let complaints = first.complaints();
    let line = complaints.lines().find(|line| line.contains(&second.url)).unwrap_or(&complaints);
    assert!(line.contains("invalid peer certificate: UnknownIssuer"), "{complaints}");
    assert_eq!((cli.noted("args").len(), ana.text()), (0, BEFORE.to_owned()));
}

/// A ticket as a server would have stored it some seconds ago.
fn stores_ticket(number: i64, secret: &str, (from, to): (&str, &str), age_s: u32) {
    executes(&format!(
        "INSERT INTO node_messages (node, number, message, told_at)
         SELECT asking, {number}, json_build_object('from', asking, 'number', {number}, 'news',
                 json_build_object('model_call', json_build_object('to', asked, 'hash',
                     encode(sha256('{secret}'), 'hex'))))::text,
             now() - make_interval(secs => {age_s})
         FROM ({from}) AS one (asking), ({to}) AS other (asked)"
    ));
}

/// Calls the CLI of a server with this ticket, as another server would.
fn calls(address: &str, ticket: &str) -> http::Response {
    let request = ModelRequest {
        messages: vec![copydesk::llm::messages_api::ChatMessage::user("Hello")],
        run: "s/r".into(),
        ..ModelRequest::default()
    };
    let body = serde_json::to_string(&request).unwrap();
    let json = ("Content-Type", "application/json");
    let headers = [("Host", address), json, ("x-copydesk-ticket", ticket)];
    http::send(address, "POST /internal/model-calls", &headers, &body)
}

#[test]
fn a_call_is_made_once_with_a_fresh_ticket_for_this_server_and_not_otherwise() {
    let cli = ClaudeStandIn::playing(&[(".", json!([says("Hello.")]))]);
    let Some((first, second)) = two(&cli) else { return };
    let place = second.address();
    let number = |url: &str| format!("SELECT number FROM nodes WHERE url = '{url}'");
    let (here, there) = (number(first.url()), number(&second.url));
    let secret = |last: char| format!("{}{last}", &SECRET[..SECRET.len() - 1]);
    stores_ticket(-1, &secret('1'), (&here, &there), 0);
    stores_ticket(-2, &secret('2'), (&here, &there), 31);
    stores_ticket(-3, &secret('3'), (&here, &here), 0);
    stores_ticket(-4, &secret('4'), ("SELECT 123456789::bigint", &there), 0);
    stores_ticket(-5, &secret('5'), (&there, &there), 0);
    for (last, why) in [
        ('0', "nobody has stored it"),
        ('2', "it is too old"),
        ('3', "it is for another server"),
        ('4', "no server that is there has stored it"),
        ('5', "the server itself calls nobody"),
    ] {
        let refused = calls(place, &secret(last));
        assert_eq!(refused.status, 403, "{why}: {}", refused.body);
        let problem: Value = serde_json::from_str(&refused.body).unwrap();
        assert_eq!(problem["code"], "not_allowed", "{why}");
    }
    let first_place = first.address();
    assert_eq!(calls(first_place, &secret('3')).status, 403, "it does not answer for the CLI");
    for nonsense in ["", "x", OWNER, &SECRET[..20], &format!("{SECRET}A"), "cdk_' OR 1 = 1"] {
        assert_eq!(calls(place, nonsense).status, 403, "{nonsense:?}");
    }
    assert!(cli.noted("args").is_empty(), "nothing runs");
    // The body of a refused call is not waited for.
    for (ticket, status) in [(None, 401), (Some(secret('0')), 403)] {
        let mut headers = vec![("Host", place), ("Content-Length", "1000000")];
        headers.extend(ticket.as_deref().map(|ticket| ("x-copydesk-ticket", ticket)));
        let began = Instant::now();
        assert_eq!(http::ask(place, "POST /internal/model-calls", &headers).status, status);
        assert!(began.elapsed() < Duration::from_secs(10));
    }
    let answer = calls(place, &secret('1'));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.body.contains(r#"{"delta":{"text":"Hello."}}"#), "{}", answer.body);
    assert!(answer.body.contains(r#"{"delta":{"done":"#), "{}", answer.body);
    assert_eq!(calls(place, &secret('1')).status, 403, "it was used");
    assert_eq!(cli.noted("args").len(), 1);
}

#[test]
fn a_server_that_is_the_only_one_has_no_route_for_others() {
    let cli = correcting();
    let copydesk = cli.plan().model("claude-cli").on_sqlite("the only server").start();
    let answer = calls(copydesk.address(), SECRET);
    assert!([404, 405].contains(&answer.status), "{answer:?}");
    let spec = http::get(copydesk.address(), "/api/v1/openapi.json").body;
    assert!(!spec.contains("model-calls"));
}
