//! Who is to be credited with a stretch of the text, by the names people go by.

use std::sync::Arc;

use super::{ApprovalRule, Person};
use crate::ids::{HunkId, RequestId};

/// A stretch of the text with one author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorSpan {
    /// First UTF-16 unit.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// Who wrote it.
    pub author: SpanAuthor,
    /// When it came into the text, in milliseconds since 1970; typing is dated to the minute.
    pub at_ms: u64,
}

/// Who wrote something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanAuthor {
    /// Nobody in particular: the document was created with it, by this person.
    Beginning(Person),
    /// A person.
    Person(Person),
    /// An AI.
    Ai(AiCredit),
}

/// What is known of words that an AI wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiCredit {
    /// Whom it wrote for.
    pub requester: Person,
    /// The request.
    pub request: RequestId,
    /// Which of its changes, if that is known.
    pub hunk: Option<HunkId>,
    /// Who let it in; nobody where approvals are off.
    pub approver: Option<Person>,
    /// The rule that let it in, in the approver's place; it may have ended since.
    pub rule: Option<Arc<ApprovalRule>>,
    /// Whether a person put other words in place of the proposed ones before they went in.
    pub edited: bool,
}
