//! Conversations with the agent: who may read them and ask.

use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Action;
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

    /// Checks that the caller may ask the agent about a document, or without one.
    ///
    /// # Errors
    /// Those of [`Self::room`], or of [`Self::require`].
    pub async fn require_asking(&self, document: Option<&DocumentId>) -> ApiResult<()> {
        match document {
            Some(document) => self.room(document, Action::Ask).await.map(drop),
            None => self.require(Action::Ask),
        }
    }
}
