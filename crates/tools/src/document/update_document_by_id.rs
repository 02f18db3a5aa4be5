//! Tool that replaces another document; the people of that document see the differences and decide.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_document::Text;

use super::reasons::ChangeReasons;
use super::text_changes;
use crate::{
    CallTarget, ProposeTool, Proposed, ReplacedText, Tool, ToolContext, ToolResult, ToolScope,
};

/// Tool `update_document_by_id`.
pub struct UpdateDocumentById;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["document_id", "new_content", "explanation"]))]
pub struct Input {
    /// Identifier of the document, as `list_documents` or the person gives it.
    #[expect(dead_code, reason = "read before the call is prepared, to find the room")]
    document_id: String,
    /// Complete new text of that document.
    new_content: String,
    /// One sentence for the people who decide: what changes, and why.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
    #[serde(default)]
    reasons: ChangeReasons,
}

impl Tool for UpdateDocumentById {
    const NAME: &'static str = "update_document_by_id";
    const TITLE: &'static str = Self::NAME;
    const DESCRIPTION: &'static str = "Replace the content of another document. Read it first with `read_document`; then give the \
         complete text, with everything that stays the same repeated word for word. The people of that document decide.";
    const WHEN: &'static str = "Use when another document than the current one is to be changed";
    const SCOPE: ToolScope = ToolScope::Conversation;
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::document_id(input)
    }
}

impl ProposeTool for UpdateDocumentById {
    const REPLACES: ReplacedText = ReplacedText::Document;

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let text = Text::new(&input.new_content);
        let proposal = text_changes::propose(base, text, None).await?;
        input.reasons.assign_to(base, proposal).await.map(Proposed::Change)
    }
}
