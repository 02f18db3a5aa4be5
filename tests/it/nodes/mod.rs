//! Stories about two servers on one database: people on either do the same things to the same
//! documents, and a server that is killed or stopped is made up for by the other.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    ON_ONE_NODE, OWNER, Person, Role, Script, Server, StoryDatabase, TestServer, copydesk_command,
    http,
};

mod batches;
mod calls;
mod disk;
mod faults;
mod limits;
mod network;
mod programs;
mod proxies;
mod redis;
mod workspace;

/// Time within which the documents of a dead server are served again.
const TAKEOVER: Duration = Duration::from_secs(10);

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// Groups of stories that run on one server with `COPYDESK_STORIES_NODES=2` too, beside those that
/// need a workspace or say that they run on SQLite only.
const EXCEPTIONS: usize = 17;

#[test]
fn the_stories_that_are_told_on_one_server_are_counted_and_say_why() {
    assert_eq!(ON_ONE_NODE.len(), EXCEPTIONS);
    assert!(ON_ONE_NODE.iter().all(|(name, why)| !name.is_empty() && why.len() > 10));
}

/// Two servers on a new database; `None` without PostgreSQL.
fn two(script: Option<Script>) -> Option<(TestServer, Server)> {
    let database = StoryDatabase::on_postgres()?;
    let plan = TestServer::plan().flags(&["--cluster"]);
    let plan = match script {
        Some(script) => plan.script(script),
        None => plan,
    };
    let first = plan.start_on(Some(database));
    let second = first.another_node();
    Some((first, second))
}

fn editor_on(first: &TestServer, second: &Server, name: &str) -> Person {
    Person::arrive(&second.url, &first.token(name, Role::Editor, &[]), name)
}

fn owner_headers(host: &str) -> [(&'static str, String); 2] {
    [("Host", host.to_owned()), ("Authorization", format!("Bearer {OWNER}"))]
}

#[test]
fn people_on_two_servers_write_one_document() {
    let Some((first, second)) = two(None) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    let document = ana.creates("");
    ben.opens(&document);
    for at in 0..20 {
        ana.types(at, "a");
    }
    ben.comes_to_version(20);
    for at in 0..20 {
        ben.types(at, "b");
    }
    ana.comes_to_version(40);
    let text = format!("{}{}", "b".repeat(20), "a".repeat(20));
    assert_eq!((ana.text(), ben.text()), (text.clone(), text));
    // And the other way round.
    let other = ben.creates("x");
    ana.opens(&other);
    ana.types(1, "y");
    ben.comes_to_read("xy");
    ben.types(2, "z");
    ana.comes_to_read("xyz");
}

#[test]
fn both_at_once_converge() {
    let Some((first, second)) = two(None) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    let document = ana.creates("");
    ben.opens(&document);
    let type_on = |person: Person| {
        std::thread::spawn(move || {
            for _ in 0..50 {
                person.types(0, "x");
            }
            person
        })
    };
    let [ana, ben] = [ana, ben].map(type_on).map(|typing| typing.join().unwrap());
    ana.comes_to_version(100);
    ben.comes_to_version(100);
    assert_eq!((ana.text(), ben.text()), ("x".repeat(100), "x".repeat(100)));
}

#[test]
fn a_request_made_on_one_server_is_accepted_on_the_other() {
    let Some((first, second)) = two(Some(Script::rewriting(AFTER))) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    ben.opens(&ana.creates(BEFORE));
    // Ben asks from the server that does not have the document.
    let run = ben.asks("Fix the spelling");
    let request = ana.sees_request();
    assert_eq!(ben.sees_request().0["request_id"], request.0["request_id"]);
    ben.accepts(&request, &[1]);
    ana.comes_to_read(&BEFORE.replace("Teh", "The"));
    assert_eq!(ben.pending().len(), 1, "the list has what the other server holds");
    ana.accepts_all(&ana.pending()[0].clone());
    assert_eq!(ben.answer(&run)["documentUpdate"], AFTER);
    ben.comes_to_read(AFTER);
    ben.decides(&request, json!({"approved": false})).refused_with("already_resolved");
}

#[test]
fn lists_settings_and_rest_are_the_same_on_both() {
    let Some((first, second)) = two(None) else { return };
    let (owner, ben) = (first.owner(), editor_on(&first, &second, "Ben"));
    let document = owner.creates("Dear reader,\n");
    let created = ben.sees_where("document:created", |it| it["document"]["id"] == *document);
    assert_eq!(created["document"]["title"], "A story");
    let list = ben.emit("document:list", &json!({})).ok();
    let listed = list["documents"].as_array().unwrap();
    assert!(listed.iter().any(|it| it["id"] == *document), "{list}");
    // Over REST, on the server that does not have it.
    let address = second.address();
    let headers = owner_headers(address);
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let path = format!("/api/v1/documents/{document}");
    let read = http::ask(address, &format!("GET {path}"), &headers);
    assert_eq!(read.status, 200, "{}", read.body);
    assert!(read.body.contains("Dear reader"), "{}", read.body);
    let edit = json!({"text": "Dear reader, hello\n", "version": 0}).to_string();
    let json_headers = [&headers[..], &[("Content-Type", "application/json")]].concat();
    let edited = http::send(address, &format!("POST {path}/edits"), &json_headers, &edit);
    assert_eq!(edited.status, 200, "{}", edited.body);
    owner.comes_to_read("Dear reader, hello\n");
    // Settings.
    owner.emit("settings:set", &json!({"timeoutSeconds": 77})).ok();
    let event = ben.sees_where("settings:changed", |it| it["settings"]["timeoutSeconds"] == 77);
    assert_eq!(event["settings"]["timeoutSeconds"], 77);
    assert_eq!(ben.emit("settings:get", &json!({})).ok()["settings"]["timeoutSeconds"], 77);
}

#[test]
fn a_body_that_is_too_long_is_refused_alike_by_both_servers() {
    let Some((first, second)) = two(None) else { return };
    let document = first.owner().creates("Dear reader,\n");
    let path = format!("PATCH /api/v1/documents/{document}");
    for megabytes in [9, 20, 40] {
        let long = json!({"title": "x".repeat(megabytes * 1024 * 1024)}).to_string();
        for address in [first.address(), second.address()].repeat(3) {
            let json = ("Content-Type", "application/json".to_owned());
            let headers = [&owner_headers(address)[..], &[json]].concat();
            let headers: Vec<_> = headers.iter().map(|(name, of)| (*name, of.as_str())).collect();
            // The server refuses it before it has read all of it.
            let refused = http::send(address, &path, &headers, &long);
            let connection = refused.header("connection");
            assert_eq!((refused.status, connection.as_deref()), (413, Some("close")));
            assert!(refused.body.contains("too_large"), "{}", refused.body);
        }
    }
}

#[test]
fn a_token_revoked_on_one_server_ends_on_the_other_at_once() {
    let Some((first, second)) = two(None) else { return };
    let (owner, ben) = (first.owner(), editor_on(&first, &second, "Ben"));
    // Also where another server passes his events on.
    ben.opens(&owner.creates("x"));
    let tokens = owner.emit("token:list", &json!({})).ok();
    let his = tokens["tokens"].as_array().unwrap().iter().find(|it| it["name"] == "Ben").unwrap();
    let began = Instant::now();
    owner.emit("token:revoke", &json!({"id": his["id"]})).ok();
    ben.sees("sessionEnded");
    ben.is_cut_off();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

/// Updates of the story about a server that is killed.
const ALL: u64 = 250;

#[test]
fn a_killed_server_loses_nothing_that_was_acknowledged() {
    let Some((mut first, second)) = two(Some(Script::rewriting(AFTER))) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    let document = ana.creates("");
    ben.opens(&document);
    let push = |person: &Person, version: u64| {
        json!({"documentId": document, "version": version,
            "updates": [{"clientID": person.client(), "changes": [version, [0, "x"]]}]})
    };
    // Ben types through the other server, and the first is killed with pushes on their way.
    for at in 0..20 {
        ana.types(at, "x");
    }
    ben.comes_to_version(20);
    let sent: Vec<_> = (20..ALL)
        .map(|version| {
            let changes = if version == 0 { json!([[0, "x"]]) } else { json!([version, [0, "x"]]) };
            let updates = json!([{"clientID": ben.client(), "changes": changes}]);
            ben.send(
                "document:push",
                &json!({"documentId": document, "version": version, "updates": updates}),
            )
        })
        .collect();
    ben.comes_to_version(30);
    let killed = Instant::now();
    first.is_killed();
    ben.is_cut_off();
    let acknowledged = sent
        .iter()
        .filter_map(|sent| ben.may_be_answered(*sent))
        .filter(|it| it.body()["ok"] == true);
    let acknowledged = 20 + acknowledged.count() as u64;
    // He comes back at once, to the server that is left, and waits until it has the document.
    let back = ben.comes_back_to(&second.url);
    let opened = back.opens_again();
    let took = killed.elapsed();
    assert!(took < TAKEOVER, "{took:?}");
    println!("served again after {took:?}, {acknowledged} acknowledged");
    let version =
        opened["from"].as_u64().unwrap() + opened["updates"].as_array().unwrap().len() as u64;
    assert!((acknowledged..=ALL).contains(&version), "{version}, {acknowledged} acknowledged");
    // What he did not hear of is sent again, and is not applied twice.
    let rest: Vec<_> = (acknowledged..ALL).collect();
    for version in rest {
        back.ack(back.send("document:push", &push(&ben, version))).ok();
    }
    back.comes_to_version(ALL);
    let all = "x".repeat(usize::try_from(ALL).unwrap());
    assert_eq!(back.text(), all);
    let ana = ana.comes_back_to(&second.url);
    ana.opens_again();
    ana.comes_to_read(&all);
    ana.types(0, "y");
    back.comes_to_version(ALL + 1);
}

#[test]
fn a_run_goes_on_where_its_document_went() {
    let Some((mut first, second)) = two(Some(Script::rewriting(AFTER))) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    let document = ana.creates(BEFORE);
    ben.opens(&document);
    let run = ben.asks("Fix the spelling");
    let request = ben.sees_request();
    first.is_killed();
    ben.is_cut_off();
    let ben = ben.comes_back_to(&second.url);
    let opened = ben.opens(&document);
    assert_eq!(opened["requests"][0]["request_id"], request.0["request_id"]);
    ben.accepts_all(&request);
    assert_eq!(ben.answer(&run)["documentUpdate"], AFTER);
    ben.comes_to_read(AFTER);
}

#[test]
fn a_server_that_is_stopped_hands_over_at_once() {
    let Some((mut first, second)) = two(None) else { return };
    let (ana, ben) = (first.editor("Ana"), editor_on(&first, &second, "Ben"));
    ben.opens(&ana.creates("abc"));
    let began = Instant::now();
    assert_eq!(first.stops().code(), Some(0));
    ben.is_cut_off();
    let ben = ben.comes_back_to(&second.url);
    ben.opens_again();
    println!("handed over after {:?}", began.elapsed());
    ben.types(3, "d");
    ben.comes_to_read("abcd");
    let ana = ana.comes_back_to(&second.url);
    ana.opens_again();
    ana.comes_to_read("abcd");
    // It comes again, as the other one, and passes on.
    first.starts();
    let ana = ana.comes_back_to(first.url());
    ana.opens_again();
    ana.types(4, "e");
    ben.comes_to_read("abcde");
}

#[test]
fn a_server_alone_and_one_of_several_exclude_each_other() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let url = database.url();
    let alone = TestServer::plan().start_on(Some(database));
    let home = tempfile::tempdir().unwrap();
    let start = |words: &[&str]| {
        let mut command = copydesk_command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--model", "harper", "--data", "data"]);
        command.args(words).env("COPYDESK_DATABASE_URL", &url).current_dir(home.path());
        String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned()
    };
    let said = start(&["--cluster"]);
    assert!(said.contains("in use by another copydesk server"), "{said}");
    drop(alone);
}
