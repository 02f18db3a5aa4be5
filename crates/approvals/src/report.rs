//! Reports to the model about requests; people can read a report before they send their decision.

pub(super) mod tool_report;

use std::fmt::Write;

use serde_json::Value;

use super::{
    ApprovalRequest, ExecutionState, Hunk, HunkStatus, ReportState, RequestStatus, ToolReport,
};
use crate::report::tool_report::quoted;

impl ApprovalRequest {
    /// Returns the report on the request in its current state.
    pub fn report(&self) -> ToolReport {
        let refused = |text: String| ToolReport { text, is_error: true };
        if let Some(answer) = &self.decisions.answer {
            return ToolReport { text: self.answered(answer), is_error: false };
        }
        if let Some(ExecutionState::Done { report, .. }) = &self.aftermath.execution {
            let mut report = self.report_result(report);
            report.text.push_str(&self.undone_line());
            return report;
        }
        if self.status == RequestStatus::Approved && self.hunks.is_empty() {
            return self
                .report_result(&ToolReport { text: "Approved.".to_owned(), is_error: false });
        }
        match self.status {
            RequestStatus::Streaming | RequestStatus::Pending => {
                let mut text = format!("Waiting for approval.{}", self.lines());
                self.push_remarks(&mut text);
                ToolReport { text, is_error: false }
            }
            RequestStatus::Approved | RequestStatus::Partly => self.applied(),
            // The feedback is part of the sentence.
            RequestStatus::Rejected => refused(self.rejection() + &self.mixed_lines()),
            RequestStatus::Expired => refused(self.with_reasons(self.timeout())),
            RequestStatus::Cancelled => refused(self.with_reasons(self.cancellation())),
            RequestStatus::Failed => {
                refused(self.with_reasons("The tool was approved but failed.".to_owned()))
            }
        }
    }

    fn undone_line(&self) -> String {
        let (Some(undone), Some(path)) = (self.undone(), &self.proposal.action.preview.file_path)
        else {
            return String::new();
        };
        format!("\n{} has undone this since: {path} is as it was before.", undone.by.name)
    }

    /// Returns the report on a tool that ran after approval: its result, and a note on edits.
    pub fn report_result(&self, result: &ToolReport) -> ToolReport {
        let mut text = String::new();
        if let Some(input) = &self.decisions.edited_input {
            text = edit_note(input);
            text.push('\n');
        }
        text.push_str(&result.text);
        self.push_remarks(&mut text);
        ToolReport { text, is_error: result.is_error }
    }

    /// Returns how much of the report is known in the current state, before the call has run.
    pub fn report_state(&self) -> ReportState {
        let mut remarks = String::new();
        self.push_remarks(&mut remarks);
        let is_done = matches!(self.aftermath.execution, Some(ExecutionState::Done { .. }));
        if self.decisions.answer.is_some() || is_done {
            return ReportState::Complete;
        }
        match self.status {
            RequestStatus::Streaming | RequestStatus::Pending => {
                ReportState::Waiting { so_far: self.lines() + &remarks }
            }
            RequestStatus::Approved if self.hunks.is_empty() => {
                let note = self.decisions.edited_input.as_ref().map(edit_note);
                ReportState::Runs { before: note.unwrap_or_default(), after: remarks }
            }
            _ => ReportState::Complete,
        }
    }

    fn answered(&self, answer: &str) -> String {
        if self.status != RequestStatus::Partly {
            return self.with_reasons(answer.to_owned());
        }
        let mut text = format!("{answer}\nPartly applied: {}.{}", self.counts(), self.lines());
        self.push_remarks(&mut text);
        text
    }

    fn with_reasons(&self, mut end: String) -> String {
        end.push_str(&self.mixed_lines());
        self.push_remarks(&mut end);
        end
    }

    fn rejection(&self) -> String {
        let feedback: Vec<&str> =
            self.decisions.remarks.iter().filter_map(|r| r.feedback.as_deref()).collect();
        let notes: Vec<&str> =
            self.decisions.remarks.iter().filter_map(|r| r.note.as_deref()).collect();
        match (feedback.is_empty(), notes.is_empty()) {
            (true, true) => "User rejected the operation".to_owned(),
            (true, false) => format!("User rejected: {}", notes.join("\n")),
            (false, true) => format!("User rejected: {}", feedback.join("\n")),
            (false, false) => {
                format!("User rejected: {}\nUser note: {}", feedback.join("\n"), notes.join("\n"))
            }
        }
    }

    fn timeout(&self) -> String {
        let end_ms =
            self.decisions.closed.as_ref().map_or(self.clock.created_ms, |closed| closed.at_ms);
        let ends = self.clock.ends_ms().unwrap_or(end_ms).min(end_ms);
        let seconds = ends.saturating_sub(self.clock.created_ms).div_ceil(1000);
        format!(
            "Approval timed out after {seconds}s; the tool was not executed. Do not retry unless the user asks."
        )
    }

    fn cancellation(&self) -> String {
        match self.decisions.closed.as_ref().and_then(|closed| closed.by.as_ref()) {
            Some(_) => "The request was withdrawn; the tool was not executed.".to_owned(),
            None if self.hunks.iter().all(Hunk::is_already_there) && !self.hunks.is_empty() => {
                "Nothing was applied: the text already reads as you proposed.".to_owned()
            }
            None if self.hunks.iter().any(|h| h.reason.is_some()) => {
                "Nothing was applied: people deleted the text this would change.".to_owned()
            }
            None => "The request was cancelled; the tool was not executed.".to_owned(),
        }
    }

    fn applied(&self) -> ToolReport {
        let accepted = self.count(HunkStatus::Accepted);
        let partly = self.status == RequestStatus::Partly || !self.returned.is_empty();
        let edited =
            self.hunks.iter().any(|h| h.decided.as_ref().is_some_and(|d| d.text.is_some()));
        let mut text = if partly {
            format!("Partly applied: {}.{}", self.counts(), self.lines())
        } else if edited {
            format!("Applied with edits by the user: {accepted} accepted.{}", self.lines())
        } else {
            format!("Applied: {accepted} accepted.")
        };
        self.push_remarks(&mut text);
        ToolReport { text, is_error: false }
    }

    /// Counts hunks by outcome, as in `2 accepted, 1 rejected, 1 conflicted`.
    fn counts(&self) -> String {
        let conflicted = self.hunks.iter().filter(|h| hunk_outcome(h) == "conflicted").count();
        let of = |name| self.hunks.iter().filter(|h| hunk_outcome(h) == name).count();
        let counts = [
            (of("accepted"), "accepted"),
            (of("rejected"), "rejected"),
            (conflicted + self.returned.len(), "conflicted"),
            (of("already in the text"), "already in the text"),
            (of("obsolete"), "obsolete"),
            (of("expired"), "expired"),
            (of("pending"), "pending"),
        ];
        let said = counts.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    }

    fn count(&self, status: HunkStatus) -> usize {
        self.hunks.iter().filter(|h| h.status == status).count()
    }

    fn lines(&self) -> String {
        let hunks = self.hunks.iter().map(|hunk| format!("\n{}", line(hunk)));
        hunks.chain(std::iter::once(self.returned_lines())).collect()
    }

    /// Returns one line for each hunk if their outcomes differ; otherwise only those never shown.
    fn mixed_lines(&self) -> String {
        let are_alike =
            self.hunks.windows(2).all(|two| hunk_outcome(&two[0]) == hunk_outcome(&two[1]));
        if are_alike { self.returned_lines() } else { self.lines() }
    }

    /// Returns one line for each change that went back to the model when it arrived.
    fn returned_lines(&self) -> String {
        self.returned.iter().flat_map(|returned| ["\n".to_owned(), returned.line()]).collect()
    }

    fn push_remarks(&self, text: &mut String) {
        for remark in &self.decisions.remarks {
            for (name, words) in [("feedback", &remark.feedback), ("note", &remark.note)] {
                if let Some(words) = words {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\nUser {name}: {words}");
                }
            }
        }
    }
}

/// Returns the outcome of a hunk. An unresolved conflict counts as such, however the request ended.
fn hunk_outcome(hunk: &Hunk) -> &'static str {
    let in_conflict = hunk.parts.iter().any(|p| p.conflict);
    match hunk.status {
        HunkStatus::Accepted => "accepted",
        HunkStatus::Rejected => "rejected",
        HunkStatus::Obsolete if hunk.is_already_there() => "already in the text",
        HunkStatus::Obsolete => "obsolete",
        HunkStatus::Conflict => "conflicted",
        HunkStatus::Expired if in_conflict => "conflicted",
        HunkStatus::Expired => "expired",
        HunkStatus::Streaming | HunkStatus::Pending => "pending",
    }
}

fn line(hunk: &Hunk) -> String {
    let meaning = hunk.meaning().map(|facts| format!(" (changes the meaning: {facts})"));
    outcome_line(hunk) + &meaning.unwrap_or_default()
}

fn outcome_line(hunk: &Hunk) -> String {
    let (base, proposed) = (quoted(&hunk.base()), quoted(&hunk.proposed()));
    let edited = hunk.decided.as_ref().and_then(|d| d.text.as_deref());
    match edited {
        Some(text) => {
            format!(
                "- accepted, edited by the user: {base} → {} (proposed {proposed})",
                quoted(text)
            )
        }
        None if hunk.is_moved() => {
            format!("- {}: moved {base}, which would read {proposed}", hunk_outcome(hunk))
        }
        None => format!("- {}: {base} → {proposed}", hunk_outcome(hunk)),
    }
}

fn edit_note(input: &Value) -> String {
    format!(
        "Note: the user edited this call before it ran; executed input: {input}. Do not re-issue the original."
    )
}
