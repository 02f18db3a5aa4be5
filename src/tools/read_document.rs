//! Read a part of the document as it is now: what was cut from a long one, or what people have changed since.

use schemars::JsonSchema;
use serde::Deserialize;

use super::span::Span;
use super::told::{fenced, note};
use super::{Answer, Context, Effect, Prepared, Tool, ToolError};

/// UTF-16 units of one answer.
const READ_LIMIT: usize = 50_000;

/// Read.
pub struct ReadDocument;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to read: a half-open range in UTF-16 code units of the newest version; without it, from the beginning.
    range: Option<Span>,
}

impl Tool for ReadDocument {
    const NAME: &'static str = "read_document";
    const DESCRIPTION: &'static str = "Read the document, or a range of it, as it is at this moment. Use it for the parts of a \
         long document that you were not shown. At most 50,000 units at once.";
    const WHEN: &'static str = "Use to see parts of a long document that you were not shown";
    const EFFECT: Effect = Effect::Safe;
    type Input = Input;

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        let shown = context.document()?;
        let now = context.room.read().await?;
        let len = now.text.len();
        let asked = input.range.unwrap_or(Span { start: 0, end: len }).within(&now.text)?;
        let mut end = asked.end.min(asked.start + READ_LIMIT);
        if !now.text.is_boundary(end) {
            end -= 1;
        }
        let words = now.text.slice(asked.start..end).unwrap_or_default();
        let block = fenced("document", &context.tag, now.version, &words);
        let mut told = format!("Units {} to {end} of {len} (data):\n{block}", asked.start);
        if end < asked.end {
            told.push_str(&format!("\nRead on from unit {end}."));
        }
        let shown = context.shown.as_ref().unwrap_or(shown);
        if shown.version != now.version {
            told = format!("{}\n\n{told}", note(shown, &now, None, &context.tag));
        }
        let text = format!("Read units {} to {end} of {len}.", asked.start);
        Ok(Prepared::Answer(Answer { text, note: Some(told), now: Some(now), said: None }))
    }
}
