//! Every type that leaves the process; no behaviour.

pub mod client;
pub mod convert;
pub mod files;
pub mod history;
pub mod names;
pub mod rest;
pub mod rules;
pub mod server;

#[cfg(test)]
mod typescript;
