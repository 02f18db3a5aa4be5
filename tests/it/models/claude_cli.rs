//! The real Claude CLI, where there is one: as a model of this server, and as a program that talks
//! to it and calls its tools.
//!
//! `COPYDESK_CLAUDE_CLI` names it. It gets a network of its own that leads nowhere, a home that is
//! thrown away, and a key that is none; the model behind it is ours. Without it, or where a network
//! of one's own is not to be had, the stories are left out, loudly.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{Provider, Role, Script, TestServer, say_skipped, skip};

const BEFORE: &str = "Teh keeper wrote.\n";
const AFTER: &str = "The keeper wrote.\n";

/// Everything it can reach is in here.
const ALONE: &str = "ip link set lo up && exec \"$0\" \"$@\"";

/// Returns the path of the CLI.
fn cli() -> Option<PathBuf> {
    std::env::var_os("COPYDESK_CLAUDE_CLI").map(PathBuf::from).filter(|cli| cli.is_file())
}

/// Plays a story of this file in a network of its own.
fn cut_off(story: &str) {
    if std::env::var_os("COPYDESK_CLAUDE_CLI").is_some_and(|cli| cli == "none") {
        return say_skipped(story, "there is no Claude CLI for this machine");
    }
    if cli().is_none() {
        return skip(story, "COPYDESK_CLAUDE_CLI does not name the Claude CLI");
    }
    let is_root = rustix::process::geteuid().is_root();
    let alone = || {
        let mut command = Command::new("unshare");
        command.args([if is_root { "-n" } else { "-rn" }, "sh", "-c", ALONE]);
        command
    };
    let works = alone().arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        let why = "a network of its own cannot be made with unshare and ip";
        return if is_root { skip(story, why) } else { say_skipped(story, why) };
    }
    let (_, module) = module_path!().split_once("::").expect("it is in this crate");
    let name = format!("{module}::{story}");
    let output = alone()
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &name, "--nocapture"])
        // PostgreSQL, and so a second server, is in the network that it cannot reach.
        .env_remove("COPYDESK_STORIES_DATABASE")
        .env_remove("COPYDESK_STORIES_NODES")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{said}\n{complaints}");
}

/// The CLI with a home of its own; what it asks its provider goes to `url`.
fn installed(url: &str, key: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("claude");
    let script = format!(
        "#!/bin/sh\nexport HOME='{}' ANTHROPIC_BASE_URL='{url}' ANTHROPIC_API_KEY='{key}'\n\
         export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\nexec '{}' \"$@\"\n",
        folder.path().display(),
        cli().unwrap().display(),
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (folder, program)
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn rewrites(id: &str) -> Value {
    let input = full(AFTER);
    json!([{"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": id, "name": "mcp__atlas-tools__update_full_document", "input": input}])
}

#[test]
fn the_real_cli_proposes_is_told_what_people_decided_and_goes_on() {
    cut_off("as_a_model");
}

#[test]
#[ignore = "played in a network of its own by the story above"]
fn as_a_model() {
    let provider = Provider::answering(vec![
        rewrites("toolu_1"),
        says("As it was."),
        rewrites("toolu_2"),
        says("Corrected."),
    ]);
    let (_folder, program) = installed(&provider.url, "sk-story");
    let program = program.display().to_string();
    let plan = TestServer::plan().flags(&["--claude-binary", &program]).model("claude-cli");
    let copydesk = plan.start();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    assert_eq!(
        (&request["source"], request.words(1)),
        (&json!("mcpProxy"), ("Teh".into(), "The".into()))
    );
    ana.rejects(&request, "It is a name");
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nAs it was.");
    let model_input = provider.asked(2)["messages"].to_string();
    assert!(model_input.contains("User rejected: It is a name"), "{model_input}");
    // The conversation goes on where the CLI remembers it.
    let run = ana.asks("Fix it all the same");
    ana.accepts_all(&ana.sees_request_of(&run));
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected.");
    ana.comes_to_read(AFTER);
    let model_input = provider.asked(4)["messages"].to_string();
    assert!(
        model_input.contains("It is a name") && model_input.contains("Applied"),
        "{model_input}"
    );
}

#[test]
fn the_real_cli_is_told_after_a_power_cut_what_people_decided_and_says_its_last_sentence() {
    cut_off("after_a_power_cut");
}

#[test]
#[ignore = "played in a network of its own by the story above"]
fn after_a_power_cut() {
    let provider = Provider::answering(vec![
        says("It is fine."),
        rewrites("toolu_1"),
        says("Corrected again."),
    ]);
    let (_folder, program) = installed(&provider.url, "sk-story");
    let program = program.display().to_string();
    let plan = TestServer::plan().flags(&["--claude-binary", &program]).model("claude-cli");
    let mut copydesk = plan.start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(BEFORE);
    // A conversation that the next run goes on from.
    assert_eq!(ana.answer(&ana.asks("Is it fine?"))["conversationMessage"], "It is fine.");
    let run = ana.asks("Once more");
    let request = ana.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Let me see.\nCorrected again.");
    ana.comes_to_read(AFTER);
    // The process that was left behind may have heard that its connection is closed, and asked on.
    let all = provider.all_asked();
    let model_input = all.last().expect("it was asked")["messages"].to_string();
    assert!(
        model_input.contains("You were interrupted") && model_input.contains("accepted"),
        "{model_input}"
    );
}

#[test]
fn the_real_cli_talks_to_this_server_and_its_call_is_decided_by_people() {
    cut_off("as_a_program");
}

#[test]
#[ignore = "played in a network of its own by the story above"]
fn as_a_program() {
    let write = json!({"file_path": "a.txt", "content": "Hello."});
    let script = Script::default()
        .answering("Write", "mcp__copydesk__atlas_write", &write)
        .after_result("Successfully wrote to a.txt", "Written.")
        .closing("What?");
    let copydesk = TestServer::plan().script(script).workspace(&[]).start();
    let ana = copydesk.editor("Ana");
    let (folder, program) = installed(copydesk.url(), &ana.token);
    let server = json!({"type": "http", "url": format!("{}/mcp", copydesk.url()), "headers": {"Authorization": format!("Bearer {}", ana.token)}});
    let servers = folder.path().join("mcp.json");
    std::fs::write(&servers, json!({"mcpServers": {"copydesk": server}}).to_string()).unwrap();
    let model = MessagesClient::with(&copydesk, &ana.token).model().to_owned();
    let running = Command::new(program)
        .args(["-p", "Write it", "--output-format", "json", "--model", &model])
        .args(["--tools", "", "--setting-sources", "", "--strict-mcp-config", "--mcp-config"])
        .arg(&servers)
        .args(["--allowedTools", "mcp__copydesk", "--permission-mode", "dontAsk"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = ana.sees_request();
    assert_eq!((&request["source"], &request["tool_name"]), (&json!("mcp"), &json!("Write")));
    assert_eq!(copydesk.file("a.txt"), None);
    ana.decides(&request, json!({"approved": true})).ok();
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find(|line| line.starts_with('{')).expect("a result");
    let result: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&result["result"], &result["is_error"]), (&json!("Written."), &json!(false)));
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("Hello."));
}

/// Two requests as the CLI 2.1.329 sent them, but for their long texts.
#[test]
fn what_the_cli_sends_is_understood_and_its_conversation_known_again() {
    let call = json!({"type": "tool_use", "id": "toolu_read", "name": "mcp__copydesk__list_documents", "input": {}});
    let script = Script::default()
        .turn(json!({"content": [{"type": "text", "text": "Let me read it."}, call]}))
        .turn(json!({"content": [{"type": "text", "text": "Done."}]}));
    let copydesk = TestServer::scripted(script);
    let program = MessagesClient::with(&copydesk, &copydesk.token("Program", Role::Editor, &[]));
    let sends = |recorded: &str| {
        let mut body: Value = serde_json::from_str(recorded).unwrap();
        body["model"] = json!(program.model());
        body["stream"] = json!(false);
        program.call("POST /v1/messages?beta=true", &body.to_string()).ok()
    };
    let first = sends(include_str!("../../../fixtures/claude/asks-first.json"));
    assert_eq!((&first["stop_reason"], &first["content"][1]), (&json!("tool_use"), &call));
    // Another conversation would begin with the first turn again.
    let again = sends(include_str!("../../../fixtures/claude/asks-again.json"));
    assert_eq!(again["content"][0]["text"], "Done.");
}
