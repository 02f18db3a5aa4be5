//! Entry of the program: parses the command line, runs the command, and returns the exit code.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use clap::Parser;
use tokio::runtime::Builder;

use super::{allocator, serve};
use crate::telemetry;
use copydesk_commands::cli::{Command, CommandLine};
use copydesk_commands::commands::{self, CommandOutcome};

/// Runs the command line of this process; returns its exit code.
pub fn main() -> ExitCode {
    let cli = CommandLine::parse();
    if matches!(cli.command, None | Some(Command::Serve(_))) {
        allocator::fix_large_blocks();
    }
    telemetry::start();
    let runtime = Builder::new_multi_thread().worker_threads(worker_threads()).enable_all().build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(cli)));
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            eprintln!("copydesk: {}", commands::error_text(&error));
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of threads that serve connections: one processor is left to the thread of the
/// database and to long work. With as many as there are processors, these threads wake each other
/// and the database's for every keystroke, which costs a third more than the work itself.
fn worker_threads() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get() - 1).max(1)
}

/// Runs the command of a command line.
async fn run(line: CommandLine) -> Result<CommandOutcome> {
    #[cfg(feature = "failpoints")]
    if let Some(walk) =
        copydesk_commands::config::failpoints().filter(|it| !copydesk_failpoint::arm(it))
    {
        anyhow::bail!("there is no such failpoint: {walk}");
    }
    commands::run(line, |config| Box::pin(serve(config))).await
}
