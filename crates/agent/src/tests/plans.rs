//! Tests of plan mode, in which nothing is changed before people have approved a plan, and of
//! documents that the agent creates.

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{
    ApprovalRequest, Decision, PreviewKind, RememberWish, RequestVerdict, RuleScope,
};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{DocumentId, RuleId};
use copydesk_rooms::command::SettingsChange;
use copydesk_rooms::settings::OwnSettings;

use super::fixture::{ScriptedReply, TestAgent, calls, owner, rewrites, says};
use crate::{AgentQuestion, PermissionMode, StopFilter};

const PLAN: &str = "1. Rewrite it.";

fn proposes(plan: &str) -> ScriptedReply {
    calls([("ExitPlanMode", json!({"plan": plan}))])
}

/// Creates a document and a run in plan mode with these replies of the model.
async fn planning(part: impl IntoIterator<Item = ScriptedReply>) -> TestAgent {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays(part);
    let ask =
        AgentQuestion { permission_mode: PermissionMode::PlanFirst, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    stage
}

/// Decides a request about a call as a whole, in its document's room, as the owner.
async fn decide(stage: &TestAgent, request: &ApprovalRequest, verdict: RequestVerdict) {
    let (id, decision) = (request.id().clone(), Decision::plain(verdict));
    stage.agents.decide_in(&stage.room, id, decision, owner()).await.unwrap();
}

/// Waits for the change that the run proposes, and approves it; the plan itself may be shown once
/// more before.
async fn approves_change(stage: &mut TestAgent) {
    let change = loop {
        let request = stage.request().await;
        if !request.hunks.is_empty() {
            break request;
        }
    };
    let tool_result = tool_result(stage).0;
    assert!(
        tool_result.starts_with("The plan is approved.") && tool_result.ends_with(PLAN),
        "{tool_result}"
    );
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(change.id().clone(), approve, owner()).await.unwrap();
}

async fn plan(stage: &mut TestAgent) -> Arc<ApprovalRequest> {
    let request = stage.request().await;
    assert_eq!(request.proposal.origin.tool, "ExitPlanMode");
    request
}

fn tool_result(stage: &TestAgent) -> (String, bool) {
    stage.model.tool_results().remove(0)
}

#[tokio::test]
async fn once_its_plan_is_approved_the_run_proposes_its_changes_as_ever() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("Done.")]).await;
    let request = plan(&mut stage).await;
    let proposal = &request.proposal;
    assert_eq!(proposal.document.as_ref(), Some(stage.room.document()));
    assert_eq!(proposal.action.preview.kind, PreviewKind::Generic);
    assert_eq!(proposal.action.preview.new_content.as_deref(), Some(PLAN));
    decide(&stage, &request, RequestVerdict::Approve).await;
    let change = stage.request().await;
    let (text, is_error) = tool_result(&stage);
    assert!(text.starts_with("The plan is approved.") && text.ends_with(PLAN), "{text}");
    assert!(!is_error);
    assert_eq!((change.hunks.len(), stage.text().await.as_str()), (1, "Old."));
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(change.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn before_that_every_change_is_denied_and_reading_is_not() {
    let part = [
        calls([
            ("update_full_document", json!({"new_content": "New.", "explanation": "x"})),
            ("read_document", json!({})),
            ("create_new_document", json!({"title": "T", "new_content": "x", "explanation": "x"})),
        ]),
        says("I see."),
    ];
    let mut stage = planning(part).await;
    stage.response().await;
    let tool_results = stage.model.tool_results();
    assert!(
        tool_results[0].1 && tool_results[0].0.contains("call ExitPlanMode"),
        "{tool_results:?}"
    );
    assert!(!tool_results[1].1, "{tool_results:?}");
    assert!(
        tool_results[2].1 && tool_results[2].0.contains("create_new_document was not executed"),
        "{tool_results:?}"
    );
    assert_eq!(stage.text().await, "Old.");
    let asked = &stage.model.asked()[0];
    let prompt = format!("{:?}", asked.messages.last());
    assert!(prompt.contains("You are in plan mode."), "{prompt}");
    assert_eq!(asked.tools.last().map(|tool| tool.name.as_str()), Some("ExitPlanMode"));
}

#[tokio::test]
async fn changes_called_together_with_the_plan_are_denied_also_if_it_is_approved() {
    let both = calls([
        ("ExitPlanMode", json!({"plan": PLAN})),
        ("update_full_document", json!({"new_content": "New.", "explanation": "x"})),
    ]);
    let mut stage = planning([both, says("I see.")]).await;
    let request = plan(&mut stage).await;
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.response().await;
    let tool_results = stage.model.tool_results();
    assert_eq!((tool_results[0].1, tool_results[1].1), (false, true), "{tool_results:?}");
    assert_eq!(stage.text().await, "Old.");
}

#[tokio::test]
async fn a_rejected_plan_is_followed_by_another() {
    let part = [proposes("1. Delete it."), proposes(PLAN), says("Done.")];
    let mut stage = planning(part).await;
    let request = plan(&mut stage).await;
    let feedback = Some("Keep it".to_owned());
    let reject = Decision { feedback, ..Decision::plain(RequestVerdict::Reject) };
    stage.room.decide(request.id().clone(), reject, owner()).await.unwrap();
    let second = plan(&mut stage).await;
    assert_eq!(tool_result(&stage), ("User rejected: Keep it".into(), true));
    decide(&stage, &second, RequestVerdict::Approve).await;
    stage.response().await;
    assert!(tool_result(&stage).0.ends_with(PLAN));
}

#[tokio::test]
async fn the_edited_plan_is_what_the_model_gets() {
    let mut stage = planning([proposes(PLAN), says("Done.")]).await;
    let request = plan(&mut stage).await;
    for input in [json!({}), json!({"plan": " "}), json!({"plan": "a\0"}), json!([])] {
        let edit = Decision::plain(RequestVerdict::Edit { input });
        let refused = stage.agents.decide_in(&stage.room, request.id().clone(), edit, owner());
        assert!(refused.await.is_err());
    }
    decide(&stage, &request, RequestVerdict::Edit { input: json!({"plan": "1. Leave it."}) }).await;
    stage.response().await;
    let (text, is_error) = tool_result(&stage);
    assert!(text.starts_with("Note: the user edited this call") && !is_error, "{text}");
    assert!(text.ends_with("The approved plan:\n\n1. Leave it."), "{text}");
}

#[tokio::test]
async fn an_answer_instead_of_a_decision_leaves_the_run_planning() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("I see.")]).await;
    let request = plan(&mut stage).await;
    decide(&stage, &request, RequestVerdict::Respond { message: "Which part?".into() }).await;
    stage.response().await;
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.starts_with("Plan mode:"), "{text}");
    assert_eq!(stage.text().await, "Old.");
}

#[tokio::test]
async fn a_run_that_only_answers_ends_with_that() {
    let mut stage = planning([says("It needs no change.")]).await;
    assert_eq!(stage.response().await.message, "It needs no change.");
}

#[tokio::test]
async fn a_plan_follows_the_policy_of_its_document_and_outlives_typing_there() {
    let mut stage = planning([proposes(PLAN), says("Done.")]).await;
    let request = plan(&mut stage).await;
    stage.types_first("Hello. ").await;
    let open = stage.room.requests().await.unwrap();
    assert_eq!((open.len(), open[0].id()), (1, request.id()));
    let viewer = Principal::new("usr_v", "V", Role::Viewer);
    let approve = Decision::plain(RequestVerdict::Approve);
    let refused = stage.agents.decide_in(&stage.room, request.id().clone(), approve, viewer).await;
    assert!(refused.is_err());
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.response().await;
}

#[tokio::test]
async fn people_see_a_plan_even_where_changes_land_unasked() {
    let mut stage = TestAgent::with("Old.").await;
    let own = OwnSettings { approvals: Some(ApprovalSwitch::Off), ..OwnSettings::default() };
    stage.room.configure(SettingsChange { own, frozen: None }, owner()).await.unwrap();
    stage.model.plays([proposes(PLAN), rewrites("New."), says("Done.")]);
    let ask =
        AgentQuestion { permission_mode: PermissionMode::PlanFirst, ..stage.question("Rewrite") };
    stage.agents.ask(ask).await.unwrap();
    let request = plan(&mut stage).await;
    assert!(request.status.is_open());
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn a_pending_plan_is_decided_after_the_restart() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("Done.")]).await;
    let request = plan(&mut stage).await;
    stage.crash().await;
    decide(&stage, &request, RequestVerdict::Approve).await;
    approves_change(&mut stage).await;
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn a_plan_that_was_approved_while_no_one_waited_is_told_and_carried_out() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("Done.")]).await;
    let request = plan(&mut stage).await;
    stage.agents.shutdown().await;
    decide_later(&stage, &request).await;
    stage.restart().await;
    approves_change(&mut stage).await;
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn a_plan_whose_approval_was_being_told_is_told_again() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("Done.")]).await;
    let request = plan(&mut stage).await;
    stage.agents.shutdown().await;
    decide_later(&stage, &request).await;
    stage.room.begin(request.id().clone()).await.unwrap();
    stage.restart().await;
    approves_change(&mut stage).await;
    stage.response().await;
}

#[tokio::test]
async fn a_run_that_carries_out_its_plan_goes_on_with_it_after_the_restart() {
    let mut stage = planning([proposes(PLAN), rewrites("New."), says("Done.")]).await;
    let request = plan(&mut stage).await;
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.request().await;
    stage.restart().await;
    let open = stage.room.requests().await.unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(open[0].id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn no_rule_approves_a_plan_that_no_one_has_seen() {
    let mut stage = planning([proposes(PLAN), says("Done.")]).await;
    let request = plan(&mut stage).await;
    let remember = Decision {
        remember: Some(RememberWish {
            id: RuleId::generate(),
            scope: RuleScope::Session,
            max_units: None,
            path: None,
            author: None,
            unmarked: false,
        }),
        ..Decision::plain(RequestVerdict::Approve)
    };
    let refused = stage.room.decide(request.id().clone(), remember, owner()).await.unwrap_err();
    assert_eq!(refused.to_string(), "plans are asked about every time");
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.response().await;
}

/// Decides a request after its run stopped waiting, so that no one checks the call again.
async fn decide_later(stage: &TestAgent, request: &ApprovalRequest) {
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_run_takes_its_plan_back() {
    let mut stage = planning([proposes(PLAN)]).await;
    plan(&mut stage).await;
    stage
        .agents
        .cancel(StopFilter { session: Some(stage.session.clone()), run: None })
        .await
        .unwrap();
    stage.response().await;
    assert!(stage.room.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn no_one_plans_twice_and_no_one_plans_who_was_not_asked_to() {
    let mut stage = planning([proposes(PLAN), proposes(PLAN), says("Done.")]).await;
    let request = plan(&mut stage).await;
    decide(&stage, &request, RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(tool_result(&stage), ("The plan is approved already; carry it out".into(), true));
    stage.model.plays([proposes(PLAN), says("Done.")]);
    stage.ask("Rewrite").await;
    stage.response().await;
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.starts_with("Unknown tool: ExitPlanMode."), "{text}");
    assert!(!text.contains("ExitPlanMode,"), "{text}");
}

#[tokio::test]
async fn in_the_workspace_a_plan_is_decided_in_the_inbox() {
    let mut stage = TestAgent::in_workspace(&[("a.txt", "old")]).await;
    let write = || calls([("Write", json!({"file_path": "a.txt", "content": "new"}))]);
    stage.model.plays([write(), proposes(PLAN), write(), says("Done.")]);
    let ask = AgentQuestion {
        permission_mode: PermissionMode::PlanFirst,
        ..stage.conversation_question("Write it")
    };
    stage.agents.ask(ask).await.unwrap();
    let request = plan(&mut stage).await;
    assert!(tool_result(&stage).0.contains("Write was not executed"));
    assert_eq!(request.proposal.document, None);
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    stage.settles(RequestVerdict::Approve).await;
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

fn founds(title: &str, text: &str) -> ScriptedReply {
    let input = json!({"title": title, "new_content": text, "explanation": "For the archive."});
    calls([("create_new_document", input)])
}

/// Creates a run that wants a new document, and its request in the workspace inbox.
async fn new_document() -> (TestAgent, Arc<ApprovalRequest>) {
    let mut stage = TestAgent::with("Old.").await;
    stage.enter(&stage.workspace_inbox().await).await;
    stage.model.plays([founds("Notes", "One.\r\nTwo."), says("Done.")]);
    stage.ask("Make notes").await;
    let request = stage.request().await;
    (stage, request)
}

/// Returns titles and texts of all documents but the fixture's own.
async fn others(stage: &TestAgent) -> Vec<(String, String)> {
    let mut others = Vec::new();
    for (id, title) in stage.rooms.listed(&owner()).await.unwrap() {
        if id != *stage.room.document() {
            let room = stage.rooms.open(&id).await.unwrap();
            others.push((title, room.read().await.unwrap().text.to_string()));
        }
    }
    others
}

#[tokio::test]
async fn an_approved_document_is_made_and_its_id_told() {
    let (mut stage, request) = new_document().await;
    let preview = &request.proposal.action.preview;
    assert_eq!((preview.kind, preview.file_path.as_deref()), (PreviewKind::Diff, Some("Notes")));
    assert_eq!(preview.new_content.as_deref(), Some("One.\nTwo."));
    assert_eq!(preview.data["is_new_file"], json!(true));
    assert!(others(&stage).await.is_empty(), "nothing is made before anybody said yes");
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    stage.response().await;
    assert_eq!(others(&stage).await, [("Notes".to_owned(), "One.\nTwo.".to_owned())]);
    let (text, is_error) = tool_result(&stage);
    let listed = stage.rooms.listed(&owner()).await.unwrap();
    let (id, _) = listed.iter().find(|(_, title)| title == "Notes").unwrap();
    assert_eq!((text, is_error), (format!("Created “Notes”; its id is {id}."), false));
}

#[tokio::test]
async fn who_wrote_it_is_told_like_of_any_accepted_change() {
    use copydesk_approvals::SpanAuthor;
    let (mut stage, request) = new_document().await;
    let rex = Principal::new("usr_r", "R", Role::Reviewer);
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.decides_as(rex, &request, approve).await.unwrap();
    stage.response().await;
    let listed = stage.rooms.listed(&owner()).await.unwrap();
    let (id, _) = listed.iter().find(|(_, title)| title == "Notes").unwrap();
    let now = stage.rooms.open(id).await.unwrap().read().await.unwrap();
    let author_spans =
        copydesk_rooms::author_spans(&stage.store, id, now.version, 0..now.text.len()).await;
    let SpanAuthor::Ai(credit) = author_spans.unwrap().remove(0).author else { panic!("no AI") };
    assert_eq!(credit.request, *request.id());
    assert_eq!(credit.requester.user, owner().user);
    assert_eq!(credit.approver.map(|it| it.user), Some("usr_r".into()));
}

#[tokio::test]
async fn a_rejected_document_is_not_made() {
    let (mut stage, request) = new_document().await;
    stage.decides(&request, Decision::plain(RequestVerdict::Reject)).await.unwrap();
    stage.response().await;
    assert!(others(&stage).await.is_empty());
    assert_eq!(tool_result(&stage), ("User rejected the operation".into(), true));
}

#[tokio::test]
async fn a_document_is_made_as_it_was_edited() {
    let (mut stage, request) = new_document().await;
    let edit = |input: Value| Decision::plain(RequestVerdict::Edit { input });
    let refused = stage.decides(&request, edit(json!({"title": "", "new_content": "x"}))).await;
    assert!(refused.is_err());
    let input = json!({"title": "Mine", "new_content": "Three."});
    stage.decides(&request, edit(input)).await.unwrap();
    stage.response().await;
    assert_eq!(others(&stage).await, [("Mine".to_owned(), "Three.".to_owned())]);
}

/// Stops the server after the document was approved; `begins` and `makes` say which steps were done
/// before.
async fn stops_after(begins: bool, makes: bool) -> TestAgent {
    let (mut stage, request) = new_document().await;
    stage.agents.shutdown().await;
    let settled = stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    if begins {
        stage.workspace_inbox().await.begin(request.id().clone()).await.unwrap();
    }
    if makes {
        let new_document = copydesk_rooms::NewDocumentFromRequest {
            id: request.id().as_str().replace("req_", "doc_").into(),
            title: "Notes".into(),
            text: "One.\nTwo.".into(),
            request: request.id().clone(),
            requester: request.proposal.requester.clone(),
            approver: settled.decisions.closed.clone().unwrap().by,
            rule: None,
            edited: false,
        };
        stage.rooms.create_from_request(new_document).await.unwrap();
    }
    stage.restart().await;
    stage.response().await;
    stage
}

#[tokio::test]
async fn whenever_the_server_stops_the_document_is_made_once() {
    for (begins, makes) in [(false, false), (true, false), (true, true)] {
        let stage = stops_after(begins, makes).await;
        let expected = [("Notes".to_owned(), "One.\nTwo.".to_owned())];
        assert_eq!(others(&stage).await, expected, "begun {begins}, made {makes}");
        assert!(tool_result(&stage).0.starts_with("Created “Notes”; its id is doc_"));
    }
}

#[tokio::test]
async fn a_person_who_may_not_create_documents_does_not_by_asking_the_agent() {
    let mut stage = TestAgent::with("Old.").await;
    let auth = copydesk_auth::Authenticator::new(stage.store.clone());
    let document = Some(stage.room.document().clone());
    let (role, name) = (Role::Editor, "Ed".to_owned());
    let grant = copydesk_auth::TokenGrant { role, name, document, expires_ms: None, user: None };
    let guest = auth.issue(grant, &owner().user, 0).await.unwrap().principal;
    stage.model.plays([founds("Notes", "x"), says("I see.")]);
    let ask = AgentQuestion { principal: guest, ..stage.question("Make notes") };
    stage.agents.ask(ask).await.unwrap();
    stage.response().await;
    assert_eq!(tool_result(&stage), ("The person who asks may not create documents".into(), true));
}

#[tokio::test]
async fn the_model_may_go_on_with_the_document_it_made() {
    let mut stage = TestAgent::with("Old.").await;
    stage.enter(&stage.workspace_inbox().await).await;
    stage.model.plays([founds("Notes", "One.")]);
    stage.ask("Make notes").await;
    let request = stage.request().await;
    let id = DocumentId::from(request.id().as_str().replace("req_", "doc_"));
    let input = json!({"document_id": id, "new_content": "Two.", "explanation": "Better."});
    stage.model.plays([calls([("update_document_by_id", input)]), says("Done.")]);
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    stage.model.called(2).await;
    let room = stage.rooms.open(&id).await.unwrap();
    let change = loop {
        if let Some(request) = room.requests().await.unwrap().pop() {
            break request;
        }
        tokio::task::yield_now().await;
    };
    room.decide(change.id().clone(), Decision::plain(RequestVerdict::Approve), owner())
        .await
        .unwrap();
    stage.response().await;
    assert_eq!(others(&stage).await, [("Notes".to_owned(), "Two.".to_owned())]);
}

#[tokio::test]
async fn a_run_that_is_stopped_makes_no_document() {
    let (mut stage, _) = new_document().await;
    stage
        .agents
        .cancel(StopFilter { session: Some(stage.session.clone()), run: None })
        .await
        .unwrap();
    stage.response().await;
    assert!(others(&stage).await.is_empty());
    assert!(stage.workspace_inbox().await.requests().await.unwrap().is_empty());
}
