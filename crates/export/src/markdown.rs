//! Markdown as people write it here, and what its parser does not say: front matter apart, notes
//! that are referred to, comments, line ends that are no blanks.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Characters that are looked at on each side of a line end.
const LINE_END_CONTEXT: usize = 64;

/// Returns a parser with the extensions that are read here; formulas are left as they were written.
pub(super) fn parser(source: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH;
    Parser::new_ext(source, options)
}

/// Returns the key of a footnote's label: labels do not distinguish capital letters.
pub(super) fn note_key(label: &str) -> String {
    label.to_lowercase()
}

/// Returns the keys of the footnotes that the text refers to, outside of other footnotes, in the
/// order of their first references.
pub(super) fn referenced_notes(source: &str) -> Vec<String> {
    if !source.contains("[^") {
        return Vec::new();
    }
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    let mut inside_notes = 0;
    for event in parser(source) {
        match event {
            Event::Start(Tag::FootnoteDefinition(_)) => inside_notes += 1,
            Event::End(TagEnd::FootnoteDefinition) => inside_notes -= 1,
            Event::FootnoteReference(label) if inside_notes == 0 => {
                let key = note_key(&label);
                if seen.insert(key.clone()) {
                    found.push(key);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns `true` if a line end inside a paragraph stands between characters of Chinese or
/// Japanese, which have no blanks between words. `range` is the place of the line end in `source`.
pub(super) fn is_end_without_blank(source: &str, range: &Range<usize>) -> bool {
    // Marks such as `**`, and the beginnings of quoted lines, are no characters of the text.
    let is_text = |c: &char| !c.is_whitespace() && !"*_~`[]()!<>\\".contains(*c);
    let before = source.get(..range.start).unwrap_or_default();
    let before = before.chars().rev().take(LINE_END_CONTEXT).find(is_text);
    let after = source.get(range.end..).unwrap_or_default();
    let after = after.chars().take(LINE_END_CONTEXT).find(is_text);
    let (Some(before), Some(after)) = (before, after) else { return false };
    match (is_cjk(before), is_cjk(after)) {
        (true, true) => true,
        (true, false) => is_shared_punctuation(after),
        (false, true) => is_shared_punctuation(before),
        (false, false) => false,
    }
}

/// Returns `true` for characters of Chinese and Japanese, with their punctuation. Korean has blanks
/// between words.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{30ff}' | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31ff}'
        | '\u{3220}'..='\u{325f}' | '\u{3280}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff01}'..='\u{ff9f}'
        | '\u{ffe0}'..='\u{ffe6}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns `true` for punctuation that Chinese shares with other languages.
fn is_shared_punctuation(c: char) -> bool {
    matches!(c, '“' | '”' | '‘' | '’' | '…' | '—' | '·')
}

/// Finds the comments in blocks of HTML, which come line by line.
#[derive(Debug, Default)]
pub(super) struct CommentFilter {
    is_inside: bool,
    /// Place of the last end of a comment in the block, in bytes of the source.
    last_end: Option<usize>,
}

impl CommentFilter {
    /// Begins a block at `range` of the source.
    pub fn begin(&mut self, source: &str, range: &Range<usize>) {
        let block = source.get(range.clone()).unwrap_or_default();
        self.is_inside = false;
        self.last_end = block.rfind("-->").map(|end| range.start + end);
    }

    /// Returns the ranges of `html` outside of comments; `at` is its place in the source. What
    /// looks like the beginning of a comment and never ends is none, so that no words are lost.
    pub fn visible(&mut self, html: &str, at: usize) -> Vec<Range<usize>> {
        let (mut ranges, mut done) = (Vec::new(), 0);
        while done < html.len() {
            let rest = &html[done..];
            if self.is_inside {
                let Some(end) = rest.find("-->") else { return ranges };
                done += end + "-->".len();
                self.is_inside = false;
                continue;
            }
            let begin = rest
                .find("<!--")
                .filter(|begin| self.last_end.is_some_and(|end| at + done + begin < end));
            let end = begin.map_or(html.len(), |begin| done + begin);
            if done < end {
                ranges.push(done..end);
            }
            done = end;
            if begin.is_some() {
                self.is_inside = true;
                // `<!-->` is a whole comment.
                done += "<!".len();
            }
        }
        ranges
    }
}
