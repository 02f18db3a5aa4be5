//! The wire's samples: complete, parsed by the server's own types, and met by real traffic.
//!
//! Every story compares what it sends and sees with the samples; these make sure that nothing is
//! left out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::people::sign_in::signs_in;
use crate::support::script::full;
use crate::support::wire::{self, Shape};
use crate::support::{CLIENT, IdentityProvider, Person, Script, TestServer};

/// The events in the server's own table.
pub fn events() -> BTreeSet<&'static str> {
    copydesk_operations::table().all().iter().filter_map(|operation| operation.event).collect()
}

/// The routes in the server's own table.
pub fn routes() -> BTreeSet<String> {
    let operations = copydesk_operations::table().all().iter();
    operations.filter_map(|operation| Some(operation.route.as_ref()?.url())).collect()
}

fn sampled(direction: &str) -> BTreeSet<&'static str> {
    wire::shapes().iter().filter(|it| it.name.starts_with(direction)).map(Shape::event).collect()
}

#[test]
fn every_event_of_the_server_has_its_samples() {
    assert_eq!(sampled("client"), events(), "fixtures/wire/client");
    let mut acks = sampled("ack");
    acks.remove("refused");
    assert_eq!(acks, events(), "fixtures/wire/ack");
}

#[test]
fn every_sample_is_like_itself() {
    for shape in wire::shapes() {
        shape.admits(&shape.sample).unwrap_or_else(|why| panic!("{}: {why}", shape.name));
    }
}

/// Reads a sample from text, as the server does: raw values cannot be read from anything else.
fn reads<T: serde::de::DeserializeOwned>(sample: &Value) -> Result<(), serde_json::Error> {
    serde_json::from_str::<T>(&sample.to_string()).map(drop)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one line for each event")]
fn the_servers_types_read_every_clients_sample() {
    use copydesk_protocol::{
        administration::*, client::*, comments::*, deferring::*, files::*, rules::*, sharing::*,
        suggestions::*,
    };
    for shape in wire::shapes().iter().filter(|it| it.name.starts_with("client/")) {
        let read = match shape.event() {
            "settings:get" | "token:list" | "trash:list" | "server:work" | "server:storage" => {
                reads::<Nothing>
            }
            "document:list" => reads::<ListDocuments>,
            "document:create" => reads::<CreateDocument>,
            "document:open" => reads::<OpenDocument>,
            "document:push" => reads::<PushUpdates>,
            "document:resync" => reads::<Resync>,
            "document:settings" => reads::<ChangeSettings>,
            "document:close" | "document:delete" | "document:duplicate" | "trash:recover"
            | "document:roles" | "approval:deferred" | "comment:people" => reads::<NameDocument>,
            "document:share" => reads::<ShareDocument>,
            "document:unshare" => reads::<UnshareDocument>,
            "suggestion:update" => reads::<UpdateSuggestion>,
            "comment:list" => reads::<ListComments>,
            "comment:create" => reads::<CreateComment>,
            "comment:reply" => reads::<ReplyToComment>,
            "comment:edit" => reads::<EditComment>,
            "comment:delete" => reads::<DeleteComment>,
            "comment:resolve" => reads::<ResolveThread>,
            "comment:read" => reads::<ReadThreads>,
            "trash:empty" => reads::<EmptyTrash>,
            "document:rename" => reads::<RenameDocument>,
            "document:history" => reads::<ReadHistory>,
            "document:at" => reads::<ReadVersion>,
            "document:provenance" => reads::<ReadProvenance>,
            "document:compare" => reads::<CompareVersions>,
            "document:restore" => reads::<RestoreVersion>,
            "workspace:files" => reads::<ListFiles>,
            "presence:update" => reads::<MoveCaret>,
            "askClaudeCode" => reads::<AskClaudeCode>,
            "run" => reads::<Run>,
            "tool_approval_response" | "approval:told" => reads::<ToolApprovalResponse>,
            "tool_approval_batch" => reads::<ToolApprovalBatch>,
            "list_pending_approvals" => reads::<ListPendingApprovals>,
            "approval:list" => reads::<ListRequests>,
            "approval:focus" => reads::<FocusRequest>,
            "approval:split" => reads::<SplitRequest>,
            "approval:defer" => reads::<DeferHunk>,
            "approval:extend" | "approval:withdraw" => reads::<NameRequest>,
            "approval:undo" => reads::<UndoRequest>,
            "approval:reopen" => reads::<ReopenRequest>,
            "cancel" => reads::<Cancel>,
            "transcript:get" => reads::<ReadTranscript>,
            "transcript:clear" => reads::<ClearTranscript>,
            "transcript:fork" => reads::<ForkTranscript>,
            "rules:list" => reads::<ListRules>,
            "rules:add" => reads::<AddRule>,
            "rules:revoke" => reads::<RevokeRule>,
            "settings:set" => reads::<SetSettings>,
            "token:issue" => reads::<IssueToken>,
            "token:name" => reads::<NameToken>,
            "token:revoke" => reads::<RevokeToken>,
            "token:tie" => reads::<TieToken>,
            "server:stop" => reads::<StopRun>,
            "person:preview" => reads::<NamePerson>,
            "person:delete" => reads::<DeletePerson>,
            "spending:get" => reads::<ReadSpending>,
            "spending:limit" => reads::<SetSpendingLimit>,
            unknown => panic!("{unknown} is read by no type"),
        };
        read(&shape.sample).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
    }
}

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// A limit of fifty rounds, a log that no longer reaches back, a call that waits in another
/// document.
const RARE: [&str; 4] = [
    "server/agent_event.result.limit",
    "ack/document.resync",
    "server/agent_event.system.waiting.document",
    "server/updates",
];

#[test]
fn a_tour_meets_every_sample() {
    let provider = IdentityProvider::start();
    let flags = provider.flags(&["viewer=anyone"]);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let plan = TestServer::plan().script(script_of_the_tour()).workspace(&[("a.txt", "a")]);
    let plan = plan.flags(&flags).variable("COPYDESK_OIDC_CLIENT_SECRET", CLIENT.1);
    let copydesk = plan.start();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    let cy = copydesk.editor_with("Cy", &["presence-changes", "comments"]);
    cy.opens(&owner.creates(BEFORE));
    ben.opens(&owner.document());
    cy.sees("presence:changes");
    let named = json!({"documentId": owner.document()});

    tour_of_documents(&owner);
    tour_of_comments(&owner, &cy);
    tour_of_suggestions(&owner);
    ben.comes_to_version(1);
    // Whole lists of people come at most once a second.
    let writes = |peer: &Value| peer["clientIDs"].as_array().is_some_and(|it| !it.is_empty());
    ben.sees_where("presence:peers", |it| it["peers"].as_array().unwrap().iter().any(writes));
    tour_of_endings(&owner);
    tour_of_decisions(&owner, &ben);
    let gone = tour_of_tokens(&copydesk, &owner, &provider);
    tour_of_the_inbox(&owner);
    tour_of_files(&owner);
    owner.emit("document:close", &named).ok();
    owner.emit("document:delete", &named).ok();
    ben.sees_where("document:changed", |it| it["deleted"] == true);
    owner.emit("trash:list", &json!({})).ok();
    owner.emit("trash:recover", &named).ok();
    owner.emit("document:delete", &named).ok();
    owner.emit("trash:empty", &json!({})).ok();

    let met = [owner.shapes_met(), ben.shapes_met(), cy.shapes_met(), gone].concat();
    let unmet: Vec<_> = wire::shapes()
        .iter()
        .map(|shape| shape.name.as_str())
        .filter(|name| !name.starts_with("client/") && !met.contains(name) && !RARE.contains(name))
        .collect();
    assert!(unmet.is_empty(), "met by nothing: {unmet:?}");
}

fn script_of_the_tour() -> Script {
    let say = |text: &str| json!([{"type": "text", "text": text}]);
    Script::default()
        .answering("file", "Write", &json!({"file_path": "a.txt", "content": "b"}))
        .answering("open", "Write", &json!({"file_path": "a.txt", "content": "c"}))
        .answering("split", "update_full_document", &full(&AFTER.replace("wrote every night", "rarely wrote every night outside")))
        .answering("again", "update_full_document", &full(AFTER))
        .answering("edit", "update_full_document", &full(AFTER))
        .turn(json!({"when": {"user": "long"}, "content": say("And so"), "stop_reason": "max_tokens"}))
        .turn(json!({"when": {"user": "refuse"}, "content": say("No."), "stop_reason": "refusal"}))
        .turn(json!({"when": {"user": "fail"}, "error": {"status": 401, "type": "authentication_error"}}))
        .turn(json!({"when": {"user": "slow"}, "content": say("Slowly, very slowly."), "chunk_chars": 2, "delay_ms": 200}))
        .turn(json!({"when": {"user": "watch"}, "chunk_chars": 20, "delay_ms": 100, "content": [
            {"type": "tool_use", "name": "update_full_document", "input": full(&AFTER.repeat(3))}]}))
        .closing("Done.")
}

fn tour_of_documents(owner: &Person) {
    let with = |more: Value| {
        let mut payload = json!({"documentId": owner.document()});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    owner.types(0, "# A story\n\n");
    owner.emit("document:list", &json!({})).ok();
    owner.emit("document:open", &with(json!({"since": 0}))).ok();
    owner.emit("document:resync", &with(json!({"version": 0}))).ok();
    owner.emit("document:rename", &with(json!({"title": "Another title"}))).ok();
    owner.emit("document:duplicate", &with(json!({}))).ok();
    owner.emit("document:settings", &with(json!({"timeoutSeconds": 200}))).ok();
    owner.emit("document:history", &with(json!({}))).ok();
    owner.emit("document:at", &with(json!({"version": 0}))).ok();
    owner.emit("document:provenance", &with(json!({}))).ok();
    owner.emit("document:compare", &with(json!({"from": 0}))).ok();
    owner.emit("document:restore", &with(json!({"version": 1, "onlyAt": 1}))).ok();
    owner.emit("presence:update", &with(json!({"version": 1, "anchor": 0, "head": 2}))).ok();
    owner.emit("settings:set", &json!({"timeoutSeconds": 250})).ok();
}

fn tour_of_comments(owner: &Person, cy: &Person) {
    let document = json!({"documentId": owner.document()});
    let wish =
        json!({"documentId": owner.document(), "version": 1, "from": 2, "to": 9, "text": "A?"});
    let begun = owner.emit("comment:create", &wish).ok();
    let (thread, first) = (&begun["thread"]["id"], &begun["thread"]["comments"][0]["id"]);
    cy.sees_where("comment:changed", |it| it["thread"]["id"] == *thread);
    let reply = json!({"threadId": thread, "text": "One.", "mentions": [cy.user()["id"]]});
    owner.emit("comment:reply", &reply).ok();
    cy.sees("comment:unread");
    owner.emit("comment:edit", &json!({"commentId": first, "text": "Which one?"})).ok();
    owner.emit("comment:resolve", &json!({"threadId": thread, "resolved": true})).ok();
    owner.emit("comment:list", &document).ok();
    owner.emit("comment:read", &document).ok();
    owner.emit("comment:people", &document).ok();
    owner.emit("comment:delete", &json!({"commentId": first})).ok();
}

fn tour_of_suggestions(owner: &Person) {
    let len = owner.text().encode_utf16().count();
    let mut update = json!({"documentId": owner.document(), "version": owner.version(),
        "revision": 0, "changes": [len, [0, "More."]]});
    owner.emit("suggestion:update", &update).ok();
    (update["revision"], update["changes"]) = (json!(1), json!([len]));
    owner.emit("suggestion:update", &update).ok();
}

fn tour_of_tokens(
    copydesk: &TestServer,
    owner: &Person,
    provider: &IdentityProvider,
) -> Vec<&'static str> {
    let wish = json!({"role": "viewer", "name": "Vic", "documentId": owner.document()});
    let issued = owner.emit("token:issue", &wish).ok();
    let vic = Person::arrive(copydesk.url(), issued["token"].as_str().unwrap(), "");
    owner.emit("token:revoke", &json!({"id": issued["id"]})).ok();
    vic.is_cut_off();
    let ana = Person::arrive(copydesk.url(), &signs_in(copydesk, provider), "");
    owner.emit("token:list", &json!({})).ok();
    let mut share = json!({"documentId": owner.document(), "group": "nobody", "role": "viewer"});
    owner.emit("document:share", &share).ok();
    owner.emit("document:roles", &json!({"documentId": owner.document()})).ok();
    share.as_object_mut().unwrap().remove("role");
    owner.emit("document:unshare", &share).ok();
    let link = owner.emit("token:issue", &json!({"role": "viewer", "name": "Ana"})).ok();
    let tie = json!({"id": link["id"], "login": ana.user()["id"]});
    owner.emit("token:tie", &tie).ok();
    ana.is_cut_off();
    owner.emit("person:preview", &json!({"id": ana.user()["id"]})).ok();
    owner.emit("person:delete", &json!({"id": ana.user()["id"]})).ok();
    owner.emit("token:name", &json!({"name": "Olga"})).ok();
    owner.emit("spending:limit", &json!({"for": "everyone", "usd": 20})).ok();
    owner.emit("spending:get", &json!({})).ok();
    vic.shapes_seen()
}

fn tour_of_endings(owner: &Person) {
    for prompt in ["long", "refuse", "fail"] {
        let run = owner.asks(prompt);
        owner.answer(&run);
    }
    let slow = owner.asks("slow");
    owner.sees("claudeStreamChunk");
    owner.emit("server:work", &json!({})).ok();
    owner.emit("server:storage", &json!({})).ok();
    owner.emit("cancel", &json!({"requestId": slow})).ok();
    owner.answer(&slow);
    // It has ended, and stays as it is.
    let named = json!({"sessionId": owner.session(), "requestId": slow});
    owner.emit("server:stop", &named).ok();
    let watched = owner.asks("watch");
    owner.sees_where("tool_approval_update", |it| it["status"] == "streaming");
    owner.opens_again();
    owner.emit("cancel", &json!({"requestId": watched})).ok();
    owner.answer(&watched);
    let run = owner.emit("run", &json!({"prompt": "Hello"})).ok()["requestId"].clone();
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
}

fn tour_of_the_inbox(owner: &Person) {
    let run = owner.emit("run", &json!({"prompt": "file"})).ok()["requestId"].clone();
    let request = owner.sees_request_of(run.as_str().unwrap());
    owner.decides(&request, json!({"approved": true})).ok();
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
}

fn tour_of_files(owner: &Person) {
    owner.emit("workspace:files", &json!({"pattern": "txt"})).ok();
    let opened = owner.emit("document:open", &json!({"path": "a.txt"})).ok();
    let run = owner.emit("run", &json!({"prompt": "open"})).ok()["requestId"].clone();
    let request = owner.sees_request_of(run.as_str().unwrap());
    assert_eq!(request["document_id"], opened["document"]["id"]);
    owner.decides(&request, json!({"approved": true})).ok();
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
    owner.sees("document:file");
    owner.emit("document:close", &json!({"documentId": opened["document"]["id"]})).ok();
}

fn tour_of_decisions(owner: &Person, ben: &Person) {
    let run = owner.asks("edit");
    let request = owner.sees_request_of(&run);
    let id = json!({"request_id": request.id()});
    owner.emit("list_pending_approvals", &json!({"documentId": owner.document()})).ok();
    owner.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    owner.emit("approval:extend", &id).ok();
    let rejection = request.decision(json!({"approved": false, "feedback": "Not here."}));
    let answer = owner.emit("approval:told", &rejection).ok();
    assert_eq!(answer["text"], "User rejected: Not here.");
    ben.overwrites("ecie", "ecXie");
    owner.accepts(&request, &[1]);
    let rest = request.decision(json!({"approved": false}));
    owner.emit("tool_approval_batch", &json!({"responses": [rest]})).ok();
    owner.answer(&run);
    let transcript = json!({"sessionId": owner.session(), "documentId": owner.document()});
    owner.emit("transcript:get", &transcript).ok();
    owner.emit("transcript:clear", &transcript).ok();
    let fork =
        json!({"sessionId": owner.session(), "documentId": owner.document(), "requestId": run});
    owner.emit("transcript:fork", &fork).ok();
    owner.sees_where("agent_event", |it| it["subtype"] == "clear" && it["content"]["from"] == run);
    owner.emit("approval:undo", &id).ok();
    owner.emit("approval:withdraw", &id).ok();
    owner.emit("approval:list", &json!({"documentId": owner.document()})).ok();
    owner.emit("approval:reopen", &id).ok();
    let run = owner.asks("split");
    let request = owner.sees_request_of(&run);
    let has_parts = |hunk: &&Value| hunk["parts"].as_array().is_some_and(|parts| parts.len() > 1);
    let hunk = request.hunks().iter().find(has_parts).unwrap();
    let split = json!({"request_id": request.id(), "hunk_id": hunk["id"]});
    let defer = json!({"request_id": request.id(), "hunk_id": hunk["id"], "on": true});
    owner.emit("approval:defer", &defer).ok();
    owner.emit("approval:deferred", &json!({"documentId": owner.document()})).ok();
    owner.emit("approval:split", &split).ok();
    owner.emit("approval:withdraw", &json!({"request_id": request.id()})).ok();
    owner.answer(&run);
    let again = owner.asks("again");
    let rule = json!({"approved": true, "remember": {"scope": "document", "max_units": 40}});
    owner.decides(&owner.sees_request_of(&again), rule).ok();
    owner.answer(&again);
    let deny = json!({"documentId": "desk", "effect": "deny", "tool": "Bash"});
    owner.emit("rules:add", &deny).ok();
    let rules = owner.emit("rules:list", &json!({})).ok()["rules"].clone();
    let revoke = json!({"id": rules[0]["id"]});
    owner.emit("rules:revoke", &revoke).ok();
    owner.emit("rules:revoke", &revoke).refused_with("already_resolved");
}
