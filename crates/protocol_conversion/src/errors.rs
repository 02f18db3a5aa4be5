//! Details of errors.

use serde_json::{Value, json};

use copydesk_api::{ErrorCode, ErrorDetails};
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::SessionEnded;

use super::request::{self, request};
use super::{ended, session_ended};

/// Returns the details of an error for clients.
pub fn error_details(details: &ErrorDetails) -> Option<Value> {
    match details {
        ErrorDetails::Decision(error, fresh) => {
            let fresh = fresh.as_ref().and_then(|it| serde_json::to_value(request(it)).ok());
            fresh.or_else(|| request::decision_details(error))
        }
        ErrorDetails::RuleEnded(how) => Some(ended(how)),
        ErrorDetails::AccessEnded(how) => {
            let SessionEnded { code, message: _, at } = session_ended(*how);
            Some(json!({ "reason": code, "at": at }))
        }
        ErrorDetails::Ahead { asked, newest } => {
            Some(json!({ "asked": asked.0, "newest": newest.0 }))
        }
        ErrorDetails::Suggestion(newest) => serde_json::to_value(request(newest)).ok(),
        ErrorDetails::Frozen { version, ranges } => {
            let range = |(from, to): &(usize, usize)| json!({ "from": from, "to": to });
            let ranges: Vec<_> = ranges.iter().map(range).collect();
            Some(json!({ "version": version.0, "ranges": ranges }))
        }
        ErrorDetails::Update(index) => Some(json!({ "update": index })),
        ErrorDetails::Limit(limit) => Some(json!({ "limit": limit })),
        ErrorDetails::Missing(_) | ErrorDetails::NoVersion | ErrorDetails::OtherServer(_) => None,
    }
}

/// Returns the result of a decision that another server gave; `None` if it does not have the
/// document.
pub fn passed_result(result: Value) -> Option<DecisionResult> {
    let is_elsewhere = result["error"]["code"] == ErrorCode::OtherServer.as_str();
    (!is_elsewhere).then_some(DecisionResult::Passed(result))
}

/// Returns the reason of a refused decision, where the code of the error has several.
pub fn reason_code(details: &ErrorDetails) -> Option<String> {
    let ErrorDetails::Decision(error, _) = details else { return None };
    request::reason_code(error)
}
