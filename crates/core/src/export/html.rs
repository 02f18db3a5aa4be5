//! HTML export: one page without scripts and without other files.

use pulldown_cmark::{Event, Options, Parser};

use crate::document::Text;

/// Style for paper and screen, light and dark.
const STYLE: &str = include_str!("html/style.css");

/// Returns the options of Markdown as people write it here: with tables, strikethrough and task
/// lists.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Deepest nesting of blocks; deeper ones are flattened. Together with [`MOST_TAGS`] it bounds the
/// time of cleaning, which grows with the depth.
const DEEPEST: usize = 100;
const MOST_TAGS: usize = 2_000;

/// Returns the content of the file, without pending changes.
pub(super) fn write(title: &str, text: &Text) -> Vec<u8> {
    let source = text.to_string();
    let (mut depth, mut tags) = (0, 0);
    let events = Parser::new_ext(&source, options()).filter_map(|event| match event {
        Event::Start(_) => {
            depth += 1;
            (depth <= DEEPEST).then_some(event)
        }
        Event::End(_) => {
            depth -= 1;
            (depth < DEEPEST).then_some(event)
        }
        // Cleaning removes a form control, but keeps a character.
        Event::TaskListMarker(done) => Some(Event::Text(task(done).into())),
        Event::Html(ref html) | Event::InlineHtml(ref html) => {
            tags += html.matches('<').count();
            Some(if tags > MOST_TAGS { Event::Text(html.clone()) } else { event })
        }
        other => Some(other),
    });
    let mut body = String::with_capacity(source.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut body, events);
    page(title, &ammonia::clean(&body)).into_bytes()
}

/// Returns a box for a task.
pub(super) fn task(done: bool) -> &'static str {
    if done { "☑ " } else { "☐ " }
}

fn page(title: &str, body: &str) -> String {
    let title = if title.is_empty() { "Untitled" } else { title };
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // The policy is a second protection: code that a browser reads differently from the cleaner
    // does not run either.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src https: http: data:";
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}
