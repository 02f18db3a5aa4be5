//! Preparation of decisions, before the room that owns the request judges them: what the room does
//! not know is looked up. These are the workspace inbox's rules for a file that is open as a
//! document, and what a call that is decided as a whole would do now.

use async_recursion::async_recursion as boxed;
use std::time::Instant;

use copydesk_approvals::{
    ApprovalRequest, Decision, DecisionError, DecisionRequirements, PreviewWarning, ReportState,
    RequestSource, RequestVerdict, ToolReport, UpdatedPreview,
};
use copydesk_document::Text;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_metrics as metrics;
use copydesk_rooms::command::UntakenDecision;
use copydesk_rooms::{RequestResult, RoomError, RoomHandle, RoomResult};
use copydesk_tools::{CallIdentity, ToolContext, ToolResult};

use crate::AgentService;

impl AgentService {
    /// Checks owners' rules before a program reads a document, maybe a file, without a tool.
    #[boxed]
    pub async fn check_document_read(
        &self,
        document: &DocumentId,
        reader: &Principal,
    ) -> ToolResult<()> {
        self.tools.check_document_read(&self.rooms, document, reader).await
    }

    /// Checks owners' rules before a program comments on a document without a tool.
    #[boxed]
    pub async fn check_comment(&self, room: &RoomHandle, by: &Principal) -> ToolResult<()> {
        self.tools.check_comment(&self.rooms, room, by).await
    }

    /// Decides a request in the room that owns it. Denials of the workspace inbox also apply to a
    /// file that is open as a document. An approval of a call as a whole is refused as stale if the
    /// call would now do something else than people were shown; an edited input must be one that
    /// the tool accepts.
    #[boxed]
    pub async fn decide_in(
        &self,
        room: &RoomHandle,
        id: RequestId,
        decision: Decision,
        by: Principal,
    ) -> RequestResult {
        let began = Instant::now();
        let decided = self.checked_decision(room, id, decision, by).await;
        match &decided {
            Ok(_) => metrics::DECISION_SECONDS.took(began.elapsed()),
            Err(_) => metrics::DECISIONS_REFUSED.count(),
        }
        decided
    }

    /// Returns what would be reported to the model if a decision were taken now: prepared as by
    /// [`decide_in`](Self::decide_in) and judged by the room, but not taken.
    #[boxed]
    pub async fn report_in(
        &self,
        room: &RoomHandle,
        id: RequestId,
        mut decision: Decision,
        by: Principal,
    ) -> RoomResult<(ToolReport, ReportState)> {
        let fresh = self.prepare(room, &id, &mut decision, &by).await?;
        room.report_decision(UntakenDecision { request: id, decision, by, fresh }).await
    }

    async fn checked_decision(
        &self,
        room: &RoomHandle,
        id: RequestId,
        mut decision: Decision,
        by: Principal,
    ) -> RequestResult {
        if let Some(fresh) = self.prepare(room, &id, &mut decision, &by).await? {
            room.refresh_preview(id.clone(), fresh).await?;
        }
        room.decide(id, decision, by).await
    }

    /// Adds to a decision what the room does not know. Returns the present preview of a call that
    /// is approved as a whole.
    async fn prepare(
        &self,
        room: &RoomHandle,
        id: &RequestId,
        decision: &mut Decision,
        by: &Principal,
    ) -> RoomResult<Option<UpdatedPreview>> {
        let open = room.requests().await?;
        let approves =
            matches!(decision.verdict, RequestVerdict::Approve | RequestVerdict::Edit { .. });
        let request = open.into_iter().find(|request| request.id() == id);
        let sent_back = decision.sent_back.as_ref().zip(request.as_ref());
        if sent_back.is_some_and(|(input, request)| *input != request.proposal.origin.input) {
            let message =
                "`updated_input` differs from the proposed input; use `decision: edit` to run it";
            return Err(RoomError::Invalid(message.to_owned()));
        }
        // The room checks changes of a text, but does not know the rules for files.
        if let Some(request) = request.as_ref().filter(|request| !request.hunks.is_empty()) {
            let workspace_inbox = self.rooms.workspace_inbox().await?;
            decision.most_units = self.tools.most_units(request, &workspace_inbox).await?;
        }
        let whole = request.filter(|request| approves && request.hunks.is_empty());
        let Some(request) = whole else { return Ok(None) };
        self.check_decision(&request, decision, by)?;
        let workspace_inbox = self.rooms.workspace_inbox().await?;
        let (origin, action) = (&request.proposal.origin, &request.proposal.action);
        let call = CallIdentity {
            request: request.id().clone(),
            session: origin.session.clone(),
            run: origin.run.clone(),
            requester: by.clone(),
            prompt: action.prompt.as_str().into(),
            source: RequestSource::Unknown,
            after_restart: false,
            again_of: None,
        };
        let mut context = self.context(workspace_inbox.clone(), workspace_inbox, call);
        context.environment.workspace = self.tools.workspace().cloned();
        if let RequestVerdict::Edit { input } = &decision.verdict {
            let revised = self.tools.refresh_preview(&context, &request, input).await;
            decision.revised = Some(revised.map_err(|error| RoomError::Input(error.to_string()))?);
        }
        Ok(Some(self.updated_preview(&context, &request).await))
    }

    /// Refuses decisions that the room would refuse for every preview, before files are read.
    fn check_decision(
        &self,
        request: &ApprovalRequest,
        decision: &Decision,
        by: &Principal,
    ) -> RoomResult<()> {
        let now_ms = self.clock.now_ms();
        let tools = self.rooms.tools().clone();
        let nothing = DecisionRequirements { tools, ..DecisionRequirements::default() };
        match request.clone().judge_and_carry_out(decision, by, &Text::default(), now_ms, &nothing)
        {
            Ok(_) | Err(DecisionError::StalePreview { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn updated_preview(
        &self,
        context: &ToolContext,
        request: &ApprovalRequest,
    ) -> UpdatedPreview {
        let proposal = &request.proposal;
        let looked = self.tools.refresh_preview(context, request, &proposal.origin.input).await;
        looked.unwrap_or_else(|error| {
            // The call is no longer possible. People see why; another reason is another preview.
            let text = error.to_string();
            let mut preview = proposal.action.preview.clone();
            preview.warnings.retain(|warning| warning.code != CANNOT_RUN);
            preview
                .warnings
                .push(PreviewWarning { code: CANNOT_RUN.to_owned(), text: text.clone() });
            UpdatedPreview { preview, touched: Some(text) }
        })
    }
}

/// Code of the warning that a call would fail.
const CANNOT_RUN: &str = "cannot_run";
