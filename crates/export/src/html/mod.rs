//! HTML export: one page without scripts and without other files.
//!
//! Words are escaped as they are written, and only tags that stand in the document go through the
//! cleaner ([`raw`]). So the time grows with the length of the text, whatever is in it.

mod notes;
mod raw;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt::Write as _;

use super::front_matter::FrontMatter;
use super::{ExportResult, markdown};
use copydesk_interrupt::Interrupt;
use writer::PageWriter;

/// Style for paper and screen, light and dark.
const STYLE: &str = include_str!("style.css");

/// Returns the content of the file, without pending changes.
pub(super) fn write(title: &str, source: &str, interrupt: &Interrupt) -> ExportResult<Vec<u8>> {
    let front = FrontMatter::of(source);
    let source = &source[front.len..];
    let mut writer = PageWriter::new(source, head(front.get(&["title"]).unwrap_or(title), &front));
    for (event, range) in markdown::parser(source).into_offset_iter() {
        interrupt.check()?;
        writer.event(event, &range);
    }
    let mut page = writer.finish();
    page.push_str("</main>\n</body>\n</html>\n");
    Ok(page.into_bytes())
}

/// Appends words as they are written between tags.
fn escape_text(text: &str, out: &mut String) {
    let mut done = 0;
    for (at, mark) in text.match_indices(['&', '<', '>']) {
        out.push_str(&text[done..at]);
        out.push_str(match mark {
            "&" => "&amp;",
            "<" => "&lt;",
            _ => "&gt;",
        });
        done = at + 1;
    }
    out.push_str(&text[done..]);
}

/// Returns words as they are written in attributes and between tags.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_text(text, &mut out);
    out.replace('"', "&quot;")
}

fn head(title: &str, front: &FrontMatter) -> String {
    let title = if title.is_empty() { "Untitled" } else { title };
    let title = escaped(title);
    // The policy is a second protection: code that a browser reads differently from the cleaner
    // does not run either.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src https: http: data:";
    let fields: [(&str, &[&str]); 4] = [
        ("author", &["author", "authors", "creator"]),
        ("date", &["date"]),
        ("description", &["description", "abstract", "summary"]),
        ("keywords", &["keywords", "tags"]),
    ];
    let mut meta = String::new();
    for (name, keys) in fields {
        if let Some(value) = front.get(keys) {
            _ = writeln!(meta, "<meta name=\"{name}\" content=\"{}\">", escaped(value));
        }
    }
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n{meta}\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n"
    )
}
