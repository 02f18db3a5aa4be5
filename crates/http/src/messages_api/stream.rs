//! Answer as server-sent events: the events of the work, pings during silence, and the end.
//!
//! When the client disconnects all of the work is dropped: the request to the model's provider is
//! cancelled, and a request that waits for people is withdrawn.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, stream};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::messages_api::failure::ApiFailure;
use crate::messages_api::sse_encoder::frame;
use copydesk_llm::messages_api::StreamEvent;

use super::driver::AnswerWork;

/// Time that the HTTP status may wait for the model's first output: an error within it has its own
/// status.
const FIRST_WORDS: Duration = Duration::from_secs(5);
/// Number of events that may wait for a slow client before the work pauses.
const WAITING_EVENTS: usize = 32;

/// Begins the answer. After each silence as long as `ping` a ping is sent: proxies cut connections
/// that are silent for a minute.
pub(crate) async fn answer(work: AnswerWork, ping: Duration) -> Result<Response, ApiFailure> {
    let (sender, events) = mpsc::channel(WAITING_EVENTS);
    let work = async move { work.go(Some(sender)).await }.boxed();
    let mut running =
        RunningAnswer { work, ping, events, ready: VecDeque::new(), ended: None, over: false };
    // After that time the status is 200: the client sees that something happens.
    if let Ok(Err(failure)) = timeout(FIRST_WORDS, running.first_words()).await {
        return Err(failure);
    }
    let frames = stream::unfold(running, |mut running| async {
        let event = running.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame(&event))), running))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, Body::from_stream(frames)).into_response())
}

struct RunningAnswer {
    work: BoxFuture<'static, Result<Value, ApiFailure>>,
    ping: Duration,
    events: mpsc::Receiver<StreamEvent>,
    /// Events that were received from the work and not yet sent.
    ready: VecDeque<StreamEvent>,
    /// Result of the work; earlier events may still wait.
    ended: Option<Result<(), ApiFailure>>,
    over: bool,
}

/// Next event of a [`RunningAnswer`]'s work, or its end.
enum StreamStep {
    Told(StreamEvent),
    Over(Result<(), ApiFailure>),
}

impl RunningAnswer {
    /// Waits for the first output of the model, or for the end of the work.
    async fn first_words(&mut self) -> Result<(), ApiFailure> {
        loop {
            match self.step().await {
                StreamStep::Told(event) => {
                    let words =
                        !matches!(event, StreamEvent::MessageStart { .. } | StreamEvent::Ping);
                    self.ready.push_back(event);
                    if words {
                        return Ok(());
                    }
                }
                StreamStep::Over(ended) => {
                    self.over = true;
                    return ended;
                }
            }
        }
    }

    async fn next(&mut self) -> Option<StreamEvent> {
        if let Some(event) = self.ready.pop_front() {
            return Some(event);
        }
        if self.over {
            return None;
        }
        let silent_until = Instant::now() + self.ping;
        let step = tokio::select! {
            biased;
            step = self.step() => step,
            () = sleep_until(silent_until) => return Some(StreamEvent::Ping),
        };
        match step {
            StreamStep::Told(event) => Some(event),
            StreamStep::Over(ended) => {
                self.over = true;
                let failure = ended.err()?;
                tracing::warn!(
                    message = failure.error.message,
                    "an answer of the Messages API failed"
                );
                Some(StreamEvent::Error { error: failure.error })
            }
        }
    }

    /// Returns the next step. Cancel safe: nothing is lost.
    async fn step(&mut self) -> StreamStep {
        loop {
            if let Some(ended) = &self.ended {
                // Events that were sent before the end come before it.
                return match self.events.try_recv() {
                    Ok(event) => StreamStep::Told(event),
                    Err(_) => StreamStep::Over(ended.clone()),
                };
            }
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => return StreamStep::Told(event),
                ended = &mut self.work => self.ended = Some(ended.map(drop)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use copydesk_llm::messages_api::ErrorBody;

    use super::*;

    const PING: Duration = Duration::from_secs(15);

    fn running<W>(work: impl FnOnce(mpsc::Sender<StreamEvent>) -> W) -> RunningAnswer
    where
        W: Future<Output = Result<Value, ApiFailure>> + Send + 'static,
    {
        let (sender, events) = mpsc::channel(WAITING_EVENTS);
        RunningAnswer {
            work: work(sender).boxed(),
            ping: PING,
            events,
            ready: VecDeque::new(),
            ended: None,
            over: false,
        }
    }

    fn stop() -> StreamEvent {
        StreamEvent::MessageStop
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled_with_pings() {
        let mut running = running(|sender| async move {
            tokio::time::sleep(PING * 2 + Duration::from_secs(1)).await;
            sender.send(stop()).await.ok();
            Ok(Value::Null)
        });
        let mut events = Vec::new();
        while let Some(event) = running.next().await {
            events.push(event);
        }
        assert_eq!(events, [StreamEvent::Ping, StreamEvent::Ping, stop()]);
    }

    #[tokio::test(start_paused = true)]
    async fn everything_told_comes_before_the_end_and_an_error_is_the_last_event() {
        let mut running = running(|sender| async move {
            for _ in 0..3 {
                sender.send(stop()).await.ok();
            }
            Err(ApiFailure::new(529, "Busy."))
        });
        assert_eq!(running.first_words().await, Ok(()));
        let mut events = Vec::new();
        while let Some(event) = running.next().await {
            events.push(event);
        }
        assert_eq!(events[..3], [stop(), stop(), stop()]);
        let text = frame(&events[3]);
        let data = text.split("data: ").nth(1).expect("data");
        let body: ErrorBody = serde_json::from_str(data).expect("an error");
        assert_eq!(
            (text.starts_with("event: error\n"), body.error.kind.as_str()),
            (true, "overloaded_error")
        );
        assert_eq!(events.len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_before_the_first_words_is_the_requests_own() {
        let mut running = running(|sender| async move {
            sender.send(StreamEvent::Ping).await.ok();
            Err(ApiFailure::new(429, "Slowly."))
        });
        assert_eq!(running.first_words().await.map_err(|failure| failure.status), Err(429));
    }
}
