//! The agent at work: in documents, with plans and tools, within its budgets, and how its runs end.

mod budgets;
mod comment_questions;
mod custom_tool;
mod document_agent;
mod injection;
mod plans;
mod run_ends;
