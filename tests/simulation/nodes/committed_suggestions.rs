//! The suggestions of people in a document, as they were committed.

use std::collections::BTreeMap;

use copydesk_approvals::ApprovalRequest;
use copydesk_ids::{RequestId, UserId};

use super::sent_writes::WriteKey;
use crate::invariants::Invariant::{RevisionsRise, UpdateIsOverNewest};
use crate::invariants::{CheckResult, InvariantViolation, ensure};

/// The newest suggestion of a person.
#[derive(Clone, Debug, Default)]
struct NewestSuggestion {
    request: Option<RequestId>,
    is_open: bool,
    revision: u64,
    last_update: String,
}

/// Suggestions that were committed, and those that were sent.
#[derive(Default)]
pub struct CommittedSuggestions {
    newest: BTreeMap<UserId, NewestSuggestion>,
    /// The revision that each update was sent over.
    sent: BTreeMap<WriteKey, u64>,
}

impl CommittedSuggestions {
    /// Notes that a person sends an update over a revision.
    pub fn send(&mut self, key: WriteKey, revision: u64) {
        self.sent.insert(key, revision);
    }

    /// Returns the newest revision of a person's suggestions; 0 if there was none.
    pub fn newest_revision(&self, user: &UserId) -> u64 {
        self.newest.get(user).map_or(0, |newest| newest.revision)
    }

    /// Commits the state of a request. Returns the update that led to it, if one did.
    pub fn commit(
        &mut self,
        request: &ApprovalRequest,
    ) -> Result<Option<WriteKey>, InvariantViolation> {
        let Some(state) = &request.suggestion else { return Ok(None) };
        let user = request.proposal.requester.user.clone();
        let before = self.newest.get(&user).cloned().unwrap_or_default();
        let now = NewestSuggestion {
            request: Some(request.id().clone()),
            is_open: request.status.is_open(),
            revision: state.revision,
            last_update: state.last_update.clone(),
        };
        ensure(RevisionsRise, before.revision <= now.revision, || {
            format!("{before:?} of {user} is followed by {now:?}")
        })?;
        let is_written = before.request != now.request || before.last_update != now.last_update;
        let key = WriteKey::Suggestion(user.clone(), now.last_update.clone());
        if is_written {
            self.check_update(&key, &before, &now)?;
        }
        self.newest.insert(user, now);
        Ok(is_written.then_some(key))
    }

    /// Checks that an update is over the newest revision, or over none if nothing is open.
    fn check_update(
        &self,
        key: &WriteKey,
        before: &NewestSuggestion,
        now: &NewestSuggestion,
    ) -> CheckResult {
        let over = self.sent.get(key).copied();
        let is_newest = over == Some(before.revision) || !before.is_open && over == Some(0);
        ensure(UpdateIsOverNewest, is_newest, || {
            format!("an update over {over:?} made {now:?} of {before:?}")
        })?;
        ensure(RevisionsRise, before.revision < now.revision, || {
            format!("an update made {now:?} of {before:?}")
        })
    }
}
