//! Threads and their comments, as they are stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use copydesk_approvals::{ClaimedAuthor, Person, RequestStatus};
use copydesk_ids::{CommentId, HunkId, RequestId, RunId, SessionId, ThreadId, UserId, Version};
use copydesk_macros::names;

use crate::anchor::CommentAnchor;

/// Identifier of the AI, as the author of comments and where one mentions it.
pub const AI: &str = "ai";

/// Thread of comments, at a version of its document. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentThread {
    /// Identifier of the thread.
    pub id: ThreadId,
    /// Version that the positions of `anchor` are of.
    pub version: Version,
    /// Passage that the thread is about; `None`: the whole document, or a whole request.
    pub anchor: Option<CommentAnchor>,
    /// Everything that does not move with the text.
    pub content: Arc<ThreadContent>,
}

/// Contents of a [`CommentThread`] that do not move with the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadContent {
    /// Words of the passage when the thread was begun, cut to
    /// [`LONGEST_QUOTE`](crate::LONGEST_QUOTE).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// Change that the thread is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<CommentedChange>,
    /// Comments in the order in which they were written; the first began the thread.
    pub comments: Vec<Comment>,
    /// Person who resolved the thread, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolution>,
}

/// Change that a thread is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentedChange {
    /// Request of the change.
    pub request: RequestId,
    /// Hunk of the change; `None`: the request as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<HunkId>,
    /// Run that made the request; `None`: a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// Comment of a person or of the AI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Identifier, by its number in the thread.
    pub id: CommentId,
    /// Person who wrote it, or who imported the file that it came with, or the AI
    /// ([`Comment::ai`]).
    pub author: Person,
    /// Author whom that file names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_author: Option<ClaimedAuthor>,
    /// Text; empty if it is deleted.
    pub text: String,
    /// Time of writing, in milliseconds since 1970.
    pub at_ms: u64,
    /// Time of the last edit, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_ms: Option<u64>,
    /// `true` if the text was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Users who are mentioned, or `ai`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    /// Run that answers this comment of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<AiQuestion>,
    /// Origin of a comment that the AI wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai: Option<AiOrigin>,
}

/// Run that answers a comment in its thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AiQuestion {
    /// Session of the run: the conversation of this writer in this thread.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// Requests that the run made in this document, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<ThreadProposal>,
}

impl AiQuestion {
    /// Creates the question that a run answers.
    pub fn new(session: SessionId, run: RunId) -> Self {
        Self { session, run, proposals: Vec::new() }
    }
}

/// State of a request that the answer to a comment made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadProposal {
    /// The request.
    pub request: RequestId,
    /// Its status.
    pub status: RequestStatus,
    /// Number of its changes that were accepted.
    pub accepted: usize,
    /// Number of its changes.
    pub of: usize,
}

/// Origin of a comment that the AI wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AiOrigin {
    /// Person who asked the AI.
    pub asked_by: Person,
    /// Run that wrote it.
    pub run: RunId,
    /// Call of a tool that wrote it; `None`: it is the answer to a comment of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<RequestId>,
    /// Code of the reason why there is no answer, or only a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// End of a discussion, until it is reopened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// Person who resolved the thread.
    pub by: Person,
    /// Time, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Status of a [`CommentThread`].
#[names(Deserialize, Serialize, wire, lowercase)]
pub enum ThreadStatus {
    /// The discussion goes on.
    Open,
    /// A person has ended the discussion.
    Resolved,
    /// The words were deleted, and the discussion goes on.
    Orphaned,
}

impl ThreadContent {
    pub(crate) fn is_answered(&self, run: &RunId) -> bool {
        let of_run = |ai: &AiOrigin| ai.run == *run && ai.call.is_none();
        self.comments.iter().any(|it| it.ai.as_ref().is_some_and(of_run))
    }

    /// Returns the number of questions that the AI has still to answer.
    pub(crate) fn unanswered(&self) -> usize {
        let questions = self.comments.iter().filter(|it| !it.deleted);
        let questions = questions.filter_map(|it| it.question.as_ref());
        questions.filter(|it| !self.is_answered(&it.run)).count()
    }
}

impl CommentThread {
    /// Parses a stored thread: its anchor and its content as JSON.
    pub fn read(
        id: ThreadId,
        version: Version,
        anchor: &str,
        content: &str,
    ) -> serde_json::Result<Self> {
        let anchor = serde_json::from_str(anchor)?;
        let content = Arc::new(serde_json::from_str(content)?);
        Ok(Self { id, version, anchor, content })
    }

    /// Returns the anchor as JSON, as it is stored.
    pub fn anchor_json(&self) -> String {
        // An anchor has numbers and strings: nothing that cannot be serialised.
        serde_json::to_string(&self.anchor).unwrap_or_default()
    }

    /// Returns the content as JSON, as it is stored.
    pub fn content_json(&self) -> String {
        // As in `anchor_json`.
        serde_json::to_string(&*self.content).unwrap_or_default()
    }

    /// Returns the status.
    pub fn status(&self) -> ThreadStatus {
        if self.content.resolved.is_some() {
            ThreadStatus::Resolved
        } else if self.anchor.as_ref().is_some_and(|anchor| anchor.is_orphaned) {
            ThreadStatus::Orphaned
        } else {
            ThreadStatus::Open
        }
    }

    /// Returns the length of all comments, in bytes.
    pub fn text_len(&self) -> usize {
        self.content.comments.iter().map(|comment| comment.text.len()).sum()
    }

    /// Returns `true` if nothing is left of the thread, because all comments were deleted.
    pub fn is_deleted(&self) -> bool {
        self.content.comments.iter().all(|comment| comment.deleted)
    }

    /// Returns the comment that a run answers, unless it was deleted.
    pub fn question(&self, run: &RunId) -> Option<&Comment> {
        let mut comments = self.content.comments.iter().filter(|it| !it.deleted);
        comments.find(|it| it.question.as_ref().is_some_and(|question| question.run == *run))
    }

    /// Returns the session and the run of a comment that is a question to the AI or its answer,
    /// also if it was deleted.
    pub fn asked(&self, id: &CommentId) -> Option<(&SessionId, &RunId)> {
        let comments = &self.content.comments;
        let comment = comments.iter().find(|it| it.id == *id)?;
        let answered = comment.ai.as_ref().filter(|ai| ai.call.is_none()).map(|ai| &ai.run);
        let run = comment.question.as_ref().map(|it| &it.run).or(answered)?;
        let mut questions = comments.iter().filter_map(|it| it.question.as_ref());
        questions.find(|it| it.run == *run).map(|it| (&it.session, &it.run))
    }

    /// Returns `true` if the thread has the answer of a run.
    pub fn has_answer(&self, run: &RunId) -> bool {
        self.content.is_answered(run)
    }

    /// Returns the run of the AI that the thread is of: the newest that answers a comment, or else
    /// the one that wrote the first comment or made the change.
    pub fn run(&self) -> Option<&RunId> {
        let comments = &self.content.comments;
        let asked = comments.iter().rev().find_map(|it| it.question.as_ref().map(|it| &it.run));
        let wrote = comments.iter().find_map(|it| it.ai.as_ref().map(|it| &it.run));
        asked.or(wrote).or(self.content.about.as_ref().and_then(|about| about.run.as_ref()))
    }

    /// Returns the people whom comments mention that are not their own, and for each the number of
    /// the newest such comment.
    pub fn mentioned(&self) -> BTreeMap<UserId, u64> {
        let mut found = BTreeMap::new();
        for (index, comment) in self.content.comments.iter().enumerate() {
            let others = comment.mentions.iter().map(String::as_str);
            let others = others.filter(|user| *user != AI && *user != comment.author.user.as_str());
            found.extend(others.map(|user| (UserId::from(user), index as u64 + 1)));
        }
        found
    }

    /// Returns `true` if the thread is about a change of `request`.
    pub fn is_about(&self, request: &str) -> bool {
        self.content.about.as_ref().is_some_and(|about| about.request.as_str() == request)
    }
}
