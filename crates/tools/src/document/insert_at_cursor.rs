//! Tool that inserts words at the person's caret, or at a position that the model names.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_document::Text;

use super::text_changes::{self, ReplacedRange};
use crate::{
    ProgramOffer, ProposeTool, Proposed, ReplacedText, StreamedField, Tool, ToolContext, ToolError,
    ToolResult,
};

/// Tool `insert_at_cursor`.
pub struct InsertAtCursor;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["new_text", "explanation"]))]
pub struct Input {
    /// Text to insert.
    new_text: String,
    /// Position, in UTF-16 code units of the document as shown; missing: the person's caret (after
    /// their selection).
    position: Option<usize>,
    /// One sentence for the people who decide: what is added, and why.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
}

impl Tool for InsertAtCursor {
    const NAME: &'static str = "insert_at_cursor";
    const TITLE: &'static str = "Insertion";
    const DESCRIPTION: &'static str = "Insert new text at the person's cursor, without changing any existing words. Give \
         `position` to insert at another place. Include the spaces or line breaks that belong around the new text.";
    const WHEN: &'static str =
        "Use to add text at the cursor or at one place, changing nothing else";
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        // An outside caller has no cursor.
        description: Some(
            "Insert new text at a position, without changing any existing words. Include the spaces or line breaks that \
             belong around it.",
        ),
        required: &[("position", "Where, in UTF-16 code units of the version you read.")],
        ..ProgramOffer::new(Self::NAME, "Insert text")
    });
    type Input = Input;
}

impl ProposeTool for InsertAtCursor {
    const REPLACES: ReplacedText = ReplacedText::Nothing;
    const STREAMS: Option<StreamedField> = Some(StreamedField::Range("new_text"));

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let at = place(&context, input.position).ok_or_else(|| {
            ToolError::Denied("The person's cursor is not known; give `position`".into())
        })?;
        let denied = |_| ToolError::Denied("Invalid position".into());
        let before = base.text.slice(0..at).map_err(denied)?;
        let after = base.text.slice(at..base.text.len()).map_err(denied)?;
        let new = Text::new(&input.new_text).to_string();
        let text = Text::new(&[before.as_str(), &new, &after].concat());
        let range = ReplacedRange { start: at, old: String::new(), new };
        text_changes::propose(base, text, Some(range)).await.map(Proposed::Change)
    }

    fn edited_range(context: &ToolContext, input: &Value) -> Option<(usize, usize)> {
        let named = match input.get("position") {
            None | Some(Value::Null) => None,
            Some(position) => Some(usize::try_from(position.as_u64()?).ok()?),
        };
        place(context, named).map(|at| (at, at))
    }
}

fn place(context: &ToolContext, named: Option<usize>) -> Option<usize> {
    named.or_else(|| context.view.selection.map(|(_, end)| end))
}
