//! The command line as a client of a running server, over its REST; the bridge for MCP clients.

pub mod mcp;

pub mod show;

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::transport::protocol::client::IssueToken;
use crate::transport::protocol::server::{IssuedToken, TokenList};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why the server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not an address.
    #[error("{0:?} is no address of a server; write http://HOST:PORT")]
    Address(String),
    /// A token that cannot be sent.
    #[error("the token has characters that no token has")]
    Token,
    /// Nobody answers there.
    #[error("the server at {address} does not answer; is it running?")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        source: reqwest::Error,
    },
    /// The server said no.
    #[error("the server refused: {detail} ({status})")]
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// What it said, for programs.
        code: String,
        /// What it said.
        detail: String,
    },
    /// Something else than Copydesk answered, or another version of it.
    #[error("what answers at {address} is no Copydesk of this version ({status})")]
    Strange {
        /// Where.
        address: String,
        /// The HTTP status.
        status: StatusCode,
    },
}

/// Where the page after this one begins, if there is one: on the same server, whatever it says.
pub fn next_cursor(page: &Value) -> Option<String> {
    let mut parts = page["next"].as_str()?.split(['?', '&']);
    parts.find_map(|pair| pair.strip_prefix("cursor=")).map(str::to_owned)
}

/// A running server, asked with somebody's token.
#[derive(Clone, Debug)]
pub struct ServerClient {
    http: reqwest::Client,
    address: Url,
}

/// What of a problem document (RFC 9457) people are shown.
#[derive(Deserialize)]
struct ProblemSummary {
    #[serde(default)]
    code: String,
    detail: String,
}

impl ClientError {
    /// What the server calls it; none if it is not the server who says it.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            Self::Address(_) | Self::Token | Self::Unreachable { .. } | Self::Strange { .. } => {
                None
            }
        }
    }
}

impl ServerClient {
    /// The server at `address`, such as `http://127.0.0.1:4680`; nothing is sent yet.
    pub fn new(address: &str, token: &str) -> Result<Self, ClientError> {
        Self::build(address, Some(token), Some(PATIENCE))
    }

    /// The same for answers that people are waited for, and without a token where none is needed.
    pub fn patient(address: &str, token: Option<&str>) -> Result<Self, ClientError> {
        Self::build(address, token, None)
    }

    fn build(
        address: &str,
        token: Option<&str>,
        patience: Option<Duration>,
    ) -> Result<Self, ClientError> {
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
        let http = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(PATIENCE)
            // An owner's token goes to the address that was given, and nowhere else.
            .redirect(Policy::none());
        let http = match patience {
            Some(patience) => http.timeout(patience),
            None => http,
        };
        let http = http.build();
        let unreachable = |source| ClientError::Unreachable { address: address.to_owned(), source };
        Ok(Self { http: http.map_err(unreachable)?, address: parsed })
    }

    /// A new token.
    pub async fn issue(&self, wish: &IssueToken) -> Result<IssuedToken, ClientError> {
        let answer = self.send(self.request(Method::POST, &["tokens"])?.json(wish)).await?;
        self.read(answer).await
    }

    /// All tokens, without their secrets.
    pub async fn tokens(&self) -> Result<TokenList, ClientError> {
        let answer = self.send(self.request(Method::GET, &["tokens"])?).await?;
        self.read(answer).await
    }

    /// Takes a token back.
    pub async fn revoke(&self, id: &str) -> Result<(), ClientError> {
        self.send(self.request(Method::DELETE, &["tokens", id])?).await.map(drop)
    }

    /// What stands at an address below `/api/v1`.
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, ClientError> {
        let answer = self.send(self.query(path, query)?).await?;
        self.read(answer).await
    }

    /// A file at an address below `/api/v1`.
    pub async fn file(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Vec<u8>, ClientError> {
        let answer = self.send(self.query(path, query)?).await?;
        let status = answer.status();
        let address = self.shown();
        let bytes = answer.bytes().await.map_err(|_| ClientError::Strange { address, status })?;
        Ok(bytes.into())
    }

    /// Everything of a list, page by page; `field` of each page has its entries.
    pub async fn all(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        field: &str,
    ) -> Result<Vec<Value>, ClientError> {
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

    /// Does something at an address below `/api/v1`.
    pub async fn post(&self, path: &[&str], body: &Value) -> Result<Value, ClientError> {
        let answer = self.send(self.request(Method::POST, path)?.json(body)).await?;
        self.read(answer).await
    }

    fn query(&self, path: &[&str], query: &[(&str, &str)]) -> Result<RequestBuilder, ClientError> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(self.http.request(Method::GET, url))
    }

    /// A request below `/api/v1`; each part is escaped.
    fn request(&self, method: Method, path: &[&str]) -> Result<RequestBuilder, ClientError> {
        Ok(self.request_at(method, self.url(path)?))
    }

    fn request_at(&self, method: Method, url: Url) -> RequestBuilder {
        self.http.request(method, url)
    }

    /// An address below `/api/v1`; each part is escaped.
    fn url(&self, path: &[&str]) -> Result<Url, ClientError> {
        self.below(&[&["api", "v1"], path].concat())
    }

    /// An address on the server; each part is escaped.
    fn below(&self, path: &[&str]) -> Result<Url, ClientError> {
        let mut url = self.address.clone();
        url.path_segments_mut()
            .map_err(|()| ClientError::Address(self.address.to_string()))?
            .clear()
            .extend(path);
        url.set_query(None);
        url.set_fragment(None);
        Ok(url)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let answer = self.send_any(request).await?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refusal(answer).await) }
    }

    /// Whatever the server answers.
    async fn send_any(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        request.send().await.map_err(|source| ClientError::Unreachable {
            address: self.shown(),
            // The address is said already.
            source: source.without_url(),
        })
    }

    /// What an answer that is none says.
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

    async fn read<T: DeserializeOwned>(&self, answer: Response) -> Result<T, ClientError> {
        let status = answer.status();
        let address = || self.shown();
        answer.json().await.map_err(|_| ClientError::Strange { address: address(), status })
    }

    /// The address without a password or fragment somebody may have put into it.
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
