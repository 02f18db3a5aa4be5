//! Signing in with a provider of `OpenID Connect`: the authorization code flow with PKCE, for
//! browsers.
//!
//! `GET /sign-in` sends the browser to the provider, `GET /sign-in/callback` takes it back with a
//! token of this server. Nothing is stored meanwhile but a cookie, so the two requests may reach
//! different servers. [`Application::sign_in`](copydesk_api::Application::sign_in) decides about
//! the person.

mod http_client;
mod pending_sign_in;
mod provider;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use copydesk_api::{Application, ErrorCode};

use pending_sign_in::PendingSignIn;
pub use provider::OidcProvider;

/// Path at which signing in begins.
const START: &str = "/sign-in";
/// Path to which the provider sends the browser back.
const CALLBACK: &str = "/sign-in/callback";

/// Provider, and this server as its client.
#[derive(Clone)]
pub struct OidcSettings {
    /// Address of the provider, exactly as it names itself.
    pub issuer: String,
    /// Name of this server at the provider.
    pub client_id: String,
    /// Secret of this server at the provider; `None`: a public client.
    pub client_secret: Option<String>,
    /// Scopes to ask for besides `openid`.
    pub scopes: Vec<String>,
    /// Claim with the groups of the person.
    pub groups_claim: String,
    /// Address at which browsers reach this server, without a path.
    pub public_url: String,
}

impl fmt::Debug for OidcSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the secret.
        let mut shown = f.debug_struct("OidcSettings");
        shown.field("issuer", &self.issuer).field("client_id", &self.client_id);
        shown.finish_non_exhaustive()
    }
}

/// Largest number of characters of a provider's error that are logged.
const MOST_ERROR_CHARACTERS: usize = 100;

/// Reason why a person was not signed in. The editor shows it in words.
#[derive(Debug, thiserror::Error)]
pub enum SignInFailure {
    /// The browser does not come from a sign-in that began here, or it took too long.
    #[error("this sign-in did not begin in this browser, or took too long")]
    Lost,
    /// The person did not agree at the provider.
    #[error("the provider did not let the person in: {0:?}")]
    Declined(String),
    /// The provider cannot be reached, or makes no sense.
    #[error("the provider does not answer: {0}")]
    Unavailable(String),
    /// The claims of the provider about the person do not hold.
    #[error("the provider's answer was refused: {0}")]
    Refused(String),
    /// The person is not among those who may sign in.
    #[error("no role is meant for this person")]
    NotAdmitted,
    /// Too much is going on, or too many tokens are in force.
    #[error("the server cannot sign anybody in at the moment: {0}")]
    Busy(String),
}

impl SignInFailure {
    /// Returns the failure for an error code of the provider (RFC 6749, section 4.1.2.1), which
    /// comes by way of the browser: anything may stand in it.
    fn of_provider(error: &str) -> Self {
        let error = error.chars().take(MOST_ERROR_CHARACTERS).collect::<String>();
        match error.as_str() {
            "access_denied" => Self::Declined(error),
            "temporarily_unavailable" | "server_error" => Self::Unavailable(error),
            _ => Self::Refused(format!("{error:?}")),
        }
    }

    /// Returns the code that the editor gets.
    fn code(&self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Declined(_) => "declined",
            Self::Unavailable(_) => "unavailable",
            Self::Refused(_) => "refused",
            Self::NotAdmitted => "not_admitted",
            Self::Busy(_) => "busy",
        }
    }
}

/// State of both routes.
#[derive(Clone)]
struct SignInState {
    application: Application,
    provider: Arc<OidcProvider>,
}

/// Returns the routes for signing in.
pub fn router(application: Application, provider: OidcProvider) -> Router {
    Router::new()
        .route(START, get(start))
        .route(CALLBACK, get(callback))
        .with_state(SignInState { application, provider: Arc::new(provider) })
}

/// Query of [`START`].
#[derive(Deserialize)]
struct StartQuery {
    /// Path of the editor to come back to.
    #[serde(rename = "return")]
    back: Option<String>,
}

/// Query of [`CALLBACK`], as the provider makes it.
#[derive(Deserialize)]
struct CallbackQuery {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// Sends the browser to the provider.
async fn start(State(app): State<SignInState>, Query(query): Query<StartQuery>) -> Response {
    let now_ms = app.application.clock.now_ms();
    match app.provider.begin(query.back.as_deref(), now_ms).await {
        Ok((url, pending)) => redirect(&url, Some(app.provider.cookie(&pending.to_cookie(), 600))),
        Err(failure) => app.fail(&failure),
    }
}

/// Takes the browser back from the provider.
async fn callback(
    State(app): State<SignInState>,
    headers: HeaderMap,
    Query(query): Query<CallbackQuery>,
) -> Response {
    match app.sign_in(&headers, query).await {
        Ok(place) => redirect(&place, Some(app.provider.cookie("", 0))),
        Err(failure) => app.fail(&failure),
    }
}

impl SignInState {
    /// Signs a person in; returns the place in the editor, with the token behind the `#`, which
    /// browsers keep to themselves.
    async fn sign_in(
        &self,
        headers: &HeaderMap,
        query: CallbackQuery,
    ) -> Result<String, SignInFailure> {
        let now_ms = self.application.clock.now_ms();
        let pending = self.provider.pending(headers);
        let state = query.state.as_deref();
        let pending = pending.filter(|it: &PendingSignIn| it.is_answered_by(state, now_ms));
        let pending = pending.ok_or(SignInFailure::Lost)?;
        if let Some(error) = query.error {
            return Err(SignInFailure::of_provider(&error));
        }
        let code = query.code.ok_or(SignInFailure::Lost)?;
        let identity = self.provider.finish(code, &pending, now_ms).await?;
        let issued =
            self.application.sign_in(&identity).await.map_err(|error| match error.code {
                ErrorCode::NotAllowed => SignInFailure::NotAdmitted,
                _ => SignInFailure::Busy(error.message),
            })?;
        Ok(format!("{}#token={}", pending.back, issued.secret.in_link()))
    }

    /// Sends the browser back to the editor, which says what was wrong.
    fn fail(&self, failure: &SignInFailure) -> Response {
        if matches!(failure, SignInFailure::Lost) {
            // Anyone can cause it without a provider, and would fill the log.
            tracing::debug!(reason = %failure, "somebody could not sign in");
        } else {
            tracing::warn!(reason = %failure, "somebody could not sign in");
        }
        let place = format!("/#sign-in-error={}", failure.code());
        redirect(&place, Some(self.provider.cookie("", 0)))
    }
}

fn redirect(place: &str, cookie: Option<String>) -> Response {
    let mut headers = HeaderMap::new();
    let Ok(place) = HeaderValue::try_from(place) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    headers.insert(header::LOCATION, place);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    (StatusCode::SEE_OTHER, headers).into_response()
}
