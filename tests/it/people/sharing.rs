//! Roles in single documents, given to people who sign in and to groups of their provider: what
//! they reach, on every transport, and what they no longer reach once it is taken from them.

use serde_json::{Value, json};

use crate::people::sign_in::{is_refused, scripted, signs_in, signs_in_at};
use crate::support::mcp::Mcp;
use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{
    Ack, CLIENT, IdentityProvider, OWNER, Person, RestClient, Role, Script, StoryDatabase,
    TestServer, copydesk_command,
};

const BEFORE: &str = "Teh keeper wrote every night.\n";
const AFTER: &str = "The keeper wrote every night.\n";

/// Grantees by the mail address of Gus, by his group.
const GUS: (&str, &str) = ("email", "gus@press.example");
const PRESS: (&str, &str) = ("group", "press");

fn arrives(copydesk: &TestServer, token: &str) -> Person {
    Person::arrive(copydesk.url(), token, "")
}

fn try_to_share(by: &Person, document: &str, whom: (&str, &str), role: &str) -> Ack {
    by.emit("document:share", &json!({"documentId": document, whom.0: whom.1, "role": role}))
}

fn share(owner: &Person, document: &str, whom: (&str, &str), role: &str) -> Value {
    try_to_share(owner, document, whom, role).ok()
}

fn unshare(owner: &Person, document: &str, whom: (&str, &str)) -> Ack {
    owner.emit("document:unshare", &json!({"documentId": document, whom.0: whom.1}))
}

fn roles(owner: &Person, document: &str) -> Vec<Value> {
    let list = owner.emit("document:roles", &json!({"documentId": document})).ok();
    list["roles"].as_array().expect("a list").clone()
}

/// Identifiers and roles in a list of documents.
fn listed(list: &Value) -> Vec<(&str, &str)> {
    let lines = list["documents"].as_array().expect("a list").iter();
    lines.map(|it| (it["id"].as_str().unwrap(), it["role"].as_str().unwrap())).collect()
}

fn sees(person: &Person) -> Value {
    person.emit("document:list", &json!({})).ok()
}

/// Waits until the server ends a connection because of other rights; the person comes in again.
fn comes_back(copydesk: &TestServer, person: &Person) -> Person {
    assert_eq!(person.sees("sessionEnded")["code"], "token_changed");
    person.is_cut_off();
    arrives(copydesk, &person.token)
}

/// The model makes the same change whenever it is asked.
fn rewriting_always() -> Script {
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": full(AFTER)});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    Script::default().turn(turn).closing("Done.")
}

/// A server on which writers are editors, with two documents, and Gus, who may edit one of them and
/// for whom no rule is meant.
struct Scene {
    provider: IdentityProvider,
    copydesk: TestServer,
    owner: Person,
    here: String,
    there: String,
}

fn scene(script: Script) -> Scene {
    let provider = IdentityProvider::start();
    let copydesk = scripted(&provider, &["editor=group:writers"], script);
    let owner = copydesk.owner();
    let there = owner.creates("Secret.\n");
    let here = owner.creates(BEFORE);
    provider.says_it_is("gus-1", "Gus", &["press"]);
    assert_eq!(is_refused(&copydesk, &provider), "not_admitted");
    share(&owner, &here, ("email", "Gus@Press.example "), "editor");
    Scene { provider, copydesk, owner, here, there }
}

// What a guest reaches.

#[test]
fn whom_no_rule_admits_signs_in_and_sees_just_the_documents_they_were_given() {
    let Scene { provider, copydesk, owner, here, there } = scene(Script::rewriting(AFTER));
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    assert_eq!(gus.registered()["role"], "guest");
    assert_eq!(listed(&sees(&gus)), [(here.as_str(), "editor")]);
    assert_eq!(gus.opens(&here)["role"], "editor");
    gus.types(0, "Gus. ");
    owner.comes_to_read(&format!("Gus. {BEFORE}"));
    let shown = owner.opens(&here);
    let mut peers = shown["peers"].as_array().unwrap().iter();
    assert_eq!(peers.find(|it| it["name"] == "Gus").unwrap()["role"], "editor");
    for event in [
        "document:open",
        "document:history",
        "document:provenance",
        "document:delete",
        "document:roles",
        "list_pending_approvals",
        "approval:list",
    ] {
        gus.emit(event, &json!({"documentId": there})).refused_with("not_allowed");
    }
    let two = json!({"documentId": here, "policy": "two"});
    gus.emit("document:settings", &two).refused_with("not_allowed");
    gus.emit("document:delete", &json!({"documentId": here})).refused_with("not_allowed");
    try_to_share(&gus, &here, PRESS, "viewer").refused_with("not_allowed");
    unshare(&gus, &here, GUS).refused_with("not_allowed");
    for event in ["document:create", "token:list", "trash:list", "server:work", "spending:get"] {
        gus.emit(event, &json!({})).refused_with("not_allowed");
    }
    gus.emit("settings:set", &json!({"timeoutSeconds": 7})).refused_with("not_allowed");
    gus.emit("run", &json!({"prompt": "x"})).refused_with("not_allowed");
    // Of a new document only those are notified who see it.
    owner.creates("News.\n");
    gus.catches_up();
    assert!(gus.heard("document:created").is_empty());
    // Gus asks and decides where he may write.
    gus.opens(&here);
    gus.asks("Fix the spelling");
    gus.accepts_all(&gus.sees_request());
    assert_eq!(gus.text(), AFTER);
}

#[test]
fn requests_about_other_documents_are_in_no_list_of_a_guest() {
    let Scene { provider, copydesk, owner, here, there } = scene(rewriting_always());
    for document in [&there, &here] {
        owner.opens(document);
        let first = owner.asks("Fix it");
        owner.rejects(&owner.sees_request_of(&first), "No");
        owner.answer(&first);
        let second = owner.asks("Fix it");
        owner.sees_request_of(&second);
    }
    let token = signs_in(&copydesk, &provider);
    let (gus, rest) = (arrives(&copydesk, &token), RestClient::new(&copydesk, &token));
    let about = |list: &Value| -> Vec<String> {
        let requests = list["requests"].as_array().expect("requests").iter();
        requests.map(|it| it["document_id"].as_str().unwrap_or("none").to_owned()).collect()
    };
    gus.emit("approval:list", &json!({})).refused_with("not_allowed");
    for path in
        ["requests", "requests?limit=1", "requests?state=ended", "requests?state=ended&limit=1"]
    {
        let page = rest.gets(path).ok();
        assert_eq!(about(&page), [here.as_str()], "{path}");
        assert!(page["next"].is_null(), "{page}");
    }
    let inside = format!("requests?documentId={there}&state=ended");
    rest.gets(&inside).refused_with(403, "not_allowed");
    rest.gets("requests?documentId=desk").refused_with(403, "not_allowed");
    let all = owner.emit("approval:list", &json!({"documentId": there})).ok();
    let other = all["requests"][0]["request_id"].as_str().unwrap();
    rest.gets(&format!("requests/{other}")).refused_with(403, "not_allowed");
    let decision = json!({"request_id": other, "approved": true});
    gus.emit("tool_approval_response", &decision).refused_with("not_allowed");
    gus.emit("approval:reopen", &json!({"request_id": other})).refused_with("not_allowed");
}

#[test]
fn rest_mcp_and_the_messages_api_show_a_guest_the_same() {
    let Scene { provider, copydesk, owner: _owner, here, there } = scene(Script::talking());
    let token = signs_in(&copydesk, &provider);
    let rest = RestClient::new(&copydesk, &token);
    assert_eq!(rest.gets("me").ok()["role"], "guest");
    for path in ["documents", "documents?limit=1"] {
        let page = rest.gets(path).ok();
        assert_eq!((listed(&page), &page["next"]), (vec![(here.as_str(), "editor")], &json!(null)));
    }
    for path in ["", "/versions", "/versions/0", "/provenance", "/audit", "/settings"] {
        rest.gets(&format!("documents/{here}{path}")).ok();
        rest.gets(&format!("documents/{there}{path}")).refused_with(403, "not_allowed");
    }
    assert_eq!(rest.gets(&format!("documents/{here}/export?format=md")).status, 200);
    let closed = [
        format!("documents/{there}/export?format=md"),
        format!("documents/{there}/compare?from=0"),
        format!("documents/{here}/roles"),
    ];
    let whole_server = ["audit", "webhooks", "trash", "spending", "tokens", "server/work"];
    for path in closed.iter().map(String::as_str).chain(whole_server) {
        rest.gets(path).refused_with(403, "not_allowed");
    }
    let text = json!({"version": 0, "text": "Mine.\n"});
    rest.posts(&format!("documents/{here}/edits"), &text).ok();
    rest.posts(&format!("documents/{there}/edits"), &text).refused_with(403, "not_allowed");
    rest.posts("documents", &json!({})).refused_with(403, "not_allowed");
    rest.posts("runs", &json!({"prompt": "x"})).refused_with(403, "not_allowed");

    let agent = Mcp::arrives(&copydesk, &token, "agent");
    let resources = agent.asks("resources/list", json!({})).to_string();
    assert!(resources.contains(&here) && !resources.contains(&there), "{resources}");
    assert!(agent.reads(&here).contains("Mine."));
    let tools = agent.tools();
    assert!(tools.iter().any(|it| it == "update_full_document"), "{tools:?}");
    assert!(!tools.iter().any(|it| it == "create_new_document"), "{tools:?}");
    let rewrite =
        json!({"document_id": there, "base_version": 0, "new_content": AFTER, "explanation": "x"});
    for (tool, arguments) in
        [("update_full_document", rewrite), ("read_document", json!({"document_id": there}))]
    {
        let (why, failed) = agent.gets(tool, arguments);
        assert!(failed && !why.contains("Secret"), "{why}");
    }

    let program = MessagesClient::with(&copydesk, &token);
    let ask = json!([{"role": "user", "content": "Hello"}]);
    let why = program.asks(&ask, &json!({})).refused(403, "permission_error");
    assert!(why.contains("x-copydesk-document"), "{why}");
    program.opts_in(&json!(["document"]));
    program.clone().header("x-copydesk-document", &here).asks(&ask, &json!({})).ok();
    let other = program.header("x-copydesk-document", &there);
    other.asks(&ask, &json!({})).refused(403, "permission_error");
}

// Changes.

#[test]
fn a_role_is_changed_and_taken_at_once_also_from_who_is_connected() {
    let Scene { provider, copydesk, owner, here, .. } = scene(Script::talking());
    let token = signs_in(&copydesk, &provider);
    let mut gus = arrives(&copydesk, &token);
    let login = gus.user()["id"].as_str().unwrap().to_owned();
    gus.opens(&here);
    // The same once more changes nothing, for no one.
    let line = share(&owner, &here, GUS, "editor");
    assert_eq!((&line["name"], &line["email"]), (&json!("Gus"), &json!("gus@press.example")));
    assert_eq!((&line["login"], &line["givenBy"]), (&json!(null), &json!("Owner")));
    gus.is_fine();
    share(&owner, &here, GUS, "viewer");
    gus = comes_back(&copydesk, &gus);
    assert_eq!(gus.opens(&here)["role"], "viewer");
    let rename = json!({"documentId": here, "title": "x"});
    gus.emit("document:rename", &rename).refused_with("not_allowed");
    // The strongest of several counts.
    let by_login = ("login", login.as_str());
    for (whom, role) in [(PRESS, "reviewer"), (by_login, "editor")] {
        share(&owner, &here, whom, role);
        gus = comes_back(&copydesk, &gus);
        assert_eq!(gus.opens(&here)["role"], role);
    }
    assert_eq!(roles(&owner, &here).len(), 3);
    for (whom, rest) in [(by_login, "reviewer"), (PRESS, "viewer")] {
        unshare(&owner, &here, whom).ok();
        unshare(&owner, &here, whom).refused_with("not_found");
        gus = comes_back(&copydesk, &gus);
        assert_eq!(gus.opens(&here)["role"], rest);
    }
    unshare(&owner, &here, GUS).ok();
    gus = comes_back(&copydesk, &gus);
    assert_eq!(listed(&sees(&gus)), []);
    gus.emit("document:open", &json!({"documentId": here})).refused_with("not_allowed");
    assert_eq!(is_refused(&copydesk, &provider), "not_admitted");
    gus.is_cut_off();
    assert_eq!(roles(&owner, &here), [] as [Value; 0]);
    let rest = RestClient::new(&copydesk, OWNER);
    let audit = rest.gets(&format!("documents/{here}/audit")).ok().to_string();
    assert!(audit.contains("role.given") && audit.contains("role.taken"), "{audit}");
}

#[test]
fn a_group_that_someone_has_left_counts_no_more_once_they_sign_in_again() {
    let provider = IdentityProvider::start();
    let rules = ["viewer=group:writers"];
    let copydesk = scripted(&provider, &rules, Script::talking());
    let owner = copydesk.owner();
    let here = owner.creates(BEFORE);
    share(&owner, &here, PRESS, "editor");
    provider.says_it_is("ana-1", "Ana", &["writers", "press"]);
    let ana = arrives(&copydesk, &signs_in(&copydesk, &provider));
    assert_eq!(
        (&ana.registered()["role"], &ana.opens(&here)["role"]),
        (&json!("viewer"), &json!("editor"))
    );
    ana.types(0, "Ana. ");
    let logins = owner.emit("token:list", &json!({})).ok();
    assert_eq!(logins["logins"][0]["groups"], json!(["writers", "press"]));
    provider.says_it_is("ana-1", "Ana", &["writers"]);
    let second = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let first = comes_back(&copydesk, &ana);
    for window in [&first, &second] {
        assert_eq!(window.opens(&here)["role"], "viewer");
    }
    // Nothing has changed since, so no one is disturbed.
    signs_in(&copydesk, &provider);
    first.is_fine();
    // Whom the group alone let in is out.
    provider.says_it_is("gus-1", "Gus", &["press"]);
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    provider.says_it_is("gus-1", "Gus", &["others"]);
    assert_eq!(is_refused(&copydesk, &provider), "not_admitted");
    gus.is_cut_off();
}

#[test]
fn a_token_for_one_document_stays_limited_to_it_and_is_raised_there() {
    let Scene { provider, copydesk, owner, here, there } = scene(Script::talking());
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let link = copydesk.token("Link", Role::Viewer, &["--document", &there]);
    let list = owner.emit("token:list", &json!({})).ok();
    let mut lines = list["tokens"].as_array().unwrap().iter();
    let id = lines.find(|it| it["name"] == "Link").unwrap()["id"].clone();
    let login = gus.user()["id"].clone();
    owner.emit("token:tie", &json!({"id": id, "login": login})).ok();
    let gus = comes_back(&copydesk, &gus);
    let linked = arrives(&copydesk, &link);
    assert_eq!(listed(&sees(&linked)), [(there.as_str(), "viewer")]);
    linked.emit("document:open", &json!({"documentId": here})).refused_with("not_allowed");
    assert_eq!(listed(&sees(&gus)), [(here.as_str(), "editor")]);
    share(&owner, &there, ("login", login.as_str().unwrap()), "reviewer");
    let (gus, linked) = (comes_back(&copydesk, &gus), comes_back(&copydesk, &linked));
    assert_eq!(listed(&sees(&linked)), [(there.as_str(), "reviewer")]);
    assert_eq!(listed(&sees(&gus)).len(), 2);
    // A token that an owner has issued and not tied has no login, whatever its holder is called.
    let link = copydesk.token("Gus", Role::Viewer, &[]);
    assert_eq!(arrives(&copydesk, &link).opens(&here)["role"], "viewer");
}

// Decisions.

#[test]
fn whose_right_to_decide_ends_loses_their_votes() {
    let Scene { provider, copydesk, owner, here, .. } = scene(Script::rewriting(AFTER));
    let two = json!({"documentId": here, "policy": "two"});
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    // Gus is the second person who could decide.
    owner.emit("document:settings", &two).ok();
    owner.opens(&here);
    gus.opens(&here);
    owner.asks("Fix the spelling");
    let request = gus.sees_request();
    gus.accepts(&request, &[1]);
    let votes = |person: &Person| person.pending()[0].hunks()[0]["votes"].clone();
    assert_eq!(votes(&owner)[0]["name"], "Gus");
    share(&owner, &here, GUS, "viewer");
    let event = owner.sees_where("tool_approval_update", |it| {
        it["request_id"] == request.id() && it["hunks"][0].get("votes").is_none()
    });
    assert_eq!(event["hunks"][0]["status"], "pending", "{event}");
    owner.accepts(&request, &[1]);
    assert_eq!(owner.text(), BEFORE, "one person has agreed");
    let gus = comes_back(&copydesk, &gus);
    gus.opens(&here);
    gus.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    share(&owner, &here, GUS, "reviewer");
    let gus = comes_back(&copydesk, &gus);
    gus.opens(&here);
    gus.accepts(&request, &[1]);
    assert_eq!(owner.sees_resolved(&request)["status"], "approved");
    assert_eq!(owner.text(), AFTER);
}

#[test]
fn a_run_ends_where_its_person_may_no_longer_ask() {
    let Scene { provider, copydesk, owner, here, .. } = scene(Script::rewriting(AFTER));
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    gus.opens(&here);
    owner.opens(&here);
    let run = gus.asks("Fix the spelling");
    let request = owner.sees_request_of(&run);
    unshare(&owner, &here, GUS).ok();
    // What he asked for stays, and his run does not go on with the answer.
    owner.accepts_all(&request);
    assert_eq!(owner.text(), AFTER);
    let end = owner.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(end["subtype"], "error", "{end}");
}

// Documents.

#[test]
fn roles_end_with_a_document_for_good_and_come_back_with_a_recovered_one() {
    let Scene { provider, copydesk, owner, here, .. } = scene(Script::talking());
    let gus = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let named = json!({"documentId": here});
    owner.emit("document:delete", &named).ok();
    assert_eq!(listed(&sees(&gus)), []);
    gus.emit("document:open", &named).refused_with("not_found");
    owner.emit("document:roles", &named).refused_with("not_found");
    try_to_share(&owner, &here, PRESS, "viewer").refused_with("not_found");
    owner.emit("trash:recover", &named).ok();
    assert_eq!(gus.opens(&here)["role"], "editor");
    owner.emit("document:delete", &named).ok();
    owner.emit("trash:empty", &named).ok();
    assert_eq!(is_refused(&copydesk, &provider), "not_admitted");
    gus.is_cut_off();
}

#[test]
fn the_command_line_gives_lists_and_takes_roles() {
    let Scene { provider, copydesk, here, .. } = scene(Script::talking());
    let run = |arguments: &[&str]| {
        let mut command = copydesk_command();
        command.args(["share", "--url", copydesk.url(), "--token", OWNER, &here]).args(arguments);
        let output = command.output().expect("the binary is built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (done, _, why) = run(&["--group", "/staff/press", "--role", "viewer"]);
    assert_eq!(done, Some(0), "{why}");
    signs_in(&copydesk, &provider);
    let list = "editor    email  gus@press.example  Gus\nviewer    group  /staff/press\n";
    assert_eq!(run(&[]), (Some(0), list.to_owned(), String::new()));
    assert_eq!(run(&["--group", "/staff/press", "--remove"]).0, Some(0));
    assert_eq!(run(&[]).1, "editor    email  gus@press.example  Gus\n");
    let (failed, _, why) = run(&["--group", "/staff/press", "--remove"]);
    assert!(failed == Some(1) && why.contains("no such role"), "{why}");
    for wrong in [
        &["--role", "viewer"] as &[&str],
        &["--group", "press"],
        &["--group", "press", "--email", "a@b.example", "--role", "viewer"],
        &["--group", "press", "--role", "viewer", "--remove"],
        &["--group", "press", "--role", "owner"],
    ] {
        assert_eq!(run(wrong).0, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_change_on_one_node_holds_on_the_others() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let provider = IdentityProvider::start();
    let flags = provider.flags(&["editor=group:writers"]);
    let mut flags: Vec<_> = flags.iter().map(String::as_str).collect();
    flags.extend(["--public-url", "http://127.0.0.1:1"]);
    let plan = TestServer::plan().flags(&flags);
    let copydesk = plan.variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1).start_nodes(2, database);
    let urls: Vec<String> = copydesk.urls().into_iter().map(str::to_owned).collect();
    let owner = Person::arrive(&urls[0], OWNER, "");
    let here = owner.creates(BEFORE);
    provider.says_it_is("gus-1", "Gus", &["press"]);
    share(&owner, &here, PRESS, "editor");
    let token = signs_in_at(urls[1].trim_start_matches("http://"), &provider);
    let gus = Person::arrive(&urls[1], &token, "");
    gus.opens(&here);
    gus.types(0, "Gus. ");
    owner.comes_to_read(&format!("Gus. {BEFORE}"));
    share(&owner, &here, PRESS, "viewer");
    assert_eq!(gus.sees("sessionEnded")["code"], "token_changed");
    gus.is_cut_off();
    let gus = Person::arrive(&urls[1], &token, "");
    assert_eq!(gus.opens(&here)["role"], "viewer");
    unshare(&owner, &here, PRESS).ok();
    gus.is_cut_off();
    let gus = Person::arrive(&urls[1], &token, "");
    gus.emit("document:open", &json!({"documentId": here})).refused_with("not_allowed");
}
