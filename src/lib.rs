//! Copydesk: a document server where changes of an AI are held and shown as a diff until a person,
//! a rule or an owner's setting approves them.
//!
//! The crates of the workspace, in reading order. Each uses only those before it:
//!
//! 1. [`copydesk_core`]: text, change sets, approval requests and decisions (no input or output).
//! 2. [`processes`]: child processes and their supervisor. [`workspace`]: files
//!    below one folder. [`copydesk_llm`]: models.
//! 3. [`copydesk_engine`]: the database, rooms, tools, runs, and what a person may see and do.
//! 4. [`connections`]: memory held for connections, and how they end. [`protocol`]: the types on
//!    the wire. [`operations`]: what a person may ask, each declared once. [`socketio`], [`rest`],
//!    [`messages_api`] and [`mcp`]: the transports; [`oidc`]: signing in with an identity provider.
//!    [`client`]: the command line as a client of a running server. [`load_test`]: `copydesk
//!    bench`. [`cli`], [`config`] and [`commands`]: options, settings, and all commands but the
//!    server.
//! 5. This crate: [`webhooks`] (deliveries to addresses outside), [`telemetry`] and [`server`]
//!    (composition).
//!
//! `tests/tidy.rs` has the exact table of which module may use which.

pub mod server;
pub mod telemetry;
pub mod webhooks;

// The crates below, under the names that the modules here, tests and examples use.
pub use copydesk_client as client;
pub use copydesk_commands::{cli, commands, config};
pub use copydesk_connections as connections;
#[cfg(unix)]
pub use copydesk_engine::processes;
pub use copydesk_engine::{
    agent, api, approvals, auth, check, cpu_pool, document, export, failpoint, file_sync, ids, llm,
    metrics, permissions, rooms, store, tools, workspace,
};
pub use copydesk_http::{messages_api, rest};
use copydesk_llm::http_client;
pub use copydesk_load_test as load_test;
pub use copydesk_mcp as mcp;
#[cfg(feature = "oidc")]
pub use copydesk_oidc as oidc;
pub use copydesk_operations as operations;
pub use copydesk_protocol as protocol;
pub use copydesk_socketio as socketio;
