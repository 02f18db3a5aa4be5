//! Tokens and the end of a session. The command line reads them too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::super::names::{SessionEndCode, TokenStatus};
use super::Person;
use copydesk_ids::permissions::Role;
use copydesk_macros::wire;

/// Answer of `token:issue` and `POST /api/v1/tokens`. The secret is shown only here.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct IssuedToken {
    /// Secret of the token.
    pub token: String,
    /// Identifier of the token, for revoking it.
    pub id: String,
    /// Link that signs its holder in.
    pub url: String,
    /// Time at which it expires, in RFC 3339; `null`: never.
    pub expires_at: Option<String>,
}

/// Answer of `token:name`.
#[wire(Serialize, TS)]
pub struct NamedPerson {
    /// Asking person, under the name that their token has now.
    pub user: Person,
}

/// Entry of `token:list` and `GET /api/v1/tokens`.
#[wire(Deserialize, Serialize, TS, camelCase, null)]
pub struct TokenLine {
    /// Identifier of the token, for revoking it.
    pub id: String,
    /// Identifier of its person.
    pub user: String,
    /// Name of its person.
    pub name: String,
    /// Role that it gives.
    pub role: Role,
    /// Only document that it reaches; `null`: all.
    pub document_id: Option<String>,
    /// Status of the token.
    pub status: TokenStatus,
    /// Time of its creation, in RFC 3339.
    pub created_at: String,
    /// Time at which it expires, in RFC 3339; `null`: never.
    pub expires_at: Option<String>,
    /// Time of its last use, in RFC 3339 and to the minute; `null`: never used.
    pub last_used_at: Option<String>,
    /// Time of its revocation, in RFC 3339; `null`: not revoked.
    pub revoked_at: Option<String>,
    /// `true`: the token of the asking connection.
    pub current: bool,
    /// Login that it belongs to: an entry of `logins`; `null`: none.
    pub login: Option<String>,
    /// `true`: an owner issued it and tied it to the login; `false`: it came from signing in.
    pub tied: bool,
}

/// Person who has signed in with an identity provider. All tokens of a login are one person.
#[wire(Deserialize, Serialize, TS, camelCase, null)]
pub struct LoginLine {
    /// Identifier of the login, and of its person.
    pub id: String,
    /// Name that others see.
    pub name: String,
    /// Mail address that the provider has verified; `null`: none.
    pub email: Option<String>,
    /// Groups of the identity provider that the person was in at the last sign-in.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Address of the provider.
    pub issuer: String,
    /// Name by which the provider knows the person.
    pub subject: String,
    /// Time of the first sign-in, in RFC 3339.
    pub created_at: String,
    /// Time of the last sign-in, in RFC 3339.
    pub signed_in_at: String,
}

/// Answer of `token:list` and `GET /api/v1/tokens`: all tokens, oldest first.
#[wire(Deserialize, Serialize, TS)]
pub struct TokenList {
    /// All tokens.
    pub tokens: Vec<TokenLine>,
    /// Everybody who has signed in with an identity provider, oldest first.
    #[serde(default)]
    pub logins: Vec<LoginLine>,
}

/// `sessionEnded`: the last event before a socket is disconnected.
#[wire(Serialize, TS)]
pub struct SessionEnded {
    /// Reason for the end.
    pub code: SessionEndCode,
    /// Message for people.
    pub message: String,
    /// Time at which the token ended, in RFC 3339.
    pub at: String,
}
