//! Tools that read or change documents.

pub(crate) mod add_comment;
pub(crate) mod create_new_document;
pub(crate) mod find_and_replace;
pub(crate) mod insert_at_cursor;
pub(crate) mod list_documents;
pub(crate) mod read_document;
pub(crate) mod reasons;
pub(crate) mod str_replace_based_edit_tool;
pub(crate) mod suggest_improvements;
pub(crate) mod template;
pub(crate) mod text_changes;
pub(crate) mod update_document_by_id;
pub(crate) mod update_full_document;
pub(crate) mod update_selection;
