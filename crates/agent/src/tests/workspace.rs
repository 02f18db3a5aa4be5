//! Tests of work without a document: people decide in the workspace inbox, and approved calls are
//! executed once.

mod commands;
mod editing;
mod recovery;
mod repeating;
mod undoing;
mod writing;

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_approvals::{ApprovalRequest, Decision, RequestVerdict};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_rooms::RoomError;

use super::fixture::{ScriptedReply, TestAgent, calls, owner, says};
use crate::{AgentQuestion, PermissionMode, ReadToolPolicy, StopFilter};

/// Returns replies that write a file and then end the run.
fn writes(path: &str, content: &str) -> [ScriptedReply; 2] {
    [calls([("Write", json!({"file_path": path, "content": content}))]), says("Done.")]
}

/// Creates a server whose model wants to write this, and its request.
async fn writing(
    files: &[(&str, &str)],
    path: &str,
    content: &str,
) -> (TestAgent, Arc<ApprovalRequest>) {
    let mut stage = TestAgent::in_workspace(files).await;
    stage.model.plays(writes(path, content));
    stage.run("Write it").await;
    let request = stage.request().await;
    (stage, request)
}

fn approve() -> Decision {
    Decision::plain(RequestVerdict::Approve)
}

fn reject() -> Decision {
    Decision::plain(RequestVerdict::Reject)
}

fn edit(input: Value) -> Decision {
    Decision::plain(RequestVerdict::Edit { input })
}

fn person(role: Role) -> Principal {
    Principal::new(format!("usr_{}", role.as_str()), "Eve", role)
}

/// Returns the stored form of a request.
async fn kept(stage: &TestAgent, request: &ApprovalRequest) -> ApprovalRequest {
    let record = stage.store.request(request.id()).await.unwrap().unwrap();
    serde_json::from_str(&record.body).unwrap()
}

/// Returns the code with which a decision was refused.
fn code<T: std::fmt::Debug>(decided: Result<T, RoomError>) -> &'static str {
    match decided {
        Err(RoomError::Decision(error)) => error.code(),
        Err(RoomError::Input(_)) => "invalid_decision",
        other => panic!("{other:?}"),
    }
}

/// Returns the result of the model's only call.
fn tool_result(stage: &TestAgent) -> (String, bool) {
    let mut tool_results = stage.model.tool_results();
    assert_eq!(tool_results.len(), 1, "{tool_results:?}");
    tool_results.remove(0)
}
