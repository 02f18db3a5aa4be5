//! Rooms: one actor owns one open document, its approval requests and the people in it.
//!
//! [`actor`] waits: it takes commands, lets [`state`] apply them, has the store keep what changed,
//! and only then sends events and answers. All decisions are pure functions below [`state`], which
//! collect their effects as [`TurnEffects`](actor::turn_effects::TurnEffects). [`persistence`] loads
//! and restores. Nothing here knows that a browser exists: events leave through an [`EventSink`].

pub mod clock;
pub mod command;
pub mod event;
pub mod file;
pub mod persistence;
pub mod settings;

mod actor;
mod create_from_request;
mod event_sink;
mod registry;
mod request_index;
mod room_status;
#[cfg(feature = "rehearsal")]
pub mod simulated_room;
mod state;
#[cfg(test)]
mod tests;
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
    CommitPrefix, DocumentSnapshot, JoiningMember, NewApprovalRequest, NewRule, OpenedDocument,
    OriginRequests, ProposalOutcome, ProposeAgain, PushRequest, ReplySender, ResolvedRequest,
    RoomCommand, SettingsChange, SnapshotWithUpdates, StreamingPreview, StreamingPreviewScope,
    UndoChange, UndoFileChange, ViewerChange,
};
use event::{CaretPosition, RunEvent};
use file::{FileMerge, FileState, MergeOutcome};
use settings::DocumentSettings;

pub use create_from_request::NewDocumentFromRequest;
pub use event_sink::{EncodedEvent, EventSink};
pub use persistence::export_snapshot::ExportSnapshot;
pub use persistence::history::{compare, text_at};
pub use persistence::provenance::{credits, placements};
pub use registry::{DocumentReaders, LONGEST_TITLE, NewDocument, RoomRegistry};
pub use room_status::{RoomStatus, WeakRoomHandle};
pub use workspace_inbox::DESK;

/// Why a room refused.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// There is no such document.
    #[error("there is no such document")]
    NoDocument,
    /// There is no such request in this document.
    #[error("there is no such request")]
    NoRequest,
    /// There is no such rule in this document.
    #[error("there is no such rule")]
    NoRule,
    /// The rule is no longer in force.
    #[error("this rule {}", ended(.0))]
    RuleEnded(RuleEnd),
    /// The person may not do that.
    #[error("you may not do that")]
    NotAllowed,
    /// A client's name belongs to somebody else.
    #[error("this clientID belongs to somebody else")]
    ForeignClient,
    /// The client's version cannot be brought up to date; it must load the document again.
    #[error("load the document again")]
    Resync,
    /// The client is so far behind that moving its updates to the newest version would cost the server too much; nothing was
    /// changed. It catches up and moves them itself.
    #[error(
        "too much was written since the version of these updates; load the document again and send them on top of that"
    )]
    TooCostly,
    /// Working out what was asked failed inside the server; nothing was changed.
    #[error(transparent)]
    Lost(#[from] JobLost),
    /// The version is ahead of the document.
    #[error("version {asked} is ahead of the document, which is at {newest}")]
    Ahead {
        /// What the client said.
        asked: Version,
        /// What the document has.
        newest: Version,
    },
    /// An update is not a valid change of the document.
    #[error("update {index} is not a valid change: {source}")]
    BadUpdate {
        /// Which one, from 0.
        index: usize,
        /// Why.
        source: ChangeError,
    },
    /// A decision was refused.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// There are as many open requests as the document may have.
    #[error("{limit} requests are open here already; decide some first")]
    TooManyRequests {
        /// The limit.
        limit: usize,
    },
    /// What was asked makes no sense in the present state.
    #[error("{0}")]
    Invalid(String),
    /// A person's input for a tool is not one it takes.
    #[error("{0}")]
    Input(String),
    /// The store failed; nothing was changed.
    #[error("{}", .0.in_plain_words())]
    Store(#[source] Arc<StoreError>),
    /// The room is closing.
    #[error("the server is stopping")]
    Closed,
}

impl RoomError {
    fn store(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }

    /// Why nothing came of a command whose turn was not kept.
    fn not_kept(error: Arc<StoreError>) -> Self {
        match *error {
            // Somebody else wrote to the document; once the client has that, it can try again.
            StoreError::Conflict { .. } => Self::Resync,
            StoreError::NotAllowed(_) => Self::NotAllowed,
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

/// A way to reach a room. Cheap to clone; keeps the room open.
#[derive(Clone, Debug)]
pub struct RoomHandle {
    document: DocumentId,
    unlisted_owner: Option<SessionId>,
    inbox: mpsc::Sender<RoomCommand>,
    pulse: watch::Receiver<RoomStatus>,
}

impl RoomHandle {
    /// The document.
    pub fn document(&self) -> &DocumentId {
        &self.document
    }

    /// The session whose private document this is.
    pub fn unlisted_owner(&self) -> Option<&SessionId> {
        self.unlisted_owner.as_ref()
    }

    /// Whether the room still serves. One whose task has failed does not; opening the document again makes another.
    pub fn is_open(&self) -> bool {
        !self.inbox.is_closed()
    }

    /// Ask without waiting for the answer, which goes to the command's own [`ReplySender`]. Waits while the inbox is full.
    pub async fn send(&self, command: RoomCommand) {
        // A closed inbox drops the command, and with it the reply, which answers `Closed`.
        drop(self.inbox.send(command).await);
    }

    /// Come in, or come back with what is new `since` a version.
    pub async fn open(
        &self,
        member: JoiningMember,
        since: Option<Version>,
    ) -> Result<OpenedDocument, RoomError> {
        self.ask(|reply| RoomCommand::Open(member, since, reply)).await
    }

    /// Go out.
    pub async fn leave(&self, member: MemberId) {
        self.send(RoomCommand::Leave(member)).await;
    }

    /// Commit updates; the answer is the version after them.
    pub async fn push(&self, push: PushRequest) -> Result<Version, RoomError> {
        self.ask(|reply| RoomCommand::Push(push, reply)).await
    }

    /// Move a caret.
    pub async fn caret(&self, member: MemberId, caret: CaretPosition) {
        self.send(RoomCommand::Move(member, caret)).await;
    }

    /// Hold a change for people to decide.
    pub async fn propose(&self, request: NewApprovalRequest) -> Result<ProposalOutcome, RoomError> {
        self.propose_after(None, request).await
    }

    /// The same, with what is kept and told before it.
    pub async fn propose_after(
        &self,
        preface: Option<CommitPrefix>,
        request: NewApprovalRequest,
    ) -> Result<ProposalOutcome, RoomError> {
        let preface = preface.map(Box::new);
        self.ask(|reply| RoomCommand::Propose(Box::new(request), preface, reply)).await
    }

    /// Show what the model has written so far of a change it may propose; answers once people have been told.
    pub async fn sketch(&self, sketch: StreamingPreview) -> Result<(), RoomError> {
        self.ask(|reply| RoomCommand::Sketch(Box::new(sketch), reply)).await
    }

    /// Nothing comes of what was shown. What has become a request is none any more.
    pub async fn unsketch(&self, sketches: StreamingPreviewScope) {
        self.send(RoomCommand::Unsketch(sketches)).await;
    }

    /// Wait until a request is resolved; answers at once if it is already. Works across restarts.
    pub async fn resolution(&self, request: RequestId) -> Result<ResolvedRequest, RoomError> {
        self.ask(|reply| RoomCommand::Await(request, reply)).await
    }

    /// Decide a request.
    pub async fn decide(
        &self,
        request: RequestId,
        decision: Decision,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Decide(request, Box::new(decision), by, reply)).await
    }

    /// Somebody looks at a request, or no longer does.
    pub async fn focus(
        &self,
        request: RequestId,
        member: MemberId,
        focus: ViewerChange,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Focus(request, member, focus, reply)).await
    }

    /// Give people more time.
    pub async fn extend(
        &self,
        request: RequestId,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Extend(request, by, reply)).await
    }

    /// Take a request back; `None`: its run was cancelled.
    pub async fn withdraw(
        &self,
        request: RequestId,
        by: Option<Principal>,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Withdraw(request, by, reply)).await
    }

    /// Undo what was accepted.
    pub async fn undo(
        &self,
        undo: UndoChange,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Undo(undo, by, reply)).await
    }

    /// Propose again, on today's text, what was rejected or expired.
    pub async fn reopen(
        &self,
        reopen: ProposeAgain,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Reopen(reopen, by, reply)).await
    }

    /// The rules in force, oldest first.
    pub async fn rules(&self) -> Result<Vec<Arc<ApprovalRule>>, RoomError> {
        self.ask(RoomCommand::Rules).await
    }

    /// Make a rule that denies, asks or allows; one that says the same and is there already is the answer then.
    pub async fn add_rule(
        &self,
        new: NewRule,
        by: Principal,
    ) -> Result<Arc<ApprovalRule>, RoomError> {
        self.ask(|reply| RoomCommand::AddRule(Box::new(new), by, reply)).await
    }

    /// End a rule.
    pub async fn revoke(&self, rule: RuleId, by: Principal) -> Result<(), RoomError> {
        self.ask(|reply| RoomCommand::Revoke(rule, by, reply)).await
    }

    /// What an open request would do was looked at again. If that is something else than people were shown, they are told.
    pub async fn look_again(
        &self,
        request: RequestId,
        fresh: UpdatedPreview,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::LookAgain(request, Box::new(fresh), reply)).await
    }

    /// An approved call begins. Granted once; durable when this returns.
    pub async fn begin(&self, request: RequestId) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Begin(request, reply)).await
    }

    /// An approved call is over.
    pub async fn done(
        &self,
        request: RequestId,
        report: ToolReport,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Done(request, report, reply)).await
    }

    /// What a call did to a file begins to be taken back. Granted once; durable when this returns.
    pub async fn begin_undo(
        &self,
        undoing: UndoFileChange,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::BeginUndo(Box::new(undoing), by, reply)).await
    }

    /// That is over.
    pub async fn end_undo(
        &self,
        request: RequestId,
        reversed: FileUndoOutcome,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::EndUndo(request, reversed, reply)).await
    }

    /// A person has proposed a request again, with another one.
    pub async fn repeated(
        &self,
        request: RequestId,
        again: RequestId,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.ask(|reply| RoomCommand::Repeated(request, again, by, reply)).await
    }

    /// Change the title.
    pub async fn rename(&self, title: String, by: Principal) -> Result<(), RoomError> {
        self.ask(|reply| RoomCommand::Rename(title, by, reply)).await
    }

    /// Change the settings.
    pub async fn configure(
        &self,
        configure: SettingsChange,
        by: Principal,
    ) -> Result<DocumentSettings, RoomError> {
        self.ask(|reply| RoomCommand::Configure(Box::new(configure), by, reply)).await
    }

    /// Tell everyone the settings in force, because the server's have changed.
    pub(super) async fn tell_settings(&self) -> Result<(), RoomError> {
        self.ask(RoomCommand::TellSettings).await
    }

    /// Delete the document.
    pub async fn delete(&self, by: Principal) -> Result<(), RoomError> {
        self.ask(|reply| RoomCommand::Delete(by, reply)).await
    }

    /// Read the document as it is.
    pub async fn read(&self) -> Result<DocumentSnapshot, RoomError> {
        self.ask(RoomCommand::Read).await
    }

    /// Read the document, and what happened to it since a version; [`RoomError::Resync`]: too long ago.
    pub async fn catch_up(
        &self,
        since: Version,
        causes: OriginRequests,
    ) -> Result<SnapshotWithUpdates, RoomError> {
        self.ask(|reply| RoomCommand::CatchUp(since, causes, reply)).await
    }

    /// The requests people can still decide.
    pub async fn requests(&self) -> Result<Vec<Arc<ApprovalRequest>>, RoomError> {
        self.ask(RoomCommand::Requests).await
    }

    /// Bring a private document to this text, by diff.
    pub async fn replace(
        &self,
        text: String,
        by: Principal,
    ) -> Result<DocumentSnapshot, RoomError> {
        self.ask(|reply| RoomCommand::Replace(text, by, reply)).await
    }

    /// Make the text again what it was at `version`, by one update of the person's; the answer is the version after that.
    /// `only_at`: only if that is still the newest version.
    ///
    /// # Errors
    /// [`RoomError::Resync`] when other people's updates came between, again and again.
    pub async fn restore(
        &self,
        store: &Store,
        version: Version,
        only_at: Option<Version>,
        by: &Principal,
    ) -> Result<Version, RoomError> {
        history::bring_back(self, store, version, only_at, by).await
    }

    /// Take in what somebody wrote into the file that the document is.
    ///
    /// # Errors
    /// [`RoomError::Resync`] when the version that was compared with is no longer at hand.
    pub async fn merge(&self, merge: FileMerge) -> Result<MergeOutcome, RoomError> {
        self.ask(|reply| RoomCommand::Merge(Box::new(merge), reply)).await
    }

    /// Tell everyone how the document stands with its file.
    pub async fn tell_file(&self, news: FileState) {
        self.send(RoomCommand::TellFile(Box::new(news))).await;
    }

    /// Bring the text of `base` to `text`, by one update of the person's, and leave alone what others wrote since; the answer
    /// is the version after that.
    ///
    /// # Errors
    /// [`RoomError::Resync`] when `base` is too long ago.
    pub async fn edit(
        &self,
        store: &Store,
        base: Version,
        text: &str,
        by: &Principal,
    ) -> Result<Version, RoomError> {
        edits::edit(self, store, base, text, by).await
    }

    /// Tell everyone what a run says.
    pub async fn say(&self, said: RunEvent) {
        self.send(RoomCommand::Say(said)).await;
    }

    async fn ask<T: Send + 'static>(
        &self,
        command: impl FnOnce(ReplySender<T>) -> RoomCommand,
    ) -> Result<T, RoomError> {
        let (reply, answer) = ReplySender::channel();
        self.send(command(reply)).await;
        answer.await.unwrap_or(Err(RoomError::Closed))
    }
}
