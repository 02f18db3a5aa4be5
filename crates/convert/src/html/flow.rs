//! Words and blocks in the order of the page. Words that stand beside blocks make paragraphs.

use crate::tree::{Block, Inline};

use super::leveled::Leveled;
use super::style::White;

/// Marks that words carry.
#[expect(clippy::struct_excessive_bools, reason = "each mark is there or not, whatever others are")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub strong: bool,
    pub emphasis: bool,
    pub struck: bool,
    pub code: bool,
    /// Number of the link in the reader's links.
    pub link: Option<usize>,
}

/// Piece of a line with its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedRun {
    pub marks: Marks,
    pub content: Inline,
}

/// Blocks that grow, and the line that is not one yet.
#[derive(Debug, Default)]
pub struct Flow {
    pub blocks: Vec<Block>,
    pub line: Vec<MarkedRun>,
    /// Entries of a list whose levels are numbers, not elements.
    pub leveled: Leveled,
    /// `true` if the line ends with a blank, so that the next one is not seen.
    ends_blank: bool,
}

/// Address and title of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub url: String,
    pub title: String,
}

impl Flow {
    /// Adds characters.
    pub fn text(&mut self, text: &str, marks: Marks, white: White) {
        if white == White::Collapsed {
            return self.collapsed(text, marks);
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.line_break(marks);
            }
            if white == White::Lines {
                self.collapsed(line, marks);
            } else if !line.is_empty() {
                self.ends_blank = false;
                self.words(line, marks);
            }
        }
    }

    fn collapsed(&mut self, text: &str, marks: Marks) {
        let mut made = String::with_capacity(text.len());
        let mut ends_blank = self.ends_blank || self.line.is_empty();
        for sign in text.chars() {
            let is_blank = sign.is_ascii_whitespace();
            match is_blank {
                true if ends_blank => {}
                true => made.push(' '),
                false => made.push(sign),
            }
            ends_blank = is_blank;
        }
        if !made.is_empty() {
            self.ends_blank = ends_blank;
            self.words(&made, marks);
        }
    }

    fn words(&mut self, words: &str, marks: Marks) {
        let words = if marks.code { words.replace('\u{a0}', " ") } else { plain_blanks(words) };
        if let Some(last) = self.line.last_mut()
            && last.marks == marks
            && let Inline::Text(known) = &mut last.content
        {
            known.push_str(&words);
            return;
        }
        self.line.push(MarkedRun { marks, content: Inline::Text(words) });
    }

    /// Adds something that is no text.
    pub fn inline(&mut self, content: Inline, marks: Marks) {
        self.ends_blank = false;
        self.line.push(MarkedRun { marks, content });
    }

    /// Adds a line break.
    pub fn line_break(&mut self, marks: Marks) {
        self.line.push(MarkedRun { marks, content: Inline::Break });
        self.ends_blank = true;
    }

    /// Ends the line. What it has becomes paragraphs.
    pub fn end_line(&mut self, links: &[Target]) {
        self.ends_blank = false;
        let line = std::mem::take(&mut self.line);
        for part in paragraphs(line) {
            self.push(Block::Paragraph(inlines(&part, links)));
        }
    }

    /// Adds a block behind the line, which has ended.
    pub fn push(&mut self, block: Block) {
        self.end_leveled();
        self.blocks.push(block);
    }

    /// Ends a list whose levels are numbers.
    pub fn end_leveled(&mut self) {
        if !self.leveled.is_empty() {
            let blocks = std::mem::take(&mut self.leveled).into_blocks();
            self.blocks.extend(blocks);
        }
    }

    /// Returns the blocks.
    pub fn finish(mut self, links: &[Target]) -> Vec<Block> {
        self.end_line(links);
        self.end_leveled();
        self.blocks
    }
}

/// Returns words whose no-break blanks are plain ones, but for those that typography asks for:
/// before `;:!?»%€`, behind `«`, and behind a number. Editors and word processors put one wherever
/// two blanks were typed or a mark ends.
fn plain_blanks(words: &str) -> String {
    let mut before = None;
    let mut signs = words.chars().peekable();
    let mut plain = String::with_capacity(words.len());
    while let Some(sign) = signs.next() {
        let next = signs.peek().copied();
        let is_meant = before == Some('«')
            || next.is_some_and(|next| ";:!?»%€".contains(next))
            || (before.is_some_and(char::is_numeric) && next.is_some_and(char::is_alphanumeric));
        plain.push(if sign == '\u{a0}' && !is_meant { ' ' } else { sign });
        before = Some(sign);
    }
    plain
}

/// Divides a line where two or more breaks follow each other. Breaks and blanks at the ends go.
fn paragraphs(line: Vec<MarkedRun>) -> Vec<Vec<MarkedRun>> {
    let mut made: Vec<Vec<MarkedRun>> = Vec::new();
    let mut part: Vec<MarkedRun> = Vec::new();
    let mut breaks: Vec<MarkedRun> = Vec::new();
    for run in line {
        let is_break = run.content == Inline::Break;
        if is_break || (!breaks.is_empty() && is_blank(&run)) {
            breaks.push(run);
            continue;
        }
        let count = breaks.iter().filter(|it| it.content == Inline::Break).count();
        if count > 1 {
            made.push(std::mem::take(&mut part));
        } else {
            part.append(&mut breaks);
        }
        breaks.clear();
        part.push(run);
    }
    made.push(part);
    made.retain(|part| part.iter().any(|run| !is_blank(run)));
    made
}

/// Returns whether nothing of a run is seen.
pub fn is_blank(run: &MarkedRun) -> bool {
    match &run.content {
        Inline::Text(text) => text.chars().all(is_unseen),
        Inline::Break => true,
        _ => false,
    }
}

/// Returns whether a character is a blank, or has no width.
pub fn is_unseen(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\u{200b}' | '\u{feff}' | '\u{2060}')
}

/// Returns a line as a tree. Neighbours with equal marks are the writer's business.
pub fn inlines(line: &[MarkedRun], links: &[Target]) -> Vec<Inline> {
    let mut made = Vec::new();
    for part in line.chunk_by(|one, other| one.marks.link == other.marks.link) {
        let content = part.chunk_by(|one, other| {
            one.marks.code && one.marks == other.marks && is_text(one) && is_text(other)
        });
        let content: Vec<Inline> = content.map(marked).collect();
        let target = part.first().and_then(|run| links.get(run.marks.link?));
        match target {
            Some(Target { url, title }) if part.iter().any(|run| !is_blank(run)) => {
                made.push(Inline::Link { url: url.clone(), title: title.clone(), content });
            }
            _ => made.extend(content),
        }
    }
    made
}

fn is_text(run: &MarkedRun) -> bool {
    matches!(run.content, Inline::Text(_))
}

fn marked(runs: &[MarkedRun]) -> Inline {
    let Some(first) = runs.first() else { return Inline::Text(String::new()) };
    let marks = first.marks;
    let mut inline = match &first.content {
        Inline::Text(text) if marks.code => {
            let rest = runs[1..].iter().filter_map(|run| match &run.content {
                Inline::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let code = std::iter::once(text.as_str()).chain(rest).collect::<String>();
            if code.trim().is_empty() { Inline::Text(code) } else { Inline::Code(code) }
        }
        content => content.clone(),
    };
    if marks.strong {
        inline = Inline::Strong(vec![inline]);
    }
    if marks.emphasis {
        inline = Inline::Emphasis(vec![inline]);
    }
    if marks.struck {
        inline = Inline::Strikethrough(vec![inline]);
    }
    inline
}
