//! Conversations with the agent: who may read, clear and fork them.

use crate::agent::ConversationFork;
use crate::ids::{DocumentId, RunId, SessionId};
use crate::permissions::Action;
use async_recursion::async_recursion as boxed;

use super::{ApiResult, Caller};

/// Conversation that the caller may read: of a session of the caller's own, about a document or
/// about none.
#[derive(Clone, Debug)]
pub struct ConversationName {
    /// Session of the conversation.
    pub session: SessionId,
    /// Document that it is about; everybody in a document sees one conversation.
    pub document: Option<DocumentId>,
}

/// Place from which a conversation continues.
#[derive(Clone, Debug)]
pub struct ForkStart {
    /// Document that the conversation is about.
    pub document: Option<DocumentId>,
    /// Session of the earlier run; `None`: the one of the conversation.
    pub session: Option<SessionId>,
    /// Earlier run, after whose end the conversation continues.
    pub run: RunId,
}

impl Caller {
    /// Checks that the caller may read a conversation.
    ///
    /// # Errors
    /// Those of [`Self::own_session`], and those of [`Self::room`] for the document.
    #[boxed]
    pub async fn conversation(
        &self,
        session: SessionId,
        document: Option<DocumentId>,
    ) -> ApiResult<ConversationName> {
        let session = self.own_session(session).await?;
        if let Some(document) = &document {
            self.room(document, Action::Read).await?;
        }
        Ok(ConversationName { session, document })
    }

    /// Begins a conversation of the caller's own session anew; earlier entries stay stored. The
    /// input is the document that it is about.
    ///
    /// # Errors
    /// [`Busy`](super::ErrorCode::Busy) while a run of it is at work or waits; those of
    /// [`Self::own_session`], of the input, and of [`Self::room`] for the document.
    pub async fn clear_conversation(
        &self,
        session: SessionId,
        document: impl Future<Output = ApiResult<Option<DocumentId>>>,
    ) -> ApiResult<()> {
        let session = self.own_session(session).await?;
        let document = document.await?;
        self.require_asking(document.as_ref()).await?;
        Ok(self.api.agents.clear(&session, document.as_ref(), &self.principal).await?)
    }

    /// Continues a conversation of the caller's own session from the end of an earlier run.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown run,
    /// [`Busy`](super::ErrorCode::Busy) while a run is at work or waits; those of
    /// [`Self::own_session`], of the input, and of [`Self::room`] for the document.
    pub async fn fork_conversation(
        &self,
        session: SessionId,
        start: impl Future<Output = ApiResult<ForkStart>>,
    ) -> ApiResult<()> {
        let session = self.own_session(session).await?;
        let ForkStart { document, session: from, run } = start.await?;
        self.require_asking(document.as_ref()).await?;
        let from = match from {
            None => session.clone(),
            // A conversation about a document belongs to everyone in the document, any other to its
            // own person.
            Some(from) if document.is_some() => from,
            Some(from) => self.own_session(from).await?,
        };
        let fork = ConversationFork { session, document, from, run };
        Ok(self.api.agents.fork(fork, &self.principal).await?)
    }

    /// Checks that the caller may ask the agent about a document, or about none.
    #[boxed]
    pub(super) async fn require_asking(&self, document: Option<&DocumentId>) -> ApiResult<()> {
        match document {
            Some(document) => self.room(document, Action::Ask).await.map(drop),
            None => self.require(Action::Ask),
        }
    }
}
