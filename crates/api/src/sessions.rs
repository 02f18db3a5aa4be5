//! Sessions of people and of their programs.

use sha2::{Digest as _, Sha256};

use copydesk_ids::permissions::Principal;
use copydesk_ids::{SessionId, UserId};
use copydesk_macros::boxed;
use copydesk_store::{SessionRecord, StoreError, StoreOp};

use super::{ApiError, ApiResult, Application, Caller, ErrorCode, ListPage};

/// Interval after which a program's session is stored as used again, in milliseconds.
const SEEN_STEP_MS: u64 = 60 * 60 * 1_000;

#[boxed]
impl Application {
    /// Continues a session of a person, or begins one if there is none or it is too old.
    ///
    /// # Errors
    /// [`NotAllowed`](ErrorCode::NotAllowed) for another person's session.
    pub async fn resume_session(
        &self,
        person: &Principal,
        id: Option<SessionId>,
    ) -> ApiResult<SessionRecord> {
        let known = match id {
            Some(id) => self.store.session(&id).await?,
            None => None,
        };
        match known {
            Some(session) if !person.is(&session.user) => {
                Err(ApiError::new(ErrorCode::NotAllowed, "this session belongs to somebody else"))
            }
            Some(session) if !session.is_over(self.clock.now_ms()) => Ok(session),
            Some(_) | None => {
                let session = SessionRecord::begin(person.user.clone(), self.clock.now_ms());
                match self.store.commit(StoreOp::PutSession(session.clone())).await {
                    // People read on a full disk; the session is stored when it is used.
                    Ok(()) | Err(StoreError::Write(_)) => Ok(session),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    pub(super) async fn begin_session(&self, user: &UserId) -> ApiResult<SessionRecord> {
        let session = SessionRecord::begin(user.clone(), self.clock.now_ms());
        self.store.commit(StoreOp::PutSession(session.clone())).await?;
        Ok(session)
    }

    /// Stores when a session was last used, for its time to live; begins it if there is none.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the store can neither read nor write the session.
    pub async fn use_session(&self, user: &UserId, id: &SessionId) -> ApiResult<()> {
        let now_ms = self.clock.now_ms();
        let session = match self.store.session(id).await? {
            Some(known) => SessionRecord { seen_ms: now_ms, ..known },
            None => SessionRecord { id: id.clone(), ..SessionRecord::begin(user.clone(), now_ms) },
        };
        Ok(self.store.commit(StoreOp::PutSession(session)).await?)
    }

    /// Returns the session of a person's program: a single one for all its connections.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the store can neither read nor write the session.
    pub async fn program_session(&self, user: &UserId, program: &str) -> ApiResult<SessionId> {
        let name = Sha256::digest(format!("mcp\n{user}\n{program}"));
        let name = uuid::Uuid::from_slice(&name[..16]).unwrap_or_default().simple();
        let (id, now_ms) = (SessionId::from(format!("ses_{name}")), self.clock.now_ms());
        let known = self.store.session(&id).await?;
        if let Some(known) = &known
            && now_ms.saturating_sub(known.seen_ms) < SEEN_STEP_MS
        {
            return Ok(id);
        }
        let session = SessionRecord {
            id: id.clone(),
            user: user.clone(),
            created_ms: known.map_or(now_ms, |known| known.created_ms),
            seen_ms: now_ms,
            permission_mode: None,
            body: serde_json::json!({ "client": program }),
        };
        self.store.commit(StoreOp::PutSession(session)).await?;
        Ok(id)
    }
}

#[boxed]
impl Caller {
    /// Returns a session if it is the caller's own.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for an unknown session, [`ErrorCode::NotAllowed`] for another
    /// person's.
    pub async fn own_session(&self, id: SessionId) -> ApiResult<SessionId> {
        if self.session.as_ref() == Some(&id) {
            return Ok(id);
        }
        match self.application.store.session(&id).await? {
            Some(session) if self.principal.is(&session.user) => Ok(id),
            Some(_) => Err(ApiError::not_allowed()),
            None => Err(ApiError::not_found("session")),
        }
    }

    /// Returns the newest sessions of the caller, or the newest before `before`.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the store cannot read the page.
    pub async fn sessions(
        &self,
        before: Option<&SessionId>,
        limit: usize,
    ) -> ApiResult<ListPage<SessionRecord>> {
        let user = &self.principal.user;
        Ok(ListPage::cut(
            self.application.store.sessions(user, before, limit as u32 + 1).await?,
            limit,
        ))
    }
}
