//! `copydesk token`: issues, lists and revokes tokens, beside a running server or through it.

use anyhow::{Result, bail};
use jiff::Timestamp;

use crate::cli::TokenArgs;
use copydesk_auth::Authenticator;
use copydesk_client::ServerClient;
use copydesk_clock::WallClock;
use copydesk_ids::permissions::Role;
use copydesk_protocol::client::IssueToken;
use copydesk_protocol::names::TokenStatus;
use copydesk_protocol::server::{LoginLine, TokenLine, TokenList};
use copydesk_protocol_conversion as wire;

use super::say;
use super::stored_data::visit;

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
        return Ok(tables(&client.tokens().await?));
    }
    if let Some((token, login)) = tie(args) {
        let login = login_named(&client.tokens().await?, login)?;
        client.tie(token, &login).await?;
        return Ok(String::new());
    }
    if let Some(id) = &args.revoke {
        client.revoke(id).await?;
        return Ok(String::new());
    }
    Ok(format!("{}\n", client.issue(&wish(args)).await?.token))
}

/// Runs the command in the data directory; a server on it applies it within a second.
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
        return Ok(tables(&list(auth, now_ms).await?));
    }
    if let Some((token, login)) = tie(args) {
        let login = login_named(&list(auth, now_ms).await?, login)?;
        auth.tie(&token.into(), &login.as_str().into(), &owner, now_ms).await?;
        return Ok(String::new());
    }
    if let Some(id) = &args.revoke {
        auth.revoke(&id.as_str().into(), &owner, now_ms).await?;
        return Ok(String::new());
    }
    let grant = wire::grant(wish(args), now_ms)?;
    Ok(format!("{}\n", auth.issue(grant, &owner, now_ms).await?.secret.expose()))
}

async fn list(auth: &Authenticator, now_ms: u64) -> Result<TokenList> {
    let (tokens, logins) = (auth.tokens().await?, auth.logins().await?);
    Ok(wire::token_list(tokens, logins, &"".into(), now_ms))
}

fn tie(args: &TokenArgs) -> Option<(&str, &str)> {
    Some((args.tie.as_deref()?, args.login.as_deref()?))
}

/// Returns the login with this identifier or mail address.
pub(super) fn login_named(list: &TokenList, name: &str) -> Result<String> {
    let is_meant = |login: &&LoginLine| {
        login.id == name || login.email.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(name))
    };
    let meant: Vec<_> = list.logins.iter().filter(is_meant).collect();
    match meant.as_slice() {
        [login] => Ok(login.id.clone()),
        [] => bail!("nobody with the login {name} has signed in; see --list"),
        _ => bail!("several logins have the address {name}; use the identifier of one, see --list"),
    }
}

fn wish(args: &TokenArgs) -> IssueToken {
    IssueToken {
        // The command line requires both where they are needed.
        role: args.role.map_or(Role::Viewer, Role::from),
        name: args.name.clone().unwrap_or_default(),
        document_id: args.document.clone(),
        expires_in: args.expires.clone(),
    }
}

/// Formats tokens, and, if people have signed in, logins.
fn tables(list: &TokenList) -> String {
    let tokens = table(&list.tokens);
    if list.logins.is_empty() {
        return tokens;
    }
    let head = ["LOGIN", "EMAIL", "SUBJECT", "ISSUER", "LAST-SIGN-IN", "NAME"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(list.logins.iter().map(|login| {
        [
            login.id.clone(),
            login.email.clone().unwrap_or_else(|| "-".to_owned()),
            login.subject.clone(),
            login.issuer.clone(),
            to_the_minute(&login.signed_in_at),
            login.name.clone(),
        ]
    }));
    format!("{tokens}\n{}", in_columns(&rows))
}

/// Formats tokens in columns, for people and `awk`: the name, which may have spaces, comes last.
fn table(tokens: &[TokenLine]) -> String {
    let head = ["ID", "ROLE", "STATUS", "DOCUMENT", "EXPIRES", "LAST-USED", "LOGIN", "NAME"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(tokens.iter().map(|token| {
        let maybe = |text: &Option<String>, none: &str| {
            text.as_deref().map_or_else(|| none.to_owned(), to_the_minute)
        };
        [
            token.id.clone(),
            token.role.as_str().to_owned(),
            status_name(token.status).to_owned(),
            token.document_id.clone().unwrap_or_else(|| "all".to_owned()),
            maybe(&token.expires_at, "never"),
            maybe(&token.last_used_at, "-"),
            token.login.clone().unwrap_or_else(|| "-".to_owned()),
            token.name.clone(),
        ]
    }));
    in_columns(&rows)
}

fn in_columns<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..COLUMNS).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; COLUMNS]| {
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
