//! Encoded form of a text, which all who open the document at one version share.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

use copydesk_ids::hex;

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

impl Form {
    fn of(text: &Text) -> Self {
        Self::Text(text.clone())
    }

    fn kept(text: &Text) -> Self {
        let form = Self::of(text);
        to_raw_value(&form).map_or(form, |json| Self::Json(Arc::new(json)))
    }
}

impl EncodedText {
    /// Returns the SHA-256 of the text as UTF-8, in lower-case hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The text, as a string.
impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(json) => json.serialize(serializer),
            Self::Text(text) => serializer.collect_str(text),
        }
    }
}

impl Serialize for EncodedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.form.serialize(serializer)
    }
}

impl fmt::Debug for EncodedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedText").field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// Form and hash of one state of a text, each empty until it is needed.
#[derive(Default)]
struct SharedEncoding {
    form: OnceLock<Form>,
    hash: OnceLock<Arc<str>>,
}

/// Place for the [`EncodedText`] of one state of a text, empty until it is needed.
///
/// The clone of a text has none: a holder of an old text, such as a run, does not keep its encoded
/// form too.
#[derive(Default)]
pub(super) struct EncodingCache(Option<Arc<SharedEncoding>>);

impl EncodingCache {
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }
}

impl Clone for EncodingCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for EncodingCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncodingCache")
    }
}

impl Text {
    /// Returns a clone to be sent. All such clones until the text changes share one encoded form
    /// and one hash, if the text is long.
    #[must_use]
    pub fn share(&mut self) -> Self {
        let mut shared = self.clone();
        if self.len() >= KEPT_UNITS {
            shared.encoding.0 = Some(Arc::clone(self.encoding.0.get_or_insert_default()));
        }
        shared
    }

    /// Returns the encoded form, computed once for all clones ([`share`](Self::share)).
    pub fn encoded(&self) -> EncodedText {
        let form = match &self.encoding.0 {
            Some(shared) => shared.form.get_or_init(|| Form::kept(self)).clone(),
            None => Form::of(self),
        };
        EncodedText { form, hash: self.shared_hash() }
    }

    /// Returns the [`hash`](Self::hash), computed once for all clones ([`share`](Self::share)).
    pub fn shared_hash(&self) -> Arc<str> {
        match &self.encoding.0 {
            Some(shared) => Arc::clone(shared.hash.get_or_init(|| self.hash().into())),
            None => self.hash().into(),
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
            let encoded = text.share().encoded();
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
        let clone = text.share();
        assert!(is_shared(&clone.encoded(), &text.share().encoded()));
        assert!(!is_shared(&clone.encoded(), &text.clone().encoded()), "it keeps more than a text");
        text.replace(0..1, "b", 1).unwrap();
        let text = text.share();
        assert_eq!(serde_json::to_value(text.encoded()).unwrap(), text.to_string());
        assert_eq!(text.encoded().hash(), text.hash());
        assert_ne!(text.encoded().hash(), clone.encoded().hash());
        assert_eq!(serde_json::to_value(clone.encoded()).unwrap(), clone.to_string());
    }

    #[test]
    fn clones_of_a_long_text_share_its_hash_and_need_no_encoded_form_for_it() {
        let mut text = Text::new(&"a".repeat(KEPT_UNITS));
        let clone = text.share();
        assert_eq!(*clone.shared_hash(), text.hash());
        assert!(Arc::ptr_eq(&clone.shared_hash(), &text.share().shared_hash()));
        assert!(clone.encoding.0.as_ref().unwrap().form.get().is_none(), "it was encoded");
        text.replace(0..1, "b", 1).unwrap();
        assert_eq!(*text.share().shared_hash(), text.hash());
        assert_ne!(text.share().shared_hash(), clone.shared_hash());
    }

    #[test]
    fn the_encoded_form_of_a_short_text_is_not_kept() {
        let mut text = Text::new("short");
        assert!(!is_shared(&text.share().encoded(), &text.share().encoded()));
    }
}
