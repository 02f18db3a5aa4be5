//! Callers of operations, and what they reach.

use copydesk_auth::{AccessGuard, AuthResult, Authenticator, with_current_rights};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RequestId, SessionId, TokenId};
use copydesk_macros::boxed;
use copydesk_rooms::{RoomHandle, WORKSPACE_INBOX};

use super::{ApiError, ApiResult, Application, ErrorCode};

/// Person who calls operations, and what they came in with. The operations are its methods.
#[derive(Clone)]
pub struct Caller {
    /// Application that the person calls.
    pub application: Application,
    /// Person behind the token.
    pub principal: Principal,
    /// Token of the caller; under `--no-auth` the owner's.
    pub token: TokenId,
    /// Session of the caller's connection; `None` for programs.
    pub session: Option<SessionId>,
    /// Address by which the caller reaches the server, for links; empty if it is not known.
    pub reached_at: String,
}

fn require(principal: &Principal, action: Action, document: Option<&DocumentId>) -> ApiResult<()> {
    let refused = match document {
        _ if principal.may(action, document) => return Ok(()),
        Some(_) if !principal.may(Action::Read, document) => {
            ApiError::new(ErrorCode::NotAllowed, "this document is not shared with you")
        }
        _ => ApiError::not_allowed(),
    };
    Err(refused)
}

#[boxed]
impl Application {
    /// Identifies the holder of a token's secret for one request; `None` if a secret is needed.
    /// Under `--no-auth` everyone is the owner.
    ///
    /// # Errors
    /// Those of [`Authenticator::verify`]; none without a secret.
    pub async fn identify(&self, secret: Option<&str>) -> AuthResult<Option<Caller>> {
        let (principal, token) = match (&self.everyone, secret) {
            (Some(everyone), _) => {
                let access = Authenticator::everyone(everyone.clone());
                (everyone.clone(), access.token().clone())
            }
            (None, Some(secret)) => {
                let verified = self.auth.verify(secret, self.clock.now_ms()).await?;
                (verified.principal, verified.token)
            }
            (None, None) => return Ok(None),
        };
        let (session, reached_at) = (None, String::new());
        Ok(Some(Caller { application: self.clone(), principal, token, session, reached_at }))
    }

    /// Admits the holder of a token's secret while the token is valid; `None` if one is needed.
    ///
    /// # Errors
    /// Those of [`Authenticator::admit`]; none without a secret.
    pub async fn admit(&self, secret: Option<&str>) -> AuthResult<Option<AccessGuard>> {
        if let Some(everyone) = &self.everyone {
            return Ok(Some(Authenticator::everyone(everyone.clone())));
        }
        let Some(secret) = secret else { return Ok(None) };
        self.auth.admit(secret, self.clock.now_ms()).await.map(Some)
    }

    /// Returns a person who was admitted before, with the rights that they still have.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store cannot read the tokens of the
    /// person.
    pub async fn with_current_rights(&self, person: &Principal) -> ApiResult<Principal> {
        Ok(with_current_rights(&self.store, person, self.clock.now_ms()).await?)
    }

    /// Returns the room of a document in lists, to which a person may do `action`; see
    /// [`Caller::room`].
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) without permission for `action`,
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown, deleted or private document,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if it cannot be opened.
    pub async fn listed_room(
        &self,
        person: &Principal,
        document: &DocumentId,
        action: Action,
    ) -> ApiResult<RoomHandle> {
        require(person, action, Some(document))?;
        let room = self.rooms.open(document).await?;
        let is_private = room.unlisted_owner().is_some();
        if is_private { Err(ApiError::not_found("document")) } else { Ok(room) }
    }

    /// Returns `true` if a document is, or was, in the list that a person sees.
    pub fn is_listed_for(&self, person: &Principal, document: &DocumentId) -> bool {
        let room = self.rooms.opened(document);
        let is_private = room.is_some_and(|room| room.unlisted_owner().is_some());
        !is_private && person.may(Action::Read, Some(document))
    }

    /// Returns `true` if a document that another server has is in the list that a person sees.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the document cannot be looked up.
    pub async fn is_stored_for(
        &self,
        person: &Principal,
        document: &DocumentId,
    ) -> ApiResult<bool> {
        if !person.may(Action::Read, Some(document)) {
            return Ok(false);
        }
        self.is_listed(document).await
    }

    async fn is_listed(&self, document: &DocumentId) -> ApiResult<bool> {
        let record = self.store.document(document).await?;
        Ok(record.is_some_and(|record| !record.deleted && record.unlisted_owner.is_none()))
    }

    /// Checks that a document is in the lists of those who may read it.
    pub(super) async fn check_listed(&self, document: &DocumentId) -> ApiResult<()> {
        if self.is_listed(document).await? { Ok(()) } else { Err(ApiError::not_found("document")) }
    }
}

#[boxed]
impl Caller {
    /// Checks that the caller may do `action` to the server as a whole.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) if not.
    pub fn require(&self, action: Action) -> ApiResult<()> {
        require(&self.principal, action, None)
    }

    /// Checks that the caller may manage a deleted document, or all that their token reaches.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) if not.
    pub fn require_recovery(&self, document: Option<&DocumentId>) -> ApiResult<()> {
        self.require_in(Action::Manage, document.or(self.principal.document.as_ref()))
    }

    /// Checks that the caller may do `action` to `document`, or without one to the server.
    pub(super) fn require_in(
        &self,
        action: Action,
        document: Option<&DocumentId>,
    ) -> ApiResult<()> {
        require(&self.principal, action, document)
    }

    /// Returns the room of a document to which the caller may do `action`.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) without permission for `action`,
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown or deleted document or another
    /// person's private one, [`Unavailable`](super::ErrorCode::Unavailable) if it cannot be opened.
    pub async fn room(&self, document: &DocumentId, action: Action) -> ApiResult<RoomHandle> {
        self.require_in(action, Some(document))?;
        self.visible(self.application.rooms.open(document).await?).await
    }

    /// Returns the room of a document for a list; of one that another server has, as it is stored.
    pub(super) async fn room_to_read(&self, document: &DocumentId) -> ApiResult<RoomHandle> {
        self.require_in(Action::Read, Some(document))?;
        self.visible(self.application.rooms.open_to_read(document).await?).await
    }

    /// Returns a room, unless it is another person's private document.
    async fn visible(&self, room: RoomHandle) -> ApiResult<RoomHandle> {
        let is_visible = match room.unlisted_owner() {
            Some(owner) => self.is_own_session(owner).await?,
            None => true,
        };
        if is_visible { Ok(room) } else { Err(ApiError::not_found("document")) }
    }

    pub(super) async fn is_own_session(&self, session: &SessionId) -> ApiResult<bool> {
        if self.session.as_ref() == Some(session) {
            return Ok(true);
        }
        let session = self.application.store.session(session).await?;
        Ok(session.is_some_and(|session| self.principal.is(&session.user)))
    }

    /// Returns the workspace inbox, if the caller may do `action` there.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) without permission for `action`,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the inbox cannot be opened.
    pub async fn inbox(&self, action: Action) -> ApiResult<RoomHandle> {
        self.require(action)?;
        Ok(self.application.rooms.workspace_inbox().await?)
    }

    /// Returns the room of a document, or the workspace inbox, whose owner sets its rules.
    ///
    /// # Errors
    /// Those of [`Self::room`], or of [`Self::inbox`] if the inbox is named.
    pub async fn room_or_inbox(
        &self,
        document: &DocumentId,
        action: Action,
    ) -> ApiResult<RoomHandle> {
        if document.as_str() == WORKSPACE_INBOX {
            return self.inbox(action).await;
        }
        self.room(document, action).await
    }

    /// Returns the room that owns a request, if the caller may do `action` there.
    ///
    /// # Errors
    /// Those of [`Self::room`], or of [`Self::inbox`].
    pub async fn room_of_request(
        &self,
        request: &RequestId,
        action: Action,
    ) -> ApiResult<RoomHandle> {
        match self.application.rooms.document_of(request).await? {
            Some(document) => self.room(&document, action).await,
            None => self.inbox(action).await,
        }
    }
}
