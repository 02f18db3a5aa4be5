//! Tokens, for owners.

use crate::auth::{NewToken, TokenGrant};
use crate::ids::TokenId;
use crate::permissions::Action;
use crate::store::TokenRecord;

use super::{ApiResult, Caller};

impl Caller {
    /// Issues a token. The result is the only place that ever holds its secret.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for people other than owners,
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown document,
    /// [`TooManyTokens`](super::ErrorCode::TooManyTokens) at the limit; those of the input.
    pub async fn issue_token(
        &self,
        grant: impl Future<Output = ApiResult<TokenGrant>>,
    ) -> ApiResult<NewToken> {
        self.require(Action::Administer)?;
        let (grant, by) = (grant.await?, &self.principal.user);
        Ok(self.api.auth.issue(grant, by, self.api.clock.now_ms()).await?)
    }

    /// Returns all tokens, oldest first, without their secrets.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for people other than owners,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the tokens cannot be read.
    pub async fn tokens(&self) -> ApiResult<Vec<TokenRecord>> {
        self.require(Action::Administer)?;
        Ok(self.api.auth.tokens().await?)
    }

    /// Names the asking person, in their token; returns the name as it was kept.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for people other than owners,
    /// [`Unprocessable`](super::ErrorCode::Unprocessable) for an empty or too long name,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if it is not stored.
    pub async fn name_token(&self, name: &str) -> ApiResult<String> {
        self.require(Action::Administer)?;
        let (by, now_ms) = (&self.principal.user, self.api.clock.now_ms());
        Ok(self.api.auth.name(&self.token, name, by, now_ms).await?)
    }

    /// Revokes a token; connections made with it are closed before this returns.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for people other than owners and for the
    /// owner's own token, [`NotFound`](super::ErrorCode::NotFound) for an unknown one,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if this is not stored.
    pub async fn revoke_token(&self, token: &TokenId) -> ApiResult<()> {
        self.require(Action::Administer)?;
        Ok(self.api.auth.revoke(token, &self.principal.user, self.api.clock.now_ms()).await?)
    }
}
