//! Deletion of a person's data: what is gone, what has a neutral name, what stays, and that nothing
//! in between looks done.

use std::time::Duration;

use serde_json::{Value, json};

use crate::people::sign_in;
use crate::support::script::full;
use crate::support::{
    CLIENT, IdentityProvider, OWNER, Person, RestClient, Role, Script, Server, StoryDatabase,
    TestServer, copydesk_command, found_within, node_count, stored_rows,
};

/// Names that no other word of a story contains.
const NAME: &str = "Zephyrine";
const CALLED: &str = "Zefwise";
const MAIL: &str = "zephyrine@press.example";
/// Words that only she typed to the AI.
const SECRET: &str = "quillwort";
const NEUTRAL: &str = "Deleted person";

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";

fn script() -> Script {
    let words = json!([{"type": "text", "text": "word ".repeat(10_000)}]);
    let slow = json!({"when": {"user": "slow"}, "content": words, "chunk_chars": 1, "delay_ms": 200, "repeat": true});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": full(AFTER)});
    let spelling = json!({"when": {"user": "spelling"}, "content": [call], "repeat": true});
    Script::default().turn(slow).turn(spelling).closing("I see.")
}

fn id(person: &Person) -> String {
    person.user()["id"].as_str().expect("a person").to_owned()
}

/// Her, under a name of her own beside that of her token.
fn zephyrine(copydesk: &TestServer) -> Person {
    Person::arrive(copydesk.url(), &copydesk.token(NAME, Role::Editor, &[]), CALLED)
}

/// The tables outside of the audit log in which one of these words is stored.
fn places_of(copydesk: &TestServer, words: &[&str]) -> Vec<(String, String)> {
    let mut rows = stored_rows(copydesk);
    rows.retain(|(table, row)| table != "audit" && words.iter().any(|word| row.contains(word)));
    rows
}

fn is_forgotten(copydesk: &TestServer) {
    let places = places_of(copydesk, &[NAME, CALLED, MAIL, SECRET]);
    assert!(places.is_empty(), "{places:#?}");
}

fn deletes(owner: &Person, person: &str) -> Value {
    deletes_as(owner, &json!({"id": person}))
}

/// Deletes a person; of several servers, each has to forget, which takes longer than an answer.
fn deletes_as(owner: &Person, wish: &Value) -> Value {
    let mut deleted = owner.emit("person:delete", wish).ok();
    if node_count() > 1 && deleted["state"] == "deleting" {
        comes_to_be_deleted(owner, deleted["id"].as_str().expect("a person"));
        let again = owner.emit("person:delete", wish).ok();
        assert_eq!(again["state"], "deleted", "{again}");
        // What was deleted is reported by the first answer only.
        for field in ["state", "endedAt"] {
            deleted[field] = again[field].clone();
        }
    }
    assert_eq!(deleted["state"], "deleted", "{deleted}");
    deleted
}

fn preview(owner: &Person, person: &str) -> Value {
    owner.emit("person:preview", &json!({"id": person})).ok()
}

/// Waits until a deletion that someone else finishes has ended. Another server may have a private
/// document open, for the minute after its last use.
fn comes_to_be_deleted(owner: &Person, person: &str) {
    found_within(Duration::from_mins(2), || {
        let preview = preview(owner, person);
        if preview["state"] == "deleted" { Ok(()) } else { Err(preview) }
    });
}

/// A server on which she has done everything that leaves a name somewhere.
struct PopulatedServer {
    copydesk: TestServer,
    owner: Person,
    ana: Person,
    ben: Person,
    document: String,
}

fn populated_server() -> PopulatedServer {
    let plan = TestServer::plan().script(script()).flags(&["--allow-private-webhooks"]);
    let copydesk = plan.start();
    let (owner, ana, ben) = (copydesk.owner(), zephyrine(&copydesk), copydesk.editor("Ben"));
    let program = RestClient::new(&copydesk, OWNER);
    // No one is there, so what it is sent waits.
    program.posts("webhooks", &json!({"url": "http://127.0.0.1:9/hook"})).ok();
    let document = ana.creates(BEFORE);
    ben.opens(&document);
    ana.types(0, "So: ");
    // She asks, both decide, and she makes a rule.
    let run = ana.asks(&format!("spelling, {SECRET}"));
    let request = ana.sees_request_of(&run);
    ben.sees_request_of(&run);
    ben.accepts(&request, &[1]);
    let wish = json!({"approved": true, "hunks": request.each(&[2], "accept"),
        "remember": {"scope": "document", "max_units": 1}});
    ana.decides(&request, wish).ok();
    ana.rejects_some(&request, &[3], "It is how he speaks.");
    ana.answer(&run);
    // He asks, she decides; then she thinks again, which his next question tells the model.
    let theirs = ben.asks("spelling again");
    let other = ana.sees_request_of(&theirs);
    let decision = other.decision(json!({"approved": false, "feedback": "Not now."}));
    let once = RestClient::new(&copydesk, &ben.token);
    let path = format!("requests/{}/decision", other.id());
    ana.emit("tool_approval_response", &decision).ok();
    ben.answer(&theirs);
    once.posts_once("key-1", &path, &decision);
    ana.emit("approval:reopen", &json!({"request_id": other.id()})).ok();
    let accept = json!({"request_id": other.id(), "approved": true});
    ana.emit("tool_approval_response", &accept).ok();
    ben.answer(&ben.asks("What is new?"));
    // He goes on from her conversation.
    let from = json!({"sessionId": ben.session(), "documentId": document, "fromSessionId": ana.session(), "requestId": run});
    ben.emit("transcript:fork", &from).ok();
    let next = ben.asks("And now?");
    ben.answer(&next);
    // And from his own, which begins with hers.
    let again = json!({"sessionId": ben.session(), "documentId": document, "requestId": next});
    ben.emit("transcript:fork", &again).ok();
    // She begins a thread, which he answers and she has read; and she resolves one of his.
    let wish = json!({"documentId": document, "text": "Is it so?", "mentions": [ben.user()["id"]]});
    let thread = ana.emit("comment:create", &wish).ok()["thread"]["id"].clone();
    let reply = json!({"threadId": thread, "text": "It is.", "mentions": [ana.user()["id"]]});
    ben.emit("comment:reply", &reply).ok();
    ana.emit("comment:read", &json!({"documentId": document})).ok();
    let wish = json!({"documentId": document, "text": "Good."});
    let his = ben.emit("comment:create", &wish).ok()["thread"]["id"].clone();
    ana.emit("comment:resolve", &json!({"threadId": his, "resolved": true})).ok();
    // And she talks in private.
    ana.is_answered(SECRET, &json!({"documentContent": "Mine.\n"}));
    PopulatedServer { copydesk, owner, ana, ben, document }
}

#[test]
fn a_deleted_person_is_named_nowhere_but_in_the_audit_log() {
    let PopulatedServer { copydesk, owner, ana, ben, document } = populated_server();
    let (her, his) = (id(&ana), id(&ben));
    for place in [
        "tokens",
        "decisions",
        "requests",
        "messages",
        "rules",
        "outbox",
        "idempotency",
        "comment_threads",
    ] {
        let places = places_of(&copydesk, &[NAME, CALLED]);
        assert!(places.iter().any(|(table, _)| table == place), "the story fills {place}");
    }
    for place in ["comment_reads", "comment_mentions"] {
        assert!(places_of(&copydesk, &[&her]).iter().any(|(table, _)| table == place), "{place}");
    }
    let before = preview(&owner, &her);
    assert_eq!((&before["state"], &before["name"]), (&json!("stored"), &json!(NAME)));
    counts_everything(&before);
    let text = ben.text();
    let deleted = deletes(&owner, &her);
    assert_eq!(deleted["deleted"]["messages"], before["deleted"]["messages"]);
    assert_eq!(ana.sees("sessionEnded")["code"], "token_revoked");
    ana.is_cut_off();
    is_forgotten_but_for_private_words(&copydesk);
    // Nothing else has changed, and others go on.
    assert_eq!(ben.text(), text);
    ben.types(0, "Then ");
    // What she had decided can still be taken back, and what rooms remember has no name.
    let requests = RestClient::new(&copydesk, &ben.token);
    let ended = requests.gets(&format!("requests?documentId={document}&state=ended")).ok();
    let first = ended["requests"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(first["author"]["name"], NEUTRAL, "{first}");
    assert_eq!(first["author"]["id"], json!(her));
    ben.emit("approval:undo", &json!({"request_id": first["request_id"]})).ok();
    is_forgotten_but_for_private_words(&copydesk);
    no_answer_names_her(&copydesk, &ben, &document, &her);
    let program = RestClient::new(&copydesk, OWNER);
    let written = program.gets(&format!("documents/{document}/provenance")).ok();
    assert!(written.to_string().contains(NEUTRAL), "{written}");
    let comments = program.gets(&format!("documents/{document}/comments")).ok();
    comments_do_not_name_her(&comments, &her);
    let is_her_own = |table: &str| ["comment_reads", "comment_mentions"].contains(&table);
    assert!(places_of(&copydesk, &[&her]).iter().all(|(table, _)| !is_her_own(table)));
    // The log says that it was done and by whom, without her name.
    let log = program.gets("audit").ok();
    let lines = log["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["action"] == "person.deleted").expect("a line");
    assert_eq!(
        (&line["detail"]["user"], &line["detail"]["counts"]["runs"]),
        (&json!(her), &before["deleted"]["runs"])
    );
    assert!(!line.to_string().contains(NAME), "{line}");
    // Asking again is fine, and no one else was touched.
    assert_eq!(deletes(&owner, &her)["endedAt"], deleted["endedAt"]);
    assert_eq!(preview(&owner, &his)["name"], "Ben");
    drop((owner, ana, ben));
    copydesk.checks_its_data();
}

/// Her comments keep their text.
fn comments_do_not_name_her(comments: &Value, her: &str) {
    let [his_thread, hers] = comments["threads"].as_array().unwrap().as_slice() else {
        panic!("two threads")
    };
    assert_eq!(his_thread["resolvedBy"], json!({"id": her, "name": NEUTRAL}));
    let [first, second] = [&hers["comments"][0], &hers["comments"][1]];
    assert_eq!((&first["author"]["name"], &first["text"]), (&json!(NEUTRAL), &json!("Is it so?")));
    assert_eq!([&first["mentions"], &second["mentions"]], [&json!([]), &json!([])]);
}

/// There is some of everything on the server.
fn counts_everything(before: &Value) {
    for (group, name) in [
        ("deleted", "conversations"),
        ("deleted", "messages"),
        ("deleted", "runs"),
        ("renamed", "tokens"),
        ("renamed", "requests"),
        ("renamed", "decisions"),
        ("renamed", "rules"),
        ("renamed", "threads"),
        ("kept", "updates"),
        ("kept", "auditLines"),
    ] {
        assert!(before[group][name].as_u64() > Some(0), "{group} {name}: {before}");
    }
}

fn no_answer_names_her(copydesk: &TestServer, ben: &Person, document: &str, her: &str) {
    for path in [
        format!("documents/{document}/versions"),
        format!("documents/{document}/provenance"),
        format!("documents/{document}/comments"),
        format!("documents/{document}/export?format=json"),
        format!("documents/{document}/export?format=criticmarkup"),
        format!("requests?documentId={document}"),
        format!("requests?documentId={document}&state=ended"),
        format!("rules?documentId={document}"),
        format!("sessions/{}/transcript?documentId={document}", ben.session()),
        "tokens".to_owned(),
        "spending".to_owned(),
        "server/work".to_owned(),
        format!("people/{her}"),
    ] {
        let answer = RestClient::new(
            copydesk,
            if path.starts_with("sessions") { &ben.token } else { OWNER },
        );
        let answer = answer.says(&format!("GET /api/v1/{path}"), &[], "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let said = format!("{}{}", answer.head, answer.body);
        assert!(![NAME, CALLED].iter().any(|name| said.contains(name)), "{path}: {said}");
    }
}

/// Her words in a conversation that another person went on with stay there, and so do private
/// documents; see the next stories.
fn is_forgotten_but_for_private_words(copydesk: &TestServer) {
    let places = places_of(copydesk, &[NAME, CALLED, MAIL]);
    assert!(places.is_empty(), "{places:#?}");
    let words = places_of(copydesk, &[SECRET]);
    assert!(
        words.iter().all(|(table, row)| table == "messages" && row.contains("past")),
        "{words:#?}"
    );
}

#[test]
fn runs_of_a_deleted_person_end_and_what_they_proposed_is_withdrawn() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana, ben) = (copydesk.owner(), zephyrine(&copydesk), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let waits = ana.asks(&format!("spelling, {SECRET}"));
    let request = ben.sees_request_of(&waits);
    let elsewhere = ana.second_window();
    elsewhere.creates("Elsewhere.\n");
    elsewhere.asks(&format!("slow, {SECRET}"));
    elsewhere.sees("claudeStreamChunk");
    let theirs = ben.asks("spelling");
    let kept = ben.sees_request_of(&theirs);
    let before = preview(&owner, &id(&ana));
    assert_eq!(
        (&before["unfinishedRuns"], &before["waitingRequests"]),
        (&json!(2), &json!(1)),
        "{before}"
    );
    deletes(&owner, &id(&ana));
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    for window in [&ana, &elsewhere] {
        window.is_cut_off();
    }
    assert_eq!(
        owner.emit("server:work", &json!({})).ok()["runs"].as_array().map(Vec::len),
        Some(1)
    );
    is_forgotten(&copydesk);
    // What another person asked for waits on, and so does what anyone typed.
    ben.accepts_all(&kept);
    ben.answer(&theirs);
    assert_eq!(ben.text(), AFTER);
    drop((owner, ana, elsewhere, ben));
    copydesk.checks_its_data();
}

#[test]
fn a_request_that_someone_has_brought_back_waits_on_under_the_neutral_name() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana, ben) = (copydesk.owner(), zephyrine(&copydesk), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks(&format!("spelling, {SECRET}"));
    let request = ben.sees_request_of(&run);
    ben.rejects(&request, "Not yet.");
    ana.answer(&run);
    ben.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    assert_eq!(ben.pending()[0]["author"]["id"], ana.user()["id"]);
    deletes(&owner, &id(&ana));
    let waiting = ben.pending().remove(0);
    assert_eq!((waiting.id(), &waiting["author"]["name"]), (request.id(), &json!(NEUTRAL)));
    is_forgotten(&copydesk);
    ben.accepts_all(&waiting);
    ben.comes_to_read(AFTER);
    is_forgotten(&copydesk);
    drop((owner, ana, ben));
    copydesk.checks_its_data();
}

#[test]
fn only_owners_delete_people_and_no_one_themselves_or_the_owner() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana, ben) = (copydesk.owner(), zephyrine(&copydesk), copydesk.editor("Ben"));
    let issued = owner.emit("token:issue", &json!({"role": "owner", "name": "Olga"})).ok();
    let other = Person::arrive(copydesk.url(), issued["token"].as_str().unwrap(), "Olga");
    for event in ["person:preview", "person:delete"] {
        ben.emit(event, &json!({"id": id(&ana)})).refused_with("not_allowed");
        owner.emit(event, &json!({"id": "usr_nobody"})).refused_with("not_found");
    }
    owner.emit("person:delete", &json!({"id": id(&owner)})).refused_with("not_allowed");
    assert!(preview(&owner, &id(&owner))["obstacle"].is_string());
    // The owner's token comes back with every start.
    other.emit("person:delete", &json!({"id": id(&owner)})).refused_with("not_allowed");
    other.emit("person:delete", &json!({"id": id(&other)})).refused_with("not_allowed");
    for wrong in [
        json!({}),
        json!({"id": 7}),
        json!({"id": "x", "privateDocuments": "burn"}),
        json!({"id": "x", "private": true}),
    ] {
        owner
            .ack(owner.send_args("person:delete", &json!([wrong])))
            .refused_with("invalid_payload");
    }
    let program = RestClient::new(&copydesk, OWNER);
    RestClient::new(&copydesk, &ben.token)
        .deletes(&format!("people/{}", id(&ana)))
        .refused_with(403, "not_allowed");
    program.deletes("people/usr_nobody").refused_with(404, "not_found");
    program
        .deletes(&format!("people/{}?privateDocuments=burn", id(&ana)))
        .refused_with(400, "invalid_request");
    ana.is_fine();
    assert_eq!(preview(&owner, &id(&ana))["state"], "stored");
    // Another owner can be deleted.
    program.deletes(&format!("people/{}", id(&other))).ok();
    comes_to_be_deleted(&owner, &id(&other));
    other.is_cut_off();
}

#[test]
fn private_documents_stay_until_an_owner_says_otherwise() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana) = (copydesk.owner(), zephyrine(&copydesk));
    ana.is_answered(SECRET, &json!({"documentContent": format!("My {SECRET}.\n")}));
    let before = preview(&owner, &id(&ana));
    let document = before["privateDocuments"][0].clone();
    assert_eq!(
        (&document["title"], document["id"].is_string()),
        (&json!("Private"), true),
        "{before}"
    );
    assert_eq!(deletes(&owner, &id(&ana))["privateDocuments"], 0);
    let left = places_of(&copydesk, &[NAME, CALLED, SECRET]);
    let texts = ["snapshots", "updates", "update_log"];
    assert!(left.iter().all(|(table, _)| texts.contains(&table.as_str())), "{left:#?}");
    assert_eq!(preview(&owner, &id(&ana))["privateDocuments"][0], document);
    let wish = json!({"id": id(&ana), "privateDocuments": "delete"});
    assert_eq!(deletes_as(&owner, &wish)["privateDocuments"], 1);
    assert_eq!(preview(&owner, &id(&ana))["privateDocuments"], json!([]));
    let rows = stored_rows(&copydesk);
    let sessions =
        rows.iter().filter(|(table, row)| table == "sessions" && row.contains(&id(&ana)));
    assert_eq!(sessions.count(), 0);
    drop((owner, ana));
    copydesk.checks_its_data();
}

/// Has a person deleted by a server that dies at a place; the next start does the rest.
fn dies_at(place: &str) {
    let PopulatedServer { mut copydesk, owner, ana, ben, document } = populated_server();
    let her = id(&ana);
    assert!(copydesk.stops().success());
    copydesk.starts_to_die_at(place).expect("it serves before it dies");
    let asks = owner.comes_back(&copydesk);
    assert!(asks.tries("person:delete", &json!({"id": her})).is_none(), "nothing looks done");
    copydesk.dies();
    copydesk.starts();
    let (back, ben) = (asks.comes_back(&copydesk), ben.comes_back(&copydesk));
    let refused = copydesk.refuses(&json!({"token": ana.token}));
    assert_eq!(refused.0, "unauthorized", "{refused:?}");
    comes_to_be_deleted(&back, &her);
    is_forgotten_but_for_private_words(&copydesk);
    ben.opens(&document);
    ben.types(0, "Still here. ");
    let log = RestClient::new(&copydesk, OWNER).gets("audit").ok();
    let lines = log["lines"].as_array().unwrap().iter();
    let count = |action: &str| lines.clone().filter(|line| line["action"] == action).count();
    assert_eq!([count("person.deletion_begun"), count("person.deleted")], [1, 1], "{log}");
    drop((owner, asks, back, ana, ben));
    copydesk.checks_its_data();
}

#[test]
fn a_deletion_that_a_crash_interrupts_is_finished_by_the_next_start() {
    for place in ["people.begun", "people.renamed", "people.ending"] {
        eprintln!("the power is cut at {place}");
        dies_at(place);
    }
}

#[test]
fn a_person_who_signs_in_after_their_deletion_is_a_new_person() {
    let provider = IdentityProvider::start();
    let flags = provider.flags(&["editor=anyone"]);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let plan = TestServer::plan().script(script()).flags(&flags);
    let plan = plan.variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1);
    let copydesk = plan.on_sqlite("one address signs in").start();
    provider.says_it_is("zef-1", NAME, &[]);
    let owner = copydesk.owner();
    let arrives = |token: &str| Person::arrive(copydesk.url(), token, "");
    // A link and two sign-ins of one login.
    let link = copydesk.token(CALLED, Role::Editor, &[]);
    let linked = arrives(&link);
    let before = id(&linked);
    let document = linked.creates(BEFORE);
    linked.types(0, "Linked. ");
    let first = arrives(&sign_in::signs_in(&copydesk, &provider));
    let login = id(&first);
    let list = owner.emit("token:list", &json!({})).ok();
    let mail = list["logins"][0]["email"].as_str().unwrap().to_owned();
    let token = list["tokens"].as_array().unwrap().iter().find(|it| it["name"] == CALLED).unwrap();
    owner.emit("token:tie", &json!({"id": token["id"], "login": login})).ok();
    let (linked, second) = (arrives(&link), arrives(&sign_in::signs_in(&copydesk, &provider)));
    second.opens(&document);
    second.types(0, "Signed in. ");
    assert_eq!(id(&linked), login);
    // By the name that she had before the tie, too.
    let known = preview(&owner, &before);
    assert_eq!((&known["id"], &known["formerIds"]), (&json!(login), &json!([before])));
    assert_eq!(known["email"], json!(mail));
    assert_eq!(deletes(&owner, &before)["id"], json!(login));
    for window in [&linked, &second] {
        window.is_cut_off();
    }
    let places = places_of(&copydesk, &[NAME, CALLED, &mail, "zef-1"]);
    assert!(places.is_empty(), "{places:#?}");
    assert_eq!(owner.emit("token:list", &json!({})).ok()["logins"], json!([]));
    let written = RestClient::new(&copydesk, OWNER);
    let written = written.gets(&format!("documents/{document}/provenance")).ok();
    assert!(written.to_string().matches(NEUTRAL).count() >= 2, "{written}");
    let again = arrives(&sign_in::signs_in(&copydesk, &provider));
    assert_ne!(id(&again), login);
    assert_eq!(again.user()["name"], NAME);
    assert_eq!(preview(&owner, &login)["state"], "deleted");
    assert_eq!(preview(&owner, &id(&again))["state"], "stored");
}

#[test]
fn the_command_line_shows_and_deletes_a_person() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana) = (copydesk.owner(), zephyrine(&copydesk));
    ana.is_answered(SECRET, &json!({"documentContent": "Mine.\n"}));
    let her = id(&ana);
    let run = |arguments: &[&str]| {
        let mut command = copydesk_command();
        command.args(["person", "--url", copydesk.url(), "--token", OWNER]).args(arguments);
        let output = command.output().expect("the binary is built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), said, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (done, said, why) = run(&[]);
    let line = said.lines().find(|line| line.starts_with(&her)).expect("she is listed");
    assert!(done && line.contains("yes") && line.ends_with(NAME), "{said}{why}");
    let (done, said, why) = run(&[&her]);
    assert!(done && said.starts_with(&format!("{her}  {NAME}\n")), "{said}{why}");
    assert!(said.contains("1 conversations") && said.contains("Private document: doc_"), "{said}");
    ana.is_fine();
    let (done, said, why) = run(&[&her, "--delete", "--private-documents"]);
    assert!(done && said.starts_with(&format!("{her}  deleted\n")), "{said}{why}");
    ana.is_cut_off();
    is_forgotten(&copydesk);
    let (done, said, _) = run(&["--json", &her]);
    let preview: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(
        (done, &preview["state"], &preview["name"]),
        (true, &json!("deleted"), &json!(NEUTRAL))
    );
    let (done, _, why) = run(&["nobody@press.example", "--delete"]);
    assert!(!done && why.contains("nobody with the login"), "{why}");
    drop(owner);
}

#[test]
fn a_room_on_another_server_forgets_the_name_too() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let plan = TestServer::plan().script(script()).flags(&["--cluster"]);
    let copydesk = plan.start_on(Some(database));
    let second: Server = copydesk.another_node();
    // The document is open on the second server, the deletion is asked of the first.
    let ana = Person::arrive(&second.url, &copydesk.token(NAME, Role::Editor, &[]), CALLED);
    let ben = Person::arrive(&second.url, &copydesk.token("Ben", Role::Editor, &[]), "Ben");
    ben.opens(&ana.creates(BEFORE));
    let run = ben.asks("spelling");
    let request = ana.sees_request_of(&run);
    ana.accepts(&request, &[1]);
    let owner = Person::arrive(copydesk.url(), OWNER, "Owner");
    owner.emit("person:delete", &json!({"id": id(&ana)})).ok();
    ana.is_cut_off();
    comes_to_be_deleted(&owner, &id(&ana));
    // Everything that this room stores from now on comes from its memory.
    ben.accepts(&request, &[2, 3]);
    ben.answer(&run);
    is_forgotten(&copydesk);
}
