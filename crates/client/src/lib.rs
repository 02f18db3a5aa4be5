//! Command line as a client of a running server, over its REST API; and the bridge for MCP clients.

pub mod forward;

pub mod mcp;

pub mod show;

pub mod socketio;

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use reqwest::{Certificate, ClientBuilder, Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use copydesk_http_client::http_client_builder;
use copydesk_protocol::client::{IssueToken, TieToken};
use copydesk_protocol::server::{IssuedToken, TokenList};

/// Longest wait for a connection to the server, and for its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for the answer to a file, which takes long to send and to read.
const FILE_TIMEOUT: Duration = Duration::from_mins(5);

/// Failure of a request of a [`ServerClient`].
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Text that is no address.
    #[error("{0:?} is not the address of a server; write http://HOST:PORT")]
    Address(String),
    /// Token that cannot be sent.
    #[error("the token contains invalid characters")]
    Token,
    /// Content that was to be certificates.
    #[error("there are no certificates in it that can be read; certificates in PEM are needed")]
    Authorities,
    /// Address at which no server answers.
    #[error("the server at {address} does not answer; is it running?")]
    Unreachable {
        /// Address of the server.
        address: String,
        /// Cause of the failure.
        source: reqwest::Error,
    },
    /// Refusal by the server.
    #[error("the server refused: {detail} ({status})")]
    Refused {
        /// HTTP status.
        status: StatusCode,
        /// Code of the error, for programs.
        code: String,
        /// Message of the error.
        detail: String,
    },
    /// Answer of another program than Copydesk, or of another version.
    #[error("the server at {address} is not Copydesk, or is another version ({status})")]
    Strange {
        /// Address of the server.
        address: String,
        /// HTTP status.
        status: StatusCode,
    },
    /// Refusal of a socket.io client.
    #[error("the server refused: {detail}")]
    NotAdmitted {
        /// Code and message of the error.
        detail: String,
    },
    /// End of a connection that was needed.
    #[error("the server at {address} has closed a connection, or does not answer")]
    Closed {
        /// Address of the server.
        address: String,
    },
}

/// Result of a request of a [`ServerClient`].
pub type ClientResult<T> = Result<T, ClientError>;

/// Returns the cursor of the next page, if there is one. Only the cursor is used, so that the
/// request stays on one server.
pub fn next_cursor(page: &Value) -> Option<String> {
    let mut parts = page["next"].as_str()?.split(['?', '&']);
    parts.find_map(|pair| pair.strip_prefix("cursor=")).map(str::to_owned)
}

/// Certificate authorities that a client trusts besides those of the system.
#[derive(Clone, Debug, Default)]
pub struct TrustedAuthorities(Vec<Certificate>);

impl TrustedAuthorities {
    /// Reads certificates in PEM.
    pub fn read(pem: &[u8]) -> ClientResult<Self> {
        let read = Certificate::from_pem_bundle(pem).ok().filter(|read| !read.is_empty());
        read.map(Self).ok_or(ClientError::Authorities)
    }

    /// Makes a client trust them.
    fn trusted_by(&self, http: ClientBuilder) -> ClientBuilder {
        if self.0.is_empty() { http } else { http.tls_certs_merge(self.0.iter().cloned()) }
    }
}

/// Client of a running server, with a person's token.
#[derive(Clone, Debug)]
pub struct ServerClient {
    http: reqwest::Client,
    address: Url,
}

/// Part of a problem document (RFC 9457) that people are shown.
#[derive(Deserialize)]
struct ProblemSummary {
    #[serde(default)]
    code: String,
    detail: String,
}

impl ClientError {
    /// Returns the server's code of the error; `None` if the error is not the server's.
    pub fn code(&self) -> Option<&str> {
        let Self::Refused { code, .. } = self else { return None };
        Some(code)
    }
}

impl ServerClient {
    /// Returns a client of the server at `address`, such as `http://127.0.0.1:4680`, without
    /// sending.
    pub fn new(address: &str, token: &str) -> ClientResult<Self> {
        Self::build(address, Some(token), Some(ANSWER_TIMEOUT), |http| http)
    }

    /// Returns a client without a time limit for answers that wait for people, and with an optional
    /// token.
    pub fn patient(address: &str, token: Option<&str>) -> ClientResult<Self> {
        Self::build(address, token, None, |http| http)
    }

    /// Returns a client like [`Self::patient`]; the certificate of the server may be of these
    /// authorities too.
    pub fn trusting(
        address: &str,
        token: Option<&str>,
        authorities: &TrustedAuthorities,
    ) -> ClientResult<Self> {
        Self::build(address, token, None, |http| authorities.trusted_by(http))
    }

    fn build(
        address: &str,
        token: Option<&str>,
        patience: Option<Duration>,
        configure: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> ClientResult<Self> {
        let wrong = || ClientError::Address(address.to_owned());
        let parsed = Url::parse(address).map_err(|_| wrong())?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
            return Err(wrong());
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = token {
            let mut bearer =
                HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| ClientError::Token)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let http = http_client_builder().default_headers(headers).connect_timeout(ANSWER_TIMEOUT);
        let http = match patience {
            Some(patience) => http.timeout(patience),
            None => http,
        };
        let http = configure(http).build();
        let unreachable = |source| ClientError::Unreachable { address: address.to_owned(), source };
        Ok(Self { http: http.map_err(unreachable)?, address: parsed })
    }

    /// Asks the server if it can store and read changes. Returns the time at which it answered, as
    /// its header `Date` or that of a proxy says.
    pub async fn readiness(&self) -> ClientResult<Option<String>> {
        let answer = self.send(self.request_at(Method::GET, self.below(&["readyz"])?)).await?;
        let (status, date) = (answer.status(), answer.headers().get(DATE).cloned());
        match answer.text().await {
            Ok(text) if text == "ok" => {
                Ok(date.and_then(|date| date.to_str().ok().map(str::to_owned)))
            }
            _ => Err(self.strange(status)),
        }
    }

    /// Issues a token.
    pub async fn issue(&self, wish: &IssueToken) -> ClientResult<IssuedToken> {
        self.read(self.request(Method::POST, &["tokens"])?.json(wish)).await
    }

    /// Lists all tokens, without their secrets.
    pub async fn tokens(&self) -> ClientResult<TokenList> {
        self.read(self.request(Method::GET, &["tokens"])?).await
    }

    /// Revokes a token.
    pub async fn revoke(&self, id: &str) -> ClientResult<()> {
        self.send(self.request(Method::DELETE, &["tokens", id])?).await.map(drop)
    }

    /// Ties a token to a login.
    pub async fn tie(&self, id: &str, login: &str) -> ClientResult<()> {
        let wish = TieToken { id: id.to_owned(), login: login.to_owned() };
        let request = self.request(Method::POST, &["tokens", id, "tie"])?.json(&wish);
        self.send(request).await.map(drop)
    }

    /// Returns the JSON value at an address below `/api/v1`.
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> ClientResult<Value> {
        self.read(self.query(path, query)?).await
    }

    /// Returns the file at an address below `/api/v1`.
    pub async fn file(&self, path: &[&str], query: &[(&str, &str)]) -> ClientResult<Vec<u8>> {
        let answer = self.send(self.query(path, query)?).await?;
        let status = answer.status();
        Ok(answer.bytes().await.map_err(|_| self.strange(status))?.into())
    }

    /// Returns all entries of a list, page by page; `field` of each page has its entries.
    pub async fn all(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        field: &str,
    ) -> ClientResult<Vec<Value>> {
        let mut entries = Vec::new();
        let mut page = self.get(path, query).await?;
        loop {
            if let Some(found) = page[field].as_array_mut() {
                entries.append(found);
            }
            let Some(cursor) = next_cursor(&page) else { return Ok(entries) };
            page = self.get(path, &[query, &[("cursor", cursor.as_str())]].concat()).await?;
        }
    }

    /// Posts to an address below `/api/v1`, and returns the answer.
    pub async fn post(&self, path: &[&str], body: &Value) -> ClientResult<Value> {
        self.read(self.request(Method::POST, path)?.json(body)).await
    }

    /// Posts a file as it is to an address below `/api/v1`, and returns the answer.
    pub async fn post_file(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        file: Vec<u8>,
    ) -> ClientResult<Value> {
        let request = self.with_query(Method::POST, path, query)?;
        let request = request.header(CONTENT_TYPE, "application/octet-stream").body(file);
        self.read(request.timeout(FILE_TIMEOUT)).await
    }

    /// Puts a JSON value at an address below `/api/v1`, and returns the answer.
    pub async fn put(&self, path: &[&str], body: &Value) -> ClientResult<Value> {
        self.read(self.request(Method::PUT, path)?.json(body)).await
    }

    /// Deletes what is at an address below `/api/v1`.
    pub async fn delete(&self, path: &[&str], query: &[(&str, &str)]) -> ClientResult<()> {
        self.send(self.with_query(Method::DELETE, path, query)?).await.map(drop)
    }

    /// Deletes what is at an address below `/api/v1`, and returns the answer, which says what
    /// becomes of it.
    pub async fn delete_with_answer(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> ClientResult<Value> {
        self.read(self.with_query(Method::DELETE, path, query)?).await
    }

    fn query(&self, path: &[&str], query: &[(&str, &str)]) -> ClientResult<RequestBuilder> {
        self.with_query(Method::GET, path, query)
    }

    fn with_query(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> ClientResult<RequestBuilder> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(self.request_at(method, url))
    }

    /// Builds a request below `/api/v1`; each part of the path is escaped.
    fn request(&self, method: Method, path: &[&str]) -> ClientResult<RequestBuilder> {
        Ok(self.request_at(method, self.url(path)?))
    }

    fn request_at(&self, method: Method, url: Url) -> RequestBuilder {
        self.http.request(method, url)
    }

    /// Returns an address below `/api/v1`; each part of the path is escaped.
    fn url(&self, path: &[&str]) -> ClientResult<Url> {
        self.below(&[&["api", "v1"], path].concat())
    }

    /// Returns an address on the server; each part of the path is escaped.
    fn below(&self, path: &[&str]) -> ClientResult<Url> {
        let mut url = self.address.clone();
        url.path_segments_mut()
            .map_err(|()| ClientError::Address(self.address.to_string()))?
            .clear()
            .extend(path);
        url.set_query(None);
        url.set_fragment(None);
        Ok(url)
    }

    async fn send(&self, request: RequestBuilder) -> ClientResult<Response> {
        let answer = self.send_any(request).await?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refusal(answer).await) }
    }

    /// Sends a request, and returns the answer whatever its status.
    async fn send_any(&self, request: RequestBuilder) -> ClientResult<Response> {
        request.send().await.map_err(|source| ClientError::Unreachable {
            address: self.shown(),
            // The message has the address already.
            source: source.without_url(),
        })
    }

    /// Returns the error that an unsuccessful answer stands for.
    async fn refusal(&self, answer: Response) -> ClientError {
        let status = answer.status();
        match answer.json::<ProblemSummary>().await {
            Ok(ProblemSummary { code, detail }) => ClientError::Refused { status, code, detail },
            Err(_) => self.strange(status),
        }
    }

    fn strange(&self, status: StatusCode) -> ClientError {
        ClientError::Strange { address: self.shown(), status }
    }

    /// Sends a request, and reads the JSON of the answer.
    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> ClientResult<T> {
        let answer = self.send(request).await?;
        let status = answer.status();
        answer.json().await.map_err(|_| self.strange(status))
    }

    /// Returns the address without a password or fragment that it may hold.
    fn shown(&self) -> String {
        self.address.origin().ascii_serialization()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_refused_before_anything_is_sent() {
        for wrong in ["", "desk", "127.0.0.1:4680", "ftp://desk", "http://", "unix:/run/desk"] {
            let refused = ServerClient::new(wrong, "secret");
            assert!(matches!(refused, Err(ClientError::Address(_))), "{wrong}: {refused:?}");
        }
        assert!(matches!(ServerClient::new("http://desk", "two\nlines"), Err(ClientError::Token)));
    }

    #[test]
    fn requests_go_below_the_servers_own_address_with_every_part_escaped() {
        let client = ServerClient::new("http://desk:1/#token=mine", "secret").unwrap();
        let request = client.request(Method::DELETE, &["tokens", "../settings?x"]).unwrap();
        let url = request.build().unwrap().url().to_string();
        assert_eq!(url, "http://desk:1/api/v1/tokens/..%2Fsettings%3Fx");
        assert!(!format!("{client:?}").contains("secret"));
        assert_eq!(client.shown(), "http://desk:1");
    }
}
