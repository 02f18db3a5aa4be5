//! Simulated people comment: on passages, on changes and on the whole document; they answer,
//! resolve, reopen and delete. They draw from random numbers of their own, so that what else
//! happens in a history does not depend on them.

use std::sync::mpsc::{Receiver, Sender, channel};

use copydesk_comments::CommentThread;
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{ReplySender, RoomCommand, ThreadSnapshot};
use fastrand::Rng;

use super::RoomSimulation;
use crate::comment_oracle::{CommentOracle, PassageEvent, contents};
use crate::comment_writing::{CommentWish, SeenDocument};
use crate::generators::{self, PEOPLE};
use crate::invariants::CheckResult;

/// Largest number of threads at a time.
const MAX_THREADS: usize = 8;
/// Number of steps of which one is a comment.
const COMMENT_INTERVAL: u8 = 12;

type Answer = (CommentWish, Result<ThreadSnapshot, RoomError>);

/// People who comment, and what they were answered.
pub(super) struct Commenters {
    random: Rng,
    pub oracle: CommentOracle,
    answers: (Sender<Answer>, Receiver<Answer>),
    written: usize,
}

impl Commenters {
    pub fn new(seed: u64) -> Self {
        let random = Rng::with_seed(seed ^ 0x00C0_FFEE);
        Self { random, oracle: CommentOracle::default(), answers: channel(), written: 0 }
    }
}

impl RoomSimulation {
    /// Now and then a person comments.
    pub(super) fn comment(&mut self) {
        if self.commenters.random.u8(..COMMENT_INTERVAL) > 0 {
            return;
        }
        // Viewers may not comment, which is checked before a room is asked.
        let by = generators::principal_named(PEOPLE[self.commenters.random.usize(..4)]);
        self.commenters.written += 1;
        let text = format!("comment {}", self.commenters.written);
        let threads = self.server.room.threads();
        let open: Vec<_> = self.server.room.open().values().cloned().collect();
        let seen = SeenDocument {
            threads: &threads,
            open: &open,
            reference: &self.reference,
            max_threads: MAX_THREADS,
        };
        let (command, wish) = seen.random_comment(&mut self.commenters.random, text, by);
        let answers = self.commenters.answers.0.clone();
        let reply = ReplySender::new(move |result| drop(answers.send((wish, result))));
        self.server.apply(RoomCommand::Comment(command, reply));
    }

    /// Notes the answers that came with a commit, and checks them.
    pub(super) fn hear_comments(&mut self) -> CheckResult {
        for (wish, result) in self.commenters.answers.1.try_iter().collect::<Vec<_>>() {
            let Ok(snapshot) = result else {
                self.count("comment refused");
                continue;
            };
            wish.check_answer(&snapshot.thread, &self.reference)?;
            self.commenters.oracle.acknowledge(&snapshot.thread);
            self.count(wish.event(&snapshot.thread));
        }
        self.commenters.oracle.check(&self.server.room.threads())
    }

    /// Moves all threads over the newest update of the log.
    pub(super) fn move_threads(&mut self) -> CheckResult {
        for (id, event) in self.commenters.oracle.apply(&self.reference)? {
            let is_resolved = self.commenters.oracle.is_resolved(&id);
            self.count(match event {
                PassageEvent::Moved => "thread moved",
                PassageEvent::Orphaned => "thread orphaned",
                PassageEvent::CameBack if is_resolved => "resolved thread came back",
                PassageEvent::CameBack => "thread came back",
            });
        }
        Ok(())
    }

    /// Checks the threads after the power was cut; `ahead` are those that the room had before.
    pub(super) fn check_threads_after_cut(
        &mut self,
        is_committed: bool,
        ahead: &[CommentThread],
    ) -> CheckResult {
        // Nobody was answered.
        self.commenters.answers.1.try_iter().for_each(drop);
        let threads = self.server.room.threads();
        if is_committed {
            self.commenters.oracle.adopt(contents(ahead), &threads, &self.reference);
        }
        self.commenters.oracle.check(&threads)
    }
}
