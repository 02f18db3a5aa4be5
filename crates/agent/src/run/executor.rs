//! Executor of one run: performs the actions of the state machine, waits for their results, and
//! stores everything before it is relied on.

mod failure;
mod model_request;
mod plan_mode;
mod selection_tracking;
mod tool_calls;
mod tool_context;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{RequestId, RunId};
use copydesk_llm::messages_api::ContentBlock;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::{RoomError, text_at};
use copydesk_store::{AuditEntry, RunState, StoreOp, WriteBatch};
use copydesk_tools::pipeline::format::stamp_outcome;
use copydesk_tools::{ActivityLine, ReadDocuments, ToolCall, ToolScope, UnreadRanges};

use self::failure::{RunFailure, RunResult};
use super::end_reason::RunEndReason;
use super::run_events::RunEventPublisher;
use super::run_record::{self, Run};
use super::state_machine::{RunAction, RunEnd, RunInput, RunMachine};
use super::thread_question;
use crate::conversation::prompt::{DOCUMENT_LIMIT, PromptContext};
use crate::conversation::shown_documents::ShownDocument;
use crate::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::conversation::{provider_sessions, transcript};
use crate::models::ChosenModel;
use crate::run_queues::QueuedRun;
use crate::{AgentService, AskError, AskKind, ConversationMode, PermissionMode};

/// Works on a run until it is over; the caller reports the end.
pub async fn execute_run(shared: &AgentService, job: &mut QueuedRun) -> RunEnd {
    let QueuedRun { run, cancel } = job;
    // What is logged meanwhile names the run.
    let span = tracing::info_span!("run", id = %run.ask.run);
    let worked = async {
        let mut executor = RunExecutor::begin(shared, run, cancel.clone()).await?;
        executor.run_actions().await
    };
    let worked = worked.instrument(span.clone()).await;
    let end: RunEnd = worked.unwrap_or_else(|failure: RunFailure| failure.into());
    span.in_scope(|| tracing::debug!(end = ?end.kind, "ended"));
    end
}

/// Minimum number of UTF-16 units of a document that are shown, however long the question is.
const LEAST_SHOWN: usize = 8_000;

#[derive(Clone, Debug, Default)]
struct KnownDocument {
    /// Document as it was reported to the model.
    snapshot: Option<DocumentSnapshot>,
    /// Ranges of `snapshot` that the model has not read.
    unread: UnreadRanges,
    /// Selection in `snapshot`.
    selection: Option<(usize, usize)>,
}

struct RunPrompt {
    /// Blocks of the prompt; they stay unchanged, so that a provider can cache them.
    blocks: Vec<ContentBlock>,
    /// Maximum number of UTF-16 units of the document in the prompt.
    document_limit: usize,
    /// Document with which the conversation begins, if it began earlier.
    opening_document: Option<ShownDocument>,
    /// Random tag that marks text of the document as data.
    tag: Arc<str>,
    /// Comments of the thread in which the question was asked.
    thread: Vec<(String, String)>,
}

/// Progress of the calls of one turn.
#[derive(Default)]
struct TurnProgress {
    /// Number of outcomes that people have been shown.
    shown_outcomes: usize,
    /// Lines for the audit log that wait to be stored with their results.
    audit: Vec<(RequestId, ActivityLine)>,
    /// Writes that wait to be stored with the results.
    with_results: Vec<StoreOp>,
    /// Ids of the requests of the latest calls, by the ids of the calls.
    request_ids: HashMap<String, RequestId>,
    /// `true` if the calls may have been made before a restart.
    after_restart: bool,
}

struct RunExecutor<'a> {
    shared: &'a AgentService,
    run: &'a mut Run,
    /// Person who asked, with the rights that they had when these were last checked.
    asker: Principal,
    cancel: CancellationToken,
    run_events: RunEventPublisher,
    chosen: ChosenModel,
    /// Conversation as far as the model may be sent it, this run's entries last.
    entries: Vec<TranscriptEntry>,
    /// Document as the model knows it now.
    known: KnownDocument,
    /// Document as the model knew it when it made the calls of this turn.
    known_at_calls: KnownDocument,
    prompt: RunPrompt,
    turn: TurnProgress,
    /// Other documents that the model has read.
    other_documents: Arc<ReadDocuments>,
}

/// Chooses the model that began to answer, if available: another one must not get its reasoning.
fn choose(
    shared: &AgentService,
    run: &mut Run,
    mut entries: Vec<TranscriptEntry>,
) -> RunResult<(ChosenModel, Vec<TranscriptEntry>)> {
    if run.ask.outside().is_some() {
        let default = shared.models.choose(None).ok_or(RunFailure::Model(String::new()))?;
        return Ok((default, entries));
    }
    let asked = run.ask.model.as_deref();
    let began = run.model.as_deref().and_then(|name| shared.models.choose(Some(name)));
    let chosen = began
        .or_else(|| shared.models.choose(asked))
        .ok_or_else(|| RunFailure::Model(asked.unwrap_or_default().to_owned()))?;
    let name = Some(chosen.full_name());
    if run.model.is_some() && run.model != name {
        transcript::forget_reasoning(&mut entries);
    }
    run.model = name;
    Ok((chosen, entries))
}

impl<'a> RunExecutor<'a> {
    async fn begin(
        shared: &'a AgentService,
        run: &'a mut Run,
        cancel: CancellationToken,
    ) -> RunResult<Self> {
        let run_events = shared.run_events(run, shared.room(run).await?);
        let entries = shared.remembered(run).await?;
        let (chosen, mut entries) = choose(shared, run, entries)?;
        let is_apart = shared.keep_apart(run, &chosen, &mut entries, &run_events.room).await?;
        // A thread that a model keeps by itself would contain the removed words.
        let said = if is_apart { &[] } else { &*entries };
        provider_sessions::choose(shared, run, &chosen, said).await?;
        let mut executor = Self {
            shared,
            asker: run.ask.principal.clone(),
            run,
            cancel,
            run_events,
            chosen,
            entries,
            known: KnownDocument::default(),
            known_at_calls: KnownDocument::default(),
            prompt: RunPrompt {
                blocks: Vec::new(),
                document_limit: DOCUMENT_LIMIT,
                opening_document: None,
                tag: uuid::Uuid::new_v4().simple().to_string().into(),
                thread: Vec::new(),
            },
            turn: TurnProgress::default(),
            other_documents: Arc::default(),
        };
        executor.look_at_thread().await?;
        executor.record_question().await?;
        executor.prepare_prompt().await?;
        Ok(executor)
    }

    async fn run_actions(&mut self) -> RunResult<RunEnd> {
        let said = transcript::of_run(&self.entries, &self.run.ask.run);
        let limits = self.shared.limits;
        let (mut machine, actions) = match self.run.ask.outside() {
            Some(outside) => RunMachine::take_up_call(limits, &said, &outside.call),
            None => RunMachine::resume_from(limits, &said),
        };
        let mut pending = VecDeque::from(actions);
        while let Some(action) = pending.pop_front() {
            let input = match action {
                RunAction::Append(kind) => {
                    let kind = self.with_news(kind).await?;
                    self.append(kind, WriteBatch::new()).await?;
                    continue;
                }
                _ if self.cancel.is_cancelled() && !matches!(action, RunAction::Finish(_)) => {
                    RunInput::Cancelled { partial: String::new() }
                }
                RunAction::CallModel => self.call_model().await?,
                RunAction::RunTool(index, call) => self.run_tool(index, &call).await?,
                RunAction::Finish(_) if self.is_given_up() => return Ok(RunEnd::cancelled()),
                RunAction::Finish(end) => return Ok(end),
            };
            pending.extend(machine.on(input));
        }
        Ok(RunEnd::error(RunEndReason::Internal, "The run stopped without an end"))
    }

    /// Takes the comments and the passage of the thread in which the question was asked. A question
    /// that is not there, because the server stopped before it was written or a person deleted it,
    /// gets no answer, and one that has an answer no second one.
    async fn look_at_thread(&mut self) -> RunResult<()> {
        let AskKind::Comment(thread) = &self.run.ask.kind else { return Ok(()) };
        let found = self.run_events.room.threads().await?.threads;
        let found = found.into_iter().find(|it| it.id == *thread);
        let name = &self.run.ask.run;
        let found = found.filter(|it| it.question(name).is_some() && !it.has_answer(name));
        let found = found.ok_or(RunFailure::Unasked)?;
        self.prompt.thread = thread_question::said_before(&found, name, &self.entries);
        if self.run.ask.selection.is_none() {
            let now = self.run_events.room.read().await?;
            let passage = thread_question::passage(&found, &now);
            self.run.ask.selection = passage.map_err(|()| RunFailure::Selection)?;
        }
        Ok(())
    }

    async fn record_question(&mut self) -> RunResult<()> {
        let ask = &self.run.ask;
        if !transcript::of_run(&self.entries, &ask.run).is_empty() {
            self.turn.after_restart = true;
            return Ok(());
        }
        let source = ask.outside().map(|outside| outside.source);
        let (name, text) = (ask.principal.name.clone(), ask.prompt.clone());
        let mut batch = WriteBatch::from(self.run.put(RunState::Running)?);
        if ask.conversation == ConversationMode::Fresh && !self.entries.is_empty() {
            let cleared = EntryKind::Cleared { name: ask.principal.name.clone(), from: None };
            let entry = TranscriptEntry {
                session: ask.session.clone(),
                run: RunId::generate(),
                at_ms: self.shared.clock.now_ms(),
                kind: cleared,
            };
            batch.push(run_record::append(ask.document.as_ref(), &entry)?);
            self.entries.clear();
        }
        let news = self.news(None).await?;
        self.append(EntryKind::Prompt { name, text, source, news }, batch).await
    }

    async fn prepare_prompt(&mut self) -> RunResult<()> {
        self.replace_private_text().await?;
        if self.scope() == ToolScope::Document {
            self.known.snapshot = Some(self.run_events.room.read().await?);
        }
        if self.run.ask.outside().is_some() {
            // The caller knows only what it has read.
            self.known_at_calls.snapshot = self.document_at_calls().await?;
            self.known.snapshot.clone_from(&self.known_at_calls.snapshot);
            return Ok(());
        }
        self.find_selection().await?;
        // A model that keeps its own thread may have dropped the document that it was shown before.
        self.prompt.opening_document =
            if self.run.thread.is_some() { None } else { self.opening_document() };
        self.compose_prompt();
        self.known_at_calls.snapshot = self.document_at_calls().await?;
        Ok(())
    }

    /// Composes the prompt. Of a document that is too long the model knows only the shown part.
    fn compose_prompt(&mut self) {
        let ask = &self.run.ask;
        let news = self.decisions_in_prompt();
        let mut tools = self.shared.tools.occasions(self.scope());
        tools.extend(self.planning_tool().map(|(_, occasion)| occasion));
        let context = PromptContext {
            instructions: ask.instructions.as_deref(),
            document: self.known.snapshot.as_ref(),
            most: self.prompt.document_limit,
            seen: self.prompt.opening_document.as_ref(),
            selection: self.known.selection.filter(|(start, end)| start != end),
            history: if self.prompt.thread.is_empty() { &ask.history } else { &self.prompt.thread },
            news: &news,
            prompt: &ask.prompt,
            planning: ask.permission_mode == PermissionMode::PlanFirst,
            tools: &tools,
            tag: &self.prompt.tag,
        };
        let (prompt, shown) = (context.blocks(), context.shown());
        if let (Some(model_document), Some((from, to))) = (&self.known.snapshot, shown) {
            self.known.unread = UnreadRanges::all(model_document.text.len());
            self.known.unread.read(from, to);
        }
        self.prompt.blocks = prompt;
    }

    /// Halves the part of the document that is shown, around the selection. Returns `false` if
    /// there is no document or little of it is shown already.
    fn show_less(&mut self) -> bool {
        let Some(model_document) = &self.known.snapshot else { return false };
        let shown = self.prompt.document_limit.min(model_document.text.len());
        if shown <= LEAST_SHOWN {
            return false;
        }
        self.prompt.document_limit = shown / 2;
        self.prompt.opening_document = None;
        self.compose_prompt();
        true
    }

    async fn replace_private_text(&mut self) -> RunResult<()> {
        let Some(content) = self.run.ask.content.take() else { return Ok(()) };
        self.run_events.room.replace(content, self.run.ask.principal.clone()).await?;
        let put = self.run.put(RunState::Running)?;
        self.shared.store.commit(put).await.map_err(AskError::from)?;
        Ok(())
    }

    /// Returns the text to which calls from an earlier process apply.
    async fn document_at_calls(&self) -> RunResult<Option<DocumentSnapshot>> {
        let (Some(now), Some(version)) = (&self.known.snapshot, self.run.read_version) else {
            return Ok(None);
        };
        if now.version == version {
            return Ok(Some(now.clone()));
        }
        let document = self.run_events.room.document();
        let person = self.run.ask.principal.user.as_str();
        match text_at(&self.shared.store, document, version, person).await {
            Ok(text) => Ok(Some(DocumentSnapshot { version, text, ..now.clone() })),
            Err(RoomError::NoDocument) => Ok(None),
            Err(error) => Err(AskError::from(error).into()),
        }
    }

    /// Appends to the transcript, durably, before people see the entry.
    async fn append(&mut self, mut kind: EntryKind, mut batch: WriteBatch) -> RunResult<()> {
        let ask = &self.run.ask;
        let (session, run, at_ms) = (ask.session.clone(), ask.run.clone(), self.now_ms());
        if let EntryKind::Results { answers, .. } = &mut kind {
            // Calls that were left out, because the run was cancelled or there were too many,
            // passed no hook.
            for answer in answers {
                stamp_outcome(answer, &session, at_ms);
            }
        }
        let entry = TranscriptEntry { session, run, at_ms, kind };
        batch.push(run_record::append(self.run.ask.document.as_ref(), &entry)?);
        match &entry.kind {
            EntryKind::Answer { content, .. } => {
                failpoint::pass("agent.answering");
                // A call that people have seen being written keeps its request id.
                let name = |call: ToolCall| {
                    self.turn.request_ids.remove(&call.id).unwrap_or_else(RequestId::generate)
                };
                self.run.calls = content.iter().filter_map(ToolCall::of).map(name).collect();
                self.run.read_version =
                    self.known_at_calls.snapshot.as_ref().map(|reading| reading.version);
                self.run.selection = self.known_at_calls.selection;
                batch.push(self.run.put(RunState::Running)?);
            }
            EntryKind::Results { .. } => {
                let lines = std::mem::take(&mut self.turn.audit);
                batch.extend(lines.into_iter().map(|line| self.audited(line, at_ms)));
                batch.extend(self.turn.with_results.drain(..));
            }
            EntryKind::Cleared { .. } | EntryKind::Prompt { .. } | EntryKind::End { .. } => {}
        }
        self.shared.store.commit(batch).await.map_err(AskError::from)?;
        failpoint::pass(match entry.kind {
            EntryKind::Cleared { .. } | EntryKind::Prompt { .. } | EntryKind::End { .. } => {
                "agent.asked"
            }
            EntryKind::Answer { .. } => "agent.answered",
            EntryKind::Results { .. } => "agent.reported",
        });
        self.show(&entry).await;
        if matches!(entry.kind, EntryKind::Results { .. }) {
            self.turn.after_restart = false;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Shows people the parts of the entry that they have not seen yet.
    async fn show(&mut self, entry: &TranscriptEntry) {
        for shown in entry.shown().into_iter().skip(std::mem::take(&mut self.turn.shown_outcomes)) {
            self.run_events.show(shown).await;
        }
    }

    fn audited(&self, (request, line): (RequestId, ActivityLine), at_ms: u64) -> StoreOp {
        StoreOp::Audit(AuditEntry {
            at_ms,
            actor: self.run.ask.principal.user.to_string(),
            action: line.action.to_owned(),
            document: self.run.ask.document.clone(),
            request: Some(request),
            detail: line.detail,
        })
    }

    fn is_given_up(&self) -> bool {
        self.run.ask.outside().is_some() && self.cancel.is_cancelled()
    }

    fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }
}
