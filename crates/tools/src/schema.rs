//! Converts the input of a tool to a plain JSON schema, and to one line for a model.

use std::fmt::Write as _;

use serde_json::Value;

/// Returns a plain JSON schema: no references, no titles, no keywords that a provider may not know.
pub(super) fn schema<I: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
    strip(&mut schema, SchemaPlace::Schema);
    if let Some(root) = schema.as_object_mut() {
        // The description of the type is for readers of the code; the model has the tool's
        // description.
        root.remove("description");
    }
    schema
}

/// Role of a JSON object in a schema: property names must not be mistaken for keywords.
#[derive(Clone, Copy)]
enum SchemaPlace {
    Schema,
    Properties,
}

fn strip(value: &mut Value, place: SchemaPlace) {
    let Some(object) = value.as_object_mut() else { return };
    if matches!(place, SchemaPlace::Schema) {
        for keyword in ["$schema", "title", "format", "default"] {
            object.remove(keyword);
        }
        if object.contains_key("properties") {
            object.insert("additionalProperties".into(), Value::Bool(false));
        }
    }
    for (key, inner) in object {
        let inside =
            if key == "properties" { SchemaPlace::Properties } else { SchemaPlace::Schema };
        strip(inner, inside);
    }
}

/// Returns the allowed input in one line, for a model that made a wrong call.
pub(super) fn expected(schema: &Value) -> String {
    fields(schema, SchemaDepth::Outside)
}

/// Nesting level of a description. Inputs of tools have one inner level at most.
#[derive(Clone, Copy)]
enum SchemaDepth {
    Outside,
    Inside,
}

fn fields(schema: &Value, depth: SchemaDepth) -> String {
    let mut line = String::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let must = required.is_some_and(|names| names.iter().any(|known| known == name));
        let kind = kind(property, depth);
        let need = if must { "required" } else { "optional" };
        let comma = if line.is_empty() { "" } else { ", " };
        let _ = write!(line, "{comma}{name} ({kind}, {need})");
    }
    line
}

fn kind(schema: &Value, depth: SchemaDepth) -> String {
    let is_listed = |name: &&str| *name != "null";
    let name = match &schema["type"] {
        Value::String(name) => Some(name.as_str()),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(is_listed),
        _ => None,
    };
    match (name, depth) {
        (Some("object"), SchemaDepth::Outside) if schema["properties"].is_object() => {
            format!("object {{{}}}", fields(schema, SchemaDepth::Inside))
        }
        (Some("array"), SchemaDepth::Outside) if schema["items"]["properties"].is_object() => {
            format!("array of {{{}}}", fields(&schema["items"], SchemaDepth::Inside))
        }
        (Some("string"), _) => words(schema).unwrap_or_else(|| "string".to_owned()),
        (Some(name), _) => name.to_owned(),
        (None, _) => {
            // A union: optional values of more than a plain type are written like this.
            let ways = ["anyOf", "oneOf"].into_iter().find_map(|way| schema[way].as_array());
            let mut ways = ways.into_iter().flatten().filter(|one| one["type"] != "null");
            words(schema)
                .or_else(|| ways.next().map(|first| kind(first, depth)))
                .unwrap_or_else(|| "value".to_owned())
        }
    }
}

fn words(schema: &Value) -> Option<String> {
    let listed = schema["enum"].as_array().map(|words| words.iter().collect::<Vec<_>>());
    let described =
        || schema["oneOf"].as_array().map(|ways| ways.iter().map(|one| &one["const"]).collect());
    let words: Option<Vec<&str>> = listed
        .or_else(described)?
        .into_iter()
        .filter(|word| !word.is_null())
        .map(Value::as_str)
        .collect();
    words.filter(|words| !words.is_empty()).map(|words| words.join(" | "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_property_may_be_called_like_a_keyword() {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Input {
            title: String,
        }
        assert_eq!(schema::<Input>()["properties"], json!({"title": {"type": "string"}}));
    }

    #[test]
    fn a_model_is_told_what_each_field_is_and_what_is_inside() {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Input {
            words: Vec<TestPiece>,
            piece: Option<TestPiece>,
            range: Option<(i64, i64)>,
            title: Option<String>,
            mode: Option<TestMode>,
            way: TestWay,
        }
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct TestPiece {
            at: usize,
            all: Option<bool>,
            deep: Vec<TestDeep>,
        }
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct TestDeep {
            at: usize,
        }
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "lowercase")]
        enum TestMode {
            Literal,
            Regex,
        }
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "lowercase")]
        enum TestWay {
            /// That way.
            Up,
            /// The other.
            Down,
        }
        let piece = "{all (boolean, optional), at (integer, required), deep (array, required)}";
        let fields = format!(
            "mode (literal | regex, optional), piece (object {piece}, optional), range (array, optional), \
             title (string, optional), way (up | down, required), words (array of {piece}, required)"
        );
        let mut fields: Vec<_> = fields.split(", ").collect();
        let line = expected(&schema::<Input>());
        let mut line: Vec<_> = line.split(", ").collect();
        // In whatever order the fields are listed.
        fields.sort_unstable();
        line.sort_unstable();
        assert_eq!(line, fields);
    }
}
