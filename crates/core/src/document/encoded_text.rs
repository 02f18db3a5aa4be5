//! Encoded form of a text, which everybody who opens the document at one version shares.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

use crate::ids::hex;

use super::Text;

/// Length in UTF-16 units from which the encoded form of a text is kept: a shorter one is encoded
/// in a few microseconds.
const KEPT_UNITS: usize = 16 * 1024;

/// Text as it is sent, with its hash. Clones share both.
#[derive(Clone)]
pub struct EncodedText {
    form: Form,
    /// SHA-256 of the text as UTF-8, in lower-case hexadecimal digits.
    hash: Arc<str>,
}

#[derive(Clone)]
enum Form {
    /// Text as a JSON string.
    Json(Arc<Box<RawValue>>),
    /// Text that is written as a string when it is sent.
    Text(Text),
}

impl EncodedText {
    /// Returns the form that is encoded each time it is sent.
    fn of(text: &Text) -> Self {
        let mut plain = text.clone();
        // The encoded form could contain itself otherwise.
        plain.encoding.clear();
        Self { form: Form::Text(plain), hash: text.hash().into() }
    }

    /// Returns the form that is encoded once.
    fn kept(text: &Text) -> Self {
        let encoded = Self::of(text);
        match to_raw_value(&encoded) {
            Ok(json) => Self { form: Form::Json(Arc::new(json)), ..encoded },
            Err(_) => encoded,
        }
    }

    /// Returns the SHA-256 of the text as UTF-8, in lower-case hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The text, as a string.
impl Serialize for EncodedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.form {
            Form::Json(json) => json.serialize(serializer),
            Form::Text(text) => serializer.collect_str(text),
        }
    }
}

impl fmt::Debug for EncodedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedText").field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// Place for the [`EncodedText`] of one state of a text. It is empty until somebody needs it.
#[derive(Clone, Default)]
pub(super) struct EncodingCache(Option<Arc<OnceLock<EncodedText>>>);

impl EncodingCache {
    /// Empties the place, because the text changes.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }
}

impl fmt::Debug for EncodingCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncodingCache")
    }
}

impl Text {
    /// Makes this text and its clones share one encoded form until they change, if the text is
    /// long.
    pub fn share_encoding(&mut self) {
        if self.len() >= KEPT_UNITS {
            self.encoding.0.get_or_insert_default();
        }
    }

    /// Returns the encoded form; computes it unless a clone already has
    /// ([`share_encoding`](Self::share_encoding)).
    pub fn encoded(&self) -> EncodedText {
        match &self.encoding.0 {
            Some(shared) => shared.get_or_init(|| EncodedText::kept(self)).clone(),
            None => EncodedText::of(self),
        }
    }

    /// Returns the SHA-256 of the text as UTF-8, in lower-case hexadecimal digits.
    pub fn hash(&self) -> String {
        let mut sha = Sha256::new();
        for chunk in self.chunks() {
            sha.update(chunk.as_bytes());
        }
        hex(&sha.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoded_form_is_the_text_as_json_with_its_hash() {
        for text in ["", "a \"b\" \\ c\n\u{1}\u{1f600}é", &"x\n\"".repeat(KEPT_UNITS)] {
            let mut text = Text::new(text);
            text.share_encoding();
            let encoded = text.encoded();
            assert_eq!(serde_json::to_value(&encoded).unwrap(), text.to_string());
            assert_eq!(encoded.hash(), text.hash());
        }
    }

    /// Returns `true` if both are encoded, in the same memory.
    fn is_shared(one: &EncodedText, other: &EncodedText) -> bool {
        match (&one.form, &other.form) {
            (Form::Json(one), Form::Json(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    #[test]
    fn clones_of_a_long_text_are_encoded_once_and_a_changed_one_anew() {
        let mut text = Text::new(&"a".repeat(KEPT_UNITS));
        text.share_encoding();
        let clone = text.clone();
        assert!(is_shared(&clone.encoded(), &text.encoded()));
        text.replace(0..1, "b", 1).unwrap();
        assert_eq!(serde_json::to_value(text.encoded()).unwrap(), text.to_string());
        assert_eq!(text.encoded().hash(), text.hash());
        assert_ne!(text.encoded().hash(), clone.encoded().hash());
        assert_eq!(serde_json::to_value(clone.encoded()).unwrap(), clone.to_string());
    }

    #[test]
    fn the_encoded_form_of_a_short_text_is_not_kept() {
        let mut text = Text::new("short");
        text.share_encoding();
        assert!(!is_shared(&text.encoded(), &text.encoded()));
    }
}
