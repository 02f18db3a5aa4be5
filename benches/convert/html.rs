//! Time in which pages of HTML become Markdown, on pages made to be hard.
//!
//! The goal is a second for 4 MB, and time for each byte that does not grow with the page: 1 is
//! linear.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use copydesk_convert::from_html;
use rustix::time::{ClockId, clock_gettime};

/// Lengths of the pages, in bytes.
const SIZES: [usize; 3] = [1 << 20, 1 << 21, 1 << 22];
/// Most seconds for the longest page.
const SECONDS_GOAL: f64 = 1.0;
/// Most time for each byte, by that of the next shorter page.
const RATIO_GOAL: f64 = 1.6;

/// Pages by name: what they begin with, what is repeated, with `N` for a number that grows, and a
/// second part that is repeated as often.
const PAGES: [(&str, &str, &str, &str); 27] = [
    ("prose", "", "<p>The keeper <b>wrote</b> every <i>night</i>, and read it aloud.</p>", ""),
    ("words", "<p>", "lamp &amp; oil ", ""),
    ("marks", "<p>", "<b>a</b>", ""),
    ("marks beside signs", "<p>", "<b>a:</b>b<i>(c)</i>d", ""),
    ("line breaks", "<p>", "x<br>", ""),
    ("links", "", "<a href=https://a.example/N>a</a> ", ""),
    ("lost links", "", "<a href=#N>a</a> ", ""),
    ("list", "<ul>", "<li>a", ""),
    ("numbers", "<ol>", "<li>a", ""),
    ("levels", "<ol>", "<!--->", "<li aria-level=2>a"),
    ("levels up and down", "<ol>", "<li aria-level=1>a<li aria-level=3>b", ""),
    ("levels of Quill", "<ol>", "<li data-list=bullet>a<li data-list=ordered>b", ""),
    ("table", "<table>", "<tr><td>a<td>b", ""),
    ("cells", "<table><tr>", "<td>a", ""),
    ("words in a table", "<table>", "a<tr>", ""),
    ("notes", "", "<sup id=rN><a href=#nN>1</a></sup>", "<p id=nN><a href=#rN>^</a> b"),
    ("notes in one element", "", "<a id=rN href=#nN>1</a>", "<p><a id=nN href=#rN>^</a>"),
    ("one note", "<div id=r>", "<a href=#n>1</a>", "<li id=n><a href=#r>^</a>"),
    ("notes of one place", "<div id=r>", "<a href=#nN>1</a>", "<li id=nN><a href=#r>^</a>"),
    ("code", "<pre>", "let x = 1;\n", ""),
    ("attributes", "<p", " aN=b", ""),
    ("bodies", "", "<body aN>", ""),
    ("tags with attributes", "", "<p aN=b bN=c cN=d dN=e>x", ""),
    ("comments", "", "<!-- a -->", ""),
    ("brackets", "<p>", "[", "]"),
    ("less-than signs", "<p>", "&lt;a ", ""),
    ("open tags", "", "<div><b><p>x", ""),
];
/// Elements that a page is within, as deep as pages are read.
const NESTED: [&str; 8] = [
    "<sup>",
    "<ruby>",
    "<code><span style=white-space:pre>",
    "<div style=mso-list:l0>",
    "<ul><li><div>",
    "<blockquote>",
    "<table><tr><td>",
    "<font>",
];

fn main() {
    println!("{:<40} {:>9} {:>7} {:>6} {:>9}", "page", "bytes", "ms", "ratio", "Markdown");
    for (name, begin, first, second) in PAGES {
        measure(name, |size| {
            let count = size / (first.len() + second.len());
            let all = |piece: &str| {
                (0..count).map(|n| piece.replace('N', &n.to_string())).collect::<String>()
            };
            format!("{begin}{}{}", all(first), all(second))
        });
    }
    for element in NESTED {
        for piece in ["word ", "a<br>"] {
            measure(&format!("{piece:?} in {element}"), |size| {
                format!("{}{}", element.repeat(80), piece.repeat(size / piece.len()))
            });
        }
    }
}

fn measure(name: &str, page: impl Fn(usize) -> String) {
    let mut before = None;
    for size in SIZES {
        let page = page(size);
        let start = cpu();
        let markdown = from_html(&page).markdown.len();
        let seconds = cpu() - start;
        let ratio = before.map(|before: f64| seconds / before / 2.0);
        before = Some(seconds);
        let is_met = ratio.is_none_or(|it| it <= RATIO_GOAL) && seconds <= SECONDS_GOAL;
        println!(
            "{name:<40} {:>9} {:>7.0} {:>6} {markdown:>9} {}",
            page.len(),
            seconds * 1e3,
            ratio.map(|it| format!("{it:.1}")).unwrap_or_default(),
            if is_met { "met" } else { "MISSED" }
        );
    }
}

/// Seconds this thread has worked.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
