//! Authorship of ranges of the text, with the names of people.

use std::sync::Arc;

use super::{ApprovalRule, Person};
use copydesk_ids::{HunkId, RequestId};

/// A range of the text with one author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorSpan {
    /// First UTF-16 unit.
    pub from: usize,
    /// End of the range, exclusive, in UTF-16 units.
    pub to: usize,
    /// Author of the range.
    pub author: SpanAuthor,
    /// Time when the range came into the text, in milliseconds since 1970, typing to the minute.
    pub at_ms: u64,
}

/// Author of an [`AuthorSpan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanAuthor {
    /// No single author: the document was created with this text, by this person.
    Beginning(Person),
    /// A person.
    Person(Person),
    /// An AI.
    Ai(RequestCredit),
    /// Person whom an imported file names as the author of a tracked change.
    Claimed(String, RequestCredit),
    /// Person who suggested it.
    Suggested(RequestCredit),
}

/// Known facts about words that came into the text by a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCredit {
    /// Person who asked the AI or imported the suggestion.
    pub requester: Person,
    /// Request that contained the words.
    pub request: RequestId,
    /// Hunk that contained the words, if known.
    pub hunk: Option<HunkId>,
    /// Person who accepted the words; `None` where approvals are off.
    pub approver: Option<Person>,
    /// Rule that accepted the words in place of the approver; the rule may have ended since.
    pub rule: Option<Arc<ApprovalRule>>,
    /// `true` if a person replaced the proposed words before they were accepted.
    pub edited: bool,
}
