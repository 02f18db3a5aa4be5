//! Every type that leaves the process. None has behaviour.

pub mod administration;
pub mod answers;
pub mod client;
pub mod files;
pub mod history;
pub mod names;
pub mod queries;
pub mod rest;
pub mod rules;
pub mod server;
pub mod sharing;

#[cfg(test)]
mod typescript;
