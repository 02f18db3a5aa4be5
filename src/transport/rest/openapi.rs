//! `GET /api/v1/openapi.json`: input and output of the routes under `/api/v1`, as `OpenAPI` 3.1.
//!
//! Shapes come from the types that are read and written; only names and sentences are written here.
//! A test from outside (`tests/it/rest.rs`) checks that the document has every route and nothing
//! else.

mod operation;

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::{documents, export, files, history, requests, server_resources, transcripts};
use crate::transport::protocol::client::{
    ChangeSettings, ClearTranscript, CreateDocument, ForkTranscript, IssueToken, SetSettings,
    ToolApprovalResponse, UseServerTools,
};
use crate::transport::protocol::rest::{
    AuditPage, ChangeWebhook, Comparison, CreateWebhook, CreatedWebhook, DecisionResults,
    Decisions, DocumentPage, EditDocument, Empty, FilePage, FullDocument, Me, NewVersion, OpenFile,
    ProblemDocument, Provenance, Rename, Reopen, RequestPage, RequestState, RestoreText, RunState,
    SessionPage, StartRun, StartedRun, Transcript, Undo, VersionPage, VersionText, Webhook,
    Webhooks,
};
use crate::transport::protocol::rules::{AddRule, RuleAdded, Rules};
use crate::transport::protocol::server::{
    CreatedDocument, Decided, DocumentSettings, IssuedToken, Settings, TokenList, Told,
    ToolApprovalRequest,
};
use crate::transport::rest::middleware::pagination;
use operation::{Operation, delete, get, patch, post, put};

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(describe().to_string()));

/// Returns the document. It holds nothing that is not in the source, so it needs no token.
pub(crate) async fn document() -> impl IntoResponse {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], DOCUMENT.clone())
}

/// Lists every operation, in the order of the routes.
#[rustfmt::skip]
fn operations() -> Vec<Operation> {
    vec![
        get("/api/v1/openapi.json", "getOpenapi", "This document").gives::<Map<String, Value>>().for_everybody(),
        get("/api/v1/me", "getMe", "Who you are, and what this server offers").gives::<Me>(),
        get("/api/v1/settings", "getSettings", "The server's settings").gives::<Settings>(),
        patch("/api/v1/settings", "setSettings", "Change the server's settings; what is not said stays").body::<SetSettings>().gives::<Settings>(),
        get("/api/v1/audit", "getAudit", "The audit log of the server, newest first").query::<pagination::ListPart>().gives::<AuditPage>(),
        get("/api/v1/rules", "listRules", "Remembered rules in force").query::<server_resources::RuleListQuery>().gives::<Rules>(),
        post("/api/v1/rules", "addRule", "Make an owner's rule: deny, ask or allow; the answer is the one that is there already, if it says the same").body::<AddRule>().gives::<RuleAdded>(),
        delete("/api/v1/rules/{id}", "revokeRule", "End a rule"),
        get("/api/v1/documents", "listDocuments", "Documents, last changed first").query::<pagination::ListPart>().gives::<DocumentPage>(),
        post("/api/v1/documents", "createDocument", "Create a document").body::<CreateDocument>().creates::<CreatedDocument>(),
        get("/api/v1/documents/{id}", "getDocument", "A document with its text").gives::<FullDocument>(),
        patch("/api/v1/documents/{id}", "renameDocument", "Change the title").body::<Rename>(),
        delete("/api/v1/documents/{id}", "deleteDocument", "Delete a document"),
        get("/api/v1/documents/{id}/settings", "getDocumentSettings", "Its review settings in force").gives::<DocumentSettings>(),
        patch("/api/v1/documents/{id}/settings", "setDocumentSettings", "Change its review settings; what is not said stays").body_about::<ChangeSettings>("documentId").gives::<DocumentSettings>(),
        post("/api/v1/documents/{id}/edits", "editDocument", "Your own change: the text as it is to be, made on a version; what others wrote since stays").body::<EditDocument>().gives::<NewVersion>(),
        post("/api/v1/documents/{id}/restore", "restoreDocument", "Make the text again what it was").body::<RestoreText>().gives::<NewVersion>(),
        get("/api/v1/documents/{id}/versions", "listVersions", "Who made which version, newest first").query::<pagination::ListPart>().gives::<VersionPage>(),
        get("/api/v1/documents/{id}/versions/{version}", "getVersion", "The text at a version").gives::<VersionText>(),
        get("/api/v1/documents/{id}/compare", "compareVersions", "What is different between two versions").query::<documents::TwoVersions>().gives::<Comparison>(),
        get("/api/v1/documents/{id}/export", "exportDocument", "The document as a file").query::<export::ExportQuery>().gives_file(),
        get("/api/v1/documents/{id}/provenance", "getProvenance", "Who wrote what").query::<history::TextRangeQuery>().gives::<Provenance>(),
        get("/api/v1/documents/{id}/audit", "getDocumentAudit", "What happened in it, newest first").query::<history::AuditQuery>().gives::<AuditPage>(),
        get("/api/v1/files", "listFiles", "Text files of the workspace that can be opened as documents").query::<files::FileListQuery>().gives::<FilePage>(),
        post("/api/v1/files", "openFile", "The document of a file, which is made if there is none yet").body::<OpenFile>().gives::<CreatedDocument>(),
        get("/api/v1/requests", "listRequests", "Requests: open ones oldest first, ended ones newest first").query::<requests::RequestListQuery>().gives::<RequestPage>(),
        post("/api/v1/requests/decisions", "decideRequests", "Decide several requests, each on its own").body::<Decisions>().gives::<DecisionResults>(),
        get("/api/v1/requests/{id}", "getRequest", "A request; with `wait`, once it is resolved").query::<pagination::WaitQuery>().gives::<ToolApprovalRequest>(),
        post("/api/v1/requests/{id}/decision", "decideRequest", "Decide a request, or some of its changes").body_about::<ToolApprovalResponse>("request_id").gives::<Decided>(),
        post("/api/v1/requests/{id}/told", "previewTold", "What the model would be told if this decision were taken; nothing changes").body_about::<ToolApprovalResponse>("request_id").gives::<Told>(),
        post("/api/v1/requests/{id}/extend", "extendRequest", "Give people more time").body::<Empty>().gives::<RequestState>(),
        post("/api/v1/requests/{id}/undo", "undoRequest", "Undo what was accepted, or put back the file that a call has written").body::<Undo>().gives::<RequestState>(),
        post("/api/v1/requests/{id}/reopen", "reopenRequest", "Propose again what was rejected, expired or undone").body::<Reopen>().gives::<RequestState>(),
        post("/api/v1/requests/{id}/withdraw", "withdrawRequest", "Take back what you asked for").body::<Empty>().gives::<RequestState>(),
        post("/api/v1/runs", "startRun", "Ask the agent").body::<StartRun>().accepts::<StartedRun>(),
        get("/api/v1/sessions", "listSessions", "Your own sessions, newest first").query::<pagination::ListPart>().gives::<SessionPage>(),
        post("/api/v1/sessions/{session}/cancel", "cancelRuns", "Stop every run of a session").body::<Empty>(),
        get("/api/v1/sessions/{session}/transcript", "getTranscript", "What was said in a session, oldest first").query::<transcripts::TranscriptQuery>().gives::<Transcript>(),
        post("/api/v1/sessions/{session}/transcript/clear", "clearTranscript", "Begin a conversation anew; what was said stays on record").body_about::<ClearTranscript>("sessionId"),
        post("/api/v1/sessions/{session}/transcript/fork", "forkTranscript", "Go on from where an earlier run ended").body_about::<ForkTranscript>("sessionId"),
        get("/api/v1/sessions/{session}/runs/{run}", "getRun", "A run; with `wait`, once it has ended").query::<pagination::WaitQuery>().gives::<RunState>(),
        post("/api/v1/sessions/{session}/runs/{run}/cancel", "cancelRun", "Stop a run").body::<Empty>(),
        get("/api/v1/tokens", "listTokens", "All tokens, without their secrets").gives::<TokenList>(),
        post("/api/v1/tokens", "issueToken", "A new token; its secret is told once").body::<IssueToken>().creates::<IssuedToken>(),
        delete("/api/v1/tokens/{id}", "revokeToken", "Take a token back"),
        get("/api/v1/server-tools", "getServerTools", "Which tools of this server your programs may use over the Messages API").gives::<UseServerTools>(),
        put("/api/v1/server-tools", "setServerTools", "Which they may use from now on").body::<UseServerTools>().gives::<UseServerTools>(),
        get("/api/v1/webhooks", "listWebhooks", "Who is told of requests, and how it goes").gives::<Webhooks>(),
        post("/api/v1/webhooks", "createWebhook", "Be told of requests that wait and of those that were resolved; the secret is told once").body::<CreateWebhook>().creates::<CreatedWebhook>(),
        get("/api/v1/webhooks/{id}", "getWebhook", "A webhook, and how it goes with it").gives::<Webhook>(),
        patch("/api/v1/webhooks/{id}", "changeWebhook", "Another address, pause, go on").body::<ChangeWebhook>().gives::<Webhook>(),
        delete("/api/v1/webhooks/{id}", "deleteWebhook", "Be told nothing any more"),
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
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
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
                    "description": "It was not done, and why",
                    "headers": {
                        "Retry-After": {
                            "description": "Seconds after which the same may be done, where waiting helps",
                            "schema": {"type": "integer", "minimum": 1},
                        },
                    },
                    "content": {"application/problem+json": {"schema": problem}},
                },
            },
        },
    })
}
