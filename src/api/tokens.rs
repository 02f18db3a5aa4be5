//! Tokens, for owners.

use crate::auth::{NewToken, TokenGrant};
use crate::ids::TokenId;
use crate::permissions::Action;
use crate::store::TokenRecord;

use super::{ApiResult, Caller};

impl Caller {
    /// Issues a token. The result is the only place that ever holds its secret.
    pub async fn issue_token(
        &self,
        grant: impl Future<Output = ApiResult<TokenGrant>>,
    ) -> ApiResult<NewToken> {
        self.require(Action::Administer)?;
        let (grant, by) = (grant.await?, &self.principal.user);
        Ok(self.api.auth.issue(grant, by, self.api.clock.now_ms()).await?)
    }

    /// Returns all tokens, oldest first, without their secrets.
    pub async fn tokens(&self) -> ApiResult<Vec<TokenRecord>> {
        self.require(Action::Administer)?;
        Ok(self.api.auth.tokens().await?)
    }

    /// Names the asking person, in their token; returns the name as it was kept.
    pub async fn name_token(&self, name: &str) -> ApiResult<String> {
        self.require(Action::Administer)?;
        let (by, now_ms) = (&self.principal.user, self.api.clock.now_ms());
        Ok(self.api.auth.name(&self.token, name, by, now_ms).await?)
    }

    /// Revokes a token; connections made with it are closed before this returns.
    pub async fn revoke_token(&self, token: &TokenId) -> ApiResult<()> {
        self.require(Action::Administer)?;
        Ok(self.api.auth.revoke(token, &self.principal.user, self.api.clock.now_ms()).await?)
    }
}
