//! The server: a real room, the store it would have, connections; killed and restarted like the
//! real one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use copydesk::approvals::{ApprovalRequest, Decision};
use copydesk::document::{ChangeLimits, ChangeSet, Text, Update};
use copydesk::ids::{MemberId, RequestId, Version};
use copydesk::permissions::Principal;
use copydesk::rooms::RoomError;
use copydesk::rooms::command::{
    NewApprovalRequest, OpenedDocument, ProposalOutcome, PushRequest, ReplySender, RequestCommand,
    RoomCommand, UndoChange,
};
use copydesk::rooms::settings::{ApprovalSwitch, PermissionMode, ServerSettings};
use copydesk::rooms::simulated_room::{SimulatedOutput, SimulatedRoom};
use copydesk::store::{StoreError, StoreOp};

use crate::chance::{self, PEOPLE};
use crate::disk::Disk;
use crate::mutations::Mutation;
use crate::rules::Rule::ARestartChangesNothing;
use crate::rules::{Held, must};

/// So short that some expire while people look.
const TIMEOUT_MS: u64 = 120_000;

/// An answer to a command.
pub enum Answer {
    /// To which editor, over which connection, what it had made by then.
    Pushed(usize, MemberId, usize, Result<Version, RoomError>),
    Opened(usize, MemberId, Result<OpenedDocument, RoomError>),
    /// To which call.
    Proposed(usize, Result<ProposalOutcome, RoomError>),
}

/// What leaves the server, in order.
pub enum Out {
    Told(SimulatedOutput),
    Answer(Answer),
}

type Open = BTreeMap<RequestId, Arc<ApprovalRequest>>;

pub struct Desk {
    pub room: SimulatedRoom,
    pub disk: Disk,
    pub now_ms: u64,
    settings: ServerSettings,
    /// What is open by the store.
    durable: Open,
    /// Who holds a good token.
    people: [Principal; PEOPLE.len()],
    wrong: Option<Mutation>,
    answers: (Sender<Answer>, Receiver<Answer>),
    /// What a server tells before it keeps it.
    late: Vec<StoreOp>,
}

impl Desk {
    pub fn new(text: &str, wrong: Option<Mutation>) -> Self {
        let disk = Disk::new(text);
        Self {
            room: disk.room().unwrap(),
            disk,
            now_ms: 1_000,
            settings: ServerSettings {
                approvals: ApprovalSwitch::On,
                timeout_ms: Some(TIMEOUT_MS),
                permission_mode: PermissionMode::Ask,
            },
            durable: Open::new(),
            people: PEOPLE.map(chance::person),
            wrong,
            answers: channel(),
            late: Vec::new(),
        }
    }

    /// A way to answer.
    pub fn reply<T: Send + 'static>(
        &self,
        answer: impl FnOnce(Result<T, RoomError>) -> Answer + Send + 'static,
    ) -> ReplySender<T> {
        let sender = self.answers.0.clone();
        ReplySender::new(move |result| drop(sender.send(answer(result))))
    }

    /// Applies a command that needs nothing but the room.
    pub fn take(&mut self, command: RoomCommand) {
        self.take_with(command, Version(u64::MAX));
    }

    /// Applies a command that speaks of an old version.
    pub fn take_with(&mut self, command: RoomCommand, since: Version) {
        let older = self.disk.older(since, self.room.tail_start());
        self.room.take(command, older, &self.people, self.now_ms, &self.settings);
    }

    /// A call of an agent arrives.
    pub fn propose(&mut self, new: NewApprovalRequest, reply: ReplySender<ProposalOutcome>) {
        let since = new.action.base_version;
        self.under_the_law(|copydesk| {
            copydesk.take_with(RoomCommand::Propose(Box::new(new), reply), since);
        });
    }

    /// Does something under the rules as this server reads them.
    fn under_the_law(&mut self, act: impl FnOnce(&mut Self)) {
        let Some(wrong) = self.wrong else { return act(self) };
        let law = self.room.rules().clone();
        wrong.law(self.room.rules_mut());
        act(self);
        *self.room.rules_mut() = law;
    }

    pub fn push(&mut self, push: PushRequest, reply: ReplySender<Version>) {
        let Some(wrong) = self.wrong else { return self.take(RoomCommand::Push(push, reply)) };
        let (version, before) = (self.room.version(), self.room.open().clone());
        let mut text = self.room.text().clone();
        let push = match self.room.since(push.base) {
            Some(missed) => wrong.push(push, &missed, text.len()),
            None => push,
        };
        self.take(RoomCommand::Push(push, reply));
        let updates = self.room.since(version).unwrap();
        let step = |update: &Update| {
            let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
            change.apply(&mut text).unwrap();
            (change, text.clone())
        };
        let steps: Vec<(ChangeSet, Text)> = updates.iter().map(step).collect();
        for (id, request) in self.room.open_mut() {
            if let Some(before) = before.get(id) {
                wrong.rebase(before, request, &steps);
            }
        }
    }

    pub fn decide(&mut self, id: &RequestId, mut decision: Decision, mut by: Principal) {
        let Some(before) = self.room.request(id).cloned() else { return };
        let policies = self.room.policies_mut().clone();
        if let Some(wrong) = self.wrong {
            wrong.decide(&mut self.room, id, &mut decision, &mut by);
        }
        let tampered = self.room.request(id).cloned();
        let (reply, _) = ReplySender::channel();
        let command = RequestCommand::Decide(Box::new(decision), by);
        self.under_the_law(|copydesk| {
            copydesk.take(RoomCommand::About(id.clone(), command, reply));
        });
        *self.room.policies_mut() = policies;
        if let Some(wrong) = self.wrong {
            if self.room.request(id) == tampered.as_ref() {
                // Refused: as it was.
                if let Some(open) = self.room.open_mut().get_mut(id) {
                    *open = before;
                }
            } else {
                wrong.decided(&mut self.room, &before);
            }
        }
    }

    pub fn undo(&mut self, mut undo: UndoChange, by: Principal) {
        if let Some(wrong) = self.wrong {
            wrong.undo(&mut undo);
        }
        let (reply, _) = ReplySender::channel();
        let (request, command) = (undo.request.clone(), RequestCommand::Undo(undo, by));
        self.take(RoomCommand::About(request, command, reply));
    }

    /// Time has passed.
    pub fn expire(&mut self) {
        match self.wrong {
            Some(Mutation::ExpiredIsAccepted) => return,
            Some(Mutation::LookingDoesNotHelp) => {
                for request in self.room.open_mut().values_mut() {
                    Arc::make_mut(request).clock.paused_ms = None;
                }
            }
            _ => {}
        }
        self.room.expire(self.now_ms, &self.settings);
    }

    /// A request that has ended comes back to the room's hands. Everything must be kept.
    pub fn recall(&mut self, id: &RequestId, text: impl Fn(usize) -> Text) {
        if self.room.open().contains_key(id) {
            return;
        }
        let record = self.disk.requests[id].clone();
        if record.open {
            // Its end is not kept yet, so the room has it still.
            return;
        }
        let mut stored: ApprovalRequest = serde_json::from_str(&record.body).unwrap();
        let since = self.disk.since(stored.version);
        let record = match self.wrong {
            Some(Mutation::InverseIsNotMapped) => {
                stored.version = self.room.version();
                let body = serde_json::to_string(&stored).unwrap();
                let record = copydesk::store::RequestRecord { body, ..record };
                self.room.recall(&record, self.room.text().clone(), &[]).unwrap();
                return;
            }
            _ => record,
        };
        self.room.recall(&record, text(stored.version.0 as usize), since).unwrap();
    }

    /// How a request ended that somebody waits for after a restart.
    pub fn has_settled(&mut self, id: &RequestId, text: impl Fn(usize) -> Text) -> bool {
        self.recall(id, text);
        self.room.settled(id, self.now_ms, &self.settings).is_some()
    }

    /// The batch is kept; what leaves the server.
    pub fn end_batch(&mut self) -> Vec<Out> {
        let taken = self.room.take_batch();
        if self.wrong == Some(Mutation::ToldBeforeKept) {
            let late = std::mem::replace(&mut self.late, taken.batch.ops().to_vec());
            self.disk.keep(late.iter());
        } else {
            let wrong = self.wrong;
            let kept = |op: &&StoreOp| wrong.is_none_or(|wrong| wrong.keeps(op));
            self.disk.keep(taken.batch.ops().iter().filter(kept));
        }
        self.durable.clone_from(self.room.open());
        let answers = &self.answers.1;
        let mut out = Vec::new();
        taken.kept(|told| {
            out.extend(answers.try_iter().map(Out::Answer));
            out.push(Out::Told(told));
        });
        out.extend(answers.try_iter().map(Out::Answer));
        out
    }

    /// The store fails: nothing of the batch has happened.
    pub fn loses(&mut self) -> Result<Vec<Out>, crate::rules::Broken> {
        self.room.take_batch().lost(StoreError::Closed);
        let fresh = self.restarted()?;
        self.room.reload(fresh, self.now_ms, &self.settings);
        self.is_as_before()?;
        Ok(self.answers.1.try_iter().map(Out::Answer).collect())
    }

    /// The power is cut before the batch is kept, or after that and before anybody is told.
    pub fn is_cut(&mut self, kept: bool) -> Held {
        let taken = self.room.take_batch();
        if kept {
            self.disk.keep(taken.batch.ops().iter());
            self.durable.clone_from(self.room.open());
        } else if let Some(wrong) = self.wrong {
            self.disk.keep(taken.batch.ops().iter().filter(|op| wrong.half_kept(op)));
        }
        taken.lost(StoreError::Closed);
        self.answers.1.try_iter().for_each(drop);
        let fresh = self.restarted()?;
        self.room = fresh;
        self.is_as_before()?;
        // Nobody can have been looking meanwhile.
        let fresh = std::mem::replace(&mut self.room, self.disk.room().unwrap());
        self.room.reload(fresh, self.now_ms, &self.settings);
        Ok(())
    }

    fn restarted(&self) -> Result<SimulatedRoom, crate::rules::Broken> {
        let mut room = self.disk.room().map_err(|error| {
            crate::rules::Broken(ARestartChangesNothing, format!("it cannot be loaded: {error:?}"))
        })?;
        if let Some(wrong) = self.wrong {
            let stored =
                |id: &RequestId| serde_json::from_str(&self.disk.requests[id].body).unwrap();
            wrong.restarted(&mut room, stored);
        }
        Ok(room)
    }

    /// What is open is what was kept, but for how long somebody has been looking.
    fn is_as_before(&self) -> Held {
        let unwatched = |request: &ApprovalRequest| {
            let clock = copydesk::approvals::RequestTimes {
                paused_ms: None,
                expires_ms: None,
                ..request.clock
            };
            let mut request = request.clone();
            request.clock = clock;
            request
        };
        let (open, durable) = (self.room.open(), &self.durable);
        must(ARestartChangesNothing, open.keys().eq(durable.keys()), || {
            format!("open were {:?}, now {:?}", durable.keys(), open.keys())
        })?;
        for (id, request) in open {
            let (now, before) = (unwatched(request), unwatched(&durable[id]));
            must(ARestartChangesNothing, now == before, || format!("was {before:?}\nis {now:?}"))?;
        }
        Ok(())
    }
}
