//! Documents of other programs, read into one tree and written as Markdown: bytes in, values out.
//! Nothing outside of the given bytes is loaded. The modules in reading order:
//!
//! 1. [`tree`]: a document as blocks and words, whatever program it came from.
//! 2. [`html`], [`word`]: readers, which make that tree.
//! 3. [`markdown`]: the writer.
//! 4. [`Report`]: what a reader left out or decided, for the person who imports.
//! 5. [`SourceFile`]: a file of any of the kinds, with its encoding.

mod addresses;
mod converted;
mod encoding;
mod file;
pub mod html;
pub mod markdown;
mod report;
pub mod tree;
pub mod word;

pub use converted::{
    Converted, ImportedChange, ImportedComment, ImportedPart, ImportedSuggestion, ImportedThread,
};
pub use file::{FileError, FileKind, SourceFile};
pub use html::from_html;
pub use report::{Decided, LeftOut, Report};
pub use word::{WordError, from_word};
