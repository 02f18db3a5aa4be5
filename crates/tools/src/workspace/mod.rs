//! Tools that read or change files of the workspace, or run commands there.

#[cfg(unix)]
pub(crate) mod bash;
pub(crate) mod edit;
pub mod file_since_call;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod multi_edit;
pub(crate) mod read;
pub(crate) mod replacements;
pub(crate) mod write;
