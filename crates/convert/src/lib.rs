//! Documents of other programs, read into one tree and written as Markdown.
//!
//! The modules in reading order:
//!
//! 1. [`tree`]: a document as blocks and words, whatever program it came from.
//! 2. `report`: what a reader left out or decided, told to the person who imports.
//!
//! Pure: bytes in, values out. Nothing outside of the given bytes is ever loaded.

mod report;
pub mod tree;

pub use report::{Decided, LeftOut, Report};
