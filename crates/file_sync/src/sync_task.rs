//! Schedule of the synchronisation: soon after people write, every second while they have the file
//! open, and at the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use copydesk_rooms::{RoomStatus, WeakRoomHandle};

use super::FileSyncDeps;
use super::synced_file::SyncedFile;

/// Delay before a write, so that changes within this time are written together.
const DELAY: Duration = Duration::from_millis(400);
/// Interval at which a file is checked while people have it open.
const LOOK: Duration = Duration::from_secs(1);

/// Starts a task for each room that opens, if its document is a file.
pub async fn watch(shared: Arc<FileSyncDeps>, mut opened: UnboundedReceiver<WeakRoomHandle>) {
    loop {
        let room = tokio::select! {
            () = shared.stopping.cancelled() => return,
            room = opened.recv() => room,
        };
        let Some(room) = room else { return };
        let copy = shared.copies.lock().by_document.get(room.document()).cloned();
        if let Some(copy) = copy {
            shared.tasks.spawn(keep(Arc::clone(&shared), copy, room));
        }
    }
}

/// Synchronises one file as long as its room is open, without keeping the room open.
async fn keep(shared: Arc<FileSyncDeps>, copy: Arc<SyncedFile>, room: WeakRoomHandle) {
    let mut room_status = room.room_status();
    loop {
        let Some(open) = room.upgrade() else { break };
        copy.sync(&shared, &open).await;
        drop(open);
        if wait(&shared, &copy, &mut room_status).await.is_none() {
            break;
        }
    }
    copy.finish(&shared).await;
}

/// Waits until there may be something to do; `None` if the room has closed.
async fn wait(
    shared: &FileSyncDeps,
    copy: &SyncedFile,
    room_status: &mut watch::Receiver<RoomStatus>,
) -> Option<()> {
    loop {
        let before = *room_status.borrow_and_update();
        tokio::select! {
            changed = room_status.changed() => {
                changed.ok()?;
                let now = *room_status.borrow_and_update();
                if now.version != before.version {
                    tokio::time::sleep(DELAY).await;
                    return Some(());
                }
                if before.people == 0 && now.people > 0 {
                    return Some(());
                }
            }
            () = tokio::time::sleep(LOOK), if before.people > 0 => {
                if before.version != copy.agreed() || copy.looks_changed(shared).await {
                    return Some(());
                }
            }
        }
    }
}
