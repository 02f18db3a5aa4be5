//! Callers of the protocol's methods.

use std::fmt::Display;

use axum::http::request::Parts;
use rmcp::model::{Extensions, Implementation};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use copydesk_auth::AccessGuard;
use copydesk_ids::permissions::{Principal, shown_name};

use super::auth::{AnswerConnection, SessionMark};
use super::read_versions::ReadingProgram;

/// Header with the milliseconds after which the caller gives up; the stdio bridge sends it.
const TIMEOUT: &str = "copydesk-timeout-ms";

/// Caller of a method.
pub(crate) struct McpCaller {
    /// Guard that ends with the caller's token.
    pub(crate) pass: AccessGuard,
    /// Person, under the name that people are shown: the person's own, and the program's.
    pub(crate) principal: Principal,
    /// Name of the program.
    pub(crate) client: String,
    /// Program among those of one name, if it can be distinguished from others.
    pub(crate) reader: Option<ReadingProgram>,
    /// Session of the protocol in which the call is made.
    pub(crate) inside: Option<SessionMark>,
    /// Token that is cancelled when the connection of the answer is closed.
    pub(crate) line: CancellationToken,
    /// Milliseconds after which the caller gives up.
    pub(crate) timeout_ms: Option<u64>,
}

/// Returns the [`McpCaller`] of a request, from the pass that [`super::auth`] has put into it.
pub(crate) fn caller(
    extensions: &Extensions,
    client: Option<Implementation>,
) -> Result<McpCaller, ErrorData> {
    let parts = extensions.get::<Parts>();
    let pass = parts.and_then(|parts| parts.extensions.get::<AccessGuard>()).cloned();
    let pass = pass.ok_or_else(|| {
        ErrorData::internal_error("the request has no authenticated caller", None)
    })?;
    let client = client.and_then(|client| shown_name(&client.name));
    let client = client.unwrap_or_else(|| "MCP client".to_owned());
    let mut principal = pass.principal().clone();
    principal.name = format!("{} ({client})", principal.name);
    let timeout_ms = parts
        .and_then(|parts| parts.headers.get(TIMEOUT)?.to_str().ok()?.parse().ok())
        .filter(|timeout_ms| *timeout_ms > 0);
    let reader = parts.and_then(|parts| parts.extensions.get::<ReadingProgram>()).cloned();
    let inside = parts.and_then(|parts| parts.extensions.get::<SessionMark>()).cloned();
    let line = parts.and_then(|parts| parts.extensions.get::<AnswerConnection>()).cloned();
    let AnswerConnection(line) = line.unwrap_or_default();
    Ok(McpCaller { pass, principal, client, reader, inside, line, timeout_ms })
}

/// Logs a failure of the server; returns it in these words.
pub(crate) fn failed(error: &dyn Display, words: &'static str) -> ErrorData {
    tracing::error!(%error, "{words}");
    ErrorData::internal_error(words, None)
}

pub(crate) fn caller_of(context: &RequestContext<RoleServer>) -> Result<McpCaller, ErrorData> {
    caller(&context.extensions, context.client_info())
}
