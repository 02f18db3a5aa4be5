//! Values that a tool and the approval step exchange: a prepared call, its decision, its outcome.

use serde_json::Value;

use copydesk_approvals::{HunkDraft, Preview, RequestResolution};
use copydesk_document::Text;
use copydesk_ids::DocumentId;
use copydesk_rooms::command::DocumentSnapshot;

use super::{RewrittenRange, ToolOutcome, UnreadRanges};

/// Answer of a call that changes nothing.
#[derive(Clone, Debug, Default)]
pub struct ToolAnswer {
    /// Result text for the model and for people.
    pub text: String,
    /// Additional text for the model only.
    pub note: Option<String>,
    /// Other documents whose words or titles are in the note.
    pub of: Vec<DocumentId>,
    /// Document, if the model knows how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// Ranges of `now` that the model has not read.
    pub unread: UnreadRanges,
    /// Answer to the person.
    pub response: Option<String>,
}

/// Prepared action outside of documents.
#[derive(Debug)]
pub struct ActionPreview {
    /// Preview that people are shown.
    pub preview: Preview,
    /// Stamp of the file that the action would change, if it changes one.
    pub touched: Option<String>,
}

/// Prepared change of the document ([`Proposed::Change`](super::Proposed::Change)).
#[derive(Debug)]
pub struct DocumentProposal {
    /// Changes, in positions of the base version.
    pub hunks: Vec<HunkDraft>,
    /// Text of the document with all changes.
    pub text: Text,
    /// Preview that people are shown besides the hunks.
    pub preview: Preview,
    /// Text for the model if people accept everything unchanged; `None`: the report of the review.
    pub success_text: Option<String>,
    /// Sentence for the model about how its input was understood.
    pub note: Option<String>,
    /// The model's reasons that belong to none of the changes, one line each, for the explanation.
    pub unplaced_reasons: Vec<String>,
}

/// Decision about a [`DocumentProposal`], and the document after it.
#[derive(Debug)]
pub struct ProposalResult {
    /// Resolution of the request.
    pub resolution: RequestResolution,
    /// `true` if anything of the proposal is in the text.
    pub applied: bool,
    /// `true` if all of the proposal is in the text, in its own words.
    pub as_proposed: bool,
    /// Document after the decision.
    pub now: DocumentSnapshot,
    /// For a change of a range: its original position, and its present text if any was applied.
    pub range: Option<RewrittenRange>,
    /// The model's own explanation of the change.
    pub explanation: Option<String>,
    /// Text of the document if the proposal had been accepted unchanged; not known after a restart.
    pub proposed: Option<Text>,
    /// Sentence for the model about how its input was understood; not known after a restart.
    pub note: Option<String>,
}

/// Call that is over, with its [`ToolOutcome`].
#[derive(Debug, Default)]
pub struct FinishedCall {
    /// Outcome of the call.
    pub outcome: ToolOutcome,
    /// Document, if the model knows how it reads now.
    pub now: Option<DocumentSnapshot>,
    /// Another document, if the model knows how it reads now.
    pub read: Option<(DocumentId, DocumentSnapshot)>,
    /// Ranges of `now` or of the document in `read` that the model has not read.
    pub unread: UnreadRanges,
    /// Line for the audit log.
    pub audit: Option<ActivityLine>,
}

/// Line for the audit log, stored in one transaction with the result.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityLine {
    /// Name of the action, as `noun.verb`.
    pub action: &'static str,
    /// All other fields of the line.
    pub detail: Value,
}

impl From<ToolAnswer> for FinishedCall {
    fn from(ToolAnswer { text, note, of, now, unread, response }: ToolAnswer) -> Self {
        let mut outcome = ToolOutcome { text, note, of, said: response, ..ToolOutcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now, unread, ..Self::default() }
    }
}
