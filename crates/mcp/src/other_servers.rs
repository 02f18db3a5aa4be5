//! Requests about documents of other servers, which answer them.

use axum::http::request::Parts;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use copydesk_ids::DocumentId;
use copydesk_placement::NotHere;
use copydesk_rooms::{RoomError, WORKSPACE_INBOX};

use super::auth::bearer;
use super::caller::{McpCaller, failed};
use super::calling;
use super::other_server_request::OtherServerRequest;
use super::read_versions::ReadingProgram;
use super::shared_state::McpShared;
use super::tools::{CallSubject, ListedTool};

/// Returns `true` if another server has a document.
pub(crate) async fn has(shared: &McpShared, document: &DocumentId) -> bool {
    // What else is wrong is found by the call itself.
    shared.app.ask_other_server.is_some()
        && matches!(
            shared.app.application.rooms.claim(document).await,
            Err(RoomError::NotHere(NotHere::OtherServer(_)))
        )
}

/// Makes a call on the server that has its document; `None` if this one has it, or needs none.
pub(crate) async fn call(
    shared: &McpShared,
    caller: &McpCaller,
    listed: &ListedTool,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Value, ErrorData>> {
    let mut arguments = request.arguments.clone().unwrap_or_default();
    let named = arguments.get("document_id").and_then(Value::as_str).map(DocumentId::from);
    let home = match (listed.about, named) {
        (_, Some(document)) => document,
        (CallSubject::Workspace | CallSubject::Founding | CallSubject::Looking, None) => {
            WORKSPACE_INBOX.into()
        }
        (CallSubject::Document | CallSubject::Reading, None) => return None,
    };
    if !has(shared, &home).await {
        return None;
    }
    let (user, reader) = (&caller.principal.user, caller.reader.as_ref());
    if let Some(base) = shared.reads.by(user, reader, &home) {
        arguments.entry("base_version").or_insert_with(|| json!(base));
    }
    let params = json!({"name": request.name, "arguments": arguments});
    ask(shared, caller, home, ("tools/call", &params), context).await
}

/// Sends a request to the server that has a document; `None` if this one has it.
pub(crate) async fn ask(
    shared: &McpShared,
    caller: &McpCaller,
    document: DocumentId,
    (method, params): (&'static str, &Value),
    context: &RequestContext<RoleServer>,
) -> Option<Result<Value, ErrorData>> {
    let ask = shared.app.ask_other_server.as_ref()?;
    let token = context.extensions.get::<Parts>().and_then(|parts| bearer(&parts.headers));
    let (ReadingProgram::Session(bridge) | ReadingProgram::Bridge(bridge)) =
        caller.reader.clone().unwrap_or(ReadingProgram::Bridge(String::new()));
    let request = OtherServerRequest {
        document,
        pass: caller.pass.clone(),
        token: token.map(str::to_owned),
        bridge: Some(bridge).filter(|bridge| !bridge.is_empty()),
        timeout_ms: caller.timeout_ms,
        client: caller.client.clone(),
        method,
        params: params.as_object().cloned().unwrap_or_default(),
        call: calling::name(context),
    };
    let answered = ask(request).await?;
    Some(answered.map_err(|message| ErrorData::internal_error(message, None)))
}

/// Reads the result of another server.
pub(crate) fn read<T: DeserializeOwned>(result: Value) -> Result<T, ErrorData> {
    let words = "the answer of another server could not be read";
    serde_json::from_value(result).map_err(|error| failed(&error, words))
}
