//! Interfaces for programs: the wire of socket.io, REST, MCP, the Messages API, webhooks and the
//! command line.

mod bad_input;
mod cli;
mod clients;
mod mcp;
mod messages;
mod rest;
pub mod samples;
mod webhooks;
