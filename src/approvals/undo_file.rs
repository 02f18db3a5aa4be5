//! What an approved call did to a file is taken back, and a call that came to nothing is proposed again.
//!
//! A request holds what the file read before and after, so nothing else has to be kept to put it back; whether it still reads
//! as the call left it is for whoever has the file at hand.

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRequest, ChangeExtent, DecisionError, DecisionRequirements, ExecutionState, HunkStatus,
    Person, PreviewKind, RequestStatus,
};
use crate::ids::RequestId;
use crate::permissions::{Action, Principal};

/// What a call did to a file is being taken back, or was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUndo {
    /// By whom.
    pub by: Person,
    /// When it was begun, in milliseconds since 1970.
    pub at_ms: u64,
    /// Whether although the file had changed since.
    pub forced: bool,
    /// What tells the content that the file had by then from every other.
    pub found: String,
    /// When it was over; `None`: nobody knows how far it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_ms: Option<u64>,
}

/// How the file stands that a call has written, when that is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// What tells the content that the file has now from every other.
    pub stamp: String,
    /// How much of it changes, in UTF-16 units: everything deleted and inserted.
    pub units: usize,
    /// Whether that is not what the call left there, and is overwritten all the same.
    pub forced: bool,
}

/// What came of a reversal that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileUndoOutcome {
    /// The file reads as before the call.
    Done,
    /// It does not, and why.
    Not(String),
}

/// What a call has made of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenFile<'r> {
    /// The file.
    pub path: &'r str,
    /// What it read before; `None`: there was none.
    pub before: Option<&'r str>,
    /// What it read afterwards.
    pub after: &'r str,
    /// What tells the content before from every other.
    pub touched: &'r str,
}

impl ApprovalRequest {
    /// What the call has made of a file, if it changed one and nobody has taken that back.
    ///
    /// # Errors
    /// Why there is nothing that could be taken back, for people.
    pub fn written(&self) -> Result<WrittenFile<'_>, &'static str> {
        let preview = &self.proposal.preview;
        match (&self.execution, &self.reversal) {
            (_, Some(FileUndo { done_ms: Some(_), .. })) => return Err("it was undone already"),
            (_, Some(_)) => return Err("it is being undone"),
            (Some(ExecutionState::Done { report, .. }), None) if !report.is_error => {}
            (Some(ExecutionState::Begun { .. }), None) => return Err("it is not over yet"),
            _ => return Err("nothing was done, so there is nothing to undo"),
        }
        if preview.kind == PreviewKind::Command {
            return Err("a command cannot be undone: nobody knows all that it changed");
        }
        let Some(touched) = &self.proposal.touched else {
            return Err("this changed no file; a document that was made can be deleted");
        };
        let (Some(path), Some(after)) = (&preview.file_path, &preview.new_content) else {
            return Err("this changed no file");
        };
        let was_made = preview.data["is_new_file"] == true;
        let before = preview.original_content.as_deref().filter(|_| !was_made);
        if before.is_none() && !was_made {
            return Err("what the file read before is not known");
        }
        Ok(WrittenFile { path, before, after, touched })
    }

    /// Whether `who` may take back what the call did, and there is something to take back.
    ///
    /// # Errors
    /// Who may not, and why there is nothing.
    pub fn reversible(&self, who: &Principal) -> Result<WrittenFile<'_>, DecisionError> {
        self.check_allowed(who)?;
        self.written().map_err(|reason| DecisionError::InvalidDecision { reason })
    }

    /// What the call did is taken back from here on, once, as the file was found. It is judged as it will be applied.
    ///
    /// # Errors
    /// As [`ApprovalRequest::reversible`], if so much takes other people, and if a rule denies that other words are overwritten.
    pub fn begin_reversal(
        &mut self,
        who: &Principal,
        FoundFile { stamp, units, forced }: FoundFile,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<(), DecisionError> {
        self.reversible(who)?;
        let file = self.proposal.preview.file_path.clone();
        let extent = ChangeExtent { units: Some(units), file };
        if forced {
            self.check_not_denied(&extent, requirements)?;
        }
        self.consent_for(&extent, who, requirements)?;
        let by = Person::from(who);
        self.reversal = Some(FileUndo { by, at_ms: now_ms, forced, found: stamp, done_ms: None });
        Ok(())
    }

    /// It is over; if it came to nothing, it can be tried again. Whether that is news.
    pub fn end_reversal(&mut self, reversed: &FileUndoOutcome, now_ms: u64) -> bool {
        let Some(reversal) = self.reversal.as_mut().filter(|it| it.done_ms.is_none()) else {
            return false;
        };
        match reversed {
            FileUndoOutcome::Done => reversal.done_ms = Some(now_ms),
            FileUndoOutcome::Not(_) => self.reversal = None,
        }
        true
    }

    /// How it was taken back, once it was.
    pub fn undone(&self) -> Option<&FileUndo> {
        self.reversal.as_ref().filter(|reversal| reversal.done_ms.is_some())
    }

    /// Whether it is being taken back, and nobody has said yet what came of it.
    pub fn is_being_undone(&self) -> bool {
        self.reversal.as_ref().is_some_and(|reversal| reversal.done_ms.is_none())
    }

    /// Whether something of it could be taken back now, as far as the request itself can tell.
    pub fn can_be_undone(&self) -> bool {
        if self.hunks.is_empty() {
            return self.written().is_ok();
        }
        self.hunks.iter().any(|hunk| hunk.status == HunkStatus::Accepted)
    }

    /// Whether something of it could be proposed again now, as far as the request itself can tell.
    pub fn can_be_proposed_again(&self) -> bool {
        if self.hunks.is_empty() {
            return self.repeatable().is_ok();
        }
        let is_refused = |status| {
            matches!(status, HunkStatus::Rejected | HunkStatus::Expired | HunkStatus::Obsolete)
        };
        self.hunks.iter().any(|hunk| is_refused(hunk.status))
    }

    /// Whether `who` may have the call made again, as a request of their own.
    ///
    /// # Errors
    /// Who may not, and why it cannot be made again.
    pub fn check_repeatable(&self, who: &Principal) -> Result<(), DecisionError> {
        let document = self.proposal.document.as_ref();
        if !who.may(Action::Ask, document) || !self.concerns(who) {
            let reason = "only who may ask for it themselves can propose it again";
            return Err(DecisionError::NotAllowed { reason });
        }
        self.repeatable().map_err(|reason| DecisionError::InvalidDecision { reason })
    }

    fn repeatable(&self) -> Result<(), &'static str> {
        match self.proposal.preview.kind {
            PreviewKind::Diff | PreviewKind::MultiDiff | PreviewKind::Command => {}
            PreviewKind::Generic => {
                return Err("this cannot be proposed again: the run that wanted it is over");
            }
        }
        match self.status {
            RequestStatus::Streaming | RequestStatus::Pending => Err("it still waits for people"),
            RequestStatus::Approved if self.undone().is_none() => {
                Err("it was done; it can be proposed again once it is undone")
            }
            _ if self.again_as.is_some() => {
                Err("it was proposed again already; the newer request can be")
            }
            RequestStatus::Approved
            | RequestStatus::Rejected
            | RequestStatus::Partly
            | RequestStatus::Expired
            | RequestStatus::Cancelled
            | RequestStatus::Failed => Ok(()),
        }
    }

    /// A person proposed it again, with this request.
    pub fn repeated_as(&mut self, again: RequestId) {
        self.again_as = Some(again);
    }
}
