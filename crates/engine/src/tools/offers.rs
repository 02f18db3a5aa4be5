//! Offers of tools to models and callers: definitions, effects and occasions.

use serde_json::Value;

use crate::llm::messages_api::ToolDefinition;

use super::dyn_tool::DynTool;
use super::{StreamedField, ToolContext, ToolEffect, ToolRegistry, ToolScope};

/// Tool as it is offered to outside callers ([`ToolRegistry::offers`]).
#[derive(Clone, Debug)]
pub struct ToolOffer {
    /// Name, description and schema.
    pub definition: ToolDefinition,
    /// Effect on the world.
    pub effect: ToolEffect,
    /// Kind of conversation that the tool needs.
    pub scope: ToolScope,
}

impl ToolRegistry {
    /// Returns the definitions of the tools for a kind of conversation outside of plan mode. The
    /// order is always the same, because the prompt cache depends on it.
    pub fn definitions(&self, scope: ToolScope) -> Vec<ToolDefinition> {
        self.offered(scope).map(|tool| tool.spec().definition()).collect()
    }

    /// Returns every tool that works on this server, for outside callers.
    pub fn offers(&self) -> Vec<ToolOffer> {
        self.offers_in(self.workspace.is_some())
    }

    /// Returns every tool that works where there is a workspace, or none.
    pub fn offers_in(&self, has_workspace: bool) -> Vec<ToolOffer> {
        // A plan belongs to a run, and an outside caller has none.
        let works = |tool: &&dyn DynTool| {
            (has_workspace || tool.spec().scope != ToolScope::Workspace)
                && tool.spec().effect != ToolEffect::Plans
        };
        let offer = |tool: &dyn DynTool| ToolOffer {
            definition: tool.spec().definition(),
            effect: tool.spec().effect,
            scope: tool.spec().scope,
        };
        self.tools.iter().map(AsRef::as_ref).filter(works).map(offer).collect()
    }

    /// Returns the effect of a tool; `None` if there is no tool of this name.
    pub fn effect(&self, tool: &str) -> Option<ToolEffect> {
        self.find(tool).map(|tool| tool.spec().effect)
    }

    /// Returns the tool that proposes a plan, for runs in plan mode: its definition, and its name
    /// and occasion for the prompt.
    pub fn planning(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let tool = self.tools.iter().find(|tool| tool.spec().effect == ToolEffect::Plans)?;
        Some((tool.spec().definition(), (tool.spec().name, tool.spec().when)))
    }

    /// Returns name and occasion of each tool in [`ToolRegistry::definitions`], for the prompt.
    pub fn occasions(&self, scope: ToolScope) -> Vec<(&'static str, &'static str)> {
        self.offered(scope).map(|tool| (tool.spec().name, tool.spec().when)).collect()
    }

    pub(super) fn offered(&self, scope: ToolScope) -> impl Iterator<Item = &dyn DynTool> {
        let tools = self
            .tools
            .iter()
            .map(AsRef::as_ref)
            .filter(|tool: &&dyn DynTool| tool.spec().effect != ToolEffect::Plans);
        tools.filter(move |tool| match scope {
            ToolScope::Document => tool.spec().scope != ToolScope::Workspace,
            ToolScope::Conversation => tool.spec().scope == ToolScope::Conversation,
            ToolScope::Workspace => tool.spec().scope != ToolScope::Document,
        })
    }

    /// Returns the field of a tool's input that people can watch while the model writes it.
    pub fn streamed_field(&self, tool: &str) -> Option<StreamedField> {
        self.find(tool)?.spec().streams
    }

    /// Returns the range that a call is about, if `input` already contains it.
    pub fn edited_range(
        &self,
        context: &ToolContext,
        tool: &str,
        input: &Value,
    ) -> Option<(usize, usize)> {
        let tool = self.find(tool)?;
        tool.edited_range(context, input)
    }
}
