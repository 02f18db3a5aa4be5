//! Receives a model's answer and passes it on while it is being written.

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use copydesk_llm::messages_api::TokenUsage;
use copydesk_llm::{AnswerDelta, FailedTryUsage, ModelError};
use copydesk_rooms::event::RunEventKind;

use super::call_previews::CallPreviews;
use super::end_reason::RunEndReason;
use super::run_events::RunEventPublisher;
use super::state_machine::{RunEnd, RunInput};
use crate::MeteredCall;

/// Maximum delay before received text is passed on.
const CHUNK_DELAY: Duration = Duration::from_millis(30);
/// Size in bytes of waiting text that is passed on at once.
const CHUNK_SIZE: usize = 256;
/// Maximum size of one answer in bytes; a document at its limit fits several times.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;

#[derive(Default)]
struct ModelProgress {
    text: String,
    /// Number of bytes that were passed on to people; `text[passed_on..]` waits.
    passed_on: usize,
    due: Option<Instant>,
    size: usize,
    lost: Vec<FailedTryUsage>,
}

/// Receives an answer. Returns its result, and the usage of attempts that gave no answer. Ends at
/// once when `cancel` fires, which the model was also given.
pub async fn listen(
    run_events: &RunEventPublisher,
    stream: &mut MeteredCall,
    cancel: &CancellationToken,
    previews: &mut CallPreviews<'_>,
) -> (RunInput, Vec<FailedTryUsage>) {
    run_events.publish(RunEventKind::StreamStart).await;
    let mut progress = ModelProgress::default();
    let event = until_end(run_events, stream, cancel, &mut progress, previews).await;
    progress.notify(run_events).await;
    run_events.publish(RunEventKind::StreamEnd).await;
    previews
        .end(match &event {
            RunInput::Answered(answer) => Some(answer),
            _ => None,
        })
        .await;
    (event, progress.lost)
}

async fn until_end(
    run_events: &RunEventPublisher,
    stream: &mut MeteredCall,
    cancel: &CancellationToken,
    progress: &mut ModelProgress,
    previews: &mut CallPreviews<'_>,
) -> RunInput {
    loop {
        let due = progress.due;
        let delta = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                if let Some(Some(Ok(AnswerDelta::Lost(lost)))) = stream.next().now_or_never() {
                    progress.record_lost(lost);
                }
                return RunInput::Cancelled { partial: progress.text.clone() };
            }
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                progress.notify(run_events).await;
                continue;
            }
            delta = stream.next() => delta,
            // Last: received text comes first, and previews are shown when the model pauses or they
            // are due.
            () = previews.draw() => continue,
        };
        match delta {
            Some(Ok(AnswerDelta::Text(text) | AnswerDelta::NextText(text))) => {
                progress.text(run_events, &text).await;
            }
            Some(Ok(AnswerDelta::ToolUse { index, id, name })) => {
                progress.notify(run_events).await;
                previews.begin(index, id, name);
            }
            Some(Ok(AnswerDelta::ToolInput { index, partial_json })) => {
                progress.size += partial_json.len();
                previews.grow(index, &partial_json);
            }
            // Reasoning is for the model alone.
            Some(Ok(AnswerDelta::Block(_))) => {}
            Some(Ok(AnswerDelta::Reset)) => {
                previews.start_again().await;
                *progress = ModelProgress {
                    lost: std::mem::take(&mut progress.lost),
                    ..ModelProgress::default()
                };
                run_events.publish(RunEventKind::StreamStart).await;
            }
            Some(Ok(AnswerDelta::Lost(lost))) => progress.record_lost(lost),
            Some(Ok(AnswerDelta::Done(answer))) => return RunInput::Answered(answer),
            Some(Err(ModelError::Cancelled)) => {
                return RunInput::Cancelled { partial: progress.text.clone() };
            }
            Some(Err(error)) => return progress.failed(failed(&error)),
            None => return progress.failed(failed(&ModelError::CutOff)),
        }
        if progress.size > ANSWER_LIMIT {
            return progress.failed(RunEnd::limit("The model's answer was too long"));
        }
    }
}

fn failed(error: &ModelError) -> RunEnd {
    tracing::warn!(%error, "the model gave no answer");
    RunEnd::error(RunEndReason::Model(error.code().to_owned()), error.for_people())
}

impl ModelProgress {
    fn record_lost(&mut self, lost: FailedTryUsage) {
        if lost.usage != TokenUsage::default() {
            self.lost.push(lost);
        }
    }

    async fn text(&mut self, run_events: &RunEventPublisher, text: &str) {
        self.text.push_str(text);
        self.size += text.len();
        self.due.get_or_insert_with(|| Instant::now() + CHUNK_DELAY);
        if self.text.len() - self.passed_on >= CHUNK_SIZE {
            self.notify(run_events).await;
        }
    }

    async fn notify(&mut self, run_events: &RunEventPublisher) {
        self.due = None;
        if self.passed_on < self.text.len() {
            let chunk = self.text[self.passed_on..].to_owned();
            self.passed_on = self.text.len();
            run_events.stream_chunk(chunk).await;
        }
    }

    fn failed(&self, end: RunEnd) -> RunInput {
        RunInput::Failed { partial: self.text.clone(), end }
    }
}
