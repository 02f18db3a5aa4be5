//! Stored data of a person, in numbers.

use serde::{Deserialize, Serialize};

use crate::database::columns::list;
use crate::{DocumentRecord, RunRecord, Store, StoreResult};
use copydesk_ids::UserId;
use copydesk_macros::record;

/// Numbers of records that belong to a person or name them.
#[record(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonCounts {
    /// Tokens, ended ones too.
    pub tokens: u64,
    /// Logins.
    pub logins: u64,
    /// Sessions, each with the conversations of a client.
    pub sessions: u64,
    /// Entries of their transcripts.
    pub messages: u64,
    /// Runs, ended or not.
    pub runs: u64,
    /// Stored answers to programs, and to writes with a key.
    pub answers: u64,
    /// Spending limits of the person.
    pub limits: u64,
    /// Requests that name the person.
    pub requests: u64,
    /// Requests of the person's sessions that wait for people.
    pub open_requests: u64,
    /// Decisions of the person.
    pub decisions: u64,
    /// Rules that name the person.
    pub rules: u64,
    /// Threads of comments that name the person.
    #[serde(default)]
    pub threads: u64,
    /// Updates of texts by the person.
    pub updates: u64,
    /// Lines of the audit log that name the person.
    pub audit_lines: u64,
    /// Sums of spending of the person.
    pub spending: u64,
}

/// Counts everything. The first value is the list of users.
const COUNTS: &str = "WITH own AS (SELECT value ->> 0 AS id FROM json_each($1)),
     own_sessions AS (SELECT id FROM sessions WHERE user_id IN (SELECT id FROM own))
 SELECT
     (SELECT COUNT(*) FROM tokens WHERE user_id IN (SELECT id FROM own)) AS tokens,
     (SELECT COUNT(*) FROM logins WHERE user_id IN (SELECT id FROM own)) AS logins,
     (SELECT COUNT(*) FROM own_sessions) AS sessions,
     (SELECT COUNT(*) FROM messages WHERE session IN (SELECT id FROM own_sessions)) AS messages,
     (SELECT COUNT(*) FROM runs WHERE user_id IN (SELECT id FROM own)) AS runs,
     (SELECT COUNT(*) FROM answers WHERE user_id IN (SELECT id FROM own))
         + (SELECT COUNT(*) FROM idempotency WHERE user_id IN (SELECT id FROM own)) AS answers,
     (SELECT COUNT(*) FROM spending_limits
      WHERE kind = 'person' AND subject IN (SELECT id FROM own)) AS limits,
     (SELECT COUNT(*) FROM requests
      WHERE EXISTS (SELECT 1 FROM own WHERE requests.body LIKE '%' || own.id || '%')) AS requests,
     (SELECT COUNT(*) FROM requests
      WHERE is_open AND session IN (SELECT id FROM own_sessions)) AS open_requests,
     (SELECT COUNT(*) FROM decisions WHERE user_id IN (SELECT id FROM own)) AS decisions,
     (SELECT COUNT(*) FROM rules
      WHERE EXISTS (SELECT 1 FROM own WHERE rules.body LIKE '%' || own.id || '%')) AS rules,
     (SELECT COUNT(*) FROM comment_threads
      WHERE EXISTS (SELECT 1 FROM own WHERE comment_threads.body LIKE '%' || own.id || '%'))
         AS threads,
     (SELECT COUNT(*) FROM updates WHERE author IN (SELECT id FROM own)) AS updates,
     (SELECT COUNT(*) FROM audit WHERE actor IN (SELECT id FROM own)
          OR EXISTS (SELECT 1 FROM own WHERE audit.detail LIKE '%' || own.id || '%'))
         AS audit_lines,
     (SELECT COUNT(*) FROM spending WHERE user_id IN (SELECT id FROM own)) AS spending";

impl Store {
    /// Counts what is stored of a person. Slow, but no other query waits.
    pub async fn person_counts(&self, users: &[UserId]) -> StoreResult<PersonCounts> {
        Ok(self.one(COUNTS, &[&list(users)]).await?.unwrap_or_default())
    }

    /// Returns the private documents of a person that are not deleted, oldest first.
    pub async fn private_documents_of(&self, users: &[UserId]) -> StoreResult<Vec<DocumentRecord>> {
        let sql = "SELECT * FROM documents WHERE deleted = FALSE AND unlisted_owner IN
                 (SELECT id FROM sessions
                  WHERE user_id IN (SELECT value ->> 0 FROM json_each($1)))
             ORDER BY created_ms, id";
        self.all(sql, &[&list(users)]).await
    }

    /// Returns the runs of a person that have not ended, oldest first.
    pub async fn unfinished_runs_of(&self, users: &[UserId]) -> StoreResult<Vec<RunRecord>> {
        let sql = "SELECT * FROM runs WHERE finished_ms IS NULL
                 AND user_id IN (SELECT value ->> 0 FROM json_each($1))
             ORDER BY created_ms, id";
        self.all(sql, &[&list(users)]).await
    }
}
