//! Conversations with the agent: who may read, clear and fork them.

use copydesk_agent::ConversationFork;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_macros::boxed;

use super::{ApiResult, Caller};

#[boxed]
impl Caller {
    /// Checks that the caller may read a conversation of their own session.
    ///
    /// # Errors
    /// Those of [`Self::room`].
    pub async fn require_conversation(&self, document: Option<&DocumentId>) -> ApiResult<()> {
        match document {
            Some(document) => self.room(document, Action::Read).await.map(drop),
            None => Ok(()),
        }
    }

    /// Begins a conversation of the caller's own session anew; earlier entries stay stored.
    ///
    /// # Errors
    /// [`Busy`](super::ErrorCode::Busy) while a run of it is at work or waits; those of
    /// [`Self::room`].
    pub async fn clear_conversation(
        &self,
        session: &SessionId,
        document: Option<DocumentId>,
    ) -> ApiResult<()> {
        self.require_asking(document.as_ref()).await?;
        Ok(self.application.agents.clear(session, document.as_ref(), &self.principal).await?)
    }

    /// Continues a conversation of the caller's own session from the end of an earlier run, which
    /// is one of the session `from`, or of the same one without.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown run,
    /// [`Busy`](super::ErrorCode::Busy) while a run is at work or waits; those of
    /// [`Self::own_session`] and [`Self::room`].
    pub async fn fork_conversation(
        &self,
        session: SessionId,
        document: Option<DocumentId>,
        from: Option<SessionId>,
        run: RunId,
    ) -> ApiResult<()> {
        self.require_asking(document.as_ref()).await?;
        let from = match from {
            None => session.clone(),
            // A conversation about a document belongs to everyone in it, others to their own
            // person.
            Some(from) if document.is_some() => from,
            Some(from) => self.own_session(from).await?,
        };
        let fork = ConversationFork { session, document, from, run };
        Ok(self.application.agents.fork(fork, &self.principal).await?)
    }

    pub(super) async fn require_asking(&self, document: Option<&DocumentId>) -> ApiResult<()> {
        match document {
            Some(document) => self.room(document, Action::Ask).await.map(drop),
            None => self.require(Action::Ask),
        }
    }
}
