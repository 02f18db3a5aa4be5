//! Roles in single documents, for owners: who has one, giving and taking them.

use std::collections::HashMap;

use copydesk_ids::permissions::{Action, Role};
use copydesk_ids::{DocumentId, UserId};
use copydesk_macros::boxed;
use copydesk_store::{DocumentRoleRecord, Grantee, LoginRecord};

use super::super::{ApiError, ApiResult, Caller};

/// Role that was given in a document, with what people want to see of it.
#[derive(Clone, Debug)]
pub struct GivenRole {
    /// The role, and who has it.
    pub record: DocumentRoleRecord,
    /// Login of a person who has signed in; `None` for a group or an unused address.
    pub login: Option<LoginRecord>,
    /// Name of the owner who gave it, if they still have a token.
    pub given_by: Option<String>,
}

#[boxed]
impl Caller {
    /// Returns the roles that were given in a document, oldest first.
    ///
    /// # Errors
    /// [`Unavailable`](super::super::ErrorCode::Unavailable) if the roles cannot be read.
    pub async fn document_roles(&self, document: &DocumentId) -> ApiResult<Vec<GivenRole>> {
        let records = self.application.auth.roles_in(document).await?;
        self.described(records).await
    }

    /// Gives a person or a group a role in a document in place of an earlier one, effective on
    /// return.
    ///
    /// # Errors
    /// [`Unprocessable`](super::super::ErrorCode::Unprocessable) for a role or a grantee that is
    /// not accepted, and at the limit of a document.
    pub async fn give_document_role(
        &self,
        document: &DocumentId,
        grantee: Grantee,
        role: Role,
    ) -> ApiResult<GivenRole> {
        let (by, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        let record = self.application.auth.give_role(document, grantee, role, by, now_ms).await?;
        let given = self.described(vec![record]).await?.pop();
        given.ok_or_else(ApiError::internal)
    }

    /// Checks that the caller may say who reaches a document in lists, which need not be open here.
    ///
    /// # Errors
    /// [`NotAllowed`](super::super::ErrorCode::NotAllowed) for people other than owners,
    /// [`NotFound`](super::super::ErrorCode::NotFound) for an unknown, deleted or private document.
    pub async fn require_listed(&self, document: &DocumentId) -> ApiResult<()> {
        self.require_in(Action::Manage, Some(document))?;
        self.application.check_listed(document).await
    }

    async fn described(&self, records: Vec<DocumentRoleRecord>) -> ApiResult<Vec<GivenRole>> {
        let logins = self.application.auth.logins().await?;
        let givers: Vec<UserId> = records.iter().map(|record| record.given_by.clone()).collect();
        let names: HashMap<UserId, String> = self.application.auth.names(&givers).await?;
        let describe = |record: DocumentRoleRecord| {
            let is_person = !matches!(record.grantee, Grantee::Group(_));
            let mut people = logins.iter().filter(|login| is_person && record.grantee.is(login));
            let (login, given_by) = (people.next().cloned(), names.get(&record.given_by).cloned());
            GivenRole { record, login, given_by }
        };
        Ok(records.into_iter().map(describe).collect())
    }
}
