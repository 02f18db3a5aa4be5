//! The simulation of one room: simulated people, agents and reviewers, with checks after each
//! batch.

use std::collections::{BTreeMap, BTreeSet};

use copydesk_approvals::DecisionPolicy;
use copydesk_ids::{HunkId, MemberId, RequestId, Version};
use copydesk_rooms::command::{
    ClientCapabilities, JoiningMember, NewApprovalRequest, PushRequest, RoomCommand,
};
use fastrand::Rng;

use crate::decision_oracle::DecisionOracle;
use crate::generators::{self, PEOPLE};
use crate::invariants::CheckResult;
use crate::rebase_oracle::HunkOracle;
use crate::reference_document::ReferenceDocument;
use crate::room_mutations::RoomMutation;
use crate::rule_oracle::RuleOracle;
use crate::simulated_editor::{SimulatedEditor, UnconfirmedUpdates};
use crate::simulated_server::{CommandReply, SimulatedServer};

mod agents;
mod batches;
mod checks;
mod commenters;
mod owners;
mod reviewers;
mod suggesters;

const INITIAL_TEXT: &str = "It was a bright cold day. She recieve 😀 letters.\n\n- one itme\n- two item\n\nThan it ended.\n";
const POLICIES: [DecisionPolicy; 6] = [
    DecisionPolicy::Any,
    DecisionPolicy::Any,
    DecisionPolicy::Two,
    DecisionPolicy::Two,
    DecisionPolicy::NotRequester,
    DecisionPolicy::Owner,
];
/// Texts that reviewers put in place of a proposal: few, so that two people may choose the same,
/// and one long.
const REPLACEMENT_TEXTS: [&str; 3] = ["the cat", "東京 😀 and a cat that sat on the mat", ""];
/// Time for which a focus counts.
const FOCUS_MS: u64 = 15_000;

/// The number of times that each event happened.
pub type EventCounts = BTreeMap<&'static str, u64>;

/// A call of an agent.
struct AgentCall {
    new: NewApprovalRequest,
    state: CallState,
    /// A rule might have denied it when it was last submitted.
    may_be_denied: bool,
}

/// The state of an agent's call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallState {
    /// Submitted, or waiting for people.
    Waiting,
    /// The agent learned its result.
    Finished,
}

/// A simulation of one room with its people, oracles and counts.
pub struct RoomSimulation {
    random: Rng,
    pub server: SimulatedServer,
    reference: ReferenceDocument,
    editors: Vec<SimulatedEditor>,
    calls: Vec<AgentCall>,
    /// Connections that receive events.
    joined_members: BTreeSet<MemberId>,
    /// Largest number of open requests at a time, and largest lag of a proposal behind the
    /// document.
    max_open_requests: usize,
    max_version_lag: usize,
    /// The oracles of open hunks.
    hunk_oracles: BTreeMap<HunkId, HunkOracle>,
    decisions: DecisionOracle,
    rules: RuleOracle,
    commenters: commenters::Commenters,
    /// Hashes of the hunks of suggestions, from the first words to the present ones.
    shown_hashes: BTreeMap<HunkId, Vec<String>>,
    /// Number of rules that were requested.
    rules_requested: usize,
    /// Requests that were decided in this batch.
    decided_requests: BTreeSet<RequestId>,
    /// The connections that have a request focused, and since when.
    focus_times: BTreeMap<RequestId, BTreeMap<MemberId, u64>>,
    /// The batch is not empty.
    has_uncommitted: bool,
    pub operations: u64,
    pub counts: EventCounts,
    /// Events are printed.
    pub verbose: bool,
}

impl RoomSimulation {
    pub fn new(seed: u64, mutation: Option<RoomMutation>) -> Self {
        let mut random = Rng::with_seed(seed);
        let reference = ReferenceDocument::new(INITIAL_TEXT);
        let editor = |at: usize| {
            SimulatedEditor::new(
                generators::principal_named(PEOPLE[at % 3]),
                &format!("c{at}"),
                &reference,
            )
        };
        let editors = (0..random.usize(1..=5)).map(editor).collect();
        let (max_open_requests, max_version_lag) = (random.usize(1..=9), random.usize(0..=24));
        Self {
            server: SimulatedServer::new(INITIAL_TEXT, mutation),
            random,
            editors,
            reference,
            calls: Vec::new(),
            max_open_requests,
            max_version_lag,
            joined_members: BTreeSet::new(),
            hunk_oracles: BTreeMap::new(),
            decisions: DecisionOracle::default(),
            rules: RuleOracle::default(),
            commenters: commenters::Commenters::new(seed),
            shown_hashes: BTreeMap::new(),
            rules_requested: 0,
            decided_requests: BTreeSet::new(),
            focus_times: BTreeMap::new(),
            has_uncommitted: false,
            operations: 0,
            counts: EventCounts::new(),
            verbose: false,
        }
    }

    /// Runs a number of steps, then lets all replicas converge.
    pub fn run(&mut self, steps: usize) -> CheckResult {
        for at in 0..self.editors.len() {
            self.reconnect(at);
        }
        for _ in 0..steps {
            self.step()?;
        }
        self.converge()
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
        if self.verbose {
            eprintln!("{} {what}", self.operations);
        }
    }

    fn step(&mut self) -> CheckResult {
        self.operations += 1;
        self.comment();
        let at = self.random.usize(..self.editors.len());
        let is_connected = self.editors[at].connection.is_some();
        match self.random.u16(..1000) {
            0..250 => self.edit(at),
            250..330 => self.send_unconfirmed(at),
            330..620 => self.receive(at)?,
            620..640 if is_connected => self.disconnect(at),
            620..700 if !is_connected => self.reconnect(at),
            700..745 => self.propose()?,
            745..830 => self.decide(at)?,
            830..850 => self.undo(at)?,
            850..865 => self.reopen(at)?,
            865..870 => self.withdraw(),
            870..875 => self.extend(),
            875..895 => self.focus(at),
            895..905 => self.change_policy(),
            905..915 => self.change_frozen_ranges(),
            915..920 => self.server.now_ms += self.random.u64(..400_000),
            920..925 => self.server.room.snapshot(),
            925..931 => self.cut_power()?,
            931..937 => self.fail_commit()?,
            937..945 => self.change_rules()?,
            945..975 => self.suggest()?,
            _ => self.commit_and_expire()?,
        }
        if self.has_uncommitted && self.random.u8(..3) == 0 {
            self.commit_and_expire()
        } else {
            Ok(())
        }
    }

    // People.

    fn edit(&mut self, at: usize) {
        self.editors[at].edit(&mut self.random, &mut self.reference);
        self.count("typed");
    }

    /// Sends all unconfirmed updates, which may have been sent before.
    fn send_unconfirmed(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let (true, Some(unconfirmed)) = (editor.is_open(), editor.unconfirmed_updates()) else {
            return;
        };
        let UnconfirmedUpdates { base, updates, change_count } = unconfirmed;
        let member = editor.connection.as_ref().unwrap().member.clone();
        let is_resent = std::mem::replace(&mut editor.push_in_flight, true);
        let late = base < self.server.room.version();
        let push = PushRequest {
            member: member.clone(),
            principal: editor.principal.clone(),
            base,
            updates,
        };
        let reply =
            self.server.reply(move |result| CommandReply::Pushed(at, member, change_count, result));
        self.server.push(push, reply);
        self.has_uncommitted = true;
        self.count(if is_resent {
            "sent again"
        } else if late {
            "sent late"
        } else {
            "sent"
        });
    }

    fn receive(&mut self, at: usize) -> CheckResult {
        if self.editors[at].receive_next(&self.reference)? {
            self.count("received");
        }
        if !self.has_uncommitted && self.editors[at].is_up_to_date() {
            self.editors[at].displayed.check_matches(self.server.room.open())?;
        }
        Ok(())
    }

    fn disconnect(&mut self, at: usize) {
        let unsent = self.editors[at].unconfirmed_updates().is_some();
        let Some(member) = self.editors[at].disconnect() else { return };
        self.focus_times.values_mut().for_each(|looks| looks.retain(|other, _| *other != member));
        self.server.apply(RoomCommand::Leave(member));
        self.has_uncommitted = true;
        self.count(if unsent { "disconnected with unconfirmed edits" } else { "disconnected" });
    }

    fn reconnect(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let since = Version(editor.version as u64);
        let member = editor.connect();
        let joins = JoiningMember {
            id: member.clone(),
            principal: editor.principal.clone(),
            capabilities: ClientCapabilities { comments: true, ..ClientCapabilities::default() },
        };
        let reply = self.server.reply(move |result| CommandReply::Opened(at, member, result));
        self.server.apply_since(RoomCommand::Open(joins, Some(since), reply), since);
        self.has_uncommitted = true;
        self.count("connected");
    }
}
