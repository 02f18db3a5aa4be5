//! Entry point of the agent: accepts questions, stores them, and works on them, one run at a time
//! for each session and document.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approvals::ApprovalRequest;
use crate::failpoint;
use crate::ids::{DocumentId, RunId, SessionId};
use crate::permissions::{Action, Principal};
use crate::rooms::clock::WallClock;
use crate::rooms::event::{AgentObject, StreamingPreviewScope};
use crate::rooms::settings::model_access::AskedModel;
use crate::rooms::{NewDocument, RoomError, RoomHandle, RoomRegistry};
use crate::store::{QueryScope, RunEndKind, RunRecord, RunState, Store, WriteBatch};
use crate::tools::ToolRegistry;

use super::models::{self, ChosenModel, ModelCatalog, check_model};
use super::run_queues::{QueueKey, QueueSlot, QueuedRun, RunQueues, WorkerNeed};
use super::shared_state::AgentCore;
use super::{AskError, AskKind, BypassPolicy, RunRequest, SelectedRange, StopFilter};
use crate::agent::conversation::history::ResultTexts;
use crate::agent::conversation::response::response;
use crate::agent::conversation::shown_documents::ShownDocuments;
use crate::agent::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::agent::external_calls::call::called;
use crate::agent::external_calls::waiters::CallWaiters;
use crate::agent::run::end_reason::RunEndReason;
use crate::agent::run::run_events::RunEvents;
use crate::agent::run::run_record::Run;
use crate::agent::run::selection::locate;
use crate::agent::run::state_machine::{RunEnd, RunLimits};
use crate::agent::run::{executor, run_record};

/// Maximum size in bytes of a prompt, of the instructions, and of all earlier messages together.
const WORDS_LIMIT: usize = 256 * 1024;
/// Maximum number of a conversation's requests that are returned at once, and their total size in
/// bytes.
const DECIDED_LIMIT: u32 = 100;
const DECIDED_SIZE: usize = 4 * 1024 * 1024;
/// Maximum size in bytes of the text of a private document.
const CONTENT_LIMIT: usize = 4 * 1024 * 1024;

/// Service that owns every run of the server. Clones share it.
#[derive(Clone)]
pub struct AgentService {
    pub(super) shared: Arc<AgentCore>,
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
        let shared = AgentCore {
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
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            ended: watch::Sender::new(0),
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
    pub async fn ask(&self, ask: RunRequest) -> Result<RunId, AskError> {
        let name = ask.run.clone();
        self.start(ask, CancellationToken::new()).await?;
        Ok(name)
    }

    /// Accepts a question; `cancel` also stops the run. Returns a token that stops at most this
    /// run.
    pub(super) async fn start(
        &self,
        ask: RunRequest,
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
        self.spawn_worker(worker, key);
        Ok(cancel)
    }

    /// Stops runs. A request that waits for people is withdrawn; accepted changes stay.
    ///
    /// # Errors
    ///
    /// [`AskError::NoRun`] if a run is named that is not under way.
    pub async fn cancel(&self, stop: StopFilter) -> Result<(), AskError> {
        let unbegun = self.shared.queues().stop(&stop)?;
        for job in unbegun {
            self.shared.end(job, RunEnd::cancelled()).await;
        }
        Ok(())
    }

    /// Resumes the runs that a crash or a stop left behind; returns their number.
    ///
    /// # Errors
    ///
    /// If the store or the workspace inbox cannot be read.
    pub async fn resume(&self) -> Result<usize, AskError> {
        self.settle_undos().await?;
        let mut records = self.shared.store.unfinished_runs().await?;
        // Runs that have begun go first, so that no other run comes between their entries.
        records.sort_by_key(|record| record.state == RunState::Queued);
        let mut count = 0;
        for record in records {
            match Run::read(record) {
                Ok(run) => {
                    let key = QueueKey::of(&run);
                    let worker = self.shared.queues().requeue(run);
                    self.spawn_worker(worker, key);
                    failpoint::pass("agent.resuming");
                    count += 1;
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read a stored run; it is skipped");
                }
            }
        }
        Ok(count)
    }

    /// Returns the requests of a conversation that have ended, newest first, as many as fit.
    ///
    /// # Errors
    /// [`AskError::Store`] if the document or its requests cannot be read. A damaged request is
    /// left out.
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

    pub(super) fn spawn_worker(&self, worker: WorkerNeed, key: QueueKey) {
        if worker == WorkerNeed::Needed {
            let shared = Arc::clone(&self.shared);
            self.shared.tasks.spawn(async move { shared.work(&key).await });
        }
    }
}

impl AgentCore {
    async fn work(&self, key: &QueueKey) {
        loop {
            let Some(mut job) = self.queues().next(key) else { return };
            let end = tokio::select! {
                biased;
                () = self.stop.cancelled() => None,
                end = self.run(&mut job) => Some(end),
            };
            self.models.over(&job.run.full_name());
            let Some(end) = end else { return };
            // Not cancelled by a stop: a run whose end is stored must also be reported.
            self.end(job, end).await;
        }
    }

    async fn run(&self, job: &mut QueuedRun) -> RunEnd {
        // A run that panics must not end the session's other runs, and still owes its answer.
        let end = AssertUnwindSafe(executor::execute_run(self, job)).catch_unwind().await;
        end.unwrap_or_else(|_| RunEnd::error(RunEndReason::Internal, "The run failed unexpectedly"))
    }

    /// Ends a run: stores the end first, then tells everyone, exactly once.
    async fn end(&self, QueuedRun { run, .. }: QueuedRun, end: RunEnd) {
        let ask = &run.ask;
        let entry = TranscriptEntry {
            session: ask.session.clone(),
            run: ask.run.clone(),
            at_ms: self.clock.now_ms(),
            kind: EntryKind::End {
                subtype: end.kind,
                message: end.message.clone(),
                code: end.reason.clone(),
                spent: run.spent.clone(),
            },
        };
        let texts = if ask.outside().is_some() { ResultTexts::Kept } else { ResultTexts::LeftOut };
        let mut said = self.said_by(&run, texts).await.unwrap_or_default();
        if let Err(error) = self.keep_end(&run, end.kind, &entry, &said).await {
            tracing::error!(run = %ask.run, %error, "cannot store the end of a run; the run will be resumed after a restart");
        }
        failpoint::pass("agent.ended");
        self.ended.send_modify(|count| *count += 1);
        self.queues().done(&ask.session, &ask.run);
        self.call_waiters.notify(ask, || called(&run, &said, end.message.clone()));
        said.push(entry);
        let room = match self.room(&run).await {
            // The document is gone, but the session still waits for its answer.
            Err(RoomError::NoDocument) => self.private_room(&ask.session, &ask.principal).await,
            opened => opened,
        };
        match room {
            Ok(room) => self.say_end(&self.run_events(&run, room), &run, &said, &end).await,
            Err(error) => {
                tracing::error!(run = %ask.run, %error, "cannot announce the end of a run");
            }
        }
    }

    /// Stores the end of a run. A run that never began (`said` is empty) is no part of the
    /// conversation, which may be in the middle of another run.
    async fn keep_end(
        &self,
        run: &Run,
        kind: RunEndKind,
        entry: &TranscriptEntry,
        said: &[TranscriptEntry],
    ) -> Result<(), AskError> {
        let mut batch = WriteBatch::from(run.put_ended(kind, entry.at_ms)?);
        if !said.is_empty() {
            batch.push(run_record::append(run.ask.document.as_ref(), entry)?);
        }
        Ok(self.store.commit(batch).await?)
    }

    async fn say_end(
        &self,
        run_events: &RunEvents,
        run: &Run,
        said: &[TranscriptEntry],
        end: &RunEnd,
    ) {
        let (session, name) = (run.ask.session.clone(), run.ask.run.clone());
        run_events.room.end_previews(StreamingPreviewScope::OfRun(session, name)).await;
        let now = run_events.room.read().await.ok();
        run_events
            .show(AgentObject::result(end.kind, &end.message, end.reason.as_ref(), &run.spent))
            .await;
        match &run.ask.kind {
            AskKind::Ask => run_events.respond(response(said, now.as_ref())).await,
            AskKind::Run | AskKind::Call(_) => {}
        }
        run_events.over().await;
    }

    /// Returns the room of a run's document, shared or private.
    ///
    /// # Errors
    /// Those of [`RoomRegistry::open`], or those of [`Self::private_room`] without a shared
    /// document.
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
    pub fn run_events(&self, run: &Run, room: RoomHandle) -> RunEvents {
        let RunRequest { session, run, document, .. } = &run.ask;
        let (session, run, document) = (session.clone(), run.clone(), document.clone());
        RunEvents { room, session, run, clock: self.clock.clone(), document }
    }

    pub(super) fn check(&self, ask: &RunRequest) -> Result<(), AskError> {
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
        let RunRequest { session, run: name, document, .. } = &run.ask;
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
        let put = run.put(RunState::Queued)?;
        Ok(self.store.commit(put).await?)
    }

    /// Returns the room of the session's private document.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the document can be neither read nor created, [`RoomError::Closed`]
    /// while the server stops.
    pub async fn private_room(
        &self,
        session: &SessionId,
        owner: &Principal,
    ) -> Result<RoomHandle, RoomError> {
        // Two callers at once must not create two documents.
        let _making = self.private.lock().await;
        let known = self.store.private_document(session).await;
        if let Some(record) = known.map_err(|error| RoomError::Store(Arc::new(error)))? {
            return self.rooms.open(&record.id).await;
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
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn queues(&self) -> MutexGuard<'_, RunQueues> {
        // The queues are consistent between any two statements.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
