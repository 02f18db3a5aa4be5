//! Running a server: its options, its log and metrics, its data, and the commands for them.

pub mod check;
mod check_rules;
mod containers;
mod doctor;
mod load_test;
mod log_and_unit;
mod metrics;
mod migrate;
mod old_data;
mod options;
mod postgres;
