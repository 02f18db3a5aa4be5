//! Retries: the errors after which a provider is asked again, and the pauses before.

use std::future::Future;
use std::time::Duration;

use super::delta_stream::DeltaSink;
use super::{AssistantMessage, ModelError, ModelResult, RetryMode};
use crate::messages_api::ProviderError;

/// Policy for asking a failing provider again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Number of further tries after the first one.
    pub retries: u32,
    /// First pause; each further one is twice as long, up to eight seconds.
    pub first_pause: Duration,
    /// Longest pause that a provider may ask for; for a longer one the person gets the error.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 2,
            first_pause: Duration::from_millis(500),
            longest_asked: Duration::from_mins(1),
        }
    }
}

/// Longest pause, unless the provider asks for one.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Tries until there is an answer, a final error, or no further try. Deltas of a failed try are
/// taken back with one [`AnswerDelta::Reset`](super::AnswerDelta::Reset) before the next sends any.
pub(super) async fn persist<F, W>(
    patience: RetryPolicy,
    sink: &DeltaSink,
    mut try_once: F,
) -> ModelResult<AssistantMessage>
where
    F: FnMut() -> W,
    W: Future<Output = ModelResult<AssistantMessage>>,
{
    let mut attempt = 0;
    loop {
        let error = match try_once().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let Some(pause) = patience.pause(&error, attempt, chance()) else { return Err(error) };
        tracing::warn!(%error, attempt, pause_ms = pause.as_millis(), "asking the model again");
        sink.lose().await;
        tokio::time::sleep(pause).await;
        sink.send_reset().await;
        attempt += 1;
    }
}

impl RetryPolicy {
    pub(super) fn within(self, tries: RetryMode) -> Self {
        match tries {
            RetryMode::Patient => self,
            RetryMode::Once => Self { retries: 0, ..self },
        }
    }

    /// Returns the pause after try number `attempt` (from 0) failed with `error`; `None` to give
    /// up. `chance` in `[0, 1)` takes up to a quarter off, so that clients do not all return at
    /// once.
    fn pause(&self, error: &ModelError, attempt: u32, chance: f64) -> Option<Duration> {
        if !error.retryable() || attempt >= self.retries {
            return None;
        }
        match error.retry_after() {
            Some(asked) if asked > self.longest_asked => None,
            Some(asked) if !asked.is_zero() => Some(asked),
            Some(_) | None => {
                let full = self.first_pause.saturating_mul(1 << attempt.min(16));
                Some(full.min(LONGEST_PAUSE).mul_f64(1.0 - chance * 0.25))
            }
        }
    }
}

/// Returns `true` if an HTTP status stands for a failure that may pass by itself.
pub(super) fn status_is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// Returns `true` for a [`ProviderError`] in the middle of a stream that may pass by itself.
pub(super) fn kind_is_retryable(error: &ProviderError) -> bool {
    let passing = [
        "api_error",
        "conflict_error",
        "overloaded_error",
        "rate_limit_error",
        "timeout_error",
        // Kinds of servers that speak OpenAI's protocol.
        "rate_limit_exceeded",
        "server_error",
        "unavailable_error",
    ];
    passing.contains(&error.kind.as_str()) && !is_spend_limit(error)
}

/// Returns `true` for a spending limit, which looks like a rate limit but does not pass by waiting.
pub(super) fn is_spend_limit(error: &ProviderError) -> bool {
    let code = error.details.as_ref().and_then(|details| details["error_code"].as_str());
    matches!(code, Some("enforced_spend_limit_reached" | "contract_spend_limit_reached"))
        || error.kind == "insufficient_quota"
}

fn chance() -> f64 {
    f64::from(getrandom::u32().unwrap_or_default()) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overloaded(retry_after: Option<Duration>) -> ModelError {
        let (kind, message) = ("overloaded_error".to_owned(), "Overloaded".to_owned());
        let (status, details) = (Some(529), None);
        ModelError::Api { status, kind, message, retry_after, retryable: true, details }
    }

    #[test]
    fn pauses_double_from_half_a_second_to_eight_minus_chance() {
        let patience = RetryPolicy { retries: 9, ..RetryPolicy::default() };
        let pause_ms = |attempt, chance| {
            patience.pause(&overloaded(None), attempt, chance).map(|pause| pause.as_millis())
        };
        let full: Vec<_> = (0..6).filter_map(|attempt| pause_ms(attempt, 0.0)).collect();
        assert_eq!(full, [500, 1000, 2000, 4000, 8000, 8000]);
        assert_eq!(pause_ms(0, 1.0), Some(375));
        assert_eq!(pause_ms(9, 0.0), None, "patience ends");
        let once = patience.within(RetryMode::Once);
        assert_eq!(once.pause(&overloaded(Some(Duration::ZERO)), 0, 0.0), None);
    }

    #[test]
    fn the_provider_says_how_long_within_reason() {
        let patience = RetryPolicy::default();
        let pause = |asked| patience.pause(&overloaded(Some(asked)), 0, 0.0);
        assert_eq!(pause(Duration::from_millis(1)), Some(Duration::from_millis(1)));
        assert_eq!(pause(Duration::from_mins(1)), Some(Duration::from_mins(1)));
        assert_eq!(pause(Duration::from_secs(61)), None);
        assert_eq!(pause(Duration::ZERO), Some(Duration::from_millis(500)));
    }

    #[test]
    fn final_errors_are_final() {
        let patience = RetryPolicy::default();
        assert_eq!(patience.pause(&ModelError::Cancelled, 0, 0.0), None);
        assert!(patience.pause(&ModelError::CutOff, 0, 0.0).is_some());
        let retryable: Vec<u16> = [400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 504, 529]
            .into_iter()
            .filter(|status| status_is_retryable(*status))
            .collect();
        assert_eq!(retryable, [408, 409, 429, 500, 504, 529]);
    }

    #[test]
    fn a_spend_limit_does_not_pass() {
        let error = |details| ProviderError {
            kind: "rate_limit_error".into(),
            message: String::new(),
            details,
        };
        assert!(kind_is_retryable(&error(None)));
        let code = serde_json::json!({"error_code": "enforced_spend_limit_reached"});
        assert!(!kind_is_retryable(&error(Some(code))));
        let ramp = serde_json::json!({"error_code": "ramp_limit_exceeded"});
        assert!(kind_is_retryable(&error(Some(ramp))));
    }
}
