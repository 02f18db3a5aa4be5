//! Facts about a tool, for every other part of the server.

use serde::Deserialize as _;
use serde_json::Value;

use copydesk_llm::messages_api::ToolDefinition;

use super::schema::{expected, schema};
use super::{
    CallTarget, ProgramOffer, ReplacedText, StreamedField, Tool, ToolContext, ToolEffect,
    ToolError, ToolResult, ToolScope, WordsRead, lenient_input,
};

/// Facts about a tool: the constants of [`Tool`] and of the trait for its effect, and the schema.
#[derive(Debug)]
pub struct ToolFacts {
    /// See [`Tool::NAME`].
    pub name: &'static str,
    /// See [`Tool::TITLE`].
    pub title: &'static str,
    /// See [`Tool::RULE_TITLE`].
    pub rule_title: &'static str,
    /// See [`Tool::DESCRIPTION`].
    pub description: &'static str,
    /// See [`Tool::WHEN`].
    pub when: &'static str,
    /// Effect on the world.
    pub effect: ToolEffect,
    /// See [`Tool::SCOPE`].
    pub scope: ToolScope,
    /// See [`ReadTool::READS`](super::ReadTool::READS).
    pub reads: WordsRead,
    /// See [`FileTool::REPEATS`](super::FileTool::REPEATS).
    pub repeats: Option<&'static str>,
    /// See [`Tool::PROGRAM`].
    pub program: Option<ProgramOffer>,
    /// JSON schema of the input.
    pub schema: Value,
    pub(super) input: InputFacts,
}

#[derive(Debug)]
pub(super) struct InputFacts {
    pub(super) replaces: ReplacedText,
    pub(super) streams: Option<StreamedField>,
    pub(super) substitutes: bool,
    pub(super) check: fn(&ToolFacts, &Value) -> ToolResult<()>,
    pub(super) target: fn(&Value) -> CallTarget,
    pub(super) only_reads: fn(&Value) -> bool,
    pub(super) edited_range: fn(&ToolContext, &Value) -> Option<(usize, usize)>,
    pub(super) not_found_message: fn(&ToolContext, &Value) -> Option<String>,
}

impl ToolFacts {
    pub(super) fn of<T: Tool>(effect: ToolEffect) -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            rule_title: T::RULE_TITLE,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect,
            scope: T::SCOPE,
            reads: WordsRead::Nothing,
            repeats: None,
            program: T::PROGRAM,
            schema: schema::<T::Input>(),
            input: InputFacts {
                replaces: ReplacedText::Range,
                streams: None,
                substitutes: false,
                check: |facts, input| parse::<T>(facts, input).map(drop),
                target: T::target,
                only_reads: |_| false,
                edited_range: |_, _| None,
                not_found_message: T::not_found_message,
            },
        }
    }

    /// Returns the definition for the model.
    pub fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name.into(),
            description: self.description.into(),
            input_schema: self.schema.clone(),
            strict: None,
            alias: self.program.map(|program| program.name.to_owned()),
        }
    }

    pub(crate) fn shaped(&self, input: &Value) -> Value {
        lenient_input::shaped(&self.schema, input)
    }

    pub(crate) fn check(&self, input: &Value) -> ToolResult<()> {
        (self.input.check)(self, input)
    }

    pub(crate) fn target(&self, input: &Value) -> CallTarget {
        (self.input.target)(input)
    }

    /// Returns `true` if a call with this input needs no approval because it only reads documents.
    pub(crate) fn only_reads(&self, input: &Value) -> bool {
        self.effect == ToolEffect::OnlyAnswers || (self.input.only_reads)(input)
    }

    pub(crate) fn edited_range(
        &self,
        context: &ToolContext,
        input: &Value,
    ) -> Option<(usize, usize)> {
        (self.input.edited_range)(context, &self.shaped(input))
    }

    pub(crate) fn not_found_message(&self, context: &ToolContext, input: &Value) -> Option<String> {
        (self.input.not_found_message)(context, input)
    }
}

pub(super) fn parse<T: Tool>(facts: &ToolFacts, input: &Value) -> ToolResult<T::Input> {
    T::Input::deserialize(facts.shaped(input)).map_err(|error| ToolError::Input {
        tool: facts.name,
        reason: error.to_string(),
        expected: expected(&facts.schema),
    })
}
