//! Lists as Word numbers them.

use std::fmt::Write as _;

use super::{Docx, decided, p, para, r, styled};

/// Definitions 1 (numbers), 2 (bullets) and 3 (letters), and a list of each.
fn numbering() -> String {
    let levels = |format: &str, text: &str| -> String {
        let made: Vec<String> = (0..4)
            .map(|level| {
                let text = text.replace('#', &format!("%{}", level + 1));
                format!(
                    "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{text}\"/><w:pPr><w:ind w:left=\"{}\"/></w:pPr></w:lvl>",
                    720 * (level + 1)
                )
            })
            .collect();
        made.concat()
    };
    let legal = "<w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl><w:lvl w:ilvl=\"1\"><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.%2\"/></w:lvl>";
    let definitions = [
        levels("decimal", "#."),
        levels("bullet", "•"),
        levels("lowerLetter", "#)"),
        legal.to_owned(),
    ];
    let mut out = String::new();
    for (number, levels) in (1..).zip(definitions) {
        _ = write!(out, "<w:abstractNum w:abstractNumId=\"{number}\">{levels}</w:abstractNum>");
    }
    for number in 1..=4 {
        _ = write!(
            out,
            "<w:num w:numId=\"{number}\"><w:abstractNumId w:val=\"{number}\"/></w:num>"
        );
    }
    out + "<w:num w:numId=\"5\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"7\"/></w:lvlOverride></w:num>"
}

fn item(list: u8, level: u8, words: &str) -> String {
    para(
        &format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"),
        r(words),
    )
}

fn read(body: impl Into<String>) -> crate::Converted {
    Docx::new(body).part("numbering", numbering()).read()
}

#[test]
fn entries_are_nested_by_their_levels() {
    for (body, markdown) in [
        (
            [item(1, 0, "a"), item(1, 1, "b"), item(1, 2, "c"), item(1, 0, "d"), item(1, 1, "e")]
                .concat(),
            "1. a\n   1. b\n      1. c\n2. d\n   1. e",
        ),
        (
            [item(1, 0, "a"), item(2, 1, "b"), item(2, 1, "c"), item(1, 0, "d")].concat(),
            "1. a\n   - b\n   - c\n2. d",
        ),
        (
            [item(2, 0, "a"), item(1, 1, "b"), item(1, 1, "c"), item(2, 0, "d"), item(1, 1, "e")]
                .concat(),
            "- a\n\n  1. b\n  2. c\n\n- d\n\n  3. e",
        ),
        ([item(2, 0, "a"), item(2, 2, "b"), item(2, 1, "c")].concat(), "- a\n  - b\n  - c"),
        ([item(2, 0, "a"), item(1, 0, "b")].concat(), "- a\n\n1. b"),
    ] {
        assert_eq!(read(body).markdown, markdown);
    }
}

#[test]
fn numbers_go_on_after_a_paragraph_and_begin_where_they_should() {
    let between = p(r("between"));
    for (body, markdown) in [
        (
            item(1, 0, "a") + &item(1, 0, "b") + &between + &item(1, 0, "c"),
            "1. a\n2. b\n\nbetween\n\n3. c",
        ),
        (
            item(1, 0, "a") + &between + &item(5, 0, "b") + &item(5, 0, "c"),
            "1. a\n\nbetween\n\n7. b\n8. c",
        ),
        (item(5, 0, "a") + &between + &item(1, 0, "b"), "7. a\n\nbetween\n\n8. b"),
        // An empty paragraph is not something between.
        (item(1, 0, "a") + &p("") + &item(1, 0, "b"), "1. a\n2. b"),
    ] {
        assert_eq!(read(body).markdown, markdown);
    }
}

#[test]
fn further_paragraphs_of_an_entry_are_known_by_their_indentation() {
    let indented =
        |twips: u32, words: &str| para(&format!("<w:ind w:left=\"{twips}\"/>"), r(words));
    for (body, markdown) in [
        (item(1, 0, "a") + &indented(720, "more") + &item(1, 0, "b"), "1. a\n\n   more\n\n2. b"),
        (item(1, 0, "a") + &item(1, 1, "b") + &indented(720, "more"), "1. a\n   1. b\n\n   more"),
        (item(1, 0, "a") + &indented(300, "after"), "1. a\n\nafter"),
        (item(1, 0, "a") + &p(r("after")), "1. a\n\nafter"),
    ] {
        let got = read(body).markdown;
        assert_eq!(got.replace("\n\n   1.", "\n   1."), markdown);
    }
}

#[test]
fn numbers_that_markdown_does_not_show_are_decided_and_reported() {
    let read_letters = read(item(3, 0, "a") + &item(3, 0, "b"));
    assert!(read_letters.markdown.contains("a\n2"), "{}", read_letters.markdown);
    assert_eq!(decided(&read_letters), [("list with letters or Roman numbers", 2)]);
    let legal = read(item(4, 0, "a") + &item(4, 1, "b") + &item(4, 1, "c"));
    assert_eq!(legal.markdown, "1. a\n   - 1.1 b\n   - 1.2 c");
    assert_eq!(decided(&legal), [("number as text", 2)]);
    let heading = para(
        "<w:outlineLvl w:val=\"0\"/><w:numPr><w:ilvl w:val=\"1\"/><w:numId w:val=\"4\"/></w:numPr>",
        r("Scope"),
    );
    assert_eq!(read(heading).markdown, "# 1.1 Scope");
}

#[test]
fn lists_of_styles_are_lists() {
    let styles = "<w:style w:type=\"paragraph\" w:styleId=\"LB\"><w:name w:val=\"List Bullet\"/><w:pPr><w:numPr><w:numId w:val=\"2\"/></w:numPr></w:pPr></w:style>\
                  <w:style w:type=\"paragraph\" w:styleId=\"LB2\"><w:name w:val=\"List Bullet 2\"/><w:basedOn w:val=\"LB\"/><w:pPr><w:numPr><w:ilvl w:val=\"1\"/></w:numPr></w:pPr></w:style>";
    let of = |style: &str, more: &str, words: &str| {
        para(&format!("<w:pStyle w:val=\"{style}\"/>{more}"), r(words))
    };
    let body = of("LB", "", "a")
        + &of("LB2", "", "b")
        + &of("LB", "", "c")
        + &of("LB", "<w:numPr><w:numId w:val=\"0\"/></w:numPr>", "out");
    let made = Docx::new(body).part("styles", styles).part("numbering", numbering());
    assert_eq!(made.markdown(), "- a\n  - b\n- c\n\nout");
}

#[test]
fn boxes_to_tick_are_tasks() {
    let control = |state: u8, glyph: &str| {
        format!(
            "<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val=\"{state}\"/></w14:checkbox></w:sdtPr><w:sdtContent>{glyph}</w:sdtContent></w:sdt>"
        )
    };
    for (content, markdown) in [
        (control(1, &r("☒")) + &r(" milk"), "- [x] milk"),
        (control(0, &r("☐")) + &r(" milk"), "- [ ] milk"),
        (control(1, "") + &r(" milk"), "- [x] milk"),
        (r("☑ milk"), "- [x] milk"),
        (styled("<w:b/>", "☐ milk"), "- [ ] **milk**"),
        (r("☐milk"), "☐milk"),
    ] {
        assert_eq!(Docx::new(p(content.clone())).markdown(), markdown, "{content}");
    }
    assert_eq!(read(item(2, 0, "☐ a") + &item(2, 1, "☑ b")).markdown, "- [ ] a\n  - [x] b");
    assert_eq!(read(item(1, 0, "☐ a")).markdown, "1. [ ] a");
}
