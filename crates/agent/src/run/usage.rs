//! Usage of a run: tokens, money where prices are known, and time of the model.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use copydesk_llm::messages_api::TokenUsage;
use copydesk_llm::{AssistantMessage, FailedTryUsage, prices};

/// Usage of a run so far. Stored with the run, so that a restart begins no new budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageTotals {
    /// Model that answered last, as its provider names it.
    pub model: String,
    /// Number of complete answers.
    pub answers: u64,
    /// Tokens of all answers, and of failed attempts.
    pub usage: TokenUsage,
    /// Cost in billionths of a US dollar; `None` if a price is not known.
    pub cost: Option<u64>,
    /// Time of waiting for the model, in milliseconds.
    pub model_ms: u64,
    /// Notice about an answer for people, such as that the model has read only a part of the
    /// document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl UsageTotals {
    /// Adds an answer.
    pub fn add(&mut self, answer: &AssistantMessage) {
        let AssistantMessage { model, usage, notice, .. } = answer;
        self.add_usage(model, *usage);
        self.answers += 1;
        self.notice = notice.clone().or(self.notice.take());
    }

    /// Adds an attempt that gave no answer.
    pub fn lose(&mut self, lost: &FailedTryUsage) {
        self.add_usage(&lost.model, lost.usage);
    }

    fn add_usage(&mut self, model: &str, usage: TokenUsage) {
        let cost = prices::cost(model, usage);
        let is_first = self.answers == 0 && self.tokens() == 0;
        self.cost = if is_first { cost } else { self.cost.zip(cost).map(|(a, b)| a + b) };
        model.clone_into(&mut self.model);
        self.usage += usage;
    }

    /// Returns the number of tokens sent and received, those from a cache included.
    pub fn tokens(&self) -> u64 {
        self.usage.sent() + self.usage.output_tokens
    }

    /// Returns the usage for the `result`, `{model, usage, cost_usd?, notice?}`, if there are
    /// tokens.
    pub fn shown(&self) -> Option<Value> {
        if self.tokens() == 0 {
            return None;
        }
        let mut shown = json!({"model": self.model, "usage": self.usage});
        if let Some(cost) = self.cost {
            shown["cost_usd"] = json!(cost as f64 / 1e9);
        }
        if let Some(notice) = &self.notice {
            shown["notice"] = json!(notice);
        }
        Some(shown)
    }
}

#[cfg(test)]
mod tests {
    use copydesk_llm::messages_api::StopReason;

    use super::*;

    fn answer(model: &str, input_tokens: u64, output_tokens: u64) -> AssistantMessage {
        AssistantMessage {
            content: Vec::new(),
            stop_reason: StopReason::EndTurn,
            stop_sequence: None,
            stop_details: None,
            usage: TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() },
            model: model.into(),
            calls_left_out: 0,
            notice: None,
        }
    }

    #[test]
    fn answers_add_up() {
        let mut spent = UsageTotals::default();
        assert_eq!(spent.shown(), None);
        spent.add(&answer("claude-sonnet-5-5", 1_000, 100));
        spent.add(&answer("claude-sonnet-5-5", 2_000, 200));
        let shown = spent.shown().expect("tokens were used");
        assert_eq!(shown["usage"]["input_tokens"], 3_000);
        assert_eq!(shown["cost_usd"], json!(0.009));
        assert_eq!(spent.tokens(), 3_300);
    }

    #[test]
    fn tries_in_vain_add_up_with_the_answers() {
        let mut spent = UsageTotals::default();
        let AssistantMessage { model, usage, .. } = answer("claude-sonnet-5-5", 1_000, 100);
        let lost = FailedTryUsage { model, usage };
        spent.lose(&lost);
        assert_eq!((spent.tokens(), spent.answers, spent.cost), (1_100, 0, Some(3_000_000)));
        spent.add(&answer("claude-sonnet-5-5", 2_000, 200));
        spent.lose(&lost);
        assert_eq!((spent.tokens(), spent.answers), (4_400, 1));
        assert_eq!(spent.shown().expect("tokens were used")["cost_usd"], json!(0.012));
    }

    #[test]
    fn a_notice_stays_with_the_run() {
        let mut spent = UsageTotals::default();
        let notice = Some("Only a part was read".to_owned());
        spent.add(&AssistantMessage { notice, ..answer("qwen3", 1, 1) });
        spent.add(&answer("qwen3", 1, 1));
        assert_eq!(spent.shown().expect("tokens")["notice"], "Only a part was read");
    }

    #[test]
    fn one_unknown_price_makes_the_sum_unknown() {
        for order in [["claude-sonnet-5-5", "qwen3"], ["qwen3", "claude-sonnet-5-5"]] {
            let mut spent = UsageTotals::default();
            for model in order {
                spent.add(&answer(model, 1, 1));
            }
            assert_eq!(spent.shown().expect("tokens").get("cost_usd"), None);
        }
    }
}
