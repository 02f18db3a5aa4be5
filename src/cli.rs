//! The command line: subcommands and flags, each also a `COPYDESK_*` variable.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::export::ExportFormat;
use crate::permissions::Role;

/// A document server where every change an AI wants is held, shown as a diff, and applied only when a person says so.
#[derive(Debug, Parser)]
#[command(name = "copydesk", version, args_conflicts_with_subcommands = true)]
pub struct CommandLine {
    /// What to do; `serve` if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of `serve`.
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server (the default).
    Serve(ServeArgs),
    /// Issue a token for another person and print it alone; list and revoke tokens.
    Token(TokenArgs),
    /// Write a document into a file: from the data directory, or from a running server with --url.
    Export(ExportArgs),
    /// Make documents of text files, on a running server; prints their identifiers.
    Import(ImportArgs),
    /// List the documents of a running server.
    Docs(DocsArgs),
    /// Ask the agent of a running server to work on a document.
    Ask(AskArgs),
    /// List the requests that wait, or show one with its changes.
    Requests(RequestsArgs),
    /// Accept a request, or some of its changes.
    Approve(ApproveArgs),
    /// Reject a request, or some of its changes.
    Reject(RejectArgs),
    /// Say what comes to wait and what is resolved, until interrupted.
    Watch(WatchArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// What the Claude CLI starts to reach its tools; of no use to people.
    #[command(hide = true)]
    ClaudeTools(ClaudeToolsArgs),
    /// What the server starts to run a command and to end all that comes of it; of no use to people.
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// Look through everything that is kept and say what is wrong; also while a server runs.
    ///
    /// Ends with 0 if all is fine, 1 if something was found, 2 if the data cannot be read.
    Check(CheckArgs),
    /// Copy everything that is kept into one file, also while the server runs
    Backup(BackupArgs),
    /// Make a data directory of a backup
    Restore(RestoreArgs),
    /// MCP over standard input and output, for Claude Code and other coding agents; needs a running server
    Mcp(McpArgs),
}

/// Flags of `copydesk serve`.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct ServeArgs {
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:4680]
    #[arg(long, env = "COPYDESK_LISTEN", value_name = "ADDR:PORT")]
    pub listen: Option<SocketAddr>,
    /// Where documents are kept [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The model: harper, anthropic, anthropic:NAME, openai, openai:NAME, claude-cli, claude-cli:NAME or script:FILE; several with commas between, the default first
    /// [default: anthropic with a key present, openai with its base URL present, else harper]
    #[arg(long, env = "COPYDESK_MODEL", value_name = "MODEL")]
    pub model: Option<String>,
    /// Seconds a proposed change waits for a person; 0 waits for ever [default: 300]
    #[arg(long, env = "COPYDESK_APPROVAL_TIMEOUT", value_name = "SECONDS")]
    pub approval_timeout: Option<u64>,
    /// The owner's token; made and kept in the data directory if not given
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Everyone who can reach the server is the owner; only on a loopback address
    #[arg(long, env = "COPYDESK_NO_AUTH")]
    pub no_auth: bool,
    /// The folder in which runs without a document may read and, once people have approved it, write; none if not given
    #[arg(long, env = "COPYDESK_WORKSPACE", value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Let the agent propose shell commands for the workspace; each runs only once an owner has approved it
    #[arg(long, env = "COPYDESK_ENABLE_BASH")]
    pub enable_bash: bool,
    /// The Claude CLI, a name on the PATH or a path; it is offered as a model if it is there [default: claude]
    #[arg(long, env = "COPYDESK_CLAUDE", value_name = "PATH")]
    pub claude_binary: Option<PathBuf>,
    /// Let owners start runs that apply changes without asking (`bypassPermissions`)
    #[arg(long, env = "COPYDESK_ALLOW_BYPASS")]
    pub allow_bypass: bool,
    /// Let webhooks lead to private and loopback addresses, and go by http; else only to public ones, by https
    #[arg(long, env = "COPYDESK_ALLOW_PRIVATE_WEBHOOKS")]
    pub allow_private_webhooks: bool,
    /// A further host name the server may be reached by, such as desk.example.org; may be repeated
    #[arg(long, env = "COPYDESK_ALLOWED_HOST", value_name = "HOST", value_delimiter = ',')]
    pub allowed_host: Vec<String>,
    /// Megabytes held in memory at most for what all connections send and are to be sent; past it new work is refused [default: 1024]
    #[arg(long, env = "COPYDESK_CONNECTION_MEMORY", value_name = "MEGABYTES", value_parser = clap::value_parser!(u32).range(64..))]
    pub connection_memory: Option<u32>,
    /// Open the editor in a browser
    #[arg(long, env = "COPYDESK_OPEN")]
    pub open: bool,
    /// Read settings from this file [default: copydesk.toml, if it is there]
    #[arg(long, env = "COPYDESK_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What `copydesk supervise` is told, besides what standard input says by closing.
#[derive(Clone, Debug, Args)]
pub struct SuperviseArgs {
    /// A variable that the command and all that comes of it carry in their environment
    #[arg(long, value_name = "NAME=VALUE")]
    pub mark: String,
    /// The command
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// What `copydesk claude-tools` is told, by its environment only: it is nobody else's business.
#[derive(Clone, Args)]
pub struct ClaudeToolsArgs {
    /// Where the server listens for it
    #[arg(long, env = "ATLAS_TOOL_SOCKET", hide_env_values = true)]
    pub socket: PathBuf,
    /// The secret of the CLI that starts it
    #[arg(long, env = "ATLAS_TOKEN", hide_env_values = true)]
    pub secret: String,
    /// What marks the processes of that CLI
    #[arg(long, env = "COPYDESK_CLI", hide_env_values = true)]
    pub of: Option<String>,
}

impl std::fmt::Debug for ClaudeToolsArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaudeToolsArgs").field("socket", &self.socket).finish_non_exhaustive()
    }
}

/// Flags of `copydesk token`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Exit code: 0 done, 1 refused or failed (standard error says why), 2 the command line was not understood."
)]
pub struct TokenArgs {
    /// What the token allows
    #[arg(long, value_enum, required_unless_present_any = ["list", "revoke"])]
    pub role: Option<RoleArg>,
    /// The name others see
    #[arg(long, required_unless_present_any = ["list", "revoke"])]
    pub name: Option<String>,
    /// Only this document
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// How long it is valid, such as 12h, 7d or 4w [default: for ever]
    #[arg(long, value_name = "DURATION")]
    pub expires: Option<String>,
    /// List all tokens instead: never their secrets
    #[arg(long, conflicts_with_all = ["revoke", "role", "name", "document", "expires"])]
    pub list: bool,
    /// Take this token back instead; whoever is connected with it is cut off
    #[arg(long, value_name = "ID", conflicts_with_all = ["role", "name", "document", "expires"])]
    pub revoke: Option<String>,
    /// Ask the running server at this address instead, as it was printed; wins over --data
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The token of an owner, for --url
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "OWNER", hide_env_values = true)]
    pub token: Option<String>,
    /// The data directory of the server; also while it runs
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Flags of `copydesk export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Which document: its identifier, as in the editor's address after /d/
    #[arg(long, value_name = "ID")]
    pub document: String,
    /// What to make of it
    #[arg(long, value_enum)]
    pub format: FormatArg,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Ask the running server at this address instead; wins over --data
    #[arg(long, env = "COPYDESK_URL", value_name = "URL")]
    pub url: Option<String>,
    /// Your token, for --url
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// The data directory of the server
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// What every command that works on a running server is told.
#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    /// The address of the server
    #[arg(long, env = "COPYDESK_URL", value_name = "URL", default_value = "http://127.0.0.1:4680")]
    pub url: String,
    /// Your token
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// Say it as JSON: one value, or one on each line for `watch`
    #[arg(long)]
    pub json: bool,
}

/// What a script can rely on.
const EXIT_CODES: &str = "Exit code: 0 done, 1 refused, rejected or failed (standard error says why), 2 the command line was not \
understood, 3 it expired, or nobody decided in time.";

/// The same where people are waited for.
const ASK_EXIT_CODES: &str = "Exit code: 0 done; with --wait everything that was proposed was accepted, or some of it (`partly`), or nothing \
was proposed. 1 refused, failed, rejected or `cancelled`: withdrawn, or the document is gone (standard error says why). 2 the command line was not \
understood. 3 it expired, or nobody decided in time.";

/// Flags of `copydesk docs`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DocsArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk import`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ImportArgs {
    /// Text files (.md, .markdown, .txt) in UTF-8; all are read before the first document is made
    #[arg(value_name = "FILE", required = true)]
    pub file: Vec<PathBuf>,
    /// The title of the document, where there is one file [default: the file's name without its ending]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk ask`.
#[derive(Clone, Debug, Args)]
#[command(after_help = ASK_EXIT_CODES)]
pub struct AskArgs {
    /// Which document
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// What to do with it
    #[arg(value_name = "PROMPT")]
    pub prompt: String,
    /// Wait until people have decided and the run is over; shows what waits for them
    #[arg(long)]
    pub wait: bool,
    /// With --wait: give up after so many seconds; 0 waits for ever. The run goes on
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub timeout: u64,
    /// The model to ask [default: the server's]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk requests`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RequestsArgs {
    /// Show this one with its changes, also after it was resolved
    #[arg(value_name = "REQUEST", conflicts_with = "document")]
    pub request: Option<String>,
    /// Only those of this document
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk approve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ApproveArgs {
    /// Which request
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Only this change; may be repeated. The others go on waiting
    #[arg(long, value_name = "ID")]
    pub hunk: Vec<String>,
    /// A remark; told to the model
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The `preview_hash` of what you have seen: refused if it would do something else by now
    #[arg(long, value_name = "HASH")]
    pub preview: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk reject`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RejectArgs {
    /// Which request
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// Only this change; may be repeated. The others go on waiting
    #[arg(long, value_name = "ID")]
    pub hunk: Vec<String>,
    /// Why; told to the model
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk watch`.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct WatchArgs {
    /// Only requests of this document
    #[arg(long, value_name = "ID")]
    pub document: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// Flags of `copydesk completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: ShellArg,
}

/// A shell on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShellArg {
    /// source <(copydesk completions bash)
    Bash,
    /// copydesk completions zsh > DIRECTORY-OF-FPATH/_copydesk
    Zsh,
    /// copydesk completions fish | source
    Fish,
}

impl ShellArg {
    /// The script that completes every command and flag.
    pub fn completions(self) -> Vec<u8> {
        let shell = match self {
            Self::Bash => Shell::Bash,
            Self::Zsh => Shell::Zsh,
            Self::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut for_people(), "copydesk", &mut script);
        script
    }
}

/// The command line without what only programs start.
fn for_people() -> clap::Command {
    let whole = CommandLine::command();
    let shown = whole.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    clap::Command::new("copydesk")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments().cloned())
        .subcommands(shown)
}

/// Flags of `copydesk check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Say it as JSON: `{findings: [{code, subject, message}], seen: {…}}`
    #[arg(long)]
    pub json: bool,
    /// The data directory of the server
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Flags of `copydesk backup`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "In the backup: documents with their histories, requests and decisions, conversations, rules, settings, tokens (as hashes) \
and the audit log, all of one moment.\nNot in it: the owner's token (owner.token), so that nobody comes in with a stolen backup alone, and the \
files of the workspace.\nNothing is overwritten. An interrupted backup leaves at most FILE.part-…, which can be deleted.\n\
Exit code: 0 done, 1 it failed (standard error says why), 2 the command line was not understood."
)]
pub struct BackupArgs {
    /// The file to make, or a folder in which one is made that is named after the time
    #[arg(long, value_name = "FILE|DIR")]
    pub out: PathBuf,
    /// The data directory of the server; also while it runs [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Flags of `copydesk restore`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "The owner gets a new token at the next start, unless DIR has an owner.token or --token names one; all other tokens work as \
they did at the time of the backup. Changes of files in the workspace made since come into their documents when those are opened. \
`copydesk check` looks through what was restored.\nExit code: 0 done, 1 it failed (standard error says why; nothing was changed), 2 the \
command line was not understood."
)]
pub struct RestoreArgs {
    /// The backup
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// The data directory to make; no server may be running on it [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Also where there is data already, which is put aside in the same folder
    #[arg(long)]
    pub replace: bool,
}

/// Flags of `copydesk mcp`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Standard output is only the protocol; what went wrong is said on standard error."
)]
pub struct McpArgs {
    /// The running server, as it printed it
    #[arg(long, env = "COPYDESK_URL", value_name = "URL", default_value = "http://127.0.0.1:4680")]
    pub url: String,
    /// The token of the person who works with the agent [default: the owner's, from the data directory]
    #[arg(long, env = "COPYDESK_TOKEN", value_name = "SECRET", hide_env_values = true)]
    pub token: Option<String>,
    /// The data directory of the server, if it is on this machine [default: ./copydesk-data]
    #[arg(long, env = "COPYDESK_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Milliseconds after which the agent gives up a call; requests expire a little sooner [default: it never does]
    #[arg(long, env = "MCP_TOOL_TIMEOUT", value_name = "MS")]
    pub timeout_ms: Option<u64>,
}

/// A format on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FormatArg {
    /// Markdown: the text as it is
    Md,
    /// A page of its own, without scripts
    Html,
    /// Word, pending changes as tracked changes
    Docx,
    /// Markdown with pending changes as CriticMarkup
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

/// A role on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArg {
    /// Everything
    Owner,
    /// Write, ask and decide
    Editor,
    /// Read and decide
    Reviewer,
    /// Read
    Viewer,
}

impl RoleArg {
    /// The role's name.
    pub fn as_str(self) -> &'static str {
        let role = match self {
            Self::Owner => Role::Owner,
            Self::Editor => Role::Editor,
            Self::Reviewer => Role::Reviewer,
            Self::Viewer => Role::Viewer,
        };
        role.as_str()
    }
}
