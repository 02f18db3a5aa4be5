//! Reasons why a decision is refused: decided as values, shown as sentences and sent as codes.

use serde::Serialize;

/// Declares an enum of reasons, each with its sentence for people.
macro_rules! refusal_reasons {
    ($($(#[$attribute:meta])* $name:ident { $($variant:ident = $sentence:literal,)+ })+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $(
                #[doc = concat!("Reason with the sentence: ", $sentence, ".")]
                #[error($sentence)]
                $variant,
            )+
        }

        impl $name {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];
        }
    )+};
}

refusal_reasons! {
    /// Reason why a decision does not fit its request: a sentence for people (`Display`), and for
    /// programs its name in snake case ([`Serialize`]).
    InvalidDecisionReason {
        StillWriting = "this is still being written",
        NoChangesToDecide = "this request cannot be decided change by change",
        EditSingleChanges = "edit the text of single changes instead",
        AnswerForWholeRequest = "an answer is for the whole request",
        RejectAndAccept = "reject, or finish by accepting: not both",
        NamedTwice = "a change is named twice",
        TextOfRejection = "a rejected change has no text",
        ForceWithoutSeen = "force needs the text you have seen",
        DecidesNothing = "this decides nothing",
        OtherFileExists = "a different file exists at this path, and its content was not shown; reject it and say which file to change instead",
        CannotBegin = "this call cannot begin",
        DoesNotFit = "it does not fit the text",
        NothingAccepted = "nothing was accepted",
        NotAccepted = "this change is not accepted",
        OpenOrAccepted = "this change is open, or was accepted",
        NothingToReopen = "there is nothing to propose again",
        WordsGone = "the words it would change are no longer in the text",
        RuleOfRejection = "a rule is made with an approval, never with a rejection",
        RuleForCommand = "commands are asked about every time",
        RuleForPlan = "plans are asked about every time",
        RuleForSuggestion = "suggestions of people are decided by people every time",
        RuleWithoutDocument = "this request belongs to no document; a rule can be for the session",
        PatternForDocument = "a path pattern is for tools that change files",
        EmptyRule = "a rule must allow something",
        RuleForOthers = "a rule that is made with an approval is about everybody, or about who asked for it",
        RuleByMarks = "a rule for changes that keep the meaning is for tools that change a document",
        PatternMismatch = "the path of the rule does not match the file that you approve",
        AlreadyUndone = "it was already undone",
        BeingUndone = "it is being undone",
        StillRunning = "it is still running",
        NothingDone = "nothing was done, so there is nothing to undo",
        UndoOfCommand = "a command cannot be undone: nobody knows all that it changed",
        MadeDocument = "this changed no file; delete the created document instead",
        NoFileChanged = "this changed no file",
        FormerTextUnknown = "the previous content of the file is not known",
        RunOver = "this cannot be proposed again: the run that requested it has ended",
        StillWaiting = "it still waits for people",
        NotUndone = "it was done; it can be proposed again once it is undone",
        AlreadyReopened = "it was already proposed again; use the newer request",
        NoChangesToUndo = "this request cannot be undone change by change",
        NoChangesToReopen = "this request cannot be proposed again change by change",
        ReopenedAndWaiting = "it was already proposed again, and waits for people",
        CallerDeadline = "the time limit cannot be extended: the caller stops waiting then",
        SplitOnePart = "this change has one part only; there is nothing to split",
        SplitMoved = "words that move are one change; they cannot be split",
        SplitStructure = "its parts are one structure, such as opening and closing marks; they cannot be split",
        PartDecided = "one of its parts was decided or approved since; it cannot be joined again",
        NoVoteToWithdraw = "you have not approved this, or your approval was withdrawn already",
        FrozenSince = "these words were frozen after this was proposed; no change by a tool may touch them",
    }

    /// Reason why a person may not take a decision, in the forms of [`InvalidDecisionReason`].
    NotAllowedReason {
        CommandNeedsOwner = "only an owner may approve commands",
        NotEligible = "your role or the policy of this request does not let you accept or reject it",
        OwnWordsNeedWrite = "changing the text needs permission to write; accept, reject or answer instead",
        OwnSuggestionNeedsWrite = "accepting your own suggestion needs permission to write",
        ReopenNeedsAsk = "only someone who may make this request can propose it again",
        DeniedByRule = "a rule denies this; an owner can revoke the rule",
        MarksNeedOther = "this change alters facts that somebody other than the requester must decide about",
        MarksNeedOwner = "this change alters facts that only an owner may decide about",
        SizeNeedsOther = "this change is so large that somebody other than the requester must decide it",
        SizeNeedsOwner = "this change is so large that only an owner may decide it",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_reason_is_documented_with_its_sentence() {
        let page = include_str!("../../../docs/api/socketio.md");
        let reasons = InvalidDecisionReason::ALL.iter().map(|it| (json!(it), it.to_string()));
        let refusals = NotAllowedReason::ALL.iter().map(|it| (json!(it), it.to_string()));
        for (code, sentence) in reasons.chain(refusals) {
            let code = code.as_str().unwrap_or_default();
            assert!(page.contains(&format!("| `{code}` | {sentence} |")), "{code}");
        }
    }
}
