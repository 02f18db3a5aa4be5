//! A model on another server: the request is sent as JSON, and the answer comes as lines of JSON.
//!
//! This module has both sides of the stream: [`answer_lines`] on the server that has the model, and
//! [`RemoteModel`] on the one that asks. How the bytes get from one to the other is up to the
//! caller ([`OpenAnswer`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::delta_stream::{self, DeltaSink};
use super::{
    AnswerDelta, AnswerStream, AssistantMessage, Model, ModelError, ModelRequest, ModelResult,
    malformed,
};

/// Silence after which an empty line is sent, by which the other side knows that this one is there.
const PING: Duration = Duration::from_secs(5);
/// Longest time without a byte after which the other side counts as lost.
const SILENCE: Duration = Duration::from_secs(20);
/// Largest length of a line in bytes: an answer at its limit fits.
const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// Body of an answer, as it arrives.
pub type AnswerBytes = BoxStream<'static, std::io::Result<Bytes>>;

/// Function that sends a request to the server that has the model, and returns the body of its
/// answer. Dropping the body ends the work there.
pub type OpenAnswer =
    Arc<dyn Fn(Bytes) -> BoxFuture<'static, ModelResult<AnswerBytes>> + Send + Sync>;

/// Line of an answer.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerLine {
    Delta(AnswerDelta),
    Error(ModelError),
}

/// [`Model`] that keeps threads, on another server.
pub struct RemoteModel {
    name: String,
    /// Provider's name of the model that is used if a request names none.
    model: String,
    open: OpenAnswer,
    is_available: AtomicBool,
}

impl RemoteModel {
    /// Returns a model of this name, such as `claude-cli` or `claude-cli:opus`, which counts as
    /// unavailable until [`RemoteModel::set_available`] says otherwise.
    pub fn new(name: impl Into<String>, open: OpenAnswer) -> Self {
        let name = name.into();
        let model = name.split_once(':').map_or_else(String::new, |(_, model)| model.to_owned());
        Self { name, model, open, is_available: AtomicBool::new(false) }
    }

    /// Records whether some server has the model; returns `true` if that was not known.
    pub fn set_available(&self, is_available: bool) -> bool {
        self.is_available.swap(is_available, Ordering::Relaxed) != is_available
    }
}

impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_available(&self) -> bool {
        self.is_available.load(Ordering::Relaxed)
    }

    fn stream(&self, mut request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        if request.model.is_empty() {
            request.model.clone_from(&self.model);
        }
        // Only models inside a process read it, and it may be long.
        request.document = None;
        let open = Arc::clone(&self.open);
        delta_stream::answer(cancel, |sink| async move { ask(&open, &request, &sink).await })
    }

    fn keeps_threads(&self) -> bool {
        true
    }
}

async fn ask(
    open: &OpenAnswer,
    request: &ModelRequest,
    sink: &DeltaSink,
) -> ModelResult<AssistantMessage> {
    let request = serde_json::to_vec(request).map_err(|error| unwritable(&error))?;
    let mut body = open(request.into()).await?;
    let mut lines = LineSplitter::default();
    loop {
        let piece = match timeout(SILENCE, body.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => {
                tracing::warn!(%error, "the answer of a model on another server broke off");
                return Err(ModelError::CutOff);
            }
            Ok(None) | Err(_) => return Err(ModelError::CutOff),
        };
        lines.feed(&piece)?;
        while let Some(line) = lines.next_line() {
            match read_line(&line)? {
                Some(AnswerLine::Delta(AnswerDelta::Done(answer))) => return Ok(answer),
                Some(AnswerLine::Delta(delta)) => sink.send(delta).await,
                Some(AnswerLine::Error(error)) => return Err(error),
                None => {}
            }
        }
    }
}

/// Returns an answer as lines of JSON, with empty lines while the model is silent. Dropping the
/// stream drops the answer.
pub fn answer_lines(answer: AnswerStream) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::unfold(answer, |mut answer| async {
        let line = match timeout(PING, answer.next()).await {
            Ok(item) => write_line(item?),
            Err(_) => Bytes::from_static(b"\n"),
        };
        Some((line, answer))
    })
}

fn write_line(item: ModelResult<AnswerDelta>) -> Bytes {
    let line = match item {
        Ok(delta) => AnswerLine::Delta(delta),
        Err(error) => AnswerLine::Error(error),
    };
    let written = serde_json::to_vec(&line)
        .or_else(|error| serde_json::to_vec(&AnswerLine::Error(unwritable(&error))));
    // Without a line the answer is incomplete, and nothing of it is executed.
    let mut line = written.unwrap_or_default();
    line.push(b'\n');
    line.into()
}

/// Reads a line; `None` for one that only shows that the other side is there.
fn read_line(line: &[u8]) -> ModelResult<Option<AnswerLine>> {
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(line).map(Some).map_err(|error| malformed(error.to_string()))
}

fn unwritable(error: &serde_json::Error) -> ModelError {
    ModelError::Internal { message: format!("it cannot be written as JSON: {error}") }
}

/// Splitter of bytes into lines, at whatever bytes they were cut on the way.
#[derive(Default)]
struct LineSplitter {
    line: Vec<u8>,
    complete: VecDeque<Vec<u8>>,
}

impl LineSplitter {
    /// Takes the next piece of the stream.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] for a line that is too long.
    fn feed(&mut self, piece: &[u8]) -> ModelResult<()> {
        let mut parts = piece.split(|byte| *byte == b'\n');
        let Some(first) = parts.next() else { return Ok(()) };
        self.line.extend_from_slice(first);
        for part in parts {
            self.complete.push_back(std::mem::replace(&mut self.line, part.to_vec()));
        }
        if self.line.len() > LONGEST_LINE {
            return Err(malformed("a line is too long"));
        }
        Ok(())
    }

    fn next_line(&mut self) -> Option<Vec<u8>> {
        self.complete.pop_front()
    }
}

#[cfg(test)]
mod tests;
