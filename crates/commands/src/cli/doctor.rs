//! Options of `copydesk doctor`.

use clap::Args;

use super::ServeArgs;

/// Options of `copydesk doctor`: those of the server, and its own.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Give it the options, the variables and the settings file that the server is started with, on the machine and as the user of the server. \
It changes nothing: it writes a file into the data directory and removes it, and asks each configured model for its list of models, which costs nothing.\n\
Exit code: 0 all is well, 1 there is something to mend, 2 the command line was not understood."
)]
pub struct DoctorArgs {
    /// Address at which browsers reach the server, to be asked through its proxy while the server
    /// runs
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print JSON: `{findings: [{check, state, message, remedy}]}`
    #[arg(long)]
    pub json: bool,
    /// Options of the server.
    #[command(flatten)]
    pub serve: ServeArgs,
}
