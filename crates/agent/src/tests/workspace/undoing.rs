//! Tests of undoing written files; the result of an undo that a crash interrupted is found out, and
//! the undo is never repeated.

use copydesk_approvals::{DecisionError, ExecutionState, FoundFile, RequestStatus};
use copydesk_rooms::command::{UndoChange, UndoFileChange};
use copydesk_workspace::stamp;

use super::*;

/// Creates a file that the model has written after an approval.
async fn written(files: &[(&str, &str)], content: &str) -> (TestAgent, Arc<ApprovalRequest>) {
    let (mut stage, request) = writing(files, "a.txt", content).await;
    stage.decides(&request, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(
        stage.file("a.txt").as_deref(),
        request.proposal.action.preview.new_content.as_deref()
    );
    (stage, request)
}

async fn undo_as(
    stage: &TestAgent,
    by: Principal,
    request: &ApprovalRequest,
    force: bool,
) -> Result<Arc<ApprovalRequest>, RoomError> {
    let undo = UndoChange {
        request: request.id().clone(),
        hunks: None,
        force,
        seen: None,
        votes_only: false,
    };
    stage.agents.undo_in(&stage.workspace_inbox().await, undo, by).await
}

async fn undo(
    stage: &TestAgent,
    request: &ApprovalRequest,
) -> Result<Arc<ApprovalRequest>, RoomError> {
    undo_as(stage, owner(), request, false).await
}

#[tokio::test]
async fn a_file_reads_byte_for_byte_as_before() {
    for before in ["\u{feff}One.\r\nTwo.\r\n", "", "One\rtwo\nthree", "😀"] {
        let (stage, request) = written(&[("a.txt", before)], "New.\n").await;
        let undone = undo(&stage, &request).await.unwrap();
        assert_eq!(stage.file("a.txt").as_deref(), Some(before));
        assert_eq!(undone.status, RequestStatus::Approved);
        assert_eq!(undone.undone().unwrap().by.name, "Ada");
        assert!(stage.store.unfinished_undos().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_file_that_was_made_is_removed() {
    let (stage, request) = written(&[], "New.\n").await;
    undo(&stage, &request).await.unwrap();
    assert_eq!(stage.file("a.txt"), None);
}

#[tokio::test]
async fn edits_are_taken_back_together() {
    let mut stage = TestAgent::in_workspace(&[("a.txt", "one two\r\n")]).await;
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let edits = json!([edit("one", "1"), edit("two", "2")]);
    let call = calls([("MultiEdit", json!({"file_path": "a.txt", "edits": edits}))]);
    stage.model.plays([call, says("Done.")]);
    stage.run("Digits").await;
    let request = stage.settles(RequestVerdict::Approve).await;
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("1 2\r\n"));
    undo(&stage, &request).await.unwrap();
    assert_eq!(stage.file("a.txt").as_deref(), Some("one two\r\n"));
}

#[tokio::test]
async fn what_a_person_edited_before_it_ran_is_what_is_taken_back() {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    let input = json!({"file_path": "a.txt", "content": "mine"});
    stage.decides(&request, edit(input)).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("mine"));
    undo(&stage, &request).await.unwrap();
    assert_eq!(stage.file("a.txt").as_deref(), Some("old"));
}

#[tokio::test]
async fn a_file_that_changed_since_is_overwritten_only_by_force() {
    let (stage, request) = written(&[("a.txt", "old\n")], "new\n").await;
    stage.overwrites("a.txt", "new\nmine\n");
    let Err(RoomError::Decision(DecisionError::FileChanged { file })) =
        undo(&stage, &request).await
    else {
        panic!("it must be refused")
    };
    assert_eq!((file.path.as_str(), file.is_there), ("a.txt", true));
    assert!(file.diff_lines.contains(&"+mine".to_owned()), "{:?}", file.diff_lines);
    assert_eq!(stage.file("a.txt").as_deref(), Some("new\nmine\n"));
    let undone = undo_as(&stage, owner(), &request, true).await.unwrap();
    assert!(undone.undone().unwrap().forced);
    assert_eq!(stage.file("a.txt").as_deref(), Some("old\n"));
}

#[tokio::test]
async fn a_file_that_someone_put_back_themselves_is_undone_without_force() {
    let (stage, request) = written(&[("a.txt", "old")], "new").await;
    stage.overwrites("a.txt", "old");
    let undone = undo(&stage, &request).await.unwrap();
    assert!(!undone.undone().unwrap().forced);
}

#[tokio::test]
async fn it_is_undone_once_and_by_no_one_who_may_not_decide() {
    let (stage, request) = written(&[("a.txt", "old")], "new").await;
    assert_eq!(code(undo_as(&stage, person(Role::Viewer), &request, true).await), "not_allowed");
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
    undo_as(&stage, person(Role::Reviewer), &request, false).await.unwrap();
    stage.overwrites("a.txt", "new");
    assert_eq!(code(undo(&stage, &request).await), "invalid_decision");
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn of_two_who_undo_at_once_one_does() {
    let (stage, request) = written(&[("a.txt", "old")], "new").await;
    let (one, two) = tokio::join!(undo(&stage, &request), undo(&stage, &request));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    assert_eq!(stage.file("a.txt").as_deref(), Some("old"));
}

#[tokio::test]
async fn a_command_says_that_it_cannot_be_undone() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    stage.model.plays([calls([("Bash", json!({"command": "echo x > made"}))]), says("Done.")]);
    stage.run("Run it").await;
    let request = stage.settles(RequestVerdict::Approve).await;
    stage.result().await;
    let refused = undo(&stage, &request).await.unwrap_err();
    assert!(refused.to_string().starts_with("a command cannot be undone"), "{refused}");
    assert!(stage.file("made").is_some());
}

#[tokio::test]
async fn the_model_hears_of_it_at_its_next_turn() {
    let (mut stage, request) = written(&[("a.txt", "old")], "new").await;
    undo(&stage, &request).await.unwrap();
    stage.model.plays([says("I see.")]);
    stage.run("Why?").await;
    stage.result().await;
    let prompt = format!("{:?}", stage.model.asked().last().unwrap().messages.last());
    let id = request.id();
    let line = format!(
        "- {id} (Write) was approved, and people have undone it since: a.txt reads as before"
    );
    assert!(prompt.contains(&line), "{prompt}");
}

/// Stops the server in the middle of an undo, sets the text of the file, and starts the server
/// again.
async fn interrupted_and_reads(content: &str) -> ApprovalRequest {
    let (mut stage, request) = written(&[("a.txt", "old")], "new").await;
    let found = FoundFile { stamp: stamp("new"), units: 6, forced: false };
    let undoing = UndoFileChange { request: request.id().clone(), found };
    stage.workspace_inbox().await.begin_undo(undoing, owner()).await.unwrap();
    assert_eq!(code(undo(&stage, &request).await), "invalid_decision");
    stage.overwrites("a.txt", content);
    stage.restart().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some(content), "nothing is repeated");
    assert!(stage.store.unfinished_undos().await.unwrap().is_empty());
    let kept = kept(&stage, &request).await;
    assert!(matches!(kept.aftermath.execution, Some(ExecutionState::Done { .. })), "{kept:?}");
    kept
}

#[tokio::test]
async fn an_undo_that_was_done_before_the_crash_is_known_to_be() {
    assert!(interrupted_and_reads("old").await.undone().is_some());
}

#[tokio::test]
async fn an_undo_that_had_begun_and_did_nothing_can_be_tried_again() {
    let request = interrupted_and_reads("new").await;
    assert!(request.aftermath.reversal.is_none() && request.can_be_undone());
}

#[tokio::test]
async fn an_undo_whose_file_reads_otherwise_is_not_taken_for_done() {
    assert!(interrupted_and_reads("half").await.aftermath.reversal.is_none());
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_file_was_allowed_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let (stage, request) = written(&[("a.txt", "old")], "new").await;
    let path = stage.path("a.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    undo(&stage, &request).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}
