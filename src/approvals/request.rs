//! One gated tool call that waits for people, from its first word to its end.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::policy::agreeing;
use super::{
    AnnouncedPreview, ApprovalRequirement, ApprovalRule, ArrivedHunks, CommittedUpdate,
    ExecutionState, FileUndo, Hunk, HunkStatus, Person, Preview, RebaseOutcome, ReturnedHunk,
    ToolReport, Vote, VoteCount,
};
use crate::document::{ChangeSet, Text, utf16_len};
use crate::ids::{DocumentId, HunkId, RequestId, RuleId, RunId, SessionId, ToolUseId, Version};

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// The model still writes it.
    Streaming,
    /// People can decide.
    Pending,
    /// Everything was accepted.
    Approved,
    /// Everything was rejected, or answered instead.
    Rejected,
    /// Some was accepted, some not.
    Partly,
    /// Nobody decided in time.
    Expired,
    /// Taken back, or what it was about is gone.
    Cancelled,
    /// Approved, but the tool failed.
    Failed,
}

impl RequestStatus {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Partly => "partly",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Whether it can still be decided.
    pub fn is_open(self) -> bool {
        match self {
            Self::Streaming | Self::Pending => true,
            Self::Approved
            | Self::Rejected
            | Self::Partly
            | Self::Expired
            | Self::Cancelled
            | Self::Failed => false,
        }
    }
}

/// What a tool wants to do, and who asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// The request's name, made before it is sent, so that a restart finds it again.
    pub id: RequestId,
    /// The tool.
    pub tool: String,
    /// Its input, as the model gave it.
    pub input: Value,
    /// The call, as the model named it.
    pub tool_use: ToolUseId,
    /// The session that asked.
    pub session: SessionId,
    /// The run that asked.
    pub run: RunId,
    /// The document it would change.
    pub document: Option<DocumentId>,
    /// The person who asked.
    pub requester: Person,
    /// What the person typed.
    #[serde(default)]
    pub prompt: String,
    /// The version the tool read.
    pub base_version: Version,
    /// The range it was asked to change, in positions of `base_version`.
    #[serde(default)]
    pub scope: Option<(usize, usize)>,
    /// What the model says it does.
    #[serde(default)]
    pub explanation: String,
    /// What people are shown besides the hunks.
    pub preview: Preview,
    /// SHA-256 of the content of the file it would change, if it is one.
    #[serde(default)]
    pub touched: Option<String>,
    /// The door it came through.
    #[serde(default)]
    pub source: String,
    /// Who may decide.
    #[serde(default)]
    pub policy: ApprovalRequirement,
    /// The request that a person proposes again with it; people alone decide it then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<RequestId>,
}

/// When a request was made and when it ends; milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTimes {
    /// When it was made.
    pub created_ms: u64,
    /// When it expires; `None`: never.
    pub expires_ms: Option<u64>,
    /// Since when the countdown stands still because somebody is looking.
    #[serde(default)]
    pub paused_ms: Option<u64>,
    /// When the outside caller gives up; neither looking nor more time goes past it.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
}

impl RequestTimes {
    /// A clock that runs out after `timeout_ms`; 0: never.
    pub fn start(now_ms: u64, timeout_ms: u64) -> Self {
        let expires_ms = (timeout_ms > 0).then(|| now_ms.saturating_add(timeout_ms));
        Self { created_ms: now_ms, expires_ms, paused_ms: None, deadline_ms: None }
    }

    /// When it will run out if nobody looks or stops looking; `None`: not by itself.
    pub fn due_ms(&self) -> Option<u64> {
        match (self.expires_ms, self.paused_ms) {
            (None, _) | (_, Some(_)) => self.deadline_ms,
            (Some(expires), None) => Some(self.deadline_ms.map_or(expires, |d| d.min(expires))),
        }
    }

    /// When it ends by what is known now, looks left aside: the timeout, or the outside caller's deadline if that is sooner.
    pub fn ends_ms(&self) -> Option<u64> {
        self.expires_ms.into_iter().chain(self.deadline_ms).min()
    }

    /// Whether it has run out.
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.due_ms().is_some_and(|due| now_ms >= due)
    }

    /// Somebody looks: the countdown stands still.
    pub fn pause(&mut self, now_ms: u64) {
        self.paused_ms.get_or_insert(now_ms);
    }

    /// Nobody looks any more: the countdown goes on from where it stood.
    pub fn resume(&mut self, now_ms: u64) {
        if let (Some(paused), Some(expires)) = (self.paused_ms.take(), self.expires_ms.as_mut()) {
            *expires = expires.saturating_add(now_ms.saturating_sub(paused));
        }
    }

    /// More time.
    pub fn extend(&mut self, by_ms: u64) {
        if let Some(expires) = self.expires_ms.as_mut() {
            *expires = expires.saturating_add(by_ms);
        }
    }
}

/// A word that goes with a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRemark {
    /// Whose it is.
    pub by: Person,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Why something was rejected.
    #[serde(default)]
    pub feedback: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub note: Option<String>,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedBy {
    /// By whom, if it was a person.
    pub by: Option<Person>,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The remembered rule that decided in that person's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Why nobody was asked, if nobody was; `by` is then who had asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<UnaskedReason>,
}

/// Why something was applied without anybody having been asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnaskedReason {
    /// The run was started with `bypassPermissions`.
    Bypass,
    /// Approvals are switched off.
    ApprovalsOff,
}

impl UnaskedReason {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::ApprovalsOff => "approvals_off",
        }
    }
}

impl ClosedBy {
    /// By a person who decided or took it back themselves; `None`: by nobody.
    pub(super) fn by(by: Option<Person>, at_ms: u64) -> Self {
        Self { by, at_ms, rule: None, unasked: None }
    }
}

/// What whoever waits for a request is told in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResolution {
    /// The request.
    pub request: RequestId,
    /// How it ended.
    pub status: RequestStatus,
    /// The input to run with, if the tool is to run: the model's, or the person's.
    pub input: Value,
    /// The newest version when it was told; for requests with hunks, the one with all that was accepted.
    pub version: Version,
    /// What the model is told. A tool that runs now adds its result: [`ApprovalRequest::report_result`].
    pub report: ToolReport,
}

/// One gated tool call that waits for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// What the tool wants.
    #[serde(flatten)]
    pub proposal: ProposedCall,
    /// Where it is in its life.
    pub status: RequestStatus,
    /// The version the hunks' positions are of.
    pub version: Version,
    /// What would change, in the order of the text; none for tools that change no document.
    #[serde(default)]
    pub hunks: Vec<Hunk>,
    /// Changes that were never shown because people had changed the words before they arrived.
    #[serde(default)]
    pub returned: Vec<ReturnedHunk>,
    /// When it was made and when it ends.
    pub clock: RequestTimes,
    /// The hash of the preview that was announced; decisions without a hash are for that one.
    pub announced: String,
    /// The input a person put in place of the model's.
    #[serde(default)]
    pub edited_input: Option<Value>,
    /// The answer a person gave instead of running the tool.
    #[serde(default)]
    pub answer: Option<String>,
    /// What people said with their decisions.
    #[serde(default)]
    pub remarks: Vec<DecisionRemark>,
    /// People who want it approved, where one is not enough and there are no hunks.
    #[serde(default)]
    pub votes: Vec<Vote>,
    /// What it takes to accept everything that is open, as it stands now; read it with [`ApprovalRequest::requires`].
    #[serde(default)]
    pub required: ApprovalRequirement,
    /// Rules that people wished for with votes that were not enough; made once something they voted for is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<ApprovalRule>,
    /// How it ended.
    #[serde(default)]
    pub closed: Option<ClosedBy>,
    /// What that preview was about, if the call would do something else since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced_for: Option<AnnouncedPreview>,
    /// Where the approved call stands, for a tool that acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionState>,
    /// Whether what the call did is being taken back, or was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversal: Option<FileUndo>,
    /// The request with which a person proposed it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_as: Option<RequestId>,
}

impl ApprovalRequest {
    /// A request that waits for people. `arrival` holds its changes, mapped to `version`; for a tool without hunks, none.
    pub fn open(
        proposal: ProposedCall,
        arrival: ArrivedHunks,
        version: Version,
        clock: RequestTimes,
    ) -> Self {
        let mut request = Self {
            proposal,
            status: RequestStatus::Pending,
            version,
            hunks: arrival.hunks,
            returned: arrival.returned,
            clock,
            announced: String::new(),
            edited_input: None,
            answer: None,
            remarks: Vec::new(),
            votes: Vec::new(),
            required: ApprovalRequirement::default(),
            wishes: Vec::new(),
            closed: None,
            announced_for: None,
            execution: None,
            reversal: None,
            again_as: None,
        };
        request.announced = request.preview_hash();
        request
    }

    /// The request's name.
    pub fn id(&self) -> &RequestId {
        &self.proposal.id
    }

    /// A hunk.
    pub fn hunk(&self, id: &HunkId) -> Option<&Hunk> {
        self.hunks.iter().find(|h| h.id == *id)
    }

    /// The hunks of these names, in the order of the names; what is not there is left out.
    pub fn hunks_named(&self, ids: &[HunkId]) -> Vec<&Hunk> {
        if let [id] = ids {
            return self.hunk(id).into_iter().collect();
        }
        let by_id: HashMap<_, _> = self.hunks.iter().map(|hunk| (&hunk.id, hunk)).collect();
        ids.iter().filter_map(|id| by_id.get(id).copied()).collect()
    }

    /// How much it would change, in UTF-16 units: everything deleted and everything inserted, as it was proposed, whatever
    /// was decided since. `None`: nobody can tell.
    pub fn units(&self) -> Option<usize> {
        if self.hunks.is_empty() {
            return self.proposal.preview.units();
        }
        let parts = self.hunks.iter().flat_map(|hunk| &hunk.parts);
        Some(parts.map(|part| utf16_len(&part.base) + utf16_len(&part.insert)).sum())
    }

    /// Votes on what is open: a request has as many as the open hunk with the fewest, and needs as many as the one that needs
    /// most.
    pub fn votes(&self) -> VoteCount {
        let need = self.requires().need();
        if !self.status.is_open() {
            return VoteCount { have: need, need };
        }
        let open = self.hunks.iter().filter(|h| h.status.is_open()).map(|h| agreeing(&h.votes));
        let votes =
            if self.hunks.is_empty() { vec![agreeing(&self.votes)] } else { open.collect() };
        let need = votes.iter().map(|(_, under)| under.need()).fold(need, u32::max);
        let have = votes.iter().map(|(count, _)| *count).min().unwrap_or(need);
        VoteCount { have: have.min(need), need }
    }

    /// Takes one committed update into account, made by anybody but this request; `after` is the text it led to. Returns the
    /// hunks that have another status now. If no hunk is open any more, the request has ended ([`Self::status`]).
    pub fn rebase(&mut self, change: &ChangeSet, after: &Text, now_ms: u64) -> Vec<HunkId> {
        let changed = self.rebase_hunks(&CommittedUpdate::new(change, after));
        self.version = self.version.next();
        if !changed.is_empty() {
            self.settle(ClosedBy::by(None, now_ms));
        }
        changed
    }

    pub(super) fn rebase_hunks(&mut self, update: &CommittedUpdate) -> Vec<HunkId> {
        let mut changed = Vec::new();
        for hunk in &mut self.hunks {
            if hunk.rebase_over(update) == RebaseOutcome::Changed {
                changed.push(hunk.id.clone());
            }
        }
        changed
    }

    /// Ends the request if its time is over; returns the hunks that expired. What was accepted stays.
    pub fn expire(&mut self, now_ms: u64) -> Option<Vec<HunkId>> {
        if !self.status.is_open() || !self.clock.is_due(now_ms) {
            return None;
        }
        Some(self.end(HunkStatus::Expired, RequestStatus::Expired, None, now_ms))
    }

    /// Takes the request back; returns the hunks that were open, or `None` if it had ended already. What was accepted stays.
    pub fn cancel(&mut self, by: Option<Person>, now_ms: u64) -> Option<Vec<HunkId>> {
        if !self.status.is_open() {
            return None;
        }
        Some(self.end(HunkStatus::Obsolete, RequestStatus::Cancelled, by, now_ms))
    }

    /// The tool was approved but failed.
    pub fn fail(&mut self) {
        self.status = RequestStatus::Failed;
    }

    fn end(
        &mut self,
        open_hunks: HunkStatus,
        status: RequestStatus,
        by: Option<Person>,
        now_ms: u64,
    ) -> Vec<HunkId> {
        let mut ended = Vec::new();
        for hunk in self.hunks.iter_mut().filter(|h| h.status.is_open()) {
            hunk.status = open_hunks;
            ended.push(hunk.id.clone());
        }
        let some_accepted = self.hunks.iter().any(|h| h.status == HunkStatus::Accepted);
        self.status = if some_accepted { RequestStatus::Partly } else { status };
        self.closed = Some(ClosedBy::by(by, now_ms));
        ended
    }

    /// Ends the request, as `closed` says, if no hunk is open; returns its status then.
    pub(super) fn settle(&mut self, closed: ClosedBy) -> Option<RequestStatus> {
        if !self.status.is_open() || self.hunks.iter().any(|h| h.status.is_open()) {
            return None;
        }
        let any = |status| self.hunks.iter().any(|h| h.status == status);
        let all_accepted = self.hunks.iter().all(|h| h.status == HunkStatus::Accepted);
        let status = if all_accepted {
            RequestStatus::Approved
        } else if any(HunkStatus::Accepted) {
            RequestStatus::Partly
        } else if any(HunkStatus::Rejected) {
            RequestStatus::Rejected
        } else if any(HunkStatus::Expired) {
            RequestStatus::Expired
        } else {
            // Only obsolete hunks: people deleted what it was about.
            RequestStatus::Cancelled
        };
        self.status = status;
        self.closed = Some(closed);
        Some(status)
    }

    /// What whoever waits is told, once the request has ended.
    pub fn resolution(&self) -> Option<RequestResolution> {
        if self.status.is_open() {
            return None;
        }
        Some(RequestResolution {
            request: self.id().clone(),
            status: self.status,
            input: self.edited_input.clone().unwrap_or_else(|| self.proposal.input.clone()),
            version: self.version,
            report: self.report(),
        })
    }
}
