//! Calls of one answer of the model: each is made once, and its result is shown and remembered.

use crate::conversation::agent_objects;
use std::sync::Arc;

use copydesk_ids::RequestId;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::event::StreamingPreviewScope;
use copydesk_tools::{FinishedCall, ToolCall, ToolContext, UnreadRanges};

use super::super::state_machine::RunInput;
use super::{RunExecutor, RunResult};
use crate::call_maker::RunCall;

impl RunExecutor<'_> {
    /// Makes a call of the model's answer, and shows its result.
    pub(crate) async fn run_tool(&mut self, index: usize, call: &ToolCall) -> RunResult<RunInput> {
        self.run_events.room = self.shared.room(self.run).await?;
        // A turn stores the ids of its requests with its calls, so there is one for each.
        let request = self.run.calls.get(index).cloned().unwrap_or_else(RequestId::generate);
        let context = self.context(request.clone(), self.shared.rooms.workspace_inbox().await?);
        let finished = self.make_call(context, call).await?;
        // If the call made no request, its preview is removed; if it did, the request has replaced
        // the preview.
        self.run_events.room.end_previews(StreamingPreviewScope::One(request.clone())).await;
        if let Some(now) = finished.now {
            self.update_known_document(now, finished.unread.clone()).await;
        }
        if let Some((document, reading)) = finished.read {
            if self.run.ask.outside().is_some() {
                self.run.other_document = Some((document.clone(), reading.version));
            }
            Arc::make_mut(&mut self.other_documents).insert(document, (reading, finished.unread));
        }
        if self.run.ask.outside().is_some() {
            self.run.read_version =
                self.known.snapshot.as_ref().map(|model_document| model_document.version);
        }
        self.turn.audit.extend(finished.audit.map(|line| (request, line)));
        self.run_events.show(agent_objects::tool_result(&finished.outcome)).await;
        self.turn.shown_outcomes += 1;
        Ok(RunInput::Ran(finished.outcome))
    }

    /// Makes a call, unless it was made before a restart; waits for its result.
    async fn make_call(
        &mut self,
        mut context: ToolContext,
        call: &ToolCall,
    ) -> RunResult<FinishedCall> {
        let maker = &self.shared.call_maker;
        let agents = self.shared;
        let mut made = None;
        if self.turn.after_restart {
            let (ask, cancel) = (&self.run.ask, &self.cancel);
            made = maker.resume(RunCall { agents, ask, context: &context, call, cancel }).await?;
        }
        let made = if let Some(made) = made {
            made
        } else {
            self.check_asker().await?;
            context.call.requester = self.asker.clone();
            let (ask, cancel) = (&self.run.ask, &self.cancel);
            maker.make(RunCall { agents, ask, context: &context, call, cancel }).await?
        };
        self.turn.with_results.extend(made.with_result);
        Ok(made.finished)
    }

    /// Updates the document that the model knows, after it was notified; the selection moves with
    /// its words.
    async fn update_known_document(&mut self, now: DocumentSnapshot, unread: UnreadRanges) {
        if let Some(before) = &self.known.snapshot {
            self.known.selection =
                self.moved(self.known.selection, before.version, now.version).await;
        }
        self.known.snapshot = Some(now);
        self.known.unread = unread;
    }
}
