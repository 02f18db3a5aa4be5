//! Finds the mistakes of a text that can be corrected with confidence.

use harper_core::linting::{Lint, LintGroup, Suggestion};
use harper_core::parsers::Markdown;
use harper_core::spell::FstDictionary;
use harper_core::{Dialect, DialectFlags, Document, Token, TokenStringExt};
use serde::{Deserialize, Serialize};

use super::left_alone::LeftAlone;
use super::quoted::QuotedRanges;
use super::rules::{self, CorrectionKind, HitContext};
use super::spelling::SpellChecker;

/// Name of the spelling rule, which is Copydesk's own.
const SPELLING: &str = "Spelling";

/// One range of a text, and the text that should be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCorrection {
    /// First Unicode scalar of the range.
    pub from: usize,
    /// End of the range: one past its last scalar.
    pub to: usize,
    /// Text in the range.
    pub wrong: String,
    /// Text that should be there.
    pub right: String,
    /// Kind of mistake, for counting.
    pub kind: CorrectionKind,
    /// The rule, as Harper words it; empty for a misspelled word.
    pub(super) message: String,
    /// Confidence: of two corrections that overlap, the one with the lower rank is taken.
    rank: u8,
}

/// Returns the [`TextCorrection`]s of a Markdown text, in order and without overlap. Reads the
/// dictionary first; call it on a blocking thread.
pub fn proofread(text: &str) -> Vec<TextCorrection> {
    found_by_rule(text).into_iter().map(|(_, correction)| correction).collect()
}

/// Returns the corrections of [`proofread`], each with the name of the rule that found it.
pub(super) fn found_by_rule(text: &str) -> Vec<(String, TextCorrection)> {
    let dictionary = FstDictionary::curated();
    let document = Document::new(text, &Markdown::default(), &dictionary);
    let dialect = dialect(&document);
    let quoted = QuotedRanges::in_text(document.get_source());
    let mut found = misspelled(&document, &SpellChecker { dictionary: &dictionary, dialect });
    // Built for one text and dropped: its caches would stay as large as the dictionary.
    let mut group = LintGroup::new_curated(dictionary, dialect);
    for rule in rules::unused() {
        group.config.set_rule_enabled(rule, false);
    }
    for (rule, lints) in group.organized_lints(&document) {
        let corrections = lints.iter().filter_map(|lint| broken(&rule, lint, &document, &quoted));
        found.extend(corrections.map(|correction| (rule.clone(), correction)));
    }
    let left_alone = LeftAlone::in_text(document.get_source(), &quoted);
    found.retain(|(_, one)| !left_alone.is_name(one.from) && !left_alone.covers(one.from, one.to));
    disjoint(found)
}

/// Returns American, unless the text has more words of the other dialects.
fn dialect(document: &Document) -> Dialect {
    let most_used = DialectFlags::get_most_used_dialects_from_document(document);
    if most_used.is_dialect_enabled(Dialect::American) {
        Dialect::American
    } else {
        Dialect::British
    }
}

fn misspelled(document: &Document, speller: &SpellChecker) -> Vec<(String, TextCorrection)> {
    let source = document.get_source();
    let correct = |token: &Token| {
        let wrong = token.span.get_content_string(source);
        let right = speller.correct(&wrong)?;
        let (from, to) = (token.span.start, token.span.end);
        let (kind, message) = (CorrectionKind::Spelling, String::new());
        Some((SPELLING.into(), TextCorrection { from, to, wrong, right, kind, message, rank: 0 }))
    };
    document.iter_words().filter_map(correct).collect()
}

/// Returns the correction for a hit of Harper's `rule`, if the hit can be trusted here.
fn broken(
    rule: &str,
    lint: &Lint,
    document: &Document,
    quoted: &QuotedRanges,
) -> Option<TextCorrection> {
    let kind = rules::trusted(rule, lint.lint_kind)?;
    let source = document.get_source();
    let (from, to) = (lint.span.start, lint.span.end);
    if quoted.touches(from, to) && !rules::holds_in_quotes(rule) {
        return None;
    }
    let wrong = lint.span.get_content_string(source);
    if rules::is_unclear(rule, lint.suggestions.len()) {
        return None;
    }
    let right = match lint.suggestions.first()? {
        Suggestion::ReplaceWith(letters) => letters.iter().collect(),
        Suggestion::InsertAfter(letters) => wrong.chars().chain(letters.iter().copied()).collect(),
        Suggestion::Remove => String::new(),
    };
    let place = HitContext { before: &source[..from], after: &source[to..] };
    let right = rules::refine(rule, &place, &wrong, right)?;
    let rank = if kind == CorrectionKind::Repetition { 0 } else { lint.priority.max(1) };
    let message = lint.message.clone();
    (right != wrong).then_some(TextCorrection { from, to, wrong, right, kind, message, rank })
}

/// Removes overlaps: keeps the correction with the lowest rank, and of equal ranks the longest.
fn disjoint(mut found: Vec<(String, TextCorrection)>) -> Vec<(String, TextCorrection)> {
    found.sort_by_key(|(_, one)| (one.rank, usize::MAX - (one.to - one.from), one.from));
    let mut taken: Vec<(String, TextCorrection)> = Vec::new();
    for (rule, one) in found {
        if taken.iter().all(|(_, other)| one.to < other.from || other.to < one.from) {
            taken.push((rule, one));
        }
    }
    taken.sort_by_key(|(_, one)| one.from);
    taken
}
