//! Stories: what people and scripts do, through real socket.io clients and the real server.
//!
//! One folder for each subject, with a module for each behaviour. A story reads like one: people
//! arrive, type, ask, see a request, decide. Every message of every story is compared with the
//! samples in `fixtures/wire`, and every update with the version it must follow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on fails there and then"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` is written where it is used")]

mod support;

mod agent;
mod api;
mod documentation;
mod documents;
mod durability;
mod models;
mod nodes;
mod operations;
mod people;
mod review;
mod transports;
mod workspace;
