//! The command line of Copydesk: options, configuration, and all commands but the server itself.

pub mod cli;
pub mod commands;
pub mod config;
