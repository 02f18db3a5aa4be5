//! Entry of the program: parses the command line, runs the command, and returns the exit code.

use std::process::ExitCode;
use std::thread;

use anyhow::Result;
use clap::Parser;
use tokio::runtime::Builder;

use super::{
    CommandOutcome, backup, bench, check, claude, export, mcp_bridge, migrate, models, remote,
    serve, tokens, workspace, write_out,
};
use crate::cli::{Command, CommandLine};
use crate::config::ServerConfig;
use crate::telemetry;

/// Runs the command line of this process; returns its exit code.
pub fn main() -> ExitCode {
    let cli = CommandLine::parse();
    telemetry::start();
    let runtime = Builder::new_multi_thread().worker_threads(worker_threads()).enable_all().build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(cli)));
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => {
            eprintln!("copydesk: {error:#}");
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

/// Runs a command.
///
/// # Errors
/// The failure of the command.
async fn run(cli: CommandLine) -> Result<CommandOutcome> {
    #[cfg(feature = "failpoints")]
    if let Some(walk) = crate::config::failpoints().filter(|it| !crate::failpoint::arm(it)) {
        anyhow::bail!("there is no such failpoint: {walk}");
    }
    match cli.command {
        None => serve(ServerConfig::load(cli.serve)?).await?,
        Some(Command::Serve(args)) => serve(ServerConfig::load(*args)?).await?,
        Some(Command::Token(args)) => tokens::run(args).await?,
        Some(Command::Share(args)) => remote::share(args).await?,
        Some(Command::Spending(args)) => remote::spending(args).await?,
        Some(Command::Person(args)) => remote::person(args).await?,
        Some(Command::Export(args)) => match args.url.clone() {
            Some(url) => remote::export(&url, args).await?,
            None => export(args).await?,
        },
        Some(Command::Import(args)) => return remote::import(args).await,
        Some(Command::Docs(args)) => remote::docs(args).await?,
        Some(Command::Ask(args)) => return remote::ask(args).await,
        Some(Command::Requests(args)) => remote::requests(args).await?,
        Some(Command::Approve(args)) => return remote::approve(args).await,
        Some(Command::Reject(args)) => return remote::reject(args).await,
        Some(Command::Watch(args)) => return remote::watch(args).await,
        Some(Command::Bench(args)) => return bench::run(args).await,
        Some(Command::Completions(args)) => write_out(None, &args.shell.completions()).await?,
        Some(Command::ClaudeTools(args)) => claude::tools(&args)?,
        Some(Command::Supervise(args)) => workspace::supervise(&args)?,
        Some(Command::GrammarWorker) => models::grammar_worker()?,
        Some(Command::Check(args)) => return check::run(args).await,
        Some(Command::Backup(args)) => backup::back_up(args).await?,
        Some(Command::Restore(args)) => backup::restore(args).await?,
        Some(Command::Migrate(args)) => migrate::run(args).await?,
        Some(Command::Mcp(args)) => mcp_bridge::run(args).await?,
    }
    Ok(CommandOutcome::Fine)
}
