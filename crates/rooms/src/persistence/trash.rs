//! Trash: deleted documents, which can be recovered for [`TRASH_DAYS`] days.

use serde_json::json;

use copydesk_ids::DocumentId;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{AuditEntry, DocumentRecord, StoreOp, WriteBatch};

use crate::event::ServerEvent;
use crate::{RoomError, RoomRegistry, RoomResult};

/// Days for which a deleted document can be recovered.
pub const TRASH_DAYS: u64 = 30;
/// Milliseconds of [`TRASH_DAYS`].
const TRASH_MS: u64 = TRASH_DAYS * 24 * 60 * 60 * 1_000;
/// Largest number of documents that are listed or purged at once.
const MOST_LISTED: u32 = 1_000;

/// Returns the time until which a deleted document can be recovered, in milliseconds since the Unix
/// epoch.
pub fn recoverable_until_ms(deleted: &DocumentRecord) -> u64 {
    deleted.updated_ms.saturating_add(TRASH_MS)
}

#[boxed]
impl RoomRegistry {
    /// Returns the deleted documents that a person may recover, last deleted first, at most 1,000.
    /// A file of the workspace that is open again is left out.
    ///
    /// # Errors
    /// [`RoomError::Store`] if the list cannot be read.
    pub async fn trash(&self, of: &Principal) -> RoomResult<Vec<DocumentRecord>> {
        let since_ms = self.now_ms().saturating_sub(TRASH_MS);
        let mut found = self.store().trash(since_ms, MOST_LISTED).await?;
        found.retain(|record| of.may(Action::Manage, Some(&record.id)));
        Ok(found)
    }

    /// Makes a deleted document one of the others again. Its requests stay ended.
    ///
    /// # Errors
    /// [`RoomError::NoDocument`] if the document is not in the trash, [`RoomError::Store`] if this
    /// is not stored, [`RoomError::Closed`] while the server stops.
    pub async fn recover(&self, document: &DocumentId, by: &Principal) -> RoomResult<()> {
        let record = {
            // No one opens or purges it meanwhile.
            let loading_lock = self.0.loading_lock(document);
            let _passed = loading_lock.lock().await;
            // Nor does another server of several have it.
            self.0.claim(document).await?;
            let record = self.deleted(document).await?;
            if let Some(room) = self.opened(document) {
                room.recover(by.clone()).await?;
            } else {
                let now_ms = self.now_ms();
                let record =
                    DocumentRecord { deleted: false, updated_ms: now_ms, ..record.clone() };
                self.store().commit(noted("document.recover", record, by, now_ms)).await?;
            }
            record
        };
        let DocumentRecord { id, title, version, .. } = record;
        self.announce(&ServerEvent::Created { id: id.clone(), title, version });
        self.0.placement().tell(&PeerMessage::Created(id)).await;
        Ok(())
    }

    /// Removes a document from the trash, or all that the person may recover: they cannot be
    /// recovered any more. Their update logs stay in the database.
    ///
    /// # Errors
    /// [`RoomError::NoDocument`] if the document is not in the trash, [`RoomError::Store`] if this
    /// is not stored.
    pub async fn purge(&self, only: Option<&DocumentId>, by: &Principal) -> RoomResult<()> {
        let documents = match only {
            Some(document) => vec![document.clone()],
            None => self.trash(by).await?.into_iter().map(|record| record.id).collect(),
        };
        for document in documents {
            let loading_lock = self.0.loading_lock(&document);
            let _passed = loading_lock.lock().await;
            match self.0.claim(&document).await {
                // It stays in the trash.
                Err(RoomError::NotHere(_)) if only.is_none() => continue,
                claimed => claimed?,
            }
            let record = match self.deleted(&document).await {
                // Someone recovered it since it was listed.
                Err(RoomError::NoDocument) if only.is_none() => continue,
                found => DocumentRecord { purged: true, ..found? },
            };
            // No one reaches it any more.
            let roles = StoreOp::RemoveDocumentRoles(document.clone());
            let batch = noted("document.purge", record, by, self.now_ms());
            self.store().commit(batch.with(roles)).await?;
            self.0.placement().release(&document).await;
        }
        Ok(())
    }

    /// Returns the record of a document in the trash.
    async fn deleted(&self, document: &DocumentId) -> RoomResult<DocumentRecord> {
        let record = self.store().document(document).await?.ok_or(RoomError::NoDocument)?;
        let is_recoverable = record.deleted
            && !record.purged
            && record.unlisted_owner.is_none()
            && recoverable_until_ms(&record) >= self.now_ms();
        if is_recoverable { Ok(record) } else { Err(RoomError::NoDocument) }
    }
}

/// Returns the write of a record with its line in the audit log.
fn noted(action: &str, record: DocumentRecord, by: &Principal, now_ms: u64) -> WriteBatch {
    let line = AuditEntry::new(action, &by.user, json!({ "title": record.title }), now_ms);
    let line = AuditEntry { document: Some(record.id.clone()), ..line };
    WriteBatch::new().with(StoreOp::PutDocument(record)).with(StoreOp::Audit(line))
}
