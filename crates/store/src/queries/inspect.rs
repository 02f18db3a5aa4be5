//! Stored data as it is at one moment, damage included, for the checker.

use std::collections::{BTreeMap, HashMap};

use copydesk_ids::{ClientId, DocumentId, RequestId, ThreadId, UserId, Version};

use crate::administration::document_roles;
use crate::administration::records::DocumentRoleRecord;
use crate::audit::AuditFlaw;
use crate::comments::ReadRow;
use crate::database::columns::{AnyTextColumn, ColumnValue, RowRecord};
use crate::database::reading::{ReadSnapshot, StoreRow};
use crate::records::ThreadRecord;
use crate::records::{
    AuditRecord, DecisionRecord, DocumentRecord, FileRecord, RequestRecord, RuleRecord, RunRecord,
    SessionRecord, TokenRecord, UpdateRecord,
};
use crate::requests::add_parts;
use crate::{AuditHead, Store, StoreError, StoreResult, VersionedText, audit};

/// Triggers that keep the logs append-only (`migrations`).
const GUARDS: [&str; 8] = [
    "updates_stay",
    "updates_remain",
    "placements_stay",
    "placements_remain",
    "decisions_stay",
    "decisions_remain",
    "audit_stays",
    "audit_remains",
];

/// Row that could be read, or the reason why it could not.
pub type InspectedRow<T> = StoreResult<T>;

/// Number of times each action was taken on each request, by request and action.
pub type AuditCounts = BTreeMap<(String, String), u64>;

/// Contents of the audit log that the checker needs, read by [`StoreInspection::audit`].
#[derive(Debug, Default)]
pub struct AuditFacts {
    /// Last line of the log.
    pub head: AuditHead,
    /// Everything that breaks the chain.
    pub flaws: Vec<AuditFlaw>,
    /// Number of times each action was taken on each request.
    pub accounted: AuditCounts,
    /// Lines about rules, and about decisions made by rules; oldest first.
    pub about_rules: Vec<AuditRecord>,
    /// Lines about requests: who asked, who decided; oldest first.
    pub about_requests: Vec<AuditRecord>,
    /// Hashes of the texts that documents were made with. A former version noted none.
    pub first_texts: HashMap<DocumentId, String>,
}

/// View of a [`Store`] at one moment, begun by [`Store::inspect`]. A damaged row is an error in its
/// own place, an [`InspectedRow`]; a method fails if its table cannot be read.
#[derive(Debug)]
pub struct StoreInspection {
    moment: ReadSnapshot,
}

impl Store {
    /// Starts an inspection, which sees this moment until it is dropped.
    pub async fn inspect(&self) -> StoreResult<StoreInspection> {
        Ok(StoreInspection { moment: self.readers().snapshot().await? })
    }
}

impl StoreInspection {
    /// Returns what the database itself finds wrong: in SQLite's file, or in references.
    pub async fn integrity(&mut self) -> StoreResult<Vec<String>> {
        self.moment.integrity().await
    }

    /// Returns the missing ones of the triggers that keep the logs append-only.
    pub async fn missing_guards(&mut self) -> StoreResult<Vec<&'static str>> {
        let there = self.moment.triggers().await?;
        Ok(GUARDS.into_iter().filter(|guard| there.iter().all(|name| name != guard)).collect())
    }

    /// Returns what is in the schema and not copydesk's: a trigger that changes rows, say.
    pub async fn foreign_schema(&mut self) -> StoreResult<Vec<String>> {
        self.moment.foreign_schema(&GUARDS).await
    }

    /// Reads and checks the whole audit log.
    pub async fn audit(&mut self) -> StoreResult<AuditFacts> {
        let mut walk = audit::AuditWalk::default();
        let mut facts = AuditFacts::default();
        let mut after = 0_i64;
        loop {
            let sql = "SELECT * FROM audit WHERE seq > $1 ORDER BY seq LIMIT 1000";
            let page = self.moment.rows(sql, &[&after]).await?;
            let Some(last) = page.last() else { break };
            after = last.column::<i64>("seq")?;
            for row in &page {
                let line = walk.step(row)?;
                facts.about_requests.extend(line.clone().filter(is_about_a_request));
                facts.first_texts.extend(line.as_ref().and_then(first_text));
                facts.about_rules.extend(line.filter(is_about_a_rule));
                let action: Option<String> = row.column("action").ok();
                let request: Option<String> = row.column("request").ok().flatten();
                if let (Some(action), Some(request)) = (action, request) {
                    *facts.accounted.entry((request, action)).or_default() += 1;
                }
            }
        }
        let sql = "SELECT value FROM settings WHERE key = $1";
        let known: Option<(String,)> = self.moment.one(sql, &[&audit::HEAD]).await?;
        (facts.head, facts.flaws) = walk.end(known.as_ref().map(|(known,)| known.as_str()));
        Ok(facts)
    }

    /// Returns the requests whose effect on a file is being taken back.
    pub async fn unfinished_undos(&mut self) -> StoreResult<Vec<RequestId>> {
        let rows: Vec<(RequestId,)> = self.moment.all("SELECT request FROM undos", &[]).await?;
        Ok(rows.into_iter().map(|(request,)| request).collect())
    }

    /// Returns all documents, deleted and private ones too.
    pub async fn documents(&mut self) -> StoreResult<Vec<InspectedRow<DocumentRecord>>> {
        self.every("SELECT * FROM documents ORDER BY id", &[]).await
    }

    /// Returns the snapshots of a document, oldest first.
    pub async fn snapshots(&mut self, document: &DocumentId) -> StoreResult<Vec<VersionedText>> {
        let sql = "SELECT version, content FROM snapshots WHERE document = $1 ORDER BY version";
        let rows: Vec<(Version, AnyTextColumn)> = self.moment.all(sql, &[document]).await?;
        Ok(rows.into_iter().map(|(version, text)| (version, text.into())).collect())
    }

    /// Returns the passages that updates put into a document, by version, as the room writes them.
    pub async fn placements(&mut self, document: &DocumentId) -> StoreResult<Vec<VersionedText>> {
        let query = "SELECT version, body FROM placements WHERE document = $1 ORDER BY version";
        self.bodies(query, document).await
    }

    /// Returns the stored provenance of a document, by version.
    pub async fn provenance(&mut self, document: &DocumentId) -> StoreResult<Vec<VersionedText>> {
        let query = "SELECT version, body FROM provenance WHERE document = $1 ORDER BY version";
        self.bodies(query, document).await
    }

    /// Returns up to `limit` updates of a document after a version, gaps or not.
    pub async fn log(
        &mut self,
        document: &DocumentId,
        after: Version,
        limit: u32,
    ) -> StoreResult<Vec<(Version, UpdateRecord)>> {
        let sql = "SELECT version, client, changes, author, at_ms, origin FROM updates
             WHERE document = $1 AND version > $2 ORDER BY version LIMIT $3";
        let found = self.moment.rows(sql, &[document, &after, &limit]).await?;
        found.iter().map(|row| Ok((row.column("version")?, row.record()?))).collect()
    }

    /// Returns the owners of the editor instances of a document.
    pub async fn clients(
        &mut self,
        document: &DocumentId,
    ) -> StoreResult<BTreeMap<ClientId, UserId>> {
        let sql = "SELECT client, user_id FROM clients WHERE document = $1";
        let clients: Vec<(ClientId, UserId)> = self.moment.all(sql, &[document]).await?;
        Ok(clients.into_iter().collect())
    }

    /// Returns all requests, oldest first.
    pub async fn requests(&mut self) -> StoreResult<Vec<InspectedRow<RequestRecord>>> {
        let mut found = self.every("SELECT * FROM requests ORDER BY id", &[]).await?;
        let sql = "SELECT * FROM request_parts";
        add_parts(found.iter_mut().flatten(), self.moment.all(sql, &[]).await?);
        Ok(found)
    }

    /// Returns all decisions, oldest first.
    pub async fn decisions(&mut self) -> StoreResult<Vec<InspectedRow<DecisionRecord>>> {
        self.every("SELECT request AS id, * FROM decisions ORDER BY seq", &[]).await
    }

    /// Returns all tokens.
    pub async fn tokens(&mut self) -> StoreResult<Vec<InspectedRow<TokenRecord>>> {
        self.every("SELECT * FROM tokens ORDER BY id", &[]).await
    }

    /// Returns all roles that were given in documents.
    pub async fn document_roles(&mut self) -> StoreResult<Vec<DocumentRoleRecord>> {
        let sql = "SELECT * FROM document_roles ORDER BY document, kind, grantee";
        Ok(document_roles::records(self.moment.all(sql, &[]).await?))
    }

    /// Returns all rules, oldest first, ended ones too.
    pub async fn rules(&mut self) -> StoreResult<Vec<InspectedRow<RuleRecord>>> {
        self.every("SELECT * FROM rules ORDER BY id", &[]).await
    }

    /// Returns the threads of a document, resolved ones too.
    pub async fn threads(
        &mut self,
        document: &DocumentId,
    ) -> StoreResult<Vec<InspectedRow<ThreadRecord>>> {
        let sql = "SELECT * FROM comment_threads WHERE document = $1 ORDER BY id";
        self.every(sql, &[document]).await
    }

    /// Returns the numbers of the comments in which people are mentioned, and that people have
    /// read, each with its thread.
    pub async fn comment_numbers(
        &mut self,
        document: &DocumentId,
    ) -> StoreResult<Vec<(ThreadId, u64)>> {
        let sql = "SELECT thread, comments FROM comment_mentions
             WHERE thread IN (SELECT id FROM comment_threads WHERE document = $1)
             UNION ALL SELECT thread, comments FROM comment_reads
             WHERE thread IN (SELECT id FROM comment_threads WHERE document = $1)";
        let rows: Vec<ReadRow> = self.moment.all(sql, &[document]).await?;
        Ok(rows.into_iter().map(|row| (row.thread, row.comments)).collect())
    }

    /// Returns all workspace files that are or were documents.
    pub async fn files(&mut self) -> StoreResult<Vec<InspectedRow<FileRecord>>> {
        self.every("SELECT path AS id, * FROM live_files ORDER BY path", &[]).await
    }

    /// Returns all runs, oldest first.
    pub async fn runs(&mut self) -> StoreResult<Vec<InspectedRow<RunRecord>>> {
        self.every("SELECT * FROM runs ORDER BY created_ms, id", &[]).await
    }

    /// Returns all sessions.
    pub async fn sessions(&mut self) -> StoreResult<Vec<InspectedRow<SessionRecord>>> {
        self.every("SELECT * FROM sessions ORDER BY id", &[]).await
    }

    async fn bodies(
        &mut self,
        query: &'static str,
        document: &DocumentId,
    ) -> StoreResult<Vec<VersionedText>> {
        self.moment.all(query, &[document]).await
    }

    async fn every<T: RowRecord>(
        &mut self,
        query: &'static str,
        values: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<InspectedRow<T>>> {
        let found = self.moment.rows(query, values).await?;
        // The reason does not name the row.
        let read = |row: &StoreRow| {
            row.record().map_err(|error| {
                let id: String = row.column("id").unwrap_or_else(|_| "a row".to_owned());
                StoreError::Corrupt { what: id, reason: StoreError::from(error).to_string() }
            })
        };
        Ok(found.iter().map(read).collect())
    }
}

fn first_text(line: &AuditRecord) -> Option<(DocumentId, String)> {
    let entry = &line.entry;
    let hash = entry.detail["textHash"].as_str().filter(|_| entry.action == "document.create")?;
    Some((entry.document.clone()?, hash.to_owned()))
}

fn is_about_a_request(line: &AuditRecord) -> bool {
    line.entry.action.starts_with("request.")
}

fn is_about_a_rule(line: &AuditRecord) -> bool {
    let entry = &line.entry;
    entry.action.starts_with("rule.") || entry.detail["decision"]["rule"].is_string()
}
