//! Deletion of a person's data: the work, in steps that can be repeated.
//!
//! The request that begins a deletion stores it, and this task does the rest, also after a restart.
//! Each step finds what is left to do and changes a few rows by each commit: no one waits for it.
//! Rooms have names in their memory, and could store them again. So the rooms forget them, the
//! stored ones are replaced, and both are repeated until nothing was left to replace.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::person_renaming::{self, own_session};
use crate::{ApiError, ApiResult, Application, ErrorCode};
use copydesk_approvals::DeletedPerson;
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::{Principal, Role};
use copydesk_ids::{RunId, UserId};
use copydesk_placement::PeerMessage;
use copydesk_rooms::RoomError;
use copydesk_store::{
    AuditEntry, PersonCounts, PersonDeletion, PersonRow, PersonRowOp, PersonSearch, PersonTable,
    RowKey, RunRecord, StoreOp, WriteBatch,
};

/// Name of the task, which one server of several does.
const TASK: &str = "people";
/// Interval at which the task looks for deletions that another server has begun.
const LOOK: Duration = Duration::from_secs(2);
/// Longest wait for the runs of a person to end, before everything is tried again.
const RUNS_END: Duration = Duration::from_secs(20);
/// Time after which every other server has heard a message, or was removed and writes nothing.
const HEARD: Duration = Duration::from_secs(10);
/// Number of rows that are read, and at most changed, at a time.
const ROWS: u32 = 16;
/// Bytes of text after which a commit is not made longer: others wait for it.
const MOST_BYTES: usize = 128 * 1024;
/// Number of rows without long texts that are removed at a time.
const SHORT_ROWS: u32 = 100;
/// Largest number of rounds before everything is tried again later.
const MOST_ROUNDS: usize = 20;

/// Tables in which people are named, in the order of the work.
const NAMING: [PersonTable; 8] = [
    PersonTable::Messages,
    PersonTable::Requests,
    PersonTable::RequestParts,
    PersonTable::Rules,
    PersonTable::CommentThreads,
    PersonTable::Outbox,
    PersonTable::Idempotency,
    PersonTable::Runs,
];

/// Tables with rows that belong to a person, in the order of their removal: the session is what
/// its messages are found by.
const OWNED: [PersonTable; 7] = [
    PersonTable::Runs,
    PersonTable::Answers,
    PersonTable::CommentReads,
    PersonTable::CommentMentions,
    PersonTable::Idempotency,
    PersonTable::Messages,
    PersonTable::Sessions,
];

/// State of a deletion, as it is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DeletionState {
    /// Owner who asked.
    pub by: Option<UserId>,
    /// Names that are to be replaced; none once the deletion has ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Numbers of records, of logins and limits at the beginning, and of the others once they are
    /// counted.
    pub counts: PersonCounts,
    /// `true` once everything is counted.
    pub is_counted: bool,
    /// Number of private documents to delete; 0: they stay.
    pub private_documents: u64,
}

impl DeletionState {
    /// Returns the state of a deletion; that of a damaged one is empty.
    pub fn of(deletion: &PersonDeletion) -> Self {
        serde_json::from_value(deletion.body.clone()).unwrap_or_default()
    }
}

/// Deletion in the works.
struct DeletionWork<'a> {
    application: &'a Application,
    deletion: PersonDeletion,
    state: DeletionState,
    person: Arc<DeletedPerson>,
}

impl Application {
    /// Does what is left of deletions of people's data, now and whenever one is begun, until the
    /// server stops. Of several servers, one at a time does.
    pub async fn delete_people(&self, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.work_on_deletions() => {}
        }
    }

    async fn work_on_deletions(&self) {
        self.placement().await_task(TASK).await;
        loop {
            match self.store.person_deletions_under_way().await {
                Ok(deletions) => {
                    for deletion in deletions {
                        let person = deletion.person.clone();
                        if let Err(error) = DeletionWork::new(self, deletion).run().await {
                            tracing::warn!(%error, %person, "cannot delete a person yet");
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "cannot look for deletions of people"),
            }
            tokio::select! {
                () = self.deletions.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}

impl<'a> DeletionWork<'a> {
    fn new(application: &'a Application, deletion: PersonDeletion) -> Self {
        let person = Arc::new(DeletedPerson { users: deletion.users.clone() });
        Self { application, state: DeletionState::of(&deletion), deletion, person }
    }

    async fn run(mut self) -> ApiResult<()> {
        self.count().await?;
        self.stop_runs().await?;
        self.collect_names().await?;
        self.delete_private_documents().await?;
        for round in 0..MOST_ROUNDS {
            self.forget_in_rooms(round).await?;
            let changed = self.rename_stored().await? + self.remove_owned().await?;
            if round == 0 {
                failpoint::pass("people.renamed");
            }
            // In the first round rooms may have had what was stored before.
            if changed == 0 && round > 0 {
                return self.end().await;
            }
        }
        Err(ApiError::new(ErrorCode::Busy, "the person's name is stored again and again"))
    }

    /// Counts what there is, for the report. This takes long where there is much, so no one waits
    /// for it before the person's access ends.
    async fn count(&mut self) -> ApiResult<()> {
        if self.state.is_counted {
            return Ok(());
        }
        // These are gone already.
        let PersonCounts { logins, limits, .. } = self.state.counts;
        match self.application.store.person_counts(&self.deletion.users).await {
            Ok(found) => self.state.counts = PersonCounts { logins, limits, ..found },
            // A large database may take longer than it is waited for. The deletion goes on.
            Err(error) => tracing::warn!(%error, "cannot count what is stored of a person"),
        }
        self.state.is_counted = true;
        self.put(None, Vec::new()).await
    }

    /// Stops the runs of the person, and waits until they have ended. What they have proposed is
    /// withdrawn with them.
    async fn stop_runs(&self) -> ApiResult<()> {
        let until = Instant::now() + RUNS_END;
        loop {
            let runs = self.application.store.unfinished_runs_of(&self.deletion.users).await?;
            if runs.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(ApiError::new(ErrorCode::Busy, "runs of the person do not end"));
            }
            for RunRecord { id, session, .. } in runs {
                let own = id.as_str().strip_prefix(session.as_str());
                let run = RunId::from(own.and_then(|it| it.strip_prefix('/')).unwrap_or_default());
                self.application.cancel_run(session, run).await?;
            }
            tokio::time::sleep(LOOK / 40).await;
        }
    }

    /// Looks up the other names that the person had, which stand in what others were sent.
    async fn collect_names(&mut self) -> ApiResult<()> {
        let mut names: BTreeSet<String> = self.state.names.iter().cloned().collect();
        let known = names.clone();
        for user in &self.deletion.users {
            names.extend(self.application.store.names_of_decider(user).await?);
            for table in [PersonTable::Requests, PersonTable::Rules, PersonTable::CommentThreads] {
                let search = PersonSearch::Naming(user.as_str());
                let mut after: Option<RowKey> = None;
                loop {
                    let rows = self
                        .application
                        .store
                        .person_rows(table, search, after.as_ref(), ROWS)
                        .await?;
                    let Some(last) = rows.last() else { break };
                    after = Some(last.key.clone());
                    for row in &rows {
                        person_renaming::add_names(&row.body, &self.person, &mut names);
                    }
                }
            }
        }
        // Nothing is no name to look for.
        names.remove("");
        if names == known {
            return Ok(());
        }
        self.state.names = names.into_iter().collect();
        self.put(None, Vec::new()).await
    }

    async fn delete_private_documents(&self) -> ApiResult<()> {
        if self.state.private_documents == 0 {
            return Ok(());
        }
        let user = self.state.by.clone().unwrap_or_else(|| self.deletion.person.clone());
        let names = self.application.auth.names([&user]).await?;
        let name = names.get(&user).cloned().unwrap_or_else(|| user.to_string());
        let owner = Principal::new(user, name, Role::Owner);
        for record in self.application.store.private_documents_of(&self.deletion.users).await? {
            let deleted = match self.application.rooms.open(&record.id).await {
                Ok(room) => room.delete(owner.clone()).await,
                Err(error) => Err(error),
            };
            match deleted {
                // Someone else has deleted it.
                Ok(()) | Err(RoomError::NoDocument) => {}
                // Another server has it open, until no one has used it for a while.
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Makes the rooms of all servers forget the person's names.
    async fn forget_in_rooms(&self, round: usize) -> ApiResult<()> {
        self.application.rooms.forget_person(&self.person).await?;
        let placement = self.application.placement();
        placement.tell(&PeerMessage::PersonDeleted(self.deletion.person.clone())).await;
        if round > 0 && placement.is_shared() {
            tokio::time::sleep(HEARD).await;
        }
        Ok(())
    }

    /// Replaces the person's names in everything that is stored; returns the number of rows.
    async fn rename_stored(&self) -> ApiResult<usize> {
        let mut changed = 0;
        for table in NAMING {
            for user in &self.deletion.users {
                changed += self.rename_in(table, user.as_str()).await?;
            }
        }
        for name in &self.state.names {
            let written = escaped(name);
            changed += self.rename_in(PersonTable::Messages, &written).await?;
            // An answer is a text with JSON, in JSON.
            changed += self.rename_in(PersonTable::Idempotency, &escaped(&written)).await?;
        }
        for user in &self.deletion.users {
            let op = |row: PersonRow| PersonRowOp::RenameDecision(row.key);
            changed += self.change_owned(PersonTable::Decisions, user, op).await?;
        }
        Ok(changed)
    }

    async fn rename_in(&self, table: PersonTable, words: &str) -> ApiResult<usize> {
        let (mut after, mut changed): (Option<RowKey>, usize) = (None, 0);
        loop {
            let search = PersonSearch::Naming(words);
            let rows =
                self.application.store.person_rows(table, search, after.as_ref(), ROWS).await?;
            let Some(last) = rows.last() else { return Ok(changed) };
            after = Some(last.key.clone());
            let (mut batch, mut bytes) = (WriteBatch::new(), 0);
            for row in rows {
                let Some(body) = self.renamed(table, &row).await? else { continue };
                changed += 1;
                bytes += body.len();
                batch.push(StoreOp::ChangePersonRow(PersonRowOp::Replace { table, row, body }));
                if bytes > MOST_BYTES {
                    self.application.store.commit(std::mem::take(&mut batch)).await?;
                    bytes = 0;
                }
            }
            self.application.store.commit(batch).await?;
        }
    }

    /// Returns the text of a row without the person's names; `None` if it has none.
    async fn renamed(&self, table: PersonTable, row: &PersonRow) -> ApiResult<Option<String>> {
        let (person, names) = (&self.person, &self.state.names);
        Ok(match table {
            PersonTable::Messages => {
                // What another conversation has of one that is gone was this person's.
                let is_own = match own_session(row) {
                    Some(session) => {
                        let session = self.application.store.session(&session).await?;
                        session.is_none_or(|session| person.is(session.user.as_str()))
                    }
                    None => false,
                };
                person_renaming::message(&row.body, is_own, names)
            }
            PersonTable::Idempotency => person_renaming::answer(&row.body, person, names),
            PersonTable::CommentThreads => person_renaming::thread(&row.body, person),
            _ => person_renaming::record(&row.body, person),
        })
    }

    /// Removes what belongs to the person; returns the number of rows.
    async fn remove_owned(&self) -> ApiResult<usize> {
        let mut removed = 0;
        for table in OWNED {
            for user in &self.deletion.users {
                let op = |row: PersonRow| PersonRowOp::Remove(table, row.key);
                removed += self.change_owned(table, user, op).await?;
            }
        }
        Ok(removed)
    }

    /// Changes all rows that belong to a user, which are then not found any more.
    async fn change_owned(
        &self,
        table: PersonTable,
        user: &UserId,
        op: impl Fn(PersonRow) -> PersonRowOp,
    ) -> ApiResult<usize> {
        let (mut after, mut changed): (Option<RowKey>, usize) = (None, 0);
        loop {
            let search = PersonSearch::OwnedBy(user);
            let rows =
                self.application.store.person_rows(table, search, after.as_ref(), SHORT_ROWS);
            let rows = rows.await?;
            let Some(last) = rows.last() else { return Ok(changed) };
            after = Some(last.key.clone());
            changed += rows.len();
            let batch: WriteBatch =
                rows.into_iter().map(|row| StoreOp::ChangePersonRow(op(row))).collect();
            self.application.store.commit(batch).await?;
        }
    }

    /// Stores that the deletion has ended, with a line in the audit log.
    async fn end(mut self) -> ApiResult<()> {
        failpoint::pass("people.ending");
        let now_ms = self.application.clock.now_ms();
        let by = self.state.by.clone().unwrap_or_else(|| self.deletion.person.clone());
        let DeletionState { counts, private_documents, .. } = &self.state;
        let detail = json!({"user": self.deletion.person, "counts": counts,
            "private_documents": private_documents});
        let line = AuditEntry::new("person.deleted", &by, detail, now_ms);
        self.state.names.clear();
        self.put(Some(now_ms), vec![StoreOp::Audit(line)]).await
    }

    /// Stores how far the deletion is, together with other writes.
    async fn put(&mut self, ended_ms: Option<u64>, others: Vec<StoreOp>) -> ApiResult<()> {
        self.deletion.body = json!(self.state);
        self.deletion.ended_ms = ended_ms;
        let mut batch = WriteBatch::from(StoreOp::PutPersonDeletion(self.deletion.clone()));
        batch.extend(others);
        Ok(self.application.store.commit(batch).await?)
    }
}

/// Returns a text as it is written in JSON, without the quotation marks.
fn escaped(text: &str) -> String {
    let quoted = json!(text).to_string();
    let written = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    written.unwrap_or(text).to_owned()
}
