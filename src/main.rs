//! The `copydesk` binary: parse arguments, start telemetry, run.

use std::process::ExitCode;

use clap::Parser;
use copydesk::cli::CommandLine;
use copydesk::{server, telemetry};

#[tokio::main]
async fn main() -> ExitCode {
    let cli = CommandLine::parse();
    telemetry::start();
    match server::run(cli).await {
        Ok(ending) => ExitCode::from(ending.code()),
        Err(error) => {
            eprintln!("copydesk: {error:#}");
            ExitCode::FAILURE
        }
    }
}
