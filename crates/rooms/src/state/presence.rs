//! Presence: the connections in a document and their carets.
//!
//! Who comes and goes is announced by difference and not more often than [`CHANGES_MS`]; clients
//! that do not take differences get the whole list, not more often than [`LIST_MS`]. In a crowd,
//! connections that only read are counted and not listed, so that what a room sends grows with its
//! members and not with their square.

use copydesk_document::{ChangeSet, InsertSide, Text};
use copydesk_ids::{ClientId, MemberId, Version};

use crate::command::JoiningMember;
use crate::event::{CaretPosition, PeerInfo, PeersChange, RoomEvent};

/// Number of caret colours that the editor has.
const COLORS: u8 = 4;
/// Largest number of editor instances of one connection that are announced: the newest. Forgotten
/// ones can still write.
const MOST_CLIENTS: usize = 8;
/// Number of connections that are listed although they have not written yet.
const LISTED: usize = 100;
/// Shortest time between two announced differences, in milliseconds.
const CHANGES_MS: u64 = 100;
/// Shortest time between two announced lists, in milliseconds.
const LIST_MS: u64 = 1_000;

/// Connections in a document, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct RoomPresence {
    peers: Vec<PeerInfo>,
    /// Listed connections that came or changed since the last announced difference.
    changed: Vec<MemberId>,
    /// Listed connections that left since then.
    left: Vec<MemberId>,
    changes: Announcement,
    list: Announcement,
}

#[derive(Clone, Debug, Default)]
struct Announcement {
    news: PeerNews,
    /// Time from which on the next one may follow, in milliseconds since 1970.
    from_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum PeerNews {
    #[default]
    Nothing,
    Entry(MemberId),
    Several,
}

impl Announcement {
    fn add(&mut self, entry: Option<&MemberId>) {
        self.news = match (&self.news, entry) {
            (PeerNews::Nothing, Some(member)) => PeerNews::Entry(member.clone()),
            _ => PeerNews::Several,
        };
    }

    fn take(&mut self, now_ms: u64, interval_ms: u64) -> Option<PeerNews> {
        // A clock that was set back must not silence the room.
        let waits = (1..=interval_ms).contains(&self.from_ms.saturating_sub(now_ms));
        if self.news == PeerNews::Nothing || waits {
            return None;
        }
        self.from_ms = now_ms + interval_ms;
        Some(std::mem::take(&mut self.news))
    }

    fn due_ms(&self) -> Option<u64> {
        (self.news != PeerNews::Nothing).then_some(self.from_ms)
    }
}

/// Event about the connections, and the one connection that needs no notice.
pub struct PeerAnnouncement {
    /// Event to send.
    pub event: RoomEvent,
    /// Connection that knows it already.
    pub except: Option<MemberId>,
}

impl RoomPresence {
    /// Lets a connection in; one that is in already is only renamed.
    pub fn enter(&mut self, member: JoiningMember) {
        if let Some(at) = self.position(&member.id) {
            let peer = &mut self.peers[at];
            let is_news = peer.principal != member.principal;
            peer.principal = member.principal;
            peer.takes_changes = member.capabilities.peer_changes;
            peer.takes_hunk_changes = member.capabilities.hunk_changes;
            if is_news {
                self.note(at, None);
            }
            return;
        }
        let color = self.color_for(&member);
        let is_listed = self.peers.iter().filter(|peer| peer.is_listed).count() < LISTED;
        let JoiningMember { id, principal, capabilities } = member;
        self.peers.push(PeerInfo {
            member: id.clone(),
            principal,
            color,
            clients: Vec::new(),
            caret: None,
            is_listed,
            takes_changes: capabilities.peer_changes,
            takes_hunk_changes: capabilities.hunk_changes,
        });
        self.note(self.peers.len() - 1, Some(&id));
    }

    /// Returns `true` if all take changed hunks, without the whole request.
    pub fn all_take_hunk_changes(&self) -> bool {
        self.peers.iter().all(|peer| peer.takes_hunk_changes)
    }

    /// Lets a connection out. Where one that was listed leaves, the next reader is listed.
    pub fn leave(&mut self, member: &MemberId) {
        let Some(at) = self.position(member) else { return };
        let gone = self.peers.remove(at);
        self.changed.retain(|other| other != member);
        self.changes.add(None);
        self.list.add(None);
        if gone.is_listed {
            self.left.push(gone.member);
            if let Some(next) = self.peers.iter().position(|peer| !peer.is_listed) {
                self.list_peer(next);
            }
        }
    }

    /// Returns what is to be announced now; the rest is due later ([`Self::due_ms`]).
    pub fn announcements(&mut self, now_ms: u64) -> Vec<PeerAnnouncement> {
        let mut made = Vec::new();
        // Nothing waits for clients that are not there: a newcomer gets everything at first.
        if !self.takes(true) {
            self.changes.news = PeerNews::Nothing;
            self.changed.clear();
            self.left.clear();
        }
        if !self.takes(false) {
            self.list.news = PeerNews::Nothing;
        }
        let except = |news| if let PeerNews::Entry(member) = news { Some(member) } else { None };
        if let Some(news) = self.changes.take(now_ms, CHANGES_MS) {
            let changed = std::mem::take(&mut self.changed);
            let put = self.peers.iter().filter(|peer| changed.contains(&peer.member)).cloned();
            let change = PeersChange {
                put: put.collect(),
                left: std::mem::take(&mut self.left),
                total: self.peers.len(),
                is_complete: false,
            };
            let event = RoomEvent::PeersChanged(change);
            made.push(PeerAnnouncement { event, except: except(news) });
        }
        if let Some(news) = self.list.take(now_ms, LIST_MS) {
            let event = RoomEvent::Peers(self.peers.clone());
            made.push(PeerAnnouncement { event, except: except(news) });
        }
        made
    }

    /// Returns the time from which on there is something to announce, in milliseconds since 1970.
    pub fn due_ms(&self) -> Option<u64> {
        let due = [self.changes.due_ms(), self.list.due_ms()].into_iter().flatten().min();
        due.filter(|_| !self.peers.is_empty())
    }

    /// Returns the events that state everything, after differences may have been lost.
    pub fn whole(&self) -> Vec<RoomEvent> {
        let change = PeersChange {
            put: self.listed(),
            left: Vec::new(),
            total: self.peers.len(),
            is_complete: true,
        };
        let list = self.takes(false).then(|| RoomEvent::Peers(self.peers.clone()));
        list.into_iter()
            .chain(self.takes(true).then_some(RoomEvent::PeersChanged(change)))
            .collect()
    }

    fn takes(&self, changes: bool) -> bool {
        self.peers.iter().any(|peer| peer.takes_changes == changes)
    }

    /// Returns the connections that are listed.
    pub fn listed(&self) -> Vec<PeerInfo> {
        self.peers.iter().filter(|peer| peer.is_listed).cloned().collect()
    }

    fn note(&mut self, at: usize, entry: Option<&MemberId>) {
        let peer = &self.peers[at];
        if peer.is_listed && !self.changed.contains(&peer.member) {
            self.changed.push(peer.member.clone());
        }
        self.changes.add(entry);
        self.list.add(entry);
    }

    fn list_peer(&mut self, at: usize) {
        self.peers[at].is_listed = true;
        self.changed.push(self.peers[at].member.clone());
        self.changes.add(None);
    }

    /// Notes that a connection writes as `client`. The oldest beyond [`MOST_CLIENTS`] is forgotten.
    pub fn writes_as(&mut self, member: &MemberId, client: &ClientId) {
        let Some(at) = self.position(member) else { return };
        let peer = &mut self.peers[at];
        if peer.clients.contains(client) {
            return;
        }
        if peer.clients.len() >= MOST_CLIENTS {
            peer.clients.remove(0);
        }
        peer.clients.push(client.clone());
        peer.is_listed = true;
        self.note(at, None);
    }

    /// Moves a caret; returns `true` if it moved. A caret that is not of the newest version, or not
    /// a place in the text, is ignored: its client sends it again as soon as it has caught up.
    pub fn place(
        &mut self,
        member: &MemberId,
        caret: CaretPosition,
        now: Version,
        text: &Text,
    ) -> bool {
        let fits =
            caret.version == now && text.is_boundary(caret.anchor) && text.is_boundary(caret.head);
        let Some(at) =
            self.position(member).filter(|at| fits && self.peers[*at].caret != Some(caret))
        else {
            return false;
        };
        self.peers[at].caret = Some(caret);
        if !self.peers[at].is_listed {
            self.list_peer(at);
        }
        true
    }

    /// Moves every caret with the text, to the version after the change.
    pub fn map(&mut self, change: &ChangeSet) {
        let change = change.index();
        for caret in self.peers.iter_mut().filter_map(|peer| peer.caret.as_mut()) {
            let head = change.map_pos(caret.head, InsertSide::Before);
            let is_empty = caret.anchor == caret.head;
            caret.anchor =
                if is_empty { head } else { change.map_pos(caret.anchor, InsertSide::Before) };
            caret.head = head;
            caret.version = caret.version.next();
        }
    }

    /// Returns the number of carets.
    pub fn caret_count(&self) -> usize {
        self.peers.iter().filter(|peer| peer.caret.is_some()).count()
    }

    /// Forgets all carets: they were placed in a text that is no longer the document's.
    pub fn forget_carets(&mut self) {
        for peer in &mut self.peers {
            peer.caret = None;
        }
    }

    /// Forgets the connections that are not among `members`.
    pub fn keep_only(&mut self, members: &[MemberId]) {
        self.peers.retain(|peer| members.contains(&peer.member));
    }

    /// Returns all connections in the document.
    pub fn peers(&self) -> &[PeerInfo] {
        &self.peers
    }

    fn position(&self, member: &MemberId) -> Option<usize> {
        self.peers.iter().position(|peer| peer.member == *member)
    }

    /// Returns the colour of a connection. A person has one colour over all connections: the one of
    /// their identifier, so that it outlives a restart, or else the next that is used least.
    fn color_for(&self, member: &JoiningMember) -> u8 {
        let same = self.peers.iter().find(|peer| peer.principal.user == member.principal.user);
        same.map_or_else(
            || {
                let uses = |color| self.peers.iter().filter(|peer| peer.color == color).count();
                let own = own_color(member.principal.user.as_str());
                let all = (0..COLORS).map(|step| (own + step) % COLORS);
                all.min_by_key(|color| uses(*color)).unwrap_or(own)
            },
            |peer| peer.color,
        )
    }
}

/// Returns the preferred colour of a person: FNV-1a of the identifier.
fn own_color(user: &str) -> u8 {
    let hash = user
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    u8::try_from(hash % u32::from(COLORS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::ClientCapabilities;
    use copydesk_document::TextEdit;
    use copydesk_ids::permissions::{Principal, Role};

    fn member(id: &str, user: &str) -> JoiningMember {
        let principal = Principal::new(user, user, Role::Editor);
        let capabilities = ClientCapabilities { peer_changes: true, ..Default::default() };
        JoiningMember { id: id.into(), principal, capabilities }
    }

    fn caret(version: u64, head: usize) -> CaretPosition {
        CaretPosition { version: Version(version), anchor: head, head }
    }

    #[test]
    fn two_people_have_two_colours_and_one_person_has_one() {
        let colors = |entering: &[(&str, &str)]| -> Vec<_> {
            let mut presence = RoomPresence::default();
            for (id, user) in entering {
                presence.enter(member(id, user));
            }
            presence.peers().iter().map(|peer| peer.color).collect()
        };
        for (first, second) in [("ana", "bo"), ("usr_1", "usr_2"), ("x", "x1"), ("", "é")] {
            let [a, b, again] = colors(&[("m1", first), ("m2", second), ("m3", first)])[..] else {
                panic!("three peers");
            };
            assert!(a == again && a != b, "{first}: {a} and {again}, {second}: {b}");
            // Alone in a room that has just been opened, after a restart.
            assert_eq!(colors(&[("m9", first)]), [a]);
        }
    }

    #[test]
    fn a_caret_moves_with_the_text() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        assert!(presence.place(&"m1".into(), caret(0, 5), Version(0), &Text::new("hello")));
        let edit = TextEdit { from: 0, to: 0, insert: "oh, ".into() };
        presence.map(&ChangeSet::of(5, &[edit]).unwrap());
        assert_eq!(presence.peers()[0].caret, Some(caret(1, 9)));
    }

    #[test]
    fn a_caret_that_is_no_place_in_the_text_is_ignored() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        let text = Text::new("a😀b");
        for wrong in [caret(0, 2), caret(0, 5), caret(7, 1)] {
            assert!(!presence.place(&"m1".into(), wrong, Version(0), &text), "{wrong:?}");
        }
        assert!(presence.place(&"m1".into(), caret(0, 3), Version(0), &text));
    }

    /// Returns the announcement in words: who was put, who left, how many there are.
    fn told(presence: &mut RoomPresence, now_ms: u64) -> Vec<String> {
        let word = |made: PeerAnnouncement| match made.event {
            RoomEvent::PeersChanged(change) => {
                let put = change.put.iter().map(|peer| format!("+{} ", peer.member));
                let left = change.left.iter().map(|member| format!("-{member} "));
                format!("{}of {}", put.chain(left).collect::<String>(), change.total)
            }
            RoomEvent::Peers(peers) => format!("all {}", peers.len()),
            other => panic!("{other:?}"),
        };
        presence.announcements(now_ms).into_iter().map(word).collect()
    }

    #[test]
    fn coming_in_again_is_news_only_under_another_name() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        assert_eq!(told(&mut presence, 1_000), ["+m1 of 1"]);
        presence.enter(member("m1", "ana"));
        assert_eq!(told(&mut presence, 2_000), [""; 0]);
        presence.enter(member("m1", "bo"));
        assert_eq!(told(&mut presence, 3_000), ["+m1 of 1"]);
    }

    #[test]
    fn a_connection_is_known_by_its_newest_editor_instances() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        let client = |number: usize| ClientId::from(format!("c{number}"));
        (0..100).for_each(|number| presence.writes_as(&"m1".into(), &client(number)));
        let newest: Vec<_> = (100 - MOST_CLIENTS..100).map(client).collect();
        assert_eq!(presence.peers()[0].clients, newest);
        told(&mut presence, 1_000);
        presence.writes_as(&"m1".into(), &client(99));
        assert_eq!(told(&mut presence, 2_000), [""; 0], "known already");
    }

    #[test]
    fn leaving_twice_is_no_news() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        presence.enter(member("m2", "bo"));
        presence.leave(&"m1".into());
        assert_eq!(told(&mut presence, 1_000), ["+m2 -m1 of 1"]);
        presence.leave(&"m1".into());
        assert_eq!(told(&mut presence, 2_000), [""; 0]);
    }

    #[test]
    fn news_of_a_moment_are_one_announcement() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        assert_eq!(told(&mut presence, 1_000), ["+m1 of 1"]);
        presence.enter(member("m2", "bo"));
        presence.enter(member("m3", "cy"));
        assert_eq!(told(&mut presence, 1_000 + CHANGES_MS - 1), [""; 0]);
        assert_eq!(presence.due_ms(), Some(1_000 + CHANGES_MS));
        assert_eq!(told(&mut presence, 1_000 + CHANGES_MS), ["+m2 +m3 of 3"]);
        assert_eq!(presence.due_ms(), None);
    }

    #[test]
    fn a_clock_that_is_set_back_silences_no_one() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        told(&mut presence, 1_000_000);
        presence.enter(member("m2", "bo"));
        assert_eq!(told(&mut presence, 1_000), ["+m2 of 2"]);
    }

    #[test]
    fn clients_that_take_no_differences_get_the_list_once_a_second() {
        let mut presence = RoomPresence::default();
        let capabilities = ClientCapabilities::default();
        let plain = |id: &str| JoiningMember { capabilities, ..member(id, id) };
        presence.enter(plain("m1"));
        assert_eq!(told(&mut presence, 1_000), ["all 1"]);
        presence.enter(member("m2", "bo"));
        presence.enter(plain("m3"));
        assert_eq!(told(&mut presence, 1_500), ["+m2 +m3 of 3"]);
        assert_eq!(told(&mut presence, 1_000 + LIST_MS), ["all 3"]);
    }

    #[test]
    fn who_comes_in_is_not_told_so() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        let except = |presence: &mut RoomPresence, now_ms| {
            presence.announcements(now_ms).pop().unwrap().except
        };
        assert_eq!(except(&mut presence, 1_000), Some("m1".into()));
        presence.enter(member("m2", "bo"));
        presence.writes_as(&"m2".into(), &"c1".into());
        assert_eq!(except(&mut presence, 2_000), None, "someone's first words are news to others");
    }

    #[test]
    fn readers_of_a_crowd_are_counted_and_listed_when_they_act() {
        let mut presence = RoomPresence::default();
        for number in 0..LISTED + 2 {
            presence.enter(member(&format!("m{number}"), "ana"));
        }
        assert_eq!(presence.listed().len(), LISTED);
        told(&mut presence, 1_000);
        let [first, second] = [LISTED, LISTED + 1].map(|number| format!("m{number}"));
        assert!(presence.place(&first.as_str().into(), caret(0, 1), Version(0), &Text::new("hi")));
        assert_eq!(told(&mut presence, 2_000), [format!("+{first} of {}", LISTED + 2)]);
        presence.leave(&"m0".into());
        assert_eq!(told(&mut presence, 3_000), [format!("+{second} -m0 of {}", LISTED + 1)]);
    }
}
