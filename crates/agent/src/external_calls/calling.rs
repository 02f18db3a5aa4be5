//! Makes an external call: one that only reads at once, any other as a run of its own.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use tokio_util::sync::CancellationToken;

use copydesk_ids::permissions::Action;
use copydesk_ids::{RequestId, RunId};
use copydesk_rooms::command::ApprovalMode;
use copydesk_rooms::{RoomError, RoomHandle};
use copydesk_tools::pipeline::inbox_approval;
use copydesk_tools::{
    ApprovalTerms, CallEnvironment, CallIdentity, DocumentView, EditableRange, FinishedCall,
    PlanMode, ReadToolPolicy, ToolContext, ToolEffect, ToolFacts,
};

use super::call::{CallRequest, CallResult};
use super::waiters::CallHandle;
use crate::{AgentQuestion, AgentService, AskError, AskKind, AskResult};

impl AgentService {
    /// Returns the tools that may be available on this server or on others, and their effects.
    pub fn offers_of_all_servers(&self) -> Vec<Arc<ToolFacts>> {
        let tools = &self.tools;
        let is_shared = self.rooms.placement().is_shared();
        tools.offers_in(tools.workspace().is_some() || is_shared)
    }

    /// Makes a call. A tool that only reads answers at once, unless a rule applies to the call. One
    /// that proposes or acts is stored first, and people decide; [`CallHandle`] reports the
    /// progress. `caller_gone` fires when the caller gives up. A repeated call joins the earlier
    /// one, or gets its result.
    ///
    /// # Errors
    ///
    /// If the person may not make the call, or if it cannot be stored. Errors of the tool are part
    /// of the result.
    #[boxed]
    pub async fn call(
        &self,
        calling: CallRequest,
        caller_gone: &CancellationToken,
    ) -> AskResult<CallHandle> {
        let effect = self.tools.effect(&calling.outside.call.name);
        if effect.is_none_or(ToolEffect::only_reads) && !self.is_ruled(effect, &calling).await? {
            let finished = self.read_for(&calling, caller_gone).await?;
            let read = finished.read.map(|(document, now)| (document, now.version));
            let over = CallResult { outcome: finished.outcome, read };
            return Ok(CallHandle::over(over, self.stop.clone()));
        }
        let CallRequest { session, principal, document, prompt, outside, key } = calling;
        if let Some(document) = &document
            && self.rooms.open(document).await?.unlisted_owner().is_some()
        {
            // The private document of a session does not exist for others.
            return Err(RoomError::NoDocument.into());
        }
        let kind = AskKind::Call(Box::new(outside));
        let ask =
            AgentQuestion { document, ..AgentQuestion::new(session, principal, prompt, kind) };
        match key {
            Some(key) => self.call_again(ask, &key, caller_gone).await,
            None => self.call_once(ask, caller_gone).await,
        }
    }

    /// Returns `true` if a rule applies to a call that only reads the workspace. People may then be
    /// asked for any length of time.
    async fn is_ruled(&self, effect: Option<ToolEffect>, calling: &CallRequest) -> AskResult<bool> {
        if effect != Some(ToolEffect::Reads) || self.tools.workspace().is_none() {
            return Ok(false);
        }
        let inbox = self.rooms.workspace_inbox().await?;
        let (call, requester) = (&calling.outside.call, &calling.principal);
        Ok(inbox_approval::has_rule(self.rooms.tools(), &inbox, call, requester).await?)
    }

    /// Makes a call under a name that no other call has.
    #[boxed]
    pub(crate) async fn call_once(
        &self,
        ask: AgentQuestion,
        caller_gone: &CancellationToken,
    ) -> AskResult<CallHandle> {
        let cancel = CancellationToken::new();
        if caller_gone.is_cancelled() {
            cancel.cancel();
        }
        let (waiters, stop) = (&self.call_waiters, &self.stop);
        let ongoing = waiters.open(&ask, None, cancel.clone(), caller_gone, stop);
        if let Err(error) = self.start(ask.clone(), cancel).await {
            self.call_waiters.close(&ask);
            return Err(error);
        }
        Ok(ongoing)
    }

    /// Makes a call that changes nothing and waits for no one, so nothing of it is stored.
    async fn read_for(
        &self,
        calling: &CallRequest,
        cancel: &CancellationToken,
    ) -> AskResult<FinishedCall> {
        let CallRequest { session, principal, document, prompt, outside, key: _ } = calling;
        let tools = &self.tools;
        // The workspace has no document to which a right could apply.
        let reads_files = tools.effect(&outside.call.name) == Some(ToolEffect::Reads);
        if reads_files && !principal.may(Action::Ask, None) {
            return Err(AskError::NotAllowed);
        }
        if reads_files {
            self.rooms.check_workspace_here().await?;
        }
        let workspace_inbox = self.rooms.workspace_inbox().await?;
        let room = match document {
            Some(id) if principal.may(Action::Read, Some(id)) => self.rooms.open(id).await?,
            Some(_) => return Err(AskError::NotAllowed),
            None => workspace_inbox.clone(),
        };
        let call = CallIdentity {
            request: RequestId::generate(),
            session: session.clone(),
            run: RunId::generate(),
            requester: principal.clone(),
            prompt: prompt.as_str().into(),
            source: outside.source.into(),
            after_restart: false,
            again_of: None,
        };
        let mut context = self.context(room, workspace_inbox, call);
        context.view.editable = EditableRange::Nothing;
        context.approval.deadline_ms = outside.deadline_ms;
        context.environment.workspace = tools.workspace().filter(|_| reads_files).cloned();
        context.environment.model.clone_from(&outside.model);
        context.environment.tag = uuid::Uuid::new_v4().simple().to_string().into();
        Ok(tools.call(&context, &outside.call, cancel).await)
    }

    /// Returns the context of a call outside of the runs of this server, which knows no document
    /// and no workspace: people are asked about changes, and not about tools that only read.
    pub fn context(
        &self,
        room: RoomHandle,
        workspace_inbox: RoomHandle,
        call: CallIdentity,
    ) -> ToolContext {
        ToolContext {
            room,
            conversation_room: None,
            open_file: None,
            call,
            view: DocumentView::default(),
            approval: ApprovalTerms { mode: ApprovalMode::Ask, deadline_ms: None, progress: None },
            environment: CallEnvironment {
                rooms: self.rooms.clone(),
                workspace_inbox,
                workspace: None,
                model: None,
                unseen_files: Arc::default(),
                read_tools: ReadToolPolicy::AtOnce,
                plan: PlanMode::Off,
                tag: "".into(),
                clock: self.clock.clone(),
            },
        }
    }
}
