//! Calls about which people are to be asked in a room of another server. No one was asked here: the
//! room refused what would have changed something. The call is made where the room is, and its
//! result is reported here.

use tokio_util::sync::CancellationToken;

use crate::{
    FinishedCall, ToolCall, ToolContext, ToolEffect, ToolError, ToolRegistry, model_notes,
};
use copydesk_ids::DocumentId;
use copydesk_placement::NotHere;
use copydesk_rooms::{RoomError, WORKSPACE_INBOX};

/// Result of an attempt to make a call.
pub type CallAttempt = Result<FinishedCall, Box<OtherServerCall>>;

/// Call that is to be made on the server that has the room which asks people.
#[derive(Debug)]
pub struct OtherServerCall {
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
        if let Ok(finished) = self.attempt(context, call, cancel).await {
            return finished;
        }
        let words = "That is open on another server; ask there";
        let refused = model_notes::refused(context, &ToolError::Denied(words.into())).await;
        self.run_post_hooks(context, call, refused)
    }

    /// Fails if the request of a call was refused with `error` because another server has the room.
    pub(crate) fn check_here(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        error: &ToolError,
    ) -> Result<(), Box<OtherServerCall>> {
        let ToolError::Room(RoomError::NotHere(NotHere::OtherServer(_))) = error else {
            return Ok(());
        };
        // A run in the workspace works on the server that has the workspace.
        let tool = self.find(&call.name).filter(|_| context.environment.workspace.is_none());
        let Some(tool) = tool else { return Ok(()) };
        let tool = tool.facts();
        let proposes = tool.effect == ToolEffect::Proposes && !tool.only_reads(&call.input);
        let home = if proposes { context.room.document().clone() } else { WORKSPACE_INBOX.into() };
        Err(Box::new(OtherServerCall { home, context: context.clone() }))
    }

    /// Completes the result of a call that another server has made. `context` is that of the
    /// conversation.
    pub async fn report_from_other_server(
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
