//! Words that people write in threads of comments, and what the answer must show. Both
//! simulations write with it.

use std::sync::Arc;

use copydesk_approvals::ApprovalRequest;
use copydesk_comments::CommentThread;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{CommentId, Version};
use copydesk_rooms::command::{CommentCommand, CommentInput, NewThread};
use fastrand::Rng;

use crate::generators::{self, next_boundary};
use crate::invariants::Invariant::{AcknowledgedIsDurable, ThreadsFollowTheirWords};
use crate::invariants::{CheckResult, ensure};
use crate::rebase_oracle::{MapSide, map_position};
use crate::reference_document::ReferenceDocument;

/// Wish of a person, as far as the answer must show it.
#[derive(Clone)]
pub enum CommentWish {
    /// A thread on this passage, of which the text at a version is known; or on something else.
    Begin {
        text: String,
        passage: Option<(usize, usize, usize)>,
    },
    Write {
        text: String,
    },
    Resolve {
        on: bool,
    },
    Delete {
        comment: CommentId,
    },
}

/// View of the people who comment.
pub struct SeenDocument<'a> {
    pub threads: &'a [CommentThread],
    pub open: &'a [Arc<ApprovalRequest>],
    pub reference: &'a ReferenceDocument,
    /// Number of threads from which people delete comments and begin no more threads.
    pub max_threads: usize,
}

impl SeenDocument<'_> {
    /// Returns what a person does next, with a text that nobody has written before.
    pub fn random_comment(
        &self,
        random: &mut Rng,
        text: String,
        by: Principal,
    ) -> (CommentCommand, CommentWish) {
        let is_full = self.threads.len() >= self.max_threads;
        if self.threads.is_empty() || !is_full && random.u8(..3) == 0 {
            let (new, passage) = self.random_thread(random, &text);
            let command = CommentCommand::Create(Box::new(new), by);
            return (command, CommentWish::Begin { text, passage });
        }
        let thread = self.threads[random.usize(..self.threads.len())].clone();
        match random.u8(..8) {
            0..2 => {
                let input = CommentInput { text: text.clone(), ..CommentInput::default() };
                (CommentCommand::Reply(thread.id, input, by), CommentWish::Write { text })
            }
            2 if is_full => {
                let comments = &thread.content.comments;
                let comment = comments[random.usize(..comments.len())].id.clone();
                let owner = generators::principal_named("ana");
                (CommentCommand::Delete(comment.clone(), owner), CommentWish::Delete { comment })
            }
            _ => {
                let on = thread.content.resolved.is_none();
                (CommentCommand::Resolve(thread.id, on, by), CommentWish::Resolve { on })
            }
        }
    }

    /// Returns a thread that somebody begins, and its passage with the version that they see.
    fn random_thread(
        &self,
        random: &mut Rng,
        text: &str,
    ) -> (NewThread, Option<(usize, usize, usize)>) {
        let input = CommentInput { text: text.to_owned(), ..CommentInput::default() };
        let mut new = NewThread { input, ..NewThread::default() };
        match random.u8(..8) {
            0 => return (new, None),
            1..4 if !self.open.is_empty() => {
                let request = &self.open[random.usize(..self.open.len())];
                let hunk = &request.hunks[random.usize(..request.hunks.len())];
                new.request = Some(request.id().clone());
                new.hunk = Some(hunk.id.clone());
                return (new, None);
            }
            _ => {}
        }
        let newest = self.reference.version();
        let version = newest - random.usize(..=newest.min(3));
        let known = self.reference.text(version);
        let from = next_boundary(known, random.usize(..=known.len()));
        let to = next_boundary(known, from + random.usize(1..12));
        (new.version, new.passage) = (Some(Version(version as u64)), Some((from, to)));
        (new, Some((version, from, to)))
    }
}

impl CommentWish {
    /// Checks the thread that is the answer.
    pub fn check_answer(
        &self,
        thread: &CommentThread,
        reference: &ReferenceDocument,
    ) -> CheckResult {
        let comments = &thread.content.comments;
        let last = comments.last().map(|it| it.text.as_str());
        let is_done = match self {
            Self::Begin { text, .. } | Self::Write { text } => last == Some(text),
            Self::Resolve { on } => thread.content.resolved.is_some() == *on,
            Self::Delete { comment } => comments.iter().any(|it| it.id == *comment && it.deleted),
        };
        ensure(AcknowledgedIsDurable, is_done, || format!("{thread:?}"))?;
        let Self::Begin { passage: Some((version, from, to)), .. } = self else { return Ok(()) };
        let anchor = thread.anchor.as_ref().unwrap();
        let here = reference.text(thread.version.0 as usize);
        let stands = here.slice(anchor.from..anchor.to).unwrap_or_default();
        ensure(ThreadsFollowTheirWords, stands == thread.content.quote, || {
            format!("{thread:?} is on {stands:?}")
        })?;
        let (mut from, mut to) = (*from, *to);
        for entry in &reference.entries[*version..thread.version.0 as usize] {
            from = map_position(from, MapSide::After, &entry.sections);
            to = map_position(to, MapSide::Before, &entry.sections);
            if from >= to {
                // Its words were replaced, which the quotation shows.
                return Ok(());
            }
        }
        ensure(ThreadsFollowTheirWords, (anchor.from, anchor.to) == (from, to), || {
            format!("{thread:?} was begun on {from}..{to}")
        })
    }

    /// Returns what happened, for the counts.
    pub fn event(&self, thread: &CommentThread) -> &'static str {
        match self {
            Self::Begin { .. } if thread.content.about.is_some() => "commented on a change",
            Self::Begin { passage: Some((version, ..)), .. }
                if *version < thread.version.0 as usize =>
            {
                "commented late"
            }
            Self::Begin { .. } => "commented",
            Self::Write { .. } => "answered in a thread",
            Self::Resolve { .. } => "thread resolved or reopened",
            Self::Delete { .. } => "comment deleted",
        }
    }
}
