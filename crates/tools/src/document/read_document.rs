//! Tool that reads a part of a document as it is now: the rest of a long document, or the changes
//! that people have made since.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::model_notes::{fenced, read};
use crate::text_range::TextRange;
use crate::{
    CallTarget, ProgramOffer, ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope,
    WordsRead,
};

/// Maximum length of one answer, in UTF-16 units.
const READ_LIMIT: usize = 50_000;

/// Tool `read_document`.
pub struct ReadDocument;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Identifier of another document, as `list_documents` or the person gives it; missing: the
    /// current document.
    #[expect(dead_code, reason = "read before the call is prepared, to find the room")]
    document_id: Option<String>,
    /// Range to read: half-open, in UTF-16 code units of the newest version; missing: from the
    /// beginning.
    range: Option<TextRange>,
}

impl Tool for ReadDocument {
    const NAME: &'static str = "read_document";
    const TITLE: &'static str = Self::NAME;
    const DESCRIPTION: &'static str = "Read the current document or another one, or a range of it, as it is at this moment. Use it for \
         the parts of a long document that you were not shown. At most 50,000 units at once.";
    const WHEN: &'static str =
        "Use to see parts of a long document that you were not shown, or another document";
    const SCOPE: ToolScope = ToolScope::Conversation;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        description: Some(
            "Read a document, or a range of it, as it is at this moment. At most 50,000 units at once.",
        ),
        required: &[("document_id", "The document, as `list_documents` names it.")],
        ..ProgramOffer::new(Self::NAME, "Read a document")
    });
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::document_id(input)
    }
}

impl ReadTool for ReadDocument {
    const READS: WordsRead = WordsRead::OfDocument;

    async fn read(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let now = context.read_now().await?;
        let len = now.text.len();
        let asked = input.range.unwrap_or(TextRange { start: 0, end: len }).within(&now.text)?;
        let mut end = asked.end.min(asked.start + READ_LIMIT);
        if !now.text.is_boundary(end) {
            end -= 1;
        }
        let words = now.text.slice(asked.start..end).unwrap_or_default();
        let block = fenced("document", &context.environment.tag, now.version, &words);
        let more =
            if end < asked.end { format!("\nRead on from unit {end}.") } else { String::new() };
        let mut note = format!("Units {} to {end} of {len} (data):\n{block}{more}", asked.start);
        let (news, unread) = read(&context, &now, (asked.start, end));
        if let Some(news) = news {
            note = format!("{news}\n\n{note}");
        }
        let text = format!("Read units {} to {end} of {len}.", asked.start);
        Ok(ToolAnswer { text, note: Some(note), now: Some(now), unread, ..ToolAnswer::default() })
    }
}
