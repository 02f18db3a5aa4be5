//! One gated tool call that waits for people, from the first streamed word to the end.

pub(super) mod aftermath;
mod reasons;
mod rules;
pub(super) mod source;
pub(super) mod stored_request;
mod voting;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::source::{ClaimedAuthor, RequestSource};
use super::preview::preview_hash::CachedHash;
use super::{
    AnnouncedPreview, ApprovalRequirement, ApprovalRule, ArrivedHunks, CommittedUpdate, Hunk,
    HunkStatus, Person, Preview, RebaseOutcome, RequestAftermath, RequesterIds, ReturnedHunk,
    SUGGESTION_TOOL, SuggestionState, ToolReport, Vote,
};
use copydesk_document::{ChangeSet, Text, utf16_len};
use copydesk_ids::{
    DocumentId, HunkId, RequestId, RuleId, RunId, SessionId, ToolUseId, UserId, Version,
};
use copydesk_macros::names;

/// Number of hunks up to which each is looked for on its own.
const FEW: usize = 8;

/// Status of a request.
#[names(Hash, Deserialize, Serialize, wire, lowercase)]
pub enum RequestStatus {
    /// The model is still writing the change; nothing can be decided.
    Streaming,
    /// The request waits for people.
    Pending,
    /// Everything was accepted.
    Approved,
    /// Nothing was accepted.
    Rejected,
    /// Some changes were accepted, and some were not.
    Partly,
    /// No decision was made in time.
    Expired,
    /// The request was withdrawn, or what it was about is gone.
    Cancelled,
    /// The request was approved, but the tool failed.
    Failed,
}

impl RequestStatus {
    /// Returns the status with this name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }

    /// Returns `true` while the request can still be decided.
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

/// Tool call that needs approval, with the session and the run that made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallOrigin {
    /// Id of the request, made before the call is sent so that a restart finds the request again.
    pub id: RequestId,
    /// Name of the tool.
    pub tool: String,
    /// Input of the tool, as the model gave it.
    pub input: Value,
    /// Id that the model gave to the call.
    pub tool_use: ToolUseId,
    /// Session that asked.
    pub session: SessionId,
    /// Run that asked.
    pub run: RunId,
}

/// Action that a call proposes: what it would change, and what people are shown of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedAction {
    /// Question that the person typed.
    #[serde(default)]
    pub prompt: String,
    /// Version of the document that the tool read.
    pub base_version: Version,
    /// Range to change, in UTF-16 units of `base_version`; `partial` answers give its new text.
    #[serde(default)]
    pub scope: Option<(usize, usize)>,
    /// Explanation that the model gives for the call.
    #[serde(default)]
    pub explanation: String,
    /// Preview that people are shown besides the hunks.
    pub preview: Preview,
    /// SHA-256 of the content of the file that the call would change, if it changes a file.
    #[serde(default)]
    pub touched: Option<String>,
    /// Origin of the call.
    #[serde(default)]
    pub source: RequestSource,
}

impl ProposedAction {
    /// Returns `true` if an outside program made the call and waits for its result.
    pub fn is_from_outside(&self) -> bool {
        self.source.is_waiting_program()
    }
}

/// A proposed tool call, with the person who asked for it and the requirement that decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// Call and the run that made it.
    #[serde(flatten)]
    pub origin: CallOrigin,
    /// Document that the call would change.
    pub document: Option<DocumentId>,
    /// Person who asked.
    pub requester: Person,
    /// Former ids of that person ([`former`](copydesk_ids::permissions::Principal::former)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requester_former: Vec<UserId>,
    /// Action that the call proposes.
    #[serde(flatten)]
    pub action: ProposedAction,
    /// Requirement that decides who may approve.
    #[serde(default)]
    pub policy: ApprovalRequirement,
    /// Author of the changes of an imported file, as the file claims it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_author: Option<ClaimedAuthor>,
    /// Earlier request that a person proposes again with this one; decided by people, not by rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_of: Option<RequestId>,
}

impl ProposedCall {
    /// Returns the ids of the person who asked.
    pub fn requester_ids(&self) -> RequesterIds<'_> {
        RequesterIds { user: &self.requester.user, former: &self.requester_former }
    }

    /// Returns `true` if people suggested the change; then no rule and no mode decides it.
    pub fn is_suggestion(&self) -> bool {
        self.origin.tool == SUGGESTION_TOOL
    }
}

/// Start and end times of an [`ApprovalRequest`], in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTimes {
    /// Time when the request was made.
    pub created_ms: u64,
    /// Time when the request expires; `None`: never.
    pub expires_ms: Option<u64>,
    /// Time since which the countdown is paused because the request has viewers.
    #[serde(default)]
    pub paused_ms: Option<u64>,
    /// Time when the outside caller gives up; neither a pause nor an extension goes past it.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
}

impl RequestTimes {
    /// Returns the times of a request that expires after `timeout_ms`; 0: never.
    pub fn start(now_ms: u64, timeout_ms: u64) -> Self {
        let expires_ms = (timeout_ms > 0).then(|| now_ms.saturating_add(timeout_ms));
        Self { created_ms: now_ms, expires_ms, paused_ms: None, deadline_ms: None }
    }

    /// Returns the time when the request runs out if no viewer comes or goes; `None`: never.
    pub fn due_ms(&self) -> Option<u64> {
        match (self.expires_ms, self.paused_ms) {
            (None, _) | (_, Some(_)) => self.deadline_ms,
            (Some(expires), None) => Some(self.deadline_ms.map_or(expires, |d| d.min(expires))),
        }
    }

    /// Returns the time when the request ends without pauses: the earlier of timeout and deadline.
    pub fn ends_ms(&self) -> Option<u64> {
        self.expires_ms.into_iter().chain(self.deadline_ms).min()
    }

    /// Returns `true` if the request has run out.
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.due_ms().is_some_and(|due| now_ms >= due)
    }

    /// Pauses the countdown while the request has viewers.
    pub fn pause(&mut self, now_ms: u64) {
        self.paused_ms.get_or_insert(now_ms);
    }

    /// Resumes the countdown; the paused time is added to the expiry.
    pub fn resume(&mut self, now_ms: u64) {
        if let (Some(paused), Some(expires)) = (self.paused_ms.take(), self.expires_ms.as_mut()) {
            *expires = expires.saturating_add(now_ms.saturating_sub(paused));
        }
    }

    /// Moves the time when the outside caller gives up; `None`: it does not give up. Returns
    /// `false` and changes nothing if that is not later.
    pub fn move_deadline(&mut self, deadline_ms: Option<u64>) -> bool {
        let is_later = match (self.deadline_ms, deadline_ms) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(former), Some(later)) => later > former,
        };
        if is_later {
            self.deadline_ms = deadline_ms;
        }
        is_later
    }

    /// Moves the expiry `by_ms` milliseconds later.
    pub fn extend(&mut self, by_ms: u64) {
        if let Some(expires) = self.expires_ms.as_mut() {
            *expires = expires.saturating_add(by_ms);
        }
    }
}

/// Comment that a person gave with a [`Decision`](super::Decision).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRemark {
    /// Person who gave the comment.
    pub by: Person,
    /// Time of the decision, in milliseconds since 1970.
    pub at_ms: u64,
    /// Reason for a rejection.
    #[serde(default)]
    pub feedback: Option<String>,
    /// Any other comment.
    #[serde(default)]
    pub note: Option<String>,
}

/// End of an [`ApprovalRequest`]: the person or rule that closed it, and the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedBy {
    /// Person who closed the request, if it was a person.
    pub by: Option<Person>,
    /// Time of the end, in milliseconds since 1970.
    pub at_ms: u64,
    /// Remembered rule that decided in place of `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Reason why people were not asked, if so; `by` is then the person who asked for the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unasked: Option<UnaskedReason>,
}

/// Reason why nobody was asked.
#[names(Deserialize, Serialize, wire, snake_case)]
pub enum UnaskedReason {
    /// The run's permission mode was `bypassPermissions`.
    Bypass,
    /// Approvals were off.
    ApprovalsOff,
}

impl ClosedBy {
    /// Returns the end by a person who decided or withdrew it; `None`: no person.
    pub(super) fn by(by: Option<Person>, at_ms: u64) -> Self {
        Self { by, at_ms, rule: None, unasked: None }
    }
}

/// Final result of an [`ApprovalRequest`], for the caller that waits for it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResolution {
    /// Request that ended.
    pub request: RequestId,
    /// Final status of the request.
    pub status: RequestStatus,
    /// Input to run with, if the tool is to run: the model's, or the one a person put in its place.
    pub input: Value,
    /// Newest version when the result was made, with all that was accepted.
    pub version: Version,
    /// Report to the model, without the result of a tool that runs now.
    pub report: ToolReport,
}

/// Decisions of people about an [`ApprovalRequest`], and the end they led to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestDecisions {
    /// Input that a person put in place of the model's.
    #[serde(default)]
    pub edited_input: Option<Value>,
    /// Answer that a person gave instead of running the tool.
    #[serde(default)]
    pub answer: Option<String>,
    /// Comments that people gave with their decisions.
    #[serde(default)]
    pub remarks: Vec<DecisionRemark>,
    /// Votes for the request, where one is not enough and there are no hunks.
    #[serde(default)]
    pub votes: Vec<Vote>,
    /// Requirement as of now for accepting what is open; see [`ApprovalRequest::requires`].
    #[serde(default)]
    pub required: ApprovalRequirement,
    /// Rules wished for with votes that were not enough; made if the vote leads to an acceptance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<ApprovalRule>,
    /// End of the request, once it has ended.
    #[serde(default)]
    pub closed: Option<ClosedBy>,
}

/// One gated tool call that waits for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Tool call that the request is about.
    #[serde(flatten)]
    pub proposal: ProposedCall,
    /// Current status.
    pub status: RequestStatus,
    /// Version of the document that the positions of the hunks refer to.
    pub version: Version,
    /// Changes, in the order of the text; empty for tools that change no document.
    #[serde(default)]
    pub hunks: Vec<Hunk>,
    /// Changes that were never shown because people had changed the words before.
    #[serde(default)]
    pub returned: Vec<ReturnedHunk>,
    /// Times when the request was made and when it ends.
    pub clock: RequestTimes,
    /// Hash of the preview that was announced; a decision without a hash refers to that preview.
    pub announced: String,
    /// Decisions so far, and the end they led to.
    #[serde(flatten)]
    pub decisions: RequestDecisions,
    /// Details of the announced preview, if the effect of the call has changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced_for: Option<AnnouncedPreview>,
    /// Events after the decision.
    #[serde(flatten)]
    pub aftermath: RequestAftermath,
    /// State of a person's suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<SuggestionState>,
    #[serde(skip)]
    pub(super) shown: CachedHash,
}

impl ApprovalRequest {
    /// Creates a request that waits for people, with its changes (if any) mapped to `version`.
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
            decisions: RequestDecisions::default(),
            announced_for: None,
            aftermath: RequestAftermath::default(),
            suggestion: None,
            shown: CachedHash::default(),
        };
        request.announced = request.compute_hash();
        request.mark_hunks();
        request
    }

    /// Returns the id of the request.
    pub fn id(&self) -> &RequestId {
        &self.proposal.origin.id
    }

    /// Returns the hunk with this id.
    pub fn hunk(&self, id: &HunkId) -> Option<&Hunk> {
        self.hunks.iter().find(|h| h.id == *id)
    }

    /// Returns the hunks with these ids, in the order of `ids`; unknown ids are left out.
    pub fn hunks_named(&self, ids: &[HunkId]) -> Vec<&Hunk> {
        let indices = self.indices_of(ids.iter());
        ids.iter().filter_map(|id| indices.get(id)).map(|&index| &self.hunks[index]).collect()
    }

    pub(super) fn indices_of<'i>(
        &self,
        ids: impl ExactSizeIterator<Item = &'i HunkId>,
    ) -> HashMap<&'i HunkId, usize> {
        if ids.len() <= FEW {
            let find = |id: &'i HunkId| Some((id, self.hunks.iter().position(|it| it.id == *id)?));
            return ids.filter_map(find).collect();
        }
        let wanted: HashSet<_> = ids.collect();
        let known = self.hunks.iter().enumerate();
        known.filter_map(|(index, hunk)| Some((*wanted.get(&hunk.id)?, index))).collect()
    }

    /// Returns the size of the change in UTF-16 units: everything deleted plus everything inserted,
    /// as proposed, regardless of decisions since. `None`: unknown.
    pub fn units(&self) -> Option<usize> {
        if self.hunks.is_empty() {
            return self.proposal.action.preview.units();
        }
        let parts = self.hunks.iter().flat_map(|hunk| &hunk.parts);
        Some(parts.map(|part| utf16_len(&part.base) + utf16_len(&part.insert)).sum())
    }

    /// Rebases the request over one committed update, not its own, that led to the text `after`.
    /// Returns the hunks whose status changed. If no hunk is open any more, the request has ended.
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

    /// Ends the request if its time is over; returns the hunks that expired.
    pub fn expire(&mut self, now_ms: u64) -> Option<Vec<HunkId>> {
        if !self.status.is_open() || !self.clock.is_due(now_ms) {
            return None;
        }
        Some(self.end(HunkStatus::Expired, RequestStatus::Expired, None, now_ms))
    }

    /// Takes the request back; returns the hunks that were open, or `None` if it had ended already.
    pub fn cancel(&mut self, by: Option<Person>, now_ms: u64) -> Option<Vec<HunkId>> {
        if !self.status.is_open() {
            return None;
        }
        Some(self.end(HunkStatus::Obsolete, RequestStatus::Cancelled, by, now_ms))
    }

    /// Marks an approved request as failed.
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
        self.raise_revision();
        let mut ended = Vec::new();
        for hunk in self.hunks.iter_mut().filter(|h| h.status.is_open()) {
            hunk.status = open_hunks;
            ended.push(hunk.id.clone());
        }
        let some_accepted = self.hunks.iter().any(|h| h.status == HunkStatus::Accepted);
        self.status = if some_accepted { RequestStatus::Partly } else { status };
        self.decisions.closed = Some(ClosedBy::by(by, now_ms));
        ended
    }

    /// Ends the request as `closed` says if no hunk is open, and returns its new status.
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
            // Only obsolete hunks: people deleted the text of the request.
            RequestStatus::Cancelled
        };
        self.status = status;
        self.decisions.closed = Some(closed);
        Some(status)
    }

    /// Returns the result for the waiting caller, once the request has ended.
    pub fn resolution(&self) -> Option<RequestResolution> {
        if self.status.is_open() {
            return None;
        }
        Some(RequestResolution {
            request: self.id().clone(),
            status: self.status,
            input: self
                .decisions
                .edited_input
                .clone()
                .unwrap_or_else(|| self.proposal.origin.input.clone()),
            version: self.version,
            report: self.report(),
        })
    }
}
