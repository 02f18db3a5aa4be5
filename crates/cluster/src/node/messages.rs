//! Messages between nodes, as each of them keeps account of what it has sent and heard.
//!
//! A message is stored in the database, where the other nodes look regularly, and carried to them
//! at once by what may lose it. So it usually arrives twice, and counts once.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::message_key::MessageKey;
use copydesk_placement::PeerMessage;

/// Number of messages that wait to be stored while the database is away. The oldest are given up.
const WAITING: usize = 1_024;
/// Number of messages that were carried here and are not read yet. More are left to the database:
/// so many only come while it is away.
const CARRIED: usize = 16_384;
/// Number of messages that are stored together.
const TOGETHER: usize = 64;

/// Message of a node.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodeMessage {
    /// Number of the node.
    pub from: i64,
    /// Number of the message among those of its node.
    pub number: i64,
    pub news: PeerMessage,
}

/// Messages of this node that are not stored yet.
#[derive(Debug, Default)]
pub(super) struct UnstoredMessages {
    last: i64,
    waiting: VecDeque<(i64, String)>,
}

impl UnstoredMessages {
    /// Adds a message of the node `from`, signed with its key; returns it as it is carried. `None`
    /// if it cannot be written down.
    pub(super) fn add(
        &mut self,
        from: i64,
        news: &PeerMessage,
        key: Option<&MessageKey>,
    ) -> Option<String> {
        self.last += 1;
        let message = NodeMessage { from, number: self.last, news: news.clone() };
        let message = serde_json::to_string(&message).ok()?;
        let message = key.map_or_else(|| message.clone(), |key| key.sign(&message));
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((self.last, message.clone()));
        Some(message)
    }

    /// Returns the oldest ones.
    pub(super) fn next(&self) -> Vec<(i64, String)> {
        self.waiting.iter().take(TOGETHER).cloned().collect()
    }

    /// Removes those that are stored, up to a number.
    pub(super) fn stored(&mut self, last: i64) {
        self.waiting.retain(|(number, _)| *number > last);
    }
}

/// Messages of other nodes that have arrived.
#[derive(Debug, Default)]
pub(super) struct ArrivedMessages {
    /// Number of the last message of each node that was read from the database. A node stores its
    /// messages one after the other, so all before it were read, too.
    read: HashMap<i64, i64>,
    /// Messages that were carried here and are not read yet.
    carried: HashSet<(i64, i64)>,
}

impl ArrivedMessages {
    /// Returns the record of a node that starts, and needs nothing that was sent before.
    pub(super) fn after(read: Vec<(i64, i64)>) -> Self {
        Self { read: read.into_iter().collect(), carried: HashSet::new() }
    }

    /// Returns the number of the last message of each node that was read.
    pub(super) fn last_read(&self) -> Vec<(i64, i64)> {
        self.read.iter().map(|(node, number)| (*node, *number)).collect()
    }

    /// Records a message that was carried here; returns `true` if it is new.
    pub(super) fn is_new_carried(&mut self, node: i64, number: i64) -> bool {
        let read = self.read.get(&node).copied().unwrap_or(0);
        number > read && self.carried.len() < CARRIED && self.carried.insert((node, number))
    }

    /// Records a message that was read from the database; returns `true` if it is new.
    pub(super) fn is_new_read(&mut self, node: i64, number: i64) -> bool {
        let read = self.read.entry(node).or_insert(0);
        let is_next = number > *read;
        *read = number.max(*read);
        let was_carried = self.carried.remove(&(node, number));
        is_next && !was_carried
    }

    /// Forgets what was carried here and never stored.
    pub(super) fn tidy(&mut self) {
        let read = &self.read;
        self.carried.retain(|(node, number)| read.get(node).is_none_or(|read| number > read));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_arrives_twice_counts_once() {
        let mut arrived = ArrivedMessages::after(vec![(1, 5)]);
        assert!(!arrived.is_new_carried(1, 5), "it was told before this node came");
        assert!(arrived.is_new_carried(1, 7));
        assert!(!arrived.is_new_carried(1, 7));
        assert!(arrived.is_new_read(1, 6), "what was not carried is read");
        assert!(!arrived.is_new_read(1, 7));
        assert!(!arrived.is_new_carried(1, 7) && !arrived.is_new_read(1, 7));
        assert_eq!(arrived.last_read(), [(1, 7)]);
        assert!(arrived.is_new_read(2, 1), "a node that came later");
    }

    #[test]
    fn what_was_carried_and_never_stored_is_forgotten() {
        let mut arrived = ArrivedMessages::default();
        assert!(arrived.is_new_carried(1, 1) && arrived.is_new_carried(1, 3));
        assert!(arrived.is_new_read(1, 2));
        arrived.tidy();
        assert_eq!(arrived.carried, HashSet::from([(1, 3)]));
    }

    #[test]
    fn no_more_is_remembered_than_the_limit_and_the_rest_is_read() {
        let mut arrived = ArrivedMessages::default();
        let most = i64::try_from(CARRIED).unwrap();
        assert!((1..=most).all(|number| arrived.is_new_carried(1, number)));
        assert!(!arrived.is_new_carried(1, most + 1) && !arrived.is_new_carried(2, 1));
        assert!(arrived.is_new_read(2, 1) && !arrived.is_new_read(1, most));
        assert!(arrived.is_new_read(1, most + 1));
        arrived.tidy();
        assert_eq!(arrived.carried.len(), 0);
    }

    #[test]
    fn what_cannot_be_stored_yet_waits_up_to_a_limit() {
        let mut unstored = UnstoredMessages::default();
        let message = unstored.add(4, &PeerMessage::Cancel("s".into()), None).unwrap();
        assert_eq!(message, r#"{"from":4,"number":1,"news":{"cancel":"s"}}"#);
        for _ in 0..WAITING {
            unstored.add(4, &PeerMessage::Tokens, None).unwrap();
        }
        let next = unstored.next();
        assert_eq!((next.len(), next[0].0), (TOGETHER, 2));
        unstored.stored(2);
        assert_eq!(unstored.next()[0].0, 3);
    }
}
