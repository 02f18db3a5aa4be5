//! State and decisions of a room. No clock, no disk, no task: a command changes the state and adds
//! to the [`RoomEffects`] what to store, and the events and answers that the actor sends after the
//! commit; or it changes nothing and refuses. Tests can end the process here (`failpoint`).
//!
//! The state may run ahead of the store only within one batch of the actor. If the batch cannot be
//! stored, the actor loads what is durable and puts the people back in
//! ([`RoomState::replace_with`]).

pub(crate) mod admin;
pub(crate) mod comments;
pub(crate) mod deadlines;
pub(crate) mod decisions;
pub(crate) mod dispatch;
pub(crate) mod inbox_undo;
pub(crate) mod locked_ranges;
pub(crate) mod person_deletion;
pub(crate) mod presence;
pub(crate) mod preview_pages;
pub(crate) mod proposals;
pub(crate) mod request_viewers;
pub(crate) mod requests;
pub(crate) mod rules;
pub(crate) mod streaming_previews;
pub(crate) mod suggestions;
pub(crate) mod text;
pub(crate) mod text_restore;
pub(crate) mod undo;
pub(crate) mod votes;
pub(crate) mod workspace_inbox;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use copydesk_approvals::{ApprovalRequest, ApprovalRule, DecisionRequirements, Hunk, ToolCatalog};
use copydesk_comments::{CommentThread, MovedPassage};
use copydesk_document::provenance::UpdatePlacements;
use copydesk_document::{Document, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{
    ClientId, DocumentId, HunkId, MemberId, RequestId, RuleId, SessionId, ShortDocumentId, UserId,
    Version,
};
use copydesk_store::{AuditEntry, DocumentRecord, StoreOp};

use super::command::{
    ClientCapabilities, DocumentSnapshot, JoiningMember, OpenedContent, OpenedDocument,
    ReplySender, ThreadList,
};
use super::event::RoomEvent;
use super::file_state::FileState;
use super::inbox_policies::InboxPolicies;
use super::settings::{DocumentSettings, OwnSettings, ServerSettings};
use super::{RoomError, RoomResult};
use crate::actor::room_effects::{RoomEffect, RoomEffects};
use crate::state::comments::RoomThreads;
use crate::state::presence::RoomPresence;
use crate::state::preview_pages::StreamingPreviews;
use crate::state::request_viewers::RequestViewers;
use crate::work_size::is_long_answer;

/// Number of ended requests that are remembered, so that a late decision learns who was first.
const REMEMBERED: usize = 64;

pub(crate) struct ApplyContext {
    pub(super) ms: u64,
    pub(super) server: ServerSettings,
    pub(super) inbox_policies: Arc<InboxPolicies>,
    pub(super) tools: ToolCatalog,
}

/// Author of a change of the text, and its cause.
pub(crate) struct ChangeAuthor<'a> {
    pub(crate) client: ClientId,
    pub(crate) user: &'a UserId,
    /// Request that the change comes from, which moves its own hunks.
    pub(crate) origin: Option<&'a RequestId>,
    /// Placements of the inserted words, if they are not simply the person's own.
    pub(crate) placements: Option<UpdatePlacements>,
    /// Passages that the change takes elsewhere, as far as its moved hunks say so.
    pub(crate) moves: Vec<MovedPassage>,
}

#[derive(Default)]
pub(crate) struct HunkChanges {
    pub(crate) drop: Vec<HunkId>,
    /// Hunks whose place or state changed otherwise than by being mapped through the update.
    pub(crate) put: Vec<(RequestId, Hunk)>,
}

/// State of a room: a document, its requests and the people in it.
pub(crate) struct RoomState {
    /// Number of the room; stays when the state is loaded again.
    pub(super) number: ShortDocumentId,
    /// Record of the document, with the version it was loaded at; the newest is that of `document`.
    pub(super) record: DocumentRecord,
    pub(super) own: OwnSettings,
    pub(super) document: Document,
    /// Open requests; each at the document's version.
    pub(super) open: BTreeMap<RequestId, Arc<ApprovalRequest>>,
    /// Ended requests, newest last; each at the version it ended at.
    pub(super) ended: VecDeque<Arc<ApprovalRequest>>,
    pub(super) rules: BTreeMap<RuleId, Arc<ApprovalRule>>,
    /// Threads of comments, resolved ones too.
    pub(super) threads: RoomThreads,
    pub(super) streaming_previews: StreamingPreviews,
    pub(super) focuses: RequestViewers,
    pub(super) presence: RoomPresence,
    /// Owners of the editor instances that were looked up; `None`: not claimed yet.
    pub(super) clients: HashMap<ClientId, Option<UserId>>,
    /// State of the document's file, as last announced.
    pub(super) file: Option<FileState>,
    /// Path of the document's workspace file, relative to the workspace's root, if it is a file.
    pub(super) file_path: Option<String>,
    pub(super) unsnapshotted: SinceSnapshot,
}

/// Updates that loading would replay.
#[derive(Clone, Copy, Default)]
pub(super) struct SinceSnapshot {
    pub(super) updates: usize,
    pub(super) bytes: usize,
}

impl SinceSnapshot {
    pub(super) fn add(&mut self, update: &Update) {
        self.updates += 1;
        self.bytes += update.changes.len();
    }
}

impl RoomState {
    /// Creates a room as it is loaded: without people and without rules.
    pub(super) fn new(
        record: DocumentRecord,
        own: OwnSettings,
        document: Document,
        open: BTreeMap<RequestId, Arc<ApprovalRequest>>,
        threads: RoomThreads,
        unsnapshotted: SinceSnapshot,
    ) -> Self {
        Self {
            number: ShortDocumentId::next(),
            record,
            own,
            document,
            open,
            ended: VecDeque::new(),
            rules: BTreeMap::new(),
            threads,
            streaming_previews: StreamingPreviews::default(),
            focuses: RequestViewers::default(),
            presence: RoomPresence::default(),
            clients: HashMap::new(),
            file: None,
            file_path: None,
            unsnapshotted,
        }
    }

    pub(super) fn id(&self) -> &DocumentId {
        &self.record.id
    }

    pub(super) fn version(&self) -> Version {
        self.document.version()
    }

    pub(super) fn unlisted_owner(&self) -> Option<&SessionId> {
        self.record.unlisted_owner.as_ref()
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.record.deleted
    }

    pub(super) fn exists(&self) -> Result<(), RoomError> {
        if self.is_deleted() { Err(RoomError::NoDocument) } else { Ok(()) }
    }

    /// Takes over a state that was loaded again. The people stay, and so do the requests they look
    /// at. Carets are forgotten; clients send them again.
    pub(super) fn replace_with(&mut self, fresh: Self) {
        let mut presence = std::mem::take(&mut self.presence);
        presence.forget_carets();
        let focuses = std::mem::take(&mut self.focuses);
        let file = self.file.take();
        *self = Self { number: self.number, focuses, presence, file, ..fresh };
    }

    /// Lets a connection in, or brings it up to date by `older`, the updates up to the log at hand.
    pub(super) fn open(
        &mut self,
        member: JoiningMember,
        since: Option<Version>,
        older: Option<Vec<Arc<Update>>>,
        reply: ReplySender<OpenedDocument>,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        if let Err(error) = self.exists() {
            return effects.answer(reply, Err(error));
        }
        let id = member.id.clone();
        let ClientCapabilities { peer_changes, short_updates, comments, .. } = member.capabilities;
        self.presence.enter(member);
        effects.then(RoomEffect::Join(id.clone()));
        let requests: Vec<_> = self.open.values().cloned().collect();
        for request in &requests {
            effects
                .then(RoomEffect::TellOne(id.clone(), RoomEvent::Requested(Arc::clone(request))));
        }
        let opened = OpenedDocument {
            content: self.content(since, older, now),
            client: ClientId::generate(),
            requests,
            streaming_previews: self.streaming_previews.shown(),
            peers: if peer_changes {
                self.presence.listed()
            } else {
                self.presence.peers().to_vec()
            },
            peer_count: peer_changes.then(|| self.presence.peers().len()),
            number: short_updates.then_some(self.number),
            threads: comments.then(|| self.threads.unresolved().cloned().collect()),
        };
        self.announce_peers(now.ms, effects);
        let hunks = opened.requests.iter().map(|request| request.hunks.len()).sum();
        let threads = opened.threads.iter().flatten().map(CommentThread::text_len);
        let units = threads.sum::<usize>()
            + match &opened.content {
                OpenedContent::Whole(reading) => reading.text.len(),
                OpenedContent::Since { updates, reading, .. } => {
                    let updates = updates.iter().map(|update| update.changes.len());
                    reading.text.len() + updates.sum::<usize>()
                }
            };
        if is_long_answer(units, hunks) {
            effects.answer_long(reply, Ok(opened));
        } else {
            effects.answer(reply, Ok(opened));
        }
    }

    /// Returns the whole document, or what is new. The text is encoded and hashed once for all who
    /// open it at one version.
    fn content(
        &mut self,
        since: Option<Version>,
        older: Option<Vec<Arc<Update>>>,
        now: &ApplyContext,
    ) -> OpenedContent {
        let text = self.document.shared_text();
        let reading = Box::new(DocumentSnapshot { text, ..self.reading(now) });
        let Some(from) = since else { return OpenedContent::Whole(reading) };
        let start = self.document.tail_start().max(from);
        if let (Some(mut updates), Some(newer)) = (older, self.document.since(start)) {
            updates.extend(newer.map(Arc::new));
            return OpenedContent::Since { from, updates, reading };
        }
        OpenedContent::Whole(reading)
    }

    pub(super) fn reading(&self, now: &ApplyContext) -> DocumentSnapshot {
        DocumentSnapshot {
            title: self.record.title.clone(),
            version: self.version(),
            text: self.document.text().clone(),
            settings: self.in_force(now),
            file: self.file.clone(),
        }
    }

    pub(super) fn thread_list(&self) -> RoomResult<ThreadList> {
        self.exists()?;
        Ok(ThreadList { version: self.version(), threads: self.threads.all() })
    }

    pub(super) fn in_force(&self, now: &ApplyContext) -> DocumentSettings {
        let settings = self.own.in_force(&now.server);
        if self.is_workspace_inbox() {
            return DocumentSettings { timeout_ms: settings.outside_timeout_ms, ..settings };
        }
        settings
    }

    pub(super) fn requirements<'a>(
        &'a self,
        settings: &'a DocumentSettings,
        now: &'a ApplyContext,
    ) -> DecisionRequirements<'a> {
        let inbox_policies = self.file_path.as_deref().map(|path| now.inbox_policies.of(path));
        DecisionRequirements {
            inbox_policies,
            ..settings.requirements(self.rules.values().map(AsRef::as_ref), &now.tools)
        }
    }

    pub(super) fn audit(
        &self,
        action: &str,
        actor: &str,
        request: Option<&RequestId>,
        detail: Value,
        now: &ApplyContext,
    ) -> StoreOp {
        StoreOp::Audit(AuditEntry {
            at_ms: now.ms,
            actor: actor.to_owned(),
            action: action.to_owned(),
            document: self.about(),
            request: request.cloned(),
            detail,
        })
    }

    pub(super) fn remember(&mut self, request: Arc<ApprovalRequest>) {
        self.ended.retain(|other| other.id() != request.id());
        self.ended.push_back(request);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }

    pub(super) fn request(&self, id: &RequestId) -> Option<&Arc<ApprovalRequest>> {
        self.open.get(id).or_else(|| self.ended.iter().find(|request| request.id() == id))
    }

    pub(super) fn principal_of(&self, member: &MemberId) -> Option<Principal> {
        let peer = self.presence.peers().iter().find(|peer| peer.member == *member)?;
        Some(peer.principal.clone())
    }
}
