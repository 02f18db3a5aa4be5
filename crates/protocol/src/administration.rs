//! Looking after a server, for owners: what models cost and its limits, work in progress, storage,
//! and the deletion of a person's data.
//!
//! Money is in US dollars. A month is a calendar month in UTC.

use super::names::{PersonState, PrivateDocuments, SpendingLimitKind, WorkState};
use super::people::Person;
use copydesk_macros::wire;

/// Payload of `spending:get`, and query of `GET /api/v1/spending`.
#[wire(Deserialize, TS)]
pub struct ReadSpending {
    /// Month such as `2026-11`; missing: this one.
    pub month: Option<String>,
}

/// Payload of `spending:limit`, and body of `PUT /api/v1/spending/limits`. Unknown fields are
/// refused, because a misspelled one could make another limit than was meant.
#[wire(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SetSpendingLimit {
    /// Calls of models that the limit is about.
    #[serde(rename = "for")]
    pub kind: SpendingLimitKind,
    /// Identifier of the person or document; missing with `server` and `everyone`.
    #[serde(default)]
    pub id: Option<String>,
    /// Limit of a month, from 0 to 1,000,000; `null` removes the limit.
    #[null]
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(range(min = 0, max = 1_000_000))]
    #[cfg_attr(test, ts(optional = false))]
    pub usd: Option<f64>,
}

/// Cost of models in a month, and the limits in force: answer of `spending:get` and
/// `spending:limit`, and of `GET /api/v1/spending`.
#[wire(Serialize, TS, camelCase, null)]
pub struct MonthSpending {
    /// Month, such as `2026-11`.
    pub month: String,
    /// Time at which the next month begins, in RFC 3339: limits renew.
    pub renews_at: String,
    /// Cost of all calls.
    pub usd: f64,
    /// Limit of the whole server; `null`: none.
    pub limit_usd: Option<f64>,
    /// Limit of each person who has no limit of their own; `null`: none.
    pub person_limit_usd: Option<f64>,
    /// People, the highest sum first, at most 500 and those who have a limit.
    pub people: Vec<SpendingLine>,
    /// Documents, the highest sum first, at most 500 and those that have a limit.
    pub documents: Vec<SpendingLine>,
    /// Models whose price is not known: their calls are in no sum.
    pub unpriced: Vec<UnpricedModel>,
}

/// Cost of the calls for a person, or about a document.
#[wire(Serialize, TS, camelCase, null)]
pub struct SpendingLine {
    /// Identifier of the person or document; `null`: calls about no document.
    pub id: Option<String>,
    /// Name of the person, or title of the document; `null` if it is not known.
    pub name: Option<String>,
    /// Cost of the calls.
    pub usd: f64,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls whose price is not known; they are not in `usd`.
    pub unpriced_calls: u64,
    /// Tokens sent and received.
    pub tokens: u64,
    /// Limit of this person or document; `null`: none of its own.
    pub limit_usd: Option<f64>,
}

/// Calls of a model whose price is not known.
#[wire(Serialize, TS)]
pub struct UnpricedModel {
    /// Name of the model, as its provider has it.
    pub model: String,
    /// Number of calls whose price is not known.
    pub calls: u64,
    /// Tokens sent and received.
    pub tokens: u64,
}

/// Work in progress on the server: answer of `server:work` and `GET /api/v1/server/work`.
#[wire(Serialize, TS, camelCase)]
pub struct WorkInProgress {
    /// Runs that have not ended, oldest first, at most 500.
    pub runs: Vec<UnfinishedRun>,
    /// Number of runs beyond those.
    pub runs_left_out: usize,
    /// Number of requests that wait for people.
    pub open_requests: usize,
}

/// Run that has not ended.
#[wire(Serialize, TS, camelCase, null)]
pub struct UnfinishedRun {
    /// Session that asked.
    pub session_id: String,
    /// Identifier of the run within its session.
    pub request_id: String,
    /// Person who asked.
    pub by: Person,
    /// Document that it is about; `null`: none.
    pub document_id: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// State of the run.
    pub state: WorkState,
    /// Time at which it was asked for, in RFC 3339.
    pub created_at: String,
}

/// Payload of `server:stop`, and body of `POST /api/v1/server/stop`.
#[wire(Deserialize, TS, camelCase)]
pub struct StopRun {
    /// Session of the run.
    pub session_id: String,
    /// Identifier of the run within its session.
    pub request_id: String,
}

/// Sizes of what is stored: answer of `server:storage` and `GET /api/v1/server/storage`.
#[wire(Copy, Serialize, TS, camelCase)]
pub struct StoredSizes {
    /// Number of documents in lists.
    pub documents: u64,
    /// Number of documents in the trash.
    pub deleted_documents: u64,
    /// Bytes of all stored texts: versions of documents from which others are computed.
    pub text_bytes: u64,
    /// Number of updates of all documents.
    pub updates: u64,
    /// Bytes of their change sets.
    pub update_bytes: u64,
    /// Bytes of the whole database, its free space included.
    pub database_bytes: u64,
}

/// Payload of `person:preview`.
#[wire(Deserialize, TS)]
pub struct NamePerson {
    /// Identifier of the person: any user that they are or were.
    pub id: String,
}

/// Payload of `person:delete`. Unknown fields are refused, because a misspelled one could delete
/// other things than were meant.
#[wire(Deserialize, TS, camelCase)]
#[serde(deny_unknown_fields)]
pub struct DeletePerson {
    /// Identifier of the person: any user that they are or were.
    pub id: String,
    /// Treatment of the person's private documents; missing: they stay.
    pub private_documents: Option<PrivateDocuments>,
}

/// Stored data of a person, and the effect of a deletion: answer of `person:preview` and `GET
/// /api/v1/people/{user}`.
#[wire(Serialize, TS, camelCase, null)]
pub struct PersonPreview {
    /// Identifier of the person: that of their login, if they have one.
    pub id: String,
    /// Other users that they were, before tokens were tied to their login.
    pub former_ids: Vec<String>,
    /// Name that others see.
    pub name: String,
    /// Mail address of the login; `null`: none.
    pub email: Option<String>,
    /// State of the data.
    pub state: PersonState,
    /// Reason why the person cannot be deleted, in words; `null`: they can.
    pub obstacle: Option<String>,
    /// Runs that have not ended, which would be stopped.
    pub unfinished_runs: usize,
    /// Requests of the person's conversations that wait for people, most of which would be
    /// withdrawn.
    pub waiting_requests: u64,
    /// Records that would be deleted.
    pub deleted: DeletedRecords,
    /// Records in which the name would be replaced.
    pub renamed: RenamedRecords,
    /// Records that would stay as they are.
    pub kept: KeptRecords,
    /// Documents that only this person can see.
    pub private_documents: Vec<PrivateDocument>,
}

/// Numbers of records that the deletion of a person deletes.
#[wire(Copy, Serialize, TS)]
pub struct DeletedRecords {
    /// Logins.
    pub logins: u64,
    /// Sessions with their conversations.
    pub conversations: u64,
    /// Entries of these conversations: questions, answers, results.
    pub messages: u64,
    /// Runs of the agent.
    pub runs: u64,
    /// Stored answers to programs.
    pub answers: u64,
    /// Spending limits of the person.
    pub limits: u64,
}

/// Numbers of records in which the deletion of a person replaces their name.
#[wire(Copy, Serialize, TS)]
pub struct RenamedRecords {
    /// Tokens, which are revoked.
    pub tokens: u64,
    /// Requests that name the person.
    pub requests: u64,
    /// Decisions of the person.
    pub decisions: u64,
    /// Rules that name the person.
    pub rules: u64,
    /// Threads of comments that name the person.
    pub threads: u64,
}

/// Numbers of records that the deletion of a person keeps as they are.
#[wire(Copy, Serialize, TS, camelCase)]
pub struct KeptRecords {
    /// Updates of texts, which have the identifier of their author and no name.
    pub updates: u64,
    /// Lines of the audit log, with the name where they have one.
    pub audit_lines: u64,
    /// Sums of spending, which have the identifier of the person and no name.
    pub spending: u64,
}

/// Document that only one person can see.
#[wire(Serialize, TS, camelCase)]
pub struct PrivateDocument {
    /// Identifier of the document.
    pub id: String,
    /// Title of the document.
    pub title: String,
    /// Number of updates.
    pub version: u64,
    /// Time of the last change, in RFC 3339.
    pub updated_at: String,
}

/// Deletion of a person's data: answer of `person:delete` and `DELETE /api/v1/people/{user}`.
#[wire(Serialize, TS, camelCase, null)]
pub struct PersonDeletion {
    /// Identifier of the person: that of their login, if they had one.
    pub id: String,
    /// State of the data: `deleting` or `deleted`.
    pub state: PersonState,
    /// Time of the beginning, in RFC 3339.
    pub begun_at: String,
    /// Time of the end, in RFC 3339; `null` while it is under way.
    pub ended_at: Option<String>,
    /// Records that are deleted, as they were counted at the beginning.
    pub deleted: DeletedRecords,
    /// Records in which the name is replaced.
    pub renamed: RenamedRecords,
    /// Records that stay as they are.
    pub kept: KeptRecords,
    /// Number of private documents that are deleted.
    pub private_documents: u64,
}
