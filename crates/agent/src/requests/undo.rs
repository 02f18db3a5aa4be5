//! Undo of accepted changes: of a text in the room of its document, of a file here. After a crash,
//! the result of a file's undo is found out; the undo is not repeated.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use copydesk_approvals::{
    ApprovalRequest, DecisionError, FileUndoOutcome, FoundFile, InvalidDecisionReason,
};
use copydesk_failpoint as failpoint;
use copydesk_ids::RequestId;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_rooms::command::{UndoChange, UndoFileChange};
use copydesk_rooms::{RequestResult, RoomError, RoomHandle, RoomResult, WORKSPACE_INBOX};
use copydesk_tools::workspace::file_since_call::{
    CurrentFile, FileChange, FileSinceCall, changed_since,
};
use copydesk_tools::{ToolError, ToolResult};

use crate::{AgentService, AskResult};

impl AgentService {
    /// Undoes accepted changes: changes of a text in the room that owns the request, the change of
    /// a file by a call here.
    ///
    /// # Errors
    /// If the change cannot be undone; the person may force it if only the file has changed since.
    #[boxed]
    pub async fn undo_in(
        &self,
        room: &RoomHandle,
        wish: UndoChange,
        by: Principal,
    ) -> RequestResult {
        if room.document().as_str() != WORKSPACE_INBOX {
            return room.undo(wish, by).await;
        }
        if self.stop.is_cancelled() {
            return Err(RoomError::Closed);
        }
        // The person who asked may disconnect before the undo is done.
        let (service, workspace_inbox) = (self.clone(), room.clone());
        let undone =
            self.spawn_tracked(async move { service.undo(&workspace_inbox, wish, by).await });
        undone.await.unwrap_or(Err(RoomError::Closed))
    }

    /// Finds out the results of undos that a crash interrupted. If a result cannot be found out,
    /// the undo stays open.
    #[boxed]
    pub(crate) async fn settle_undos(&self) -> AskResult<()> {
        for id in self.store.unfinished_undos().await? {
            let Some(request) = self.kept_request(&id).await? else { continue };
            match self.recover_outcome(&request).await {
                Ok(reversed) => {
                    self.rooms.workspace_inbox().await?.end_undo(id, reversed).await?;
                }
                Err(error) => {
                    tracing::warn!(%error, request.id = %id, "cannot determine the outcome of an undo");
                }
            }
        }
        Ok(())
    }

    async fn undo(
        &self,
        workspace_inbox: &RoomHandle,
        wish: UndoChange,
        by: Principal,
    ) -> RequestResult {
        let mut request = self.kept_request(&wish.request).await?.ok_or(RoomError::NoRequest)?;
        let is_voted = request.status.is_open() && request.has_vote_of(&by.user, None);
        if wish.hunks.is_none() && (wish.votes_only || is_voted) {
            return workspace_inbox.undo(wish, by).await;
        }
        let UndoChange { request: id, hunks, force, .. } = wish;
        let settings = workspace_inbox.read().await?.settings;
        request.set_policy(&settings.requirements(std::iter::empty(), self.rooms.tools()));
        if hunks.is_some() {
            // A person who may not decide gets that refusal first.
            request.check_allowed(&by)?;
            return Err(invalid(InvalidDecisionReason::NoChangesToUndo));
        }
        let change = FileChange::of(&request.reversible(&by)?)
            .ok_or_else(|| invalid(InvalidDecisionReason::FormerTextUnknown))?;
        let now = self.tools.current_file(&change.path).await.map_err(impossible)?;
        check_live(&change, &now, &by)?;
        let since = change.compare(&now);
        if since == FileSinceCall::Changed && !force {
            return Err(conflict(change, &now).await);
        }
        let (stamp, forced) = (now.stamp.clone(), since == FileSinceCall::Changed);
        let found = FoundFile { stamp, units: change.units(&now), forced };
        let undoing = UndoFileChange { request: id.clone(), found };
        workspace_inbox.begin_undo(undoing, by.clone()).await?;
        failpoint::pass("tools.undoing");
        let done = if since == FileSinceCall::TakenBack {
            Ok(())
        } else {
            self.put_back(&change, &now, &by).await
        };
        failpoint::pass("tools.undone");
        if let Err(error) = done {
            workspace_inbox.end_undo(id, FileUndoOutcome::Not(error.to_string())).await?;
            return Err(impossible(error));
        }
        workspace_inbox.end_undo(id, FileUndoOutcome::Done).await
    }

    /// Restores the text before the call: in the document if people have the file open, otherwise
    /// on the disk.
    async fn put_back(
        &self,
        change: &FileChange,
        now: &CurrentFile,
        by: &Principal,
    ) -> ToolResult<()> {
        let (Some((room, reading)), Some(before)) = (&now.live, &change.before) else {
            return self.tools.put_back(change.clone(), now.stamp.clone()).await;
        };
        let plain = before.strip_prefix('\u{feff}').unwrap_or(before);
        room.edit(&self.store, reading.version, plain, by).await?;
        self.tools.write_through(room.document()).await;
        Ok(())
    }

    async fn recover_outcome(&self, request: &ApprovalRequest) -> ToolResult<FileUndoOutcome> {
        let mut done = request.clone();
        done.aftermath.reversal = None;
        let change = done.written().ok().as_ref().and_then(FileChange::of);
        let change = change.ok_or_else(|| ToolError::Failed("no file was changed".into()))?;
        let now = self.tools.current_file(&change.path).await?;
        let found = request.aftermath.reversal.as_ref().map(|reversal| reversal.found.as_str());
        Ok(if change.compare(&now) == FileSinceCall::TakenBack {
            FileUndoOutcome::Done
        } else if found == Some(now.stamp.as_str()) {
            FileUndoOutcome::Not("the server stopped before the file was changed".into())
        } else {
            FileUndoOutcome::Not(
                "the server stopped, and the file has a different content now".into(),
            )
        })
    }

    #[boxed]
    pub(crate) async fn kept_request(&self, id: &RequestId) -> RoomResult<Option<ApprovalRequest>> {
        let kept = self.store.request(id).await;
        let kept = kept.map_err(|error| RoomError::Store(Arc::new(error)))?;
        let Some(record) = kept.filter(|record| record.document.is_none()) else {
            return Ok(None);
        };
        let read = serde_json::from_str(&record.body);
        read.map(Some).map_err(|error| {
            RoomError::Invalid(format!("the stored request cannot be read: {error}"))
        })
    }
}

/// Checks that `by` may change the document that the file is, and that a change of its text can
/// undo the call.
fn check_live(change: &FileChange, now: &CurrentFile, by: &Principal) -> RoomResult<()> {
    let Some(document) = now.document() else { return Ok(()) };
    if !by.may(Action::Write, Some(document)) {
        return Err(RoomError::NotAllowed);
    }
    if change.before.is_none() {
        let path = &change.path;
        return Err(RoomError::Input(format!(
            "{path} was made by this call and is open as a document; it can be removed once nobody has it open"
        )));
    }
    Ok(())
}

async fn conflict(change: FileChange, now: &CurrentFile) -> RoomError {
    match changed_since(change, now).await {
        Ok(file) => DecisionError::FileChanged { file: Box::new(file) }.into(),
        Err(error) => impossible(error),
    }
}

fn invalid(reason: InvalidDecisionReason) -> RoomError {
    DecisionError::InvalidDecision { reason }.into()
}

fn impossible(error: ToolError) -> RoomError {
    match error {
        ToolError::Room(error) => error,
        error => RoomError::Input(format!("this cannot be undone: {error}")),
    }
}
