//! Commands of the command line, each in a module of its own.

mod backup;
mod bench;
mod check;
mod doctor;
mod error_text;
mod export;
mod mcp_bridge;
mod migrate;
mod outcome;
mod output;
mod provider_models;
mod remote;
mod stop_signal;
mod stored_data;
mod tokens;
mod workers;

pub use error_text::error_text;
pub use outcome::CommandOutcome;
pub use provider_models::{chat_completions, messages_api};
pub use stop_signal::stop_signal;

use anyhow::Result;
use async_recursion::async_recursion as boxed;

use crate::cli::{Command, CommandLine, sample_config, write_man_pages};
use crate::config::ServerConfig;
use output::{say, write_out};

/// Future of a server that runs until its signal to stop.
pub type ServerRun = std::pin::Pin<Box<dyn Future<Output = Result<()>>>>;

/// Runs the command of a command line; without one, `serve`, the server.
#[boxed(?Send)]
pub async fn run(
    line: CommandLine,
    serve: fn(ServerConfig) -> ServerRun,
) -> Result<CommandOutcome> {
    match line.command {
        None => serve(ServerConfig::load(line.serve)?).await?,
        Some(Command::Serve(args)) => serve(ServerConfig::load(*args)?).await?,
        Some(Command::Token(args)) => tokens::run(args).await?,
        Some(Command::Share(args)) => remote::share(args).await?,
        Some(Command::Spending(args)) => remote::spending(args).await?,
        Some(Command::Person(args)) => remote::person(args).await?,
        Some(Command::Export(args)) => match args.url.clone() {
            Some(url) => remote::export(&url, args).await?,
            None => export::run(args).await?,
        },
        Some(Command::Import(args)) => return remote::import(args).await,
        Some(Command::Docs(args)) => remote::docs(args).await?,
        Some(Command::Duplicate { document, server }) => {
            remote::duplicate(&document, &server).await?;
        }
        Some(Command::Ask(args)) => return remote::ask(args).await,
        Some(Command::Requests(args)) => remote::requests(args).await?,
        Some(Command::Approve(args)) => return remote::approve(args).await,
        Some(Command::Reject(args)) => return remote::reject(args).await,
        Some(Command::Watch(args)) => return remote::watch(args).await,
        Some(Command::Bench(args)) => return bench::run(args).await,
        Some(Command::Doctor(args)) => return doctor::run(*args).await,
        Some(Command::SampleConfig) => say(&sample_config())?,
        Some(Command::Man(args)) => write_man_pages(&args.folder)?,
        Some(Command::Completions(args)) => write_out(None, &args.shell.completions()).await?,
        Some(Command::ClaudeTools(args)) => workers::claude_tools(&args)?,
        Some(Command::Supervise(args)) => workers::supervise(&args)?,
        Some(Command::GrammarWorker) => workers::grammar_worker()?,
        Some(Command::Check(args)) => return check::run(args).await,
        Some(Command::Backup(args)) => backup::back_up(args).await?,
        Some(Command::Restore(args)) => backup::restore(args).await?,
        Some(Command::Migrate(args)) => migrate::run(args).await?,
        Some(Command::Mcp(args)) => mcp_bridge::run(args).await?,
    }
    Ok(CommandOutcome::Fine)
}
