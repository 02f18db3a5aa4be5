//! Paragraphs that belong to the one beside them: that take over its words, or stand under it.

use super::align::likeness;
use super::draft::{DraftPart, HunkDraft, HunkKind};
use super::moves::{FEWEST_WORDS, SAME};
use super::words::{WordNumbers, bag, count_words, weight};

/// Joins paragraphs right beside a replaced one, if all together have its words: a sentence that
/// became a list is one change.
pub(super) fn joined(hunks: Vec<HunkDraft>) -> Vec<HunkDraft> {
    let mut joined = Vec::with_capacity(hunks.len());
    let mut hunks = hunks.into_iter().peekable();
    while let Some(first) = hunks.next() {
        let mut run = vec![first];
        while let Some(next) = hunks.next_if(|next| touches(&run[run.len() - 1], next)) {
            run.push(next);
        }
        match becomes_several(&run) {
            Some(replaced) => joined.push(as_one(run, replaced)),
            None => joined.extend(with_headings(run)),
        }
    }
    joined
}

/// Joins a new or removed heading with the new or removed paragraph behind it.
fn with_headings(run: Vec<HunkDraft>) -> Vec<HunkDraft> {
    let mut joined: Vec<HunkDraft> = Vec::with_capacity(run.len());
    for hunk in run {
        match joined.pop() {
            Some(heading) if is_under(&heading, &hunk) => {
                joined.push(as_one(vec![heading, hunk], 0));
            }
            before => joined.extend(before.into_iter().chain([hunk])),
        }
    }
    joined
}

fn is_under(heading: &HunkDraft, behind: &HunkDraft) -> bool {
    let ([heading], [behind]) = (heading.parts.as_slice(), behind.parts.as_slice()) else {
        return false;
    };
    // The space between two paragraphs is before or behind the words.
    let is_heading = |text: &str| text.trim().starts_with('#') && text.trim().lines().count() == 1;
    let is_text = |text: &str| !text.is_empty() && !text.trim_start().starts_with('#');
    if heading.insert.is_empty() && behind.insert.is_empty() {
        is_heading(&heading.base) && is_text(&behind.base)
    } else {
        heading.base.is_empty()
            && behind.base.is_empty()
            && is_heading(&heading.insert)
            && is_text(&behind.insert)
    }
}

/// Returns `true` if two changes of one part each have nothing between them.
fn touches(left: &HunkDraft, right: &HunkDraft) -> bool {
    let is_moved = |hunk: &HunkDraft| hunk.kind == Some(HunkKind::Moved);
    match (left.parts.as_slice(), right.parts.as_slice()) {
        ([from], [to]) => from.to == to.from && !is_moved(left) && !is_moved(right),
        _ => false,
    }
}

/// Returns the index of the change that removes words, if it is the only one and the run puts them
/// in again, in several paragraphs.
fn becomes_several(run: &[HunkDraft]) -> Option<usize> {
    let mut removing = (0..).zip(run).filter(|(_, hunk)| !hunk.parts[0].base.is_empty());
    let (replaced, hunk) = removing.next()?;
    if removing.next().is_some() || run.len() == 1 {
        return None;
    }
    let DraftPart { base, insert, .. } = &hunk.parts[0];
    let inserts: String = run.iter().map(|hunk| hunk.parts[0].insert.as_str()).collect();
    let mut numbers = WordNumbers::default();
    let mut tokens = |text| numbers.tokens(text, 0..str::len(text));
    let (old, own, all) = (tokens(base), tokens(insert), tokens(&inserts));
    if count_words(&old) < FEWEST_WORDS || *base == inserts {
        return None;
    }
    let (old, own, all) = (bag(&old), bag(&own), bag(&all));
    let alike = |new| likeness(&old, new, weight(&old) + weight(new));
    (alike(&all) >= SAME && alike(&all) > alike(&own)).then_some(replaced)
}

fn as_one(run: Vec<HunkDraft>, replaced: usize) -> HunkDraft {
    let group = run[replaced].group;
    let part = run.into_iter().flat_map(|hunk| hunk.parts).reduce(DraftPart::joined);
    let parts = part.into_iter().collect();
    HunkDraft { parts, explanation: None, kind: Some(HunkKind::Rewrite), group }
}

#[cfg(test)]
mod tests {
    use crate::diff::{DiffLimits, diff};

    fn changes(old: &str, new: &str) -> Vec<(String, String)> {
        let hunks = diff(old, new, &DiffLimits::default());
        hunks.into_iter().flat_map(|it| it.parts).map(|it| (it.base, it.insert)).collect()
    }

    #[test]
    fn a_sentence_that_becomes_a_list_is_one_change() {
        let (old, new) = (
            "On hésite entre un roman, des nouvelles et un récit de voyage.",
            "On hésite entre :\n\n- un roman,\n- des nouvelles,\n- un récit de voyage.",
        );
        let before =
            format!("# Livre\n\n{old}\n\nLe vote aura lieu par courriel. Il sera secret.\n");
        let after = format!("# Livre\n\n{new}\n\nLe vote, secret, aura lieu par courriel.\n");
        let changes = changes(&before, &after);
        assert_eq!(changes[0], (old.to_owned(), new.to_owned()), "{changes:#?}");
    }

    #[test]
    fn a_heading_goes_with_its_paragraph() {
        let section =
            "## Flower tubs\n\nCllr. Ashby thanked everybody who had watered the tubs.\n\n";
        let rest = "## Dates\n\nThe next meeting is on 5 March.\n";
        let both = format!("{section}{rest}");
        assert_eq!(changes(&both, rest), [(section.to_owned(), String::new())]);
        assert_eq!(changes(rest, &both), [(String::new(), section.to_owned())]);
        // At the end of a changed paragraph, the space comes first.
        let before = "## Lights\n\nNobody knew why the lights were out.";
        let with = format!("{before} It was late.\n\n{section}{rest}");
        let found = changes(&with, &format!("{before}\n\n{rest}"));
        assert!(found.iter().any(|(gone, _)| gone.trim() == section.trim()), "{found:?}");
    }

    #[test]
    fn a_new_paragraph_beside_a_rewritten_one_is_a_change_of_its_own() {
        let old = "The ferry leaves the old harbour every morning at eight o'clock sharp.\n";
        let new = "Bring warm clothes and something to eat.\n\nEvery morning, at eight, a ferry \
                   goes from where the harbour used to be.\n";
        assert!(changes(old, new).len() > 1, "{:?}", changes(old, new));
    }
}
