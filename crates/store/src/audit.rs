//! Audit log as a chain: every line carries a hash over itself and the line before.
//!
//! The chain shows that a line in the middle was changed, removed or inserted. Anyone who can write
//! the whole file can also write a new chain, which is found by comparing with a copy of
//! [`AuditHead`] kept elsewhere.

use serde_json::json;
use sha2::{Digest, Sha256};

use copydesk_ids::{DocumentId, RequestId, hex};
use copydesk_macros::record;

use super::records::{AuditEntry, AuditRecord};
use super::{AuditFacts, Store, StoreError, StoreResult, settings};
use crate::database::connection::WriterConnection;
use crate::database::reading::StoreRow;
use crate::database::statement_batch::StatementBatch;

/// Hash that the first line follows.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Key of the setting that stores how far the log reaches, so that a truncated log is detected.
pub(super) const HEAD: &str = "audit.head";

/// Returns the hash by which the audit log knows the text that a document was made with.
pub fn text_hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Last line of a log in which every line follows from the one before.
#[record(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    /// Number of lines.
    pub seq: u64,
    /// Hash of the last line; [`GENESIS`] if there are none.
    pub hash: String,
}

/// Appends a line after `head` and moves `head` to it. The writer's transaction holds the write
/// lock, so no other process can append meanwhile; another process may have done so before.
pub(super) fn append(script: &mut StatementBatch<'_>, head: &mut AuditHead, entry: &AuditEntry) {
    let AuditHead { seq, hash: prev_hash } = std::mem::take(head);
    let seq = seq + 1;
    let detail = entry.detail.to_string();
    let line_hash = hash(&prev_hash, seq, entry, &detail);
    let AuditEntry { at_ms, actor, action, document, request, .. } = entry;
    let sql = "INSERT INTO audit
             (seq, at_ms, actor, action, document, request, detail, prev_hash, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let (before, after) = (&prev_hash, &line_hash);
    script.run(sql, &[&seq, at_ms, actor, action, document, request, &detail, before, after]);
    script.must_follow();
    *head = AuditHead { seq, hash: line_hash };
}

pub(super) fn note_head(script: &mut StatementBatch<'_>, head: &AuditHead) {
    settings::put(script, HEAD, &format!("{} {}", head.seq, head.hash));
}

pub(super) async fn head(db: &mut WriterConnection) -> StoreResult<AuditHead> {
    let last = db.one("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", &[]).await?;
    Ok(last.unwrap_or_default())
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

impl Store {
    /// Reads the whole audit log and checks that every line follows from the one before.
    pub async fn verify_audit(&self) -> StoreResult<AuditHead> {
        let AuditFacts { head, flaws, .. } = self.inspect().await?.audit().await?;
        match flaws.into_iter().next() {
            Some(AuditFlaw { line, reason }) => {
                Err(StoreError::corrupt(format!("audit line {line}"), &reason))
            }
            None => Ok(head),
        }
    }
}

/// Line that breaks the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFlaw {
    /// Number of the line at which the flaw shows.
    pub line: u64,
    /// Description of the flaw.
    pub reason: String,
}

/// Check of the chain that goes on after a flaw, so that all flaws are found.
#[derive(Default)]
pub(super) struct AuditWalk {
    head: AuditHead,
    flaws: Vec<AuditFlaw>,
}

impl AuditWalk {
    pub(super) fn step(&mut self, row: &StoreRow) -> StoreResult<Option<AuditRecord>> {
        let (seq, stated): (i64, String) = (row.column("seq")?, row.column("hash")?);
        let seq = seq.unsigned_abs();
        let line = row.record::<AuditRecord>().map_err(StoreError::from);
        match &line {
            Ok(line) => {
                let detail: String = row.column("detail")?;
                if let Some(reason) = self.head.flaw(line, &detail) {
                    self.flaws.push(AuditFlaw { line: seq, reason });
                }
            }
            Err(error) => self.flaws.push(AuditFlaw {
                line: seq,
                reason: format!("its content cannot be read: {error}"),
            }),
        }
        self.head = AuditHead { seq, hash: stated };
        Ok(line.ok())
    }

    /// Returns the last line read, and all flaws; `known` is the stored end of the log.
    pub(super) fn end(mut self, known: Option<&str>) -> (AuditHead, Vec<AuditFlaw>) {
        let AuditHead { seq, hash } = &self.head;
        let is_whole = match known {
            Some(known) => known == format!("{seq} {hash}"),
            None => *seq == 0,
        };
        let last = known.and_then(|known| known.split(' ').next()).unwrap_or("0");
        // A changed last line has been reported as such.
        if !is_whole && (self.flaws.is_empty() || last != seq.to_string()) {
            let reason = format!("the log ends here, but it is known to reach to line {last}");
            self.flaws.push(AuditFlaw { line: *seq, reason });
        }
        (self.head, self.flaws)
    }
}

impl AuditHead {
    fn flaw(&self, line: &AuditRecord, detail: &str) -> Option<String> {
        if line.seq != self.seq + 1 {
            return Some(format!("line {} is missing", self.seq + 1));
        }
        if line.prev_hash != self.hash {
            return Some("it does not follow the line before it".to_owned());
        }
        (line.hash != hash(&self.hash, line.seq, &line.entry, detail))
            .then(|| "its content does not match its hash".to_owned())
    }
}

/// Hashes a line. `detail` is the stored text: reading and writing JSON again may change how a
/// number looks or the order of keys.
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
