//! Links and their addresses.

use crate::addresses::{is_web, safe_url};
use crate::report::LONGEST_EXAMPLE;

use super::dom::Id;
use super::flow::Target;
use super::reader::Reader;

impl Reader<'_> {
    /// Returns the number of the link that an element is. One that leads nowhere is counted.
    pub fn link(&mut self, id: Id) -> Option<usize> {
        let href = self.dom.attribute(id, "href")?.trim();
        if href.is_empty() {
            return None;
        }
        let Some(url) = self.address(href) else {
            let words = self.dom.first_words(id, LONGEST_EXAMPLE);
            if !words.is_empty() {
                let kind = if href.starts_with('#') { "link within the document" } else { "link" };
                self.report.leave_out(kind, Some(&words));
            }
            return None;
        };
        let title = self.dom.value(id, "title").trim().to_owned();
        self.links.push(Target { url: unwrapped(&url).unwrap_or(url), title });
        Some(self.links.len() - 1)
    }

    /// Returns an address that is safe to follow, with the address of the page if it begins there.
    pub fn address(&self, href: &str) -> Option<String> {
        if href.starts_with('#') {
            return None;
        }
        if let Some(url) = safe_url(href) {
            return Some(url);
        }
        let has_scheme = href.find(':').is_some_and(|at| !href[..at].contains(['/', '?', '#']));
        if has_scheme {
            return None;
        }
        let href: String = href.chars().filter(|sign| !sign.is_control()).collect();
        joined(self.base.as_deref()?, &href)
    }
}

/// Returns the address that Google Docs wraps into one of its own.
fn unwrapped(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1.strip_prefix("www.google.com/url?")?;
    let inner = rest.split(['&', '#']).find_map(|it| it.strip_prefix("q="))?;
    safe_url(&percent_decoded(inner)).filter(|url| is_web(url))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) if *byte == b'%' => {
                bytes.push(decoded);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a relative address at the end of the address of the page.
fn joined(base: &str, href: &str) -> Option<String> {
    let (scheme, rest) = base.split_once("://")?;
    if let Some(address) = href.strip_prefix("//") {
        return Some(format!("{scheme}://{address}"));
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if href.starts_with('?') {
        return Some(format!("{scheme}://{host}/{path}{href}"));
    }
    let end = href.find(['?', '#']).unwrap_or(href.len());
    let (target, query) = href.split_at(end);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let whole =
        if target.starts_with('/') { target.to_owned() } else { format!("{folder}/{target}") };
    let mut parts: Vec<&str> = Vec::new();
    let is_folder = whole.ends_with(['/', '.']);
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    let slash = if is_folder && !parts.is_empty() { "/" } else { "" };
    Some(format!("{scheme}://{host}/{}{slash}{query}", parts.join("/")))
}
