//! Messages between the server and the grammar worker, one JSON object in each line.

use serde::{Deserialize, Serialize};

use super::proofread::TextCorrection;

/// Longest line of a [`WorkerQuestion`] in bytes: at most 100,000 scalars, and JSON writes a
/// control character in six bytes.
pub(super) const MAX_QUESTION_BYTES: usize = 1024 * 1024;
/// Longest line of a [`WorkerAnswer`] in bytes: a correction is much longer than its words.
pub(super) const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Text that is to be checked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerQuestion<T> {
    /// Number that the [`WorkerAnswer`] repeats; unique in one process.
    pub(super) id: u64,
    pub(super) text: T,
}

/// Result of a [`WorkerQuestion`]. Answers come in the order in which they are ready.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkerAnswer {
    pub(super) id: u64,
    /// Corrections, in order and without overlap; `None` if the checker panicked on this text.
    pub(super) corrections: Option<Vec<TextCorrection>>,
}

impl WorkerAnswer {
    /// Parses a line; an error is a description of the fault, without any words of the text.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| format!("not an answer: {error}"))
    }

    /// Returns `true` if the corrections are ranges of `text`, in order and without overlap.
    pub(super) fn fits(&self, text: &str) -> bool {
        let letters = text.chars().count();
        let mut end = 0;
        self.corrections.iter().flatten().all(|one| {
            let is_after = end <= one.from && one.from <= one.to && one.to <= letters;
            end = one.to;
            is_after
        })
    }
}
