//! The `copydesk` binary: parse arguments, start telemetry, run.

use std::process::ExitCode;

use clap::Parser;
use copydesk::cli::Cli;
use copydesk::{app, telemetry};

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    telemetry::start();
    match app::run(cli).await {
        Ok(ending) => ExitCode::from(ending.code()),
        Err(error) => {
            eprintln!("copydesk: {error:#}");
            ExitCode::FAILURE
        }
    }
}
