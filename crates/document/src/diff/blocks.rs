//! Places where a Markdown text may be cut: blocks first, then the sentences of a block.

mod lines_apart;
mod sentence_ends;

use std::ops::Range;

pub(super) use lines_apart::lines_apart;
pub(super) use sentence_ends::sentence_ends;

/// Granularity at which a block may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// By sentences and words.
    Prose,
    /// By words, but all of them in one hunk, as the following three.
    Heading,
    /// A list entry: its first line.
    Entry,
    /// A table row.
    Row,
    /// A line of marks: a rule, a tag, a line that opens or closes a container.
    Marks,
    /// By whole lines only.
    Code,
}

impl BlockKind {
    /// Returns `true` if all changes of a block are in one hunk, unless they are corrections.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Heading | Self::Entry | Self::Row | Self::Marks)
    }
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
    /// The block has other sentences too.
    pub is_part: bool,
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

/// Line that closes a block whose lines are no text.
#[derive(Clone, Copy)]
enum Fence<'a> {
    /// At least these backticks or tildes.
    Code(&'a str),
    /// Exactly one of these lines.
    Line(&'static [&'static str]),
}

impl Fence<'_> {
    fn is_closed_by(self, line: &str) -> bool {
        match self {
            Self::Code(open) => {
                fence_marker(line).is_some_and(|it| it.starts_with(open) && line.trim() == it)
            }
            Self::Line(closing) => closing.contains(&line.trim_end()),
        }
    }
}

struct BlockScanner<'a> {
    text: &'a str,
    blocks: Vec<TextBlock>,
    /// Marker that closes the current block of code, mathematics or properties.
    fence: Option<Fence<'a>>,
    /// `true` while the last block is a paragraph that the next line may continue.
    open: bool,
}

impl<'a> BlockScanner<'a> {
    fn line(&mut self, range: Range<usize>) {
        let line = &self.text[range.clone()];
        if let Some(open) = self.fence {
            if open.is_closed_by(line) {
                self.fence = None;
            }
            self.push(range, BlockKind::Code);
        } else if let Some(fence) = self.fence_at(&range) {
            self.fence = Some(fence);
            self.push(range, BlockKind::Code);
        } else if line.trim().is_empty() {
            self.blank(range);
        } else if is_underline(line) && self.open {
            // The line above is a heading.
            if let Some(last) = self.blocks.last_mut() {
                *last = TextBlock { range: last.range.start..range.end, kind: BlockKind::Heading };
            }
            self.open = false;
        } else if let Some(kind) = line_kind(line) {
            self.push(range, kind);
        } else {
            self.prose(range);
        }
    }

    /// Returns the fence of the block that a line opens. Properties stand at the beginning of the
    /// text; they and mathematics are blocks only where they are closed.
    fn fence_at(&self, range: &Range<usize>) -> Option<Fence<'a>> {
        let line = &self.text[range.clone()];
        if let Some(marker) = fence_marker(line) {
            return Some(Fence::Code(marker));
        }
        let mut behind = self.text[range.end..].lines();
        let (fence, is_closed) = match line.trim_end() {
            "---" if range.start == 0 => {
                let fence = Fence::Line(&["---", "..."]);
                let is_next = behind.clone().next().is_some_and(|it| !it.trim().is_empty());
                (fence, is_next && behind.any(|it| fence.is_closed_by(it)))
            }
            "$$" => {
                let fence = Fence::Line(&["$$"]);
                let mut rest = behind.take_while(|it| !it.trim().is_empty());
                (fence, rest.any(|it| fence.is_closed_by(it)))
            }
            _ => return None,
        };
        is_closed.then_some(fence)
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

/// Returns the kind of a line that is a block of its own, wherever it stands.
fn line_kind(line: &str) -> Option<BlockKind> {
    let line = line.trim();
    let rest = line.trim_start_matches('#');
    let hashes = line.len() - rest.len();
    if (1..=6).contains(&hashes) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return Some(BlockKind::Heading);
    }
    if line.starts_with('|') {
        return Some(BlockKind::Row);
    }
    if is_rule(line) || is_tag(line) || line.starts_with(":::") {
        return Some(BlockKind::Marks);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = if (1..=9).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    let is_entry = marker.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    is_entry.then_some(BlockKind::Entry)
}

/// Most bytes of a line that are read to find out what it begins.
const MOST_READ: usize = 200;

/// Returns `true` if the first line of a text is a block of its own, or a fence.
pub(super) fn begins_block(text: &str) -> bool {
    let line = text[..text.floor_char_boundary(MOST_READ)].lines().next().unwrap_or_default();
    line_kind(line).is_some() || fence_marker(line).is_some()
}

/// Returns `true` for a line that is one HTML tag, or that begins or ends a comment.
fn is_tag(line: &str) -> bool {
    if !line.starts_with('<') {
        return line == "-->";
    }
    // An address in angle brackets is text.
    let is_address = line.contains(['@', ':']) && !line.contains('=');
    line == "<!--" || line.find('>') == Some(line.len() - 1) && !is_address
}

fn is_rule(line: &str) -> bool {
    ['-', '*', '_'].iter().any(|&mark| {
        line.matches(mark).count() >= 3 && line.chars().all(|c| c == mark || c.is_whitespace())
    })
}

/// Returns the length in bytes of the marks that a heading or a list entry begins with: its
/// indentation, number or bullet, and task box.
pub(super) fn lead(line: &str, kind: BlockKind) -> usize {
    let body = line.trim_start();
    let marks = match kind {
        BlockKind::Heading => body.trim_start_matches('#'),
        BlockKind::Entry => {
            let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
            let rest = rest.get(1..).unwrap_or_default();
            let text = rest.trim_start_matches([' ', '\t']);
            let boxes = ["[ ]", "[x]", "[X]"];
            boxes.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(rest)
        }
        BlockKind::Prose | BlockKind::Row | BlockKind::Marks | BlockKind::Code => return 0,
    };
    let text = marks.trim_start_matches([' ', '\t']);
    if text.trim().is_empty() { 0 } else { line.len() - text.len() }
}

/// Cuts blocks into units; consecutive, covering the blocks.
pub(super) fn units(text: &str, blocks: &[TextBlock], first: usize) -> Vec<DiffUnit> {
    let mut units = Vec::new();
    for (index, TextBlock { range, kind }) in blocks.iter().enumerate() {
        let block = first + index;
        match kind {
            BlockKind::Prose => {
                let mut from = range.start;
                let ends = sentence_ends(&text[range.clone()]);
                let is_part = ends.len() > 1;
                for to in ends {
                    let range = from..range.start + to;
                    from = range.end;
                    units.push(DiffUnit { range, kind: *kind, block, is_part });
                }
            }
            _ => units.push(DiffUnit { range: range.clone(), kind: *kind, block, is_part: false }),
        }
    }
    units
}
