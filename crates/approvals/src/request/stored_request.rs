//! Stored form of a request that waits: its body, and the parts that changed since it was written.
//! A decision about one of many hunks need not write the others.
//!
//! Each part has the version of its positions, so a part that was stored later takes its place once
//! mapping along the log has reached its version.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRequest, ApprovalRequirement, Hunk, RequestAftermath, RequestDecisions, RequestStatus,
    RequestTimes, SuggestionState,
};
use copydesk_ids::Version;

/// Everything of a request that can change while it waits, apart from its hunks and its preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestHead {
    status: RequestStatus,
    version: Version,
    clock: RequestTimes,
    policy: ApprovalRequirement,
    #[serde(default)]
    scope: Option<(usize, usize)>,
    decisions: RequestDecisions,
    #[serde(default)]
    aftermath: RequestAftermath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suggestion: Option<SuggestionState>,
}

/// Part of a request that was stored after its body.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredPart {
    /// Everything but the hunks.
    Head(Box<RequestHead>),
    /// Hunk, at the version of its positions.
    Hunk(Version, Box<Hunk>),
}

impl StoredPart {
    fn version(&self) -> Version {
        match self {
            Self::Head(head) => head.version,
            Self::Hunk(version, _) => *version,
        }
    }
}

/// Request as it is stored, while it is mapped along the log.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRequest {
    request: ApprovalRequest,
    later: VecDeque<(usize, StoredPart)>,
}

impl StoredRequest {
    /// Creates a request of its body and the parts that changed since.
    pub fn new(body: ApprovalRequest, mut changed: Vec<StoredPart>) -> Self {
        let mut later = VecDeque::new();
        if !changed.is_empty() {
            changed.sort_by_key(StoredPart::version);
            // The hunks of a request are the same until its body is written again.
            let hunks = body.hunks.iter().enumerate();
            let indices: HashMap<_, _> = hunks.map(|(index, hunk)| (&hunk.id, index)).collect();
            let placed = changed.into_iter().filter_map(|part| match &part {
                StoredPart::Head(_) => Some((0, part)),
                StoredPart::Hunk(_, hunk) => Some((*indices.get(&hunk.id)?, part)),
            });
            later.extend(placed);
        }
        let mut stored = Self { request: body, later };
        stored.take_due();
        stored
    }

    /// Parses a request as it is stored, with its parts: the id of the hunk (empty for the head),
    /// the version and the JSON of each.
    pub fn read<'p>(
        body: &str,
        parts: impl Iterator<Item = (&'p str, Version, &'p str)>,
    ) -> serde_json::Result<Self> {
        let part = |(hunk, version, json): (&str, Version, &str)| {
            Ok(if hunk.is_empty() {
                StoredPart::Head(serde_json::from_str(json)?)
            } else {
                StoredPart::Hunk(version, serde_json::from_str(json)?)
            })
        };
        let changed = parts.map(part).collect::<serde_json::Result<_>>()?;
        Ok(Self::new(serde_json::from_str(body)?, changed))
    }

    /// Returns the request at the version that is reached.
    pub fn reached(&self) -> &ApprovalRequest {
        &self.request
    }

    /// Returns the version that all parts lead to.
    pub fn newest(&self) -> Version {
        self.later.back().map_or(self.request.version, |(_, part)| part.version())
    }

    /// Maps the request over the next update by `advance`, and takes the parts of that version.
    pub fn advance<T>(&mut self, advance: impl FnOnce(&mut ApprovalRequest) -> T) -> T {
        let advanced = advance(&mut self.request);
        self.take_due();
        advanced
    }

    /// Returns the request with all its parts; positions are right only at [`Self::newest`].
    pub fn finish(mut self) -> ApprovalRequest {
        for (index, part) in std::mem::take(&mut self.later) {
            self.request.take_part(index, part);
        }
        self.request
    }

    fn take_due(&mut self) {
        let reached = self.request.version;
        while let Some((index, part)) =
            self.later.pop_front_if(|(_, part)| part.version() <= reached)
        {
            self.request.take_part(index, part);
        }
    }
}

impl ApprovalRequest {
    /// Returns everything that can change while the request waits, but not its hunks and preview.
    pub fn head(&self) -> RequestHead {
        RequestHead {
            status: self.status,
            version: self.version,
            clock: self.clock,
            policy: self.proposal.policy,
            scope: self.proposal.action.scope,
            decisions: self.decisions.clone(),
            aftermath: self.aftermath.clone(),
            suggestion: self.suggestion.clone(),
        }
    }

    fn take_part(&mut self, index: usize, part: StoredPart) {
        match part {
            StoredPart::Head(head) => {
                let RequestHead { status, version, clock, policy, scope, .. } = *head;
                let RequestHead { decisions, aftermath, suggestion, .. } = *head;
                (self.status, self.version, self.clock) = (status, version, clock);
                (self.proposal.policy, self.proposal.action.scope) = (policy, scope);
                (self.decisions, self.aftermath) = (decisions, aftermath);
                self.suggestion = suggestion;
            }
            StoredPart::Hunk(_, hunk) => self.hunks[index] = *hunk,
        }
    }
}
