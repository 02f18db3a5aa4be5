//! HTTP to a provider: one client, and a [`ModelError`] for every kind of refusal.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};

use super::delta_stream::DeltaSink;
use super::{ModelError, ModelResult, malformed, retry};
use crate::messages_api::ProviderError;
use copydesk_http_client::{http_client_builder, with_causes};

/// Longest time without a byte, not even `ping`, after which a connection counts as dead.
const SILENCE_LIMIT: Duration = Duration::from_mins(5);

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Largest small body in bytes: more than any error body or list of models.
const MAX_SMALL_BODY: usize = 4 * 1024 * 1024;

/// Function that reads the body of an error; `None` if the body is not from the provider's API.
pub(super) type ReadError = fn(&str) -> Option<ProviderError>;

/// Returns `true` if a provider's host is a loopback address or `localhost`.
pub fn is_loopback(address: &str) -> bool {
    let Ok(address) = Url::parse(address) else { return false };
    let host = address.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = bare.parse().map(|ip: IpAddr| ip.to_canonical().is_loopback());
    is_loopback.unwrap_or_else(|_| host.eq_ignore_ascii_case("localhost"))
}

/// Builds a client for the provider at `base` that sends `key` as a bearer token. A provider on
/// this machine is reached without a proxy, which would see every document.
pub fn client(key: Option<&str>, base: &str) -> ModelResult<Client> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        let mut key = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| internal("the API key contains invalid characters"))?;
        key.set_sensitive(true);
        headers.insert(AUTHORIZATION, key);
    }
    let builder = http_client_builder();
    let builder = if is_loopback(base) { builder.no_proxy() } else { builder };
    builder
        .default_headers(headers)
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(SILENCE_LIMIT)
        .build()
        .map_err(|error| internal(&error.to_string()))
}

/// Answer whose status and headers have arrived.
pub(super) struct OpenedAnswer {
    response: Response,
    /// Identifier to quote to the provider; `none` if it sent none.
    pub(super) request_id: String,
}

/// Sends a request for an answer of `model`, and records in `sink` if the provider may have read
/// it.
pub async fn ask(
    request: RequestBuilder,
    read_error: ReadError,
    model: &str,
    sink: &DeltaSink,
) -> ModelResult<OpenedAnswer> {
    sink.begin(model);
    let sent = request.send().await.inspect_err(|error| {
        if error.is_connect() || error.is_builder() {
            sink.forget();
        }
    });
    let opened = opened(sent.map_err(network)?, read_error).await;
    // Providers charge nothing for a request that they refuse.
    opened.inspect_err(|_| sink.forget())
}

/// Sends a request that generates nothing.
pub async fn send(request: RequestBuilder, read_error: ReadError) -> ModelResult<OpenedAnswer> {
    opened(request.send().await.map_err(network)?, read_error).await
}

async fn opened(response: Response, read_error: ReadError) -> ModelResult<OpenedAnswer> {
    let id = ["request-id", "x-request-id"];
    let request_id = id.into_iter().find_map(|name| header(response.headers(), name));
    let request_id = request_id.unwrap_or("none").to_owned();
    if response.status().is_success() {
        return Ok(OpenedAnswer { response, request_id });
    }
    let error = refusal(response, read_error).await;
    tracing::warn!(request_id, %error, "the model's provider refused");
    Err(error)
}

impl OpenedAnswer {
    /// Returns the type of the body, such as `text/event-stream`, without parameters.
    pub fn content_type(&self) -> String {
        let kind = header(self.response.headers(), "content-type").unwrap_or("nothing");
        kind.split(';').next().unwrap_or(kind).trim().to_ascii_lowercase()
    }

    /// Returns the body as it arrives. An error here is [`ModelError::CutOff`].
    pub fn bytes(self) -> impl Stream<Item = ModelResult<Bytes>> + Send {
        self.response.bytes_stream().map_err(|error| {
            tracing::warn!(error = %network(error), "the model's answer broke off");
            ModelError::CutOff
        })
    }

    /// Reads the body as one JSON value, at most 4 MiB.
    pub async fn json(self) -> ModelResult<serde_json::Value> {
        let body = small_body(self.response).await?;
        serde_json::from_slice(&body).map_err(|error| malformed(error.to_string()))
    }
}

async fn small_body(mut response: Response) -> ModelResult<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(network)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_SMALL_BODY {
            return Err(malformed("a body of more than 4 MiB"));
        }
    }
    Ok(body)
}

/// Reads an answer without success as a [`ModelError`].
async fn refusal(response: Response, read_error: ReadError) -> ModelError {
    let status = response.status().as_u16();
    let should_retry =
        header(response.headers(), "x-should-retry").and_then(|flag| flag.parse().ok());
    let retry_after = retry_after(response.headers(), Timestamp::now());
    // An incomplete body still belongs to this status.
    let body = small_body(response).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let error = read_error(&text).unwrap_or_else(|| ProviderError {
        kind: "http_error".into(),
        message: excerpt(&text),
        details: None,
    });
    let passes = retry::status_is_retryable(status) && !retry::is_spend_limit(&error);
    let retryable = should_retry.unwrap_or(passes);
    let ProviderError { kind, message, details } = error;
    let (status, details) = (Some(status), details.map(Box::new));
    ModelError::Api { status, kind, message, retry_after, retryable, details }
}

/// Returns the pause from `retry-after-ms` or `retry-after` (seconds or a date), unless it is past.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    if let Some(ms) = header(headers, "retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = header(headers, "retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(date.duration_since(now)).ok()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the beginning of a body that is not from the API, to recognise it.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "no details".into() } else { line.chars().take(200).collect() }
}

fn network(error: reqwest::Error) -> ModelError {
    ModelError::Network { message: with_causes(&error.without_url()) }
}

/// Returns the error for a fault of this program or of its configuration.
pub fn internal(message: &str) -> ModelError {
    ModelError::Internal { message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loopback_address_is_on_this_machine() {
        let here = [
            "http://localhost:11434/v1",
            "http://LOCALHOST/v1",
            "http://127.0.0.1:8080/v1",
            "https://127.8.9.10",
            "http://[::1]:8080/v1",
            "http://[::ffff:127.0.0.1]/v1",
        ];
        let elsewhere = [
            "https://api.openai.com/v1",
            "http://192.168.1.7:11434/v1",
            "http://0.0.0.0:11434/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost.example.com/v1",
            "http://localhost@example.com/v1",
            "http://example.com/localhost",
            "localhost:11434",
            "",
        ];
        assert_eq!(here.map(is_loopback), [true; 6]);
        assert_eq!(elsewhere.map(is_loopback), [false; 9]);
    }

    #[test]
    fn waits_are_read_in_every_form() {
        let now: Timestamp = "2026-11-20T10:00:00Z".parse().expect("a time");
        let wait = |headers: &[(&'static str, &'static str)]| {
            let map = headers.iter().map(|(name, value)| {
                (name.parse().expect("a name"), HeaderValue::from_static(value))
            });
            retry_after(&map.collect(), now)
        };
        let ms = Duration::from_millis;
        assert_eq!(wait(&[("retry-after", "2")]), Some(ms(2000)));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(ms(500)));
        assert_eq!(wait(&[("retry-after", "9"), ("retry-after-ms", "250")]), Some(ms(250)));
        assert_eq!(wait(&[("retry-after", "Fri, 20 Nov 2026 10:00:07 GMT")]), Some(ms(7000)));
        assert_eq!(wait(&[("retry-after", "Fri, 20 Nov 2026 09:00:00 GMT")]), None);
        assert_eq!(wait(&[("retry-after", "-1")]), None);
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[]), None);
    }
}
