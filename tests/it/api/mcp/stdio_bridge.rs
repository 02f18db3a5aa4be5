//! MCP over standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::initialize;
use crate::support::{OWNER, TestServer, copydesk_command};

use super::{file, owner_of, test_server};

/// `copydesk mcp` as a client starts it.
struct Bridge {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Bridge {
    fn starts(copydesk: &TestServer, more: &[&str]) -> Self {
        let mut process = copydesk_command()
            .args(["mcp", "--url", copydesk.url()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary is built");
        let output = process.stdout.take().expect("stdout is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                sender.send(message.unwrap_or_else(|_| panic!("no protocol: {line}"))).ok();
            }
        });
        Self { input: process.stdin.take(), process, lines }
    }

    fn sends(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("stdin is open");
        writeln!(input, "{message}").expect("the bridge reads");
    }

    fn calls(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.sends(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    fn begins(&mut self) {
        self.sends(&initialize(0, "stdio-coder"));
        assert_eq!(self.answer(0)["result"]["serverInfo"]["name"], "copydesk");
        self.sends(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn answer(&self, id: u64) -> Value {
        loop {
            let message = self.lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().expect("it was started");
    }
}

#[test]
fn the_bridge_carries_calls_and_takes_them_back_when_its_client_is_done() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.sends(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert!(bridge.answer(1)["result"]["tools"].to_string().contains("atlas_write"));
    bridge.calls(2, "atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    assert_eq!(request["author"]["name"], "Owner (stdio-coder)");
    owner.accepts_all(&request);
    let answer = bridge.answer(2);
    assert_eq!(answer["result"]["content"][0]["text"], "Successfully wrote to test.txt");
    bridge.calls(3, "atlas_write", file("b.txt", "b"));
    let request = owner.sees_request();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    bridge.sends(&cancel);
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    bridge.calls(4, "atlas_write", file("c.txt", "c"));
    let request = owner.sees_request();
    bridge.input = None;
    assert!(bridge.process.wait().unwrap().success());
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!([copydesk.file("b.txt"), copydesk.file("c.txt")], [None, None]);
}

#[test]
fn a_line_that_is_no_message_does_not_end_the_conversation() {
    let copydesk = test_server();
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    for line in [&b"caf\xe9\n"[..], b"\xff\xfe\n", b"no JSON\n"] {
        bridge.input.as_mut().unwrap().write_all(line).unwrap();
        let refused = bridge.lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
    bridge.sends(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert!(bridge.answer(1)["result"]["tools"].to_string().contains("atlas_write"));
}

#[test]
fn a_bridge_that_was_killed_leaves_no_request_behind() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.calls(1, "atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    bridge.process.kill().unwrap();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(copydesk.file("test.txt"), None);
}

#[test]
fn what_is_too_long_for_a_message_is_refused_with_how_long_it_may_be() {
    let copydesk = test_server();
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.calls(1, "atlas_write", file("a.txt", &"x".repeat(5 * 1024 * 1024)));
    let answer = bridge.answer(1);
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("at most 4194304 bytes"), "{answer}");
    bridge.calls(2, "list_documents", json!({}));
    assert!(bridge.answer(2)["result"].is_object());
}

#[test]
fn the_bridge_goes_on_when_the_server_was_started_again() {
    let mut copydesk = TestServer::plan().workspace(&[]).start();
    // The port must stay the same for an address to be worth knowing.
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    copydesk.stops();
    bridge.calls(1, "list_documents", json!({}));
    let answer = bridge.answer(1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("is it running?"), "{answer}");
    drop(bridge);
    copydesk.starts();
}

#[test]
fn the_bridge_says_on_standard_error_why_it_cannot_work() {
    let copydesk = test_server();
    let run = |arguments: &[&str]| {
        let output = copydesk_command()
            .arg("mcp")
            .args(arguments)
            .current_dir(copydesk.data())
            .stdin(Stdio::null())
            .output()
            .expect("the binary is built");
        assert!(output.stdout.is_empty(), "standard output is only the protocol");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let unreachable = run(&["--url", "http://127.0.0.1:9", "--token", OWNER]);
    assert!(unreachable.contains("does not answer; is it running?"), "{unreachable}");
    let wrong = run(&["--url", copydesk.url(), "--token", "wrong"]);
    assert!(wrong.contains("unknown token"), "{wrong}");
    let none = run(&["--url", copydesk.url(), "--data", "nowhere"]);
    assert!(none.contains("no owner's token"), "{none}");
}
