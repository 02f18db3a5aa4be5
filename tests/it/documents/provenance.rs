//! Authors of passages, earlier versions, and going back: over socket.io, over HTTP, and in the
//! file.

use serde_json::{Value, json};

use crate::support::http::{Response, ask};
use crate::support::{OWNER, Person, Role, Script, TestServer};

const BEFORE: &str = "Teh lamp is lit.\n";
const AFTER: &str = "The lamp is out.\n";

/// Ana creates and asks, Bo accepts.
fn accepted() -> (TestServer, Person, Person, Value) {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    bo.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix it");
    let request = ana.sees_request();
    bo.sees_request();
    bo.accepts_all(&request);
    ana.answer(&run);
    ana.comes_to_read(AFTER);
    (copydesk, ana, bo, json!(request.id()))
}

fn spans(person: &Person) -> Vec<Value> {
    let payload = json!({"documentId": person.document()});
    let ack = person.emit("document:provenance", &payload).ok();
    assert_eq!(ack["version"], person.version());
    ack["spans"].as_array().unwrap().clone()
}

/// Each span as its words and who wrote them.
fn described(person: &Person) -> Vec<String> {
    let text: Vec<u16> = person.text().encode_utf16().collect();
    let say = |span: &Value| {
        let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
        let words = String::from_utf16(&text[at("from")..at("to")]).unwrap();
        let by = span["approver"]["name"].as_str().map(|name| format!(", {name}"));
        let edited = if span["edited"] == true { ", edited" } else { "" };
        let (kind, author) = (span["kind"].as_str().unwrap(), span["author"]["name"].as_str());
        format!("{words:?} {kind} {}{}{edited}", author.unwrap(), by.unwrap_or_default())
    };
    spans(person).iter().map(say).collect()
}

fn fetch(copydesk: &TestServer, token: &str, path: &str) -> Response {
    let route = format!("GET /api/v1/documents/{path}");
    let bearer = format!("Bearer {token}");
    ask(copydesk.address(), &route, &[("Host", copydesk.address()), ("Authorization", &bearer)])
}

fn json_of(response: &Response) -> Value {
    serde_json::from_str(&response.body).unwrap()
}

#[test]
fn accepted_words_are_the_ais_for_who_asked_and_by_who_let_them_in() {
    let (_server, ana, bo, request) = accepted();
    bo.types(4, "old ");
    assert_eq!(
        described(&ana),
        [
            r#""The" ai Ana, Bo"#,
            r#"" " beginning Ana"#,
            r#""old " person Bo"#,
            r#""lamp is " beginning Ana"#,
            r#""out" ai Ana, Bo"#,
            r#"".\n" beginning Ana"#,
        ]
    );
    let spans = spans(&ana);
    assert_eq!(spans[0]["request"], request);
    assert!(spans[0]["hunk"].as_str().unwrap().starts_with(request.as_str().unwrap()));
    assert!(spans[2].get("request").is_none() && spans[2].get("approver").is_none());
}

#[test]
fn undoing_an_accept_gives_the_words_back_to_who_wrote_them_also_after_a_restart() {
    let (mut copydesk, ana, bo, request) = accepted();
    bo.types(0, "So: ");
    copydesk.is_killed_and_restarted();
    let (ana, bo) = (ana.comes_back(&copydesk), bo.comes_back(&copydesk));
    for person in [&ana, &bo] {
        person.opens_again();
    }
    bo.emit("approval:undo", &json!({"request_id": request})).ok();
    ana.comes_to_read("So: Teh lamp is lit.\n");
    assert_eq!(described(&ana), [r#""So: " person Bo"#, r#""Teh lamp is lit.\n" beginning Ana"#]);
}

#[test]
fn words_edited_before_they_went_in_say_so() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.asks("Fix it");
    let request = ana.sees_request();
    let hunks = json!([{"id": request.hunk(1), "decision": "accept", "text": "Our lamp is dark"}]);
    ana.decides(&request, json!({"decision": "approve", "hunks": hunks, "finish": "reject"})).ok();
    assert!(
        described(&ana).iter().any(|it| it.ends_with("ai Ana, Ana, edited")),
        "{:?}",
        described(&ana)
    );
}

#[test]
fn where_approvals_are_off_no_one_let_them_in() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "approvals": "off"}))
        .ok();
    let run = owner.asks("Fix it");
    owner.answer(&run);
    owner.comes_to_read(AFTER);
    assert_eq!(described(&owner)[0], r#""The" ai Owner"#);
    assert!(spans(&owner)[0].get("approver").is_none());
}

#[test]
fn a_range_is_cut_out_and_wrong_ones_are_refused() {
    let (copydesk, ana, _bo, _) = accepted();
    let document = ana.document();
    let ranged = |from: Value, to: Value| {
        ana.emit("document:provenance", &json!({"documentId": document, "from": from, "to": to}))
    };
    let part = ranged(json!(1), json!(5)).ok();
    assert_eq!((&part["spans"][0]["from"], &part["spans"][1]["to"]), (&json!(1), &json!(5)));
    assert_eq!(ranged(json!(3), json!(3)).ok()["spans"], json!([]));
    for (from, to) in [(json!(5), json!(4)), (json!(0), json!(99)), (json!(-1), json!(2))] {
        ranged(from.clone(), to.clone()).refused_with("invalid_payload");
        let from = from.as_str().map_or_else(|| from.to_string(), str::to_owned);
        let path = format!("{document}/provenance?from={from}&to={to}");
        let refused = fetch(&copydesk, &ana.token, &path);
        assert_eq!(
            (refused.status, json_of(&refused)["code"].as_str()),
            (400, Some("invalid_request"))
        );
    }
    let same =
        json_of(&fetch(&copydesk, &ana.token, &format!("{document}/provenance?from=1&to=5")));
    assert_eq!((&same["spans"], &same["version"]), (&part["spans"], &part["version"]));
}

#[test]
fn who_wrote_what_is_for_those_who_may_read() {
    let (copydesk, ana, _bo, _) = accepted();
    let document = ana.document();
    let vic = copydesk.person("Vic", Role::Viewer);
    vic.opens(&document);
    assert_eq!(spans(&vic).len(), spans(&ana).len());
    assert_eq!(fetch(&copydesk, &vic.token, &format!("{document}/provenance")).status, 200);
    let other = ana.creates("Something else.");
    let only = copydesk.token("Cas", Role::Viewer, &["--document", &other]);
    assert_eq!(fetch(&copydesk, &only, &format!("{document}/provenance")).status, 403);
    assert_eq!(fetch(&copydesk, &ana.token, "doc_none/provenance").status, 404);
    assert_eq!(fetch(&copydesk, "wrong", &format!("{document}/provenance")).status, 401);
    let cas = Person::arrive(copydesk.url(), &only, "Cas");
    cas.emit("document:provenance", &json!({"documentId": document})).refused_with("not_allowed");
    ana.emit("document:provenance", &json!({"documentId": "doc_none"})).refused_with("not_found");
}

#[test]
fn many_updates_later_it_is_the_same_and_was_kept() {
    let (copydesk, ana, bo, _) = accepted();
    for number in 0..60 {
        let changes: Vec<Value> =
            (0..10).map(|at| json!([17 + number * 10 + at, [0, "x"]])).collect();
        bo.pushes(1 + number * 10, &changes).ok();
    }
    ana.comes_to_version(601);
    let first = described(&ana);
    bo.types(0, "y");
    ana.comes_to_version(602);
    let again = described(&ana);
    assert_eq!(first[..], again[1..]);
    assert_eq!(again[0], r#""y" person Bo"#);
    drop(copydesk);
}

#[test]
fn the_json_file_has_it() {
    let (copydesk, ana, _bo, request) = accepted();
    let file =
        json_of(&fetch(&copydesk, &ana.token, &format!("{}/export?format=json", ana.document())));
    let first = &file["provenance"][0];
    assert_eq!(
        (&first["kind"], &first["request"], &first["to"]),
        (&json!("ai"), &request, &json!(3))
    );
    assert_eq!(first["approver"]["name"], "Bo");
}

#[test]
fn the_audit_log_of_a_document_is_paged_and_for_those_who_write_in_it() {
    let (copydesk, ana, bo, request) = accepted();
    let document = ana.document();
    let page =
        |token: &str, query: &str| fetch(&copydesk, token, &format!("{document}/audit{query}"));
    let all = json_of(&page(&bo.token, ""));
    let actions: Vec<_> =
        all["lines"].as_array().unwrap().iter().map(|it| it["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["tool.used", "request.decide", "request.create", "document.create"]);
    let decided = &all["lines"][1];
    assert_eq!((&decided["request"], &decided["actor"]["name"]), (&request, &json!("Bo")));
    assert_eq!(all["lines"][0]["hash"].as_str().unwrap().len(), 64);
    assert!(all.get("before").is_none());
    let first = json_of(&page(OWNER, "?limit=2"));
    let rest = json_of(&page(OWNER, &format!("?limit=2&before={}", first["before"])));
    assert_eq!(rest["lines"], json!([all["lines"][2], all["lines"][3]]));
    for role in [Role::Viewer, Role::Reviewer] {
        assert_eq!(page(&copydesk.token("Rex", role, &[]), "").status, 403, "{role:?}");
    }
    for query in ["?limit=0", "?limit=501", "?limit=x", "?before=-1"] {
        assert_eq!(page(&ana.token, query).status, 400, "{query}");
    }
    assert_eq!(fetch(&copydesk, &ana.token, "doc_none/audit").status, 404);
}

#[test]
fn two_versions_are_compared_word_by_word() {
    let (_server, ana, _bo, _) = accepted();
    let compare = |from: Value, to: Value| {
        let mut payload = json!({"documentId": ana.document(), "from": from});
        if !to.is_null() {
            payload["to"] = to;
        }
        ana.emit("document:compare", &payload)
    };
    let ack = compare(json!(0), Value::Null).ok();
    assert_eq!((&ack["from"], &ack["to"]), (&json!(0), &json!(1)));
    assert_eq!(ack["parts"][0], json!({"from": 0, "to": 3, "base": "Teh", "insert": "The"}));
    assert_eq!(compare(json!(1), json!(0)).ok()["parts"][1]["insert"], "lit");
    assert_eq!(compare(json!(1), json!(1)).ok()["parts"], json!([]));
    for (from, to) in [(json!(2), json!(0)), (json!(0), json!(2)), (json!(-1), json!(0))] {
        compare(from, to).refused_with("invalid_payload");
    }
}

#[test]
fn an_old_version_comes_back_by_one_update_and_its_words_to_who_wrote_them() {
    let (_server, ana, bo, _) = accepted();
    ana.replaces(0, 3, "That");
    bo.comes_to_version(2);
    bo.types(0, "Now ");
    ana.comes_to_version(3);
    let back = |payload: Value| ana.emit("document:restore", &payload);
    let document = ana.document();
    assert_eq!(back(json!({"documentId": document, "version": 0})).ok()["version"], 4);
    bo.comes_to_read(BEFORE);
    assert_eq!(described(&bo), [r#""Teh lamp is lit.\n" beginning Ana"#]);
    back(json!({"documentId": document, "version": 1, "onlyAt": 3})).refused_with("resync");
    assert_eq!(back(json!({"documentId": document, "version": 1, "onlyAt": 4})).ok()["version"], 5);
    assert_eq!(described(&ana)[0], r#""The" ai Ana, Bo"#);
    let lines = ana.emit("document:history", &json!({"documentId": document})).ok();
    let act = |at: usize| {
        (lines["versions"][at]["act"].clone(), lines["versions"][at]["restored"].clone())
    };
    assert_eq!(act(0), (json!("restored"), json!(1)));
    assert_eq!(act(2), (json!("typed"), Value::Null));
    assert_eq!(act(4), (json!("accepted"), Value::Null));
}

#[test]
fn going_back_to_what_already_is_changes_nothing() {
    let (_server, ana, _bo, _) = accepted();
    let payload = json!({"documentId": ana.document(), "version": 1});
    assert_eq!(ana.emit("document:restore", &payload).ok()["version"], 1);
}

#[test]
fn only_who_writes_can_go_back_and_only_to_what_happened() {
    let (copydesk, ana, _bo, _) = accepted();
    let document = ana.document();
    for role in [Role::Viewer, Role::Reviewer] {
        let rex = copydesk.person("Rex", role);
        rex.emit("document:restore", &json!({"documentId": document, "version": 0}))
            .refused_with("not_allowed");
    }
    for version in [json!(9), json!(-1)] {
        ana.emit("document:restore", &json!({"documentId": document, "version": version}))
            .refused_with("invalid_payload");
    }
    ana.emit("document:restore", &json!({"documentId": "doc_none", "version": 0}))
        .refused_with("not_found");
    ana.emit("document:delete", &json!({"documentId": document})).refused_with("not_allowed");
    copydesk.owner().emit("document:delete", &json!({"documentId": document})).ok();
    ana.emit("document:restore", &json!({"documentId": document, "version": 0}))
        .refused_with("not_found");
}
