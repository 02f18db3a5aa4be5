//! Composition of two change sets into one (`composeSets` in codemirror/state `change.ts`).

use super::change_set::{ChangeResult, ChangeSet, KEEP, SectionJoin};
use super::cursor::SectionCursor;

impl ChangeSet {
    /// Returns the set that does `self` and then `next`.
    pub fn compose(&self, next: &Self) -> ChangeResult<Self> {
        next.starts_from(self.new_len())?;
        match (self.is_empty(), next.is_empty()) {
            (true, _) => Ok(next.clone()),
            (_, true) => Ok(self.clone()),
            (false, false) => compose_sets(self, next),
        }
    }
}

fn compose_sets(first: &ChangeSet, second: &ChangeSet) -> ChangeResult<ChangeSet> {
    let mut result = ChangeSet::default();
    let (mut a, mut b) = (SectionCursor::new(first), SectionCursor::new(second));
    // `Always` while the last section of the result is unfinished: the next piece is part of the
    // same replacement.
    let mut join = SectionJoin::Alike;
    while !(a.done() && b.done()) {
        if a.ins == 0 {
            result.change_measured(a.len, 0, "", join);
            a.next();
            continue;
        }
        if b.len == 0 && !b.done() {
            result.change_measured(0, b.ins, b.text(), join);
            b.next();
            continue;
        }
        let len = a.new_len().min(b.len);
        let goes_on = a.ins > len.cast_signed() || b.ins >= 0 && b.len > len;
        let sections = result.sections.len();
        let replaced = if a.off > 0 { 0 } else { a.len };
        // The insertion of `b` comes with the first piece of the section.
        let (new_units, new_text) = if b.off > 0 { (0, "") } else { (b.ins, b.text()) };
        match (a.ins, b.ins) {
            (KEEP, KEEP) => {
                result.keep(len as usize);
                a.forward_new(len)?;
            }
            (KEEP, _) => {
                result.change_measured(len, new_units, new_text, join);
                a.forward_new(len)?;
            }
            (_, KEEP) => {
                let text = a.forward_new(len)?;
                result.change_measured(replaced, len.cast_signed(), text, join);
            }
            (_, _) => {
                a.forward_new(len)?;
                result.change_measured(replaced, new_units, new_text, join);
            }
        }
        b.forward(len);
        let began = join == SectionJoin::Always || result.sections.len() > sections;
        join = if goes_on && began { SectionJoin::Always } else { SectionJoin::Alike };
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::super::{ChangeError, ChangeLimits, Text, TextEdit};
    use super::*;

    fn set(json: &str) -> ChangeSet {
        ChangeSet::parse(json, &ChangeLimits::NONE).unwrap()
    }

    #[test]
    fn composing_does_both_changes() {
        let mut text = Text::new("hello world");
        let composed = set(r#"[5,[0,"!!"],6]"#).compose(&set(r#"[6,[1],1,[5,"moon"]]"#)).unwrap();
        assert_eq!(composed.to_json(), r#"[5,[0,"!"],1,[5,"moon"]]"#);
        composed.apply(&mut text).unwrap();
        assert_eq!(text.to_string(), "hello! moon");
    }

    #[test]
    fn deletions_of_the_first_come_before_insertions_of_the_second() {
        assert_eq!(
            set("[1,[2],1]").compose(&set(r#"[1,[0,"x"],1]"#)).unwrap().to_json(),
            r#"[1,[2],[0,"x"],1]"#
        );
    }

    #[test]
    fn pieces_of_one_replacement_stay_one_section() {
        assert_eq!(
            set(r#"[[3,"abcd"]]"#).compose(&set(r#"[1,[2,"X"],1]"#)).unwrap().to_json(),
            r#"[[3,"aXd"]]"#
        );
    }

    #[test]
    fn a_change_that_does_nothing_leaves_the_other_as_it_is() {
        let change = set(r#"[1,[2],[0,"x"]]"#);
        assert_eq!(change.compose(&ChangeSet::identity(2)).unwrap(), change);
        assert_eq!(ChangeSet::identity(3).compose(&change).unwrap(), change);
    }

    #[test]
    fn sets_that_do_not_follow_each_other_are_refused() {
        let error = set("[3]").compose(&set("[2]")).unwrap_err();
        assert!(matches!(error, ChangeError::LengthMismatch { change: 2, text: 3 }), "{error}");
    }

    #[test]
    fn splitting_an_inserted_character_is_refused() {
        let first = ChangeSet::of(0, &[TextEdit { from: 0, to: 0, insert: "é😀".into() }]).unwrap();
        assert!(first.compose(&set("[2,[1]]")).is_err());
        assert_eq!(first.compose(&set("[1,[2]]")).unwrap().to_json(), r#"[[0,"é"]]"#);
    }
}
