//! Stream of a model's answer: work that sends deltas becomes a stream with exactly one end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{AnswerDelta, AnswerStream, AssistantMessage, FailedTryUsage, ModelError, ModelResult};
use crate::messages_api::{ContentBlock, StopReason, TokenUsage};

/// Sender for the [`AnswerDelta`]s of a working model.
pub(super) struct DeltaSink {
    sender: mpsc::Sender<AnswerDelta>,
    /// `true` if a delta was sent since the start or the last [`AnswerDelta::Reset`].
    has_sent: AtomicBool,
    used: Arc<TryUsage>,
}

/// [`FailedTryUsage`] of the current try so far.
#[derive(Default)]
struct TryUsage(Mutex<Option<FailedTryUsage>>);

impl TryUsage {
    fn set(&self, model: &str, usage: TokenUsage) {
        let mut used = self.0.lock();
        if used.as_ref().map_or(TokenUsage::default(), |lost| lost.usage) != usage {
            *used = Some(FailedTryUsage { model: model.to_owned(), usage });
        }
    }

    fn begin(&self, model: &str) {
        let begun = FailedTryUsage { model: model.to_owned(), usage: TokenUsage::default() };
        *self.0.lock() = Some(begun);
    }

    fn take(&self) -> Option<FailedTryUsage> {
        self.0.lock().take()
    }
}

impl DeltaSink {
    /// Records the tokens that the answer of `model` has used so far; lost if the try fails.
    pub(super) fn uses(&self, model: &str, usage: TokenUsage) {
        self.used.set(model, usage);
    }

    /// Records that a request to `model` is about to leave. If the try fails before any tokens are
    /// reported, it is sent as lost: the provider may have read the request all the same.
    pub(super) fn begin(&self, model: &str) {
        self.used.begin(model);
    }

    /// Records that the try has used nothing: the request did not leave, or was refused.
    pub(super) fn forget(&self) {
        drop(self.used.take());
    }

    /// Sends the tokens that the last try has used in vain.
    pub(super) async fn lose(&self) {
        if let Some(lost) = self.used.take() {
            self.sender.send(AnswerDelta::Lost(lost)).await.ok();
        }
    }

    /// Sends the delta once the channel has room. A reader that is gone is no error: the work is
    /// about to be dropped.
    pub(super) async fn send(&self, delta: AnswerDelta) {
        self.has_sent.store(true, Ordering::Relaxed);
        self.sender.send(delta).await.ok();
    }

    /// Sends [`AnswerDelta::Reset`] if any delta was sent before it.
    pub(super) async fn send_reset(&self) {
        if self.has_sent.swap(false, Ordering::Relaxed) {
            self.sender.send(AnswerDelta::Reset).await.ok();
        }
    }
}

/// Number of deltas that may wait for a slow reader before the work pauses.
const OUTLET_CAPACITY: usize = 32;

/// Turns work that sends deltas and returns the answer into a stream with exactly one end. The work
/// runs only while the stream is polled, and is dropped as soon as `cancel` fires.
pub(super) fn answer<F, W>(cancel: CancellationToken, work: F) -> AnswerStream
where
    F: FnOnce(DeltaSink) -> W,
    W: Future<Output = ModelResult<AssistantMessage>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(OUTLET_CAPACITY);
    let used = Arc::<TryUsage>::default();
    let sink = DeltaSink { sender, has_sent: AtomicBool::new(false), used: Arc::clone(&used) };
    let work = Box::pin(work(sink));
    Box::pin(stream::unfold(Some(RunningCall { work, receiver, cancel, used }), next))
}

/// Work in progress, and the [`AnswerDelta`]s it has sent.
struct RunningCall {
    work: Pin<Box<dyn Future<Output = ModelResult<AssistantMessage>> + Send>>,
    receiver: mpsc::Receiver<AnswerDelta>,
    cancel: CancellationToken,
    used: Arc<TryUsage>,
}

impl RunningCall {
    /// Ends the stream without an answer, after the tokens used in vain; drops the work at once.
    fn fail(mut self, error: ModelError) -> (ModelResult<AnswerDelta>, Option<Self>) {
        let Some(lost) = self.used.take() else { return (Err(error), None) };
        self.work = Box::pin(async { Err(error) });
        (Ok(AnswerDelta::Lost(lost)), Some(self))
    }
}

/// Returns the next item and, unless it is the last, the rest of the work.
async fn next(
    running: Option<RunningCall>,
) -> Option<(ModelResult<AnswerDelta>, Option<RunningCall>)> {
    let mut running = running?;
    tokio::select! {
        biased;
        () = running.cancel.cancelled() => Some(running.fail(ModelError::Cancelled)),
        Some(delta) = running.receiver.recv() => Some((Ok(delta), Some(running))),
        end = &mut running.work => match running.receiver.try_recv() {
            // Deltas that were sent before the end come before it.
            Ok(delta) => {
                running.work = Box::pin(async { end });
                Some((Ok(delta), Some(running)))
            }
            Err(_) => Some(match end {
                Ok(answer) => (Ok(AnswerDelta::Done(answer)), None),
                Err(error) => running.fail(error),
            }),
        },
    }
}

/// Speed at which a ready-made answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeltaPace {
    /// Number of Unicode scalars per delta; `None` sends each block as one delta.
    pub(super) chunk_chars: Option<usize>,
    /// Pause before each delta.
    pub(super) delay: Duration,
}

/// Sends blocks of text and calls as if they were being written; other blocks make no delta.
pub(super) async fn play(blocks: &[ContentBlock], pace: DeltaPace, sink: &DeltaSink) {
    for (index, block) in blocks.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| blocks.get(index));
        let mut is_next = before.is_some_and(|before| before.as_text().is_some());
        match block {
            ContentBlock::Text { text, .. } => {
                for piece in pieces(text, pace.chunk_chars) {
                    pause(pace.delay).await;
                    let next = std::mem::take(&mut is_next);
                    let delta =
                        if next { AnswerDelta::NextText(piece) } else { AnswerDelta::Text(piece) };
                    sink.send(delta).await;
                }
            }
            ContentBlock::ToolUse { id, name, input } => {
                pause(pace.delay).await;
                sink.send(AnswerDelta::ToolUse { index, id: id.clone(), name: name.clone() }).await;
                for partial_json in pieces(&input.to_string(), pace.chunk_chars) {
                    pause(pace.delay).await;
                    sink.send(AnswerDelta::ToolInput { index, partial_json }).await;
                }
            }
            _ => {}
        }
    }
}

async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

fn pieces(text: &str, chunk_chars: Option<usize>) -> Vec<String> {
    let Some(size) = chunk_chars else { return vec![text.to_owned()] };
    let scalars: Vec<char> = text.chars().collect();
    scalars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Builds the [`AssistantMessage`]. Calls stay in it only when the model waits for their results.
pub(super) fn complete(
    mut content: Vec<ContentBlock>,
    stop_reason: StopReason,
    usage: TokenUsage,
    model: String,
) -> AssistantMessage {
    let blocks = content.len();
    if stop_reason != StopReason::ToolUse {
        content.retain(|block| !block.is_tool_use());
    }
    let calls_left_out = blocks - content.len();
    AssistantMessage {
        content,
        stop_reason,
        stop_sequence: None,
        stop_details: None,
        usage,
        model,
        calls_left_out,
        notice: None,
    }
}

/// Logs the end of an answer, under the name that the provider gave the request.
pub(super) fn log(request_id: &str, model: &str, answer: &ModelResult<AssistantMessage>) {
    match answer {
        Ok(AssistantMessage { usage, stop_reason, .. }) => tracing::info!(
            request_id,
            model,
            stop_reason = stop_reason.as_str(),
            input_tokens = usage.input_tokens,
            cache_read_input_tokens = usage.cache_read_input_tokens,
            output_tokens = usage.output_tokens,
            "the model answered"
        ),
        Err(error) => tracing::warn!(request_id, model, %error, "the model's answer failed"),
    }
}

/// Parses the input of a call. Text that is no JSON object stays text, which the tool refuses.
pub(super) fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(object @ Value::Object(_)) => object,
        // Arguments written as a JSON string that contains JSON.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(inner),
        },
        _ if arguments.trim().is_empty() => Value::Object(Map::new()),
        _ => Value::String(arguments.to_owned()),
    }
}

/// Creates an identifier for a call that no provider has named.
pub(super) fn mint_call_id() -> String {
    format!("toolu_{}", uuid::Uuid::new_v4().simple())
}
