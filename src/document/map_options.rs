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

/// Condition under which a position counts as deleted in
/// [`ChangeSet::map_pos_tracked`](super::ChangeSet::map_pos_tracked) (CodeMirror's `MapMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapMode {
    /// The position is never deleted.
    Simple,
    /// Deleted with the text on both sides.
    TrackDel,
    /// Deleted with the character before the position.
    TrackBefore,
    /// Deleted with the character after the position.
    TrackAfter,
}

/// Relation of a change to a range, given by
/// [`ChangeSet::touches_range`](super::ChangeSet::touches_range).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeTouch {
    /// The change does not touch the range.
    None,
    /// The change overlaps the range, or begins or ends at an edge.
    Touches,
    /// One change reaches past both ends.
    Covers,
}
