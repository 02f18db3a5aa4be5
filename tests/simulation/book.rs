//! What people decided, written down beside the core, and what each decision must be by the rules.

use std::collections::BTreeMap;

use copydesk::approvals::{
    ApprovalRequest, ApprovalRequirement, Decision, DecisionPolicy, FinishRest, Hunk, HunkChoice,
    HunkStatus, HunkVerdict, RequestVerdict, ToolPolicy,
};
use copydesk::document::{ChangeSet, Text};
use copydesk::ids::{HunkId, RequestId, UserId};
use copydesk::permissions::{Principal, Role};

use crate::ledger::{Name, edits};
use crate::rules::Rule::{
    AcceptTouchesNothingElse, ApprovalIsForThePreview, ApproveAllTakesWhatIsPending,
    ConflictNeedsForce, DecisionsStay, DeniedIsNotDone, ExpiredIsOver, FirstDecisionWins,
    FrozenWordsStay, OnlyWhoMayDecides, RejectAllTakesEverything, SeenIsWhatStands, TwoPeopleAgree,
    WhatIsPendingCanBeAccepted, WordsAreWhatWasPreviewed,
};
use crate::rules::{Held, must};
use crate::statutes::Statutes;

/// Who wanted what for a hunk: with which text, over which words.
type Wish = (UserId, Option<String>, Option<String>);

/// What is written down about a hunk.
#[derive(Clone, Default)]
pub struct Line {
    wishes: Vec<Wish>,
    /// How it was decided, by whom and when.
    decided: Option<(HunkStatus, UserId, u64)>,
    /// The units that an accept put in, piece by piece; only if there are units to look at.
    pub stands: Option<Vec<Vec<Name>>>,
    /// How much accepting it changed; `None`: that is not known.
    pub size: Option<usize>,
}

/// What is kept, and what the batch under way adds to it.
#[derive(Default)]
pub struct Book {
    kept: BTreeMap<HunkId, Line>,
    batch: BTreeMap<HunkId, Line>,
    /// How many decisions were taken, and in this batch.
    taken: BTreeMap<RequestId, usize>,
    taken_now: Vec<RequestId>,
}

/// A decision, and everything it met.
pub struct Case<'a> {
    pub before: &'a ApprovalRequest,
    pub after: &'a ApprovalRequest,
    pub decision: &'a Decision,
    pub by: &'a Principal,
    /// The text it was taken on, and what it did to it.
    pub text: &'a Text,
    pub change: Option<&'a ChangeSet>,
    pub now_ms: u64,
    pub frozen: &'a [(usize, usize)],
    /// What owners have ruled by now.
    pub statutes: &'a Statutes,
    /// The stricter policies for some sizes.
    pub policies: &'a [ToolPolicy],
}

/// How much is applied.
enum Applied {
    Nothing,
    Units(usize),
    /// Words that moved apart are overwritten in pieces.
    Unknown,
}

impl Book {
    pub fn line(&self, hunk: &HunkId) -> Line {
        self.batch.get(hunk).or_else(|| self.kept.get(hunk)).cloned().unwrap_or_default()
    }

    pub fn write(&mut self, hunk: &HunkId, line: Line) {
        self.batch.insert(hunk.clone(), line);
    }

    /// It is open again.
    pub fn open_again(&mut self, hunk: &HunkId) {
        self.write(hunk, Line::default());
    }

    /// A rule has decided a request that was just made, or voted for it.
    pub fn write_for_a_rule(&mut self, request: &ApprovalRequest) {
        self.taken_now.push(request.id().clone());
        for hunk in &request.hunks {
            let decided = hunk.decided.as_ref();
            let decided = decided.map(|it| (hunk.status, it.by.user.clone(), it.at_ms));
            let wishes = hunk.votes.iter().map(|vote| (vote.by.user.clone(), None, None)).collect();
            let size =
                hunk.parts.iter().map(|part| length(&part.base) + length(&part.insert)).sum();
            self.write(&hunk.id, Line { wishes, decided, stands: None, size: Some(size) });
        }
    }

    pub fn keep(&mut self) {
        self.kept.append(&mut self.batch);
        for id in self.taken_now.drain(..) {
            *self.taken.entry(id).or_default() += 1;
        }
    }

    pub fn lose(&mut self) {
        self.batch.clear();
        self.taken_now.clear();
    }

    /// How many decisions on a request were taken and kept.
    pub fn taken(&self, request: &RequestId) -> usize {
        self.taken.get(request).copied().unwrap_or_default()
    }

    /// What was decided and kept is still so.
    pub fn stays(&self, hunk: &Hunk) -> Held {
        let Some(line) = self.kept.get(&hunk.id) else { return Ok(()) };
        let Some((status, by, at_ms)) = &line.decided else { return Ok(()) };
        let same = hunk.status == *status
            && hunk.decided.as_ref().is_some_and(|it| it.by.user == *by && it.at_ms == *at_ms);
        must(DecisionsStay, same, || {
            format!("{by} decided {status:?} at {at_ms}, now it is {hunk:?}")
        })
    }

    /// Holds the decision to the rules and writes it down.
    pub fn judge(&mut self, case: &Case) -> Held {
        let Case { before, after, decision, by, .. } = case;
        if before == after {
            return case.is_rightly_refused(self.takes(case), self.is_denied(case));
        }
        let known = self.takes(case);
        let takes = known.unwrap_or(before.proposal.policy);
        let denied = self.is_denied(case);
        case.is_allowed(takes)?;
        self.taken_now.push(before.id().clone());
        for (was, hunk) in before.hunks.iter().zip(&after.hunks) {
            let verdict = decision.hunks.iter().flatten().find(|it| it.id == hunk.id);
            let voted = hunk.votes != was.votes
                || hunk.status != was.status && hunk.status == HunkStatus::Accepted;
            let mut line = self.line(&hunk.id);
            if voted {
                let forced = verdict.filter(|_| was.status == HunkStatus::Conflict);
                // The model's own words, sent back, are a wish for what it proposed.
                let is_own = |text: &String| {
                    verdict.is_some_and(|it| !it.force || was.parts.len() == 1)
                        && was.proposed() == *text
                };
                let wish: Wish = (
                    by.user.clone(),
                    verdict.and_then(|it| it.text.clone()).filter(|text| !is_own(text)),
                    forced.and_then(|it| it.seen.clone()),
                );
                line.wishes.retain(|(user, ..)| *user != by.user);
                line.wishes.push(wish);
            }
            let is_decided = hunk.decided.is_some() && hunk.decided != was.decided;
            if is_decided {
                must(FirstDecisionWins, was.decided.is_none() && line.decided.is_none(), || {
                    format!("{} decided {was:?} again: {hunk:?}", by.name)
                })?;
                line.decided = Some((hunk.status, by.user.clone(), case.now_ms));
            }
            if is_decided && hunk.status == HunkStatus::Accepted {
                must(DeniedIsNotDone, !denied, || format!("{} accepted {was:?}", by.name))?;
                case.accepts(was, verdict)?;
                let (text, over) = line.wishes.last().map(|it| (&it.1, &it.2)).unwrap();
                let agree = line.wishes.iter().filter(|it| (&it.1, &it.2) == (text, over)).count();
                must(TwoPeopleAgree, agree >= takes.need() as usize, || {
                    format!("{agree} people wanted {hunk:?} under {takes:?}: {:?}", line.wishes)
                })?;
                line.size = case.size(was);
            }
            if voted || is_decided {
                self.write(&hunk.id, line);
            }
        }
        case.takes_all_it_says(known)?;
        case.touches_nothing_else()
    }

    /// How much is applied with everything that was accepted before.
    fn applied(&self, case: &Case) -> Applied {
        let accepted = case.before.hunks.iter().filter(|it| it.status == HunkStatus::Accepted);
        let before = accepted.map(|hunk| self.line(&hunk.id).size);
        let now: Vec<_> = case.before.hunks.iter().filter(|hunk| case.accepts_it(hunk)).collect();
        if now.is_empty() {
            return Applied::Nothing;
        }
        let sizes = before.chain(now.iter().map(|hunk| case.size(hunk)));
        sizes.sum::<Option<usize>>().map_or(Applied::Unknown, Applied::Units)
    }

    /// What the decision takes: what was proposed, and what is applied. `None`: how much that is is
    /// hard to tell, but it takes what was proposed at least.
    fn takes(&self, case: &Case) -> Option<ApprovalRequirement> {
        let policy = case.before.proposal.policy;
        let size = match self.applied(case) {
            Applied::Nothing => return Some(policy),
            Applied::Unknown => return None,
            Applied::Units(size) => size,
        };
        let speaking = case.policies.iter().filter(|it| it.over.is_none_or(|over| size > over));
        Some(speaking.fold(policy, |all, it| all.and(it.policy)))
    }

    /// Whether a rule denies what was proposed, or what is applied.
    fn is_denied(&self, case: &Case) -> bool {
        let so_much = match self.applied(case) {
            Applied::Units(size) => case.statutes.denies_units(case.before, size),
            Applied::Nothing | Applied::Unknown => false,
        };
        so_much || case.statutes.denies(case.before)
    }

    /// Whether it takes more than the request did as it was proposed.
    pub fn takes_more(&self, case: &Case) -> bool {
        self.takes(case).is_some_and(|takes| takes != case.before.proposal.policy)
    }
}

impl Case<'_> {
    fn is_late(&self) -> bool {
        let clock = &self.before.clock;
        clock.paused_ms.is_none() && clock.expires_ms.is_some_and(|at_ms| self.now_ms >= at_ms)
    }

    fn may(&self, takes: ApprovalRequirement) -> bool {
        let by = self.by;
        by.role != Role::Viewer
            && takes.policies().iter().all(|policy| match policy {
                DecisionPolicy::NotRequester => by.user != self.before.proposal.requester.user,
                DecisionPolicy::Owner => by.role == Role::Owner,
                DecisionPolicy::Any | DecisionPolicy::Two => true,
            })
    }

    fn is_fresh(&self) -> bool {
        self.decision.preview_hash.as_ref().is_none_or(|hash| *hash == self.before.announced)
    }

    fn verdict(&self, hunk: &Hunk) -> Option<&HunkVerdict> {
        self.decision.hunks.iter().flatten().find(|it| it.id == hunk.id)
    }

    /// Whether this is to be accepted, or would be voted for.
    fn accepts_it(&self, hunk: &Hunk) -> bool {
        if let Some(verdict) = self.verdict(hunk) {
            return verdict.choice == HunkChoice::Accept;
        }
        let Decision { verdict, hunks, finish, .. } = self.decision;
        let rest = match finish {
            Some(finish) => *finish == FinishRest::Accept,
            None => hunks.is_none() && *verdict == RequestVerdict::Approve,
        };
        rest && hunk.status == HunkStatus::Pending && !self.is_frozen(hunk)
    }

    /// Whether somebody puts in words that are not the model's.
    fn own_words(&self, hunk: &Hunk) -> Option<&str> {
        let verdict = self.verdict(hunk).filter(|it| it.choice == HunkChoice::Accept)?;
        verdict.text.as_deref().filter(|text| *text != hunk.proposed())
    }

    /// How much accepting it changes; `None`: that is hard to tell.
    fn size(&self, hunk: &Hunk) -> Option<usize> {
        let stands = |from, to| self.text.slice(from..to).ok();
        let range = hunk.range();
        if let Some(own) = self.own_words(hunk) {
            return Some(apart(&stands(range.start, range.end)?, own));
        }
        let is_plain = hunk.parts.len() == 1
            || hunk.status == HunkStatus::Pending && self.verdict(hunk).is_none_or(|it| !it.force);
        let parts = hunk.parts.iter();
        let sizes = parts.map(|it| Some(length(&stands(it.from, it.to)?) + length(&it.insert)));
        sizes.sum::<Option<usize>>().filter(|_| is_plain)
    }

    fn is_allowed(&self, takes: ApprovalRequirement) -> Held {
        let by = &self.by.name;
        must(OnlyWhoMayDecides, self.may(takes), || format!("{by} decided under {takes:?}"))?;
        let types = self.before.hunks.iter().any(|hunk| self.own_words(hunk).is_some());
        must(OnlyWhoMayDecides, !types || self.by.role != Role::Reviewer, || {
            format!("{by} typed")
        })?;
        must(ExpiredIsOver, !self.is_late(), || {
            format!("{by} decided after {:?}", self.before.clock)
        })?;
        must(ApprovalIsForThePreview, self.is_fresh(), || {
            format!("{by} saw {:?}", self.decision.preview_hash)
        })
    }

    /// A plain yes to what is pending needs nothing but a person who may.
    fn is_rightly_refused(&self, takes: Option<ApprovalRequirement>, denied: bool) -> Held {
        let plain =
            self.decision.hunks.is_none() && self.decision.verdict == RequestVerdict::Approve;
        let pending = || self.before.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Pending);
        let frozen = |hunk: &Hunk| {
            let range = hunk.range();
            self.frozen.iter().any(|(from, to)| range.start <= *to && *from <= range.end)
        };
        let good = plain
            && takes.is_some_and(|takes| self.may(takes) && takes.need() == 1)
            && !self.is_late()
            && self.is_fresh()
            && !denied
            && pending().count() > 0
            && !pending().any(frozen);
        must(WhatIsPendingCanBeAccepted, !good, || {
            format!("{} was refused {:?}", self.by.name, self.before.hunks)
        })
    }

    fn accepts(&self, was: &Hunk, verdict: Option<&HunkVerdict>) -> Held {
        let force = verdict.is_some_and(|it| it.force);
        must(ConflictNeedsForce, was.status != HunkStatus::Conflict || force, || {
            format!("{was:?}")
        })?;
        let stands = self.text.slice(was.range()).unwrap_or_default();
        let seen = verdict.and_then(|it| it.seen.as_ref());
        must(SeenIsWhatStands, seen.is_none_or(|seen| *seen == stands), || {
            format!("{} saw {seen:?}, there stood {stands:?}", self.by.name)
        })?;
        let unforced = !force && verdict.is_none_or(|it| it.text.is_none());
        let words = |from, to| self.text.slice(from..to).unwrap_or_default();
        let as_previewed = was.parts.iter().all(|part| words(part.from, part.to) == part.base);
        must(WordsAreWhatWasPreviewed, !unforced || as_previewed, || {
            format!("{was:?} on {stands:?}")
        })
    }

    /// Whether a part of it would touch frozen words; at their edges is outside.
    fn is_frozen(&self, hunk: &Hunk) -> bool {
        hunk.parts.iter().any(|part| {
            self.frozen.iter().any(|(start, end)| {
                if part.from == part.to {
                    *start < part.from && part.from < *end
                } else {
                    part.from < *end && *start < part.to
                }
            })
        })
    }

    /// A word for all hunks is for all of them.
    fn takes_all_it_says(&self, takes: Option<ApprovalRequirement>) -> Held {
        let hunks = || self.before.hunks.iter().zip(&self.after.hunks);
        let one_is_enough = takes.is_some_and(|takes| takes.need() == 1);
        if self.decision.hunks.is_some() || matches!(self.decision.finish, Some(FinishRest::Reject))
        {
            return Ok(());
        }
        match &self.decision.verdict {
            RequestVerdict::Approve => {
                let right = |(was, hunk): (&Hunk, &Hunk)| match was.status {
                    // What was frozen since stays open and says why, and the rest is taken.
                    HunkStatus::Pending if self.is_frozen(was) => {
                        let update_lock_reasons = was.reason.is_some() && hunk.reason.is_some();
                        hunk.status == HunkStatus::Pending && update_lock_reasons
                    }
                    HunkStatus::Pending => !one_is_enough || hunk.status == HunkStatus::Accepted,
                    HunkStatus::Conflict => hunk.status != HunkStatus::Accepted,
                    _ => true,
                };
                must(ApproveAllTakesWhatIsPending, hunks().all(right), || {
                    format!("{:?}", self.after.hunks)
                })
            }
            RequestVerdict::Reject => {
                let right = |(was, hunk): (&Hunk, &Hunk)| {
                    !was.status.is_open() || hunk.status == HunkStatus::Rejected
                };
                must(RejectAllTakesEverything, hunks().all(right), || {
                    format!("{:?}", self.after.hunks)
                })
            }
            _ => Ok(()),
        }
    }

    /// What the update takes away is what accepted hunks said.
    fn touches_nothing_else(&self) -> Held {
        let Some(change) = self.change else { return Ok(()) };
        let mut allowed = Vec::new();
        for (was, hunk) in self.before.hunks.iter().zip(&self.after.hunks) {
            if hunk.decided == was.decided || hunk.status != HunkStatus::Accepted {
                continue;
            }
            let verdict = self.decision.hunks.iter().flatten().find(|it| it.id == hunk.id);
            let whole = verdict.is_some_and(|it| {
                it.choice == HunkChoice::Accept && (it.force || it.text.is_some())
            });
            if whole {
                allowed.push((was.range().start, was.range().end));
            } else {
                allowed.extend(was.parts.iter().map(|part| (part.from, part.to)));
            }
        }
        for (from, to, _) in edits(change) {
            let touches = |(start, end): &(usize, usize)| {
                if from == to { *start < from && from < *end } else { from < *end && *start < to }
            };
            must(FrozenWordsStay, !self.frozen.iter().any(touches), || change.to_json())?;
        }
        let says = |unit: usize| allowed.iter().any(|(from, to)| *from <= unit && unit < *to);
        let right = edits(change).into_iter().all(|(from, to, _)| (from..to).all(says));
        must(AcceptTouchesNothingElse, right, || {
            format!("{} where {allowed:?} was agreed", change.to_json())
        })
    }
}

fn length(words: &str) -> usize {
    words.encode_utf16().count()
}

/// What is taken away and put in, without what both begin and end with.
fn apart(old: &str, new: &str) -> usize {
    let (mut old, mut new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    for _ in 0..2 {
        while old.last().is_some_and(|last| new.last() == Some(last)) {
            old.pop();
            new.pop();
        }
        old.reverse();
        new.reverse();
    }
    old.iter().chain(&new).map(|it| it.len_utf16()).sum()
}
