//! Operation as the `OpenAPI` document describes it.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::rest::middleware::idempotency;
use copydesk_export::ExportFormat;
use copydesk_operation_table::{BodyKind, Operation, Route};

/// Name of the output of an operation whose answer is a file.
const FILE: &str = "FileContent";

/// Returns an operation as `OpenAPI` has it.
pub fn describe(operation: &Operation, route: &Route, schemas: &mut SchemaGenerator) -> Value {
    let mut answer = json!({"description": "Done"});
    if operation.output.name == FILE {
        let kinds =
            ExportFormat::ALL.map(|format| (essence(format), json!({"schema": file(format)})));
        answer["content"] = Value::Object(kinds.into_iter().collect());
    } else if operation.has_output() {
        let schema = operation.answer_schema(schemas);
        answer["content"] = json!({"application/json": {"schema": schema}});
    }
    let headers = headers(route);
    if !headers.is_empty() {
        answer["headers"] = Value::Object(headers);
    }
    let mut described = json!({
        "operationId": route.id,
        "summary": operation.summary,
        "parameters": parameters(operation, route),
        "responses": {
            route.status.to_string(): answer,
            "default": {"$ref": "#/components/responses/Problem"},
        },
    });
    let body = match route.body {
        BodyKind::Usual | BodyKind::Text | BodyKind::Secret => {
            Some(("application/json", operation.input_schema().clone()))
        }
        BodyKind::File => Some(("*/*", json!({"type": "string", "format": "binary"}))),
        BodyKind::Html => Some(("text/html", json!({"type": "string"}))),
        BodyKind::NoBody | BodyKind::NoBodyNoToken => None,
    };
    if let Some((kind, schema)) = body {
        described["requestBody"] = json!({"required": true, "content": {kind: {"schema": schema}}});
    }
    if route.body == BodyKind::NoBodyNoToken {
        described["security"] = json!([]);
    }
    described
}

fn headers(route: &Route) -> Map<String, Value> {
    let mut headers = Map::new();
    if [201, 202].contains(&route.status) {
        let location =
            json!({"description": "Address of what was created", "schema": {"type": "string"}});
        headers.insert("Location".into(), location);
    }
    if route.method != "get" {
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

fn parameters(operation: &Operation, route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = route
        .fields()
        .map(|(name, _)| {
            let schema = match name {
                "version" => json!({"type": "integer", "minimum": 0}),
                _ => json!({"type": "string", "minLength": 1}),
            };
            json!({"in": "path", "name": name, "required": true, "schema": schema})
        })
        .collect();
    if !route.body.is_json() {
        parameters.extend(query_parameters(operation.input_schema()));
    }
    if route.method != "get" {
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

fn essence(format: ExportFormat) -> String {
    let kind = format.content_type();
    kind.split(';').next().unwrap_or(kind).trim().to_owned()
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
