//! Prepares a call before it is the call's turn: while the rights of the person who asked are
//! looked up, and before the answer that contains the call is stored, so that both are stored
//! together. Nothing is lost by it, because [`Tool::prepare`] changes nothing.
//!
//! [`Tool::prepare`]: crate::tools::Tool::prepare

use crate::tools::{
    PreparedCall, ToolCall, ToolContext, ToolEffect, ToolError, ToolRegistry, ToolScope,
};

/// Result of preparing a call early ([`ToolRegistry::work_out`]).
#[derive(Debug)]
pub struct EarlyPreparation(pub(crate) Result<PreparedCall, ToolError>);

impl ToolRegistry {
    /// Returns `true` if a call proposes a change of the conversation's own document.
    pub fn proposes_here(&self, call: &ToolCall) -> bool {
        call.input.is_object()
            && self.tool(&call.name).is_ok_and(|tool| {
                tool.effect == ToolEffect::Proposes
                    && tool.ground == ToolScope::Document
                    && (tool.target)(&call.input).is_none()
            })
    }

    /// Prepares a call for which [`ToolRegistry::proposes_here`] is `true`;
    /// [`ToolRegistry::call_with`] takes the result.
    pub async fn work_out(
        &self,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Option<EarlyPreparation> {
        let tool = self.tool(&call.name).ok()?;
        Some(EarlyPreparation(self.prepare(tool, context, &call.input).await))
    }
}
