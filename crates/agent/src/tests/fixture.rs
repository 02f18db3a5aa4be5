//! Fixture for tests of runs: a real store in memory, real rooms, and a scripted model.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream;
use futures_util::{FutureExt as _, StreamExt as _};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use copydesk_approvals as approvals;
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_auth::{Authenticator, TokenSecret};
use copydesk_clock::WallClock;
use copydesk_document::utf16_len;
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{DocumentId, MemberId, RequestId, RunId, SessionId, Version};
use copydesk_llm::messages_api::{ContentBlock, StopReason, TokenUsage};
use copydesk_llm::{
    AnswerDelta, AnswerStream, AssistantMessage, FailedTryUsage, Model, ModelError, ModelRequest,
};
use copydesk_rooms::command::{ClientCapabilities, JoiningMember, OpenedDocument, PushRequest};
use copydesk_rooms::event::StreamingPreview;
use copydesk_rooms::event::{
    AgentEventType, RequestNews, RequestUpdate, RoomEvent, RunEvent, RunEventKind, RunResponse,
};
use copydesk_rooms::settings::ServerSettings;
use copydesk_rooms::{EncodedEvent, EventSink, NewDocument, RoomError, RoomHandle, RoomRegistry};
use copydesk_store::{RunState, Store, WriteBatch};
use copydesk_tools::ToolRegistry;
use copydesk_workspace::Workspace;

use crate::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::run::run_record;
use crate::run::run_record::Run;
use crate::{
    AgentQuestion, AgentService, AskKind, BypassPolicy, ModelCatalog, PermissionMode, RunLimits,
    SelectedRange,
};

/// Time limit for waiting for an event, after which the test fails.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Reply of the scripted model to one request.
#[derive(Clone, Debug)]
pub enum ScriptedReply {
    /// A complete answer.
    Answer(Vec<ContentBlock>, StopReason),
    /// An answer that begins with these words and then fails.
    Fail(&'static str, ModelError),
    /// An answer that begins with these words and then stalls until it is stopped.
    Hang(&'static str),
    /// Pieces of an answer, a pause until the notification, and then another reply.
    Writes(Vec<AnswerDelta>, Arc<Notify>, Box<ScriptedReply>),
}

/// Returns a reply with text only.
pub fn says(text: &str) -> ScriptedReply {
    ScriptedReply::Answer(vec![ContentBlock::text(text)], StopReason::EndTurn)
}

/// Returns a reply that calls tools; the calls are named `toolu_1`, `toolu_2`, …
pub fn calls<const N: usize>(calls: [(&str, Value); N]) -> ScriptedReply {
    let block = |(index, (name, input))| {
        ContentBlock::tool_use(format!("toolu_{}", index + 1), name, input)
    };
    ScriptedReply::Answer(calls.into_iter().enumerate().map(block).collect(), StopReason::ToolUse)
}

/// Returns a reply that calls `update_full_document`.
pub fn rewrites(text: &str) -> ScriptedReply {
    let input = json!({"new_content": text, "explanation": "Rewrote it."});
    calls([("update_full_document", input)])
}

/// Returns a reply that calls `update_selection`.
pub fn replaces(start: i64, end: i64, text: &str) -> ScriptedReply {
    calls([("update_selection", selection(start, end, text))])
}

/// Returns a reply that begins `update_full_document` as call `toolu_1` and pauses in the middle of
/// it.
pub fn writes(text: &str, go_on: &Arc<Notify>, then: ScriptedReply) -> ScriptedReply {
    let json = json!({"explanation": "Rewrote it.", "new_content": text}).to_string();
    let begun = json.trim_end_matches("\"}").to_owned();
    let name = "update_full_document".to_owned();
    let deltas = vec![
        AnswerDelta::ToolUse { index: 0, id: "toolu_1".into(), name },
        AnswerDelta::ToolInput { index: 0, partial_json: begun },
    ];
    ScriptedReply::Writes(deltas, Arc::clone(go_on), Box::new(then))
}

/// Returns the input of `update_selection`.
pub fn selection(start: i64, end: i64, text: &str) -> Value {
    let range = json!({"start": start, "end": end});
    json!({"new_text": text, "selection_range": range, "explanation": "Shorter."})
}

/// Scripted model: gives one reply to each request, and remembers the requests.
#[derive(Default)]
pub struct MockModel {
    part: Mutex<VecDeque<ScriptedReply>>,
    asked: Mutex<Vec<ModelRequest>>,
    called: Notify,
    /// Usage of each answer.
    pub usage: Mutex<TokenUsage>,
    /// Results of counting tokens, one for each count.
    pub counts: Mutex<VecDeque<u64>>,
    /// Notified when a count begins that never ends.
    pub counts_forever: Mutex<Option<Arc<Notify>>>,
}

impl MockModel {
    /// Appends replies to the script.
    pub fn plays(&self, part: impl IntoIterator<Item = ScriptedReply>) {
        self.part.lock().extend(part);
    }

    /// Returns the requests, in order.
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().clone()
    }

    /// Waits until the model was called `count` times.
    pub async fn called(&self, count: usize) {
        while self.asked().len() < count {
            self.called.notified().await;
        }
    }

    /// Returns the tool results and notes of the latest request, in order.
    pub fn tool_results(&self) -> Vec<(String, bool)> {
        let asked = self.asked();
        let last = asked.last().and_then(|request| request.messages.last()).expect("a call");
        let result = |block: &ContentBlock| match block {
            ContentBlock::ToolResult { content, is_error, .. } => {
                let texts: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
                Some((texts.join("\n"), *is_error))
            }
            _ => None,
        };
        last.content.iter().filter_map(result).collect()
    }
}

impl Model for MockModel {
    fn name(&self) -> &'static str {
        "actor"
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        self.asked.lock().push(request);
        self.called.notify_one();
        let play = self.part.lock().pop_front();
        let usage = *self.usage.lock();
        play.expect("the model was called once too often").stream(usage, cancel)
    }

    fn count(&self, _: ModelRequest) -> BoxFuture<'static, Result<Option<u64>, ModelError>> {
        if let Some(began) = &*self.counts_forever.lock() {
            began.notify_one();
            return std::future::pending().boxed();
        }
        let count = self.counts.lock().pop_front();
        async move { Ok(count) }.boxed()
    }
}

impl ScriptedReply {
    fn stream(self, usage: TokenUsage, cancel: CancellationToken) -> AnswerStream {
        match self {
            ScriptedReply::Writes(deltas, go_on, then) => {
                let rest = stream::once(async move {
                    go_on.notified().await;
                    then.stream(usage, cancel)
                });
                stream::iter(deltas.into_iter().map(Ok)).chain(rest.flatten()).boxed()
            }
            ScriptedReply::Answer(content, stop_reason) => {
                let texts: Vec<_> = content
                    .iter()
                    .filter_map(|block| {
                        block.as_text().map(|text| Ok(AnswerDelta::Text(text.into())))
                    })
                    .collect();
                let model = "actor".into();
                let answer = AssistantMessage {
                    content,
                    stop_reason,
                    stop_sequence: None,
                    stop_details: None,
                    usage,
                    model,
                    calls_left_out: 0,
                    notice: None,
                };
                stream::iter(texts).chain(stream::iter([Ok(AnswerDelta::Done(answer))])).boxed()
            }
            ScriptedReply::Fail(words, error) => {
                stream::iter([Ok(AnswerDelta::Text(words.into())), Err(error)]).boxed()
            }
            ScriptedReply::Hang(words) => {
                let end = stream::once(async move {
                    cancel.cancelled().await;
                    let lost = FailedTryUsage { model: "actor".into(), usage };
                    stream::iter([Ok(AnswerDelta::Lost(lost)), Err(ModelError::Cancelled)])
                });
                stream::iter([Ok(AnswerDelta::Text(words.into()))]).chain(end.flatten()).boxed()
            }
        }
    }
}

struct EventRecorder(mpsc::UnboundedSender<RoomEvent>);

impl EventSink for EventRecorder {
    fn notify(
        &self,
        _: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        _: Option<&EncodedEvent>,
    ) {
        if !members.is_empty() {
            self.0.send(event.clone()).ok();
        }
    }
}

/// Server with one document, and one person connected to it.
pub struct TestAgent {
    /// Scripted model.
    pub model: Arc<MockModel>,
    /// Store of the server.
    pub store: Store,
    /// Clock of the server.
    pub clock: WallClock,
    /// Rooms of the server.
    pub rooms: RoomRegistry,
    /// Agent of the server.
    pub agents: AgentService,
    /// Room of the document.
    pub room: RoomHandle,
    /// Session that asks.
    pub session: SessionId,
    /// Events of all runs, in order.
    pub said: Vec<RunEvent>,
    heard: mpsc::UnboundedReceiver<RoomEvent>,
    runs: usize,
    /// Workspace folder, if there is one.
    folder: Option<TempDir>,
}

impl TestAgent {
    /// Creates a server with a document of this text.
    pub async fn with(text: &str) -> Self {
        let store = Store::in_memory().await.unwrap();
        let clock = WallClock::standing_at(1_700_000_000_000);
        let secret = TokenSecret::chosen("the-owner-of-the-stage").unwrap();
        Authenticator::new(store.clone()).set_owner(&secret, clock.now_ms()).await.unwrap();
        let model = Arc::new(MockModel::default());
        let (rooms, agents, heard) = open(&store, &clock, &model, None);
        let new = NewDocument { title: "Draft".into(), text: text.into(), unlisted_owner: None };
        let room = rooms.create(new, &owner()).await.unwrap();
        let session = SessionId::generate();
        let (said, runs) = (Vec::new(), 0);
        let folder = None;
        let stage =
            Self { model, store, clock, rooms, agents, room, session, said, heard, runs, folder };
        stage.enter(&stage.room).await;
        stage
    }

    /// Creates a server with other tools or hooks.
    pub async fn with_tools(text: &str, tools: ToolRegistry) -> Self {
        let mut stage = Self::with(text).await;
        let (store, rooms, models) = (stage.store.clone(), stage.rooms.clone(), stage.models());
        let clock = stage.clock.clone();
        stage.agents =
            AgentService::with_tools(tools, store, rooms, models, BypassPolicy::Allowed, clock);
        stage
    }

    /// Creates a server with other limits.
    pub async fn with_limits(text: &str, limits: RunLimits) -> Self {
        let mut stage = Self::with(text).await;
        let (store, rooms, clock) = (stage.store.clone(), stage.rooms.clone(), stage.clock.clone());
        let agents = AgentService::new(store, rooms, stage.models(), BypassPolicy::Allowed, clock);
        stage.agents = agents.with_limits(limits);
        stage
    }

    /// Creates a server with a workspace that holds these files. The owner watches the workspace
    /// inbox and the events of runs there.
    pub async fn in_workspace(files: &[(&str, &str)]) -> Self {
        let mut stage = Self::with("").await;
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        stage.folder = Some(folder);
        stage.restart().await;
        stage
    }

    /// Returns the path of a workspace file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.as_ref().unwrap().path().join(name)
    }

    /// Reads a workspace file; `None` if it does not exist.
    pub fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// Writes to a workspace file, as a program outside would.
    pub fn overwrites(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Returns the workspace inbox.
    pub async fn workspace_inbox(&self) -> RoomHandle {
        self.rooms.workspace_inbox().await.unwrap()
    }

    /// Returns a question without a document, not yet asked.
    pub fn conversation_question(&mut self, prompt: &str) -> AgentQuestion {
        let question = self.question(prompt);
        AgentQuestion { document: None, kind: AskKind::Run, ..question }
    }

    /// Asks a question without a document.
    pub async fn run(&mut self, prompt: &str) -> RunId {
        let ask = self.conversation_question(prompt);
        self.agents.ask(ask).await.unwrap()
    }

    /// Decides a request in the workspace inbox, as the owner.
    pub async fn decides(
        &self,
        request: &approvals::ApprovalRequest,
        decision: Decision,
    ) -> Result<Arc<approvals::ApprovalRequest>, RoomError> {
        self.decides_as(owner(), request, decision).await
    }

    /// Decides a request in the workspace inbox, as another person.
    pub async fn decides_as(
        &self,
        by: Principal,
        request: &approvals::ApprovalRequest,
        decision: Decision,
    ) -> Result<Arc<approvals::ApprovalRequest>, RoomError> {
        self.agents
            .decide_in(&self.workspace_inbox().await, request.id().clone(), decision, by)
            .await
    }

    /// Waits for the next request in the workspace inbox and decides it.
    pub async fn settles(&mut self, verdict: RequestVerdict) -> Arc<approvals::ApprovalRequest> {
        let request = self.request().await;
        self.decides(&request, Decision::plain(verdict)).await.unwrap()
    }

    /// Waits until a run is over; returns the subtype of its result.
    pub async fn result(&mut self) -> &'static str {
        loop {
            if let RoomEvent::Said(said) = self.hear().await
                && let RunEventKind::Agent(object) = &said.saying
                && object.kind == AgentEventType::Result
            {
                return object.subtype.as_str();
            }
        }
    }

    /// Waits for an update of a request that is more than a change of its state.
    pub async fn news(&mut self) -> RequestUpdate {
        loop {
            if let RoomEvent::RequestUpdated(update) = self.hear().await
                && update.news != RequestNews::Nothing
            {
                return update;
            }
        }
    }

    /// Returns a catalog with the scripted model only.
    pub fn models(&self) -> ModelCatalog {
        ModelCatalog::new(Arc::clone(&self.model) as Arc<dyn Model>, [])
    }

    /// Connects the owner to a room.
    pub async fn enter(&self, room: &RoomHandle) -> OpenedDocument {
        let member = JoiningMember {
            id: MemberId::generate(),
            principal: owner(),
            capabilities: ClientCapabilities::default(),
        };
        room.open(member, None).await.unwrap()
    }

    /// Creates another document, which the owner opens.
    pub async fn another(&self, title: &str, text: &str) -> RoomHandle {
        let new = NewDocument { title: title.into(), text: text.into(), unlisted_owner: None };
        let room = self.rooms.create(new, &owner()).await.unwrap();
        self.enter(&room).await;
        room
    }

    /// Stops the server and starts it again; runs are resumed.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Kills the server and starts it again: the rooms are not closed before.
    pub async fn crash(&mut self) {
        self.agents.shutdown().await;
        self.start().await;
    }

    /// Stops the server.
    pub async fn stop(&mut self) {
        self.agents.shutdown().await;
        self.rooms.close().await;
    }

    /// Starts the server again; runs are resumed.
    pub async fn start(&mut self) {
        let folder = self.folder.as_ref().map(TempDir::path);
        let (rooms, agents, heard) = open(&self.store, &self.clock, &self.model, folder);
        let document = self.room.document().clone();
        (self.rooms, self.agents, self.heard) = (rooms, agents, heard);
        self.room = self.rooms.open(&document).await.unwrap();
        self.enter(&self.room).await;
        if self.folder.is_some() {
            self.enter(&self.workspace_inbox().await).await;
            let private = self.agents.private_room(&self.session, &owner()).await.unwrap();
            self.enter(&private).await;
        }
        self.agents.resume().await.unwrap();
    }

    /// Returns a question about the document, not yet asked.
    pub fn question(&mut self, prompt: &str) -> AgentQuestion {
        self.runs += 1;
        let session = self.session.clone();
        AgentQuestion {
            run: RunId::from(format!("run_{}", self.runs)),
            document: Some(self.room.document().clone()),
            ..AgentQuestion::new(session, owner(), prompt.into(), AskKind::Ask)
        }
    }

    /// Asks a question about the document.
    pub async fn ask(&mut self, prompt: &str) -> RunId {
        let ask = self.question(prompt);
        self.agents.ask(ask).await.unwrap()
    }

    /// Asks a question about a selection.
    pub async fn ask_about(&mut self, start: usize, end: usize, prompt: &str) -> RunId {
        let selection = Some(SelectedRange { start, end, text: None });
        let ask = AgentQuestion { selection, ..self.question(prompt) };
        self.agents.ask(ask).await.unwrap()
    }

    /// Leaves a run in the store as a crash would right after the model's answer was stored.
    pub async fn leave_behind(&self, ask: AgentQuestion, answer: ScriptedReply) {
        let ScriptedReply::Answer(content, stop) = answer else { panic!("no answer") };
        let mut run = Run::new(ask, self.clock.now_ms());
        run.read_version = Some(Version(0));
        run.calls = content.iter().map(|_| RequestId::generate()).collect();
        let ask = &run.ask;
        let (name, text) = (ask.principal.name.clone(), ask.prompt.clone());
        let news = crate::conversation::decision_updates::DecisionUpdates::default();
        let prompt = EntryKind::Prompt { name, text, source: None, news };
        let kinds = [prompt, EntryKind::Answer { content, stop }];
        let mut batch = WriteBatch::from(run.put(RunState::Running).unwrap());
        for kind in kinds {
            let (session, run, at_ms) = (ask.session.clone(), ask.run.clone(), run.created_ms);
            let entry = TranscriptEntry { session, run, at_ms, kind };
            batch.push(run_record::append(ask.document.as_ref(), &entry).unwrap());
        }
        self.store.commit(batch).await.unwrap();
    }

    /// Types at the very beginning of the document, as another person.
    pub async fn types_first(&self, text: &str) {
        self.types(&[text]).await;
    }

    /// Types `count` letters at the very beginning, each as an update of its own.
    pub async fn types_letters(&self, count: usize) {
        for letters in vec!["x"; count].chunks(4_000) {
            self.types(letters).await;
        }
    }

    async fn types(&self, texts: &[&str]) {
        let now = self.room.read().await.unwrap();
        let mut len = now.text.len();
        let updates = texts.iter().map(|text| {
            let changes = json!([[0, text], len]).to_string();
            len += utf16_len(text);
            ("typist".into(), changes.into())
        });
        let push = PushRequest {
            member: MemberId::generate(),
            principal: owner(),
            base: now.version,
            updates: updates.collect(),
        };
        self.room.push(push).await.unwrap();
    }

    /// Waits for a request.
    pub async fn request(&mut self) -> Arc<approvals::ApprovalRequest> {
        loop {
            if let RoomEvent::Requested(request) = self.hear().await {
                return request;
            }
        }
    }

    /// Waits until people are notified of a change of a request.
    pub async fn changed_request(&mut self) -> Arc<approvals::ApprovalRequest> {
        loop {
            if let RoomEvent::RequestUpdated(update) = self.hear().await {
                return update.request;
            }
        }
    }

    /// Waits until a run publishes an event of this kind.
    pub async fn hears(&mut self, subtype: &str) {
        while !self.said.iter().any(|said| word(said) == subtype) {
            self.hear().await;
        }
    }

    /// Waits until people see a streaming preview.
    pub async fn streaming_preview(&mut self) -> Arc<StreamingPreview> {
        loop {
            if let RoomEvent::PreviewShown(streaming_preview) = self.hear().await {
                return streaming_preview;
            }
        }
    }

    /// Waits until people see that a streaming preview was removed.
    pub async fn preview_ends(&mut self) -> Arc<StreamingPreview> {
        loop {
            if let RoomEvent::PreviewEnded(streaming_preview) = self.hear().await {
                return streaming_preview;
            }
        }
    }

    /// Waits for a request and approves or rejects it.
    pub async fn decide(&mut self, verdict: RequestVerdict) {
        self.decide_with(Decision::plain(verdict)).await;
    }

    /// Waits for a request and rejects it with a reason.
    pub async fn reject(&mut self, feedback: &str) {
        let feedback = Some(feedback.to_owned());
        self.decide_with(Decision { feedback, ..Decision::plain(RequestVerdict::Reject) }).await;
    }

    /// Waits for a request and decides it.
    pub async fn decide_with(&mut self, decision: Decision) {
        let request = self.request().await;
        self.room.decide(request.id().clone(), decision, owner()).await.unwrap();
    }

    /// Waits for the answer to a question.
    pub async fn response(&mut self) -> RunResponse {
        loop {
            if let RoomEvent::Said(said) = self.hear().await
                && let RunEventKind::Response(response) = &said.saying
            {
                return response.clone();
            }
        }
    }

    /// Returns the document's text.
    pub async fn text(&self) -> String {
        self.room.read().await.unwrap().text.to_string()
    }

    /// Returns the conversation about the document, as the people of the document see it.
    pub async fn record(&self) -> Vec<TranscriptEntry> {
        let of = Some(self.room.document());
        self.agents.said_before(&self.session, of, None).await.unwrap().entries
    }

    /// Returns the events so far, one word for each.
    pub fn words(&self) -> Vec<String> {
        let shown = |word: &String| word != "text_delta" && word != "over";
        self.said.iter().map(word).filter(shown).collect()
    }

    async fn hear(&mut self) -> RoomEvent {
        let event = timeout(TIMEOUT, self.heard.recv()).await.expect("something is said");
        let event = event.expect("the rooms are open");
        if let RoomEvent::Said(said) = &event {
            self.said.push((**said).clone());
        }
        event
    }
}

fn word(said: &RunEvent) -> String {
    match &said.saying {
        RunEventKind::StreamStart => "start".into(),
        RunEventKind::StreamChunk(_) => "chunk".into(),
        RunEventKind::StreamEnd => "end".into(),
        RunEventKind::Agent(object) if object.kind == AgentEventType::Result => {
            format!("result:{}", object.subtype.as_str())
        }
        RunEventKind::Agent(object) => object.subtype.as_str().into(),
        RunEventKind::Response(_) => "response".into(),
        RunEventKind::Over => "over".into(),
    }
}

/// Returns the owner of the server.
pub fn owner() -> Principal {
    Principal::new("usr_owner", "Ada", Role::Owner)
}

fn open(
    store: &Store,
    clock: &WallClock,
    model: &Arc<MockModel>,
    folder: Option<&Path>,
) -> (RoomRegistry, AgentService, mpsc::UnboundedReceiver<RoomEvent>) {
    let (call_waiters, heard) = mpsc::unbounded_channel();
    let settings = ServerSettings {
        approvals: ApprovalSwitch::On,
        timeout_ms: Some(300_000),
        permission_mode: PermissionMode::Ask,
    };
    let (store, clock, sink) = (store.clone(), clock.clone(), EventRecorder(call_waiters));
    let models = ModelCatalog::new(Arc::clone(model) as Arc<dyn Model>, []);
    let tools = match folder {
        Some(folder) => {
            let workspace = Workspace::open(folder, &[]).unwrap();
            ToolRegistry::default().in_workspace(workspace).with_commands()
        }
        None => ToolRegistry::default(),
    };
    let (sink, time, catalog) = (Arc::new(sink), clock.clone(), tools.catalog());
    let rooms = RoomRegistry::new(store.clone(), sink, settings, time, catalog);
    let agents =
        AgentService::with_tools(tools, store, rooms.clone(), models, BypassPolicy::Allowed, clock);
    (rooms, agents, heard)
}
