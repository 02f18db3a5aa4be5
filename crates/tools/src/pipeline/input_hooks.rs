//! Hooks that check ranges and sizes.

use serde_json::Value;

use super::hooks::{CallInput, CallOutlook, HookDenial};
use crate::{ToolError, ToolResult};

/// Maximum number of Unicode scalars that one call of a tool may write.
pub const CONTENT_LIMIT: usize = 100_000;

/// Denies a `selection_range` that is not in the document, not in order, or cuts a character in
/// two. The check reads the raw input, so that a missing or negative range is denied in these words
/// too.
pub fn range(subject: &CallInput<'_>) -> Result<(), HookDenial> {
    if !subject.takes("selection_range") {
        return Ok(());
    }
    let range = subject.input.get("selection_range");
    let unit = |name| usize::try_from(range?.get(name)?.as_u64()?).ok();
    match (unit("start"), unit("end"), subject.text) {
        (Some(start), Some(end), Some(text))
            if start <= end && text.is_boundary(start) && text.is_boundary(end) =>
        {
            Ok(())
        }
        _ => Err(HookDenial(format!("Invalid selection range{}", shape_problem(range)))),
    }
}

fn shape_problem(range: Option<&Value>) -> String {
    let is = match range {
        None | Some(Value::Null) => return String::new(),
        Some(Value::Object(fields)) => {
            let is_known = |name: &String| matches!(name.as_str(), "start" | "end");
            if fields.is_empty() || fields.keys().any(is_known) {
                return String::new();
            }
            let names: Vec<_> = fields.keys().take(4).map(String::as_str).collect();
            format!("an object of {}", names.join(", "))
        }
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(Value::String(_)) => "text".to_owned(),
        Some(_) => "a single value".to_owned(),
    };
    format!(
        ": `selection_range` is {{\"start\": first, \"end\": end}} in UTF-16 code units of the document, not {is}"
    )
}

/// Denies a `new_content` or `new_text` that is too long.
pub fn content_size(subject: &CallInput<'_>) -> Result<(), HookDenial> {
    let written = ["new_content", "new_text"].map(|field| subject.input.get(field));
    fits(written.into_iter().flatten().filter_map(Value::as_str))
}

/// Denies a proposal whose changes together put in too much text.
pub fn written_size(outlook: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let parts = outlook.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    fits(parts.map(|part| part.insert.as_str()))
}

/// Denies words with NUL, which no text file has.
pub fn no_nul(outlook: &CallOutlook<'_>) -> Result<(), HookDenial> {
    let mut parts = outlook.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    if parts.any(|part| part.insert.contains('\0')) {
        return Err(HookDenial("The text contains NUL, which is not allowed".into()));
    }
    Ok(())
}

fn fits<'a>(texts: impl Iterator<Item = &'a str>) -> Result<(), HookDenial> {
    let scalars: usize = texts.map(|text| text.chars().count()).sum();
    if scalars > CONTENT_LIMIT { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> HookDenial {
    HookDenial("Content too large".into())
}

/// Refuses a text of an input that has more than `limit` Unicode scalars or contains NUL.
pub fn check_text(what: &str, text: &str, limit: usize) -> ToolResult<()> {
    if text.chars().count() > limit {
        return Err(ToolError::Denied("Content too large".into()));
    }
    if text.contains('\0') {
        return Err(ToolError::Denied(format!("The {what} contains NUL, which is not allowed")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use copydesk_document::Text;

    fn denied(input: &Value) -> Option<String> {
        let schema = json!({"properties": {"selection_range": {}, "new_text": {}}});
        let text = Text::new("a😀bc");
        range(&CallInput { schema: &schema, input, text: Some(&text) }).err().map(|denial| denial.0)
    }

    #[test]
    fn a_range_in_the_document_passes() {
        for (start, end) in [(0, 0), (0, 5), (1, 3), (5, 5)] {
            assert_eq!(denied(&json!({"selection_range": {"start": start, "end": end}})), None);
        }
    }

    #[test]
    fn every_other_range_is_denied_in_the_same_words() {
        let bad = [
            json!({}),
            json!([]),
            json!({"selection_range": null}),
            json!({"selection_range": {"end": 3}}),
            json!({"selection_range": {"start": 1}}),
            json!({"selection_range": {"start": "1", "end": 3}}),
            json!({"selection_range": {"start": -1, "end": 3}}),
            json!({"selection_range": {"start": 0.5, "end": 3}}),
            json!({"selection_range": {"start": 100, "end": 50}}),
            json!({"selection_range": {"start": 4, "end": 3}}),
            json!({"selection_range": {"start": 0, "end": 6}}),
            json!({"selection_range": {"start": 0, "end": 2}}),
            json!({"selection_range": {"start": 2, "end": 3}}),
            json!({"selection_range": {"start": 0, "end": 1e300}}),
        ];
        for input in bad {
            assert_eq!(denied(&input).as_deref(), Some("Invalid selection range"), "{input}");
        }
    }

    #[test]
    fn a_range_of_another_shape_is_named() {
        let cases = [
            (json!(3), "a single value"),
            (json!("0-5"), "text"),
            (json!([1, 2, 3]), "a list"),
            (json!({"from": 1, "to": 3}), "an object of from, to"),
        ];
        for (range, named) in cases {
            let reason = denied(&json!({"selection_range": range})).unwrap();
            assert!(reason.starts_with("Invalid selection range: "), "{reason}");
            assert!(reason.ends_with(&format!("not {named}")), "{reason}");
        }
    }

    #[test]
    fn tools_without_a_range_need_none() {
        let schema = json!({"properties": {"new_content": {}}});
        let subject = CallInput { schema: &schema, input: &json!({}), text: None };
        assert_eq!(range(&subject), Ok(()));
    }

    #[test]
    fn exactly_the_limit_passes_and_one_more_does_not() {
        // Astral characters: the limit counts scalars, not UTF-16 units or bytes.
        let content = "😀".repeat(CONTENT_LIMIT);
        let subject = |content: &str| {
            let input = json!({"new_content": content});
            content_size(&CallInput { schema: &json!({}), input: &input, text: None })
        };
        assert_eq!(subject(&content), Ok(()));
        assert_eq!(subject(&(content.clone() + "x")), Err(HookDenial("Content too large".into())));
        let (half, rest) = content.split_at(content.len() / 2);
        assert_eq!(fits([half, rest].into_iter()), Ok(()));
        assert!(fits([half, "x", rest].into_iter()).is_err());
    }
}
