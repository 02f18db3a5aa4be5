//! Finds the tool of a call by its name. The error for an unknown name lists the available tools.

use crate::tools::registered_tool::RegisteredTool;
use crate::tools::{ToolContext, ToolEffect, ToolError, ToolRegistry, ToolScope};

impl ToolRegistry {
    pub(crate) fn tool(&self, name: &str) -> Result<&RegisteredTool, ToolError> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool of a call. The error for an unknown name lists the tools of this
    /// conversation.
    pub(crate) fn called(
        &self,
        context: &ToolContext,
        name: &str,
    ) -> Result<&RegisteredTool, ToolError> {
        self.tool(name).map_err(|_| self.unknown_here(context, name))
    }

    /// Returns the error for a tool name that is not available in this conversation.
    pub(crate) fn unknown_here(&self, context: &ToolContext, name: &str) -> ToolError {
        let ground = match (&context.workspace, &context.base) {
            (Some(_), _) => ToolScope::Workspace,
            (None, Some(_)) => ToolScope::Document,
            (None, None) => ToolScope::Conversation,
        };
        unknown(name, self.offered(ground))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let here = |tool: &&RegisteredTool| {
            (self.workspace().is_some() || tool.ground != ToolScope::Workspace)
                && tool.effect != ToolEffect::Plans
        };
        unknown(name, self.tools.iter().filter(here))
    }
}

fn unknown<'t>(name: &str, available: impl Iterator<Item = &'t RegisteredTool>) -> ToolError {
    let names: Vec<_> = available.map(|tool| tool.name).collect();
    ToolError::Unknown { name: name.into(), available: names.join(", ") }
}
