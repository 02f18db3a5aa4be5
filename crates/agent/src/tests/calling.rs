//! Tests of external calls.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use copydesk_approvals::{Decision, RequestSource, RequestStatus, RequestVerdict};
use copydesk_auth::{Authenticator, TokenGrant};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{DocumentId, RequestId, Version};
use copydesk_rooms::event::{AgentEventSubtype, RunEventKind};
use copydesk_tools::{ApprovalWait, ToolCall};

use super::fixture::{TestAgent, owner};
use crate::{AskError, CallEvent, CallHandle, CallRequest, CallResult, CallSource, ExternalCall};

fn call(name: &str, input: Value) -> ExternalCall {
    let call = ToolCall { id: "toolu_7".into(), name: name.into(), input };
    let base = Some(Version(0));
    let (source, deadline_ms, again_of, model) = (CallSource::Mcp, None, None, None);
    ExternalCall { call, source, base, deadline_ms, again_of, model }
}

fn rewrite(text: &str) -> ExternalCall {
    call("update_full_document", json!({"new_content": text, "explanation": "Rewrote it."}))
}

fn write(content: &str) -> ExternalCall {
    call("Write", json!({"file_path": "a.txt", "content": content}))
}

impl TestAgent {
    fn calling(&self, document: Option<DocumentId>, outside: ExternalCall) -> CallRequest {
        let (session, principal) = (self.session.clone(), owner());
        let prompt = "coder calls".into();
        CallRequest { session, principal, document, prompt, outside, key: None }
    }

    /// Calls a tool on the document.
    async fn calls(&self, outside: ExternalCall) -> CallHandle {
        let calling = self.calling(Some(self.room.document().clone()), outside);
        self.agents.call(calling, &CancellationToken::new()).await.unwrap()
    }

    /// Calls a tool without a document.
    async fn calls_at_inbox(&self, outside: ExternalCall) -> CallHandle {
        let calling = self.calling(None, outside);
        self.agents.call(calling, &CancellationToken::new()).await.unwrap()
    }
}

async fn over(ongoing: &mut CallHandle) -> CallResult {
    loop {
        match ongoing.next().await {
            CallEvent::Asking(_) => {}
            CallEvent::Over(called) => return *called,
            CallEvent::Parked => panic!("the server stops"),
        }
    }
}

#[tokio::test]
async fn a_call_waits_for_people_and_is_answered_with_what_they_decided() {
    let mut stage = TestAgent::with("Old.").await;
    let mut ongoing = stage.calls(rewrite("New.")).await;
    let CallEvent::Asking(ApprovalWait::Waits(waiting)) = ongoing.next().await else { panic!() };
    let request = stage.request().await;
    assert_eq!(*request.id(), waiting);
    let proposal = &request.proposal;
    assert_eq!(
        (proposal.action.source, proposal.origin.tool_use.as_str()),
        (RequestSource::Mcp, "toolu_7")
    );
    assert_eq!(proposal.document.as_ref(), Some(stage.room.document()));
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(waiting.clone(), approve, owner()).await.unwrap();
    let CallEvent::Asking(ApprovalWait::Resolved(resolved)) = ongoing.next().await else {
        panic!()
    };
    assert_eq!(resolved, waiting);
    let called = over(&mut ongoing).await;
    assert_eq!(stage.result().await, "success");
    assert_eq!(called.outcome.text, "Applied: 1 accepted.");
    assert!(!called.outcome.is_error && called.text().contains("reads as you proposed"));
    assert_eq!(called.read, Some((stage.room.document().clone(), Version(1))));
    assert_eq!(stage.text().await, "New.");
    assert_eq!(stage.words(), ["prompt", "tool_use", "tool_result", "result:success"]);
    assert!(stage.model.asked().is_empty(), "no model is asked");
}

#[tokio::test]
async fn a_rejection_reaches_the_caller_with_its_feedback() {
    let mut stage = TestAgent::with("Old.").await;
    let mut ongoing = stage.calls(rewrite("New.")).await;
    stage.reject("Too new").await;
    let called = over(&mut ongoing).await;
    assert_eq!(
        (called.outcome.text.as_str(), called.outcome.is_error),
        ("User rejected: Too new", true)
    );
    assert_eq!(called.outcome.about["status"], "rejected");
    assert_eq!(stage.text().await, "Old.");
}

#[tokio::test]
async fn a_person_who_drops_a_call_takes_its_request_back() {
    let mut stage = TestAgent::with("Old.").await;
    let ongoing = stage.calls(rewrite("New.")).await;
    let request = stage.request().await;
    drop(ongoing);
    let settled = stage.room.resolution(request.id().clone()).await.unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Cancelled);
    let approve = Decision::plain(RequestVerdict::Approve);
    let late = stage.room.decide(request.id().clone(), approve, owner()).await;
    assert!(late.is_err(), "{late:?}");
    assert_eq!(stage.text().await, "Old.");
}

#[tokio::test]
async fn a_call_that_was_given_up_before_it_began_asks_no_one() {
    let stage = TestAgent::with("Old.").await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let calling = stage.calling(Some(stage.room.document().clone()), rewrite("New."));
    let mut ongoing = stage.agents.call(calling, &cancel).await.unwrap();
    let called = over(&mut ongoing).await;
    assert!(called.outcome.is_error, "{called:?}");
    assert!(stage.room.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_caller_proposes_is_a_change_of_the_version_it_has_read() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    stage.types_first("Zero. ").await;
    let input = json!({"new_text": "Tres.", "selection_range": {"start": 10, "end": 16}, "explanation": ""});
    let mut ongoing = stage.calls(call("update_selection", input)).await;
    stage.decide(RequestVerdict::Approve).await;
    let called = over(&mut ongoing).await;
    assert_eq!(stage.text().await, "Zero. One. Two. Tres.");
    assert!(called.text().contains("Zero. "), "{}", called.text());
}

#[tokio::test]
async fn a_caller_that_has_read_nothing_can_propose_nothing() {
    let stage = TestAgent::with("Old.").await;
    let outside = ExternalCall { base: None, ..rewrite("New.") };
    let called = over(&mut stage.calls(outside).await).await;
    assert!(called.outcome.is_error && called.outcome.text.contains("read_document"), "{called:?}");
    assert!(stage.room.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn reading_needs_no_one_and_is_kept_nowhere() {
    let stage = TestAgent::with("Old words.").await;
    let id = stage.room.document().clone();
    let read = call("read_document", json!({"document_id": id}));
    let called = over(&mut stage.calls_at_inbox(read).await).await;
    assert!(called.text().contains("Old words."), "{}", called.text());
    assert_eq!(called.read, Some((id, Version(0))));
    assert!(stage.record().await.is_empty());
    let listed = over(&mut stage.calls_at_inbox(call("list_documents", json!({}))).await).await;
    assert!(listed.text().contains("Draft"), "{}", listed.text());
}

#[tokio::test]
async fn two_calls_of_one_session_do_not_wait_for_each_other() {
    let mut stage = TestAgent::with("One. Two.").await;
    let at = |start: i64, text| {
        let range = json!({"start": start, "end": start + 4});
        call(
            "update_selection",
            json!({"new_text": text, "selection_range": range, "explanation": ""}),
        )
    };
    let mut first = stage.calls(at(0, "Uno.")).await;
    let mut second = stage.calls(at(5, "Dos.")).await;
    let CallEvent::Asking(ApprovalWait::Waits(one)) = first.next().await else { panic!() };
    let CallEvent::Asking(ApprovalWait::Waits(two)) = second.next().await else { panic!() };
    let approve = || Decision::plain(RequestVerdict::Approve);
    stage.room.decide(two, approve(), owner()).await.unwrap();
    over(&mut second).await;
    stage.room.decide(one, approve(), owner()).await.unwrap();
    over(&mut first).await;
    assert_eq!(stage.text().await, "Uno. Dos.");
    let ends = stage.record().await;
    assert_eq!(ends.len(), 8);
    // A model that answers in the same session learns of neither.
    stage.model.plays([super::fixture::says("Yes.")]);
    stage.ask("Talk").await;
    stage.response().await;
    assert_eq!(stage.model.asked()[0].messages.len(), 1);
}

#[tokio::test]
async fn a_file_is_written_once_it_is_approved() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let mut ongoing = stage.calls_at_inbox(write("Hello.")).await;
    assert_eq!(stage.file("a.txt"), None);
    let settled = stage.settles(RequestVerdict::Approve).await;
    assert_eq!(settled.proposal.action.source, RequestSource::Mcp);
    let called = over(&mut ongoing).await;
    assert_eq!(called.outcome.text, "Wrote 6 characters to a.txt");
    assert_eq!(stage.file("a.txt").as_deref(), Some("Hello."));
}

#[tokio::test]
async fn what_waits_at_a_stop_is_carried_out_once_after_it() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let mut ongoing = stage.calls_at_inbox(write("Hello.")).await;
    let request = stage.request().await;
    let parked = async {
        assert!(matches!(ongoing.next().await, CallEvent::Asking(ApprovalWait::Waits(_))));
        ongoing.next().await
    };
    let (heard, ()) = tokio::join!(parked, stage.agents.shutdown());
    assert!(matches!(heard, CallEvent::Parked), "{heard:?}");
    drop(ongoing);
    stage.restart().await;
    let open = stage.workspace_inbox().await.requests().await.unwrap();
    assert_eq!((open.len(), open[0].id()), (1, request.id()));
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    assert_eq!(stage.result().await, "success");
    assert_eq!(stage.file("a.txt").as_deref(), Some("Hello."));
    let kept = stage.store.request(request.id()).await.unwrap().unwrap();
    let kept: Value = serde_json::from_str(&kept.body).unwrap();
    assert!(kept["execution"].to_string().contains("Wrote 6 characters"), "{kept}");
    stage.overwrites("a.txt", "Else.");
    stage.restart().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("Else."));
}

#[tokio::test]
async fn a_document_call_that_waited_over_a_crash_is_decided_after_it() {
    let mut stage = TestAgent::with("Old.").await;
    let ongoing = stage.calls(rewrite("New.")).await;
    let request = stage.request().await;
    stage.restart().await;
    drop(ongoing);
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    assert_eq!(stage.result().await, "success");
    assert_eq!(stage.text().await, "New.");
}

#[tokio::test]
async fn a_request_ends_at_its_callers_deadline_also_if_no_one_looks() {
    let mut stage = TestAgent::with("Old.").await;
    let deadline_ms = Some(stage.clock.now_ms() + 20_000);
    let mut ongoing = stage.calls(ExternalCall { deadline_ms, ..rewrite("New.") }).await;
    let request = stage.request().await;
    assert_eq!(request.clock.ends_ms(), deadline_ms);
    stage.clock.advance_ms(20_001);
    // The room looks at its clock when it is asked something.
    stage.text().await;
    let called = over(&mut ongoing).await;
    assert_eq!(called.outcome.about["status"], "expired");
    assert!(called.outcome.text.starts_with("Approval timed out after 20s"), "{called:?}");
}

#[tokio::test]
async fn roles_hold_for_calls_from_outside() {
    let stage = TestAgent::in_workspace(&[("a.txt", "Secret.")]).await;
    let id = stage.room.document().clone();
    let (auth, now_ms) = (Authenticator::new(stage.store.clone()), stage.clock.now_ms());
    let grant = TokenGrant::read(Role::Viewer, "Vi", None, None, now_ms).unwrap();
    let viewer = auth.issue(grant, &owner().user, now_ms).await.unwrap().principal;
    let bound = Principal { role: Role::Editor, document: Some(id.clone()), ..viewer.clone() };
    let tries = [
        (&viewer, Some(id.clone()), rewrite("New.")),
        (&viewer, None, write("x")),
        (&viewer, None, call("Read", json!({"file_path": "a.txt"}))),
        (&bound, None, write("x")),
        (&bound, Some("doc_other".into()), rewrite("New.")),
    ];
    for (principal, document, outside) in tries {
        let calling =
            CallRequest { principal: principal.clone(), ..stage.calling(document, outside) };
        let refused = stage.agents.call(calling, &CancellationToken::new()).await;
        let refused = refused.expect_err("must be refused");
        assert!(matches!(refused, AskError::NotAllowed | AskError::Room(_)), "{refused:?}");
    }
    let read = call("read_document", json!({"document_id": id}));
    let calling = CallRequest { principal: viewer, ..stage.calling(None, read) };
    let mut reading = stage.agents.call(calling, &CancellationToken::new()).await.unwrap();
    assert!(!over(&mut reading).await.outcome.is_error);
}

#[tokio::test]
async fn bad_input_and_unknown_tools_are_told_and_ask_no_one() {
    let mut stage = TestAgent::with("Old.").await;
    for (outside, words) in [
        (
            call("update_full_document", json!({"content": 1})),
            "Invalid input for update_full_document",
        ),
        (call("update_full_document", json!("text")), "invalid JSON arguments"),
        (
            call(
                "update_selection",
                json!({"new_text": "x", "selection_range": {"start": 9, "end": 3}}),
            ),
            "Invalid selection range",
        ),
        (call("no_such_tool", json!({})), "Unknown tool: no_such_tool"),
    ] {
        let called = over(&mut stage.calls(outside).await).await;
        assert!(called.outcome.is_error && called.outcome.text.contains(words), "{called:?}");
    }
    assert!(stage.room.requests().await.unwrap().is_empty());
    let private = stage.agents.private_room(&stage.session, &owner()).await.unwrap();
    let calling = stage.calling(Some(private.document().clone()), rewrite("New."));
    let refused = stage.agents.call(calling, &CancellationToken::new()).await;
    assert!(refused.is_err());
    let _ = stage.said.drain(..);
}

/// Sending one call repeatedly.
impl TestAgent {
    async fn sends(&self, outside: ExternalCall) -> CallHandle {
        self.sends_as("session one", outside).await
    }

    /// Sends the call again, as one of several programs.
    async fn sends_as(&self, program: &str, outside: ExternalCall) -> CallHandle {
        let calling = self.calling(None, outside);
        let calling = CallRequest { key: Some(format!("{program}\ntoolu_7")), ..calling };
        self.agents.call(calling, &CancellationToken::new()).await.unwrap()
    }
}

/// Returns the request of the call.
async fn asked(ongoing: &mut CallHandle) -> RequestId {
    match ongoing.next().await {
        CallEvent::Asking(ApprovalWait::Waits(request)) => request,
        other => panic!("no one is asked: {other:?}"),
    }
}

#[tokio::test]
async fn a_name_that_another_program_gives_again_is_another_call() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let (one, two) = ("session one", "session two");
    let mut first = stage.sends_as(one, write("Hello.")).await;
    let request = stage.request().await;
    // Both wait, each for their own.
    let mut other = stage.sends_as(two, write("Hello.")).await;
    assert_ne!(asked(&mut other).await, *request.id());
    drop(other);
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    assert_eq!(over(&mut first).await.outcome.text, "Wrote 6 characters to a.txt");
    stage.overwrites("a.txt", "Else.");
    // The result of one caller's call is not returned to the other.
    let mut again = stage.sends_as(two, write("Hello.")).await;
    assert_ne!(asked(&mut again).await, *request.id());
    let mut same = stage.sends_as(one, write("Hello.")).await;
    assert_eq!(over(&mut same).await.outcome.text, "Wrote 6 characters to a.txt");
}

#[tokio::test]
async fn a_call_that_is_sent_again_is_made_once_and_both_hear_of_it() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let (mut first, mut second) =
        tokio::join!(stage.sends(write("Hello.")), stage.sends(write("Hello.")));
    let request = stage.request().await;
    for ongoing in [&mut first, &mut second] {
        assert!(
            matches!(ongoing.next().await, CallEvent::Asking(ApprovalWait::Waits(id)) if id == *request.id())
        );
    }
    assert_eq!(stage.workspace_inbox().await.requests().await.unwrap().len(), 1);
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    for ongoing in [&mut first, &mut second] {
        assert_eq!(over(ongoing).await.outcome.text, "Wrote 6 characters to a.txt");
    }
    stage.overwrites("a.txt", "Else.");
    let mut third = stage.sends(write("Hello.")).await;
    assert_eq!(over(&mut third).await.outcome.text, "Wrote 6 characters to a.txt");
    assert_eq!(stage.file("a.txt").as_deref(), Some("Else."));
    // No caller sends the same call again after a day.
    stage.clock.advance_ms(24 * 60 * 60 * 1_000);
    let _late = stage.sends(write("Hello.")).await;
    assert_ne!(stage.request().await.id(), request.id());
}

#[tokio::test]
async fn a_request_waits_as_long_as_the_newest_caller_of_its_call() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let start_ms = stage.clock.now_ms();
    let until = |deadline_ms| ExternalCall { deadline_ms, ..write("Hello.") };
    let within = |ms| until(Some(start_ms + ms));
    // The second one comes before there is a request.
    let (_first, _second) = tokio::join!(stage.sends(within(20_000)), stage.sends(within(60_000)));
    assert_eq!(stage.request().await.clock.ends_ms(), Some(start_ms + 20_000));
    assert_eq!(stage.changed_request().await.clock.ends_ms(), Some(start_ms + 60_000));
    stage.clock.advance_ms(20_001);
    let inbox = stage.workspace_inbox().await;
    assert_eq!(inbox.requests().await.unwrap().len(), 1, "it waits on");
    // Less time changes nothing; a caller without a limit leaves that of the server.
    let _third = stage.sends(within(30_000)).await;
    let mut fourth = stage.sends(until(None)).await;
    let changed = stage.changed_request().await;
    assert_eq!(changed.clock.deadline_ms, None);
    let kept = stage.store.request(changed.id()).await.unwrap().unwrap();
    let kept: Value = serde_json::from_str(&kept.body).unwrap();
    assert_eq!(kept["clock"]["deadline_ms"], Value::Null);
    stage.clock.advance_ms(280_000);
    assert!(inbox.requests().await.unwrap().is_empty());
    let tool_result = over(&mut fourth).await.outcome.text;
    assert!(tool_result.starts_with("Approval timed out after 300s"), "{tool_result}");
}

#[tokio::test]
async fn only_the_newest_caller_takes_a_call_back() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let first = stage.sends(write("Hello.")).await;
    let request = stage.request().await;
    let second = stage.sends(write("Hello.")).await;
    drop(first);
    assert_eq!(stage.workspace_inbox().await.requests().await.unwrap().len(), 1);
    drop(second);
    let settled = stage.workspace_inbox().await.resolution(request.id().clone()).await.unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Cancelled);
    let _anew = stage.sends(write("Hello.")).await;
    assert_ne!(stage.request().await.id(), request.id());
}

#[tokio::test]
async fn a_call_that_is_sent_again_after_a_crash_waits_for_the_same_request() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let _lost = stage.sends(write("Hello.")).await;
    let request = stage.request().await;
    stage.restart().await;
    let mut again = stage.sends(write("Hello.")).await;
    assert!(
        matches!(again.next().await, CallEvent::Asking(ApprovalWait::Waits(id)) if id == *request.id())
    );
    stage.decides(&request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    assert_eq!(over(&mut again).await.outcome.text, "Wrote 6 characters to a.txt");
    let mut once_more = stage.sends(write("Hello.")).await;
    assert!(!over(&mut once_more).await.outcome.is_error);
}

#[tokio::test]
async fn so_many_calls_at_once_are_enough() {
    let stage = TestAgent::with("Old.").await;
    let mut ongoing = Vec::new();
    let refused = loop {
        let calling = stage.calling(Some(stage.room.document().clone()), rewrite("New."));
        match stage.agents.call(calling, &CancellationToken::new()).await {
            Ok(call) => ongoing.push(call),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, AskError::QueueFull { limit: 32 }), "{refused:?}");
    assert_eq!(ongoing.len(), 32);
}

#[tokio::test]
async fn what_a_run_says_of_a_call_names_its_caller() {
    let mut stage = TestAgent::with("Old.").await;
    let mut ongoing = stage.calls(rewrite("New.")).await;
    stage.decide(RequestVerdict::Reject).await;
    over(&mut ongoing).await;
    assert_eq!(stage.result().await, "success");
    let prompt = stage.said.iter().find_map(|said| match &said.saying {
        RunEventKind::Agent(it) if it.subtype == AgentEventSubtype::Prompt => {
            Some(it.content.clone())
        }
        _ => None,
    });
    assert_eq!(prompt.unwrap()["text"], "coder calls");
}
