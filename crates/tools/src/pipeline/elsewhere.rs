//! Calls about which people are to be asked in a room that another server of several has. Nobody
//! was asked here: the room refused what would have changed something. The call is made where the
//! room is, and its result is reported here.

use tokio_util::sync::CancellationToken;

use crate::{
    FinishedCall, ToolCall, ToolContext, ToolEffect, ToolError, ToolRegistry, model_notes,
};
use copydesk_ids::DocumentId;
use copydesk_placement::NotHere;
use copydesk_rooms::{RoomError, WORKSPACE_INBOX};

/// Result of an attempt to make a call.
#[derive(Debug)]
pub enum CallAttempt {
    /// The call is over.
    Over(Box<FinishedCall>),
    /// The call is to be made on the server that has the room which asks people.
    Elsewhere(Box<CallElsewhere>),
}

/// Call that is to be made on another server.
#[derive(Debug)]
pub struct CallElsewhere {
    /// Document whose room asks people: the one that would change, or the workspace inbox.
    pub home: DocumentId,
    /// Context of the call in the room of the document that it is about, which only reads.
    pub context: ToolContext,
}

impl ToolRegistry {
    /// Runs a call through the approval step, as [`Self::attempt`]. A call that another server
    /// would have to make is refused.
    pub async fn call(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        match self.attempt(context, call, cancel).await {
            CallAttempt::Over(finished) => *finished,
            CallAttempt::Elsewhere(_) => {
                let words = "That is open on another server; ask there";
                let refused = model_notes::refused(context, &ToolError::Denied(words.into())).await;
                self.run_post_hooks(context, call, refused)
            }
        }
    }

    /// Returns the place of a call whose request was refused with `error` because another server
    /// has the room; `None` for any other error.
    pub(crate) fn elsewhere(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        error: &ToolError,
    ) -> Option<Box<CallElsewhere>> {
        let ToolError::Room(RoomError::NotHere(NotHere::OtherServer(_))) = error else {
            return None;
        };
        // A run in the workspace works on the server that has the workspace.
        let tool = self.find(&call.name).filter(|_| context.environment.workspace.is_none())?;
        let tool = tool.facts();
        let proposes = tool.effect == ToolEffect::Proposes && !tool.only_reads(&call.input);
        let home = if proposes { context.room.document().clone() } else { WORKSPACE_INBOX.into() };
        Some(Box::new(CallElsewhere { home, context: context.clone() }))
    }

    /// Completes the result of a call that another server has made. `context` is that of the
    /// conversation.
    pub async fn report_from_elsewhere(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        mut finished: FinishedCall,
    ) -> FinishedCall {
        let outcome = &finished.outcome;
        // A refusal says how the conversation's own document reads now.
        if outcome.is_error && outcome.of.is_empty() && !outcome.about.contains_key("request_id") {
            model_notes::refresh(context, &mut finished).await;
        }
        self.run_post_hooks(context, call, finished)
    }
}
