//! Runs that are taken up again: after a crash or a stop, and, of several servers that share a
//! database, from one that is gone. Each server does the runs of the documents that it has.

use std::sync::Arc;

use async_recursion::async_recursion as boxed;

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_placement::OtherServer;
use copydesk_rooms::{RoomError, WORKSPACE_INBOX};
use copydesk_store::{RunRecord, RunState};

use crate::agent_shared::AgentShared;
use crate::run::run_record::Run;
use crate::run_queues::QueueKey;
use crate::{AgentQuestion, AgentService, AskError};
use copydesk_failpoint as failpoint;

impl AgentService {
    /// Resumes the runs that a crash or a stop left behind; returns their number. Of several
    /// servers, each resumes those of the documents that no other one has; may be called again.
    ///
    /// # Errors
    ///
    /// If the store or the workspace inbox cannot be read, or if it is not known of some runs
    /// whether another server has them; the others are resumed.
    pub async fn resume(&self) -> Result<usize, AskError> {
        let _resuming = self.shared.resuming.lock().await;
        if self.shared.may_settle_undos().await? {
            self.settle_undos().await?;
        }
        let mut records = self.shared.store.unfinished_runs().await?;
        // Runs that have begun go first, so that no other run comes between their entries.
        records.sort_by_key(|record| record.state == RunState::Queued);
        let (mut count, mut unknown) = (0, None);
        for record in records {
            match Run::read(record) {
                Ok(run) => {
                    match self.shared.is_left_behind(&run).await {
                        Ok(true) => {}
                        Ok(false) => continue,
                        Err(error) => {
                            // The others are resumed all the same.
                            unknown = Some(error);
                            continue;
                        }
                    }
                    self.shared.take_up(run);
                    failpoint::pass("agent.resuming");
                    count += 1;
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read a stored run; it is skipped");
                }
            }
        }
        unknown.map_or(Ok(count), Err)
    }

    /// Looks for a run that is under way on another server.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if there is one, [`AskError::Store`] if it cannot be looked up.
    #[boxed]
    pub async fn find_on_other_server(
        &self,
        session: &SessionId,
        run: &RunId,
    ) -> Result<(), AskError> {
        let record = self.shared.store.run(&RunRecord::key(session, run)).await?;
        let record = record.filter(is_unfinished);
        let Some(run) = record.and_then(|record| Run::read(record).ok()) else { return Ok(()) };
        Ok(self.shared.claim_home(&run).await?)
    }

    /// Returns the sessions in which a person has a run of this name that is not over. Of several
    /// servers, runs of the others are looked for only if this one has none.
    ///
    /// # Errors
    /// [`AskError::Store`] if the runs of other servers cannot be read.
    #[boxed]
    pub async fn sessions_of(
        &self,
        run: &RunId,
        person: &Principal,
    ) -> Result<Vec<SessionId>, AskError> {
        let here = self.shared.queues().sessions_of(run, person);
        if !here.is_empty() || !self.shared.rooms.placement().is_shared() {
            return Ok(here);
        }
        let records = self.shared.store.unfinished_runs().await?.into_iter();
        let own = records.filter(|record| {
            person.is(&record.user) && record.id == RunRecord::key(&record.session, run)
        });
        Ok(own.map(|record| record.session).collect())
    }

    /// Returns the other server that has the private document of a session, if there is one.
    ///
    /// # Errors
    /// [`AskError::Store`] if that cannot be looked up.
    pub async fn private_elsewhere(
        &self,
        session: &SessionId,
    ) -> Result<Option<OtherServer>, AskError> {
        let (store, placement) = (&self.shared.store, self.shared.rooms.placement());
        match store.private_document(session).await? {
            Some(record) => Ok(placement.other_server_of(&record.id).await?),
            None => Ok(None),
        }
    }

    /// Records that runs have ended on another server, and calls may have gone on there.
    pub fn note_ended(&self) {
        self.shared.ended.send_modify(|count| *count += 1);
        self.shared.note_call();
    }
}

impl AgentShared {
    /// Takes up a run that was left behind.
    pub(crate) fn take_up(self: &Arc<Self>, run: Run) {
        let key = QueueKey::of(&run);
        let worker = self.queues().requeue(run);
        self.spawn_worker(worker, key);
    }

    /// Makes sure that no other server has the document to which a run belongs.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if one has, [`RoomError::Store`] if that cannot be looked up.
    pub async fn claim_home(&self, run: &Run) -> Result<(), RoomError> {
        let ask = &run.ask;
        let home = match &ask.document {
            Some(document) => Some(document.clone()),
            None => self.store.private_document(&ask.session).await?.map(|record| record.id),
        };
        match home {
            Some(document) => self.rooms.claim(&document).await,
            None => Ok(()),
        }
    }

    /// Returns `true` if a stored run is under way on no server.
    ///
    /// # Errors
    /// [`AskError::Store`] or [`AskError::Room`] if that cannot be looked up.
    pub async fn is_left_behind(&self, run: &Run) -> Result<bool, AskError> {
        if !self.rooms.placement().is_shared() {
            return Ok(true);
        }
        let AgentQuestion { session, run: name, .. } = &run.ask;
        if self.queues().token(session, name).is_some() {
            return Ok(false);
        }
        // What was asked without a document waits for the server that has the inbox.
        let home = match &run.ask.document {
            Some(_) => Ok(()),
            None => self.check_inbox_here().await,
        };
        let home = match home {
            Ok(()) => self.claim_home(run).await,
            refused => refused,
        };
        match home {
            Err(RoomError::NotHere(_)) => return Ok(false),
            // The run is ended with its document.
            Ok(()) | Err(RoomError::NoDocument) => {}
            Err(error) => return Err(error.into()),
        }
        // It may have ended while it was looked for.
        let record = self.store.run(&RunRecord::key(session, name)).await?;
        Ok(record.as_ref().is_some_and(is_unfinished))
    }

    /// Checks that no other server has the workspace inbox, before a session's private document is
    /// opened: what is asked without a document often ends in the inbox.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if one has it, [`RoomError::Store`] if that cannot be looked up.
    pub async fn check_private_place(&self, private: Option<&DocumentId>) -> Result<(), RoomError> {
        let is_here = private.is_some_and(|document| self.rooms.opened(document).is_some());
        if is_here || !self.rooms.placement().is_shared() {
            return Ok(());
        }
        self.check_inbox_here().await
    }

    /// Checks that no other server has, or is to have, the workspace inbox.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if so, [`RoomError::Store`] if that cannot be looked up.
    pub async fn check_inbox_here(&self) -> Result<(), RoomError> {
        match self.rooms.claim(&WORKSPACE_INBOX.into()).await {
            // The inbox is created when it is first needed.
            Err(RoomError::NoDocument) => Ok(()),
            claimed => claimed,
        }
    }

    /// Returns `true` if no other server can be about to undo something, and neither is this one.
    ///
    /// # Errors
    /// [`AskError::Room`] if that cannot be looked up.
    pub async fn may_settle_undos(&self) -> Result<bool, AskError> {
        let inbox = WORKSPACE_INBOX.into();
        if !self.rooms.placement().is_shared() {
            return Ok(true);
        }
        if self.rooms.opened(&inbox).is_some() {
            return Ok(false);
        }
        match self.rooms.claim(&inbox).await {
            Ok(()) => Ok(true),
            Err(RoomError::NotHere(_) | RoomError::NoDocument) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns `true` for the record of a run that has not ended.
pub(crate) fn is_unfinished(record: &RunRecord) -> bool {
    !matches!(record.state, RunState::Ended(_))
}
