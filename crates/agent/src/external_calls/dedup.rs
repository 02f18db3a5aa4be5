//! Recognition of calls that are sent again because their caller lost the connection. They join the
//! earlier call or get its result, and are never made twice.
//!
//! The name of the run is made of the key of the call, so the stored runs suffice, also across a
//! restart. A call that the caller itself withdrew before people decided was not executed: if it is
//! sent again, it is another call.

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use copydesk_approvals::RequestStatus;
use copydesk_ids::{RequestId, RunId};
use copydesk_store::{RunEndKind, RunRecord, RunState};
use copydesk_tools::ToolOutcome;

use super::call::called;
use super::waiters::CallHandle;
use crate::conversation::history::ResultTexts;
use crate::run::run_record::Run;
use crate::{AgentQuestion, AgentService, AskResult};

/// Time for which a call is recognised, in milliseconds.
const LIFE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Maximum number of times that a call is withdrawn, made again and still recognised.
const MOST_ATTEMPTS: u32 = 100;

/// Result of looking up a call by its name.
enum CallLookup {
    /// The call has not been made.
    Nothing,
    /// The call is under way or over.
    Call(CallHandle),
    /// The earlier call was withdrawn or is too long ago.
    Another,
}

impl AgentService {
    /// Makes a call that its caller may have made before, identified by `key`.
    pub(crate) async fn call_again(
        &self,
        mut ask: AgentQuestion,
        key: &str,
        caller_gone: &CancellationToken,
    ) -> AskResult<CallHandle> {
        // A person who may no longer ask does not get the result either.
        self.check(&ask)?;
        // The same call may arrive twice at once.
        let _passed = self.recognising.lock().await;
        for attempt in 0..MOST_ATTEMPTS {
            ask.run = run_name(key, attempt);
            match self.earlier_call(&ask, caller_gone).await? {
                CallLookup::Call(ongoing) => {
                    let deadline_ms = ask.outside().and_then(|outside| outside.deadline_ms);
                    self.follow_caller(&ongoing, deadline_ms);
                    return Ok(ongoing);
                }
                CallLookup::Nothing => return self.call_once(ask, caller_gone).await,
                CallLookup::Another => {}
            }
        }
        ask.run = RunId::generate();
        self.call_once(ask, caller_gone).await
    }

    async fn earlier_call(
        &self,
        ask: &AgentQuestion,
        caller_gone: &CancellationToken,
    ) -> AskResult<CallLookup> {
        if let Some(ongoing) = self.call_waiters.join(ask, caller_gone, &self.stop) {
            return Ok(CallLookup::Call(ongoing));
        }
        let Some((record, run)) = self.stored_run(ask).await? else {
            return Ok(CallLookup::Nothing);
        };
        if record.finished_ms.is_some() {
            return self.ended(&record, &run).await;
        }
        // Resumed after a restart: no caller has been waiting for it in this process.
        let cancel = self.queues().token(&ask.session, &ask.run).unwrap_or_default();
        if cancel.is_cancelled() {
            return Ok(CallLookup::Another);
        }
        let waits = self.open_request(&run).await?;
        let ongoing = self.call_waiters.open(ask, waits, cancel, caller_gone, &self.stop);
        // It may have ended since it was looked up, while no caller waited.
        if let Ok(Some((record, run))) = self.stored_run(ask).await
            && record.finished_ms.is_some()
        {
            self.call_waiters.close(ask);
            return self.ended(&record, &run).await;
        }
        Ok(CallLookup::Call(ongoing))
    }

    async fn open_request(&self, run: &Run) -> AskResult<Option<RequestId>> {
        for request in &run.calls {
            if self.store.request_standing(request).await?.is_some_and(|known| known.open) {
                return Ok(Some(request.clone()));
            }
        }
        Ok(None)
    }

    async fn stored_run(&self, ask: &AgentQuestion) -> AskResult<Option<(RunRecord, Run)>> {
        let record = self.store.run(&RunRecord::key(&ask.session, &ask.run)).await?;
        let Some(record) = record else { return Ok(None) };
        let run = Run::read(record.clone())?;
        Ok(Some((record, run)))
    }

    async fn ended(&self, record: &RunRecord, run: &Run) -> AskResult<CallLookup> {
        if self.clock.now_ms().saturating_sub(record.created_ms) >= LIFE_MS {
            return Ok(CallLookup::Another);
        }
        let (ask, document) = (&run.ask, run.ask.document.as_ref());
        let said = self.said_in(&ask.session, document, &ask.run, ResultTexts::Kept).await?;
        let called = called(run, &said, "The call ended before it began".to_owned());
        if record.state == RunState::Ended(RunEndKind::Cancelled) && !is_settled(&called.outcome) {
            return Ok(CallLookup::Another);
        }
        Ok(CallLookup::Call(CallHandle::over(called, self.stop.clone())))
    }
}

/// Returns `true` if the request was resolved by people, a rule or its time limit.
fn is_settled(outcome: &ToolOutcome) -> bool {
    let status = outcome.status();
    status.is_some_and(|status| !status.is_open() && status != RequestStatus::Cancelled)
}

fn run_name(key: &str, attempt: u32) -> RunId {
    let digest = Sha256::digest(format!("{attempt}\n{key}"));
    let name = uuid::Uuid::from_slice(&digest[..16]).unwrap_or_default().simple();
    RunId::from(format!("call_{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_one_name_and_another_one_once_it_was_taken_back() {
        assert_eq!(run_name("a", 0), run_name("a", 0));
        assert_ne!(run_name("a", 0), run_name("a", 1));
        assert_ne!(run_name("a", 0), run_name("b", 0));
    }

    #[test]
    fn what_its_caller_took_back_is_not_settled() {
        let with = |about: serde_json::Value| {
            is_settled(&ToolOutcome {
                about: about.as_object().cloned().unwrap_or_default(),
                ..ToolOutcome::default()
            })
        };
        for status in ["approved", "rejected", "partly", "expired", "failed"] {
            assert!(with(json!({ "status": status })), "{status}");
        }
        assert!(!with(json!({"status": "cancelled"})) && !with(json!({})));
    }
}
