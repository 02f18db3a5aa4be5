//! Options of `copydesk token`.

use std::path::PathBuf;

use clap::Args;

use super::RoleArg;

/// Options of `copydesk token`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit code: 0 done, 1 refused or failed (standard error says why), 2 the command line was not understood."
)]
pub struct TokenArgs {
    /// Role that the token gives
    #[arg(long, value_enum, required_unless_present_any = ["list", "revoke", "tie"])]
    pub role: Option<RoleArg>,
    /// Name that others see
    #[arg(long, required_unless_present_any = ["list", "revoke", "tie"])]
    pub name: Option<String>,
    /// Only document that the token reaches
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// Lifetime, such as 12h, 7d or 4w [default: unlimited]
    #[arg(long, value_name = "DURATION")]
    pub expires: Option<String>,
    /// List all tokens, without their secrets, and all logins
    #[arg(long, conflicts_with_all = ["revoke", "tie", "role", "name", "document", "expires"])]
    pub list: bool,
    /// Tie this token to a login, so that both are one person
    #[arg(long, value_name = "ID", requires = "login", conflicts_with_all = ["revoke", "role", "name", "document", "expires"])]
    pub tie: Option<String>,
    /// Login for --tie: its identifier, or the mail address of its person
    #[arg(long, value_name = "LOGIN", requires = "tie")]
    pub login: Option<String>,
    /// Revoke this token, and end its connections
    #[arg(long, value_name = "ID", conflicts_with_all = ["role", "name", "document", "expires"])]
    pub revoke: Option<String>,
    /// Address of a running server to use instead of --data
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Token of an owner, for --url
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "OWNER", hide_env_values = true)]
    pub token: Option<String>,
    /// Data directory of the server; also while it runs
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to use instead of the one in the data directory:
    /// postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}
