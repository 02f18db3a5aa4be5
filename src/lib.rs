//! Copydesk: a document server where changes of an AI are held and shown as a diff until a person,
//! a rule or an owner's setting approves them.
//!
//! The modules in reading order. Each uses only modules above it and beside it, except
//! [`failpoint`], which any module may use. `tests/tidy.rs` has the exact table.
//!
//! 1. [`ids`], [`permissions`]: identifiers, roles and what each role may do.
//! 2. [`document`]: text and change sets (pure). [`approvals`]: approval requests and decisions
//!    (pure).
//! 3. [`store`]: the database. [`auth`]: tokens and the people behind them.
//! 4. [`rooms`]: one actor for each open document. [`cpu_pool`]: threads for long work.
//! 5. [`check`]: verifies every invariant of a data directory. `processes`: child processes and
//!    their supervisor. [`workspace`]: files below one folder. [`file_sync`]: workspace files that
//!    are open as documents.
//! 6. `http_client`: settings of all HTTP clients. [`llm`]: models. [`tools`]: what a model may
//!    do, and the approval pipeline. [`agent`]: runs and conversations.
//! 7. [`export`]: documents as files for other programs (pure). [`api`]: what a person may see and
//!    do, for all transports. [`connections`]: memory held for connections, and how they end.
//!    [`transport`]: socket.io, REST, the Messages API, MCP, and the types they share.
//!    [`webhooks`]: deliveries to addresses outside.
//! 8. [`client`]: the command line as a client of a running server. [`config`], [`cli`],
//!    [`server`]: options and composition. [`failpoint`]: where tests let the process end.

pub mod ids;
pub mod permissions;
pub mod transport;

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
pub mod tools;

pub mod api;

pub mod webhooks;

pub mod cli;
pub mod client;
pub mod config;
pub mod cpu_pool;
pub mod failpoint;
mod http_client;
pub mod server;
pub mod telemetry;
