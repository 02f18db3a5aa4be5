//! Reasons why a file is not read, in words for the person who imports it.

use super::package::{LARGEST_FILE, LARGEST_UNPACKED, MOST_ENTRIES};
use super::xml::DEEPEST;

/// Reason why a Word document could not be read, in words for the person who imports it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// The bytes are no Word document.
    #[error("this is not a Word document (.docx)")]
    NotWord,
    /// The file is a container of the time before `.docx`: an old document, or an encrypted one.
    #[error(
        "this is an old Word document (.doc) or one with a password; save it as .docx without a password"
    )]
    OldOrEncrypted,
    /// The file is a document of another program.
    #[error("this is {0}, not a Word document; save it as .docx")]
    OtherFormat(&'static str),
    /// The zip or one of its parts cannot be read.
    #[error("this Word document is damaged: {0}")]
    Damaged(String),
    /// The file is larger than is read.
    #[error("this Word document is larger than {} MB", LARGEST_FILE >> 20)]
    TooLarge,
    /// The parts are larger than is read, once they are unpacked.
    #[error("this Word document is larger than {} MB when it is unpacked", LARGEST_UNPACKED >> 20)]
    TooLargeUnpacked,
    /// The zip has more files than is read.
    #[error("this Word document has more than {MOST_ENTRIES} parts")]
    TooManyParts,
    /// Elements are nested deeper than is read.
    #[error("this Word document is nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// A part declares a document type or entities, which Word never writes.
    #[error("this Word document declares a document type, which is not read")]
    DocumentType,
}

/// Result of reading a part of a Word document.
pub type WordResult<T> = Result<T, WordError>;
