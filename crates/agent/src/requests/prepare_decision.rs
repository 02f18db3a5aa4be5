//! Preparation of decisions, before the room that owns the request judges them: what the room does
//! not know is looked up. These are the workspace inbox's rules for a file that is open as a
//! document, and what a call that is decided as a whole would do now.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;
use std::time::Instant;

use copydesk_approvals::{
    ApprovalRequest, Decision, DecisionError, DecisionRequirements, PreviewWarning, ReportState,
    RequestSource, RequestVerdict, ToolReport, UpdatedPreview,
};
use copydesk_document::Text;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_metrics as metrics;
use copydesk_rooms::command::{ApprovalMode, UntakenDecision};
use copydesk_rooms::{RequestResult, RoomError, RoomHandle, RoomResult};
use copydesk_tools::{
    ApprovalTerms, CallEnvironment, CallIdentity, DocumentView, PlanMode, ReadToolPolicy,
    ToolContext, ToolError,
};

use crate::AgentService;
use copydesk_workspace::Workspace;

impl AgentService {
    /// Returns the workspace inbox: the room of requests without a document.
    #[boxed]
    pub async fn workspace_inbox(&self) -> Result<RoomHandle, RoomError> {
        self.shared.workspace_inbox().await
    }

    /// Checks owners' rules before a program reads a document, maybe a file, without a tool.
    #[boxed]
    pub async fn check_document_read(
        &self,
        document: &DocumentId,
        reader: &Principal,
    ) -> Result<(), ToolError> {
        self.shared.tools.check_document_read(&self.shared.rooms, document, reader).await
    }

    /// Returns `true` if there is a folder for work without a document.
    pub fn has_workspace(&self) -> bool {
        self.shared.tools.workspace().is_some()
    }

    /// Returns the folder for work without a document.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.shared.tools.workspace()
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
            let workspace_inbox = self.workspace_inbox().await?;
            decision.most_units = self.shared.tools.most_units(request, &workspace_inbox).await?;
        }
        let whole = request.filter(|request| approves && request.hunks.is_empty());
        let Some(request) = whole else { return Ok(None) };
        self.check(&request, decision, by)?;
        let context = self.context(&request, &self.workspace_inbox().await?, by);
        if let RequestVerdict::Edit { input } = &decision.verdict {
            let revised = self.shared.tools.refresh_preview(&context, &request, input).await;
            decision.revised = Some(revised.map_err(|error| RoomError::Input(error.to_string()))?);
        }
        Ok(Some(self.updated_preview(&context, &request).await))
    }

    /// Refuses decisions that the room would refuse for every preview, before files are read.
    fn check(
        &self,
        request: &ApprovalRequest,
        decision: &Decision,
        by: &Principal,
    ) -> Result<(), RoomError> {
        let now_ms = self.shared.clock.now_ms();
        let tools = self.shared.rooms.tools().clone();
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
        let looked =
            self.shared.tools.refresh_preview(context, request, &proposal.origin.input).await;
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

    fn context(
        &self,
        request: &ApprovalRequest,
        workspace_inbox: &RoomHandle,
        by: &Principal,
    ) -> ToolContext {
        let proposal = &request.proposal;
        ToolContext {
            room: workspace_inbox.clone(),
            conversation_room: None,
            open_file: None,
            call: CallIdentity {
                request: request.id().clone(),
                session: proposal.origin.session.clone(),
                run: proposal.origin.run.clone(),
                requester: by.clone(),
                prompt: proposal.action.prompt.as_str().into(),
                source: RequestSource::Unknown,
                after_restart: false,
                again_of: None,
            },
            view: DocumentView::default(),
            approval: ApprovalTerms { mode: ApprovalMode::Ask, deadline_ms: None, progress: None },
            environment: CallEnvironment {
                rooms: self.shared.rooms.clone(),
                workspace_inbox: workspace_inbox.clone(),
                workspace: self.shared.tools.workspace().cloned(),
                model: None,
                unseen_files: Arc::default(),
                read_tools: ReadToolPolicy::AtOnce,
                plan: PlanMode::Off,
                tag: "".into(),
                clock: self.shared.clock.clone(),
            },
        }
    }
}

/// Code of the warning that a call would fail.
const CANNOT_RUN: &str = "cannot_run";
