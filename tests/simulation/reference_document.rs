//! A reference model of the document. Each unit of text has an identifier, given where it was
//! typed, and is followed through the update log.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk_document::{ChangeLimits, ChangeSet, Text, Update, utf16_len};
use copydesk_ids::ClientId;

use crate::invariants::Invariant::{NoEditLostOrDuplicated, UpdatesHaveNoGap};
use crate::invariants::{CheckResult, ensure};

/// The identifier of one UTF-16 unit; never reused.
pub type UnitId = u32;

/// A change that a person made in their editor.
pub struct LocalChange {
    pub text: String,
    pub units: Vec<UnitId>,
    pub deleted: Vec<UnitId>,
}

/// An update of the log.
pub struct ReferenceUpdate {
    pub change: ChangeSet,
    /// The change as read from its JSON, so that oracles share no code with the core: `(from, to,
    /// units inserted)`.
    pub sections: Vec<(usize, usize, usize)>,
    pub update: Arc<Update>,
    /// The units it inserted.
    pub units: Vec<UnitId>,
    /// The text after it.
    pub after: Text,
}

/// The local changes of an editor, and how many of them are in the log.
#[derive(Default)]
struct AuthorHistory {
    changes: Vec<LocalChange>,
    committed: usize,
}

/// The update log, the identity of all units, and the local changes of all authors.
pub struct ReferenceDocument {
    initial: Text,
    /// The first entry leads to version 1.
    pub entries: Vec<ReferenceUpdate>,
    /// The units of the newest text.
    pub units: Vec<UnitId>,
    alive: Vec<bool>,
    authors: BTreeMap<ClientId, AuthorHistory>,
}

/// Returns the edits of a change: `(from, to, inserted)` in positions of the text before, left to
/// right.
pub fn edits(change: &ChangeSet) -> Vec<(usize, usize, &str)> {
    change.changed_ranges().map(|it| (it.from_a, it.to_a, it.insert)).collect()
}

/// Applies `change` to a list of units, with the units `inserted`. Returns the removed units.
pub fn replace_units(
    units: &mut Vec<UnitId>,
    change: &ChangeSet,
    inserted: &[UnitId],
) -> Vec<UnitId> {
    let mut deleted = Vec::new();
    let mut end = inserted.len();
    for (from, to, text) in edits(change).into_iter().rev() {
        let start = end - utf16_len(text);
        deleted.extend(units.splice(from..to, inserted[start..end].iter().copied()));
        end = start;
    }
    deleted
}

fn sections(json: &str) -> Vec<(usize, usize, usize)> {
    let sections: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    let (mut read, mut at) = (Vec::new(), 0);
    for section in sections {
        if let Some(kept) = section.as_u64() {
            at += kept as usize;
            continue;
        }
        let section = section.as_array().unwrap();
        let to = at + section[0].as_u64().unwrap() as usize;
        let lines = section[1..].iter().map(|line| utf16_len(line.as_str().unwrap()));
        let breaks = section.len().saturating_sub(2);
        read.push((at, to, lines.sum::<usize>() + breaks));
        at = to;
    }
    read
}

fn inserted(change: &ChangeSet) -> String {
    edits(change).into_iter().map(|(_, _, text)| text).collect()
}

impl ReferenceDocument {
    pub fn new(text: &str) -> Self {
        let initial = Text::new(text);
        let mut reference = Self {
            entries: Vec::new(),
            units: Vec::new(),
            alive: Vec::new(),
            authors: BTreeMap::new(),
            initial,
        };
        reference.units = reference.new_units(reference.initial.len());
        reference
    }

    pub fn version(&self) -> usize {
        self.entries.len()
    }

    /// Returns the text at a version.
    pub fn text(&self, version: usize) -> &Text {
        version.checked_sub(1).map_or(&self.initial, |at| &self.entries[at].after)
    }

    /// Returns the number of updates of an editor in the log.
    pub fn committed(&self, client: &ClientId) -> usize {
        self.authors.get(client).map_or(0, |author| author.committed)
    }

    fn new_units(&mut self, count: usize) -> Vec<UnitId> {
        let first = self.alive.len() as UnitId;
        self.alive.resize(self.alive.len() + count, true);
        (first..first + count as UnitId).collect()
    }

    /// Records a change in an editor's text of these units, before the server has seen it.
    pub fn record_local_change(
        &mut self,
        client: &ClientId,
        change: &ChangeSet,
        units: &mut Vec<UnitId>,
    ) {
        let text = inserted(change);
        let inserted_units = self.new_units(utf16_len(&text));
        let deleted = replace_units(units, change, &inserted_units);
        let author = self.authors.entry(client.clone()).or_default();
        author.changes.push(LocalChange { text, units: inserted_units, deleted });
    }

    /// Appends the next update of the log, and checks it against the change its author made.
    pub fn append(&mut self, update: &Arc<Update>) -> CheckResult {
        let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
        let at = self.version() + 1;
        let mut after = self.text(at - 1).clone();
        let applied = change.apply(&mut after);
        ensure(UpdatesHaveNoGap, applied.is_ok(), || format!("version {at}: {update:?}"))?;
        let (units, deleted) = if update.origin.is_some() {
            let units = self.new_units(utf16_len(&inserted(&change)));
            let deleted = replace_units(&mut self.units, &change, &units);
            (units, deleted)
        } else {
            self.append_typed(&change, update, at)?
        };
        for unit in &deleted {
            self.alive[*unit as usize] = false;
        }
        let sections = sections(&update.changes);
        self.entries.push(ReferenceUpdate {
            change,
            sections,
            update: Arc::clone(update),
            units,
            after,
        });
        Ok(())
    }

    fn append_typed(
        &mut self,
        change: &ChangeSet,
        update: &Update,
        at: usize,
    ) -> Result<(Vec<UnitId>, Vec<UnitId>), crate::invariants::InvariantViolation> {
        let author = self.authors.entry(update.client.clone()).or_default();
        let local = author.changes.get(author.committed);
        author.committed += 1;
        ensure(NoEditLostOrDuplicated, local.is_some(), || {
            format!("version {at}: {} made fewer changes; one was applied twice", update.client)
        })?;
        let local = local.unwrap();
        ensure(NoEditLostOrDuplicated, inserted(change) == local.text, || {
            format!("version {at} inserts {:?}, typed was {:?}", inserted(change), local.text)
        })?;
        let deleted = replace_units(&mut self.units, change, &local.units);
        ensure(
            NoEditLostOrDuplicated,
            deleted.iter().all(|unit| local.deleted.contains(unit)),
            || format!("version {at} deletes what {} did not delete", update.client),
        )?;
        let alive = |unit: &UnitId| self.alive[*unit as usize] && !deleted.contains(unit);
        ensure(NoEditLostOrDuplicated, !local.deleted.iter().any(alive), || {
            format!("version {at} keeps what {} deleted", update.client)
        })?;
        Ok((local.units.clone(), deleted))
    }

    /// Checks that every local change is in the log.
    pub fn check_all_committed(&self) -> CheckResult {
        for (client, author) in &self.authors {
            ensure(NoEditLostOrDuplicated, author.committed == author.changes.len(), || {
                format!("{} of {} updates of {client}", author.committed, author.changes.len())
            })?;
        }
        Ok(())
    }
}
