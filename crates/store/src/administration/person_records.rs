//! Records of the deletion of a person's data: the deletion, and rows that are changed by it.

use serde_json::Value;

use copydesk_ids::UserId;

/// Deletion of a person's data.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonDeletion {
    /// User under whom the person is deleted: that of their login, if they have one.
    pub person: UserId,
    /// All users of the person, `person` first.
    pub users: Vec<UserId>,
    /// Time of its beginning, in ms.
    pub begun_ms: u64,
    /// Time of its end, in ms; `None`: it is under way.
    pub ended_ms: Option<u64>,
    /// State of the deletion, as `api` writes it.
    pub body: Value,
}

/// Table with rows that belong to people or name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PersonTable {
    /// Requests.
    Requests,
    /// Parts of open requests.
    RequestParts,
    /// Rules, ended ones too.
    Rules,
    /// Threads of comments.
    CommentThreads,
    /// Numbers of comments that people have read.
    CommentReads,
    /// Mentions of people in comments.
    CommentMentions,
    /// Runs. Of a person's own, only those that have ended are found.
    Runs,
    /// Transcripts.
    Messages,
    /// Deliveries of webhooks that wait.
    Outbox,
    /// Answers to writes with an idempotency key.
    Idempotency,
    /// Answers to programs of the Messages API.
    Answers,
    /// Sessions. Of a person's own, those with a private document are not found.
    Sessions,
    /// Decisions. Of a person's own, only those that have another name are found.
    Decisions,
}

/// Key of a row: two texts and a number, as far as its table has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowKey {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) number: i64,
}

/// Row that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRow {
    /// Key of the row.
    pub key: RowKey,
    /// Text in which people are named, as JSON; empty if the row was not searched by it.
    pub body: String,
    /// Role of a message; empty for other rows.
    pub role: String,
}

/// Subject for which rows are searched.
#[derive(Clone, Copy, Debug)]
pub enum PersonSearch<'a> {
    /// Rows whose text contains these words, as they are written in JSON.
    Naming(&'a str),
    /// Rows that belong to a user.
    OwnedBy(&'a UserId),
}

/// Change of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonRowOp {
    /// Replaces the text of a row, unless it has changed since it was found.
    Replace {
        /// Table of the row.
        table: PersonTable,
        /// Row as it was found.
        row: PersonRow,
        /// New text.
        body: String,
    },
    /// Removes a row.
    Remove(PersonTable, RowKey),
    /// Gives a decision of a deleted person the neutral name.
    RenameDecision(RowKey),
}

impl PersonRowOp {
    /// Returns the bytes of its texts, which can be long.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Replace { row, body, .. } => row.body.len() + body.len(),
            Self::Remove(..) | Self::RenameDecision(_) => 0,
        }
    }
}
