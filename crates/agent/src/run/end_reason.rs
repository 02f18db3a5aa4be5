//! Reasons why a run ended without success: decided as values, stored and sent as codes.

use serde::{Deserialize, Serialize};

use copydesk_store::RunEndKind;

/// Reason why a run ended without success, stored and sent to programs as its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RunEndReason {
    /// No reason beyond the kind of the end.
    Kind(RunEndKind),
    /// The selected text is no longer in the document.
    InvalidSelection,
    /// The model that was asked for is not available any more.
    UnknownModel,
    /// The document may not be shown to the model.
    ModelNotAllowed,
    /// The person who asked may no longer ask.
    NotAllowed,
    /// The document was deleted.
    NotFound,
    /// The document cannot be used at the moment.
    DocumentUnavailable,
    /// The store failed.
    StoreFailed,
    /// The server failed.
    Internal,
    /// The model gave no answer.
    ModelSilent,
    /// The model began a call and did not finish it.
    ModelIncomplete,
    /// The answer broke off when the server stopped.
    Interrupted,
    /// A spending limit is reached.
    SpendingLimit,
    /// Failure of the model, by its code: `model_overloaded`, `claude_not_found`, …
    Model(String),
}

impl RunEndReason {
    const KNOWN: [Self; 12] = [
        Self::InvalidSelection,
        Self::UnknownModel,
        Self::ModelNotAllowed,
        Self::NotAllowed,
        Self::NotFound,
        Self::DocumentUnavailable,
        Self::StoreFailed,
        Self::Internal,
        Self::ModelSilent,
        Self::ModelIncomplete,
        Self::Interrupted,
        Self::SpendingLimit,
    ];

    /// Returns the code for programs.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Kind(kind) => kind.as_str(),
            Self::InvalidSelection => "invalid_selection",
            Self::UnknownModel => "unknown_model",
            Self::ModelNotAllowed => "model_not_allowed",
            Self::NotAllowed => "not_allowed",
            Self::NotFound => "not_found",
            Self::DocumentUnavailable => "document_unavailable",
            Self::StoreFailed => "store_failed",
            Self::Internal => "internal",
            Self::ModelSilent => "model_silent",
            Self::ModelIncomplete => "model_incomplete",
            Self::Interrupted => "interrupted",
            Self::SpendingLimit => "spending_limit",
            Self::Model(code) => code,
        }
    }
}

impl From<String> for RunEndReason {
    fn from(code: String) -> Self {
        let kinds = RunEndKind::ALL.into_iter().map(Self::Kind);
        let known = kinds.chain(Self::KNOWN).find(|reason| reason.as_str() == code);
        known.unwrap_or(Self::Model(code))
    }
}

impl From<RunEndReason> for String {
    fn from(reason: RunEndReason) -> Self {
        reason.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_stored_as_its_code_and_read_back() {
        let kinds = RunEndKind::ALL.into_iter().map(RunEndReason::Kind);
        let model = RunEndReason::Model("model_overloaded".to_owned());
        for reason in kinds.chain(RunEndReason::KNOWN).chain([model]) {
            let stored = serde_json::to_value(&reason).unwrap();
            assert_eq!(stored, reason.as_str());
            assert_eq!(serde_json::from_value::<RunEndReason>(stored).unwrap(), reason);
        }
    }
}
