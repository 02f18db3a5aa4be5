//! Prices of tokens, and limits of output tokens, for the models where they are known.
//!
//! The built-in list is `prices.toml`; a file of the same form can change it ([`add_file`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parking_lot::RwLock;
use serde::Deserialize;

use crate::messages_api::TokenUsage;

use super::DEFAULT_MAX_TOKENS;

const BUILT_IN: &str = include_str!("prices.toml");
/// Highest price that is believed, in US dollars for a million tokens.
const HIGHEST: f64 = 1e6;

/// List of prices, by the name of the model without a date.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceList {
    models: BTreeMap<String, ModelPrice>,
}

/// Prices of one model, and its limit of output tokens.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelPrice {
    input: TokenPrice,
    cached: TokenPrice,
    /// Price of writing to the cache; with Anthropic, for an hour.
    written: TokenPrice,
    output: TokenPrice,
    /// Largest number of output tokens of one answer, if it is known.
    max_output: Option<u32>,
    /// Prices of long requests, if they are others.
    long: Option<LongRequestPrice>,
}

/// Prices for all tokens of a request that has many input tokens.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRequestPrice {
    /// Number of input tokens from which these prices hold.
    from: u64,
    input: TokenPrice,
    cached: TokenPrice,
    written: TokenPrice,
    output: TokenPrice,
}

/// Price in millionths of a US dollar for a million tokens; in a file, in dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
struct TokenPrice(u64);

impl TryFrom<f64> for TokenPrice {
    type Error = String;

    fn try_from(dollars: f64) -> Result<Self, String> {
        if !(0.0..=HIGHEST).contains(&dollars) {
            return Err(format!("a price is between 0 and {HIGHEST} dollars, not {dollars}"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked above"
        )]
        Ok(Self((dollars * 1e6).round() as u64))
    }
}

/// Error of [`add_file`].
#[derive(Debug, thiserror::Error)]
pub enum PriceListError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: std::io::Error,
    },
    /// The file is no price list.
    #[error("{path} is not a list of prices")]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: Box<toml::de::Error>,
    },
}

fn current() -> &'static RwLock<PriceList> {
    static LIST: OnceLock<RwLock<PriceList>> = OnceLock::new();
    // A test parses the built-in list.
    LIST.get_or_init(|| RwLock::new(toml::from_str(BUILT_IN).unwrap_or_default()))
}

/// Adds the models in a file to the list of this process, in the place of those listed already; on
/// an error nothing changes.
pub fn add_file(path: &Path) -> Result<(), PriceListError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| PriceListError::Unreadable { path: path.into(), source })?;
    let added: PriceList = toml::from_str(&text).map_err(|source| {
        let source = Box::new(source);
        PriceListError::Invalid { path: path.into(), source }
    })?;
    let mut list = current().write();
    list.models.extend(added.models);
    Ok(())
}

/// Returns the largest number of output tokens that `model` can be asked for. 32,000 are enough to
/// rewrite the longest document that tools change, except in Chinese or Japanese.
pub fn max_output(model: &str) -> u32 {
    current().read().max_output(model)
}

/// Returns the cost of one answer of `model` in billionths of a US dollar; `None`: price not known.
pub fn cost(model: &str, usage: TokenUsage) -> Option<u64> {
    current().read().cost(model, usage)
}

/// Returns `true` if `model` is known to cost nothing; `None` if its price is not known.
pub fn is_free(model: &str) -> Option<bool> {
    current().read().is_free(model)
}

impl PriceList {
    fn is_free(&self, model: &str) -> Option<bool> {
        let price = self.models.get(undated(model))?;
        let ModelPrice { input, cached, written, output, max_output: _, long } = price;
        let long = long.iter().flat_map(|it| [it.input, it.cached, it.written, it.output]);
        Some([*input, *cached, *written, *output].into_iter().chain(long).all(|it| it.0 == 0))
    }

    fn max_output(&self, model: &str) -> u32 {
        let known = self.models.get(undated(model));
        known.and_then(|price| price.max_output).unwrap_or(DEFAULT_MAX_TOKENS)
    }

    fn cost(&self, model: &str, usage: TokenUsage) -> Option<u64> {
        let sent = usage.sent();
        let price = self.models.get(undated(model))?;
        let long = price.long.as_ref().filter(|long| sent >= long.from);
        let [input, cached, written, output] = match long {
            Some(long) => [long.input, long.cached, long.written, long.output],
            None => [price.input, price.cached, price.written, price.output],
        };
        // A millionth of a dollar for a million tokens is a thousandth of a billionth for each.
        let parts = [
            (usage.input_tokens, input),
            (usage.cache_creation_input_tokens, written),
            (usage.cache_read_input_tokens, cached),
            (usage.output_tokens, output),
        ];
        // A provider may send any number of tokens.
        let thousandths = parts
            .into_iter()
            .fold(0_u64, |sum, (tokens, price)| sum.saturating_add(tokens.saturating_mul(price.0)));
        Some(thousandths / 1000)
    }
}

/// Removes the date: `gpt-5.5` for `gpt-5.5-2026-04-23`.
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
    use std::collections::BTreeSet;

    use super::*;

    fn built_in() -> PriceList {
        toml::from_str(BUILT_IN).unwrap()
    }

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
        for model in built_in().models.keys() {
            let listed = if half.contains(&model.as_str()) { 64_000 } else { 128_000 };
            assert_eq!(max_output(model), listed, "{model}");
        }
        assert_eq!(max_output("claude-opus-4-5-20251101"), 64_000);
        assert_eq!(max_output("gpt-6.1-sol-2026-09-29"), 128_000);
        for unknown in ["qwen3:8b", "claude-sonnet-5-5-turbo", "gpt-5.5-pro", ""] {
            assert_eq!(max_output(unknown), DEFAULT_MAX_TOKENS, "{unknown}");
        }
    }

    #[test]
    fn every_row_is_what_the_list_says_in_dollars() {
        let row = |model: &str, from: u64, prices: [TokenPrice; 4]| {
            let [input, cached, written, output] = prices.map(|price| price.0 as f64 / 1e6);
            format!("{model} {from}: {input} {cached} {written} {output}")
        };
        let rows = built_in().models.into_iter().flat_map(|(model, it)| {
            let long = it.long.map(|long| {
                let prices = [long.input, long.cached, long.written, long.output];
                row(&model, long.from, prices)
            });
            let prices = [it.input, it.cached, it.written, it.output];
            long.into_iter().chain([row(&model, 0, prices)])
        });
        let rows: BTreeSet<_> = rows.collect();
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
        assert_eq!(rows, listed.lines().map(str::to_owned).collect());
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

    #[test]
    fn a_file_changes_a_price_and_adds_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        let own =
            "[models]\nlist-test = { input = 1, cached = 0.5, written = 2, output = 0.001 }\n";
        std::fs::write(&path, own).unwrap();
        assert_eq!(cost("list-test", MILLION), None);
        add_file(&path).unwrap();
        assert_eq!(cost("list-test-2026-04-23", MILLION), Some(1_001_000_000));
        assert_eq!(max_output("list-test"), DEFAULT_MAX_TOKENS);
        std::fs::write(&path, own.replace("input = 1", "input = 3")).unwrap();
        add_file(&path).unwrap();
        assert_eq!(cost("list-test", MILLION), Some(3_001_000_000));
    }

    #[test]
    fn a_model_is_free_only_if_every_price_is_nothing() {
        let list: PriceList = toml::from_str(
            "[models]
             free = { input = 0, cached = 0, written = 0, output = 0 }
             long = { input = 0, cached = 0, written = 0, output = 0, long = { from = 9, input = 1, cached = 0, written = 0, output = 0 } }
             paid = { input = 0, cached = 0, written = 0, output = 0.1 }",
        )
        .unwrap();
        let known = ["free-2026-04-23", "long", "paid", "other"].map(|name| list.is_free(name));
        assert_eq!(known, [Some(true), Some(false), Some(false), None]);
    }

    #[test]
    fn a_file_that_is_no_list_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        let missing = add_file(&path).unwrap_err();
        assert!(matches!(missing, PriceListError::Unreadable { .. }), "{missing}");
        for (price, reason) in [("-1", "between 0 and"), ("nan", "between 0 and"), ("\"1\"", "f64")]
        {
            let text =
                format!("[models]\nm = {{ input = {price}, cached = 1, written = 1, output = 1 }}");
            std::fs::write(&path, text).unwrap();
            let PriceListError::Invalid { source, .. } = add_file(&path).unwrap_err() else {
                panic!("{price} was read");
            };
            assert!(source.to_string().contains(reason), "{price}: {source}");
        }
    }
}
