//! Events about roles in single documents. For owners.

use std::future::ready;

use copydesk_engine::api::{ApiError, Caller};
use copydesk_protocol::client::NameDocument;
use copydesk_protocol::convert;
use copydesk_protocol::sharing::{
    DocumentRoleLine, DocumentRoleList, ShareDocument, UnshareDocument,
};

use super::socket_error::SocketResult;

/// Answers `document:roles`: returns the roles that were given in a document, oldest first.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown document; see
/// [`Caller::document_roles`].
pub async fn roles(caller: &Caller, payload: NameDocument) -> SocketResult<DocumentRoleList> {
    let document = payload.document_id.into();
    Ok(convert::document_roles(caller.document_roles(&document).await?))
}

/// Answers `document:share`: gives a role to a person or a group.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown document or login,
/// `invalid_payload` for a role or a person that is not accepted; see
/// [`Caller::give_document_role`].
pub async fn share(caller: &Caller, payload: ShareDocument) -> SocketResult<DocumentRoleLine> {
    let (document, wish) = convert::share(payload);
    let wish = ready(wish.map_err(ApiError::invalid));
    Ok(convert::document_role(caller.give_document_role(&document, wish).await?))
}

/// Answers `document:unshare`: takes the role of a person or a group.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown document or somebody
/// without a role there; see [`Caller::take_document_role`].
pub async fn unshare(caller: &Caller, payload: UnshareDocument) -> SocketResult<()> {
    let (document, wish) = convert::unshare(payload);
    Ok(caller.take_document_role(&document, ready(wish.map_err(ApiError::invalid))).await?)
}
