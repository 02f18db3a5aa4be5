//! The tools of MCP's own makers at this server: the conformance suite, and the Inspector on the
//! command line.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{OWNER, TestServer, interpreter, node_22, packages};

/// Scenarios that the suite wants of its own test server, and this one is not.
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/conformance.yml");
const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";

/// A program of `tests/clients/package.json`, to be run by a Node that is new enough for it.
fn tool(program: &str) -> Option<Command> {
    let left_out = format!("MCP with the official {program}");
    let (node, packages) = (node_22(&left_out)?, packages(&left_out)?);
    let mut command = Command::new(node);
    command.arg(Path::new(&packages).join(".bin").join(program));
    Some(command)
}

// The conformance suite.

/// Runs the suite's scenarios for one revision of the protocol. Whatever fails is in
/// `conformance.yml`, and whatever is there fails: the suite sees to both, and holds every message
/// against the protocol's schema.
fn the_server_conforms_to(revision: &str) {
    let Some(mut suite) = tool("conformance") else { return };
    let copydesk = TestServer::plan().workspace(&[]).start();
    let owner = copydesk.owner();
    // In what is read at an address with 123 in it the suite looks for 123.
    let document = owner.creates("There are 123 words.\n");
    let uri = format!("copydesk://documents/{document}");
    let about = format!(r#""document_id":"{document}""#);
    let prompt = format!(r#""name":"fix_grammar","arguments":{{{about}}}"#);
    let write = r#""name":"atlas_write","arguments":{"file_path":"a.txt","content":"hello"}"#;
    let names = [
        ("test://static-text", uri.as_str()),
        ("test://watched-resource", &uri),
        ("test://template/123/data", &uri),
        ("test_simple_text", "list_documents"),
        ("test_error_handling", "read_document"),
        // With what ours need to be sent; and by name in the headers of 2026-07-28.
        (r#""name":"test_tool_with_progress","arguments":{}"#, write),
        ("test_tool_with_progress", "atlas_write"),
        (r#""name":"test_simple_prompt""#, &prompt),
        ("test_simple_prompt", "fix_grammar"),
        (r#""resourceUri":"test://example-resource""#, &about),
        ("test_prompt_with_embedded_resource", "fix_grammar"),
    ];
    let address = interpreter(copydesk.address(), OWNER, &names);
    suite.args(["server", "--url", &format!("http://{address}/mcp"), "--suite", "all"]);
    suite.args(["--spec-version", revision, "--expected-failures", EXPECTED]);
    let output = std::thread::scope(|scope| {
        let running = scope.spawn(|| suite.output().expect("Node can be started"));
        owner.accepts_all(&owner.sees_request());
        running.join().expect("it ends")
    });
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("hello"));
}

#[test]
fn the_server_conforms_to_the_protocol_of_june_2025() {
    the_server_conforms_to("2025-06-18");
}

#[test]
fn the_server_conforms_to_the_protocol_of_november_2025() {
    the_server_conforms_to("2025-11-25");
}

#[test]
fn the_server_conforms_to_the_protocol_of_july_2026() {
    the_server_conforms_to("2026-07-28");
}

// The Inspector.

/// The Inspector, which is started anew for everything it is to do.
struct Inspector<'a> {
    copydesk: &'a TestServer,
    over: &'a str,
    era: &'a str,
    home: TempDir,
}

impl Inspector<'_> {
    /// Sends it a request; returns the answer, and its exit code.
    fn asks(&self, method: &str, more: &[&str]) -> (Value, Option<i32>) {
        let mut command = tool("mcp-inspector").expect("the story has looked for it");
        // It keeps what it knows of servers at home.
        command.env("HOME", self.home.path()).args(["--cli", "--format", "json"]);
        command.args(["--protocol-era", self.era, "--method", method]).args(more);
        if self.over == "http" {
            command.args(["--header", &format!("Authorization: Bearer {OWNER}")]);
            command.args(["--transport", "http", "--server-url"]);
            command.arg(format!("{}/mcp", self.copydesk.url()));
        } else {
            command.args(["-e", &format!("COPYDESK_TOKEN={OWNER}"), "--"]);
            command.args([env!("CARGO_BIN_EXE_copydesk"), "mcp", "--url", self.copydesk.url()]);
        }
        let output = command.output().expect("Node can be started");
        let complaint = String::from_utf8_lossy(&output.stderr);
        let answer: Result<Value, _> = serde_json::from_slice(&output.stdout);
        let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}: {complaint}"));
        (answer["result"].clone(), output.status.code())
    }

    /// The same, where nothing is wrong.
    fn gets(&self, method: &str, more: &[&str]) -> Value {
        let (result, code) = self.asks(method, more);
        assert_eq!(code, Some(0), "{result}");
        result
    }

    /// Calls a tool while a person decides about that.
    fn calls(
        &self,
        tool: &str,
        arguments: &Value,
        decides: impl FnOnce(),
    ) -> (String, Option<i32>) {
        let arguments = arguments.to_string();
        let (result, code) = std::thread::scope(|scope| {
            let more = ["--tool-name", tool, "--tool-args-json", &arguments];
            let call = scope.spawn(move || self.asks("tools/call", &more));
            decides();
            call.join().expect("it ends")
        });
        (result["content"][0]["text"].as_str().expect("a text").to_owned(), code)
    }
}

/// The value of `name` in each of a list.
fn each<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().expect("a list").iter().filter_map(|it| it[name].as_str()).collect()
}

fn the_inspector_works(over: &str, era: &str) {
    if tool("mcp-inspector").is_none() {
        return;
    }
    let copydesk = TestServer::plan().workspace(&[]).start();
    let owner = copydesk.owner();
    let document = owner.creates(TEXT);
    let home = tempfile::tempdir().expect("there is room for a home");
    let inspector = Inspector { copydesk: &copydesk, over, era, home };

    // Also what it finds fault with in the schemas of tools.
    let tools = inspector.gets("tools/list", &["--strict"])["tools"].clone();
    for name in ["atlas_write", "read_document", "update_full_document"] {
        assert!(each(&tools, "name").contains(&name), "{tools}");
    }
    let about = json!({"document_id": document});
    let (read, code) = inspector.calls("read_document", &about, || {});
    assert!(code == Some(0) && read.contains(TEXT.trim_end()), "{read}");

    // It is started anew for each request, so no one knows what it has read: it says so.
    let mut rewrite =
        json!({"document_id": document, "new_content": FIXED, "explanation": "Spelling."});
    let (tool_result, code) = inspector.calls("update_full_document", &rewrite, || {});
    assert!(code == Some(5) && tool_result.contains("read_document"), "{tool_result}");
    assert!(read.contains("version=\"0\""), "{read}");
    rewrite["base_version"] = json!(0);
    let accepts = || drop(owner.accepts_all(&owner.sees_request()));
    let (tool_result, code) = inspector.calls("update_full_document", &rewrite, accepts);
    assert!(code == Some(0) && tool_result.starts_with("Applied: 1 accepted."), "{tool_result}");
    owner.comes_to_read(FIXED);

    let write = json!({"file_path": "a.txt", "content": "hello"});
    let rejects = || drop(owner.rejects(&owner.sees_request(), "Not there"));
    let (tool_result, code) = inspector.calls("atlas_write", &write, rejects);
    assert_eq!(tool_result, "[DENIED] Write rejected: Not there");
    // As the Inspector tells scripts that a tool has failed.
    assert_eq!((code, copydesk.file("a.txt")), (Some(5), None));

    let uri = format!("copydesk://documents/{document}");
    let resources = inspector.gets("resources/list", &[])["resources"].clone();
    assert!(each(&resources, "uri").contains(&uri.as_str()), "{resources}");
    let read = inspector.gets("resources/read", &["--uri", &uri]);
    assert_eq!(each(&read["contents"], "text"), [FIXED]);

    let prompts = inspector.gets("prompts/list", &[])["prompts"].clone();
    assert!(each(&prompts, "name").contains(&"fix_grammar"), "{prompts}");
    let about = format!("document_id={document}");
    let prompt = ["--prompt-name", "fix_grammar", "--prompt-args", &about];
    let prompt = inspector.gets("prompts/get", &prompt);
    assert_eq!(prompt["messages"][1]["content"]["resource"]["text"], FIXED, "{prompt}");
}

#[test]
fn the_inspector_works_over_http_in_a_session() {
    the_inspector_works("http", "legacy");
}

#[test]
fn the_inspector_works_over_http_without_one() {
    the_inspector_works("http", "modern");
}

#[test]
fn the_inspector_works_over_standard_input_and_output_in_a_session() {
    the_inspector_works("stdio", "legacy");
}

#[test]
fn the_inspector_works_over_standard_input_and_output_without_one() {
    the_inspector_works("stdio", "modern");
}
