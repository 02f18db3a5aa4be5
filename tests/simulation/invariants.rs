//! Invariants of the simulations. Each has a name, so that a failure says what was violated and not
//! only where.

/// An invariant of the simulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    /// Documents: all updates have one order. All replicas end with the same text, made of the same
    /// units.
    ReplicasConverge,
    /// Typed text is in the document once, unless a person deleted it. Deleted text is not.
    NoEditLostOrDuplicated,
    /// Nothing is broadcast or acknowledged before it is committed.
    AcknowledgedIsDurable,
    /// After a crash all committed state is unchanged: what was pending is pending, and nothing is
    /// half applied.
    RestartPreservesState,
    /// Updates arrive in order and without a gap, and events fit the events before them.
    UpdatesHaveNoGap,
    /// The room and the editors map pending hunks by the same rule. Text and hunk changes are sent
    /// together.
    DisplayMatchesRoom,
    /// "From the hunk's positions, one left-to-right pass": a pending hunk has the position and the
    /// conflict status that the oracle computes.
    RebaseMatchesOracle,
    /// "Before committing, the room checks `slice(from,to) == base` for every accepted, unforced
    /// hunk."
    AppliedTextMatchesPreview,
    /// An accept changes only the ranges of its hunks.
    AcceptChangesOnlyItsHunks,
    /// "A conflicted hunk is applied only with `force`."
    ConflictNeedsForce,
    /// "…and `seen`: the text it will overwrite, equal to what stands there."
    SeenMatchesText,
    /// "The first valid decision on a hunk wins."
    FirstDecisionWins,
    /// "No decision lost": a committed decision stays until a person undoes or reopens it.
    DecisionsPersist,
    /// "Votes count per hunk and text", and must be of different people.
    EnoughVotesAgree,
    /// "Policy and rules are checked when the decision is taken."
    DeciderIsAuthorized,
    /// "Expired: nothing more is applied."
    NoDecisionAfterExpiry,
    /// "The countdown pauses while a person has the request focused."
    FocusPausesExpiry,
    /// "A different current hash: `stale_preview`."
    ApprovalMatchesPreview,
    /// No tool changes frozen text.
    FrozenTextIsUnchanged,
    /// "Approve all: every pending, unconflicted hunk; conflicted ones stay open."
    ApproveAllAcceptsPending,
    /// "Reject all: conflicted ones too."
    RejectAllRejectsOpen,
    /// A person with the right can accept what is pending, without a conflict and not expired.
    PendingCanBeAccepted,
    /// "The request resolves when no hunk is open."
    RequestIsOpenWhileHunkIs,
    /// Undo: "touched since: conflicted unless forced".
    UndoKeepsLaterEdits,
    /// An accepted hunk that no one edited can be undone, whatever was typed elsewhere.
    UntouchedCanBeUndone,
    /// "deny > ask > allow": what an owner's rule denies is neither proposed nor accepted, and
    /// nothing else is denied.
    DeniedIsNotApplied,
    /// A call that an owner's rule asks about waits for people, whatever other rules allow.
    AskRuleIsObeyed,
    /// An allowing rule decides what it covers, in its maker's name and on record. Nothing else is
    /// decided without people.
    OnlyRulesSkipApproval,
    /// A thread of comments goes with its words and with what replaces them.
    ThreadsFollowTheirWords,
    /// "Only deletion without replacement makes a thread orphaned."
    OnlyDeletionOrphans,
    /// "Only people decide it": no rule and no mode applies a suggestion.
    OnlyPeopleDecideSuggestions,
    /// The pending hunks of a suggestion make exactly the text that its writer wants.
    SuggestionIsAsWritten,
    /// "Writing on never changes what somebody may be deciding."
    WritingChangesNothingElse,
    /// "Each update, decision, vote, split, undo and withdrawal raises `revision`", also with the
    /// next suggestion of the same person.
    RevisionsRise,
    /// An update over a revision that is not the newest is refused.
    UpdateIsOverNewest,
    /// A hunk is not decided while its writer is in it.
    WritingIsNotDecided,
    /// The hunks of a request have a name each, by which they are decided.
    HunksHaveTheirOwnNames,
    /// A comment stays as it was written until a person deletes it.
    CommentsPersist,
    /// Only owners add and revoke owners' rules.
    OnlyOwnersChangeRules,
    /// Several servers: only the node that holds the lease of a document writes it.
    OneNodeWritesDocument,
    /// A node that sends heartbeats is not removed. No node is removed because of a time that the
    /// database could not observe.
    LiveNodeIsNotRemoved,
    /// A command that is sent again, or delivered twice, is applied once.
    NothingIsAppliedTwice,
    /// A command that was refused, or answered with "nothing was changed", was not applied.
    RefusedIsNotApplied,
    /// Each message of one node reaches all others soon, whatever is lost on the way.
    MessagesAreDelivered,
    /// After all faults have ended, everybody can use every document.
    AvailabilityRecovers,
}

/// A violated invariant, and the details of the violation.
#[derive(Debug)]
pub struct InvariantViolation(pub Invariant, pub String);

/// The result of a check.
pub type CheckResult = Result<(), InvariantViolation>;

/// Returns a violation of the invariant if the condition does not hold.
pub fn ensure(invariant: Invariant, holds: bool, detail: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(InvariantViolation(invariant, detail())) }
}
