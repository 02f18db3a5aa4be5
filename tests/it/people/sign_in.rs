//! Signing in with an identity provider: who comes in, who does not, and what a login is worth.

use serde_json::{Value, json};

use crate::support::http::{Response, ask, send};
use crate::support::{
    CLIENT, IdentityProvider, OWNER, Person, Role, Script, StoryDatabase, TestServer, TokenFault,
    copydesk_command,
};

const BEFORE: &str = "Teh keeper wrote every night.\n";
const AFTER: &str = "The keeper wrote every night.\n";

/// A server whose people sign in with this provider; one server, because a browser comes back to
/// the one it began at.
pub fn server(provider: &IdentityProvider, roles: &[&str]) -> TestServer {
    scripted(provider, roles, Script::rewriting(AFTER))
}

pub fn scripted(provider: &IdentityProvider, roles: &[&str], script: Script) -> TestServer {
    let flags = provider.flags(roles);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let plan = TestServer::plan().script(script).flags(&flags);
    plan.variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1).on_sqlite("one address signs in").start()
}

/// Browser of a person, as far as signing in goes.
struct Browser {
    address: String,
    /// Cookie that it sends back, as `NAME=VALUE`.
    cookie: String,
    /// Address to which the provider has sent it.
    callback: String,
}

impl Browser {
    /// Goes to the provider and agrees there.
    fn agrees(address: &str, provider: &IdentityProvider) -> Self {
        Self::agrees_at(address, provider, "/sign-in")
    }

    fn agrees_at(address: &str, provider: &IdentityProvider, start: &str) -> Self {
        let begun = ask(address, &format!("GET {start}"), &[("Host", address)]);
        assert_eq!(begun.status, 303, "{begun:?}");
        let cookie = begun.header("set-cookie").expect("a cookie");
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        let callback = provider.sends_on(&begun.location().expect("the provider's page"));
        Self { address: address.to_owned(), cookie, callback }
    }

    /// Comes back to a server.
    fn comes_back_to(&self, address: &str) -> Response {
        let (_, path) = self.callback.split_once("/sign-in").expect("the callback");
        let host = ("Host", address);
        let request = format!("GET /sign-in{path}");
        ask(address, &request, &[host, ("Cookie", &self.cookie)])
    }

    fn comes_back(&self) -> Response {
        self.comes_back_to(&self.address)
    }
}

/// The token behind the `#` of an answer that lets a person in.
fn token(answer: &Response) -> String {
    let place = answer.location().unwrap_or_else(|| panic!("{answer:?}"));
    let (place, token) = place.split_once("#token=").unwrap_or_else(|| panic!("{place}"));
    assert_eq!((answer.status, place.contains('?')), (303, false), "nothing is in a query");
    token.to_owned()
}

/// The reason in an answer that lets no one in.
fn refusal(answer: &Response) -> String {
    let place = answer.location().unwrap_or_else(|| panic!("{answer:?}"));
    place.strip_prefix("/#sign-in-error=").unwrap_or_else(|| panic!("{place}")).to_owned()
}

/// The token that a person gets who signs in.
pub fn signs_in(copydesk: &TestServer, provider: &IdentityProvider) -> String {
    signs_in_at(copydesk.address(), provider)
}

/// The reason why a person who signs in is not let in.
pub fn is_refused(copydesk: &TestServer, provider: &IdentityProvider) -> String {
    refusal(&Browser::agrees(copydesk.address(), provider).comes_back())
}

/// The token that a person gets who signs in at one of several servers.
pub fn signs_in_at(address: &str, provider: &IdentityProvider) -> String {
    token(&Browser::agrees(address, provider).comes_back())
}

fn arrives(copydesk: &TestServer, token: &str) -> Person {
    Person::arrive(copydesk.url(), token, "")
}

fn tokens(owner: &Person) -> Value {
    owner.emit("token:list", &json!({})).ok()
}

fn over_rest(address: &str, token: &str, request: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let json = ("Content-Type", "application/json");
    let headers = [("Host", address), ("Authorization", bearer.as_str()), json];
    if request.starts_with("GET") {
        ask(address, request, &headers)
    } else {
        send(address, request, &headers, "{}")
    }
}

#[test]
fn someone_signs_in_and_comes_in_everywhere_with_the_token_of_the_login() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["viewer=anyone", "editor=group:writers"]);
    let offer = ask(copydesk.address(), "GET /api/v1/sign-in", &[("Host", copydesk.address())]);
    let offer: Value = serde_json::from_str(&offer.body).unwrap();
    assert_eq!(offer["url"], format!("{}/sign-in", copydesk.url()));
    let owner = copydesk.owner();
    let document = owner.creates(BEFORE);
    let start = format!("/sign-in?return=/d/{document}");
    let answer = Browser::agrees_at(copydesk.address(), &provider, &start).comes_back();
    let place = answer.location().unwrap();
    assert!(place.starts_with(&format!("/d/{document}#token=cdk_")), "{place}");
    assert_eq!(answer.header("cache-control").as_deref(), Some("no-store"));
    assert!(answer.header("set-cookie").unwrap().contains("Max-Age=0"), "the cookie is gone");
    let token = token(&answer);
    let ana = arrives(&copydesk, &token);
    assert_eq!((&ana.user()["name"], &ana.registered()["role"]), (&json!("Ana"), &json!("editor")));
    ana.opens(&document);
    ana.types(0, "Ana. ");
    let me = over_rest(copydesk.address(), &token, "GET /api/v1/me");
    let me: Value = serde_json::from_str(&me.body).unwrap();
    assert_eq!(me["user"], ana.user());
    let list = tokens(&owner);
    let (line, login) = (&list["tokens"][1], &list["logins"][0]);
    assert_eq!((&line["name"], &line["status"]), (&json!("Ana"), &json!("active")));
    assert_eq!((&line["login"], &line["tied"]), (&login["id"], &json!(false)));
    assert!(line["expiresAt"].is_string(), "{line}");
    assert_eq!(login["id"], ana.user()["id"]);
    assert_eq!(
        (&login["subject"], &login["email"]),
        (&json!("ana-1"), &json!("ana@press.example"))
    );
    assert_eq!(login["issuer"], provider.issuer);
    assert!(!list.to_string().contains(&token), "no secret is listed");
}

#[test]
fn a_second_sign_in_is_the_same_person_and_another_subject_is_not() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=group:writers"]);
    let first = arrives(&copydesk, &signs_in(&copydesk, &provider));
    // A name is nothing to go by.
    provider.says_it_is("ana-1", "Ana Maria", &["writers"]);
    let second = arrives(&copydesk, &signs_in(&copydesk, &provider));
    provider.says_it_is("ana-2", "Ana", &["writers"]);
    let other = arrives(&copydesk, &signs_in(&copydesk, &provider));
    assert_eq!(first.user()["id"], second.user()["id"]);
    assert_eq!(second.user()["name"], "Ana Maria");
    assert_ne!(first.user()["id"], other.user()["id"]);
    assert_eq!(tokens(&copydesk.owner())["logins"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_answer_for_another_browser_or_state_lets_no_one_in() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let ana = Browser::agrees(copydesk.address(), &provider);
    let mallory = Browser::agrees(copydesk.address(), &provider);
    // The code of one in the browser of the other, and in one that has begun nothing.
    let crossed = Browser { cookie: ana.cookie.clone(), ..mallory };
    assert_eq!(refusal(&crossed.comes_back()), "lost");
    let fresh = Browser { cookie: "other=1".to_owned(), ..ana };
    assert_eq!(refusal(&fresh.comes_back()), "lost");
    assert_eq!(tokens(&copydesk.owner())["logins"], json!([]));
}

#[test]
fn a_token_of_the_provider_that_does_not_hold_lets_no_one_in() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    for fault in [
        TokenFault::Nonce,
        TokenFault::Issuer,
        TokenFault::Audience,
        TokenFault::Expired,
        TokenFault::Signature,
        TokenFault::Unsigned,
        TokenFault::UnknownKey,
        TokenFault::OtherParty,
        TokenFault::IssuedAhead,
        TokenFault::NotYetValid,
        TokenFault::NoSubject,
        TokenFault::HugeSubject,
        TokenFault::HugeEmail,
    ] {
        provider.lies(Some(fault));
        let answer = Browser::agrees(copydesk.address(), &provider).comes_back();
        // An unsigned token cannot even be read.
        let reason = refusal(&answer);
        let unreadable = fault == TokenFault::Unsigned && reason == "unavailable";
        assert!(reason == "refused" || unreadable, "{fault:?}: {reason}");
    }
    assert_eq!(tokens(&copydesk.owner())["logins"], json!([]));
    provider.lies(None);
    signs_in(&copydesk, &provider);
}

#[test]
fn new_keys_of_the_provider_are_read_once_they_are_used_and_not_at_every_bad_token() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    signs_in(&copydesk, &provider);
    assert_eq!(provider.key_requests(), 1);
    provider.rotates_its_key();
    signs_in(&copydesk, &provider);
    assert_eq!(provider.key_requests(), 2);
    provider.lies(Some(TokenFault::UnknownKey));
    for _ in 0..5 {
        let answer = Browser::agrees(copydesk.address(), &provider).comes_back();
        assert_eq!(refusal(&answer), "refused");
    }
    assert_eq!(provider.key_requests(), 2, "they were read a moment ago");
}

#[test]
fn a_provider_that_is_down_is_said_and_others_are_not_disturbed() {
    let provider = IdentityProvider::start();
    provider.is_down(true);
    let copydesk = server(&provider, &["editor=anyone"]);
    let begins = || ask(copydesk.address(), "GET /sign-in", &[("Host", copydesk.address())]);
    assert_eq!(refusal(&begins()), "unavailable");
    copydesk.owner().is_fine();
    provider.is_down(false);
    let browser = Browser::agrees(copydesk.address(), &provider);
    provider.is_down(true);
    assert_eq!(refusal(&browser.comes_back()), "unavailable");
    provider.is_down(false);
    signs_in(&copydesk, &provider);
}

#[test]
fn a_code_is_good_once() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let browser = Browser::agrees(copydesk.address(), &provider);
    token(&browser.comes_back());
    assert_eq!(refusal(&browser.comes_back()), "refused");
}

#[test]
fn a_person_who_says_no_at_the_provider_is_not_let_in() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    provider.declines();
    let answer = Browser::agrees(copydesk.address(), &provider).comes_back();
    assert_eq!(refusal(&answer), "declined");
}

#[test]
fn whom_no_role_is_meant_for_is_not_let_in_and_loses_what_they_had() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=group:writers", "reviewer=group:readers"]);
    provider.says_it_is("eve", "Eve", &["others"]);
    let answer = Browser::agrees(copydesk.address(), &provider).comes_back();
    assert_eq!(refusal(&answer), "not_admitted");
    assert_eq!(tokens(&copydesk.owner())["logins"], json!([]), "nothing is kept of her");
    // Another role: the one before ends. None: everything ends.
    provider.says_it_is("ana-1", "Ana", &["writers"]);
    let writes = arrives(&copydesk, &signs_in(&copydesk, &provider));
    provider.says_it_is("ana-1", "Ana", &["readers"]);
    let reads = arrives(&copydesk, &signs_in(&copydesk, &provider));
    writes.is_cut_off();
    assert_eq!(reads.registered()["role"], "reviewer");
    provider.says_it_is("ana-1", "Ana", &[]);
    let answer = Browser::agrees(copydesk.address(), &provider).comes_back();
    assert_eq!(refusal(&answer), "not_admitted");
    reads.is_cut_off();
}

#[test]
fn signing_out_and_revoking_end_a_sign_in_at_once() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["viewer=anyone"]);
    let (first, second) = (signs_in(&copydesk, &provider), signs_in(&copydesk, &provider));
    let (here, there) = (arrives(&copydesk, &first), arrives(&copydesk, &second));
    let out = over_rest(copydesk.address(), &first, "POST /api/v1/sign-out");
    assert_eq!(out.status, 204, "{}", out.body);
    assert_eq!(here.sees("sessionEnded")["code"], "token_revoked");
    here.is_cut_off();
    assert_eq!(over_rest(copydesk.address(), &first, "GET /api/v1/me").status, 401);
    there.is_fine();
    let owner = copydesk.owner();
    let lines = tokens(&owner);
    let is_login = |it: &&Value| it["login"].is_string() && it["status"] == "active";
    let signed_in = lines["tokens"].as_array().unwrap().iter().find(is_login).unwrap();
    owner.emit("token:revoke", &json!({"id": signed_in["id"]})).ok();
    there.is_cut_off();
    // A link is not signed out, but revoked.
    let link = copydesk.token("Bo", Role::Editor, &[]);
    assert_eq!(over_rest(copydesk.address(), &link, "POST /api/v1/sign-out").status, 403);
    assert_eq!(over_rest(copydesk.address(), &link, "GET /api/v1/me").status, 200);
}

/// The identifier of the token of a person with this name that no login has.
fn link_of(owner: &Person, name: &str) -> String {
    let list = tokens(owner);
    let mut lines = list["tokens"].as_array().unwrap().iter();
    let line = lines.find(|it| it["name"] == name && it["login"].is_null());
    line.unwrap_or_else(|| panic!("{list}"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn tied_tokens_and_sign_ins_of_one_login_are_one_voice_where_two_people_decide() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    let document = owner.creates(BEFORE);
    owner.emit("document:settings", &json!({"documentId": document, "policy": "two"})).ok();
    let link = copydesk.token("Ana’s link", Role::Editor, &[]);
    let linked = arrives(&copydesk, &link);
    let signed_in = signs_in(&copydesk, &provider);
    let first = arrives(&copydesk, &signed_in);
    let again = arrives(&copydesk, &signs_in(&copydesk, &provider));
    for person in [&ben, &linked, &first, &again] {
        person.opens(&document);
    }
    ben.asks("Fix the spelling");
    let request = ben.sees_request();
    // Before the link is tied, it is another person: its vote counts beside the login's.
    linked.accepts(&request, &[1]);
    let tied = json!({"id": link_of(&owner, "Ana’s link"), "login": first.user()["id"]});
    owner.emit("token:tie", &tied).ok();
    for person in [&linked, &first, &again] {
        assert_eq!(person.sees("sessionEnded")["code"], "token_changed");
        person.is_cut_off();
    }
    // All come back as one person, and what the link had voted counts no more.
    let people: Vec<_> =
        [&link, &signed_in].into_iter().map(|token| arrives(&copydesk, token)).collect();
    assert_eq!(people[0].user()["id"], people[1].user()["id"]);
    for person in &people {
        person.opens(&document);
        person.accepts(&request, &[1]);
    }
    assert_eq!(owner.text(), BEFORE, "one voice is not two");
    ben.accepts(&request, &[1]);
    assert_eq!(ben.sees_resolved(&request)["status"], "approved");
    // Tying once more changes nothing, and a token of one login is not given to another.
    owner.emit("token:tie", &tied).ok();
    provider.says_it_is("cy-1", "Cy", &[]);
    let cy = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let other = json!({"id": tied["id"], "login": cy.user()["id"]});
    owner.emit("token:tie", &other).refused_with("already_exists");
    let unknown = json!({"id": link_of(&owner, "Ben"), "login": "usr_nobody"});
    owner.emit("token:tie", &unknown).refused_with("not_found");
    cy.emit("token:tie", &tied).refused_with("not_allowed");
}

#[test]
fn a_rule_about_a_person_holds_after_their_token_was_tied_to_a_login() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let owner = copydesk.owner();
    let document = owner.creates(BEFORE);
    let link = copydesk.token("Ana’s link", Role::Editor, &[]);
    let linked = arrives(&copydesk, &link);
    let author = linked.user()["id"].clone();
    let rule = json!({"documentId": document, "effect": "deny", "author": author});
    owner.emit("rules:add", &rule).ok();
    let is_denied = |ana: &Person| {
        ana.opens(&document);
        let run = ana.asks("Fix the spelling");
        assert_eq!(ana.answer(&run)["updateType"], "none");
        let tool_result = ana.tool_results(&run).remove(0).to_string();
        assert!(tool_result.contains("for what Ana’s link asks"), "{tool_result}");
    };
    is_denied(&linked);
    let login = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let tied = json!({"id": link_of(&owner, "Ana’s link"), "login": login.user()["id"]});
    owner.emit("token:tie", &tied).ok();
    let again = arrives(&copydesk, &link);
    assert_ne!(again.user()["id"], author, "the login's id from now on");
    is_denied(&again);
}

#[test]
fn what_was_asked_with_a_link_is_not_decided_by_the_login_it_was_tied_to() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    let document = owner.creates(BEFORE);
    let policy = json!({"documentId": document, "policy": "not_requester"});
    owner.emit("document:settings", &policy).ok();
    let linked = copydesk.editor("Ana’s link");
    linked.opens(&document);
    linked.asks("Fix the spelling");
    let request = linked.sees_request();
    let signed_in = signs_in(&copydesk, &provider);
    let login = arrives(&copydesk, &signed_in).user()["id"].clone();
    let tie = format!("POST /api/v1/tokens/{}/tie", link_of(&owner, "Ana’s link"));
    let bearer = format!("Bearer {OWNER}");
    let headers = [
        ("Host", copydesk.address()),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    let body = json!({"login": login}).to_string();
    assert_eq!(send(copydesk.address(), &tie, &headers, &body).status, 204);
    let ana = arrives(&copydesk, &signed_in);
    ana.opens(&document);
    let accept = json!({"approved": true});
    ana.decides(&request, accept).refused_with("not_allowed");
    ben.opens(&document);
    ben.accepts(&request, &[1]);
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn the_command_line_lists_logins_and_ties_by_mail_address() {
    let provider = IdentityProvider::start();
    let copydesk = server(&provider, &["editor=anyone"]);
    let (owner, link) = (copydesk.owner(), copydesk.token("Ana’s link", Role::Viewer, &[]));
    let ana = arrives(&copydesk, &signs_in(&copydesk, &provider));
    let run = |arguments: &[&str]| {
        let mut command = copydesk_command();
        command.args(["token", "--url", copydesk.url(), "--token", OWNER]).args(arguments);
        let output = command.output().expect("the binary is built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), said, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (_, list, _) = run(&["--list"]);
    let person = ana.user();
    let login = person["id"].as_str().unwrap();
    let is_told = list.lines().any(|line| {
        line.starts_with(login) && line.contains("ana@press.example") && line.ends_with("Ana")
    });
    assert!(is_told, "{list}");
    let token = link_of(&owner, "Ana’s link");
    let (done, _, why) = run(&["--tie", &token, "--login", "ANA@press.example"]);
    assert!(done, "{why}");
    assert_eq!(arrives(&copydesk, &link).user()["id"], ana.user()["id"]);
    let (done, _, why) = run(&["--tie", &token, "--login", "bo@press.example"]);
    assert!(!done && why.contains("nobody with the login"), "{why}");
}

#[test]
fn behind_a_proxy_the_browser_comes_back_to_the_public_address() {
    let provider = IdentityProvider::start();
    let flags = provider.flags(&["viewer=anyone"]);
    let mut flags: Vec<_> = flags.iter().map(String::as_str).collect();
    flags.extend(["--public-url", "https://desk.example/"]);
    let plan = TestServer::plan().flags(&flags).on_sqlite("one address signs in");
    let copydesk = plan.variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1).start();
    let host = [("Host", "desk.example")];
    let begun = ask(copydesk.address(), "GET /sign-in", &host);
    let cookie = begun.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-") && cookie.ends_with("; Secure"), "{cookie}");
    let callback = provider.sends_on(&begun.location().unwrap());
    let path =
        callback.strip_prefix("https://desk.example").unwrap_or_else(|| panic!("{callback}"));
    let cookie = cookie.split(';').next().unwrap();
    let request = format!("GET {path}");
    let answer = ask(copydesk.address(), &request, &[host[0], ("Cookie", cookie)]);
    arrives(&copydesk, &token(&answer));
}

#[test]
fn a_login_of_one_node_is_good_on_another_and_ends_on_both() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let provider = IdentityProvider::start();
    let flags = provider.flags(&["editor=anyone"]);
    let mut flags: Vec<_> = flags.iter().map(String::as_str).collect();
    flags.extend(["--public-url", "http://127.0.0.1:1"]);
    let plan = TestServer::plan().flags(&flags);
    let copydesk = plan.variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1).start_nodes(2, database);
    let urls: Vec<String> = copydesk.urls().into_iter().map(str::to_owned).collect();
    let address = |node: usize| urls[node].trim_start_matches("http://");
    // Begun on one, finished on the other.
    let answer = Browser::agrees(address(0), &provider).comes_back_to(address(1));
    let token = token(&answer);
    let on = |node: usize| Person::arrive(&urls[node], &token, "");
    let (first, second) = (on(0), on(1));
    let document = first.creates(BEFORE);
    second.opens(&document);
    second.types(0, "Ana. ");
    first.comes_to_read(&format!("Ana. {BEFORE}"));
    assert_eq!(over_rest(address(1), &token, "POST /api/v1/sign-out").status, 204);
    first.is_cut_off();
    second.is_cut_off();
    // The next sign-in is the same person.
    let answer = Browser::agrees(address(1), &provider).comes_back_to(address(0));
    let again = Person::arrive(&urls[1], &self::token(&answer), "");
    assert_eq!(again.user()["id"], first.user()["id"]);
    again.opens(&document);
    assert_eq!(again.text(), format!("Ana. {BEFORE}"));
}

#[test]
fn without_a_provider_nothing_is_offered() {
    let copydesk = TestServer::quiet();
    let host = [("Host", copydesk.address())];
    let offer = ask(copydesk.address(), "GET /api/v1/sign-in", &host);
    assert_eq!((offer.status, offer.body.as_str()), (200, r#"{"url":null}"#));
}
