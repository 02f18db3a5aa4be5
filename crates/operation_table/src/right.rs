//! Rights that operations need, and what these rights are about.
//!
//! A right is checked before the function of the operation is called: over REST before a body is
//! read, on a socket after the payload. The check returns what the operation works on, so that no
//! function can do without it. Operations that the socket handles check their right themselves.

use std::fmt::Debug;

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::permissions::Action;
use copydesk_ids::{CommentId, DocumentId, RequestId, SessionId, ThreadId};
use copydesk_rooms::RoomHandle;

/// Right that an operation needs. Its [`Debug`] text is what the documentation says.
pub trait Right: Copy + Debug + Send + Sync + 'static {
    /// Thing that the operation works on.
    type Subject: Send + 'static;

    /// Field of the input that names the subject.
    const FIELD: Option<&'static str> = None;

    /// Checks that the caller has the right; `name` is the value of the field.
    fn check(
        self,
        caller: &Caller,
        name: Option<String>,
    ) -> impl Future<Output = ApiResult<Self::Subject>> + Send;
}

/// Anyone with a token. An operation that lists things leaves out what the caller may not read.
#[derive(Clone, Copy, Debug)]
pub struct Anyone;

/// Right to do something to the server as a whole.
#[derive(Clone, Copy, Debug)]
pub struct OnServer(pub Action);

/// Right to do something to any document at all.
#[derive(Clone, Copy, Debug)]
pub struct OnAnyDocument(pub Action);

/// Right to do something to a document.
#[derive(Clone, Copy, Debug)]
pub struct OnDocument(pub Action);

/// Right to do something to a document, or to the workspace inbox, which is named `desk`.
#[derive(Clone, Copy, Debug)]
pub struct OnDocumentOrInbox(pub Action);

/// Right to manage a document that is in lists. It is not opened for that: another server of
/// several may have it.
#[derive(Clone, Copy, Debug)]
pub struct ManageListedDocument;

/// Right to manage a deleted document, or all deleted ones that the caller's token reaches.
#[derive(Clone, Copy, Debug)]
pub struct ManageDeletedDocument;

/// Right to do something to a request.
#[derive(Clone, Copy, Debug)]
pub struct OnRequest(pub Action);

/// Right to do something to a thread of comments.
#[derive(Clone, Copy, Debug)]
pub struct OnThread(pub Action);

/// Right to do something to a comment; whose it is, is checked later.
#[derive(Clone, Copy, Debug)]
pub struct OnComment(pub Action);

/// Right to a session, which must be the caller's own.
#[derive(Clone, Copy, Debug)]
pub struct OnOwnSession;

/// Two rights: one to the server as a whole, and another one.
impl<A: Right<Subject = ()>, B: Right> Right for (A, B) {
    type Subject = B::Subject;
    const FIELD: Option<&'static str> = B::FIELD;

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<B::Subject> {
        self.0.check(caller, None).await?;
        self.1.check(caller, name).await
    }
}

impl Right for Anyone {
    type Subject = ();

    async fn check(self, _: &Caller, _: Option<String>) -> ApiResult<()> {
        Ok(())
    }
}

impl Right for OnServer {
    type Subject = ();

    async fn check(self, caller: &Caller, _: Option<String>) -> ApiResult<()> {
        caller.require(self.0)
    }
}

impl Right for OnAnyDocument {
    type Subject = ();

    async fn check(self, caller: &Caller, _: Option<String>) -> ApiResult<()> {
        let may = caller.principal.may_somewhere(self.0);
        if may { Ok(()) } else { Err(ApiError::not_allowed()) }
    }
}

impl Right for OnDocument {
    type Subject = RoomHandle;
    const FIELD: Option<&'static str> = Some("documentId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<RoomHandle> {
        caller.room(&document(name)?, self.0).await
    }
}

impl Right for OnDocumentOrInbox {
    type Subject = RoomHandle;
    const FIELD: Option<&'static str> = Some("documentId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<RoomHandle> {
        caller.room_or_inbox(&document(name)?, self.0).await
    }
}

impl Right for ManageListedDocument {
    type Subject = DocumentId;
    const FIELD: Option<&'static str> = Some("documentId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<DocumentId> {
        let document = document(name)?;
        caller.require_listed(&document).await?;
        Ok(document)
    }
}

impl Right for ManageDeletedDocument {
    type Subject = Option<DocumentId>;
    const FIELD: Option<&'static str> = Some("documentId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<Option<DocumentId>> {
        let document = name.map(DocumentId::from);
        caller.require_recovery(document.as_ref())?;
        Ok(document)
    }
}

impl Right for OnRequest {
    type Subject = (RequestId, RoomHandle);
    const FIELD: Option<&'static str> = Some("request_id");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<Self::Subject> {
        let request = RequestId::from(name.ok_or_else(|| ApiError::not_found("request"))?);
        let room = caller.room_of_request(&request, self.0).await?;
        Ok((request, room))
    }
}

impl Right for OnThread {
    type Subject = (ThreadId, RoomHandle);
    const FIELD: Option<&'static str> = Some("threadId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<Self::Subject> {
        let thread = ThreadId::from(name.ok_or_else(|| ApiError::not_found("thread"))?);
        let room = caller.room_of_thread(&thread, self.0).await?;
        Ok((thread, room))
    }
}

impl Right for OnComment {
    type Subject = (CommentId, RoomHandle);
    const FIELD: Option<&'static str> = Some("commentId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<Self::Subject> {
        let comment = CommentId::from(name.ok_or_else(|| ApiError::not_found("comment"))?);
        let room = caller.room_of_comment(&comment, self.0).await?;
        Ok((comment, room))
    }
}

impl Right for OnOwnSession {
    type Subject = SessionId;
    const FIELD: Option<&'static str> = Some("sessionId");

    async fn check(self, caller: &Caller, name: Option<String>) -> ApiResult<SessionId> {
        let session = name.ok_or_else(|| ApiError::not_found("session"))?;
        caller.own_session(session.into()).await
    }
}

fn document(name: Option<String>) -> ApiResult<DocumentId> {
    name.map(DocumentId::from).ok_or_else(|| ApiError::not_found("document"))
}
