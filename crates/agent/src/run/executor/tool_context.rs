//! Context of a run's calls: rooms, what the model or caller knows, and the asker's rights.

use std::sync::Arc;

use copydesk_ids::RequestId;
use copydesk_rooms::RoomHandle;
use copydesk_tools::{
    ApprovalTerms, CallEnvironment, CallIdentity, DocumentView, ToolContext, ToolScope,
};

use super::super::run_record::RunSubject;
use super::super::selection::allowed;
use super::RunExecutor;
use crate::AskKind;
use crate::mode_permission::approval_mode;

impl RunExecutor<'_> {
    pub(crate) fn context(&self, request: RequestId, workspace_inbox: RoomHandle) -> ToolContext {
        ToolContext {
            room: self.run_events.room.clone(),
            conversation_room: None,
            open_file: None,
            call: self.call_identity(request),
            view: self.document_view(),
            approval: self.approval_terms(),
            environment: self.call_environment(workspace_inbox),
        }
    }

    fn call_identity(&self, request: RequestId) -> CallIdentity {
        let ask = &self.run.ask;
        // A question in a comment is kept there only, because it can be deleted.
        let is_comment = matches!(ask.kind, AskKind::Comment(_));
        CallIdentity {
            request,
            session: ask.session.clone(),
            run: ask.run.clone(),
            requester: self.asker.clone(),
            prompt: if is_comment { "" } else { &*ask.prompt }.into(),
            source: ask
                .outside()
                .map_or_else(|| ask.permission_mode.into(), |outside| outside.source.into()),
            after_restart: self.turn.after_restart,
            again_of: ask.outside().and_then(|outside| outside.again_of.clone()),
        }
    }

    fn document_view(&self) -> DocumentView {
        let ask = &self.run.ask;
        DocumentView {
            base: self.known_at_calls.snapshot.clone(),
            base_unread: self.known_at_calls.unread.clone(),
            latest: self.known.snapshot.clone(),
            latest_unread: self.known.unread.clone(),
            others: ask.outside().is_none().then(|| Arc::clone(&self.other_documents)),
            selection: self.known_at_calls.selection,
            editable: allowed(ask.selection.as_ref(), self.known_at_calls.selection),
        }
    }

    fn approval_terms(&self) -> ApprovalTerms {
        let ask = &self.run.ask;
        ApprovalTerms {
            mode: approval_mode(ask.permission_mode),
            deadline_ms: ask.outside().and_then(|outside| outside.deadline_ms),
            progress: self.shared.call_waiters.of(ask),
        }
    }

    fn call_environment(&self, workspace_inbox: RoomHandle) -> CallEnvironment {
        let in_workspace = self.scope() == ToolScope::Workspace;
        CallEnvironment {
            rooms: self.shared.rooms.clone(),
            workspace_inbox,
            workspace: self.shared.tools.workspace().filter(|_| in_workspace).cloned(),
            model: match self.run.ask.outside() {
                Some(outside) => outside.model.clone(),
                None => Some(self.chosen.asked()),
            },
            unseen_files: Arc::default(),
            read_tools: self.run.ask.read_tools,
            plan: self.plan_mode(),
            tag: Arc::clone(&self.prompt.tag),
            clock: self.shared.clock.clone(),
        }
    }

    pub(crate) fn scope(&self) -> ToolScope {
        match self.run.about {
            RunSubject::Document | RunSubject::Content => ToolScope::Document,
            RunSubject::Nothing
                if self.run.ask.kind != AskKind::Ask && self.shared.tools.workspace().is_some() =>
            {
                ToolScope::Workspace
            }
            RunSubject::Nothing => ToolScope::Conversation,
        }
    }
}
