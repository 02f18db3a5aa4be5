//! The command line: subcommands and flags, each also a `COPYDESK_*` variable.

mod administration;
mod bench;
mod doctor;
mod generated;
mod sample_config;
mod token;

pub use administration::{DocumentRoleArg, PersonArgs, ShareArgs, SpendingArgs};
pub use bench::{BenchArgs, SwitchArg};
pub use doctor::DoctorArgs;
pub use generated::{CompletionsArgs, ManArgs, ShellArg, write_man_pages};
pub use sample_config::sample_config;
pub use token::TokenArgs;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use copydesk_export::ExportFormat;
use copydesk_ids::permissions::Role;

/// A document server where people write together and every AI edit is reviewed before it is
/// applied.
#[derive(Debug, Parser)]
#[command(name = "copydesk", version, args_conflicts_with_subcommands = true)]
pub struct CommandLine {
    /// Subcommand; missing: `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// Subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server (the default).
    Serve(Box<ServeArgs>),
    /// Issue a token for another person and print it; list and revoke tokens.
    Token(TokenArgs),
    /// Give people and groups who sign in a role in a document, or take it; lists them.
    Share(ShareArgs),
    /// Show what models have cost in a month, and set limits.
    Spending(SpendingArgs),
    /// List people, show what is stored of one of them, and delete it.
    Person(PersonArgs),
    /// Export a document to a file, from the data directory or from a running server with --url.
    Export(ExportArgs),
    /// Create documents from text files on a running server; prints their identifiers.
    Import(ImportArgs),
    /// List the documents of a running server.
    Docs(DocsArgs),
    /// Copy a document of a running server; prints the identifier of the copy.
    #[command(after_help = EXIT_CODES)]
    Duplicate {
        /// Identifier of the document
        document: String,
        /// Server to use.
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Ask the agent of a running server to work on a document.
    Ask(AskArgs),
    /// List open requests, or show one with its changes.
    Requests(RequestsArgs),
    /// Accept a request, or some of its changes.
    Approve(ApproveArgs),
    /// Reject a request, or some of its changes.
    Reject(RejectArgs),
    /// Report new and resolved requests until interrupted.
    Watch(WatchArgs),
    /// Measure how many people a server serves on this machine, and what each costs.
    Bench(BenchArgs),
    /// Say what is missing, wrong or slow on this machine for a server with these options.
    Doctor(Box<DoctorArgs>),
    /// Print a settings file with every option, its help and its default, commented out.
    SampleConfig,
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Write man pages of all commands into a folder; for packages.
    #[command(hide = true)]
    Man(ManArgs),
    /// Connect the Claude CLI to its tools; started by the CLI.
    #[command(hide = true)]
    ClaudeTools(ClaudeToolsArgs),
    /// Run a command and end all of its processes; started by the server.
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// Check grammar for the server that started it, until standard input closes.
    #[command(hide = true)]
    GrammarWorker,
    /// Verify the data and report what is wrong; also while a server runs.
    ///
    /// Exit code: 0 no errors, 1 errors were found, 2 the data cannot be read.
    Check(CheckArgs),
    /// Copy all data into one file, also while the server runs
    Backup(BackupArgs),
    /// Create a data directory from a backup, or fill a PostgreSQL database
    Restore(RestoreArgs),
    /// Move all data between a data directory and a PostgreSQL database, while no server runs
    Migrate(MigrateArgs),
    /// Serve MCP over standard input and output, for coding agents; needs a running server
    Mcp(McpArgs),
}

/// Options of `copydesk serve`, and settings in `copydesk.toml`, which are named as the flags are.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct ServeArgs {
    /// Address to listen on; port 0 picks a free port [default: 127.0.0.1:4680]
    #[arg(long, env = "COPYDESK_LISTEN", value_name = "ADDR:PORT")]
    pub listen: Option<SocketAddr>,
    /// Certificate in PEM, with those that lead to its authority: the server speaks TLS; needs
    /// --tls-key
    #[arg(long, env = "COPYDESK_TLS_CERTIFICATE", value_name = "FILE")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, env = "COPYDESK_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Data directory [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to use instead of the one in the data directory:
    /// postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Share the database with other servers, which serve the same documents; needs --database-url
    #[arg(long, env = "COPYDESK_CLUSTER")]
    pub cluster: bool,
    /// Address at which the other servers reach this one [default: http://, or https:// with
    /// --tls-certificate, and the address that it listens on]
    #[arg(long, env = "COPYDESK_NODE_URL", value_name = "URL")]
    pub node_url: Option<String>,
    /// Certificates in PEM of authorities that the certificates of the other servers may have,
    /// besides those of the system; needs --cluster
    #[arg(long, env = "COPYDESK_NODE_CA", value_name = "FILE")]
    pub node_ca: Option<PathBuf>,
    /// Redis that carries messages between the servers, instead of PostgreSQL; needs --cluster:
    /// redis://USER:PASSWORD@HOST:PORT/NUMBER
    #[arg(long, env = "COPYDESK_REDIS_URL", value_name = "URL", hide_env_values = true)]
    pub redis_url: Option<String>,
    /// Collector of OpenTelemetry to which spans are sent, http://HOST:PORT; only in a build with
    /// the feature otlp
    #[arg(long, env = "COPYDESK_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// The model: harper, anthropic, anthropic:NAME, openai, openai:NAME, claude-cli,
    /// claude-cli:NAME or script:FILE; several with commas between, the default first [default:
    /// anthropic with a key present, openai with its base URL present, else harper]
    #[arg(long, env = "COPYDESK_MODEL", value_name = "MODEL")]
    pub model: Option<String>,
    /// Seconds until a request expires; 0: never [default: never in a document, 300 without one and
    /// for outside callers]
    #[arg(long, env = "COPYDESK_APPROVAL_TIMEOUT", value_name = "SECONDS")]
    pub approval_timeout: Option<u64>,
    /// Token of the owner; missing: created and stored in the data directory
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Address at which browsers reach the server, such as <https://desk.example.org>; needed to
    /// sign in where the server listens on other than loopback addresses
    #[arg(long, env = "COPYDESK_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// Identity provider (`OpenID Connect`) with which people can sign in
    #[arg(long, env = "COPYDESK_OIDC_ISSUER", value_name = "URL")]
    pub oidc_issuer: Option<String>,
    /// Name of this server at the identity provider
    #[arg(long, env = "COPYDESK_OIDC_CLIENT_ID", value_name = "ID")]
    pub oidc_client_id: Option<String>,
    /// Secret of this server at the identity provider; missing: a public client
    #[arg(
        long,
        env = "COPYDESK_OIDC_CLIENT_SECRET",
        value_name = "SECRET",
        hide_env_values = true
    )]
    pub oidc_client_secret: Option<String>,
    /// Role of people who sign in: ROLE=anyone, ROLE=group:NAME, ROLE=email:ADDRESS,
    /// ROLE=domain:NAME or ROLE=subject:NAME; may be repeated, the most permissive counts. Others
    /// may not sign in
    #[arg(long, env = "COPYDESK_OIDC_ROLE", value_name = "ROLE=PEOPLE", value_delimiter = ',')]
    #[serde(rename = "oidc-roles", alias = "oidc-role")]
    pub oidc_role: Vec<String>,
    /// Scope to ask for besides openid; may be repeated [default: profile, email]
    #[arg(long, env = "COPYDESK_OIDC_SCOPE", value_name = "NAME", value_delimiter = ',')]
    #[serde(rename = "oidc-scopes", alias = "oidc-scope")]
    pub oidc_scope: Vec<String>,
    /// Claim with the groups of a person [default: groups]
    #[arg(long, env = "COPYDESK_OIDC_GROUPS_CLAIM", value_name = "NAME")]
    pub oidc_groups_claim: Option<String>,
    /// Time after which people have to sign in again, such as 12h or 7d [default: 12h]
    #[arg(long, env = "COPYDESK_OIDC_LIFETIME", value_name = "DURATION")]
    pub oidc_lifetime: Option<String>,
    /// Everyone who can reach the server is the owner; only on a loopback address
    #[arg(long, env = "COPYDESK_NO_AUTH")]
    pub no_auth: bool,
    /// Folder that runs without a document may read and, after approval, write; missing: none
    #[arg(long, env = "COPYDESK_WORKSPACE", value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Let the agent propose shell commands in the workspace; an owner must approve each one
    #[arg(long, env = "COPYDESK_ENABLE_BASH")]
    pub enable_bash: bool,
    /// Claude CLI, as a path or a name on the PATH; offered as a model if it exists [default:
    /// claude]
    #[arg(long, env = "COPYDESK_CLAUDE", value_name = "PATH")]
    pub claude_binary: Option<PathBuf>,
    /// Prices of models, in addition to the built-in list
    #[arg(long, env = "COPYDESK_PRICES", value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Let owners start runs that apply changes without asking (`bypassPermissions`)
    #[arg(long, env = "COPYDESK_ALLOW_BYPASS")]
    pub allow_bypass: bool,
    /// Let webhooks use http, and private and loopback addresses; otherwise only https and public
    /// addresses
    #[arg(long, env = "COPYDESK_ALLOW_PRIVATE_WEBHOOKS")]
    pub allow_private_webhooks: bool,
    /// Further host name of the server, such as desk.example.org; may be repeated
    #[arg(long, env = "COPYDESK_ALLOWED_HOST", value_name = "HOST", value_delimiter = ',')]
    #[serde(rename = "allowed-hosts", alias = "allowed-host")]
    pub allowed_host: Vec<String>,
    /// Maximum memory for the data of all connections, in megabytes; above it, new work is refused
    /// [default: 1024]
    #[arg(long, env = "COPYDESK_CONNECTION_MEMORY", value_name = "MEGABYTES", value_parser = clap::value_parser!(u32).range(64..))]
    pub connection_memory: Option<u32>,
    /// Seconds that a connection has to show its token [default: 10]
    #[arg(long, env = "COPYDESK_HANDSHAKE_TIMEOUT", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub handshake_timeout: Option<u64>,
    /// Seconds of silence after which a stream of the Messages API is sent a ping [default: 15]
    #[arg(long, env = "COPYDESK_STREAM_PING", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub stream_ping: Option<u64>,
    /// Token with which a program may read /metrics and nothing else; owners may read it anyway
    #[arg(long, env = "COPYDESK_METRICS_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub metrics_token: Option<String>,
    /// Open the editor in a browser
    #[arg(long, env = "COPYDESK_OPEN")]
    pub open: bool,
    /// File to read settings from [default: copydesk.toml, if it exists]
    #[arg(long, env = "COPYDESK_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Options of `copydesk supervise`, which ends when standard input closes.
#[derive(Clone, Debug, Args)]
pub struct SuperviseArgs {
    /// Environment variable that marks the command and all of its processes
    #[arg(long, value_name = "NAME=VALUE")]
    pub mark: String,
    /// Command to run
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// Options of `copydesk claude-tools`, given by its environment only, so that they stay secret.
#[derive(Clone, Args)]
pub struct ClaudeToolsArgs {
    /// Socket of the server
    #[arg(long, env = "ATLAS_TOOL_SOCKET", hide_env_values = true)]
    pub socket: PathBuf,
    /// Secret of the CLI process
    #[arg(long, env = "ATLAS_TOKEN", hide_env_values = true)]
    pub secret: String,
    /// Mark of the processes of that CLI
    #[arg(long, env = "COPYDESK_CLI", hide_env_values = true)]
    pub of: Option<String>,
}

impl std::fmt::Debug for ClaudeToolsArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaudeToolsArgs").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// Options of `copydesk export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Identifier of the document, as in the editor's address after /d/
    #[arg(long, value_name = "ID")]
    pub document: String,
    /// Format of the file
    #[arg(long, value_enum)]
    pub format: FormatArg,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Address of a running server to use instead of --data
    #[arg(long, env = "COPYDESK_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Your token, for --url
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Data directory of the server
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to use instead of the one in the data directory:
    /// postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

/// Options of every command that uses a running server.
#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "COPYDESK_URL", value_name = "URL", default_value = "http://127.0.0.1:4680")]
    pub url: String,
    /// Your token
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Print JSON: one value, or one on each line for `watch`
    #[arg(long)]
    pub json: bool,
}

/// Exit codes for scripts.
const EXIT_CODES: &str = "Exit code: 0 done, 1 refused, rejected or failed (standard error says why), 2 the command line was not \
understood, 3 it expired, or nobody decided in time.";

/// Exit codes of commands that wait for people.
const ASK_EXIT_CODES: &str = "Exit code: 0 done; with --wait everything that was proposed was accepted, or some of it (`partly`), or nothing \
was proposed. 1 refused, failed, rejected or `cancelled`: withdrawn, or the document is gone (standard error says why). 2 the command line was not \
understood. 3 it expired, or nobody decided in time.";

/// Options of `copydesk docs`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DocsArgs {
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk import`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ImportArgs {
    /// Word documents (.docx), pages (.html), Markdown (.md) and plain text (.txt); all are read
    /// before the first document is created
    #[arg(value_name = "FILE", required = true)]
    pub file: Vec<PathBuf>,
    /// Title of the document, if there is only one file [default: the file's name without its
    /// extension]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk ask`.
#[derive(Clone, Debug, Args)]
#[command(after_help = ASK_EXIT_CODES)]
pub struct AskArgs {
    /// Identifier of the document
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// Prompt for the agent
    #[arg(value_name = "PROMPT")]
    pub prompt: String,
    /// Wait until people have decided and the run has ended; shows the open requests
    #[arg(long)]
    pub wait: bool,
    /// With --wait: maximum seconds to wait; 0: no limit. The run continues
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub timeout: u64,
    /// Model to ask [default: the server's]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk requests`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RequestsArgs {
    /// Request to show with its changes, also after it was resolved
    #[arg(value_name = "REQUEST", conflicts_with = "document")]
    pub request: Option<String>,
    /// Document whose requests are listed
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk approve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ApproveArgs {
    /// Identifier of the request
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Change to decide; may be repeated. Other changes stay open
    #[arg(long, value_name = "ID")]
    pub hunk: Vec<String>,
    /// Remark for the model
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// `preview_hash` of the preview you saw; refused if the preview has changed
    #[arg(long, value_name = "HASH")]
    pub preview: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk reject`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RejectArgs {
    /// Identifier of the request
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Change to decide; may be repeated. Other changes stay open
    #[arg(long, value_name = "ID")]
    pub hunk: Vec<String>,
    /// Reason, for the model
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk watch`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct WatchArgs {
    /// Document whose requests are reported
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// Server to use.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Options of `copydesk check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Print JSON: `{findings: [{code, subject, message}], seen: {…}}`
    #[arg(long)]
    pub json: bool,
    /// Data directory of the server
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to use instead of the one in the data directory:
    /// postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

/// Options of `copydesk backup`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "In the backup: documents with their histories, requests and decisions, conversations, rules, settings, tokens (as hashes) \
and the audit log, all of one moment.\nNot in it: the owner's token (owner.token), so that nobody comes in with a stolen backup alone, and the \
files of the workspace.\nNothing is overwritten. An interrupted backup leaves at most FILE.part-…, which can be deleted.\n\
Exit code: 0 done, 1 it failed (standard error says why), 2 the command line was not understood."
)]
pub struct BackupArgs {
    /// File to create, or a folder for a file named after the time
    #[arg(long, value_name = "FILE|DIR")]
    pub out: PathBuf,
    /// Data directory of the server; also while it runs [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to use instead of the one in the data directory, also while servers run:
    /// postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

/// Options of `copydesk restore`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "The owner gets a new token at the next start, unless DIR has an owner.token or --token names one; all other tokens work as \
they did at the time of the backup. Changes of files in the workspace made since come into their documents when those are opened.\n\
Before anything is changed, the content of the backup is compared with the sum in it, and looked through as by `copydesk check`.\nExit code: 0 done, 1 it failed (standard error says why; nothing was changed), 2 the \
command line was not understood."
)]
pub struct RestoreArgs {
    /// Backup file
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// Data directory to create; no server may be running on it [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL database to fill instead: postgres://USER:PASSWORD@HOST:PORT/NAME
    #[arg(long, env = "COPYDESK_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Replace existing data, which is moved aside: in the same folder, or into another schema of
    /// the same PostgreSQL database
    #[arg(long)]
    pub replace: bool,
    /// Restore a backup that is damaged, as it is
    #[arg(long)]
    pub despite_damage: bool,
}

/// Options of `copydesk migrate`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "A place is a directory or postgres://USER:PASSWORD@HOST:PORT/NAME. Everything is copied that a backup has, and read again from the \
copy. What is at --from stays as it is. owner.token stays in its directory: start the server with the same --data, or with --token.\n\
--to must have no data. If the copy is interrupted, a server refuses --to, and the same command makes the copy anew.\n\
Exit code: 0 done, 1 it failed (standard error says why; nothing was copied), 2 the command line was not understood."
)]
pub struct MigrateArgs {
    /// Place of the data; no server may be running on it
    #[arg(long, env = "COPYDESK_MIGRATE_FROM", value_name = "DIR|URL", hide_env_values = true)]
    pub from: String,
    /// Place for the copy
    #[arg(long, env = "COPYDESK_MIGRATE_TO", value_name = "DIR|URL", hide_env_values = true)]
    pub to: String,
}

/// Options of `copydesk mcp`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Standard output carries only the protocol; errors go to standard error.")]
pub struct McpArgs {
    /// Address of the running server
    #[arg(long, env = "COPYDESK_URL", value_name = "URL", default_value = "http://127.0.0.1:4680")]
    pub url: String,
    /// Token of the person who works with the agent [default: the owner's, from the data directory]
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Data directory of the server, if it is on this machine [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Milliseconds after which the agent gives up a call; requests expire a little sooner
    /// [default: never]
    #[arg(long, env = "MCP_TOOL_TIMEOUT", value_name = "MS")]
    pub timeout_ms: Option<u64>,
}

/// Export format on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FormatArg {
    /// Markdown: the text as it is
    Md,
    /// HTML page, without scripts
    Html,
    /// Word, with open changes as tracked changes
    Docx,
    /// Markdown, with open changes as CriticMarkup
    Criticmarkup,
    /// Text, version, hash and open requests
    Json,
}

impl From<FormatArg> for ExportFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Md => Self::Markdown,
            FormatArg::Html => Self::Html,
            FormatArg::Docx => Self::Docx,
            FormatArg::Criticmarkup => Self::CriticMarkup,
            FormatArg::Json => Self::Json,
        }
    }
}

/// Role on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArg {
    /// May do everything
    Owner,
    /// May write, ask and decide
    Editor,
    /// May read and decide
    Reviewer,
    /// May read, comment and suggest
    Suggester,
    /// May read
    Viewer,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Owner => Self::Owner,
            RoleArg::Editor => Self::Editor,
            RoleArg::Reviewer => Self::Reviewer,
            RoleArg::Suggester => Self::Suggester,
            RoleArg::Viewer => Self::Viewer,
        }
    }
}
