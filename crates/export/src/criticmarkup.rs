//! CriticMarkup: Markdown with `{--deleted--}`, `{++inserted++}`, `{~~old~>new~~}` and
//! `{>>remarks<<}`.
//!
//! CriticMarkup has no escapes, so words that look like its marks are split: by an empty remark in
//! text that stays, and into two marks in changed text. A program that reads from left to right,
//! each mark up to its nearest end, gets exactly the proposed text when it accepts everything, and
//! exactly the present one when it rejects everything.

use super::annotated::{AnnotatedPiece, AnnotatedText, AnnotationRemark, PendingChange};

/// Beginnings of marks, after the brace.
const OPENERS: [&str; 5] = ["++", "--", "~~", ">>", "=="];
/// Ends of marks, before the brace.
const CLOSERS: [&str; 5] = ["++", "--", "~~", "<<", "=="];
/// Empty remark.
const NOTHING: &str = "{>><<}";

/// Returns the content of the file.
pub(super) fn write(marked: &AnnotatedText) -> Vec<u8> {
    let mut out = String::new();
    for piece in &marked.pieces {
        match piece {
            AnnotatedPiece::Same(text) => same(text, &mut out),
            AnnotatedPiece::Change(found) => change(found, &mut out),
            AnnotatedPiece::Remark(index) => remark(&marked.remarks[*index], &mut out),
        }
    }
    out.into_bytes()
}

/// Appends unchanged text. Outside of marks only the beginnings of marks must be split.
fn same(text: &str, out: &mut String) {
    let mut done = 0;
    for cut in openings(text) {
        out.push_str(&text[done..cut]);
        out.push_str(NOTHING);
        done = cut;
    }
    out.push_str(&text[done..]);
}

fn change(change: &PendingChange, out: &mut String) {
    let PendingChange { deleted, inserted, signature: _ } = change;
    let plain = |text: &str| !text.is_empty() && !text.contains(['~', '{', '}', '\n']);
    if plain(deleted) && plain(inserted) {
        out.extend(["{~~", deleted, "~>", inserted, "~~}"]);
        return;
    }
    for words in apart(deleted) {
        out.extend(["{--", words, "--}"]);
    }
    for words in apart(inserted) {
        out.extend(["{++", words, "++}"]);
    }
}

/// Splits words into pieces, none of which holds a whole mark.
fn apart(words: &str) -> Vec<&str> {
    let closings = words
        .match_indices('}')
        .map(|(brace, _)| brace)
        .filter(|&brace| CLOSERS.iter().any(|closer| words[..brace].ends_with(closer)));
    let mut cuts: Vec<usize> = openings(words).chain(closings).chain([words.len()]).collect();
    cuts.sort_unstable();
    let mut done = 0;
    let mut pieces = Vec::new();
    for cut in cuts {
        pieces.push(&words[done..cut]);
        done = cut;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns the places after each brace that would begin a mark.
fn openings(text: &str) -> impl Iterator<Item = usize> {
    let braces = text.match_indices('{').map(|(brace, _)| brace + 1);
    braces.filter(|&inside| OPENERS.iter().any(|opener| text[inside..].starts_with(opener)))
}

fn remark(remark: &AnnotationRemark, out: &mut String) {
    let tame = |text: &str| text.replace('{', "(").replace('}', ")");
    out.push_str("{>>");
    out.push_str(&tame(&remark.signature.author));
    if !remark.text.is_empty() {
        out.push_str(": ");
        out.push_str(&tame(&remark.text));
    }
    out.push_str("<<}");
}
