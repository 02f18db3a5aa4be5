//! Tokens, for owners.

use copydesk_auth::{LoginIdentity, NewToken, TokenGrant};
use copydesk_ids::{TokenId, UserId};
use copydesk_macros::boxed;
use copydesk_store::{LoginRecord, TokenRecord};

use super::{ApiError, ApiResult, Application, Caller, ErrorCode};

impl Application {
    /// Returns the address at which a browser signs in, if there is an identity provider.
    pub fn sign_in_url(&self) -> Option<&str> {
        self.sign_in.as_ref().map(|policy| policy.url.as_str())
    }

    /// Issues a token to a person whom the identity provider has named.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for people whom no role is meant for,
    /// [`TooManyTokens`](super::ErrorCode::TooManyTokens) at the limit,
    /// [`Unsupported`](super::ErrorCode::Unsupported) without identity provider.
    #[boxed]
    pub async fn sign_in(&self, identity: &LoginIdentity) -> ApiResult<NewToken> {
        let missing = || ApiError::new(ErrorCode::Unsupported, "nobody can sign in here");
        let policy = self.sign_in.as_ref().ok_or_else(missing)?;
        Ok(self.auth.sign_in(identity, policy, self.clock.now_ms()).await?)
    }
}

#[boxed]
impl Caller {
    /// Issues a token. The result is the only place that ever holds its secret.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown document,
    /// [`TooManyTokens`](super::ErrorCode::TooManyTokens) at the limit.
    pub async fn issue_token(&self, grant: TokenGrant) -> ApiResult<NewToken> {
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        Ok(self.application.auth.issue(grant, by, now_ms).await?)
    }

    /// Returns all tokens, oldest first, without their secrets.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the tokens cannot be read.
    pub async fn tokens(&self) -> ApiResult<Vec<TokenRecord>> {
        Ok(self.application.auth.tokens().await?)
    }

    /// Returns the people who have signed in with an identity provider, oldest first.
    ///
    /// # Errors
    /// As [`Caller::tokens`].
    pub async fn logins(&self) -> ApiResult<Vec<LoginRecord>> {
        Ok(self.application.auth.logins().await?)
    }

    /// Ties a token to a login: both are one person from now on.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown token or login,
    /// [`AlreadyExists`](super::ErrorCode::AlreadyExists) for a token of another login.
    pub async fn tie_token(&self, token: &TokenId, login: &UserId) -> ApiResult<()> {
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        Ok(self.application.auth.tie(token, login, by, now_ms).await?)
    }

    /// Revokes the caller's token, if it came from signing in.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for a token that an owner has issued,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if this is not stored.
    pub async fn sign_out(&self) -> ApiResult<()> {
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        Ok(self.application.auth.sign_out(&self.token, by, now_ms).await?)
    }

    /// Names the asking person, in their token; returns the name as it was kept.
    ///
    /// # Errors
    /// [`Unprocessable`](super::ErrorCode::Unprocessable) for an empty or too long name,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if it is not stored.
    pub async fn name_token(&self, name: &str) -> ApiResult<String> {
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        Ok(self.application.auth.name(&self.token, name, by, now_ms).await?)
    }

    /// Revokes a token; connections made with it are closed before this returns.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for the owner's own token,
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown one.
    pub async fn revoke_token(&self, token: &TokenId) -> ApiResult<()> {
        Ok(self
            .application
            .auth
            .revoke(token, &self.principal.user, self.application.clock.now_ms())
            .await?)
    }
}
