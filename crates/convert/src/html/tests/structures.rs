//! Tables, code, formulas and notes.

use super::{check, left_out, markdown};

#[test]
fn columns_stay_under_their_headings() {
    check(&[
        (
            "<table><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n|  | 3 |",
        ),
        (
            "<table><tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        (
            "<table><tr><th>a<th>b<th>c<tr><td colspan=2 rowspan=2>1<td>2<tr><td>3<tr><td>4<td>5<td>6</table>",
            "| a | b | c |\n| --- | --- | --- |\n| 1 |  | 2 |\n|  |  | 3 |\n| 4 | 5 | 6 |",
        ),
        (
            "<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1</tbody></table>",
            "| a | b |\n| --- | --- |\n| 1 |  |",
        ),
        (
            "<table><caption>t</caption><tr><th align=right>a<th>b<tr><td style=\"text-align:right\">1<td>x|y</table>",
            "t\n\n| a | b |\n| --: | --- |\n| 1 | x\\|y |",
        ),
    ]);
}

#[test]
fn cells_keep_their_words_in_one_line() {
    check(&[
        (
            "<table><tr><th>a<th>b<tr><td><p>1</p><p>2</p><td>3<br>4</table>",
            "| a | b |\n| --- | --- |\n| 1<br>2 | 3<br>4 |",
        ),
        ("<table><tr><th>a<tr><td><ul><li>1<li>2</ul></table>", "| a |\n| --- |\n| • 1<br>• 2 |"),
        (
            "<table><tr><th>a<tr><td><table><tr><td>1<td>2</table></table>",
            "| a |\n| --- |\n| 1 \\| 2 |",
        ),
        ("<table><tr><th>a<tr><td><pre>x\ny</pre></table>", "| a |\n| --- |\n| `x`<br>`y` |"),
    ]);
}

#[test]
fn tables_that_only_arrange_things_are_none() {
    let inner = "<table><tr><th>a<th>b<tr><td>1<td>2</table>";
    let read = "| a | b |\n| --- | --- |\n| 1 | 2 |";
    assert_eq!(
        markdown(&format!("<table><tr><td><h2>A</h2>{inner}</table>")),
        format!("## A\n\n{read}")
    );
    assert_eq!(markdown(&format!("<table><tr><td>x<td>{inner}</table>")), format!("x\n\n{read}"));
    assert_eq!(markdown("<table role=presentation><tr><td>a<td>b</table>"), "a\n\nb");
}

#[test]
fn code_stays_as_it_is_with_its_language() {
    check(&[
        ("<pre><code>one<br>  two</code></pre>", "```\none\n  two\n```"),
        ("<pre><code class=language-js>a\n\n\n b  \n</code></pre>", "```js\na\n\n\n b  \n```"),
        (
            "<div class=\"highlight highlight-source-shell\"><pre>ls</pre></div>",
            "```shell\nls\n```",
        ),
        (
            "<pre class=\"brush: php; x\">a</pre><pre lang=ruby>b</pre>",
            "```php\na\n```\n\n```ruby\nb\n```",
        ),
        ("<pre class=\"sourceCode python\"><code>a&nbsp;b</code></pre>", "```python\na b\n```"),
        ("<pre>```\ncode\n```</pre>", "````\n```\ncode\n```\n````"),
        ("<pre><div>a</div><div><br></div><div>b</div></pre>", "```\na\n\nb\n```"),
        (
            "<div style=\"font-family: Menlo, monospace; white-space: pre;\"><div>a</div><div>  b</div></div>",
            "```\na\n  b\n```",
        ),
        (
            "<table class=\"highlighttable\"><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>a\nb</pre></td></table>",
            "```\na\nb\n```",
        ),
        (
            "<table><tr><td class=blob-num>1</td><td class=blob-code>a</td></tr>\n<tr><td class=blob-num>2</td><td class=blob-code> b</td></tr></table>",
            "```\na\n b\n```",
        ),
        ("<p><code>a_b</code> <kbd>k</kbd> <samp>s</samp> <tt>t</tt></p>", "`a_b` `k` `s` `t`"),
        ("<p>x</p><code>a<br>b</code>", "x\n\n```\na\nb\n```"),
    ]);
}

#[test]
fn formulas_come_once() {
    let katex = "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding=\"application/x-tex\">x^2</annotation></semantics></math></span><span class=katex-html aria-hidden=true>x2</span></span>";
    assert_eq!(markdown(&format!("<p>a {katex} b</p>")), "a $x^2$ b");
    assert_eq!(markdown(&format!("<span class=katex-display>{katex}</span>")), "$$\nx^2\n$$");
    check(&[
        (
            "<p><span class=MathJax_Preview>x</span><span class=MathJax>x</span><script type=\"math/tex\">x_1</script></p>",
            "$x_1$",
        ),
        ("<p><math alttext=\"{\\displaystyle x}\"><mi>x</mi></math></p>", "$x$"),
        ("<p>a <math><mi>x</mi><mo>+</mo><mn>1</mn></math></p>", "a x+1"),
    ]);
}

#[test]
fn footnotes_of_programs_are_notes() {
    let expected = "a[^1] b\n\n[^1]: note";
    for page in [
        "<p>a<a href=\"#_ftn1\" name=\"_ftnref1\"><span>[1]</span></a> b</p><div style='mso-element:footnote-list'><br clear=all><hr><div style='mso-element:footnote' id=ftn1><p><a href=\"#_ftnref1\" name=\"_ftn1\">[1]</a> note</p></div></div>",
        "<p>a<sup><a href=\"#ftnt1\" id=\"ftnt_ref1\">[1]</a></sup> b</p><hr><div><p><a href=\"#ftnt_ref1\" id=\"ftnt1\">[1]</a> note</p></div>",
        "<p>a<a href=\"#fn1\" class=\"footnote-ref\" id=\"fnref1\"><sup>1</sup></a> b</p><section class=footnotes><hr><ol><li id=\"fn1\"><p>note<a href=\"#fnref1\">↩︎</a></p></li></ol></section>",
        "<p>a<sup><a href=\"#user-content-fn-1\" id=\"user-content-fnref-1\">1</a></sup> b</p><section><h2 id=footnote-label class=sr-only>Footnotes</h2><ol><li id=user-content-fn-1><p>note <a href=\"#user-content-fnref-1\">↩</a></p></li></ol></section>",
        "<p>a<sup id=\"fnref:1\"><a href=\"#fn:1\">1</a></sup> b</p><div class=footnotes><ol><li id=\"fn:1\">note <a href=\"#fnref:1\">↩</a></li></ol></div>",
    ] {
        assert_eq!(markdown(page), expected, "{page}");
        assert!(super::super::from_html(page).report.is_empty(), "{page}");
    }
    check(&[("<p>a<sup><a href=\"#x\">1</a></sup></p><p id=x>b</p>", "a1\n\nb")]);
}

#[test]
fn comments_of_word_are_counted() {
    let page = "<p>a<span class=MsoCommentReference><a class=msocomanchor href=\"#_msocom_1\" name=\"_msoanchor_1\">[x1]</a></span> b</p><div style='mso-element:comment-list'><hr class=msocomoff><div style='mso-element:comment'><p>why</p></div></div>";
    assert_eq!(markdown(page), "a b");
    assert_eq!(left_out(page), [("comment".to_owned(), 1)]);
}

#[test]
fn a_long_page_is_read_whole() {
    let part = "<h2>a</h2><p>The <b>lamp</b>.</p><ul><li><p>one</p></li></ul>";
    assert_eq!(markdown(&part.repeat(2_000)).matches("**lamp**").count(), 2_000);
}
