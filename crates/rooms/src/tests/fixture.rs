//! Fixture of one room that records the events everyone in it is sent.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;

use super::{member, who};
use crate::command::{
    ApprovalMode, DocumentSnapshot, NewApprovalRequest, ProposalOutcome, ProposeAgain, PushRequest,
    ResolvedRequest, UndoChange,
};
use crate::event::{DocumentChange, RoomEvent, StreamingPreview};
use crate::persistence::restore;
use crate::settings::{PermissionMode, ServerSettings};
use crate::{EncodedEvent, EventSink, NewDocument, RoomError, RoomHandle, RoomRegistry};
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{
    ApprovalRequest, CallOrigin, Decision, FinishRest, HunkChoice, HunkVerdict, Person, Preview,
    ProposedAction, RequestSource, RequestStatus, RequestVerdict, ToolCatalog,
};
use copydesk_clock::WallClock;
use copydesk_document::Text;
use copydesk_document::diff::{DiffLimits, diff, diff_so_far};
use copydesk_document::{ChangeSet, TextEdit};
use copydesk_ids::permissions::Role;
use copydesk_ids::{DocumentId, HunkId, MemberId, RequestId, Version};
use copydesk_store::{Store, StoreOp, TokenRecord};

pub(super) const START_MS: u64 = 1_700_000_000_000;

/// Event that a member was sent, with the number of batches that were durable at that moment.
struct HeardEvent {
    member: MemberId,
    event: RoomEvent,
    kept: u64,
}

pub(super) struct RecordingSink {
    store: Store,
    heard: Mutex<Vec<HeardEvent>>,
    /// Members for whom messages were gathered.
    gathered: Mutex<Vec<MemberId>>,
}

impl EventSink for RecordingSink {
    fn gather(&self, members: &[MemberId], deliver: &mut dyn FnMut()) {
        self.gathered.lock().extend_from_slice(members);
        deliver();
    }

    fn notify(
        &self,
        _: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        _: Option<&EncodedEvent>,
    ) {
        let kept = self.store.counts().batches;
        let heard =
            |member: &MemberId| HeardEvent { member: member.clone(), event: event.clone(), kept };
        self.heard.lock().extend(members.iter().map(heard));
    }
}

pub(super) struct RoomFixture {
    pub(super) store: Store,
    pub(super) clock: WallClock,
    pub(super) rooms: RoomRegistry,
    pub(super) room: RoomHandle,
    call_waiters: Arc<RecordingSink>,
}

impl RoomFixture {
    /// Creates a document with this text, and lets Ana in.
    pub(super) async fn with(text: &str) -> Self {
        Self::new(NewDocument { title: "Draft".into(), text: text.into(), unlisted_owner: None })
            .await
    }

    /// Creates a private document of a session, and lets Ana in.
    pub(super) async fn private(text: &str) -> Self {
        let unlisted_owner = Some("ses_1".into());
        Self::new(NewDocument { title: "Private".into(), text: text.into(), unlisted_owner }).await
    }

    async fn new(new: NewDocument) -> Self {
        let store = Store::in_memory().await.unwrap();
        let clock = WallClock::standing_at(START_MS);
        let (rooms, call_waiters) = open(&store, &clock);
        let room = rooms.create(new, &who("ana")).await.unwrap();
        let fixture = Self { store, clock, rooms, room, call_waiters };
        fixture.enters("ana").await;
        fixture
    }

    /// Stops the server in good order and starts it again; Ana comes back.
    pub(super) async fn restarts(&mut self) {
        self.rooms.close().await;
        self.starts().await;
    }

    /// Starts another server on what is durable, as after a crash; Ana comes back.
    pub(super) async fn starts(&mut self) {
        (self.rooms, self.call_waiters) = open(&self.store, &self.clock);
        let document = self.room.document().clone();
        self.room = self.rooms.open(&document).await.unwrap();
        self.enters("ana").await;
    }

    /// So much later, news of who is here is sent at once again.
    pub(super) fn a_second_later(&self) {
        self.clock.advance_ms(1_000);
    }

    pub(super) async fn enters(&self, name: &str) {
        self.room.open(member(name), None).await.unwrap();
    }

    /// Replaces a range of the newest text.
    pub(super) async fn writes(&self, name: &str, from: usize, to: usize, insert: &str) {
        let now = self.now().await;
        self.pushes(name, now.version, &[edit(&now.text, from, to, insert)]).await.unwrap();
    }

    /// Pushes updates made on `base`, with an editor instance named like the person.
    pub(super) async fn pushes(
        &self,
        name: &str,
        base: Version,
        changes: &[String],
    ) -> Result<Version, RoomError> {
        self.room.push(push(name, base, changes)).await
    }

    pub(super) async fn now(&self) -> DocumentSnapshot {
        self.room.read().await.unwrap()
    }

    pub(super) async fn text(&self) -> String {
        self.now().await.text.to_string()
    }

    /// Proposes this text in place of the newest, for a run that Bo started.
    pub(super) async fn proposes(&self, text: &str) -> Arc<ApprovalRequest> {
        let now = self.now().await;
        match self.proposes_on(&now, text, ApprovalMode::Ask).await.unwrap() {
            ProposalOutcome::Waiting(request) => request,
            other => panic!("{other:?}"),
        }
    }

    /// Proposes this text in place of the one that was read, for a run that Bo started.
    pub(super) async fn proposes_on(
        &self,
        read: &DocumentSnapshot,
        text: &str,
        approval_mode: ApprovalMode,
    ) -> Result<ProposalOutcome, RoomError> {
        self.room.propose(new_request(RequestId::generate(), read, text, approval_mode)).await
    }

    pub(super) async fn decides(
        &self,
        name: &str,
        request: &ApprovalRequest,
        decision: Decision,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.room.decide(request.id().clone(), decision, who(name)).await
    }

    pub(super) async fn accepts(&self, name: &str, request: &ApprovalRequest) -> RequestStatus {
        self.decides(name, request, Decision::plain(RequestVerdict::Approve)).await.unwrap().status
    }

    pub(super) async fn rejects(&self, name: &str, request: &ApprovalRequest) -> RequestStatus {
        self.decides(name, request, Decision::plain(RequestVerdict::Reject)).await.unwrap().status
    }

    /// Accepts one hunk of a request, counted from 1.
    pub(super) async fn takes(
        &self,
        name: &str,
        request: &ApprovalRequest,
        number: usize,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        let verdict = HunkVerdict::plain(hunk(request, number), HunkChoice::Accept);
        self.decides(name, request, only(vec![verdict])).await
    }

    pub(super) async fn undoes(
        &self,
        name: &str,
        request: &ApprovalRequest,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        let undo = UndoChange {
            request: request.id().clone(),
            hunks: None,
            force: false,
            seen: None,
            votes_only: false,
        };
        self.room.undo(undo, who(name)).await
    }

    /// Reopens everything that was not accepted, on the newest text.
    pub(super) async fn reopens(
        &self,
        name: &str,
        request: &ApprovalRequest,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.room
            .reopen(ProposeAgain { request: request.id().clone(), hunks: None }, who(name))
            .await
    }

    /// Returns the request as the store has it.
    pub(super) async fn kept(&self, request: &ApprovalRequest) -> ApprovalRequest {
        let record = self.store.request(request.id()).await.unwrap().unwrap();
        restore::request(&record).unwrap()
    }

    /// Waits for the resolution of a request.
    pub(super) fn waits(
        &self,
        request: &ApprovalRequest,
    ) -> tokio::task::JoinHandle<Result<ResolvedRequest, RoomError>> {
        let (room, id) = (self.room.clone(), request.id().clone());
        tokio::spawn(async move { room.resolution(id).await })
    }

    /// Returns the events that a person was sent since the last call, one line for each.
    pub(super) fn heard(&self, name: &str) -> Vec<String> {
        self.events(name).iter().map(word).collect()
    }

    pub(super) fn events(&self, name: &str) -> Vec<RoomEvent> {
        let mut heard = self.call_waiters.heard.lock();
        let mine = heard.extract_if(.., |heard| heard.member.as_str() == name);
        mine.map(|heard| heard.event).collect()
    }

    /// Returns a function that lists the events a person was sent so far, without forgetting them.
    pub(super) fn listener(&self, name: &'static str) -> impl Fn() -> Vec<String> + Send + use<> {
        let call_waiters = Arc::clone(&self.call_waiters);
        move || {
            let heard = call_waiters.heard.lock();
            let mine = heard.iter().filter(|heard| heard.member.as_str() == name);
            mine.map(|heard| word(&heard.event)).collect()
        }
    }

    /// Returns how many batches were durable when the first recorded event was sent.
    pub(super) fn kept_when_told(&self) -> u64 {
        self.call_waiters.heard.lock()[0].kept
    }

    /// Drops the handle to the room, so that nothing keeps the room open.
    pub(super) fn leave_alone(self) -> (RoomRegistry, DocumentId) {
        (self.rooms, self.room.document().clone())
    }

    pub(super) fn forget(&self) {
        self.call_waiters.heard.lock().clear();
        self.call_waiters.gathered.lock().clear();
    }

    /// Returns the members to whom messages were sent together, since this was last forgotten.
    pub(super) fn gathered(&self) -> Vec<String> {
        let gathered = self.call_waiters.gathered.lock();
        gathered.iter().map(ToString::to_string).collect()
    }
}

/// Fires timers as if so much time had passed. Only while nothing is written, for the store has
/// timers too.
pub(super) async fn time_passes(time: Duration) {
    // Every task must wait for something before the clock is touched.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Waits until a condition holds.
pub(super) async fn until(it_is_so: impl Fn() -> bool) {
    let patience = Duration::from_secs(20);
    let wait = async {
        while !it_is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(patience, wait).await.unwrap();
}

fn open(store: &Store, clock: &WallClock) -> (RoomRegistry, Arc<RecordingSink>) {
    let call_waiters = Arc::new(RecordingSink {
        store: store.clone(),
        heard: Mutex::default(),
        gathered: Mutex::default(),
    });
    let settings = ServerSettings {
        approvals: ApprovalSwitch::On,
        timeout_ms: Some(300_000),
        permission_mode: PermissionMode::Ask,
    };
    let (sink, tools) = (Arc::clone(&call_waiters) as _, ToolCatalog::default());
    let rooms = RoomRegistry::new(store.clone(), sink, settings, clock.clone(), tools);
    (rooms, call_waiters)
}

pub(super) fn edit(text: &Text, from: usize, to: usize, insert: &str) -> String {
    let edit = TextEdit { from, to, insert: insert.into() };
    ChangeSet::of(text.len(), &[edit]).unwrap().to_json()
}

pub(super) fn push(name: &str, base: Version, changes: &[String]) -> PushRequest {
    let client = format!("c-{name}");
    let updates = changes.iter().map(|changes| (client.as_str().into(), changes.as_str().into()));
    PushRequest { member: name.into(), principal: who(name), base, updates: updates.collect() }
}

pub(super) fn new_request(
    id: RequestId,
    read: &DocumentSnapshot,
    text: &str,
    approval_mode: ApprovalMode,
) -> NewApprovalRequest {
    NewApprovalRequest {
        origin: CallOrigin {
            id,
            tool: "update_full_document".into(),
            input: json!({ "new_content": text }),
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
        },
        action: ProposedAction {
            prompt: "Make it better.".into(),
            base_version: read.version,
            scope: None,
            explanation: String::new(),
            preview: Preview::generic(),
            touched: None,
            source: RequestSource::Ask,
        },
        requester: who("bo"),
        base: read.text.clone(),
        hunks: diff(&read.text.to_string(), text, &DiffLimits::default()),
        approval_mode,
        deadline_ms: None,
        after_restart: true,
        again_of: None,
    }
}

/// Returns a streaming preview of Bo's run: a rewrite of which all but the last paragraph is
/// compared.
pub(super) fn streaming_preview(
    id: &RequestId,
    read: &DocumentSnapshot,
    text: &str,
) -> StreamingPreview {
    let so_far = diff_so_far(&read.text.to_string(), text, &DiffLimits::default());
    StreamingPreview {
        id: id.clone(),
        tool: "update_full_document".into(),
        tool_use: "toolu_1".into(),
        session: "ses_1".into(),
        run: "run_1".into(),
        author: Person::from(&who("bo")),
        text: text.into(),
        paragraphs: so_far.blocks,
        base_version: read.version,
        base: read.text.clone(),
        hunks: so_far.hunks,
    }
}

pub(super) fn hunk(request: &ApprovalRequest, number: usize) -> HunkId {
    request.hunks[number - 1].id.clone()
}

/// Returns a decision about some hunks that leaves the others open.
pub(super) fn only(hunks: Vec<HunkVerdict>) -> Decision {
    Decision { hunks: Some(hunks), ..Decision::plain(RequestVerdict::Approve) }
}

/// Returns a decision about some hunks that rejects the others.
pub(super) fn only_these(hunks: Vec<HunkVerdict>) -> Decision {
    Decision { finish: Some(FinishRest::Reject), ..only(hunks) }
}

/// Returns the code of the error that a decision was refused with.
pub(super) fn code<T: std::fmt::Debug>(result: Result<T, RoomError>) -> &'static str {
    match result {
        Err(RoomError::Decision(error)) => error.code(),
        other => panic!("{other:?}"),
    }
}

/// Returns an event as one line; hunks are named by the number at the end of their identifier.
fn word(event: &RoomEvent) -> String {
    match event {
        RoomEvent::Updates { from, updates, drop, put, .. } => {
            let to = from.plus(updates.len());
            let number = |id: &HunkId| id.as_str().rsplit('.').next().unwrap().to_owned();
            let drop = drop.iter().map(|id| format!(" -{}", number(id)));
            let put = put.iter().map(|(_, hunk)| format!(" +{}", number(&hunk.id)));
            let hunks: String = drop.chain(put).collect();
            format!("updates {from}..{to}{hunks}")
        }
        RoomEvent::Changed(DocumentChange::Title(title)) => format!("title {title}"),
        RoomEvent::Changed(DocumentChange::Settings(..)) => "settings".into(),
        RoomEvent::Changed(DocumentChange::Deleted) => "deleted".into(),
        RoomEvent::Peers(peers) => {
            let names = peers.iter().map(|peer| format!(" {}", peer.principal.user));
            format!("peers{}", names.collect::<String>())
        }
        RoomEvent::PeersChanged(change) => format!("peers of {}", change.total),
        RoomEvent::Caret(member, caret) => format!("caret {member} {}", caret.head),
        RoomEvent::Requested(_) => "requested".into(),
        RoomEvent::RequestedAgain(_) => "requested again".into(),
        RoomEvent::RequestUpdated(update) => {
            let changed = update.changed.iter().map(|(_, status)| format!(" {}", status.as_str()));
            format!("changed{}", changed.collect::<String>())
        }
        RoomEvent::Resolved(request) => format!("resolved {}", request.status.as_str()),
        RoomEvent::Rules(rules) => format!("rules {}", rules.len()),
        RoomEvent::PreviewShown(streaming_preview) => {
            format!("preview {}", streaming_preview.text)
        }
        RoomEvent::PreviewEnded(_) => "preview ended".into(),
        RoomEvent::ThreadChanged(_, thread) => format!("thread {:?}", thread.status()),
        RoomEvent::File(news) => format!("file {:?}", news.status),
        RoomEvent::Said(_) => "said".into(),
    }
}

/// Issues a token to a person, so that their permissions can be looked up.
pub async fn issue(fixture: &RoomFixture, name: &str, revoked_ms: Option<u64>) {
    issue_as(fixture, name, who(name).role, revoked_ms).await;
}

pub async fn issue_as(fixture: &RoomFixture, name: &str, role: Role, revoked_ms: Option<u64>) {
    // What was revoked stays so: another token takes its place.
    let known = fixture.store.tokens_of(&name.into()).await.unwrap();
    let valid = known.iter().find(|token| token.revoked_ms.is_none());
    let id = valid.map_or_else(|| format!("tok_{name}_{}", known.len()), |it| it.id.to_string());
    let token = TokenRecord {
        id: id.as_str().into(),
        hash: id,
        user: name.into(),
        name: name.into(),
        role,
        document: None,
        created_ms: 0,
        expires_ms: None,
        revoked_ms,
        used_ms: None,
        login: None,
        former_user: None,
        changed_ms: None,
    };
    fixture.store.commit(StoreOp::PutToken(token)).await.unwrap();
}
