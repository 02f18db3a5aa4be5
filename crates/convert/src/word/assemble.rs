//! Paragraphs and tables of one view, made into blocks.

use crate::Report;
use crate::tree::{Block, Inline};

use super::inlines::{inlines, is_code, plain, settle_monospaced};
use super::lists::BlockBuilder;
use super::model::{
    Atom, CODE, Content, LinkTarget, Look, MONOSPACED, Paragraph, StoryBlock, Tracked,
};
use super::numbering::{Label, ListCounter, ListPlace, Numbering};
use super::styles::{ParagraphRole, Styles};
use super::wholes;

/// Makes blocks of paragraphs and tables.
pub(super) struct Assembler<'a> {
    pub styles: &'a Styles,
    pub links: &'a [LinkTarget],
    pub report: Report,
    pub counter: ListCounter<'a>,
    /// `true` if letters of one width are code.
    is_monospaced_code: bool,
    /// Edges of paragraphs that are written as nothing. They come to the next one.
    edges: Vec<Atom>,
}

/// Kind of the block before, if the next paragraph may go on with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Other,
    Code,
    Quote,
}

impl<'a> Assembler<'a> {
    pub fn new(
        styles: &'a Styles,
        numbering: &'a Numbering,
        links: &'a [LinkTarget],
        is_monospaced_code: bool,
    ) -> Self {
        Self {
            styles,
            links,
            report: Report::default(),
            counter: ListCounter::new(numbering, styles),
            is_monospaced_code,
            edges: Vec::new(),
        }
    }

    /// Returns the blocks of a story.
    pub fn story(&mut self, blocks: &[StoryBlock]) -> Vec<Block> {
        self.edges.clear();
        self.inner_blocks(blocks)
    }

    /// Returns the blocks of a part of a story.
    pub fn inner_blocks(&mut self, blocks: &[StoryBlock]) -> Vec<Block> {
        let mut builder = BlockBuilder::default();
        let mut before = Before::Other;
        let mut rest = blocks.iter().peekable();
        while let Some(block) = rest.next() {
            match block {
                StoryBlock::Paragraph(paragraph) => {
                    let mut paragraph = paragraph.clone();
                    self.settle(&mut paragraph);
                    let next_is_code = rest.peek().is_some_and(|next| self.is_all_code(next));
                    let is_listing =
                        is_only_code(&paragraph) && (next_is_code || before == Before::Code);
                    before = self.paragraph(&mut builder, paragraph, before, is_listing);
                }
                StoryBlock::Table(table) => {
                    builder.leave_lists();
                    let made = self.table(table);
                    builder.target().extend(made);
                    before = Before::Other;
                }
            }
        }
        builder.finish()
    }

    /// Says what letters of one width are, and words that stand for pictures and formulas.
    pub fn settle(&self, paragraph: &mut Paragraph) {
        settle_monospaced(&mut paragraph.atoms, self.is_monospaced_code);
        paragraph.atoms = wholes::settle(std::mem::take(&mut paragraph.atoms), self.links);
    }

    fn is_all_code(&self, block: &StoryBlock) -> bool {
        let StoryBlock::Paragraph(paragraph) = block else { return false };
        let mut paragraph = paragraph.clone();
        self.settle(&mut paragraph);
        is_only_code(&paragraph) && self.styles.role(&paragraph.properties) == ParagraphRole::Body
    }

    fn paragraph(
        &mut self,
        builder: &mut BlockBuilder,
        paragraph: Paragraph,
        before: Before,
        is_listing: bool,
    ) -> Before {
        let properties = self.styles.complete(&paragraph.properties);
        let mut role = self.styles.role(&paragraph.properties);
        let place = self.counter.place(&paragraph.properties);
        if role == ParagraphRole::Body && is_listing && place.is_none() {
            role = ParagraphRole::Code;
        }
        let mut atoms = std::mem::take(&mut self.edges);
        let has_rule = paragraph.atoms.iter().any(|atom| atom.content == Content::Rule);
        atoms.extend(paragraph.atoms);
        if role == ParagraphRole::Code {
            let style = self.styles.of_paragraph(paragraph.properties.style.as_deref());
            Self::code(builder, &atoms, &style.language, properties.indent, before);
            return Before::Code;
        }
        let is_empty = !atoms.iter().any(is_seen);
        let is_rule =
            has_rule || role == ParagraphRole::Rule || properties.has_line_below == Some(true);
        let place = place.filter(|place| !(is_empty && place.label == Label::Nothing));
        if is_empty && (is_rule || place.is_none() || matches!(role, ParagraphRole::Heading(_))) {
            if is_rule {
                builder.leave_lists();
                builder.target().push(Block::Rule);
            }
            self.edges = atoms;
            return if is_rule { Before::Other } else { before };
        }
        if let ParagraphRole::Heading(level) = role {
            self.heading(builder, level, place, &atoms);
            return Before::Other;
        }
        if role == ParagraphRole::Quote && place.is_none() {
            let content = inlines(&atoms, self.links);
            builder.leave_lists();
            let target = builder.target();
            match target.last_mut() {
                Some(Block::Quote(inner)) if before == Before::Quote => {
                    inner.push(Block::Paragraph(content));
                }
                _ => target.push(Block::Quote(vec![Block::Paragraph(content)])),
            }
            return Before::Quote;
        }
        self.enter_place(builder, place, properties.indent, &mut atoms);
        let target = builder.target();
        if has_rule {
            target.push(Block::Rule);
        }
        if let Some(formulas) = only_formulas(&atoms) {
            target.extend(formulas);
            self.edges = atoms.into_iter().filter(is_edge).collect();
        } else {
            target.push(Block::Paragraph(inlines(&atoms, self.links)));
        }
        Before::Other
    }

    /// Goes to where a paragraph belongs: into a new entry of a list, into an entry, or out of all.
    fn enter_place(
        &mut self,
        builder: &mut BlockBuilder,
        place: Option<ListPlace>,
        indent: Option<i32>,
        atoms: &mut Vec<Atom>,
    ) {
        match place {
            Some(place) if place.label == Label::Nothing => builder.leave_lists_below(&place),
            Some(place) => {
                let done = take_tick(atoms);
                if let Label::Words(words) = &place.label {
                    self.report.decide("number as text");
                    atoms.insert(0, text(&format!("{words} ")));
                }
                builder.begin_entry(place, done, &mut self.report);
            }
            None => match take_tick(atoms) {
                // Boxes to tick make a list, although the program had none.
                Some(done) => {
                    let place = ListPlace {
                        label: Label::Bullet,
                        definition: String::new(),
                        level: 0,
                        indent: indent.unwrap_or_default(),
                    };
                    builder.begin_entry(place, Some(done), &mut self.report);
                }
                None => builder.leave_lists_right_of(indent.unwrap_or_default()),
            },
        }
    }

    fn heading(
        &mut self,
        builder: &mut BlockBuilder,
        level: u8,
        place: Option<ListPlace>,
        atoms: &[Atom],
    ) {
        builder.leave_lists();
        if level > 6 {
            self.report.decide("heading below level 6");
        }
        let mut content = inlines(atoms, self.links);
        let number = match place.map(|place| place.label) {
            Some(Label::Number { value, .. }) => Some(format!("{value}. ")),
            Some(Label::Words(words)) => Some(format!("{words} ")),
            Some(Label::Bullet | Label::Nothing) | None => None,
        };
        if let Some(number) = number {
            self.report.decide("number as text");
            content.insert(0, Inline::Text(number));
        }
        builder.target().push(Block::Heading { level: level.min(6), content });
    }

    /// Adds a line of code.
    fn code(
        builder: &mut BlockBuilder,
        atoms: &[Atom],
        language: &str,
        indent: Option<i32>,
        before: Before,
    ) {
        let line = plain(atoms);
        if before != Before::Code {
            builder.leave_lists_right_of(indent.unwrap_or_default());
        }
        match builder.target().last_mut() {
            Some(Block::Code { text, language: known })
                if before == Before::Code && known == language =>
            {
                text.push('\n');
                text.push_str(&line);
            }
            _ => builder.target().push(Block::Code { language: language.to_owned(), text: line }),
        }
    }
}

fn text(words: &str) -> Atom {
    let content = Content::Text(words.to_owned());
    Atom { content, look: Look::default(), tracked: Tracked::default() }
}

fn is_edge(atom: &Atom) -> bool {
    matches!(atom.content, Content::Edge { .. })
}

/// Returns whether people see an atom as something of its own.
fn is_seen(atom: &Atom) -> bool {
    match &atom.content {
        Content::Text(text) => !text.trim().is_empty(),
        Content::Edge { .. } | Content::Break | Content::Rule => false,
        _ => true,
    }
}

/// Returns whether all words of a paragraph are code.
fn is_only_code(paragraph: &Paragraph) -> bool {
    let mut seen = paragraph.atoms.iter().filter(|atom| is_seen(atom)).peekable();
    seen.peek().is_some() && seen.all(is_code)
}

/// Returns the formulas of a paragraph that has nothing else, and sets them on their own.
fn only_formulas(atoms: &[Atom]) -> Option<Vec<Block>> {
    let seen = atoms.iter().filter(|atom| is_seen(atom));
    let formulas = seen.map(|atom| match &atom.content {
        Content::Formula { tex, is_block: true } => Some(Block::Formula(tex.clone())),
        _ => None,
    });
    formulas.collect::<Option<Vec<_>>>().filter(|formulas| !formulas.is_empty())
}

/// Takes the box to tick off the beginning of a paragraph. Returns whether it is ticked.
fn take_tick(atoms: &mut [Atom]) -> Option<bool> {
    let mut seen = atoms.iter_mut().filter(|atom| is_seen(atom));
    let first = seen.next()?;
    let Content::Text(words) = &mut first.content else { return None };
    let rest = words.trim_start();
    let done = match rest.chars().next()? {
        '☐' | '□' => false,
        '☑' | '☒' | '✅' => true,
        _ => return None,
    };
    let behind = rest.trim_start_matches(['☐', '□', '☑', '☒', '✅', '\u{fe0f}', '\u{fe0e}']);
    let is_apart = behind.is_empty() || behind.starts_with(char::is_whitespace);
    // A box in a line without words is a sign like others.
    if !is_apart || (behind.trim().is_empty() && seen.next().is_none()) {
        return None;
    }
    first.content = Content::Text(behind.trim_start().to_owned());
    Some(done)
}

/// Returns whether letters of one width are code: not where most of a document is set in them.
pub(super) fn is_monospaced_code(blocks: &[StoryBlock]) -> bool {
    let (mut monospaced, mut all) = (0, 0);
    count_letters(blocks, &mut monospaced, &mut all);
    monospaced * 2 <= all
}

fn count_letters(blocks: &[StoryBlock], monospaced: &mut usize, all: &mut usize) {
    for block in blocks {
        match block {
            StoryBlock::Paragraph(paragraph) => {
                for atom in &paragraph.atoms {
                    if let Content::Text(text) = &atom.content {
                        *all += text.len();
                        let is_set =
                            atom.look.marks & MONOSPACED != 0 && atom.look.marks & CODE == 0;
                        *monospaced += if is_set { text.len() } else { 0 };
                    }
                }
            }
            StoryBlock::Table(table) => {
                let cells = table.rows.iter().flat_map(|row| &row.cells);
                cells.for_each(|cell| count_letters(&cell.blocks, monospaced, all));
            }
        }
    }
}
