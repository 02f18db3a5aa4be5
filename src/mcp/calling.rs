//! One `tools/call`: made, waited for, answered. While people decide, the caller hears every few seconds that they do.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{MissedTickBehavior, interval};

use crate::agent::{CallDoor, Calling, Heard, Ongoing, Outside};
use crate::ids::SessionId;
use crate::tools::{Asking, Call};

use super::Desk;
use super::handler::Caller;
use super::tools::{About, Listed, Target, target};
use super::words;

/// How often a caller hears that people are still deciding: well within the idle limits of known clients.
const PULSE: Duration = Duration::from_secs(10);
/// How much sooner than the caller gives up its request expires, in milliseconds: so that it is told why.
const MARGIN_MS: u64 = 2_000;
/// A call as its own client names it.
const TOOL_USE: &str = "claudecode/toolUseId";
/// Longest name of a call, in bytes.
const LONGEST_NAME: usize = 128;

/// Makes a call and waits until it is over. Whatever is wrong with it is told as the result of the call.
pub(super) async fn call(
    desk: &Desk,
    caller: &Caller,
    listed: &Listed,
    arguments: JsonObject,
    context: &RequestContext<RoleServer>,
) -> CallToolResult {
    let refused = |words: String| result(words, true);
    if !listed.is_for(&caller.principal) {
        return refused(words::denied("you may not do that"));
    }
    let mark = mark(listed, context, &arguments);
    let Target { document, base, input } = match target(listed.about, listed.name, arguments) {
        Ok(target) => target,
        Err(why) => return refused(words::denied(&format!("Invalid input: {why}"))),
    };
    let session = match desk.session_of(caller).await {
        Ok(session) => session,
        Err(error) => {
            tracing::error!(%error, "the session of an MCP client could not be kept");
            return refused("The call could not be stored; nothing was asked".to_owned());
        }
    };
    let base = base.or_else(|| desk.read_by(&session, document.as_ref()?));
    let calling = Calling {
        session: session.clone(),
        principal: caller.principal.clone(),
        document,
        prompt: format!("{} calls {} over MCP", caller.client, listed.tool.name),
        outside: Outside {
            call: Call { id: name(context), name: listed.name.to_owned(), input },
            door: CallDoor::Mcp,
            base,
            deadline_ms: caller.timeout_ms.map(|timeout_ms| {
                let patience_ms = timeout_ms.saturating_sub(MARGIN_MS).max(1_000);
                desk.door.clock.now_ms().saturating_add(patience_ms)
            }),
            again_of: None,
        },
        mark,
    };
    let mut progress = Progress::of(context);
    if listed.about != About::Reading {
        // At once: a client may give up on an answer that does not begin.
        progress.say("Asking the people who decide").await;
    }
    match desk.door.agents.call(calling, &context.ct).await {
        Ok(ongoing) => wait(desk, caller, listed, &session, ongoing, progress).await,
        Err(error) => refused(words::refused(&error)),
    }
}

async fn wait(
    desk: &Desk,
    caller: &Caller,
    listed: &Listed,
    session: &SessionId,
    mut ongoing: Ongoing,
    mut progress: Progress,
) -> CallToolResult {
    let mut pulse = interval(PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pulse.reset();
    let mut now = "Working on it".to_owned();
    loop {
        tokio::select! {
            biased;
            heard = ongoing.next() => match heard {
                Heard::Asking(asking) => {
                    now = match asking {
                        Asking::Waits(request) => format!("Request {request} waits for people to decide"),
                        // Somebody may be told this for as long as a command runs.
                        Asking::Resolved(request) => format!("Request {request} is resolved; working on it"),
                    };
                    progress.say(&now).await;
                }
                Heard::Over(done) => {
                    if let Some((document, version)) = done.read.clone() {
                        desk.note_read(session, document, version);
                    }
                    let (words, is_error) = words::told(listed.noun, &done);
                    return result(words, is_error);
                }
                Heard::Parked => {
                    let words = format!(
                        "The server is stopping. {now}. What waits stays, and what people decide is carried out when the \
                         server runs again. Nobody could tell you here; look before you try again."
                    );
                    return result(words, true);
                }
            },
            // Dropping the call takes the request back: nobody would hear what came of it.
            _ = caller.pass.ended() => return result(words::denied("your token is no longer good"), true),
            _ = pulse.tick() => progress.say(&now).await,
        }
    }
}

/// Only text: some clients show their model nothing else if there is anything else.
fn result(words: String, is_error: bool) -> CallToolResult {
    let content = vec![ContentBlock::text(words)];
    if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
}

/// How the caller names the call, so that people and programs can match it with what they see on the other side.
fn name(context: &RequestContext<RoleServer>) -> String {
    named(context).map_or_else(|| format!("mcp_{}", uuid::Uuid::now_v7().simple()), str::to_owned)
}

/// What the call is known by if it is sent again after a lost connection: its name, and all there is in it, because somebody
/// may use a name twice.
fn mark(
    listed: &Listed,
    context: &RequestContext<RoleServer>,
    arguments: &JsonObject,
) -> Option<String> {
    let arguments = serde_json::to_string(arguments).ok()?;
    Some(format!("{}\n{}\n{arguments}", listed.tool.name, named(context)?))
}

fn named(context: &RequestContext<RoleServer>) -> Option<&str> {
    let named = context.meta.0.0.get(TOOL_USE).and_then(|it| it.as_str());
    named.filter(|it| (1..=LONGEST_NAME).contains(&it.len()))
}

/// Tells a caller that asked for it how its call goes on.
struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    count: u32,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { peer: context.peer.clone(), token, count: 0 }
    }

    async fn say(&mut self, words: &str) {
        let Some(token) = &self.token else { return };
        self.count += 1;
        let said = ProgressNotificationParam::new(token.clone(), self.count.into())
            .with_message(words.to_owned());
        if let Err(error) = self.peer.notify_progress(said).await {
            // Whoever is gone is told nothing; the call goes on until it is taken back.
            tracing::debug!(%error, "an MCP client could not be told of progress");
        }
    }
}
