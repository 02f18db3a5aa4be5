//! Server for the CLI's tool calls: MCP over a private socket. Nothing is executed here: a call
//! waits until the run, which knows it from the model's answer, has passed it through the approval
//! step.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock as Content,
    Implementation, JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, serve_server};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::messages_api::{ContentBlock, ToolDefinition};

use super::super::ModelRequest;
use super::stdin;

/// Field in `_meta` with the identifier that the model gave the call.
const TOOL_USE: &str = "claudecode/toolUseId";
/// Longest time that a call may wait for the model's answer that it is part of.
const AHEAD: Duration = Duration::from_mins(2);
/// Longest time that a new connection may take to send the secret.
const HASTE: Duration = Duration::from_secs(5);

/// Calls of one process, as far as the run knows them.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessCalls {
    /// Calls of the model's complete answers. An answered one has texts for the model, and `true`
    /// for an error.
    known: HashMap<String, Option<(Vec<String>, bool)>>,
    /// `true` after the CLI stopped waiting for one of the calls.
    gave_up: bool,
}

/// Sender of the run's [`ProcessCalls`] to the connections of the CLI.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolServer(Arc<watch::Sender<ProcessCalls>>);

impl ToolServer {
    /// Records the calls of a complete answer, which now pass the approval step.
    pub(super) fn announce(&self, content: &[ContentBlock]) {
        self.0.send_modify(|calls| {
            for block in content {
                if let ContentBlock::ToolUse { id, .. } = block {
                    calls.known.entry(id.clone()).or_default();
                }
            }
        });
    }

    /// Records the results of calls, from the last message of the conversation.
    pub(super) fn answer(&self, request: &ModelRequest) {
        let blocks = request.messages.last().into_iter().flat_map(|message| &message.content);
        self.0.send_modify(|calls| {
            for block in blocks {
                if let ContentBlock::ToolResult { tool_use_id, content, is_error } = block {
                    let words = content.iter().filter_map(ContentBlock::as_text);
                    let words = words.map(str::to_owned).collect();
                    calls.known.insert(tool_use_id.clone(), Some((words, *is_error)));
                }
            }
        });
    }

    /// Returns `true` if the CLI still waits for everything it has called.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.0.borrow().gave_up
    }
}

/// Serves connections of the CLI, each with the secret of its own process, while that runs.
pub(super) async fn open(
    listener: UnixListener,
    secret: String,
    tools: Vec<ToolDefinition>,
    server: ToolServer,
) {
    let handler = ToolHandler { tools: Arc::new(tools.into_iter().map(tool).collect()), server };
    let secret: Arc<str> = secret.into();
    let mut inside = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while inside.try_join_next().is_some() {}
        inside.spawn(serve(stream, Arc::clone(&secret), handler.clone()));
    }
}

async fn serve(mut stream: UnixStream, secret: Arc<str>, handler: ToolHandler) {
    if !is_own(&stream) || !sends_secret(&mut stream, &secret).await {
        tracing::warn!("refused a connection to the tools of a run: wrong secret");
        return;
    }
    match serve_server(handler, stream).await {
        Ok(service) => drop(service.waiting().await),
        Err(error) => tracing::warn!(%error, "serving tools to the Claude CLI failed"),
    }
}

/// Returns `true` if the other side runs as this user.
fn is_own(stream: &UnixStream) -> bool {
    let own = std::fs::metadata("/proc/self").map(|it| it.uid());
    match (stream.peer_cred(), own) {
        (Ok(peer), Ok(own)) => peer.uid() == own,
        // Without /proc, the folder's permissions and the secret decide.
        (Ok(_), Err(_)) => true,
        (Err(_), _) => false,
    }
}

async fn sends_secret(stream: &mut UnixStream, secret: &str) -> bool {
    let mut received = vec![0; secret.len() + 1];
    let read = timeout(HASTE, stream.read_exact(&mut received)).await;
    matches!(read, Ok(Ok(_))) && received.strip_suffix(b"\n") == Some(secret.as_bytes())
}

fn tool(definition: ToolDefinition) -> Tool {
    let schema = definition.input_schema.as_object().cloned().unwrap_or_default();
    let name = stdin::alias(&definition).to_owned();
    let mut tool = Tool::new(name, definition.description, Arc::new(schema));
    // Without this field the CLI hides a tool until the model searches for it.
    let always = JsonObject::from_iter([("anthropic/alwaysLoad".to_owned(), json!(true))]);
    tool.meta = Some(MetaObject(always));
    tool
}

#[derive(Clone)]
struct ToolHandler {
    tools: Arc<Vec<Tool>>,
    server: ToolServer,
}

impl ToolHandler {
    /// Waits for the result of the call in [`ProcessCalls`].
    async fn outcome(&self, call: &str) -> CallToolResult {
        let mut calls = self.server.0.subscribe();
        let is_known = calls.wait_for(|it| it.known.contains_key(call));
        if !matches!(timeout(AHEAD, is_known).await, Ok(Ok(_))) {
            return failed("This call is not part of the answer; it was not executed");
        }
        let answered = |calls: &ProcessCalls| calls.known.get(call).is_some_and(Option::is_some);
        let answer = match calls.wait_for(answered).await {
            Ok(calls) => calls.known.get(call).cloned().flatten(),
            Err(_) => None,
        };
        let Some((words, is_error)) = answer else {
            return failed("The run is over; this call was not executed");
        };
        let content = words.into_iter().map(Content::text).collect();
        if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
    }
}

fn failed(words: &str) -> CallToolResult {
    CallToolResult::error(vec![Content::text(words)])
}

impl ServerHandler for ToolHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("copydesk", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let named = context.meta.0.0.get(TOOL_USE).and_then(|it| it.as_str());
        let Some(call) = named else {
            let message = format!("The call lacks _meta.{TOOL_USE}; update the Claude CLI");
            return Err(ErrorData::invalid_params(message, None));
        };
        tokio::select! {
            biased;
            outcome = self.outcome(call) => Ok(outcome.into()),
            () = context.ct.cancelled() => {
                // A decision made from now on reaches the CLI through a new process.
                self.server.0.send_modify(|calls| calls.gave_up = true);
                Ok(failed("The call was cancelled").into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;
    use crate::messages_api::ChatMessage;
    use crate::testing::asks;

    /// Tool server with the tools of a small request, and one connection to it.
    struct ToolServerFixture {
        server: ToolServer,
        stream: BufReader<UnixStream>,
        _folder: tempfile::TempDir,
        _app: JoinSet<()>,
    }

    impl ToolServerFixture {
        async fn with(secret: &str) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("tools");
            let listener = UnixListener::bind(&path).expect("a socket");
            let (server, mut app) = (ToolServer::default(), JoinSet::new());
            app.spawn(open(listener, "secret".into(), asks("x").tools, server.clone()));
            let mut stream = UnixStream::connect(&path).await.expect("a door");
            stream.write_all(format!("{secret}\n").as_bytes()).await.expect("it listens");
            Self { server, stream: BufReader::new(stream), _folder: folder, _app: app }
        }

        async fn send(&mut self, message: Value) {
            let line = format!("{message}\n");
            self.stream.get_mut().write_all(line.as_bytes()).await.ok();
        }

        /// Reads the next message; `None` if the connection was closed.
        async fn receive(&mut self) -> Option<Value> {
            let mut line = String::new();
            match self.stream.read_line(&mut line).await {
                Ok(1..) => serde_json::from_str(&line).ok(),
                _ => None,
            }
        }

        async fn begins(&mut self) {
            let client = json!({"name": "claude-code", "version": "2"});
            let params =
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
            self.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
                .await;
            assert_eq!(self.receive().await.expect("an answer")["id"], 0);
            self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }

        async fn calls(&mut self, id: u32, meta: Value) {
            let params = json!({"name": "update_selection", "arguments": {}, "_meta": meta});
            self.send(
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}),
            )
            .await;
        }
    }

    fn answered(id: &str, words: &str) -> ModelRequest {
        ModelRequest {
            messages: vec![ChatMessage::results(vec![ContentBlock::tool_result(id, words)])],
            ..asks("x")
        }
    }

    #[tokio::test]
    async fn without_the_secret_no_one_comes_in() {
        for wrong in ["secreT", "", "secret and more"] {
            let mut visit = ToolServerFixture::with(wrong).await;
            visit.send(json!({"jsonrpc": "2.0", "id": 0, "method": "ping"})).await;
            assert_eq!(visit.receive().await, None, "{wrong:?}");
        }
    }

    #[tokio::test]
    async fn a_call_waits_until_the_run_knows_what_came_of_it() {
        let mut visit = ToolServerFixture::with("secret").await;
        visit.begins().await;
        visit.calls(1, json!({"claudecode/toolUseId": "toolu_1"})).await;
        visit.server.announce(&[ContentBlock::tool_use("toolu_1", "update_selection", json!({}))]);
        assert!(timeout(Duration::from_millis(50), visit.receive()).await.is_err(), "too early");
        visit.server.answer(&answered("toolu_1", "Applied"));
        let answer = visit.receive().await.expect("an answer");
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(1), &json!("Applied"))
        );
    }

    #[tokio::test]
    async fn a_call_no_one_can_match_is_refused() {
        let mut visit = ToolServerFixture::with("secret").await;
        visit.begins().await;
        visit.calls(1, json!({})).await;
        let answer = visit.receive().await.expect("an answer");
        assert!(
            answer["error"]["message"].as_str().expect("words").contains("toolUseId"),
            "{answer}"
        );
    }

    #[tokio::test]
    async fn a_cli_that_stops_waiting_is_noticed() {
        let mut visit = ToolServerFixture::with("secret").await;
        visit.begins().await;
        visit.calls(1, json!({"claudecode/toolUseId": "toolu_1"})).await;
        visit.server.announce(&[ContentBlock::tool_use("toolu_1", "update_selection", json!({}))]);
        assert!(visit.server.is_waited_for());
        let params = json!({"requestId": 1, "reason": "timed out"});
        visit
            .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        let mut calls = visit.server.0.subscribe();
        let noticed = timeout(Duration::from_secs(20), calls.wait_for(|it| it.gave_up)).await;
        assert!(matches!(noticed, Ok(Ok(_))));
    }
}
