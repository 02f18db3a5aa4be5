//! Listens to a model's answer and passes it on while it is being written.

use std::pin::pin;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::llm::{AnswerDelta, FailedTryUsage, ModelError};

use super::call_previews::CallPreviews;
use super::run_events::RunEvents;
use super::state_machine::{RunEnd, RunInput};

/// How long text may wait for more before people are told.
const CHUNK_DELAY: Duration = Duration::from_millis(30);
/// Bytes of text after which it does not wait.
const CHUNK_SIZE: usize = 256;
/// Bytes of one answer; a document at its limit fits several times.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;

/// What people have not been told yet, and what they have; what was used in vain.
#[derive(Default)]
struct ModelProgress {
    text: String,
    /// `text[told..]` waits.
    told: usize,
    due: Option<Instant>,
    size: usize,
    lost: Vec<FailedTryUsage>,
}

/// What came of a call of the model, and what the tries used of which nothing came. Ends at once when `cancel` fires, which
/// the model was given too.
pub async fn listen(
    voice: &RunEvents,
    stream: BoxStream<'static, Result<AnswerDelta, ModelError>>,
    cancel: &CancellationToken,
    sketching: &mut CallPreviews<'_>,
) -> (RunInput, Vec<FailedTryUsage>) {
    voice.stream_start().await;
    let mut heard = ModelProgress::default();
    let event = until_end(voice, stream, cancel, &mut heard, sketching).await;
    heard.tell(voice).await;
    voice.stream_end().await;
    sketching
        .end(match &event {
            RunInput::Answered(answer) => Some(answer),
            _ => None,
        })
        .await;
    (event, heard.lost)
}

async fn until_end(
    voice: &RunEvents,
    stream: BoxStream<'static, Result<AnswerDelta, ModelError>>,
    cancel: &CancellationToken,
    heard: &mut ModelProgress,
    sketching: &mut CallPreviews<'_>,
) -> RunInput {
    let mut stream = pin!(stream);
    loop {
        let due = heard.due;
        let delta = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                if let Some(Some(Ok(AnswerDelta::Lost(lost)))) = stream.next().now_or_never() {
                    heard.lost.push(lost);
                }
                return RunInput::Cancelled { partial: heard.text.clone() };
            }
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                heard.tell(voice).await;
                continue;
            }
            delta = stream.next() => delta,
            // Last: what the model says comes first, and is drawn when it pauses to think or the time has come.
            () = sketching.draw() => continue,
        };
        match delta {
            Some(Ok(AnswerDelta::Text(text) | AnswerDelta::NextText(text))) => {
                heard.text(voice, &text).await;
            }
            Some(Ok(AnswerDelta::ToolUse { index, id, name })) => {
                heard.tell(voice).await;
                sketching.begin(index, id, name);
            }
            Some(Ok(AnswerDelta::ToolInput { index, partial_json })) => {
                heard.size += partial_json.len();
                sketching.grow(index, &partial_json);
            }
            // Reasoning is for the model alone.
            Some(Ok(AnswerDelta::Block(_))) => {}
            Some(Ok(AnswerDelta::Reset)) => {
                sketching.start_again().await;
                *heard = ModelProgress {
                    lost: std::mem::take(&mut heard.lost),
                    ..ModelProgress::default()
                };
                voice.stream_start().await;
            }
            Some(Ok(AnswerDelta::Lost(lost))) => heard.lost.push(lost),
            Some(Ok(AnswerDelta::Done(answer))) => return RunInput::Answered(answer),
            Some(Err(ModelError::Cancelled)) => {
                return RunInput::Cancelled { partial: heard.text.clone() };
            }
            Some(Err(error)) => return heard.failed(failed(&error)),
            None => return heard.failed(failed(&ModelError::CutOff)),
        }
        if heard.size > ANSWER_LIMIT {
            return heard.failed(RunEnd::limit("The model's answer was too long"));
        }
    }
}

fn failed(error: &ModelError) -> RunEnd {
    tracing::warn!(%error, "the model gave no answer");
    RunEnd::error(error.code(), error.for_people())
}

impl ModelProgress {
    async fn text(&mut self, voice: &RunEvents, text: &str) {
        self.text.push_str(text);
        self.size += text.len();
        self.due.get_or_insert_with(|| Instant::now() + CHUNK_DELAY);
        if self.text.len() - self.told >= CHUNK_SIZE {
            self.tell(voice).await;
        }
    }

    async fn tell(&mut self, voice: &RunEvents) {
        self.due = None;
        if self.told < self.text.len() {
            let chunk = self.text[self.told..].to_owned();
            self.told = self.text.len();
            voice.stream_chunk(chunk).await;
        }
    }

    fn failed(&self, end: RunEnd) -> RunInput {
        RunInput::Failed { partial: self.text.clone(), end }
    }
}
