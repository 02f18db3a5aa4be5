//! Every type that leaves the process.
//!
//! Only [`convert`] has behaviour: it makes the types of values of the application, and reads what
//! clients send.

pub mod administration;
pub mod answers;
pub mod client;
pub mod convert;
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
