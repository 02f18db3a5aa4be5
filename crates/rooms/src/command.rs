//! Commands that a room takes, and their replies.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, CallOrigin, Decision, DeletedPerson, FileUndoOutcome, FoundFile,
    Hunk, HunkDraft, ProposedAction, RememberWish, ReportState, RequestResolution, RuleEffect,
    ToolReport, UpdatedPreview,
};
use copydesk_comments::CommentThread;
use copydesk_document::{Text, TextEdit, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{
    ClientId, CommentId, HunkId, MemberId, RequestId, RuleId, RunId, SessionId, ShortDocumentId,
    ThreadId, UserId, Version,
};

pub use copydesk_comments::{CommentInput, PartOfAi};

use super::event::{CaretPosition, PeerInfo, RunEvent, StreamingPreview, StreamingPreviewScope};
use super::file_state::{FileMerge, FileState, MergeOutcome};
use super::settings::{DocumentSettings, OwnSettings};
use super::{RoomError, RoomResult};

/// Command to a room. Most carry a [`ReplySender`]; the others are not answered.
#[derive(Debug)]
pub enum RoomCommand {
    /// Entry of a connection, which gets the whole document or what is new since a version.
    Open(JoiningMember, Option<Version>, ReplySender<OpenedDocument>),
    /// Exit of a connection; not answered.
    Leave(MemberId),
    /// Commit of updates made on [`PushRequest::base`].
    Push(PushRequest, ReplySender<Version>),
    /// Move of a caret; not answered.
    Move(MemberId, CaretPosition),
    /// Proposal of a change, to be held for people to decide.
    Propose(Box<NewApprovalRequest>, ReplySender<ProposalOutcome>),
    /// Display of what the model has written so far of a change it may propose.
    ShowPreview(Box<StreamingPreview>, ReplySender<()>),
    /// End of streaming previews that lead to no request; not answered.
    EndPreviews(StreamingPreviewScope),
    /// Wait for the resolution of a request; answered at once if it is already resolved.
    Await(RequestId, ReplySender<ResolvedRequest>),
    /// Query of what would be reported to the model if a decision on an open request were taken
    /// now.
    ReportDecision(Box<UntakenDecision>, ReplySender<(ToolReport, ReportState)>),
    /// Command about one request, which is the answer as it is then.
    About(RequestId, RequestCommand, ReplySender<Arc<ApprovalRequest>>),
    /// Query of the rules in force.
    Rules(ReplySender<Vec<Arc<ApprovalRule>>>),
    /// Addition of an owner's rule.
    AddRule(Box<NewRule>, Principal, ReplySender<Arc<ApprovalRule>>),
    /// End of a rule.
    Revoke(RuleId, Principal, ReplySender<()>),
    /// Change of the title.
    Rename(String, Principal, ReplySender<()>),
    /// Change of the settings.
    Configure(Box<SettingsChange>, Principal, ReplySender<DocumentSettings>),
    /// Announcement of the settings in force, after the server's have changed.
    TellSettings(ReplySender<()>),
    /// Deletion of the document.
    Delete(Principal, ReplySender<()>),
    /// Recovery of the document after its deletion.
    Recover(Principal, ReplySender<()>),
    /// Query of the document as it is.
    Read(ReplySender<DocumentSnapshot>),
    /// Query of the document and its updates since a version.
    CatchUp(Version, OriginRequests, ReplySender<SnapshotWithUpdates>),
    /// Change of a thread of comments.
    Comment(CommentCommand, ReplySender<ThreadSnapshot>),
    /// Person's suggestion, as it is now.
    Suggest(Box<SuggestionUpdate>, ReplySender<SuggestionSnapshot>),
    /// Query of all threads of comments.
    Threads(ReplySender<ThreadList>),
    /// Query of the requests people can still decide.
    Requests(ReplySender<Vec<Arc<ApprovalRequest>>>),
    /// Replacement of the text of a private document, by diff.
    Replace(String, Principal, ReplySender<DocumentSnapshot>),
    /// Restoration of an older text; the answer is the version after that.
    Restore(Box<TextRestore>, Principal, ReplySender<Version>),
    /// Query of the connections in the document.
    People(ReplySender<Vec<PeerInfo>>),
    /// Members to be notified of a request although they are not in the document; not answered.
    Witness(RequestId, Vec<MemberId>),
    /// Announcement of an event of a run; not answered.
    Say(RunEvent),
    /// Merge of changes of the document's file.
    Merge(Box<FileMerge>, ReplySender<MergeOutcome>),
    /// Announcement of the state of the document's file; not answered.
    TellFile(Box<FileState>),
    /// Replacement of the name of a person whose data is deleted, wherever the room has it.
    ForgetPerson(Arc<DeletedPerson>, ReplySender<()>),
    /// Recount of votes after a token has ended, without people who may no longer decide; not
    /// answered.
    Recount,
    /// End of the room on this server, even in use: another one is to have the document.
    HandOver,
}

/// Command about one request.
#[derive(Debug)]
pub enum RequestCommand {
    /// Decision about the request.
    Decide(Box<Decision>, Principal),
    /// Notice that a connection looks at the request, or no longer does.
    Focus(MemberId, ViewerChange),
    /// Split of a hunk into one for each of its parts.
    Split(HunkId, Principal),
    /// Place of a hunk in the person's own list: at its end, or where it was.
    Defer(HunkId, bool, Principal),
    /// Extension of the time that people have to decide.
    Extend(Principal),
    /// Later time at which the outside caller gives up, because it sent its call again, in
    /// milliseconds since 1970; `None`: never.
    MoveDeadline(Option<u64>),
    /// Withdrawal of the request; the person is `None` if its run was cancelled.
    Withdraw(Option<Principal>),
    /// Undo of accepted hunks.
    Undo(UndoChange, Principal),
    /// Reopening, on the newest text, of hunks that were rejected or expired.
    Reopen(ProposeAgain, Principal),
    /// New preview, if the request is open.
    RefreshPreview(Box<UpdatedPreview>),
    /// Start of an approved call; granted once.
    Begin,
    /// Result of an approved call.
    Done(ToolReport),
    /// Start of the undo of what a call did to a file; granted once.
    BeginUndo(Box<UndoFileChange>, Principal),
    /// Outcome of an undo that [`RequestCommand::BeginUndo`] began.
    EndUndo(FileUndoOutcome),
    /// Notice that a person proposed the request again as this one.
    Repeated(RequestId, Principal),
}

/// Command about comments.
#[derive(Debug)]
pub enum CommentCommand {
    /// Beginning of a thread.
    Create(Box<NewThread>, Principal),
    /// Answer in a thread.
    Reply(ThreadId, CommentInput, Principal),
    /// New text of a comment.
    Edit(CommentId, String, Principal),
    /// Deletion of the text of a comment.
    Delete(CommentId, Principal),
    /// Resolution of a thread, or its reopening.
    Resolve(ThreadId, bool, Principal),
    /// Answer of the AI to a comment. One that is there already stays as it is.
    Answer(AiAnswer),
}

/// Answer of the AI; see [`CommentCommand::Answer`].
#[derive(Debug)]
pub struct AiAnswer {
    /// Thread of the comment.
    pub thread: ThreadId,
    /// Run that answers it.
    pub run: RunId,
    /// Text of the answer, or the reason why there is none.
    pub text: String,
    /// Code of that reason.
    pub reason: Option<String>,
}

/// Thread that a person begins; see [`CommentCommand::Create`]. Without a passage and a request it
/// is about the whole document.
#[derive(Debug, Default)]
pub struct NewThread {
    /// Identifier of the thread; `None`: a new one.
    pub id: Option<ThreadId>,
    /// Version that the positions of `passage` are of; `None`: the newest.
    pub version: Option<Version>,
    /// First unit and end of the passage, in UTF-16 units.
    pub passage: Option<(usize, usize)>,
    /// Request that the thread is about.
    pub request: Option<RequestId>,
    /// Hunk of that request.
    pub hunk: Option<HunkId>,
    /// First comment.
    pub input: CommentInput,
}

impl RoomCommand {
    pub(super) fn by(&self) -> Option<&UserId> {
        use RequestCommand::{Decide, Reopen, Split, Undo, Withdraw};
        match self {
            Self::About(
                _,
                Decide(_, by) | Split(_, by) | Undo(_, by) | Reopen(_, by) | Withdraw(Some(by)),
                _,
            )
            | Self::Delete(by, _)
            | Self::Replace(_, by, _)
            | Self::Restore(_, by, _) => Some(&by.user),
            Self::ReportDecision(untaken, _) => Some(&untaken.by.user),
            Self::Push(push, _) => Some(&push.principal.user),
            Self::Propose(new, ..) => Some(&new.requester.user),
            Self::Suggest(update, _) => Some(&update.by.user),
            _ => None,
        }
    }

    pub(super) fn request(&self) -> Option<&RequestId> {
        match self {
            Self::About(request, ..) => Some(request),
            Self::Propose(new, ..) if new.after_restart => Some(&new.origin.id),
            Self::Comment(CommentCommand::Create(new, _), _) => new.request.as_ref(),
            _ => None,
        }
    }

    /// Returns the version in which the command needs the positions of an ended request.
    pub(super) fn needs_positions(&self) -> PositionsOf {
        use RequestCommand::{Reopen, Undo};
        if matches!(self, Self::About(_, Undo(..) | Reopen(..), _) | Self::Comment(..)) {
            PositionsOf::OfToday
        } else {
            PositionsOf::AsTheyWere
        }
    }

    pub(super) fn refuse(self, error: RoomError) {
        match self {
            Self::Leave(..)
            | Self::Move(..)
            | Self::EndPreviews(..)
            | Self::Witness(..)
            | Self::Say(..)
            | Self::TellFile(..)
            | Self::Recount
            | Self::HandOver => {}
            Self::People(reply) => reply.send(Err(error)),
            Self::Open(.., reply) => reply.send(Err(error)),
            Self::Push(.., reply) | Self::Restore(.., reply) => reply.send(Err(error)),
            Self::Propose(.., reply) => reply.send(Err(error)),
            Self::Await(.., reply) => reply.send(Err(error)),
            Self::About(.., reply) => reply.send(Err(error)),
            Self::ReportDecision(_, reply) => reply.send(Err(error)),
            Self::ShowPreview(_, reply)
            | Self::Rename(.., reply)
            | Self::Delete(.., reply)
            | Self::Recover(.., reply)
            | Self::Revoke(.., reply)
            | Self::ForgetPerson(_, reply)
            | Self::TellSettings(reply) => {
                reply.send(Err(error));
            }
            Self::Rules(reply) => reply.send(Err(error)),
            Self::AddRule(.., reply) => reply.send(Err(error)),
            Self::Configure(.., reply) => reply.send(Err(error)),
            Self::Read(reply) | Self::Replace(.., reply) => reply.send(Err(error)),
            Self::CatchUp(.., reply) => reply.send(Err(error)),
            Self::Merge(_, reply) => reply.send(Err(error)),
            Self::Requests(reply) => reply.send(Err(error)),
            Self::Comment(_, reply) => reply.send(Err(error)),
            Self::Threads(reply) => reply.send(Err(error)),
            Self::Suggest(_, reply) => reply.send(Err(error)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionsOf {
    AsTheyWere,
    OfToday,
}

/// Connection that joins a document; see [`RoomCommand::Open`].
#[derive(Clone, Debug)]
pub struct JoiningMember {
    /// Identifier of the connection.
    pub id: MemberId,
    /// Person, under the name that this connection gave.
    pub principal: Principal,
    /// Additions to the protocol that its client understands.
    pub capabilities: ClientCapabilities,
}

/// Additions to the protocol that a client understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each addition is understood or not")]
pub struct ClientCapabilities {
    /// The client takes differences of the connections ([`RoomEvent::PeersChanged`]), and not the
    /// whole list each time.
    ///
    /// [`RoomEvent::PeersChanged`]: super::event::RoomEvent::PeersChanged
    pub peer_changes: bool,
    /// The client takes plain updates of the text in a short form, by the number of the room.
    pub short_updates: bool,
    /// The client takes open-again hunks of a request alone, and not the whole request; answers to
    /// its decisions hold the hunks that it named.
    pub hunk_changes: bool,
    /// The client takes threads of comments and their changes.
    pub comments: bool,
}

/// Updates from one connection; see [`RoomCommand::Push`].
#[derive(Debug)]
pub struct PushRequest {
    /// Connection that sends the updates.
    pub member: MemberId,
    /// Person who made the updates.
    pub principal: Principal,
    /// Version that the first update was made on.
    pub base: Version,
    /// Author instance and JSON of each change, in order.
    pub updates: Vec<(ClientId, Box<str>)>,
}

/// Edits that restore an older text; see [`RoomCommand::Restore`].
#[derive(Clone, Debug)]
pub struct TextRestore {
    /// Version whose text is restored.
    pub version: Version,
    /// Version that `edits` change; must still be the newest.
    pub base: Version,
    /// Edits that lead to the older text, ordered and disjoint.
    pub edits: Vec<TextEdit>,
}

/// Suggestion of a person as a whole; see [`RoomCommand::Suggest`].
#[derive(Clone, Debug)]
pub struct SuggestionUpdate {
    /// Version that the change is of.
    pub version: Version,
    /// Revision of the suggestion that this one takes the place of; 0: there is none.
    pub revision: u64,
    /// JSON of the change from the text to the text that the person suggests.
    pub changes: Box<str>,
    /// Text of `version`, if others may have changed the words since; the room reads it.
    pub base: Option<Text>,
    /// Person who suggests it.
    pub by: Principal,
}

/// Suggestion as it was stored; see [`RoomCommand::Suggest`].
#[derive(Clone, Debug)]
pub struct SuggestionSnapshot {
    /// Version that the positions are of.
    pub version: Version,
    /// Request of the suggestion, perhaps ended; `None`: there was nothing to withdraw.
    pub request: Option<Arc<ApprovalRequest>>,
}

/// Change of whether a connection looks at a request; see [`RequestCommand::Focus`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewerChange {
    /// View that begins or goes on; repeated every few seconds.
    On,
    /// End of a view.
    Off,
}

/// Accepted hunks to undo; see [`RequestCommand::Undo`].
#[derive(Clone, Debug)]
pub struct UndoChange {
    /// Request that was accepted.
    pub request: RequestId,
    /// Hunks to undo; `None`: all that were accepted.
    pub hunks: Option<Vec<HunkId>>,
    /// `true` to undo although the words were changed since.
    pub force: bool,
    /// Text that the person saw in place of each hunk. With `force`, nothing else is overwritten.
    pub seen: Option<BTreeMap<HunkId, String>>,
    /// `true` to withdraw votes of the person and to undo nothing that was accepted.
    pub votes_only: bool,
}

/// File change of a call that is to be undone; see [`RequestCommand::BeginUndo`].
#[derive(Clone, Debug)]
pub struct UndoFileChange {
    /// Request of the call.
    pub request: RequestId,
    /// Present state of the file.
    pub found: FoundFile,
}

/// Hunks to propose again; see [`RequestCommand::Reopen`].
#[derive(Clone, Debug)]
pub struct ProposeAgain {
    /// Request that was not accepted, or not all of it.
    pub request: RequestId,
    /// Hunks to propose again; `None`: all that were refused, expired or obsolete.
    pub hunks: Option<Vec<HunkId>>,
}

/// New settings; see [`RoomCommand::Configure`]. `None` leaves a setting unchanged.
#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    /// Policies, approvals and timeout; its `frozen` is ignored.
    pub own: OwnSettings,
    /// All frozen ranges, in positions of the version.
    pub frozen: Option<(Version, Vec<(usize, usize)>)>,
}

/// Change that a tool proposes; see [`RoomCommand::Propose`].
#[derive(Clone, Debug)]
pub struct NewApprovalRequest {
    /// Call and the run that made it.
    pub origin: CallOrigin,
    /// Person who asked.
    pub requester: Principal,
    /// Action that the call proposes.
    pub action: ProposedAction,
    /// Text that the tool read.
    pub base: Text,
    /// Hunks of the change, in positions of [`ProposedAction::base_version`].
    pub hunks: Vec<HunkDraft>,
    /// Mode that says whether a person must decide.
    pub approval_mode: ApprovalMode,
    /// Time at which an outside caller gives up, in milliseconds since 1970; `None`: never.
    pub deadline_ms: Option<u64>,
    /// `true` if an earlier process may have proposed the request; the store is asked first then.
    pub after_restart: bool,
    /// Ended request that a person proposes again with this one.
    pub again_of: Option<RequestId>,
}

/// Mode that says whether a person must decide a [`NewApprovalRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    /// Mode in which the document's settings decide.
    Ask,
    /// Mode in which people always decide, whatever the settings say (a rule counts as a person).
    People,
    /// Mode in which changes are applied at once: the run was started with `bypassPermissions`,
    /// which the server allows only to owners.
    Bypass,
}

/// Immediate outcome of a [`NewApprovalRequest`].
#[derive(Debug)]
pub enum ProposalOutcome {
    /// Request that people have to decide; the resolution comes by [`RoomCommand::Await`].
    Waiting(Arc<ApprovalRequest>),
    /// Request that needed no decision, or that people decided before a restart.
    Resolved(Box<ResolvedRequest>),
    /// Conflict with changes made meanwhile; nothing was proposed. The text says how the words read
    /// now.
    Conflicted(String),
    /// Change of frozen words; nothing was proposed. The text says which.
    Frozen(String),
    /// Denial by a rule; nothing was proposed. The text says which rule.
    Denied(String),
    /// Change without effect; nothing was proposed.
    Unchanged,
}

/// Rule that an owner adds; see [`RoomCommand::AddRule`].
#[derive(Clone, Debug)]
pub struct NewRule {
    /// Identifier of the new rule, the files it is about, and the most it allows.
    pub remember: RememberWish,
    /// Effect of the rule.
    pub effect: RuleEffect,
    /// Size in UTF-16 units that a change must exceed for a rule that denies or asks to apply.
    pub over: Option<usize>,
    /// Tool that the rule is about, or [`EVERY_TOOL`](copydesk_approvals::EVERY_TOOL).
    pub tool: String,
    /// Session in which the rule is made.
    pub session: SessionId,
}

/// Decision that a person has not taken yet; see [`RoomCommand::ReportDecision`].
#[derive(Debug)]
pub struct UntakenDecision {
    /// Request that it is about.
    pub request: RequestId,
    /// Decision as it would be sent.
    pub decision: Decision,
    /// Person who would take it.
    pub by: Principal,
    /// Present preview of a call that would be approved as a whole.
    pub fresh: Option<UpdatedPreview>,
}

/// Resolution of a request, with the document at that moment; see [`RoomCommand::Await`].
#[derive(Clone, Debug)]
pub struct ResolvedRequest {
    /// Resolution, with the report to the model.
    pub resolution: RequestResolution,
    /// Document when the room announced the resolution.
    pub reading: DocumentSnapshot,
    /// Range that was to be changed, in positions of `reading`, if any and if it is still known.
    pub scope: Option<(usize, usize)>,
    /// Request as it ended.
    pub request: Arc<ApprovalRequest>,
}

/// Document as it is at one moment; see [`RoomCommand::Read`].
#[derive(Clone, Debug)]
pub struct DocumentSnapshot {
    /// Title of the document.
    pub title: String,
    /// Version of the text.
    pub version: Version,
    /// Text of the document; cheap to clone.
    pub text: Text,
    /// Settings in force.
    pub settings: DocumentSettings,
    /// State of the document's file, if the document has one.
    pub file: Option<FileState>,
}

/// Thread of comments as it is at one moment; see [`RoomCommand::Comment`].
#[derive(Clone, Debug)]
pub struct ThreadSnapshot {
    /// Version that its positions are of.
    pub version: Version,
    /// Thread; one whose comments are all deleted is gone.
    pub thread: CommentThread,
    /// People whom the thread mentions, or mentioned before.
    pub mentioned: Vec<UserId>,
}

/// All threads of a document, oldest first; see [`RoomCommand::Threads`].
#[derive(Clone, Debug)]
pub struct ThreadList {
    /// Version that the positions are of.
    pub version: Version,
    /// Threads, resolved ones too.
    pub threads: Vec<CommentThread>,
}

/// Choice of whether [`SnapshotWithUpdates`] has the requests that caused its updates, which may
/// have to be read from the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginRequests {
    /// Requests included.
    Named,
    /// Requests left out.
    LeftOut,
}

/// Document with its updates since a version; see [`RoomCommand::CatchUp`].
#[derive(Clone, Debug)]
pub struct SnapshotWithUpdates {
    /// Document as it is.
    pub now: DocumentSnapshot,
    /// Updates since the version that was asked for, oldest first.
    pub missed: Vec<Arc<Update>>,
    /// Requests that caused the [`missed`](SnapshotWithUpdates::missed) updates, newest first, if
    /// they were wanted; of very many only the newest.
    pub causes: Vec<Arc<ApprovalRequest>>,
}

/// Reply to a connection that joins; see [`RoomCommand::Open`].
#[derive(Debug)]
pub struct OpenedDocument {
    /// Whole document, or what is new since the client's version.
    pub content: OpenedContent,
    /// Identifier for a new editor instance.
    pub client: ClientId,
    /// Requests people can still decide.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// Changes the model is writing, with their hunks so far in positions of the newest version.
    pub streaming_previews: Vec<(Arc<StreamingPreview>, Vec<Hunk>)>,
    /// Connections in the document.
    pub peers: Vec<PeerInfo>,
    /// Number of connections in the document, for one that takes differences; `peers` may have
    /// fewer.
    pub peer_count: Option<usize>,
    /// Number of the room, for a connection that takes short updates.
    pub number: Option<ShortDocumentId>,
    /// Threads of comments that are not resolved, for a connection that takes them.
    pub threads: Option<Vec<CommentThread>>,
}

/// Content of a document, whole or since a version.
#[derive(Debug)]
pub enum OpenedContent {
    /// Whole document.
    Whole(Box<DocumentSnapshot>),
    /// Updates after `from`, up to the newest version.
    Since {
        /// Version that the client had.
        from: Version,
        /// Updates in order, without a gap.
        updates: Vec<Arc<Update>>,
        /// Document that the updates lead to; its title and settings may have changed too.
        reading: Box<DocumentSnapshot>,
    },
}

/// Receiver of one answer. Called by the room itself, after the effects of the command were
/// announced, so that an acknowledgement never overtakes the broadcast it belongs to. If dropped
/// unanswered, it answers [`RoomError::Closed`].
pub struct ReplySender<T>(Option<Answer<T>>);

type Answer<T> = Box<dyn FnOnce(RoomResult<T>) + Send>;

impl<T: Send + 'static> ReplySender<T> {
    /// Creates a reply that is sent by calling `answer`, which must not block.
    pub fn new(answer: impl FnOnce(RoomResult<T>) + Send + 'static) -> Self {
        Self(Some(Box::new(answer)))
    }

    /// Creates a reply and the receiver to wait for it with.
    pub fn channel() -> (Self, oneshot::Receiver<RoomResult<T>>) {
        let (sender, receiver) = oneshot::channel();
        (Self::new(move |answer| drop(sender.send(answer))), receiver)
    }
}

impl<T> ReplySender<T> {
    /// Sends the answer.
    pub fn send(mut self, answer: RoomResult<T>) {
        if let Some(give) = self.0.take() {
            give(answer);
        }
    }
}

impl<T> Drop for ReplySender<T> {
    fn drop(&mut self) {
        if let Some(give) = self.0.take() {
            give(Err(RoomError::Closed));
        }
    }
}

impl<T> std::fmt::Debug for ReplySender<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reply")
    }
}
