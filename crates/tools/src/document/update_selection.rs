//! Tool that replaces a range of the document, normally the person's selection.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_document::Text;

use super::reasons::ChangeReasons;
use super::text_changes::{self, ReplacedRange};
use crate::text_range::TextRange;
use crate::{
    ProgramOffer, ProposeTool, Proposed, StreamedField, Tool, ToolContext, ToolError, ToolResult,
};

/// Tool `update_selection`.
pub struct UpdateSelection;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["new_text", "selection_range", "explanation"]))]
pub struct Input {
    /// Text that replaces the range.
    new_text: String,
    /// Range to replace, in UTF-16 code units of the document as shown; an empty range inserts.
    selection_range: TextRange,
    /// One sentence for the people who decide: what changes, and why.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
    #[serde(default)]
    reasons: ChangeReasons,
}

impl Tool for UpdateSelection {
    const NAME: &'static str = "update_selection";
    const TITLE: &'static str = "Rewrite of a selection";
    const DESCRIPTION: &'static str = "Replace only the selected text with new content. `selection_range` is the range given with the \
         selected text; if nothing is selected, the range of the words that the request is about.";
    const WHEN: &'static str = "Use when request targets selected text only";
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        description: Some(
            "Replace a range of the document, given in UTF-16 code units of the version you read.",
        ),
        ..ProgramOffer::new(Self::NAME, "Rewrite a range")
    });
    type Input = Input;
}

impl ProposeTool for UpdateSelection {
    const STREAMS: Option<StreamedField> = Some(StreamedField::Range("new_text"));

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let TextRange { start, end } = input.selection_range;
        // The hook has checked the range; if the hook is missing, that must not cause a panic.
        let denied = |_| ToolError::Denied("Invalid selection range".into());
        let old = base.text.slice(start..end).map_err(denied)?;
        let before = base.text.slice(0..start).map_err(denied)?;
        let after = base.text.slice(end..base.text.len()).map_err(denied)?;
        let new = Text::new(&input.new_text).to_string();
        let text = Text::new(&[before.as_str(), &new, &after].concat());
        let range = ReplacedRange { start, old, new };
        let proposal = text_changes::propose(base, text, Some(range)).await?;
        input.reasons.assign_to(base, proposal).await.map(Proposed::Change)
    }

    fn edited_range(_: &ToolContext, input: &Value) -> Option<(usize, usize)> {
        let TextRange { start, end } =
            TextRange::deserialize(input.get("selection_range")?).ok()?;
        Some((start, end))
    }
}
