//! Audit log: of one document, and of the whole server.

use std::collections::HashMap;

use copydesk_ids::{DocumentId, UserId};
use copydesk_macros::boxed;
use copydesk_store::AuditRecord;

use super::{ApiResult, Caller, ListPage};

/// Lines of the audit log, newest first.
#[derive(Debug)]
pub struct AuditLines {
    /// Page of lines.
    pub page: ListPage<AuditRecord>,
    /// Names of the people who hold tokens.
    pub names: HashMap<UserId, String>,
}

impl Caller {
    /// Returns the newest lines of the audit log of a document or the server, or the newest before
    /// `before`.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the log cannot be read.
    #[boxed]
    pub async fn audit_lines(
        &self,
        document: Option<&DocumentId>,
        before: Option<u64>,
        limit: usize,
    ) -> ApiResult<AuditLines> {
        let lines = self.application.store.audit(document, before, limit as u32 + 1).await?;
        let page = ListPage::cut(lines, limit);
        let actors: Vec<UserId> =
            page.items.iter().map(|line| line.entry.actor.as_str().into()).collect();
        let names = self.application.auth.names(&actors).await?;
        Ok(AuditLines { page, names })
    }
}
