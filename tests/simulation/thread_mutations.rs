//! Mutations of threads of comments.

use std::sync::Arc;

use copydesk_comments::CommentThread;
use copydesk_rooms::simulated_room::SimulatedRoom;

use crate::room_mutations::RoomMutation as M;

impl M {
    /// Changes the threads of a room after a push or, if `is_decision`, a decision; `before` are
    /// those from before it.
    pub fn mutate_threads(
        self,
        room: &mut SimulatedRoom,
        before: &[CommentThread],
        is_decision: bool,
    ) {
        for was in before {
            let Some(now) = room.threads_mut().get_mut(&was.id) else { continue };
            let (Some(old), Some(new)) = (&was.anchor, &mut now.anchor) else { continue };
            match self {
                M::ThreadsStayOnAccept if is_decision => new.clone_from(old),
                M::DeletionDoesNotOrphan if !old.is_orphaned => new.is_orphaned = false,
                M::OrphansStayOrphaned if old.is_orphaned => new.is_orphaned = true,
                M::ResolvedThreadsReopen if old.is_orphaned && !new.is_orphaned => {
                    Arc::make_mut(&mut now.content).resolved = None;
                }
                _ => {}
            }
        }
    }
}
