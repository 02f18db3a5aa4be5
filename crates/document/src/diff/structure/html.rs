//! Pairs of HTML tags, and comments.

use std::ops::Range;

use super::MarkPair;

/// Most open tags that are searched for the one that a tag closes.
const MOST_OPEN: usize = 64;

/// Elements without an end.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Tags that are not closed yet.
#[derive(Default)]
pub(super) struct OpenTags<'a> {
    tags: Vec<(&'a str, Range<usize>)>,
}

impl<'a> OpenTags<'a> {
    /// Reads the tags in a range of a text that is HTML.
    pub fn read(&mut self, text: &'a str, range: Range<usize>, pairs: &mut Vec<MarkPair>) {
        let mut at = range.start;
        while let Some(found) = text[at..range.end].find('<') {
            let start = at + found;
            let rest = &text[start..range.end];
            if rest.starts_with("<!--") {
                let Some(length) = rest.find("-->") else { return };
                let end = start + length + 3;
                let marks = vec![start..start + 4, end - 3..end];
                pairs.push(MarkPair { marks, content: Some(start..end) });
                at = end;
                continue;
            }
            let Some(length) = rest.find('>') else { return };
            at = start + length + 1;
            self.tag(&text[start..at], start, pairs);
        }
    }

    fn tag(&mut self, tag: &'a str, start: usize, pairs: &mut Vec<MarkPair>) {
        let inner = tag.trim_start_matches(['<', '/']);
        let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, range) = (&inner[..length], start..start + tag.len());
        let is_alone =
            tag.ends_with("/>") || VOID.iter().any(|void| name.eq_ignore_ascii_case(void));
        if name.is_empty() || is_alone {
            return;
        }
        if !tag.starts_with("</") {
            self.tags.push((name, range));
            return;
        }
        let last = self.tags.iter().rev().take(MOST_OPEN);
        let found = last.take_while(|(open, _)| !open.eq_ignore_ascii_case(name)).count();
        if let Some(index) = self.tags.len().checked_sub(found + 1)
            && found < MOST_OPEN
        {
            let (_, open) = self.tags.swap_remove(index);
            self.tags.truncate(index);
            pairs.push(MarkPair { marks: vec![open, range], content: None });
        }
    }
}
