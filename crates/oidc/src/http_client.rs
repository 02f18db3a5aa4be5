//! Requests to the provider, with a limit of time and of bytes.

use std::time::Duration;

use futures_util::StreamExt as _;
use openidconnect::http::Response;
use openidconnect::{HttpRequest, HttpResponse};

/// Longest wait for the provider's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest answer, in bytes.
const ANSWER_BYTES: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    /// The request failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The answer is too long.
    #[error("the answer has more than {ANSWER_BYTES} bytes")]
    TooLong,
}

/// Sends a request and returns the answer.
pub(crate) async fn send(
    client: reqwest::Client,
    request: HttpRequest,
) -> Result<HttpResponse, ProviderError> {
    let mut request = reqwest::Request::try_from(request)?;
    *request.timeout_mut() = Some(ANSWER_TIMEOUT);
    let answer = client.execute(request).await?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut body = Vec::new();
    let mut pieces = answer.bytes_stream();
    while let Some(piece) = pieces.next().await {
        body.extend_from_slice(&piece?);
        if body.len() > ANSWER_BYTES {
            return Err(ProviderError::TooLong);
        }
    }
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}
