//! Several programs at the MCP door: what each has read, how many there may be, what each hears of,
//! and the files they look at.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::{Answer, Mcp, initialize};
use crate::support::{OWNER, Person, RestClient, Role, Script, TestServer, found};

const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";
/// Sessions that one person may have.
const MOST: usize = 100;

fn rewrite(document: &str, text: &str) -> Value {
    json!({"document_id": document, "new_content": text, "explanation": "Spelling."})
}

fn adds(owner: &Person, rule: Value) -> Value {
    let mut payload = rule;
    payload["documentId"] = json!("desk");
    owner.emit("rules:add", &payload).ok()["rule"].clone()
}

/// A request of the protocol without sessions.
fn alone(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "coder", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// A call of the protocol without sessions, and further headers.
fn calls_alone(coder: &Mcp, tool: &str, arguments: Value, more: &[(&str, &str)]) -> Answer {
    let call = alone("tools/call", json!({"name": tool, "arguments": arguments}));
    let own =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
    coder.post(&call, &[&own[..], more].concat())
}

// What was read.

#[test]
fn two_programs_of_one_name_have_each_read_what_they_have_read() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("One. Two.\n");
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let (one, two) =
        (Mcp::arrives(&copydesk, &token, "coder"), Mcp::arrives(&copydesk, &token, "coder"));
    one.reads(&document);
    ana.types(0, "Zero. ");
    two.reads(&document);
    // The first has not seen what came since, so it cannot have meant to take it out.
    let call = one.calls("update_full_document", rewrite(&document, "Uno. Two.\n"));
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    assert_eq!(ana.text(), "Zero. Uno. Two.\n");
    // And another one has read nothing.
    let three = Mcp::arrives(&copydesk, &token, "coder");
    let (tool_result, is_error) = three.gets("update_full_document", rewrite(&document, FIXED));
    assert!(is_error && tool_result.contains("read_document"), "{tool_result}");
}

#[test]
fn what_a_program_read_before_a_restart_it_reads_again() {
    let mut copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let token = copydesk.token("Bo", Role::Editor, &[]);
    Mcp::arrives(&copydesk, &token, "coder").reads(&document);
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    let coder = Mcp::arrives(&copydesk, &token, "coder");
    let (tool_result, is_error) = coder.gets("update_full_document", rewrite(&document, FIXED));
    assert!(is_error && tool_result.contains("read_document"), "{tool_result}");
    coder.reads(&document);
    let call = coder.calls("update_full_document", rewrite(&document, FIXED));
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
}

#[test]
fn without_a_session_a_program_says_which_version_it_has_read() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::silent(&copydesk, OWNER);
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    let tools = coder.post(&alone("tools/list", json!({})), &headers).ends();
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let required = |tools: &[Value]| {
        let tool = tools.iter().find(|it| it["name"] == "update_full_document").unwrap();
        tool["inputSchema"]["required"].to_string()
    };
    assert!(required(&tools).contains("base_version"), "{tools:?}");
    let listed = Mcp::arrives(&copydesk, OWNER, "coder").asks("tools/list", json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(!required(&listed).contains("base_version"), "a session is known: {listed:?}");
    // It is no one's reading that counts for all who have no session.
    let about = json!({"document_id": document});
    let (read, _) = calls_alone(&coder, "read_document", about, &[]).result();
    assert!(read.contains("version=\"0\""), "{read}");
    let (tool_result, is_error) =
        calls_alone(&coder, "update_full_document", rewrite(&document, FIXED), &[]).result();
    assert!(is_error && tool_result.starts_with("[DENIED] Say which version"), "{tool_result}");
    let uri = format!("copydesk://documents/{document}");
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "resources/read"),
        ("Mcp-Name", &uri),
    ];
    let read = coder.post(&alone("resources/read", json!({"uri": uri})), &headers).ends();
    assert_eq!(read["result"]["contents"][0]["_meta"]["copydesk/version"], 0, "{read}");
    let mut known = rewrite(&document, FIXED);
    known["base_version"] = json!(0);
    let call = calls_alone(&coder, "update_full_document", known, &[]);
    ana.accepts_all(&ana.sees_request());
    let (tool_result, is_error) = call.result();
    assert!(!is_error && tool_result.contains("version 1"), "{tool_result}");
    // A bridge belongs to one program, and says so.
    let bridge = [("Copydesk-Bridge", "one")];
    calls_alone(&coder, "read_document", json!({"document_id": document}), &bridge).result();
    let call = calls_alone(&coder, "update_full_document", rewrite(&document, TEXT), &bridge);
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    let other = [("Copydesk-Bridge", "two")];
    let (tool_result, is_error) =
        calls_alone(&coder, "update_full_document", rewrite(&document, FIXED), &other).result();
    assert!(is_error && tool_result.contains("read_document"), "{tool_result}");
}

// How many there may be.

#[test]
fn a_person_who_begins_too_many_sessions_loses_their_own_oldest_and_no_one_elses() {
    let copydesk = TestServer::plan().workspace(&[]).start();
    let owner = copydesk.owner();
    let (bo, cy) =
        (copydesk.token("Bo", Role::Editor, &[]), copydesk.token("Cy", Role::Editor, &[]));
    let other = Mcp::arrives(&copydesk, &cy, "coder");
    // One that people are asked by, and one that someone listens in, are in use however old they
    // are.
    let (asking, listening) =
        (Mcp::arrives(&copydesk, &bo, "1"), Mcp::arrives(&copydesk, &bo, "2"));
    let call = asking.calls("atlas_write", json!({"file_path": "a.txt", "content": "hello"}));
    let request = owner.sees_request();
    call.disconnects();
    let heard = listening.send("GET", None, &[("Accept", "text/event-stream")]);
    assert_eq!(heard.status, 200);
    let mut idle: Vec<Mcp> = Vec::new();
    for number in 2..MOST {
        idle.push(Mcp::arrives(&copydesk, &bo, &number.to_string()));
    }
    // An older one that was used since is younger than the next.
    idle[0].asks("tools/list", json!({}));
    let newest = Mcp::arrives(&copydesk, &bo, "newest");
    let status = |mcp: &Mcp| mcp.begins("tools/list", json!({})).status;
    assert_eq!((status(&idle[1]), status(&idle[0]), status(&idle[2])), (404, 200, 200));
    assert_eq!([status(&asking), status(&listening), status(&newest)], [200; 3]);
    assert_eq!(status(&other), 200);
    owner.accepts_all(&request);
    // A client that says goodbye makes room.
    assert_eq!(newest.send("DELETE", None, &[]).status, 204);
    Mcp::arrives(&copydesk, &bo, "last");
    assert_eq!(status(&idle[2]), 200);
}

#[test]
fn a_person_who_uses_all_of_their_sessions_is_told_so() {
    let copydesk = TestServer::quiet();
    let bo = copydesk.token("Bo", Role::Editor, &[]);
    let mut listening = Vec::new();
    for number in 0..MOST {
        let coder = Mcp::arrives(&copydesk, &bo, &number.to_string());
        let heard = coder.send("GET", None, &[("Accept", "text/event-stream")]);
        assert_eq!(heard.status, 200);
        listening.push((coder, heard));
    }
    let refused = Mcp::silent(&copydesk, &bo).post(&initialize(1, "x"), &[]);
    assert_eq!(refused.status, 429);
    assert!(refused.head.contains("retry-after: 30"), "{}", refused.head);
    let problem = refused.next();
    assert_eq!(problem["code"], "rate_limited");
    assert!(problem["detail"].as_str().unwrap().contains("all are in use"), "{problem}");
    // What needs no session is served, and so is everybody else.
    let (listed, is_error) =
        calls_alone(&Mcp::silent(&copydesk, &bo), "list_documents", json!({}), &[]).result();
    assert!(!is_error, "{listed}");
    Mcp::arrives(&copydesk, OWNER, "coder");
}

// What they hear of.

fn renames(person: &Person, document: &str, title: &str) {
    person.emit("document:rename", &json!({"documentId": document, "title": title})).ok();
}

/// The next message within a moment that is longer than the server gathers changes.
fn soon(heard: &Answer) -> Option<Value> {
    heard.within(Duration::from_secs(2))
}

#[test]
fn a_program_hears_that_documents_came_went_and_were_renamed_as_its_person_sees_them() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = owner.creates(TEXT);
    let coder = Mcp::silent(&copydesk, OWNER);
    let begun = coder.post(&initialize(0, "coder"), &[]).ends();
    assert_eq!(begun["result"]["capabilities"]["resources"]["listChanged"], true, "{begun}");
    let everything = Mcp::arrives(&copydesk, OWNER, "coder");
    let bound = copydesk.token("Bo", Role::Editor, &["--document", &document]);
    let one = Mcp::arrives(&copydesk, &bound, "coder");
    let listens = |mcp: &Mcp| mcp.send("GET", None, &[("Accept", "text/event-stream")]);
    let (all, bounds) = (listens(&everything), listens(&one));
    let changed = "notifications/resources/list_changed";
    let other = owner.creates("Elsewhere.\n");
    assert_eq!(all.next()["method"], changed);
    assert_eq!(soon(&bounds), None, "a document that its token does not reach");
    renames(&owner, &other, "Another name");
    assert_eq!(all.next()["method"], changed);
    owner.emit("document:delete", &json!({"documentId": other})).ok();
    assert_eq!(all.next()["method"], changed);
    assert_eq!(soon(&bounds), None);
    renames(&owner, &document, "The keeper");
    assert_eq!(all.next()["method"], changed);
    assert_eq!(bounds.next()["method"], changed);
    // Words alone change no list.
    owner.opens(&document);
    owner.types(0, "x");
    assert_eq!(soon(&all), None);
}

#[test]
fn a_program_hears_of_documents_that_no_one_has_open() {
    let copydesk = TestServer::scripted(Script::rewriting(FIXED));
    let ana = RestClient::new(&copydesk, OWNER);
    let made = ana.posts("documents", &json!({"title": "A story", "text": TEXT})).ok();
    let document = made["id"].as_str().unwrap().to_owned();
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let heard = coder.send("GET", None, &[("Accept", "text/event-stream")]);
    let uri = format!("copydesk://documents/{document}");
    coder.asks("resources/subscribe", json!({"uri": uri}));
    let (updated, changed) =
        ("notifications/resources/updated", "notifications/resources/list_changed");
    let at = format!("documents/{document}");
    let edit = json!({"text": format!("{TEXT}More.\n"), "version": 0});
    ana.posts(&format!("{at}/edits"), &edit).ok();
    let event = heard.next();
    assert_eq!((&event["method"], &event["params"]["uri"]), (&json!(updated), &json!(uri)));
    // A change that is accepted.
    let ask = json!({"prompt": "Fix it", "context": {"documentId": document}});
    let run = ana.posts("runs", &ask).body["url"].as_str().unwrap().to_owned();
    let run = run.strip_prefix("/api/v1/").unwrap();
    let request = found(|| {
        let state = ana.gets(run).ok();
        state["waiting"][0].as_str().map(str::to_owned).ok_or("no one is asked")
    });
    ana.posts(&format!("requests/{request}/decision"), &json!({"approved": true})).ok();
    assert_eq!(heard.next()["method"], updated);
    let renamed = ana.says(&format!("PATCH /api/v1/{at}"), &[], r#"{"title": "Another"}"#);
    assert_eq!(renamed.status, 204);
    assert_eq!([heard.next(), heard.next()].map(|it| it["method"].clone()), [changed, updated]);
    assert_eq!(ana.says(&format!("DELETE /api/v1/{at}"), &[], "").status, 204);
    assert_eq!([heard.next(), heard.next()].map(|it| it["method"].clone()), [changed, updated]);
}

#[test]
fn without_a_session_a_program_asks_to_hear_of_it() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let coder = Mcp::silent(&copydesk, OWNER);
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let wanted = json!({"notifications": {"resourcesListChanged": true}});
    let heard = coder.post(&alone("subscriptions/listen", wanted), &headers);
    assert_eq!(heard.status, 200, "{}", heard.head);
    assert_eq!(heard.next()["method"], "notifications/subscriptions/acknowledged");
    owner.creates(TEXT);
    assert_eq!(heard.next()["method"], "notifications/resources/list_changed");
}

#[test]
fn without_a_session_a_program_hears_of_texts() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let (document, other) = (owner.creates(TEXT), owner.creates(TEXT));
    let coder = Mcp::silent(&copydesk, OWNER);
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "subscriptions/listen")];
    let uri = |document: &str| format!("copydesk://documents/{document}");
    let wanted = [uri(&document), uri("nowhere")];
    let wanted = json!({"notifications": {"resourceSubscriptions": wanted}});
    let heard = coder.post(&alone("subscriptions/listen", wanted), &headers);
    assert_eq!(heard.next()["method"], "notifications/subscriptions/acknowledged");
    owner.types(0, "In the other one. ");
    owner.opens(&document);
    owner.types(0, "In this one. ");
    let event = heard.next();
    assert_eq!(event["method"], "notifications/resources/updated");
    assert_eq!(event["params"]["uri"], uri(&document), "{other}: {event}");
}

// Files.

#[test]
fn files_are_read_and_searched_by_the_person_who_may() {
    let copydesk = TestServer::plan().workspace(&[("a.txt", "one\ntwo lamps\n")]).start();
    std::fs::create_dir(copydesk.folder().join("notes")).unwrap();
    copydesk.overwrites("notes/b.md", "no light\n");
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let listed = coder.asks("tools/list", json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap();
    for name in ["atlas_read", "atlas_glob", "atlas_grep"] {
        let tool = listed.iter().find(|it| it["name"] == name).expect("it is offered");
        let hints = &tool["annotations"];
        let hinted = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let hinted = hinted.map(|hint| hints[hint].as_bool());
        assert_eq!(hinted, [Some(true), Some(false), Some(true), Some(false)], "{tool}");
    }
    let gets = |tool: &str, input: Value| coder.gets(tool, input);
    let text = |words: &str| (words.to_owned(), false);
    assert_eq!(gets("atlas_read", json!({"file_path": "a.txt"})), text("one\ntwo lamps\n"));
    let part = json!({"file_path": "a.txt", "offset": 1, "limit": 1});
    let first = "one\n\n[1 more lines; read on with offset 2]";
    assert_eq!(gets("atlas_read", part), text(first));
    assert_eq!(gets("atlas_glob", json!({"pattern": "**/*.md"})), text("notes/b.md"));
    assert_eq!(gets("atlas_grep", json!({"pattern": "lamp"})), text("a.txt:2:two lamps"));
    let (outside, is_error) = gets("atlas_read", json!({"file_path": "../secret"}));
    assert!(is_error && outside.starts_with("Error: "), "{outside}");
    let (wrong, is_error) = gets("atlas_read", json!({"path": "a.txt"}));
    assert!(is_error && wrong.contains("Invalid input for Read"), "{wrong}");
    let reader = Mcp::arrives(&copydesk, &copydesk.token("Vi", Role::Viewer, &[]), "reader");
    let refused = ("[DENIED] you may not do that".to_owned(), true);
    assert_eq!(reader.gets("atlas_read", json!({"file_path": "a.txt"})), refused);
    let without = TestServer::quiet();
    let tools = Mcp::arrives(&without, OWNER, "coder").tools();
    assert!(!tools.iter().any(|name| name.starts_with("atlas_")), "{tools:?}");
}

#[test]
fn owners_rules_hold_for_what_is_read_over_this_door() {
    let lit = "The lamp was lit.\n";
    let files = [("secret.txt", lit), ("draft.txt", lit), ("open.txt", lit)];
    let mut copydesk = TestServer::plan().workspace(&files).start();
    let owner = copydesk.owner();
    adds(&owner, json!({"effect": "deny", "path": "secret*"}));
    adds(&owner, json!({"effect": "ask", "tool": "Read", "path": "draft*"}));
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let coder = Mcp::arrives(&copydesk, &token, "coder");
    let read = |file: &str| json!({"file_path": file});
    let (tool_result, is_error) = coder.gets("atlas_read", read("secret.txt"));
    assert!(is_error && tool_result.starts_with("[DENIED] "), "{tool_result}");
    let said = "[files that rules of this workspace keep from searches are left out]";
    let (found, _) = coder.gets("atlas_grep", json!({"pattern": "lamp"}));
    assert_eq!(found, format!("open.txt:1:The lamp was lit.\n{said}"));
    // People decide as about any other call; who waits hears of it.
    let call = coder.calls("atlas_read", read("draft.txt"));
    let request = owner.sees_request();
    assert_eq!(call.progress(), format!("Request {} waits for people to decide", request.id()));
    owner.accepts_all(&request);
    assert_eq!(call.result(), (lit.to_owned(), false));
    let call = coder.calls("atlas_read", read("draft.txt"));
    owner.rejects(&owner.sees_request(), "Not yet");
    assert_eq!(call.result(), ("[DENIED] Read rejected: Not yet".to_owned(), true));
    let call = coder.calls("atlas_read", read("draft.txt"));
    let request = owner.sees_request();
    coder.says("notifications/cancelled", &json!({"requestId": call.id()}));
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    // What waits over a power cut is the same call when it is sent again.
    let coder = Mcp::arrives_over("brg_1", &copydesk, &token, "coder");
    let lost = coder.calls_as("toolu_1", "atlas_read", read("draft.txt"));
    let request = owner.sees_request();
    copydesk.is_killed_and_restarted();
    drop(lost);
    let owner = copydesk.owner();
    let coder = Mcp::arrives_over("brg_1", &copydesk, &token, "coder");
    let again = coder.calls_as("toolu_1", "atlas_read", read("draft.txt"));
    assert_eq!(again.progress(), format!("Request {} waits for people to decide", request.id()));
    owner.accepts_all(&request);
    assert_eq!(again.result(), (lit.to_owned(), false));
}
