//! Status of runs, for clients that did not listen to their events.

use async_recursion::async_recursion as boxed;
use copydesk_ids::{RequestId, RunId, SessionId};
use copydesk_rooms::RoomError;
use copydesk_rooms::event::RunResponse;
use copydesk_store::RunRecord;

use super::run_record::Run;
use crate::conversation::history::ResultTexts;
use crate::conversation::response::how_it_ended;
use crate::{AgentService, AskError, AskResult};

/// Present status of a run ([`AgentService::look`]).
#[derive(Debug)]
pub struct RunStatus {
    /// Record of the run. Its id in the store is not the run's own name.
    pub record: RunRecord,
    /// Text of the question.
    pub prompt: String,
    /// Requests of the run that wait for people, oldest first.
    pub waiting: Vec<RequestId>,
    /// Answer of the run, once it has ended.
    pub response: Option<RunResponse>,
}

impl AgentService {
    /// Returns the status of a run; the caller has checked that the session is the person's own.
    #[boxed]
    pub async fn look(&self, session: &SessionId, name: &RunId) -> AskResult<Option<RunStatus>> {
        let Some(record) = self.store.run(&RunRecord::key(session, name)).await? else {
            return Ok(None);
        };
        let run = Run::read(record.clone())?;
        let room = match self.room(&run).await {
            // The document is gone, but its conversation is not.
            Err(RoomError::NoDocument) => None,
            opened => Some(opened?),
        };
        // It may wait in the room of another document or of a file, or in the workspace inbox.
        let waiting = self.store.open_requests_of(session, name).await?;
        let mut response = None;
        if record.finished_ms.is_some() {
            let document = run.ask.document.as_ref();
            let said = self.said_in(session, document, name, ResultTexts::LeftOut).await?;
            let now = match &room {
                Some(room) => room.read().await.ok(),
                None => None,
            };
            response = Some(how_it_ended(&said, record.state, now.as_ref()));
        }
        Ok(Some(RunStatus { record, prompt: run.ask.prompt, waiting, response }))
    }

    /// Waits until a run has ended; returns at once if there is no such run.
    #[boxed]
    pub async fn over(&self, session: &SessionId, name: &RunId) -> AskResult<()> {
        let mut ended = self.ended.subscribe();
        loop {
            // Read after subscribing, so that no end is missed.
            let run = self.store.run(&RunRecord::key(session, name)).await?;
            if run.is_none_or(|run| run.finished_ms.is_some()) {
                return Ok(());
            }
            if ended.changed().await.is_err() {
                return Err(AskError::Closed);
            }
        }
    }
}
