//! Tokens and the end of a session, on the wire.

use copydesk_api::{LoginRecord, TokenRecord};
use copydesk_auth as auth;
use copydesk_auth::{AccessEnd, AuthError, AuthResult, NewToken, TokenGrant};
use copydesk_ids::TokenId;
use copydesk_protocol::client::IssueToken;
use copydesk_protocol::names::{SessionEndCode, TokenStatus};
use copydesk_protocol::server;

use super::time;

/// Returns the address by which the caller reaches the server, such as `https://desk.example`. A
/// browser's `Origin` has the scheme, also behind a proxy; programs send only a host.
pub fn reached_at(origin: Option<&str>, host: Option<&str>) -> String {
    match (origin, host) {
        (Some(origin), _) => origin.trim_end_matches('/').to_owned(),
        (None, Some(host)) => format!("http://{host}"),
        (None, None) => String::new(),
    }
}

/// Returns a new token with its secret. The link's fragment is never sent to a server, so that the
/// secret is in no log.
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

/// Returns the properties of a token to be issued.
///
/// # Errors
/// Those of [`TokenGrant::read`].
pub fn grant(wish: IssueToken, now_ms: u64) -> AuthResult<TokenGrant> {
    let IssueToken { role, name, document_id, expires_in } = wish;
    TokenGrant::read(role, &name, document_id, expires_in.as_deref(), now_ms)
}

/// Returns all tokens and logins, for a caller who used `current`.
pub fn token_list(
    records: Vec<TokenRecord>,
    logins: Vec<LoginRecord>,
    current: &TokenId,
    now_ms: u64,
) -> server::TokenList {
    let line = |record| token_line(record, current, now_ms);
    server::TokenList {
        tokens: records.into_iter().map(line).collect(),
        logins: logins.into_iter().map(login_line).collect(),
    }
}

fn login_line(record: LoginRecord) -> server::LoginLine {
    let LoginRecord { user, issuer, subject, name, email, groups, created_ms, signed_in_ms } =
        record;
    server::LoginLine {
        id: user.to_string(),
        name,
        email,
        groups,
        issuer,
        subject,
        created_at: time(created_ms),
        signed_in_at: time(signed_in_ms),
    }
}

fn token_line(record: TokenRecord, current: &TokenId, now_ms: u64) -> server::TokenLine {
    let status = match auth::ended(&record, now_ms) {
        None | Some(AccessEnd::Changed { .. }) => TokenStatus::Active,
        Some(AccessEnd::Expired { .. }) => TokenStatus::Expired,
        Some(AccessEnd::Revoked { .. }) => TokenStatus::Revoked,
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
        login,
        former_user,
        changed_ms: _,
    } = record;
    server::TokenLine {
        current: id == *current,
        id: id.to_string(),
        user: user.to_string(),
        name,
        role,
        document_id: document.map(|id| id.to_string()),
        status,
        created_at: time(created_ms),
        expires_at: expires_ms.map(time),
        last_used_at: used_ms.map(time),
        login: login.map(|id| id.to_string()),
        tied: former_user.is_some(),
        revoked_at: revoked_ms.filter(|_| status == TokenStatus::Revoked).map(time),
    }
}

/// Returns the `sessionEnded` event.
pub fn session_ended(ended: AccessEnd) -> server::SessionEnded {
    let (code, at_ms) = match ended {
        AccessEnd::Revoked { at_ms } => (SessionEndCode::TokenRevoked, at_ms),
        AccessEnd::Expired { at_ms } => (SessionEndCode::TokenExpired, at_ms),
        AccessEnd::Changed { at_ms } => (SessionEndCode::TokenChanged, at_ms),
    };
    let message = AuthError::from(ended).to_string();
    server::SessionEnded { code, message, at: time(at_ms) }
}
