//! Signs of life of the other nodes, as one node has seen them, and who is lost by that.
//!
//! Clocks are not compared: what counts is how long this node has looked at the same number. A look
//! that takes long is one look: a node that could not see meanwhile does not judge by that.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use copydesk_store::node_tables::NodeRow;

/// Time without a sign of life after which a node is removed.
pub(super) const SILENT: Duration = Duration::from_secs(8);
/// Time without a sign of life after which a node is removed whose session, so its process, ended.
const ENDED: Duration = Duration::from_secs(3);
/// Looks that find no sign of life, at least, before either. There is one a second.
const SILENT_LOOKS: u32 = 8;
const ENDED_LOOKS: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct NodeSighting {
    beat: i64,
    since: Instant,
    /// Number of looks since then that found no other one.
    looks: u32,
}

#[derive(Debug, Default)]
pub(super) struct NodeSightings {
    nodes: BTreeMap<i64, NodeSighting>,
}

/// Appearance of a node to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeLook {
    Alive,
    /// Lost if its session has ended.
    Quiet,
    Lost,
}

impl NodeSightings {
    /// Records which nodes there are; returns `true` if one is gone.
    pub(super) fn note(&mut self, others: &[NodeRow]) -> bool {
        let before = self.nodes.len();
        self.nodes.retain(|number, _| others.iter().any(|other| other.number == *number));
        before > self.nodes.len()
    }

    /// Records the last sign of life of a node; returns how it looks.
    pub(super) fn look(&mut self, node: &NodeRow) -> NodeLook {
        let now = NodeSighting { beat: node.beat, since: Instant::now(), looks: 0 };
        let known = self.nodes.entry(node.number).or_insert(now);
        if known.beat != now.beat {
            *known = now;
        }
        let (silence, looks) = (known.since.elapsed(), known.looks);
        known.looks += 1;
        if silence >= SILENT && looks >= SILENT_LOOKS {
            NodeLook::Lost
        } else if silence >= ENDED && looks >= ENDED_LOOKS {
            NodeLook::Quiet
        } else {
            NodeLook::Alive
        }
    }

    pub(super) fn forget(&mut self, number: i64) {
        self.nodes.remove(&number);
    }

    /// Forgets everything because nothing could be seen: no node is judged by that.
    pub(super) fn forget_all(&mut self) {
        self.nodes.clear();
    }

    pub(super) fn has(&self, number: i64) -> bool {
        self.nodes.contains_key(&number)
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(beat: i64) -> NodeRow {
        NodeRow { number: 7, url: String::new(), beat }
    }

    /// Looks once a second; returns how the node looks in the end.
    async fn looks(sightings: &mut NodeSightings, beat: i64, seconds: u32) -> NodeLook {
        let mut look = sightings.look(&row(beat));
        for _ in 0..seconds {
            tokio::time::advance(Duration::from_secs(1)).await;
            look = sightings.look(&row(beat));
        }
        look
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_no_sign_of_life_is_quiet_and_then_lost() {
        let mut sightings = NodeSightings::default();
        assert_eq!(looks(&mut sightings, 1, 2).await, NodeLook::Alive);
        assert_eq!(looks(&mut sightings, 1, 1).await, NodeLook::Quiet);
        // Also one that counts backwards: the database may have forgotten the last ones.
        assert_eq!(looks(&mut sightings, 0, 2).await, NodeLook::Alive);
        assert_eq!(looks(&mut sightings, 0, 6).await, NodeLook::Lost);
        sightings.forget_all();
        assert_eq!(looks(&mut sightings, 0, 0).await, NodeLook::Alive);
        assert!(!sightings.note(&[row(0)]) && sightings.note(&[]));
    }

    #[tokio::test(start_paused = true)]
    async fn no_one_is_judged_by_a_look_that_took_long() {
        let mut sightings = NodeSightings::default();
        assert_eq!(looks(&mut sightings, 1, 2).await, NodeLook::Alive);
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_ne!(sightings.look(&row(1)), NodeLook::Lost, "who could not see does not know");
        assert_eq!(looks(&mut sightings, 1, 6).await, NodeLook::Lost);
    }
}
