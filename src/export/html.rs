//! HTML: one page that needs nothing else, without anything that runs.

use pulldown_cmark::{Event, Options, Parser};

use crate::document::Text;

/// Readable on paper and on a screen, in light and in dark.
const STYLE: &str = include_str!("html/style.css");

/// The Markdown people write here: the common kind with tables, strikethrough and task lists.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Blocks within blocks beyond this are flattened, and tags beyond that many are shown as text: the time that cleaning takes
/// grows with the depth of what is cleaned.
const DEEPEST: usize = 100;
const MOST_TAGS: usize = 2_000;

/// The file's content. Nothing that is pending is in it.
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
        // A form control does not survive the cleaning, a character does.
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

/// A box in front of a task.
pub(super) fn task(done: bool) -> &'static str {
    if done { "☑ " } else { "☐ " }
}

fn page(title: &str, body: &str) -> String {
    let title = if title.is_empty() { "Untitled" } else { title };
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // The policy is a second lock: even what a browser reads differently from the cleaner does not run.
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
