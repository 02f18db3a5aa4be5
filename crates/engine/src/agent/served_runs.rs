//! Runs of other servers for which this one asks a model, and when that is over for each.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time for which the work for a run is kept whose server is gone: another one may go on with it.
const LOST_RUN_PATIENCE: Duration = Duration::from_secs(20);

/// Runs of other servers for which a model here was asked, by their full names.
#[derive(Debug, Default)]
pub(crate) struct ServedRuns(Mutex<HashMap<String, ServedRun>>);

#[derive(Debug)]
struct ServedRun {
    /// Number of the server that called last.
    node: i64,
    /// Number of answers in progress.
    answers: usize,
    /// `true` if the run ended while an answer was in progress.
    has_ended: bool,
    /// Time since which that server is gone.
    lost_since: Option<Instant>,
    /// Stops the last answer.
    cancel: CancellationToken,
}

impl ServedRuns {
    /// Returns the names of the runs.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().keys().cloned().collect()
    }

    /// Records that an answer for a run of this server begins.
    pub fn begin(&self, run: &str, node: i64, cancel: CancellationToken) {
        let mut runs = self.0.lock();
        let answers = runs.get(run).map_or(0, |known| known.answers) + 1;
        let begun = ServedRun { node, answers, has_ended: false, lost_since: None, cancel };
        runs.insert(run.to_owned(), begun);
    }

    /// Records the end of an answer; returns `true` if the run has ended meanwhile.
    pub fn finish(&self, run: &str) -> bool {
        let mut runs = self.0.lock();
        let Some(known) = runs.get_mut(run) else { return false };
        known.answers = known.answers.saturating_sub(1);
        let is_over = known.answers == 0 && known.has_ended;
        if is_over {
            runs.remove(run);
        }
        is_over
    }

    /// Records the end of a run; returns `true` if the model is to be told now. While an answer is
    /// in progress it is told afterwards, because it may still keep something for the run.
    pub fn end(&self, run: &str) -> bool {
        let mut runs = self.0.lock();
        let Some(known) = runs.get_mut(run) else { return false };
        known.has_ended = true;
        let is_over = known.answers == 0;
        if is_over {
            runs.remove(run);
        }
        is_over
    }

    /// Removes and returns the runs of servers that have been gone for long, and stops their
    /// answers.
    pub fn take_lost(&self, is_there: impl Fn(i64) -> bool) -> Vec<String> {
        let mut runs = self.0.lock();
        for known in runs.values_mut() {
            let since = known.lost_since.unwrap_or_else(Instant::now);
            known.lost_since = (!is_there(known.node)).then_some(since);
        }
        let is_lost = |known: &mut ServedRun| {
            known.lost_since.is_some_and(|since| since.elapsed() >= LOST_RUN_PATIENCE)
        };
        let lost = runs.extract_if(|_, known| is_lost(known));
        let stop = |(run, known): (String, ServedRun)| {
            known.cancel.cancel();
            run
        };
        lost.map(stop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(runs: &ServedRuns, run: &str, node: i64) -> CancellationToken {
        let cancel = CancellationToken::new();
        runs.begin(run, node, cancel.clone());
        cancel
    }

    #[test]
    fn the_end_of_a_run_is_told_once_and_after_its_answers() {
        let runs = ServedRuns::default();
        assert!(!runs.end("s/r"), "nobody has asked for it");
        begin(&runs, "s/r", 1);
        assert!(!runs.finish("s/r"), "it goes on");
        assert!(runs.end("s/r") && !runs.end("s/r"));
        begin(&runs, "s/r", 1);
        begin(&runs, "s/r", 2);
        assert!(!runs.end("s/r") && !runs.finish("s/r"));
        assert!(runs.finish("s/r") && !runs.finish("s/r"));
        assert!(runs.names().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_of_a_lost_server_is_kept_for_a_while_and_longer_if_another_goes_on() {
        let runs = ServedRuns::default();
        let (first, second) = (begin(&runs, "s/1", 7), begin(&runs, "s/2", 7));
        assert!(!runs.finish("s/1"));
        assert!(runs.take_lost(|_| false).is_empty());
        tokio::time::advance(LOST_RUN_PATIENCE / 2).await;
        begin(&runs, "s/2", 8);
        tokio::time::advance(LOST_RUN_PATIENCE / 2).await;
        assert_eq!(runs.take_lost(|node| node == 8), ["s/1"]);
        assert!(first.is_cancelled() && !second.is_cancelled());
        tokio::time::advance(LOST_RUN_PATIENCE).await;
        assert!(runs.take_lost(|node| node == 8).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_seen_again_was_not_lost() {
        let runs = ServedRuns::default();
        begin(&runs, "s/r", 7);
        assert!(runs.take_lost(|_| false).is_empty());
        tokio::time::advance(LOST_RUN_PATIENCE).await;
        assert!(runs.take_lost(|_| true).is_empty());
        assert!(runs.take_lost(|_| false).is_empty());
        assert_eq!(runs.names(), ["s/r"]);
    }
}
