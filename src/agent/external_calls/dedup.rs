//! Recognises calls that are sent again because their caller lost the connection. They join the
//! earlier call or get its result, and are never made twice.
//!
//! The name of the run identifies the call, so the stored runs suffice, also over a restart. A call
//! that the caller itself withdrew before people decided was not executed: if it is sent again, it
//! is another call.
//!
//! Names that programs give are not reliable: many programs count from the start in every
//! conversation, and an equal call of another conversation is to be made. So a call that is under
//! way is joined by the program that began it, or by any program once that one has lost its
//! connection. The result of a call that is over is told again to the program that began it, and to
//! others only if nobody was told, and only for as long as a caller may still be reconnecting.

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, RunId};
use crate::store::{RunRecord, StoreOp};
use crate::tools::ToolOutcome;

use super::call::{DedupKey, KeyIssuer, called};
use super::waiters::{CallHandle, CallerContext, JoinOutcome};
use crate::agent::conversation::history::ResultTexts;
use crate::agent::run::run_record::Run;
use crate::agent::service::AgentDeps;
use crate::agent::{AgentRequest, AgentService, AskError};

/// Time for which a call is recognised, in milliseconds.
const LIFE_MS: u64 = 24 * 60 * 60 * 1_000;
/// Time for which a result that nobody was told is kept for any caller, in milliseconds.
const UNTOLD_MS: u64 = 5 * 60 * 1_000;
/// Maximum number of times that a call may be withdrawn and made again; beyond it, the call is not
/// recognised any more.
const MOST_ATTEMPTS: u32 = 100;

/// Result of looking up a call by its name.
enum CallLookup {
    /// The call has not been made.
    Nothing,
    /// The call is under way or over.
    Call(CallHandle),
    /// The earlier call was withdrawn, is too long ago, or belongs to another caller.
    Another,
}

impl AgentService {
    /// Makes a call that its caller may have made before, identified by `mark`.
    pub(crate) async fn call_again(
        &self,
        mut ask: AgentRequest,
        DedupKey { name, by }: &DedupKey,
        caller: &CancellationToken,
    ) -> Result<CallHandle, AskError> {
        let to = CallerContext { by, caller, stop: &self.shared.stop };
        // A person who may no longer ask is not told the result either.
        self.shared.check(&ask)?;
        // The same call may arrive twice at once.
        let _passed = self.shared.recognising.lock().await;
        for attempt in 0..MOST_ATTEMPTS {
            ask.run = named(name, attempt);
            match self.shared.known(&ask, to).await? {
                CallLookup::Call(ongoing) => return Ok(ongoing),
                CallLookup::Nothing => return self.call_once(ask, by, caller).await,
                CallLookup::Another => {}
            }
        }
        ask.run = RunId::generate();
        self.call_once(ask, by, caller).await
    }

    /// Records that the caller is about to be told the result. A later call of the same name is
    /// another call from then on.
    pub async fn told(&self, call: &CallHandle) {
        let Some((session, run)) = call.name().cloned() else { return };
        let heard = StoreOp::RunHeard { session, run, at_ms: self.shared.clock.now_ms() };
        if let Err(error) = self.shared.store.commit(heard).await {
            tracing::warn!(%error, "that a caller heard of its call could not be kept");
        }
    }
}

impl AgentDeps {
    async fn known(
        &self,
        ask: &AgentRequest,
        to: CallerContext<'_>,
    ) -> Result<CallLookup, AskError> {
        match self.ears.join(ask, to) {
            JoinOutcome::Joined(ongoing) => return Ok(CallLookup::Call(ongoing)),
            JoinOutcome::Another => return Ok(CallLookup::Another),
            JoinOutcome::Nobody => {}
        }
        let Some((record, run)) = self.kept_run(ask).await? else { return Ok(CallLookup::Nothing) };
        if record.finished_ms.is_some() {
            return self.ended(&record, &run, to.by).await;
        }
        // Resumed after a restart: no caller has been waiting for it in this process.
        let cancel = self.queues().token(&ask.session, &ask.run).unwrap_or_default();
        if cancel.is_cancelled() {
            return Ok(CallLookup::Another);
        }
        let waits = self.open_request(&run).await?;
        let ongoing = self.ears.open(ask, waits, cancel, to);
        self.ears.note_joined(ask, to.by);
        // It may have ended since it was looked up, with no caller to be told.
        if let Ok(Some((record, run))) = self.kept_run(ask).await
            && record.finished_ms.is_some()
        {
            self.ears.close(ask);
            return self.ended(&record, &run, to.by).await;
        }
        Ok(CallLookup::Call(ongoing))
    }

    /// Returns `true` if the present caller may be told the result of a call that is over.
    async fn is_theirs(
        &self,
        record: &RunRecord,
        run: &Run,
        by: &KeyIssuer,
    ) -> Result<bool, AskError> {
        let ended_ms = record.finished_ms.unwrap_or_default();
        let ago_ms = self.clock.now_ms().saturating_sub(ended_ms);
        let began = run.ask.outside().and_then(|outside| outside.named_by.as_deref());
        let same = match by {
            KeyIssuer::Server => true,
            KeyIssuer::Program(line) => line.program.as_deref().is_some_and(|program| {
                began == Some(program) || self.ears.has_joined(&run.ask, program)
            }),
        };
        if same {
            return Ok(self.clock.now_ms().saturating_sub(record.created_ms) < LIFE_MS);
        }
        Ok(ago_ms < UNTOLD_MS && !self.store.run_is_heard(&record.id).await?)
    }

    async fn open_request(&self, run: &Run) -> Result<Option<RequestId>, AskError> {
        for request in &run.calls {
            if self.store.request(request).await?.is_some_and(|known| known.open) {
                return Ok(Some(request.clone()));
            }
        }
        Ok(None)
    }

    async fn kept_run(&self, ask: &AgentRequest) -> Result<Option<(RunRecord, Run)>, AskError> {
        let record = self.store.run(&RunRecord::key(&ask.session, &ask.run)).await?;
        let Some(record) = record else { return Ok(None) };
        let run = Run::read(record.clone())?;
        Ok(Some((record, run)))
    }

    /// Looks up the result of a call that is over, for the present caller.
    async fn ended(
        &self,
        record: &RunRecord,
        run: &Run,
        by: &KeyIssuer,
    ) -> Result<CallLookup, AskError> {
        if !self.is_theirs(record, run, by).await? {
            return Ok(CallLookup::Another);
        }
        let (ask, document) = (&run.ask, run.ask.document.as_ref());
        let said = self.said_in(&ask.session, document, &ask.run, ResultTexts::Kept).await?;
        let called = called(run, &said, "The call ended before it began".to_owned());
        if record.state == "cancelled" && !is_settled(&called.outcome) {
            return Ok(CallLookup::Another);
        }
        let name = (run.ask.session.clone(), run.ask.run.clone());
        Ok(CallLookup::Call(CallHandle::over(called, self.stop.clone()).of(name)))
    }
}

/// Returns `true` if the request was resolved by people, a rule or its time limit, even if no
/// caller was waiting any more.
fn is_settled(outcome: &ToolOutcome) -> bool {
    let status = outcome.about.get("status").and_then(|status| status.as_str());
    matches!(status, Some("approved" | "rejected" | "partly" | "expired" | "failed"))
}

/// Returns the name of the run of a call that is identified by `mark` and made for the `attempt`-th
/// time.
fn named(mark: &str, attempt: u32) -> RunId {
    let digest = Sha256::digest(format!("{attempt}\n{mark}"));
    let name = uuid::Uuid::from_slice(&digest[..16]).unwrap_or_default().simple();
    RunId::from(format!("call_{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_one_name_and_another_one_once_it_was_taken_back() {
        assert_eq!(named("a", 0), named("a", 0));
        assert_ne!(named("a", 0), named("a", 1));
        assert_ne!(named("a", 0), named("b", 0));
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
