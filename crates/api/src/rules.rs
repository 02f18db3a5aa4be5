//! Rules: those that people remember for a tool, and those that owners make.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRule, Person};
use copydesk_auth as auth;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, RuleId, UserId};
use copydesk_macros::boxed;
use copydesk_rooms::WORKSPACE_INBOX;
use copydesk_rooms::command::NewRule;
use copydesk_store::QueryScope;

use super::{ApiError, ApiResult, Caller, ErrorCode};

#[boxed]
impl Caller {
    /// Returns the rules in force, oldest first: of one document, or of every document that the
    /// caller may read, and those of the workspace inbox that the caller may revoke.
    ///
    /// # Errors
    /// Those of [`Self::room`] for a document; [`Unavailable`](ErrorCode::Unavailable) if they
    /// cannot be read.
    pub async fn rules(&self, document: Option<&DocumentId>) -> ApiResult<Vec<Arc<ApprovalRule>>> {
        match document {
            Some(inbox) if inbox.as_str() == WORKSPACE_INBOX => return self.inbox_rules().await,
            Some(document) => return Ok(self.room(document, Action::Read).await?.rules().await?),
            None => {}
        }
        let known = self.application.store.rules(QueryScope::Everything).await?;
        let mut documents: Vec<_> = known.into_iter().filter_map(|rule| rule.document).collect();
        documents.sort_unstable();
        documents.dedup();
        let mut rules = Vec::new();
        for document in documents {
            match self.room_to_read(&document).await {
                Ok(room) => rules.extend(room.rules().await?),
                // The caller may not read it, or it was deleted.
                Err(error) if matches!(error.code, ErrorCode::NotAllowed | ErrorCode::NotFound) => {
                }
                Err(error) => return Err(error),
            }
        }
        rules.extend(self.inbox_rules().await?);
        Ok(rules)
    }

    /// Returns the rules of the workspace inbox that the caller may revoke.
    async fn inbox_rules(&self) -> ApiResult<Vec<Arc<ApprovalRule>>> {
        let mut rules = self.application.rooms.workspace_inbox().await?.rules().await?;
        rules.retain(|rule| rule.may_be_revoked_by(&self.principal));
        Ok(rules)
    }

    /// Adds an owner's rule to a document or to the workspace inbox, unless it exists, and returns
    /// it.
    ///
    /// # Errors
    /// [`NotAllowed`](ErrorCode::NotAllowed) without permission to manage,
    /// [`Invalid`](ErrorCode::Invalid) for a rule that could never apply,
    /// [`NotFound`](ErrorCode::NotFound) for an unknown document.
    pub async fn add_rule(
        &self,
        document: &DocumentId,
        mut rule: NewRule,
    ) -> ApiResult<Arc<ApprovalRule>> {
        if let Some(author) = &mut rule.remember.author {
            *author = self.token_holder(&author.user).await?;
        }
        let room = self.room_or_inbox(document, Action::Manage).await?;
        self.application.agents.check_rule(&rule)?;
        if self.session.as_ref() != Some(&rule.session) {
            self.application.use_session(&self.principal.user, &rule.session).await?;
        }
        Ok(room.add_rule(rule, self.principal.clone()).await?)
    }

    async fn token_holder(&self, user: &UserId) -> ApiResult<Person> {
        let people =
            auth::holders(&self.application.store, self.application.clock.now_ms()).await?;
        let found = people.iter().find(|person| person.is(user));
        found
            .map(Person::from)
            .ok_or_else(|| ApiError::invalid(format!("nobody is the user {user}")))
    }

    /// Revokes a rule.
    ///
    /// # Errors
    /// [`NotFound`](ErrorCode::NotFound) for an unknown rule,
    /// [`AlreadyResolved`](ErrorCode::AlreadyResolved) for one that has ended,
    /// [`NotAllowed`](ErrorCode::NotAllowed) if the caller neither made it nor is an owner.
    pub async fn revoke_rule(&self, id: RuleId) -> ApiResult<()> {
        let known = self.application.store.rule(&id).await?;
        let room = match known.ok_or_else(|| ApiError::not_found("rule"))?.document {
            Some(document) => self.room(&document, Action::Read).await?,
            None => self.application.rooms.workspace_inbox().await?,
        };
        Ok(room.revoke(id, self.principal.clone()).await?)
    }
}
