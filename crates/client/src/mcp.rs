//! `copydesk mcp`: MCP over standard input and output, for clients that start their servers
//! themselves.
//!
//! A bridge and no second server: each line from the client is sent to the running server's `/mcp`
//! unchanged, and the server's answers are written as they came. Nothing else is ever written to
//! standard output.

mod lines;
mod sse;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{ClientResult, ServerClient};

pub use lines::{InputLine, input_lines, write_line};

use sse::SseEvents;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Header with the milliseconds after which the program that started the bridge gives up a call.
const TIMEOUT: &str = "copydesk-timeout-ms";
/// Header that tells this bridge from others: all sessions of the program that started it are one.
const BRIDGE: &str = "copydesk-bridge";
/// Pause before the server is asked again for messages of its own.
const PAUSE: Duration = Duration::from_secs(2);
/// JSON-RPC code for invalid JSON.
const PARSE_ERROR: i32 = -32700;
/// Time limit for the end of the session.
const GOODBYE: Duration = Duration::from_secs(2);

/// State of the conversation with the server, as far as the bridge must know it.
#[derive(Default)]
struct BridgeState {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Message that began the session, to begin another one if the server has forgotten it.
    beginning: Option<Value>,
    /// Requests in progress, by the JSON of their identifiers; cancelling one closes its
    /// connection.
    under_way: HashMap<String, CancellationToken>,
    /// True while a task listens for the server's own messages.
    is_listening: bool,
}

/// Bridge that carries messages between one client and the server.
pub struct StdioBridge {
    client: ServerClient,
    url: Url,
    name: String,
    timeout_ms: Option<u64>,
    state: Mutex<BridgeState>,
    out: mpsc::UnboundedSender<String>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl StdioBridge {
    /// Returns a bridge to the server of this [`ServerClient`]; lines for the client go to `out`.
    pub fn new(
        client: ServerClient,
        timeout_ms: Option<u64>,
        out: mpsc::UnboundedSender<String>,
    ) -> ClientResult<Arc<Self>> {
        let url = client.below(&["mcp"])?;
        let (state, tasks, stop) = (Mutex::default(), TaskTracker::new(), CancellationToken::new());
        let name = uuid::Uuid::new_v4().to_string();
        Ok(Arc::new(Self { client, url, name, timeout_ms, state, out, tasks, stop }))
    }

    /// Makes one self-contained request in the name of another bridge, if it has one; returns the
    /// answer. Messages before it are discarded.
    pub async fn ask_once(
        client: ServerClient,
        name: Option<String>,
        timeout_ms: Option<u64>,
        message: &Value,
    ) -> ClientResult<Value> {
        let url = client.below(&["mcp"])?;
        let (state, tasks, stop) = (Mutex::default(), TaskTracker::new(), CancellationToken::new());
        let (out, mut lines) = mpsc::unbounded_channel();
        // Dropped with the caller, who then hears no answer.
        let _end = stop.clone().drop_guard();
        let name = name.unwrap_or_default();
        let bridge = Self { client, url, name, timeout_ms, state, out, tasks, stop };
        Arc::new(bridge).carry(&message.to_string()).await;
        while let Some(line) = lines.recv().await {
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            if answer["id"] == message["id"] && answer["method"].is_null() {
                return Ok(answer);
            }
        }
        Ok(failure(&message["id"], -32000, "there was no answer"))
    }

    /// Checks that the server answers and accepts the token, so that the person learns it before a
    /// call.
    pub async fn check_access(&self) -> ClientResult<()> {
        // Without a session there is nothing to delete, but only an admitted caller gets that
        // answer.
        let answer = self.client.send_any(self.request(Method::DELETE, None)).await?;
        match answer.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(self.client.refusal(answer).await)
            }
            StatusCode::NOT_FOUND => Err(self.client.strange(answer.status())),
            _ => Ok(()),
        }
    }

    /// Reports to the client that one of its lines was no message.
    pub fn refuse(&self, why: &str) {
        self.say(&failure(&Value::Null, PARSE_ERROR, &format!("Parse error: {why}")));
    }

    /// Carries one message of the client to the server. Answers are written when they come.
    pub async fn carry(self: &Arc<Self>, line: &str) {
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => {
                self.refuse(&error.to_string());
                return;
            }
        };
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        match (method.as_str(), id) {
            ("initialize", Some(id)) => {
                self.state.lock().beginning = Some(message.clone());
                self.begin(&id, &message).await;
            }
            ("notifications/cancelled", None) => self.cancel(&message).await,
            (_, Some(id)) if !method.is_empty() => self.ask(id, message).await,
            // A notification, or an answer to the server: nothing comes back.
            _ => self.tell(&message).await,
        }
    }

    /// Begins a session. Nothing else is sent before it has begun.
    async fn begin(self: &Arc<Self>, id: &Value, message: &Value) {
        (self.state.lock().session, self.state.lock().version) = (None, None);
        match self.try_to_begin(message).await {
            Ok(answer) => self.say(&answer),
            Err(error) => self.say(&failure(id, -32000, &error.to_string())),
        }
    }

    async fn try_to_begin(&self, message: &Value) -> ClientResult<Value> {
        let answer = self.post(message).await?;
        let session = answer.headers().get(SESSION).cloned();
        let status = answer.status();
        if !status.is_success() {
            return Err(self.client.refusal(answer).await);
        }
        let mut events = SseEvents::of(answer);
        while let Some(event) = events.next().await {
            let Ok(answer) = serde_json::from_str::<Value>(&event) else { continue };
            if answer["id"] != message["id"] {
                self.say(&answer);
                continue;
            }
            let version = answer["result"]["protocolVersion"].as_str();
            let mut state = self.state.lock();
            state.session = session;
            state.version = version.and_then(|it| HeaderValue::try_from(it).ok());
            return Ok(answer);
        }
        Err(self.client.strange(status))
    }

    /// Sends a request, and waits for its answer in a separate task. In a session the next message
    /// is not sent before the server has this one, so that it can be cancelled.
    async fn ask(self: &Arc<Self>, id: Value, message: Value) {
        let cancel = self.stop.child_token();
        self.state.lock().under_way.insert(id.to_string(), cancel.clone());
        let mut sent = None;
        if !is_self_contained(&message) {
            sent = Some(self.post_in_session(&message).await);
        }
        let bridge = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = bridge.answer(&id, &message, sent) => {}
                () = cancel.cancelled() => {}
            }
            bridge.state.lock().under_way.remove(&id.to_string());
        });
    }

    /// Writes the answer to a request, which is sent now if it was not before.
    async fn answer(&self, id: &Value, message: &Value, sent: Option<ClientResult<Response>>) {
        let sent = match sent {
            Some(sent) => sent,
            None => self.post(message).await,
        };
        match sent {
            Ok(answer) => self.pass_on(id, answer).await,
            Err(error) => self.say(&failure(id, -32000, &error.to_string())),
        }
    }

    /// Writes the answer to a request, or an error if the connection ends without one.
    async fn pass_on(&self, id: &Value, answer: Response) {
        let status = answer.status();
        let is_protocol = is_json_rpc(&answer);
        if !status.is_success() && !is_protocol {
            let error = self.client.refusal(answer).await;
            self.say(&failure(id, -32000, &error.to_string()));
            return;
        }
        let mut events = SseEvents::of(answer);
        while let Some(event) = events.next().await {
            let Ok(message) = serde_json::from_str::<Value>(&event) else { continue };
            let is_answer = message["id"] == *id && message.get("method").is_none();
            self.say(&message);
            if is_answer {
                return;
            }
        }
        let lost = "The connection to the Copydesk server was lost. The request may still wait for people there; look before \
                    you try again.";
        self.say(&failure(id, -32000, lost));
    }

    /// Sends a message that needs no answer.
    async fn tell(self: &Arc<Self>, message: &Value) {
        let sent = if is_self_contained(message) {
            self.post(message).await
        } else {
            self.post_in_session(message).await
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "cannot forward a message");
        }
        if message["method"] == "notifications/initialized" {
            self.listen();
        }
    }

    /// Cancels a request: in a session by a notification, otherwise by closing the connection.
    async fn cancel(self: &Arc<Self>, message: &Value) {
        let id = message["params"]["requestId"].to_string();
        if self.state.lock().session.is_some() && !is_self_contained(message) {
            self.tell(message).await;
        } else if let Some(cancel) = self.state.lock().under_way.remove(&id) {
            cancel.cancel();
        }
    }

    /// Passes on the server's own messages, for as long as there is a session.
    fn listen(self: &Arc<Self>) {
        if self.state.lock().session.is_none()
            || std::mem::replace(&mut self.state.lock().is_listening, true)
        {
            return;
        }
        let bridge = Arc::clone(self);
        self.tasks.spawn(async move {
            loop {
                let request = bridge.request(Method::GET, None).header(ACCEPT, "text/event-stream");
                if let Ok(answer) = bridge.client.send_any(request).await {
                    if answer.status() == StatusCode::METHOD_NOT_ALLOWED {
                        return;
                    }
                    if answer.status().is_success() {
                        let mut events = SseEvents::of(answer);
                        while let Some(event) = events.next().await {
                            if let Ok(message) = serde_json::from_str::<Value>(&event) {
                                bridge.say(&message);
                            }
                        }
                    }
                }
                tokio::select! {
                    () = bridge.stop.cancelled() => return,
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        });
    }

    /// Sends a message of the session. If the server was restarted and has forgotten the session,
    /// begins another one in its place.
    async fn post_in_session(&self, message: &Value) -> ClientResult<Response> {
        let answer = self.post(message).await?;
        let beginning = self.state.lock().beginning.clone();
        let (StatusCode::NOT_FOUND, Some(beginning)) = (answer.status(), beginning) else {
            return Ok(answer);
        };
        (self.state.lock().session, self.state.lock().version) = (None, None);
        self.try_to_begin(&beginning).await?;
        self.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        self.post(message).await
    }

    async fn post(&self, message: &Value) -> ClientResult<Response> {
        self.client.send_any(self.request(Method::POST, Some(message))).await
    }

    fn request(&self, method: Method, message: Option<&Value>) -> RequestBuilder {
        let mut headers = HeaderMap::new();
        let own = message.is_some_and(is_self_contained);
        {
            let state = self.state.lock();
            let in_session = [(SESSION, &state.session), (VERSION, &state.version)];
            for (name, value) in in_session.into_iter().filter(|_| !own) {
                if let Some(value) = value.clone() {
                    headers.insert(name, value);
                }
            }
        }
        for (name, value) in message.map(standard_headers).unwrap_or_default() {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        if let Ok(name) = HeaderValue::try_from(&self.name) {
            headers.insert(BRIDGE, name);
        }
        if let Some(timeout_ms) = self.timeout_ms {
            headers.insert(TIMEOUT, timeout_ms.into());
        }
        let request = self.client.request_at(method, self.url.clone()).headers(headers);
        match message {
            Some(message) => request
                .header(ACCEPT, "application/json, text/event-stream")
                .header(CONTENT_TYPE, "application/json")
                .body(message.to_string()),
            None => request,
        }
    }

    /// Ends the session. Requests that still wait for people are withdrawn: no client would receive
    /// the result.
    pub async fn close(&self) {
        if self.state.lock().session.is_some() {
            let goodbye = self.client.send_any(self.request(Method::DELETE, None));
            // A server that is gone needs no message.
            drop(tokio::time::timeout(GOODBYE, goodbye).await);
        }
        self.stop.cancel();
        self.tasks.close();
        drop(tokio::time::timeout(GOODBYE, self.tasks.wait()).await);
    }

    fn say(&self, message: &Value) {
        // A client that no longer listens gets nothing.
        self.out.send(message.to_string()).ok();
    }
}

/// Returns the call of a tool by a program of this name, in the protocol without sessions: the
/// message for [`StdioBridge::carry`].
pub fn tool_call(id: u64, program: &str, tool: &str, arguments: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": program, "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Returns a request of a program of this name, in the protocol without sessions. `call` is the
/// program's name of it.
pub fn request(program: &str, method: &str, params: Map<String, Value>, call: &str) -> Value {
    let mut message = tool_call(1, program, "", &Value::Null);
    let mut meta = message["params"]["_meta"].take();
    meta["claudecode/toolUseId"] = call.into();
    message["method"] = method.into();
    message["params"] = params.into();
    message["params"]["_meta"] = meta;
    message
}

/// Returns the version that a message itself names; such a message belongs to no session.
fn own_version(message: &Value) -> Option<&str> {
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()
}

fn is_self_contained(message: &Value) -> bool {
    own_version(message).is_some() || message["method"] == "server/discover"
}

/// Returns the headers that repeat parts of such a message, for intermediaries that do not read it.
fn standard_headers(message: &Value) -> Vec<(&'static str, String)> {
    let (Some(version), Some(method)) = (own_version(message), message["method"].as_str()) else {
        return Vec::new();
    };
    let params = &message["params"];
    let name = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    let mut headers = vec![(VERSION, version.to_owned()), ("mcp-method", method.to_owned())];
    headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
    headers
}

fn is_json_rpc(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// Returns a JSON-RPC error.
fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Wait far beyond the five minutes after which older programs gave up, in steps of ten
    /// seconds.
    const STEPS: u64 = 250;

    /// Runs a server whose people take long to decide.
    async fn decides_slowly(listener: TcpListener) {
        let (mut stream, _) = listener.accept().await.expect("someone comes");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a head"));
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        assert!(head.contains("\r\ncopydesk-bridge: "), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.and_then(|it| it.parse().ok()).expect("a length");
        stream.read_exact(&mut vec![0; length]).await.expect("a body");
        let begin =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        stream.write_all(begin.as_bytes()).await.expect("it listens");
        for step in 1..=STEPS {
            tokio::time::sleep(Duration::from_secs(10)).await;
            let said = json!({"progressToken": 1, "progress": step});
            let said =
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": said});
            stream.write_all(format!("data: {said}\n\n").as_bytes()).await.expect("it listens");
        }
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
        stream.write_all(format!("data: {answer}\n\n").as_bytes()).await.expect("it listens");
        // Until the other side closes the connection.
        stream.read_exact(&mut [0]).await.ok();
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_waits_for_people_is_told_so_for_as_long_as_they_take() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = tokio::spawn(decides_slowly(listener));
        let client = ServerClient::patient(&address, Some("secret")).expect("a client");
        let (out, mut lines) = mpsc::unbounded_channel();
        let bridge = StdioBridge::new(client, None, out).expect("a bridge");
        let call = tool_call(7, "coder", "atlas_write", &json!({}));
        let began = tokio::time::Instant::now();
        bridge.carry(&call.to_string()).await;
        let mut heard = 0;
        loop {
            let line = lines.recv().await.expect("an end");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == 7 {
                assert_eq!(message["result"], json!({}), "{message}");
                break;
            }
            heard += 1;
        }
        assert_eq!(heard, STEPS);
        assert!(began.elapsed() >= Duration::from_secs(10 * STEPS));
        server.await.expect("all was said");
    }

    #[test]
    fn a_message_that_stands_for_itself_says_so_in_its_headers() {
        let call = tool_call(1, "coder", "atlas_write", &json!({}));
        assert!(is_self_contained(&call));
        let expected = [
            (VERSION, "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", "atlas_write".to_owned()),
        ];
        assert_eq!(standard_headers(&call), expected);
        let legacy = json!({"method": "tools/call", "params": {"name": "atlas_write"}});
        assert!(!is_self_contained(&legacy) && standard_headers(&legacy).is_empty());
    }
}
