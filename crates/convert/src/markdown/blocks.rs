//! Blocks as Markdown: what stands before their lines and between them.

use crate::tree::{Block, Entry, Inline, List, Note};

use super::escapes::{self, Place};
use super::inlines::line_of;
use super::links;
use super::marked_text::MarkedText;
use super::output::Output;
use super::segments::Content;
use super::tables;

/// Largest number that an entry of a list can have in Markdown.
const LARGEST_NUMBER: u64 = 999_999_999;

/// Place of a block among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Among {
    Document,
    /// In an entry of a list; nothing but the list decides whether blank lines are between blocks.
    Entry {
        loose: bool,
    },
    Quote,
}

/// Writes the blocks of a document.
pub fn write_document(output: &mut Output, blocks: &[Block], notes: &[Note]) {
    let mut is_first = write_blocks(output, blocks, Among::Document);
    for note in notes {
        if !is_first {
            output.blank_line();
        }
        is_first = false;
        output.nested(&format!("[^{}]: ", links::note_label(&note.label)), "    ", |output| {
            write_blocks(output, &note.blocks, Among::Entry { loose: true });
        });
    }
}

/// Writes blocks one after the other. Returns whether none of them has any words.
fn write_blocks(output: &mut Output, blocks: &[Block], among: Among) -> bool {
    let mut before: Option<&Block> = None;
    let mut is_second_marker = false;
    for block in blocks {
        if is_blank(block) {
            write_edges(output, block);
            continue;
        }
        match before {
            Some(before)
                if among == (Among::Entry { loose: false }) && is_joined(before, block) =>
            {
                output.new_line();
            }
            Some(_) => output.blank_line(),
            None => {}
        }
        // Two lists in a row are one, unless their markers differ.
        is_second_marker =
            before.is_some_and(|it| are_lists_of_one_kind(it, block)) && !is_second_marker;
        write_block(output, block, among, before.is_none(), is_second_marker);
        before = Some(block);
    }
    before.is_none()
}

fn write_block(
    output: &mut Output,
    block: &Block,
    among: Among,
    is_first: bool,
    is_second_marker: bool,
) {
    match block {
        Block::Paragraph(content) => {
            write_paragraph(output, content, is_first && matches!(among, Among::Entry { .. }));
        }
        Block::Heading { level, content } => {
            output.push(&"#".repeat(usize::from((*level).clamp(1, 6))));
            output.push(" ");
            output.push_words(&line_of(MarkedText::of(content), " "), Place::Heading);
        }
        Block::Code { language, text } => write_code(output, language, text),
        Block::Formula(tex) => write_formula(output, tex),
        Block::Quote(blocks) => output.nested("> ", "> ", |output| {
            write_blocks(output, blocks, Among::Quote);
        }),
        Block::List(list) => write_list(output, list, is_second_marker),
        Block::Table(table) => tables::write(output, table),
        // In a list, `- ---` is a line as a whole; at the beginning `---` opens front matter.
        Block::Rule => output.push(match among {
            Among::Document if !is_first => "---",
            Among::Document | Among::Quote => "***",
            Among::Entry { .. } => "___",
        }),
    }
}

fn write_paragraph(output: &mut Output, content: &[Inline], begins_entry: bool) {
    let place = if begins_entry { Place::Entry } else { Place::Paragraph };
    output.push_words(&line_of(MarkedText::of(content), "\\\n"), place);
}

fn write_code(output: &mut Output, language: &str, text: &str) {
    let fence = "`".repeat(escapes::longest_run(text, '`', 3));
    let is_plain = |sign: &char| !sign.is_whitespace() && !"`{}\\&".contains(*sign);
    let language: String = language.chars().filter(is_plain).take(40).collect();
    output.push(&format!("{fence}{language}"));
    output.new_line();
    if !text.is_empty() {
        output.push_lines(&text.replace("\r\n", "\n").replace('\r', "\n"));
        output.end_code_line();
    }
    output.push(&fence);
}

/// Writes a formula on lines of its own, in one line if its lines could be read as blocks.
fn write_formula(output: &mut Output, tex: &str) {
    let lines: Vec<&str> = tex.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_words =
        |line: &&str| line.starts_with(|sign: char| sign.is_alphabetic() || sign == '\\');
    if lines.iter().all(is_words) {
        output.push("$$");
        for line in &lines {
            output.new_line();
            output.push(line);
        }
        output.new_line();
        output.push("$$");
    } else {
        output.push(&format!("$${}$$", lines.join(" ")));
    }
}

fn write_list(output: &mut Output, list: &List, is_second_marker: bool) {
    let loose = is_loose(list);
    let sign = match (list.start.is_some(), is_second_marker) {
        (false, false) => "-",
        (false, true) => "*",
        (true, false) => ".",
        (true, true) => ")",
    };
    for (number, entry) in list.entries.iter().enumerate() {
        match (number, loose) {
            (0, _) => {}
            (_, true) => output.blank_line(),
            (_, false) => output.new_line(),
        }
        let marker = match list.start {
            Some(start) => format!("{}{sign}", (start + number as u64).min(LARGEST_NUMBER)),
            None => sign.to_owned(),
        };
        write_entry(output, entry, &marker, loose);
    }
}

fn write_entry(output: &mut Output, entry: &Entry, marker: &str, loose: bool) {
    let first = entry.blocks.iter().find(|block| !is_blank(block));
    let indent = " ".repeat(marker.len() + 1);
    let task = match entry.done {
        Some(true) => "[x] ",
        Some(false) => "[ ] ",
        None => "",
    };
    let begins_on_next_line = matches!(first, Some(Block::List(list)) if begins_empty(list));
    let blank = if first.is_some() && !begins_on_next_line { " " } else { "" };
    output.nested(&format!("{marker}{blank}"), &indent, |output| {
        if matches!(first, Some(Block::Paragraph(_))) {
            output.push(task);
        }
        if begins_on_next_line {
            output.new_line();
        }
        write_blocks(output, &entry.blocks, Among::Entry { loose });
    });
}

fn begins_empty(list: &List) -> bool {
    let first = list.entries.first().and_then(|it| it.blocks.iter().find(|block| !is_blank(block)));
    match first {
        None => true,
        Some(Block::List(inner)) => begins_empty(inner),
        Some(_) => false,
    }
}

/// Returns whether blank lines stand between the entries, because they should or have to.
pub fn is_loose(list: &List) -> bool {
    let needs_blank = |entry: &Entry| {
        let blocks: Vec<&Block> = entry.blocks.iter().filter(|block| !is_blank(block)).collect();
        blocks.windows(2).any(|two| !is_joined(two[0], two[1]))
    };
    list.loose || list.entries.iter().any(needs_blank)
}

/// Returns whether two blocks need no blank line between them in a list.
fn is_joined(before: &Block, block: &Block) -> bool {
    match (before, block) {
        (Block::Paragraph(_) | Block::Heading { .. }, Block::List(list)) => {
            list.start.is_none_or(|start| start == 1) && !begins_empty(list)
        }
        (Block::List(_), Block::List(list)) => !begins_empty(list),
        (
            Block::Paragraph(_) | Block::Heading { .. },
            Block::Code { .. } | Block::Quote(_) | Block::Heading { .. },
        )
        | (Block::Code { .. }, Block::Paragraph(_)) => true,
        _ => false,
    }
}

fn are_lists_of_one_kind(before: &Block, block: &Block) -> bool {
    match (before, block) {
        (Block::List(before), Block::List(list)) => before.start.is_some() == list.start.is_some(),
        _ => false,
    }
}

/// Returns whether nothing of a block would be seen.
pub fn is_blank(block: &Block) -> bool {
    match block {
        Block::Paragraph(content) | Block::Heading { content, .. } => is_blank_text(content),
        Block::Code { .. } | Block::Rule => false,
        Block::Formula(tex) => tex.trim().is_empty(),
        Block::Quote(blocks) => blocks.iter().all(is_blank),
        Block::List(list) => list.entries.is_empty(),
        Block::Table(table) => {
            table.columns.is_empty() && table.heading.is_empty() && table.rows.is_empty()
        }
    }
}

fn is_blank_text(content: &[Inline]) -> bool {
    MarkedText::of(content).is_blank()
}

/// Notes the edges of changes in a block that is not written.
fn write_edges(output: &mut Output, block: &Block) {
    match block {
        Block::Paragraph(content) | Block::Heading { content, .. } => {
            for segment in MarkedText::of(content).segments {
                if let Content::Edge { change, is_start } = segment.content {
                    output.edge(change, is_start);
                }
            }
        }
        Block::Quote(blocks) => blocks.iter().for_each(|block| write_edges(output, block)),
        _ => {}
    }
}
