//! Logins: people who sign in with an identity provider, and the queries for them.

use copydesk_ids::UserId;
use copydesk_macros::record;

use crate::records::LoginRecord;
use crate::{Store, StoreResult};

/// Token that was tied to a login: both people are the same.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct TokenTie {
    /// Person of the login.
    #[sqlx(rename = "user_id")]
    pub user: UserId,
    /// Person who held the token before.
    pub former_user: UserId,
}

impl Store {
    /// Returns all ties of tokens to logins, also of tokens that have ended.
    pub async fn ties(&self) -> StoreResult<Vec<TokenTie>> {
        let sql = "SELECT user_id, former_user FROM tokens WHERE former_user IS NOT NULL";
        self.all(sql, &[]).await
    }

    /// Returns the login of an issuer's subject; `None` if that person never signed in.
    pub async fn login_of(&self, issuer: &str, subject: &str) -> StoreResult<Option<LoginRecord>> {
        let sql = "SELECT * FROM logins WHERE issuer = $1 AND subject = $2";
        self.one(sql, &[&issuer, &subject]).await
    }

    /// Returns the login of a person; `None` if they never signed in.
    pub async fn login(&self, user: &UserId) -> StoreResult<Option<LoginRecord>> {
        self.one("SELECT * FROM logins WHERE user_id = $1", &[user]).await
    }

    /// Returns all logins, oldest first.
    pub async fn logins(&self) -> StoreResult<Vec<LoginRecord>> {
        self.all("SELECT * FROM logins ORDER BY created_ms, user_id", &[]).await
    }
}
