//! Options of `copydesk bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `copydesk bench`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Without --url a server is started for the test, with data that are removed at its end. With --url the documents of the \
test are made on a running server and deleted at the end.\nThe clients take processor time too: the table says how much. To measure a server alone, run the test on another machine.\n\
Exit code: 0 nothing was lost, 1 something was lost or failed (standard error says why), 2 the command line was not understood."
)]
pub struct BenchArgs {
    /// Documents that are open at the same time
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub documents: u32,
    /// Clients in each document that type
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub writers: u32,
    /// Clients in each document that only read
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub readers: u32,
    /// Clients in each document that decide changes, which they have proposed for them
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub reviewers: u32,
    /// Keystrokes of each writer in a second, 0.01 to 100
    #[arg(long, default_value_t = 4.0, value_name = "RATE", value_parser = rate::<100>)]
    pub edits: f64,
    /// Decisions of each reviewer in a minute, 0.01 to 600
    #[arg(long, default_value_t = 20.0, value_name = "RATE", value_parser = rate::<600>)]
    pub decisions: f64,
    /// Length of each document at the beginning, in characters
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=5_000_000))]
    pub text: u32,
    /// Length of the measurement, in seconds
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=600))]
    pub seconds: u32,
    /// Short messages for clients that understand them: the capabilities presence-changes and
    /// short-updates
    #[arg(long, value_enum, default_value_t = SwitchArg::On)]
    pub capabilities: SwitchArg,
    /// Address of a running server to test [default: a server of its own]; of several servers on
    /// one database all, with commas between: the clients of each document are on all of them
    #[arg(
        long,
        value_name = "URL",
        value_delimiter = ',',
        requires = "token",
        conflicts_with = "data"
    )]
    pub url: Vec<String>,
    /// Token of an owner, for --url
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Process of the server, for --url, if it is on this machine: its processor time and memory
    /// are measured too; of several servers together
    #[arg(long, value_name = "PID", value_delimiter = ',', requires = "url")]
    pub server_process: Vec<u32>,
    /// Folder for the data of the own server: the disk to measure [default: that for temporary
    /// files]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Switch on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SwitchArg {
    /// As the editor does
    On,
    /// As older clients do
    Off,
}

/// Smallest rate.
const LEAST: f64 = 0.01;

/// Parses a rate up to `MOST`.
fn rate<const MOST: u32>(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (LEAST..=f64::from(MOST)).contains(&rate) => Ok(rate),
        Ok(_) => Err(format!("it must be from {LEAST} to {MOST}")),
        Err(_) => Err("it must be a number".to_owned()),
    }
}
