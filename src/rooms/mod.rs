//! Rooms: each room is one actor that owns one open document, its requests and the people in it.
//!
//! [`actor`] waits: it takes commands, lets [`state`] apply them, has the store keep what changed,
//! and only then sends events and answers. All decisions are pure functions below [`state`], which
//! collect their effects as [`TurnEffects`](actor::turn_effects::TurnEffects). [`persistence`]
//! loads and restores. Nothing here knows that a browser exists: events leave through an
//! [`EventSink`].

pub mod clock;
pub mod command;
pub mod event;
pub mod file;
pub mod file_state;
pub mod persistence;
pub mod settings;

mod actor;
mod create_from_request;
mod event_sink;
mod inbox_policies;
mod registry;
mod request_index;
mod room_deps;
mod room_status;
#[cfg(feature = "rehearsal")]
pub mod simulated_room;
mod state;
#[cfg(test)]
mod tests;
mod title;
mod work_size;
mod workspace_inbox;

use crate::rooms::persistence::history;
use crate::rooms::state::edits;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::approvals::{
    ApprovalRequest, ApprovalRule, Decision, DecisionError, FileUndoOutcome, RuleEnd, ToolReport,
    UpdatedPreview,
};
use crate::cpu_pool::JobLost;
use crate::document::ChangeError;
use crate::ids::{DocumentId, MemberId, RequestId, RuleId, SessionId, Version};
use crate::permissions::Principal;
use crate::store::{Store, StoreError};

use command::{
    DocumentSnapshot, JoiningMember, NewApprovalRequest, NewRule, OpenedDocument, OriginRequests,
    ProposalOutcome, ProposeAgain, PushRequest, ReplySender, ResolvedRequest, RoomCommand,
    SettingsChange, SnapshotWithUpdates, UndoChange, UndoFileChange, ViewerChange,
};
use event::{CaretPosition, RunEvent, StreamingPreview, StreamingPreviewScope};
use file_state::{FileMerge, FileState, MergeOutcome};
use settings::DocumentSettings;

pub use create_from_request::NewDocumentFromRequest;
pub use event_sink::{EncodedEvent, EventSink};
pub use persistence::export_snapshot::ExportSnapshot;
pub use persistence::history::{compare, text_at};
pub use persistence::provenance::{author_spans, placements};
pub use registry::{DocumentReaders, NewDocument, RoomRegistry};
pub use room_status::{RoomStatus, WeakRoomHandle};
pub use title::LONGEST_TITLE;
pub use workspace_inbox::DESK;

/// Error of a room that refuses a command.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// Unknown or deleted document.
    #[error("there is no such document")]
    NoDocument,
    /// Unknown request in this document.
    #[error("there is no such request")]
    NoRequest,
    /// Unknown rule in this document.
    #[error("there is no such rule")]
    NoRule,
    /// Rule that is no longer in force.
    #[error("this rule {}", ended(.0))]
    RuleEnded(RuleEnd),
    /// Missing permission of the person.
    #[error("you may not do that")]
    NotAllowed,
    /// Editor instance (`clientID`) that belongs to another person.
    #[error("this clientID belongs to somebody else")]
    ForeignClient,
    /// Version of the client that cannot be brought up to date; the client must load the document
    /// again.
    #[error("load the document again")]
    Resync,
    /// Updates so far behind that moving them to the newest version would cost the server too much.
    /// Nothing was changed. The client catches up and moves its updates itself.
    #[error(
        "too much was written since the version of these updates; load the document again and send them on top of that"
    )]
    TooCostly,
    /// Panic of a job on the CPU pool; nothing was changed.
    #[error(transparent)]
    Lost(#[from] JobLost),
    /// Version that is ahead of the document.
    #[error("version {asked} is ahead of the document, which is at {newest}")]
    Ahead {
        /// Version that the client named.
        asked: Version,
        /// Newest version of the document.
        newest: Version,
    },
    /// Update that is not a valid change of the document.
    #[error("update {index} is not a valid change: {source}")]
    BadUpdate {
        /// Index of the update in its push, from 0.
        index: usize,
        /// Reason why the update is invalid.
        source: ChangeError,
    },
    /// Refusal of a decision.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// Request beyond the number of requests that may be open.
    #[error("{limit} requests are open here already; decide some first")]
    TooManyRequests {
        /// Limit of open requests that was reached.
        limit: usize,
    },
    /// Command that makes no sense in the present state; the text says why.
    #[error("{0}")]
    Invalid(String),
    /// Input of a person that the tool does not accept; the text says why.
    #[error("{0}")]
    Input(String),
    /// Failure of the store; nothing was changed.
    #[error("{}", .0.in_plain_words())]
    Store(#[source] Arc<StoreError>),
    /// Command to a room that is closing.
    #[error("the server is stopping")]
    Closed,
}

/// Result of an operation in a room: a value or a [`RoomError`].
pub type RoomResult<T> = Result<T, RoomError>;

impl From<StoreError> for RoomError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl RoomError {
    /// Maps the error of a turn that was not stored to the error of its commands.
    fn not_kept(error: Arc<StoreError>) -> Self {
        match *error {
            // Somebody else wrote to the document; once the client has that update, it can try
            // again.
            StoreError::Conflict { .. } => Self::Resync,
            _ => Self::Store(error),
        }
    }
}

fn ended(how: &RuleEnd) -> String {
    match &how.by {
        Some(by) => format!("was already revoked, by {}", by.name),
        None => "ended with its session".to_owned(),
    }
}

/// Handle to a room. Cheap to clone; keeps the room open.
#[derive(Clone, Debug)]
pub struct RoomHandle {
    document: DocumentId,
    unlisted_owner: Option<SessionId>,
    inbox: mpsc::Sender<RoomCommand>,
    room_status: watch::Receiver<RoomStatus>,
}

impl RoomHandle {
    /// Returns the identifier of the document.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// Returns the session that owns the document, if it is a private document.
    pub fn unlisted_owner(&self) -> Option<&SessionId> {
        self.unlisted_owner.as_ref()
    }

    /// `true` if the room still serves. A room whose task has failed does not; opening the document
    /// again starts another.
    pub fn is_open(&self) -> bool {
        !self.inbox.is_closed()
    }

    /// Sends a command without waiting for the answer, which goes to the command's own
    /// [`ReplySender`]. Waits while the inbox is full.
    pub async fn send(&self, command: RoomCommand) {
        // A closed inbox drops the command, and with it the reply, which answers `Closed`.
        drop(self.inbox.send(command).await);
    }

    /// Lets a connection in. Returns an [`OpenedDocument`] with the whole document, or only what is
    /// new since version `since`.
    pub async fn open(
        &self,
        member: JoiningMember,
        since: Option<Version>,
    ) -> RoomResult<OpenedDocument> {
        self.ask(|reply| RoomCommand::Open(member, since, reply)).await
    }

    /// Lets a connection out.
    pub async fn leave(&self, member: MemberId) {
        self.send(RoomCommand::Leave(member)).await;
    }

    /// Commits updates and returns the version after them.
    pub async fn push(&self, push: PushRequest) -> RoomResult<Version> {
        self.ask(|reply| RoomCommand::Push(push, reply)).await
    }

    /// Moves a connection's caret.
    pub async fn caret(&self, member: MemberId, caret: CaretPosition) {
        self.send(RoomCommand::Move(member, caret)).await;
    }

    /// Holds a proposed change for people to decide.
    pub async fn propose(&self, request: NewApprovalRequest) -> RoomResult<ProposalOutcome> {
        self.ask(|reply| RoomCommand::Propose(Box::new(request), reply)).await
    }

    /// Shows what the model has written so far of a change it may propose. Returns once people have
    /// been told.
    pub async fn streaming_preview(&self, streaming_preview: StreamingPreview) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::ShowPreview(Box::new(streaming_preview), reply)).await
    }

    /// Ends streaming previews that lead to no request. Previews that have become a request are
    /// unaffected.
    pub async fn end_previews(&self, streaming_previews: StreamingPreviewScope) {
        self.send(RoomCommand::EndPreviews(streaming_previews)).await;
    }

    /// Waits until a request is resolved, and returns its [`ResolvedRequest`]; at once if it
    /// already is. Works across restarts.
    pub async fn resolution(&self, request: RequestId) -> RoomResult<ResolvedRequest> {
        self.ask(|reply| RoomCommand::Await(request, reply)).await
    }

    /// Decides a request.
    pub async fn decide(
        &self,
        request: RequestId,
        decision: Decision,
        by: Principal,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Decide(request, Box::new(decision), by, reply)).await
    }

    /// Notes that a connection looks at a request, or no longer does.
    pub async fn focus(
        &self,
        request: RequestId,
        member: MemberId,
        focus: ViewerChange,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Focus(request, member, focus, reply)).await
    }

    /// Gives people more time to decide a request.
    pub async fn extend(
        &self,
        request: RequestId,
        by: Principal,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Extend(request, by, reply)).await
    }

    /// Withdraws a request; `by` is `None` if its run was cancelled.
    pub async fn withdraw(
        &self,
        request: RequestId,
        by: Option<Principal>,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Withdraw(request, by, reply)).await
    }

    /// Undoes accepted hunks.
    pub async fn undo(&self, undo: UndoChange, by: Principal) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Undo(undo, by, reply)).await
    }

    /// Proposes again, on the newest text, hunks that were rejected or expired.
    pub async fn reopen(
        &self,
        reopen: ProposeAgain,
        by: Principal,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Reopen(reopen, by, reply)).await
    }

    /// Returns the rules in force, oldest first.
    pub async fn rules(&self) -> RoomResult<Vec<Arc<ApprovalRule>>> {
        self.ask(RoomCommand::Rules).await
    }

    /// Adds a rule that denies, asks or allows. Returns an equal rule if there is one already.
    pub async fn add_rule(&self, new: NewRule, by: Principal) -> RoomResult<Arc<ApprovalRule>> {
        self.ask(|reply| RoomCommand::AddRule(Box::new(new), by, reply)).await
    }

    /// Ends a rule.
    pub async fn revoke(&self, rule: RuleId, by: Principal) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::Revoke(rule, by, reply)).await
    }

    /// Updates the preview of an open request. People are told if it differs from what they were
    /// shown.
    pub async fn refresh_preview(
        &self,
        request: RequestId,
        fresh: UpdatedPreview,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::RefreshPreview(request, Box::new(fresh), reply)).await
    }

    /// Begins an approved call. Granted once; durable when this returns.
    pub async fn begin(&self, request: RequestId) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Begin(request, reply)).await
    }

    /// Records the result of an approved call.
    pub async fn done(
        &self,
        request: RequestId,
        report: ToolReport,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Done(request, report, reply)).await
    }

    /// Begins to undo what a call did to a file. Granted once; durable when this returns.
    pub async fn begin_undo(
        &self,
        undoing: UndoFileChange,
        by: Principal,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::BeginUndo(Box::new(undoing), by, reply)).await
    }

    /// Records the outcome of an undo that [`begin_undo`](Self::begin_undo) began.
    pub async fn end_undo(
        &self,
        request: RequestId,
        reversed: FileUndoOutcome,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::EndUndo(request, reversed, reply)).await
    }

    /// Records that a person proposed `request` again as the request `again`.
    pub async fn repeated(
        &self,
        request: RequestId,
        again: RequestId,
        by: Principal,
    ) -> RoomResult<Arc<ApprovalRequest>> {
        self.ask(|reply| RoomCommand::Repeated(request, again, by, reply)).await
    }

    /// Changes the title.
    pub async fn rename(&self, title: String, by: Principal) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::Rename(title, by, reply)).await
    }

    /// Changes the settings of the document.
    pub async fn configure(
        &self,
        configure: SettingsChange,
        by: Principal,
    ) -> RoomResult<DocumentSettings> {
        self.ask(|reply| RoomCommand::Configure(Box::new(configure), by, reply)).await
    }

    /// Tells everyone in the document its settings in force, after the server's settings have
    /// changed.
    pub(super) async fn notify_settings(&self) -> RoomResult<()> {
        self.ask(RoomCommand::TellSettings).await
    }

    /// Deletes the document.
    pub async fn delete(&self, by: Principal) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::Delete(by, reply)).await
    }

    /// Returns a [`DocumentSnapshot`] of the document as it is.
    pub async fn read(&self) -> RoomResult<DocumentSnapshot> {
        self.ask(RoomCommand::Read).await
    }

    /// Returns the document and its updates since a version.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if the version is too old.
    pub async fn catch_up(
        &self,
        since: Version,
        causes: OriginRequests,
    ) -> RoomResult<SnapshotWithUpdates> {
        self.ask(|reply| RoomCommand::CatchUp(since, causes, reply)).await
    }

    /// Returns the requests people can still decide.
    pub async fn requests(&self) -> RoomResult<Vec<Arc<ApprovalRequest>>> {
        self.ask(RoomCommand::Requests).await
    }

    /// Replaces the text of a private document, by diff.
    pub async fn replace(&self, text: String, by: Principal) -> RoomResult<DocumentSnapshot> {
        self.ask(|reply| RoomCommand::Replace(text, by, reply)).await
    }

    /// Restores the text of `version` by one update of the person's, and returns the version after
    /// it. With `only_at`, only if that is still the newest version.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if other people's updates kept coming between.
    pub async fn restore(
        &self,
        store: &Store,
        version: Version,
        only_at: Option<Version>,
        by: &Principal,
    ) -> RoomResult<Version> {
        history::bring_back(self, store, version, only_at, by).await
    }

    /// Merges what somebody wrote into the document's file.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if the version that was compared with is no longer at hand.
    pub async fn merge(&self, merge: FileMerge) -> RoomResult<MergeOutcome> {
        self.ask(|reply| RoomCommand::Merge(Box::new(merge), reply)).await
    }

    /// Tells everyone the state of the document's file.
    pub async fn notify_file(&self, news: FileState) {
        self.send(RoomCommand::TellFile(Box::new(news))).await;
    }

    /// Changes the text of `base` to `text`, by one update of the person's, and leaves alone what
    /// others wrote since. Returns the version after that update.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if `base` is too old.
    pub async fn edit(
        &self,
        store: &Store,
        base: Version,
        text: &str,
        by: &Principal,
    ) -> RoomResult<Version> {
        edits::edit(self, store, base, text, by).await
    }

    /// Tells everyone an event of a run.
    pub async fn publish(&self, said: RunEvent) {
        self.send(RoomCommand::Say(said)).await;
    }

    async fn ask<T: Send + 'static>(
        &self,
        command: impl FnOnce(ReplySender<T>) -> RoomCommand,
    ) -> RoomResult<T> {
        let (reply, answer) = ReplySender::channel();
        self.send(command(reply)).await;
        answer.await.unwrap_or(Err(RoomError::Closed))
    }
}
