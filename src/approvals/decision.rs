//! What a decision can carry, what it leads to, and why it is refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalRule, HunkStatus, Person, RememberWish, RequestStatus, UpdatedPreview, VoteCount,
};
use crate::document::ChangeSet;
use crate::document::provenance::WordPlacement;
use crate::ids::{DocumentId, HunkId, RuleId};

/// What a person decided about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What is to happen; where hunks are named, they have their own word.
    pub verdict: RequestVerdict,
    /// Decisions on single hunks. `None`: the verdict is for all of them.
    #[serde(default)]
    pub hunks: Option<Vec<HunkVerdict>>,
    /// What happens to the hunks that are not named; without it they stay open.
    #[serde(default)]
    pub finish: Option<FinishRest>,
    /// Why it was rejected; told to the model.
    #[serde(default)]
    pub feedback: Option<String>,
    /// A remark; told to the model.
    #[serde(default)]
    pub note: Option<String>,
    /// A rule to remember; only with an approval.
    #[serde(default)]
    pub remember: Option<RememberWish>,
    /// The preview the person saw; `None`: the one first announced.
    #[serde(default)]
    pub preview_hash: Option<String>,
    /// The remembered rule that decides in the person's place; never from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// With [`RequestVerdict::Edit`]: what the edited call would do, worked out by the server.
    #[serde(skip)]
    pub revised: Option<UpdatedPreview>,
    /// The most UTF-16 units that rules for files let the tool change in the document, worked out by the server; `None`: any.
    #[serde(skip)]
    pub most_units: Option<usize>,
    /// The input that came with an approval that edits nothing: it must be the proposed one.
    #[serde(skip)]
    pub sent_back: Option<Value>,
}

impl Decision {
    /// A decision that says nothing but yes or no.
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

    /// The approval that a remembered rule gives.
    pub fn by_rule(rule: RuleId) -> Self {
        Self { rule: Some(rule), ..Self::plain(RequestVerdict::Approve) }
    }

    /// Whether it accepts changes without naming them.
    pub fn accepts_the_rest(&self) -> bool {
        let accepts_all = self.verdict == RequestVerdict::Approve && self.hunks.is_none();
        self.finish.map_or(accepts_all, |finish| finish == FinishRest::Accept)
    }

    /// Whether it says no to anything.
    pub(super) fn rejects(&self) -> bool {
        let rejects = |hunk: &HunkVerdict| hunk.choice == HunkChoice::Reject;
        matches!(self.verdict, RequestVerdict::Reject | RequestVerdict::Respond { .. })
            || self.finish == Some(FinishRest::Reject)
            || self.hunks.as_ref().is_some_and(|hunks| hunks.iter().any(rejects))
    }
}

/// What is to happen to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestVerdict {
    /// Every pending hunk without conflict is accepted; a tool without hunks runs.
    Approve,
    /// Every open hunk is rejected; a tool without hunks does not run.
    Reject,
    /// The tool runs with this input instead. Not for requests with hunks; the input must be valid for the tool.
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

/// A decision on one hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkVerdict {
    /// The hunk.
    pub id: HunkId,
    /// Yes or no.
    pub choice: HunkChoice,
    /// With yes: the text to put from its first part to its last, instead of the proposed words.
    #[serde(default)]
    pub text: Option<String>,
    /// Accept although the words were changed; needs `seen`.
    #[serde(default)]
    pub force: bool,
    /// What the person saw standing from its first part to its last, and agrees to overwrite.
    #[serde(default)]
    pub seen: Option<String>,
}

impl HunkVerdict {
    /// A plain yes or no.
    pub fn plain(id: HunkId, choice: HunkChoice) -> Self {
        Self { id, choice, text: None, force: false, seen: None }
    }
}

/// Yes or no to a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HunkChoice {
    /// Into the text.
    Accept,
    /// Not.
    Reject,
}

/// What happens to the hunks a decision does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishRest {
    /// Those pending without conflict are accepted; conflicted ones stay open.
    Accept,
    /// All are rejected.
    Reject,
}

/// What a decision led to. The request has changed accordingly.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionOutcome {
    /// One change for everything that was accepted, to be committed now on the text that was given. The request's positions
    /// are already those after it; every other request has to be rebased over it.
    pub changes: Option<ChangeSet>,
    /// What `changes` puts into the text, in positions of the text after it.
    pub placed: Vec<WordPlacement>,
    /// Whether somebody was asked at all.
    pub asked: PeopleAsked,
    /// Hunks that are no longer open.
    pub decided: Vec<HunkId>,
    /// Open hunks that stand elsewhere, or are in another state, than by being mapped through `changes`.
    pub put: Vec<HunkId>,
    /// The request's status, if it is resolved now.
    pub resolved: Option<RequestStatus>,
    /// Votes on what is open, after this one.
    pub votes: VoteCount,
    /// A rule to remember.
    pub rule: Option<ApprovalRule>,
}

/// Who was asked before a change was applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeopleAsked {
    /// People who may decide.
    #[default]
    People,
    /// Nobody: approvals are off.
    Nobody,
}

/// Why a decision was refused; nothing has changed. The order of the variants is the order of the checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// The request has no such hunk.
    #[error("there is no change {hunk} in this request")]
    NotFound {
        /// The hunk that was named.
        hunk: HunkId,
    },
    /// The person may not decide this.
    #[error("{reason}")]
    NotAllowed {
        /// Why, for people.
        reason: &'static str,
    },
    /// Nobody decided in time.
    #[error("the request expired; nothing was changed")]
    Expired {
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
    /// Somebody was faster.
    #[error("{}", already(*status, hunk.as_ref(), by.as_ref()))]
    AlreadyResolved {
        /// The request's status.
        status: RequestStatus,
        /// The hunk and its status, if only that one is decided.
        hunk: Option<(HunkId, HunkStatus)>,
        /// Who decided, if it was a person.
        by: Option<Person>,
        /// When, in milliseconds since 1970.
        at_ms: Option<u64>,
    },
    /// The decision makes no sense for this request.
    #[error("{reason}")]
    InvalidDecision {
        /// Why, for people.
        reason: &'static str,
    },
    /// What the person saw is not what would happen.
    #[error("the preview has changed; look at it again")]
    StalePreview {
        /// The hash of the current preview.
        current: String,
    },
    /// Words that would be replaced are not what they were.
    #[error("somebody changed the words meanwhile; look at it again")]
    Conflicted {
        /// The hunks concerned.
        hunks: Vec<HunkId>,
    },
    /// Words that an undo would replace are not those that were accepted.
    #[error("somebody changed these words since; look at what would be overwritten")]
    Touched {
        /// The hunks concerned.
        hunks: Vec<TouchedSince>,
    },
    /// The file that a call has written does not read as the call left it.
    #[error("{}", changed_since(file))]
    FileChanged {
        /// How it reads now.
        file: Box<FileNow>,
    },
}

/// An accepted hunk whose words were changed since, as whoever would take it back has to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedSince {
    /// The hunk.
    pub id: HunkId,
    /// What stands there now.
    pub stands: String,
    /// What would stand there after the undo.
    pub restores: String,
}

/// How a file reads that has changed since a call wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNow {
    /// The file.
    pub path: String,
    /// Whether it is still there.
    pub is_there: bool,
    /// What changed since, as a unified diff; of a long one the beginning.
    pub diff_lines: Vec<String>,
    /// The document that people have open in its place.
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
    /// The code on the wire.
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
