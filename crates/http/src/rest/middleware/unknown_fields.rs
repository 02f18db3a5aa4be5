//! Finds fields of a JSON body that its type's schema does not have: most often a misspelled name,
//! whose value would be ignored in silence.

use serde_json::{Map, Value};
use strsim::damerau_levenshtein;

/// Maximum number of characters of a field's name in a message.
const LONGEST_NAME: usize = 60;

/// Returns a sentence about the first field of `body` that is not in the schema `root`, with the
/// nearest known one.
pub(super) fn complaint(root: &Value, body: &Map<String, Value>) -> Option<String> {
    let all = SchemaNode { root, ways: flat(root, root) };
    let UnknownField { path, name, known } = all.in_object(body, "")?;
    let short: String = name.chars().take(LONGEST_NAME).collect();
    let place = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
    Some(match nearest(&name, &known) {
        Some(nearest) => {
            format!("unknown field `{short}`{place}; the nearest known one is `{nearest}`")
        }
        None => format!("unknown field `{short}`{place}; there are no fields here"),
    })
}

/// Field that the schema does not have.
#[derive(Debug, PartialEq)]
struct UnknownField {
    /// Place of the object: `hunks[0]`; empty for the body itself.
    path: String,
    name: String,
    /// Fields that the object may have.
    known: Vec<String>,
}

/// Schemas of which a value may fit any.
struct SchemaNode<'s> {
    root: &'s Value,
    ways: Vec<&'s Value>,
}

impl<'s> SchemaNode<'s> {
    fn of(&self, schemas: impl IntoIterator<Item = &'s Value>) -> Self {
        let ways = schemas.into_iter().flat_map(|schema| flat(self.root, schema)).collect();
        Self { root: self.root, ways }
    }

    fn in_value(&self, value: &Value, path: &str) -> Option<UnknownField> {
        match value {
            Value::Object(members) => self.in_object(members, path),
            Value::Array(items) => {
                let inner = self.of(self.ways.iter().filter_map(|way| way.get("items")));
                let mut items = items.iter().enumerate();
                items.find_map(|(index, item)| inner.in_value(item, &format!("{path}[{index}]")))
            }
            _ => None,
        }
    }

    fn in_object(&self, members: &Map<String, Value>, path: &str) -> Option<UnknownField> {
        let objects: Vec<_> = self.ways.iter().filter(|way| is_object(way)).collect();
        // Where no object is expected, the type of the value is wrong, which is reported elsewhere.
        if objects.is_empty() || self.ways.iter().any(|way| is_open(way)) {
            return None;
        }
        members.iter().find_map(|(name, value)| {
            let ways = objects.iter().filter_map(|way| way["properties"].get(name));
            let inner = self.of(ways);
            if inner.ways.is_empty() {
                let known = objects.iter().filter_map(|way| way["properties"].as_object());
                let known = known.flat_map(Map::keys).cloned().collect();
                return Some(UnknownField { path: path.to_owned(), name: name.clone(), known });
            }
            let dot = if path.is_empty() { "" } else { "." };
            inner.in_value(value, &format!("{path}{dot}{name}"))
        })
    }
}

/// Returns a schema with all that it refers to or combines.
fn flat<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let (mut found, mut next): (Vec<&Value>, _) = (Vec::new(), vec![schema]);
    while let Some(schema) = next.pop() {
        // Types may refer to themselves.
        if found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        let pointer = schema["$ref"].as_str().and_then(|address| address.strip_prefix('#'));
        next.extend(pointer.and_then(|pointer| root.pointer(pointer)));
        let combined = ["allOf", "anyOf", "oneOf"].map(|way| schema[way].as_array());
        next.extend(combined.into_iter().flatten().flatten());
    }
    found
}

fn is_object(schema: &Value) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|name| name == "object"),
        name => name == "object",
    }
}

fn is_open(schema: &Value) -> bool {
    let says = |keyword: &str| schema.get(keyword).is_some();
    match schema {
        Value::Bool(any) => *any,
        _ if says("additionalProperties") => schema["additionalProperties"] != false,
        _ => !["type", "$ref", "allOf", "anyOf", "oneOf", "enum", "const"].into_iter().any(says),
    }
}

/// Returns the known name that is most like `name`, apart from case and underscores.
fn nearest<'k>(name: &str, known: &'k [String]) -> Option<&'k str> {
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|c| c.is_alphanumeric()).take(LONGEST_NAME);
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    known.iter().map(String::as_str).min_by_key(|known| damerau_levenshtein(&wanted, &plain(known)))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use super::*;
    use copydesk_protocol::client::{
        ChangeSettings, CreateDocument, Nothing, ToolApprovalBatch, ToolApprovalResponse,
        UndoRequest,
    };
    use copydesk_protocol::rest::StartRun;
    use copydesk_protocol::rules::AddRule;

    fn about<T: JsonSchema>(body: &Value) -> Option<String> {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<T>().to_value();
        complaint(&schema, body.as_object().unwrap())
    }

    #[test]
    fn a_misspelled_field_is_named_with_the_nearest_one() {
        let cases = [
            (about::<CreateDocument>(&json!({"titel": "x"})), "titel", "title"),
            (
                about::<StartRun>(&json!({"prompt": "x", "session_id": "s"})),
                "session_id",
                "sessionId",
            ),
            (about::<UndoRequest>(&json!({"hunk": ["h"]})), "hunk", "hunks"),
            (about::<ToolApprovalResponse>(&json!({"feedbak": "x"})), "feedbak", "feedback"),
            (
                about::<ToolApprovalResponse>(&json!({"updatedInput": {}})),
                "updatedInput",
                "updated_input",
            ),
        ];
        for (found, name, nearest) in cases {
            let sentence = format!("unknown field `{name}`; the nearest known one is `{nearest}`");
            assert_eq!(found, Some(sentence));
        }
        let none = about::<Nothing>(&json!({"x": 1}));
        assert_eq!(none.as_deref(), Some("unknown field `x`; there are no fields here"));
        let long = about::<Nothing>(&json!({"x".repeat(5_000): 1})).unwrap();
        assert!(long.len() < 200);
    }

    #[test]
    fn fields_inside_of_fields_are_looked_at_too() {
        let hunk = json!({"id": "h", "decision": "accept", "txt": "x"});
        let found = about::<ToolApprovalResponse>(&json!({"request_id": "r", "hunks": [hunk]}));
        let sentence = "unknown field `txt` in `hunks[0]`; the nearest known one is `text`";
        assert_eq!(found.as_deref(), Some(sentence));
        let found = about::<ToolApprovalBatch>(
            &json!({"responses": [{"request_id": "r"}, {"requestId": "r"}]}),
        );
        assert!(found.unwrap().contains("`requestId` in `responses[1]`"));
        let context = json!({"documentId": "d", "selection": {"start": 0, "finish": 1}});
        let found = about::<StartRun>(&json!({"prompt": "x", "context": context}));
        assert!(found.unwrap().contains("`finish` in `context.selection`"));
    }

    #[test]
    fn known_fields_and_free_values_pass() {
        let input = json!({"file_path": "a", "anything": {"at": ["all"]}});
        let whole = json!({
            "request_id": "r", "approved": true, "decision": "edit", "feedback": "", "note": null, "updated_input": input,
            "hunks": [{"id": "h", "decision": "accept", "text": "x", "force": true, "seen": "y"}], "finish": "accept",
            "message": "", "preview_hash": "h",
        });
        assert_eq!(about::<ToolApprovalResponse>(&whole), None);
        assert_eq!(about::<Nothing>(&json!({})), None);
        // A value of another kind is reported by the type.
        assert_eq!(
            about::<ToolApprovalResponse>(&json!({"hunks": "all", "approved": {"x": 1}})),
            None
        );
        assert_eq!(about::<ChangeSettings>(&json!({"documentId": "d"})), None);
        assert!(about::<AddRule>(&json!({"tol": "Write"})).is_some());
    }
}
