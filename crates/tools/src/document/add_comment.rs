//! Tool that writes a comment on a passage of the document, or on the whole of it.

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_document::{Text, utf16_len};
use copydesk_rooms::command::{CommentCommand, CommentInput, NewThread, PartOfAi};

use super::suggest_improvements::passage;
use super::text_changes::blocking;
use crate::{CommentTool, Tool, ToolAnswer, ToolContext, ToolError, ToolResult};

/// Tool `add_comment`.
pub struct AddComment;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Comment, in the language of the document: what you noticed, or what you ask its writers.
    comment: String,
    /// Exact passage of the document that the comment is about; missing: the whole document.
    quote: Option<String>,
    /// Occurrence of `quote`, counted from 1; only needed if there are several.
    occurrence: Option<usize>,
}

impl Tool for AddComment {
    const NAME: &'static str = "add_comment";
    const TITLE: &'static str = "Comment";
    const RULE_TITLE: &'static str = "Write a comment";
    const DESCRIPTION: &'static str = "Write a comment on a passage of the document, or on the whole of it. It changes no text: \
         people read it beside the text and answer it. At most 10 in one answer.";
    const WHEN: &'static str =
        "Use to remark on or ask about a passage without proposing other words for it";
    type Input = Input;
}

impl CommentTool for AddComment {
    async fn comment(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let Input { comment, quote, occurrence } = input;
        let now = context.read_now().await?;
        let range = match quote {
            None => None,
            Some(quote) => Some(quoted_range(now.text.clone(), quote, occurrence).await?),
        };
        let call = &context.call;
        let part_of_ai = PartOfAi::Wrote(call.run.clone(), call.request.clone());
        let new = NewThread {
            version: Some(now.version),
            passage: range,
            input: CommentInput { text: comment, mentions: Vec::new(), part_of_ai },
            ..NewThread::default()
        };
        let command = CommentCommand::Create(Box::new(new), call.requester.clone());
        context.room.comment(command).await?;
        Ok(ToolAnswer { text: "The comment was written.".into(), ..ToolAnswer::default() })
    }
}

/// Returns the range of the passage of a text that a comment quotes, in UTF-16 units.
///
/// # Errors
/// [`ToolError::Denied`] with the reason why there is none.
pub async fn quoted_range(
    text: Text,
    quote: String,
    occurrence: Option<usize>,
) -> ToolResult<(usize, usize)> {
    let found = blocking(move |_| {
        let text = text.to_string();
        let found = passage(&text, ("quote", &quote), occurrence)?;
        let from = utf16_len(&text[..found.range.start]);
        Ok((from, from + utf16_len(&text[found.range])))
    });
    found.await?.map_err(|why: String| ToolError::Denied(format!("Nothing was written: {why}")))
}
