//! Facts that a page states about itself: its title, its address, the program that made it.

use crate::addresses::{is_web, safe_url};

use super::dom::{Data, Dom};

/// Returns the title of a page.
pub fn title(dom: &Dom) -> Option<String> {
    let title = dom.within(0).find(|it| dom.name(*it) == "title" && !dom.is_foreign(*it))?;
    Some(dom.words(title)).filter(|title| !title.is_empty())
}

/// Returns the address that a page says its links begin with.
pub fn base(dom: &Dom) -> Option<String> {
    let base = dom.within(0).find(|it| dom.name(*it) == "base")?;
    safe_url(dom.value(base, "href")).filter(|url| is_web(url))
}

/// Returns whether Notion put a page on the clipboard. It writes tasks as words.
pub fn is_of_notion(dom: &Dom) -> bool {
    let mut first = dom.within(0).take(40);
    first
        .any(|it| matches!(&dom.nodes[it].data, Data::Comment(words) if words.contains("notionvc")))
}
