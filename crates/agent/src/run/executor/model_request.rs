//! Requests to the model: their content, their size, and the time limit for the answer.

use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use copydesk_auth as auth;
use copydesk_ids::RequestId;
use copydesk_llm::messages_api::ContentBlock;
use copydesk_llm::{FailedTryUsage, ModelDocument, ModelRequest, ModelSelection};
use copydesk_metrics as metrics;

use super::super::call_previews::CallPreviews;
use super::super::model_answer::listen;
use super::super::state_machine::{RunEnd, RunInput};
use super::{RunExecutor, RunFailure, RunResult};
use crate::conversation::prompt::{opening, rules};
use crate::conversation::shown_documents::ShownDocument;
use crate::conversation::transcript;
use crate::conversation::transcript::{CONVERSATION_LIMIT, EntryKind, TranscriptEntry};
use crate::conversation::truncate::make_room;
use crate::mode_permission::needed_action;
use crate::models::check_model;
use crate::{AgentQuestion, AskError, CallPayer, MeteredCall};

/// Minimum size in bytes of a request whose tokens are counted; smaller ones cannot be too long.
const COUNTED_FROM: usize = 240_000;
/// Time limit for all token counting of a run's request, which is then sent uncounted.
const COUNT_TIMEOUT: Duration = Duration::from_secs(20);

impl RunExecutor<'_> {
    pub(crate) async fn call_model(&mut self) -> RunResult<RunInput> {
        self.check_asker().await?;
        if let Some(end) = self.shared.limits.passed(&self.run.spent) {
            return Ok(RunInput::Failed { partial: String::new(), end });
        }
        let reached = self.shared.reached_limit(&self.payer(), &self.chosen).await;
        if let Some(reached) = reached.map_err(AskError::from)? {
            let end = RunEnd::spending_limit(reached.to_string());
            return Ok(RunInput::Failed { partial: String::new(), end });
        }
        // A room that was empty may have closed meanwhile.
        self.run_events.room = self.shared.room(self.run).await?;
        // Owners may have changed the setting since the question, or since the last call.
        check_model(&self.run_events.room, &self.chosen.asked()).await?;
        self.shared.check_reading(&self.run.ask).await?;
        let began = Instant::now();
        let event = match self.fitting_request().await {
            Ok(request) => {
                self.known_at_calls = self.known.clone();
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

    async fn answer_to(&mut self, request: ModelRequest, began: Instant) -> RunResult<RunInput> {
        let stop_model = self.cancel.child_token();
        let (payer, chosen, stop) = (self.payer(), &self.chosen, stop_model.clone());
        let mut call = self.shared.call_model(payer, chosen, request, stop);
        // Each call is shown under a request id of its own.
        let context =
            self.context(RequestId::generate(), self.shared.rooms.workspace_inbox().await?);
        let mut previews = CallPreviews::new(&self.shared.tools, context);
        // Lasts until it is dropped; nothing is logged in it.
        let failed = tracing::field::Empty;
        let span = tracing::debug_span!("model_call", model = self.chosen.model.name(), failed);
        let timer = metrics::MODEL_CALL_SECONDS.start();
        let (event, lost) = self.receive_answer(&mut call, &stop_model, &mut previews, began).await;
        drop(timer);
        if matches!(event, RunInput::Failed { .. }) {
            metrics::MODEL_CALLS_FAILED.count();
            span.record("failed", true);
        }
        drop(span);
        self.turn.request_ids = previews.names();
        for lost in &lost {
            self.run.spent.lose(lost);
        }
        call.settle().await.map_err(AskError::from)?;
        Ok(event)
    }

    fn payer(&self) -> CallPayer {
        let AgentQuestion { principal, document, .. } = &self.run.ask;
        CallPayer { user: principal.user.clone(), document: document.clone() }
    }

    /// Returns the milliseconds for which the run has waited for its model, up to now.
    fn waited_ms(&self, began: Instant) -> u64 {
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.run.spent.model_ms.saturating_add(took)
    }

    /// Checks that the person who asked could still ask: a run ends when their token does. Requests
    /// that already wait for people stay, because they belong to the document. The run goes on with
    /// the rights that the person still has: what a token allowed ends with it.
    pub(crate) async fn check_asker(&mut self) -> RunResult<()> {
        let AgentQuestion { principal, document, permission_mode, .. } = &self.run.ask;
        let (store, now_ms) = (&self.shared.store, self.now_ms());
        let now = auth::with_current_rights(store, principal, now_ms).await;
        let now = now.map_err(AskError::from)?;
        if !now.may(needed_action(*permission_mode), document.as_ref()) {
            return Err(RunFailure::NotAllowed);
        }
        self.asker = now;
        Ok(())
    }

    /// Returns the document as the conversation was shown it before this question, if it was.
    pub(crate) fn opening_document(&self) -> Option<ShownDocument> {
        let AgentQuestion { session, document, run, .. } = &self.run.ask;
        let (key, now) = ((session.clone(), document.clone()), self.known.snapshot.as_ref()?);
        if self.entries.iter().any(|entry| entry.run != *run) {
            return self.shared.snapshots().of(&key, now, &self.prompt.tag);
        }
        self.shared.snapshots().begin(&key, now, &self.prompt.tag);
        None
    }

    /// Receives an answer until the time limit of the run; `stop_model` stops the model.
    async fn receive_answer(
        &self,
        call: &mut MeteredCall,
        stop_model: &CancellationToken,
        previews: &mut CallPreviews<'_>,
        began: Instant,
    ) -> (RunInput, Vec<FailedTryUsage>) {
        let limits = &self.shared.limits;
        let left = limits.model_ms.saturating_sub(self.waited_ms(began));
        let mut listening = pin!(listen(&self.run_events, call, stop_model, previews));
        tokio::select! {
            input = &mut listening => return input,
            () = sleep(Duration::from_millis(left)) => stop_model.cancel(),
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

    /// Builds the request with as much of the conversation as a call may have. The tokens of a long
    /// one are counted first, if the provider supports that. Entries that were left out once stay
    /// left out, so that each request begins like the previous one.
    async fn fitting_request(&mut self) -> Result<ModelRequest, RunInput> {
        let most = self.shared.limits.input_tokens;
        let left = self.shared.limits.model_ms.saturating_sub(self.run.spent.model_ms);
        let patience = Instant::now() + COUNT_TIMEOUT.min(Duration::from_millis(left));
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
                // Any problem of the provider will show in the request itself.
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

    fn too_long(&self, tokens: u64) -> RunEnd {
        let most = self.shared.limits.input_tokens;
        RunEnd::limit(match self.known.snapshot {
            Some(_) => format!(
                "The document and this question are {tokens} tokens, more than the limit of {most}; ask about a part of the document"
            ),
            None => format!(
                "This question is {tokens} tokens, more than the limit of {most}; shorten it"
            ),
        })
    }

    fn is_first_call(&self) -> bool {
        matches!(self.entries.last(), Some(TranscriptEntry { kind: EntryKind::Prompt { .. }, .. }))
    }

    fn request(&self) -> ModelRequest {
        let ask = &self.run.ask;
        let entries = transcript::recent(&self.entries, &ask.run, usize::MAX);
        let first = self.is_first_call();
        let mut messages = transcript::messages(entries, &ask.run, &self.prompt.blocks);
        if let (Some(seen), Some(first)) = (&self.prompt.opening_document, messages.first_mut()) {
            // A conversation begins with a prompt, however much of it was left out.
            first.content.insert(0, opening(seen));
        }
        let mut tools = self.shared.tools.definitions(self.scope());
        tools.extend(self.planning_tool().map(|(definition, _)| definition));
        ModelRequest {
            model: self.chosen.name.clone(),
            system: rules(self.scope()).to_owned(),
            messages,
            tools,
            session: ask.session.to_string(),
            run: self.run.full_name(),
            thread: self.run.thread_now(&self.entries),
            prompt: first.then(|| ask.prompt.clone()),
            question: Some(ask.prompt.clone()),
            document: self.known.snapshot.as_ref().map(|document| ModelDocument {
                text: document.text.to_string(),
                selection: self.known.selection.map(|(from, to)| ModelSelection { from, to }),
            }),
            ..ModelRequest::default()
        }
    }
}

/// Returns the approximate size of the text in a request, in bytes.
fn size(request: &ModelRequest) -> usize {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    request.system.len() + blocks.map(ContentBlock::text_bytes).sum::<usize>()
}
