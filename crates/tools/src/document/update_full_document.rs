//! Tool that replaces the whole document; people see the differences.

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_document::Text;

use super::reasons::ChangeReasons;
use super::text_changes;
use crate::{
    ProgramOffer, ProposeTool, Proposed, ReplacedText, StreamedField, Tool, ToolContext, ToolResult,
};

/// Tool `update_full_document`.
pub struct UpdateFullDocument;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["new_content", "explanation"]))]
pub struct Input {
    /// Complete new text of the document.
    new_content: String,
    /// One sentence for the people who decide: what changes, and why.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
    #[serde(default)]
    reasons: ChangeReasons,
}

impl Tool for UpdateFullDocument {
    const NAME: &'static str = "update_full_document";
    const TITLE: &'static str = "Rewrite";
    const DESCRIPTION: &'static str = "Replace the entire document with new content. Give the complete text, with everything that \
         stays the same repeated word for word; people then review each difference on its own. At most 100,000 characters.";
    const WHEN: &'static str = "Use when request requires replacing entire document";
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer::new(Self::NAME, "Rewrite a document"));
    type Input = Input;
}

impl ProposeTool for UpdateFullDocument {
    const REPLACES: ReplacedText = ReplacedText::Document;
    const STREAMS: Option<StreamedField> = Some(StreamedField::Document("new_content"));

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let text = Text::new(&input.new_content);
        let range = text_changes::confined(&base.text, &text, context.view.editable);
        let proposal = text_changes::propose(base, text, range).await?;
        input.reasons.assign_to(base, proposal).await.map(Proposed::Change)
    }
}
