//! Texts that are hard to write.

mod generated;
mod normal_form;
mod read_back;

use crate::tree::{Block, Document, Inline};

use super::write;

fn text(words: &str) -> Inline {
    Inline::Text(words.to_owned())
}

fn strong(words: &str) -> Inline {
    Inline::Strong(vec![text(words)])
}

fn emphasis(words: &str) -> Inline {
    Inline::Emphasis(vec![text(words)])
}

fn line(content: Vec<Inline>) -> String {
    write(&Document { blocks: vec![Block::Paragraph(content)], ..Document::default() }).markdown
}

#[test]
fn marks_beside_words_and_blanks_are_read_as_marks() {
    let cases = [
        (vec![strong("Note:"), text("read")], "**Note**:read"),
        (vec![strong("注意："), text("正文")], "**注意**：正文"),
        (vec![emphasis("「強調」"), text("だ")], "「*強調*」だ"),
        (vec![text("a"), strong(" "), text("b")], "a b"),
        (vec![text("A "), strong("bold\u{a0}"), text("word")], "A **bold**\u{a0}word"),
        (vec![strong("one"), strong(" two")], "**one two**"),
        (vec![strong("one"), emphasis("two"), text(" three")], "**one***two* three"),
        (vec![text("un"), strong("believ"), text("able")], "un**believ**able"),
        (vec![text("He said"), strong(", “no”"), text("and")], "He said, “**no**”and"),
        (vec![Inline::Strong(vec![emphasis("both")])], "***both***"),
    ];
    for (content, markdown) in cases {
        assert_eq!(line(content), markdown);
    }
}
