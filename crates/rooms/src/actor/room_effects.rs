//! Effects of one batch of a room: operations to store, then events and answers to send, in order.

use std::sync::Arc;

use copydesk_document::Update;
use copydesk_ids::{DocumentId, MemberId, Version};
use copydesk_store::{StoreError, StoreOp, UpdateRecord, WriteBatch};

use crate::command::{ReplySender, ResolvedRequest};
use crate::event::{RoomEvent, RunEvent};
use crate::{EncodedEvent, RoomError, RoomResult};

/// Effects collected while commands are applied; carried out once the operations are committed.
#[derive(Default)]
pub(crate) struct RoomEffects {
    batch: WriteBatch,
    /// Updates of the batch, which follow each other, so that they are stored by one statement.
    appended: Option<AppendedUpdate>,
    outputs: Vec<RoomEffect>,
    /// Connections that get an update and an answer.
    told_and_answered: Vec<MemberId>,
}

struct AppendedUpdate {
    document: DocumentId,
    from: Version,
    updates: Vec<UpdateRecord>,
}

/// Effect to carry out once everything is durable.
pub(crate) enum RoomEffect {
    /// Event for everyone in the document at this point, as encoded while the batch was being
    /// stored.
    Tell(RoomEvent, Option<EncodedEvent>),
    /// Event of a run for everyone in the document; not stored here.
    Say(RunEvent),
    /// Event for everyone but one connection.
    TellOthers(MemberId, RoomEvent),
    /// Event for one connection.
    TellOne(MemberId, RoomEvent),
    /// Connection that gets all events from here on.
    Join(MemberId),
    /// Connection that gets no more events.
    Leave(MemberId),
    /// Resolution for those who wait for a request that has ended.
    Resolved(Box<ResolvedRequest>),
    /// Answer to a command; the store's error if the batch was not stored.
    Answer(PendingReply),
    /// Answer to a command that takes long to encode.
    LongAnswer(PendingReply),
}

impl RoomEffect {
    pub fn is_long(&self) -> bool {
        matches!(self, Self::LongAnswer(_) | Self::TellOne(..))
    }
}

/// Answer to a command; gets the store's error if the batch was not stored.
pub(crate) type PendingReply = Box<dyn FnOnce(Result<(), Arc<StoreError>>) + Send>;

impl RoomEffects {
    pub fn keep(&mut self, op: StoreOp) {
        self.batch.push(op);
    }

    pub fn append(
        &mut self,
        document: &DocumentId,
        from: Version,
        updates: impl Iterator<Item = UpdateRecord>,
    ) {
        let appended = self.appended.get_or_insert_with(|| AppendedUpdate {
            document: document.clone(),
            from,
            updates: Vec::new(),
        });
        appended.updates.extend(updates);
    }

    pub fn then(&mut self, output: RoomEffect) {
        self.outputs.push(output);
    }

    /// Adds an event for everyone, sent once the batch is stored. Text updates that follow each
    /// other directly become one message.
    pub fn queue_event(&mut self, event: RoomEvent) {
        if let RoomEvent::Updates { updates: more, drop, put, .. } = &event
            && drop.is_empty()
            && put.is_empty()
            && let Some(updates) = self.open_message()
        {
            updates.extend(more.iter().cloned());
            return;
        }
        self.outputs.push(RoomEffect::Tell(event, None));
    }

    /// Returns the last message of plain text updates, if only answers came after it.
    fn open_message(&mut self) -> Option<&mut Vec<Arc<Update>>> {
        let last =
            self.outputs.iter_mut().rev().find(|output| {
                !matches!(output, RoomEffect::Answer(_) | RoomEffect::LongAnswer(_))
            })?;
        match last {
            RoomEffect::Tell(RoomEvent::Updates { updates, drop, put, .. }, _)
                if drop.is_empty() && put.is_empty() =>
            {
                Some(updates)
            }
            _ => None,
        }
    }

    /// Answers a command. If the batch cannot be stored, every command gets that error: a refusal
    /// may rest on another command of the batch, which then never happened.
    pub fn answer<T: Send + 'static>(&mut self, reply: ReplySender<T>, result: RoomResult<T>) {
        self.outputs.push(RoomEffect::Answer(answer(reply, result)));
    }

    /// Answers a push of a connection, which gets its own update too.
    pub fn answer_push(
        &mut self,
        member: MemberId,
        reply: ReplySender<Version>,
        result: RoomResult<Version>,
    ) {
        if result.is_ok() && !self.told_and_answered.contains(&member) {
            self.told_and_answered.push(member);
        }
        self.answer(reply, result);
    }

    /// Takes the connections that get an update and an answer, each once.
    pub fn take_told_and_answered(&mut self) -> Vec<MemberId> {
        std::mem::take(&mut self.told_and_answered)
    }

    pub fn answer_long<T: Send + 'static>(&mut self, reply: ReplySender<T>, result: RoomResult<T>) {
        self.outputs.push(RoomEffect::LongAnswer(answer(reply, result)));
    }

    pub fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.appended.is_none() && self.outputs.is_empty()
    }

    pub fn into_parts(self) -> (WriteBatch, Vec<RoomEffect>) {
        let Self { mut batch, appended, outputs, told_and_answered: _ } = self;
        if let Some(AppendedUpdate { document, from, updates }) = appended {
            batch.push(StoreOp::AppendUpdates { document, from, updates });
        }
        (batch, outputs)
    }
}

fn answer<T: Send + 'static>(reply: ReplySender<T>, result: RoomResult<T>) -> PendingReply {
    Box::new(move |kept| reply.send(kept.map_err(RoomError::not_kept).and(result)))
}
