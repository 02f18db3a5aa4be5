//! What must hold, in the words of the rules. Each has a name, so that a simulation says what was
//! broken and not only where.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Documents: one order, everybody ends with the same text, made of the same units.
    TextsAreEqual,
    /// What a person typed is in the text once, unless somebody deleted it; what they deleted is
    /// not.
    NoWordIsLostOrDoubled,
    /// Nothing is told or answered before it is kept.
    AcknowledgedMeansDurable,
    /// After a crash everything kept is as it was: pending stays pending, nothing is half applied.
    ARestartChangesNothing,
    /// Updates arrive gap-free, in order, and what is told fits what was told before.
    TellingHasNoGap,
    /// Both sides map pending changes by the same rule; text and hunk changes travel together.
    PeopleSeeWhatTheRoomHas,
    /// "From the hunk's positions, one left-to-right pass": where a pending change stands, and
    /// whether it is in conflict.
    RebaseIsAsWritten,
    /// "Before committing, the room checks `slice(from,to) == base` for every accepted, unforced
    /// hunk."
    WordsAreWhatWasPreviewed,
    /// An accept changes nothing but what its hunks say.
    AcceptTouchesNothingElse,
    /// "A conflicted hunk is applied only with `force`."
    ConflictNeedsForce,
    /// "…and `seen`: the text it will overwrite, equal to what stands there."
    SeenIsWhatStands,
    /// "The first valid decision on a hunk wins."
    FirstDecisionWins,
    /// "No decision lost": what was decided and kept stays decided until somebody undoes or reopens
    /// it.
    DecisionsStay,
    /// "Votes count per hunk and text", of different people.
    TwoPeopleAgree,
    /// "Policy and rules are checked when the decision is taken."
    OnlyWhoMayDecides,
    /// "Expired: nothing more is applied."
    ExpiredIsOver,
    /// "The countdown pauses while a person has the request focused."
    LookingStopsTheClock,
    /// "A different current hash: `stale_preview`."
    ApprovalIsForThePreview,
    /// Frozen words are touched by no tool.
    FrozenWordsStay,
    /// "Approve all: every pending, unconflicted hunk; conflicted ones stay open."
    ApproveAllTakesWhatIsPending,
    /// "Reject all: conflicted ones too."
    RejectAllTakesEverything,
    /// What is pending, unconflicted and in time can be accepted by whoever may.
    WhatIsPendingCanBeAccepted,
    /// "The request resolves when no hunk is open."
    OpenAsLongAsAHunkIs,
    /// Undo: "touched since: conflicted unless forced".
    UndoLeavesTouchedWords,
    /// Undo of what nobody touched works, whatever was typed elsewhere.
    UntouchedCanBeUndone,
    /// "deny > ask > allow": what an owner denied is neither proposed nor accepted, and nothing
    /// else is denied.
    DeniedIsNotDone,
    /// What an owner wants to be asked about waits for people, whatever other rules allow.
    AskedIsAsked,
    /// What a rule allows is decided by it, in its maker's name and on record; nothing else is
    /// decided unasked.
    UnaskedByRuleAlone,
    /// Only owners make and end such rules.
    RulesAreOwnersAlone,
    /// Several servers: only the node that has a document writes it.
    OneNodeWrites,
    /// A node that gives signs of life stays, and nobody is judged by what could not be seen.
    NobodyIsRemovedAlive,
    /// What is sent again, or carried twice, counts once.
    NothingIsTakenTwice,
    /// "Refused" and "nothing was changed" are true.
    RefusedIsNotDone,
    /// What one node tells, all others know soon, whatever is lost on the way.
    MessagesArrive,
    /// When everything is well again, every document can be used by everybody.
    EverybodyIsServedAgain,
}

/// A rule that does not hold, and how that showed.
#[derive(Debug)]
pub struct Broken(pub Rule, pub String);

/// Whether it goes on.
pub type Held = Result<(), Broken>;

/// Holds a rule to a fact.
pub fn must(rule: Rule, holds: bool, how: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(Broken(rule, how())) }
}
