//! Threads of comments on passages, on changes of requests, and on whole documents. No input or
//! output.
//!
//! A [`CommentThread`] moves with its words: [`AnchorUpdate`] takes it over one committed update at
//! a time. `rules` says who may write, edit, delete and resolve, and how much.

mod anchor;
mod invariants;
mod rules;
mod thread;

#[cfg(test)]
mod tests;

pub use anchor::{AnchorMove, AnchorUpdate, CommentAnchor, LONGEST_QUOTE, MovedPassage};
pub use rules::{
    CommentError, CommentInput, LONGEST_COMMENT, MOST_COMMENTS, MOST_OF_A_RUN, MOST_OPEN_THREADS,
    MOST_THREADS, PartOfAi, ThreadPlace,
};
pub use thread::{
    AI, AiOrigin, AiQuestion, Comment, CommentThread, CommentedChange, Resolution, ThreadContent,
    ThreadProposal, ThreadStatus,
};
