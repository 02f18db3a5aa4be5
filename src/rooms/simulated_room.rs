//! A room without its task: whoever rehearses hands it commands, plays the store and the wires, and cuts the power. For simulations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::approvals::{ApprovalRequest, ApprovalRule, ToolPolicy};
use crate::document::{Text, Update};
use crate::ids::{MemberId, RequestId, RuleId, Version};
use crate::permissions::Principal;
use crate::store::{
    LoadedDocument, RequestRecord, RuleRecord, StoreError, UpdateRecord, WriteBatch,
};

use super::RoomError;
use super::command::{ResolvedRequest, RoomCommand};
use super::event::RoomEvent;
use super::settings::ServerSettings;
use super::state::{AppliedAt, RoomState};
use crate::rooms::actor::turn_effects::{TurnEffect, TurnEffects};
use crate::rooms::persistence::restore;
use crate::rooms::state::{deadlines, proposals};

/// The state of a room, and what the turn under way has led to so far.
pub struct SimulatedRoom {
    state: RoomState,
    step: TurnEffects,
}

/// What a turn led to: nothing of it is kept or told yet.
pub struct SimulatedTurn {
    /// What the store is to keep, all or nothing.
    pub batch: WriteBatch,
    outputs: Vec<TurnEffect>,
}

/// Something that leaves the room.
#[derive(Debug)]
pub enum SimulatedOutput {
    /// For everyone in the document.
    All(RoomEvent),
    /// For everyone but one.
    Others(MemberId, RoomEvent),
    /// For one.
    One(MemberId, RoomEvent),
    /// From here on this connection is told.
    Joined(MemberId),
    /// From here on it is not.
    Left(MemberId),
    /// For whoever waits for the request.
    Ended(Box<ResolvedRequest>),
}

impl SimulatedRoom {
    /// The room as a restart finds it: the document from the [`Self::floor`] on, its open requests, and its rules in force.
    pub fn load(
        kept: LoadedDocument,
        open: &[RequestRecord],
        rules: Vec<RuleRecord>,
    ) -> Result<Self, RoomError> {
        let open = open.iter().map(restore::request).collect::<Result<_, _>>()?;
        let mut state = restore::room(kept, open)?;
        for rule in rules.into_iter().map(restore::rule) {
            let rule = rule?;
            state.rules.insert(rule.id().clone(), Arc::new(rule));
        }
        Ok(Self { state, step: TurnEffects::default() })
    }

    /// The oldest version that anything kept has its positions in; `newest` if nothing is older.
    pub fn floor(
        settings: &serde_json::Value,
        open: &[RequestRecord],
        newest: Version,
    ) -> Result<Version, RoomError> {
        let open = open.iter().map(restore::request).collect::<Result<Vec<_>, _>>()?;
        restore::floor(settings, &open, newest)
    }

    /// The same people in a room that was loaded again, because a turn could not be kept.
    pub fn reload(&mut self, fresh: Self, now_ms: u64, server: &ServerSettings) {
        self.state.replace_with(fresh.state);
        self.step = TurnEffects::default();
        deadlines::agree_with_focus(&mut self.state, &now(now_ms, server));
    }

    /// Applies a command; `older` are the updates between the version it speaks of and the log at hand, `people` those who
    /// hold a good token.
    pub fn take(
        &mut self,
        command: RoomCommand,
        older: Vec<Arc<Update>>,
        people: &[Principal],
        now_ms: u64,
        server: &ServerSettings,
    ) {
        let Self { state, step } = self;
        let now = now(now_ms, server);
        match command {
            RoomCommand::Open(member, since, reply) => {
                state.open(member, since, Some(older), reply, &now, step);
            }
            RoomCommand::Propose(new, preface, reply) => {
                if let Some(preface) = preface {
                    step.begin_with(*preface);
                }
                let result = proposals::propose(state, *new, Some(older), people, &now, step);
                step.answer(reply, result);
            }
            command => state.apply(command, &now, step),
        }
    }

    /// Ends what nobody decided in time.
    pub fn expire(&mut self, now_ms: u64, server: &ServerSettings) {
        deadlines::expire(&mut self.state, &now(now_ms, server), &mut self.step);
    }

    /// Adds a snapshot to the turn.
    pub fn snapshot(&mut self) {
        self.state.snapshot(&mut self.step);
    }

    /// A request that ended at the version of `text` is at hand again, mapped over the updates since. Nothing may wait to be kept.
    pub fn recall(
        &mut self,
        ended: &RequestRecord,
        text: Text,
        since: &[UpdateRecord],
    ) -> Result<(), RoomError> {
        let (mut ended, mut text) = (restore::request(ended)?, text);
        restore::catch_up(&mut ended, &mut text, since.iter().map(|update| &*update.changes))?;
        self.state.remember(Arc::new(ended));
        Ok(())
    }

    /// How a request ended, as whoever waits for it after a restart is told.
    pub fn settled(
        &self,
        id: &RequestId,
        now_ms: u64,
        server: &ServerSettings,
    ) -> Option<ResolvedRequest> {
        let request = self.state.request(id)?;
        crate::rooms::state::requests::settled(&self.state, request, &now(now_ms, server))
    }

    /// What the turn led to; the next one begins.
    pub fn turn(&mut self) -> SimulatedTurn {
        let (batch, outputs) = std::mem::take(&mut self.step).into_parts();
        SimulatedTurn { batch, outputs }
    }

    /// The text, which may run ahead of what is kept.
    pub fn text(&self) -> &Text {
        self.state.document.text()
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.state.version()
    }

    /// The oldest version from which updates are at hand.
    pub fn tail_start(&self) -> Version {
        self.state.document.tail_start()
    }

    /// The updates after a version, if they are at hand.
    pub fn since(&self, version: Version) -> Option<Vec<Update>> {
        Some(self.state.document.since(version)?.collect())
    }

    /// A request that is open or still remembered.
    pub fn request(&self, id: &RequestId) -> Option<&Arc<ApprovalRequest>> {
        self.state.request(id)
    }

    /// The open requests.
    pub fn open(&self) -> &BTreeMap<RequestId, Arc<ApprovalRequest>> {
        &self.state.open
    }

    /// The open requests, for a rehearsal of wrong rules.
    pub fn open_mut(&mut self) -> &mut BTreeMap<RequestId, Arc<ApprovalRequest>> {
        &mut self.state.open
    }

    /// The rules in force.
    pub fn rules(&self) -> &BTreeMap<RuleId, Arc<ApprovalRule>> {
        &self.state.rules
    }

    /// The rules in force, for a rehearsal of wrong rules.
    pub fn rules_mut(&mut self) -> &mut BTreeMap<RuleId, Arc<ApprovalRule>> {
        &mut self.state.rules
    }

    /// The stricter policies for some tools and sizes.
    pub fn policies(&self) -> &[ToolPolicy] {
        self.state.own.policies.as_deref().unwrap_or_default()
    }

    /// The same, for a rehearsal of wrong rules.
    pub fn policies_mut(&mut self) -> &mut Option<Vec<ToolPolicy>> {
        &mut self.state.own.policies
    }

    /// The ranges no tool may touch.
    pub fn frozen(&self) -> &[(usize, usize)] {
        &self.state.own.frozen
    }

    /// The same, for a rehearsal of wrong rules.
    pub fn frozen_mut(&mut self) -> &mut Vec<(usize, usize)> {
        &mut self.state.own.frozen
    }
}

impl SimulatedTurn {
    /// The batch is kept: people are told and commands answered, in order.
    pub fn kept(self, mut tell: impl FnMut(SimulatedOutput)) {
        for output in self.outputs {
            match output {
                TurnEffect::Answer(answer) | TurnEffect::LongAnswer(answer) => answer(Ok(())),
                TurnEffect::Tell(event, _) => tell(SimulatedOutput::All(event)),
                TurnEffect::Say(said) => {
                    tell(SimulatedOutput::All(RoomEvent::Said(Arc::new(said))));
                }
                TurnEffect::TellOthers(one, event) => tell(SimulatedOutput::Others(one, event)),
                TurnEffect::TellOne(one, event) => tell(SimulatedOutput::One(one, event)),
                TurnEffect::Join(member) => tell(SimulatedOutput::Joined(member)),
                TurnEffect::Leave(member) => tell(SimulatedOutput::Left(member)),
                TurnEffect::Resolved(settled) => tell(SimulatedOutput::Ended(settled)),
            }
        }
    }

    /// The batch is not kept: commands are answered by why, and people are told nothing.
    pub fn lost(self, error: StoreError) {
        let error = Arc::new(error);
        for output in self.outputs {
            if let TurnEffect::Answer(answer) | TurnEffect::LongAnswer(answer) = output {
                answer(Err(Arc::clone(&error)));
            }
        }
    }
}

fn now(ms: u64, server: &ServerSettings) -> AppliedAt {
    AppliedAt { ms, server: server.clone(), inbox: Arc::default() }
}
