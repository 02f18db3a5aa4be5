//! Roles in single documents, for owners: `/api/v1/documents/{id}/roles`.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;

use super::problem::RestResult;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PathId, QueryParams};
use copydesk_engine::api::{ApiError, Caller};
use copydesk_engine::ids::DocumentId;
use copydesk_protocol::convert;
use copydesk_protocol::sharing::{DocumentRoleLine, DocumentRoleList, GranteeQuery};

/// Lists the roles that were given in a document, oldest first.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown document; see
/// [`Caller::document_roles`].
pub async fn list(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> RestResult<Json<DocumentRoleList>> {
    Ok(Json(convert::document_roles(caller.document_roles(&document).await?)))
}

/// Gives a role in a document to a person or a group, in the place of the one they had there.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown document or
/// login, 422 `invalid_request` for a role or a person that is not accepted; see
/// [`Caller::give_document_role`]; those of [`body::read_about`].
pub async fn share(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> RestResult<Json<DocumentRoleLine>> {
    let wish = async {
        let wish = body::read_about(request, "documentId", document.as_str()).await?;
        convert::share(wish).1.map_err(ApiError::unprocessable)
    };
    Ok(Json(convert::document_role(caller.give_document_role(&document, wish).await?)))
}

/// Takes the role in a document from a person or a group.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown document or a
/// person or group without a role there, 400 `invalid_request` for a query that does not name one;
/// see [`Caller::take_document_role`].
pub async fn unshare(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(query): QueryParams<GranteeQuery>,
) -> RestResult<StatusCode> {
    let wish = async { convert::named_grantee(query).map_err(ApiError::invalid) };
    caller.take_document_role(&document, wish).await?;
    Ok(StatusCode::NO_CONTENT)
}
