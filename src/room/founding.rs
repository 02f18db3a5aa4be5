//! A document that an approved request makes: it begins empty, and its first update is the request's, so that who wrote it
//! is told like of any accepted change.

use serde_json::json;

use crate::document::provenance::{Act, Origin, Placement, Placements};
use crate::document::{ChangeSet, Edit, Text};
use crate::ids::{DocumentId, RequestId, Version};
use crate::review::Person;
use crate::store::{AuditEntry, Batch, DocumentRecord, Op, StoreError, UpdateRecord};

use super::event::Announcement;
use super::requests::writer;
use super::writing::check_length;
use super::{RoomError, Rooms};

/// A document that an approved request makes.
#[derive(Clone, Debug)]
pub struct Founding {
    /// Its name, which follows from the request's: so it is made once.
    pub id: DocumentId,
    /// Its title, as it is kept.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The request.
    pub request: RequestId,
    /// Whom the AI wrote for.
    pub requester: Person,
    /// Who let it in; nobody where nobody was asked.
    pub approver: Option<Person>,
    /// Whether a person put other words in place of the proposed ones.
    pub edited: bool,
}

impl Rooms {
    /// Makes the document, in one transaction; one that was made before stays as it is.
    ///
    /// # Errors
    /// [`RoomError::Invalid`] if the text is too long, [`RoomError::Store`] if nothing could be kept.
    pub async fn found(&self, founding: Founding) -> Result<(), RoomError> {
        let Founding { id, title, text, request, requester, approver, edited } = founding;
        let now_ms = self.now_ms();
        let text = Text::new(&text);
        check_length(text.len())?;
        let record = DocumentRecord {
            id: id.clone(),
            title: title.clone(),
            created_ms: now_ms,
            updated_ms: now_ms,
            version: Version(0),
            settings: json!({}),
            unlisted_owner: None,
            deleted: false,
        };
        let mut batch = Batch::new().with(Op::CreateDocument { record, text: String::new() }).with(
            Op::Audit(AuditEntry {
                at_ms: now_ms,
                actor: requester.user.to_string(),
                action: "document.create".to_owned(),
                document: Some(id.clone()),
                request: Some(request.clone()),
                detail: json!({ "title": title, "approver": approver.as_ref().map(|it| &it.user) }),
            }),
        );
        if text.len() > 0 {
            let edit = Edit { from: 0, to: 0, insert: text.to_string() };
            let change = ChangeSet::of(0, &[edit])
                .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
            let author = approver.as_ref().unwrap_or(&requester).user.clone();
            let origin = if edited { Origin::Edited } else { Origin::Proposed };
            let placements = Placements {
                act: Act::Accepted,
                requester: Some(requester.user),
                unasked: approver.is_none(),
                placed: vec![Placement { from: 0, to: text.len(), hunk: None, origin }],
            };
            batch.push(Op::AppendUpdates {
                document: id.clone(),
                from: Version(0),
                updates: vec![UpdateRecord {
                    client: writer(&request),
                    changes: change.to_json().into(),
                    author,
                    at_ms: now_ms,
                    origin: Some(request.as_str().into()),
                }],
            });
            batch.push(Op::PutPlacements {
                document: id.clone(),
                version: Version(1),
                // Names and numbers: nothing that cannot be written.
                body: serde_json::to_value(placements).unwrap_or_default(),
            });
        }
        let version = Version(u64::from(text.len() > 0));
        match self.store().commit(batch).await {
            Ok(()) => {
                self.announce(&Announcement::Created { id, title, version });
                Ok(())
            }
            Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(RoomError::store(error)),
        }
    }
}
