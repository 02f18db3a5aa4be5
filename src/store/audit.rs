//! The audit log as a chain: every line carries a hash over itself and the line before.
//!
//! The chain shows that a line in the middle was changed, removed or put in between. Somebody who can
//! write the whole file can also write a new chain; that is found by comparing with a copy of
//! [`AuditHead`] that was kept elsewhere.

use std::fmt::Write as _;

use futures_util::TryStreamExt;
use serde_json::json;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection};

use crate::ids::{DocumentId, RequestId};

use super::records::{AuditEntry, AuditRecord};
use super::rows::{self, int};
use super::{Store, StoreError};

/// What the first line follows.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The last line of a log in which every line follows from the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// How many lines there are.
    pub seq: u64,
    /// The hash of the last one; [`GENESIS`] if there are none.
    pub hash: String,
}

/// Adds a line. The writer's transaction holds the write lock, so nobody else can follow the same line.
pub(super) async fn append(
    db: &mut SqliteConnection,
    entry: &AuditEntry,
) -> Result<(), StoreError> {
    let last: Option<(i64, String)> =
        sqlx::query_as("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
            .fetch_optional(&mut *db)
            .await?;
    let (last, prev_hash) = last.unwrap_or_else(|| (0, GENESIS.to_owned()));
    let seq = last.unsigned_abs() + 1;
    let detail = entry.detail.to_string();
    sqlx::query(
        "INSERT INTO audit
             (seq, at_ms, actor, action, document, request, detail, prev_hash, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(int(seq))
    .bind(int(entry.at_ms))
    .bind(&entry.actor)
    .bind(&entry.action)
    .bind(entry.document.as_ref().map(DocumentId::as_str))
    .bind(entry.request.as_ref().map(RequestId::as_str))
    .bind(&detail)
    .bind(&prev_hash)
    .bind(hash(&prev_hash, seq, entry, &detail))
    .execute(db)
    .await?;
    Ok(())
}

impl Store {
    /// Reads the whole audit log and checks that every line follows from the one before.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] naming the first line that does not.
    pub async fn verify_audit(&self) -> Result<AuditHead, StoreError> {
        let mut head = AuditHead { seq: 0, hash: GENESIS.to_owned() };
        let mut lines = sqlx::query("SELECT * FROM audit ORDER BY seq").fetch(self.readers());
        while let Some(row) = lines.try_next().await? {
            head = follow(&head, &rows::audit(&row)?, row.try_get("detail")?)?;
        }
        Ok(head)
    }
}

/// The head after `line`, if `line` follows `head`.
fn follow(head: &AuditHead, line: &AuditRecord, detail: &str) -> Result<AuditHead, StoreError> {
    let broken =
        |reason: &str| Err(StoreError::corrupt(format!("audit line {}", line.seq), reason));
    if line.seq != head.seq + 1 {
        return broken(&format!("line {} is missing", head.seq + 1));
    }
    if line.prev_hash != head.hash {
        return broken("it does not follow the line before it");
    }
    if line.hash != hash(&head.hash, line.seq, &line.entry, detail) {
        return broken("its content does not match its hash");
    }
    Ok(AuditHead { seq: line.seq, hash: line.hash.clone() })
}

/// `detail` is the text that is stored: reading and writing JSON again may change how a number looks
/// or the order of keys.
fn hash(prev_hash: &str, seq: u64, entry: &AuditEntry, detail: &str) -> String {
    let AuditEntry { at_ms, actor, action, document, request, detail: _ } = entry;
    // A JSON array: no two different lines have the same text, whatever is in the fields.
    let line = json!([
        seq,
        at_ms,
        actor,
        action,
        document.as_ref().map(DocumentId::as_str),
        request.as_ref().map(RequestId::as_str),
        detail,
    ]);
    hex(&Sha256::digest(format!("{prev_hash}\n{line}")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}
