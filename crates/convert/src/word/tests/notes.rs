//! Notes, headers and footers.

use super::{Docx, left_out, p, para, r};

fn reference(kind: &str, id: u8) -> String {
    format!("<w:r><w:{kind}Reference w:id=\"{id}\"/></w:r>")
}

fn note(kind: &str, id: u8, content: &str) -> String {
    format!("<w:{kind} w:id=\"{id}\">{content}</w:{kind}>")
}

#[test]
fn footnotes_and_endnotes_are_notes_in_the_order_of_their_references() {
    let separator = "<w:footnote w:type=\"separator\" w:id=\"0\"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>";
    let content =
        |words: &str| p(format!("<w:r><w:footnoteRef/></w:r>{}", r(&format!(" {words}"))));
    let body = p(r("one")
        + &reference("endnote", 4)
        + &r(" two")
        + &reference("footnote", 9)
        + &r(" again")
        + &reference("endnote", 4));
    let made = Docx::new(body)
        .part(
            "footnotes",
            separator.to_owned() + &note("footnote", 9, &(content("foot") + &p(r("second")))),
        )
        .part(
            "endnotes",
            note("endnote", 4, &content("end")) + &note("endnote", 5, &content("lost")),
        );
    let read = made.read();
    assert_eq!(read.markdown, "one[^1] two[^2] again[^1]\n\n[^1]: end\n\n[^2]: foot\n\n    second");
    assert_eq!(left_out(&read), [("note without a reference", 1)]);
    let missing = Docx::new(p(r("a") + &reference("footnote", 3))).read();
    assert_eq!(
        (missing.markdown.as_str(), left_out(&missing)),
        ("a", vec![("note that is not in the file", 1)])
    );
}

#[test]
fn margins_are_counted_with_an_example() {
    let read =
        Docx::new(p(r("Words."))).part("header", p(r("Draft 3"))).part("footer", p("")).read();
    assert_eq!(read.markdown, "Words.");
    assert_eq!(left_out(&read), [("header", 1)]);
    assert_eq!(read.report.left_out[0].example.as_deref(), Some("Draft 3"));
    let breaks = para("<w:sectPr/>", r("a") + "<w:r><w:br w:type=\"page\"/></w:r>") + &p(r("b"));
    assert_eq!(left_out(&Docx::new(breaks).read()), [("section break", 1), ("page break", 1)]);
}
