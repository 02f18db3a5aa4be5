//! Every word of a file is in the Markdown or in the report.

use super::{Docx, left_out, p, r, styled};

#[test]
fn words_inside_of_unknown_elements_stay() {
    for around in [
        "<w:smartTag w:element=\"City\">|</w:smartTag>",
        "<w:customXml w:element=\"x\">|</w:customXml>",
        "<w:bdo w:val=\"rtl\">|</w:bdo>",
        "<w:dir w:val=\"rtl\">|</w:dir>",
        "<w:sdt><w:sdtPr><w:alias w:val=\"no\"/></w:sdtPr><w:sdtContent>|</w:sdtContent></w:sdt>",
        "<w:new xmlns:n=\"urn:n\"><n:newer>|</n:newer></w:new>",
        "<mc:AlternateContent><mc:Choice Requires=\"x\">|</mc:Choice><mc:Fallback>|</mc:Fallback></mc:AlternateContent>",
        "<mc:AlternateContent><mc:Choice Requires=\"x\"/><mc:Fallback>|</mc:Fallback></mc:AlternateContent>",
        "<w:fldSimple w:instr=\" REF _Ref1 \\h \">|</w:fldSimple>",
    ] {
        let inner = around.replace('|', &r("words"));
        let body = p(format!("{}{inner}{}", r("a "), r(" z")));
        assert_eq!(Docx::new(body).markdown(), "a words z", "{around}");
    }
    // Around paragraphs, too.
    for around in [
        "<w:sdt><w:sdtContent>|</w:sdtContent></w:sdt>",
        "<w:customXml>|</w:customXml>",
        "<w:unknown><w:deeper>|</w:deeper></w:unknown>",
    ] {
        let body = around.replace('|', &p(r("words")));
        assert_eq!(Docx::new(body).markdown(), "words", "{around}");
    }
}

fn field(instruction: &str, result: &str) -> String {
    let sign = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    format!(
        "{}<w:r><w:instrText xml:space=\"preserve\">{instruction}</w:instrText></w:r>{}{result}{}",
        sign("begin"),
        sign("separate"),
        sign("end")
    )
}

#[test]
fn the_result_of_a_field_is_text_and_one_with_an_address_a_link() {
    let inner = field(" HYPERLINK \"https://a.example/?x=1&amp;y=2\" \\o \"Tip\" ", &r("there"));
    for (content, markdown) in [
        (field(" PAGEREF x ", &r("twelve")), "twelve"),
        (field(&field(" MERGEFIELD n ", &r("hidden")), &r("shown")), "shown"),
        (inner.clone(), "[there](https://a.example/?x=1&y=2 \"Tip\")"),
        (field(" TOC ", &inner), "[there](https://a.example/?x=1&y=2 \"Tip\")"),
        (field(" HYPERLINK \\l \"mark\" ", &r("within")), "within"),
        (field(" HYPERLINK \"javascript:alert(1)\" ", &r("bad")), "bad"),
        (field(" HYPERLINK \"file:///etc/passwd\" ", &r("bad")), "bad"),
        // The field is broken, so that its result never begins.
        (format!("<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>{}", r("kept")), "kept"),
    ] {
        assert_eq!(Docx::new(p(content.clone())).markdown(), markdown, "{content}");
    }
}

#[test]
fn links_lead_to_safe_addresses_only() {
    for (address, markdown) in [
        ("https://a.example/", "[words](https://a.example/)"),
        ("MAILTO:ana@a.example", "[words](MAILTO:ana@a.example)"),
        ("javascript:alert(1)", "words"),
        ("data:text/html,x", "words"),
        ("file:///C:/secret", "words"),
        ("other.docx", "words"),
    ] {
        let body = p(format!("<w:hyperlink r:id=\"out0\">{}</w:hyperlink>", r("words")));
        let read = Docx::new(body).link("hyperlink", address).read();
        assert_eq!(read.markdown, markdown);
        assert_eq!(left_out(&read).len(), usize::from(markdown == "words"), "{address}");
    }
    let bookmark = p(format!("<w:hyperlink w:anchor=\"_msocom_1\">{}</w:hyperlink>", r("words")));
    assert_eq!(Docx::new(bookmark).markdown(), "words");
}

#[test]
fn signs_are_the_characters_that_people_see() {
    for (element, text) in [
        ("<w:noBreakHyphen/>", "a\u{2011}z"),
        ("<w:softHyphen/>", "a\u{ad}z"),
        ("<w:tab/>", "a z"),
        ("<w:br/>", "a\\\nz"),
        ("<w:cr/>", "a\\\nz"),
        ("<w:sym w:font=\"Symbol\" w:char=\"F062\"/>", "aβz"),
        ("<w:sym w:font=\"Wingdings\" w:char=\"F0FC\"/>", "a✓z"),
        ("<w:t>\u{f061}</w:t>", "aαz"),
    ] {
        let body = p(format!("<w:r><w:t>a</w:t>{element}<w:t>z</w:t></w:r>"));
        assert_eq!(Docx::new(body).markdown(), text, "{element}");
    }
    let read = Docx::new(p("<w:r><w:sym w:font=\"Wingdings 3\" w:char=\"F0AA\"/></w:r>")).read();
    assert_eq!(left_out(&read), [("symbol", 1)]);
}

#[test]
fn text_boxes_come_after_their_paragraph_once() {
    let words = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>";
    let old = format!("<w:pict><v:shape><v:textbox>{words}</v:textbox></v:shape></w:pict>");
    let new =
        format!("<w:drawing><wp:anchor><a:graphic>{words}</a:graphic></wp:anchor></w:drawing>");
    let both = format!(
        "<mc:AlternateContent><mc:Choice Requires=\"wps\">{new}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    );
    for form in [old, new, both] {
        let read = Docx::new(p(format!("{}<w:r>{form}</w:r>{}", r("a "), r("z")))).read();
        assert_eq!(read.markdown, "a z\n\nboxed", "{form}");
        assert!(left_out(&read).is_empty(), "{form}");
    }
}

#[test]
fn pictures_and_objects_are_counted_and_those_of_the_web_stay() {
    let picture = |id: &str| {
        format!(
            "<w:r><w:drawing><wp:inline><wp:docPr descr=\"A lamp\"/><a:graphic><a:graphicData uri=\"x/picture\"><a:blip {id}/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
        )
    };
    let read = Docx::new(p(picture("r:embed=\"in\"") + &picture("r:embed=\"in\""))).read();
    assert_eq!(left_out(&read), [("picture", 2)]);
    assert_eq!(read.report.left_out[0].example.as_deref(), Some("A lamp"));
    let web = Docx::new(p(picture("r:link=\"out0\""))).link("image", "https://a.example/l.png");
    assert_eq!(web.markdown(), "![A lamp](https://a.example/l.png)");
    let file = Docx::new(p(picture("r:link=\"out0\""))).link("image", "file:///C:/l.png");
    assert_eq!(left_out(&file.read()), [("picture", 1)]);
    for (uri, kind) in
        [("x/2006/chart", "chart"), ("x/2006/diagram", "diagram"), ("x/other", "drawing")]
    {
        let body = format!("<w:r><w:drawing><a:graphicData uri=\"{uri}\"/></w:drawing></w:r>");
        assert_eq!(left_out(&Docx::new(p(body)).read()), [(kind, 1)]);
    }
    let object = "<w:r><w:object><v:shape><v:imagedata r:id=\"in\"/></v:shape><o:OLEObject ProgID=\"Excel.Sheet\"/></w:object></w:r>";
    assert_eq!(left_out(&Docx::new(p(object)).read()), [("embedded object", 1)]);
}

#[test]
fn hidden_words_and_pronunciations_are_reported() {
    let read = Docx::new(p(r("seen") + &styled("<w:vanish/>", "unseen"))).read();
    assert_eq!(read.markdown, "seen");
    assert_eq!(read.report.left_out[0].example.as_deref(), Some("unseen"));
    let ruby = format!(
        "<w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>",
        r("とう"),
        r("東")
    );
    let read = Docx::new(p(ruby + &r("京"))).read();
    assert_eq!((read.markdown.as_str(), left_out(&read)), ("東京", vec![("pronunciation", 1)]));
}

#[test]
fn formulas_are_tex() {
    let sign = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let part = |name: &str, text: &str| format!("<m:{name}>{}</m:{name}>", sign(text));
    for (inner, tex) in [
        (
            sign("E=m") + &format!("<m:sSup>{}{}</m:sSup>", part("e", "c"), part("sup", "2")),
            "E=mc^2",
        ),
        (format!("<m:f>{}{}</m:f>", part("num", "a"), part("den", "b")), "\\frac{a}{b}"),
        (
            format!(
                "<m:rad><m:radPr><m:degHide m:val=\"1\"/></m:radPr><m:deg/>{}</m:rad>",
                part("e", "x")
            ),
            "\\sqrt{x}",
        ),
        (format!("<m:rad>{}{}</m:rad>", part("deg", "3"), part("e", "x")), "\\sqrt[3]{x}"),
        (
            format!(
                "<m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr>{}{}{}</m:nary>",
                part("sub", "i=1"),
                part("sup", "n"),
                part("e", "i")
            ),
            "\\sum_{i=1}^n i",
        ),
        (format!("<m:d>{}</m:d>", part("e", "a+b")), "(a+b)"),
        (format!("<m:new>{}</m:new>", part("newer", "kept")), "kept"),
        (
            format!("<m:m><m:mr>{}{}</m:mr></m:m>", part("e", "a"), part("e", "b")),
            "\\begin{matrix} a & b \\end{matrix}",
        ),
    ] {
        let body = p(format!("{}<m:oMath>{inner}</m:oMath>{}", r("x "), r(" y")));
        assert_eq!(Docx::new(body).markdown(), format!("x ${tex}$ y"));
    }
    let alone =
        "<w:p><m:oMathPara><m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath></m:oMathPara></w:p>";
    assert!(Docx::new(alone).markdown().starts_with("$$"));
}
