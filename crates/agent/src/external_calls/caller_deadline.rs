//! Deadline of a request whose call is sent again: it moves to the limit of the newest caller.

use std::sync::Arc;

use tokio::sync::watch;

use copydesk_ids::RequestId;
use copydesk_rooms::{RoomError, RoomResult};
use copydesk_tools::ApprovalWait;

use super::waiters::CallHandle;
use crate::AgentService;

impl AgentService {
    /// Moves the deadline of a call's request to that of a caller which joined the call, if it is
    /// later: the request shall not expire while its caller still waits.
    pub(super) fn follow_caller(&self, joined: &CallHandle, deadline_ms: Option<u64>) {
        let (service, mut asking) = (self.clone(), joined.asking());
        self.spawn_tracked(async move {
            // A call that has just begun has no request yet.
            let request = tokio::select! {
                () = service.stop.cancelled() => return,
                request = waiting_request(&mut asking) => request,
            };
            let Some(request) = request else { return };
            let Err(error) = service.move_deadline(&request, deadline_ms).await else { return };
            match error {
                // It may have ended just now, and another server that has the room is not notified.
                RoomError::Decision(_)
                | RoomError::NoRequest
                | RoomError::Closed
                | RoomError::NotHere(_) => {}
                error => {
                    tracing::warn!(%error, request.id = %request, "cannot move the deadline of a request");
                }
            }
        });
    }

    async fn move_deadline(&self, id: &RequestId, deadline_ms: Option<u64>) -> RoomResult<()> {
        let standing = self.store.request_standing(id).await;
        let standing = standing.map_err(|error| RoomError::Store(Arc::new(error)))?;
        let room = match standing.ok_or(RoomError::NoRequest)?.document {
            Some(document) => self.rooms.open(&document).await?,
            None => self.rooms.workspace_inbox().await?,
        };
        room.move_deadline(id.clone(), deadline_ms).await?;
        Ok(())
    }
}

/// Waits for the request of a call; `None` if it has none, or waits no longer.
async fn waiting_request(asking: &mut watch::Receiver<Option<ApprovalWait>>) -> Option<RequestId> {
    let asked = asking.wait_for(Option::is_some).await.ok()?.clone()?;
    match asked {
        ApprovalWait::Waits(request) => Some(request),
        ApprovalWait::Resolved(_) => None,
    }
}
