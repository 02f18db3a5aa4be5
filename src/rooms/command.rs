//! What can be asked of a room, and how it answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::approvals::{
    ApprovalRequest, ApprovalRule, Decision, FileUndoOutcome, FoundFile, Hunk, HunkDraft, Person,
    Preview, RememberWish, RequestResolution, RuleEffect, ToolReport, UpdatedPreview,
};
use crate::document::{Text, TextEdit, Update};
use crate::ids::{
    ClientId, HunkId, MemberId, RequestId, RuleId, RunId, SessionId, ToolUseId, UserId, Version,
};
use crate::permissions::Principal;
use crate::store::WriteBatch;

use super::RoomError;
use super::event::{CaretPosition, PeerInfo, RunEvent};
use super::file::{FileMerge, FileState, MergeOutcome};
use super::settings::{DocumentSettings, OwnSettings};

/// Everything that can be asked.
#[derive(Debug)]
pub enum RoomCommand {
    /// Come in, or come back with what is new since a version.
    Open(JoiningMember, Option<Version>, ReplySender<OpenedDocument>),
    /// Go out.
    Leave(MemberId),
    /// Commit updates made on `base`.
    Push(PushRequest, ReplySender<Version>),
    /// Move a caret; nothing is answered.
    Move(MemberId, CaretPosition),
    /// Hold a change for people to decide.
    Propose(Box<NewApprovalRequest>, Option<Box<CommitPrefix>>, ReplySender<ProposalOutcome>),
    /// Show what the model has written so far of a change it may propose.
    Sketch(Box<StreamingPreview>, ReplySender<()>),
    /// Nothing comes of what was shown; nothing is answered.
    Unsketch(StreamingPreviewScope),
    /// Tell when a request is resolved; at once if it is already.
    Await(RequestId, ReplySender<ResolvedRequest>),
    /// Decide a request.
    Decide(RequestId, Box<Decision>, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// Somebody looks at a request, or no longer does.
    Focus(RequestId, MemberId, ViewerChange, ReplySender<Arc<ApprovalRequest>>),
    /// Give people more time.
    Extend(RequestId, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// Take a request back; `None`: the run was cancelled.
    Withdraw(RequestId, Option<Principal>, ReplySender<Arc<ApprovalRequest>>),
    /// Undo what was accepted.
    Undo(UndoChange, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// Propose again, on today's text, what was rejected or expired.
    Reopen(ProposeAgain, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// The rules in force.
    Rules(ReplySender<Vec<Arc<ApprovalRule>>>),
    /// An owner makes a rule.
    AddRule(Box<NewRule>, Principal, ReplySender<Arc<ApprovalRule>>),
    /// End a rule.
    Revoke(RuleId, Principal, ReplySender<()>),
    /// What an open request would do was looked at again.
    LookAgain(RequestId, Box<UpdatedPreview>, ReplySender<Arc<ApprovalRequest>>),
    /// An approved call begins; granted once.
    Begin(RequestId, ReplySender<Arc<ApprovalRequest>>),
    /// An approved call is over.
    Done(RequestId, ToolReport, ReplySender<Arc<ApprovalRequest>>),
    /// What a call did to a file begins to be taken back; granted once.
    BeginUndo(Box<UndoFileChange>, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// That is over.
    EndUndo(RequestId, FileUndoOutcome, ReplySender<Arc<ApprovalRequest>>),
    /// A person has proposed a request again, with another one.
    Repeated(RequestId, RequestId, Principal, ReplySender<Arc<ApprovalRequest>>),
    /// Change the title.
    Rename(String, Principal, ReplySender<()>),
    /// Change the settings.
    Configure(Box<SettingsChange>, Principal, ReplySender<DocumentSettings>),
    /// Tell everyone the settings in force: the server's have changed.
    TellSettings(ReplySender<()>),
    /// Delete the document.
    Delete(Principal, ReplySender<()>),
    /// Read the document as it is.
    Read(ReplySender<DocumentSnapshot>),
    /// Read the document, and what happened to it since a version.
    CatchUp(Version, OriginRequests, ReplySender<SnapshotWithUpdates>),
    /// The requests people can still decide.
    Requests(ReplySender<Vec<Arc<ApprovalRequest>>>),
    /// Bring a private document to this text, by diff.
    Replace(String, Principal, ReplySender<DocumentSnapshot>),
    /// Make the text again what it was; the answer is the version after that.
    Restore(Box<TextRestore>, Principal, ReplySender<Version>),
    /// Who is here.
    People(ReplySender<Vec<PeerInfo>>),
    /// Tell these members of a request too, though they are not here; nothing is answered.
    Witness(RequestId, Vec<MemberId>),
    /// Tell everyone what a run says.
    Say(RunEvent),
    /// Take in what somebody wrote into the file that the document is.
    Merge(Box<FileMerge>, ReplySender<MergeOutcome>),
    /// Tell how the document stands with its file; nothing is answered.
    TellFile(Box<FileState>),
    /// Somebody's token has ended: take back the votes of people who may no longer decide.
    Recount,
}

impl RoomCommand {
    /// The person whose command it is, of those that may take long.
    pub(super) fn by(&self) -> Option<&UserId> {
        match self {
            Self::Decide(_, _, by, _)
            | Self::Undo(_, by, _)
            | Self::Reopen(_, by, _)
            | Self::Withdraw(_, Some(by), _)
            | Self::Delete(by, _)
            | Self::Replace(_, by, _)
            | Self::Restore(_, by, _) => Some(&by.user),
            Self::Push(push, _) => Some(&push.principal.user),
            Self::Propose(new, ..) => Some(&new.requester.user),
            _ => None,
        }
    }

    /// The request the command is about, if it may have ended long ago.
    pub(super) fn request(&self) -> Option<&RequestId> {
        match self {
            Self::Decide(request, ..)
            | Self::Focus(request, ..)
            | Self::Extend(request, ..)
            | Self::Withdraw(request, ..)
            | Self::LookAgain(request, ..)
            | Self::Begin(request, ..)
            | Self::Done(request, ..)
            | Self::EndUndo(request, ..)
            | Self::Repeated(request, ..)
            | Self::Undo(UndoChange { request, .. }, ..)
            | Self::Reopen(ProposeAgain { request, .. }, ..) => Some(request),
            Self::BeginUndo(undoing, ..) => Some(&undoing.request),
            Self::Propose(new, ..) if new.taken_up => Some(&new.id),
            Self::Open(..)
            | Self::Leave(..)
            | Self::Push(..)
            | Self::Move(..)
            | Self::Sketch(..)
            | Self::Unsketch(..)
            | Self::Await(..)
            | Self::Rules(..)
            | Self::AddRule(..)
            | Self::Revoke(..)
            | Self::Rename(..)
            | Self::Configure(..)
            | Self::TellSettings(..)
            | Self::Delete(..)
            | Self::Read(..)
            | Self::CatchUp(..)
            | Self::Requests(..)
            | Self::Replace(..)
            | Self::Restore(..)
            | Self::People(..)
            | Self::Witness(..)
            | Self::Say(..)
            | Self::Merge(..)
            | Self::TellFile(..)
            | Self::Propose(..)
            | Self::Recount => None,
        }
    }

    /// Whether an ended request has to be mapped to today's text first.
    pub(super) fn needs_positions(&self) -> PositionsOf {
        if matches!(self, Self::Undo(..) | Self::Reopen(..)) {
            PositionsOf::OfToday
        } else {
            PositionsOf::AsTheyWere
        }
    }

    /// Answers that it cannot be done.
    pub(super) fn refuse(self, error: RoomError) {
        match self {
            Self::Leave(..)
            | Self::Move(..)
            | Self::Unsketch(..)
            | Self::Witness(..)
            | Self::Say(..)
            | Self::TellFile(..)
            | Self::Recount => {}
            Self::People(reply) => reply.send(Err(error)),
            Self::Open(.., reply) => reply.send(Err(error)),
            Self::Push(.., reply) | Self::Restore(.., reply) => reply.send(Err(error)),
            Self::Propose(.., reply) => reply.send(Err(error)),
            Self::Await(.., reply) => reply.send(Err(error)),
            Self::Decide(.., reply)
            | Self::Focus(.., reply)
            | Self::Extend(.., reply)
            | Self::Withdraw(.., reply)
            | Self::Undo(.., reply)
            | Self::LookAgain(.., reply)
            | Self::Begin(.., reply)
            | Self::Done(.., reply)
            | Self::BeginUndo(.., reply)
            | Self::EndUndo(.., reply)
            | Self::Repeated(.., reply)
            | Self::Reopen(.., reply) => reply.send(Err(error)),
            Self::Sketch(_, reply)
            | Self::Rename(.., reply)
            | Self::Delete(.., reply)
            | Self::Revoke(.., reply)
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
        }
    }
}

/// Of which text an ended request's positions must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionsOf {
    /// The text when it ended.
    AsTheyWere,
    /// The newest.
    OfToday,
}

/// A connection that comes in.
#[derive(Clone, Debug)]
pub struct JoiningMember {
    /// The connection.
    pub id: MemberId,
    /// The person, under the name this connection gave.
    pub principal: Principal,
}

/// Updates from one connection.
#[derive(Debug)]
pub struct PushRequest {
    /// The connection.
    pub member: MemberId,
    /// The person.
    pub principal: Principal,
    /// The version the first update was made on.
    pub base: Version,
    /// The author instance and the JSON of each change.
    pub updates: Vec<(ClientId, Box<str>)>,
}

/// An old text that is to be the text again.
#[derive(Clone, Debug)]
pub struct TextRestore {
    /// The version it was of.
    pub version: Version,
    /// The version that `edits` change, which must still be the newest.
    pub base: Version,
    /// What makes it that text, in order and apart from each other.
    pub edits: Vec<TextEdit>,
}

/// Whether somebody looks at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewerChange {
    /// Looking; repeated every few seconds.
    On,
    /// No longer.
    Off,
}

/// What to undo.
#[derive(Clone, Debug)]
pub struct UndoChange {
    /// The request that was accepted.
    pub request: RequestId,
    /// Only these hunks; `None`: everything that was accepted.
    pub hunks: Option<Vec<HunkId>>,
    /// Undo although the words were touched since.
    pub force: bool,
    /// What the person saw standing where they were, hunk by hunk: with `force`, nothing else is overwritten.
    pub seen: Option<BTreeMap<HunkId, String>>,
}

/// What a call did to a file, to be taken back.
#[derive(Clone, Debug)]
pub struct UndoFileChange {
    /// The request of the call.
    pub request: RequestId,
    /// How the file stands now.
    pub found: FoundFile,
}

/// What to propose again.
#[derive(Clone, Debug)]
pub struct ProposeAgain {
    /// The request that was not accepted, or not all of it.
    pub request: RequestId,
    /// Only these hunks; `None`: everything that was refused, ran out of time or lost its words.
    pub hunks: Option<Vec<HunkId>>,
}

/// New settings; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct SettingsChange {
    /// Policies, approvals and timeout; its `frozen` is ignored.
    pub own: OwnSettings,
    /// All frozen ranges, in positions of a version.
    pub frozen: Option<(Version, Vec<(usize, usize)>)>,
}

/// A change a tool wants.
#[derive(Clone, Debug)]
pub struct NewApprovalRequest {
    /// Its name, made before it is sent, so that a restart can find it again.
    pub id: RequestId,
    /// The tool.
    pub tool: String,
    /// Its input, as the model gave it.
    pub input: serde_json::Value,
    /// The call, as the model named it.
    pub tool_use: ToolUseId,
    /// The session that asked.
    pub session: SessionId,
    /// The run that asked.
    pub run: RunId,
    /// The person who asked.
    pub requester: Principal,
    /// What the person typed.
    pub prompt: String,
    /// The version the tool read.
    pub base_version: Version,
    /// The text the tool read.
    pub base: Text,
    /// The change, in positions of `base_version`.
    pub hunks: Vec<HunkDraft>,
    /// The original range (`partial` answers tell what stands there afterwards), in positions of `base_version`.
    pub scope: Option<(usize, usize)>,
    /// What the model says it does.
    pub explanation: String,
    /// What people are shown besides the hunks.
    pub preview: Preview,
    /// SHA-256 of the content of the file it would change, if it is one.
    pub touched: Option<String>,
    /// The door it came through.
    pub source: String,
    /// Whether a person must decide, or a permission mode already has.
    pub gate: ApprovalMode,
    /// When an outside caller gives up, in milliseconds since 1970; `None`: whoever waits has time.
    pub deadline_ms: Option<u64>,
    /// Whether an earlier process may have proposed it: then the store is asked first.
    pub taken_up: bool,
    /// The request that a person proposes again with it.
    pub again_of: Option<RequestId>,
}

/// What is kept and told before a request, in the same transaction: the answer of the model that makes the call. It is kept
/// and told also if nothing comes of the request; if it is not kept, nothing is.
#[derive(Debug)]
pub struct CommitPrefix {
    /// What is kept.
    pub batch: WriteBatch,
    /// What everyone in the document is told then.
    pub said: Vec<RunEvent>,
    /// Answered once both are done.
    pub kept: ReplySender<()>,
}

/// A change that the model is still writing. People see it; nobody can decide it, and it is kept nowhere.
#[derive(Clone, Debug)]
pub struct StreamingPreview {
    /// The name its request will have.
    pub id: RequestId,
    /// The tool.
    pub tool: String,
    /// The call, as the model named it.
    pub tool_use: ToolUseId,
    /// The session that asked.
    pub session: SessionId,
    /// The run that asked.
    pub run: RunId,
    /// The person who asked.
    pub author: Person,
    /// The new text so far.
    pub text: String,
    /// How many of its paragraphs are complete.
    pub paragraphs: usize,
    /// The version the model read.
    pub base_version: Version,
    /// The text the model read.
    pub base: Text,
    /// What is known of the change so far, in positions of `base_version`.
    pub hunks: Vec<HunkDraft>,
}

/// Which sketches are meant.
#[derive(Clone, Debug)]
pub enum StreamingPreviewScope {
    /// The one of this request.
    One(RequestId),
    /// All of a run.
    OfRun(SessionId, RunId),
}

/// Whether a person must decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    /// As the document's settings say.
    Ask,
    /// Always, whatever the settings say (a rule counts as a person).
    People,
    /// Applied at once: the run was started with `bypassPermissions`, which the server allows only to owners.
    Bypass,
}

/// What became of a proposal at once.
#[derive(Debug)]
pub enum ProposalOutcome {
    /// People have to decide; the resolution comes by [`RoomCommand::Await`].
    Waiting(Arc<ApprovalRequest>),
    /// Nobody had to decide, or people decided before a restart.
    Resolved(Box<ResolvedRequest>),
    /// The words it wanted to change were changed meanwhile; nothing was proposed. The text says how they read now.
    Conflicted(String),
    /// It would change words that no tool may touch; nothing was proposed. The text says which.
    Frozen(String),
    /// A rule denies it; nothing was proposed. The text says which.
    Denied(String),
    /// It would change nothing.
    Unchanged,
}

/// A rule that an owner makes.
#[derive(Clone, Debug)]
pub struct NewRule {
    /// The name it will have, the files it is about, and the most it allows.
    pub remember: RememberWish,
    /// What it does.
    pub effect: RuleEffect,
    /// Where it does not allow: only changes of more than this many UTF-16 units.
    pub over: Option<usize>,
    /// The tool it is about, or [`EVERY_TOOL`](crate::approvals::EVERY_TOOL).
    pub tool: String,
    /// The session in which it is made.
    pub session: SessionId,
}

/// How a request ended, and the document at that moment.
#[derive(Clone, Debug)]
pub struct ResolvedRequest {
    /// How it ended, and what the model is told.
    pub resolution: RequestResolution,
    /// The document when the room told of it.
    pub reading: DocumentSnapshot,
    /// Where the range that was to be changed is in that text; `None` if there was none or it is no longer known.
    pub scope: Option<(usize, usize)>,
    /// The request as it ended.
    pub request: Arc<ApprovalRequest>,
}

/// The document as it is.
#[derive(Clone, Debug)]
pub struct DocumentSnapshot {
    /// The title.
    pub title: String,
    /// The version.
    pub version: Version,
    /// The text; cloning it is cheap.
    pub text: Text,
    /// The settings in force.
    pub settings: DocumentSettings,
    /// How the document stands with the file that it is, if it is one.
    pub file: Option<FileState>,
}

/// Whether the requests that updates came of are told with them; they may have to be read from the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginRequests {
    /// They are.
    Named,
    /// Nobody wants them.
    LeftOut,
}

/// The document as it is, and how it came to be so.
#[derive(Clone, Debug)]
pub struct SnapshotWithUpdates {
    /// The document as it is.
    pub now: DocumentSnapshot,
    /// Every update since the version that was asked about, oldest first.
    pub missed: Vec<Arc<Update>>,
    /// The requests that these came of, newest first, if they were wanted; of very many the newest.
    pub causes: Vec<Arc<ApprovalRequest>>,
}

/// What somebody who comes in is told.
#[derive(Debug)]
pub struct OpenedDocument {
    /// The whole document, or what is new.
    pub content: OpenedContent,
    /// A name for a new editor instance.
    pub client: ClientId,
    /// The requests people can still decide.
    pub requests: Vec<Arc<ApprovalRequest>>,
    /// What the model is writing, and what is known of its changes, in positions of the newest version.
    pub sketches: Vec<(Arc<StreamingPreview>, Vec<Hunk>)>,
    /// Who is here.
    pub peers: Vec<PeerInfo>,
}

/// The document, or what is new since a version.
#[derive(Debug)]
pub enum OpenedContent {
    /// Everything.
    Whole(Box<DocumentSnapshot>),
    /// The updates after `from`, up to the newest version.
    Since {
        /// The version the client had.
        from: Version,
        /// In order, without a gap.
        updates: Vec<Arc<Update>>,
        /// The document they lead to: title and settings may have changed too.
        reading: Box<DocumentSnapshot>,
    },
}

/// Where an answer goes. Called by the room itself, after what the command caused was told, so that an
/// acknowledgement never overtakes the broadcast it belongs to. Dropped unanswered, it answers [`RoomError::Closed`].
pub struct ReplySender<T>(Option<Answer<T>>);

type Answer<T> = Box<dyn FnOnce(Result<T, RoomError>) + Send>;

impl<T: Send + 'static> ReplySender<T> {
    /// An answer given by calling `answer`, which must not block.
    pub fn new(answer: impl FnOnce(Result<T, RoomError>) + Send + 'static) -> Self {
        Self(Some(Box::new(answer)))
    }

    /// An answer to wait for.
    pub fn channel() -> (Self, oneshot::Receiver<Result<T, RoomError>>) {
        let (sender, receiver) = oneshot::channel();
        (Self::new(move |answer| drop(sender.send(answer))), receiver)
    }
}

impl<T> ReplySender<T> {
    /// Answer.
    pub fn send(mut self, answer: Result<T, RoomError>) {
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
