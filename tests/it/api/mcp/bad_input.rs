//! Messages that make no sense.

use serde_json::json;

use crate::support::OWNER;
use crate::support::http::{ask, send};
use crate::support::mcp::{Mcp, initialize};

use super::{TEXT, file, owner_of, rewrite, test_server, waiting};

#[test]
fn what_makes_no_sense_is_told_and_asks_no_one() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let document = owner.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    coder.reads(&document);
    for (tool, arguments, words) in [
        ("atlas_write", json!({}), "Invalid input for Write"),
        ("atlas_write", json!({"file_path": 7, "content": "x"}), "Invalid input for Write"),
        ("atlas_write", file("../out.txt", "x"), "Error: "),
        (
            "update_full_document",
            json!({"new_content": "x"}),
            "[DENIED] Invalid input: document_id",
        ),
        ("update_full_document", rewrite("doc_none", "x"), "[DENIED] There is no such document"),
        (
            "update_full_document",
            rewrite(&document, &"x".repeat(100_001)),
            "[DENIED] Content too large",
        ),
        (
            "update_selection",
            json!({"document_id": document, "new_text": "x", "selection_range": {"start": 9, "end": 3}, "explanation": ""}),
            "[DENIED] Invalid selection range",
        ),
        ("read_document", json!({}), "[DENIED] Invalid input: document_id"),
        ("read_document", json!({"document_id": "desk"}), "There is no document"),
    ] {
        let (tool_result, is_error) = coder.gets(tool, arguments);
        assert!(is_error && tool_result.contains(words), "{tool}: {tool_result}");
    }
    let unknown = coder.asks("tools/call", json!({"name": "Write", "arguments": file("x", "x")}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("atlas_write"), "{unknown}");
    assert_eq!(coder.asks("no/such/method", json!({}))["error"]["code"], -32601);
    assert!(waiting(&owner).is_empty());
    owner.is_fine();
}

#[test]
fn requests_that_are_no_mcp_are_refused() {
    let copydesk = test_server();
    let coder = Mcp::silent(&copydesk, OWNER);
    assert_eq!(
        coder.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), &[]).status,
        400
    );
    assert_eq!(coder.post(&initialize(1, "x"), &[("Accept", "text/html")]).status, 406);
    assert_eq!(coder.post(&initialize(1, "x"), &[("Content-Type", "text/plain")]).status, 415);
    let made_up = [("Mcp-Session-Id", "made-up")];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(coder.post(&list, &made_up).status, 404);
    let host = [("Host", copydesk.address()), ("Authorization", &format!("Bearer {OWNER}"))];
    assert_eq!(ask(copydesk.address(), "PUT /mcp", &host).status, 405);
    let json =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let headers = [&host[..], &json[..]].concat();
    let broken = send(copydesk.address(), "POST /mcp", &headers, "{\"jsonrpc\":");
    assert!((400..500).contains(&broken.status), "{broken:?}");
}
