//! Work in progress and storage of the whole server.

use serde_json::json;

use copydesk_agent::{AskError, StopFilter, is_part_of_run};
use copydesk_ids::{RunId, SessionId};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{AuditEntry, RunRecord, StorageSizes, StoreOp};

use crate::{ApiError, ApiResult, Application, Caller};

/// Maximum number of runs in a list.
const MOST_RUNS: usize = 500;

/// Work in progress on the server.
#[derive(Debug)]
pub struct ServerWork {
    /// Runs that have not ended, oldest first.
    pub runs: Vec<RunLine>,
    /// Number of further runs, which are not in the list.
    pub runs_left_out: usize,
    /// Number of requests that wait for people.
    pub open_requests: usize,
}

/// Run in a list for owners.
#[derive(Debug)]
pub struct RunLine {
    /// The run.
    pub record: RunRecord,
    /// Its name within its session.
    pub run: RunId,
    /// Name of the person who asked, if it is known.
    pub name: Option<String>,
    /// Title of its document, if it is about one.
    pub title: Option<String>,
}

#[boxed]
impl Caller {
    /// Returns the runs that have not ended, on all servers that share the database, and the
    /// number of open requests.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorCode::Unavailable) if they cannot be read.
    pub async fn server_work(&self) -> ApiResult<ServerWork> {
        let store = &self.application.store;
        let (open_requests, _) = store.waiting_counts().await?;
        let mut records = store.unfinished_runs().await?;
        // A call that another server makes for a run is a part of that run.
        records.retain(|record| !is_part_of_run(record));
        let runs_left_out = records.len().saturating_sub(MOST_RUNS);
        records.truncate(MOST_RUNS);
        let people: Vec<_> = records.iter().map(|record| record.user.clone()).collect();
        let names = self.application.auth.names(&people).await?;
        let mut runs = Vec::with_capacity(records.len());
        for record in records {
            let title = match &record.document {
                Some(document) => store.document(document).await?.map(|found| found.title),
                None => None,
            };
            let (session, id) = (record.session.as_str(), record.id.as_str());
            let own = id.strip_prefix(session).and_then(|rest| rest.strip_prefix('/'));
            let run = own.unwrap_or(id).into();
            runs.push(RunLine { run, name: names.get(&record.user).cloned(), title, record });
        }
        Ok(ServerWork { runs, runs_left_out, open_requests })
    }

    /// Measures what is stored, for owners.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorCode::Unavailable) if it cannot be measured.
    pub async fn storage_sizes(&self) -> ApiResult<StorageSizes> {
        Ok(self.application.store.storage_sizes().await?)
    }

    /// Stops anybody's run, on whatever server it is. A run that has ended stays as it is.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorCode::NotFound) for an unknown run.
    pub async fn stop_any_run(&self, session: SessionId, run: RunId) -> ApiResult<()> {
        let store = &self.application.store;
        let record = store.run(&RunRecord::key(&session, &run)).await?;
        let record = record.ok_or_else(|| ApiError::not_found("run"))?;
        if record.state.has_ended() {
            return Ok(());
        }
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        let detail = json!({"session": session, "run": run, "user": record.user});
        let mut line = AuditEntry::new("run.stopped", by, detail, now_ms);
        line.document.clone_from(&record.document);
        store.commit(StoreOp::Audit(line)).await?;
        self.application.cancel_run(session, run).await
    }
}

impl Application {
    /// Stops a run, on whatever server it is.
    pub(super) async fn cancel_run(&self, session: SessionId, run: RunId) -> ApiResult<()> {
        let one = StopFilter { session: Some(session.clone()), run: Some(run.clone()) };
        match self.agents.cancel(one).await {
            // It is on another server, has ended just now, or is resumed in a moment.
            Err(AskError::NoRun) => {
                self.placement().tell(&PeerMessage::CancelRun(session, run)).await;
                Ok(())
            }
            stopped => Ok(stopped?),
        }
    }
}
