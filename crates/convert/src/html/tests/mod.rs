//! Pages and clipboards of programs, and the Markdown that they become.

mod hostile;
mod lists;
mod pages;
mod structures;
mod words;

use super::from_html;

/// Returns the Markdown of a page.
fn markdown(html: &str) -> String {
    from_html(html).markdown
}

/// Returns the kinds that were left out, with their numbers.
fn left_out(html: &str) -> Vec<(String, u32)> {
    from_html(html).report.left_out.into_iter().map(|it| (it.kind, it.count)).collect()
}

/// Checks pairs of a page and its Markdown.
fn check(cases: &[(&str, &str)]) {
    for (html, expected) in cases {
        assert_eq!(markdown(html), *expected, "{html}");
    }
}
