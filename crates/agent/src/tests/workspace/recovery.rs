//! Tests of stops of the server between any two steps: nothing is lost, nothing is done twice, and
//! nothing is done that people did not see.

use copydesk_approvals::{ExecutionState, RequestStatus, ToolReport};

use super::*;

#[tokio::test]
async fn a_pending_request_is_decided_after_the_restart() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    stage.crash().await;
    assert_eq!(stage.request().await.id(), request.id(), "it is shown again, under the same name");
    stage.decides(&request, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
    assert_eq!(tool_result(&stage), ("Wrote 3 characters to a.txt".into(), false));
}

#[tokio::test]
async fn a_decision_that_was_taken_while_no_one_waited_is_carried_out_on_what_was_shown() {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    stage.agents.shutdown().await;
    stage.decides(&request, approve()).await.unwrap();
    stage.restart().await;
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn what_was_approved_is_not_done_if_the_file_changed_meanwhile() {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    stage.agents.shutdown().await;
    stage.decides(&request, approve()).await.unwrap();
    stage.overwrites("a.txt", "else");
    stage.restart().await;
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("else"));
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.contains("changed since it was previewed"), "{text}");
    assert_eq!(kept(&stage, &request).await.status, RequestStatus::Failed);
}

/// Stops the server after the call has begun, sets the text of the file, and starts the server
/// again.
async fn began_and_reads(content: &str) -> (TestAgent, ApprovalRequest) {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    stage.agents.shutdown().await;
    stage.decides(&request, approve()).await.unwrap();
    stage.workspace_inbox().await.begin(request.id().clone()).await.unwrap();
    stage.overwrites("a.txt", content);
    stage.restart().await;
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some(content), "nothing is done again");
    let kept = kept(&stage, &request).await;
    assert!(matches!(kept.aftermath.execution, Some(ExecutionState::Done { .. })), "{kept:?}");
    (stage, kept)
}

#[tokio::test]
async fn a_call_that_was_done_before_the_crash_is_reported_and_not_done_again() {
    let (stage, request) = began_and_reads("new").await;
    let (text, is_error) = tool_result(&stage);
    assert!(!is_error && text.contains("was written before the server stopped"), "{text}");
    assert_eq!(request.status, RequestStatus::Approved);
}

#[tokio::test]
async fn a_call_that_had_begun_but_did_nothing_is_reported_and_not_repeated() {
    let (stage, request) = began_and_reads("old").await;
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.contains("is as it was before"), "{text}");
    assert_eq!(request.status, RequestStatus::Failed);
}

#[tokio::test]
async fn a_call_whose_file_reads_otherwise_is_reported_as_that() {
    let (stage, _) = began_and_reads("half").await;
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.contains("neither as before nor as approved"), "{text}");
}

#[tokio::test]
async fn a_call_that_is_over_is_told_again_and_not_done_again() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    stage.agents.shutdown().await;
    stage.decides(&request, approve()).await.unwrap();
    let fixture = stage.workspace_inbox().await;
    fixture.begin(request.id().clone()).await.unwrap();
    assert!(fixture.begin(request.id().clone()).await.is_err(), "begun once");
    let report = ToolReport { text: "Wrote it".into(), is_error: false };
    fixture.done(request.id().clone(), report).await.unwrap();
    drop(fixture);
    stage.restart().await;
    stage.result().await;
    assert_eq!(tool_result(&stage), ("Wrote it".into(), false));
    assert_eq!(stage.file("a.txt"), None);
}

#[tokio::test]
async fn only_what_was_approved_can_begin() {
    let (stage, request) = writing(&[], "a.txt", "new").await;
    let fixture = stage.workspace_inbox().await;
    assert!(fixture.begin(request.id().clone()).await.is_err());
    assert!(fixture.begin("req_unknown".into()).await.is_err());
    stage.decides(&request, reject()).await.unwrap();
    assert!(fixture.begin(request.id().clone()).await.is_err());
}
