//! Styles and looks: headings, quotations, code, bold and italic.

use super::{Docx, p, para, r, styled};

fn style(kind: &str, id: &str, content: &str) -> String {
    format!("<w:style w:type=\"{kind}\" w:styleId=\"{id}\">{content}</w:style>")
}

fn in_style(id: &str, words: &str) -> String {
    para(&format!("<w:pStyle w:val=\"{id}\"/>"), r(words))
}

#[test]
fn headings_are_known_by_name_by_outline_and_by_what_they_are_based_on() {
    let styles = [
        style("paragraph", "berschrift1", "<w:name w:val=\"heading 1\"/>"),
        style("paragraph", "Mine", "<w:name w:val=\"Mine\"/><w:basedOn w:val=\"Titre2\"/>"),
        style("paragraph", "Titre2", "<w:name w:val=\"Heading 2\"/>"),
        style("paragraph", "Outline", "<w:name w:val=\"Part\"/><w:pPr><w:outlineLvl w:val=\"2\"/></w:pPr>"),
        style("paragraph", "Toc", "<w:name w:val=\"TOC Heading\"/><w:basedOn w:val=\"berschrift1\"/><w:pPr><w:outlineLvl w:val=\"9\"/></w:pPr>"),
        style("paragraph", "Round", "<w:name w:val=\"Round\"/><w:basedOn w:val=\"Round\"/>"),
        style("paragraph", "H8", "<w:name w:val=\"heading 8\"/>"),
    ]
    .concat();
    let body = ["berschrift1", "Mine", "Outline", "Toc", "Round", "H8", "Unknown"]
        .map(|id| in_style(id, id))
        .concat()
        + &para("<w:outlineLvl w:val=\"3\"/>", r("direct"));
    assert_eq!(
        Docx::new(body).part("styles", styles).markdown(),
        "# berschrift1\n\n## Mine\n\n### Outline\n\nToc\n\nRound\n\n###### H8\n\nUnknown\n\n#### direct"
    );
}

#[test]
fn quotations_and_code_are_blocks() {
    let styles = [
        ("Q", "Quote"),
        ("I", "Intense Quote"),
        ("C", "HTML Preformatted"),
        ("S", "Source Code"),
        ("R", "Horizontal Rule"),
    ]
    .map(|(id, name)| style("paragraph", id, &format!("<w:name w:val=\"{name}\"/>")))
    .concat();
    for (body, markdown) in [
        (in_style("Q", "one") + &in_style("I", "two") + &p(r("after")), "> one\n>\n> two\n\nafter"),
        (
            in_style("C", "if x:")
                + &in_style("C", "    *y*")
                + &in_style("C", "")
                + &in_style("S", "z"),
            "```\nif x:\n    *y*\n\nz\n```",
        ),
        (p(r("a")) + &in_style("R", "") + &p(r("b")), "a\n\n---\n\nb"),
        (
            p(r("a")) + &para("<w:pBdr><w:bottom w:val=\"single\"/></w:pBdr>", "") + &p(r("b")),
            "a\n\n---\n\nb",
        ),
    ] {
        assert_eq!(Docx::new(body).part("styles", styles.clone()).markdown(), markdown);
    }
}

#[test]
fn bold_and_italic_are_switched_by_characters_and_styles() {
    let styles = [
        style("character", "Strong", "<w:name w:val=\"Strong\"/><w:rPr><w:b/></w:rPr>"),
        style("paragraph", "Loud", "<w:name w:val=\"Loud\"/><w:rPr><w:b/></w:rPr>"),
        style("paragraph", "H", "<w:name w:val=\"heading 1\"/><w:rPr><w:b/></w:rPr>"),
    ]
    .concat();
    let strong = styled("<w:rStyle w:val=\"Strong\"/>", "x");
    for (body, markdown) in [
        (p(styled("<w:b/>", "x")), "**x**"),
        (p(styled("<w:b w:val=\"0\"/>", "x")), "x"),
        (p(styled("<w:b w:val=\"false\"/><w:i w:val=\"true\"/>", "x")), "*x*"),
        (p(styled("<w:strike/>", "x")), "~~x~~"),
        (p(strong.clone()), "**x**"),
        (p(styled("<w:rStyle w:val=\"Strong\"/><w:b w:val=\"0\"/>", "x")), "x"),
        (para("<w:pStyle w:val=\"Loud\"/>", r("x")), "**x**"),
        // Both styles say bold, which cancels.
        (para("<w:pStyle w:val=\"Loud\"/>", r("a ") + &strong), "**a** x"),
        (para("<w:pStyle w:val=\"H\"/>", r("x")), "# x"),
        (
            p(styled("<w:b/>", "a ") + &styled("<w:b/><w:i/>", "b") + &styled("<w:b/>", " c")),
            "**a *b* c**",
        ),
    ] {
        assert_eq!(
            Docx::new(body.clone()).part("styles", styles.clone()).markdown(),
            markdown,
            "{body}"
        );
    }
}

#[test]
fn code_is_known_by_style_and_by_font_unless_all_is_typewritten() {
    let mono = "<w:rFonts w:ascii=\"Courier New\"/>";
    let styles = style("character", "V", "<w:name w:val=\"Verbatim Char\"/>");
    let line = p(styled(mono, "let x;"));
    let prose = p(r("Some words of prose around it, longer than the code."));
    for (body, markdown) in [
        (p(r("call ") + &styled("<w:rStyle w:val=\"V\"/>", "f()")), "call `f()`"),
        (p(r("call it so ") + &styled(mono, "f()")), "call it so `f()`"),
        (
            line.clone() + &line + &prose,
            "```\nlet x;\nlet x;\n```\n\nSome words of prose around it, longer than the code.",
        ),
        (line.clone() + &prose, "`let x;`\n\nSome words of prose around it, longer than the code."),
        // A manuscript in a typewriter's letters is no code.
        (line.clone() + &line, "let x;\n\nlet x;"),
    ] {
        assert_eq!(Docx::new(body).part("styles", styles.clone()).markdown(), markdown);
    }
}

#[test]
fn the_title_of_the_file_is_not_its_text() {
    let mut files = Docx::new(p(r("words"))).files();
    files.push((
        "docProps/core.xml".to_owned(),
        "<cp:coreProperties xmlns:cp=\"urn:cp\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:creator>Ana</dc:creator><dc:title> The  Lamp </dc:title></cp:coreProperties>".to_owned(),
    ));
    let read = super::from_word(&super::zipped(&files)).unwrap();
    assert_eq!((read.title.as_deref(), read.markdown.as_str()), (Some("The Lamp"), "words"));
}
