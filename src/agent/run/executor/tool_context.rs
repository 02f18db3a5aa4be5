//! Context of a run's calls: rooms, the knowledge of the model or the caller, and the rights of the
//! person who asked.

use std::sync::Arc;

use crate::ids::RequestId;
use crate::rooms::RoomHandle;
use crate::rooms::command::ApprovalMode;
use crate::tools::{ToolContext, ToolScope};

use super::super::run_record::RunSubject;
use super::super::selection::allowed;
use super::RunExecutor;
use crate::agent::{AskKind, PermissionMode};

impl RunExecutor<'_> {
    pub(crate) fn context(&self, request: RequestId, desk: RoomHandle) -> ToolContext {
        let ask = &self.run.ask;
        ToolContext {
            room: self.voice.room.clone(),
            desk,
            workspace: self
                .shared
                .tools
                .workspace()
                .filter(|_| self.ground() == ToolScope::Workspace)
                .cloned(),
            safe_tools: ask.safe_tools,
            rooms: self.shared.rooms.clone(),
            elsewhere: None,
            live: None,
            read: ask.outside().is_none().then(|| Arc::clone(&self.read)),
            base: self.base.clone(),
            unread: self.base_unread.clone(),
            shown: self.known.clone(),
            still_unread: self.unread.clone(),
            selection: self.base_selection,
            allowed: allowed(ask.selection.as_ref(), self.base_selection),
            preface: self.held.as_ref().map(|held| Arc::clone(&held.preface)).unwrap_or_default(),
            request,
            session: ask.session.clone(),
            run: ask.run.clone(),
            requester: ask.principal.clone(),
            prompt: ask.prompt.as_str().into(),
            source: ask
                .outside()
                .map_or(ask.permission_mode.as_str(), |outside| outside.door.as_str()),
            deadline_ms: ask.outside().and_then(|outside| outside.deadline_ms),
            asking: self.shared.ears.of(ask),
            gate: match ask.permission_mode {
                PermissionMode::BypassPermissions => ApprovalMode::Bypass,
                PermissionMode::Sdk | PermissionMode::ToolApproval | PermissionMode::McpProxy => {
                    ApprovalMode::Ask
                }
            },
            plan: self.plan_mode(),
            taken_up: self.taken_up,
            again_of: ask.outside().and_then(|outside| outside.again_of.clone()),
            tag: Arc::clone(&self.tag),
            clock: self.shared.clock.clone(),
        }
    }

    pub(crate) fn ground(&self) -> ToolScope {
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
