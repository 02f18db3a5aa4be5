//! Asks the model: what it is sent, how much of it, and for how long it is listened to.

use std::pin::pin;
use std::time::Duration;

use futures_util::stream::BoxStream;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::auth;
use crate::ids::RequestId;
use crate::llm::messages_api::{ChatMessage, ContentBlock};
use crate::llm::{
    AnswerDelta, DocumentView, FailedTryUsage, ModelError, ModelRequest, SelectionView,
};
use crate::permissions::Action;
use crate::store::StoreOp;

use super::super::call_previews::CallPreviews;
use super::super::model_answer::listen;
use super::super::state_machine::{RunEnd, RunInput};
use super::{RunExecutor, RunFailure};
use crate::agent::conversation::prompt::{opening, rules};
use crate::agent::conversation::shown_documents::ShownDocument;
use crate::agent::conversation::transcript;
use crate::agent::conversation::transcript::{CONVERSATION_LIMIT, EntryKind, TranscriptEntry};
use crate::agent::conversation::truncate::make_room;
use crate::agent::{AgentRequest, AskError, PermissionMode};

/// Bytes of a request from which on its tokens are counted before it is sent; less cannot be too much.
const COUNTED_FROM: usize = 240_000;
/// How long counting may take altogether; then the request is sent as it is.
const COUNT_PATIENCE: Duration = Duration::from_secs(20);

impl RunExecutor<'_> {
    pub(crate) async fn call_model(&mut self) -> Result<RunInput, RunFailure> {
        self.check_asker().await?;
        if let Some(end) = self.shared.limits.passed(&self.run.spent) {
            return Ok(RunInput::Failed { partial: String::new(), end });
        }
        // A room that nobody was in may have closed meanwhile.
        self.voice.room = self.shared.room(self.run).await?;
        self.base.clone_from(&self.known);
        self.base_selection = self.selection;
        let began = Instant::now();
        let event = match self.fitting_request().await {
            Ok(request) => {
                self.base_unread.clone_from(&self.unread);
                self.answer_to(request, began).await?
            }
            Err(event) => event,
        };
        self.run.spent.model_ms = self.waited_ms(began);
        if let RunInput::Answered(answer) = &event {
            self.run.spent.add(answer);
        }
        Ok(event)
    }

    async fn answer_to(
        &mut self,
        request: ModelRequest,
        began: Instant,
    ) -> Result<RunInput, RunFailure> {
        let brake = self.cancel.child_token();
        let stream = self.chosen.model.stream(request, brake.clone());
        // Each call is shown under a name of its own.
        let context = self.context(RequestId::generate(), self.shared.desk().await?);
        let mut sketching = CallPreviews::new(&self.shared.tools, context);
        let (event, lost) = self.hear(stream, &brake, &mut sketching, began).await;
        self.names = sketching.names();
        for lost in &lost {
            self.run.spent.lose(lost);
        }
        Ok(event)
    }

    /// Milliseconds in which the run has waited for its model, with this call that `began` then.
    fn waited_ms(&self, began: Instant) -> u64 {
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.run.spent.model_ms.saturating_add(took)
    }

    /// A run goes on for as long as the person who asked could ask again: it ends where their token does. What waits for
    /// people by then stays, for it belongs to the document.
    pub(crate) async fn check_asker(&self) -> Result<(), RunFailure> {
        let AgentRequest { principal, document, .. } = &self.run.ask;
        let (store, action, now_ms) = (&self.shared.store, self.action(), self.now_ms());
        let may = auth::may_still(store, &principal.user, action, document.as_ref(), now_ms).await;
        if may.map_err(AskError::from)? { Ok(()) } else { Err(RunFailure::NotAllowed) }
    }

    /// The same as a condition of what is kept.
    pub(crate) fn provided(&self) -> StoreOp {
        let AgentRequest { principal, document, .. } = &self.run.ask;
        auth::provided(&principal.user, self.action(), document.as_ref(), self.now_ms())
    }

    /// What the person who asked must be allowed to do.
    fn action(&self) -> Action {
        match self.run.ask.permission_mode {
            PermissionMode::BypassPermissions => Action::Bypass,
            PermissionMode::Sdk | PermissionMode::ToolApproval | PermissionMode::McpProxy => {
                Action::Ask
            }
        }
    }

    /// What the conversation was shown of the document before this question; `None` if it begins with it.
    pub(crate) fn seen(&self) -> Option<ShownDocument> {
        let AgentRequest { session, document, run, .. } = &self.run.ask;
        let (key, now) = ((session.clone(), document.clone()), self.known.as_ref()?);
        if self.entries.iter().any(|entry| entry.run != *run) {
            return self.shared.snapshots().of(&key, now, &self.tag);
        }
        self.shared.snapshots().begin(&key, now, &self.tag);
        None
    }

    /// Hears an answer out, for as long as the run may still wait for the model, which `brake` stops.
    async fn hear(
        &self,
        stream: BoxStream<'static, Result<AnswerDelta, ModelError>>,
        brake: &CancellationToken,
        sketching: &mut CallPreviews<'_>,
        began: Instant,
    ) -> (RunInput, Vec<FailedTryUsage>) {
        let limits = &self.shared.limits;
        let left = limits.model_ms.saturating_sub(self.waited_ms(began));
        let mut listening = pin!(listen(&self.voice, stream, brake, sketching));
        tokio::select! {
            heard = &mut listening => return heard,
            () = sleep(Duration::from_millis(left)) => brake.cancel(),
        }
        let (event, lost) = listening.await;
        let event = match event {
            RunInput::Cancelled { partial } if !self.cancel.is_cancelled() => {
                RunInput::Failed { partial, end: limits.out_of_time() }
            }
            event => event,
        };
        (event, lost)
    }

    /// The request, with as much of the conversation as a call may have. Of a long one the tokens are counted first, if
    /// the provider does that. What is left out once stays left out, so that each call begins like the one before.
    async fn fitting_request(&mut self) -> Result<ModelRequest, RunInput> {
        let most = self.shared.limits.input_tokens;
        let left = self.shared.limits.model_ms.saturating_sub(self.run.spent.model_ms);
        let patience = Instant::now() + COUNT_PATIENCE.min(Duration::from_millis(left));
        let mut budget = CONVERSATION_LIMIT;
        make_room(&mut self.entries, &self.run.ask.run, budget);
        loop {
            let request = self.request();
            if size(&request) < COUNTED_FROM {
                return Ok(request);
            }
            let counted = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    return Err(RunInput::Cancelled { partial: String::new() });
                }
                counted = timeout_at(patience, self.chosen.model.count(request.clone())) => counted,
            };
            let tokens = match counted {
                Ok(Ok(Some(tokens))) if tokens > most => tokens,
                // Whatever is wrong with the provider, the call itself will tell.
                _ => return Ok(request),
            };
            tracing::info!(run = %self.run.ask.run, tokens, most, budget, "the conversation is too long");
            budget /= 4;
            while !make_room(&mut self.entries, &self.run.ask.run, budget) {
                if budget > 0 {
                    budget /= 4;
                } else if self.is_first_call() && self.show_less() {
                    break;
                } else {
                    let end = self.too_long(tokens);
                    return Err(RunInput::Failed { partial: String::new(), end });
                }
            }
        }
    }

    /// How a run ends whose very question is too long.
    fn too_long(&self, tokens: u64) -> RunEnd {
        let most = self.shared.limits.input_tokens;
        RunEnd::limit(match self.base {
            Some(_) => format!(
                "The document and this question are {tokens} tokens, more than the {most} a call may have; ask about a part of the document"
            ),
            None => format!(
                "This question is {tokens} tokens, more than the {most} a call may have; ask in fewer words"
            ),
        })
    }

    /// Whether the model has not answered this question yet.
    fn is_first_call(&self) -> bool {
        matches!(self.entries.last(), Some(TranscriptEntry { kept: EntryKind::Prompt { .. }, .. }))
    }

    fn request(&self) -> ModelRequest {
        let ask = &self.run.ask;
        let entries = transcript::recent(&self.entries, &ask.run, usize::MAX);
        let first = self.is_first_call();
        let mut messages = transcript::messages(entries, &ask.run, &self.prompt);
        if let (Some(seen), Some(first)) = (&self.seen, messages.first_mut()) {
            // A conversation begins with a prompt, however much of it was left out.
            first.content.insert(0, opening(seen));
        }
        let mut tools = self.shared.tools.definitions(self.ground());
        tools.extend(self.planning_tool().map(|(definition, _)| definition));
        ModelRequest {
            model: self.chosen.name.clone(),
            system: rules(self.ground()).to_owned(),
            messages,
            tools,
            session: ask.session.to_string(),
            run: self.run.full_name(),
            thread: self.run.thread_now(&self.entries),
            prompt: first.then(|| ask.prompt.clone()),
            document: self.base.as_ref().map(|document| DocumentView {
                text: document.text.to_string(),
                selection: self.selection.map(|(from, to)| SelectionView { from, to }),
            }),
            ..ModelRequest::default()
        }
    }
}

/// Bytes of text in a request, near enough.
fn size(request: &ModelRequest) -> usize {
    fn block_size(block: &ContentBlock) -> usize {
        match block {
            ContentBlock::Text { text, .. } => text.len(),
            ContentBlock::ToolUse { input, .. } => input.to_string().len(),
            ContentBlock::ToolResult { content, .. } => content.iter().map(block_size).sum(),
            ContentBlock::Thinking { thinking, signature } => thinking.len() + signature.len(),
            ContentBlock::RedactedThinking { data } => data.len(),
            ContentBlock::Other(value) => value.to_string().len(),
        }
    }
    let message = |message: &ChatMessage| message.content.iter().map(block_size).sum::<usize>();
    request.system.len() + request.messages.iter().map(message).sum::<usize>()
}
