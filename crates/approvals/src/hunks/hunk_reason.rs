//! Reasons for the status of a hunk: decided as values, stored and sent as sentences.

use serde::{Deserialize, Serialize};

/// Reason for the status of a [`Hunk`](crate::Hunk).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum HunkReason {
    /// The words to replace were changed.
    WordsChanged,
    /// The place of the insertion was removed.
    PlaceRemoved,
    /// All words to replace were deleted.
    WordsDeleted,
    /// An equal change was accepted from another request.
    AlreadyInText,
    /// The words were frozen after the change was proposed.
    FrozenSince,
    /// Sentence of another version of the server.
    Other(String),
}

impl HunkReason {
    const KNOWN: [Self; 5] = [
        Self::WordsChanged,
        Self::PlaceRemoved,
        Self::WordsDeleted,
        Self::AlreadyInText,
        Self::FrozenSince,
    ];

    /// Returns the sentence for people.
    pub fn as_str(&self) -> &str {
        match self {
            Self::WordsChanged => "Somebody changed these words meanwhile.",
            Self::PlaceRemoved => "Somebody deleted the place where this would go.",
            Self::WordsDeleted => "Somebody deleted the words this would change.",
            Self::AlreadyInText => "This is already in the text.",
            Self::FrozenSince => "These words were frozen after this was proposed.",
            Self::Other(sentence) => sentence,
        }
    }
}

impl From<String> for HunkReason {
    fn from(sentence: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|reason| reason.as_str() == sentence);
        known.unwrap_or(Self::Other(sentence))
    }
}

impl From<HunkReason> for String {
    fn from(reason: HunkReason) -> Self {
        reason.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_stored_as_its_sentence_and_read_back() {
        let other = HunkReason::Other("Written by an older server.".to_owned());
        for reason in HunkReason::KNOWN.into_iter().chain([other]) {
            let stored = serde_json::to_value(&reason).unwrap();
            assert_eq!(stored, reason.as_str());
            assert_eq!(serde_json::from_value::<HunkReason>(stored).unwrap(), reason);
        }
    }

    #[test]
    fn the_sentences_of_stored_requests_are_known() {
        let read = |sentence: &str| HunkReason::from(sentence.to_owned());
        assert_eq!(read("This is already in the text."), HunkReason::AlreadyInText);
        let frozen = "These words were frozen after this was proposed.";
        assert_eq!(read(frozen), HunkReason::FrozenSince);
    }
}
