//! Routes under `/api/v1`, each in one line with its handler, its name and its types; and
//! `GET /api/v1/openapi.json`, which describes them as `OpenAPI` 3.1.
//!
//! Shapes come from the types that are read and written; only names and sentences are written here.

mod operation;

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    administration, documents, export, files, history, requests, runs, server_resources, sharing,
    tokens, transcripts, webhooks,
};
use crate::messages_api;
use crate::rest::http_state::HttpState;
use crate::rest::middleware::pagination;
use copydesk_protocol::administration::{
    DeletePersonQuery, MonthSpending, PersonDeletion, PersonPreview, ReadSpending,
    SetSpendingLimit, StopRun, StoredSizes, WorkInProgress,
};
use copydesk_protocol::client::{
    ChangeSettings, ClearTranscript, CreateDocument, ForkTranscript, IssueToken, SetSettings,
    TieToken, ToolApprovalResponse, UseServerTools,
};
use copydesk_protocol::rest::{
    AuditPage, ChangeWebhook, Comparison, ConvertedHtml, CreateWebhook, CreatedWebhook,
    DecisionResults, Decisions, DocumentPage, EditDocument, Empty, FilePage, FullDocument,
    ImportedDocument, Me, NewVersion, OpenFile, ProblemDocument, Provenance, Rename, Reopen,
    RequestPage, RequestState, RestoreText, RunState, SessionPage, SignInOffer, Split, StartRun,
    StartedRun, Transcript, Undo, VersionPage, VersionText, Webhook, Webhooks,
};
use copydesk_protocol::rules::{AddRule, RuleAdded, Rules};
use copydesk_protocol::server::{
    CreatedDocument, Decided, DocumentSettings, IssuedToken, Settings, TokenList, Told,
    ToolApprovalRequest, Trash,
};
use copydesk_protocol::sharing::{DocumentRoleLine, DocumentRoleList, GranteeQuery, ShareDocument};
pub(super) use operation::BodyKind;
use operation::{DELETE, GET, Operation, PATCH, POST, PUT};

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(describe().to_string()));

/// Returns the document. It holds nothing that is not in the source, so it needs no token.
pub(crate) async fn document() -> impl IntoResponse {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], DOCUMENT.clone())
}

/// Prefix of the path of every operation.
const BASE: &str = "/api/v1";

/// Builds the routes whose bodies are of this kind.
pub(super) fn routes(body_kind: BodyKind) -> Router<HttpState> {
    let operations = operations().into_iter().filter(|it| it.body_kind == body_kind);
    operations
        .fold(Router::new(), |routes, it| routes.route(&format!("{BASE}{}", it.path), it.handler))
}

/// Lists every operation.
#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "a line for each route")]
fn operations() -> Vec<Operation> {
    vec![
        GET.at("/openapi.json", document, "getOpenapi", "This document").gives::<Map<String, Value>>().without_token(),
        GET.at("/me", server_resources::me, "getMe", "Who you are, and what this server offers").gives::<Me>(),
        GET.at("/settings", server_resources::settings, "getSettings", "The server's settings").gives::<Settings>(),
        PATCH.at("/settings", server_resources::configure, "setSettings", "Change the server's settings; missing fields stay as they are").body::<SetSettings>().gives::<Settings>(),
        GET.at("/audit", server_resources::audit, "getAudit", "The audit log of the server, newest first").query::<pagination::ListPart>().gives::<AuditPage>(),
        GET.at("/rules", server_resources::rules, "listRules", "Remembered rules in force").query::<server_resources::RuleListQuery>().gives::<Rules>(),
        POST.at("/rules", server_resources::add_rule, "addRule", "Create an owner's rule: deny, ask or allow; if an equal rule exists, it is returned instead").body::<AddRule>().gives::<RuleAdded>(),
        DELETE.at("/rules/{id}", server_resources::revoke, "revokeRule", "End a rule"),
        GET.at("/documents", documents::list, "listDocuments", "Documents, last changed first").query::<pagination::ListPart>().gives::<DocumentPage>(),
        POST.at("/documents", documents::create, "createDocument", "Create a document").body::<CreateDocument>().creates::<CreatedDocument>().text_body(),
        POST.at("/documents/import", documents::imports::import, "importDocument", "Create a document of a file as it is: .docx, .md, .txt or .html; tracked changes of Word become requests").query::<documents::imports::ImportQuery>().file_body().creates::<ImportedDocument>(),
        GET.at("/documents/{id}", documents::read, "getDocument", "A document with its text").gives::<FullDocument>(),
        PATCH.at("/documents/{id}", documents::rename, "renameDocument", "Change the title").body::<Rename>(),
        DELETE.at("/documents/{id}", documents::delete, "deleteDocument", "Delete a document; it can be recovered for 30 days"),
        GET.at("/trash", documents::trash, "listTrash", "Deleted documents that can be recovered, last deleted first").gives::<Trash>(),
        DELETE.at("/trash", documents::empty_trash, "emptyTrash", "Remove all documents from the trash"),
        DELETE.at("/trash/{id}", documents::purge, "purgeDocument", "Remove a document from the trash"),
        POST.at("/trash/{id}/recover", documents::recover, "recoverDocument", "Recover a deleted document"),
        GET.at("/documents/{id}/settings", documents::settings, "getDocumentSettings", "The document's review settings in force").gives::<DocumentSettings>(),
        PATCH.at("/documents/{id}/settings", documents::configure, "setDocumentSettings", "Change the document's review settings; missing fields stay as they are").body_about::<ChangeSettings>("documentId").gives::<DocumentSettings>(),
        POST.at("/documents/{id}/edits", documents::edit, "editDocument", "Your own change: the new text, based on a version; what others wrote since stays").body::<EditDocument>().gives::<NewVersion>().text_body(),
        POST.at("/documents/{id}/convert", documents::imports::convert, "convertHtml", "HTML, or a file, as Markdown, for a document that you may change; changes nothing").query::<documents::imports::ConvertQuery>().html_body().gives::<ConvertedHtml>(),
        POST.at("/documents/{id}/restore", documents::restore, "restoreDocument", "Restore an earlier version").body::<RestoreText>().gives::<NewVersion>(),
        GET.at("/documents/{id}/versions", documents::versions, "listVersions", "Versions and their authors, newest first").query::<pagination::ListPart>().gives::<VersionPage>(),
        GET.at("/documents/{id}/versions/{version}", documents::text, "getVersion", "The text at a version").gives::<VersionText>(),
        GET.at("/documents/{id}/compare", documents::differences, "compareVersions", "Differences between two versions").query::<documents::TwoVersions>().gives::<Comparison>(),
        GET.at("/documents/{id}/export", export::download, "exportDocument", "The document as a file").query::<export::ExportQuery>().gives_file(),
        GET.at("/documents/{id}/provenance", history::provenance, "getProvenance", "Who wrote what").query::<history::TextRangeQuery>().gives::<Provenance>(),
        GET.at("/documents/{id}/audit", history::audit, "getDocumentAudit", "The audit log of a document, newest first").query::<history::AuditQuery>().gives::<AuditPage>(),
        GET.at("/documents/{id}/roles", sharing::list, "listDocumentRoles", "Roles that people and groups were given in the document, oldest first").gives::<DocumentRoleList>(),
        PUT.at("/documents/{id}/roles", sharing::share, "giveDocumentRole", "Give a person or a group a role in the document, or another one").body_about::<ShareDocument>("documentId").gives::<DocumentRoleLine>(),
        DELETE.at("/documents/{id}/roles", sharing::unshare, "takeDocumentRole", "Take the role of a person or a group").query::<GranteeQuery>(),
        GET.at("/files", files::list, "listFiles", "Text files of the workspace that can be opened as documents").query::<files::FileListQuery>().gives::<FilePage>(),
        POST.at("/files", files::open, "openFile", "Open a file as a document, which is created if there is none yet").body::<OpenFile>().gives::<CreatedDocument>(),
        GET.at("/requests", requests::list, "listRequests", "Requests: open ones oldest first, ended ones newest first").query::<requests::RequestListQuery>().gives::<RequestPage>(),
        POST.at("/requests/decisions", requests::batch, "decideRequests", "Decide several requests, each on its own").body::<Decisions>().gives::<DecisionResults>(),
        GET.at("/requests/{id}", requests::read, "getRequest", "A request; with `wait`, once it is resolved").query::<pagination::WaitQuery>().gives::<ToolApprovalRequest>(),
        POST.at("/requests/{id}/decision", requests::decide, "decideRequest", "Decide a request, or some of its changes").body_about::<ToolApprovalResponse>("request_id").gives::<Decided>(),
        POST.at("/requests/{id}/told", requests::told, "previewTold", "Text that the model would receive after this decision; nothing changes").body_about::<ToolApprovalResponse>("request_id").gives::<Told>(),
        POST.at("/requests/{id}/split", requests::split, "splitChange", "Split a change of several parts into one change for each part").body::<Split>().gives::<Decided>(),
        POST.at("/requests/{id}/extend", requests::extend, "extendRequest", "Give people more time").body::<Empty>().gives::<RequestState>(),
        POST.at("/requests/{id}/undo", requests::undo, "undoRequest", "Undo what was accepted, or put back the file that a call has written").body::<Undo>().gives::<RequestState>(),
        POST.at("/requests/{id}/reopen", requests::reopen, "reopenRequest", "Propose again what was rejected, expired or undone").body::<Reopen>().gives::<RequestState>(),
        POST.at("/requests/{id}/withdraw", requests::withdraw, "withdrawRequest", "Withdraw your request").body::<Empty>().gives::<RequestState>(),
        POST.at("/runs", runs::start, "startRun", "Ask the agent").body::<StartRun>().accepts::<StartedRun>().text_body(),
        GET.at("/sessions", runs::sessions, "listSessions", "Your own sessions, newest first").query::<pagination::ListPart>().gives::<SessionPage>(),
        POST.at("/sessions/{session}/cancel", runs::cancel_all, "cancelRuns", "Stop every run of a session").body::<Empty>(),
        GET.at("/sessions/{session}/transcript", transcripts::transcript, "getTranscript", "The conversation of a session, oldest first").query::<transcripts::TranscriptQuery>().gives::<Transcript>(),
        POST.at("/sessions/{session}/transcript/clear", runs::clear, "clearTranscript", "Begin a conversation anew; what was said stays on record").body_about::<ClearTranscript>("sessionId"),
        POST.at("/sessions/{session}/transcript/fork", runs::fork, "forkTranscript", "Continue from the end of an earlier run").body_about::<ForkTranscript>("sessionId"),
        GET.at("/sessions/{session}/runs/{run}", runs::read, "getRun", "A run; with `wait`, once it has ended").query::<pagination::WaitQuery>().gives::<RunState>(),
        POST.at("/sessions/{session}/runs/{run}/cancel", runs::cancel, "cancelRun", "Stop a run").body::<Empty>(),
        GET.at("/tokens", tokens::list, "listTokens", "All tokens, without their secrets").gives::<TokenList>(),
        POST.at("/tokens", tokens::issue, "issueToken", "Issue a token; its secret is shown once").body::<IssueToken>().creates::<IssuedToken>().secret_body(),
        DELETE.at("/tokens/{id}", tokens::revoke, "revokeToken", "Revoke a token"),
        POST.at("/tokens/{id}/tie", tokens::tie, "tieToken", "Tie a token to a login: both are one person").body_about::<TieToken>("id"),
        GET.at("/sign-in", tokens::sign_in_offer, "getSignIn", "Where a browser can sign in").gives::<SignInOffer>().without_token(),
        POST.at("/sign-out", tokens::sign_out, "signOut", "Revoke your own token, if it came from signing in").body::<Empty>(),
        GET.at("/spending", administration::spending, "getSpending", "What models have cost in a month, by person and by document, with the limits").query::<ReadSpending>().gives::<MonthSpending>(),
        PUT.at("/spending/limits", administration::set_spending_limit, "setSpendingLimit", "Set or remove a spending limit").body::<SetSpendingLimit>().gives::<MonthSpending>(),
        GET.at("/server/work", administration::work, "getWork", "Runs that have not ended, anybody's, and the number of open requests").gives::<WorkInProgress>(),
        GET.at("/server/storage", administration::storage, "getStorage", "Sizes of what is stored").gives::<StoredSizes>(),
        POST.at("/server/stop", administration::stop_run, "stopRun", "Stop anybody's run").body::<StopRun>(),
        GET.at("/people/{user}", administration::person, "getPerson", "What is stored of a person, and what a deletion would delete, rename and keep").gives::<PersonPreview>(),
        DELETE.at("/people/{user}", administration::delete_person, "deletePerson", "Delete the data of a person").query::<DeletePersonQuery>().gives::<PersonDeletion>(),
        GET.at("/server-tools", messages_api::opted_in, "getServerTools", "Tools of this server that your programs may use over the Messages API").gives::<UseServerTools>(),
        PUT.at("/server-tools", messages_api::opt_in, "setServerTools", "Set the tools that your programs may use").body::<UseServerTools>().gives::<UseServerTools>(),
        GET.at("/webhooks", webhooks::list, "listWebhooks", "Webhooks and their delivery state").gives::<Webhooks>(),
        POST.at("/webhooks", webhooks::create, "createWebhook", "Register a webhook for pending and resolved requests; its secret is shown once").body::<CreateWebhook>().creates::<CreatedWebhook>(),
        GET.at("/webhooks/{id}", webhooks::read, "getWebhook", "A webhook and its delivery state").gives::<Webhook>(),
        PATCH.at("/webhooks/{id}", webhooks::change, "changeWebhook", "Change the address of a webhook, pause it or resume it").body::<ChangeWebhook>().gives::<Webhook>(),
        DELETE.at("/webhooks/{id}", webhooks::remove, "deleteWebhook", "Delete a webhook"),
    ]
}

fn describe() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = Contract::Serialize;
    });
    let mut schemas = settings.into_generator();
    let problem = schemas.subschema_for::<ProblemDocument>().to_value();
    let mut paths = Map::new();
    for operation in operations() {
        let described = operation.describe(&mut schemas);
        let path = paths.entry(format!("{BASE}{}", operation.path)).or_insert_with(|| json!({}));
        path[operation.method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Copydesk",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Documents, requests for approval and decisions. Errors are problem documents (RFC 9457). Lists \
                are read page by page: `next` is the address of what follows. A write that carries an \
                `Idempotency-Key` is done once, however often it is sent within a day.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
            "responses": {
                "Problem": {
                    "description": "The request was refused; the reason",
                    "headers": {
                        "Retry-After": {
                            "description": "Seconds after which to repeat the request, where waiting helps",
                            "schema": {"type": "integer", "minimum": 1},
                        },
                    },
                    "content": {"application/problem+json": {"schema": problem}},
                },
            },
        },
    })
}
