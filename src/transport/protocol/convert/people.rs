//! Tokens and their end, as they are told.

use crate::auth::{self, AccessEnd, AuthError, NewToken};
use crate::ids::TokenId;
use crate::store::TokenRecord;
use crate::transport::protocol::server;

use super::time;

/// Where people reach the server, as the one who asks does: `https://desk.example`. A browser's `Origin` knows the
/// scheme, also behind a proxy; a program has none and names only the host.
pub fn reached_at(origin: Option<&str>, host: Option<&str>) -> String {
    match (origin, host) {
        (Some(origin), _) => origin.trim_end_matches('/').to_owned(),
        (None, Some(host)) => format!("http://{host}"),
        (None, None) => String::new(),
    }
}

/// A new token, with its secret. The link's fragment is never sent to a server, so the secret is in no log.
pub fn issued(issued: &NewToken, reached_at: &str) -> server::IssuedToken {
    let NewToken { token, secret, principal, expires_ms } = issued;
    let place = principal.document.as_ref().map_or_else(|| "/".to_owned(), |id| format!("/d/{id}"));
    server::IssuedToken {
        token: secret.expose().to_owned(),
        id: token.to_string(),
        url: format!("{reached_at}{place}#token={}", secret.in_link()),
        expires_at: expires_ms.map(time),
    }
}

/// All tokens, for somebody who came in with `current`.
pub fn token_list(records: Vec<TokenRecord>, current: &TokenId, now_ms: u64) -> server::TokenList {
    let line = |record| token_line(record, current, now_ms);
    server::TokenList { tokens: records.into_iter().map(line).collect() }
}

fn token_line(record: TokenRecord, current: &TokenId, now_ms: u64) -> server::TokenLine {
    let status = match auth::ended(&record, now_ms) {
        None => "active",
        Some(AccessEnd::Expired { .. }) => "expired",
        Some(AccessEnd::Revoked { .. }) => "revoked",
    };
    let TokenRecord {
        id,
        hash: _,
        user,
        name,
        role,
        document,
        created_ms,
        expires_ms,
        revoked_ms,
        used_ms,
    } = record;
    server::TokenLine {
        current: id == *current,
        id: id.to_string(),
        user: user.to_string(),
        name,
        role: role.as_str().to_owned(),
        document_id: document.map(|id| id.to_string()),
        status: status.to_owned(),
        created_at: time(created_ms),
        expires_at: expires_ms.map(time),
        last_used_at: used_ms.map(time),
        revoked_at: revoked_ms.filter(|_| status == "revoked").map(time),
    }
}

/// Why somebody has to go.
pub fn session_ended(ended: AccessEnd) -> server::SessionEnded {
    let (code, at_ms) = match ended {
        AccessEnd::Revoked { at_ms } => ("token_revoked", at_ms),
        AccessEnd::Expired { at_ms } => ("token_expired", at_ms),
    };
    let message = AuthError::from(ended).to_string();
    server::SessionEnded { code: code.to_owned(), message, at: time(at_ms) }
}
