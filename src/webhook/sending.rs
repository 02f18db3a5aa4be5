//! One try to deliver: made into JSON, signed, and sent to the address that was looked at.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use serde_json::json;

use crate::review::Request;
use crate::store::Delivery;
use crate::wire::convert;

use super::address::{Address, AddressError, Reach};
use super::signature::{Secret, SecretError};

/// Longest wait for a receiver.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why the receiver does not have it.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The address is not one that may be told anything.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The receiver said something else than yes.
    #[error("the receiver answered {0}")]
    Refused(StatusCode),
    /// Nobody answered.
    #[error("the receiver does not answer")]
    Silent,
    /// A fault of this server.
    #[error("{0}")]
    Unreadable(String),
}

impl From<SecretError> for SendError {
    fn from(error: SecretError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Sends a delivery once.
pub(super) async fn send(delivery: &Delivery, reach: Reach, now_ms: u64) -> Result<(), SendError> {
    let body = body(delivery)?;
    let at_s = now_ms / 1_000;
    let secret = Secret::read(&delivery.hook.secret)?;
    let signature = secret.sign(delivery.id.as_str(), at_s, &body)?;
    let address = Address::read(&delivery.hook.url, reach)?;
    let sockets = address.find(reach).await?;
    let host = address.0.host_str().unwrap_or_default();
    let client = Client::builder()
        // Somebody else's address is somebody else's word.
        .redirect(Policy::none())
        // A proxy would look the name up again.
        .no_proxy()
        .resolve_to_addrs(host, &sockets)
        .timeout(PATIENCE)
        .user_agent(concat!("copydesk/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|_| SendError::Silent)?;
    let sent = client
        .post(address.0.clone())
        .header("content-type", "application/json")
        .header("webhook-id", delivery.id.as_str())
        .header("webhook-timestamp", at_s)
        .header("webhook-signature", signature)
        .body(body)
        .send()
        .await;
    // What the receiver says besides is nobody's business: the answer is not read.
    match sent.map_err(|_| SendError::Silent)?.status() {
        status if status.is_success() => Ok(()),
        status => Err(SendError::Refused(status)),
    }
}

/// `{type, timestamp, data}`: the same words at every try. `data` is what the socket tells of the same event.
fn body(delivery: &Delivery) -> Result<String, SendError> {
    let unreadable = |error: serde_json::Error| SendError::Unreadable(error.to_string());
    let request: Request = serde_json::from_value(delivery.body.clone()).map_err(unreadable)?;
    let (kind, data) = match delivery.event.as_str() {
        "waiting" => ("tool_approval_request", serde_json::to_value(convert::request(&request))),
        _ => ("tool_approval_resolved", serde_json::to_value(convert::resolved(&request))),
    };
    let data = data.map_err(unreadable)?;
    let at_ms = request.closed.as_ref().map_or(request.clock.created_ms, |closed| closed.at_ms);
    Ok(json!({"type": kind, "timestamp": convert::time(at_ms), "data": data}).to_string())
}
