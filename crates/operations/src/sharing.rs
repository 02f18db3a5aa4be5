//! Roles in single documents.

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::DocumentId;
use copydesk_operation_table::{ManageListedDocument, Operation, operation};
use copydesk_protocol::client::NameDocument;
use copydesk_protocol::sharing::{
    DocumentRoleLine, DocumentRoleList, ShareDocument, UnshareDocument,
};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Roles that people and groups were given in the document, oldest first", ManageListedDocument, roles).event("document:roles").get("/documents/{id=documentId}/roles", "listDocumentRoles"),
        operation("Give a person or a group a role in the document, or another one", ManageListedDocument, share).event("document:share").put("/documents/{id=documentId}/roles", "giveDocumentRole"),
        operation("Take the role of a person or a group", ManageListedDocument, unshare).event("document:unshare").delete("/documents/{id=documentId}/roles", "takeDocumentRole"),
    ]
}

async fn roles(
    caller: Caller,
    document: DocumentId,
    _: NameDocument,
) -> ApiResult<DocumentRoleList> {
    Ok(wire::document_roles(caller.document_roles(&document).await?))
}

async fn share(
    caller: Caller,
    document: DocumentId,
    input: ShareDocument,
) -> ApiResult<DocumentRoleLine> {
    let (grantee, role) = wire::share(input).map_err(ApiError::unprocessable)?;
    let given = caller.give_document_role(&document, grantee, role).await?;
    Ok(wire::document_role(given))
}

async fn unshare(caller: Caller, document: DocumentId, input: UnshareDocument) -> ApiResult<()> {
    let grantee = wire::unshare(input).map_err(ApiError::invalid)?;
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    Ok(auth.take_role(&document, grantee, &caller.principal.user, now_ms).await?)
}
