//! **pure**: the Messages API as a server speaks it: requests read, conversations recognised, tools mixed, answers told.
//!
//! A client sends the whole conversation each time, and each client writes it down differently. [`canonical`] makes one
//! key of it, [`memory`] keeps what the client was not shown under that key, [`mixing`] decides which calls are whose,
//! and [`telling`] says what came of it in the API's own events.

pub mod conversation_cache;
pub mod conversation_hash;
pub mod failure;
pub mod request;
pub mod server_tool_loop;
pub mod sse_encoder;
