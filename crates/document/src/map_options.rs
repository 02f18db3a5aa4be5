//! Options of mapping changes and positions over other changes.

/// Side of an insertion that a position stays on
/// ([`ChangeSet::map_pos`](super::ChangeSet::map_pos)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertSide {
    /// Text inserted at the position comes after it (`assoc` −1).
    Before,
    /// Text inserted at the position comes before it (`assoc` 1).
    After,
}

/// Order of two changes at one place when one is mapped over the other
/// ([`ChangeSet::map`](super::ChangeSet::map)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapOrder {
    /// The mapped change comes after the other one (`map(over)`).
    After,
    /// The mapped change comes before the other one (`map(over, true)`).
    Before,
}
