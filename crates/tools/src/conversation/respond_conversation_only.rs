//! Tool that answers the person without changing the document.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope, WordsRead};

/// Tool `respond_conversation_only`: answers the person in words.
pub struct RespondConversationOnly;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Answer for the person.
    response: String,
}

impl Tool for RespondConversationOnly {
    const NAME: &'static str = "respond_conversation_only";
    const TITLE: &'static str = "Answer";
    const DESCRIPTION: &'static str = "Respond without making any document changes. Use it for questions, explanations and \
         discussions. The person reads `response` as your answer.";
    const WHEN: &'static str = "Use for questions, discussions, no edits";
    const SCOPE: ToolScope = ToolScope::Conversation;
    type Input = Input;
}

impl ReadTool for RespondConversationOnly {
    const READS: WordsRead = WordsRead::Nothing;

    async fn read(&self, _context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let text = "The person has read your response.".to_owned();
        let response = Some(input.response);
        Ok(ToolAnswer { text, response, ..ToolAnswer::default() })
    }
}
