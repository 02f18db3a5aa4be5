//! Events of the preparation, which are sent again while the server is too busy for them.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use copydesk_client::socketio::{SocketIoClient, accepted};

use crate::LoadTestResult;

/// Longest time until the server accepts an event.
const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Sends an event until the server accepts it, and returns the answer.
pub(super) async fn ask_patiently(
    client: &mut SocketIoClient,
    event: &str,
    payload: &Value,
) -> LoadTestResult<Value> {
    let until = Instant::now() + ACCEPTANCE_TIMEOUT;
    loop {
        match accepted(client.ask(event, payload).await?) {
            Err(refusal) if refusal.code == "rate_limited" && Instant::now() < until => {
                sleep(PAUSE).await;
            }
            answer => return Ok(answer?),
        }
    }
}
