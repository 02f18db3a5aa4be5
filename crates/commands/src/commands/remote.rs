//! Commands that ask a running server: `copydesk import`, `docs`, `duplicate`, `ask`, `requests`,
//! `approve`, `reject`, `watch` and `export --url`.

mod administration;
mod import;
mod watch;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{
    ApproveArgs, AskArgs, DocsArgs, ExportArgs, RejectArgs, RequestsArgs, ServerArgs,
};
use crate::config;
use copydesk_client::show::{self, DiffStyle, clean};
use copydesk_client::{ClientError, ClientResult, ServerClient};
use copydesk_export::ExportFormat;

use super::{CommandOutcome, say, write_out};
pub(super) use administration::{person, share, spending};
pub(super) use import::import;
pub(super) use watch::watch;

/// Longest wait of one question, in seconds.
const WAIT_S: u64 = 20;

fn client(server: &ServerArgs) -> ClientResult<ServerClient> {
    ServerClient::new(&server.url, server.token.as_deref().unwrap_or_default().trim())
}

fn say_json(value: &Value) -> Result<()> {
    say(&format!("{value}\n"))
}

/// Prints an answer of the server: as JSON if that is asked for, else as `text` formats it.
fn say_answer(
    server: &ServerArgs,
    answer: &Value,
    text: impl FnOnce(&Value) -> String,
) -> Result<()> {
    if server.json { say_json(answer) } else { say(&text(answer)) }
}

/// Formats a field of an answer as a line.
fn field_line(answer: &Value, name: &str) -> String {
    format!("{}\n", answer[name].as_str().unwrap_or_default())
}

fn style() -> DiffStyle {
    if std::io::stdout().is_terminal() && !config::no_colour() {
        DiffStyle::Coloured
    } else {
        DiffStyle::Plain
    }
}

/// Returns the [`CommandOutcome`] of a refused decision: a late one counts as expired.
fn ended_by(error: ClientError) -> Result<CommandOutcome> {
    if error.code() == Some("expired") {
        eprintln!("copydesk: {error}");
        return Ok(CommandOutcome::Late);
    }
    Err(error.into())
}

pub(super) async fn docs(args: DocsArgs) -> Result<()> {
    let list = client(&args.server)?.all(&["documents"], &[], "documents").await?;
    if args.server.json {
        say_json(&json!({"documents": list}))
    } else {
        say(&show::documents(&list))
    }
}

pub(super) async fn duplicate(document: &str, server: &ServerArgs) -> Result<()> {
    let path = ["documents", document, "duplicate"];
    let copy = client(server)?.post(&path, &json!({})).await?;
    say_answer(server, &copy, |copy| field_line(copy, "id"))
}

/// Asks the agent; with `--wait`, waits for the result.
pub(super) async fn ask(args: AskArgs) -> Result<CommandOutcome> {
    let client = client(&args.server)?;
    let mut wish = json!({"prompt": args.prompt, "context": {"documentId": args.document}});
    if let Some(model) = &args.model {
        wish["model"] = json!(model);
    }
    let started = client.post(&["runs"], &wish).await?;
    if !args.wait {
        say_answer(&args.server, &started, |started| field_line(started, "url"))?;
        return Ok(CommandOutcome::Fine);
    }
    let [session, run] = ["sessionId", "id"].map(|name| started[name].as_str().unwrap_or_default());
    wait(&client, &args, session, run).await
}

async fn wait(
    client: &ServerClient,
    args: &AskArgs,
    session: &str,
    run: &str,
) -> Result<CommandOutcome> {
    let patience = (args.timeout > 0).then(|| Duration::from_secs(args.timeout));
    let (begun, style) = (Instant::now(), style());
    let mut seen: Vec<String> = Vec::new();
    loop {
        let left = patience.map(|patience| patience.saturating_sub(begun.elapsed()));
        if left == Some(Duration::ZERO) {
            eprintln!("copydesk: nobody decided in {} seconds; the run continues", args.timeout);
            return Ok(CommandOutcome::Late);
        }
        let state = client.get(&["sessions", session, "runs", run], &[]).await?;
        for id in state["waiting"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !args.server.json && !seen.iter().any(|known| known == id) {
                say(&show_request(client, id, style).await?)?;
                seen.push(id.to_owned());
            }
        }
        if !state["finishedAt"].is_null() {
            return finished(&state, args.server.json);
        }
        let waits = state["waiting"][0].as_str();
        // Short waits until a request waits for people, to show it soon; then until it is resolved.
        let seconds = if waits.is_some() { WAIT_S } else { 1 };
        let seconds = left.map_or(seconds, |left| seconds.min(left.as_secs().max(1))).to_string();
        let run = ["sessions", session, "runs", run];
        let path = waits.map_or(run.to_vec(), |request| vec!["requests", request]);
        client.get(&path, &[("wait", &seconds)]).await?;
    }
}

fn finished(state: &Value, as_json: bool) -> Result<CommandOutcome> {
    let result = &state["result"];
    let updates = result["updates"].as_array().map_or(&[][..], Vec::as_slice);
    if as_json {
        say_json(state)?;
    } else {
        let message = clean(result["conversationMessage"].as_str().unwrap_or_default());
        say(&format!("{}\n", message.trim_end()))?;
        for update in updates {
            let [id, status] =
                ["request_id", "status"].map(|name| update[name].as_str().unwrap_or_default());
            say(&format!("{id}  {status}\n"))?;
        }
        if let Some(error) = result["error"]["message"].as_str() {
            eprintln!("copydesk: {}", clean(error));
        }
    }
    let is = |update: &Value, names: &[&str]| {
        update["status"].as_str().is_some_and(|status| names.contains(&status))
    };
    let any = |names: &[&str]| updates.iter().any(|update| is(update, names));
    Ok(match state["state"].as_str() {
        _ if any(&["expired"]) => CommandOutcome::Late,
        Some("success") if !any(&["rejected", "cancelled", "failed"]) => CommandOutcome::Fine,
        _ => CommandOutcome::Refused,
    })
}

/// Returns a request with its changes among the words around them.
async fn show_request(client: &ServerClient, id: &str, style: DiffStyle) -> ClientResult<String> {
    let request = client.get(&["requests", id], &[]).await?;
    let text = text_of(client, &request).await;
    Ok(show::request(&request, text.as_deref(), style))
}

/// Returns the text to which a request's positions refer; `None` if it cannot be read.
async fn text_of(client: &ServerClient, request: &Value) -> Option<String> {
    let (document, version) = (request["document_id"].as_str()?, request["version"].to_string());
    let read = client.get(&["documents", document, "versions", &version], &[]).await.ok()?;
    read["text"].as_str().map(str::to_owned)
}

/// Lists the open requests, or shows one request with its changes.
pub(super) async fn requests(args: RequestsArgs) -> Result<()> {
    let client = client(&args.server)?;
    if let Some(id) = &args.request {
        return if args.server.json {
            say_json(&client.get(&["requests", id], &[]).await?)
        } else {
            say(&show_request(&client, id, style()).await?)
        };
    }
    let list = open(&client, args.document.as_deref()).await?;
    if args.server.json {
        say_json(&json!({"requests": list}))
    } else {
        let lines = list.iter().map(|request| show::request_line(request) + "\n");
        say(&lines.collect::<String>())
    }
}

async fn open(client: &ServerClient, document: Option<&str>) -> ClientResult<Vec<Value>> {
    let query: Vec<_> = document.map(|id| ("documentId", id)).into_iter().collect();
    client.all(&["requests"], &query, "requests").await
}

/// Accepts a request, or some of its hunks.
pub(super) async fn approve(args: ApproveArgs) -> Result<CommandOutcome> {
    let mut decision = json!({"approved": true});
    if !args.hunk.is_empty() {
        decision["hunks"] = each(&args.hunk, "accept");
    }
    if let Some(note) = args.note {
        decision["note"] = json!(note);
    }
    if let Some(preview) = args.preview {
        decision["preview_hash"] = json!(preview);
    }
    decide(&args.server, &args.request, &decision).await
}

/// Rejects a request, or some of its hunks.
pub(super) async fn reject(args: RejectArgs) -> Result<CommandOutcome> {
    let mut decision = json!({"approved": false, "feedback": args.reason});
    if !args.hunk.is_empty() {
        decision["hunks"] = each(&args.hunk, "reject");
    }
    decide(&args.server, &args.request, &decision).await
}

fn each(hunks: &[String], decision: &str) -> Value {
    hunks.iter().map(|id| json!({"id": id, "decision": decision})).collect()
}

async fn decide(server: &ServerArgs, request: &str, decision: &Value) -> Result<CommandOutcome> {
    let decided = match client(server)?.post(&["requests", request, "decision"], decision).await {
        Ok(decided) => decided,
        Err(error) => return ended_by(error),
    };
    say_answer(server, &decided, |decided| {
        let votes = &decided["approvals"];
        let votes = match (votes["have"].as_u64(), votes["need"].as_u64()) {
            (Some(have), Some(need)) if need > 1 => format!(" ({have} of {need} approvals)"),
            _ => String::new(),
        };
        format!("{}{votes}\n", decided["status"].as_str().unwrap_or_default())
    })?;
    Ok(CommandOutcome::Fine)
}

/// Exports a document from a running server into a file.
pub(super) async fn export(url: &str, args: ExportArgs) -> Result<()> {
    let client = ServerClient::new(url, args.token.as_deref().unwrap_or_default().trim())?;
    let format = ExportFormat::from(args.format).as_str();
    let content =
        client.file(&["documents", &args.document, "export"], &[("format", format)]).await?;
    write_out(args.out.as_deref(), &content).await
}
