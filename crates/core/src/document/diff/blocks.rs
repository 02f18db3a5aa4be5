//! Places where a Markdown text may be cut: blocks first, then the sentences of a block.

use std::ops::Range;

use super::sentence_ends::sentence_ends;

/// Granularity at which a block may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// By sentences and words.
    Prose,
    /// By words, but all of them in one hunk: headings, list items, table rows, rules.
    Whole,
    /// By whole lines only.
    Code,
}

/// A block with the blank lines that follow it, in bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextBlock {
    pub range: Range<usize>,
    pub kind: BlockKind,
}

/// A sentence, or an indivisible block; white space that follows belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffUnit {
    pub range: Range<usize>,
    pub kind: BlockKind,
    /// Index of the block of the text that the unit is part of.
    pub block: usize,
}

/// Cuts a text into blocks; their ranges are consecutive and cover it.
pub(super) fn blocks(text: &str) -> Vec<TextBlock> {
    let mut scan = BlockScanner { text, blocks: Vec::new(), fence: None, open: false };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        scan.line(at..at + line.len());
        at += line.len();
    }
    scan.blocks
}

struct BlockScanner<'a> {
    text: &'a str,
    blocks: Vec<TextBlock>,
    /// Marker that closes the current code block.
    fence: Option<&'a str>,
    /// `true` while the last block is a paragraph that the next line may continue.
    open: bool,
}

impl BlockScanner<'_> {
    fn line(&mut self, range: Range<usize>) {
        let line = &self.text[range.clone()];
        let marker = fence_marker(line);
        if let Some(open) = self.fence {
            if marker.is_some_and(|m| m.starts_with(open) && line.trim() == m) {
                self.fence = None;
            }
            self.push(range, BlockKind::Code);
        } else if let Some(marker) = marker {
            self.fence = Some(marker);
            self.push(range, BlockKind::Code);
        } else if line.trim().is_empty() {
            self.blank(range);
        } else if is_underline(line) && self.open {
            // The line above is a heading.
            if let Some(last) = self.blocks.last_mut() {
                *last = TextBlock { range: last.range.start..range.end, kind: BlockKind::Whole };
            }
            self.open = false;
        } else if is_whole(line) {
            self.push(range, BlockKind::Whole);
        } else {
            self.prose(range);
        }
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        self.blocks.push(TextBlock { range, kind });
        self.open = false;
    }

    fn blank(&mut self, range: Range<usize>) {
        match self.blocks.last_mut() {
            Some(last) => last.range.end = range.end,
            None => self.blocks.push(TextBlock { range, kind: BlockKind::Prose }),
        }
        self.open = false;
    }

    fn prose(&mut self, range: Range<usize>) {
        let quoted = |at: usize| self.text[at..].trim_start().starts_with('>');
        match self.blocks.last_mut() {
            Some(last) if self.open && quoted(last.range.start) == quoted(range.start) => {
                last.range.end = range.end;
            }
            _ => self.blocks.push(TextBlock { range, kind: BlockKind::Prose }),
        }
        self.open = true;
    }
}

/// Returns the backticks or tildes that open or close a block of code.
fn fence_marker(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let marker = &line[..line.len() - line.trim_start_matches(mark).len()];
    (marker.len() >= 3).then_some(marker)
}

/// Returns `true` for a line of `=` or `-` that makes the paragraph above it a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-')
}

/// Returns `true` for headings, list items, table rows and rules.
fn is_whole(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches('#');
    let hashes = line.len() - rest.len();
    if (1..=6).contains(&hashes) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return true;
    }
    if line.starts_with('|') || is_rule(line) {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = if (1..=9).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    marker.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn is_rule(line: &str) -> bool {
    ['-', '*', '_'].iter().any(|&mark| {
        line.matches(mark).count() >= 3 && line.chars().all(|c| c == mark || c.is_whitespace())
    })
}

/// Cuts blocks into units; consecutive, covering the blocks.
pub(super) fn units(text: &str, blocks: &[TextBlock], first: usize) -> Vec<DiffUnit> {
    let mut units = Vec::new();
    for (index, TextBlock { range, kind }) in blocks.iter().enumerate() {
        let block = first + index;
        match kind {
            BlockKind::Whole | BlockKind::Code => {
                units.push(DiffUnit { range: range.clone(), kind: *kind, block });
            }
            BlockKind::Prose => {
                let mut from = range.start;
                for to in sentence_ends(&text[range.clone()]) {
                    units.push(DiffUnit { range: from..range.start + to, kind: *kind, block });
                    from = range.start + to;
                }
            }
        }
    }
    units
}
