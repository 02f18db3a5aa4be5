//! Votes on a request, and events after its decision.

use super::Person;
use copydesk_approvals::HunkChoice;
use copydesk_macros::wire;

/// Events after the decision on a request, and what can be done now.
#[wire(Serialize, TS)]
pub struct Aftermath {
    /// `true`: something of it can be undone now (`approval:undo`) by people who may decide it.
    pub can_undo: bool,
    /// `true`: something of it can be proposed again now (`approval:reopen`).
    pub can_reopen: bool,
    /// Undo of what the call did to a file; missing: it was not undone.
    pub undone: Option<Undone>,
    /// Request that this one proposes again.
    pub again_of: Option<String>,
    /// Request that proposes this one again.
    pub again_as: Option<String>,
}

/// Undo of a file action.
#[wire(Serialize, TS)]
pub struct Undone {
    /// Person who undid it.
    pub by: Person,
    /// Time of the undo, in RFC 3339.
    pub at: String,
    /// `true`: the file had been changed since.
    pub forced: bool,
}

/// Vote of one person for a hunk.
#[wire(Serialize, TS)]
pub struct HunkVote {
    /// Identifier of the person.
    pub user: String,
    /// Name of the person.
    pub name: String,
    /// Choice that the person made.
    pub decision: HunkChoice,
    /// Time of the vote, in RFC 3339.
    pub at: String,
    /// Text that the person wants instead of the proposed one. Votes count together only for the
    /// same text.
    pub text: Option<String>,
    /// Changed words that the vote permits to overwrite. It counts only while they stand there.
    pub seen: Option<String>,
    /// Remembered rule that voted in the person's place.
    pub rule: Option<String>,
}
