//! `GET /api/v1/openapi.json`: the routes of all operations as `OpenAPI` 3.1.

mod operation;

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use super::http_state::HttpState;
use copydesk_operation_table::OperationTable;
use copydesk_protocol::rest::ProblemDocument;

static DOCUMENT: OnceLock<Bytes> = OnceLock::new();

/// Returns the document, which needs no token.
pub(crate) async fn document(State(app): State<HttpState>) -> impl IntoResponse {
    let json = HeaderValue::from_static("application/json");
    let document = DOCUMENT.get_or_init(|| Bytes::from(describe(app.operations).to_string()));
    ([(header::CONTENT_TYPE, json)], document.clone())
}

fn describe(operations: &OperationTable) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = Contract::Serialize;
    });
    let mut schemas = settings.into_generator();
    let problem = schemas.subschema_for::<ProblemDocument>().to_value();
    let mut paths = Map::new();
    for operation in operations.all() {
        let Some(route) = &operation.route else { continue };
        let described = operation::describe(operation, route, &mut schemas);
        paths.entry(route.url()).or_insert_with(|| json!({}))[route.method] = described;
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
