//! What a call would do is worked out before it is the call's turn: while the rights of who asked are looked up, and before
//! the answer that it is in is kept, so that both are kept together. Nothing is lost by it, for [`Tool::prepare`] changes nothing.
//!
//! [`Tool::prepare`]: crate::tools::Tool::prepare

use crate::tools::{
    PreparedCall, ToolCall, ToolContext, ToolEffect, ToolError, ToolRegistry, ToolScope,
};

/// What was worked out.
#[derive(Debug)]
pub struct EarlyPreparation(pub(crate) Result<PreparedCall, ToolError>);

impl ToolRegistry {
    /// Whether a call proposes a change of the conversation's own document.
    pub fn proposes_here(&self, call: &ToolCall) -> bool {
        call.input.is_object()
            && self.tool(&call.name).is_ok_and(|tool| {
                tool.effect == ToolEffect::Proposes
                    && tool.ground == ToolScope::Document
                    && (tool.target)(&call.input).is_none()
            })
    }

    /// What a call would do that [`ToolRegistry::proposes_here`]; [`ToolRegistry::call_with`] takes it from there.
    pub async fn work_out(
        &self,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Option<EarlyPreparation> {
        let tool = self.tool(&call.name).ok()?;
        Some(EarlyPreparation(self.prepare(tool, context, &call.input).await))
    }
}
