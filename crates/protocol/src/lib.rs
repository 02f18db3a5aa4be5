//! Every type that leaves the process. None has behaviour.

pub mod administration;
pub mod answers;
pub mod client;
pub mod comments;
pub mod deferring;
pub mod files;
pub mod history;
pub mod names;
pub mod people;
pub mod queries;
pub mod rest;
pub mod rules;
pub mod server;
pub mod sharing;
pub mod suggestions;

#[cfg(test)]
mod typescript_test;
