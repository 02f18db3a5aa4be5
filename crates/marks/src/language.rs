//! The language of a text, by its function words.

use super::kinds::Language;
use super::lexicon::Lexicon;
use super::reading::Reading;

/// Bytes at the beginning of a text that decide about its language.
const LANGUAGE_BYTES: usize = 4 * 1024;

impl Language {
    /// Returns the language of a text by its function words, and `None` if it has too few of them.
    pub fn of(text: &str) -> Option<Self> {
        let end = (0..=LANGUAGE_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let text = &text[..end.unwrap_or_default()];
        let known = [Self::English, Self::German, Self::French];
        let reading = Reading::of(text, Self::Other);
        let words = reading.tokens.iter().filter(|token| token.is_word()).count();
        let hits = known.map(|language| {
            let lexicon = Lexicon::of(language);
            reading.tokens.iter().filter(|token| lexicon.is_typical(token.hash)).count()
        });
        let best = (0..known.len()).max_by_key(|index| hits[*index])?;
        let is_only = hits.iter().filter(|it| **it == hits[best]).count() == 1;
        (is_only && hits[best] * 8 >= words && hits[best] > 0).then_some(known[best])
    }
}
