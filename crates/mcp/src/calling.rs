//! Execution of one `tools/call`: made, waited for, answered.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use copydesk_agent::{CallHandle, CallRequest, CallSource, ExternalCall};
use copydesk_tools::ToolCall;

use super::caller::McpCaller;
use super::progress::{self, CallProgress, WaitEnd};
use super::read_versions::ReadingProgram;
use super::result_text;
use super::sessions::SessionCall;
use super::shared_state::McpShared;
use super::tools::{CallTarget, ListedTool, target};

/// Milliseconds by which a request expires before its caller's timeout, so that it gets the reason.
const MARGIN_MS: u64 = 2_000;
/// Time limit for withdrawing a request.
const TAKING_BACK: Duration = Duration::from_secs(2);
/// Time after a broken connection in which a bridge may send a call again; bridges do not resume.
const GRACE: Duration = Duration::from_secs(3);
/// Metadata field with the client's own name of a call.
const TOOL_USE: &str = "claudecode/toolUseId";
/// Maximum length of a call's name, in bytes.
const LONGEST_NAME: usize = 128;
/// Error of a call whose session is over; only the log shows it.
const SESSION_OVER: &str = "the session has ended";

/// Makes a call and waits until it is over. Every error is returned as the result of the call.
pub(crate) async fn call(
    shared: &McpShared,
    caller: &McpCaller,
    listed: &ListedTool,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let refused = |words: String| result(words, true);
    if !listed.is_for(&caller.principal) {
        return refused(result_text::denied("you may not do that"));
    }
    let key = call_key(listed, caller, context, &arguments);
    let CallTarget { document, base, input } = match target(listed.about, &listed.offer, arguments)
    {
        Ok(target) => target,
        Err(why) => return refused(result_text::denied(&format!("Invalid input: {why}"))),
    };
    let (application, user) = (&shared.app.application, &caller.principal.user);
    let session = match application.program_session(user, &caller.client).await {
        Ok(session) => session,
        Err(error) => {
            tracing::error!(%error, "cannot store the session of an MCP client");
            return refused("The call could not be stored; nothing was asked".to_owned());
        }
    };
    let reader = caller.reader.as_ref();
    let base = base.or_else(|| shared.reads.by(user, reader, document.as_ref()?));
    if document.is_some() && base.is_none() && reader.is_none() && listed.about.asks() {
        return refused(result_text::denied(result_text::SAY_WHICH_VERSION));
    }
    let on_call = caller.inside.as_ref().and_then(|mark| shared.sessions.call(&mark.0));
    if caller.inside.is_some() && on_call.is_none() {
        return refused(result_text::denied(SESSION_OVER));
    }
    let calling = CallRequest {
        session,
        principal: caller.principal.clone(),
        document,
        prompt: format!("{} calls {} over MCP", caller.client, listed.tool.name),
        outside: ExternalCall {
            call: ToolCall { id: name(context), name: listed.name.to_owned(), input },
            source: CallSource::Mcp,
            base,
            deadline_ms: caller.timeout_ms.map(|timeout_ms| deadline_ms(shared, timeout_ms)),
            again_of: None,
            model: None,
        },
        key,
    };
    let mut progress = CallProgress::of(context);
    if listed.about.asks() {
        // Sent at once: a client may give up on an answer that does not begin.
        progress.say("Asking the people who decide").await;
    }
    let give_up = context.ct.child_token();
    match application.agents.call(calling, &give_up).await {
        Ok(ongoing) => {
            let no_one_hears = no_one_hears(caller, on_call.as_ref());
            wait(shared, caller, listed, WaitingCall { ongoing, progress, give_up }, no_one_hears)
                .await
        }
        Err(error) => refused(result_text::refused(&error)),
    }
}

/// Returns the time by which a call has to be over: some time before its client gives up.
fn deadline_ms(shared: &McpShared, timeout_ms: u64) -> u64 {
    let patience_ms = timeout_ms.saturating_sub(MARGIN_MS).max(1_000);
    shared.app.application.clock.now_ms().saturating_add(patience_ms)
}

/// Waits until the result of a call has no receiver any more: its session is over, or its bridge is
/// gone.
async fn no_one_hears(caller: &McpCaller, on_call: Option<&SessionCall>) {
    let over = async {
        match on_call {
            Some(on_call) => on_call.over().await,
            None => std::future::pending().await,
        }
    };
    let gone = async {
        match caller.reader {
            Some(ReadingProgram::Bridge(_)) => caller.line.cancelled().await,
            // Other programs resume the session, and get the result then.
            Some(ReadingProgram::Session(_)) | None => std::future::pending().await,
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = over => {}
        () = gone => {}
    }
}

/// Call that is waited for.
struct WaitingCall {
    ongoing: CallHandle,
    progress: CallProgress,
    /// Token that withdraws the call.
    give_up: CancellationToken,
}

async fn wait(
    shared: &McpShared,
    caller: &McpCaller,
    listed: &ListedTool,
    waiting: WaitingCall,
    no_one_hears: impl Future<Output = ()>,
) -> CallToolResult {
    let WaitingCall { mut ongoing, mut progress, give_up } = waiting;
    // Dropping the call withdraws the request: its result would have no receiver.
    let waited = tokio::select! {
        biased;
        waited = progress::wait(&mut ongoing, &mut progress) => waited,
        _ = caller.pass.ended() => return result(result_text::denied("your token is no longer valid"), true),
        () = no_one_hears => {
            give_up.cancel();
            // The end of the session is confirmed once the call cannot be approved any more.
            drop(timeout(TAKING_BACK, progress::wait(&mut ongoing, &mut progress)).await);
            return result(result_text::denied(SESSION_OVER), true);
        }
    };
    match waited {
        WaitEnd::Over(done) => {
            if let Some((document, version)) = done.read.clone() {
                let (user, reader) = (&caller.principal.user, caller.reader.as_ref());
                shared.reads.note(user, reader, document, version);
            }
            let (words, is_error) = result_text::result_text(&listed.offer, &done);
            result(words, is_error)
        }
        WaitEnd::Parked(now) => {
            let words = format!(
                "The server is stopping. {now}. What waits stays, and what people decide is carried out when the server \
                 runs again. Nobody could tell you here; look before you try again."
            );
            result(words, true)
        }
    }
}

/// Returns a result with text only: some clients show their model nothing else besides.
fn result(words: String, is_error: bool) -> CallToolResult {
    let content = vec![ContentBlock::text(words)];
    if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
}

/// Returns the caller's name of the call, by which people and programs can match it, or a new one.
pub(crate) fn name(context: &RequestContext<RoleServer>) -> String {
    named(context)
        .map_or_else(|| format!("mcp_{}", copydesk_ids::sortable_uuid().simple()), str::to_owned)
}

/// Returns the key that identifies a call if it is sent again after a lost connection: its session
/// or bridge, its name, and its whole content, because a name may be used twice. Returns `None` if
/// the caller cannot be distinguished from others, or has not named the call.
fn call_key(
    listed: &ListedTool,
    caller: &McpCaller,
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Option<String> {
    let program = match caller.reader.as_ref()? {
        ReadingProgram::Session(name) => format!("session {name}"),
        ReadingProgram::Bridge(name) => format!("bridge {name}"),
    };
    let arguments = serde_json::to_string(arguments).ok()?;
    Some(format!("{program}\n{}\n{}\n{arguments}", listed.tool.name, named(context)?))
}

fn named(context: &RequestContext<RoleServer>) -> Option<&str> {
    let named = context.meta.0.0.get(TOOL_USE).and_then(|it| it.as_str());
    named.filter(|it| (1..=LONGEST_NAME).contains(&it.len()))
}
