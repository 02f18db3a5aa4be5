//! `copydesk token`: issues, lists and revokes tokens, beside a running server or through it.

use anyhow::{Result, bail};
use jiff::Timestamp;

use crate::auth::Authenticator;
use crate::cli::TokenArgs;
use crate::client::ServerClient;
use crate::permissions::Role;
use crate::protocol::client::IssueToken;
use crate::protocol::convert;
use crate::protocol::names::TokenStatus;
use crate::protocol::server::TokenLine;
use crate::rooms::clock::WallClock;

use super::{say, visit};

/// Runs `copydesk token`. A new token is printed alone, so that a script can read it.
pub(super) async fn run(args: TokenArgs) -> Result<()> {
    let said = match &args.url {
        Some(url) => over_http(url, &args).await?,
        None => in_directory(args).await?,
    };
    say(&said)
}

/// Runs the command through a running server, which applies it at once.
async fn over_http(url: &str, args: &TokenArgs) -> Result<String> {
    let Some(token) = &args.token else {
        bail!("--url needs the token of an owner: --token, or COPYDESK_TOKEN");
    };
    let client = ServerClient::new(url, token.trim())?;
    if args.list {
        return Ok(table(&client.tokens().await?.tokens));
    }
    if let Some(id) = &args.revoke {
        client.revoke(id).await?;
        return Ok(String::new());
    }
    Ok(format!("{}\n", client.issue(&wish(args)).await?.token))
}

/// Runs the command in the data directory. A server that runs on it sees a new token at once, and a
/// revoked one within a second.
async fn in_directory(args: TokenArgs) -> Result<String> {
    let store = visit(args.data.clone(), args.database_url.clone()).await?;
    let said = with(&Authenticator::new(store.clone()), &args).await;
    store.close().await;
    said
}

async fn with(auth: &Authenticator, args: &TokenArgs) -> Result<String> {
    let (owner, now_ms) = (Authenticator::owner().user, WallClock::system().now_ms());
    if args.list {
        // Reading the directory needs no token.
        let tokens = convert::token_list(auth.tokens().await?, &"".into(), now_ms).tokens;
        return Ok(table(&tokens));
    }
    if let Some(id) = &args.revoke {
        auth.revoke(&id.as_str().into(), &owner, now_ms).await?;
        return Ok(String::new());
    }
    let grant = convert::grant(wish(args), now_ms)?;
    Ok(format!("{}\n", auth.issue(grant, &owner, now_ms).await?.secret.expose()))
}

fn wish(args: &TokenArgs) -> IssueToken {
    IssueToken {
        // The command line requires both where they are needed.
        role: args.role.map_or(Role::Viewer, Role::from).into(),
        name: args.name.clone().unwrap_or_default(),
        document_id: args.document.clone(),
        expires_in: args.expires.clone(),
    }
}

/// Formats tokens in columns, for people and for `awk`: the name, which may have spaces, comes
/// last.
fn table(tokens: &[TokenLine]) -> String {
    let head = ["ID", "ROLE", "STATUS", "DOCUMENT", "EXPIRES", "LAST-USED", "NAME"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(tokens.iter().map(|token| {
        let maybe = |text: &Option<String>, none: &str| {
            text.as_deref().map_or_else(|| none.to_owned(), to_the_minute)
        };
        [
            token.id.clone(),
            Role::from(token.role).as_str().to_owned(),
            status_name(token.status).to_owned(),
            token.document_id.clone().unwrap_or_else(|| "all".to_owned()),
            maybe(&token.expires_at, "never"),
            maybe(&token.last_used_at, "-"),
            token.name.clone(),
        ]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..head.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn status_name(status: TokenStatus) -> &'static str {
    match status {
        TokenStatus::Active => "active",
        TokenStatus::Expired => "expired",
        TokenStatus::Revoked => "revoked",
    }
}

/// Formats a time like `2026-11-20T14:05Z`: a token's seconds do not matter.
fn to_the_minute(time: &str) -> String {
    let read = time.parse::<Timestamp>();
    read.map_or_else(|_| time.to_owned(), |at| at.strftime("%Y-%m-%dT%H:%MZ").to_string())
}
