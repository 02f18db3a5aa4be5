//! Creation of a document by an approved request. The document begins empty, and its first update
//! is the request's, so that its provenance is that of any accepted change.

use serde_json::json;

use copydesk_approvals::Person;
use copydesk_document::provenance::{PlacementOrigin, ServerAct, UpdatePlacements, WordPlacement};
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::{DocumentId, RequestId, RuleId, Version};
use copydesk_placement::PeerMessage;
use copydesk_store::{
    AuditEntry, DocumentRecord, StoreError, StoreOp, UpdateRecord, WriteBatch, text_hash,
};

use super::event::ServerEvent;
use super::{RoomError, RoomRegistry, RoomResult};
use crate::state::requests::writer;
use crate::state::text::check_length;

/// Document that an approved request creates; see [`RoomRegistry::create_from_request`].
#[derive(Clone, Debug)]
pub struct NewDocumentFromRequest {
    /// Identifier, which follows from the request's, so that the document is created once.
    pub id: DocumentId,
    /// Title, as it is stored.
    pub title: String,
    /// Text of the document.
    pub text: String,
    /// Request that creates the document.
    pub request: RequestId,
    /// Person for whom the AI wrote.
    pub requester: Person,
    /// Person who approved; `None` if no one was asked.
    pub approver: Option<Person>,
    /// Rule that decided in that person's place.
    pub rule: Option<RuleId>,
    /// `true` if a person put other words in place of the proposed ones.
    pub edited: bool,
}

impl RoomRegistry {
    /// Creates a document with its text in one transaction. If it was created before, it stays as
    /// it is.
    ///
    /// # Errors
    /// [`RoomError::Invalid`] if the text is too long, [`RoomError::Store`] if nothing could be
    /// stored.
    pub async fn create_from_request(
        &self,
        new_document: NewDocumentFromRequest,
    ) -> RoomResult<()> {
        let now_ms = self.now_ms();
        let text = Text::new(&new_document.text);
        check_length(text.len())?;
        let NewDocumentFromRequest { id, title, request, requester, approver, .. } = &new_document;
        let record = DocumentRecord::new(id.clone(), title.clone(), now_ms);
        let approver = approver.as_ref().map(|it| &it.user);
        let detail = json!({ "title": title, "approver": approver, "textHash": text_hash("") });
        let (document, about) = (Some(id.clone()), Some(request.clone()));
        let audit = AuditEntry::new("document.create", &requester.user, detail, now_ms);
        let mut batch = WriteBatch::new()
            .with(StoreOp::CreateDocument { record, text: String::new() })
            .with(StoreOp::Audit(AuditEntry { document, request: about, ..audit }));
        if !text.is_empty() {
            batch.extend(first_update(&new_document, &text, now_ms)?);
        }
        let version = Version(u64::from(!text.is_empty()));
        match self.store().commit(batch).await {
            Ok(()) => {
                let NewDocumentFromRequest { id, title, .. } = new_document;
                self.announce(&ServerEvent::Created { id: id.clone(), title, version });
                self.0.placement().tell(&PeerMessage::Created(id)).await;
                Ok(())
            }
            Err(StoreError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the update that inserts the text, and its provenance.
fn first_update(
    new_document: &NewDocumentFromRequest,
    text: &Text,
    at_ms: u64,
) -> Result<[StoreOp; 2], RoomError> {
    let NewDocumentFromRequest { id, request, requester, approver, rule, edited, .. } =
        new_document;
    let edit = TextEdit { from: 0, to: 0, insert: text.to_string() };
    let change =
        ChangeSet::of(0, &[edit]).map_err(|source| RoomError::BadUpdate { index: 0, source })?;
    let origin = if *edited { PlacementOrigin::Edited } else { PlacementOrigin::Proposed };
    let placements = UpdatePlacements {
        act: ServerAct::Accepted,
        requester: Some(requester.user.clone()),
        claimed_author: None,
        suggested: false,
        unasked: approver.is_none(),
        rule: rule.clone(),
        placed: vec![WordPlacement { from: 0, to: text.len(), hunk: None, origin }],
    };
    let update = UpdateRecord {
        client: writer(request),
        changes: change.to_json().into(),
        author: approver.as_ref().unwrap_or(requester).user.clone(),
        at_ms,
        origin: Some(request.as_str().into()),
    };
    let append =
        StoreOp::AppendUpdates { document: id.clone(), from: Version(0), updates: vec![update] };
    let placed = StoreOp::PutPlacements {
        document: id.clone(),
        version: Version(1),
        // Placements hold names and numbers: nothing that cannot be serialised.
        body: serde_json::to_value(placements).unwrap_or_default(),
    };
    Ok([append, placed])
}
