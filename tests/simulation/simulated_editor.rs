//! A simulated editor at a distance: it edits, receives events late, loses its connection, and
//! comes back with unconfirmed updates.

use std::collections::VecDeque;
use std::sync::Arc;

use copydesk_document::{ChangeSet, MapOrder, Text, TextEdit};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, MemberId, Version};
use copydesk_rooms::command::{OpenedContent, OpenedDocument};
use copydesk_rooms::event::RoomEvent;
use fastrand::Rng;

use crate::displayed_requests::DisplayedRequests;
use crate::displayed_threads::DisplayedThreads;
use crate::generators;
use crate::invariants::Invariant::{NoEditLostOrDuplicated, ReplicasConverge, UpdatesHaveNoGap};
use crate::invariants::{CheckResult, ensure};
use crate::reference_document::{ReferenceDocument, UnitId, replace_units};

/// A message on its way to an editor.
pub enum InFlightMessage {
    Event(Arc<RoomEvent>),
    /// The reply of `document:open`.
    OpenReply(Box<OpenedDocument>),
}

/// A connection of an editor.
pub struct EditorConnection {
    pub member: MemberId,
    pub inbox: VecDeque<InFlightMessage>,
    /// The reply of `document:open` was received. Earlier events are contained in the reply.
    is_open: bool,
}

/// The updates that an editor has to send.
pub struct UnconfirmedUpdates {
    pub base: Version,
    pub updates: Vec<(ClientId, Box<str>)>,
    /// Number of changes made in the editor, with these.
    pub change_count: usize,
}

/// A simulated editor of one document.
pub struct SimulatedEditor {
    pub principal: Principal,
    pub client: ClientId,
    /// The confirmed version.
    pub version: usize,
    text: Text,
    units: Vec<UnitId>,
    unconfirmed: VecDeque<ChangeSet>,
    /// The inverse of the last change made here.
    last_inverse: Option<ChangeSet>,
    /// Number of changes made here.
    change_count: usize,
    /// A push was sent over this connection and is not answered.
    pub push_in_flight: bool,
    pub connection: Option<EditorConnection>,
    pub displayed: DisplayedRequests,
    pub threads: DisplayedThreads,
    connections: usize,
}

impl SimulatedEditor {
    /// Creates an editor at the first version, without a connection.
    pub fn new(principal: Principal, client: &str, reference: &ReferenceDocument) -> Self {
        Self {
            principal,
            client: client.into(),
            version: 0,
            text: reference.text(0).clone(),
            units: reference.units.clone(),
            unconfirmed: VecDeque::new(),
            last_inverse: None,
            change_count: 0,
            push_in_flight: false,
            connection: None,
            displayed: DisplayedRequests::default(),
            threads: DisplayedThreads::default(),
            connections: 0,
        }
    }

    /// Opens a new connection and returns its identifier.
    pub fn connect(&mut self) -> MemberId {
        self.connections += 1;
        let member = MemberId::from(format!("{}#{}", self.client, self.connections));
        self.connection = Some(EditorConnection {
            member: member.clone(),
            inbox: VecDeque::new(),
            is_open: false,
        });
        self.push_in_flight = false;
        member
    }

    /// Ends the connection. Everything on its way is lost.
    pub fn disconnect(&mut self) -> Option<MemberId> {
        self.push_in_flight = false;
        self.connection.take().map(|connection| connection.member)
    }

    /// Makes a random change: an insertion, a deletion, several edits, or an undo of the last
    /// change.
    pub fn edit(&mut self, random: &mut Rng, reference: &mut ReferenceDocument) {
        let undo = self.last_inverse.take().filter(|_| random.u8(0..4) == 0);
        let change = undo.unwrap_or_else(|| {
            let hotspots = self.displayed.hunks.values().flat_map(|hunk| &hunk.parts);
            let hotspots: Vec<usize> = hotspots.flat_map(|part| [part.from, part.to]).collect();
            let edits: Vec<TextEdit> = generators::random_edits(random, &self.text, &hotspots);
            ChangeSet::of(self.text.len(), &edits).unwrap()
        });
        if change.is_empty() {
            return;
        }
        self.last_inverse = Some(change.invert(&self.text).unwrap());
        change.apply(&mut self.text).unwrap();
        reference.record_local_change(&self.client, &change, &mut self.units);
        self.change_count += 1;
        self.unconfirmed.push_back(change);
    }

    /// Returns all updates that are not confirmed. They may have been sent before.
    pub fn unconfirmed_updates(&self) -> Option<UnconfirmedUpdates> {
        let updates = self.unconfirmed.iter().map(|it| (self.client.clone(), it.to_json().into()));
        let updates: Vec<_> = updates.collect();
        let base = Version(self.version as u64);
        (!updates.is_empty()).then_some(UnconfirmedUpdates {
            base,
            updates,
            change_count: self.change_count,
        })
    }

    /// Receives the next message; returns whether there was one.
    pub fn receive_next(
        &mut self,
        reference: &ReferenceDocument,
    ) -> Result<bool, crate::invariants::InvariantViolation> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        let is_open = connection.is_open;
        match connection.inbox.pop_front() {
            None => return Ok(false),
            Some(InFlightMessage::OpenReply(reply)) => {
                connection.is_open = true;
                self.apply_open_reply(&reply, reference)?;
            }
            // The reply that follows contains it.
            Some(InFlightMessage::Event(_)) if !is_open => {}
            Some(InFlightMessage::Event(event)) => {
                if let RoomEvent::Updates { from, updates, .. } = &*event {
                    ensure(UpdatesHaveNoGap, from.0 as usize == self.version, || {
                        format!(
                            "{} is at {}, but an event was from {from}",
                            self.client, self.version
                        )
                    })?;
                    for update in updates {
                        let entry = &reference.entries[self.version];
                        ensure(UpdatesHaveNoGap, *update.changes == *entry.update.changes, || {
                            format!("version {} differs from the log", self.version + 1)
                        })?;
                        self.apply_next_update(reference)?;
                    }
                }
                if let RoomEvent::ThreadChanged(version, thread) = &*event {
                    self.threads.change(*version, thread, self.version)?;
                }
                self.displayed.apply_event(&event)?;
            }
        }
        Ok(true)
    }

    fn apply_open_reply(
        &mut self,
        reply: &OpenedDocument,
        reference: &ReferenceDocument,
    ) -> CheckResult {
        let OpenedContent::Since { from, updates, reading } = &reply.content else {
            return ensure(UpdatesHaveNoGap, false, || {
                "the reply does not continue the version".to_owned()
            });
        };
        let version = reading.version;
        let expected = (self.version, reference.entries.len().min(self.version + updates.len()));
        ensure(UpdatesHaveNoGap, (from.0 as usize, version.0 as usize) == expected, || {
            format!(
                "{} reconnected at {}, and received {from} to {version}",
                self.client, self.version
            )
        })?;
        for _ in updates {
            self.apply_next_update(reference)?;
        }
        self.displayed.replace(&reply.requests);
        self.threads.replace(reply.threads.as_deref().unwrap_or_default());
        Ok(())
    }

    /// Applies the next update as CodeMirror's `receiveUpdates` does.
    fn apply_next_update(&mut self, reference: &ReferenceDocument) -> CheckResult {
        let entry = &reference.entries[self.version];
        self.version += 1;
        self.displayed.apply_update(entry);
        self.threads.apply_update(entry);
        if entry.update.client == self.client {
            let own = self.unconfirmed.pop_front();
            return ensure(NoEditLostOrDuplicated, own.is_some(), || {
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
        replace_units(&mut self.units, &over, &entry.units);
        self.last_inverse =
            self.last_inverse.take().map(|it| it.map(&over, MapOrder::After).unwrap());
        Ok(())
    }

    /// Checks that the text is that of the log, made of the same units. Everything must be sent and
    /// received.
    pub fn check_converged(&self, reference: &ReferenceDocument) -> CheckResult {
        let same = self.version == reference.version()
            && self.unconfirmed.is_empty()
            && self.units == reference.units
            && self.text.to_string() == reference.text(self.version).to_string();
        ensure(ReplicasConverge, same, || {
            format!(
                "{} at {} of {}: {:?}",
                self.client,
                self.version,
                reference.version(),
                self.text.to_string()
            )
        })
    }

    /// Returns whether no message is on its way.
    pub fn is_up_to_date(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| connection.is_open && connection.inbox.is_empty())
    }

    /// Returns whether the reply of `document:open` was received.
    pub fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_open)
    }

    /// Returns the text of the confirmed version, without local changes.
    pub fn confirmed_text<'a>(&self, reference: &'a ReferenceDocument) -> &'a Text {
        reference.text(self.version)
    }
}
