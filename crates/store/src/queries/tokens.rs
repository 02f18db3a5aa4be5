//! Queries for tokens. Each reads only the tokens it is about.

use std::collections::HashMap;

use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_ids::{TokenId, UserId};

use crate::database::columns::list;
use crate::records::TokenRecord;
use crate::{Store, StoreResult};

impl Store {
    /// Returns the token whose secret has this hash, expired and revoked ones too.
    pub async fn token_by_hash(&self, hash: &str) -> StoreResult<Option<TokenRecord>> {
        self.one("SELECT * FROM tokens WHERE hash = $1", &[&hash]).await
    }

    /// Returns all tokens, oldest first.
    pub async fn tokens(&self) -> StoreResult<Vec<TokenRecord>> {
        self.all("SELECT * FROM tokens ORDER BY created_ms, id", &[]).await
    }

    /// Returns all tokens of one person, expired and revoked ones too.
    pub async fn tokens_of(&self, user: &UserId) -> StoreResult<Vec<TokenRecord>> {
        self.all("SELECT * FROM tokens WHERE user_id = $1", &[user]).await
    }

    /// Returns the tokens that are valid at `now_ms`, oldest first.
    pub async fn tokens_in_force(&self, now_ms: u64) -> StoreResult<Vec<TokenRecord>> {
        let sql = "SELECT * FROM tokens
             WHERE revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > $1)
             ORDER BY created_ms, id";
        self.all(sql, &[&now_ms]).await
    }

    /// Returns the tokens that have expired by `now_ms` and are not marked as such yet.
    pub async fn tokens_run_out(&self, now_ms: u64) -> StoreResult<Vec<TokenRecord>> {
        let sql = "SELECT * FROM tokens WHERE revoked_ms IS NULL AND expires_ms <= $1";
        self.all(sql, &[&now_ms]).await
    }

    /// Returns the tokens with these identifiers, as far as they exist, in no order.
    pub async fn tokens_named(&self, ids: &[TokenId]) -> StoreResult<Vec<TokenRecord>> {
        let sql = "SELECT * FROM tokens WHERE id IN (SELECT value ->> 0 FROM json_each($1))";
        self.all(sql, &[&list(ids)]).await
    }

    /// Returns the names of these people, as on their newest token, or [`DELETED_PERSON`] if their
    /// data was deleted. Others without a token are left out.
    pub async fn names_of(&self, people: &[UserId]) -> StoreResult<HashMap<UserId, String>> {
        let sql = "SELECT * FROM tokens WHERE user_id IN (SELECT value ->> 0 FROM json_each($1))
             ORDER BY created_ms, id";
        let tokens: Vec<TokenRecord> = self.all(sql, &[&list(people)]).await?;
        let mut names: HashMap<_, _> =
            tokens.into_iter().map(|token| (token.user, token.name)).collect();
        for user in self.deleted_among(people).await? {
            names.insert(user, DELETED_PERSON.to_owned());
        }
        Ok(names)
    }
}
