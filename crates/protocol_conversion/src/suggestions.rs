//! Suggestions of people, on the wire.

use copydesk_approvals::Hunk;
use copydesk_protocol::suggestions::SuggestionAnswer;
use copydesk_rooms::command::SuggestionSnapshot;

use super::hunk::hunk;

/// Returns the answer to a suggestion.
pub fn suggestion_answer(stored: &SuggestionSnapshot) -> SuggestionAnswer {
    let SuggestionSnapshot { version, request } = stored;
    let open = |hunk: &&Hunk| hunk.status.is_open();
    let hunks = request
        .iter()
        .flat_map(|it| it.hunks.iter().filter(open).map(move |one| hunk(it.id(), one)));
    SuggestionAnswer {
        request_id: request.as_ref().map(|it| it.id().to_string()),
        revision: request.as_ref().and_then(|it| it.revision()).unwrap_or_default(),
        version: version.0,
        hunks: hunks.collect(),
        preview_hash: request.as_ref().map_or_else(String::new, |it| it.preview_hash()),
    }
}
