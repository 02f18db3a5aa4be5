//! The rules of Copydesk without input or output: text and change sets, approval requests and
//! decisions, and documents as files of other programs.
//!
//! The modules in reading order:
//!
//! 1. [`ids`], [`permissions`]: identifiers, roles and what each role may do.
//! 2. [`document`]: text and change sets.
//! 3. [`approvals`]: approval requests and decisions.
//! 4. [`export`]: documents as files for other programs.
//!
//! [`unseen_characters`] finds what people would decide about without seeing it.
//!
//! [`failpoint`] is where tests let the process end, [`metrics`] what Prometheus is told, and
//! [`interrupt`] ends long work early. Every crate may use them.

pub mod approvals;
mod columns;
pub mod document;
pub mod export;
pub mod failpoint;
pub mod ids;
pub mod interrupt;
pub mod metrics;
pub mod permissions;
pub mod unseen_characters;
