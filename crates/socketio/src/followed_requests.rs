//! Requests that a client is told of though it is in another document: a run there has asked for
//! them, and another server of several has the document that they would change. The client's own
//! server makes that server tell the client, as a client in its name; so the rights of the person
//! are checked where the document is.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedReceiver;

use copydesk_ids::{DocumentId, RequestId};

/// Event for a client that another server relays: that server is to make the client follow a
/// request.
pub(crate) const TO_FOLLOW: &str = "approval:to_follow";
/// Event of a client that another server relays: the client is told of a request from now on.
pub(crate) const FOLLOW: &str = "approval:follow";

/// Requests of other documents that a client is to be told of. Boxed: nearly always there are none,
/// and the channel has places for many.
pub(crate) type RequestsToFollow = UnboundedReceiver<Box<FollowedRequest>>;

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
