//! Room without its task, for simulations, which play the store, the connections and power cuts.
//!
//! It is compiled for tests only.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, ApprovalRule, ToolCatalog, ToolPolicy};
use copydesk_comments::CommentThread;
use copydesk_document::{Text, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{MemberId, RequestId, RuleId, ThreadId, Version};
use copydesk_store::{
    LoadedDocument, RequestRecord, RuleRecord, StoreError, ThreadRecord, UpdateRecord, WriteBatch,
};

use super::RoomError;
use super::command::{ResolvedRequest, RoomCommand};
use super::event::RoomEvent;
use super::settings::ServerSettings;
use super::state::{ApplyContext, RoomState};
use crate::actor::room_effects::{RoomEffect, RoomEffects};
use crate::persistence::restore;
use crate::state::{deadlines, proposals};

/// State of a room, and the effects of the current batch so far.
pub struct SimulatedRoom {
    state: RoomState,
    effects: RoomEffects,
}

/// Effects of a batch; none of them is stored or sent yet.
pub struct SimulatedBatch {
    /// Operations that the store is to commit, all or nothing.
    pub batch: WriteBatch,
    outputs: Vec<RoomEffect>,
}

/// Output of a room to connections and waiters.
#[derive(Debug)]
pub enum SimulatedOutput {
    /// Event for everyone in the document.
    All(RoomEvent),
    /// Event for everyone but one.
    Others(MemberId, RoomEvent),
    /// Event for one connection.
    One(MemberId, RoomEvent),
    /// Connection that gets events from here on.
    Joined(MemberId),
    /// Connection that gets no more events.
    Left(MemberId),
    /// Resolution for those who wait for the request.
    Ended(Box<ResolvedRequest>),
}

impl SimulatedRoom {
    /// Loads the room as a restart finds it: the document from the [`Self::floor`] on, its open
    /// requests, its rules in force, and its threads.
    pub fn load(
        kept: LoadedDocument,
        open: &[RequestRecord],
        rules: Vec<RuleRecord>,
        threads: &[ThreadRecord],
    ) -> Result<Self, RoomError> {
        let open = open.iter().map(restore::stored_request).collect::<Result<_, _>>()?;
        let threads = threads.iter().map(restore::thread).collect::<Result<_, _>>()?;
        let mut state = restore::room(kept, open, threads)?;
        for rule in rules.into_iter().map(restore::rule) {
            let rule = rule?;
            state.rules.insert(rule.id().clone(), Arc::new(rule));
        }
        Ok(Self { state, effects: RoomEffects::default() })
    }

    /// Returns the oldest version that stored positions are of; `newest` if none is older.
    pub fn floor(
        settings: &serde_json::Value,
        open: &[RequestRecord],
        threads: &[ThreadRecord],
        newest: Version,
    ) -> Result<Version, RoomError> {
        let open = open.iter().map(restore::stored_request).collect::<Result<Vec<_>, _>>()?;
        let threads = threads.iter().map(restore::thread).collect::<Result<Vec<_>, _>>()?;
        restore::floor(settings, &open, &threads, newest)
    }

    /// Replaces the state by one loaded again, because a batch could not be stored. The people
    /// stay.
    pub fn reload(&mut self, fresh: Self, now_ms: u64, server: &ServerSettings) {
        self.state.replace_with(fresh.state);
        self.effects = RoomEffects::default();
        deadlines::agree_with_focus(&mut self.state, &now(now_ms, server));
    }

    /// Applies a command. `older` are the updates between the command's version and the log at
    /// hand; `people` hold a valid token.
    pub fn take(
        &mut self,
        command: RoomCommand,
        older: Vec<Arc<Update>>,
        people: &[Principal],
        now_ms: u64,
        server: &ServerSettings,
    ) {
        let Self { state, effects } = self;
        let now = now(now_ms, server);
        match command {
            RoomCommand::Open(member, since, reply) => {
                state.open(member, since, Some(older), reply, &now, effects);
            }
            RoomCommand::Propose(new, reply) => {
                let result = proposals::propose(state, *new, Some(older), people, &now, effects);
                effects.answer(reply, result);
            }
            command @ (RoomCommand::Comment(..) | RoomCommand::Suggest(..)) => {
                state.document.prepend_log(older.iter().map(AsRef::as_ref));
                state.apply(command, &now, effects);
            }
            command => state.apply(command, &now, effects),
        }
    }

    /// Ends requests whose time is over.
    pub fn expire(&mut self, now_ms: u64, server: &ServerSettings) {
        deadlines::expire(&mut self.state, &now(now_ms, server), &mut self.effects);
    }

    /// Adds a snapshot to the batch.
    pub fn snapshot(&mut self) {
        self.state.snapshot(&mut self.effects);
    }

    /// Remembers an ended request, mapped from the version of `text` over the updates since. No
    /// effect of the batch may wait to be stored.
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

    /// Returns the resolution of a request, as it is sent to those who wait for it after a restart.
    pub fn settled(
        &self,
        id: &RequestId,
        now_ms: u64,
        server: &ServerSettings,
    ) -> Option<ResolvedRequest> {
        let request = self.state.request(id)?;
        crate::state::requests::settled(&self.state, request, &now(now_ms, server))
    }

    /// Returns the effects of the batch, and begins the next one.
    pub fn take_batch(&mut self) -> SimulatedBatch {
        let (batch, outputs) = std::mem::take(&mut self.effects).into_parts();
        SimulatedBatch { batch, outputs }
    }

    /// Returns the text, which may run ahead of the store.
    pub fn text(&self) -> &Text {
        self.state.document.text()
    }

    /// Returns the version of the text.
    pub fn version(&self) -> Version {
        self.state.version()
    }

    /// Returns the oldest version from which updates are at hand.
    pub fn tail_start(&self) -> Version {
        self.state.document.tail_start()
    }

    /// Returns the updates after a version, if they are at hand.
    pub fn since(&self, version: Version) -> Option<Vec<Update>> {
        Some(self.state.document.since(version)?.collect())
    }

    /// Returns a request that is open or still remembered.
    pub fn request(&self, id: &RequestId) -> Option<&Arc<ApprovalRequest>> {
        self.state.request(id)
    }

    /// Returns the open requests.
    pub fn open(&self) -> &BTreeMap<RequestId, Arc<ApprovalRequest>> {
        &self.state.open
    }

    /// Returns the open requests for modification, for a simulation of wrong rules.
    pub fn open_mut(&mut self) -> &mut BTreeMap<RequestId, Arc<ApprovalRequest>> {
        &mut self.state.open
    }

    /// Returns the rules in force.
    pub fn rules(&self) -> &BTreeMap<RuleId, Arc<ApprovalRule>> {
        &self.state.rules
    }

    /// Returns the rules in force for modification, for a simulation of wrong rules.
    pub fn rules_mut(&mut self) -> &mut BTreeMap<RuleId, Arc<ApprovalRule>> {
        &mut self.state.rules
    }

    /// Returns the stricter policies for some tools and sizes.
    pub fn policies(&self) -> &[ToolPolicy] {
        self.state.own.policies.as_deref().unwrap_or_default()
    }

    /// Returns the stricter policies for modification, for a simulation of wrong rules.
    pub fn policies_mut(&mut self) -> &mut Option<Vec<ToolPolicy>> {
        &mut self.state.own.policies
    }

    /// Returns the threads of comments.
    pub fn threads(&self) -> Vec<CommentThread> {
        self.state.threads.all()
    }

    /// Returns the threads for modification, for a simulation of wrong rules.
    pub fn threads_mut(&mut self) -> &mut BTreeMap<ThreadId, CommentThread> {
        &mut self.state.threads.threads
    }

    /// Returns the ranges that no tool may touch.
    pub fn frozen(&self) -> &[(usize, usize)] {
        &self.state.own.frozen
    }

    /// Returns the frozen ranges for modification, for a simulation of wrong rules.
    pub fn frozen_mut(&mut self) -> &mut Vec<(usize, usize)> {
        &mut self.state.own.frozen
    }
}

impl SimulatedBatch {
    /// Completes a batch that was stored: events and answers are sent, in order.
    pub fn kept(self, mut notify: impl FnMut(SimulatedOutput)) {
        for output in self.outputs {
            match output {
                RoomEffect::Answer(answer) | RoomEffect::LongAnswer(answer) => answer(Ok(())),
                RoomEffect::Tell(event, _) => notify(SimulatedOutput::All(event)),
                RoomEffect::Say(said) => {
                    notify(SimulatedOutput::All(RoomEvent::Said(Arc::new(said))));
                }
                RoomEffect::TellOthers(one, event) => notify(SimulatedOutput::Others(one, event)),
                RoomEffect::TellOne(one, event) => notify(SimulatedOutput::One(one, event)),
                RoomEffect::Join(member) => notify(SimulatedOutput::Joined(member)),
                RoomEffect::Leave(member) => notify(SimulatedOutput::Left(member)),
                RoomEffect::Resolved(settled) => notify(SimulatedOutput::Ended(settled)),
            }
        }
    }

    /// Completes a batch that was not stored: commands get the error, and no event is sent.
    pub fn lost(self, error: StoreError) {
        let error = Arc::new(error);
        for output in self.outputs {
            if let RoomEffect::Answer(answer) | RoomEffect::LongAnswer(answer) = output {
                answer(Err(Arc::clone(&error)));
            }
        }
    }
}

fn now(ms: u64, server: &ServerSettings) -> ApplyContext {
    ApplyContext {
        ms,
        server: server.clone(),
        inbox_policies: Arc::default(),
        tools: ToolCatalog::default(),
    }
}
