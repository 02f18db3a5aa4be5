//! Calls about documents that another server of several has: made there, as by a bridge of the same
//! program, and their results passed back.
//!
//! The other server checks the caller's own token. It remembers what the program has read, and
//! recognises a call that is sent again after a lost connection.

use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{CallToolRequestParams, Extensions, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use copydesk_api::OtherServer;
use copydesk_ids::DocumentId;
use copydesk_placement::NotHere;
use copydesk_rooms::{RoomError, WORKSPACE_INBOX};

use super::auth::bearer;
use super::caller::McpCaller;
use super::forwarded_call::ForwardedCall;
use super::read_versions::ReadingProgram;
use super::shared_state::McpShared;
use super::tools::{CallSubject, ListedTool};

/// Longest time for which a call looks for the server that has its document.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// JSON-RPC code of a bridge that has lost its server.
const LOST: i64 = -32000;

/// Returns the server that has a document, if it is not this one.
pub(crate) async fn elsewhere(shared: &McpShared, document: &DocumentId) -> Option<OtherServer> {
    shared.app.forward.as_ref()?;
    match shared.app.api.rooms.claim(document).await {
        Err(RoomError::NotHere(NotHere::OtherServer(node))) => Some(node),
        // What else is wrong is found by the call itself.
        Ok(()) | Err(_) => None,
    }
}

/// Makes a call on the server that has its document; `None` if this one has it, or needs none.
pub(crate) async fn call(
    shared: &McpShared,
    caller: &McpCaller,
    listed: &ListedTool,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    name: String,
) -> Option<Result<Value, ErrorData>> {
    shared.app.forward.as_ref()?;
    let mut arguments = request.arguments.clone().unwrap_or_default();
    let named = arguments.get("document_id").and_then(Value::as_str).map(DocumentId::from);
    let home = match (listed.about, named) {
        (_, Some(document)) => document,
        (CallSubject::Workspace | CallSubject::Founding | CallSubject::Looking, None) => {
            WORKSPACE_INBOX.into()
        }
        (CallSubject::Document | CallSubject::Reading, None) => return None,
    };
    elsewhere(shared, &home).await?;
    let (user, reader) = (&caller.principal.user, caller.reader.as_ref());
    if let Some(base) = shared.reads.by(user, reader, &home) {
        arguments.entry("base_version").or_insert_with(|| json!(base));
    }
    let params = json!({"name": request.name, "arguments": arguments});
    let params = params.as_object().cloned().unwrap_or_default();
    forward(shared, caller, &home, ("tools/call", params), &context.extensions, name).await
}

/// Sends a request to the server that has a document; `None` if this one has it.
pub(crate) async fn forward(
    shared: &McpShared,
    caller: &McpCaller,
    home: &DocumentId,
    (method, params): (&'static str, JsonObject),
    extensions: &Extensions,
    call: String,
) -> Option<Result<Value, ErrorData>> {
    let send = shared.app.forward.as_ref()?;
    let token = extensions.get::<Parts>().and_then(|parts| bearer(&parts.headers));
    let until = Instant::now() + PATIENCE;
    loop {
        let node = elsewhere(shared, home).await?;
        let (ReadingProgram::Session(bridge) | ReadingProgram::Bridge(bridge)) =
            caller.reader.clone().unwrap_or(ReadingProgram::Bridge(String::new()));
        let forwarded = ForwardedCall {
            node: node.clone(),
            token: token.map(str::to_owned),
            bridge: Some(bridge).filter(|bridge| !bridge.is_empty()),
            timeout_ms: caller.timeout_ms,
            client: caller.client.clone(),
            method,
            params: params.clone(),
            call: call.clone(),
        };
        let mut answer = tokio::select! {
            answer = send(forwarded) => answer,
            _ = caller.pass.ended() => Value::Null,
        };
        if answer["error"]["code"] == LOST && Instant::now() < until {
            shared.app.api.placement().forget_server(&node);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let result = answer.get_mut("result").map(Value::take);
        return Some(result.ok_or_else(|| {
            let message = answer["error"]["message"].as_str().unwrap_or("no answer").to_owned();
            ErrorData::internal_error(message, None)
        }));
    }
}

/// Reads the result of another server.
pub(crate) fn read<T: DeserializeOwned>(result: Value) -> Result<T, ErrorData> {
    serde_json::from_value(result).map_err(|error| {
        tracing::error!(%error, "cannot read the answer of another server");
        ErrorData::internal_error("the answer of another server could not be read", None)
    })
}
