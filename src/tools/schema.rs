//! A tool's input as a plain JSON schema, and as one line for a model that got it wrong. Pure.

use std::fmt::Write as _;

use serde_json::Value;

/// A plain JSON schema: no references, no titles, nothing a provider does not know.
pub(super) fn schema<I: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
    strip(&mut schema, Place::Schema);
    if let Some(root) = schema.as_object_mut() {
        // The description of the whole type is for readers of the code; the model has the tool's.
        root.remove("description");
    }
    schema
}

/// Where in a schema a JSON object stands: property names must not be mistaken for keywords.
#[derive(Clone, Copy)]
enum Place {
    Schema,
    Properties,
}

fn strip(value: &mut Value, place: Place) {
    let Some(object) = value.as_object_mut() else { return };
    if matches!(place, Place::Schema) {
        for keyword in ["$schema", "title", "format", "default"] {
            object.remove(keyword);
        }
        if object.contains_key("properties") {
            object.insert("additionalProperties".into(), Value::Bool(false));
        }
    }
    for (key, inner) in object {
        let inside = if key == "properties" { Place::Properties } else { Place::Schema };
        strip(inner, inside);
    }
}

/// The allowed input in one line, for a model that got it wrong.
pub(super) fn expected(schema: &Value) -> String {
    let mut line = String::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let must = required.is_some_and(|names| names.iter().any(|known| known == name));
        let kind = property["type"].as_str().unwrap_or("value");
        let need = if must { "required" } else { "optional" };
        let comma = if line.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(line, "{comma}{name} ({kind}, {need})");
    }
    line
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
}
