//! Requests over HTTP about documents that other servers have.

mod decisions;
mod parts;
mod relay;

pub use relay::{RequestRelay, pass_on};
