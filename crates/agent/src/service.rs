//! Entry point of the agent: accepts questions, stores them, and starts workers (`worker.rs`),
//! which work on them one at a time for each session and document.

use async_recursion::async_recursion as boxed;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_approvals::ApprovalRequest;
use copydesk_clock::WallClock;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_rooms::{NewDocument, RoomError, RoomHandle, RoomRegistry, RoomResult};
use copydesk_store::{QueryScope, RunEndKind, RunRecord, RunState, Store};
use copydesk_tools::ToolRegistry;

use super::call_maker::{CallMaker, SingleCallMaker};
use super::models::{self, ChosenModel, ModelCatalog, check_model};
use super::run_queues::{QueueKey, QueueSlot, QueuedRun, RunQueues, WorkerNeed};
use super::{AgentQuestion, AskError, AskResult, BypassPolicy, SelectedRange, StopFilter};
use crate::conversation::shown_documents::ShownDocuments;
use crate::external_calls::waiters::CallWaiters;
use crate::run::run_events::RunEventPublisher;
use crate::run::run_record::Run;
use crate::run::selection::locate;
use crate::run::state_machine::{RunEnd, RunLimits};

/// Maximum size in bytes of a prompt, of the instructions, and of all earlier messages together.
const WORDS_LIMIT: usize = 256 * 1024;
/// Maximum number of a conversation's requests that are returned at once, and their total size in
/// bytes.
const DECIDED_LIMIT: u32 = 100;
const DECIDED_SIZE: usize = 4 * 1024 * 1024;
/// Time that the answer to a client that stops runs waits for their ends.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size in bytes of the text of a private document.
const CONTENT_LIMIT: usize = 4 * 1024 * 1024;

/// Service that owns every run of the server. Clones share it.
#[derive(Clone)]
pub struct AgentService(Arc<AgentState>);

/// State that all runs of the server share.
pub struct AgentState {
    pub(crate) store: Store,
    pub(crate) clock: WallClock,
    pub(crate) rooms: RoomRegistry,
    pub(crate) models: ModelCatalog,
    pub(crate) tools: ToolRegistry,
    pub(crate) call_maker: Arc<dyn CallMaker>,
    pub(crate) limits: RunLimits,
    pub(crate) bypass: BypassPolicy,
    pub(crate) queues: Mutex<RunQueues>,
    pub(crate) snapshots: Mutex<ShownDocuments>,
    /// Callers that wait for external calls.
    pub(crate) call_waiters: CallWaiters,
    /// Lock held while a call is recognised and begun.
    pub(crate) recognising: tokio::sync::Mutex<()>,
    /// Lock held while a request is proposed again.
    pub(crate) repeating: tokio::sync::Mutex<()>,
    /// Lock held while a session's private document is looked up or created.
    pub(crate) private: tokio::sync::Mutex<()>,
    /// Lock held while runs are resumed.
    pub(crate) resuming: tokio::sync::Mutex<()>,
    /// Token that fires when the server stops: runs are left as they are, to be resumed at the next
    /// start.
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
    /// Number of runs that have ended.
    pub(crate) ended: watch::Sender<u64>,
}

impl Deref for AgentService {
    type Target = AgentState;

    fn deref(&self) -> &AgentState {
        &self.0
    }
}

impl AgentService {
    /// Creates the service with the usual tools. Nothing runs yet; call [`AgentService::resume`]
    /// once the rooms can be reached.
    pub fn new(
        store: Store,
        rooms: RoomRegistry,
        models: ModelCatalog,
        bypass: BypassPolicy,
        clock: WallClock,
    ) -> Self {
        Self::with_tools(ToolRegistry::default(), store, rooms, models, bypass, clock)
    }

    /// Creates the service with other tools or hooks.
    pub fn with_tools(
        tools: ToolRegistry,
        store: Store,
        rooms: RoomRegistry,
        models: ModelCatalog,
        bypass: BypassPolicy,
        clock: WallClock,
    ) -> Self {
        let state = AgentState {
            store,
            clock,
            rooms,
            models,
            tools,
            call_maker: Arc::new(SingleCallMaker),
            limits: RunLimits::default(),
            bypass,
            queues: Mutex::default(),
            snapshots: Mutex::default(),
            call_waiters: CallWaiters::default(),
            recognising: tokio::sync::Mutex::default(),
            repeating: tokio::sync::Mutex::default(),
            private: tokio::sync::Mutex::default(),
            resuming: tokio::sync::Mutex::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            ended: watch::Sender::new(0),
        };
        Self(Arc::new(state))
    }

    /// Sets the limits of a run; before anything is asked.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        if let Some(state) = Arc::get_mut(&mut self.0) {
            state.limits = limits;
        }
        self
    }

    /// Sets who makes the calls of runs; before anything is asked.
    #[must_use]
    pub fn with_call_maker(mut self, call_maker: Arc<dyn CallMaker>) -> Self {
        if let Some(state) = Arc::get_mut(&mut self.0) {
            state.call_maker = call_maker;
        }
        self
    }

    /// Returns the tools of runs.
    pub fn tools(&self) -> &ToolRegistry {
        &self.tools
    }

    /// Returns the rooms of the documents.
    pub fn rooms(&self) -> &RoomRegistry {
        &self.rooms
    }

    /// Returns the clock of runs.
    pub fn clock(&self) -> &WallClock {
        &self.clock
    }

    /// Returns a receiver that changes when runs have ended, here or on another server.
    pub fn ended_runs(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// Waits until the server stops.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Returns the models that can be asked.
    pub fn catalog(&self) -> &ModelCatalog {
        &self.models
    }

    /// Measures the runs that are not over.
    pub fn measure(&self) {
        self.queues().measure();
    }

    /// Checks that a model may see the text of a document now.
    ///
    /// # Errors
    ///
    /// [`AskError::ModelNotAllowed`] if it may not, and errors of the room: a document whose
    /// settings cannot be read is shown to no model.
    #[boxed]
    pub async fn check_model(&self, document: &DocumentId, model: &AskedModel) -> AskResult<()> {
        let room = self.rooms.open(document).await?;
        check_model(&room, model).await
    }

    /// Returns the names of the models that other programs can use. The Claude CLI is not one of
    /// them: it continues to work between two calls of a run, and so identifies a conversation only
    /// by that run.
    pub fn models_for_programs(&self) -> Vec<String> {
        let mut names = self.models.names();
        names.retain(|name| !models::is_cli(name));
        names
    }

    /// Returns one of these models by its name, or any `provider:NAME` of an available provider.
    pub fn model_for_programs(&self, name: &str) -> Option<ChosenModel> {
        self.models.choose(Some(name)).filter(|_| !models::is_cli(name))
    }

    /// Accepts a question. Returns as soon as it is stored. From then on the run ends with exactly
    /// one `result` (and one `claudeResponse`), published in the document's room or the session's
    /// private one, in every case.
    ///
    /// # Errors
    ///
    /// If the question is refused; nothing was started then.
    #[boxed]
    pub async fn ask(&self, ask: AgentQuestion) -> AskResult<RunId> {
        let name = ask.run.clone();
        self.start(ask, CancellationToken::new()).await?;
        Ok(name)
    }

    /// Accepts a question; `cancel` also stops the run. Returns a token that stops at most this
    /// run.
    #[boxed]
    pub(super) async fn start(
        &self,
        ask: AgentQuestion,
        cancel: CancellationToken,
    ) -> AskResult<CancellationToken> {
        let Some(job) = self.reserve(ask, cancel).await? else {
            return Ok(CancellationToken::new());
        };
        let cancel = job.cancel.clone();
        self.begin(job);
        Ok(cancel)
    }

    /// Accepts a question that `write` asks in a comment. The run is stored first, and begins once
    /// the comment is written. If it is not written, nothing begins: after a crash, the run finds
    /// that it answers no comment.
    ///
    /// # Errors
    /// Those of [`Self::ask`], and those of `write`.
    #[boxed]
    pub async fn ask_in_comment<T: Send + Sync + 'static>(
        &self,
        ask: AgentQuestion,
        write: impl Future<Output = RoomResult<T>> + Send + 'static,
    ) -> AskResult<T> {
        let service = self.clone();
        let asked = self.spawn_tracked(async move {
            let job = service.reserve(ask, CancellationToken::new()).await?;
            let written = write.await;
            match (job, &written) {
                (Some(job), Ok(_)) => service.begin(job),
                (Some(QueuedRun { run, .. }), Err(_)) => {
                    service.queues().give_up(&run);
                    let at_ms = service.clock.now_ms();
                    let ended = run.put_ended(RunEndKind::Cancelled, at_ms)?;
                    service.store.commit(ended).await?;
                }
                (None, _) => {}
            }
            Ok(written?)
        });
        asked.await.unwrap_or(Err(AskError::Closed))
    }

    /// Stores a run and reserves its place; `None` if it is under way.
    async fn reserve(
        &self,
        ask: AgentQuestion,
        cancel: CancellationToken,
    ) -> AskResult<Option<QueuedRun>> {
        if self.stop.is_cancelled() {
            return Err(AskError::Closed);
        }
        let ask = self.models.of_mode(ask);
        self.check(&ask)?;
        let mut run = Run::new(ask, self.clock.now_ms());
        let cancel = match self.queues().reserve(&run, cancel)? {
            QueueSlot::UnderWay => return Ok(None),
            QueueSlot::Reserved(cancel) => cancel,
        };
        if let Err(error) = self.keep_new(&mut run).await {
            self.queues().give_up(&run);
            return Err(error);
        }
        Ok(Some(QueuedRun { run, cancel }))
    }

    /// Enters a stored run into its place.
    fn begin(&self, job: QueuedRun) {
        let key = job.key();
        let worker = self.queues().enter(job);
        self.spawn_worker(worker, key);
    }

    /// Stops runs. A request that waits for people is withdrawn; accepted changes stay.
    ///
    /// # Errors
    ///
    /// [`AskError::NoRun`] if a run is named that is not under way.
    #[boxed]
    pub async fn cancel(&self, stop: StopFilter) -> AskResult<()> {
        let unbegun = self.queues().stop(&stop)?;
        if unbegun.is_empty() {
            return Ok(());
        }
        let service = self.clone();
        let ending = self.spawn_tracked(async move {
            for job in unbegun {
                service.end(job, RunEnd::cancelled()).await;
            }
        });
        // A client that stops runs hears of it after everyone else, but does not wait for a store
        // that fails.
        tokio::time::timeout(END_TIMEOUT, ending).await.ok();
        Ok(())
    }

    /// Returns the requests of a conversation that have ended, newest first, as many as fit.
    ///
    /// # Errors
    /// [`AskError::Store`] if the document or its requests cannot be read. A damaged request is
    /// left out.
    #[boxed]
    pub async fn decided(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
    ) -> AskResult<Vec<ApprovalRequest>> {
        let store = &self.store;
        let document = match document {
            Some(document) => document.clone(),
            None => match store.private_document(session).await? {
                Some(record) => record.id,
                None => return Ok(Vec::new()),
            },
        };
        let records = store.requests(QueryScope::Document(&document), None, DECIDED_LIMIT).await?;
        let mut left = DECIDED_SIZE;
        let ended = records.into_iter().filter(|record| !record.open).map_while(|record| {
            left = left.checked_sub(record.body.len())?;
            Some(serde_json::from_str(&record.body))
        });
        Ok(ended.filter_map(Result::ok).collect())
    }

    /// Returns `true` if runs of the session without a shared document are under way.
    pub fn works_in_private(&self, session: &SessionId) -> bool {
        self.queues().any_in_private(session)
    }

    /// Leaves every run as it is, durable, and waits until all work has stopped.
    #[boxed]
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Spawns work that is completed even if its caller is gone; a stop of the server waits for it.
    pub fn spawn_tracked<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.tasks.spawn(work)
    }

    /// Starts a worker of a queue, if one is needed.
    pub(super) fn spawn_worker(&self, worker: WorkerNeed, key: QueueKey) {
        if worker == WorkerNeed::Needed {
            let service = self.clone();
            self.tasks.spawn(async move { service.work(&key).await });
        }
    }

    /// Returns the room of a run's document, shared or private.
    ///
    /// # Errors
    /// Those of [`RoomRegistry::open`], or those of [`Self::private_room`] without a shared
    /// document.
    #[boxed]
    pub async fn room(&self, run: &Run) -> RoomResult<RoomHandle> {
        match &run.ask.document {
            Some(document) => self.rooms.open(document).await,
            None => self.private_room(&run.ask.session, &run.ask.principal).await,
        }
    }

    /// Returns the publisher of a run's events in `room`.
    pub fn run_events(&self, run: &Run, room: RoomHandle) -> RunEventPublisher {
        let AgentQuestion { session, run, document, .. } = &run.ask;
        let (session, run, document) = (session.clone(), run.clone(), document.clone());
        RunEventPublisher { room, session, run, clock: self.clock.clone(), document }
    }

    /// Checks that no rule keeps the file from being read that the document of a question is: a
    /// model is shown the document.
    pub(super) async fn check_reading(&self, ask: &AgentQuestion) -> AskResult<()> {
        let Some(document) = &ask.document else { return Ok(()) };
        let reader = &ask.principal;
        let denial = self.tools.reading_denial(&self.rooms, document, reader).await;
        match denial.map_err(AskError::Room)? {
            Some(words) => Err(AskError::ReadingDenied(words)),
            None => Ok(()),
        }
    }

    pub(super) fn check(&self, ask: &AgentQuestion) -> AskResult<()> {
        if ask.prompt.trim().is_empty() {
            return Err(AskError::EmptyPrompt);
        }
        let history = ask.history.iter().map(|(_, said)| said.len()).sum();
        let sizes = [
            ("the prompt", ask.prompt.len(), WORDS_LIMIT),
            ("systemInstructions", ask.instructions.as_ref().map_or(0, String::len), WORDS_LIMIT),
            ("conversationHistory", history, WORDS_LIMIT),
            ("documentContent", ask.content.as_ref().map_or(0, String::len), CONTENT_LIMIT),
        ];
        if let Some((what, _, limit)) = sizes.into_iter().find(|(_, size, limit)| size > limit) {
            return Err(AskError::TooLong { what, limit });
        }
        if !ask.principal.may(Action::Ask, ask.document.as_ref()) {
            return Err(AskError::NotAllowed);
        }
        self.check_mode(ask.permission_mode, &ask.principal, ask.document.as_ref())?;
        if self.models.choose(ask.model.as_deref()).is_none() {
            let name = ask.model.clone().unwrap_or_default();
            return Err(AskError::UnknownModel { name, available: self.models.names().join(", ") });
        }
        Ok(())
    }

    async fn keep_new(&self, run: &mut Run) -> AskResult<()> {
        let AgentQuestion { session, run: name, document, .. } = &run.ask;
        if self.store.run(&RunRecord::key(session, name)).await?.is_some() {
            return Err(AskError::Duplicate { run: name.clone() });
        }
        if let Some(document) = document {
            let room = self.rooms.open(document).await?;
            if run.ask.outside().is_none()
                && let Some(chosen) = self.models.choose(run.ask.model.as_deref())
            {
                // Checked again before each call of the model; here the writer hears of it at once.
                check_model(&room, &chosen.asked()).await?;
                self.check_reading(&run.ask).await?;
            }
            let reading = room.read().await?;
            if let Some(selected) = &mut run.ask.selection {
                if let Some((start, end)) = locate(&reading, selected) {
                    // The words are remembered, to find them again if the run has to wait while
                    // people type.
                    let text = reading.text.slice(start..end).ok();
                    *selected = SelectedRange { start, end, text };
                } else if !selected.is_caret() {
                    return Err(AskError::Selection);
                }
            }
        }
        if run.ask.document.is_none() && self.rooms.placement().is_shared() {
            // The server that has the workspace does the run, also if this one has the room still.
            self.check_inbox_here().await?;
            self.private_room(&run.ask.session, &run.ask.principal).await?;
        }
        let put = run.put(RunState::Queued)?;
        Ok(self.store.commit(put).await?)
    }

    /// Returns the room of the session's runs without a shared document. Its document is private to
    /// the session and never listed; it is created when it is first needed.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the document can be neither read nor created, [`RoomError::Closed`]
    /// while the server stops.
    #[boxed]
    pub async fn private_room(
        &self,
        session: &SessionId,
        owner: &Principal,
    ) -> RoomResult<RoomHandle> {
        // Two callers at once must not create two documents.
        let _making = self.private.lock().await;
        let known = self.store.private_document(session).await;
        let known = known.map_err(|error| RoomError::Store(Arc::new(error)))?;
        let known = known.map(|record| record.id);
        self.check_private_place(known.as_ref()).await?;
        if let Some(document) = known {
            return self.rooms.open(&document).await;
        }
        let new = NewDocument {
            title: "Private".into(),
            text: String::new(),
            unlisted_owner: Some(session.clone()),
        };
        self.rooms.create(new, owner).await
    }

    /// Locks the snapshots of the documents that conversations were shown.
    pub fn snapshots(&self) -> MutexGuard<'_, ShownDocuments> {
        // At worst a document is shown once more.
        self.snapshots.lock()
    }

    pub(super) fn queues(&self) -> MutexGuard<'_, RunQueues> {
        self.queues.lock()
    }
}
