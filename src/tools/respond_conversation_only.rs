//! Answer without touching the document.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Context, Effect, Ground, Prepared, Tool, ToolError};

/// Just talk.
pub struct RespondConversationOnly;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to say to the person.
    response: String,
}

impl Tool for RespondConversationOnly {
    const NAME: &'static str = "respond_conversation_only";
    const DESCRIPTION: &'static str = "Respond without making any document changes. Use it for questions, explanations and \
         discussions. The person reads `response` as your answer.";
    const WHEN: &'static str = "Use for questions, discussions, no edits";
    const EFFECT: Effect = Effect::Safe;
    const GROUND: Ground = Ground::Conversation;
    type Input = Input;

    async fn prepare(_context: Context, input: Input) -> Result<Prepared, ToolError> {
        let text = "The person has read your response.".to_owned();
        let said = Some(input.response);
        Ok(Prepared::Answer(Answer { text, said, ..Answer::default() }))
    }
}
