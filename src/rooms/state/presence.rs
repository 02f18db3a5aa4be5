//! Presence: the connections in a document and their carets. Pure.

use crate::document::{ChangeSet, InsertSide, Text};
use crate::ids::{ClientId, MemberId, Version};

use crate::rooms::command::JoiningMember;
use crate::rooms::event::{CaretPosition, PeerInfo};

/// Number of caret colours that the editor has.
const COLORS: u8 = 4;
/// Largest number of editor instances of one connection that others are told of: the newest.
/// Forgotten ones can still write.
const MOST_CLIENTS: usize = 8;

/// Connections in a document, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct RoomPresence {
    peers: Vec<PeerInfo>,
}

impl RoomPresence {
    /// Lets a connection in; one that is in already is only renamed. Returns `true` if anything
    /// changed.
    pub fn enter(&mut self, member: JoiningMember) -> bool {
        if let Some(peer) = self.peer(&member.id) {
            let is_news = peer.principal != member.principal;
            peer.principal = member.principal;
            return is_news;
        }
        let color = self.color_for(&member);
        let JoiningMember { id, principal } = member;
        self.peers.push(PeerInfo {
            member: id,
            principal,
            color,
            clients: Vec::new(),
            caret: None,
        });
        true
    }

    /// Lets a connection out; returns `true` if it was in.
    pub fn leave(&mut self, member: &MemberId) -> bool {
        let before = self.peers.len();
        self.peers.retain(|peer| peer.member != *member);
        self.peers.len() != before
    }

    /// Notes that a connection writes as `client`; returns `true` if that is new. The oldest beyond
    /// [`MOST_CLIENTS`] is forgotten.
    pub fn writes_as(&mut self, member: &MemberId, client: &ClientId) -> bool {
        match self.peer(member) {
            Some(peer) if !peer.clients.contains(client) => {
                if peer.clients.len() >= MOST_CLIENTS {
                    peer.clients.remove(0);
                }
                peer.clients.push(client.clone());
                true
            }
            _ => false,
        }
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
        match self.peer(member) {
            Some(peer) if fits && peer.caret != Some(caret) => {
                peer.caret = Some(caret);
                true
            }
            _ => false,
        }
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

    fn peer(&mut self, member: &MemberId) -> Option<&mut PeerInfo> {
        self.peers.iter_mut().find(|peer| peer.member == *member)
    }

    /// Returns the colour of a connection. A person has one colour over all connections; others get
    /// the one that is used least.
    fn color_for(&self, member: &JoiningMember) -> u8 {
        let same = self.peers.iter().find(|peer| peer.principal.user == member.principal.user);
        same.map_or_else(
            || {
                let uses = |color| self.peers.iter().filter(|peer| peer.color == color).count();
                (0..COLORS).min_by_key(|color| uses(*color)).unwrap_or(0)
            },
            |peer| peer.color,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::TextEdit;
    use crate::permissions::{Principal, Role};

    fn member(id: &str, user: &str) -> JoiningMember {
        let principal =
            Principal { user: user.into(), name: user.into(), role: Role::Editor, document: None };
        JoiningMember { id: id.into(), principal }
    }

    fn caret(version: u64, head: usize) -> CaretPosition {
        CaretPosition { version: Version(version), anchor: head, head }
    }

    #[test]
    fn two_people_have_two_colours_and_one_person_has_one() {
        let mut presence = RoomPresence::default();
        for (id, user) in [("m1", "ana"), ("m2", "bo"), ("m3", "ana")] {
            presence.enter(member(id, user));
        }
        let colors: Vec<_> = presence.peers().iter().map(|peer| peer.color).collect();
        assert_eq!(colors, [0, 1, 0]);
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

    #[test]
    fn coming_in_again_is_news_only_under_another_name() {
        let mut presence = RoomPresence::default();
        assert!(presence.enter(member("m1", "ana")));
        assert!(!presence.enter(member("m1", "ana")));
        assert!(presence.enter(member("m1", "bo")));
    }

    #[test]
    fn a_connection_is_known_by_its_newest_editor_instances() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        let client = |number: usize| ClientId::from(format!("c{number}"));
        assert!((0..100).all(|number| presence.writes_as(&"m1".into(), &client(number))));
        let newest: Vec<_> = (100 - MOST_CLIENTS..100).map(client).collect();
        assert_eq!(presence.peers()[0].clients, newest);
        assert!(!presence.writes_as(&"m1".into(), &client(99)), "known already");
    }

    #[test]
    fn leaving_twice_is_no_news() {
        let mut presence = RoomPresence::default();
        presence.enter(member("m1", "ana"));
        assert!(presence.leave(&"m1".into()));
        assert!(!presence.leave(&"m1".into()));
    }
}
