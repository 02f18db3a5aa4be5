//! Markdown export: the text as it is.

use crate::document::Text;

/// Returns the text, byte for byte, without pending changes.
pub(super) fn write(text: &Text) -> Vec<u8> {
    text.to_string().into_bytes()
}
