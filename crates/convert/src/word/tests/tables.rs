//! Tables: words stay in their columns.

use super::{Docx, decided, p, para, r, styled};

fn cell(properties: &str, content: &str) -> String {
    format!("<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>")
}

fn row(cells: &[String]) -> String {
    format!("<w:tr>{}</w:tr>", cells.concat())
}

fn words(words: &str) -> String {
    cell("", &p(r(words)))
}

fn table(rows: &[String]) -> String {
    format!("<w:tbl><w:tblPr/><w:tblGrid/>{}</w:tbl>", rows.concat())
}

/// Returns the cells of each row of the first table, without the line of the alignments.
fn cells(markdown: &str) -> Vec<Vec<String>> {
    let lines = markdown.lines().filter(|line| line.starts_with('|') && !line.contains("--"));
    lines
        .map(|line| line.trim_matches('|').split(" |").map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

#[test]
fn cells_beside_and_below_merged_ones_stay_in_their_columns() {
    let wide = table(&[
        row(&[cell("<w:gridSpan w:val=\"2\"/>", &p(r("both"))), words("C")]),
        row(&[words("a"), words("b"), words("c")]),
    ]);
    let read = Docx::new(wide).read();
    assert_eq!(cells(&read.markdown), [["both", "", "C"], ["a", "b", "c"]]);
    assert!(decided(&read).contains(&("merged cell", 1)));
    let tall = table(&[
        row(&[words("A"), words("B")]),
        row(&[cell("<w:vMerge w:val=\"restart\"/>", &p(r("tall"))), words("one")]),
        row(&[cell("<w:vMerge/>", &p("")), words("two")]),
    ]);
    assert_eq!(cells(&Docx::new(tall).markdown()), [["A", "B"], ["tall", "one"], ["", "two"]]);
    let shifted = table(&[
        row(&[words("A"), words("B")]),
        format!("<w:tr><w:trPr><w:gridBefore w:val=\"1\"/></w:trPr>{}</w:tr>", words("b")),
        row(&[words("a")]),
    ]);
    assert_eq!(cells(&Docx::new(shifted).markdown()), [["A", "B"], ["", "b"], ["a", ""]]);
}

#[test]
fn paragraphs_lists_and_tables_in_a_cell_stay_apart() {
    let numbering = "<w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl></w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>";
    let item = |words: &str| {
        para("<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>", r(words))
    };
    let inner = table(&[row(&[words("x"), words("y")]), row(&[words("z"), words("q|r")])]);
    for (content, line) in [
        (p(r("one")) + &p(r("two")), "one<br>two"),
        (item("one") + &item("two"), "1. one<br>2. two"),
        (p("<w:r><w:t>one</w:t><w:br/><w:t>two</w:t></w:r>"), "one<br>two"),
        (inner, "x \\| y<br>z \\| q\\|r"),
    ] {
        let body = table(&[row(&[words("A"), words("B")]), row(&[cell("", &content), words("b")])]);
        let markdown = Docx::new(body).part("numbering", numbering).markdown();
        assert!(markdown.contains(&format!("| {line} | b |")), "{markdown}");
    }
}

#[test]
fn the_first_row_is_the_heading_and_its_bold_is_no_mark() {
    let bold = |text: &str| cell("", &p(styled("<w:b/>", text)));
    let read =
        Docx::new(table(&[row(&[bold("A"), bold("B")]), row(&[words("a"), bold("b")])])).read();
    assert_eq!(cells(&read.markdown), [["A", "B"], ["a", "**b**"]]);
    assert!(decided(&read).is_empty());
    let plain =
        Docx::new(table(&[row(&[words("A"), words("B")]), row(&[words("a"), words("b")])])).read();
    assert_eq!(decided(&plain), [("first row as heading", 1)]);
    let stated = format!(
        "<w:tbl><w:tblPr><w:tblLook w:val=\"04A0\"/></w:tblPr>{}</w:tbl>",
        row(&[words("A"), words("B")])
    );
    assert!(decided(&Docx::new(stated).read()).is_empty());
}

#[test]
fn columns_keep_their_alignment_and_a_box_is_no_table() {
    let side =
        |side: &str, words: &str| cell("", &para(&format!("<w:jc w:val=\"{side}\"/>"), r(words)));
    let body = table(&[
        row(&[side("center", "A"), side("center", "B"), side("center", "C")]),
        row(&[side("left", "a"), side("right", "b"), side("center", "c")]),
        row(&[side("left", "d"), side("end", "e"), words("f")]),
    ]);
    let markdown = Docx::new(body).markdown();
    let line = markdown.lines().nth(1).unwrap().replace(' ', "");
    assert_eq!(line, "|:--|--:|---|", "{markdown}");
    let boxed = Docx::new(table(&[row(&[cell("", &(p(r("one")) + &p(r("two"))))])])).read();
    assert_eq!(boxed.markdown, "one\n\ntwo");
    assert_eq!(decided(&boxed), [("table of one cell", 1)]);
}
