//! Markdown read by `comrak`, as a tree.

use comrak::nodes::{AstNode, ListType, NodeValue, TableAlignment};
use comrak::{Arena, Options, parse_document};

use crate::tree::{Alignment, Block, Document, Entry, Inline, List, Note, Table};

/// Reads Markdown with the extensions of GitHub.
pub fn read(markdown: &str) -> Document {
    let mut options = Options::default();
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.extension.front_matter_delimiter = Some("---".to_owned());
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options);
    let mut document = Document { blocks: blocks(root), ..Document::default() };
    for node in root.children() {
        if let NodeValue::FootnoteDefinition(note) = &node.data().value {
            document.notes.push(Note { label: note.name.clone(), blocks: blocks(node) });
        }
    }
    document
}

fn blocks<'a>(node: &'a AstNode<'a>) -> Vec<Block> {
    node.children().filter_map(block).collect()
}

fn block<'a>(node: &'a AstNode<'a>) -> Option<Block> {
    Some(match &node.data().value {
        NodeValue::Paragraph => Block::Paragraph(inlines(node)),
        NodeValue::Heading(heading) => {
            Block::Heading { level: heading.level, content: inlines(node) }
        }
        NodeValue::CodeBlock(code) => Block::Code {
            language: code.info.clone(),
            text: code.literal.strip_suffix('\n').unwrap_or(&code.literal).to_owned(),
        },
        NodeValue::BlockQuote => Block::Quote(blocks(node)),
        NodeValue::ThematicBreak => Block::Rule,
        NodeValue::List(list) => Block::List(List {
            start: (list.list_type == ListType::Ordered).then_some(list.start as u64),
            loose: !list.tight,
            entries: node.children().map(entry).collect(),
        }),
        NodeValue::Table(table) => Block::Table(Table {
            columns: table.alignments.iter().map(|it| alignment(*it)).collect(),
            heading: node.first_child().map(row).unwrap_or_default(),
            rows: node.children().skip(1).map(row).collect(),
        }),
        NodeValue::FootnoteDefinition(_) => return None,
        other => Block::Paragraph(vec![Inline::Text(format!("unexpected {other:?}"))]),
    })
}

fn entry<'a>(node: &'a AstNode<'a>) -> Entry {
    let done = match &node.data().value {
        NodeValue::TaskItem(task) => Some(task.symbol.is_some()),
        _ => None,
    };
    Entry { done, blocks: blocks(node) }
}

fn row<'a>(node: &'a AstNode<'a>) -> Vec<Vec<Inline>> {
    node.children().map(inlines).collect()
}

fn alignment(of: TableAlignment) -> Alignment {
    match of {
        TableAlignment::None => Alignment::Unset,
        TableAlignment::Left => Alignment::Left,
        TableAlignment::Center => Alignment::Center,
        TableAlignment::Right => Alignment::Right,
    }
}

fn inlines<'a>(node: &'a AstNode<'a>) -> Vec<Inline> {
    node.children().map(inline).collect()
}

fn inline<'a>(node: &'a AstNode<'a>) -> Inline {
    match &node.data().value {
        NodeValue::Text(text) => Inline::Text(text.to_string()),
        NodeValue::SoftBreak => Inline::Text(" unexpected soft break ".to_owned()),
        NodeValue::LineBreak => Inline::Break,
        NodeValue::HtmlInline(tag) if tag == "<br>" => Inline::Break,
        NodeValue::Code(code) => Inline::Code(code.literal.clone()),
        NodeValue::Math(math) if !math.display_math => Inline::Formula(math.literal.clone()),
        NodeValue::Math(math) => Inline::Text(format!("display {}", one_line(&math.literal))),
        NodeValue::Emph => Inline::Emphasis(inlines(node)),
        NodeValue::Strong => Inline::Strong(inlines(node)),
        NodeValue::Strikethrough => Inline::Strikethrough(inlines(node)),
        NodeValue::Link(link) => Inline::Link {
            url: link.url.clone(),
            title: link.title.clone(),
            content: inlines(node),
        },
        NodeValue::Image(link) => Inline::Picture {
            url: link.url.clone(),
            title: link.title.clone(),
            description: words(&inlines(node)),
        },
        NodeValue::FootnoteReference(reference) => Inline::NoteReference(reference.name.clone()),
        other => Inline::Text(format!("unexpected {other:?}")),
    }
}

/// Returns a text with one blank between words.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the words of some content.
pub fn words(content: &[Inline]) -> String {
    content
        .iter()
        .map(|inline| match inline {
            Inline::Text(text) | Inline::Code(text) | Inline::Formula(text) => text.clone(),
            Inline::Emphasis(content)
            | Inline::Strong(content)
            | Inline::Strikethrough(content)
            | Inline::Link { content, .. } => words(content),
            Inline::Picture { description, .. } => description.clone(),
            Inline::Break => "\n".to_owned(),
            Inline::NoteReference(label) => format!("[^{label}]"),
            Inline::ChangeStart(_) | Inline::ChangeEnd(_) => String::new(),
        })
        .collect()
}
