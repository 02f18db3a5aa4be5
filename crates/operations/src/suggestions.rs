//! Suggestions of people.

use copydesk_api::{ApiResult, Caller};
use copydesk_ids::Version;
use copydesk_ids::permissions::Action::Suggest;
use copydesk_operation_table::{BodyKind, OnDocument, Operation, operation};
use copydesk_protocol::suggestions::{SuggestionAnswer, UpdateSuggestion};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::SuggestionUpdate;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Suggest changes of a document, in place of your open ones", OnDocument(Suggest), update).event("suggestion:update").put("/documents/{id=documentId}/suggestion", "updateSuggestion").body(BodyKind::Text),
    ]
}

async fn update(
    caller: Caller,
    room: RoomHandle,
    input: UpdateSuggestion,
) -> ApiResult<SuggestionAnswer> {
    let UpdateSuggestion { document_id: _, version, revision, changes } = input;
    let changes = changes.to_string().into();
    let (version, by) = (Version(version), caller.principal);
    let update = SuggestionUpdate { version, revision, changes, base: None, by };
    let stored = room.suggest(update).await?;
    Ok(wire::suggestion_answer(&stored))
}
