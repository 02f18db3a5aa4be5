//! Mutations of the room's behaviour, each applied around the real core. A simulation that does not
//! detect one proves nothing about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Decision, Hunk, HunkChoice, HunkStatus, HunkVerdict,
    RequestVerdict, RuleEffect,
};
use copydesk_document::{ChangeLimits, ChangeSet, InsertSide, MapOrder, Text};
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{ClientId, RequestId, RuleId, Version};
use copydesk_rooms::command::{PushRequest, UndoChange};
use copydesk_rooms::simulated_room::SimulatedRoom;
use copydesk_store::StoreOp;

/// A mutation: a wrong behaviour of the room or its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomMutation {
    /// Missed updates are composed and mapped over at once, as in CodeMirror's own example.
    RebaseOverComposition,
    /// Committed updates that are sent again are not recognised.
    ResentUpdatesAreNew,
    /// The edges of a replacement map outward: text typed at an edge is inside.
    EdgesMapOutward,
    /// Text typed at the position of an insertion comes after it.
    InsertionMapsBefore,
    /// An edit that touches an edge is a conflict.
    EdgeTouchConflicts,
    /// A change of the hunk's text is no conflict.
    ChangedTextIsNoConflict,
    /// A conflict stays when the text is back.
    ConflictNeverClears,
    /// An obsolete hunk makes its siblings obsolete.
    ObsoleteSpreadsToSiblings,
    /// The inverses of accepted hunks are not mapped over updates.
    InverseNotMapped,
    /// `seen` is not compared with the text.
    SeenNotCompared,
    /// A hunk in conflict needs no force.
    ForceNotNeeded,
    /// A decided hunk can be decided again.
    LastDecisionWins,
    /// Two votes of one person count as two.
    RepeatedVotesCount,
    /// Votes for different texts count together.
    VotesIgnoreText,
    /// The policy is not checked.
    AuthorizationNotChecked,
    /// The policy is that of the proposal, whatever is applied.
    PolicyIgnoresAppliedSize,
    /// Policies by marks hold for nothing.
    PolicyIgnoresMarks,
    /// Reviewers may edit the text they accept.
    ReviewersMayEdit,
    /// A decision is never too late.
    ExpiryNotChecked,
    /// The countdown goes on while a request is focused.
    FocusDoesNotPauseExpiry,
    /// The hash of the preview is not compared.
    PreviewHashNotCompared,
    /// Frozen text is not checked.
    FrozenTextNotChecked,
    /// "Approve all" overwrites hunks in conflict.
    ApproveAllForcesConflicts,
    /// "Reject all" leaves hunks in conflict open.
    RejectAllLeavesConflicts,
    /// The other hunks of a request are not mapped when one is accepted.
    SiblingsNotRebased,
    /// Undo ignores later edits.
    UndoIgnoresLaterEdits,
    /// The batch is broadcast before it is committed.
    BroadcastBeforeCommit,
    /// A decision and its update are committed in two transactions.
    TransactionIsSplit,
    /// A restart does not map stored positions.
    RestartDoesNotRebase,
    /// A call that a rule denies is proposed and accepted.
    DenyRulesIgnored,
    /// Another rule allows what a rule asks about.
    AskRulesIgnored,
    /// A rule allows changes of any size.
    RuleSizeLimitIgnored,
    /// The decision of a rule is not recorded.
    RuleDecisionNotRecorded,
    /// A restart loses the rules.
    RestartLosesRules,
    /// Threads of comments stay where they are when a change is accepted.
    ThreadsStayOnAccept,
    /// A thread whose words are deleted is not orphaned.
    DeletionDoesNotOrphan,
    /// A thread whose words are back is still orphaned.
    OrphansStayOrphaned,
    /// A resolved thread is open again when its words are back.
    ResolvedThreadsReopen,
    /// Words that people write are not stored.
    CommentsNotStored,
    /// A rule that allows applies a suggestion.
    AllowRulesApplySuggestions,
    /// The words of a hunk are not compared with those that were seen.
    HunkHashNotCompared,
    /// A hunk can be decided while it is being written.
    WritingCanBeDecided,
}

use RoomMutation as M;

pub const ALL: [RoomMutation; 42] = [
    M::RebaseOverComposition,
    M::ResentUpdatesAreNew,
    M::EdgesMapOutward,
    M::InsertionMapsBefore,
    M::EdgeTouchConflicts,
    M::ChangedTextIsNoConflict,
    M::ConflictNeverClears,
    M::ObsoleteSpreadsToSiblings,
    M::InverseNotMapped,
    M::SeenNotCompared,
    M::ForceNotNeeded,
    M::LastDecisionWins,
    M::RepeatedVotesCount,
    M::VotesIgnoreText,
    M::AuthorizationNotChecked,
    M::PolicyIgnoresAppliedSize,
    M::PolicyIgnoresMarks,
    M::ReviewersMayEdit,
    M::ExpiryNotChecked,
    M::FocusDoesNotPauseExpiry,
    M::PreviewHashNotCompared,
    M::FrozenTextNotChecked,
    M::ApproveAllForcesConflicts,
    M::RejectAllLeavesConflicts,
    M::SiblingsNotRebased,
    M::UndoIgnoresLaterEdits,
    M::BroadcastBeforeCommit,
    M::TransactionIsSplit,
    M::RestartDoesNotRebase,
    M::DenyRulesIgnored,
    M::AskRulesIgnored,
    M::RuleSizeLimitIgnored,
    M::RuleDecisionNotRecorded,
    M::RestartLosesRules,
    M::ThreadsStayOnAccept,
    M::DeletionDoesNotOrphan,
    M::OrphansStayOrphaned,
    M::ResolvedThreadsReopen,
    M::CommentsNotStored,
    M::AllowRulesApplySuggestions,
    M::HunkHashNotCompared,
    M::WritingCanBeDecided,
];

impl RoomMutation {
    /// Returns the push as the mutation reads it. `missed` are the updates since its version.
    pub fn mutate_push(
        self,
        push: PushRequest,
        missed: &[copydesk_document::Update],
        len: usize,
    ) -> PushRequest {
        if missed.is_empty() || ![M::RebaseOverComposition, M::ResentUpdatesAreNew].contains(&self)
        {
            return push;
        }
        let parse = |json: &str| ChangeSet::parse(json, &ChangeLimits::NONE).unwrap();
        let own = |it: &copydesk_document::Update| {
            push.updates.iter().any(|(client, _)| it.client == *client)
        };
        if self == M::RebaseOverComposition && missed.iter().any(own) {
            return push;
        }
        let mut over: Vec<ChangeSet> = missed.iter().map(|it| parse(&it.changes)).collect();
        if self == M::RebaseOverComposition {
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

    /// Changes the pending hunks of a request after updates that `before` had not seen.
    pub fn mutate_rebase(
        self,
        before: &ApprovalRequest,
        now: &mut Arc<ApprovalRequest>,
        updates: &[(ChangeSet, Text)],
    ) {
        let rebase_mutations = [
            M::EdgesMapOutward,
            M::InsertionMapsBefore,
            M::EdgeTouchConflicts,
            M::ChangedTextIsNoConflict,
            M::ConflictNeverClears,
            M::InverseNotMapped,
        ];
        if self == M::ObsoleteSpreadsToSiblings {
            let is_obsolete = |hunk: &Hunk| hunk.status == HunkStatus::Obsolete;
            let was = before.hunks.iter().filter(|hunk| is_obsolete(hunk)).count();
            if now.hunks.iter().filter(|hunk| is_obsolete(hunk)).count() > was {
                let hunks = Arc::make_mut(now).hunks.iter_mut();
                hunks
                    .filter(|hunk| hunk.status.is_open())
                    .for_each(|hunk| hunk.status = HunkStatus::Obsolete);
            }
        }
        if !rebase_mutations.contains(&self) {
            return;
        }
        let mut hunks = before.hunks.clone();
        for (change, after) in updates {
            for hunk in &mut hunks {
                self.mutate_hunk_rebase(hunk, change, after);
            }
        }
        Arc::make_mut(now).hunks = hunks;
    }

    fn mutate_hunk_rebase(self, hunk: &mut Hunk, change: &ChangeSet, after: &Text) {
        let before = hunk.clone();
        hunk.rebase(change, after);
        match self {
            M::InverseNotMapped => hunk.inverse.clone_from(&before.inverse),
            M::EdgesMapOutward | M::InsertionMapsBefore | M::EdgeTouchConflicts => {
                let pending =
                    before.status == HunkStatus::Pending && hunk.status == HunkStatus::Pending;
                for (part, was) in hunk.parts.iter_mut().zip(&before.parts).filter(|_| pending) {
                    match self {
                        M::EdgesMapOutward if !was.is_insertion() => {
                            part.from = change.map_pos(was.from, InsertSide::Before);
                            part.to = change.map_pos(was.to, InsertSide::After);
                        }
                        M::InsertionMapsBefore if was.is_insertion() => {
                            part.from = change.map_pos(was.from, InsertSide::Before);
                            part.to = part.from;
                        }
                        M::EdgeTouchConflicts if !was.is_insertion() => {
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
            M::ChangedTextIsNoConflict if hunk.status == HunkStatus::Conflict => {
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

    /// Changes a decision, or the room that takes it.
    pub fn mutate_decision(
        self,
        room: &mut SimulatedRoom,
        id: &RequestId,
        decision: &mut Decision,
        by: &mut Principal,
    ) {
        let text = room.text().clone();
        let Some(request) = room.open_mut().get_mut(id).map(Arc::make_mut) else { return };
        match self {
            M::AuthorizationNotChecked => {
                by.role = Role::Owner;
                request.proposal.requester.user = "nobody".into();
            }
            M::PolicyIgnoresAppliedSize => *room.policies_mut() = None,
            M::PolicyIgnoresMarks => {
                room.policies_mut().iter_mut().for_each(|all| all.retain(|it| it.marks.is_none()));
            }
            M::ReviewersMayEdit if by.role == Role::Reviewer => by.role = Role::Editor,
            M::ExpiryNotChecked => request.clock.expires_ms = None,
            M::PreviewHashNotCompared if request.suggestion.is_some() => {
                decision.preview_hash = Some(request.preview_hash());
            }
            M::PreviewHashNotCompared => decision.preview_hash = None,
            M::HunkHashNotCompared => {
                for verdict in decision.hunks.iter_mut().flatten().filter(|it| it.hash.is_some()) {
                    verdict.hash = request.hunk(&verdict.id).map(Hunk::words_hash);
                }
            }
            M::WritingCanBeDecided => drop(request.end_writing(u64::MAX)),
            M::RepeatedVotesCount => {
                let votes = request.hunks.iter_mut().flat_map(|hunk| &mut hunk.votes);
                votes.for_each(|vote| vote.by.user = "somebody else".into());
            }
            M::FrozenTextNotChecked => room.frozen_mut().clear(),
            _ if decision.hunks.is_none() => self.mutate_whole_verdict(request, decision, &text),
            _ => self.mutate_hunk_verdicts(request, decision, &text),
        }
    }

    /// Changes a decision that names no hunk.
    fn mutate_whole_verdict(self, request: &ApprovalRequest, decision: &mut Decision, text: &Text) {
        let is_selected = match (self, &decision.verdict) {
            (M::ApproveAllForcesConflicts, RequestVerdict::Approve) => HunkStatus::is_open,
            (M::RejectAllLeavesConflicts, RequestVerdict::Reject) => {
                |status| status == HunkStatus::Pending
            }
            _ => return,
        };
        let hunks = request.hunks.iter().filter(|hunk| is_selected(hunk.status));
        let choice = if self == M::ApproveAllForcesConflicts {
            HunkChoice::Accept
        } else {
            HunkChoice::Reject
        };
        let verdict = |hunk: &Hunk| {
            let force = hunk.status == HunkStatus::Conflict && choice == HunkChoice::Accept;
            let seen = text.slice(hunk.range()).ok().filter(|_| force);
            HunkVerdict { force, seen, ..HunkVerdict::plain(hunk.id.clone(), choice) }
        };
        decision.hunks = Some(hunks.map(verdict).collect());
    }

    /// Changes a decision that names hunks.
    fn mutate_hunk_verdicts(
        self,
        request: &mut ApprovalRequest,
        decision: &mut Decision,
        text: &Text,
    ) {
        for verdict in decision.hunks.iter_mut().flatten() {
            let Some(hunk) = request.hunks.iter_mut().find(|hunk| hunk.id == verdict.id) else {
                continue;
            };
            let current = text.slice(hunk.range()).ok();
            match self {
                M::SeenNotCompared if verdict.seen.is_some() => verdict.seen = current,
                M::ForceNotNeeded if verdict.choice == HunkChoice::Accept => {
                    verdict.force = true;
                    verdict.seen = current;
                }
                M::LastDecisionWins if hunk.status == HunkStatus::Rejected => {
                    let conflict = hunk.parts.iter().any(|part| part.conflict);
                    hunk.status = if conflict { HunkStatus::Conflict } else { HunkStatus::Pending };
                }
                M::VotesIgnoreText => {
                    for vote in &mut hunk.votes {
                        vote.text.clone_from(&verdict.text);
                        vote.seen = verdict.seen.clone().filter(|_| verdict.force);
                    }
                }
                _ => {}
            }
        }
    }

    /// Changes a request after it was decided.
    pub fn mutate_decided_request(self, room: &mut SimulatedRoom, before: &ApprovalRequest) {
        let Some(now) = room.open_mut().get_mut(before.id()) else { return };
        match self {
            M::AuthorizationNotChecked => {
                Arc::make_mut(now).proposal.requester = before.proposal.requester.clone();
            }
            M::ExpiryNotChecked => Arc::make_mut(now).clock = before.clock,
            _ => {}
        }
        if self != M::SiblingsNotRebased {
            return;
        }
        for (hunk, was) in Arc::make_mut(now).hunks.iter_mut().zip(&before.hunks) {
            if was.status == HunkStatus::Pending && hunk.status == HunkStatus::Pending {
                hunk.parts.clone_from(&was.parts);
            }
        }
    }

    /// Changes an undo.
    pub fn mutate_undo(self, undo: &mut UndoChange) {
        undo.force |= self == M::UndoIgnoresLaterEdits;
    }

    /// Changes the rules for a proposal or a decision.
    pub fn mutate_rules(self, rules: &mut BTreeMap<RuleId, Arc<ApprovalRule>>) {
        match self {
            M::DenyRulesIgnored => rules.retain(|_, rule| rule.effect != RuleEffect::Deny),
            M::AskRulesIgnored => rules.retain(|_, rule| rule.effect != RuleEffect::Ask),
            M::RuleSizeLimitIgnored => {
                for rule in rules.values_mut() {
                    Arc::make_mut(rule).remember.max_units = None;
                }
            }
            _ => {}
        }
    }

    /// Returns whether the store keeps an operation.
    pub fn stores_op(self, op: &StoreOp) -> bool {
        let by_rule =
            |op: &StoreOp| matches!(op, StoreOp::AppendDecision(it) if !it.body["rule"].is_null());
        match self {
            M::RuleDecisionNotRecorded => !by_rule(op),
            M::CommentsNotStored => !matches!(op, StoreOp::PutThread(_)),
            _ => true,
        }
    }

    /// Returns whether an operation is stored when the power is cut during the commit.
    pub fn survives_power_cut(self, op: &StoreOp) -> bool {
        self == M::TransactionIsSplit
            && !matches!(op, StoreOp::AppendUpdates { .. } | StoreOp::PutSnapshot { .. })
    }

    /// Changes a room after a restart.
    pub fn mutate_restarted_room(
        self,
        room: &mut SimulatedRoom,
        stored: impl Fn(&RequestId) -> ApprovalRequest,
    ) {
        if self == M::RestartLosesRules {
            room.rules_mut().clear();
        }
        let version: Version = room.version();
        for (id, request) in room.open_mut().iter_mut().filter(|_| self == M::RestartDoesNotRebase)
        {
            let mut stored = stored(id);
            stored.version = version;
            *request = Arc::new(stored);
        }
    }
}
