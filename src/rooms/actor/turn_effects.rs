//! What one turn of a room leads to: what to keep, and whom to tell and answer once it is kept, in order.

use std::sync::Arc;

use crate::document::Update;
use crate::ids::{DocumentId, MemberId, Version};
use crate::store::{StoreError, StoreOp, UpdateRecord, WriteBatch};

use crate::rooms::command::{CommitPrefix, ReplySender, ResolvedRequest};
use crate::rooms::event::{RoomEvent, RunEvent};
use crate::rooms::{EncodedEvent, RoomError};

/// Collected while commands are applied; carried out after the store has kept what is to be kept.
#[derive(Default)]
pub(crate) struct TurnEffects {
    batch: WriteBatch,
    /// All updates of the turn follow each other, so they are kept by one statement.
    appended: Option<AppendedUpdate>,
    outputs: Vec<TurnEffect>,
}

struct AppendedUpdate {
    document: DocumentId,
    from: Version,
    updates: Vec<UpdateRecord>,
}

/// One thing to do once everything is durable.
pub(crate) enum TurnEffect {
    /// Tell everyone who is in the document at this point; with what was made of it while it was being kept.
    Tell(RoomEvent, EncodedEvent),
    /// Tell everyone what a run says, which is not kept here.
    Say(RunEvent),
    /// Tell everyone but one.
    TellOthers(MemberId, RoomEvent),
    /// Tell one.
    TellOne(MemberId, RoomEvent),
    /// From here on this connection is told everything.
    Join(MemberId),
    /// From here on it is told nothing.
    Leave(MemberId),
    /// A request has ended, and somebody may wait for it.
    Resolved(Box<ResolvedRequest>),
    /// Answer a command; with the store's error if the turn was not kept.
    Answer(PendingReply),
    /// The same, where to write down the answer takes long.
    LongAnswer(PendingReply),
}

/// Answers a command; with the store's error if the turn was not kept.
pub(crate) type PendingReply = Box<dyn FnOnce(Result<(), Arc<StoreError>>) + Send>;

impl TurnEffects {
    /// Something to keep.
    pub(crate) fn keep(&mut self, op: StoreOp) {
        self.batch.push(op);
    }

    /// What comes before a request.
    pub(crate) fn begin_with(&mut self, preface: CommitPrefix) {
        let CommitPrefix { batch, said, kept } = preface;
        self.batch.extend(batch);
        for said in said {
            self.tell(RoomEvent::Said(Arc::new(said)));
        }
        self.answer(kept, Ok(()));
    }

    /// Updates to keep, which lead on from version `from`.
    pub(crate) fn append(
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

    /// One thing to do.
    pub(crate) fn then(&mut self, output: TurnEffect) {
        self.outputs.push(output);
    }

    /// Tell everyone. Text updates that follow each other directly become one message.
    pub(crate) fn tell(&mut self, event: RoomEvent) {
        if let RoomEvent::Updates { updates: more, drop, put, .. } = &event
            && drop.is_empty()
            && put.is_empty()
            && let Some(updates) = self.open_message()
        {
            updates.extend(more.iter().cloned());
            return;
        }
        self.outputs.push(TurnEffect::Tell(event, EncodedEvent::default()));
    }

    /// The last message of plain text updates that nothing but answers came after.
    fn open_message(&mut self) -> Option<&mut Vec<Arc<Update>>> {
        let last =
            self.outputs.iter_mut().rev().find(|output| {
                !matches!(output, TurnEffect::Answer(_) | TurnEffect::LongAnswer(_))
            })?;
        match last {
            TurnEffect::Tell(RoomEvent::Updates { updates, drop, put, .. }, _)
                if drop.is_empty() && put.is_empty() =>
            {
                Some(updates)
            }
            _ => None,
        }
    }

    /// Answer a command. If the turn cannot be kept, everybody is told that: a refusal may rest on what another command
    /// of the same turn did, which then never happened.
    pub(crate) fn answer<T: Send + 'static>(
        &mut self,
        reply: ReplySender<T>,
        result: Result<T, RoomError>,
    ) {
        self.outputs.push(TurnEffect::Answer(answer(reply, result)));
    }

    /// The same, where to write down the answer takes long.
    pub(crate) fn answer_long<T: Send + 'static>(
        &mut self,
        reply: ReplySender<T>,
        result: Result<T, RoomError>,
    ) {
        self.outputs.push(TurnEffect::LongAnswer(answer(reply, result)));
    }

    /// Whether there is nothing to keep or do.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.appended.is_none() && self.outputs.is_empty()
    }

    /// What to keep, and what to do then.
    pub(crate) fn into_parts(self) -> (WriteBatch, Vec<TurnEffect>) {
        let Self { mut batch, appended, outputs } = self;
        if let Some(AppendedUpdate { document, from, updates }) = appended {
            batch.push(StoreOp::AppendUpdates { document, from, updates });
        }
        (batch, outputs)
    }
}

fn answer<T: Send + 'static>(reply: ReplySender<T>, result: Result<T, RoomError>) -> PendingReply {
    Box::new(move |kept| reply.send(kept.map_err(RoomError::not_kept).and(result)))
}
