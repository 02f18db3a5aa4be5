//! Tests of refused runs, of calls that no one has to approve, and of decisions that are undone.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_auth::{Authenticator, NewToken, TokenGrant};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_rooms::NewDocument;
use copydesk_rooms::command::{SettingsChange, UndoChange};
use copydesk_rooms::settings::OwnSettings;
use copydesk_tools::ToolRegistry;
use copydesk_tools::pipeline::{HOOKS, HookDenial, HookLists};

use super::fixture::{TestAgent, calls, owner, rewrites, says, writes};
use crate::{AgentQuestion, AgentService, AskError, BypassPolicy, PermissionMode, SelectedRange};

fn editor() -> Principal {
    Principal::new("usr_ed", "Ed", Role::Editor)
}

/// Creates another person with a token of their own.
async fn invited(stage: &TestAgent) -> (Authenticator, NewToken) {
    let auth = Authenticator::new(stage.store.clone());
    let now_ms = stage.clock.now_ms();
    let grant = TokenGrant::read(copydesk_ids::permissions::Role::Editor, "Ed", None, None, now_ms)
        .unwrap();
    let issued = auth.issue(grant, &owner().user, now_ms).await.unwrap();
    (auth, issued)
}

#[tokio::test]
async fn an_owner_may_bypass_approvals_where_the_server_allows_it() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("Done.")]);
    let permission_mode = PermissionMode::Bypass;
    let ask = AgentQuestion { permission_mode, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn no_one_else_may() {
    let mut stage = TestAgent::with("Old.").await;
    let permission_mode = PermissionMode::Bypass;
    let ask = AgentQuestion { permission_mode, ..stage.question("Rewrite") };
    let by_editor = AgentQuestion { principal: editor(), ..ask.clone() };
    let refused = stage.agents.ask(by_editor).await;
    assert!(matches!(refused, Err(AskError::BypassNotAllowed)), "{refused:?}");
    let strict = AgentService::new(
        stage.store.clone(),
        stage.rooms.clone(),
        stage.models(),
        BypassPolicy::Forbidden,
        stage.clock.clone(),
    );
    let refused = strict.ask(ask).await;
    assert!(matches!(refused, Err(AskError::BypassNotAllowed)), "{refused:?}");
}

#[tokio::test]
async fn a_run_ends_where_its_askers_token_does_and_what_waits_for_people_stays() {
    let mut stage = TestAgent::with("Old.").await;
    let (auth, issued) = invited(&stage).await;
    stage.model.plays([rewrites("New."), says("And now for something else.")]);
    let ask = AgentQuestion { principal: issued.principal, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    let request = stage.request().await;
    auth.revoke(&issued.token, &owner().user, stage.clock.now_ms()).await.unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    let response = stage.response().await;
    assert_eq!(response.error.map(|error| error.0), Some("not_allowed".to_owned()));
    assert_eq!((stage.text().await.as_str(), stage.model.asked().len()), ("New.", 1));
}

#[tokio::test]
async fn what_is_proposed_after_its_askers_token_ended_asks_no_one() {
    let mut stage = TestAgent::with("Old.").await;
    let (auth, issued) = invited(&stage).await;
    let go_on = Arc::new(Notify::new());
    stage.model.plays([writes("New.", &go_on, rewrites("New."))]);
    let ask = AgentQuestion { principal: issued.principal, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    stage.streaming_preview().await;
    auth.revoke(&issued.token, &owner().user, stage.clock.now_ms()).await.unwrap();
    go_on.notify_one();
    // Another person types at that very moment.
    stage.types_first("Very ").await;
    let response = stage.response().await;
    assert_eq!(response.error.map(|error| error.0), Some("not_allowed".to_owned()));
    assert!(stage.room.requests().await.unwrap().is_empty());
    assert_eq!(stage.text().await, "Very Old.");
    // The model's answer is nevertheless stored and shown, once.
    let said = stage.words();
    assert_eq!(said.iter().filter(|word| *word == "tool_use").count(), 1, "{said:?}");
    assert_eq!(stage.record().await.len(), 3);
}

#[tokio::test]
async fn what_a_token_allowed_ends_with_it_while_another_one_lets_its_asker_ask() {
    let mut stage = TestAgent::with("Mine.").await;
    let new = NewDocument {
        title: "Secret".into(),
        text: "Nobody's words.".into(),
        unlisted_owner: None,
    };
    let other = stage.rooms.create(new, &owner()).await.unwrap().document().clone();
    let (auth, issued) = invited(&stage).await;
    let only = Some(stage.room.document().clone());
    let user = Some(issued.principal.user.clone());
    let grant = TokenGrant {
        role: Role::Editor,
        name: "Ed".into(),
        document: only,
        expires_ms: None,
        user,
    };
    let read = || ("read_document", json!({"document_id": other}));
    let words = |id| json!({"document_id": id, "new_content": "New.", "explanation": "Why."});
    let go_on = Arc::new(Notify::new());
    let more = calls([
        read(),
        ("update_document_by_id", words(other.clone())),
        ("list_documents", json!({})),
        (
            "create_new_document",
            json!({"title": "T", "new_content": "New.", "explanation": "Why."}),
        ),
        ("update_full_document", json!({"new_content": "New.", "explanation": "Why."})),
    ]);
    stage.model.plays([calls([read()]), writes("New.", &go_on, more), says("Done.")]);
    let ask = AgentQuestion { principal: issued.principal, ..stage.question("Read it") };
    stage.agents.ask(ask).await.unwrap();
    stage.streaming_preview().await;
    assert!(stage.model.tool_results()[0].0.contains("Nobody's words."));
    let now_ms = stage.clock.now_ms();
    auth.issue(grant, &owner().user, now_ms).await.unwrap();
    auth.revoke(&issued.token, &owner().user, now_ms).await.unwrap();
    go_on.notify_one();
    stage.decide(RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!(response.error, None);
    let tool_results = stage.model.tool_results();
    assert_eq!(
        tool_results.iter().map(|it| it.1).collect::<Vec<_>>(),
        [true, true, false, true, false]
    );
    assert!(
        tool_results.iter().all(|(text, _)| !text.contains("Nobody's words.")),
        "{tool_results:?}"
    );
    assert!(!tool_results[2].0.contains("Secret"), "{tool_results:?}");
    assert_eq!(stage.text().await, "New.", "what the other token allows goes on");
}

#[tokio::test]
async fn a_bypass_ends_where_its_askers_token_does() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New.")]);
    let stranger = Principal { user: "usr_gone".into(), ..owner() };
    let permission_mode = PermissionMode::Bypass;
    let ask = AgentQuestion { permission_mode, principal: stranger, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    stage.response().await;
    assert_eq!((stage.text().await.as_str(), stage.model.asked().len()), ("Old.", 0));
}

#[tokio::test]
async fn a_document_without_approvals_is_changed_at_once() {
    let mut stage = TestAgent::with("Old.").await;
    let own = OwnSettings { approvals: Some(ApprovalSwitch::Off), ..OwnSettings::default() };
    stage.room.configure(SettingsChange { own, frozen: None }, owner()).await.unwrap();
    stage.model.plays([rewrites("New."), says("Done.")]);
    stage.ask("Rewrite").await;
    let response = stage.response().await;
    assert_eq!(response.updates[0].status.as_str(), "approved");
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_before_anything_is_kept() {
    let mut stage = TestAgent::with("Old.").await;
    let ask = stage.question("Rewrite");
    let viewer = Principal { role: Role::Viewer, ..editor() };
    let beyond = Some(SelectedRange { start: 2, end: 9, text: None });
    let mcp = PermissionMode::ClaudeCli;
    let cases = [
        (AgentQuestion { prompt: " ".into(), ..ask.clone() }, "the prompt is empty"),
        (AgentQuestion { prompt: "x".repeat(300_000), ..ask.clone() }, "the prompt is too long"),
        (AgentQuestion { principal: viewer, ..ask.clone() }, "you may not do that"),
        (
            AgentQuestion { model: Some("gpt".into()), ..ask.clone() },
            "there is no model gpt; available: actor",
        ),
        (AgentQuestion { permission_mode: mcp, ..ask.clone() }, "mcpProxy needs the Claude CLI"),
        (AgentQuestion { selection: beyond, ..ask.clone() }, "the selection does not fit"),
        (
            AgentQuestion { document: Some("doc_x".into()), ..ask.clone() },
            "there is no such document",
        ),
    ];
    for (ask, words) in cases {
        let error = stage.agents.ask(ask).await.unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    assert_eq!(stage.store.unfinished_runs().await.unwrap().len(), 0);
    // The name of a refused run is free again.
    stage.model.plays([says("Here.")]);
    stage.agents.ask(ask).await.unwrap();
    assert_eq!(stage.response().await.message, "Here.");
}

#[tokio::test]
async fn asking_again_with_the_same_name_while_it_runs_starts_nothing_new() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("Done.")]);
    let ask = stage.question("Rewrite");
    stage.agents.ask(ask.clone()).await.unwrap();
    stage.request().await;
    stage.agents.ask(ask.clone()).await.unwrap();
    let other = AgentQuestion { prompt: "Something else".into(), ..ask };
    assert!(matches!(stage.agents.ask(other).await, Err(AskError::Duplicate { .. })));
    assert_eq!(stage.store.unfinished_runs().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_selection_whose_words_are_gone_ends_the_run() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([rewrites("Nothing."), says("Done.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    stage.ask_about(4, 7, "Translate this").await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    let (code, _) = stage.response().await.error.unwrap();
    assert_eq!((code.as_str(), stage.model.asked().len()), ("invalid_selection", 2));
}

#[tokio::test]
async fn a_caret_that_is_nowhere_does_no_harm() {
    let mut stage = TestAgent::with("Short.").await;
    stage.model.plays([says("Hello.")]);
    let selection = Some(SelectedRange { start: 90, end: 90, text: Some(String::new()) });
    let ask = AgentQuestion { selection, ..stage.question("Hello") };
    stage.agents.ask(ask).await.unwrap();
    assert_eq!(stage.response().await.message, "Hello.");
    assert_eq!(stage.model.asked()[0].document.as_ref().unwrap().selection, None);
}

#[tokio::test]
async fn a_selection_follows_its_words_while_the_run_waits() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([rewrites("And one two three."), says("Done."), says("Zwei.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    stage.ask_about(4, 7, "Translate this").await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    stage.response().await;
    let selection = stage.model.asked()[2].document.clone().unwrap().selection.unwrap();
    assert_eq!((selection.from, selection.to), (8, 11));
}

#[tokio::test]
async fn the_model_hears_at_its_next_turn_of_what_was_taken_back() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("Done."), says("I see.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await.id().clone();
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.clone(), approve, owner()).await.unwrap();
    stage.response().await;
    let undo = UndoChange {
        request: request.clone(),
        hunks: None,
        force: false,
        seen: None,
        votes_only: false,
    };
    stage.room.undo(undo, owner()).await.unwrap();
    stage.ask("Why?").await;
    stage.response().await;
    let prompt = format!("{:?}", stage.model.asked()[2].messages.last());
    let line = format!("- {request} (Rewrote it.) was approved and is pending now");
    assert!(prompt.contains(&line), "{prompt}");
}

#[tokio::test]
async fn a_hook_that_panics_denies_the_call() {
    let hooks = HookLists { proposed: &[|_| panic!("on purpose")], ..HOOKS };
    let mut stage = TestAgent::with_tools("Old.", ToolRegistry::default().with_hooks(hooks)).await;
    stage.model.plays([rewrites("New."), says("Sorry.")]);
    stage.ask("Rewrite").await;
    stage.response().await;
    let expected = "This call could not be checked; it was not executed".to_owned();
    assert_eq!(stage.model.tool_results(), [(expected, true)]);
}

#[tokio::test]
async fn a_hook_that_fails_denies_the_call() {
    let hooks = HookLists { before: &[|_| Err(HookDenial("Not today".into()))], ..HOOKS };
    let mut stage = TestAgent::with_tools("Old.", ToolRegistry::default().with_hooks(hooks)).await;
    stage.model.plays([rewrites("New."), says("Sorry.")]);
    stage.ask("Rewrite").await;
    stage.response().await;
    assert_eq!(stage.model.tool_results(), [("Not today".to_owned(), true)]);
    assert_eq!(stage.text().await, "Old.");
}
