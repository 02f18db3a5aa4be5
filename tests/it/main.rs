//! Stories: what people and scripts do, through real socket.io clients and the real server.
//!
//! One module for each behaviour. A story reads like one: people arrive, type, ask, see a request,
//! decide. Every message of every story is compared with the samples in `fixtures/wire`, and every
//! update with the version it must follow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on fails there and then"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` is written where it is used")]

mod support;

mod administration;
mod approvals;
mod bad_input;
mod bin;
mod budgets;
mod check;
mod check_rules;
mod claude;
mod claude_cli;
mod cli;
mod clients;
mod collab;
mod connections;
mod containers;
mod converge;
mod crash;
mod custom_tool;
mod deleted_people;
mod doctor;
mod document_agent;
mod documentation;
mod documents;
mod durability;
mod exports;
mod files;
#[cfg(target_os = "linux")]
mod grammar_worker;
mod harper;
mod imports;
mod injection;
mod judging;
mod judging_table;
mod limits;
mod load_test;
mod mcp;
mod messages;
mod metrics;
mod migrate;
mod model_access;
mod models;
mod nodes;
mod old_data;
mod operations;
mod options;
mod plans;
mod postgres;
mod presence;
mod provenance;
mod proxies;
mod rest;
mod review_rules;
mod roles;
mod rules;
mod run_ends;
mod samples;
mod sharing;
mod sign_in;
mod spending;
mod splitting;
mod streaming;
mod tls;
mod tokens;
mod transports;
mod votes;
mod webhooks;
mod workspace;
mod workspace_inbox_rules;
mod workspace_inbox_undo;
