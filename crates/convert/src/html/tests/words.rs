//! Words, marks, blanks and line breaks.

use super::{check, left_out};

#[test]
fn elements_that_are_not_known_give_their_words() {
    check(&[
        ("<p>a <bdo dir=rtl>b</bdo> <x-y>c</x-y> <font>d</font></p>", "a b c d"),
        ("<center>a</center><dl><dt>b</dt><dd>c</dd></dl>", "a\n\nb\n\nc"),
        ("<details><summary>a</summary>b</details>", "a\n\nb"),
        ("<fieldset><legend>a</legend><label>b</label> <button>c</button></fieldset>", "a\n\nb c"),
        (
            "<figure><img src=\"https://a.example/i.png\" alt=i><figcaption>c</figcaption></figure>",
            "![i](https://a.example/i.png)\n\nc",
        ),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字</p>", "漢字"),
        ("<noscript><p>a</p></noscript><object data=x>b</object>", "a\n\nb"),
        ("<p>a<textarea>b</textarea></p>", "a\n\nb"),
    ]);
}

#[test]
fn what_is_not_shown_is_left_out_and_counted() {
    check(&[
        ("<p>a<script>b</script><style>c</style><!-- d --></p><template>e</template>", "a"),
        ("<p>a<span hidden>b</span><span style=\"display: none\">c</span></p>", "a"),
        ("<p>a<span style='mso-hide:all'>b</span></p>", "a"),
        ("<p>a<svg><text>b</text></svg></p>", "a"),
    ]);
    assert_eq!(left_out("<p hidden>a</p><p hidden> </p>"), [("hidden text".to_owned(), 1)]);
    assert_eq!(left_out("<p>a<script>b</script><style>c</style></p>"), []);
}

#[test]
fn marks_come_from_tags_and_styles() {
    check(&[
        ("<b style=\"font-weight:normal\">a</b>", "a"),
        ("<b style='mso-bidi-font-weight:normal'>a</b>", "**a**"),
        ("<b>a <span style=\"font-weight:400\">b</span> c</b>", "**a** b **c**"),
        ("<p style=\"font-weight:600\">a</p><p style=\"font-weight:500\">b</p>", "**a**\n\nb"),
        (
            "<i>a</i> <del>b</del> <span style=\"text-decoration:line-through\">c</span>",
            "*a* ~~b~~ ~~c~~",
        ),
        ("H<sub>2</sub>O <u>u</u> <ins>i</ins> <mark>m</mark> <var>x</var>", "H2O u i m *x*"),
        ("<b><p>a</p><p>b</p></b>", "**a**\n\n**b**"),
        ("<h2><b>a</b> <span style=\"font-weight:700\">b</span></h2>", "## a b"),
        ("<div role=heading aria-level=3>a</div>", "### a"),
    ]);
}

#[test]
fn blanks_are_as_browsers_show_them() {
    check(&[
        ("<p>a\n  b\t c</p>", "a b c"),
        ("<p>a <b> b</b></p>", "a **b**"),
        ("<p>a&nbsp;b</p><p>&nbsp;</p><p></p>", "a b"),
        (
            "<p>Qui&nbsp;? «&nbsp;Moi&nbsp;», 5&nbsp;km</p>",
            "Qui\u{a0}? «\u{a0}Moi\u{a0}», 5\u{a0}km",
        ),
        ("<div>a</div>b<p>c</p>d", "a\n\nb\n\nc\n\nd"),
        ("<p style=\"white-space:pre-wrap\">a\nb</p>", "a\\\nb"),
        ("<p style=\"white-space:pre-line\">a  x\n\nb</p>", "a x\n\nb"),
    ]);
}

#[test]
fn breaks_stay_breaks() {
    check(&[
        ("<p>a<br>b</p>", "a\\\nb"),
        ("<p>a<br><br>b<br></p>", "a\n\nb"),
        ("a<br> <br>b", "a\n\nb"),
        ("<blockquote>a<br>b</blockquote>", "> a\\\n> b"),
        ("<ul><li>a<br>b</li></ul>", "- a\\\n  b"),
        ("<h1>a<br>b</h1>", "# a b"),
        ("<b>a<br>b</b>", "**a\\\nb**"),
    ]);
}

#[test]
fn links_lead_where_it_is_safe() {
    check(&[
        ("<a href=\"https://a.example/\" title=t>a</a>", "[a](https://a.example/ \"t\")"),
        (
            "<a href=\"mailto:a@a.example\">a</a> <a href=\"tel:1\">b</a>",
            "[a](mailto:a@a.example) [b](tel:1)",
        ),
        (
            "<a href=\"JavaScript:x\">a</a> <a href=\"data:x\">b</a> <a href=\"file:///x\">c</a> <a href=\"/d\">d</a> <a href=\"#e\">e</a>",
            "a b c d e",
        ),
        (
            "<base href=\"https://a.example/x/y\"><a href=\"../z?q\">a</a> <a href=\"//b.example/\">b</a>",
            "[a](https://a.example/z?q) [b](https://b.example/)",
        ),
        (
            "<a href=\"https://www.google.com/url?q=https://a.example/%3Fb&amp;sa=D\">a</a>",
            "[a](https://a.example/?b)",
        ),
        (
            "<a href=\"https://a.example/\"><div>a</div><p>b</p></a>",
            "[a](https://a.example/)\n\n[b](https://a.example/)",
        ),
        ("<p>a<a href=\"https://a.example/\"></a>b</p>", "ab"),
        ("<h2>a<a class=headerlink href=\"#a\">¶</a></h2>", "## a"),
    ]);
}

#[test]
fn pictures_of_the_web_stay_and_others_are_counted() {
    check(&[
        ("<img src=\"https://a.example/a.png\" alt=\"a  b\">", "![a b](https://a.example/a.png)"),
        ("<p>a<img src=\"https://a.example/t\" width=1 height=1></p>", "a"),
        ("<p>a <img src=\"https://a.example/e.png\" alt=😄></p>", "a 😄"),
    ]);
    for source in ["data:image/png;base64,x", "cid:x", "file:///x", "blob:x"] {
        let page = format!("<p>a<img src=\"{source}\"></p>");
        assert_eq!(left_out(&page), [("picture".to_owned(), 1)]);
    }
}
