//! Requests of programs over MCP about documents of other servers: made there, as by a bridge of
//! the same program, and their results passed back.
//!
//! The other server checks the caller's own token. It remembers what the program has read, and
//! recognises a call that is sent again after a lost connection.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::SEARCH_TIMEOUT;
use crate::node::ClusterNode;
use copydesk_client::mcp::{self, StdioBridge};
use copydesk_client::{ServerClient, TrustedAuthorities};
use copydesk_mcp::{AskOtherServer, OtherServerRequest};
use copydesk_placement::{NotHere, OtherServer};
use copydesk_rooms::{RoomError, RoomRegistry};

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// JSON-RPC code of a bridge that has lost its server.
const LOST: i64 = -32000;

/// Returns the function that has other servers answer requests over MCP.
pub fn ask_other_server(
    node: &Arc<ClusterNode>,
    rooms: &RoomRegistry,
    authorities: &TrustedAuthorities,
) -> AskOtherServer {
    let (node, rooms, authorities) = (Arc::clone(node), rooms.clone(), authorities.clone());
    Arc::new(move |request| {
        ask(Arc::clone(&node), rooms.clone(), authorities.clone(), request).boxed()
    })
}

/// Sends a request to the server that has its document; `None` if this one has it.
async fn ask(
    own: Arc<ClusterNode>,
    rooms: RoomRegistry,
    authorities: TrustedAuthorities,
    request: OtherServerRequest,
) -> Option<Result<Value, String>> {
    let until = Instant::now() + SEARCH_TIMEOUT;
    loop {
        let claimed = rooms.claim(&request.document).await;
        // What else is wrong is found by the call itself.
        let Err(RoomError::NotHere(NotHere::OtherServer(node))) = claimed else { return None };
        let mut answer = tokio::select! {
            answer = send(&authorities, &node, &request) => answer,
            _ = request.pass.ended() => Value::Null,
        };
        if answer["error"]["code"] == LOST && Instant::now() < until {
            own.forget_node(node.number);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let result = answer.get_mut("result").map(Value::take);
        return Some(
            result.ok_or_else(|| {
                answer["error"]["message"].as_str().unwrap_or("no answer").to_owned()
            }),
        );
    }
}

async fn send(
    authorities: &TrustedAuthorities,
    node: &OtherServer,
    request: &OtherServerRequest,
) -> Value {
    let (params, bridge) = (request.params.clone(), request.bridge.clone());
    let message = mcp::request(&request.client, request.method, params, &request.call);
    let answered = async {
        let server = ServerClient::trusting(&node.url, request.token.as_deref(), authorities)?;
        StdioBridge::ask_once(server, bridge, request.timeout_ms, &message).await
    };
    answered
        .await
        .unwrap_or_else(|error| json!({"error": {"code": -32603, "message": error.to_string()}}))
}
