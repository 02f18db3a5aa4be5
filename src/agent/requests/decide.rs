//! Decisions about requests without a document. The preview is computed once more before an
//! approval is accepted.

use std::sync::Arc;

use crate::approvals::{
    ApprovalRequest, Decision, DecisionError, DecisionRequirements, PreviewWarning, RequestVerdict,
    UpdatedPreview,
};
use crate::document::Text;
use crate::ids::RequestId;
use crate::permissions::Principal;
use crate::rooms::command::ApprovalMode;
use crate::rooms::{RoomError, RoomHandle};
use crate::tools::{EditableRange, PlanMode, SafeTools, ToolContext, UnreadRanges};

use crate::agent::AgentService;

impl AgentService {
    /// Returns the workspace inbox: the room of requests without a document.
    pub async fn desk(&self) -> Result<RoomHandle, RoomError> {
        self.shared.desk().await
    }

    /// Returns `true` if there is a folder for work without a document.
    pub fn has_workspace(&self) -> bool {
        self.shared.tools.workspace().is_some()
    }

    /// Decides a request in the room that owns it. Denials of the workspace inbox also apply to a
    /// file that is open as a document. An approval of a call as a whole is refused as stale if the
    /// call would now do something else than people were shown; an edited input must be one that
    /// the tool accepts.
    ///
    /// # Errors
    ///
    /// If the decision is refused; [`RoomError::Input`] if the tool does not accept an edited
    /// input.
    pub async fn decide_in(
        &self,
        room: &RoomHandle,
        id: RequestId,
        mut decision: Decision,
        by: Principal,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        let open = room.requests().await?;
        let approves =
            matches!(decision.verdict, RequestVerdict::Approve | RequestVerdict::Edit { .. });
        let request = open.into_iter().find(|request| *request.id() == id);
        let sent_back = decision.sent_back.as_ref().zip(request.as_ref());
        if sent_back.is_some_and(|(input, request)| *input != request.proposal.input) {
            let told =
                "`updated_input` is another one than was proposed; say `decision: edit` to run it";
            return Err(RoomError::Invalid(told.to_owned()));
        }
        // The room checks changes of a text, but does not know the rules for files.
        if let Some(request) = request.as_ref().filter(|request| !request.hunks.is_empty()) {
            let desk = self.desk().await?;
            decision.most_units = self.shared.tools.most_units(request, &desk).await?;
        }
        let whole = request.filter(|request| approves && request.hunks.is_empty());
        if let Some(request) = whole {
            self.check(&request, &decision, &by)?;
            let context = self.context(&request, &self.desk().await?, &by);
            if let RequestVerdict::Edit { input } = &decision.verdict {
                let revised = self.shared.tools.look_again(&context, &request, input).await;
                decision.revised =
                    Some(revised.map_err(|error| RoomError::Input(error.to_string()))?);
            }
            let fresh = self.fresh(&context, &request).await;
            room.look_again(id.clone(), fresh).await?;
        }
        room.decide(id, decision, by).await
    }

    /// Refuses decisions that the room would refuse for every preview, before files are read.
    fn check(
        &self,
        request: &ApprovalRequest,
        decision: &Decision,
        by: &Principal,
    ) -> Result<(), RoomError> {
        let now_ms = self.shared.clock.now_ms();
        let nothing = DecisionRequirements::default();
        match request.clone().decide(decision, by, &Text::default(), now_ms, &nothing) {
            Ok(_) | Err(DecisionError::StalePreview { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Computes the present preview of a call.
    async fn fresh(&self, context: &ToolContext, request: &ApprovalRequest) -> UpdatedPreview {
        let proposal = &request.proposal;
        let looked = self.shared.tools.look_again(context, request, &proposal.input).await;
        looked.unwrap_or_else(|error| {
            // The call is no longer possible. People see why; another reason is another preview.
            let text = error.to_string();
            let mut preview = proposal.preview.clone();
            preview.warnings.retain(|warning| warning.code != CANNOT_RUN);
            preview
                .warnings
                .push(PreviewWarning { code: CANNOT_RUN.to_owned(), text: text.clone() });
            UpdatedPreview { preview, touched: Some(text) }
        })
    }

    /// Returns the context of a tool that only computes a preview.
    fn context(&self, request: &ApprovalRequest, desk: &RoomHandle, by: &Principal) -> ToolContext {
        let proposal = &request.proposal;
        ToolContext {
            room: desk.clone(),
            rooms: self.shared.rooms.clone(),
            elsewhere: None,
            live: None,
            read: None,
            desk: desk.clone(),
            workspace: self.shared.tools.workspace().cloned(),
            safe_tools: SafeTools::AtOnce,
            base: None,
            unread: UnreadRanges::default(),
            shown: None,
            still_unread: UnreadRanges::default(),
            selection: None,
            allowed: EditableRange::Everything,
            preface: Arc::default(),
            request: request.id().clone(),
            session: proposal.session.clone(),
            run: proposal.run.clone(),
            requester: by.clone(),
            prompt: proposal.prompt.as_str().into(),
            source: "",
            gate: ApprovalMode::Ask,
            deadline_ms: None,
            taken_up: false,
            again_of: None,
            asking: None,
            plan: PlanMode::Off,
            tag: "".into(),
            clock: self.shared.clock.clone(),
        }
    }
}

/// Code of the warning that a call would fail.
const CANNOT_RUN: &str = "cannot_run";
