//! A page's form of each thing that Markdown knows.

use super::super::tests::manuscript;
use super::super::{ExportError, ExportFormat, markdown};
use super::writer::PageWriter;
use copydesk_interrupt::Interrupt;

/// The page between `<main>` and `</main>`.
fn main(text: &str) -> String {
    let page = page(text);
    page.split_once("<main>\n").unwrap().1.split_once("</main>").unwrap().0.to_owned()
}

fn page(text: &str) -> String {
    String::from_utf8(manuscript(text, vec![]).export(ExportFormat::Html).unwrap()).unwrap()
}

#[test]
fn words_never_go_through_the_cleaner() {
    for (text, tags) in [
        ("&amp;".repeat(30_000), 0),
        ("&nbsp; ".repeat(30_000), 0),
        ("a &lt; b & c < d \\* ".repeat(10_000), 0),
        (format!("<i>{}</i>", "&copy;<b>x</b>".repeat(20_000)), 2),
        ("<div>\n\n&amp;\n\n</div>\n\n".repeat(5_000), 1),
    ] {
        let mut writer = PageWriter::new(&text, String::new());
        for (event, range) in markdown::parser(&text).into_offset_iter() {
            writer.event(event, &range);
        }
        assert_eq!(writer.cleaned_tags(), tags, "{}", &text[..20]);
    }
}

#[test]
fn a_page_that_is_not_wanted_any_more_is_not_finished() {
    let gone = Interrupt::default();
    gone.raise();
    let made = manuscript("Text.", vec![]).export_until(ExportFormat::Html, &gone);
    assert!(matches!(made, Err(ExportError::Interrupted(_))), "{made:?}");
}

#[test]
fn footnotes_have_numbers_and_lead_back() {
    let made = main(
        "One[^b] two[^a] and one[^B].\n\n[^a]: Ibid.\n\n[^b]: See *that*.\n\n    More.\n\n[^c]: Alone.\n",
    );
    assert!(made.contains("One<sup><a id=\"fnref-1\" href=\"#fn-1\">1</a></sup> two<sup><a id=\"fnref-2\" href=\"#fn-2\">2</a></sup>"), "{made}");
    assert!(made.contains("<sup><a id=\"fnref-1-2\" href=\"#fn-1\">1</a></sup>."), "{made}");
    let notes = made.split_once("<section").unwrap().1;
    assert!(notes.contains("<li id=\"fn-1\" dir=\"auto\"><p dir=\"auto\">See <em>that</em>.</p>\n<p dir=\"auto\">More. <a href=\"#fnref-1\">↩</a> <a href=\"#fnref-1-2\">↩</a></p></li>"), "{notes}");
    assert!(notes.contains("Ibid. <a href=\"#fnref-2\">↩</a></p>"), "{notes}");
    assert!(
        notes.contains("Alone.</p></li>"),
        "a note without a reference keeps its words: {notes}"
    );
    assert_eq!(main("A[^x].\n"), "<p dir=\"auto\">A[^x].</p>\n");
    // A short note is no address of a link.
    assert!(
        !main("a[^1]\n\n[^1]: https://a.example/\n").contains("href=\"https://a.example/\">^1")
    );
}

#[test]
fn front_matter_is_in_the_head() {
    let made = page("---\ntitle: The \"Ledger\"\nauthor: [Ana, Ben]\ntags: oil\n---\n\n# Hello\n");
    assert!(made.contains("<title>The &quot;Ledger&quot;</title>"), "{made}");
    assert!(made.contains("<meta name=\"author\" content=\"Ana, Ben\">"), "{made}");
    assert!(made.contains("<meta name=\"keywords\" content=\"oil\">"), "{made}");
    assert!(
        made.ends_with("<main>\n<h1 dir=\"auto\">Hello</h1>\n</main>\n</body>\n</html>\n"),
        "{made}"
    );
    assert!(page("Text\n\n---\ntitle: x\n---\n").contains("<hr>"));
}

#[test]
fn comments_are_left_out_and_what_never_ends_is_none() {
    for (text, words) in [
        ("A\n\n<!-- secret -->\n\nB", "<p dir=\"auto\">A</p>\n\n<p dir=\"auto\">B</p>\n"),
        ("A <!-- secret --> B", "<p dir=\"auto\">A  B</p>\n"),
        ("<!-- secret\n\nsecret\n-->\nB", "\n<p dir=\"auto\">B</p>\n"),
        ("<div>\n<!-- secret\nsecret --> C\n</div>", "<div>\n C\n</div>"),
        ("<!--> D <!-- secret -->", " D "),
    ] {
        let made = main(text);
        assert!(!made.contains("secret"), "{text}: {made}");
        assert_eq!(made, words, "{text}");
    }
    assert!(main("<!-- not closed\n\nwords > more").contains("words"));
    assert!(main("<div><style>\n\nwords").contains("words"));
}

#[test]
fn line_ends_between_chinese_or_japanese_characters_are_no_blanks() {
    for (text, words) in [
        ("天地\n玄黄", "天地玄黄"),
        ("これは\n文です。\n終", "これは文です。終"),
        ("**天**\n*地*", "<strong>天</strong><em>地</em>"),
        ("他说：“\n好", "他说：“好"),
        ("天\nearth", "天\nearth"),
        ("one\ntwo", "one\ntwo"),
        ("한국\n말", "한국\n말"),
    ] {
        assert_eq!(main(text), format!("<p dir=\"auto\">{words}</p>\n"), "{text}");
    }
    assert!(main("> 天\n> 地").contains("天地"));
}

#[test]
fn tables_have_their_columns_and_breaks() {
    let made =
        main("| a | b | c |\n|:--|:-:|--:|\n| `x \\| y` | p \\| q | one<br>two |\n| short |\n");
    for part in [
        "<th style=\"text-align: left\">a</th>",
        "<td style=\"text-align: center\">p | q</td>",
        "<td style=\"text-align: right\">one<br>two</td>",
        "<code>x | y</code>",
    ] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert_eq!((made.matches("<tr>").count(), made.matches("<td").count()), (3, 6), "{made}");
}

#[test]
fn pictures_tasks_code_and_formulas_are_shown() {
    let made = main("![a *b* `c` \"d\"](https://a.example/p_(1).png \"T\")");
    assert!(
        made.contains(
            "<img src=\"https://a.example/p_(1).png\" alt=\"a b c &quot;d&quot;\" title=\"T\">"
        ),
        "{made}"
    );
    assert!(
        main("[![x](y.png)](https://a.example/)")
            .contains("rel=\"noopener noreferrer\"><img src=\"y.png\" alt=\"x\"></a>")
    );
    assert!(!main("![x](javascript:a) ![y](data:image/png,1)").contains("src="));
    let made = main("- [x] a\n- [ ] b\n");
    assert!(
        made.contains("<input type=\"checkbox\" disabled checked> a")
            && made.contains("disabled> b"),
        "{made}"
    );
    assert_eq!(
        main("```c++ x\na<b\n```\n"),
        "<pre><code class=\"language-c++\">a&lt;b\n</code></pre>\n"
    );
    assert_eq!(
        main("$a_1*b*c_2$ costs $5 and $6\n"),
        "<p dir=\"auto\">$a_1*b*c_2$ costs $5 and $6</p>\n"
    );
    assert_eq!(main("7. a\n8. b\n").matches("<ol start=\"7\">").count(), 1);
    assert_eq!(main("a  \nb\\\nc<br>d\n"), "<p dir=\"auto\">a<br>\nb<br>\nc<br>d</p>\n");
}

#[test]
fn html_of_the_document_stays_around_its_words() {
    assert_eq!(
        main("<details><summary>S</summary>\n\nText *a*.\n\n</details>\n\nB\n"),
        "<details><summary>S</summary>\n<p dir=\"auto\">Text <em>a</em>.</p>\n</details>\n<p dir=\"auto\">B</p>\n"
    );
    assert_eq!(
        main("a <b>b *c</b> d*\n\ne\n"),
        "<p dir=\"auto\">a <b>b <em>c d</em></b></p>\n<p dir=\"auto\">e</p>\n"
    );
    assert_eq!(main("a <script>alert(1)</script> b\n"), "<p dir=\"auto\">a  b</p>\n");
}
