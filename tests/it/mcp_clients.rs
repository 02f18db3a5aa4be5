//! The tools of MCP's own makers at this server: the conformance suite.

use std::path::Path;
use std::process::Command;

use crate::support::{Desk, OWNER, interpreter, node_22, packages};

/// What the suite wants of its own test server, and this one is not.
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/conformance.yml");

/// A program of `tests/clients/package.json`, to be run by a Node that is new enough for it.
fn tool(program: &str) -> Option<Command> {
    let left_out = format!("MCP with the official {program}");
    let (node, packages) = (node_22(&left_out)?, packages(&left_out)?);
    let mut command = Command::new(node);
    command.arg(Path::new(&packages).join(".bin").join(program));
    Some(command)
}

/// Runs the suite's scenarios for one revision of the protocol. Whatever fails is in `conformance.yml`, and whatever is there
/// fails: the suite sees to both, and holds every message against the protocol's schema.
fn the_server_conforms_to(revision: &str) {
    let Some(mut suite) = tool("conformance") else { return };
    let desk = Desk::plan().workspace(&[]).start();
    let owner = desk.owner();
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
        // With what ours need to be told; and by name in the headers of 2026-07-28.
        (r#""name":"test_tool_with_progress","arguments":{}"#, write),
        ("test_tool_with_progress", "atlas_write"),
        (r#""name":"test_simple_prompt""#, &prompt),
        ("test_simple_prompt", "fix_grammar"),
        (r#""resourceUri":"test://example-resource""#, &about),
        ("test_prompt_with_embedded_resource", "fix_grammar"),
    ];
    let address = interpreter(desk.address(), OWNER, &names);
    suite.args(["server", "--url", &format!("http://{address}/mcp"), "--suite", "all"]);
    suite.args(["--spec-version", revision, "--expected-failures", EXPECTED]);
    let output = std::thread::scope(|scope| {
        let running = scope.spawn(|| suite.output().expect("Node can be started"));
        owner.accepts_all(&owner.sees_request());
        running.join().expect("it ends")
    });
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    assert_eq!(desk.file("a.txt").as_deref(), Some("hello"));
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
