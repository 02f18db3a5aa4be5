//! Sign-in with an identity provider.

use copydesk_auth::{LoginIdentity, NewToken};
use copydesk_macros::boxed;

use super::{ApiError, ApiResult, Application, ErrorCode};

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
