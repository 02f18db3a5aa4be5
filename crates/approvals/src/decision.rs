//! Decisions, their outcomes and the reasons for refusing them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalRule, HunkStatus, InvalidDecisionReason, NotAllowedReason, Person, RememberWish,
    RequestStatus, UpdatedPreview, VoteCount,
};
use copydesk_document::ChangeSet;
use copydesk_document::provenance::WordPlacement;
use copydesk_ids::{DocumentId, HunkId, RuleId};
use copydesk_macros::names;

/// Decision of a person about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Verdict on the request; hunks that are named have their own verdict.
    pub verdict: RequestVerdict,
    /// Decisions on single hunks. `None`: the verdict is for all of them.
    #[serde(default)]
    pub hunks: Option<Vec<HunkVerdict>>,
    /// Choice for the hunks that are not named; `None`: they stay open.
    #[serde(default)]
    pub finish: Option<FinishRest>,
    /// Reason for a rejection; sent to the model.
    #[serde(default)]
    pub feedback: Option<String>,
    /// Comment; sent to the model.
    #[serde(default)]
    pub note: Option<String>,
    /// Rule to remember; only with an approval.
    #[serde(default)]
    pub remember: Option<RememberWish>,
    /// Hash of the preview the person saw; `None`: the one first announced.
    #[serde(default)]
    pub preview_hash: Option<String>,
    /// Remembered rule that decides in the person's place; never accepted from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Preview of the edited call, computed by the server; only with [`RequestVerdict::Edit`].
    #[serde(skip)]
    pub revised: Option<UpdatedPreview>,
    /// Largest change, in UTF-16 units, that rules for files allow; `None`: no limit.
    #[serde(skip)]
    pub most_units: Option<usize>,
    /// The input that came with an approval that edits nothing: it must be the proposed one.
    #[serde(skip)]
    pub sent_back: Option<Value>,
}

impl Decision {
    /// Returns a decision with nothing but a verdict.
    pub fn plain(verdict: RequestVerdict) -> Self {
        Self {
            verdict,
            hunks: None,
            finish: None,
            feedback: None,
            note: None,
            remember: None,
            preview_hash: None,
            rule: None,
            revised: None,
            most_units: None,
            sent_back: None,
        }
    }

    /// Returns the approval that a remembered rule gives.
    pub fn by_rule(rule: RuleId) -> Self {
        Self { rule: Some(rule), ..Self::plain(RequestVerdict::Approve) }
    }

    /// Returns `true` if the decision accepts hunks without naming them.
    pub fn accepts_the_rest(&self) -> bool {
        let accepts_all = self.verdict == RequestVerdict::Approve && self.hunks.is_none();
        self.finish.map_or(accepts_all, |finish| finish == FinishRest::Accept)
    }

    pub(super) fn rejects(&self) -> bool {
        let rejects = |hunk: &HunkVerdict| hunk.choice == HunkChoice::Reject;
        matches!(self.verdict, RequestVerdict::Reject | RequestVerdict::Respond { .. })
            || self.finish == Some(FinishRest::Reject)
            || self.hunks.as_ref().is_some_and(|hunks| hunks.iter().any(rejects))
    }
}

/// Verdict on a whole request, in a [`Decision`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestVerdict {
    /// Every pending hunk without conflict is accepted; a tool without hunks runs.
    Approve,
    /// Every open hunk is rejected; a tool without hunks does not run.
    Reject,
    /// The tool runs with this input, valid for it, instead; not for requests with hunks.
    Edit {
        /// The input.
        input: Value,
    },
    /// The tool does not run; the model gets this answer instead.
    Respond {
        /// The answer.
        message: String,
    },
}

/// Verdict on one hunk, in a [`Decision`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkVerdict {
    /// Hunk that is decided.
    pub id: HunkId,
    /// Choice for the hunk.
    pub choice: HunkChoice,
    /// Text to put in the whole range instead of the proposed words; only with an accept.
    #[serde(default)]
    pub text: Option<String>,
    /// `true` to accept although the words were changed; needs `seen`.
    #[serde(default)]
    pub force: bool,
    /// Text the person saw from the first part to the last, and agrees to overwrite.
    #[serde(default)]
    pub seen: Option<String>,
    /// [`Hunk::words_hash`](super::Hunk::words_hash) of the hunk that the person saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl HunkVerdict {
    /// Returns a plain accept or reject.
    pub fn plain(id: HunkId, choice: HunkChoice) -> Self {
        Self { id, choice, text: None, force: false, seen: None, hash: None }
    }
}

/// Decision on one change.
#[names(Deserialize, Serialize, wire, lowercase)]
pub enum HunkChoice {
    /// Accept: the change is put into the text.
    Accept,
    /// Reject: the text stays as it is.
    Reject,
}

/// Choice for the hunks that a [`Decision`] does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishRest {
    /// Pending hunks without conflict are accepted; hunks in conflict stay open.
    Accept,
    /// All are rejected.
    Reject,
}

/// Outcome of a [`Decision`]. The request has changed accordingly.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionOutcome {
    /// One change for everything that was accepted, to be committed now on the given text. The
    /// request's positions are already those after it; every other request must be rebased over it.
    pub changes: Option<ChangeSet>,
    /// Words that `changes` puts into the text, in positions of the text after it.
    pub placed: Vec<WordPlacement>,
    /// Record of whether people were asked.
    pub asked: PeopleAsked,
    /// Hunks that are no longer open.
    pub decided: Vec<HunkId>,
    /// Hunks that stay open with other votes than before.
    pub voted: Vec<HunkId>,
    /// Open hunks whose place or state is not the one that mapping through `changes` gives.
    pub put: Vec<HunkId>,
    /// The same of hunks that are neither open nor in `decided`.
    pub displaced: Vec<HunkId>,
    /// New status of the request, if it is resolved now.
    pub resolved: Option<RequestStatus>,
    /// Votes on what is open, after this one.
    pub votes: VoteCount,
    /// Rule to remember.
    pub rule: Option<ApprovalRule>,
}

/// Record of whom a change was shown to before it was applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeopleAsked {
    /// People who may decide.
    #[default]
    People,
    /// No one: approvals are off.
    Nobody,
}

/// Reason why a [`Decision`] was refused; the variants are in the order of the checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// The request has no such hunk.
    #[error("there is no change {hunk} in this request")]
    NotFound {
        /// Hunk that was named.
        hunk: HunkId,
    },
    /// The person may not decide this request.
    #[error("{reason}")]
    NotAllowed {
        /// Reason of the refusal.
        reason: NotAllowedReason,
    },
    /// The request expired before a decision.
    #[error("the request expired; nothing was changed")]
    Expired {
        /// Time of the expiry, in milliseconds since 1970.
        at_ms: u64,
    },
    /// An earlier decision stands.
    #[error("{}", already(*status, hunk.as_ref(), by.as_ref()))]
    AlreadyResolved {
        /// Status of the request.
        status: RequestStatus,
        /// Hunk and its status, if only that hunk is decided.
        hunk: Option<(HunkId, HunkStatus)>,
        /// Person who decided, if it was a person.
        by: Option<Person>,
        /// Time of that decision, in milliseconds since 1970.
        at_ms: Option<u64>,
    },
    /// The decision does not fit this request.
    #[error("{reason}")]
    InvalidDecision {
        /// Reason of the refusal.
        reason: InvalidDecisionReason,
    },
    /// The preview the person saw is not the current one.
    #[error("the preview has changed; look at it again")]
    StalePreview {
        /// Hash of the current preview.
        current: String,
    },
    /// The words to replace have changed.
    #[error("somebody changed the words meanwhile; look at it again")]
    Conflicted {
        /// Hunks in conflict.
        hunks: Vec<HunkId>,
    },
    /// The words that an undo would replace have changed since they were accepted.
    #[error("somebody changed these words since; look at what would be overwritten")]
    Touched {
        /// Hunks whose words changed.
        hunks: Vec<TouchedSince>,
    },
    /// The file that a call wrote has changed since.
    #[error("{}", changed_since(file))]
    FileChanged {
        /// Current state of the file.
        file: Box<FileNow>,
    },
}

/// An accepted hunk whose words were changed since, for the person who would undo it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedSince {
    /// Hunk that was accepted.
    pub id: HunkId,
    /// Text in its range now.
    pub stands: String,
    /// Text in its range after the undo.
    pub restores: String,
}

/// Current state of a file that has changed since a call wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNow {
    /// Path of the file.
    pub path: String,
    /// `true` if the file still exists.
    pub is_there: bool,
    /// Changes since, as lines of a unified diff; a long diff is cut at the end.
    pub diff_lines: Vec<String>,
    /// Document that people have open in place of the file.
    pub document: Option<DocumentId>,
}

fn changed_since(FileNow { path, is_there, .. }: &FileNow) -> String {
    if *is_there {
        format!("{path} was changed since; look at it again")
    } else {
        format!("{path} was removed since; look at it again")
    }
}

impl DecisionError {
    /// Returns the error code used on the wire.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::NotAllowed { .. } => "not_allowed",
            Self::Expired { .. } => "expired",
            Self::AlreadyResolved { .. } => "already_resolved",
            Self::InvalidDecision { .. } => "invalid_decision",
            Self::StalePreview { .. } => "stale_preview",
            Self::Conflicted { .. } | Self::Touched { .. } | Self::FileChanged { .. } => {
                "conflicted"
            }
        }
    }
}

fn already(
    status: RequestStatus,
    hunk: Option<&(HunkId, HunkStatus)>,
    by: Option<&Person>,
) -> String {
    let (what, how) = match hunk {
        Some((_, status)) => ("this change", status.as_str()),
        None => ("this request", status.as_str()),
    };
    match by {
        Some(by) => format!("{what} is already {how}, by {}", by.name),
        None => format!("{what} is already {how}"),
    }
}
