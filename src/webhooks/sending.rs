//! One attempt to deliver: the body is made, signed, and sent to the address that was checked.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use copydesk_api::webhooks::{
    AddressError, AddressPolicy, SecretError, SigningSecret, WebhookAddress, WebhookDelivery,
};
use copydesk_approvals::ApprovalRequest;
use copydesk_http_client::http_client_builder;
use copydesk_protocol_conversion as wire;

/// Longest wait for a receiver's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Reason why a delivery failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The address is not allowed.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The receiver answered with an error status.
    #[error("the receiver answered {0}")]
    Refused(StatusCode),
    /// The receiver did not answer.
    #[error("the receiver does not answer")]
    Silent,
    /// The stored delivery could not be read.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// The stored secret could not be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Sends a delivery once.
pub(super) async fn send(
    delivery: &WebhookDelivery,
    address_policy: AddressPolicy,
    now_ms: u64,
) -> Result<(), SendError> {
    let body = body(delivery)?;
    let at_s = now_ms / 1_000;
    let secret = SigningSecret::read(&delivery.hook.secret)?;
    let signature = secret.sign(delivery.id.as_str(), at_s, &body)?;
    let address = WebhookAddress::read(&delivery.hook.url, address_policy)?;
    let sockets = address.find(address_policy).await?;
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("webhook-id", delivery.id.to_string()),
        ("webhook-timestamp", at_s.to_string()),
        ("webhook-signature", signature),
    ];
    match post(&address, &sockets, &headers, body).await? {
        status if status.is_success() => Ok(()),
        status => Err(SendError::Refused(status)),
    }
}

/// Posts to one of the sockets that were checked, whatever the host name resolves to by now.
async fn post(
    address: &WebhookAddress,
    sockets: &[SocketAddr],
    headers: &[(&str, String)],
    body: String,
) -> Result<StatusCode, SendError> {
    let host = address.url().host_str().unwrap_or_default();
    let client = http_client_builder()
        // A proxy would resolve the name again.
        .no_proxy()
        .resolve_to_addrs(host, sockets)
        .timeout(ANSWER_TIMEOUT)
        .build()
        .map_err(|_| SendError::Silent)?;
    let mut request = client.post(address.url().clone()).body(body);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    // The body of the answer is not read.
    Ok(request.send().await.map_err(|_| SendError::Silent)?.status())
}

/// Returns the body `{type, timestamp, data}`, identical at every attempt. `data` is the message
/// that the socket sends for this event.
fn body(delivery: &WebhookDelivery) -> Result<String, SendError> {
    let request: ApprovalRequest = serde_json::from_value(delivery.body.clone())?;
    let (kind, data) = match delivery.event.as_str() {
        "waiting" => ("tool_approval_request", serde_json::to_value(wire::request(&request))?),
        _ => ("tool_approval_resolved", serde_json::to_value(wire::resolved(&request))?),
    };
    let at_ms =
        request.decisions.closed.as_ref().map_or(request.clock.created_ms, |closed| closed.at_ms);
    Ok(json!({"type": kind, "timestamp": wire::time(at_ms), "data": data}).to_string())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_name_that_means_something_else_by_now_leads_to_the_address_that_was_looked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let looked_at = listener.local_addr().unwrap();
        let taken = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        // A reserved name (RFC 6761): another look-up would find nothing.
        let url = format!("http://hooks.invalid:{}/in", looked_at.port());
        let address = WebhookAddress::read(&url, AddressPolicy::Everywhere).unwrap();
        let headers = [("webhook-id", "msg_1".to_owned())];
        let status = post(&address, &[looked_at], &headers, "{}".to_owned()).await;
        assert_eq!(status.unwrap(), StatusCode::NO_CONTENT);
        let head = taken.await.unwrap().to_lowercase();
        assert!(head.contains("host: hooks.invalid") && head.contains("webhook-id: msg_1"));
    }
}
