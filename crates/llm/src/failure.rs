//! Failures of a model: for each kind, one code for programs and one sentence for people.

use super::ModelError;

/// Kind of [`ModelError`]: its code for programs, and the sentence with what people can do.
type FailureKind = (&'static str, &'static str);

/// The provider does not know the key, or the key does not allow the request.
const UNAUTHORIZED: FailureKind = (
    "model_unauthorized",
    "The model's provider does not accept this server's key; the person who runs the server can set another one",
);
/// No money or allowance is left.
const SPENT: FailureKind = (
    "model_limit_reached",
    "This server has used up its quota for the model; the person who runs the server can raise the limit at the provider",
);
/// The provider has no such model.
const UNKNOWN: FailureKind =
    ("model_unknown", "The provider does not have this model; choose another one");
/// The model cannot call tools, at least not by this protocol.
const WITHOUT_TOOLS: FailureKind = (
    "model_without_tools",
    "The model cannot use tools here, and cannot edit without them; choose another one",
);
/// The request is longer than the model can read.
const TOO_LARGE: FailureKind = (
    "model_too_large",
    "The document and the conversation are too long for this model; begin a new conversation, or choose another model",
);
/// Too many requests were sent in a short time.
const RATE_LIMITED: FailureKind = (
    "model_rate_limited",
    "The model received too many requests in a short time; try again in a minute",
);
/// The provider has too much to do.
const OVERLOADED: FailureKind =
    ("model_overloaded", "The model's provider is overloaded; try again in a few minutes");
/// The provider does not accept the request.
const REFUSED: FailureKind = ("model_refused_request", "The model's provider refused the request");
/// There is no connection.
const UNREACHABLE: FailureKind = (
    "model_unreachable",
    "The model cannot be reached; try again. If that does not help, the server's log has the cause",
);
/// The answer broke off.
const CUT_OFF: FailureKind =
    ("model_cut_off", "The model's answer broke off before it was complete; try again");
/// Any failure without a better kind.
const OTHER: FailureKind = ("model_error", "");

fn kind_of(error: &ModelError) -> FailureKind {
    match error {
        ModelError::Api { status, kind, message, retryable, .. } => {
            of_provider(*status, kind, message, *retryable)
        }
        ModelError::Network { .. } => UNREACHABLE,
        ModelError::CutOff => CUT_OFF,
        _ => OTHER,
    }
}

/// Maps a provider's error to a [`FailureKind`]. Providers agree on statuses more than on words,
/// and in the middle of a stream there are only words.
fn of_provider(status: Option<u16>, kind: &str, message: &str, retryable: bool) -> FailureKind {
    let mentions = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    let too_long =
        ["too long", "maximum context", "context length", "context window", "exceed_context"];
    let is_long = too_long.iter().any(|words| message.contains(words) || kind.contains(words));
    match status {
        Some(401 | 403) => UNAUTHORIZED,
        Some(402) => SPENT,
        Some(413) => TOO_LARGE,
        _ if mentions(&["tools_not_supported"]) => WITHOUT_TOOLS,
        // Ollama's words.
        Some(400) if message.contains("does not support tools") => WITHOUT_TOOLS,
        _ if mentions(&["authentication", "permission", "invalid_api_key"]) => UNAUTHORIZED,
        _ if mentions(&["billing", "insufficient_quota"]) => SPENT,
        _ if mentions(&["request_too_large", "context_length"]) => TOO_LARGE,
        Some(400 | 422) | None if is_long => TOO_LARGE,
        // A limit that does not pass by waiting is one of money.
        Some(429) if !retryable => SPENT,
        Some(429) => RATE_LIMITED,
        _ if mentions(&["rate_limit"]) && !retryable => SPENT,
        _ if mentions(&["rate_limit"]) => RATE_LIMITED,
        Some(503 | 529) => OVERLOADED,
        _ if mentions(&["overloaded", "unavailable"]) => OVERLOADED,
        Some(404) => UNKNOWN,
        _ if mentions(&["not_found"]) => UNKNOWN,
        Some(408 | 502 | 504) => UNREACHABLE,
        _ if mentions(&["timeout"]) => UNREACHABLE,
        Some(400..=499) => REFUSED,
        _ if mentions(&["invalid_request"]) => REFUSED,
        _ => OTHER,
    }
}

impl ModelError {
    /// Returns the reason for the end of a run with this failure, as a code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Program { code, .. } => code,
            _ => kind_of(self).0,
        }
    }

    /// Returns a sentence for people: what happened and what they can do.
    pub fn for_people(&self) -> String {
        let (code, words) = kind_of(self);
        match self {
            Self::Api { .. } if code == OTHER.0 => {
                format!("The model's provider failed: {self}; try again")
            }
            _ if code == OTHER.0 => self.to_string(),
            // Only the provider's words explain the failure.
            Self::Api { message, .. } if [REFUSED.0, WITHOUT_TOOLS.0].contains(&code) => {
                format!("{words}: {message}")
            }
            _ => words.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(status: Option<u16>, kind: &str, message: &str, retryable: bool) -> ModelError {
        let (kind, message) = (kind.to_owned(), message.to_owned());
        ModelError::Api { status, kind, message, details: None, retry_after: None, retryable }
    }

    #[test]
    fn each_failure_has_a_code_of_its_own() {
        let cases = [
            (api(Some(400), "invalid_request_error", "Bad field", false), "model_refused_request"),
            (
                api(Some(400), "invalid_request_error", "prompt is too long: 1 > 0", false),
                "model_too_large",
            ),
            (
                api(Some(400), "tools_not_supported", "m takes no tools", false),
                "model_without_tools",
            ),
            (api(Some(400), "api_error", "m does not support tools", false), "model_without_tools"),
            (api(Some(400), "context_length_exceeded", "Too much", false), "model_too_large"),
            (api(Some(401), "authentication_error", "No", false), "model_unauthorized"),
            (api(Some(403), "permission_error", "No", false), "model_unauthorized"),
            (api(Some(402), "billing_error", "Pay", false), "model_limit_reached"),
            (api(Some(404), "not_found_error", "model: x", false), "model_unknown"),
            (api(Some(413), "request_too_large", "No", false), "model_too_large"),
            (api(Some(429), "rate_limit_error", "Slowly", true), "model_rate_limited"),
            (api(Some(429), "rate_limit_error", "Limit reached", false), "model_limit_reached"),
            (api(Some(429), "insufficient_quota", "Pay", false), "model_limit_reached"),
            (api(Some(500), "api_error", "Oops", true), "model_error"),
            (api(Some(503), "unavailable_error", "Loading model", true), "model_overloaded"),
            (api(Some(529), "overloaded_error", "Overloaded", true), "model_overloaded"),
            (api(None, "overloaded_error", "Overloaded", true), "model_overloaded"),
            (api(None, "rate_limit_error", "Slowly", true), "model_rate_limited"),
            (api(None, "not_found", "the provider lists no models", false), "model_unknown"),
            (api(Some(504), "timeout_error", "Late", true), "model_unreachable"),
            (ModelError::Network { message: "refused".into() }, "model_unreachable"),
            (ModelError::CutOff, "model_cut_off"),
            (ModelError::Malformed { message: "not UTF-8".into() }, "model_error"),
            (
                ModelError::Program { code: "claude_missing", message: "No".into() },
                "claude_missing",
            ),
        ];
        for (error, code) in cases {
            assert_eq!(error.code(), code, "{error}");
            let words = error.for_people();
            assert!(!words.is_empty() && !words.contains("HTTP 4"), "{words}");
        }
    }

    #[test]
    fn a_refused_request_tells_what_is_wrong_with_it() {
        let words = api(Some(400), "invalid_request_error", "Bad field", false).for_people();
        assert_eq!(words, "The model's provider refused the request: Bad field");
        let words =
            api(Some(400), "tools_not_supported", "gpt-7 takes no tools", false).for_people();
        let expected = "The model cannot use tools here, and cannot edit without them; choose another one: gpt-7 takes no tools";
        assert_eq!(words, expected);
        let words = api(Some(500), "api_error", "Oops", true).for_people();
        assert_eq!(words, "The model's provider failed: Oops (api_error, HTTP 500); try again");
    }
}
