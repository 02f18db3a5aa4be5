//! Calls that are sent again, because their caller lost the connection: recognised, joined or answered, never made twice.
//!
//! The name of the run says which call it is, so what is kept of runs anyway is enough, also over a restart. What a caller
//! itself took back before people decided was not done: sent again, it is another call.

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::ids::{RequestId, RunId};
use crate::store::RunRecord;
use crate::tools::Outcome;

use super::call::called;
use super::ears::Ongoing;
use super::record::Run;
use super::session::Shared;
use super::transcript;
use super::{Agents, Ask, AskError};

/// How long a call is recognised, in milliseconds.
const LIFE_MS: u64 = 24 * 60 * 60 * 1_000;
/// How often the same call may be taken back and made again; beyond it is not recognised any more.
const MOST_ATTEMPTS: u32 = 100;

/// What is known of a call of this name.
enum Known {
    /// Nothing: it has not been made.
    Nothing,
    /// It is under way, or what came of it.
    Call(Ongoing),
    /// It was taken back, or is too long ago.
    GivenUp,
}

impl Agents {
    /// Makes a call that its caller may have made before, by this `mark`.
    pub(super) async fn call_again(
        &self,
        mut ask: Ask,
        mark: &str,
        caller: &CancellationToken,
    ) -> Result<Ongoing, AskError> {
        // Who may no longer ask is told nothing of what came of it either.
        self.shared.check(&ask)?;
        // The same call may come twice at once.
        let _passed = self.shared.recognising.lock().await;
        for attempt in 0..MOST_ATTEMPTS {
            ask.run = named(mark, attempt);
            match self.shared.known(&ask, caller).await? {
                Known::Call(ongoing) => return Ok(ongoing),
                Known::Nothing => return self.call_once(ask, caller).await,
                Known::GivenUp => {}
            }
        }
        ask.run = RunId::generate();
        self.call_once(ask, caller).await
    }
}

impl Shared {
    async fn known(&self, ask: &Ask, caller: &CancellationToken) -> Result<Known, AskError> {
        if let Some(ongoing) = self.ears.join(ask, caller, &self.stop) {
            return Ok(Known::Call(ongoing));
        }
        let Some((record, run)) = self.kept_run(ask).await? else { return Ok(Known::Nothing) };
        let is_old = self.clock.now_ms().saturating_sub(record.created_ms) >= LIFE_MS;
        if record.finished_ms.is_some() {
            return if is_old { Ok(Known::GivenUp) } else { self.ended(&record, &run).await };
        }
        // Taken up after a restart: nobody has been waiting for it in this process.
        let cancel = self.queues().token(&ask.session, &ask.run).unwrap_or_default();
        if cancel.is_cancelled() {
            return Ok(Known::GivenUp);
        }
        let waits = self.open_request(&run).await?;
        let ongoing = self.ears.open(ask, waits, cancel, caller, &self.stop);
        // It may have ended since it was looked at, with nobody there to be told.
        if let Ok(Some((record, run))) = self.kept_run(ask).await
            && record.finished_ms.is_some()
        {
            self.ears.close(ask);
            return self.ended(&record, &run).await;
        }
        Ok(Known::Call(ongoing))
    }

    async fn open_request(&self, run: &Run) -> Result<Option<RequestId>, AskError> {
        for request in &run.calls {
            if self.store.request(request).await?.is_some_and(|known| known.open) {
                return Ok(Some(request.clone()));
            }
        }
        Ok(None)
    }

    async fn kept_run(&self, ask: &Ask) -> Result<Option<(RunRecord, Run)>, AskError> {
        let record = self.store.run(&RunRecord::key(&ask.session, &ask.run)).await?;
        let Some(record) = record else { return Ok(None) };
        let run = Run::read(record.clone())?;
        Ok(Some((record, run)))
    }

    /// What came of a call that is over.
    async fn ended(&self, record: &RunRecord, run: &Run) -> Result<Known, AskError> {
        let said = self.all_said(&run.ask.session, run.ask.document.as_ref()).await?;
        let said = transcript::of_run(&said, &run.ask.run);
        let called = called(run, &said, "The call ended before it began".to_owned());
        if record.state == "cancelled" && !is_settled(&called.outcome) {
            return Ok(Known::GivenUp);
        }
        Ok(Known::Call(Ongoing::over(called, self.stop.clone())))
    }
}

/// Whether people, a rule or time settled its request, whoever was still waiting.
fn is_settled(outcome: &Outcome) -> bool {
    let status = outcome.about.get("status").and_then(|status| status.as_str());
    matches!(status, Some("approved" | "rejected" | "partly" | "expired" | "failed"))
}

/// The name of the run of a call that is known by its `mark`, made for the `attempt`-th time.
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
            is_settled(&Outcome {
                about: about.as_object().cloned().unwrap_or_default(),
                ..Outcome::default()
            })
        };
        for status in ["approved", "rejected", "partly", "expired", "failed"] {
            assert!(with(json!({ "status": status })), "{status}");
        }
        assert!(!with(json!({"status": "cancelled"})) && !with(json!({})));
    }
}
