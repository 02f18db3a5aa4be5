//! Helpers for the tests of all models: a small request, and a provider with prepared answers.

use std::collections::VecDeque;
use std::path::Path;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    AnswerDelta, AssistantMessage, FailedTryUsage, Model, ModelDocument, ModelError, ModelRequest,
    ModelSelection,
};
use crate::messages_api::{ChatMessage, ContentBlock, TokenUsage, ToolDefinition};

/// All deltas of an answer, and its end.
#[derive(Debug, PartialEq)]
pub(super) struct RecordedAnswer {
    /// All deltas except [`AnswerDelta::Done`] and [`AnswerDelta::Lost`].
    pub(super) deltas: Vec<AnswerDelta>,
    /// Tokens sent and received by each failed try.
    pub(super) lost: Vec<(u64, u64)>,
    pub(super) end: Result<AssistantMessage, ModelError>,
}

impl RecordedAnswer {
    pub(super) fn message(&self) -> &AssistantMessage {
        self.end.as_ref().expect("a complete answer")
    }

    /// Returns the text of the answer, blocks joined by a line end.
    pub(super) fn text(&self) -> String {
        let texts: Vec<_> =
            self.message().content.iter().filter_map(ContentBlock::as_text).collect();
        texts.join("\n")
    }

    /// Returns the name and input of the only call of the answer.
    pub(super) fn call(&self) -> (&str, &serde_json::Value) {
        let calls: Vec<_> = self
            .message()
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolUse { name, input, .. } => Some((name.as_str(), input)),
                _ => None,
            })
            .collect();
        assert_eq!(calls.len(), 1, "one call in {:?}", self.message());
        calls[0]
    }

    /// Returns the streamed pieces of text since the last [`AnswerDelta::Reset`], joined.
    pub(super) fn streamed_text(&self) -> String {
        self.deltas.iter().fold(String::new(), |text, delta| match delta {
            AnswerDelta::Text(piece) => text + piece,
            AnswerDelta::Reset => String::new(),
            _ => text,
        })
    }
}

pub(super) async fn collect_answer(model: &dyn Model, request: ModelRequest) -> RecordedAnswer {
    collect_stream(model.stream(request, CancellationToken::new())).await
}

/// Collects a stream, which must have no item after its last one.
pub(super) async fn collect_stream(
    mut stream: BoxStream<'_, Result<AnswerDelta, ModelError>>,
) -> RecordedAnswer {
    let (mut deltas, mut lost) = (Vec::new(), Vec::new());
    let end = loop {
        match stream.next().await.expect("a stream ends with Done or an error") {
            Ok(AnswerDelta::Done(message)) => break Ok(message),
            Ok(AnswerDelta::Lost(FailedTryUsage { usage, .. })) => {
                if usage != TokenUsage::default() {
                    lost.push((usage.input_tokens, usage.output_tokens));
                }
            }
            Ok(delta) => deltas.push(delta),
            Err(error) => break Err(error),
        }
    };
    assert!(stream.next().await.is_none(), "nothing comes after the end");
    RecordedAnswer { deltas, lost, end }
}

/// Builds a request with `prompt`, in session `ses_1`, with the three document tools.
pub(super) fn asks(prompt: &str) -> ModelRequest {
    ModelRequest {
        system: "You edit documents.".into(),
        messages: vec![ChatMessage::user(prompt)],
        tools: ["update_full_document", "update_selection", "respond_conversation_only"]
            .map(tool)
            .into(),
        max_tokens: 1024,
        session: "ses_1".into(),
        prompt: Some(prompt.into()),
        ..ModelRequest::default()
    }
}

/// Builds the next request, after the calls in `reply` got `result` (an error if it starts with
/// `!`).
pub(super) fn with_results(
    mut request: ModelRequest,
    reply: &AssistantMessage,
    result: &str,
) -> ModelRequest {
    let answer = |block: &ContentBlock| match (block, result.strip_prefix('!')) {
        (ContentBlock::ToolUse { id, .. }, Some(why)) => Some(ContentBlock::tool_error(id, why)),
        (ContentBlock::ToolUse { id, .. }, None) => Some(ContentBlock::tool_result(id, result)),
        _ => None,
    };
    let results = reply.content.iter().filter_map(answer).collect();
    request.messages.push(ChatMessage::assistant(reply.content.clone()));
    request.messages.push(ChatMessage::results(results));
    request.prompt = None;
    request
}

/// Adds a document to the request. Its selection is marked by `⟦` and `⟧` (if it has these).
pub(super) fn in_document(mut request: ModelRequest, marked: &str) -> ModelRequest {
    let utf16 = |text: &str| text.encode_utf16().count();
    let selection = marked.split_once('⟦').and_then(|(before, rest)| {
        let (selected, _) = rest.split_once('⟧')?;
        Some(ModelSelection { from: utf16(before), to: utf16(before) + utf16(selected) })
    });
    let text =
        if selection.is_some() { marked.replace(['⟦', '⟧'], "") } else { marked.to_owned() };
    request.document = Some(ModelDocument { text, selection });
    request
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: format!("{name}."),
        input_schema: serde_json::json!({"type": "object"}),
        strict: None,
        alias: None,
    }
}

/// Provider that gives prepared answers, one per connection, and records the requests.
pub(super) struct MockProvider {
    /// Address of the provider, without a path.
    pub(super) url: String,
    requests: JoinHandle<Vec<RecordedRequest>>,
}

/// One request as it arrived.
pub(super) struct RecordedRequest {
    /// Request line and headers, in lower case.
    pub(super) head: String,
    pub(super) body: Value,
}

impl MockProvider {
    pub(super) async fn answering(answers: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        let requests = tokio::spawn(async move {
            let mut asked = Vec::new();
            while let Some(answer) = answers.pop_front() {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                asked.push(read_request(&mut socket).await);
                socket.write_all(&answer).await.expect("the client listens");
            }
            asked
        });
        Self { url, requests }
    }

    /// Returns the requests, after every prepared answer was given.
    pub(super) async fn asked(self) -> Vec<RecordedRequest> {
        self.requests.await.expect("the provider ran")
    }
}

pub(super) async fn read_request(socket: &mut TcpStream) -> RecordedRequest {
    let mut bytes = Vec::new();
    loop {
        socket.read_buf(&mut bytes).await.expect("a request");
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        if head.starts_with("get ") {
            return RecordedRequest { head, body: Value::Null };
        }
        if let Ok(body) = serde_json::from_str(body) {
            return RecordedRequest { head, body };
        }
    }
}

pub(super) fn stream(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/sse/{name}.sse"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                request-id: req_1\r\nconnection: close\r\n\r\n";
    [head.as_bytes(), &std::fs::read(path).expect("a fixture")].concat()
}

pub(super) fn refusal(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} No\r\ncontent-length: {length}\r\nconnection: close\r\n");
    format!("{head}{headers}\r\n{body}").into_bytes()
}

pub(super) fn json_answer(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
