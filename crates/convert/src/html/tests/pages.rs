//! Whole pages, and whole clipboards of Google Docs and Word.

use super::{check, left_out, markdown};

#[test]
fn a_page_keeps_what_structures_it() {
    let page = r#"<html><head><title>Not this</title><style>p { color: red }</style></head><body>
    <!--StartFragment--><h2>The <b>keeper</b></h2>
    <p>He <strong>wrote</strong> <em>every</em> night, see <a href="https://a.example/x (1)">the ledger</a>.</p>
    <ul><li>oil</li><li><p>wicks</p><ul><li>long</li></ul></li></ul>
    <ol start="3"><li>climb</li><li>light</li></ol>
    <blockquote><p>Nobody came.</p></blockquote>
    <pre><span>let</span> x = 1</pre>
    <p>a <a href="javascript:alert(1)">trap</a> <img alt="a lamp" src="data:image/png;base64,xx"></p>
    <script>alert(1)</script></body></html>"#;
    let expected = [
        "## The keeper",
        "He **wrote** *every* night, see [the ledger](https://a.example/x%20%281%29).",
        "- oil\n- wicks\n  - long",
        "3. climb\n4. light",
        "> Nobody came.",
        "```\nlet x = 1\n```",
        "a trap a lamp",
    ];
    assert_eq!(markdown(page), expected.join("\n\n"));
    assert_eq!(left_out(page), [("link".to_owned(), 1), ("picture".to_owned(), 1)]);
    assert_eq!(super::from_html(page).title.as_deref(), Some("Not this"));
}

#[test]
fn google_docs_has_emphasis_in_styles_and_is_not_bold_as_a_whole() {
    let doc = r#"<meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1">
    <h1 dir="ltr"><span style="font-weight:400;">Title</span></h1>
    <p dir="ltr"><span style="font-weight:400">The </span><span style="font-weight:700">lamp</span><span style="font-weight: 400; font-style: italic"> burned</span><span>.</span></p><br />
    <ul><li dir="ltr"><p dir="ltr"><span>one</span></p></li><li dir="ltr"><p dir="ltr"><span>two</span></p></li></ul></b>"#;
    assert_eq!(markdown(doc), "# Title\n\nThe **lamp** *burned*.\n\n- one\n- two");
}

#[test]
fn word_has_lists_that_are_paragraphs_and_a_title() {
    let item = |marker: &str, words: &str, level: usize| {
        format!(
            "<p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level{level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>{marker}<span style='font:7.0pt \"Times New Roman\"'>&nbsp;&nbsp; </span></span></span><![endif]>{words}<o:p></o:p></p>"
        )
    };
    let doc = format!(
        "<html xmlns:o=\"urn:schemas-microsoft-com:office:office\"><body><p class=MsoTitle>The Ledger</p>
    <h1>Night</h1><p class=MsoNormal><b>He</b>&nbsp;wrote.</p><p class=MsoNormal><o:p>&nbsp;</o:p></p>
    {}{}{}<p class=MsoNormal>Then:</p>{}{}</body></html>",
        item("·", "oil", 1),
        item("o", "long", 2),
        item("·", "wicks", 1),
        item("1.", "climb", 1),
        item("2.", "light", 1)
    );
    assert_eq!(
        markdown(&doc),
        "# The Ledger\n\n# Night\n\n**He** wrote.\n\n- oil\n  - long\n- wicks\n\nThen:\n\n1. climb\n2. light"
    );
}

#[test]
fn signs_are_escaped_where_markdown_would_read_them() {
    check(&[
        ("<p># 1</p>", "\\# 1"),
        ("<p>* one</p>", "\\* one"),
        ("<p>- one</p>", "\\- one"),
        ("<ul><li>[ ] one</li></ul>", "- \\[ \\] one"),
        ("<p>1911. It was cold.</p>", "1911\\. It was cold."),
        ("<p><a href=\"https://a.example\">see x</a></p>", "[see x](https://a.example)"),
        ("<p>2 * 3 * 4</p>", "2 * 3 * 4"),
        ("<p>snake_case_name and a__b</p>", "snake_case_name and a__b"),
        ("<p>-5 degrees</p>", "-5 degrees"),
        ("<p>C:\\Users</p>", "C:\\Users"),
    ]);
}
