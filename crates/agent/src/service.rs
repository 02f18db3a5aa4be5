//! Entry point of the agent: accepts questions, stores them, and starts workers (`worker.rs`),
//! which work on them one at a time for each session and document.

use async_recursion::async_recursion as boxed;
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
use copydesk_rooms::{NewDocument, RoomError, RoomHandle, RoomRegistry};
use copydesk_store::{QueryScope, RunRecord, RunState, Store};
use copydesk_tools::ToolRegistry;

use super::agent_shared::AgentShared;
use super::models::{self, ChosenModel, ModelCatalog, check_model};
use super::run_queues::{QueueKey, QueueSlot, QueuedRun, RunQueues, WorkerNeed};
use super::{AgentQuestion, AskError, BypassPolicy, SelectedRange, StopFilter};
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
pub struct AgentService {
    pub(super) shared: Arc<AgentShared>,
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
        let shared = AgentShared {
            store,
            clock,
            rooms,
            models,
            tools,
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
            call_news: watch::Sender::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Sets the limits of a run; before anything is asked.
    #[must_use]
    pub fn with_limits(mut self, limits: RunLimits) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.limits = limits;
        }
        self
    }

    /// Returns the names of the models that can be asked, the default first.
    pub fn models(&self) -> Vec<String> {
        self.shared.models.names()
    }

    /// Returns the models that can be asked.
    pub fn catalog(&self) -> &ModelCatalog {
        &self.shared.models
    }

    /// Measures the runs that are not over.
    pub fn measure(&self) {
        self.shared.queues().measure();
    }

    /// Returns the names of the models on this machine.
    pub fn local_models(&self) -> Vec<String> {
        self.shared.models.local_names()
    }

    /// Checks that a model may see the text of a document now.
    ///
    /// # Errors
    ///
    /// [`AskError::ModelNotAllowed`] if it may not, and errors of the room: a document whose
    /// settings cannot be read is shown to no model.
    #[boxed]
    pub async fn check_model(
        &self,
        document: &DocumentId,
        model: &AskedModel,
    ) -> Result<(), AskError> {
        let room = self.shared.rooms.open(document).await?;
        check_model(&room, model).await
    }

    /// Returns the names of the models that other programs can use. The Claude CLI is not one of
    /// them: it continues to work between two calls of a run, and so identifies a conversation only
    /// by that run.
    pub fn models_for_programs(&self) -> Vec<String> {
        let mut names = self.models();
        names.retain(|name| !models::is_cli(name));
        names
    }

    /// Returns one of these models by its name, or any `provider:NAME` of an available provider.
    pub fn model_for_programs(&self, name: &str) -> Option<ChosenModel> {
        self.shared.models.choose(Some(name)).filter(|_| !models::is_cli(name))
    }

    /// Asks the providers for their models; takes as long as they do.
    #[boxed]
    pub async fn list_provider_models(&self) {
        self.shared.models.list_provider_models().await;
    }

    /// Accepts a question. Returns as soon as it is stored. From then on the run ends with exactly
    /// one `result` (and one `claudeResponse`), published in the document's room or the session's
    /// private one, in every case.
    ///
    /// # Errors
    ///
    /// If the question is refused; nothing was started then.
    #[boxed]
    pub async fn ask(&self, ask: AgentQuestion) -> Result<RunId, AskError> {
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
    ) -> Result<CancellationToken, AskError> {
        if self.shared.stop.is_cancelled() {
            return Err(AskError::Closed);
        }
        let ask = self.shared.models.of_mode(ask);
        self.shared.check(&ask)?;
        let mut run = Run::new(ask, self.shared.clock.now_ms());
        let cancel = match self.shared.queues().reserve(&run, cancel)? {
            QueueSlot::UnderWay => return Ok(CancellationToken::new()),
            QueueSlot::Reserved(cancel) => cancel,
        };
        if let Err(error) = self.shared.keep_new(&mut run).await {
            self.shared.queues().give_up(&run);
            return Err(error);
        }
        let key = QueueKey::of(&run);
        let worker = self.shared.queues().enter(QueuedRun { run, cancel: cancel.clone() });
        self.shared.spawn_worker(worker, key);
        Ok(cancel)
    }

    /// Stops runs. A request that waits for people is withdrawn; accepted changes stay.
    ///
    /// # Errors
    ///
    /// [`AskError::NoRun`] if a run is named that is not under way.
    #[boxed]
    pub async fn cancel(&self, stop: StopFilter) -> Result<(), AskError> {
        let unbegun = self.shared.queues().stop(&stop)?;
        if unbegun.is_empty() {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let ending = self.spawn_tracked(async move {
            for job in unbegun {
                shared.end(job, RunEnd::cancelled()).await;
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
    ) -> Result<Vec<ApprovalRequest>, AskError> {
        let store = &self.shared.store;
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
        self.shared.queues().any_in_private(session)
    }

    /// Returns the room of the session's runs without a shared document. Its document is private to
    /// the session and never listed; it is created when it is first needed.
    ///
    /// # Errors
    /// [`AskError::Room`] if the private document can be neither opened nor created.
    pub async fn private_room(
        &self,
        session: &SessionId,
        owner: &Principal,
    ) -> Result<RoomHandle, AskError> {
        Ok(self.shared.private_room(session, owner).await?)
    }

    /// Leaves every run as it is, durable, and waits until all work has stopped.
    #[boxed]
    pub async fn shutdown(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// Spawns work that is completed even if its caller is gone; a stop of the server waits for it.
    pub(super) fn spawn_tracked<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.shared.tasks.spawn(work)
    }
}

impl AgentShared {
    /// Starts a worker of a queue, if one is needed.
    pub(super) fn spawn_worker(self: &Arc<Self>, worker: WorkerNeed, key: QueueKey) {
        if worker == WorkerNeed::Needed {
            let shared = Arc::clone(self);
            self.tasks.spawn(async move { shared.work(&key).await });
        }
    }

    /// Returns the room of a run's document, shared or private.
    ///
    /// # Errors
    /// Those of [`RoomRegistry::open`], or those of [`Self::private_room`] without a shared
    /// document.
    #[boxed]
    pub async fn room(&self, run: &Run) -> Result<RoomHandle, RoomError> {
        match &run.ask.document {
            Some(document) => self.rooms.open(document).await,
            None => self.private_room(&run.ask.session, &run.ask.principal).await,
        }
    }

    /// Returns the workspace inbox: the room of requests without a document.
    ///
    /// # Errors
    /// Those of [`RoomRegistry::workspace_inbox`].
    pub async fn workspace_inbox(&self) -> Result<RoomHandle, RoomError> {
        self.rooms.workspace_inbox().await
    }

    /// Returns the publisher of a run's events in `room`.
    pub fn run_events(&self, run: &Run, room: RoomHandle) -> RunEventPublisher {
        let AgentQuestion { session, run, document, .. } = &run.ask;
        let (session, run, document) = (session.clone(), run.clone(), document.clone());
        RunEventPublisher { room, session, run, clock: self.clock.clone(), document }
    }

    /// Checks that no rule keeps the file from being read that the document of a question is: a
    /// model is shown the document.
    pub(super) async fn check_reading(&self, ask: &AgentQuestion) -> Result<(), AskError> {
        let Some(document) = &ask.document else { return Ok(()) };
        let reader = &ask.principal;
        let denial = self.tools.reading_denial(&self.rooms, document, reader).await;
        match denial.map_err(AskError::Room)? {
            Some(words) => Err(AskError::ReadingDenied(words)),
            None => Ok(()),
        }
    }

    pub(super) fn check(&self, ask: &AgentQuestion) -> Result<(), AskError> {
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

    async fn keep_new(&self, run: &mut Run) -> Result<(), AskError> {
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

    /// Returns the room of the session's private document.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the document can be neither read nor created, [`RoomError::Closed`]
    /// while the server stops.
    #[boxed]
    pub async fn private_room(
        &self,
        session: &SessionId,
        owner: &Principal,
    ) -> Result<RoomHandle, RoomError> {
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
