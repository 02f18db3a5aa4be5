//! Reviews as Word documents: pending changes and threads go to Word and come back as they were.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::http::ask;
use crate::support::mcp::Mcp;
use crate::support::{OWNER, Person, RestClient, Role, Script, TestServer, skip};

const BEFORE: &str = "# The lamp\n\nTeh keeper wrote every night. Nobody came.\n\nHe recieved few visitors there.\n\nThe lamp was lit.\n";
const AFTER: &str = "# The lamp\n\nThe keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was never lit.\n";

fn export(copydesk: &TestServer, document: &Value, format: &str) -> Vec<u8> {
    let document = document.as_str().unwrap();
    let route = format!("GET /api/v1/documents/{document}/export?format={format}");
    let bearer = format!("Bearer {OWNER}");
    let headers = [("Host", copydesk.address()), ("Authorization", bearer.as_str())];
    ask(copydesk.address(), &route, &headers).bytes
}

fn import(client: &RestClient, file: &[u8]) -> Value {
    client.posts_file("documents/import?name=review.docx", &[], file).ok()
}

fn comments(client: &RestClient, document: &Value, wish: &Value) -> Value {
    let path = format!("documents/{}/comments", document.as_str().unwrap());
    client.posts(&path, wish).ok()["thread"].clone()
}

fn threads(client: &RestClient, document: &Value) -> Vec<Value> {
    let list = client.gets(&format!("documents/{}/comments", document.as_str().unwrap())).ok();
    let mut threads = list["threads"].as_array().unwrap().clone();
    threads.reverse();
    threads
}

/// A document that the AI wants to change for Ana, with threads of Ana and Ben on it.
fn review(copydesk: &TestServer, ana: &Person, ben: &RestClient) -> Value {
    let document = json!(ana.creates(BEFORE));
    let client = RestClient::new(copydesk, &ana.token);
    let at = |words: &str| {
        let from = BEFORE.find(words).unwrap();
        json!({"from": from, "to": from + words.len(), "text": format!("About {words}?")})
    };
    let orphan = comments(&client, &document, &at("Nobody came."));
    ana.overwrites(" Nobody came.", "");
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    let resolved = comments(ben, &document, &json!({"text": "Well done,\n\nall of it."}));
    let moved = |words: &str| {
        let mut wish = at(words);
        wish["version"] = json!(0);
        wish
    };
    comments(ben, &document, &moved("keeper wrote"));
    comments(ben, &document, &moved("He recieved few"));
    for hunk in request["hunks"].as_array().unwrap() {
        let wish =
            json!({"request_id": request["request_id"], "hunk_id": hunk["id"], "text": "Why?"});
        let thread = comments(ben, &document, &wish);
        let path = format!("comments/{}", thread["id"].as_str().unwrap());
        client.posts(&path, &json!({"text": "It is better."})).ok();
    }
    for id in [&orphan["id"], &resolved["id"]] {
        ana.emit("comment:resolve", &json!({"threadId": id, "resolved": true})).ok();
    }
    ana.emit("comment:resolve", &json!({"threadId": orphan["id"], "resolved": false})).ok();
    document
}

/// Returns the changes of a document by place, under the names that people see.
fn changes(client: &RestClient, document: &Value) -> Vec<(Value, String)> {
    let list = client.gets("requests").ok();
    let own = list["requests"].as_array().unwrap().iter();
    let mut changes = Vec::new();
    for request in own.filter(|it| it["document_id"] == *document) {
        let name = match request["claimedAuthor"]["name"].as_str() {
            Some(name) => name.to_owned(),
            None => format!("AI for {}", request["author"]["name"].as_str().unwrap()),
        };
        let hunks = request["hunks"].as_array().unwrap().iter();
        changes.extend(hunks.map(|hunk| (hunk["parts"].clone(), name.clone())));
    }
    changes.sort_by_key(|(parts, _)| parts[0]["from"].as_u64());
    changes
}

/// Returns the threads of a document as people see them.
fn discussions(client: &RestClient, document: &Value) -> Vec<Value> {
    let changed = client.gets("requests").ok();
    let parts_of = |thread: &Value| {
        let mut hunks = changed["requests"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|request| request["hunks"].as_array().unwrap().iter());
        hunks.find(|hunk| hunk["id"] == thread["hunk_id"]).map(|hunk| hunk["parts"].clone())
    };
    let said = |thread: &Value| -> Vec<Value> {
        let comments = thread["comments"].as_array().unwrap().iter();
        let name = |it: &Value| {
            let claimed = &it["claimedAuthor"]["name"];
            if claimed.is_null() { it["author"]["name"].clone() } else { claimed.clone() }
        };
        comments.map(|it| json!([name(it), it["text"]])).collect()
    };
    let of = |thread: &Value| {
        json!({"anchor": thread["anchor"], "quote": thread["quote"], "status": thread["status"],
            "change": parts_of(thread), "said": said(thread)})
    };
    let mut found: Vec<Value> = threads(client, document).iter().map(of).collect();
    found.sort_by_key(ToString::to_string);
    found
}

/// Returns the rows with their times, which an import takes from the file.
fn times(client: &RestClient, document: &Value) -> Vec<String> {
    let all = threads(client, document);
    let comments = all.iter().flat_map(|thread| thread["comments"].as_array().unwrap());
    let seconds = |it: &Value| {
        let claimed = it["claimedAuthor"]["at"].as_str();
        claimed.unwrap_or_else(|| it["at"].as_str().unwrap())[..19].to_owned()
    };
    let mut times: Vec<_> = comments.map(seconds).collect();
    times.sort();
    times
}

#[test]
fn a_review_goes_to_word_and_comes_back_as_it_was() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.token("Ben", Role::Reviewer, &[]));
    let document = review(&copydesk, &ana, &RestClient::new(&copydesk, &ben));
    let client = RestClient::new(&copydesk, OWNER);
    let (before, said) = (changes(&client, &document), discussions(&client, &document));
    assert_eq!((before.len(), said.len()), (3, 7));
    let dated = times(&client, &document);
    let mut file = export(&copydesk, &document, "docx");
    drop(ana);
    for _ in 0..2 {
        let imported = import(&RestClient::new(&copydesk, OWNER), &file);
        copydesk.is_killed_and_restarted();
        let client = RestClient::new(&copydesk, OWNER);
        let back = &imported["document"]["id"];
        assert_eq!(imported["report"], json!({"leftOut": [], "decided": []}));
        assert_eq!(imported["comments"], dated.len());
        assert_eq!(changes(&client, back), before);
        assert_eq!(discussions(&client, back), said);
        assert_eq!(times(&client, back), dated);
        file = export(&copydesk, back, "docx");
    }
    copydesk.checks_its_data();
}

#[test]
fn imported_comments_are_under_the_names_in_the_file_and_nobody_edits_them() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let ben = copydesk.token("Ben", Role::Reviewer, &[]);
    let document = review(&copydesk, &ana, &RestClient::new(&copydesk, &ben));
    let cy = copydesk.editor_with("Cy", &["comments"]);
    let client = RestClient::new(&copydesk, &cy.token);
    let imported = import(&client, &export(&copydesk, &document, "docx"));
    let back = &imported["document"]["id"];
    let thread = threads(&client, back).into_iter().find(|it| it["comments"][1].is_object());
    let comment = &thread.as_ref().unwrap()["comments"][0];
    assert_eq!(
        (&comment["author"]["name"], &comment["claimedAuthor"]["name"]),
        (&json!("Cy"), &json!("Ben"))
    );
    let edit = json!({"commentId": comment["id"], "text": "Other words"});
    cy.emit("comment:edit", &edit).refused_with("not_allowed");
    let audit = client.gets(&format!("documents/{}/audit", back.as_str().unwrap())).ok();
    let begun = audit["lines"].as_array().unwrap().iter();
    assert_eq!(begun.filter(|it| it["action"] == "comment.create").count(), 7, "{audit}");
    // The importer goes; the names in the file are text, and stay.
    let person = json!({"id": cy.user()["id"]});
    assert_eq!(owner.emit("person:delete", &person).ok()["state"], "deleted");
    let client = RestClient::new(&copydesk, OWNER);
    for comment in threads(&client, back).iter().flat_map(|it| it["comments"].as_array().unwrap()) {
        assert_eq!(comment["author"]["name"], "Deleted person");
        assert!(["Ana", "Ben"].contains(&comment["claimedAuthor"]["name"].as_str().unwrap()));
    }
    let text = String::from_utf8(export(&copydesk, back, "criticmarkup")).unwrap();
    assert!(text.contains("{>>Ben: Why?<<}{>>Ana: It is better.<<}"), "{text}");
    copydesk.checks_its_data();
}

#[test]
fn words_that_were_discussed_name_their_threads() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    let ben = copydesk.token("Ben", Role::Reviewer, &[]);
    let document = review(&copydesk, &ana, &RestClient::new(&copydesk, &ben));
    let client = RestClient::new(&copydesk, &ana.token);
    let request = client.gets("requests").ok()["requests"][0].clone();
    let path = format!("requests/{}/decision", request["request_id"].as_str().unwrap());
    client.posts(&path, &json!({"approved": true})).ok();
    let path = format!("documents/{}/provenance", document.as_str().unwrap());
    let spans = client.gets(&path).ok()["spans"].as_array().unwrap().clone();
    for span in &spans {
        let of_span = |it: &&Value| it["hunk_id"] == span["hunk"] && span["hunk"].is_string();
        let about = threads(&client, &document);
        let about: Vec<_> = about.iter().filter(of_span).map(|it| it["id"].clone()).collect();
        let expected = if about.is_empty() { Value::Null } else { json!(about) };
        assert_eq!(span["threads"], expected, "{span}");
    }
    assert_eq!(spans.iter().filter(|span| span["threads"].is_array()).count(), 3);
}

/// Runs a program; `None` where it is not installed.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(String::from_utf8_lossy(&done.stdout).into_owned())
        }
        Err(error) => {
            skip("reviews in another program", format_args!("no {program}: {error}"));
            None
        }
    }
}

fn is_all_there(read: &str) {
    for (words, times) in [
        ("author=\"AI for Ana\"", 6),
        (".insertion", 3),
        (".deletion", 2),
        ("Why?", 3),
        ("It is better.", 3),
        ("About keeper wrote?", 1),
        ("About Nobody came.?", 1),
        ("all of it.", 1),
    ] {
        assert!(read.matches(words).count() >= times, "{words}: {read}");
    }
    assert!(read.contains("author=\"Ben\"") && read.contains("author=\"Ana\""), "{read}");
}

#[test]
fn another_program_finds_every_comment_and_change_with_its_author() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    let ben = copydesk.token("Ben", Role::Reviewer, &[]);
    let document = review(&copydesk, &ana, &RestClient::new(&copydesk, &ben));
    let file = copydesk.data().join("../review.docx");
    std::fs::write(&file, export(&copydesk, &document, "docx")).unwrap();
    let read = |file: &Path| {
        let from = ["--from", "docx", "--to", "markdown", "--track-changes=all", "--wrap=none"];
        output("pandoc", &[&from[..], &[file.to_str().unwrap()]].concat())
    };
    let Some(markdown) = read(&file) else { return };
    is_all_there(&markdown);
}

#[test]
fn programs_over_mcp_list_write_and_resolve_comments_as_their_person_may() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor_with("Ana", &["comments"]);
    let document = ana.creates(BEFORE);
    let coder = Mcp::arrives(&copydesk, &ana.token, "coder");
    let write = |arguments: Value| {
        let mut arguments = arguments;
        arguments["document_id"] = json!(document);
        coder.gets("add_comment", arguments)
    };
    let (begun, failed) = write(json!({"comment": "Which?", "quote": "keeper"}));
    assert!(!failed, "{begun}");
    let begun: Value = serde_json::from_str(&begun).unwrap();
    let thread = &begun["thread"];
    let told = ana.sees("comment:changed");
    assert_eq!(told["thread"], *thread);
    assert_eq!(thread["quote"], "keeper");
    assert_eq!(thread["comments"][0]["author"]["id"], ana.user()["id"]);
    assert!(!write(json!({"comment": "The old one.", "thread_id": thread["id"]})).1);
    let resolve = json!({"document_id": document, "thread_id": thread["id"], "resolved": true});
    assert!(!coder.gets("resolve_comments", resolve.clone()).1);
    let wish = json!({"document_id": document, "status": "resolved"});
    let (listed, _) = coder.gets("list_comments", wish);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["threads"][0]["comments"].as_array().unwrap().len(), 2);
    for (arguments, why) in [
        (json!({"comment": "x", "quote": "e"}), "give `occurrence`"),
        (json!({"comment": "x", "quote": "nowhere"}), "not in the document"),
        (json!({"comment": "x", "quote": 7}), "Invalid input"),
        (json!({"comment": "x", "quote": "keeper", "thread_id": thread["id"]}), "Invalid input"),
        (json!({"comment": " "}), "characters"),
        (json!({"quote": "keeper"}), "comment is missing"),
        (json!({"comment": "x", "quote": "keeper", "occurrence": "1"}), "Invalid input"),
        (json!({"comment": "x", "more": 1}), "unknown field more"),
        (json!({"comment": "x", "thread_id": "thr_none"}), "thread"),
        (json!({"comment": "x".repeat(10_001)}), "characters"),
    ] {
        let (said, failed) = write(arguments);
        assert!(failed && said.starts_with("[DENIED]") && said.contains(why), "{why}: {said}");
    }
    let vi = Mcp::arrives(&copydesk, &copydesk.token("Vi", Role::Viewer, &[]), "reader");
    assert!(!vi.gets("list_comments", json!({"document_id": document})).1);
    let refused = vi.gets("add_comment", json!({"document_id": document, "comment": "x"}));
    assert!(refused.1, "{refused:?}");
    assert!(vi.gets("resolve_comments", resolve).1);
    let elsewhere = copydesk.token("Bo", Role::Editor, &["--document", &ana.creates("Other.")]);
    let bound = Mcp::arrives(&copydesk, &elsewhere, "coder");
    for tool in ["list_comments", "add_comment"] {
        assert!(bound.gets(tool, json!({"document_id": document, "comment": "x"})).1, "{tool}");
    }
    // The limit is the person's, over all transports.
    let mut written = 0;
    while !write(json!({"comment": "Again."})).1 {
        written += 1;
        assert!(written < 31, "there is a limit");
    }
    let more = json!({"documentId": document, "text": "And again."});
    ana.emit("comment:create", &more).refused_with("rate_limited");
}
