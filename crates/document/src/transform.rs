//! Mapping of changes and positions over other changes, with CodeMirror's tie-breaks.

use super::change_set::{ChangeResult, ChangeSet, KEEP, SectionJoin};
use super::cursor::SectionCursor;
use super::map_options::{InsertSide, MapOrder};
use super::position_index::IndexMark;

impl ChangeSet {
    /// Maps this change over `over`, which starts at the same text: the result applies to the text
    /// after `over`.
    pub fn map(&self, over: &Self, order: MapOrder) -> ChangeResult<Self> {
        let mut mapped = Self::default();
        self.map_into(over, order, &mut mapped)?;
        Ok(mapped)
    }

    /// Maps a position of the old text to the new text; a position past the end goes to the end.
    pub fn map_pos(&self, pos: usize, assoc: InsertSide) -> usize {
        self.map_pos_from(IndexMark::default(), pos, assoc)
    }

    /// Maps a position as [`Self::map_pos`] does, reading only the sections from `mark` on, which
    /// begins before the position.
    pub(super) fn map_pos_from(&self, mark: IndexMark, pos: usize, assoc: InsertSide) -> usize {
        let (mut pos_a, mut pos_b) = (mark.old, mark.new);
        for section in &self.sections[mark.section..] {
            let len = section.len as usize;
            let end_a = pos_a + len;
            if section.ins == KEEP {
                if end_a > pos {
                    return pos_b + (pos - pos_a);
                }
                pos_b += len;
            } else {
                let end_b = pos_b + section.new_len() as usize;
                if end_a > pos || end_a == pos && assoc == InsertSide::Before && len == 0 {
                    let stays = pos == pos_a || assoc == InsertSide::Before;
                    return if stays { pos_b } else { end_b };
                }
                pos_b = end_b;
            }
            pos_a = end_a;
        }
        pos_b
    }

    /// Maps this change as [`Self::map`] does, into a set whose buffers are reused (`mapSet`).
    pub(super) fn map_into(
        &self,
        over: &Self,
        order: MapOrder,
        mapped: &mut Self,
    ) -> ChangeResult<()> {
        self.starts_from(over.len())?;
        mapped.sections.clear();
        mapped.inserted.clear();
        if over.is_empty() {
            mapped.sections.extend_from_slice(&self.sections);
            mapped.inserted.push_str(&self.inserted);
            return Ok(());
        }
        let (mut a, mut b) = (SectionCursor::new(self), SectionCursor::new(over));
        // Number of the section of `a` whose text has been inserted already: sections can be
        // processed in pieces.
        let mut inserted = 0;
        loop {
            if a.ins == KEEP && b.ins == KEEP {
                let len = a.len.min(b.len);
                mapped.keep(len as usize);
                a.forward(len);
                b.forward(len);
            } else if b.ins >= 0 && comes_first(&a, &b, inserted, order) {
                mapped.pass_over(&mut a, &b, &mut inserted);
                b.next();
            } else if a.ins >= 0 {
                mapped.add_until_change(&mut a, &mut b, &mut inserted);
            } else {
                // Both are at the end, because they started from equal lengths.
                return Ok(());
            }
        }
    }

    /// Keeps the insertion of `b` and skips the part of `a` that it covers, of which only the
    /// insertions survive.
    fn pass_over(
        &mut self,
        a: &mut SectionCursor<'_>,
        b: &SectionCursor<'_>,
        inserted: &mut usize,
    ) {
        self.keep(b.new_len() as usize);
        let mut left = b.len;
        while left > 0 {
            let piece = a.len.min(left);
            if a.ins >= 0 && *inserted < a.number && a.len <= piece {
                self.change_measured(0, a.ins, a.text(), SectionJoin::Alike);
                *inserted = a.number;
            }
            a.forward(piece);
            left -= piece;
        }
    }

    /// Adds the part of a change in `a` that comes before the next insertion in `b`.
    fn add_until_change(
        &mut self,
        a: &mut SectionCursor<'_>,
        b: &mut SectionCursor<'_>,
        inserted: &mut usize,
    ) {
        let (mut len, mut left) = (0, a.len);
        while left > 0 {
            if b.ins == KEEP {
                let piece = left.min(b.len);
                len += piece;
                left -= piece;
                b.forward(piece);
            } else if b.ins == 0 && b.len < left {
                left -= b.len;
                b.next();
            } else {
                break;
            }
        }
        let (ins, text) = if *inserted < a.number { (a.ins, a.text()) } else { (0, "") };
        self.change_measured(len, ins, text, SectionJoin::Alike);
        *inserted = a.number;
        a.forward(a.len - left);
    }
}

/// Returns `true` if the current change of `b` comes before that of `a`: by start, then by deleted
/// length, then by `order`.
fn comes_first(
    a: &SectionCursor<'_>,
    b: &SectionCursor<'_>,
    inserted: usize,
    order: MapOrder,
) -> bool {
    a.ins < 0
        || inserted == a.number
        || a.off == 0 && (b.len < a.len || b.len == a.len && order == MapOrder::After)
}

#[cfg(test)]
mod tests {
    use super::super::{ChangeLimits, Text};
    use super::*;

    fn set(json: &str) -> ChangeSet {
        ChangeSet::parse(json, &ChangeLimits::NONE).unwrap()
    }

    fn mapped(change: &str, over: &str, order: MapOrder) -> String {
        set(change).map(&set(over), order).unwrap().to_json()
    }

    #[test]
    fn insertions_at_the_same_place_go_by_order() {
        assert_eq!(
            mapped(r#"[2,[0,"a"],2]"#, r#"[2,[0,"bb"],2]"#, MapOrder::After),
            r#"[4,[0,"a"],2]"#
        );
        assert_eq!(
            mapped(r#"[2,[0,"a"],2]"#, r#"[2,[0,"bb"],2]"#, MapOrder::Before),
            r#"[2,[0,"a"],4]"#
        );
    }

    #[test]
    fn a_shorter_deletion_comes_first_whatever_the_order() {
        assert_eq!(
            mapped(r#"[1,[0,"a"],3]"#, r#"[1,[2,"b"],1]"#, MapOrder::After),
            r#"[1,[0,"a"],2]"#
        );
        assert_eq!(
            mapped(r#"[1,[2,"b"],1]"#, r#"[1,[0,"a"],3]"#, MapOrder::Before),
            r#"[2,[2,"b"],1]"#
        );
    }

    #[test]
    fn an_insertion_survives_the_deletion_around_it() {
        assert_eq!(
            mapped(r#"[2,[0,"x"],2]"#, r#"[1,[2,"abc"],1]"#, MapOrder::After),
            r#"[4,[0,"x"],1]"#
        );
    }

    #[test]
    fn deleting_the_same_words_twice_deletes_them_once() {
        assert_eq!(mapped("[1,[2],1]", "[[4]]", MapOrder::After), "[]");
        assert_eq!(mapped("[[4]]", "[1,[2],1]", MapOrder::After), "[[2]]");
    }

    #[test]
    fn both_orders_of_two_changes_lead_to_the_same_text() {
        let (a, b) = (set(r#"[1,[2,"A"],[0,"é"],3]"#), set(r#"[[3],[0,"bb"],2,[1]]"#));
        let mut one = Text::new("abcdef");
        let mut other = one.clone();
        a.compose(&b.map(&a, MapOrder::After).unwrap()).unwrap().apply(&mut one).unwrap();
        b.compose(&a.map(&b, MapOrder::Before).unwrap()).unwrap().apply(&mut other).unwrap();
        assert_eq!(one.to_string(), other.to_string());
    }

    #[test]
    fn sets_for_different_texts_are_not_mapped() {
        assert!(set("[3]").map(&set("[[2]]"), MapOrder::After).is_err());
    }

    #[test]
    fn a_position_keeps_its_side_of_an_insertion() {
        let change = set(r#"[2,[0,"xyz"],2]"#);
        assert_eq!(change.map_pos(2, InsertSide::Before), 2);
        assert_eq!(change.map_pos(2, InsertSide::After), 5);
        assert_eq!(change.map_pos(9, InsertSide::After), 7);
    }

    #[test]
    fn a_position_inside_a_replacement_goes_to_an_edge() {
        let change = set(r#"[1,[3,"xy"],1]"#);
        assert_eq!(
            (change.map_pos(2, InsertSide::Before), change.map_pos(2, InsertSide::After)),
            (1, 3)
        );
        assert_eq!(
            (change.map_pos(1, InsertSide::Before), change.map_pos(1, InsertSide::After)),
            (1, 1)
        );
        assert_eq!(
            (change.map_pos(4, InsertSide::Before), change.map_pos(4, InsertSide::After)),
            (3, 3)
        );
    }
}
