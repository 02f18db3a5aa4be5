//! The threads of comments of a document, as they were committed.

use std::collections::{BTreeMap, BTreeSet};

use copydesk_comments::{Comment, CommentThread, ThreadContent};
use copydesk_ids::{CommentId, ThreadId};
use copydesk_store::StoreOp;

use crate::comment_oracle::CommentOracle;
use crate::invariants::Invariant::{AcknowledgedIsDurable, CommentsPersist};
use crate::invariants::{CheckResult, InvariantViolation, ensure};
use crate::reference_document::ReferenceDocument;

/// Threads that were committed, and where the oracle has them.
#[derive(Default)]
pub struct CommittedThreads {
    oracle: CommentOracle,
    /// The contents of each thread, the newest last; also of threads of which nothing is left.
    contents: BTreeMap<ThreadId, Vec<ThreadContent>>,
    /// Comments that somebody asked to delete.
    pub asked_to_delete: BTreeSet<CommentId>,
}

/// Returns the thread that an operation stores.
fn stored_thread(op: &StoreOp) -> Option<CommentThread> {
    let StoreOp::PutThread(record) = op else { return None };
    let id = record.id.clone();
    Some(CommentThread::read(id, record.version, &record.anchor, &record.body).unwrap())
}

/// Returns the text of a comment that is not deleted.
fn text(comment: &Comment) -> Option<&str> {
    (!comment.deleted).then_some(&*comment.text)
}

impl CommittedThreads {
    /// Commits what a batch stores of threads. Returns the threads, and the texts of new comments.
    pub fn commit<'a>(
        &mut self,
        ops: impl Iterator<Item = &'a StoreOp>,
    ) -> Result<(Vec<CommentThread>, Vec<String>), InvariantViolation> {
        let (mut threads, mut new) = (Vec::new(), Vec::new());
        for op in ops {
            if let StoreOp::RemoveThread(id) = op {
                self.check_removed(id)?;
                self.oracle.remove(id);
            }
            let Some(thread) = stored_thread(op) else { continue };
            new.extend(self.check_written(&thread)?);
            self.contents.entry(thread.id.clone()).or_default().push((*thread.content).clone());
            self.oracle.acknowledge(&thread);
            threads.push(thread);
        }
        Ok((threads, new))
    }

    /// Checks that a thread has all comments that it had. Returns the texts of the others.
    fn check_written(&self, thread: &CommentThread) -> Result<Vec<String>, InvariantViolation> {
        let now = &thread.content;
        let before = self.contents.get(&thread.id).and_then(|contents| contents.last());
        let before = before.map_or(&[][..], |content| &content.comments);
        let is_kept = |(was, is): (&Comment, &Comment)| {
            let stays = text(is) == text(was);
            let is_same = (&was.id, &was.author, was.at_ms) == (&is.id, &is.author, is.at_ms);
            is_same && (stays || is.deleted && self.asked_to_delete.contains(&is.id))
        };
        let is_kept =
            before.len() <= now.comments.len() && before.iter().zip(&now.comments).all(is_kept);
        ensure(CommentsPersist, is_kept, || format!("{before:?} became {now:?}"))?;
        Ok(now.comments[before.len()..].iter().map(|it| it.text.clone()).collect())
    }

    /// Checks that of a thread that is gone only one comment was left, which was to be deleted.
    fn check_removed(&self, id: &ThreadId) -> CheckResult {
        let before = self.contents.get(id).and_then(|contents| contents.last());
        let left = before.iter().flat_map(|content| &content.comments).filter(|it| !it.deleted);
        let left: Vec<_> = left.map(|comment| &comment.id).collect();
        let was_asked = left.len() == 1 && self.asked_to_delete.contains(left[0]);
        ensure(CommentsPersist, was_asked, || format!("{id} is gone, which had {before:?}"))
    }

    /// Moves the threads over the newest update of the log.
    pub fn follow(&mut self, reference: &ReferenceDocument) -> CheckResult {
        self.oracle.apply(reference).map(drop)
    }

    /// Notes where a thread is that was stored at the newest version of the log.
    pub fn place(&mut self, thread: &CommentThread, reference: &ReferenceDocument) -> CheckResult {
        self.oracle.changed(thread.version, thread, reference)
    }

    /// Checks that the answer to a person was committed.
    pub fn check_acknowledged(&self, thread: &CommentThread) -> CheckResult {
        let contents = self.contents.get(&thread.id).map_or(&[][..], Vec::as_slice);
        let is_durable = thread.is_deleted() || contents.contains(&thread.content);
        ensure(AcknowledgedIsDurable, is_durable, || {
            format!("{thread:?} was acknowledged, committed are {contents:?}")
        })
    }

    /// Checks the threads of a room that was loaded.
    pub fn check_loaded(&self, threads: &[CommentThread]) -> CheckResult {
        self.oracle.check(threads)
    }
}
