//! Errors of the Messages API: the status, the type and the message of each.

use serde_json::{Value, json};

use copydesk_llm::ModelError;
use copydesk_llm::messages_api::{ErrorBody, ProviderError};

/// Failure of a request, in the form of the API.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiFailure {
    /// HTTP status.
    pub status: u16,
    /// Type, message and details.
    pub error: ProviderError,
    /// Seconds after which the same request may succeed.
    pub retry_after_s: Option<u64>,
}

/// Statuses of the API, each with its type.
const KINDS: [(u16, &str); 11] = [
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (409, "conflict_error"),
    (413, "request_too_large"),
    (429, "rate_limit_error"),
    (500, "api_error"),
    (504, "timeout_error"),
    (529, "overloaded_error"),
];

impl ApiFailure {
    /// Returns an error of the API's type for this status, or of a general type for an unknown
    /// status.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        let known = KINDS.iter().find(|(known, _)| *known == status);
        let otherwise = if status < 500 { "invalid_request_error" } else { "api_error" };
        let kind = known.map_or(otherwise, |(_, kind)| kind).to_owned();
        let error = ProviderError { kind, message: message.into(), details: None };
        Self { status, error, retry_after_s: None }
    }

    /// Returns the error of a request that makes no sense, or that this server cannot serve.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// Returns the refusal of conversations that the server is to keep; SDKs then send the whole
    /// history.
    pub fn thread() -> Self {
        let mut failure =
            Self::invalid("thread: conversations are not stored; send the whole history");
        let details =
            json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]});
        failure.error.details = Some(details);
        failure
    }

    /// Returns the refusal of a caller who asks too much at once.
    pub fn too_many(message: impl Into<String>, retry_after_s: u64) -> Self {
        Self { retry_after_s: Some(retry_after_s.max(1)), ..Self::new(429, message) }
    }

    /// Converts a [`ModelError`]. A provider's refusal of *this server's* key is not the client's
    /// fault.
    pub fn of_model(error: &ModelError) -> Self {
        // Whole seconds, rounded up, so that the client does not come back too soon.
        let retry_after_s = error.retry_after().map(|wait| wait.as_millis().div_ceil(1_000).max(1));
        let retry_after_s = retry_after_s.and_then(|seconds| u64::try_from(seconds).ok());
        let mut failure = match error {
            ModelError::Api { status: Some(401 | 403), .. } => {
                let words = "the model's provider refused this server; its log has the reason";
                return Self { retry_after_s, ..Self::new(500, words) };
            }
            ModelError::Api { status: Some(status), message, .. } => {
                let known = KINDS.iter().any(|(known, _)| known == status);
                let plain = if *status < 500 { 400 } else { 500 };
                Self::new(if known { *status } else { plain }, message)
            }
            ModelError::Api { status: None, kind, message, .. } => {
                let status =
                    KINDS.iter().find(|(_, known)| known == kind).map(|(status, _)| *status);
                Self::new(status.unwrap_or(500), message)
            }
            ModelError::NoTurn { .. } => Self::invalid(error.to_string()),
            ModelError::Cancelled => Self::new(529, "the server is stopping"),
            _ => Self::new(500, error.to_string()),
        };
        if let ModelError::Api { details: Some(details), .. } = error {
            failure.error.details = Some(Value::clone(details));
        }
        Self { retry_after_s, ..failure }
    }

    /// Returns the body of the answer.
    pub fn body(&self, request_id: &str) -> Value {
        let (error, request_id) = (self.error.clone(), Some(request_id.to_owned()));
        json!(ErrorBody { kind: "error".into(), error, request_id })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn provider(status: Option<u16>, kind: &str, retry_after: Option<Duration>) -> ApiFailure {
        let (kind, message) = (kind.to_owned(), "Words.".to_owned());
        let details = Some(Box::new(json!({"error_code": "a_code"})));
        let retryable = true;
        ApiFailure::of_model(&ModelError::Api {
            status,
            kind,
            message,
            retry_after,
            retryable,
            details,
        })
    }

    #[test]
    fn each_status_has_its_type() {
        for (status, kind) in KINDS {
            let body = ApiFailure::new(status, "Words.").body("req_1");
            let error = json!({"type": kind, "message": "Words."});
            assert_eq!(body, json!({"type": "error", "error": error, "request_id": "req_1"}));
        }
        assert_eq!(ApiFailure::new(405, "").error.kind, "invalid_request_error");
        assert_eq!(ApiFailure::new(503, "").error.kind, "api_error");
    }

    #[test]
    fn a_thread_is_refused_in_the_words_that_sdks_look_for() {
        let body = ApiFailure::thread().body("req_1");
        let details =
            json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]});
        assert_eq!(body["error"]["details"], details);
    }

    #[test]
    fn what_the_provider_says_is_passed_on_but_for_our_own_key() {
        let busy = provider(Some(429), "rate_limit_error", Some(Duration::from_millis(1_500)));
        assert_eq!((busy.status, busy.retry_after_s), (429, Some(2)));
        assert_eq!(busy.error.details, Some(json!({"error_code": "a_code"})));
        let unpaid = provider(Some(402), "billing_error", None);
        assert_eq!((unpaid.status, unpaid.error.kind.as_str()), (402, "billing_error"));
        assert_eq!(provider(Some(529), "overloaded_error", None).status, 529);
        assert_eq!(
            provider(None, "overloaded_error", None).status,
            529,
            "in the middle of a stream"
        );
        let refused = provider(Some(401), "authentication_error", None);
        assert_eq!((refused.status, refused.error.details), (500, None));
        assert_eq!(provider(Some(422), "invalid", None).status, 400);
        assert_eq!(provider(Some(503), "unavailable", None).error.kind, "api_error");
        let lost = ApiFailure::of_model(&ModelError::CutOff);
        assert_eq!((lost.status, lost.error.kind.as_str()), (500, "api_error"));
    }
}
