//! Hooks that keep a rewrite from removing words that the model has not read, and from repeating
//! the text of an earlier proposal of the same session.

use crate::ReplacedText;
use copydesk_document::{ChangeError, ChangeSet, InsertSide};

use super::hooks::{CallOutlook, HookDenial};

/// Denies removing unread words, unless the call quotes them.
pub fn deny_removing_unread(outlook: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let mut parts = outlook.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    if rewrites(outlook) && parts.any(|part| outlook.unread.touches(part.from, part.to)) {
        return Err(HookDenial(format!(
            "This would take away words that you have not read, at units {} of version {}; nothing was proposed. Read \
             them with {} first",
            outlook.unread, outlook.base.version, outlook.reads_with
        )));
    }
    Ok(())
}

/// Denies a text for an empty document if another text was added meanwhile.
pub fn deny_overwriting_filled(outlook: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let (base, now) = (&outlook.base.text, &outlook.caught_up.now.text);
    if rewrites(outlook) && base.is_empty() && !now.is_empty() {
        let reason = "The document was empty when you wrote this, and no longer is; nothing was proposed. Propose what \
                    it is to read as a whole";
        return Err(HookDenial(reason.into()));
    }
    Ok(())
}

fn rewrites(outlook: &CallOutlook<'_>) -> bool {
    matches!(outlook.replaces, ReplacedText::Document | ReplacedText::Range)
}

/// Denies the second of two texts that one session proposes for the whole document in the same
/// state.
///
/// If the first one has inserted words at a place where the second one also inserts, both together
/// would be a text that no one proposed. Words of people, and of other sessions, at that place are
/// no reason: touching an edge is no conflict, and what they wrote is to stay.
pub fn deny_second_rewrite(outlook: &CallOutlook<'_>) -> Result<(), HookDenial> {
    if outlook.replaces != ReplacedText::Document {
        return Ok(());
    }
    let is_own = |origin: &str| {
        let mut causes = outlook.caught_up.causes.iter();
        causes
            .any(|it| it.id().as_str() == origin && it.proposal.origin.session == *outlook.session)
    };
    let parts = outlook.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    let mut places: Vec<_> =
        parts.filter(|part| part.from == part.to).map(|part| part.from).collect();
    // Ranges that own calls have inserted at one of these places.
    let mut put: Vec<(usize, usize)> = Vec::new();
    for update in &outlook.caught_up.missed {
        let change = update.change_set().map_err(unreadable)?;
        put = put.into_iter().filter_map(|range| moved(range, &change)).collect();
        if update.origin.as_deref().is_some_and(is_own) {
            let added = change.changed_ranges().filter(|it| it.from_a == it.to_a);
            let there = added.filter(|it| places.contains(&it.from_a));
            put.extend(there.map(|it| (it.from_b, it.to_b)));
        }
        for place in &mut places {
            *place = change.map_pos(*place, InsertSide::After);
        }
    }
    let Some((from, to)) = put.first() else { return Ok(()) };
    Err(HookDenial(format!(
        "You wrote this before you knew that words of an earlier proposal of yours came into the document, now at units \
         {from} to {to}; both would stand there, so nothing was proposed. Propose what the document is to read as a whole, \
         as it reads now"
    )))
}

fn moved((from, to): (usize, usize), change: &ChangeSet) -> Option<(usize, usize)> {
    let (from, to) =
        (change.map_pos(from, InsertSide::After), change.map_pos(to, InsertSide::Before));
    (from < to).then_some((from, to))
}

fn unreadable(_: ChangeError) -> HookDenial {
    HookDenial(
        "The change could not be compared with what was changed meanwhile; nothing was proposed"
            .into(),
    )
}
