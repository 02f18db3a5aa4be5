//! Copydesk: a document server where changes of an AI are held and shown as a diff until a person,
//! a rule or an owner's setting approves them.
//!
//! This crate composes the server of the crates of the workspace: [`server`], [`webhooks`]
//! (deliveries to addresses outside) and [`telemetry`]. `docs/architecture.md` lists the crates in
//! reading order; `Cargo.toml` of each says which others it may use.

pub mod server;
pub mod telemetry;
pub mod webhooks;
