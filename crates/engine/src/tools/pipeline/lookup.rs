//! Finds the tool of a call by its name. The error for an unknown name lists the available tools.

use crate::tools::dyn_tool::DynTool;
use crate::tools::{ToolContext, ToolEffect, ToolError, ToolRegistry, ToolResult, ToolScope};

impl ToolRegistry {
    /// Returns the tool with this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<&dyn DynTool> {
        self.tools.iter().map(AsRef::as_ref).find(|tool| tool.spec().name == name)
    }

    pub(crate) fn tool(&self, name: &str) -> ToolResult<&dyn DynTool> {
        self.find(name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool of a call. The error for an unknown name lists the tools of this
    /// conversation.
    pub(crate) fn called(&self, context: &ToolContext, name: &str) -> ToolResult<&dyn DynTool> {
        self.tool(name).map_err(|_| self.unknown_here(context, name))
    }

    /// Returns the error for a tool name that is not available in this conversation.
    pub(crate) fn unknown_here(&self, context: &ToolContext, name: &str) -> ToolError {
        let scope = match (&context.environment.workspace, &context.view.base) {
            (Some(_), _) => ToolScope::Workspace,
            (None, Some(_)) => ToolScope::Document,
            (None, None) => ToolScope::Conversation,
        };
        unknown(name, self.offered(scope))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let here = |tool: &&dyn DynTool| {
            (self.workspace().is_some() || tool.spec().scope != ToolScope::Workspace)
                && tool.spec().effect != ToolEffect::Plans
        };
        unknown(name, self.tools.iter().map(AsRef::as_ref).filter(here))
    }
}

fn unknown<'t>(name: &str, available: impl Iterator<Item = &'t dyn DynTool>) -> ToolError {
    let names: Vec<_> = available.map(|tool| tool.spec().name).collect();
    ToolError::Unknown { name: name.into(), available: names.join(", ") }
}
