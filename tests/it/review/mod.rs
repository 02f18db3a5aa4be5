//! Proposed changes: how they are shown, decided, judged and taken back, and by which rules.

mod approvals;
mod deferring;
mod judging;
mod judging_table;
mod marks;
mod review_rules;
mod rules;
mod splitting;
mod streaming;
mod suggestions;
mod votes;
