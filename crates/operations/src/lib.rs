//! Operations: what a person may ask of the server, each declared once in [`table`].
//!
//! Most operations are a function that gets the caller, what the right is about, and the input. The
//! others are done by a handler of their transport, because they need the connection or the whole
//! request.

#![warn(clippy::missing_errors_doc)]

mod comments;
mod connections;
mod conversations;
mod documents;
mod files;
mod history;
mod requests;
mod rules;
mod server;
mod server_events;
mod sharing;
mod suggestions;
mod tokens;
mod webhooks;

#[cfg(test)]
mod generated_files_test;

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_cpu_pool as cpu_pool;
use copydesk_operation_table::OperationTable;

pub use server_events::server_events;

static TABLE: LazyLock<OperationTable> = LazyLock::new(|| {
    let files = [
        documents::operations(),
        connections::operations(),
        history::operations(),
        comments::operations(),
        suggestions::operations(),
        sharing::operations(),
        files::operations(),
        requests::operations(),
        rules::operations(),
        conversations::operations(),
        tokens::operations(),
        server::operations(),
        webhooks::operations(),
    ];
    OperationTable::new(files.into_iter().flatten().collect())
});

/// Returns all operations: those of each file, in the order of the documentation.
pub fn table() -> &'static OperationTable {
    &TABLE
}

/// Encodes a part of an answer; a long one on the CPU pool, where it delays no other.
async fn encode<T: Serialize>(
    caller: &Caller,
    is_long: bool,
    part: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<Box<RawValue>> {
    let write = move || to_raw_value(&part());
    match cpu_pool::run_if(is_long, caller.principal.user.as_str(), write).await {
        Ok(Ok(encoded)) => Ok(encoded),
        Ok(Err(_)) | Err(_) => Err(ApiError::internal()),
    }
}
