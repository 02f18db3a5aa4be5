//! Comments: threads on passages, on changes and on whole documents, over socket.io and REST.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{OWNER, Person, RestClient, Role, Script, TestServer, stored_rows};

const TEXT: &str = "Teh keeper wrote every night.\n\nThe lamp was lit.\n";

/// Begins a thread on these words of the document that a person has open.
fn comments_on(person: &Person, words: &str, text: &str) -> Value {
    let (at, version) = (person.text().find(words).unwrap(), person.version());
    let wish = json!({"documentId": person.document(), "version": version, "from": at,
        "to": at + words.len(), "text": text});
    person.emit("comment:create", &wish).ok()["thread"].clone()
}

fn threads(person: &Person) -> Vec<Value> {
    let list = person.emit("comment:list", &json!({"documentId": person.document()})).ok();
    list["threads"].as_array().unwrap().clone()
}

fn words_of(person: &Person, thread: &Value) -> String {
    let at = |edge: &str| usize::try_from(thread["anchor"][edge].as_u64().unwrap()).unwrap();
    let units: Vec<u16> = person.text().encode_utf16().collect();
    String::from_utf16(&units[at("from")..at("to")]).unwrap()
}

#[test]
fn a_thread_is_begun_answered_resolved_and_reopened_and_whoever_takes_comments_is_told() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor_with("Ana", &["comments"]), copydesk.editor("Ben"));
    assert!(ana.registered()["capabilities"].as_array().unwrap().contains(&json!("comments")));
    assert_eq!(ana.opens(&ana.creates(TEXT))["threads"], json!([]));
    assert!(ben.opens(&ana.document()).get("threads").is_none());
    let thread = comments_on(&ben, "The lamp", "Which one?");
    assert_eq!((&thread["quote"], &thread["status"]), (&json!("The lamp"), &json!("open")));
    let id = &thread["id"];
    assert_eq!(ana.sees("comment:changed")["thread"], thread);
    let reply = json!({"threadId": id, "text": "The old one.", "mentions": [ben.user()["id"]]});
    let replied = ana.emit("comment:reply", &reply).ok()["thread"].clone();
    assert_eq!(replied["comments"][1]["author"]["name"], "Ana");
    assert_eq!(replied["comments"][1]["mentions"], json!([ben.user()["id"]]));
    let resolved = ben.emit("comment:resolve", &json!({"threadId": id, "resolved": true})).ok();
    assert_eq!(resolved["thread"]["resolvedBy"]["name"], "Ben");
    ana.sees_where("comment:changed", |it| it["thread"]["status"] == "resolved");
    assert_eq!(ana.opens_again()["threads"], json!([]));
    ana.emit("comment:resolve", &json!({"threadId": id, "resolved": false})).ok();
    let since = json!({"documentId": ana.document(), "since": 0});
    assert_eq!(ana.emit("document:open", &since).ok()["threads"][0], replied);
    let resync = json!({"documentId": ana.document(), "version": 0});
    assert_eq!(ana.emit("document:resync", &resync).ok()["threads"][0], replied);
    assert!(ben.saw("comment:changed").is_empty(), "he named no capability");
    copydesk.is_killed_and_restarted();
    let ben = ben.comes_back(&copydesk);
    ben.opens(&ana.document());
    assert_eq!(threads(&ben), [replied]);
    drop((ana, ben));
    copydesk.checks_its_data();
}

#[test]
fn a_thread_moves_with_its_words_is_orphaned_by_deletion_and_comes_back() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor_with("Ana", &["comments"]), copydesk.editor("Ben"));
    ben.opens(&ana.creates(TEXT));
    let thread = comments_on(&ana, "The lamp was lit.", "By whom?");
    ben.types(0, "So. ");
    ana.comes_to_version(1);
    assert_eq!(words_of(&ana, &threads(&ana)[0]), "The lamp was lit.");
    ben.overwrites("The lamp was lit.", "");
    let told = ana.sees_where("comment:changed", |it| it["thread"]["status"] == "orphaned");
    assert_eq!((&told["version"], &told["thread"]["quote"]), (&json!(2), &thread["quote"]));
    assert_eq!(told["thread"]["anchor"]["from"], told["thread"]["anchor"]["to"]);
    let orphaned = json!({"documentId": ana.document(), "status": "orphaned"});
    let listed = ana.emit("comment:list", &orphaned).ok();
    assert_eq!(listed["threads"][0], told["thread"]);
    copydesk.is_killed_and_restarted();
    let (ana, ben) = (ana.comes_back(&copydesk), ben.comes_back(&copydesk));
    let document = told["documentId"].as_str().unwrap();
    ana.opens(document);
    ben.opens(document);
    ben.types(35, "The lamp was lit.");
    ana.comes_to_version(3);
    let back = threads(&ana).remove(0);
    assert_eq!(back["status"], "open");
    assert_eq!(words_of(&ana, &back), "The lamp was lit.");
    drop((ana, ben));
    copydesk.checks_its_data();
}

#[test]
fn a_thread_on_a_change_goes_with_the_words_that_are_accepted() {
    let call = json!({"type": "tool_use", "name": "update_full_document",
        "input": full(&TEXT.replace("Teh", "The"))});
    let script = Script::default().turn(json!({"when": {"user": "."}, "content": [call]}));
    let copydesk = TestServer::scripted(script.closing("Done."));
    let (ana, rex) =
        (copydesk.editor_with("Ana", &["comments"]), copydesk.person("Rex", Role::Reviewer));
    rex.opens(&ana.creates(TEXT));
    let run = ana.asks("Fix it");
    let request = rex.sees_request_of(&run);
    let hunk = &request.hunks()[0]["id"];
    let wish = json!({"documentId": ana.document(), "request_id": request.id(), "hunk_id": hunk,
        "text": "Really?"});
    let thread = rex.emit("comment:create", &wish).ok()["thread"].clone();
    assert_eq!((&thread["request_id"], &thread["hunk_id"]), (&json!(request.id()), hunk));
    assert_eq!((&thread["requestId"], &thread["quote"]), (&json!(run), &json!("Teh")));
    ana.accepts_all(&request);
    ana.answer(&run);
    assert_eq!(words_of(&ana, &threads(&ana)[0]), "The");
    let unknown = json!({"documentId": ana.document(), "request_id": request.id(),
        "hunk_id": "none", "text": "x"});
    rex.emit("comment:create", &unknown).refused_with("not_found");
    drop((ana, rex));
    copydesk.checks_its_data();
}

#[test]
fn wrong_shapes_and_what_is_too_big_are_refused_and_harm_nobody() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(TEXT);
    let document = ana.document();
    let thread = comments_on(&ana, "The lamp", "Why?");
    let (id, first) = (&thread["id"], &thread["comments"][0]["id"]);
    let long = "é".repeat(10_001);
    for (event, wrong) in [
        ("comment:create", json!({"documentId": document})),
        ("comment:create", json!({"documentId": document, "text": 7})),
        ("comment:create", json!({"documentId": document, "text": " "})),
        ("comment:create", json!({"documentId": document, "text": long})),
        ("comment:create", json!({"documentId": document, "text": "x", "from": 3})),
        ("comment:create", json!({"documentId": document, "text": "x", "from": 3, "to": 3})),
        ("comment:create", json!({"documentId": document, "text": "x", "from": 0, "to": 4_000})),
        ("comment:create", json!({"documentId": document, "text": "x", "hunk_id": "none"})),
        ("comment:create", json!({"documentId": document, "text": "x", "mentions": [""]})),
        ("comment:reply", json!({"threadId": id, "text": ""})),
        ("comment:reply", json!({"threadId": id, "text": "x", "mentions": "ai"})),
        ("comment:edit", json!({"commentId": first, "text": long})),
        ("comment:resolve", json!({"threadId": id})),
        ("comment:list", json!({"documentId": document, "status": "closed"})),
        ("comment:list", json!({"documentId": document, "limit": 0})),
        ("comment:read", json!({"documentId": document, "threadIds": [7]})),
    ] {
        let answer = ana.ack(ana.send_args(event, &json!([wrong])));
        answer.refused_with("invalid_payload");
    }
    let ahead = json!({"documentId": document, "text": "x", "version": 9, "from": 0, "to": 3});
    ana.emit("comment:create", &ahead).refused_with("resync");
    for (event, unknown) in [
        ("comment:reply", json!({"threadId": "thr_none", "text": "x"})),
        ("comment:resolve", json!({"threadId": "thr_none", "resolved": true})),
        ("comment:edit", json!({"commentId": "none", "text": "x"})),
        ("comment:delete", json!({"commentId": format!("{}9", first.as_str().unwrap())})),
    ] {
        ana.emit(event, &unknown).refused_with("not_found");
    }
    ana.is_fine();
    assert_eq!(threads(&ana), [thread]);
}

#[test]
fn comments_belong_to_their_writers_and_are_gone_when_deleted() {
    let copydesk = TestServer::quiet();
    let (ana, sue) = (copydesk.editor("Ana"), copydesk.person("Sue", Role::Suggester));
    let (vic, owner) = (copydesk.person("Vic", Role::Viewer), copydesk.owner());
    sue.opens(&ana.creates(TEXT));
    assert_eq!(sue.opens_again()["role"], "suggester");
    let thread = comments_on(&sue, "The lamp", "quillwort");
    let first = json!({"commentId": thread["comments"][0]["id"]});
    let edit = json!({"commentId": thread["comments"][0]["id"], "text": "Why quillwort?"});
    ana.emit("comment:edit", &edit).refused_with("not_allowed");
    ana.emit("comment:delete", &first).refused_with("not_allowed");
    let wish = json!({"documentId": ana.document(), "text": "x"});
    vic.emit("comment:create", &wish).refused_with("not_allowed");
    let edited = sue.emit("comment:edit", &edit).ok();
    assert!(edited["thread"]["comments"][0]["editedAt"].is_string());
    ana.emit("comment:reply", &json!({"threadId": thread["id"], "text": "No."})).ok();
    let deleted = owner.emit("comment:delete", &first).ok();
    let comment = &deleted["thread"]["comments"][0];
    assert_eq!((&comment["text"], &comment["deleted"]), (&json!(""), &json!(true)));
    owner.emit("comment:delete", &first).refused_with("not_found");
    sue.emit("comment:edit", &edit).refused_with("not_found");
    let rows = stored_rows(&copydesk);
    assert!(rows.iter().all(|(_, row)| !row.contains("quillwort")), "no row has its text");
    let second = json!({"commentId": deleted["thread"]["comments"][1]["id"]});
    ana.emit("comment:delete", &second).ok();
    assert_eq!(threads(&ana), [Value::Null; 0]);
    drop((ana, sue, vic, owner));
    copydesk.checks_its_data();
}

#[test]
fn a_person_writes_at_most_thirty_comments_a_minute() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(TEXT));
    let wish = json!({"documentId": ana.document(), "text": "More"});
    for _ in 0..30 {
        ana.emit("comment:create", &wish).ok();
    }
    let refused = ana.emit("comment:create", &wish).refused_with("rate_limited");
    assert_eq!(refused["details"]["limit"], 30, "{refused}");
    ben.emit("comment:create", &wish).ok();
    let (first, rest) = (json!({"documentId": ana.document(), "limit": 20}), threads(&ana));
    let page = ana.emit("comment:list", &first).ok();
    assert_eq!((page["threads"].as_array().unwrap().len(), &page["more"]), (20, &json!(true)));
    let next = json!({"documentId": ana.document(), "before": page["threads"][19]["id"]});
    let next = ana.emit("comment:list", &next).ok();
    assert_eq!(
        (next["threads"].as_array().unwrap(), &next["more"]),
        (&rest[20..].to_vec(), &json!(false))
    );
}

#[test]
fn a_person_sees_what_others_wrote_since_they_read_it() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(TEXT));
    let document = json!({"documentId": ana.document()});
    let unread = |person: &Person| person.emit("comment:list", &document).ok()["unread"].clone();
    let (one, two) = (comments_on(&ana, "The lamp", "1"), comments_on(&ana, "night", "2"));
    assert_eq!((unread(&ana), unread(&ben)), (json!([]), json!([two["id"], one["id"]])));
    let read = json!({"documentId": ana.document(), "threadIds": [one["id"]]});
    ben.emit("comment:read", &read).ok();
    assert_eq!(unread(&ben), json!([two["id"]]));
    ana.emit("comment:reply", &json!({"threadId": one["id"], "text": "And?"})).ok();
    assert_eq!(unread(&ben), json!([two["id"], one["id"]]));
    ben.emit("comment:read", &document).ok();
    assert_eq!(unread(&ben), json!([]));
}

#[test]
fn programs_read_and_write_comments_over_rest() {
    let copydesk = TestServer::quiet();
    let owner = RestClient::new(&copydesk, OWNER);
    let document = owner.posts("documents", &json!({"text": TEXT})).ok()["id"].clone();
    let path = format!("documents/{}/comments", document.as_str().unwrap());
    let wish = json!({"from": 31, "to": 39, "text": "Which one?"});
    let begun = owner.posts(&path, &wish).ok()["thread"].clone();
    assert_eq!((&begun["quote"], &begun["documentId"]), (&json!("The lamp"), &document));
    let thread = format!("comments/{}", begun["id"].as_str().unwrap());
    let comment = format!("{thread}/{}", begun["comments"][0]["id"].as_str().unwrap());
    owner.posts(&thread, &json!({"text": "The old one."})).ok();
    let amends = |path: &str, body: &str| {
        let json = [("Content-Type", "application/json")];
        owner.says(&format!("PATCH /api/v1/{path}"), &json, body)
    };
    let edited = amends(&comment, r#"{"text": "Which?"}"#).ok();
    assert_eq!(edited["thread"]["comments"][0]["text"], "Which?");
    let resolved = amends(&thread, r#"{"resolved": true}"#).ok();
    assert_eq!(owner.gets(&thread).ok()["thread"], resolved["thread"]);
    let open = owner.gets(&format!("{path}?status=open")).ok();
    assert_eq!(open["threads"], json!([]));
    let listed = owner.gets(&path).ok();
    assert_eq!(listed["threads"], json!([resolved["thread"]]));
    owner.posts(&format!("{path}/read"), &json!({})).ok();
    let elsewhere = comment.replace("comments/thr_", "comments/thr_0");
    owner.deletes(&elsewhere).refused_with(404, "not_found");
    owner.posts(&path, &json!({"text": ""})).refused_with(422, "invalid_request");
    owner.posts(&path, &json!({"text": "x", "more": 1})).refused_with(422, "invalid_request");
    owner.gets(&format!("{path}?status=closed")).refused_with(400, "invalid_request");
    owner.gets("comments/thr_none").refused_with(404, "not_found");
    owner.deletes(&comment).ok();
    copydesk.checks_its_data();
}
