//! Client of the identity provider: what it publishes, and what it says of a person.

use std::collections::HashMap;
use std::future::Future;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreResponseType, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthenticationFlow, AuthorizationCode, ClaimsVerificationError, Client,
    ClientId, ClientSecret, CsrfToken, DiscoveryError, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdToken, IdTokenClaims, IdTokenFields,
    IdTokenVerifier, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, SignatureVerificationError, StandardErrorResponse,
    StandardTokenResponse,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};

use copydesk_auth::LoginIdentity;

use crate::http_client::{ProviderError, send};
use crate::pending_sign_in::{PendingSignIn, place};
use crate::{CALLBACK, OidcSettings, SignInFailure};

/// Time for which what the provider publishes is used before it is asked again.
const FRESH: Duration = Duration::from_hours(1);
/// Shortest time between two requests for keys because of a key that is unknown.
const KEY_PAUSE: Duration = Duration::from_mins(1);
/// Time for which known metadata are used after they could not be read again.
const AGAIN: Duration = Duration::from_mins(1);
/// Longest wait for a conversation with the provider.
const TURN: Duration = Duration::from_secs(5);
/// Number of conversations with the provider at one time.
const CONVERSATIONS: usize = 16;
/// Signatures that are accepted: none that the client's own secret could make.
const SIGNATURES: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Difference of clocks that is tolerated, in seconds.
const CLOCK_SKEW: i64 = 300;
/// Maximum length of a subject in bytes (`OpenID Connect` Core, section 2).
const LONGEST_SUBJECT: usize = 255;
/// Maximum length of a mail address in bytes (RFC 5321: 64 before the sign, 255 behind it).
const LONGEST_EMAIL: usize = 320;

/// Claims beside those that the standard names.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct OtherClaims(HashMap<String, Value>);

impl AdditionalClaims for OtherClaims {}

type PersonToken = IdToken<
    OtherClaims,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type PersonClaims = IdTokenClaims<OtherClaims, CoreGenderClaim>;
type PersonTokenFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
/// Client of a provider whose metadata are known.
type OidcClient = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<PersonTokenFields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Client of the identity provider. What the provider publishes is kept for a while.
pub struct OidcProvider {
    settings: OidcSettings,
    issuer: IssuerUrl,
    redirect: RedirectUrl,
    http: reqwest::Client,
    published: Mutex<PublishedByProvider>,
    conversations: Semaphore,
    /// Held while keys are read, so that others who need the same one wait for it.
    reading_keys: tokio::sync::Mutex<()>,
}

/// Published data of the provider, as far as they were read.
#[derive(Default)]
struct PublishedByProvider {
    /// Metadata, and the time at which they are read again.
    metadata: Option<(CoreProviderMetadata, Instant)>,
    keys: Option<CoreJsonWebKeySet>,
    /// Time at which keys were last read because of one that was unknown.
    read_for_key: Option<Instant>,
}

impl OidcProvider {
    /// Returns a client of the provider, which is not asked before the first sign-in.
    pub fn new(settings: OidcSettings, http: reqwest::Client) -> Result<Self, String> {
        let issuer = IssuerUrl::new(settings.issuer.clone());
        let issuer = issuer.map_err(|_| settings.issuer.clone())?;
        let address = format!("{}{CALLBACK}", settings.public_url);
        let redirect = RedirectUrl::new(address.clone()).map_err(|_| address)?;
        let published = Mutex::new(PublishedByProvider::default());
        let conversations = Semaphore::new(CONVERSATIONS);
        let reading_keys = tokio::sync::Mutex::default();
        Ok(Self { settings, issuer, redirect, http, published, conversations, reading_keys })
    }

    /// Begins a sign-in; returns the provider's page and what the browser has to keep.
    pub(crate) async fn begin(
        &self,
        back: Option<&str>,
        now_ms: u64,
    ) -> Result<(String, PendingSignIn), SignInFailure> {
        let metadata = self.metadata().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let client = self.client(metadata);
        let scopes = self.settings.scopes.iter().cloned().map(Scope::new);
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let (url, state, nonce) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        let pending = PendingSignIn {
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
            begun_ms: now_ms,
            back: place(back),
        };
        Ok((url.to_string(), pending))
    }

    /// Exchanges the code of a sign-in and verifies what the provider says of the person.
    pub(crate) async fn finish(
        &self,
        code: String,
        pending: &PendingSignIn,
        now_ms: u64,
    ) -> Result<LoginIdentity, SignInFailure> {
        let metadata = self.metadata().await?;
        let _turn = self.conversation().await?;
        let client = self.client(metadata);
        let request = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| SignInFailure::Unavailable(error.to_string()))?;
        let verifier = PkceCodeVerifier::new(pending.verifier.clone());
        let http = self.http();
        let answer = request.set_pkce_verifier(verifier).request_async(&http).await;
        let answer = answer.map_err(|error| match error {
            RequestTokenError::ServerResponse(why) => SignInFailure::Refused(why.to_string()),
            other => SignInFailure::Unavailable(other.to_string()),
        })?;
        let token = answer.extra_fields().id_token();
        let token = token.ok_or_else(|| SignInFailure::Refused("there is no id_token".into()))?;
        let claims = self.verify(token, &Nonce::new(pending.nonce.clone())).await?;
        self.check(&claims, now_ms).map_err(SignInFailure::Refused)?;
        Ok(self.identity(&claims))
    }

    /// Verifies a token: signature, issuer, audience, expiry and nonce. Keys are read again if the
    /// token names one that is unknown.
    async fn verify(
        &self,
        token: &PersonToken,
        nonce: &Nonce,
    ) -> Result<PersonClaims, SignInFailure> {
        let refused = |why: ClaimsVerificationError| SignInFailure::Refused(why.to_string());
        let is_unknown_key = |why: &ClaimsVerificationError| {
            matches!(
                why,
                ClaimsVerificationError::SignatureVerification(
                    SignatureVerificationError::NoMatchingKey
                )
            )
        };
        match token.claims(&self.verifier(self.keys()), nonce) {
            Ok(claims) => Ok(claims.clone()),
            Err(why) if is_unknown_key(&why) => {
                let keys = self.newer_keys().await?;
                token.claims(&self.verifier(keys), nonce).cloned().map_err(refused)
            }
            Err(why) => Err(refused(why)),
        }
    }

    fn verifier(&self, keys: CoreJsonWebKeySet) -> IdTokenVerifier<'static, CoreJsonWebKey> {
        let client = ClientId::new(self.settings.client_id.clone());
        IdTokenVerifier::new_public_client(client, self.issuer.clone(), keys)
            .set_allowed_algs(SIGNATURES)
    }

    fn check(&self, claims: &PersonClaims, now_ms: u64) -> Result<(), String> {
        let latest = i64::try_from(now_ms / 1_000).unwrap_or(i64::MAX).saturating_add(CLOCK_SKEW);
        if let Some(party) = claims.authorized_party()
            && party.as_str() != self.settings.client_id
        {
            return Err("the token was issued to another client (azp)".into());
        }
        if !(1..=LONGEST_SUBJECT).contains(&claims.subject().len()) {
            return Err(format!("the subject (sub) has 1 to {LONGEST_SUBJECT} characters"));
        }
        if claims.email().is_some_and(|email| email.len() > LONGEST_EMAIL) {
            return Err(format!("the address (email) has at most {LONGEST_EMAIL} characters"));
        }
        if claims.issue_time().timestamp() > latest {
            return Err("the token was issued in the future (iat)".into());
        }
        match claims.additional_claims().0.get("nbf") {
            None | Some(Value::Null) => Ok(()),
            Some(begin) if begin.as_f64().is_some_and(|begin| begin <= latest as f64) => Ok(()),
            Some(_) => Err("the token is not valid yet (nbf)".into()),
        }
    }

    fn identity(&self, claims: &PersonClaims) -> LoginIdentity {
        let name = claims.name().and_then(|names| names.get(None)).map(|name| name.to_string());
        let short = claims.preferred_username().map(|name| name.to_string());
        let email = claims.email().map(|email| email.to_string());
        let groups = claims.additional_claims().0.get(&self.settings.groups_claim);
        let groups = match groups {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name.as_str()],
            _ => Vec::new(),
        };
        LoginIdentity {
            issuer: claims.issuer().to_string(),
            subject: claims.subject().to_string(),
            name: name.or(short),
            email: email.filter(|_| claims.email_verified() == Some(true)),
            groups: groups.into_iter().map(str::to_owned).collect(),
        }
    }

    fn client(&self, metadata: CoreProviderMetadata) -> OidcClient {
        let client = ClientId::new(self.settings.client_id.clone());
        let secret = self.settings.client_secret.clone().map(ClientSecret::new);
        OidcClient::from_provider_metadata(metadata, client, secret)
            .set_redirect_uri(self.redirect.clone())
    }

    fn http(&self) -> impl Fn(HttpRequest) -> BoxedAnswer + Send + Sync + use<> {
        let client = self.http.clone();
        move |request| Box::pin(send(client.clone(), request))
    }

    /// Returns what the provider publishes of itself, read again after an hour if the provider
    /// answers.
    async fn metadata(&self) -> Result<CoreProviderMetadata, SignInFailure> {
        let known = self.published.lock().metadata.clone();
        if let Some((metadata, again)) = &known
            && Instant::now() < *again
        {
            return Ok(metadata.clone());
        }
        let _turn = self.conversation().await?;
        let http = self.http();
        match CoreProviderMetadata::discover_async(self.issuer.clone(), &http).await {
            Ok(metadata) => {
                let mut published = self.published.lock();
                published.keys = Some(metadata.jwks().clone());
                published.metadata = Some((metadata.clone(), Instant::now() + FRESH));
                Ok(metadata)
            }
            Err(error) => {
                let failure = unreadable(error);
                let Some((metadata, _)) = known else { return Err(failure) };
                tracing::warn!(%failure, "cannot read the provider's metadata; the known ones are used");
                self.published.lock().metadata = Some((metadata.clone(), Instant::now() + AGAIN));
                Ok(metadata)
            }
        }
    }

    /// Waits for a turn to ask the provider something.
    async fn conversation(&self) -> Result<SemaphorePermit<'_>, SignInFailure> {
        let turn = tokio::time::timeout(TURN, self.conversations.acquire()).await;
        let busy = || SignInFailure::Busy("too many people sign in at this moment".to_owned());
        turn.map_err(|_| busy())?.map_err(|_| busy())
    }

    fn keys(&self) -> CoreJsonWebKeySet {
        self.published.lock().keys.clone().unwrap_or_default()
    }

    /// Reads the keys again because one is unknown, at most once in [`KEY_PAUSE`]; returns what is
    /// known then.
    async fn newer_keys(&self) -> Result<CoreJsonWebKeySet, SignInFailure> {
        let _reading = self.reading_keys.lock().await;
        if self.published.lock().read_for_key.is_some_and(|last| last.elapsed() < KEY_PAUSE) {
            return Ok(self.keys());
        }
        let metadata = self.metadata().await?;
        let http = self.http();
        let keys = CoreJsonWebKeySet::fetch_async(metadata.jwks_uri(), &http).await;
        let keys = keys.map_err(unreadable)?;
        let mut published = self.published.lock();
        published.keys = Some(keys.clone());
        published.read_for_key = Some(Instant::now());
        Ok(keys)
    }

    /// Returns the name of the cookie. Over TLS its prefix keeps other hosts of the domain from
    /// setting it.
    fn cookie_name(&self) -> &'static str {
        if self.is_secure() { "__Host-copydesk-sign-in" } else { "copydesk-sign-in" }
    }

    fn is_secure(&self) -> bool {
        self.settings.public_url.starts_with("https://")
    }

    /// Returns the header that sets the cookie for this many seconds.
    pub(crate) fn cookie(&self, value: &str, seconds: u32) -> String {
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let name = self.cookie_name();
        format!("{name}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Lax{secure}")
    }

    /// Returns the sign-in that the browser has begun.
    pub(crate) fn pending(&self, headers: &HeaderMap) -> Option<PendingSignIn> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim() == self.cookie_name())?;
        PendingSignIn::read(value.trim())
    }
}

type BoxedAnswer =
    std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, ProviderError>> + Send>>;

fn unreadable(error: DiscoveryError<ProviderError>) -> SignInFailure {
    let detail = match error {
        DiscoveryError::Request(error) => error.to_string(),
        other => other.to_string(),
    };
    SignInFailure::Unavailable(detail)
}
