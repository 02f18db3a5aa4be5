//! The command line of Copydesk: its options, the configuration made of them and of
//! `copydesk.toml`, and all commands but the server itself.

pub mod cli;
pub mod commands;
pub mod config;
