//! Roles that owners have given to people and groups in single documents.

use super::records::{DocumentRoleRecord, Grantee};
use crate::database::columns::list;
use crate::database::statement_batch::StatementBatch;
use crate::records::LoginRecord;
use crate::{Store, StoreResult};
use copydesk_ids::permissions::Role;
use copydesk_ids::{DocumentId, UserId};
use copydesk_macros::record;

#[record]
pub(crate) struct DocumentRoleRow {
    document: DocumentId,
    kind: String,
    grantee: String,
    role: Role,
    given_by: UserId,
    given_ms: u64,
}

impl DocumentRoleRow {
    /// Returns the record; `None` for a kind of a later version, which gives no one access here.
    fn record(self) -> Option<DocumentRoleRecord> {
        let Self { document, kind, grantee, role, given_by, given_ms } = self;
        let grantee = Grantee::of(&kind, grantee)?;
        Some(DocumentRoleRecord { document, grantee, role, given_by, given_ms })
    }
}

impl Store {
    /// Returns the roles that were given in a document, oldest first.
    pub async fn roles_in(&self, document: &DocumentId) -> StoreResult<Vec<DocumentRoleRecord>> {
        let sql = "SELECT * FROM document_roles WHERE document = $1
             ORDER BY given_ms, kind, grantee";
        Ok(records(self.all(sql, &[document]).await?))
    }

    /// Returns the roles that were given to the person of a login, directly or by address or group.
    pub async fn roles_of(&self, login: &LoginRecord) -> StoreResult<Vec<DocumentRoleRecord>> {
        let address = login.email.as_deref().map(str::to_ascii_lowercase);
        let sql = "SELECT * FROM document_roles
             WHERE (kind = 'login' AND grantee = $1) OR (kind = 'email' AND grantee = $2)
                 OR (kind = 'group' AND grantee IN (SELECT value ->> 0 FROM json_each($3)))";
        let rows = self.all(sql, &[&login.user, &address, &list(&login.groups)]).await?;
        let mut found = records(rows);
        found.retain(|given| given.grantee.is(login));
        Ok(found)
    }

    /// Returns all roles that were given in any document.
    pub async fn document_roles(&self) -> StoreResult<Vec<DocumentRoleRecord>> {
        Ok(records(self.all("SELECT * FROM document_roles", &[]).await?))
    }
}

pub(crate) fn records(rows: Vec<DocumentRoleRow>) -> Vec<DocumentRoleRecord> {
    rows.into_iter().filter_map(DocumentRoleRow::record).collect()
}

/// Stores a role, in the place of the one that the same people had in the document.
pub(crate) fn put(script: &mut StatementBatch<'_>, record: &DocumentRoleRecord) {
    let DocumentRoleRecord { document, grantee, role, given_by, given_ms } = record;
    let sql = "INSERT INTO document_roles (document, kind, grantee, role, given_by, given_ms)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (document, kind, grantee) DO UPDATE SET role = excluded.role,
             given_by = excluded.given_by, given_ms = excluded.given_ms";
    script.run(sql, &[document, &grantee.kind(), &grantee.name(), role, given_by, given_ms]);
}

/// Removes a role; one that was not given is no error.
pub(crate) fn remove(script: &mut StatementBatch<'_>, document: &DocumentId, grantee: &Grantee) {
    let sql = "DELETE FROM document_roles WHERE document = $1 AND kind = $2 AND grantee = $3";
    script.run(sql, &[document, &grantee.kind(), &grantee.name()]);
}

pub(crate) fn remove_all(script: &mut StatementBatch<'_>, document: &DocumentId) {
    script.run("DELETE FROM document_roles WHERE document = $1", &[document]);
}
