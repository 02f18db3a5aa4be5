//! Reader of the errors of chat completions, which servers write in many forms.

use serde_json::Value;

use crate::messages_api::ProviderError;
use crate::{ModelError, retry};

/// Reads the body of an error as a [`ProviderError`]; `None` if it has no message.
pub(super) fn read(text: &str) -> Option<ProviderError> {
    let body: Value = serde_json::from_str(text).ok()?;
    // llama.cpp and vLLM wrap the error or not; a web framework in front writes `detail`.
    let error = body.get("error").filter(|it| !it.is_null()).unwrap_or(&body);
    let message = [error, &error["message"], &error["detail"], &body["detail"]]
        .into_iter()
        .find_map(words)?;
    let kind = [&error["code"], &error["type"]].into_iter().find_map(Value::as_str);
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("api_error").to_owned();
    Some(ProviderError { kind, message, details: None })
}

/// Returns the error in a message of a stream, if there is one.
pub(super) fn mid_stream(chunk: &Value) -> Option<ModelError> {
    let error = chunk.get("error").filter(|it| !it.is_null());
    let bare = (chunk["object"] == "error").then_some(chunk);
    let error = error.or(bare)?;
    let api = read(&error.to_string())?;
    let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let retryable = match status {
        Some(status) => retry::status_is_retryable(status) && !retry::is_spend_limit(&api),
        None => retry::kind_is_retryable(&api),
    };
    Some(ModelError::api(status, api, retryable))
}

/// Builds the error for a model that accepts no tools: without them nothing can be edited.
pub(super) fn no_tools(model: &str) -> ModelError {
    let message = format!("{model} takes no tools on chat completions");
    let error = ProviderError { kind: "tools_not_supported".into(), message, details: None };
    ModelError::api(Some(400), error, false)
}

fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_words_its_errors_differently() {
        let cases = [
            (
                r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
                ("model_not_found", "The model `x` does not exist"),
            ),
            (r#"{"error":"model 'x' not found"}"#, ("api_error", "model 'x' not found")),
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
                ("BadRequestError", "too long"),
            ),
            (
                r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
                ("unavailable_error", "Loading model"),
            ),
            (r#"{"detail":"Not Found"}"#, ("api_error", "Not Found")),
        ];
        for (body, (kind, message)) in cases {
            let error = read(body).expect(body);
            assert_eq!((error.kind.as_str(), error.message.as_str()), (kind, message));
        }
        for nothing in ["", "<html>", "{}", "[]", r#"{"error":null}"#, r#"{"error":{"message":7}}"#]
        {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
