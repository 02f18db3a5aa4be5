//! Pairs of quotation marks and brackets in a paragraph.

use std::ops::Range;

use super::MarkPair;

/// Most open marks that are searched for the one that a mark closes.
const MOST_OPEN: usize = 16;

/// Quotation marks and brackets that are not closed yet.
#[derive(Default)]
pub(super) struct OpenQuotes {
    open: Vec<(char, Range<usize>)>,
}

impl OpenQuotes {
    /// Forgets what is open: at the end of a paragraph.
    pub fn clear(&mut self) {
        self.open.clear();
    }

    /// Reads a range of a text.
    pub fn read(&mut self, text: &str, range: Range<usize>, pairs: &mut Vec<MarkPair>) {
        for (at, c) in text[range.clone()].char_indices() {
            let closes: &[char] = match c {
                ')' => &['('],
                ']' => &['['],
                '"' => &['"'],
                // `“` opens in English and closes in German.
                '“' => &['„'],
                '”' => &['“', '„', '”'],
                '»' => &['«'],
                '«' => &['»'],
                '(' | '[' | '„' => &[],
                _ => continue,
            };
            let mark = range.start + at..range.start + at + c.len_utf8();
            let last = self.open.iter().rposition(|(open, _)| closes.contains(open));
            match last.filter(|index| self.open.len() - index <= MOST_OPEN) {
                Some(index) => {
                    let (_, open) = self.open.swap_remove(index);
                    self.open.truncate(index);
                    pairs.push(MarkPair { marks: vec![open, mark], content: None });
                }
                None if !matches!(c, ')' | ']') => self.open.push((c, mark)),
                None => {}
            }
        }
    }
}
