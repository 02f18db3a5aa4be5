//! Decisions about requests without a document: what the call would do is looked at once more before one is taken.

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
    /// The room of requests without a document.
    pub async fn desk(&self) -> Result<RoomHandle, RoomError> {
        self.shared.desk().await
    }

    /// Whether there is a folder for work without a document.
    pub fn has_workspace(&self) -> bool {
        self.shared.tools.workspace().is_some()
    }

    /// Decides a request in the room that owns it. What rules deny at the desk holds for a file that is open as a document too.
    /// Of a request about a call as a whole, an approval is refused as stale if the call would do something else by now than people
    /// were shown; an edited input must be one that the tool takes.
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
        // Changes of a text are looked after by their room, which does not know the rules for files.
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

    /// Refuses what the desk would refuse whatever the preview is, before files are looked at.
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

    /// What the call would do now.
    async fn fresh(&self, context: &ToolContext, request: &ApprovalRequest) -> UpdatedPreview {
        let proposal = &request.proposal;
        let looked = self.shared.tools.look_again(context, request, &proposal.input).await;
        looked.unwrap_or_else(|error| {
            // It can no longer be done at all. People see why; another reason is another preview.
            let text = error.to_string();
            let mut preview = proposal.preview.clone();
            preview.warnings.retain(|warning| warning.code != CANNOT_RUN);
            preview
                .warnings
                .push(PreviewWarning { code: CANNOT_RUN.to_owned(), text: text.clone() });
            UpdatedPreview { preview, touched: Some(text) }
        })
    }

    /// What a tool works with when it only looks.
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

/// The code of the warning that a call would fail.
const CANNOT_RUN: &str = "cannot_run";
