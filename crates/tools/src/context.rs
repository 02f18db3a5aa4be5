//! Context of a call.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use copydesk_approvals::{CallOrigin, RequestSource};
use copydesk_clock::WallClock;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId, RunId, SessionId};
use copydesk_rooms::command::{ApprovalMode, DocumentSnapshot};
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_rooms::{RoomHandle, RoomRegistry};
use copydesk_workspace::Workspace;

use super::{ToolCall, ToolEffect, ToolError, ToolResult, UnreadRanges};

/// Other documents that the model has read in this run, with the unread ranges of each. Kept in
/// memory only: after a restart the model reads them again.
pub type ReadDocuments = HashMap<DocumentId, (DocumentSnapshot, UnreadRanges)>;

/// Context of a call: its room, the knowledge of the model, and the rights of the person who asked.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Room of the document, or of the session's private document.
    pub room: RoomHandle,
    /// Room of the conversation, if the call is about another document, whose room is then `room`.
    pub conversation_room: Option<RoomHandle>,
    /// Path of the file that the call is about, if people have it open as the document of `room`.
    pub open_file: Option<String>,
    /// Call and the person who asked for it.
    pub call: CallIdentity,
    /// Documents as the model knows them.
    pub view: DocumentView,
    /// Approval that the call needs.
    pub approval: ApprovalTerms,
    /// Server and run in which the call is made.
    pub environment: CallEnvironment,
}

/// Identifiers of a call, and its origin.
#[derive(Clone, Debug)]
pub struct CallIdentity {
    /// Id of the request, if there will be one; chosen first, so that a restart finds the request
    /// again.
    pub request: RequestId,
    /// Session that asked.
    pub session: SessionId,
    /// Run that asked.
    pub run: RunId,
    /// Person who asked.
    pub requester: Principal,
    /// Text that the person typed.
    pub prompt: Arc<str>,
    /// Origin of the call.
    pub source: RequestSource,
    /// `true` if the call may have been made before a restart.
    pub after_restart: bool,
    /// Earlier request that a person proposes again with the call.
    pub again_of: Option<RequestId>,
}

impl CallIdentity {
    /// Returns the origin of `call`, for its request.
    pub fn origin(&self, call: &ToolCall) -> CallOrigin {
        CallOrigin {
            id: self.request.clone(),
            tool: call.name.clone(),
            input: call.input.clone(),
            tool_use: call.id.as_str().into(),
            session: self.session.clone(),
            run: self.run.clone(),
        }
    }
}

/// Documents as the model knows them, and the part of one that it may change.
#[derive(Clone, Debug, Default)]
pub struct DocumentView {
    /// Document as the model was shown it when it made the calls of this turn. `None` in a
    /// conversation without a document.
    pub base: Option<DocumentSnapshot>,
    /// Ranges of `base` that the model has not read.
    pub base_unread: UnreadRanges,
    /// Document as the model last knows it; differs from `base` after an earlier call of this turn.
    pub latest: Option<DocumentSnapshot>,
    /// Ranges of `latest` that the model has not read.
    pub latest_unread: UnreadRanges,
    /// Other documents as the model has read them; `None` for external calls, whose callers keep
    /// track.
    pub others: Option<Arc<ReadDocuments>>,
    /// Selection or caret of the person, in UTF-16 units of `base`.
    pub selection: Option<(usize, usize)>,
    /// Part of the document that a call may change, in UTF-16 units of `base`.
    pub editable: EditableRange,
}

/// Approval that a call needs.
#[derive(Clone, Debug)]
pub struct ApprovalTerms {
    /// Approval mode of the call, which decides if people are asked.
    pub mode: ApprovalMode,
    /// Time at which an outside caller gives up, in milliseconds since 1970.
    pub deadline_ms: Option<u64>,
    /// Channel that reports how the request progresses, if a caller waits for it.
    pub progress: Option<watch::Sender<Option<ApprovalWait>>>,
}

/// Server and run in which a call is made.
#[derive(Clone, Debug)]
pub struct CallEnvironment {
    /// All rooms, for calls about other documents.
    pub rooms: RoomRegistry,
    /// Workspace inbox: the room of requests without a document.
    pub workspace_inbox: RoomHandle,
    /// Folder of work without a document, if there is one.
    pub workspace: Option<Workspace>,
    /// Model of this server that reads the result; `None` if a program outside made the call.
    pub model: Option<AskedModel>,
    /// Files of the workspace that are documents which the model may not see.
    pub unseen_files: Arc<[String]>,
    /// Treatment of tools that only read in that folder.
    pub read_tools: ReadToolPolicy,
    /// Plan mode of the run.
    pub plan: PlanMode,
    /// Random tag that marks text of the document as data.
    pub tag: Arc<str>,
    /// Source of the present time.
    pub clock: WallClock,
}

/// State of a run in plan mode (`permission_mode: toolApproval`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanMode {
    /// The run needs no plan.
    Off,
    /// Nothing may be changed before people have approved a plan.
    Planning,
    /// People have approved a plan.
    Approved,
}

/// Treatment of tools that only read (`auto_approve_safe` on the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadToolPolicy {
    /// Mode in which they run at once.
    AtOnce,
    /// Mode in which people are asked first.
    Ask,
}

/// Part of the document that a call may change; see [`freeze`](super::pipeline::freeze).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditableRange {
    /// Everything: nothing was selected.
    #[default]
    Everything,
    /// Only this range, which the person selected; words may also be inserted at its edges.
    Only(usize, usize),
    /// Nothing: something was selected and can no longer be found.
    Nothing,
}

/// Progress of a request ([`ApprovalTerms::progress`]).
#[derive(Clone, Debug)]
pub enum ApprovalWait {
    /// The request was made and waits for people.
    Waits(RequestId),
    /// The request waits no longer. If it was approved, the call is executed now.
    Resolved(RequestId),
}

impl ToolContext {
    /// Returns the document as the model was shown it.
    pub fn document(&self) -> ToolResult<&DocumentSnapshot> {
        self.view.base.as_ref().ok_or(match self.room.unlisted_owner() {
            None => ToolError::Unread,
            Some(_) => ToolError::NoDocument,
        })
    }

    pub(super) fn with_approval_mode(&self, mode: ApprovalMode) -> Self {
        let approval = ApprovalTerms { mode, ..self.approval.clone() };
        Self { approval, ..self.clone() }
    }

    /// Reports the progress of the request.
    pub fn report_progress(&self, how: fn(RequestId) -> ApprovalWait) {
        if let Some(progress) = &self.approval.progress {
            progress.send_replace(Some(how(self.call.request.clone())));
        }
    }

    pub(super) fn asking_room(&self) -> Option<&RoomHandle> {
        let inbox = || self.open_file.is_some().then_some(&self.environment.workspace_inbox);
        self.conversation_room.as_ref().or_else(inbox)
    }

    /// Returns the folder of work without a document.
    pub fn workspace(&self) -> ToolResult<&Workspace> {
        self.environment.workspace.as_ref().ok_or(ToolError::NoWorkspace)
    }

    /// Returns the room that asks people about a call as a whole. The people of a document decide
    /// about a plan for it.
    pub fn approval_room(&self, effect: ToolEffect) -> &RoomHandle {
        if effect == ToolEffect::Plans && self.environment.workspace.is_none() {
            &self.room
        } else {
            &self.environment.workspace_inbox
        }
    }

    /// Reads the document as it is at this moment.
    pub async fn read_now(&self) -> ToolResult<DocumentSnapshot> {
        // Models must not read the private document of a conversation without a document.
        if self.room.unlisted_owner().is_some() {
            self.document()?;
        }
        Ok(self.room.read().await?)
    }
}
