//! `copydesk mcp`: a bridge between standard input and output and a running server.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tokio::sync::mpsc;

use crate::cli::McpArgs;
use crate::config::DEFAULT_DATA;
use copydesk_auth::kept_owner_secret;
use copydesk_client::ServerClient;
use copydesk_client::mcp::{InputLine, StdioBridge, input_lines, write_line};

use super::stop_signal;

/// Carries messages until the client has no more, or the process gets the signal to stop.
pub(super) async fn run(args: McpArgs) -> Result<()> {
    let token = token(&args)?;
    // Under --no-auth any token is accepted; otherwise the server needs one to identify the caller.
    let client = ServerClient::patient(&args.url, token.as_deref())?;
    let (out, mut lines_out) = mpsc::unbounded_channel();
    let bridge = StdioBridge::new(client, args.timeout_ms.filter(|it| *it > 0), out)?;
    bridge.check_access().await?;
    let mut lines = input_lines();
    let mut signal = std::pin::pin!(stop_signal()?);
    let ended = loop {
        tokio::select! {
            biased;
            Some(message) = lines_out.recv() => {
                if let Err(error) = write_line(&message) {
                    break Err(error).context("cannot write to standard output");
                }
            }
            () = &mut signal => break Ok(()),
            line = lines.recv() => match line {
                Some(InputLine::Text(line)) => bridge.carry(&line).await,
                Some(InputLine::Unreadable(why)) => bridge.refuse(why),
                None => break Ok(()),
            },
        }
    };
    bridge.close().await;
    while let Ok(message) = lines_out.try_recv() {
        write_line(&message)?;
    }
    ended
}

/// Returns the token that was given, or the owner's of a server on this machine.
fn token(args: &McpArgs) -> Result<Option<String>> {
    if let Some(token) = &args.token {
        return Ok(Some(token.trim().to_owned()));
    }
    let data = args.data.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_DATA));
    let kept = kept_owner_secret(&data)?;
    if kept.is_none() && args.data.is_some() {
        anyhow::bail!("there is no owner's token in {}; use --token", data.display());
    }
    Ok(kept.map(|secret| secret.expose().to_owned()))
}
