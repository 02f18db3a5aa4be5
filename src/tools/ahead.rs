//! What a call would do is worked out before it is the call's turn: while the rights of who asked are looked up, and before
//! the answer that it is in is kept, so that both are kept together. Nothing is lost by it, for [`Tool::prepare`] changes nothing.
//!
//! [`Tool::prepare`]: super::Tool::prepare

use super::{Call, Context, Effect, Ground, Prepared, Registry, ToolError};

/// What was worked out.
#[derive(Debug)]
pub struct Ahead(pub(super) Result<Prepared, ToolError>);

impl Registry {
    /// Whether a call proposes a change of the conversation's own document.
    pub fn proposes_here(&self, call: &Call) -> bool {
        call.input.is_object()
            && self.tool(&call.name).is_ok_and(|tool| {
                tool.effect == Effect::Proposes
                    && tool.ground == Ground::Document
                    && (tool.target)(&call.input).is_none()
            })
    }

    /// What a call would do that [`Registry::proposes_here`]; [`Registry::call_with`] takes it from there.
    pub async fn work_out(&self, context: &Context, call: &Call) -> Option<Ahead> {
        let tool = self.tool(&call.name).ok()?;
        Some(Ahead(self.prepare(tool, context, &call.input).await))
    }
}
