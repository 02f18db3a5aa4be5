//! Size of a load test, and its limits.

use std::time::Duration;

use serde::Serialize;

/// Maximum number of clients of one test.
const MOST_CLIENTS: u64 = 20_000;
/// Maximum length of all documents together, in characters.
const MOST_TEXT: u64 = 1_000_000_000;
/// Maximum number of keystrokes of one test: their times are kept until its end.
const MOST_EDITS: f64 = 5_000_000.0;
/// Time for the server to get into its stride before anything is measured.
pub(super) const WARM_UP: Duration = Duration::from_secs(1);

/// Size of a load test.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadPlan {
    /// Number of documents.
    pub documents: u32,
    /// Number of clients in each document that type.
    pub writers: u32,
    /// Number of clients in each document that only read.
    pub readers: u32,
    /// Number of clients in each document that decide proposals.
    pub reviewers: u32,
    /// Keystrokes of each writer in a second.
    pub edits_per_second: f64,
    /// Decisions of each reviewer in a minute.
    pub decisions_per_minute: f64,
    /// Length of each document at the beginning, in characters.
    pub text_length: u32,
    /// Length of the measurement, in seconds.
    pub seconds: u32,
    /// `true` if clients name the capabilities `presence-changes` and `short-updates`.
    pub capabilities: bool,
}

impl LoadPlan {
    /// Checks what one option alone does not tell.
    pub fn check(&self) -> Result<(), String> {
        if self.writers + self.reviewers == 0 {
            return Err(
                "nobody would change anything: --writers or --reviewers must be at least 1"
                    .to_owned(),
            );
        }
        let clients = self.clients();
        if clients > MOST_CLIENTS {
            return Err(format!(
                "{clients} clients are too many: --documents times --writers, --readers and --reviewers together is at most {MOST_CLIENTS}"
            ));
        }
        let text = u64::from(self.documents) * u64::from(self.text_length);
        if text > MOST_TEXT {
            return Err(format!(
                "{text} characters are too many: --documents times --text is at most {MOST_TEXT}"
            ));
        }
        let edits = self.planned_edits();
        if edits > MOST_EDITS {
            return Err(format!(
                "{edits:.0} edits are too many: --documents times --writers, --edits and --seconds is at most {MOST_EDITS:.0}"
            ));
        }
        Ok(())
    }

    /// Returns the number of clients in each document.
    pub fn clients_per_document(&self) -> u32 {
        self.writers + self.readers + self.reviewers
    }

    /// Returns the number of all clients.
    pub fn clients(&self) -> u64 {
        u64::from(self.documents) * u64::from(self.clients_per_document())
    }

    /// Returns the number of keystrokes that all writers are to make while it is measured.
    pub fn planned_edits(&self) -> f64 {
        let writers = f64::from(self.documents) * f64::from(self.writers);
        writers * self.edits_per_second * f64::from(self.seconds)
    }

    /// Returns the length of the measurement.
    pub(super) fn length(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> LoadPlan {
        LoadPlan {
            documents: 10,
            writers: 2,
            readers: 2,
            reviewers: 1,
            edits_per_second: 4.0,
            decisions_per_minute: 10.0,
            text_length: 10_000,
            seconds: 10,
            capabilities: true,
        }
    }

    #[test]
    fn a_test_in_which_nothing_happens_or_too_much_is_refused() {
        assert_eq!(plan().check(), Ok(()));
        assert_eq!((plan().clients(), plan().planned_edits()), (50, 800.0));
        let refused = |change: fn(&mut LoadPlan), word: &str| {
            let mut plan = plan();
            change(&mut plan);
            let why = plan.check().unwrap_err();
            assert!(why.contains(word), "{why}");
        };
        refused(|plan| (plan.writers, plan.reviewers) = (0, 0), "nobody");
        refused(|plan| plan.readers = 10_000, "clients");
        refused(|plan| (plan.documents, plan.text_length) = (4_000, 1_000_000), "characters");
        refused(|plan| (plan.writers, plan.seconds) = (1_000, 600), "edits");
    }
}
