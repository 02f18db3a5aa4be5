//! Resources and prompts.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{OWNER, TestServer};

use super::{FIXED, TEXT, rewrite, test_server};

#[test]
fn documents_are_resources_and_tell_when_they_change() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let uri = format!("copydesk://documents/{document}");
    let listed = coder.asks("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap().clone();
    let found = listed.iter().find(|it| it["uri"] == uri).unwrap();
    assert_eq!(found["mimeType"], "text/markdown");
    let templates = coder.asks("resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(*template, "copydesk://documents/{id}");
    let heard = coder.send("GET", None, &[("Accept", "text/event-stream")]);
    assert_eq!(heard.status, 200);
    coder.asks("resources/subscribe", json!({"uri": uri}));
    for _ in 0..5 {
        ana.types(0, "x");
    }
    let update = heard.next();
    assert_eq!(update["method"], "notifications/resources/updated");
    assert_eq!(update["params"]["uri"], uri);
    let read = coder.asks("resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"], ana.text());
    // A client that has read it may change it.
    let call = coder.calls("update_full_document", rewrite(&document, FIXED));
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    let unknown = coder.asks("resources/read", json!({"uri": "copydesk://documents/none"}));
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    assert_eq!(unknown["error"]["data"]["uri"], "copydesk://documents/none", "{unknown}");
}

#[test]
fn prompts_come_with_their_document() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    ana.types(0, "Once. ");
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let listed = coder.asks("prompts/list", json!({}));
    assert!(listed["result"]["prompts"].as_array().unwrap().len() >= 4, "{listed}");
    let get = |name: &str, arguments: Value| {
        coder.asks("prompts/get", json!({"name": name, "arguments": arguments}))
    };
    let prompt = get("fix_grammar", json!({"document_id": document}));
    assert!(prompt["result"].to_string().contains("Once. Teh keeper"), "{prompt}");
    let compared = get("summarise_changes", json!({"document_id": document, "since_version": "0"}));
    assert_eq!(compared["result"].to_string().matches("Teh keeper").count(), 2, "{compared}");
    for bad in [
        get("no_such", json!({"document_id": document})),
        get("tighten", json!({})),
        get("tighten", json!({"document_id": "none"})),
        get("summarise_changes", json!({"document_id": document, "since_version": "x"})),
    ] {
        assert!(bad.get("error").is_some(), "{bad}");
    }
}

#[test]
fn a_file_that_rules_protect_is_read_neither_as_a_resource_nor_in_a_prompt() {
    let copydesk = TestServer::plan().workspace(&[("secret.txt", "Hidden words.\n")]).start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = ana.opens_file("secret.txt");
    let coder = Mcp::arrives(&copydesk, &ana.token, "coder");
    let uri = format!("copydesk://documents/{document}");
    let reads = || {
        let prompt = json!({"name": "fix_grammar", "arguments": {"document_id": document}});
        [coder.asks("resources/read", json!({"uri": uri})), coder.asks("prompts/get", prompt)]
    };
    assert!(reads().iter().all(|answer| answer.to_string().contains("Hidden words.")));
    for (effect, words) in
        [("ask", "wants to be asked before secret.txt"), ("deny", "Denied by a rule")]
    {
        let rule = json!({"documentId": "desk", "effect": effect, "path": "secret*"});
        owner.emit("rules:add", &rule).ok();
        for answer in reads() {
            let message = answer.to_string();
            assert!(answer["error"]["code"] == -32600 && message.contains(words), "{message}");
            assert!(!message.contains("Hidden"), "{message}");
        }
        // Threads quote words, and a quotation asks whether there are such.
        let wish = json!({"document_id": document, "comment": "x", "quote": "Hidden words."});
        for (tool, wish) in
            [("list_comments", json!({"document_id": document})), ("add_comment", wish)]
        {
            let (said, failed) = coder.gets(tool, wish);
            assert!(failed && said.contains(words), "{said}");
        }
    }
}
