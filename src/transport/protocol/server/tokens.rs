//! Tokens and their end, as the server tells of them. The command line reads them too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// The ack of `token:issue`, and the answer to `POST /api/v1/tokens`. The only time the secret is told.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct IssuedToken {
    /// The secret.
    pub token: String,
    /// Its name, for revoking it.
    pub id: String,
    /// A link that brings its holder in.
    pub url: String,
    /// RFC 3339; `null`: never.
    pub expires_at: Option<String>,
}

/// One line of `token:list` and of `GET /api/v1/tokens`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenLine {
    /// Its name, for revoking it.
    pub id: String,
    /// The person it stands for.
    pub user: String,
    /// Their name.
    pub name: String,
    /// What it allows.
    pub role: String,
    /// The only document it reaches; `null`: all.
    pub document_id: Option<String>,
    /// `active`, `expired` or `revoked`.
    pub status: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339; `null`: never.
    pub expires_at: Option<String>,
    /// RFC 3339, to the minute; `null`: nobody has come in with it yet.
    pub last_used_at: Option<String>,
    /// RFC 3339; `null`: it was not.
    pub revoked_at: Option<String>,
    /// The one that the asking connection came in with.
    pub current: bool,
}

/// The ack of `token:list`, and the answer to `GET /api/v1/tokens`: all tokens, oldest first.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct TokenList {
    /// One line for each.
    pub tokens: Vec<TokenLine>,
}

/// `sessionEnded`: the last thing a socket is told before it is disconnected.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SessionEnded {
    /// `token_revoked` or `token_expired`.
    pub code: String,
    /// For people.
    pub message: String,
    /// When the token ended, RFC 3339.
    pub at: String,
}
