//! Models: which one answers, what it may see, what it costs, and each kind of them.

mod choice;
mod claude;
mod claude_cli;
#[cfg(target_os = "linux")]
mod grammar_worker;
mod harper;
mod model_access;
mod spending;
