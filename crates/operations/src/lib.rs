//! Operations: what a person may ask of the server, each declared once in [`all`].
//!
//! The transports take from there what they dispatch, route and describe. Most operations are a
//! function that gets the caller, what the right is about, and the input. The others are done by a
//! handler of their transport, because they need the connection or the whole request.

#![warn(clippy::missing_errors_doc)]

mod comments;
mod connections;
mod conversations;
mod documents;
mod files;
mod history;
mod input;
mod operation;
mod requests;
mod right;
mod rules;
mod server;
mod server_events;
mod sharing;
mod suggestions;
mod table;
mod tokens;
mod webhooks;

#[cfg(test)]
mod generated_files_test;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_cpu_pool as cpu_pool;

pub use input::{PathFields, RawInput, event};
pub use operation::{BASE, BodyKind, DeclaredRight, InputType, Operation, OutputType, Route};
pub use server_events::server_events;
pub use table::{all, of_event};

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
