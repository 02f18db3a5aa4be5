//! Pages that are made to take long, or to overflow the stack.

use super::markdown;

/// Long pages in a test build, which is some ten times slower than a release.
const REPEATED: usize = 20_000;

#[test]
fn deep_elements_keep_their_words() {
    for name in [
        "div",
        "b",
        "span",
        "blockquote",
        "ul><li",
        "table><tr><td",
        "font",
        "x-y",
        "ol",
        "pre",
        "ruby",
    ] {
        let page = format!("<p>first {}deep", format!("<{name}>").repeat(100_000));
        let read = markdown(&page);
        assert!(read.contains("first") && read.contains("deep"), "{name}");
        assert!(read.len() < 4_000, "{name}: {}", read.len());
    }
}

#[test]
fn marks_that_are_left_open_are_not_opened_for_ever() {
    let open = (0..500).map(|size| format!("<font size={size}>")).collect::<Vec<_>>().concat();
    let page = format!("<p>{open}{}", "<p>x".repeat(REPEATED));
    assert_eq!(markdown(&page).matches('x').count(), REPEATED);
    let page = "<a href=https://a.example><b><p>x</b>".repeat(REPEATED);
    assert_eq!(markdown(&page).matches('x').count(), REPEATED + REPEATED);
}

#[test]
fn attributes_and_spans_without_number_are_bounded() {
    let attributes = (0..60_000).map(|number| format!(" a{number}=\"<\"")).collect::<Vec<_>>();
    let attributes = attributes.concat();
    assert_eq!(markdown(&format!("<p{attributes}>one</p><p>two</p>")), "one\n\ntwo");
    let rows = "<tr><td>x".repeat(REPEATED);
    let read = markdown(&format!("<table><tr><td colspan=99999 rowspan=99999>a{rows}</table>"));
    assert_eq!(read.matches('x').count(), REPEATED);
    assert!(read.len() < 9_000_000, "{}", read.len());
}

#[test]
fn broken_pages_are_read() {
    for page in [
        "",
        "<",
        "</",
        "<!--",
        "<p",
        "<table><p>a",
        "&#0;",
        "<svg><p>a",
        "<math><mi>x",
        "<template>a",
    ] {
        markdown(page);
    }
}
