//! Who wrote what: every unit of text has a name of its own, given where it was typed, and is
//! followed through the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk::document::{ChangeLimits, ChangeSet, Text, Update, utf16_len};
use copydesk::ids::ClientId;

use crate::rules::Rule::{NoWordIsLostOrDoubled, TellingHasNoGap};
use crate::rules::{Held, must};

/// The name of one UTF-16 unit; never used again.
pub type Name = u32;

/// A change somebody made in their editor.
pub struct Made {
    pub text: String,
    pub names: Vec<Name>,
    pub gone: Vec<Name>,
}

/// An update of the log.
pub struct Entry {
    pub change: ChangeSet,
    /// The same as the JSON says it, so that the oracle shares no code with what it checks: `(from,
    /// to, units put in)`.
    pub sections: Vec<(usize, usize, usize)>,
    pub update: Arc<Update>,
    /// The names of the units it brought.
    pub names: Vec<Name>,
    /// The text it led to.
    pub after: Text,
}

#[derive(Default)]
struct Author {
    made: Vec<Made>,
    committed: usize,
}

/// What the log says, and who wrote it.
pub struct Ledger {
    first: Text,
    /// The one that leads to version 1 is the first.
    pub entries: Vec<Entry>,
    /// The names of the newest text.
    pub names: Vec<Name>,
    alive: Vec<bool>,
    authors: BTreeMap<ClientId, Author>,
}

/// What `change` puts where: `(from, to, inserted)` in positions of the text before, left to right.
pub fn edits(change: &ChangeSet) -> Vec<(usize, usize, &str)> {
    change.changed_ranges().map(|it| (it.from_a, it.to_a, it.insert)).collect()
}

/// The names after `change`, whose inserted units have the names `inserted`; returns those that
/// went.
pub fn rename(names: &mut Vec<Name>, change: &ChangeSet, inserted: &[Name]) -> Vec<Name> {
    let mut gone = Vec::new();
    let mut end = inserted.len();
    for (from, to, text) in edits(change).into_iter().rev() {
        let start = end - utf16_len(text);
        gone.extend(names.splice(from..to, inserted[start..end].iter().copied()));
        end = start;
    }
    gone
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

impl Ledger {
    pub fn new(text: &str) -> Self {
        let first = Text::new(text);
        let mut ledger = Self {
            entries: Vec::new(),
            names: Vec::new(),
            alive: Vec::new(),
            authors: BTreeMap::new(),
            first,
        };
        ledger.names = ledger.fresh(ledger.first.len());
        ledger
    }

    pub fn version(&self) -> usize {
        self.entries.len()
    }

    /// The text at a version.
    pub fn text(&self, version: usize) -> &Text {
        version.checked_sub(1).map_or(&self.first, |at| &self.entries[at].after)
    }

    /// How many updates of an editor are in the log.
    pub fn committed(&self, client: &ClientId) -> usize {
        self.authors.get(client).map_or(0, |author| author.committed)
    }

    fn fresh(&mut self, count: usize) -> Vec<Name> {
        let first = self.alive.len() as Name;
        self.alive.resize(self.alive.len() + count, true);
        (first..first + count as Name).collect()
    }

    /// Somebody changes their text, whose units are `names`; they do not wait for the server.
    pub fn made(&mut self, client: &ClientId, change: &ChangeSet, names: &mut Vec<Name>) {
        let text = inserted(change);
        let fresh = self.fresh(utf16_len(&text));
        let gone = rename(names, change, &fresh);
        let author = self.authors.entry(client.clone()).or_default();
        author.made.push(Made { text, names: fresh, gone });
    }

    /// Reads the next update of the log, and holds it against what its author did.
    pub fn follow(&mut self, update: &Arc<Update>) -> Held {
        let change = ChangeSet::parse(&update.changes, &ChangeLimits::NONE).unwrap();
        let at = self.version() + 1;
        let mut after = self.text(at - 1).clone();
        let applied = change.apply(&mut after);
        must(TellingHasNoGap, applied.is_ok(), || format!("version {at}: {update:?}"))?;
        let (names, gone) = if update.origin.is_some() {
            let names = self.fresh(utf16_len(&inserted(&change)));
            let gone = rename(&mut self.names, &change, &names);
            (names, gone)
        } else {
            self.follow_typed(&change, update, at)?
        };
        for name in &gone {
            self.alive[*name as usize] = false;
        }
        let sections = sections(&update.changes);
        self.entries.push(Entry { change, sections, update: Arc::clone(update), names, after });
        Ok(())
    }

    fn follow_typed(
        &mut self,
        change: &ChangeSet,
        update: &Update,
        at: usize,
    ) -> Result<(Vec<Name>, Vec<Name>), crate::rules::Broken> {
        let author = self.authors.entry(update.client.clone()).or_default();
        let made = author.made.get(author.committed);
        author.committed += 1;
        must(NoWordIsLostOrDoubled, made.is_some(), || {
            format!("version {at}: {} did less than that; something was taken twice", update.client)
        })?;
        let made = made.unwrap();
        must(NoWordIsLostOrDoubled, inserted(change) == made.text, || {
            format!("version {at} brings {:?}, typed was {:?}", inserted(change), made.text)
        })?;
        let gone = rename(&mut self.names, change, &made.names);
        must(NoWordIsLostOrDoubled, gone.iter().all(|name| made.gone.contains(name)), || {
            format!("version {at} deletes what {} did not delete", update.client)
        })?;
        let alive = |name: &Name| self.alive[*name as usize] && !gone.contains(name);
        must(NoWordIsLostOrDoubled, !made.gone.iter().any(alive), || {
            format!("version {at} keeps what {} deleted", update.client)
        })?;
        Ok((made.names.clone(), gone))
    }

    /// Everything that was typed is in the log.
    pub fn settle(&self) -> Held {
        for (client, author) in &self.authors {
            must(NoWordIsLostOrDoubled, author.committed == author.made.len(), || {
                format!("{} of {} updates of {client}", author.committed, author.made.len())
            })?;
        }
        Ok(())
    }
}
