//! HTML that a document contains: each tag is cleaned by itself, and tags that were opened are
//! closed.
//!
//! Only tags are given to the cleaner, never the words between them, so the time grows with the
//! number of different tags and not with the text.

use std::collections::HashMap;

use super::escape_text;

/// Number of different tags that are cleaned; others are shown as text. A tag takes microseconds.
const MOST_TAGS: usize = 2_000;
/// Longest tag, in bytes. Together with [`MOST_BROKEN`] it bounds the search for ends of tags.
const LONGEST_TAG: usize = 8_192;
/// Number of signs that look like tags and are none, after which none is looked for.
const MOST_BROKEN: usize = 1_000;
/// Deepest nesting; tags inside are left out, words stay.
const DEEPEST: usize = 100;

/// Elements without content.
const VOID: [&str; 6] = ["area", "br", "col", "hr", "img", "wbr"];
/// Elements whose content is no text.
const UNREADABLE: [&str; 2] = ["script", "style"];

/// Tag that a document opened.
struct OpenTag {
    name: String,
    /// Number of Markdown's own elements around it.
    level: usize,
}

/// Cleaned tags of a page, and those that are open.
#[derive(Default)]
pub(super) struct RawHtml {
    open: Vec<OpenTag>,
    /// Cleaned form by tag as it was written; `None` if it is not allowed.
    cleaned: HashMap<String, Option<String>>,
    broken: usize,
    /// Name of the element whose content is being left out, and its level.
    unreadable: Option<(String, usize)>,
}

impl RawHtml {
    /// Returns the number of different tags that went through the cleaner.
    #[cfg(test)]
    pub fn cleaned_tags(&self) -> usize {
        self.cleaned.len()
    }

    /// Returns `true` while the content of a script or a style is left out.
    pub fn hides_text(&self) -> bool {
        self.unreadable.is_some()
    }

    /// Writes HTML without comments. `level` is the number of Markdown's own elements around it.
    pub fn write(&mut self, html: &str, level: usize, out: &mut String) {
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            self.text(&rest[..at], out);
            let tail = &rest[at..];
            let is_tag = looks_like_tag(tail) && self.broken < MOST_BROKEN;
            let Some(end) = is_tag.then(|| tag_end(tail)).flatten() else {
                self.broken += usize::from(is_tag);
                self.text("<", out);
                rest = &tail[1..];
                continue;
            };
            self.tag(&tail[..end], level, out);
            rest = &tail[end..];
        }
        self.text(rest, out);
    }

    /// Ends a block of HTML: what a script or a style in it hides ends with it.
    pub fn end_block(&mut self) {
        self.unreadable = None;
    }

    /// Closes what was opened at `level` or inside.
    pub fn leave(&mut self, level: usize, out: &mut String) {
        self.unreadable.take_if(|(_, opened)| *opened >= level);
        while let Some(tag) = self.open.pop_if(|tag| tag.level >= level) {
            out.extend(["</", &tag.name, ">"]);
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if self.unreadable.is_none() {
            escape_source(text, out);
        }
    }

    fn tag(&mut self, tag: &str, level: usize, out: &mut String) {
        let is_end = tag.starts_with("</");
        let name = name(tag).to_ascii_lowercase();
        if let Some((hidden, _)) = &self.unreadable {
            if is_end && *hidden == name {
                self.unreadable = None;
            }
        } else if UNREADABLE.contains(&name.as_str()) {
            self.unreadable = (!is_end).then_some((name, level));
        } else if is_end {
            self.close(&name, level, out);
        } else if !name.is_empty() {
            self.open(tag, name, level, out);
        }
    }

    fn open(&mut self, tag: &str, name: String, level: usize, out: &mut String) {
        if !self.cleaned.contains_key(tag) && self.cleaned.len() >= MOST_TAGS {
            return escape_text(tag, out);
        }
        let cleaned = self.cleaned.entry(tag.to_owned()).or_insert_with(|| clean(tag, &name));
        let Some(cleaned) = cleaned else { return };
        if VOID.contains(&name.as_str()) {
            out.push_str(cleaned);
        } else if self.open.len() < DEEPEST {
            out.push_str(cleaned);
            self.open.push(OpenTag { name, level });
        }
    }

    /// Closes an element and those inside of it, if it was opened at this level or inside.
    fn close(&mut self, name: &str, level: usize, out: &mut String) {
        let is_it = |tag: &OpenTag| tag.name == name && tag.level >= level;
        let Some(here) = self.open.iter().rposition(is_it) else { return };
        for tag in self.open.drain(here..).rev() {
            out.extend(["</", &tag.name, ">"]);
        }
    }
}

fn looks_like_tag(text: &str) -> bool {
    // What is left of a comment here has no end.
    !text.starts_with("<!--")
        && text.as_bytes().get(1).is_some_and(|c| c.is_ascii_alphabetic() || b"/!?".contains(c))
}

/// Returns the length of the tag, declaration or instruction that the text begins with; `None` if
/// it does not end.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.as_bytes().iter().enumerate().take(LONGEST_TAG) {
        match (quote, c) {
            (Some(open), c) if open == *c => quote = None,
            (None, b'>') => return Some(at + 1),
            (None, b'<') if at > 0 => return None,
            (None, b'"' | b'\'') => quote = Some(*c),
            _ => {}
        }
    }
    None
}

/// Returns the name of a tag; it is empty for declarations and instructions.
fn name(tag: &str) -> &str {
    let name = tag.trim_start_matches(['<', '/']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    &name[..end]
}

/// Returns an opening tag with the attributes that are allowed; `None` if it is not allowed.
fn clean(tag: &str, name: &str) -> Option<String> {
    // Parts of a table are read only inside of one.
    let (before, after) = match name {
        "td" | "th" => ("<table><tbody><tr>", "</tr></tbody></table>"),
        "tr" => ("<table><tbody>", "</tbody></table>"),
        "caption" | "colgroup" | "tbody" | "tfoot" | "thead" => ("<table>", "</table>"),
        "col" => ("<table><colgroup>", "</colgroup></table>"),
        _ => ("", ""),
    };
    let cleaned = ammonia::clean(&format!("{before}{tag}"));
    let cleaned = cleaned.strip_prefix(before)?.strip_suffix(after)?;
    let cleaned = cleaned.strip_suffix(&format!("</{name}>")).unwrap_or(cleaned);
    let is_whole = cleaned.starts_with(&format!("<{name}")) && cleaned.ends_with('>');
    is_whole.then(|| cleaned.to_owned())
}

/// Escapes the text between tags, in which entities are already written.
fn escape_source(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        escape_text(&rest[..at], out);
        let entity = entity_length(&rest[at..]);
        out.push_str(if entity == 0 { "&amp;" } else { &rest[at..at + entity] });
        rest = &rest[at + entity.max(1)..];
    }
    escape_text(rest, out);
}

/// Returns the length of the entity that the text begins with, 0 if it begins with none.
fn entity_length(text: &str) -> usize {
    /// Longest name of an entity, with its signs.
    const LONGEST: usize = 34;
    let end = text.bytes().take(LONGEST).position(|c| c == b';').unwrap_or(0);
    let name = text.get(1..end).unwrap_or_default();
    let digits = name.strip_prefix("#x").or(name.strip_prefix("#X")).or(name.strip_prefix('#'));
    let body = digits.unwrap_or(name);
    let is_entity = !body.is_empty() && body.bytes().all(|c| c.is_ascii_alphanumeric());
    if is_entity { end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(html: &str) -> String {
        let (mut raw, mut out) = (RawHtml::default(), String::new());
        raw.write(html, 0, &mut out);
        raw.leave(0, &mut out);
        out
    }

    #[test]
    fn tags_are_cleaned_and_closed() {
        for (html, clean) in [
            ("<b onclick=\"x()\">a</b>", "<b>a</b>"),
            ("<B>a", "<b>a</b>"),
            ("<i><b>a</i> c</b>", "<i><b>a</b></i> c"),
            ("</div>a</p>", "a"),
            ("a<br/>b<wbr>c", "a<br>b<wbr>c"),
            ("<td align=\"right\" style=\"x\">1", "<td align=\"right\">1</td>"),
            ("<table><tr><th>a</th></tr></table>", "<table><tr><th>a</th></tr></table>"),
            ("<img src=x onerror=alert(1)>", "<img src=\"x\">"),
            ("<svg onload=x><math><iframe src=x>a</iframe>", "a"),
            ("<script>alert('<b>')</script>b<style>*{}</style>", "b"),
            ("<a href=\"java\nscript:x\">a</a>", "<a rel=\"noopener noreferrer\">a</a>"),
            ("<!doctype html><?php x ?>a", "a"),
        ] {
            assert_eq!(written(html), clean, "{html}");
        }
    }

    #[test]
    fn words_between_tags_stay_and_stay_words() {
        assert_eq!(
            written("1 < 2 &amp; 3 & 4 &lt;b&gt; &bad"),
            "1 &lt; 2 &amp; 3 &amp; 4 &lt;b&gt; &amp;bad"
        );
        assert_eq!(written("<div title=\"open\na > b"), "&lt;div title=\"open\na &gt; b");
        assert_eq!(written("<b title='\"><i>'>x"), "<b title=\"&quot;&gt;&lt;i&gt;\">x</b>");
    }

    #[test]
    fn what_a_paragraph_opens_ends_with_it() {
        let (mut raw, mut out) = (RawHtml::default(), String::new());
        raw.write("<details>", 0, &mut out);
        raw.write("<script><i>", 1, &mut out);
        raw.leave(1, &mut out);
        assert!(!raw.hides_text());
        raw.write("<i></details>", 1, &mut out);
        raw.leave(1, &mut out);
        raw.write("</details>", 0, &mut out);
        assert_eq!(out, "<details><i></i></details>");
    }

    #[test]
    fn only_so_many_different_tags_are_cleaned() {
        let tags: Vec<_> = (0..MOST_TAGS + 2).map(|n| format!("<b title={n}></b>")).collect();
        let html = tags.concat();
        let mut raw = RawHtml::default();
        let mut out = String::new();
        raw.write(&html, 0, &mut out);
        assert_eq!((raw.cleaned.len(), out.matches("&lt;b").count()), (MOST_TAGS, 2));
        let same = "<b></b>".repeat(3 * MOST_TAGS);
        assert_eq!(written(&same), same);
    }
}
