//! CriticMarkup: Markdown with `{--deleted--}`, `{++inserted++}`, `{~~old~>new~~}`,
//! `{==passages==}` and `{>>remarks<<}`.
//!
//! CriticMarkup has no escapes, so words that look like its marks are split: by an empty remark in
//! text that stays, and into two marks in changed text and in passages. A program that reads from
//! left to right, each mark up to its nearest end, gets exactly the proposed text when it accepts
//! everything, and exactly the present one when it rejects everything.
//!
//! The comments of a thread follow its passage. A passage is marked line by line, without the signs
//! that a line begins with, and changes in it stay changes.

use super::annotated::{AnnotatedPiece, AnnotatedText, PendingChange, PieceMark};
use super::escape;
use super::remarks::{AnnotationRemark, RemarkPlace, quoted};

/// Beginnings of marks, after the brace.
const OPENERS: [&str; 5] = ["++", "--", "~~", ">>", "=="];
/// Ends of marks, before the brace.
const CLOSERS: [&str; 5] = ["++", "--", "~~", "<<", "=="];
/// Empty remark.
const NOTHING: &str = "{>><<}";

/// Returns the content of the file.
pub(super) fn write(marked: &AnnotatedText) -> Vec<u8> {
    let mut writer = MarkWriter { marked, out: String::new(), passages: 0 };
    for piece in &marked.pieces {
        match piece {
            AnnotatedPiece::Same(text) if writer.passages > 0 => writer.passage(text),
            AnnotatedPiece::Same(text) => same(text, &mut writer.out),
            AnnotatedPiece::Change(found) => {
                change(found, &mut writer.out);
                found.marks.iter().for_each(|(_, mark)| writer.mark(*mark));
            }
            AnnotatedPiece::Mark(mark) => writer.mark(*mark),
        }
    }
    writer.out.into_bytes()
}

struct MarkWriter<'a> {
    marked: &'a AnnotatedText,
    out: String,
    /// Number of passages around the writer's place.
    passages: usize,
}

impl MarkWriter<'_> {
    fn mark(&mut self, mark: PieceMark) {
        match mark {
            PieceMark::Passage(_) => self.passages += 1,
            PieceMark::Remark(index) => {
                let remark = &self.marked.remarks[index];
                let place = remark.thread.as_ref().map(|thread| thread.place);
                if place == Some(RemarkPlace::Passage) {
                    self.passages = self.passages.saturating_sub(1);
                }
                remark_out(remark, &mut self.out);
            }
            PieceMark::HunkStart(_) | PieceMark::HunkEnd(_) => {}
        }
    }

    /// Appends unchanged text of a passage.
    fn passage(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let is_line_start = self.out.is_empty() || self.out.ends_with('\n');
            let words = line.trim_end_matches('\n');
            let signs = if is_line_start { line_signs(words) } else { 0 };
            same(&words[..signs], &mut self.out);
            for words in apart(&words[signs..]) {
                self.out.extend(["{==", words, "==}"]);
            }
            self.out.push_str(&line[words.len()..]);
        }
    }
}

/// Returns the bytes of the signs, such as those of a list or a heading, that a line begins with.
fn line_signs(line: &str) -> usize {
    let signs = line.find(|c: char| !c.is_ascii_digit() && !" \t#>*+-.)[]x".contains(c));
    line[..signs.unwrap_or(line.len())].rfind([' ', '\t']).map_or(0, |blank| blank + 1)
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
    let PendingChange { deleted, inserted, .. } = change;
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

fn remark_out(remark: &AnnotationRemark, out: &mut String) {
    let tame = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        escape::line(&lines.join(" ")).replace('{', "(").replace('}', ")")
    };
    for (index, (signature, text)) in remark.comments().enumerate() {
        let mut author = signature.author.clone();
        if let Some(thread) = remark.thread.as_ref().filter(|_| index == 0) {
            if let Some(words) = &thread.deleted_words {
                author.extend([" on deleted words ", &quoted(words)]);
            }
            if thread.is_resolved {
                author.push_str(" (resolved)");
            }
        }
        out.push_str("{>>");
        out.push_str(&tame(&author));
        if !text.is_empty() {
            out.push_str(": ");
            out.push_str(&tame(text));
        }
        out.push_str("<<}");
    }
}
