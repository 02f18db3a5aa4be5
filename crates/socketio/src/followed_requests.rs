//! Requests that a client is told of though it is in another document: a run there has asked for
//! them, and another server of several has the document that they would change. The client's own
//! server makes that server tell the client, as a client in its name; so the rights of the person
//! are checked where the document is.

use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use copydesk_engine::ids::{DocumentId, RequestId};
use copydesk_engine::permissions::Action;

use super::SocketConnection;
use super::socket_error::SocketResult;

/// Event for a client that another server relays: that server is to make the client follow a
/// request.
pub(crate) const TO_FOLLOW: &str = "approval:to_follow";
/// Event of a client that another server relays: the client is told of a request from now on.
pub(crate) const FOLLOW: &str = "approval:follow";

/// Request that a client is told of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FollowedRequest {
    /// Document that the request would change.
    pub(crate) document_id: DocumentId,
    /// The request.
    pub(crate) request_id: RequestId,
}

/// Answer to [`FOLLOW`].
#[derive(Serialize)]
pub(crate) struct Followed {}

impl SocketConnection {
    /// Makes the server that has the document of a request tell the client of it.
    pub(crate) async fn follow_request(&mut self, followed: FollowedRequest) {
        let Some(own) = self.app.api.node() else { return };
        // The database says where the document is, and not who told of the request.
        match own.elsewhere(&followed.document_id).await {
            Ok(Some(node)) => {
                let Ok(payload) = to_raw_value(&followed) else { return };
                self.send_to(&node, FOLLOW, payload).await;
            }
            Ok(None) => {
                if let Err(refusal) = follow(self, followed).await {
                    tracing::debug!(error = ?refusal.error(), "a client does not hear of a request");
                }
            }
            Err(error) => tracing::warn!(%error, "cannot look up the server of a request"),
        }
    }
}

/// Answers [`FOLLOW`]: tells the client of a request in a document that the person may read.
///
/// # Errors
/// `not_found` or `not_allowed` if the person may not read the document.
pub(crate) async fn follow(
    connection: &mut SocketConnection,
    payload: FollowedRequest,
) -> SocketResult<Followed> {
    let FollowedRequest { document_id, request_id } = payload;
    let room = connection.caller.room(&document_id, Action::Read).await?;
    room.notify_member(connection.member.clone(), request_id).await;
    Ok(Followed {})
}
