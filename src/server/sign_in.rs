//! Signing in with an identity provider, as the options say.

use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;

use copydesk_api::Application;
use copydesk_auth::SignInPolicy;
use copydesk_commands::config::ServerConfig;

/// Returns the rules for people who sign in; `None`: sign-in is off.
pub(super) fn policy(config: &ServerConfig, bound: SocketAddr) -> Option<SignInPolicy> {
    let wanted = config.sign_in.as_ref()?;
    Some(SignInPolicy {
        roles: wanted.roles.clone(),
        lifetime_ms: wanted.lifetime_ms,
        url: format!("{}/sign-in", config.public_address(bound)),
    })
}

/// Adds the routes for signing in. The provider is asked at the first sign-in, so that the server
/// starts without it.
#[cfg(feature = "oidc")]
pub(super) fn routes(
    inside: Router,
    config: &ServerConfig,
    bound: SocketAddr,
    application: &Application,
) -> Result<Router> {
    use std::time::Duration;

    use anyhow::{Context as _, anyhow};

    use copydesk_http_client::http_client_builder;
    use copydesk_oidc as oidc;
    use copydesk_oidc::{OidcProvider, OidcSettings};

    /// Longest wait for a connection to the identity provider.
    const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

    let Some(wanted) = &config.sign_in else { return Ok(inside) };
    let http = http_client_builder().connect_timeout(CONNECT_TIMEOUT).build();
    let http = http.context("cannot set up connections to the identity provider")?;
    let settings = OidcSettings {
        issuer: wanted.issuer.clone(),
        client_id: wanted.client_id.clone(),
        client_secret: wanted.client_secret.clone(),
        scopes: wanted.scopes.clone(),
        groups_claim: wanted.groups_claim.clone(),
        public_url: config.public_address(bound),
    };
    let provider = OidcProvider::new(settings, http);
    let provider = provider.map_err(|url| anyhow!("this is not an address: {url}"))?;
    Ok(inside.merge(oidc::router(application.clone(), provider)))
}

/// Adds nothing: this build has no sign-in, and the options that ask for one are refused.
#[cfg(not(feature = "oidc"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(super) fn routes(
    inside: Router,
    _config: &ServerConfig,
    _bound: SocketAddr,
    _api: &Application,
) -> Result<Router> {
    Ok(inside)
}
