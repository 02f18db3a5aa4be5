//! Remarks beside the text: what this server says about a change, and threads of comments.

use std::sync::Arc;

use super::{escape, time};
use copydesk_approvals::{ApprovalRequest, ClaimedAuthor, Hunk};
use copydesk_comments::{Comment, CommentThread};

/// Longest quotation in a remark, in characters.
const LONGEST_QUOTE: usize = 200;

/// Author and time of a pending change or a comment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangeSignature {
    /// Author as "AI for NAME": the model wrote it, the person asked for it; the name in the file
    /// for a change that came with an imported one.
    pub author: String,
    /// Time of the request or comment, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Remark beside the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnnotationRemark {
    pub signature: Arc<ChangeSignature>,
    /// Text, in one line if this server says it; empty if there is nothing to add to the author.
    pub text: String,
    /// Discussion that the text begins; `None` if this server says it.
    pub thread: Option<RemarkThread>,
}

/// Discussion on a passage or a change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RemarkThread {
    pub replies: Vec<(ChangeSignature, String)>,
    pub is_resolved: bool,
    /// Words that it was on before they were deleted.
    pub deleted_words: Option<String>,
    /// Words of its passage as they are now.
    pub words: String,
    pub place: RemarkPlace,
}

/// Place of a [`RemarkThread`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RemarkPlace {
    #[default]
    Document,
    /// Passage, whose beginning is marked in the text as its end is.
    Passage,
    Point,
}

impl AnnotationRemark {
    /// Returns the comments of a thread; `None` if all are deleted.
    pub fn of_thread(thread: &CommentThread) -> Option<Self> {
        let content = &thread.content;
        let mut comments = content.comments.iter().filter(|comment| !comment.deleted);
        let first = comments.next()?;
        let anchor = thread.anchor.as_ref();
        let is_on_words = anchor.is_some_and(|it| !it.is_orphaned && it.from < it.to);
        let is_without_words = anchor.is_some() && !is_on_words;
        let reply =
            |comment: &Comment| (ChangeSignature::of_comment(comment), comment.text.clone());
        Some(Self {
            signature: Arc::new(ChangeSignature::of_comment(first)),
            text: first.text.clone(),
            thread: Some(RemarkThread {
                replies: comments.map(reply).collect(),
                is_resolved: content.resolved.is_some(),
                deleted_words: is_without_words.then(|| content.quote.clone()),
                words: String::new(),
                place: match anchor {
                    None => RemarkPlace::Document,
                    Some(_) if is_on_words => RemarkPlace::Passage,
                    Some(_) => RemarkPlace::Point,
                },
            }),
        })
    }

    /// Puts the thread on words that are in the text.
    pub fn on_passage(mut self) -> Self {
        if let Some(thread) = &mut self.thread {
            (thread.deleted_words, thread.place) = (None, RemarkPlace::Passage);
        }
        self
    }

    /// Returns all comments with their authors.
    pub fn comments(&self) -> impl Iterator<Item = (&ChangeSignature, &str)> {
        let replies = self.thread.iter().flat_map(|thread| &thread.replies);
        let replies = replies.map(|(signature, text)| (signature, text.as_str()));
        [(&*self.signature, self.text.as_str())].into_iter().chain(replies)
    }
}

impl ChangeSignature {
    /// Returns the author and time of the changes of a request.
    pub fn of(request: &ApprovalRequest) -> Self {
        let created_ms = request.clock.created_ms;
        if let Some(claimed) = &request.proposal.claimed_author {
            return Self::claimed(claimed, created_ms);
        }
        let name = escape::line(&request.proposal.requester.name);
        let is_own = request.proposal.is_suggestion();
        let author = if is_own { name } else { format!("AI for {name}") };
        Self { author, at_ms: created_ms }
    }

    fn of_comment(comment: &Comment) -> Self {
        if let Some(claimed) = &comment.claimed_author {
            return Self::claimed(claimed, comment.at_ms);
        }
        let author = match &comment.ai {
            Some(ai) => format!("AI for {}", escape::line(&ai.asked_by.name)),
            None => escape::line(&comment.author.name),
        };
        Self { author, at_ms: comment.at_ms }
    }

    fn claimed(author: &ClaimedAuthor, known_ms: u64) -> Self {
        let at_ms = author.at.as_deref().and_then(time::milliseconds);
        Self { author: escape::line(&author.name), at_ms: at_ms.unwrap_or(known_ms) }
    }
}

/// Describes a change that cannot be shown in the text.
pub(super) fn instead(hunk: &Hunk, explanation: &str) -> String {
    let (base, proposed) = (hunk.base(), hunk.proposed());
    let what = match (base.is_empty(), proposed.is_empty()) {
        _ if hunk.is_moved() => format!("would move {}", quoted(&base)),
        (true, _) => format!("would add {}", quoted(&proposed)),
        (false, true) => format!("would remove {}", quoted(&base)),
        (false, false) => format!("would write {} instead of {}", quoted(&proposed), quoted(&base)),
    };
    let explanation = escape::line(explanation);
    if explanation.is_empty() { what } else { format!("{what}: {explanation}") }
}

/// Returns the beginning of a text in one line, in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    let line = escape::line(text);
    let short: String = line.chars().take(LONGEST_QUOTE).collect();
    if short.len() < line.len() { format!("“{short}…”") } else { format!("“{short}”") }
}
