//! A small provider of `OpenID Connect`: discovery, authorization with PKCE, tokens signed with
//! RS256, keys that are made here. It can be made to say what is not true.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use reqwest::Url;
use rsa::pkcs1v15::SigningKey;
use rsa::rand_core::OsRng;
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding as _, Signer as _};
use rsa::traits::PublicKeyParts as _;
use rsa::{RsaPrivateKey, RsaPublicKey};
use serde_json::{Value, json};
use sha2::Digest as _;

use super::http;

/// The server's name at the provider, and its secret.
pub const CLIENT: (&str, &str) = ("copydesk", "s3cret/of+desk");

/// Bits of the keys: the fewest that are accepted everywhere.
const KEY_BITS: usize = 2_048;

/// Fault of the tokens that the provider gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFault {
    Nonce,
    Issuer,
    Audience,
    Expired,
    /// Signed with a key that is not the one named.
    Signature,
    /// Not signed at all.
    Unsigned,
    /// Signed with a key that the provider does not publish.
    UnknownKey,
    /// Issued to another client, though this one may read it.
    OtherParty,
    IssuedAhead,
    NotYetValid,
    NoSubject,
    HugeSubject,
    HugeEmail,
}

/// A provider on a port of its own.
pub struct IdentityProvider {
    /// Address at which it listens, which is also its name.
    pub issuer: String,
    state: Arc<Mutex<State>>,
}

struct State {
    issuer: String,
    person: Value,
    fault: Option<TokenFault>,
    /// Number of the key that signs and is published.
    key: usize,
    is_down: bool,
    declines: bool,
    /// Codes that were given out and not exchanged yet, with what they are bound to.
    codes: HashMap<String, BTreeMap<String, String>>,
    given: usize,
    key_requests: usize,
}

/// Returns one of the keys; they are made once.
fn key(number: usize) -> &'static RsaPrivateKey {
    static KEYS: OnceLock<[RsaPrivateKey; 2]> = OnceLock::new();
    let make = || RsaPrivateKey::new(&mut OsRng, KEY_BITS).expect("a key can be made");
    &KEYS.get_or_init(|| [make(), make()])[number]
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl IdentityProvider {
    /// A provider that says of everybody that they are Ana, of the writers.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let issuer = format!("http://{}", listener.local_addr().expect("it has an address"));
        let state = Arc::new(Mutex::new(State {
            issuer: issuer.clone(),
            person: json!({}),
            fault: None,
            key: 0,
            is_down: false,
            declines: false,
            codes: HashMap::new(),
            given: 0,
            key_requests: 0,
        }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &shared);
            }
        });
        let provider = Self { issuer, state };
        provider.says_it_is("ana-1", "Ana", &["writers"]);
        provider
    }

    /// The flags of a server whose people sign in here.
    pub fn flags(&self, roles: &[&str]) -> Vec<String> {
        let mut flags = vec!["--oidc-issuer".to_owned(), self.issuer.clone()];
        flags.extend(["--oidc-client-id", CLIENT.0].map(str::to_owned));
        for role in roles {
            flags.extend(["--oidc-role", role].map(str::to_owned));
        }
        flags
    }

    /// Signs in everyone who comes from now on as this person.
    pub fn says_it_is(&self, subject: &str, name: &str, groups: &[&str]) {
        let email = format!("{}@press.example", name.to_lowercase());
        self.state.lock().person = json!({
            "sub": subject, "name": name, "email": email, "email_verified": true, "groups": groups,
        });
    }

    /// Tokens are wrong in this way from now on; `None`: they are right.
    pub fn lies(&self, fault: Option<TokenFault>) {
        self.state.lock().fault = fault;
    }

    /// Another key signs from now on, and it alone is published.
    pub fn rotates_its_key(&self) {
        self.state.lock().key = 1;
    }

    /// Answers nothing from now on, or again.
    pub fn is_down(&self, is_down: bool) {
        self.state.lock().is_down = is_down;
    }

    /// The person says no from now on.
    pub fn declines(&self) {
        self.state.lock().declines = true;
    }

    /// Returns how often its keys were read.
    pub fn key_requests(&self) -> usize {
        self.state.lock().key_requests
    }

    /// Returns the address to which a browser is sent on that comes with this one.
    pub fn sends_on(&self, url: &str) -> String {
        let path = url.strip_prefix(&self.issuer).unwrap_or_else(|| panic!("not here: {url}"));
        let address = self.issuer.trim_start_matches("http://");
        let answer = http::get(address, path);
        answer.location().unwrap_or_else(|| panic!("{answer:?}"))
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) {
    let Some((head, body)) = read(&mut stream) else { return };
    let mut state = state.lock();
    if state.is_down {
        return;
    }
    let target = head.split(' ').nth(1).unwrap_or_default();
    let url = Url::parse(&format!("{}{target}", state.issuer)).expect("a path");
    let (status, more, said) = match url.path() {
        "/.well-known/openid-configuration" => (200, String::new(), state.discovery()),
        "/keys" => {
            state.key_requests += 1;
            (200, String::new(), state.published_keys())
        }
        "/authorize" => (302, format!("Location: {}\r\n", state.authorizes(&url)), json!({})),
        "/token" => match state.exchanges(&head, &body) {
            Ok(tokens) => (200, String::new(), tokens),
            Err(why) => (400, String::new(), json!({"error": why})),
        },
        _ => (404, String::new(), json!({})),
    };
    let said = said.to_string();
    let length = said.len();
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{said}"
    );
    // A client that has gone does not need it.
    drop(stream.write_all(answer.as_bytes()));
}

fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut piece) {
            Ok(read @ 1..) => bytes.extend_from_slice(&piece[..read]),
            _ => return None,
        }
    }
}

impl State {
    fn discovery(&self) -> Value {
        let issuer = &self.issuer;
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        })
    }

    fn published_keys(&self) -> Value {
        let public = RsaPublicKey::from(key(self.key));
        let (n, e) = (encode(public.n().to_bytes_be()), encode(public.e().to_bytes_be()));
        let kid = format!("key-{}", self.key);
        json!({"keys": [{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": n, "e": e}]})
    }

    /// The person agrees, and the browser goes back with a code.
    fn authorizes(&mut self, url: &Url) -> String {
        let asked: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], CLIENT.0);
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"), "{asked:?}");
        let mut back = Url::parse(&asked["redirect_uri"]).expect("an address");
        back.query_pairs_mut().append_pair("state", &asked["state"]);
        if self.declines {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return back.into();
        }
        self.given += 1;
        let code = format!("code-{}", self.given);
        back.query_pairs_mut().append_pair("code", &code);
        self.codes.insert(code, asked);
        back.into()
    }

    /// Gives tokens for a code, once, to the client that has begun.
    fn exchanges(&mut self, head: &str, body: &str) -> Result<Value, &'static str> {
        let basic = STANDARD.encode(format!("{}:{}", CLIENT.0, "s3cret%2Fof%2Bdesk"));
        if !head.lines().any(|line| line.ends_with(&format!("Basic {basic}"))) {
            return Err("invalid_client");
        }
        let form = Url::parse(&format!("http://form/?{body}")).expect("a form");
        let form: BTreeMap<String, String> = form.query_pairs().into_owned().collect();
        let asked = self.codes.remove(&form["code"]).ok_or("invalid_grant")?;
        let challenge = encode(sha2::Sha256::digest(&form["code_verifier"]));
        if asked["code_challenge"] != challenge || asked["redirect_uri"] != form["redirect_uri"] {
            return Err("invalid_grant");
        }
        let token = self.signs(&asked["nonce"]);
        Ok(json!({"access_token": "opaque", "token_type": "Bearer", "id_token": token}))
    }

    fn signs(&self, nonce: &str) -> String {
        let now = SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs();
        let mut claims = self.person.clone();
        let fault = |fault| self.fault == Some(fault);
        let or = |is_wrong: bool, wrong: &str, right: &str| {
            if is_wrong { wrong.to_owned() } else { right.to_owned() }
        };
        claims["iss"] = or(fault(TokenFault::Issuer), "http://evil.example", &self.issuer).into();
        claims["aud"] = or(fault(TokenFault::Audience), "other-client", CLIENT.0).into();
        claims["nonce"] = or(fault(TokenFault::Nonce), "another", nonce).into();
        claims["iat"] = (now - 7_200).into();
        // An hour either way: a machine may be slow, and clocks differ.
        let expires = if fault(TokenFault::Expired) { now - 3_600 } else { now + 3_600 };
        claims["exp"] = expires.into();
        match self.fault {
            Some(TokenFault::OtherParty) => claims["azp"] = "other-client".into(),
            Some(TokenFault::IssuedAhead) => claims["iat"] = (now + 400 * 86_400).into(),
            Some(TokenFault::NotYetValid) => claims["nbf"] = (now + 86_400).into(),
            Some(TokenFault::NoSubject) => claims["sub"] = "".into(),
            Some(TokenFault::HugeSubject) => claims["sub"] = "s".repeat(100_000).into(),
            Some(TokenFault::HugeEmail) => claims["email"] = "m".repeat(100_000).into(),
            _ => {}
        }
        let named = format!("key-{}", self.key);
        let named = or(fault(TokenFault::UnknownKey), "key-9", &named);
        let algorithm = or(fault(TokenFault::Unsigned), "none", "RS256");
        let head = json!({"alg": algorithm, "typ": "JWT", "kid": named});
        let content = format!("{}.{}", encode(head.to_string()), encode(claims.to_string()));
        if fault(TokenFault::Unsigned) {
            return format!("{content}.");
        }
        let signing = if fault(TokenFault::Signature) { 1 - self.key } else { self.key };
        let signature = SigningKey::<Sha256>::new(key(signing).clone()).sign(content.as_bytes());
        format!("{content}.{}", encode(signature.to_bytes()))
    }
}
