//! Files of other programs as documents: what is taken, what is refused and why, and the tracked
//! changes of a Word file, which wait for people.

use serde_json::{Value, json};

use crate::support::http::{ask, send_bytes};
use crate::support::mcp::Mcp;
use crate::support::raw::RawClient;
use crate::support::{Answer, OWNER, Person, Receiver, RestClient, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";
const HTML: (&str, &str) = ("Content-Type", "text/html; charset=utf-8");

fn imports(client: &RestClient, name: &str, file: &[u8]) -> Answer {
    client.posts_file(&format!("documents/import?name={name}"), &[], file)
}

fn documents(client: &RestClient) -> usize {
    client.gets("documents").ok()["documents"].as_array().unwrap().len()
}

fn text_of(client: &RestClient, imported: &Value) -> Value {
    let id = imported["document"]["id"].as_str().unwrap();
    client.gets(&format!("documents/{id}")).ok()["text"].clone()
}

#[test]
fn a_text_becomes_a_document_as_it_is_whatever_its_encoding() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let text = "---\ntitle: Öl\n---\n\n# The *keeper*\n\n* oil\n";
    let utf_16 = |bytes: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let nothing = json!([]);
    let guessed = |name: &str| json!([{"kind": format!("text read as {name}"), "count": 1}]);
    let western: Vec<u8> = text.chars().map(|sign| u8::try_from(sign).unwrap()).collect();
    for (file, decided) in [
        (text.as_bytes().to_vec(), nothing.clone()),
        (text.replace('\n', "\r\n").into_bytes(), nothing.clone()),
        (format!("\u{feff}{text}").into_bytes(), nothing.clone()),
        (utf_16(u16::to_le_bytes, "\u{feff}"), nothing.clone()),
        (utf_16(u16::to_be_bytes, ""), guessed("UTF-16BE")),
        (western, guessed("Windows-1252")),
    ] {
        let imported = imports(&ana, "notes.md", &file);
        assert_eq!(imported.status, 201, "{imported:?}");
        let imported = imported.ok();
        assert_eq!(text_of(&ana, &imported), text);
        let document = &imported["document"];
        assert_eq!((&document["title"], &document["version"]), (&json!("Öl"), &json!(0)));
        assert_eq!(imported["requests"], json!([]));
        assert_eq!(imported["report"], json!({"leftOut": [], "decided": decided}));
    }
    let titled = "documents/import?name=a%20text.txt&title=A%20story";
    let imported = ana.posts_file(titled, &[], b"Words.").ok();
    assert_eq!(imported["document"]["title"], "A story");
    let imported = ana.posts_file("documents/import?name=a%20text.txt", &[], b"Words.").ok();
    assert_eq!(imported["document"]["title"], "a text");
    copydesk.checks_its_data();
}

#[test]
fn what_is_no_text_of_these_kinds_is_refused_in_words_and_nothing_is_created() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, OWNER);
    let before = documents(&ana);
    let (russian, form) =
        (b"\xcc\xe0\xff\xea \xe3\xee\xf0\xe5\xeb".as_slice(), "multipart/form-data");
    for (name, file, status, code, words) in [
        ("a.txt", russian, 415, "unsupported_media_type", "encoding"),
        ("a.md", b"\x7fELF\x02\0\x01\0\0".as_slice(), 415, "unsupported_media_type", "no text"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 415, "unsupported_media_type", ".doc"),
        ("a.pdf", b"%PDF-1.7", 415, "unsupported_media_type", "PDF"),
        ("a.docx", b"PK\x03\x04", 422, "invalid_request", "Word"),
        ("a.docx", b"Words.", 415, "unsupported_media_type", "Word"),
    ] {
        let refused = imports(&ana, name, file);
        assert_eq!((refused.status, &refused.body["code"]), (status, &json!(code)), "{refused:?}");
        let detail = refused.body["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{name}: {detail}");
    }
    let refused = ana.posts_file("documents/import", &[("Content-Type", form)], b"--x");
    refused.refused_with(415, "unsupported_media_type");
    let long = vec![b'x'; 32 * 1024 * 1024 + 1];
    imports(&ana, "a.txt", &long).refused_with(413, "too_large");
    let refused = imports(&ana, "a.txt", &long[1..]);
    assert_eq!(refused.status, 400, "longer than a document: {refused:?}");
    assert_eq!(documents(&ana), before);
}

#[test]
fn only_who_may_create_sends_a_file_and_it_is_not_read_of_others() {
    let copydesk = TestServer::quiet();
    let owner = RestClient::new(&copydesk, OWNER);
    let before = documents(&owner);
    for role in [Role::Reviewer, Role::Viewer] {
        let token = copydesk.token("Rex", role, &[]);
        // The body never comes: who is refused is answered without it.
        let mut silent = RawClient::silent(copydesk.address());
        let head = format!(
            "POST /api/v1/documents/import?name=a.md HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: 1000000\r\n\r\n",
            copydesk.address()
        );
        silent.sends_bytes(head.as_bytes());
        assert!(silent.reads_head().starts_with("HTTP/1.1 403"), "{role:?}");
    }
    let stranger = send_bytes(
        copydesk.address(),
        "POST /api/v1/documents/import?name=a.md",
        &[("Host", copydesk.address())],
        b"x",
    );
    assert_eq!(stranger.status, 401);
    // An upload that is given up creates nothing.
    let mut leaving = RawClient::silent(copydesk.address());
    let head = format!(
        "POST /api/v1/documents/import?name=a.md HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {OWNER}\r\nContent-Length: 1000\r\n\r\nhalf",
        copydesk.address()
    );
    leaving.sends_bytes(head.as_bytes());
    drop(leaving);
    assert_eq!(documents(&owner), before);
}

#[test]
fn the_same_file_sent_again_with_its_key_is_one_document() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, OWNER);
    let before = documents(&ana);
    let again = || {
        let key = [("Idempotency-Key", "letter-1"), ("Content-Type", "text/markdown")];
        ana.posts_file("documents/import", &key, "# Öl\n".as_bytes())
    };
    let (first, second) = (again().ok(), again());
    assert!(second.head.contains("idempotency-replayed: true"), "{}", second.head);
    assert_eq!(second.ok(), first);
    assert_eq!(documents(&ana), before + 1);
    let key = [("Idempotency-Key", "letter-1")];
    ana.posts_file("documents/import", &key, b"other").refused_with(422, "key_reused");
}

#[test]
fn files_that_are_sent_at_once_are_all_there() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, OWNER);
    let before = documents(&ana);
    std::thread::scope(|scope| {
        for number in 0..6 {
            let ana = &ana;
            scope.spawn(move || {
                let text = format!("{number} {}", "words ".repeat(50_000));
                let imported = imports(ana, "a.txt", text.as_bytes()).ok();
                assert_eq!(text_of(ana, &imported), text);
            });
        }
    });
    assert_eq!(documents(&ana), before + 6);
}

#[test]
fn html_is_converted_for_who_may_write_or_suggest_and_changes_nothing() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(BEFORE);
    let path = format!("documents/{document}/convert");
    let client = RestClient::new(&copydesk, &ana.token);
    let made = client.posts_file(&path, &[HTML], b"<p>He <b>wrote</b>.</p>").ok();
    assert_eq!(made["report"], json!({"leftOut": [], "decided": []}));
    assert!(made["markdown"].as_str().unwrap().contains("wrote"), "{made}");
    assert_eq!(client.gets(&format!("documents/{document}")).ok()["text"], BEFORE);
    client.posts_file(&path, &[], b"<p>").refused_with(415, "unsupported_media_type");
    let long = vec![b'x'; 4 * 1024 * 1024 + 1];
    client.posts_file(&path, &[HTML], &long).refused_with(413, "too_large");
    client.posts_file("documents/doc_none/convert", &[HTML], b"x").refused_with(404, "not_found");
    let vi = RestClient::new(&copydesk, &copydesk.token("Vi", Role::Viewer, &[]));
    vi.posts_file(&path, &[HTML], b"x").refused_with(403, "not_allowed");
}

/// A Word file with two tracked changes, as this server writes it.
fn reviewed_file(copydesk: &TestServer, ana: &Person) -> Vec<u8> {
    let document = ana.creates(BEFORE);
    ana.asks("Fix the spelling");
    ana.sees_request();
    let route = format!("GET /api/v1/documents/{document}/export?format=docx");
    let bearer = format!("Bearer {}", ana.token);
    let headers = [("Host", copydesk.address()), ("Authorization", bearer.as_str())];
    ask(copydesk.address(), &route, &headers).bytes
}

#[test]
fn tracked_changes_of_a_word_file_wait_for_people_and_are_there_after_a_crash() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    let file = reviewed_file(&copydesk, &ana);
    let client = RestClient::new(&copydesk, &ana.token);
    let imported = imports(&client, "letter.docx", &file).ok();
    copydesk.is_killed_and_restarted();
    let client = RestClient::new(&copydesk, &ana.token);
    assert_eq!(text_of(&client, &imported).as_str().unwrap().trim(), BEFORE.trim());
    let request = &imported["requests"][0];
    assert_eq!(request["source"], "import");
    assert_eq!(request["tool_name"], "suggestion");
    assert_eq!(request["claimedAuthor"]["name"], "AI for Ana");
    assert_eq!((&request["author"]["name"], &request["expires_at"]), (&json!("Ana"), &json!(null)));
    assert_eq!(request["hunks"].as_array().unwrap().len(), 2);
    // By this the editor tells a person's changes from those of the AI.
    assert!(request["hunks"][0]["hash"].is_string());
    let id = request["request_id"].as_str().unwrap();
    let open = client.gets(&format!("requests/{id}")).ok();
    assert_eq!(&open, request);
    let first = json!([{"id": request["hunks"][0]["id"], "decision": "accept"}]);
    let decide = |body: &Value| client.posts(&format!("requests/{id}/decision"), body).ok();
    decide(&json!({"approved": true, "hunks": first}));
    let text = text_of(&client, &imported);
    assert!(text.as_str().unwrap().starts_with("The keeper"), "{text}");
    assert_eq!(decide(&json!({"approved": false}))["status"], "partly");
    client.posts(&format!("requests/{id}/undo"), &json!({})).ok();
    assert_eq!(text_of(&client, &imported).as_str().unwrap().trim(), BEFORE.trim());
    let of = imported["document"]["id"].as_str().unwrap();
    client.posts(&format!("requests/{id}/decision"), &json!({"approved": true})).ok();
    let authors = client.gets(&format!("documents/{of}/provenance")).ok();
    let claimed = |span: &&Value| span["claimedAuthor"] == "AI for Ana";
    let span = authors["spans"].as_array().unwrap().iter().find(claimed).unwrap();
    assert_eq!((&span["kind"], &span["author"]["name"]), (&json!("import"), &json!("Ana")));
    copydesk.checks_its_data();
}

#[test]
fn a_receiver_is_told_of_tracked_changes_that_wait_and_of_their_end() {
    let plan = TestServer::plan().script(Script::rewriting(AFTER));
    let copydesk = plan.flags(&["--allow-private-webhooks"]).start();
    let ana = copydesk.editor("Ana");
    let file = reviewed_file(&copydesk, &ana);
    let receiver = Receiver::start();
    RestClient::new(&copydesk, OWNER).posts("webhooks", &json!({"url": receiver.url()})).ok();
    let client = RestClient::new(&copydesk, &ana.token);
    let imported = imports(&client, "letter.docx", &file).ok();
    let request = &imported["requests"][0];
    let waiting = receiver.takes().body;
    assert_eq!(waiting["type"], "tool_approval_request");
    assert_eq!(waiting["data"]["request_id"], request["request_id"]);
    assert_eq!(waiting["data"]["source"], "import");
    assert_eq!(waiting["data"]["hunks"], request["hunks"]);
    assert_eq!(waiting["data"]["claimedAuthor"], request["claimedAuthor"]);
    let id = request["request_id"].as_str().unwrap();
    client.posts(&format!("requests/{id}/decision"), &json!({"approved": true})).ok();
    let resolved = receiver.takes().body;
    assert_eq!(resolved["type"], "tool_approval_resolved");
    assert_eq!(resolved["data"]["request_id"], request["request_id"]);
    assert_eq!(resolved["data"]["status"], "approved");
}

#[test]
fn programs_over_mcp_read_an_imported_text_without_changes_that_wait() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    let file = reviewed_file(&copydesk, &ana);
    let client = RestClient::new(&copydesk, &ana.token);
    let imported = imports(&client, "letter.docx", &file).ok();
    let document = imported["document"]["id"].as_str().unwrap();
    let coder = Mcp::arrives(&copydesk, &ana.token, "coder");
    let text = coder.reads(document);
    assert!(text.contains("Teh keeper") && !text.contains("The keeper"), "{text}");
    let id = imported["requests"][0]["request_id"].as_str().unwrap();
    client.posts(&format!("requests/{id}/decision"), &json!({"approved": true})).ok();
    let text = coder.reads(document);
    assert!(text.contains("The keeper") && text.contains("received"), "{text}");
}

#[test]
fn changes_that_a_deleted_person_imported_can_be_decided_by_others() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let file = reviewed_file(&copydesk, &ana);
    let imported = imports(&RestClient::new(&copydesk, &ana.token), "letter.docx", &file).ok();
    let person = json!({"id": ana.user()["id"]});
    assert_eq!(owner.emit("person:delete", &person).ok()["state"], "deleted");
    let client = RestClient::new(&copydesk, OWNER);
    let id = imported["requests"][0]["request_id"].as_str().unwrap();
    let request = client.gets(&format!("requests/{id}")).ok();
    assert_eq!((&request["source"], &request["status"]), (&json!("import"), &json!("pending")));
    assert_eq!(request["author"]["name"], "Deleted person");
    client.posts(&format!("requests/{id}/decision"), &json!({"approved": true})).ok();
    assert!(text_of(&client, &imported).as_str().unwrap().starts_with("The keeper"));
    copydesk.checks_its_data();
}
