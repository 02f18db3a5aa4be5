//! Work without a document: runs in a folder, and the inbox for what they want to do.

mod inbox_rules;
mod inbox_undo;
mod runs;
