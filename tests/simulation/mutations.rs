//! Rules as they must not be, each put around the real core. A simulation that does not notice one
//! proves nothing about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk::approvals::{
    ApprovalRequest, ApprovalRule, Decision, Hunk, HunkChoice, HunkStatus, HunkVerdict,
    RequestVerdict, RuleEffect,
};
use copydesk::document::{ChangeLimits, ChangeSet, InsertSide, MapOrder, Text};
use copydesk::ids::{ClientId, RequestId, RuleId, Version};
use copydesk::permissions::{Principal, Role};
use copydesk::rooms::command::{PushRequest, UndoChange};
use copydesk::rooms::simulated_room::SimulatedRoom;
use copydesk::store::StoreOp;

/// A wrong rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Missed updates are composed and mapped over at once, as in CodeMirror's own example.
    RebaseOverTheComposition,
    /// What was committed already and is sent again is not recognised.
    SentAgainIsNew,
    /// A replacement's edges are mapped outward: what is typed at an edge is inside.
    EdgesOutward,
    /// What is typed at the place of an insertion comes behind it.
    InsertionStaysBefore,
    /// Touching an edge is a conflict.
    EdgeIsConflict,
    /// Words that were changed are not in conflict.
    ChangedWordsAreNoConflict,
    /// A conflict goes on when the words are back.
    ConflictNeverClears,
    /// A hunk whose words are gone takes its siblings with it.
    ObsoleteTakesSiblings,
    /// The inverses of what was accepted stay where they were.
    InverseIsNotMapped,
    /// What stands there is not compared with `seen`.
    SeenIsNotCompared,
    /// A conflicted hunk needs no force.
    ForceIsNotNeeded,
    /// A decided hunk can be decided again.
    LastDecisionWins,
    /// Two votes of one person are two votes.
    OnePersonIsTwo,
    /// Votes for different texts count together.
    VotesForAnyText,
    /// The policy is not looked at.
    AnybodyDecides,
    /// The policy is that for what was proposed, whatever is applied.
    PolicyAsProposedOnly,
    /// Who may decide may put in words of their own.
    ReviewersType,
    /// Nothing is too late.
    ExpiredIsAccepted,
    /// The countdown goes on while people look.
    LookingDoesNotHelp,
    /// Any approval is for any preview.
    PreviewIsNotCompared,
    /// Frozen words are not looked at.
    FrozenIsNotLookedAt,
    /// "Accept all" overwrites what people changed.
    ApproveAllForces,
    /// "Reject all" leaves what is in conflict.
    RejectAllLeavesConflicts,
    /// The other hunks of a request stay where they were when one is accepted.
    SiblingsStay,
    /// Undo does not look at what was touched since.
    UndoDoesNotLook,
    /// People are told before it is kept.
    ToldBeforeKept,
    /// A decision and its update are two transactions.
    TwoTransactions,
    /// A restart takes positions as they were stored.
    RestartDoesNotMap,
    /// What a rule denies is proposed and accepted all the same.
    DenialIsNotLookedAt,
    /// What owners want to be asked about is allowed by another rule.
    AskIsNotLookedAt,
    /// A rule allows changes of every size.
    RuleForgetsItsSize,
    /// What a rule decided is on record nowhere.
    RuleIsNotRecorded,
    /// A restart ends the rules.
    RestartForgetsRules,
}

use Mutation as M;

pub const ALL: [Mutation; 33] = [
    M::RebaseOverTheComposition,
    M::SentAgainIsNew,
    M::EdgesOutward,
    M::InsertionStaysBefore,
    M::EdgeIsConflict,
    M::ChangedWordsAreNoConflict,
    M::ConflictNeverClears,
    M::ObsoleteTakesSiblings,
    M::InverseIsNotMapped,
    M::SeenIsNotCompared,
    M::ForceIsNotNeeded,
    M::LastDecisionWins,
    M::OnePersonIsTwo,
    M::VotesForAnyText,
    M::AnybodyDecides,
    M::PolicyAsProposedOnly,
    M::ReviewersType,
    M::ExpiredIsAccepted,
    M::LookingDoesNotHelp,
    M::PreviewIsNotCompared,
    M::FrozenIsNotLookedAt,
    M::ApproveAllForces,
    M::RejectAllLeavesConflicts,
    M::SiblingsStay,
    M::UndoDoesNotLook,
    M::ToldBeforeKept,
    M::TwoTransactions,
    M::RestartDoesNotMap,
    M::DenialIsNotLookedAt,
    M::AskIsNotLookedAt,
    M::RuleForgetsItsSize,
    M::RuleIsNotRecorded,
    M::RestartForgetsRules,
];

impl Mutation {
    /// A push as this server reads it; `missed` are the updates since its version.
    pub fn push(
        self,
        push: PushRequest,
        missed: &[copydesk::document::Update],
        len: usize,
    ) -> PushRequest {
        if missed.is_empty() || ![M::RebaseOverTheComposition, M::SentAgainIsNew].contains(&self) {
            return push;
        }
        let parse = |json: &str| ChangeSet::parse(json, &ChangeLimits::NONE).unwrap();
        let own = |it: &copydesk::document::Update| {
            push.updates.iter().any(|(client, _)| it.client == *client)
        };
        if self == M::RebaseOverTheComposition && missed.iter().any(own) {
            return push;
        }
        let mut over: Vec<ChangeSet> = missed.iter().map(|it| parse(&it.changes)).collect();
        if self == M::RebaseOverTheComposition {
            let all =
                over[1..].iter().fold(over[0].clone(), |all, next| all.compose(next).unwrap());
            over = vec![all];
        }
        let mut changes: Vec<ChangeSet> =
            push.updates.iter().map(|(_, json)| parse(json)).collect();
        for mut over in over {
            for change in &mut changes {
                let moved = change.map(&over, MapOrder::After).unwrap();
                over = over.map(change, MapOrder::Before).unwrap();
                *change = moved;
            }
        }
        debug_assert_eq!(changes[0].len(), len);
        let base = push.base.plus(missed.len());
        let clients = push.updates.into_iter().map(|(client, _)| client);
        let json = changes.iter().map(|it| it.to_json().into_boxed_str());
        let updates: Vec<(ClientId, Box<str>)> = clients.zip(json).collect();
        PushRequest { base, updates, ..push }
    }

    /// Where this room has its pending changes after updates that `before` had not seen.
    pub fn rebase(
        self,
        before: &ApprovalRequest,
        now: &mut Arc<ApprovalRequest>,
        updates: &[(ChangeSet, Text)],
    ) {
        let wrong = [
            M::EdgesOutward,
            M::InsertionStaysBefore,
            M::EdgeIsConflict,
            M::ChangedWordsAreNoConflict,
            M::ConflictNeverClears,
            M::InverseIsNotMapped,
        ];
        if self == M::ObsoleteTakesSiblings {
            let gone = |hunk: &Hunk| hunk.status == HunkStatus::Obsolete;
            let was = before.hunks.iter().filter(|hunk| gone(hunk)).count();
            if now.hunks.iter().filter(|hunk| gone(hunk)).count() > was {
                let hunks = Arc::make_mut(now).hunks.iter_mut();
                hunks
                    .filter(|hunk| hunk.status.is_open())
                    .for_each(|hunk| hunk.status = HunkStatus::Obsolete);
            }
        }
        if !wrong.contains(&self) {
            return;
        }
        let mut hunks = before.hunks.clone();
        for (change, after) in updates {
            for hunk in &mut hunks {
                self.rebase_hunk(hunk, change, after);
            }
        }
        Arc::make_mut(now).hunks = hunks;
    }

    fn rebase_hunk(self, hunk: &mut Hunk, change: &ChangeSet, after: &Text) {
        let before = hunk.clone();
        hunk.rebase(change, after);
        match self {
            M::InverseIsNotMapped => hunk.inverse.clone_from(&before.inverse),
            M::EdgesOutward | M::InsertionStaysBefore | M::EdgeIsConflict => {
                let pending =
                    before.status == HunkStatus::Pending && hunk.status == HunkStatus::Pending;
                for (part, was) in hunk.parts.iter_mut().zip(&before.parts).filter(|_| pending) {
                    match self {
                        M::EdgesOutward if !was.is_insertion() => {
                            part.from = change.map_pos(was.from, InsertSide::Before);
                            part.to = change.map_pos(was.to, InsertSide::After);
                        }
                        M::InsertionStaysBefore if was.is_insertion() => {
                            part.from = change.map_pos(was.from, InsertSide::Before);
                            part.to = part.from;
                        }
                        M::EdgeIsConflict if !was.is_insertion() => {
                            let mut ranges = change.changed_sections();
                            part.conflict =
                                ranges.any(|it| it.end == was.from || it.start == was.to);
                        }
                        _ => {}
                    }
                }
                if pending && hunk.parts.iter().any(|part| part.conflict) {
                    hunk.status = HunkStatus::Conflict;
                }
            }
            M::ChangedWordsAreNoConflict if hunk.status == HunkStatus::Conflict => {
                hunk.parts.iter_mut().for_each(|part| part.conflict = false);
                hunk.status = HunkStatus::Pending;
            }
            M::ConflictNeverClears
                if before.status == HunkStatus::Conflict && hunk.status == HunkStatus::Pending =>
            {
                for (part, was) in hunk.parts.iter_mut().zip(&before.parts) {
                    part.conflict = was.conflict;
                }
                hunk.status = HunkStatus::Conflict;
            }
            _ => {}
        }
    }

    /// A decision as this room reads it.
    pub fn decide(
        self,
        room: &mut SimulatedRoom,
        id: &RequestId,
        decision: &mut Decision,
        by: &mut Principal,
    ) {
        let text = room.text().clone();
        let Some(request) = room.open_mut().get_mut(id).map(Arc::make_mut) else { return };
        match self {
            M::AnybodyDecides => {
                by.role = Role::Owner;
                request.proposal.requester.user = "nobody".into();
            }
            M::PolicyAsProposedOnly => *room.policies_mut() = None,
            M::ReviewersType if by.role == Role::Reviewer => by.role = Role::Editor,
            M::ExpiredIsAccepted => request.clock.expires_ms = None,
            M::PreviewIsNotCompared => decision.preview_hash = None,
            M::OnePersonIsTwo => {
                let votes = request.hunks.iter_mut().flat_map(|hunk| &mut hunk.votes);
                votes.for_each(|vote| vote.by.user = "somebody else".into());
            }
            M::FrozenIsNotLookedAt => room.frozen_mut().clear(),
            _ if decision.hunks.is_none() => self.word_for_all(request, decision, &text),
            _ => self.words_for_some(request, decision, &text),
        }
    }

    /// A decision that names no hunk.
    fn word_for_all(self, request: &ApprovalRequest, decision: &mut Decision, text: &Text) {
        let meant = match (self, &decision.verdict) {
            (M::ApproveAllForces, RequestVerdict::Approve) => HunkStatus::is_open,
            (M::RejectAllLeavesConflicts, RequestVerdict::Reject) => {
                |status| status == HunkStatus::Pending
            }
            _ => return,
        };
        let hunks = request.hunks.iter().filter(|hunk| meant(hunk.status));
        let choice =
            if self == M::ApproveAllForces { HunkChoice::Accept } else { HunkChoice::Reject };
        let verdict = |hunk: &Hunk| {
            let force = hunk.status == HunkStatus::Conflict && choice == HunkChoice::Accept;
            let seen = text.slice(hunk.range()).ok().filter(|_| force);
            HunkVerdict { force, seen, ..HunkVerdict::plain(hunk.id.clone(), choice) }
        };
        decision.hunks = Some(hunks.map(verdict).collect());
    }

    /// A decision that names hunks.
    fn words_for_some(self, request: &mut ApprovalRequest, decision: &mut Decision, text: &Text) {
        for verdict in decision.hunks.iter_mut().flatten() {
            let Some(hunk) = request.hunks.iter_mut().find(|hunk| hunk.id == verdict.id) else {
                continue;
            };
            let stands = text.slice(hunk.range()).ok();
            match self {
                M::SeenIsNotCompared if verdict.seen.is_some() => verdict.seen = stands,
                M::ForceIsNotNeeded if verdict.choice == HunkChoice::Accept => {
                    verdict.force = true;
                    verdict.seen = stands;
                }
                M::LastDecisionWins if hunk.status == HunkStatus::Rejected => {
                    let conflict = hunk.parts.iter().any(|part| part.conflict);
                    hunk.status = if conflict { HunkStatus::Conflict } else { HunkStatus::Pending };
                }
                M::VotesForAnyText => {
                    for vote in &mut hunk.votes {
                        vote.text.clone_from(&verdict.text);
                        vote.seen = verdict.seen.clone().filter(|_| verdict.force);
                    }
                }
                _ => {}
            }
        }
    }

    /// What this room has made of a request that was decided.
    pub fn decided(self, room: &mut SimulatedRoom, before: &ApprovalRequest) {
        let Some(now) = room.open_mut().get_mut(before.id()) else { return };
        match self {
            M::AnybodyDecides => {
                Arc::make_mut(now).proposal.requester = before.proposal.requester.clone();
            }
            M::ExpiredIsAccepted => Arc::make_mut(now).clock = before.clock,
            _ => {}
        }
        if self != M::SiblingsStay {
            return;
        }
        for (hunk, was) in Arc::make_mut(now).hunks.iter_mut().zip(&before.hunks) {
            if was.status == HunkStatus::Pending && hunk.status == HunkStatus::Pending {
                hunk.parts.clone_from(&was.parts);
            }
        }
    }

    /// An undo as this room reads it.
    pub fn undo(self, undo: &mut UndoChange) {
        undo.force |= self == M::UndoDoesNotLook;
    }

    /// The rules as this room reads them when something is proposed or decided.
    pub fn law(self, rules: &mut BTreeMap<RuleId, Arc<ApprovalRule>>) {
        match self {
            M::DenialIsNotLookedAt => rules.retain(|_, rule| rule.effect != RuleEffect::Deny),
            M::AskIsNotLookedAt => rules.retain(|_, rule| rule.effect != RuleEffect::Ask),
            M::RuleForgetsItsSize => {
                for rule in rules.values_mut() {
                    Arc::make_mut(rule).remember.max_units = None;
                }
            }
            _ => {}
        }
    }

    /// Whether this store keeps something.
    pub fn keeps(self, op: &StoreOp) -> bool {
        let by_rule =
            |op: &StoreOp| matches!(op, StoreOp::AppendDecision(it) if !it.body["rule"].is_null());
        self != M::RuleIsNotRecorded || !by_rule(op)
    }

    /// What is left of a batch when the power is cut while it is written.
    pub fn half_kept(self, op: &StoreOp) -> bool {
        self == M::TwoTransactions
            && !matches!(op, StoreOp::AppendUpdates { .. } | StoreOp::PutSnapshot { .. })
    }

    /// A room as this server finds it after a restart.
    pub fn restarted(
        self,
        room: &mut SimulatedRoom,
        stored: impl Fn(&RequestId) -> ApprovalRequest,
    ) {
        if self == M::RestartForgetsRules {
            room.rules_mut().clear();
        }
        let version: Version = room.version();
        for (id, request) in room.open_mut().iter_mut().filter(|_| self == M::RestartDoesNotMap) {
            let mut stored = stored(id);
            stored.version = version;
            *request = Arc::new(stored);
        }
    }
}
