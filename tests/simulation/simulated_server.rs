//! A simulated server: a real room with a model of the store. It can crash and restart as the real
//! one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{ApprovalRequest, Decision};
use copydesk_document::{ChangeLimits, ChangeSet, Text, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{MemberId, RequestId, Version};
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{
    NewApprovalRequest, OpenedDocument, ProposalOutcome, PushRequest, ReplySender, RequestCommand,
    RoomCommand, SuggestionUpdate, UndoChange,
};
use copydesk_rooms::settings::{PermissionMode, ServerSettings};
use copydesk_rooms::simulated_room::{SimulatedOutput, SimulatedRoom};
use copydesk_store::{StoreError, StoreOp};

use crate::generators::{self, PEOPLE};
use crate::invariants::Invariant::RestartPreservesState;
use crate::invariants::{CheckResult, ensure};
use crate::model_store::ModelStore;
use crate::room_mutations::RoomMutation;

/// Lifetime of a request: so short that some expire while people have them focused.
const TIMEOUT_MS: u64 = 120_000;

/// A reply to a command.
pub enum CommandReply {
    /// The editor, its connection, its number of changes when it sent the push, and the result.
    Pushed(usize, MemberId, usize, Result<Version, RoomError>),
    Opened(usize, MemberId, Result<OpenedDocument, RoomError>),
    /// The call and its result.
    Proposed(usize, Result<ProposalOutcome, RoomError>),
}

/// Output of the server, in order.
pub enum ServerOutput {
    Room(SimulatedOutput),
    Reply(CommandReply),
}

/// The open requests by identifier.
type OpenRequests = BTreeMap<RequestId, Arc<ApprovalRequest>>;

/// A server with one room and a model of its store.
pub struct SimulatedServer {
    pub room: SimulatedRoom,
    pub store: ModelStore,
    pub now_ms: u64,
    settings: ServerSettings,
    /// The open requests in the store.
    durable_requests: OpenRequests,
    /// People with a valid token.
    people: [Principal; PEOPLE.len()],
    mutation: Option<RoomMutation>,
    replies: (Sender<CommandReply>, Receiver<CommandReply>),
    /// Operations that a mutated server stores only after it has broadcast them.
    delayed_ops: Vec<StoreOp>,
}

impl SimulatedServer {
    pub fn new(text: &str, mutation: Option<RoomMutation>) -> Self {
        let store = ModelStore::new(text);
        Self {
            room: store.load_room().unwrap(),
            store,
            now_ms: 1_000,
            settings: ServerSettings {
                approvals: ApprovalSwitch::On,
                timeout_ms: Some(TIMEOUT_MS),
                permission_mode: PermissionMode::Ask,
            },
            durable_requests: OpenRequests::new(),
            people: PEOPLE.map(generators::principal_named),
            mutation,
            replies: channel(),
            delayed_ops: Vec::new(),
        }
    }

    /// Returns a reply sender that records the reply.
    pub fn reply<T: Send + 'static>(
        &self,
        to_reply: impl FnOnce(Result<T, RoomError>) -> CommandReply + Send + 'static,
    ) -> ReplySender<T> {
        let sender = self.replies.0.clone();
        ReplySender::new(move |result| drop(sender.send(to_reply(result))))
    }

    /// Applies a command that needs nothing but the room.
    pub fn apply(&mut self, command: RoomCommand) {
        self.apply_since(command, Version(u64::MAX));
    }

    /// Applies a command that refers to an old version.
    pub fn apply_since(&mut self, command: RoomCommand, since: Version) {
        let older = self.store.updates_between(since, self.room.tail_start());
        self.room.take(command, older, &self.people, self.now_ms, &self.settings);
    }

    /// Applies a proposal of an agent.
    pub fn propose(&mut self, new: NewApprovalRequest, reply: ReplySender<ProposalOutcome>) {
        let since = new.action.base_version;
        self.with_mutated_rules(|server| {
            server.apply_since(RoomCommand::Propose(Box::new(new), reply), since);
        });
    }

    /// Takes over a person's suggestion. A mutated server lets an owner's rule apply it.
    pub fn suggest(&mut self, update: SuggestionUpdate) {
        let by = update.by.clone();
        let (reply, _) = ReplySender::channel();
        let version = update.version;
        self.with_mutated_rules(|server| {
            server.apply_since(RoomCommand::Suggest(Box::new(update), reply), version);
        });
        if self.mutation != Some(RoomMutation::AllowRulesApplySuggestions) {
            return;
        }
        let live = self.room.open_mut().values_mut().find(|it| it.is_suggestion_of(&by));
        let Some(request) = live.map(Arc::make_mut) else { return };
        request.end_writing(u64::MAX);
        let hash = Some(request.preview_hash());
        let id = request.id().clone();
        let decision = Decision { preview_hash: hash, ..Decision::by_rule("rul_allow".into()) };
        let command =
            RequestCommand::Decide(Box::new(decision), generators::principal_named("ana"));
        let (reply, _) = ReplySender::channel();
        self.apply(RoomCommand::About(id, command, reply));
    }

    /// Applies something under the rules as the mutation has them.
    fn with_mutated_rules(&mut self, act: impl FnOnce(&mut Self)) {
        let Some(mutation) = self.mutation else { return act(self) };
        let original = self.room.rules().clone();
        mutation.mutate_rules(self.room.rules_mut());
        act(self);
        *self.room.rules_mut() = original;
    }

    pub fn push(&mut self, push: PushRequest, reply: ReplySender<Version>) {
        let Some(mutation) = self.mutation else {
            return self.apply(RoomCommand::Push(push, reply));
        };
        let (version, before) = (self.room.version(), self.room.open().clone());
        let threads = self.room.threads();
        let mut text = self.room.text().clone();
        let push = match self.room.since(push.base) {
            Some(missed) => mutation.mutate_push(push, &missed, text.len()),
            None => push,
        };
        self.apply(RoomCommand::Push(push, reply));
        mutation.mutate_threads(&mut self.room, &threads, false);
        let updates = self.room.since(version).unwrap();
        let step = |update: &Update| {
            let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
            change.apply(&mut text).unwrap();
            (change, text.clone())
        };
        let steps: Vec<(ChangeSet, Text)> = updates.iter().map(step).collect();
        for (id, request) in self.room.open_mut() {
            if let Some(before) = before.get(id) {
                mutation.mutate_rebase(before, request, &steps);
            }
        }
    }

    pub fn decide(&mut self, id: &RequestId, mut decision: Decision, mut by: Principal) {
        let Some(before) = self.room.request(id).cloned() else { return };
        let (policies, threads) = (self.room.policies_mut().clone(), self.room.threads());
        if let Some(mutation) = self.mutation {
            mutation.mutate_decision(&mut self.room, id, &mut decision, &mut by);
        }
        let mutated = self.room.request(id).cloned();
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Decide(Box::new(decision), by);
        self.with_mutated_rules(|server| {
            server.apply(RoomCommand::About(id.clone(), command, reply));
        });
        *self.room.policies_mut() = policies;
        if let Some(mutation) = self.mutation {
            mutation.mutate_threads(&mut self.room, &threads, true);
            if self.room.request(id) == mutated.as_ref() {
                // It was refused: the request is as before.
                if let Some(open) = self.room.open_mut().get_mut(id) {
                    *open = before;
                }
            } else {
                mutation.mutate_decided_request(&mut self.room, &before);
            }
        }
    }

    pub fn undo(&mut self, mut undo: UndoChange, by: Principal) {
        if let Some(mutation) = self.mutation {
            mutation.mutate_undo(&mut undo);
        }
        let (reply, _) = ReplySender::channel();
        let (request, command) = (undo.request.clone(), RequestCommand::Undo(undo, by));
        self.apply(RoomCommand::About(request, command, reply));
    }

    /// Expires requests whose time is over.
    pub fn expire(&mut self) {
        match self.mutation {
            Some(RoomMutation::ExpiryNotChecked) => return,
            Some(RoomMutation::FocusDoesNotPauseExpiry) => {
                for request in self.room.open_mut().values_mut() {
                    Arc::make_mut(request).clock.paused_ms = None;
                }
            }
            _ => {}
        }
        self.room.expire(self.now_ms, &self.settings);
    }

    /// Loads an ended request into the room. Everything must be committed.
    pub fn recall(&mut self, id: &RequestId, text: impl Fn(usize) -> Text) {
        if self.room.open().contains_key(id) {
            return;
        }
        let record = self.store.requests[id].clone();
        if record.open {
            // Its end is not committed, so the room still has it.
            return;
        }
        let mut stored: ApprovalRequest = serde_json::from_str(&record.body).unwrap();
        let since = self.store.updates_since(stored.version);
        let record = match self.mutation {
            Some(RoomMutation::InverseNotMapped) => {
                stored.version = self.room.version();
                let body = serde_json::to_string(&stored).unwrap();
                let record = copydesk_store::RequestRecord { body, ..record };
                self.room.recall(&record, self.room.text().clone(), &[]).unwrap();
                return;
            }
            _ => record,
        };
        self.room.recall(&record, text(stored.version.0 as usize), since).unwrap();
    }

    /// Returns whether a request has ended for which a call waits after a restart.
    pub fn is_settled(&mut self, id: &RequestId, text: impl Fn(usize) -> Text) -> bool {
        self.recall(id, text);
        self.room.settled(id, self.now_ms, &self.settings).is_some()
    }

    /// Commits the batch. Returns the output.
    pub fn commit_batch(&mut self) -> Vec<ServerOutput> {
        let taken = self.room.take_batch();
        if self.mutation == Some(RoomMutation::BroadcastBeforeCommit) {
            let delayed_ops = std::mem::replace(&mut self.delayed_ops, taken.batch.ops().to_vec());
            self.store.commit(delayed_ops.iter());
        } else {
            let mutation = self.mutation;
            let is_stored = |op: &&StoreOp| mutation.is_none_or(|mutation| mutation.stores_op(op));
            self.store.commit(taken.batch.ops().iter().filter(is_stored));
        }
        self.durable_requests.clone_from(self.room.open());
        let replies = &self.replies.1;
        let mut outputs = Vec::new();
        taken.kept(|output| {
            outputs.extend(replies.try_iter().map(ServerOutput::Reply));
            outputs.push(ServerOutput::Room(output));
        });
        outputs.extend(replies.try_iter().map(ServerOutput::Reply));
        outputs
    }

    /// Fails to commit the batch: none of it has happened.
    pub fn fail_commit(
        &mut self,
    ) -> Result<Vec<ServerOutput>, crate::invariants::InvariantViolation> {
        self.room.take_batch().lost(StoreError::Closed);
        let reloaded = self.load_room_from_store()?;
        self.room.reload(reloaded, self.now_ms, &self.settings);
        self.check_restored()?;
        Ok(self.replies.1.try_iter().map(ServerOutput::Reply).collect())
    }

    /// Cuts the power, before the batch is committed, or after that and before the output is sent.
    pub fn cut_power(&mut self, is_committed: bool) -> CheckResult {
        let taken = self.room.take_batch();
        if is_committed {
            self.store.commit(taken.batch.ops().iter());
            self.durable_requests.clone_from(self.room.open());
        } else if let Some(mutation) = self.mutation {
            self.store
                .commit(taken.batch.ops().iter().filter(|op| mutation.survives_power_cut(op)));
        }
        taken.lost(StoreError::Closed);
        self.replies.1.try_iter().for_each(drop);
        let reloaded = self.load_room_from_store()?;
        self.room = reloaded;
        self.check_restored()?;
        // No one had a request focused meanwhile.
        let reloaded = std::mem::replace(&mut self.room, self.store.load_room().unwrap());
        self.room.reload(reloaded, self.now_ms, &self.settings);
        Ok(())
    }

    fn load_room_from_store(&self) -> Result<SimulatedRoom, crate::invariants::InvariantViolation> {
        let mut room = self.store.load_room().map_err(|error| {
            crate::invariants::InvariantViolation(
                RestartPreservesState,
                format!("the room cannot be loaded: {error:?}"),
            )
        })?;
        if let Some(mutation) = self.mutation {
            let stored =
                |id: &RequestId| serde_json::from_str(&self.store.requests[id].body).unwrap();
            mutation.mutate_restarted_room(&mut room, stored);
        }
        Ok(room)
    }

    /// Checks that the open requests are those in the store, apart from the time they were focused.
    fn check_restored(&self) -> CheckResult {
        let without_focus = |request: &ApprovalRequest| {
            let clock = copydesk_approvals::RequestTimes {
                paused_ms: None,
                expires_ms: None,
                ..request.clock
            };
            let mut request = request.clone();
            request.clock = clock;
            // That someone is writing is not stored.
            request.end_writing(u64::MAX);
            request
        };
        let (open, durable_requests) = (self.room.open(), &self.durable_requests);
        ensure(RestartPreservesState, open.keys().eq(durable_requests.keys()), || {
            format!("open requests were {:?}, now {:?}", durable_requests.keys(), open.keys())
        })?;
        for (id, request) in open {
            let (now, before) = (without_focus(request), without_focus(&durable_requests[id]));
            ensure(RestartPreservesState, now == before, || format!("was {before:?}\nis {now:?}"))?;
        }
        Ok(())
    }
}
