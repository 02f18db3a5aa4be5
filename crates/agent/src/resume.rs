//! Runs that are taken up again: after a crash or a stop, and, of several servers that share a
//! database, from one that is gone. Each server does the runs of the documents that it has.

use async_recursion::async_recursion as boxed;

use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_placement::OtherServer;
use copydesk_rooms::{RoomError, RoomResult, WORKSPACE_INBOX};
use copydesk_store::{RunRecord, RunState};

use crate::run::run_record::{Run, is_part_of_run};
use crate::run_queues::QueueKey;
use crate::{AgentQuestion, AgentService, AskResult};
use copydesk_failpoint as failpoint;

impl AgentService {
    /// Resumes the runs that a crash or a stop left behind; returns their number. Of several
    /// servers, each resumes those of the documents that no other one has; may be called again.
    ///
    /// # Errors
    ///
    /// If the store or the workspace inbox cannot be read, or if it is not known of some runs
    /// whether another server has them; the others are resumed.
    pub async fn resume(&self) -> AskResult<usize> {
        let _resuming = self.resuming.lock().await;
        if self.may_settle_undos().await? {
            self.settle_undos().await?;
        }
        let mut records = self.store.unfinished_runs().await?;
        records.retain(|record| !is_part_of_run(record));
        // Runs that have begun go first, so that no other run comes between their entries.
        records.sort_by_key(|record| record.state == RunState::Queued);
        let (mut count, mut unknown) = (0, None);
        for record in records {
            match Run::read(record) {
                Ok(run) => {
                    match self.is_left_behind(&run).await {
                        Ok(true) => {}
                        Ok(false) => continue,
                        Err(error) => {
                            // The others are resumed all the same.
                            unknown = Some(error);
                            continue;
                        }
                    }
                    self.take_up(run);
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
    /// [`RoomError::NotHere`] if there is one, [`Store`](crate::AskError::Store) if it cannot be
    /// looked up.
    #[boxed]
    pub async fn find_on_other_server(&self, session: &SessionId, run: &RunId) -> AskResult<()> {
        let record = self.store.run(&RunRecord::key(session, run)).await?;
        let record = record.filter(|record| !record.state.has_ended());
        let Some(run) = record.and_then(|record| Run::read(record).ok()) else { return Ok(()) };
        Ok(self.claim_home(&run).await?)
    }

    /// Returns the sessions in which a person has a run of this name that is not over. Of several
    /// servers, runs of the others are looked for only if this one has none.
    ///
    /// # Errors
    /// [`Store`](crate::AskError::Store) if the runs of other servers cannot be read.
    #[boxed]
    pub async fn sessions_of(&self, run: &RunId, person: &Principal) -> AskResult<Vec<SessionId>> {
        let here = self.queues().sessions_of(run, person);
        if !here.is_empty() || !self.rooms.placement().is_shared() {
            return Ok(here);
        }
        let records = self.store.unfinished_runs().await?.into_iter();
        let own = records.filter(|record| {
            person.is(&record.user) && record.id == RunRecord::key(&record.session, run)
        });
        Ok(own.map(|record| record.session).collect())
    }

    /// Returns the other server that has the private document of a session, if there is one.
    ///
    /// # Errors
    /// [`Store`](crate::AskError::Store) if that cannot be looked up.
    pub async fn private_elsewhere(&self, session: &SessionId) -> AskResult<Option<OtherServer>> {
        let (store, placement) = (&self.store, self.rooms.placement());
        match store.private_document(session).await? {
            Some(record) => Ok(placement.other_server_of(&record.id).await?),
            None => Ok(None),
        }
    }

    /// Records that runs have ended on another server.
    pub fn note_ended(&self) {
        self.ended.send_modify(|count| *count += 1);
    }

    /// Takes up a run that was left behind.
    pub(crate) fn take_up(&self, run: Run) {
        let key = QueueKey::of(&run);
        let worker = self.queues().requeue(run);
        self.spawn_worker(worker, key);
    }

    /// Makes sure that no other server has the document to which a run belongs.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if one has, [`RoomError::Store`] if that cannot be looked up.
    pub async fn claim_home(&self, run: &Run) -> RoomResult<()> {
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
    /// [`Store`](crate::AskError::Store) or [`Room`](crate::AskError::Room) if that cannot be
    /// looked up.
    pub async fn is_left_behind(&self, run: &Run) -> AskResult<bool> {
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
        Ok(record.is_some_and(|record| !record.state.has_ended()))
    }

    /// Checks that no other server has the workspace inbox, before a session's private document is
    /// opened: what is asked without a document often ends in the inbox.
    ///
    /// # Errors
    /// [`RoomError::NotHere`] if one has it, [`RoomError::Store`] if that cannot be looked up.
    pub async fn check_private_place(&self, private: Option<&DocumentId>) -> RoomResult<()> {
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
    pub async fn check_inbox_here(&self) -> RoomResult<()> {
        match self.rooms.claim(&WORKSPACE_INBOX.into()).await {
            // The inbox is created when it is first needed.
            Err(RoomError::NoDocument) => Ok(()),
            claimed => claimed,
        }
    }

    /// Returns `true` if no other server can be about to undo something, and neither is this one.
    ///
    /// # Errors
    /// [`Room`](crate::AskError::Room) if that cannot be looked up.
    pub async fn may_settle_undos(&self) -> AskResult<bool> {
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
