//! Threads of comments on passages, on changes of requests, and on whole documents.

use super::client::Range;
use super::names::PermissionMode;
use super::people::Person;
use copydesk_approvals::{ClaimedAuthor, RequestStatus};
use copydesk_comments::ThreadStatus;
use copydesk_macros::wire;

/// Payload of `comment:list`, and query of `GET /api/v1/documents/{id}/comments`.
#[wire(Deserialize, TS, camelCase)]
pub struct ListComments {
    /// The document.
    pub document_id: String,
    /// Only threads with this status.
    pub status: Option<ThreadStatus>,
    /// Only threads that were begun before this one.
    pub before: Option<String>,
    /// At most this many, 1 to 1,000; 100 if missing. A long page may have fewer.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
}

/// Payload of `comment:create`, and body of `POST /api/v1/documents/{id}/comments`: on a passage
/// (`from` and `to`), on a change (`request_id`), or on the whole document.
#[wire(Deserialize, TS)]
pub struct CreateComment {
    /// The document.
    #[serde(rename = "documentId")]
    pub document_id: String,
    /// Version that the positions are of; missing: the newest.
    pub version: Option<u64>,
    /// First UTF-16 code unit of the passage.
    pub from: Option<usize>,
    /// Code unit after the last one.
    pub to: Option<usize>,
    /// Request that the thread is about.
    pub request_id: Option<String>,
    /// Hunk of that request; missing: the request as a whole.
    pub hunk_id: Option<String>,
    /// First comment, 1 to 10,000 characters.
    pub text: String,
    /// Ids of users whom it mentions, and `ai`: the AI is asked, and answers in the thread.
    pub mentions: Option<Vec<String>>,
    /// Way in which the changes of that answer are approved; missing: as in `askClaudeCode`.
    pub permission_mode: Option<PermissionMode>,
    /// Model that answers; missing: the default one.
    pub model: Option<String>,
}

/// Payload of `comment:reply`, and body of `POST /api/v1/comments/{threadId}`.
#[wire(Deserialize, TS, camelCase)]
pub struct ReplyToComment {
    /// The thread.
    pub thread_id: String,
    /// Text of the answer, 1 to 10,000 characters.
    pub text: String,
    /// Ids of users whom it mentions, and `ai`: the AI is asked, and answers in the thread.
    pub mentions: Option<Vec<String>>,
    /// Way in which the changes of that answer are approved; missing: as in `askClaudeCode`.
    #[serde(rename = "permission_mode")]
    pub permission_mode: Option<PermissionMode>,
    /// Model that answers; missing: the default one.
    pub model: Option<String>,
}

/// Payload of `comment:edit`, and body of `PATCH /api/v1/comments/{threadId}/{commentId}`.
#[wire(Deserialize, TS, camelCase)]
pub struct EditComment {
    /// The comment.
    pub comment_id: String,
    /// Its thread, if the address names one.
    pub thread_id: Option<String>,
    /// New text, 1 to 10,000 characters.
    pub text: String,
}

/// Payload of `comment:delete`.
#[wire(Deserialize, TS, camelCase)]
pub struct DeleteComment {
    /// The comment.
    pub comment_id: String,
    /// Its thread, if the address names one.
    pub thread_id: Option<String>,
}

/// Payload of `comment:resolve`, and body of `PATCH /api/v1/comments/{threadId}`.
#[wire(Deserialize, TS, camelCase)]
pub struct ResolveThread {
    /// The thread.
    pub thread_id: String,
    /// `true` to end the discussion, `false` to reopen it.
    pub resolved: bool,
}

/// Payload of `comment:read`, and body of `POST /api/v1/documents/{id}/comments/read`.
#[wire(Deserialize, TS, camelCase)]
pub struct ReadThreads {
    /// The document.
    pub document_id: String,
    /// Threads that were read; missing: all.
    pub thread_ids: Option<Vec<String>>,
}

/// Name of a thread.
#[wire(Deserialize, camelCase)]
pub struct NameThread {
    /// The thread.
    pub thread_id: String,
}

/// Thread of comments. Positions are of the version that comes with it.
#[wire(Serialize, TS)]
pub struct CommentThread {
    /// Identifier of the thread.
    pub id: String,
    /// Document that it is in.
    #[serde(rename = "documentId")]
    pub document_id: String,
    /// Passage; of an orphaned thread the place where its words were, with `to` equal to `from`.
    /// `null`: the whole document, or a whole request.
    #[null]
    #[cfg_attr(test, ts(type = "Range | null"))]
    pub anchor: Option<Range>,
    /// Words of the passage when the thread was begun, at most 1,000 UTF-16 code units.
    pub quote: String,
    /// Status: `open`, `resolved` or `orphaned`.
    pub status: ThreadStatus,
    /// Request that the thread is about.
    pub request_id: Option<String>,
    /// Hunk of that request.
    pub hunk_id: Option<String>,
    /// Run of the AI: the newest one that answers a comment here, or else the one that wrote the
    /// first comment or made that request.
    #[serde(rename = "requestId")]
    pub run_id: Option<String>,
    /// Comments in the order in which they were written. If all are deleted, the thread is gone.
    pub comments: Vec<Comment>,
    /// Person who resolved the thread.
    #[serde(rename = "resolvedBy")]
    pub resolved_by: Option<Person>,
    /// Time at which it was resolved, in RFC 3339.
    #[serde(rename = "resolvedAt")]
    pub resolved_at: Option<String>,
}

/// Comment of a person or of the AI.
#[wire(Serialize, TS, camelCase)]
pub struct Comment {
    /// Identifier of the comment.
    pub id: String,
    /// Person who wrote it, or who imported the file that it came with, or the AI.
    pub author: CommentAuthor,
    /// Author whom that file names; that person has no account here.
    pub claimed_author: Option<ClaimedAuthor>,
    /// Person who asked the AI for a comment that it wrote.
    pub asked_by: Option<Person>,
    /// Run that answers this comment of a person, or that wrote this comment of the AI.
    pub request_id: Option<String>,
    /// `true` as long as that answer is to come.
    pub waiting: Option<bool>,
    /// Requests that the answer to this comment has made in the document, oldest first.
    pub proposals: Option<Vec<ThreadProposal>>,
    /// Code of the reason why the AI gives no answer here, or only a part of one.
    pub reason_code: Option<String>,
    /// Text; empty if it is deleted.
    pub text: String,
    /// Time of writing, in RFC 3339.
    pub at: String,
    /// Time of the last edit, in RFC 3339.
    pub edited_at: Option<String>,
    /// `true` if the text was deleted.
    pub deleted: Option<bool>,
    /// Ids of users whom it mentions, and `ai`.
    pub mentions: Vec<String>,
}

/// Author of a comment.
#[wire(Serialize, TS)]
pub struct CommentAuthor {
    /// Identifier of the person; `ai` for the AI.
    pub id: String,
    /// Name that others see.
    pub name: String,
    /// `true` for the AI.
    pub ai: Option<bool>,
}

/// State of a request that the answer to a comment has made.
#[wire(Serialize, TS)]
pub struct ThreadProposal {
    /// The request.
    pub request_id: String,
    /// Its status.
    pub status: RequestStatus,
    /// Number of its changes that were accepted.
    pub accepted: u64,
    /// Number of its changes.
    pub of: u64,
}

/// Answer of `comment:list` and `GET /api/v1/documents/{id}/comments`, newest thread first.
#[wire(Serialize, TS)]
pub struct ThreadList {
    /// Version that the positions are of.
    pub version: u64,
    /// Threads of this part.
    pub threads: Vec<CommentThread>,
    /// `true` if there are older threads.
    pub more: bool,
    /// Those of `threads` with comments of others that the caller has not read.
    pub unread: Vec<String>,
}

/// Answer of `comment:people` and `GET /api/v1/documents/{id}/comments/people`.
#[wire(Serialize, TS)]
pub struct PeopleToMention {
    /// People who may read the document or have commented on it, by name, at most 1,000.
    pub people: Vec<Person>,
}

/// Answer to an event or a request about one thread.
#[wire(Serialize, TS)]
pub struct ThreadAnswer {
    /// Version that the positions are of.
    pub version: u64,
    /// Thread as it is now.
    pub thread: CommentThread,
}

/// `comment:changed`: a thread was begun or changed, moved elsewhere, or lost its words; for
/// clients that name the capability `comments`. Positions that only map through updates are not
/// sent again: `from` is mapped to after what is inserted there, `to` to before it.
#[wire(Serialize, TS, camelCase)]
pub struct CommentChanged {
    /// Document that the thread is in.
    pub document_id: String,
    /// Version that the positions are of.
    pub version: u64,
    /// Thread as it is now.
    pub thread: CommentThread,
}

/// `comment:unread`: how often a document mentions the person in threads that they have not read,
/// after a comment that mentions them and after each `comment:read`; for all connections of the
/// person that name the capability `comments`.
#[wire(Serialize, TS, camelCase)]
pub struct CommentUnread {
    /// The document.
    pub document_id: String,
    /// Number of threads, resolved ones apart, with a comment that mentions the person and that
    /// they have not read.
    pub mentions: u64,
    /// Threads that the person has just read on one of their devices.
    pub read: Vec<ReadThread>,
}

/// Thread that a person has read.
#[wire(Serialize, TS)]
pub struct ReadThread {
    /// The thread.
    pub id: String,
    /// Number of comments that it had then.
    pub comments: u64,
}
