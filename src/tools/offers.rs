//! Offers of tools to models and callers: definitions, effects and occasions.

use serde_json::Value;

use crate::llm::messages_api::ToolDefinition;

use super::registered_tool::RegisteredTool;
use super::{StreamedField, ToolContext, ToolEffect, ToolRegistry, ToolScope};

/// Tool as it is offered to outside callers ([`ToolRegistry::offers`]).
#[derive(Clone, Debug)]
pub struct ToolOffer {
    /// Name, description and schema.
    pub definition: ToolDefinition,
    /// Effect on the world.
    pub effect: ToolEffect,
    /// Kind of conversation that the tool needs.
    pub ground: ToolScope,
}

impl ToolRegistry {
    /// Returns the definitions of the tools for a kind of conversation outside of plan mode. The
    /// order is always the same, because the prompt cache depends on it.
    pub fn definitions(&self, ground: ToolScope) -> Vec<ToolDefinition> {
        self.offered(ground).map(RegisteredTool::definition).collect()
    }

    /// Returns every tool that works on this server, for outside callers.
    pub fn offers(&self) -> Vec<ToolOffer> {
        // A plan belongs to a run, and an outside caller has none.
        let works = |tool: &&RegisteredTool| {
            (self.workspace.is_some() || tool.ground != ToolScope::Workspace)
                && tool.effect != ToolEffect::Plans
        };
        let offer = |tool: &RegisteredTool| ToolOffer {
            definition: tool.definition(),
            effect: tool.effect,
            ground: tool.ground,
        };
        self.tools.iter().filter(works).map(offer).collect()
    }

    /// Returns the effect of a tool; `None` if there is no tool of this name.
    pub fn effect(&self, tool: &str) -> Option<ToolEffect> {
        self.tools.iter().find(|known| known.name == tool).map(|tool| tool.effect)
    }

    /// Returns the tool that proposes a plan, for runs in plan mode: its definition, and its name
    /// and occasion for the prompt.
    pub fn planning(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let tool = self.tools.iter().find(|tool| tool.effect == ToolEffect::Plans)?;
        Some((tool.definition(), (tool.name, tool.when)))
    }

    /// Returns name and occasion of each tool in [`ToolRegistry::definitions`], for the prompt.
    pub fn occasions(&self, ground: ToolScope) -> Vec<(&'static str, &'static str)> {
        self.offered(ground).map(|tool| (tool.name, tool.when)).collect()
    }

    pub(super) fn offered(&self, ground: ToolScope) -> impl Iterator<Item = &RegisteredTool> {
        let tools = self.tools.iter().filter(|tool| tool.effect != ToolEffect::Plans);
        tools.filter(move |tool| match ground {
            ToolScope::Document => tool.ground != ToolScope::Workspace,
            ToolScope::Conversation => tool.ground == ToolScope::Conversation,
            ToolScope::Workspace => tool.ground != ToolScope::Document,
        })
    }

    /// Returns the field of a tool's input that people can watch while the model writes it.
    pub fn writes(&self, tool: &str) -> Option<StreamedField> {
        self.tools.iter().find(|known| known.name == tool)?.writes
    }

    /// Returns the range that a call is about, if `input` already contains it.
    pub fn scope(
        &self,
        context: &ToolContext,
        tool: &str,
        input: &Value,
    ) -> Option<(usize, usize)> {
        let tool = self.tools.iter().find(|known| known.name == tool)?;
        (tool.scope)(context, input)
    }
}
