//! Tests of requests that were refused, expired or undone, and that people propose again on the
//! present state.

use copydesk_approvals::{
    PreviewKind, RememberWish, RequestSource, RequestStatus, RuleEffect, RuleScope,
};
use copydesk_rooms::command::{NewRule, ProposeAgain, UndoChange};

use super::*;
use crate::{AskError, ReopenOutcome};

async fn reopen_as(
    stage: &TestAgent,
    by: Principal,
    request: &ApprovalRequest,
) -> Result<ApprovalRequest, AskError> {
    let wish = ProposeAgain { request: request.id().clone(), hunks: None };
    let session = Some(stage.session.clone());
    let reopened =
        stage.agents.reopen_in(&stage.workspace_inbox().await, wish, by, session).await?;
    let ReopenOutcome::Another(again) = reopened else { panic!("it is another request") };
    Ok(*again)
}

async fn reopen(stage: &TestAgent, request: &ApprovalRequest) -> Result<ApprovalRequest, AskError> {
    reopen_as(stage, owner(), request).await
}

fn refused(reopened: Result<ApprovalRequest, AskError>) -> String {
    reopened.expect_err("it must be refused").to_string()
}

/// Creates a request to write, and rejects it.
async fn rejected(files: &[(&str, &str)], content: &str) -> (TestAgent, Arc<ApprovalRequest>) {
    let (mut stage, request) = writing(files, "a.txt", content).await;
    stage.decides(&request, reject()).await.unwrap();
    stage.result().await;
    (stage, request)
}

#[tokio::test]
async fn it_is_a_request_of_the_person_who_proposes_it_on_todays_file() {
    let (mut stage, old) = rejected(&[("a.txt", "old\n")], "new\n").await;
    stage.overwrites("a.txt", "today\n");
    let again = reopen(&stage, &old).await.unwrap();
    let proposal = &again.proposal;
    assert_eq!(
        (proposal.again_of.as_ref(), proposal.action.source),
        (Some(old.id()), RequestSource::WorkspaceInbox)
    );
    assert!(proposal.action.preview.diff_lines.contains(&"-today".to_owned()), "{proposal:?}");
    assert_eq!(
        (again.status, proposal.action.prompt.as_str()),
        (RequestStatus::Pending, "Write it")
    );
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new\n"));
    assert_eq!(kept(&stage, &old).await.aftermath.again_as.as_ref(), Some(again.id()));
    assert_eq!(stage.model.asked().len(), 2, "no model is asked");
}

#[tokio::test]
async fn what_expired_and_what_was_undone_is_proposed_again() {
    let (mut stage, expired) = writing(&[], "a.txt", "new").await;
    stage.clock.advance_ms(300_000);
    assert_eq!(code(stage.decides(&expired, approve()).await), "expired");
    stage.result().await;
    let again = reopen(&stage, &expired).await.unwrap();
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    let undo = UndoChange {
        request: again.id().clone(),
        hunks: None,
        force: false,
        seen: None,
        votes_only: false,
    };
    assert!(refused(reopen(&stage, &again).await).contains("once it is undone"));
    stage.agents.undo_in(&stage.workspace_inbox().await, undo, owner()).await.unwrap();
    let once_more = reopen(&stage, &again).await.unwrap();
    assert_eq!(once_more.proposal.again_of.as_ref(), Some(again.id()));
    stage.decides(&once_more, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn what_still_waits_is_not_proposed_again_and_nothing_twice() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    assert!(refused(reopen(&stage, &request).await).contains("still waits"));
    stage.decides(&request, reject()).await.unwrap();
    stage.result().await;
    let (one, two) = tokio::join!(reopen(&stage, &request), reopen(&stage, &request));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(stage.workspace_inbox().await.requests().await.unwrap().len(), 1);
    assert!(refused(reopen(&stage, &request).await).contains("already"));
}

#[tokio::test]
async fn a_person_who_could_not_ask_for_it_cannot_propose_it_again() {
    let (stage, request) = rejected(&[], "new").await;
    for role in [Role::Viewer, Role::Reviewer] {
        let refused = reopen_as(&stage, person(role), &request).await;
        assert!(matches!(refused, Err(AskError::Room(_))), "{refused:?}");
    }
    assert!(stage.workspace_inbox().await.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn neither_rules_nor_approvals_that_are_off_decide_it() {
    let (mut stage, request) = rejected(&[], "new").await;
    let rule = NewRule {
        remember: RememberWish {
            id: "rul_1".into(),
            scope: RuleScope::Workspace,
            path: None,
            max_units: None,
            author: None,
            unmarked: false,
        },
        effect: RuleEffect::Allow,
        over: None,
        tool: "Write".into(),
        session: stage.session.clone(),
    };
    stage.workspace_inbox().await.add_rule(rule, owner()).await.unwrap();
    let own = copydesk_rooms::settings::OwnSettings {
        approvals: Some(copydesk_approvals::ApprovalSwitch::Off),
        ..Default::default()
    };
    let configure = copydesk_rooms::command::SettingsChange { own, frozen: None };
    stage.workspace_inbox().await.configure(configure, owner()).await.unwrap();
    let again = reopen(&stage, &request).await.unwrap();
    assert_eq!((again.status, stage.file("a.txt")), (RequestStatus::Pending, None));
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn what_can_no_longer_be_done_is_refused_and_no_one_is_asked() {
    let mut stage = TestAgent::in_workspace(&[("a.txt", "one")]).await;
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    stage.model.plays([calls([("Edit", edit)]), says("Done.")]);
    stage.run("Edit").await;
    let request = stage.settles(RequestVerdict::Reject).await;
    stage.result().await;
    stage.overwrites("a.txt", "else");
    let why = refused(reopen(&stage, &request).await);
    assert!(why.contains("old_string is not in the file"), "{why}");
    assert!(stage.workspace_inbox().await.requests().await.unwrap().is_empty());
    // Once it can be done again, it can be proposed again.
    stage.overwrites("a.txt", "one more");
    reopen(&stage, &request).await.unwrap();
}

#[tokio::test]
async fn a_command_is_asked_about_again_and_run_once() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    stage.model.plays([calls([("Bash", json!({"command": "echo x >> made"}))]), says("Done.")]);
    stage.run("Run it").await;
    let request = stage.settles(RequestVerdict::Reject).await;
    stage.result().await;
    let again = reopen(&stage, &request).await.unwrap();
    assert_eq!(again.proposal.action.preview.kind, PreviewKind::Command);
    assert_eq!(stage.file("made"), None);
    let editor = stage.decides_as(person(Role::Editor), &again, approve()).await;
    assert_eq!(code(editor), "not_allowed");
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("made").as_deref(), Some("x\n"));
}

#[tokio::test]
async fn it_waits_over_a_restart_and_is_carried_out_once() {
    let (mut stage, request) = rejected(&[("a.txt", "old")], "new").await;
    let again = reopen(&stage, &request).await.unwrap();
    stage.restart().await;
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
    stage.overwrites("a.txt", "else");
    stage.restart().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("else"));
}

#[tokio::test]
async fn the_model_that_wanted_it_hears_what_became_of_it() {
    let (mut stage, request) = rejected(&[], "new").await;
    let again = reopen(&stage, &request).await.unwrap();
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    stage.model.plays([says("I see.")]);
    stage.run("And now?").await;
    stage.result().await;
    let prompt = format!("{:?}", stage.model.asked().last().unwrap().messages.last());
    let (old, new) = (request.id(), again.id());
    let line = format!(
        "- {old} (Write) was rejected, and a person proposed it again as {new}, which is approved now"
    );
    assert!(prompt.contains(&line), "{prompt}");
}

#[tokio::test]
async fn a_new_document_is_proposed_again_and_made_once() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let input = json!({"title": "Notes", "new_content": "One.", "explanation": "Notes."});
    stage.model.plays([calls([("create_new_document", input)]), says("Done.")]);
    stage.run("Make it").await;
    let request = stage.settles(RequestVerdict::Reject).await;
    stage.result().await;
    let again = reopen(&stage, &request).await.unwrap();
    stage.decides(&again, approve()).await.unwrap();
    stage.result().await;
    let made: Vec<_> = stage.store.documents(None, None, 100).await.unwrap();
    assert_eq!(made.iter().filter(|it| it.title == "Notes").count(), 1);
}
