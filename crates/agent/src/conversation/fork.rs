//! Clears conversations, and continues them from an earlier run. Also reports the ends of runs that
//! a session missed.

#[cfg(test)]
mod stories;

use crate::conversation::agent_objects;
use async_recursion::async_recursion as boxed;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_rooms::event::{RunEvent, RunEventKind};
use copydesk_store::{
    AuditEntry, MessageRecord, RunRecord, RunState, StoreOp, TranscriptCursor, WriteBatch,
};

use super::history::ResultTexts;
use super::response::{end, how_it_ended};
use super::transcript::{CONVERSATION_LIMIT, EntryKind, TranscriptEntry};
use crate::run::run_events::RunEventPublisher;
use crate::run::run_record::{self, Run};
use crate::run_queues::{ConversationLock, QueueKey, WorkerNeed};
use crate::service::AgentService;
use crate::{AskError, AskKind, AskResult};

/// Interval between checks for the report of a run's end.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum number of run ends that a returning session gets at once.
const MOST_UNHEARD: u32 = 100;

/// Session, and the document of its conversation.
type ConversationKey = (SessionId, Option<DocumentId>);

/// Earlier run from which a conversation is to continue ([`AgentService::fork`]).
#[derive(Clone, Debug)]
pub struct ConversationFork {
    /// Session of the new conversation; the caller has checked that it is the person's own.
    pub session: SessionId,
    /// Document of the conversation.
    pub document: Option<DocumentId>,
    /// Session that asked for the run. Without a document the caller has checked that it is the
    /// person's own.
    pub from: SessionId,
    /// Name of the run.
    pub run: RunId,
}

impl AgentService {
    /// Returns at most `limit` entries of the conversation ([`Self::said_before`]) from a cursor
    /// on, each with its own cursor. An entry that cannot be read any more is `None`.
    #[boxed]
    pub async fn said_from(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        from: &TranscriptCursor,
        limit: u32,
    ) -> AskResult<Vec<(TranscriptCursor, Option<TranscriptEntry>)>> {
        let store = &self.store;
        let said = match document {
            Some(document) => store.conversations_from(document, from, limit).await?,
            None => store.messages_from(session, None, from, limit).await?,
        };
        let read = |(place, it): (TranscriptCursor, MessageRecord)| {
            let session = SessionId::from(place.session.clone());
            let entry = run_record::entry(&session, it.at_ms, it.body);
            (place, entry)
        };
        Ok(said.into_iter().map(read).collect())
    }

    /// Clears the session's conversation about a document, or about none; the record stays.
    #[boxed]
    pub async fn clear(
        &self,
        session: &SessionId,
        document: Option<&DocumentId>,
        by: &Principal,
    ) -> AskResult<()> {
        let of = (session.clone(), document.cloned());
        self.begin_anew(&of, by, None, WriteBatch::new()).await
    }

    /// Continues the session's conversation from the end of an earlier run, also another person's.
    ///
    /// # Errors
    /// [`AskError::NoRun`] if there is no such run about the document, [`AskError::Busy`] while it,
    /// or a run of the conversation that would be replaced, is at work or waits.
    #[boxed]
    pub async fn fork(&self, fork: ConversationFork, by: &Principal) -> AskResult<()> {
        let ConversationFork { session, document, from, run } = fork;
        let store = &self.store;
        let record = store.run(&RunRecord::key(&from, &run)).await?.ok_or(AskError::NoRun)?;
        if record.document != document {
            return Err(AskError::NoRun);
        }
        if record.finished_ms.is_none() {
            return Err(AskError::Busy);
        }
        let said = self.said_until(&from, document.as_ref(), &run, CONVERSATION_LIMIT).await?;
        let said = said.ok_or(AskError::NoRun)?;
        let past = run_record::past(&session, document.as_ref(), &from, &said)?;
        self.begin_anew(&(session, document), by, Some((from, run)), past.into()).await
    }

    async fn begin_anew(
        &self,
        of: &ConversationKey,
        by: &Principal,
        from: Option<(SessionId, RunId)>,
        past: WriteBatch,
    ) -> AskResult<()> {
        if !by.may(Action::Ask, of.1.as_ref()) {
            return Err(AskError::NotAllowed);
        }
        let key = QueueKey::conversation(of.0.clone(), of.1.clone());
        while self.queues().lock_idle(&key)? == ConversationLock::NotYet {
            sleep(END_CHECK_INTERVAL).await;
        }
        let begun = self.store_beginning(of, by, from, past).await;
        // Runs that were asked for meanwhile begin now.
        self.spawn_worker(WorkerNeed::Needed, key);
        begun
    }

    /// Returns the ends of the session's runs that it missed, as events.
    #[boxed]
    pub async fn unheard(&self, session: &SessionId) -> AskResult<Vec<RunEvent>> {
        let mut unheard = Vec::new();
        for record in self.store.unheard_runs(session, MOST_UNHEARD).await? {
            let (state, at_ms) = (record.state, record.finished_ms.unwrap_or_default());
            match Run::read(record) {
                Ok(run) => unheard.extend(self.end_of(&run, state, at_ms).await?),
                Err(error) => {
                    tracing::error!(%error, "cannot read a stored run; its end is not reported");
                }
            }
        }
        Ok(unheard)
    }

    async fn store_beginning(
        &self,
        (session, document): &ConversationKey,
        by: &Principal,
        from: Option<(SessionId, RunId)>,
        past: WriteBatch,
    ) -> AskResult<()> {
        let room = match document {
            Some(document) => self.rooms.open(document).await?,
            None => self.private_room(session, by).await?,
        };
        let at_ms = self.clock.now_ms();
        let run = from.as_ref().map(|(_, run)| run.clone());
        let kind = EntryKind::Cleared { name: by.name.clone(), from: run };
        let entry =
            TranscriptEntry { session: session.clone(), run: RunId::generate(), at_ms, kind };
        let mut batch = WriteBatch::from(run_record::append(document.as_ref(), &entry)?);
        batch.extend(past.ops().iter().cloned());
        let action = if from.is_some() { "transcript.fork" } else { "transcript.clear" };
        let detail = json!({ "session": session, "from": from });
        let line = AuditEntry::new(action, &by.user, detail, at_ms);
        batch.push(StoreOp::Audit(AuditEntry { document: document.clone(), ..line }));
        self.store.commit(batch).await?;
        let clock = self.clock.clone();
        let (session, run, document) = (session.clone(), entry.run.clone(), document.clone());
        let run_events = RunEventPublisher { room, session, run, clock, document };
        for shown in entry.shown() {
            run_events.show(shown).await;
        }
        Ok(())
    }

    async fn end_of(&self, run: &Run, state: RunState, at_ms: u64) -> AskResult<Vec<RunEvent>> {
        let ask = &run.ask;
        let (session, document) = (&ask.session, ask.document.as_ref());
        let said = self.said_in(session, document, &ask.run, ResultTexts::LeftOut).await?;
        let now = match self.room(run).await {
            Ok(room) => room.read().await.ok(),
            Err(_) => None,
        };
        let (kind, message, reason) = end(&said, state);
        let result = agent_objects::result(kind, message, reason.as_ref(), &run.spent);
        let mut sayings = vec![RunEventKind::Agent(result)];
        if ask.kind == AskKind::Ask {
            sayings.push(RunEventKind::Response(how_it_ended(&said, state, now.as_ref())));
        }
        sayings.push(RunEventKind::Over);
        let says = |saying| RunEvent {
            session: ask.session.clone(),
            run: ask.run.clone(),
            document: ask.document.clone(),
            at_ms,
            saying,
        };
        Ok(sayings.into_iter().map(says).collect())
    }
}
