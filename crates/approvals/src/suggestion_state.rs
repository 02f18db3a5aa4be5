//! State of a person's suggestion that is stored beside its hunks and with each hunk.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use copydesk_ids::{Version, hex};

/// State of a suggestion that its writer can go on writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestionState {
    /// Number that rises with each update and each decision.
    pub revision: u64,
    /// [Digest](Self::digest) of the last update, which is the same update if it comes again.
    pub last_update: String,
    /// Digests of the newest updates over no revision, also of the suggestions before: of these, no
    /// revision says that they come again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) over_none: Vec<String>,
    /// Number of hunks that were ever made, so that no name is used twice.
    pub(crate) hunks_made: usize,
    /// `true` if the request had ended and was opened again: it is decided, not written on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_reopened: bool,
}

/// Largest number of digests in [`SuggestionState::over_none`].
const MOST_OVER_NONE: usize = 8;

impl SuggestionState {
    /// Returns the state of the suggestion that a person begins after this one.
    pub(crate) fn next(&self) -> Self {
        let (revision, over_none) = (self.revision, self.over_none.clone());
        Self { revision, over_none, ..Self::default() }
    }

    /// Returns `true` if the update of this digest comes again.
    pub fn has_taken(&self, digest: &str) -> bool {
        self.last_update == digest || self.over_none.iter().any(|it| it == digest)
    }

    /// Notes an update over a revision, by its digest.
    pub fn take(&mut self, digest: String, over: u64) {
        if over == 0 {
            let most = self.over_none.len().saturating_sub(MOST_OVER_NONE - 1);
            self.over_none.drain(..most);
            self.over_none.push(digest.clone());
        }
        self.last_update = digest;
    }

    /// Returns a digest of an update: its version and revision, and the JSON of its change.
    pub fn digest(version: Version, revision: u64, changes: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("{} {revision} ", version.0));
        digest.update(changes);
        hex(&digest.finalize())
    }
}

/// Facts about a hunk of a person's suggestion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedHunk {
    /// Time until which its writer is in it, in milliseconds since 1970; not stored.
    #[serde(skip)]
    pub writing_until_ms: Option<u64>,
    /// `true` if the hunk was decided and that was undone: further words are another hunk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) was_decided: bool,
}
