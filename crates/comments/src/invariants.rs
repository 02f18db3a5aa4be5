//! Invariants of threads, for the check of stored data.

use copydesk_document::Text;
use copydesk_ids::CommentId;

use crate::rules::{LONGEST_COMMENT, MOST_COMMENTS};
use crate::thread::{Comment, CommentThread};

impl CommentThread {
    /// Returns the contradictions within the thread, whatever the text is.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let comments = &self.content.comments;
        if !(1..=MOST_COMMENTS).contains(&comments.len()) || self.is_deleted() {
            found.push(format!("it has {} comments, and none or all are deleted", comments.len()));
        }
        for (index, comment) in comments.iter().enumerate() {
            let id = &comment.id;
            if *id != CommentId::of(&self.id, index + 1) {
                found.push(format!("{id} is in the place of comment {}", index + 1));
            }
            if comment.author.user.as_str().is_empty() {
                found.push(format!("{id} has no writer"));
            }
            if comment.deleted != comment.text.is_empty() {
                found.push(format!("{id} is deleted and has a text, or has none and is not"));
            }
            if comment.ai.as_ref().is_some_and(|ai| ai.asked_by.user.as_str().is_empty()) {
                found.push(format!("{id} is of the AI, which nobody asked"));
            }
            if let Some(ai) = comment.ai.as_ref().filter(|ai| ai.call.is_none()) {
                let of_run = |it: &Comment| {
                    it.ai.as_ref().is_some_and(|it| it.run == ai.run && it.call.is_none())
                };
                let is_asked = |it: &Comment| {
                    it.question.as_ref().is_some_and(|question| question.run == ai.run)
                };
                if comments.iter().filter(|it| of_run(it)).count() > 1
                    || !comments[..index].iter().any(is_asked)
                {
                    found
                        .push(format!("{id} is no answer to a comment before it, or not the only"));
                }
            }
            if comment.text.chars().count() > LONGEST_COMMENT {
                found.push(format!("{id} is too long"));
            }
        }
        found
    }

    /// Returns what is wrong with the positions in the text of the thread's version.
    pub fn misplaced_in(&self, text: &Text) -> Option<String> {
        let anchor = self.anchor.as_ref()?;
        let (from, to) = (anchor.from, anchor.to);
        let is_placed = from <= to && text.is_boundary(from) && text.is_boundary(to);
        let is_empty = from == to && !anchor.is_orphaned && self.content.about.is_none();
        if is_placed && !is_empty {
            return None;
        }
        Some(format!("it is at {from} to {to}, which is no passage of the text"))
    }
}
