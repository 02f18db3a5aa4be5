//! Markdown: the text as it is.

use crate::document::Text;

/// The text, byte for byte; what is pending is not in it.
pub(super) fn write(text: &Text) -> Vec<u8> {
    text.to_string().into_bytes()
}
