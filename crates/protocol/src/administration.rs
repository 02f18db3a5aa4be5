//! Looking after a server, for owners: what models cost and its limits, work in progress, storage.
//!
//! Money is in US dollars. A month is a calendar month in UTC.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::names::{SpendingLimitKind, WorkState};
use super::server::Person;

/// Payload of `spending:get`, and query of `GET /api/v1/spending`.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ReadSpending {
    /// Month such as `2026-11`; missing: this one.
    pub month: Option<String>,
}

/// Payload of `spending:limit`, and body of `PUT /api/v1/spending/limits`. Unknown fields are
/// refused, because a misspelled one could make another limit than was meant.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct SetSpendingLimit {
    /// Calls of models that the limit is about.
    #[serde(rename = "for")]
    pub kind: SpendingLimitKind,
    /// Identifier of the person or document; missing with `server` and `everyone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Limit of a month, from 0 to 1,000,000; `null` removes the limit.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(range(min = 0, max = 1_000_000))]
    #[cfg_attr(test, ts(optional = false))]
    pub usd: Option<f64>,
}

/// What models have cost in a month, and the limits in force: answer of `spending:get` and
/// `spending:limit`, and of `GET /api/v1/spending`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
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

/// What the calls for a person, or about a document, have cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct UnpricedModel {
    /// Name of the model, as its provider has it.
    pub model: String,
    /// Number of calls whose price is not known.
    pub calls: u64,
    /// Tokens sent and received.
    pub tokens: u64,
}

/// What the server is working on: answer of `server:work` and `GET /api/v1/server/work`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct WorkInProgress {
    /// Runs that have not ended, oldest first, at most 500.
    pub runs: Vec<UnfinishedRun>,
    /// Number of runs beyond those.
    pub runs_left_out: usize,
    /// Number of requests that wait for people.
    pub open_requests: usize,
}

/// Run that has not ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct StopRun {
    /// Session of the run.
    pub session_id: String,
    /// Identifier of the run within its session.
    pub request_id: String,
}

/// Sizes of what is stored: answer of `server:storage` and `GET /api/v1/server/storage`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
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
