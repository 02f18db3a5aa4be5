//! A person far away, at an editor of their own: types, hears late, loses the connection and comes
//! back with unsent edits.

use std::collections::VecDeque;
use std::sync::Arc;

use copydesk::document::{ChangeSet, MapOrder, Text, TextEdit};
use copydesk::ids::{ClientId, MemberId, Version};
use copydesk::permissions::Principal;
use copydesk::rooms::command::{OpenedContent, OpenedDocument};
use copydesk::rooms::event::RoomEvent;
use fastrand::Rng;

use crate::chance;
use crate::ledger::{Ledger, Name, rename};
use crate::rules::Rule::{NoWordIsLostOrDoubled, TellingHasNoGap, TextsAreEqual};
use crate::rules::{Held, must};
use crate::shown::Shown;

/// What comes over a connection.
pub enum Message {
    Told(Arc<RoomEvent>),
    /// The answer of `document:open`.
    Opened(Box<OpenedDocument>),
}

/// A connection.
pub struct Line {
    pub member: MemberId,
    pub inbox: VecDeque<Message>,
    /// `document:open` was answered; before that, what is told is in the answer too.
    open: bool,
}

/// What an editor has to send.
pub struct Unsent {
    pub base: Version,
    pub updates: Vec<(ClientId, Box<str>)>,
    /// Changes made there, these included.
    pub made: usize,
}

pub struct Editor {
    pub who: Principal,
    pub client: ClientId,
    /// Confirmed up to here.
    pub version: usize,
    text: Text,
    names: Vec<Name>,
    unconfirmed: VecDeque<ChangeSet>,
    /// What takes the last change back that was made here.
    undo: Option<ChangeSet>,
    /// Changes made here so far.
    made: usize,
    /// A push is on its way over this connection.
    pub waits: bool,
    pub line: Option<Line>,
    pub shown: Shown,
    connections: usize,
}

impl Editor {
    /// At the first version, not connected.
    pub fn new(who: Principal, client: &str, ledger: &Ledger) -> Self {
        Self {
            who,
            client: client.into(),
            version: 0,
            text: ledger.text(0).clone(),
            names: ledger.names.clone(),
            unconfirmed: VecDeque::new(),
            undo: None,
            made: 0,
            waits: false,
            line: None,
            shown: Shown::default(),
            connections: 0,
        }
    }

    /// A new connection; its name.
    pub fn connects(&mut self) -> MemberId {
        self.connections += 1;
        let member = MemberId::from(format!("{}#{}", self.client, self.connections));
        self.line = Some(Line { member: member.clone(), inbox: VecDeque::new(), open: false });
        self.waits = false;
        member
    }

    /// The connection is gone with everything on it.
    pub fn parts(&mut self) -> Option<MemberId> {
        self.waits = false;
        self.line.take().map(|line| line.member)
    }

    /// A word, a deletion, several places, or the last change taken back.
    pub fn types(&mut self, random: &mut Rng, ledger: &mut Ledger) {
        let undo = self.undo.take().filter(|_| random.u8(0..4) == 0);
        let change = undo.unwrap_or_else(|| {
            let places = self.shown.hunks.values().flat_map(|hunk| &hunk.parts);
            let places: Vec<usize> = places.flat_map(|part| [part.from, part.to]).collect();
            let edits: Vec<TextEdit> = chance::edits(random, &self.text, &places);
            ChangeSet::of(self.text.len(), &edits).unwrap()
        });
        if change.is_empty() {
            return;
        }
        self.undo = Some(change.invert(&self.text).unwrap());
        change.apply(&mut self.text).unwrap();
        ledger.made(&self.client, &change, &mut self.names);
        self.made += 1;
        self.unconfirmed.push_back(change);
    }

    /// Everything that is not confirmed. It may have been sent before.
    pub fn unsent(&self) -> Option<Unsent> {
        let updates = self.unconfirmed.iter().map(|it| (self.client.clone(), it.to_json().into()));
        let updates: Vec<_> = updates.collect();
        let base = Version(self.version as u64);
        (!updates.is_empty()).then_some(Unsent { base, updates, made: self.made })
    }

    /// Takes the next message; whether there was one.
    pub fn hears(&mut self, ledger: &Ledger) -> Result<bool, crate::rules::Broken> {
        let Some(line) = &mut self.line else { return Ok(false) };
        let open = line.open;
        match line.inbox.pop_front() {
            None => return Ok(false),
            Some(Message::Opened(opened)) => {
                line.open = true;
                self.opened(&opened, ledger)?;
            }
            // It is in the answer that comes.
            Some(Message::Told(_)) if !open => {}
            Some(Message::Told(event)) => {
                if let RoomEvent::Updates { from, updates, .. } = &*event {
                    must(TellingHasNoGap, from.0 as usize == self.version, || {
                        format!("{} is at {}, told was from {from}", self.client, self.version)
                    })?;
                    for update in updates {
                        let entry = &ledger.entries[self.version];
                        must(TellingHasNoGap, *update.changes == *entry.update.changes, || {
                            format!("version {} is not what is in the log", self.version + 1)
                        })?;
                        self.receives(ledger)?;
                    }
                }
                self.shown.hear(&event)?;
            }
        }
        Ok(true)
    }

    fn opened(&mut self, opened: &OpenedDocument, ledger: &Ledger) -> Held {
        let OpenedContent::Since { from, updates, reading } = &opened.content else {
            return must(TellingHasNoGap, false, || "the log does not reach back".to_owned());
        };
        let version = reading.version;
        let expected = (self.version, ledger.entries.len().min(self.version + updates.len()));
        must(TellingHasNoGap, (from.0 as usize, version.0 as usize) == expected, || {
            format!(
                "{} came back at {}, and is given {from} to {version}",
                self.client, self.version
            )
        })?;
        for _ in updates {
            self.receives(ledger)?;
        }
        self.shown.replace(&opened.requests);
        Ok(())
    }

    /// The next update, as CodeMirror's `receiveUpdates` takes it.
    fn receives(&mut self, ledger: &Ledger) -> Held {
        let entry = &ledger.entries[self.version];
        self.version += 1;
        self.shown.follow(entry);
        if entry.update.client == self.client {
            let own = self.unconfirmed.pop_front();
            return must(NoWordIsLostOrDoubled, own.is_some(), || {
                format!("version {} confirms what {} never sent", self.version, self.client)
            });
        }
        let mut over = entry.change.clone();
        for change in &mut self.unconfirmed {
            let moved = change.map(&over, MapOrder::After).unwrap();
            over = over.map(change, MapOrder::Before).unwrap();
            *change = moved;
        }
        over.apply(&mut self.text).unwrap();
        rename(&mut self.names, &over, &entry.names);
        self.undo = self.undo.take().map(|it| it.map(&over, MapOrder::After).unwrap());
        Ok(())
    }

    /// Everything is sent and heard: the text is that of the log, made of the same units.
    pub fn agrees(&self, ledger: &Ledger) -> Held {
        let same = self.version == ledger.version()
            && self.unconfirmed.is_empty()
            && self.names == ledger.names
            && self.text.to_string() == ledger.text(self.version).to_string();
        must(TextsAreEqual, same, || {
            format!(
                "{} at {} of {}: {:?}",
                self.client,
                self.version,
                ledger.version(),
                self.text.to_string()
            )
        })
    }

    /// Whether nothing is waiting to be heard.
    pub fn is_up_to_date(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.open && line.inbox.is_empty())
    }

    /// Whether `document:open` was answered and heard.
    pub fn is_here(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.open)
    }

    /// Whether a text reads as it did when its version was confirmed here: nothing was typed on
    /// top.
    pub fn confirmed<'a>(&self, ledger: &'a Ledger) -> &'a Text {
        ledger.text(self.version)
    }
}
