//! Prices of tokens, and limits of output tokens, for the models where they are known. Pure
//! functions.
//!
//! US dollars for a million tokens, from the providers' own lists: Anthropic's pricing page and the
//! overviews of its models (`platform.claude.com/docs/en/models`), and OpenAI's pages of its models
//! (`developers.openai.com/api/docs/models`), in the versions (and dated copies) from the middle of
//! September to the middle of November 2026. A model that is not listed has no price, and only its
//! tokens are shown.

use crate::llm::messages_api::TokenUsage;

use super::DEFAULT_MAX_TOKENS;

/// Prices of one model, in tenths of a US cent for a million tokens, so that all of them are whole.
struct ModelPrice {
    /// Name of the model, without a date at its end.
    model: &'static str,
    /// Number of input tokens from which these prices hold, for all tokens of the request; 0 for
    /// all requests.
    from: u64,
    input: u64,
    cached: u64,
    output: u64,
    /// Price of writing to the cache; with Anthropic, for an hour.
    written: u64,
}

/// Builds an entry: model, smallest number of input tokens, and the prices of input, cached input,
/// writing to the cache and output, all in tenths of a cent.
const fn price(model: &'static str, from: u64, all: [u64; 4]) -> ModelPrice {
    let [input, cached, written, output] = all;
    ModelPrice { model, from, input, cached, output, written }
}

const PRICES: &[ModelPrice] = &[
    price("claude-fable-5-2", 0, [8_000, 200, 16_000, 40_000]),
    price("claude-mythos-5-2", 0, [8_000, 200, 16_000, 40_000]),
    price("claude-fable-5-1", 0, [10_000, 250, 20_000, 50_000]),
    price("claude-mythos-5-1", 0, [10_000, 250, 20_000, 50_000]),
    price("claude-fable-5", 0, [10_000, 1_000, 20_000, 50_000]),
    price("claude-mythos-5", 0, [10_000, 1_000, 20_000, 50_000]),
    price("claude-opus-5-5", 0, [4_000, 200, 8_000, 20_000]),
    price("claude-opus-5", 0, [5_000, 500, 10_000, 25_000]),
    price("claude-opus-4-8", 0, [5_000, 500, 10_000, 25_000]),
    price("claude-opus-4-7", 0, [5_000, 500, 10_000, 25_000]),
    price("claude-opus-4-6", 0, [5_000, 500, 10_000, 25_000]),
    price("claude-opus-4-5", 0, [5_000, 500, 10_000, 25_000]),
    price("claude-sonnet-5-5", 0, [2_000, 100, 4_000, 10_000]),
    price("claude-sonnet-5", 0, [2_000, 200, 4_000, 10_000]),
    price("claude-sonnet-4-6", 0, [3_000, 300, 6_000, 15_000]),
    price("claude-sonnet-4-5", 0, [3_000, 300, 6_000, 15_000]),
    price("claude-haiku-5-5", 100_001, [500, 50, 1_000, 2_500]),
    price("claude-haiku-5-5", 0, [100, 10, 200, 500]),
    price("claude-haiku-4-5", 0, [1_000, 100, 2_000, 5_000]),
    // Since GPT-5.6, writing to the cache costs a quarter more than the input. From 272,001 tokens
    // on, a request costs twice as much, and its output half as much again
    // (<https://developers.openai.com/api/docs/guides/prompt-caching>, `…/models/gpt-6.2-sol`).
    price("gpt-6.2-sol", 272_001, [4_000, 200, 5_000, 15_000]),
    price("gpt-6.2-sol", 0, [2_000, 100, 2_500, 10_000]),
    price("gpt-6.1-sol", 272_001, [4_000, 200, 5_000, 15_000]),
    price("gpt-6.1-sol", 0, [2_000, 100, 2_500, 10_000]),
    price("gpt-6-astra", 272_001, [20_000, 2_000, 25_000, 75_000]),
    price("gpt-6-astra", 0, [10_000, 1_000, 12_500, 50_000]),
    price("gpt-6-sol", 272_001, [4_000, 400, 5_000, 15_000]),
    price("gpt-6-sol", 0, [2_000, 200, 2_500, 10_000]),
    price("gpt-6-luna", 272_001, [200, 20, 250, 750]),
    price("gpt-6-luna", 0, [100, 10, 125, 500]),
    // Before GPT-5.6, writing cost no more than the input itself.
    price("gpt-5.5", 0, [5_000, 500, 5_000, 30_000]),
    price("gpt-5.4", 0, [2_500, 250, 2_500, 15_000]),
    price("gpt-5.4-mini", 0, [750, 75, 750, 4_500]),
    price("gpt-5.4-nano", 0, [200, 20, 200, 1_250]),
];

/// Limits of output tokens of one answer, from the providers' pages, by the beginning of the name;
/// of several that match, the first.
const OUTPUTS: &[(&str, u32)] = &[
    ("claude-fable-5", 128_000),
    ("claude-mythos-5", 128_000),
    ("claude-opus-4-5", 64_000),
    ("claude-opus-4", 128_000),
    ("claude-opus-5", 128_000),
    ("claude-sonnet-4-5", 64_000),
    ("claude-sonnet-4-6", 128_000),
    ("claude-sonnet-5", 128_000),
    ("claude-haiku-4-5", 64_000),
    ("claude-haiku-5-5", 128_000),
    ("gpt-5.4", 128_000),
    ("gpt-5.5", 128_000),
    ("gpt-6", 128_000),
];

/// Returns the largest number of output tokens that `model` can be asked for. 32,000 are enough to
/// rewrite the longest document that tools change, in most languages but not in Chinese or
/// Japanese.
pub fn most_output(model: &str) -> u32 {
    // Only models with a price are known; the name of another model may begin like theirs.
    let known = PRICES.iter().any(|price| price.model == undated(model));
    let output = OUTPUTS.iter().find(|(name, _)| known && model.starts_with(name));
    output.map_or(DEFAULT_MAX_TOKENS, |(_, most)| *most)
}

/// Returns the cost of the [`TokenUsage`] of one answer of `model`, in billionths of a US dollar;
/// `None` if its price is not known.
pub fn cost(model: &str, usage: TokenUsage) -> Option<u64> {
    let TokenUsage {
        input_tokens,
        cache_creation_input_tokens,
        cache_read_input_tokens,
        output_tokens,
    } = usage;
    let sent = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
    let name = undated(model);
    let price = PRICES.iter().find(|it| it.model == name && sent >= it.from)?;
    // A tenth of a cent for a million tokens is one billionth of a dollar for each.
    Some(
        input_tokens * price.input
            + cache_creation_input_tokens * price.written
            + cache_read_input_tokens * price.cached
            + output_tokens * price.output,
    )
}

/// Removes the date: `claude-haiku-4-5` for `claude-haiku-4-5-20251001`, `gpt-5.5` for
/// `gpt-5.5-2026-04-23`.
fn undated(model: &str) -> &str {
    let mut rest = model;
    for digits in [8, 2, 2, 4] {
        let Some((before, last)) = rest.rsplit_once('-') else { break };
        let is_part = last.len() == digits && last.bytes().all(|byte| byte.is_ascii_digit());
        match (digits, is_part) {
            (8 | 4, true) => return before,
            (8, false) => {}
            (_, true) => rest = before,
            (_, false) => break,
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: TokenUsage = TokenUsage {
        input_tokens: 1_000_000,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 1_000_000,
    };

    #[test]
    fn a_million_tokens_cost_what_the_list_says() {
        let dollars = |model| cost(model, MILLION).map(|it| it as f64 / 1e9);
        assert_eq!(dollars("claude-sonnet-5-5"), Some(12.0));
        assert_eq!(dollars("claude-haiku-4-5-20251001"), Some(6.0));
        assert_eq!(dollars("gpt-5.5-2026-04-23"), Some(35.0));
        for unknown in ["qwen3:8b", "claude-sonnet-5-5-turbo", "gpt-5.5-pro", "", "-", "2026-04-23"]
        {
            assert_eq!(dollars(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_model_is_asked_for_as_much_as_it_can_write() {
        // All of them are listed with 128,000, the models of 2025 with half of it.
        let half = ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"];
        for ModelPrice { model, .. } in PRICES {
            let listed = if half.contains(model) { 64_000 } else { 128_000 };
            assert_eq!(most_output(model), listed, "{model}");
        }
        assert_eq!(most_output("claude-opus-4-5-20251101"), 64_000);
        assert_eq!(most_output("gpt-6.1-sol-2026-09-29"), 128_000);
        for unknown in ["qwen3:8b", "claude-sonnet-5-5-turbo", "gpt-5.5-pro", ""] {
            assert_eq!(most_output(unknown), DEFAULT_MAX_TOKENS, "{unknown}");
        }
    }

    #[test]
    fn every_row_is_what_the_list_says_in_dollars() {
        let rows = PRICES.iter().map(|it| {
            let all =
                [it.input, it.cached, it.written, it.output].map(|tenths| tenths as f64 / 1e3);
            let [input, cached, written, output] = all;
            format!("{} {}: {input} {cached} {written} {output}", it.model, it.from)
        });
        let rows: Vec<_> = rows.collect();
        let listed = "claude-fable-5-2 0: 8 0.2 16 40
claude-mythos-5-2 0: 8 0.2 16 40
claude-fable-5-1 0: 10 0.25 20 50
claude-mythos-5-1 0: 10 0.25 20 50
claude-fable-5 0: 10 1 20 50
claude-mythos-5 0: 10 1 20 50
claude-opus-5-5 0: 4 0.2 8 20
claude-opus-5 0: 5 0.5 10 25
claude-opus-4-8 0: 5 0.5 10 25
claude-opus-4-7 0: 5 0.5 10 25
claude-opus-4-6 0: 5 0.5 10 25
claude-opus-4-5 0: 5 0.5 10 25
claude-sonnet-5-5 0: 2 0.1 4 10
claude-sonnet-5 0: 2 0.2 4 10
claude-sonnet-4-6 0: 3 0.3 6 15
claude-sonnet-4-5 0: 3 0.3 6 15
claude-haiku-5-5 100001: 0.5 0.05 1 2.5
claude-haiku-5-5 0: 0.1 0.01 0.2 0.5
claude-haiku-4-5 0: 1 0.1 2 5
gpt-6.2-sol 272001: 4 0.2 5 15
gpt-6.2-sol 0: 2 0.1 2.5 10
gpt-6.1-sol 272001: 4 0.2 5 15
gpt-6.1-sol 0: 2 0.1 2.5 10
gpt-6-astra 272001: 20 2 25 75
gpt-6-astra 0: 10 1 12.5 50
gpt-6-sol 272001: 4 0.4 5 15
gpt-6-sol 0: 2 0.2 2.5 10
gpt-6-luna 272001: 0.2 0.02 0.25 0.75
gpt-6-luna 0: 0.1 0.01 0.125 0.5
gpt-5.5 0: 5 0.5 5 30
gpt-5.4 0: 2.5 0.25 2.5 15
gpt-5.4-mini 0: 0.75 0.075 0.75 4.5
gpt-5.4-nano 0: 0.2 0.02 0.2 1.25";
        assert_eq!(rows, listed.lines().collect::<Vec<_>>());
    }

    #[test]
    fn the_cache_has_its_own_prices() {
        let usage = TokenUsage {
            input_tokens: 1,
            cache_creation_input_tokens: 10,
            cache_read_input_tokens: 100,
            output_tokens: 1_000,
        };
        let expected = 2_000 + 10 * 4_000 + 100 * 100 + 1_000 * 10_000;
        assert_eq!(cost("claude-sonnet-5-5", usage), Some(expected));
    }

    #[test]
    fn a_long_prompt_may_cost_more_for_each_token() {
        let of = |input_tokens| {
            cost("claude-haiku-5-5", TokenUsage { input_tokens, ..TokenUsage::default() })
        };
        assert_eq!(of(100_000), Some(100_000 * 100));
        assert_eq!(of(100_001), Some(100_001 * 500));
    }
}
