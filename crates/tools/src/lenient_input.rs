//! Reads inputs that a model wrote in another shape than the schema asks for, where only one
//! meaning is possible: an object as JSON in a text, a number as text, `2.0`, a range as a pair.

use serde_json::{Map, Value};

/// Returns the input in the shape of the schema. What cannot be read otherwise stays as it is.
/// `null` members are left out, because models send `null` for fields that they do not want to set.
pub(super) fn shaped(schema: &Value, input: &Value) -> Value {
    let plain = without_null(input);
    shape(schema, plain)
}

fn shape(schema: &Value, value: Value) -> Value {
    match (kind(schema), value) {
        (Some("integer"), Value::String(text)) => {
            let number = integer_in(&text);
            number.unwrap_or(Value::String(text))
        }
        (Some("integer"), Value::Number(number)) => {
            let whole = number.as_f64().filter(|_| number.is_f64()).and_then(whole);
            whole.unwrap_or(Value::Number(number))
        }
        (Some("boolean"), Value::String(text)) => match text.trim() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text),
        },
        (Some("object" | "array"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => shape(schema, without_null(&inner)),
            _ => Value::String(text),
        },
        (Some("object"), Value::Array(items)) if is_range(schema) && items.len() == 2 => {
            let ends = ["start", "end"].map(str::to_owned).into_iter().zip(items);
            shape(schema, Value::Object(ends.collect()))
        }
        (Some("object"), Value::Object(members)) => {
            let properties = resolved(schema)["properties"].as_object();
            let inner = |name: &str, value| match properties.and_then(|all| all.get(name)) {
                Some(schema) => shape(schema, value),
                None => value,
            };
            let members = members.into_iter().map(|(name, value)| {
                let value = inner(&name, value);
                (name, value)
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        (Some("array"), Value::Array(items)) => {
            let schema = resolved(schema);
            let of = |index: usize| {
                let positional = schema["prefixItems"].get(index);
                positional.or_else(|| schema.get("items").filter(|it| it.is_object()))
            };
            let items = items.into_iter().enumerate().map(|(index, value)| match of(index) {
                Some(schema) => shape(schema, value),
                None => value,
            });
            Value::Array(items.collect())
        }
        (_, value) => value,
    }
}

fn resolved(schema: &Value) -> &Value {
    let ways = ["anyOf", "oneOf"].into_iter().find_map(|way| schema[way].as_array());
    let mut ways = ways.into_iter().flatten().filter(|one| one["type"] != "null");
    match (ways.next(), ways.next()) {
        (Some(only), None) => only,
        _ => schema,
    }
}

fn kind(schema: &Value) -> Option<&str> {
    match &resolved(schema)["type"] {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

fn is_range(schema: &Value) -> bool {
    let properties = resolved(schema)["properties"].as_object();
    properties
        .is_some_and(|all| all.len() == 2 && all.contains_key("start") && all.contains_key("end"))
}

fn integer_in(text: &str) -> Option<Value> {
    let text = text.trim();
    let integer = text.parse::<i64>().ok().map(Value::from);
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    integer.or_else(|| whole(text.parse().ok().filter(|_| is_number)?))
}

fn whole(number: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    is_whole.then(|| Value::from(number as i64))
}

fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let present = members.iter().filter(|(_, it)| !it.is_null());
            present.map(|(name, it)| (name.clone(), without_null(it))).collect()
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::registry::ToolRegistry;

    fn shaped_for(tool: &str, input: &Value) -> Value {
        shaped(&ToolRegistry::default().tool(tool).unwrap().facts().schema, input)
    }

    #[test]
    fn a_range_is_read_in_every_shape_that_can_only_mean_one() {
        let range = json!({"start": 2, "end": 5});
        for shape in [
            json!({"start": 2, "end": 5}),
            json!("{\"start\": 2, \"end\": 5}"),
            json!({"start": "2", "end": " 5 "}),
            json!({"start": 2.0, "end": "5.0"}),
            json!([2, 5]),
            json!(["2", 5.0]),
            json!("[2, 5]"),
            json!("{\"start\":\"2\",\"end\":5.0}"),
        ] {
            let input = json!({"new_text": "x", "selection_range": shape});
            assert_eq!(shaped_for("update_selection", &input)["selection_range"], range, "{shape}");
            let input = json!({"find": "x", "replace": "y", "range": shape});
            assert_eq!(shaped_for("find_and_replace", &input)["range"], range, "{shape}");
        }
    }

    #[test]
    fn what_could_mean_something_else_stays() {
        for shape in [
            json!([2]),
            json!([2, 3, 4]),
            json!("2-5"),
            json!("two"),
            json!(7),
            json!({"start": "two", "end": 2.5}),
            json!({"start": "", "end": "0x5"}),
            json!({"start": "inf", "end": 1e300}),
            json!({"from": 2, "to": 5}),
        ] {
            let input = json!({"new_text": "x", "selection_range": shape});
            assert_eq!(shaped_for("update_selection", &input), input);
        }
        // A text is a text, whatever is in it.
        let input =
            json!({"new_text": "{\"start\": 2}", "selection_range": {"start": 1, "end": 2}});
        assert_eq!(shaped_for("update_selection", &input), input);
        let input = json!({"new_text": 5, "position": "3"});
        assert_eq!(shaped_for("insert_at_cursor", &input), json!({"new_text": 5, "position": 3}));
    }

    #[test]
    fn numbers_switches_and_lists_inside_are_read_too() {
        let input =
            json!({"command": "view", "path": "/", "view_range": "[1, -1]", "insert_line": "2"});
        let read = shaped_for("str_replace_based_edit_tool", &input);
        assert_eq!(read["view_range"], json!([1, -1]));
        assert_eq!(read["insert_line"], 2);
        let suggestion =
            json!({"original": "a", "replacement": "b", "reason": "", "occurrence": "2"});
        let input = json!({"suggestions": json!([suggestion]).to_string()});
        let read = shaped_for("suggest_improvements", &input);
        assert_eq!(read["suggestions"][0]["occurrence"], 2);
        let input =
            json!({"find": "a", "replace": "b", "whole_word": "true", "expected_matches": "3"});
        let read = shaped_for("find_and_replace", &input);
        assert_eq!((&read["whole_word"], &read["expected_matches"]), (&json!(true), &json!(3)));
    }
}
