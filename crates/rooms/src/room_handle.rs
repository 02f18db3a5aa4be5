//! Handle to a room: sends commands to its inbox and waits for the answers. The room's status can
//! be read without a command, which would keep the room open.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Decision, DeletedPerson, FileUndoOutcome, ReportState,
    ToolReport, UpdatedPreview,
};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, HunkId, MemberId, RequestId, RuleId, SessionId, Version};

use super::command::{
    CommentCommand, DocumentSnapshot, JoiningMember, NewApprovalRequest, NewRule, OpenedDocument,
    OriginRequests, ProposalOutcome, ProposeAgain, PushRequest, ReplySender, RequestCommand,
    ResolvedRequest, RoomCommand, SettingsChange, SnapshotWithUpdates, SuggestionSnapshot,
    SuggestionUpdate, ThreadList, ThreadSnapshot, UndoChange, UndoFileChange, UntakenDecision,
    ViewerChange,
};
use super::event::{CaretPosition, RunEvent, StreamingPreview, StreamingPreviewScope};
use super::file_state::{FileMerge, FileState, MergeOutcome};
use super::settings::DocumentSettings;
use super::{RequestResult, RoomError, RoomResult};

/// Handle to a room. Cheap to clone; keeps the room open.
#[derive(Clone, Debug)]
pub struct RoomHandle {
    pub(super) document: DocumentId,
    pub(super) unlisted_owner: Option<SessionId>,
    /// Commands for the room. Boxed: the channel allocates places for many commands, and few wait.
    pub(super) commands: mpsc::Sender<Box<RoomCommand>>,
    pub(super) room_status: watch::Receiver<RoomStatus>,
}

/// Handle that does not keep its room open; see [`RoomHandle::downgrade`].
#[derive(Clone, Debug)]
pub struct WeakRoomHandle {
    document: DocumentId,
    unlisted_owner: Option<SessionId>,
    commands: mpsc::WeakSender<Box<RoomCommand>>,
    room_status: watch::Receiver<RoomStatus>,
}

/// Status of a room, after everything was stored and announced; see [`RoomHandle::room_status()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomStatus {
    /// Newest durable version.
    pub version: Version,
    /// Number of connections that events are sent to.
    pub people: usize,
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

    /// Returns `true` if the room still serves. A room whose task has failed does not; opening the
    /// document again starts another.
    pub fn is_open(&self) -> bool {
        !self.commands.is_closed()
    }

    pub(super) async fn closed(&self) {
        self.commands.closed().await;
    }

    /// Returns a handle that does not keep the room open.
    pub fn downgrade(&self) -> WeakRoomHandle {
        WeakRoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            commands: self.commands.downgrade(),
            room_status: self.room_status.clone(),
        }
    }

    /// Returns the room's status.
    pub fn room_status(&self) -> RoomStatus {
        *self.room_status.borrow()
    }

    pub(super) fn waiting_commands(&self) -> usize {
        self.commands.max_capacity() - self.commands.capacity()
    }

    /// Sends a command without waiting for the answer, which goes to the command's own
    /// [`ReplySender`]. Waits while the inbox is full.
    pub async fn send(&self, command: RoomCommand) {
        // A closed inbox drops the command, and with it the reply, which answers `Closed`.
        drop(self.commands.send(Box::new(command)).await);
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
    ///
    /// # Errors
    /// [`RoomError::BadUpdate`] for an invalid update, [`RoomError::Resync`], [`RoomError::Ahead`]
    /// or [`RoomError::TooCostly`] for an unusable version, [`RoomError::ForeignClient`] for
    /// another person's editor; [`RoomError::Store`] if it is not stored.
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

    /// Shows what the model has written so far of a change; returns once this was announced.
    pub async fn streaming_preview(&self, streaming_preview: StreamingPreview) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::ShowPreview(Box::new(streaming_preview), reply)).await
    }

    /// Ends streaming previews that have not become a request and will not.
    pub async fn end_previews(&self, streaming_previews: StreamingPreviewScope) {
        self.send(RoomCommand::EndPreviews(streaming_previews)).await;
    }

    /// Waits until a request is resolved, also across restarts, and returns its
    /// [`ResolvedRequest`].
    pub async fn resolution(&self, request: RequestId) -> RoomResult<ResolvedRequest> {
        self.ask(|reply| RoomCommand::Await(request, reply)).await
    }

    /// Decides a request.
    ///
    /// # Errors
    /// [`RoomError::Decision`] with the reason of a refusal, [`RoomError::NoRequest`] for an
    /// unknown request, [`RoomError::Invalid`] for a change or rule that goes beyond a limit;
    /// [`RoomError::Store`] if it is not stored.
    pub async fn decide(
        &self,
        request: RequestId,
        decision: Decision,
        by: Principal,
    ) -> RequestResult {
        self.about(request, RequestCommand::Decide(Box::new(decision), by)).await
    }

    /// Returns what would be reported to the model if a decision were taken now. It is judged as
    /// [`decide`](Self::decide) would judge it, and not taken.
    pub async fn report_decision(
        &self,
        untaken: UntakenDecision,
    ) -> RoomResult<(ToolReport, ReportState)> {
        self.ask(|reply| RoomCommand::ReportDecision(Box::new(untaken), reply)).await
    }

    /// Splits a hunk into one for each of its parts.
    pub async fn split(&self, request: RequestId, hunk: HunkId, by: Principal) -> RequestResult {
        self.about(request, RequestCommand::Split(hunk, by)).await
    }

    /// Puts a hunk at the end of a person's own list, or back.
    pub async fn defer(
        &self,
        request: RequestId,
        hunk: HunkId,
        on: bool,
        by: Principal,
    ) -> RequestResult {
        self.about(request, RequestCommand::Defer(hunk, on, by)).await
    }

    /// Notes that a connection looks at a request, or no longer does.
    pub async fn focus(
        &self,
        request: RequestId,
        member: MemberId,
        focus: ViewerChange,
    ) -> RequestResult {
        self.about(request, RequestCommand::Focus(member, focus)).await
    }

    /// Gives people more time to decide a request.
    ///
    /// # Errors
    /// [`RoomError::NoRequest`] for an unknown request, [`RoomError::Decision`] if it has ended or
    /// its caller would not wait longer, [`RoomError::NotAllowed`] if it is not shown to `by`.
    pub async fn extend(&self, request: RequestId, by: Principal) -> RequestResult {
        self.about(request, RequestCommand::Extend(by)).await
    }

    /// Moves the time when the outside caller of a request gives up, in milliseconds since 1970;
    /// `None`: it does not give up. The request stays as it is if that is not later.
    pub async fn move_deadline(
        &self,
        request: RequestId,
        deadline_ms: Option<u64>,
    ) -> RequestResult {
        self.about(request, RequestCommand::MoveDeadline(deadline_ms)).await
    }

    /// Withdraws a request; `by` is `None` if its run was cancelled.
    pub async fn withdraw(&self, request: RequestId, by: Option<Principal>) -> RequestResult {
        self.about(request, RequestCommand::Withdraw(by)).await
    }

    /// Undoes accepted hunks.
    ///
    /// # Errors
    /// [`RoomError::Decision`] if nothing was accepted, words have changed since, or `by` may not
    /// decide; [`RoomError::Invalid`] if the text just changed.
    pub async fn undo(&self, undo: UndoChange, by: Principal) -> RequestResult {
        self.about(undo.request.clone(), RequestCommand::Undo(undo, by)).await
    }

    /// Proposes again, on the newest text, hunks that were rejected or expired.
    pub async fn reopen(&self, reopen: ProposeAgain, by: Principal) -> RequestResult {
        self.about(reopen.request.clone(), RequestCommand::Reopen(reopen, by)).await
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

    /// Updates the preview of an open request. A preview that differs is announced.
    pub async fn refresh_preview(
        &self,
        request: RequestId,
        fresh: UpdatedPreview,
    ) -> RequestResult {
        self.about(request, RequestCommand::RefreshPreview(Box::new(fresh))).await
    }

    /// Begins an approved call. Granted once; durable when this returns.
    ///
    /// # Errors
    /// [`RoomError::Decision`] if the request is not approved or was begun before,
    /// [`RoomError::Store`] if the beginning is not stored.
    pub async fn begin(&self, request: RequestId) -> RequestResult {
        self.about(request, RequestCommand::Begin).await
    }

    /// Records the result of an approved call.
    ///
    /// # Errors
    /// [`RoomError::NoRequest`] for an unknown request, [`RoomError::Store`] if the result is not
    /// stored. A result of an ended call is no error; it changes nothing.
    pub async fn done(&self, request: RequestId, report: ToolReport) -> RequestResult {
        self.about(request, RequestCommand::Done(report)).await
    }

    /// Begins to undo what a call did to a file. Granted once; durable when this returns.
    pub async fn begin_undo(&self, undoing: UndoFileChange, by: Principal) -> RequestResult {
        let request = undoing.request.clone();
        self.about(request, RequestCommand::BeginUndo(Box::new(undoing), by)).await
    }

    /// Records the outcome of an undo that [`begin_undo`](Self::begin_undo) began.
    pub async fn end_undo(&self, request: RequestId, reversed: FileUndoOutcome) -> RequestResult {
        self.about(request, RequestCommand::EndUndo(reversed)).await
    }

    /// Records that a person proposed `request` again as the request `again`.
    pub async fn repeated(
        &self,
        request: RequestId,
        again: RequestId,
        by: Principal,
    ) -> RequestResult {
        self.about(request, RequestCommand::Repeated(again, by)).await
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

    /// Announces the settings in force, after the server's settings have changed.
    pub(super) async fn notify_settings(&self) -> RoomResult<()> {
        self.ask(RoomCommand::TellSettings).await
    }

    pub(super) async fn forget_person(&self, person: Arc<DeletedPerson>) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::ForgetPerson(person, reply)).await
    }

    /// Deletes the document.
    pub async fn delete(&self, by: Principal) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::Delete(by, reply)).await
    }

    pub(super) async fn recover(&self, by: Principal) -> RoomResult<()> {
        self.ask(|reply| RoomCommand::Recover(by, reply)).await
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

    /// Changes a thread of comments, and returns it.
    ///
    /// # Errors
    /// [`RoomError::Comment`] with the reason of a refusal; of a new thread also
    /// [`RoomError::Resync`] or [`RoomError::Ahead`] for an unusable version; [`RoomError::Store`]
    /// if it is not stored.
    pub async fn comment(&self, command: CommentCommand) -> RoomResult<ThreadSnapshot> {
        self.ask(|reply| RoomCommand::Comment(command, reply)).await
    }

    /// Returns all threads of comments.
    pub async fn threads(&self) -> RoomResult<ThreadList> {
        self.ask(RoomCommand::Threads).await
    }

    /// Takes over a person's suggestion as it is now.
    ///
    /// # Errors
    /// [`RoomError::StaleSuggestion`] for an old revision, [`RoomError::Frozen`] for frozen words,
    /// [`RoomError::Decision`] if a rule denies it, [`RoomError::BadUpdate`] or
    /// [`RoomError::Invalid`] for an unusable change, [`RoomError::Resync`] or
    /// [`RoomError::Ahead`] for an unusable version; [`RoomError::Store`] if it is not stored.
    pub async fn suggest(&self, update: SuggestionUpdate) -> RoomResult<SuggestionSnapshot> {
        self.ask(|reply| RoomCommand::Suggest(Box::new(update), reply)).await
    }

    /// Returns the requests people can still decide.
    pub async fn requests(&self) -> RoomResult<Vec<Arc<ApprovalRequest>>> {
        self.ask(RoomCommand::Requests).await
    }

    /// Replaces the text of a private document, by diff.
    pub async fn replace(&self, text: String, by: Principal) -> RoomResult<DocumentSnapshot> {
        self.ask(|reply| RoomCommand::Replace(text, by, reply)).await
    }

    /// Merges changes of the document's file.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if the version that was compared with is no longer at hand.
    pub async fn merge(&self, merge: FileMerge) -> RoomResult<MergeOutcome> {
        self.ask(|reply| RoomCommand::Merge(Box::new(merge), reply)).await
    }

    /// Announces the state of the document's file.
    pub async fn notify_file(&self, news: FileState) {
        self.send(RoomCommand::TellFile(Box::new(news))).await;
    }

    /// Announces an event of a run.
    pub async fn publish(&self, said: RunEvent) {
        self.send(RoomCommand::Say(said)).await;
    }

    async fn about(&self, request: RequestId, command: RequestCommand) -> RequestResult {
        self.ask(|reply| RoomCommand::About(request, command, reply)).await
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        command: impl FnOnce(ReplySender<T>) -> RoomCommand,
    ) -> RoomResult<T> {
        let (reply, answer) = ReplySender::channel();
        self.send(command(reply)).await;
        answer.await.unwrap_or(Err(RoomError::Closed))
    }
}

impl WeakRoomHandle {
    /// Returns the identifier of the document.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// Returns a [`RoomHandle`], if the room still serves.
    pub fn upgrade(&self) -> Option<RoomHandle> {
        Some(RoomHandle {
            document: self.document.clone(),
            unlisted_owner: self.unlisted_owner.clone(),
            commands: self.commands.upgrade()?,
            room_status: self.room_status.clone(),
        })
    }

    /// Returns a receiver of the [`RoomStatus`] and its changes; ends with the room.
    pub fn room_status(&self) -> watch::Receiver<RoomStatus> {
        self.room_status.clone()
    }
}
