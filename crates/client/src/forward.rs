//! Requests that are passed on to another server of several, as they came.

use std::fmt;

use bytes::Bytes;
use futures_util::TryStream;
use reqwest::header::{
    CONNECTION, EXPECT, HOST, HeaderMap, HeaderName, ORIGIN, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use reqwest::{Body, Method, Response};

use super::{ANSWER_TIMEOUT, ClientError, ClientResult, TrustedAuthorities, http_client_builder};

/// Headers that are about one connection, or by which the first server has recognised a browser.
const LEFT_OUT: [HeaderName; 8] =
    [CONNECTION, EXPECT, HOST, ORIGIN, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Sender of such requests. Clones share their connections.
#[derive(Clone)]
pub struct RequestForwarder(reqwest::Client);

impl fmt::Debug for RequestForwarder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestForwarder")
    }
}

impl RequestForwarder {
    /// Returns a sender without connections, which trusts these authorities too and waits for
    /// answers without a limit.
    pub fn trusting(authorities: &TrustedAuthorities) -> ClientResult<Self> {
        let http = http_client_builder().http1_only().connect_timeout(ANSWER_TIMEOUT / 10);
        let http = authorities.trusted_by(http).build();
        let failed = |source| ClientError::Unreachable { address: String::new(), source };
        Ok(Self(http.map_err(failed)?))
    }

    /// Sends a request to the server at `address`; `target` is the path and the query.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`] if the server was not reached, [`ClientError::Closed`] if the
    /// connection was lost before it answered.
    pub async fn send<S>(
        &self,
        address: &str,
        (method, target): (Method, &str),
        headers: &HeaderMap,
        body: S,
    ) -> ClientResult<Response>
    where
        S: TryStream + Send + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        Bytes: From<S::Ok>,
    {
        let mut kept = headers.clone();
        for name in LEFT_OUT {
            kept.remove(name);
        }
        let url = format!("{}{target}", address.trim_end_matches('/'));
        let request = self.0.request(method, url).headers(kept).body(Body::wrap_stream(body));
        request.send().await.map_err(|error| {
            let address = address.to_owned();
            if error.is_connect() {
                ClientError::Unreachable { address, source: error.without_url() }
            } else {
                ClientError::Closed { address }
            }
        })
    }
}

/// Removes what is about one connection from the headers of an answer.
pub fn pass_headers(headers: &mut HeaderMap) {
    for name in [CONNECTION, TRANSFER_ENCODING, TRAILER, UPGRADE] {
        headers.remove(name);
    }
}
