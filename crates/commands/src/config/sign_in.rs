//! Options for signing in with an identity provider.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::cli::ServeArgs;
use copydesk_auth::{ExpiryError, LoginRoleError, LoginRoles, parse_expiry};

const HAS_OIDC: bool = cfg!(feature = "oidc");
/// Default lifetime of a token from signing in, in ms.
const LIFETIME_MS: u64 = 12 * 60 * 60 * 1_000;

/// Identity provider with which people can sign in.
#[derive(Clone)]
pub struct SignInConfig {
    /// Address of the provider, exactly as it names itself.
    pub issuer: String,
    /// Name of this server at the provider.
    pub client_id: String,
    /// Secret of this server at the provider; `None`: a public client.
    pub client_secret: Option<String>,
    /// Roles of people.
    pub roles: LoginRoles,
    /// Scopes to ask for besides `openid`.
    pub scopes: Vec<String>,
    /// Claim with the groups of a person.
    pub groups_claim: String,
    /// Lifetime of a token from signing in, in ms.
    pub lifetime_ms: u64,
}

impl fmt::Debug for SignInConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = if self.client_secret.is_some() { "set" } else { "not set" };
        let mut shown = f.debug_struct("SignIn");
        shown.field("issuer", &self.issuer).field("client_id", &self.client_id);
        shown.field("client_secret", &secret).field("roles", &self.roles);
        shown.finish_non_exhaustive()
    }
}

/// Error in the options for signing in.
#[derive(Debug, thiserror::Error)]
pub enum SignInConfigError {
    /// Options without a provider.
    #[error("{0} needs --oidc-issuer, the identity provider")]
    NoIssuer(&'static str),
    /// Provider without a name for this server.
    #[error("--oidc-issuer needs --oidc-client-id, the name of this server at the provider")]
    NoClient,
    /// Provider without people who may sign in.
    #[error(
        "--oidc-issuer needs --oidc-role, or nobody could sign in: for example --oidc-role editor=group:writers, or --oidc-role viewer=anyone"
    )]
    NoRole,
    /// Role that cannot be read.
    #[error("--oidc-role: {0}")]
    Role(#[from] LoginRoleError),
    /// Address of the provider that cannot be used.
    #[error(
        "--oidc-issuer is the https address by which the provider names itself (http only on loopback), not `{0}`"
    )]
    Issuer(String),
    /// Lifetime that cannot be read.
    #[error("--oidc-lifetime: {0}")]
    Lifetime(#[from] ExpiryError),
    /// Lifetime without an end.
    #[error("--oidc-lifetime is a duration such as 12h: people have to sign in again sometime")]
    Endless,
    /// No address for browsers.
    #[error(
        "--oidc-issuer on {0} needs --public-url, the address at which browsers reach the server"
    )]
    NoPublicUrl(SocketAddr),
    /// Provider on a server without tokens.
    #[error("--no-auth and --oidc-issuer exclude each other: without tokens nobody signs in")]
    NoAuth,
    /// Build without identity providers.
    #[error("--oidc-issuer needs a build with the feature `oidc`")]
    NotBuilt,
}

impl SignInConfig {
    /// Reads the options `args`, or what the settings file `file` has instead; `None`: no provider.
    pub fn read(args: &ServeArgs, file: &ServeArgs) -> Result<Option<Self>, SignInConfigError> {
        let of = |field: fn(&ServeArgs) -> &Option<String>| {
            let mut given = [args, file].into_iter().filter_map(|from| field(from).clone());
            given.find(|value| !value.is_empty())
        };
        let list = |field: fn(&ServeArgs) -> &Vec<String>| {
            let given = field(args);
            if given.is_empty() { field(file).clone() } else { given.clone() }
        };
        let (client_id, client_secret) =
            (of(|it| &it.oidc_client_id), of(|it| &it.oidc_client_secret));
        let (role_rules, scopes) = (list(|it| &it.oidc_role), list(|it| &it.oidc_scope));
        let Some(issuer) = of(|it| &it.oidc_issuer) else {
            let alone = [
                ("--oidc-client-id", client_id.is_some()),
                ("--oidc-client-secret", client_secret.is_some()),
                ("--oidc-role", !role_rules.is_empty()),
                ("--oidc-scope", !scopes.is_empty()),
                ("--oidc-groups-claim", of(|it| &it.oidc_groups_claim).is_some()),
                ("--oidc-lifetime", of(|it| &it.oidc_lifetime).is_some()),
            ];
            return match alone.into_iter().find(|(_, is_given)| *is_given) {
                Some((option, _)) => Err(SignInConfigError::NoIssuer(option)),
                None => Ok(None),
            };
        };
        if !HAS_OIDC {
            return Err(SignInConfigError::NotBuilt);
        }
        if !is_issuer(&issuer) {
            return Err(SignInConfigError::Issuer(issuer));
        }
        let roles = LoginRoles::read(&role_rules)?;
        if roles.is_empty() {
            return Err(SignInConfigError::NoRole);
        }
        let lifetime_ms = match of(|it| &it.oidc_lifetime) {
            Some(text) => parse_expiry(&text, 0)?.ok_or(SignInConfigError::Endless)?,
            None => LIFETIME_MS,
        };
        Ok(Some(Self {
            issuer,
            client_id: client_id.ok_or(SignInConfigError::NoClient)?,
            client_secret,
            roles,
            scopes: if scopes.is_empty() { default_scopes() } else { scopes },
            groups_claim: of(|it| &it.oidc_groups_claim).unwrap_or_else(|| "groups".to_owned()),
            lifetime_ms,
        }))
    }
}

fn default_scopes() -> Vec<String> {
    ["profile", "email"].map(str::to_owned).to_vec()
}

/// Returns `true` for an address that can be asked safely: what comes from it is believed.
fn is_issuer(url: &str) -> bool {
    let rest = |scheme| url.strip_prefix(scheme).filter(|rest: &&str| !rest.is_empty());
    if url.contains(['?', '#', '@', ' ']) {
        return false;
    }
    if let Some(rest) = rest("https://") {
        return !rest.starts_with('/');
    }
    let Some(rest) = rest("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let end = host.rfind(':').filter(|at| !host[*at..].contains(']')).unwrap_or(host.len());
    let host = host[..end].trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> ServeArgs {
        ServeArgs {
            oidc_issuer: Some("https://id.example/realm".into()),
            oidc_client_id: Some("desk".into()),
            oidc_client_secret: Some("s3cret".into()),
            oidc_role: vec!["editor=group:writers".into()],
            ..ServeArgs::default()
        }
    }

    fn read(args: &ServeArgs) -> Result<Option<SignInConfig>, SignInConfigError> {
        SignInConfig::read(args, &ServeArgs::default())
    }

    fn refused(args: &ServeArgs) -> String {
        read(args).unwrap_err().to_string()
    }

    #[test]
    fn without_a_provider_no_one_signs_in() {
        assert!(read(&ServeArgs::default()).unwrap().is_none());
        let alone = ServeArgs { oidc_issuer: None, ..complete() };
        assert!(refused(&alone).starts_with("--oidc-client-id needs --oidc-issuer"));
    }

    #[test]
    fn a_provider_with_defaults_is_enough() {
        let config = read(&complete()).unwrap().unwrap();
        assert_eq!(config.scopes, ["profile", "email"]);
        assert_eq!((config.groups_claim.as_str(), config.lifetime_ms), ("groups", LIFETIME_MS));
        let from_file = SignInConfig::read(&ServeArgs::default(), &complete()).unwrap().unwrap();
        assert_eq!(from_file.issuer, config.issuer);
    }

    #[test]
    fn what_is_missing_or_wrong_is_said() {
        let no_client = ServeArgs { oidc_client_id: None, ..complete() };
        assert!(refused(&no_client).contains("needs --oidc-client-id"));
        let no_role = ServeArgs { oidc_role: Vec::new(), ..complete() };
        assert!(refused(&no_role).contains("needs --oidc-role"));
        let wrong = ServeArgs { oidc_role: vec!["boss=anyone".into()], ..complete() };
        assert!(refused(&wrong).contains("not `boss=anyone`"));
        let endless = ServeArgs { oidc_lifetime: Some("never".into()), ..complete() };
        assert!(matches!(read(&endless), Err(SignInConfigError::Endless)));
        let odd = ServeArgs { oidc_lifetime: Some("soon".into()), ..complete() };
        assert!(matches!(read(&odd), Err(SignInConfigError::Lifetime(_))));
        for url in ["id.example", "http://id.example", "https://", "https://a@b", "https://a?x"] {
            let args = ServeArgs { oidc_issuer: Some(url.into()), ..complete() };
            assert!(matches!(read(&args), Err(SignInConfigError::Issuer(_))), "{url}");
        }
        for url in ["http://127.0.0.1:9/x", "http://[::1]:9", "http://localhost", "https://a/b"] {
            let args = ServeArgs { oidc_issuer: Some(url.into()), ..complete() };
            assert!(read(&args).is_ok(), "{url}");
        }
    }

    #[test]
    fn the_secret_is_never_printed() {
        assert!(!format!("{:?}", read(&complete()).unwrap()).contains("s3cret"));
    }
}
