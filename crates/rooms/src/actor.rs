//! Task of a room: takes commands, stores what they change, and only then tells and answers.
//!
//! Commands that wait together are applied together and stored by one commit. No one is notified of
//! anything before it is durable. If a batch cannot be stored, every command of the batch gets the
//! error, and the room loads again what is durable; while even that fails, it refuses everything.

pub(crate) mod announcing;
pub(crate) mod apply_to_state;
pub(crate) mod commit;
pub(crate) mod cross_room_notices;
pub(crate) mod event_encoding;
pub(crate) mod mirror;
pub(crate) mod recovery;
pub(crate) mod room_effects;
pub(crate) mod store_dependent_commands;

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use copydesk_approvals::ApprovalRequirement;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, DocumentId, MemberId, RequestId, RuleId, Version};
use copydesk_store::StoreError;

use super::command::{CommentCommand, PositionsOf, ReplySender, ResolvedRequest, RoomCommand};
use super::room_deps::RoomDeps;
use super::room_handle::RoomStatus;
use super::state::{ApplyContext, RoomState};
use super::{RoomError, RoomHandle, RoomResult};
use crate::actor::room_effects::RoomEffects;
use crate::persistence::loading;
use crate::state::{deadlines, requests, suggestions, text};

/// Number of commands that may wait; a sender waits when the queue is full.
const QUEUE_LENGTH: usize = 1_024;
/// Largest number of commands that are applied and stored together.
const BATCH_LENGTH: usize = 256;
/// Time after which a room that no one uses is closed.
const IDLE: Duration = Duration::from_mins(1);
/// Time after which a room that could not be loaded again tries once more; it also tries at each
/// command.
const RETRY: Duration = Duration::from_secs(1);
/// Pause before a room that is handed over tries again to close.
const CLOSE_AGAIN: Duration = Duration::from_millis(20);

/// Sole owner of a document's state.
pub(super) struct RoomActor {
    pub(super) shared: Arc<RoomDeps>,
    commands: mpsc::Receiver<Box<RoomCommand>>,
    pub(super) state: RoomState,
    /// Version up to which people were sent everything.
    pub(super) announced_version: Version,
    /// Error that made the state unreliable: it ran ahead of the store and could not be loaded
    /// again.
    pub(super) broken: Option<Arc<StoreError>>,
    /// Connections that are notified of events; changes only in the order in which effects are
    /// carried out.
    pub(super) audience: Vec<MemberId>,
    pub(super) waiters: HashMap<RequestId, Vec<ReplySender<ResolvedRequest>>>,
    /// Connections outside of the document that are notified of a request too.
    pub(super) witnesses: HashMap<RequestId, Vec<MemberId>>,
    /// Status that is visible from outside.
    pub(super) room_status: watch::Sender<RoomStatus>,
    /// `true` once another server is to have the document.
    is_handed_over: bool,
}

/// Reason for which the room acts.
enum WakeReason {
    Command(Box<RoomCommand>),
    /// Deadline at which a request may have expired.
    Deadline,
    /// Close of the room, because no one uses it, another server gets it or this one stops.
    Close,
}

/// Data that a command depends on and only the store has.
enum StoreQuery {
    Nothing,
    /// Owners of these editor instances.
    Owners(Vec<ClientId>),
    /// Request that a command is about, if it ended long ago.
    Request(RequestId, PositionsOf),
    /// Newest suggestion of a person, if it has ended.
    Suggestion(Principal),
    /// Check that there are enough people to decide.
    People(Vec<ApprovalRequirement>),
    /// Check for rules whose sessions are over, so that they are not listed.
    Rules,
    /// Check that a rule is in force.
    Rule(RuleId),
}

impl RoomActor {
    /// Publishes the durable status to watchers.
    pub(super) fn publish_status(&self) {
        let now = RoomStatus { version: self.announced_version, people: self.audience.len() };
        self.room_status.send_if_modified(|room_status| std::mem::replace(room_status, now) != now);
    }

    /// Loads the room of a document.
    pub(super) async fn load(
        shared: &Arc<RoomDeps>,
        document: &DocumentId,
    ) -> RoomResult<(Self, RoomHandle)> {
        // A batch of the room before may be stored later than anybody knew.
        shared.store.settle().await?;
        let state = loading::load(&shared.store, document).await?;
        if state.is_workspace_inbox() {
            shared.put_inbox_policies(&state);
        } else if state.file_path.is_some() {
            shared.load_inbox_policies().await?;
        }
        let (sender, commands) = mpsc::channel(QUEUE_LENGTH);
        let unlisted_owner = state.unlisted_owner().cloned();
        let (shown, room_status) =
            watch::channel(RoomStatus { version: state.version(), people: 0 });
        let handle = RoomHandle {
            document: document.clone(),
            unlisted_owner,
            commands: sender,
            room_status,
        };
        let actor = Self {
            shared: Arc::clone(shared),
            commands,
            announced_version: state.version(),
            state,
            broken: None,
            audience: Vec::new(),
            waiters: HashMap::new(),
            witnesses: HashMap::new(),
            room_status: shown,
            is_handed_over: false,
        };
        Ok((actor, handle))
    }

    /// Serves until no one uses the room, another server gets it or this one stops.
    ///
    /// Boxed: a task would hold the room twice, as its argument and as what it works on.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            match self.wake().await {
                // Boxed: an idle room does not keep room for the work on a batch.
                WakeReason::Command(command) => Box::pin(self.apply_batch(Some(*command))).await,
                WakeReason::Deadline => Box::pin(self.apply_batch(None)).await,
                WakeReason::Close => {
                    if Box::pin(self.close()).await {
                        return;
                    }
                    if self.is_handed_over {
                        tokio::time::sleep(CLOSE_AGAIN).await;
                    }
                }
            }
        }
    }

    async fn wake(&mut self) -> WakeReason {
        let deadline = self.next_deadline();
        let is_unused = self.audience.is_empty() && self.waiters.is_empty() && deadline.is_none();
        let is_idle = self.state.is_deleted() || is_unused;
        tokio::select! {
            biased;
            () = self.shared.stopping.cancelled() => WakeReason::Close,
            () = ready(()), if self.is_handed_over => WakeReason::Close,
            command = self.commands.recv() => command.map_or(WakeReason::Close, WakeReason::Command),
            () = tokio::time::sleep(deadline.unwrap_or(Duration::MAX)), if deadline.is_some() => {
                WakeReason::Deadline
            }
            () = tokio::time::sleep(IDLE), if is_idle => WakeReason::Close,
        }
    }

    fn next_deadline(&self) -> Option<Duration> {
        if self.broken.is_some() {
            return Some(RETRY);
        }
        let at_ms = deadlines::next_deadline_ms(&self.state)?;
        Some(Duration::from_millis(at_ms.saturating_sub(self.shared.clock.now_ms())))
    }

    /// Applies what is waiting, stores it, then tells and answers.
    async fn apply_batch(&mut self, first: Option<RoomCommand>) {
        let mut effects = RoomEffects::default();
        if self.broken.is_some() {
            self.reload().await;
        }
        if self.broken.is_none() {
            let now = self.now();
            deadlines::expire(&mut self.state, &now, &mut effects);
        }
        let (mut next, mut taken) = (first, 0);
        while let Some(command) = next.take() {
            self.take(command, &mut effects).await;
            taken += 1;
            if taken < BATCH_LENGTH {
                next = self.commands.try_recv().ok().map(|it| *it);
            }
        }
        // The next batch tries again what could not be stored.
        self.commit(effects).await.ok();
    }

    /// Applies a command, or refuses it.
    async fn take(&mut self, command: RoomCommand, effects: &mut RoomEffects) {
        if let Some(error) = self.broken.clone() {
            return self.refuse(command, error);
        }
        let counts = self.counts_votes(&command);
        let ready = match self.fetch(self.need(&command), effects).await {
            Ok(()) if counts => self.recount(effects).await,
            ready => ready,
        };
        match ready {
            Ok(()) => self.apply(command, effects).await,
            Err(error) => command.refuse(error),
        }
    }

    /// Refuses a command while the store fails. People can still leave, and events of runs are
    /// still announced.
    fn refuse(&mut self, command: RoomCommand, error: Arc<StoreError>) {
        match command {
            RoomCommand::Leave(member) => {
                self.state.presence.leave(&member);
                self.audience.retain(|other| *other != member);
            }
            RoomCommand::Say(said) => self.publish(said),
            command => command.refuse(RoomError::Store(error)),
        }
    }

    /// Returns what a command needs of the store, because the state does not have it.
    fn need(&self, command: &RoomCommand) -> StoreQuery {
        if let Some(request) = command.request() {
            return StoreQuery::Request(request.clone(), command.needs_positions());
        }
        match command {
            RoomCommand::Push(push, _) => {
                let clients = push.updates.iter().map(|(client, _)| client);
                let unknown = clients.filter(|it| !self.state.knows_client(it)).cloned();
                let mut unknown: Vec<_> = unknown.collect();
                unknown.sort_unstable();
                unknown.dedup();
                // With more of them the push is refused.
                unknown.truncate(text::MOST_CLIENTS + 1);
                StoreQuery::Owners(unknown)
            }
            RoomCommand::Configure(configure, ..) => {
                match self.state.own.more_people_by(&configure.own, &self.shared.workspace.tools) {
                    consents if consents.is_empty() => StoreQuery::Nothing,
                    consents => StoreQuery::People(consents),
                }
            }
            RoomCommand::Suggest(update, _)
                if suggestions::live(&self.state, &update.by).is_none() =>
            {
                StoreQuery::Suggestion(update.by.clone())
            }
            RoomCommand::Rules(_) => StoreQuery::Rules,
            RoomCommand::Revoke(rule, ..) => StoreQuery::Rule(rule.clone()),
            _ => StoreQuery::Nothing,
        }
    }

    /// Fetches what a command needs from the store.
    async fn fetch(&mut self, need: StoreQuery, effects: &mut RoomEffects) -> RoomResult<()> {
        match need {
            StoreQuery::Nothing => Ok(()),
            StoreQuery::Owners(clients) => self.recognise(clients).await,
            StoreQuery::Request(id, positions) => {
                self.ensure_request_loaded(&id, positions, effects).await
            }
            StoreQuery::Suggestion(by) => {
                let (store, session) = (&self.shared.store, suggestions::session_of(&by));
                let id = store.newest_request(self.state.id(), &session).await?;
                match id.filter(|id| self.state.request(id).is_none()) {
                    Some(id) => {
                        self.ensure_request_loaded(&id, PositionsOf::AsTheyWere, effects).await
                    }
                    None => Ok(()),
                }
            }
            StoreQuery::People(consents) => {
                let now_ms = self.shared.clock.now_ms();
                let (store, id) = (&self.shared.store, self.state.id());
                loading::check_people(store, id, &consents, now_ms).await
            }
            StoreQuery::Rules => self.end_rules_of_old_sessions(effects).await,
            StoreQuery::Rule(id) => self.check_in_force(&id, effects).await,
        }
    }

    /// Lets the state apply a command.
    async fn apply(&mut self, command: RoomCommand, effects: &mut RoomEffects) {
        match command {
            RoomCommand::Await(request, reply) => self.register(request, reply, effects).await,
            RoomCommand::HandOver => self.is_handed_over = true,
            RoomCommand::Witness(request, members) => self.witness(request, members, effects),
            RoomCommand::Open(member, since, reply) => {
                let older = match since {
                    Some(since) => self.older(since, effects).await,
                    None => Ok(None),
                };
                let older = match older {
                    Err(error) if self.broken.is_some() => return reply.send(Err(error)),
                    // The updates cannot be read, so the client gets the whole text.
                    Err(_) => None,
                    Ok(older) => older,
                };
                self.state.open(member, since, older, reply, &self.now(), effects);
            }
            RoomCommand::Propose(new, reply) => {
                let result = self.propose(*new, effects).await;
                effects.answer(reply, result);
            }
            RoomCommand::Configure(configure, by, reply) => {
                let result = self.configure(*configure, &by, effects).await;
                effects.answer(reply, result);
            }
            RoomCommand::ShowPreview(streaming_preview, reply) => {
                let result = self.streaming_preview(*streaming_preview, effects).await;
                effects.answer(reply, result);
            }
            RoomCommand::CatchUp(since, causes, reply) => {
                let older = self.older(since, effects).await;
                let missed = older.and_then(|older| requests::missed(&self.state, since, older));
                let caught = self.catch_up(missed, causes).await;
                effects.answer(reply, self.state.exists().and(caught));
            }
            RoomCommand::Comment(command, reply) => {
                if let CommentCommand::Create(new, _) = &command
                    && let Some(version) = new.version
                    && let Err(error) = self.extend_log(version, effects).await
                {
                    return reply.send(Err(error));
                }
                self.apply_to_state(RoomCommand::Comment(command, reply), effects).await;
            }
            RoomCommand::Suggest(mut update, reply) => {
                if let Err(error) = self.read_base(&mut update, effects).await {
                    return reply.send(Err(error));
                }
                self.apply_to_state(RoomCommand::Suggest(update, reply), effects).await;
            }
            RoomCommand::Push(push, reply) => {
                let member = push.member.clone();
                let result = self.push(push, effects).await;
                effects.answer_push(member, reply, result);
            }
            command => self.apply_to_state(command, effects).await,
        }
    }

    /// Closes the room and returns `true`, or `false` if it is still in use. If the server stops or
    /// another one gets the room, it first finishes the commands it has.
    async fn close(&mut self) -> bool {
        let stops = self.shared.stopping.is_cancelled();
        if !stops {
            // Saved while the room is still the only owner of the document.
            self.save().await;
        }
        // Until the document is given back, no task loads the room again.
        let loading_lock = self.shared.loading_lock(self.state.id());
        let gives_back = !stops && self.shared.placement().is_shared();
        // The task that has the lock may be waiting for an answer of this room.
        let Ok(_passed) = gives_back.then(|| loading_lock.try_lock()).transpose() else {
            return false;
        };
        {
            let mut open = self.shared.open();
            let in_use = self.commands.sender_strong_count() > 1 || !self.commands.is_empty();
            if in_use && !stops && !self.is_handed_over {
                return false;
            }
            open.remove(self.state.id());
            self.commands.close();
        }
        while let Ok(command) = self.commands.try_recv() {
            Box::pin(self.apply_batch(Some(*command))).await;
        }
        if stops {
            self.save().await;
        }
        if gives_back {
            self.shared.release(self.state.id()).await;
        }
        true
    }

    /// Stores a snapshot, so that loading is short.
    async fn save(&mut self) {
        if self.broken.is_some() {
            return;
        }
        let (mut effects, now) = (RoomEffects::default(), self.now());
        deadlines::stop_looking(&mut self.state, &now, &mut effects);
        self.snapshot(true, &mut effects).await;
        if let Err(error) = self.shared.store.commit(effects.into_parts().0).await {
            tracing::warn!(%error, "cannot store a snapshot; the log is complete");
        }
    }

    pub(super) fn now(&self) -> ApplyContext {
        self.shared.now()
    }
}
