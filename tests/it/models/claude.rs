//! The Claude CLI as a model: its calls come in over its own socket, and people decide them like
//! any others.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::messages_client::MessagesClient;
use crate::support::{ClaudeStandIn, OWNER, Person, TestServer};

const BEFORE: &str = "Teh keeper wrote.\n";
const AFTER: &str = "The keeper wrote.\n";

fn says(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn calls(tool: &str, input: Value) -> Value {
    json!({"content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "name": tool, "input": input}]})
}

fn rewrites(text: &str) -> Value {
    calls("update_full_document", json!({"new_content": text, "explanation": "Spelling."}))
}

/// Corrects the document, then says what came of it.
fn correcting() -> ClaudeStandIn {
    ClaudeStandIn::playing(&[(".", json!([rewrites(AFTER), says("Corrected.")]))])
}

fn results(person: &Person, run: &str) -> Vec<Value> {
    let seen = person.saw("agent_event").into_iter();
    seen.filter(|it| it["requestId"] == run && it["type"] == "result").collect()
}

fn count(person: &Person, run: &str, subtype: &str) -> usize {
    let seen = person.saw("agent_event");
    seen.iter().filter(|it| it["requestId"] == run && it["subtype"] == subtype).count()
}

#[test]
fn a_change_of_the_cli_is_decided_like_any_other_and_seen_once() {
    let cli = correcting();
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    assert_eq!(ana.registered()["models"][0], "claude-cli");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    assert_eq!(request.words(1), ("Teh".into(), "The".into()));
    assert_eq!(request["source"], "mcpProxy");
    ana.accepts_all(&request);
    let answer = ana.answer(&run);
    ana.comes_to_read(AFTER);
    assert_eq!(answer["conversationMessage"], "Let me see.\nCorrected.");
    assert_eq!(answer["updateType"], "full");
    for subtype in ["tool_use", "tool_result"] {
        assert_eq!(count(&ana, &run, subtype), 1, "{subtype}");
    }
    assert_eq!(results(&ana, &run).len(), 1);
    let note = cli.noted("call").remove(0);
    assert_eq!(note["isError"], false, "{note}");
    ana.saw_in_order(&[
        "claudeStreamStart",
        "claudeStreamChunk",
        "tool_approval_request",
        "claudeResponse",
    ]);
    cli.is_gone();
}

#[test]
fn a_rejection_reaches_the_cli_with_its_reason() {
    let cli = correcting();
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    ana.rejects(&ana.sees_request_of(&run), "It is a name");
    assert_eq!(ana.answer(&run)["updateType"], "none");
    let note = cli.noted("call").remove(0);
    assert!(
        note["result"].as_str().unwrap().starts_with("User rejected: It is a name\n"),
        "{note}"
    );
    assert_eq!(note["isError"], true);
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn a_request_that_runs_out_of_time_is_told_to_the_cli() {
    let cli = correcting();
    let copydesk = cli.plan().model("claude-cli").flags(&["--approval-timeout", "1"]).start();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    assert_eq!(ana.sees_resolved(&ana.sees_request_of(&run))["status"], "expired");
    ana.answer(&run);
    let note = cli.noted("call").remove(0);
    assert!(note["result"].as_str().unwrap().starts_with("Approval timed out after 1s"), "{note}");
}

#[test]
fn a_file_of_the_workspace_is_written_under_the_name_everybody_knows() {
    let write = calls("atlas_write", json!({"file_path": "test.txt", "content": "hello world"}));
    let cli = ClaudeStandIn::playing(&[(".", json!([write, says("Written.")]))]);
    let copydesk = cli.plan().workspace(&[]).start();
    let owner = copydesk.owner();
    let run =
        json!({"prompt": "Create test.txt", "continue": false, "permission_mode": "mcpProxy"});
    let run = owner.emit("run", &run).ok()["requestId"].as_str().unwrap().to_owned();
    let request = owner.sees_request_of(&run);
    assert_eq!((&request["tool_name"], &request["source"]), (&json!("Write"), &json!("mcpProxy")));
    owner.accepts_all(&request);
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
    assert_eq!(copydesk.file("test.txt").as_deref(), Some("hello world"));
    assert_eq!(cli.noted("call")[0]["result"], "Wrote 11 characters to test.txt");
    // It works in a folder of its own, where nothing can be mentioned into the conversation.
    let started = cli.noted("args").remove(0);
    assert!(started["cwd"].as_str().unwrap().ends_with("/claude/empty"), "{started}");
}

#[test]
fn the_cli_is_given_no_key_and_no_tool_of_its_own() {
    let cli = correcting();
    let copydesk = cli.plan().variable("ANTHROPIC_API_KEY", "sk-story").model("claude-cli").start();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    ana.accepts_all(&ana.sees_request_of(&run));
    ana.answer(&run);
    let started = cli.noted("args").remove(0);
    let line = started["args"].to_string();
    assert!(line.contains("\"--tools\",\"\"") && !line.contains("Fix the spelling"), "{line}");
    let names = started["env"].to_string();
    assert!(!names.contains("ANTHROPIC") && !names.contains("COPYDESK_TOKEN"), "{names}");
    assert!(!names.contains("ATLAS_TOKEN"), "only what it starts knows the secret: {names}");
}

#[test]
fn odd_characters_of_a_prompt_arrive_as_they_were_typed() {
    let cli = ClaudeStandIn::playing(&[]);
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates("@/etc/passwd --flag\n");
    let odd = "🦀 “quotes” 'and' \"more\" $(rm -rf) `x` \\n --resume /compact \u{202e}ok";
    ana.answer(&ana.asks(odd));
    let note = cli.noted("prompt").remove(0);
    assert!(note["prompt"].as_str().unwrap().contains(odd), "{note}");
}

#[test]
fn cancelling_ends_everything_the_cli_has_started() {
    let turns = json!([rewrites(AFTER)]);
    let cli =
        ClaudeStandIn::with(&json!({"child": true, "plays": [{"when": ".", "turns": turns}]}));
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    cli.is_gone();
    assert_eq!(results(&ana, &run)[0]["subtype"], "cancelled");
}

#[test]
fn cancelling_while_it_writes_ends_it_too() {
    let hangs = json!([{"content": [{"type": "text", "text": "Well,"}], "hang": true}]);
    let cli =
        ClaudeStandIn::with(&json!({"child": true, "plays": [{"when": ".", "turns": hangs}]}));
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    ana.sees("claudeStreamChunk");
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["conversationMessage"], "Well,");
    cli.is_gone();
}

#[test]
fn after_a_power_cut_the_request_still_waits_and_a_new_process_is_told_what_came_of_it() {
    let turns = json!([rewrites(AFTER), says("Corrected.")]);
    let cli =
        ClaudeStandIn::with(&json!({"child": true, "plays": [{"when": ".", "turns": turns}]}));
    let mut copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    // The process went with the server.
    cli.is_gone();
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    assert_eq!(ana.pending()[0].id(), request.id());
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    ana.comes_to_read(AFTER);
    let [first, second] = &cli.noted("args")[..] else { panic!("two processes") };
    let (first, prompt) = (first["args"].to_string(), second["prompt"].as_str().unwrap());
    assert!(first.contains("--session-id") && second["args"].to_string().contains("--resume"));
    assert!(prompt.starts_with("You were interrupted") && prompt.contains("accepted"), "{prompt}");
}

#[test]
fn a_conversation_of_which_a_power_cut_left_the_name_alone_is_told_under_another() {
    let cli = correcting();
    let mut copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    cli.is_gone();
    cli.loses_every_word();
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    ana.accepts_all(&request);
    let answer = ana.answer(&run);
    assert_eq!(answer["conversationMessage"], "Let me see.\nCorrected.");
    assert!(answer["error"].is_null(), "{answer}");
    ana.comes_to_read(AFTER);
    let note = cli.noted("prompt").pop().unwrap();
    let args = note["args"].to_string();
    assert!(!args.contains("--resume") && !args.contains("--session-id"), "{args}");
    let prompt = note["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("You: Let me see.") && prompt.contains("You were interrupted"),
        "{prompt}"
    );
}

#[test]
fn a_cli_that_dies_while_people_decide_is_replaced() {
    let cli = correcting();
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    let pid = cli.noted("pid")[0]["pid"].to_string();
    assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    cli.is_gone();
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    assert_eq!(count(&ana, &run, "tool_result"), 1);
    let note = cli.noted("prompt").pop().unwrap();
    assert!(note["prompt"].as_str().unwrap().starts_with("You were interrupted"), "{note}");
}

#[test]
fn a_stop_in_good_order_leaves_nothing_running() {
    let turns = json!([rewrites(AFTER)]);
    let cli =
        ClaudeStandIn::with(&json!({"child": true, "plays": [{"when": ".", "turns": turns}]}));
    let mut copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.sees_request_of(&ana.asks("Fix the spelling"));
    assert!(copydesk.stops().success());
    cli.is_gone();
}

#[test]
fn a_conversation_goes_on_where_the_cli_remembers_it() {
    let cli = ClaudeStandIn::playing(&[
        ("First", json!([says("One.")])),
        ("Second", json!([says("Two.")])),
    ]);
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.answer(&ana.asks("First"));
    assert_eq!(ana.answer(&ana.asks("Second"))["conversationMessage"], "Two.");
    let fresh = json!({"sessionId": ana.session(), "prompt": "First", "continue": false, "context": {"documentId": ana.document()}});
    let run = ana.emit("askClaudeCode", &fresh).ok()["requestId"].as_str().unwrap().to_owned();
    ana.answer(&run);
    let name = |index: usize, flag: &str| {
        let args = cli.noted("args")[index]["args"].clone();
        let args = args.as_array().unwrap();
        let at = args.iter().position(|it| it == flag)?;
        args.get(at + 1).cloned()
    };
    assert_eq!(name(1, "--resume"), name(0, "--session-id"));
    assert!(name(2, "--resume").is_none());
    let known: Vec<_> = cli.noted("conversation").iter().map(|it| it["prompts"].clone()).collect();
    assert_eq!(known, [1, 2, 1]);
}

#[test]
fn what_another_model_was_asked_in_between_is_told_to_the_cli() {
    let cli = ClaudeStandIn::playing(&[
        ("First", json!([says("One.")])),
        ("Third", json!([says("Three.")])),
    ]);
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(AFTER);
    ana.answer(&ana.asks("First"));
    let ask = json!({"sessionId": ana.session(), "prompt": "Second", "model": "harper", "context": {"documentId": ana.document()}});
    let run = ana.emit("askClaudeCode", &ask).ok()["requestId"].as_str().unwrap().to_owned();
    ana.answer(&run);
    let third = ana.answer(&ana.asks("Third"));
    assert_eq!(third["conversationMessage"], "Three.");
    let note = cli.noted("prompt").pop().unwrap();
    assert!(!note["args"].to_string().contains("--resume"), "{note}");
    assert!(note["prompt"].as_str().unwrap().contains("User: Second"), "{note}");
}

#[test]
fn a_conversation_the_cli_has_forgotten_is_told_to_it_again() {
    let cli = ClaudeStandIn::playing(&[
        ("First", json!([says("One.")])),
        ("Second", json!([says("Two.")])),
    ]);
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.answer(&ana.asks("First"));
    cli.forgets();
    assert_eq!(ana.answer(&ana.asks("Second"))["conversationMessage"], "Two.");
    let note = cli.noted("prompt").pop().unwrap();
    let note = note["prompt"].as_str().unwrap();
    assert!(note.contains("User: First") && note.contains("You: One."), "{note}");
}

#[test]
fn two_runs_at_once_do_not_hear_each_other() {
    let cli = ClaudeStandIn::playing(&[
        ("spelling", json!([rewrites(AFTER), says("Corrected.")])),
        ("shout", json!([rewrites("TEH KEEPER WROTE.\n"), says("Shouted.")])),
    ]);
    let copydesk = cli.test_server();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.creates(BEFORE);
    ben.creates(BEFORE);
    let (one, two) = (ana.asks("Fix the spelling"), ben.asks("Please shout"));
    let (first, second) = (ana.sees_request_of(&one), ben.sees_request_of(&two));
    ben.accepts_all(&second);
    assert_eq!(ben.answer(&two)["conversationMessage"], "Let me see.\nShouted.");
    ana.rejects(&first, "No");
    assert_eq!(ana.answer(&one)["conversationMessage"], "Let me see.\nCorrected.");
    assert_eq!((ana.text().as_str(), ben.text().as_str()), (BEFORE, "TEH KEEPER WROTE.\n"));
}

#[test]
fn however_many_runs_wait_for_people_few_processes_do_and_every_run_goes_on() {
    let cli = correcting();
    let copydesk = cli.test_server();
    let people = ["Ana", "Ben", "Cleo"].map(|name| copydesk.editor(name));
    // Four runs of each, each on a document of its own.
    let mut runs = Vec::new();
    for person in &people {
        for _ in 0..4 {
            let document = person.creates(BEFORE);
            let run = person.asks("Fix the spelling");
            let request = person.sees_request_of(&run);
            runs.push((person, document, run, request));
            assert!(cli.alive() <= 8, "{} processes", cli.alive());
        }
    }
    assert_eq!(cli.alive(), 8);
    for (person, document, run, request) in &runs {
        person.opens(document);
        person.accepts_all(request);
        person.answer(run);
        person.comes_to_read(AFTER);
    }
    // The first four processes had made room, and one did for the first of their successors.
    let again = cli.noted("prompt").into_iter().map(|it| it["prompt"].to_string());
    assert_eq!(again.filter(|it| it.contains("You were interrupted")).count(), 5);
    cli.is_gone();
}

#[test]
fn a_run_that_finds_no_place_waits_for_one() {
    let hangs = json!({"content": [{"type": "text", "text": "Well,"}], "hang": true});
    let cli = ClaudeStandIn::playing(&[
        ("Hang", json!([hangs])),
        ("spelling", json!([rewrites(AFTER), says("Corrected.")])),
    ]);
    let copydesk = cli.test_server();
    let ana = copydesk.editor("Ana");
    let mut hanging = Vec::new();
    for _ in 0..8 {
        ana.creates(BEFORE);
        hanging.push(ana.asks("Hang"));
        ana.sees("claudeStreamChunk");
    }
    let ben = copydesk.editor("Ben");
    ben.creates(BEFORE);
    let run = ben.asks("Fix the spelling");
    ben.sees("claudeStreamStart");
    assert_eq!(cli.noted("prompt").len(), 8, "nothing more was started");
    ana.emit("cancel", &json!({"requestId": hanging[0]})).ok();
    ben.accepts_all(&ben.sees_request_of(&run));
    assert_eq!(ben.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
}

fn fails(copydesk: &TestServer) -> Value {
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let error = ana.answer(&run)["error"].clone();
    assert_eq!(results(&ana, &run)[0]["subtype"], "error");
    error
}

#[test]
fn without_a_login_people_are_told_what_to_do() {
    let cli = ClaudeStandIn::with(&json!({"loggedIn": false, "plays": []}));
    let error = fails(&cli.test_server());
    assert_eq!(error["code"], "claude_not_logged_in");
    assert!(error["message"].as_str().unwrap().contains("run `claude` there"), "{error}");
}

#[test]
fn a_cli_that_vanished_is_named_as_missing() {
    let cli = correcting();
    let copydesk = cli.test_server();
    std::fs::remove_file(cli.program()).unwrap();
    assert_eq!(fails(&copydesk)["code"], "claude_not_found");
}

#[test]
fn a_cli_that_can_do_more_than_it_should_is_stopped() {
    let cli = ClaudeStandIn::with(
        &json!({"native": ["Bash"], "plays": [{"when": ".", "turns": [rewrites(AFTER)]}]}),
    );
    let error = fails(&cli.test_server());
    assert_eq!(error["code"], "claude_unsafe");
    cli.is_gone();
    assert_eq!(cli.noted("call"), [Value::Null; 0]);
}

#[test]
fn what_a_dying_cli_complained_of_is_shown() {
    let cli = ClaudeStandIn::playing(&[(".", json!([{"die": true}]))]);
    let error = fails(&cli.test_server());
    assert_eq!(error["code"], "claude_failed");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("exit code 3") && message.contains("asked to die"), "{message}");
}

#[test]
fn where_there_is_no_cli_it_is_not_offered() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    assert!(!ana.registered()["models"].to_string().contains("claude-cli"));
    ana.creates(BEFORE);
    let ask = json!({"sessionId": ana.session(), "prompt": "Fix it", "permission_mode": "mcpProxy", "context": {"documentId": ana.document()}});
    let error = ana.emit("askClaudeCode", &ask).refused_with("unsupported");
    assert!(error["message"].as_str().unwrap().contains("install it on the server"), "{error}");
}

#[test]
fn the_mode_chooses_the_cli_whatever_the_default_is() {
    let cli = ClaudeStandIn::playing(&[(".", json!([says("It is me.")]))]);
    let copydesk = cli.plan().start();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let ask = json!({"sessionId": ana.session(), "prompt": "Who?", "permission_mode": "mcpProxy", "context": {"documentId": ana.document()}});
    let run = ana.emit("askClaudeCode", &ask).ok()["requestId"].as_str().unwrap().to_owned();
    assert_eq!(ana.answer(&run)["conversationMessage"], "It is me.");
}

#[test]
fn other_programs_are_not_given_the_cli_which_works_on_between_two_calls() {
    let cli = correcting();
    let copydesk = cli.test_server();
    let program = MessagesClient::with(&copydesk, OWNER);
    let listed = program.call("GET /v1/models", "").ok()["data"].to_string();
    assert!(listed.contains("harper") && !listed.contains("claude-cli"), "{listed}");
    let question = json!([{"role": "user", "content": "Fix the spelling"}]);
    for name in ["claude-cli", "claude-cli:opus"] {
        let more = json!({"model": name});
        program.asks(&question, &more).refused(404, "not_found_error");
    }
}
