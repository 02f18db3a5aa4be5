//! Operation of the `OpenAPI` document, with its input and output given by the types of its
//! handler.

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::rest::http_state::HttpState;
use crate::rest::middleware::idempotency;
use copydesk_engine::export::ExportFormat;

/// Function that returns the schema of an answer, as a reference into the document.
type AnswerSchema = fn(&mut SchemaGenerator) -> Value;

/// Operation: a route with its handler, and what [`Operation::describe`] says of it.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    /// Path below the prefix of the API.
    pub(crate) path: &'static str,
    pub(crate) handler: MethodRouter<HttpState>,
    pub(crate) body_kind: BodyKind,
    id: &'static str,
    summary: &'static str,
    query: Option<fn() -> Value>,
    body: Option<fn() -> Value>,
    /// Field of the body's type that the path has in its place.
    path_field: Option<&'static str>,
    status: &'static str,
    answer: ResponseSchema,
}

/// Kind of the bodies that an operation takes, which decides how long they may be and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// No body; the operation needs no token either.
    NoBodyNoToken,
    /// A body of the usual length, or none.
    Usual,
    /// A body with the text of a document or a prompt.
    Text,
    /// A file as it is.
    File,
    /// HTML as it is.
    Html,
    /// A request for a new token.
    Secret,
}

enum ResponseSchema {
    Nothing,
    Json(AnswerSchema),
    File,
}

/// Method of a route, with its name in the document.
pub(crate) struct RouteMethod(&'static str, MethodFilter);

pub(crate) const GET: RouteMethod = RouteMethod("get", MethodFilter::GET);
pub(crate) const POST: RouteMethod = RouteMethod("post", MethodFilter::POST);
pub(crate) const PUT: RouteMethod = RouteMethod("put", MethodFilter::PUT);
pub(crate) const PATCH: RouteMethod = RouteMethod("patch", MethodFilter::PATCH);
pub(crate) const DELETE: RouteMethod = RouteMethod("delete", MethodFilter::DELETE);

impl RouteMethod {
    /// Returns the operation of this method at a path.
    pub(crate) fn at<T: 'static>(
        self,
        path: &'static str,
        handler: impl Handler<T, HttpState>,
        id: &'static str,
        summary: &'static str,
    ) -> Operation {
        Operation {
            method: self.0,
            path,
            handler: on(self.1, handler),
            body_kind: BodyKind::Usual,
            id,
            summary,
            query: None,
            body: None,
            path_field: None,
            status: "204",
            answer: ResponseSchema::Nothing,
        }
    }
}

impl Operation {
    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(taken::<T>), ..self }
    }

    pub(crate) fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(taken::<T>), ..self }
    }

    /// Sets a body whose type has a field that the path has already.
    pub(crate) fn body_about<T: JsonSchema>(self, field: &'static str) -> Self {
        Self { path_field: Some(field), ..self.body::<T>() }
    }

    pub(crate) fn gives<T: JsonSchema>(self) -> Self {
        Self { status: "200", answer: ResponseSchema::Json(given::<T>), ..self }
    }

    pub(crate) fn creates<T: JsonSchema>(self) -> Self {
        Self { status: "201", ..self.gives::<T>() }
    }

    pub(crate) fn accepts<T: JsonSchema>(self) -> Self {
        Self { status: "202", ..self.gives::<T>() }
    }

    pub(crate) fn gives_file(self) -> Self {
        Self { status: "200", answer: ResponseSchema::File, ..self }
    }

    pub(crate) fn without_token(self) -> Self {
        Self { body_kind: BodyKind::NoBodyNoToken, ..self }
    }

    pub(crate) fn text_body(self) -> Self {
        Self { body_kind: BodyKind::Text, ..self }
    }

    pub(crate) fn file_body(self) -> Self {
        Self { body_kind: BodyKind::File, ..self }
    }

    pub(crate) fn html_body(self) -> Self {
        Self { body_kind: BodyKind::Html, ..self }
    }

    pub(crate) fn secret_body(self) -> Self {
        Self { body_kind: BodyKind::Secret, ..self }
    }

    /// Returns the operation as `OpenAPI` has it.
    pub(crate) fn describe(&self, schemas: &mut SchemaGenerator) -> Value {
        let mut answer = json!({"description": "Done"});
        match self.answer {
            ResponseSchema::Nothing => {}
            ResponseSchema::Json(given) => {
                answer["content"] = json!({"application/json": {"schema": given(schemas)}});
            }
            ResponseSchema::File => {
                let kinds = ExportFormat::ALL
                    .map(|format| (essence(format), json!({"schema": file(format)})));
                answer["content"] = Value::Object(kinds.into_iter().collect());
            }
        }
        let headers = self.headers();
        if !headers.is_empty() {
            answer["headers"] = Value::Object(headers);
        }
        let mut operation = json!({
            "operationId": self.id,
            "summary": self.summary,
            "parameters": self.parameters(),
            "responses": {
                self.status: answer,
                "default": {"$ref": "#/components/responses/Problem"},
            },
        });
        if let Some(body) = self.body {
            let mut schema = body();
            if let Some(field) = self.path_field {
                leave_out(&mut schema, field);
            }
            operation["requestBody"] =
                json!({"required": true, "content": {"application/json": {"schema": schema}}});
        }
        let file = json!({"type": "string", "format": "binary"});
        match self.body_kind {
            BodyKind::File => {
                operation["requestBody"] =
                    json!({"required": true, "content": {"*/*": {"schema": file}}});
            }
            BodyKind::Html => {
                let schema = json!({"type": "string"});
                operation["requestBody"] =
                    json!({"required": true, "content": {"text/html": {"schema": schema}}});
            }
            BodyKind::NoBodyNoToken | BodyKind::Usual | BodyKind::Text | BodyKind::Secret => {}
        }
        if self.body_kind == BodyKind::NoBodyNoToken {
            operation["security"] = json!([]);
        }
        operation
    }

    /// Returns the headers of an answer.
    fn headers(&self) -> Map<String, Value> {
        let mut headers = Map::new();
        if ["201", "202"].contains(&self.status) {
            let location =
                json!({"description": "Address of what was created", "schema": {"type": "string"}});
            headers.insert("Location".into(), location);
        }
        if self.method != "get" {
            headers.insert(
                "Idempotency-Replayed".into(),
                json!({
                    "description": "Set if this is the stored answer to an earlier request",
                    "schema": {"type": "string", "enum": ["true"]},
                }),
            );
        }
        headers
    }

    fn parameters(&self) -> Vec<Value> {
        let names = self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let mut parameters: Vec<Value> = names
            .map(|name| {
                let schema = match name {
                    "version" => json!({"type": "integer", "minimum": 0}),
                    _ => json!({"type": "string", "minLength": 1}),
                };
                json!({"in": "path", "name": name, "required": true, "schema": schema})
            })
            .collect();
        if let Some(query) = self.query {
            parameters.extend(query_parameters(&query()));
        }
        if self.method != "get" {
            parameters.push(json!({
                "in": "header",
                "name": idempotency::KEY.as_str(),
                "description": "Sent again with the same key within a day, the same is not done again; the answer is the \
                    first one.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            }));
        }
        parameters
    }
}

/// Returns the content type of a file, without parameters.
fn essence(format: ExportFormat) -> String {
    let kind = format.content_type();
    kind.split(';').next().unwrap_or(kind).trim().to_owned()
}

/// Returns the schema of an exported file.
fn file(format: ExportFormat) -> Value {
    match format {
        ExportFormat::Markdown | ExportFormat::Html | ExportFormat::CriticMarkup => {
            json!({"type": "string"})
        }
        ExportFormat::Docx => json!({"type": "string", "format": "binary"}),
        ExportFormat::Json => json!({"type": "object"}),
    }
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = schema["required"].as_array();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, field): (&String, &Value)| {
        let mut field = field.clone();
        // An address has no null: a parameter without a value is missing.
        if let Some(kind) = field["type"].as_array().and_then(|kinds| kinds.first()).cloned() {
            field["type"] = kind;
        }
        let description =
            field.as_object_mut().and_then(|it| it.remove("description")).unwrap_or_default();
        let must = required.is_some_and(|names| names.iter().any(|known| known == name));
        json!({"in": "query", "name": name, "required": must, "description": description, "schema": field})
    };
    fields.map(parameter).collect()
}

fn leave_out(schema: &mut Value, field: &str) {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(field);
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| name != field);
    }
}

/// Returns the schema of an input, complete in itself.
fn taken<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn given<T: JsonSchema>(schemas: &mut SchemaGenerator) -> Value {
    schemas.subschema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_address_says_is_not_asked_for_in_the_body() {
        let mut schema = json!({"properties": {"id": {}, "text": {}}, "required": ["id", "text"]});
        leave_out(&mut schema, "id");
        assert_eq!(schema, json!({"properties": {"text": {}}, "required": ["text"]}));
    }

    #[test]
    fn a_field_that_may_be_missing_is_a_parameter_that_may_be() {
        let schema = json!({
            "properties": {"limit": {"type": ["integer", "null"], "description": "How many."}, "format": {"type": "string"}},
            "required": ["format"],
        });
        let parameters = query_parameters(&schema);
        let of = |name: &str| parameters.iter().find(|it| it["name"] == name).unwrap().clone();
        assert_eq!(
            (&of("limit")["required"], &of("limit")["schema"]["type"]),
            (&json!(false), &json!("integer"))
        );
        assert_eq!(of("format")["required"], true);
    }
}
