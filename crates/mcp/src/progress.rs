//! Progress of a call that waits: its caller is notified every few seconds that people still
//! decide.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{MissedTickBehavior, interval};

use copydesk_agent::{CallEvent, CallHandle, CallResult};
use copydesk_tools::ApprovalWait;

/// Interval of progress messages to a waiting caller: well within the idle limits of known clients.
const PULSE: Duration = Duration::from_secs(10);

/// End of a [`wait`].
#[derive(Debug)]
pub(crate) enum WaitEnd {
    /// Result of a call that is over.
    Over(Box<CallResult>),
    /// Progress of a call that waits while the server stops.
    Parked(String),
}

/// Waits until a call is over, and reports its progress to the caller.
pub(crate) async fn wait(ongoing: &mut CallHandle, progress: &mut CallProgress) -> WaitEnd {
    let mut room_status = interval(PULSE);
    room_status.set_missed_tick_behavior(MissedTickBehavior::Delay);
    room_status.reset();
    let mut now = "Working on it".to_owned();
    loop {
        tokio::select! {
            biased;
            event = ongoing.next() => match event {
                CallEvent::Asking(asking) => {
                    now = match asking {
                        ApprovalWait::Waits(request) => format!("Request {request} waits for people to decide"),
                        // A caller may see this for as long as a command runs.
                        ApprovalWait::Resolved(request) => format!("Request {request} is resolved; working on it"),
                    };
                    progress.say(&now).await;
                }
                CallEvent::Over(done) => return WaitEnd::Over(done),
                CallEvent::Parked => return WaitEnd::Parked(now),
            },
            _ = room_status.tick() => progress.say(&now).await,
        }
    }
}

/// Sender of progress messages, if the caller asked for them.
pub(crate) struct CallProgress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    count: u32,
}

impl CallProgress {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { peer: context.peer.clone(), token, count: 0 }
    }

    pub(crate) async fn say(&mut self, words: &str) {
        let Some(token) = &self.token else { return };
        self.count += 1;
        let said = ProgressNotificationParam::new(token.clone(), self.count.into())
            .with_message(words.to_owned());
        if let Err(error) = self.peer.notify_progress(said).await {
            // A caller that is gone gets no messages; the call continues until it is withdrawn.
            tracing::debug!(%error, "cannot report progress to an MCP client");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::Body;
    use axum::http::{HeaderMap, Request};
    use futures_util::StreamExt as _;
    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
        ServerConfig,
    };
    use rmcp::transport::StreamableHttpService;
    use rmcp::{ErrorData, ServerHandler};
    use serde_json::{Value, json};
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::transport;
    use copydesk_agent::StagedCall;
    use copydesk_tools::ToolOutcome;

    /// Wait far beyond the five minutes after which older programs gave up.
    const LONG: Duration = Duration::from_mins(42);

    /// Handler whose calls take people long to decide.
    #[derive(Clone)]
    struct SlowDecisionNote;

    impl ServerHandler for SlowDecisionNote {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        async fn call_tool(
            &self,
            _: CallToolRequestParams,
            context: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            let (staged, mut ongoing) = StagedCall::call();
            tokio::spawn(async move {
                staged.asking.send_replace(Some(ApprovalWait::Waits("req_1".into())));
                tokio::time::sleep(LONG).await;
                staged.asking.send_replace(Some(ApprovalWait::Resolved("req_1".into())));
                // Every message is received before the end of the call.
                tokio::time::sleep(Duration::from_millis(1)).await;
                let outcome = ToolOutcome { text: "Written.".into(), ..ToolOutcome::default() };
                staged.over.send_replace(Some(CallResult { outcome, read: None }));
            });
            let mut progress = CallProgress::of(&context);
            let WaitEnd::Over(done) = wait(&mut ongoing, &mut progress).await else {
                return Err(ErrorData::internal_error("the server stops", None));
            };
            Ok(CallToolResult::success(vec![ContentBlock::text(done.text())]).into())
        }
    }

    type Service = StreamableHttpService<
        SlowDecisionNote,
        rmcp::transport::streamable_http_server::session::local::LocalSessionManager,
    >;

    async fn posts(
        service: &Service,
        message: &Value,
        more: &[(&str, &str)],
    ) -> (HeaderMap, impl futures_util::Stream<Item = (Instant, Value)> + Unpin + use<>) {
        let mut request = Request::post("http://localhost/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(message.to_string())).unwrap();
        let (parts, body) = service.handle(request).await.into_parts();
        let status = parts.status;
        assert!(status.is_success(), "{status}");
        let messages = Body::new(body).into_data_stream().filter_map(|piece| async move {
            let text = String::from_utf8(piece.unwrap().to_vec()).unwrap();
            let data = text.lines().find_map(|line| line.strip_prefix("data:"))?;
            Some((Instant::now(), serde_json::from_str(data.trim()).ok()?))
        });
        (parts.headers, Box::pin(messages))
    }

    /// Checks that a caller gets progress every ten seconds, and then the result.
    async fn hears_every_ten_seconds(service: &Service, call: &Value, more: &[(&str, &str)]) {
        let began = Instant::now();
        let (_, mut messages) = posts(service, call, more).await;
        let (mut last, mut count) = (began, 0_u32);
        loop {
            let (at, message) = messages.next().await.expect("an end");
            if message["id"] == call["id"] {
                assert_eq!(message["result"]["content"][0]["text"], "Written.", "{message}");
                break;
            }
            assert_eq!(message["method"], "notifications/progress");
            count += 1;
            assert_eq!(message["params"]["progress"].as_f64(), Some(f64::from(count)));
            let words = message["params"]["message"].as_str().unwrap();
            assert!(words.contains("req_1"), "{words}");
            assert!(at - last <= PULSE + Duration::from_millis(10), "{:?}", at - last);
            last = at;
        }
        assert!(began.elapsed() >= LONG);
        // First when people are asked, then every ten seconds, and when they have decided.
        assert_eq!(u64::from(count), LONG.as_secs() / PULSE.as_secs() + 2);
    }

    fn service() -> Service {
        let (manager, config) = transport(&CancellationToken::new());
        // Comments of the library follow the real clock, which stands still beside the paused one.
        let config = config.with_sse_keep_alive(None);
        StreamableHttpService::new(|| Ok(SlowDecisionNote), Arc::new(manager), config)
    }

    fn call(meta: &Value) -> Value {
        let params = json!({"name": "atlas_write", "arguments": {}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_waits_in_a_session_hears_every_ten_seconds_that_people_decide() {
        let service = service();
        let client = json!({"name": "coder", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let (headers, mut messages) = posts(&service, &begin, &[]).await;
        while messages.next().await.expect("an answer").1["id"] != 0 {}
        let session = headers["mcp-session-id"].to_str().unwrap().to_owned();
        let inside = [("Mcp-Session-Id", session.as_str())];
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        drop(posts(&service, &ready, &inside).await);
        hears_every_ten_seconds(&service, &call(&json!({"progressToken": 1})), &inside).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_waits_without_a_session_hears_it_too() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "coder", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        });
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "atlas_write"),
        ];
        hears_every_ten_seconds(&service(), &call(&meta), &headers).await;
    }
}
