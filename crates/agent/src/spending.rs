//! Spending: what calls of models cost and for whom, and the limits that refuse further calls.
//!
//! Calls in progress when a limit is reached are completed, so a month can cost more than its limit
//! by what they cost.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use copydesk_clock::WallClock;
use copydesk_ids::{DocumentId, UserId};
use copydesk_llm::messages_api::TokenUsage;
use copydesk_llm::{AnswerDelta, AnswerStream, FailedTryUsage, ModelRequest, ModelResult, prices};
use copydesk_store::{
    SpendingEntry, SpendingLimit, SpendingMonth, SpendingScope, Store, StoreOp, StoreResult,
    WriteBatch,
};

use super::AgentService;
use super::models::ChosenModel;
use crate::conversation::transcript::json_size;

/// Person for whom a model is called, and the document that the call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPayer {
    /// The person.
    pub user: UserId,
    /// The document, if the call is about a shared one.
    pub document: Option<DocumentId>,
}

/// Spending limit that refuses a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedLimit {
    /// The limit.
    pub limit: SpendingLimit,
    /// Month for which it is reached.
    pub month: SpendingMonth,
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpendingLimit { scope, amount } = &self.limit;
        let whose = match scope {
            SpendingScope::Server => "The spending limit of this server",
            SpendingScope::Everyone => "The spending limit of each person",
            SpendingScope::Person(_) => "Your spending limit",
            SpendingScope::Document(_) => "The spending limit of this document",
        };
        let (amount, day) = (dollars(*amount), self.month.end_day());
        write!(f, "{whose} ({amount} a month) is reached; it renews on {day}, 00:00 UTC")
    }
}

/// Formats billionths of a US dollar, to a millionth: `$5.00`, `$0.0125`.
pub fn dollars(amount: u64) -> String {
    let millionths = amount / 1_000;
    let text = format!("${}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    let fraction = text.find('.').map_or(text.len(), |point| point + 3);
    let end = text.trim_end_matches('0').len().max(fraction);
    text[..end].to_owned()
}

impl ChosenModel {
    /// Returns `true` if the model's price is above nothing, or is unknown and the model elsewhere.
    fn may_cost(&self) -> bool {
        let is_free = prices::is_free(&self.provider_name());
        is_free.map_or_else(|| !self.model.is_local(), |is_free| !is_free)
    }

    /// Returns the provider's name of the model, also of the default.
    fn provider_name(&self) -> String {
        let full = self.full_name();
        full.split_once(':').map_or(full.as_str(), |(_, name)| name).to_owned()
    }
}

impl AgentService {
    /// Returns the spending limit that refuses a call of a model now; `None` if it may be made.
    ///
    /// # Errors
    /// If the limits or the sums cannot be read. No model may be called then.
    pub async fn reached_limit(
        &self,
        payer: &CallPayer,
        model: &ChosenModel,
    ) -> StoreResult<Option<ReachedLimit>> {
        if !model.may_cost() {
            return Ok(None);
        }
        let month = SpendingMonth::at(self.clock.now_ms());
        let CallPayer { user, document } = payer;
        let limits = self.store.spending_limits_for(user, document.as_ref()).await?;
        let has_own = limits.iter().any(|it| matches!(it.scope, SpendingScope::Person(_)));
        for limit in limits {
            let (user, document) = match &limit.scope {
                SpendingScope::Server => (None, None),
                SpendingScope::Everyone if has_own => continue,
                SpendingScope::Everyone | SpendingScope::Person(_) => (Some(user), None),
                SpendingScope::Document(document) => (None, Some(document)),
            };
            if self.store.spent(month, user, document).await? >= limit.amount {
                return Ok(Some(ReachedLimit { limit, month }));
            }
        }
        Ok(None)
    }

    /// Calls a model, whose cost counts for `payer`.
    pub fn call_model(
        &self,
        payer: CallPayer,
        model: &ChosenModel,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> MeteredCall {
        let sent_bytes = if model.may_cost() { size(&request) } else { 0 };
        let stream = model.model.stream(request, cancel.clone());
        let (store, clock, tasks) = (self.store.clone(), self.clock.clone(), self.tasks.clone());
        let meter = SpendingMeter { store, clock, tasks, payer, may_cost: model.may_cost() };
        MeteredCall {
            stream,
            cancel,
            meter,
            model: model.provider_name(),
            sent_bytes,
            written_bytes: 0,
            entries: Vec::new(),
            is_over: false,
        }
    }
}

struct SpendingMeter {
    store: Store,
    clock: WallClock,
    tasks: TaskTracker,
    payer: CallPayer,
    may_cost: bool,
}

/// Bytes of text that count as one token where a provider has not said how many there were: for
/// English about right.
const BYTES_A_TOKEN: u64 = 4;

/// Call of a model whose cost is stored: a stream of its answer, then [`MeteredCall::settle`]. If
/// the call is dropped, the model is stopped, and what it has used is stored all the same.
///
/// Most providers say only at the end what an answer has used. One that is not read to its end
/// counts by its length, and one that has not begun by the length of the request, as soon as that
/// has left, so that no limit is evaded by hanging up. A request that the provider refuses, or that
/// does not reach it, counts nothing.
pub struct MeteredCall {
    stream: AnswerStream,
    cancel: CancellationToken,
    meter: SpendingMeter,
    /// Provider's name of the model.
    model: String,
    /// Size of the request in bytes.
    sent_bytes: u64,
    /// Size of what was written in the current try, in bytes.
    written_bytes: u64,
    /// Cost that is not stored yet.
    entries: Vec<SpendingEntry>,
    is_over: bool,
}

impl Stream for MeteredCall {
    type Item = ModelResult<AnswerDelta>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let call = self.get_mut();
        let polled = call.stream.poll_next_unpin(context);
        match &polled {
            Poll::Ready(Some(Ok(delta))) => call.note(delta),
            Poll::Ready(_) => {
                call.estimate();
                call.is_over = true;
            }
            Poll::Pending => {}
        }
        polled
    }
}

impl MeteredCall {
    /// Stores what the call has cost. The next call may rely on it.
    pub async fn settle(&mut self) -> StoreResult<()> {
        let Some(writing) = self.write() else { return Ok(()) };
        writing.await
    }

    fn note(&mut self, delta: &AnswerDelta) {
        let (model, usage) = match delta {
            AnswerDelta::Lost(FailedTryUsage { model, usage }) => {
                let written = self.written_bytes / BYTES_A_TOKEN;
                let output_tokens = usage.output_tokens.max(written);
                // The provider was sent the request, and has not said how long that is.
                let is_unknown = usage.sent() == 0 && self.meter.may_cost;
                let unknown = if is_unknown { self.sent_bytes / BYTES_A_TOKEN } else { 0 };
                let input_tokens = usage.input_tokens + unknown;
                (model, TokenUsage { input_tokens, output_tokens, ..*usage })
            }
            AnswerDelta::Done(answer) => {
                self.is_over = true;
                (&answer.model, answer.usage)
            }
            AnswerDelta::Text(text) | AnswerDelta::NextText(text) => {
                self.written_bytes += text.len() as u64;
                return;
            }
            AnswerDelta::ToolInput { partial_json, .. } => {
                self.written_bytes += partial_json.len() as u64;
                return;
            }
            _ => return,
        };
        self.written_bytes = 0;
        self.entries.extend(self.meter.entry(model, usage));
    }

    /// Counts a try by its length, if the model wrote something and its usage is unknown.
    fn estimate(&mut self) {
        if !self.meter.may_cost || self.written_bytes == 0 {
            return;
        }
        let usage = TokenUsage {
            input_tokens: self.sent_bytes / BYTES_A_TOKEN,
            output_tokens: std::mem::take(&mut self.written_bytes) / BYTES_A_TOKEN,
            ..TokenUsage::default()
        };
        self.entries.extend(self.meter.entry(&self.model, usage));
    }

    /// Begins to store the cost; completed even without a caller that waits.
    fn write(&mut self) -> Option<impl Future<Output = StoreResult<()>> + use<>> {
        let entries = std::mem::take(&mut self.entries).into_iter();
        let batch: WriteBatch = entries.map(StoreOp::AddSpending).collect();
        // Outside of a runtime, which is being torn down, nothing can be stored any more.
        let runtime = Handle::try_current().ok().filter(|_| !batch.is_empty())?;
        let store = self.meter.store.clone();
        let work = async move {
            let stored = store.commit(batch).await;
            if let Err(error) = &stored {
                tracing::error!(%error, "cannot store what a call of a model has cost");
            }
            stored
        };
        let work = self.meter.tasks.spawn_on(work, &runtime);
        // The task neither panics nor is aborted.
        Some(async move { work.await.unwrap_or(Ok(())) })
    }
}

impl Drop for MeteredCall {
    fn drop(&mut self) {
        if !self.is_over {
            self.cancel.cancel();
            while let Some(Some(Ok(delta))) = self.stream.next().now_or_never() {
                self.note(&delta);
            }
            self.estimate();
        }
        drop(self.write());
    }
}

impl SpendingMeter {
    /// Returns what an answer has cost; `None` if a model that costs nothing counts no tokens.
    fn entry(&self, model: &str, usage: TokenUsage) -> Option<SpendingEntry> {
        let tokens = usage.sent() + usage.output_tokens;
        if tokens == 0 && !self.may_cost {
            return None;
        }
        let CallPayer { user, document } = self.payer.clone();
        // Without tokens, the price is of no use.
        let cost = prices::cost(model, usage).filter(|_| tokens > 0);
        let (at_ms, model) = (self.clock.now_ms(), model.to_owned());
        Some(SpendingEntry { at_ms, user, document, model, tokens, cost })
    }
}

/// Returns the size of what a request sends, in bytes.
fn size(request: &ModelRequest) -> u64 {
    (request.system.len() + json_size(&(&request.messages, &request.tools))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_as_people_do() {
        let written = [0, 5_000_000_000, 12_500_000, 1_234_567_890, 999, 1_000, 20_100_000_000];
        let expected = ["$0.00", "$5.00", "$0.0125", "$1.234567", "$0.00", "$0.000001", "$20.10"];
        assert_eq!(written.map(dollars), expected);
    }

    #[test]
    fn a_refusal_says_which_limit_and_when_it_renews() {
        let month = SpendingMonth::at(1_796_083_199_999);
        let said = |scope| {
            let limit = SpendingLimit { scope, amount: 5_000_000_000 };
            ReachedLimit { limit, month }.to_string()
        };
        let rest = "($5.00 a month) is reached; it renews on 1 December 2026, 00:00 UTC";
        let scopes = [
            (SpendingScope::Server, "The spending limit of this server"),
            (SpendingScope::Everyone, "The spending limit of each person"),
            (SpendingScope::Person("usr_ana".into()), "Your spending limit"),
            (SpendingScope::Document("doc_1".into()), "The spending limit of this document"),
        ];
        for (scope, whose) in scopes {
            assert_eq!(said(scope), format!("{whose} {rest}"));
        }
    }
}
