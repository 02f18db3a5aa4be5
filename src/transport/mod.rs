//! Transports: each translates one protocol into calls of the application, and events back.

mod body_guard;
pub mod mcp;
pub(crate) mod messages_api;
pub mod protocol;
pub mod rest;
pub mod socketio;
