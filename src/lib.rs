//! Copydesk: a document server where every change an AI wants is held, shown as a diff, and applied only when a person says so.
//!
//! Read the rooms in this order; each may use only what stands above it (`tests/tidy.rs` holds the table):
//!
//! 1. [`ids`], [`who`]: names of things, and who may do what.
//! 2. [`document`]: text and how it changes (pure). [`review`]: what a person must decide (pure).
//! 3. [`store`]: what is remembered. [`auth`]: tokens and the people behind them.
//! 4. [`room`]: one task owns one document, its requests and the people in it.
//! 5. [`check`]: what must hold of everything that is kept, looked up.
//!    `processes`: other programs, and how nothing of them is left behind.
//!    [`files`]: files of the [`workspace`] that are documents too.
//!    [`connections`]: what is held in memory for connections, and how they end.
//! 6. [`llm`]: talk to a model. [`messages`]: be one to other programs (pure). [`tools`]: what a model may do, and the gate. [`agent`]: one run of the loop.
//! 7. [`export`]: a document as a file for other programs (pure). [`wire`]: every type that leaves the process. [`socket`], [`http`], [`mcp`]: the doors.
//!    [`webhook`]: tells addresses outside what waits and what was resolved.
//! 8. [`client`]: the command line as a client of a running server. [`config`], [`cli`], [`app`]: what is composed, from which options.
//!    [`failpoint`]: where tests let it die. [`cpu_pool`]: threads for work that takes long.

pub mod ids;
pub mod permissions;

pub mod approvals;
pub mod document;
pub mod export;

pub mod auth;
pub mod store;

pub mod check;
pub mod file_sync;
#[cfg(unix)]
pub mod processes;
pub mod rooms;
pub mod workspace;

pub mod connections;

pub mod agent;
pub mod llm;
pub mod messages;
pub mod tools;

pub mod mcp;
pub mod protocol;
pub mod rest;
pub mod socketio;
pub mod webhooks;

pub mod cli;
pub mod client;
pub mod config;
pub mod cpu_pool;
pub mod failpoint;
pub mod server;
pub mod telemetry;
