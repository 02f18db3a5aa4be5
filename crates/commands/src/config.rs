//! Options with their defaults and units. No other module reads the environment or `copydesk.toml`.
//!
//! A flag wins over its variable, a variable over the file, the file over the default.

mod addresses;
mod sign_in;

pub use sign_in::{SignInConfig, SignInConfigError};

use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::ServeArgs;
use copydesk_placement::RedisUrl;
use copydesk_store::{DatabaseUrl, StoreError, StorePlace, StoreResult};

/// `true` if this build has the offline editor.
const HAS_HARPER: bool = cfg!(feature = "grammar");
/// Minimum memory for connections, in megabytes: one message of the largest document, both ways.
const LEAST_MEGABYTES: u32 = 64;
/// Default data directory.
pub const DEFAULT_DATA: &str = "./copydesk-data";
/// Default settings file.
const DEFAULT_FILE: &str = "copydesk.toml";

/// Configuration of a server.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct ServerConfig {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Files of the certificate of the server; `None`: it speaks no TLS.
    pub tls: Option<TlsFiles>,
    /// Data directory.
    pub data: PathBuf,
    /// PostgreSQL database; `None`: the database is in the data directory.
    pub database: Option<DatabaseUrl>,
    /// `true` if other servers share the database.
    pub cluster: bool,
    /// Address at which other servers reach this one, if it was given.
    pub node_url: Option<String>,
    /// File with authorities that certificates of other servers may have.
    pub node_ca: Option<PathBuf>,
    /// Redis that carries messages between the servers.
    pub redis: Option<RedisUrl>,
    /// Models that can be asked; the first answers when a client names none.
    pub models: Vec<ModelChoice>,
    /// Seconds that a proposed change waits for a person; 0 means for ever.
    pub approval_timeout_s: Option<u64>,
    /// `true` if changes wait for a person. `None` if nothing was configured: they wait until an
    /// owner decides otherwise.
    pub approvals: Option<bool>,
    /// Owner's token, if it was given.
    pub token: Option<String>,
    /// Address at which browsers reach the server, if it was given; without a slash at the end.
    pub public_url: Option<String>,
    /// Identity provider with which people can sign in, if there is one.
    pub sign_in: Option<SignInConfig>,
    /// True if everyone who can reach the server is the owner.
    pub no_auth: bool,
    /// True if owners may start runs that apply changes without asking.
    pub allow_bypass: bool,
    /// True if webhooks may lead to private and loopback addresses.
    pub allow_private_webhooks: bool,
    /// Folder for work without a document.
    pub workspace: Option<PathBuf>,
    /// True if the agent may propose shell commands for the workspace.
    pub enable_bash: bool,
    /// File from which settings are read, if it exists.
    pub file: PathBuf,
    /// Host names besides the loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Maximum bytes held for messages that all connections send and are to be sent.
    pub connection_memory: usize,
    /// Time that a connection has to show its token.
    pub handshake_timeout: Duration,
    /// Silence after which a stream of the Messages API is sent a ping.
    pub stream_ping: Duration,
    /// Token with which a program may read the metrics.
    pub metrics_token: Option<String>,
    /// Address of the collector to which spans are sent.
    pub otlp_endpoint: Option<String>,
    /// True if the editor is to be opened in a browser.
    pub open: bool,
    /// File with prices of models, in addition to the built-in list.
    pub prices: Option<PathBuf>,
    /// Access to the Messages API.
    pub anthropic: ProviderConfig,
    /// Access to chat completions.
    pub openai: ProviderConfig,
    /// Claude CLI; `None` if it is not installed.
    pub claude: Option<ClaudeCliConfig>,
}

/// Files that a server with TLS needs, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

impl TlsFiles {
    fn of(certificate: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<Self>, ConfigError> {
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some(Self { certificate, key })),
            _ => Err(ConfigError::HalfOfTls),
        }
    }
}

/// Returns a path of this program that is valid even if its file is replaced meanwhile.
#[cfg(target_os = "linux")]
pub fn own_program() -> Option<PathBuf> {
    Some(PathBuf::from("/proc/self/exe"))
}

/// Returns the path of this program; `None` if the system does not know it.
#[cfg(not(target_os = "linux"))]
pub fn own_program() -> Option<PathBuf> {
    env::current_exe().ok()
}

/// Paths and environment for starting the Claude CLI.
#[derive(Clone)]
pub struct ClaudeCliConfig {
    /// Path of the CLI: a file that can be run.
    pub program: PathBuf,
    /// Path of this program.
    pub own: PathBuf,
    /// Environment of this process.
    pub environment: Vec<(OsString, OsString)>,
}

impl std::fmt::Debug for ClaudeCliConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment has secrets in it.
        f.debug_struct("ClaudeCli").field("program", &self.program).finish_non_exhaustive()
    }
}

impl ClaudeCliConfig {
    /// Finds the CLI at this path, or by this name in `PATH`.
    fn find(named: &Path) -> Option<Self> {
        let is_program = |path: &PathBuf| {
            let there = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
            there.is_some_and(|it| may_be_run(&it))
        };
        let program = if named.components().count() > 1 {
            std::path::absolute(named).ok().filter(is_program)
        } else {
            let folders = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&folders).map(|folder| folder.join(named)).find(is_program)
        };
        Some(Self {
            program: program?,
            own: env::current_exe().ok()?,
            environment: env::vars_os().collect(),
        })
    }
}

#[cfg(unix)]
fn may_be_run(file: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o111 != 0
}

/// Returns `false`: the CLI is run on Unix only.
#[cfg(not(unix))]
fn may_be_run(_: &std::fs::Metadata) -> bool {
    false
}

/// Access to a provider of models.
#[derive(Clone, Default)]
pub struct ProviderConfig {
    /// Value of `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.
    pub key: Option<String>,
    /// Value of `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
}

impl ProviderConfig {
    fn of(name: &str) -> Self {
        let variable = |what| variable(&format!("{name}_{what}"));
        Self { key: variable("API_KEY"), base_url: variable("BASE_URL") }
    }

    /// Returns `true` if a key or an address is set: a local server needs no key, and `OpenAI`
    /// itself no address.
    fn is_there(&self) -> bool {
        self.key.is_some() || self.base_url.is_some()
    }
}

impl std::fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = if self.key.is_some() { "set" } else { "not set" };
        f.debug_struct("Provider").field("key", &key).field("base_url", &self.base_url).finish()
    }
}

/// Choice of a model in [`ServerConfig::models`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// Offline copy editor.
    Harper,
    /// Messages API, with a model's name or its default.
    Anthropic(Option<String>),
    /// Server of chat completions, with a model's name or its default.
    OpenAi(Option<String>),
    /// Claude CLI, with a model's name or its default.
    Claude(Option<String>),
    /// Scripted run.
    Script(PathBuf),
}

/// Error that [`ServerConfig::load`] finds in the options.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Settings file that cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: std::io::Error,
    },
    /// Settings file that is invalid.
    #[error("{path} is not valid: line {line}: {reason}")]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// Line with the fault, from 1.
        line: usize,
        /// Description of the fault, without the line, which may have a password.
        reason: String,
    },
    /// Option `--no-auth` on an address at which others could reach the server.
    #[error(
        "--no-auth makes everyone the owner, so it works only on a loopback address, not on {0}"
    )]
    OpenToAll(SocketAddr),
    /// Name of a model that does not exist.
    #[error(
        "unknown model `{0}`; use harper, anthropic[:NAME], openai[:NAME], claude-cli[:NAME] or script:FILE"
    )]
    UnknownModel(String),
    /// Option `--cluster` without a database that can be shared.
    #[error("--cluster needs --database-url: servers share a PostgreSQL database")]
    NothingShared,
    /// Option `--redis-url` without other servers.
    #[error(
        "--redis-url needs --cluster: Redis only carries messages between servers that share a PostgreSQL database"
    )]
    NobodyToTell,
    /// Option `--node-ca` without other servers.
    #[error("--node-ca needs --cluster: it is about the certificates of other servers")]
    NobodyToTrust,
    /// One of `--tls-certificate` and `--tls-key` without the other.
    #[error("--tls-certificate and --tls-key are needed together: a certificate and its key")]
    HalfOfTls,
    /// Option `--cluster` on an address that other machines cannot use.
    #[error("--cluster on {0} needs --node-url, the address at which other servers reach this one")]
    NoNodeAddress(SocketAddr),
    /// Address for browsers that is none.
    #[error("--public-url is http://HOST:PORT or https://HOST, without a path, not `{0}`")]
    PublicUrl(String),
    /// Options for signing in that do not work.
    #[error(transparent)]
    SignIn(#[from] SignInConfigError),
    /// Address of a node that is none.
    #[error("--node-url is http://HOST:PORT or https://HOST:PORT, not `{0}`")]
    NodeAddress(String),
    /// Option `--otlp-endpoint` in a program that cannot send spans.
    #[error("this program was built without the feature otlp, which --otlp-endpoint needs")]
    NoOtlp,
    /// Option `--enable-bash` without a folder for the commands.
    #[error("--enable-bash needs --workspace, the folder in which commands run")]
    NoWorkspace,
    /// Anthropic's model without a key.
    #[error("--model anthropic needs ANTHROPIC_API_KEY")]
    NoKey,
    /// Chat completions without a key or an address.
    #[error("--model openai needs OPENAI_BASE_URL, or OPENAI_API_KEY for OpenAI itself")]
    NoServer,
    /// Claude CLI as a model where it is not installed.
    #[error(
        "--model claude-cli needs the Claude CLI, which is not installed: install it, or name its path with --claude-binary"
    )]
    NoCli,
    /// Memory for connections too small for one document to be opened, in megabytes.
    #[error("connection-memory must be at least {LEAST_MEGABYTES} megabytes, not {0}")]
    TooLittleMemory(u32),
    /// Address of a database that cannot be used.
    #[error(transparent)]
    Database(#[from] StoreError),
    /// Environment variable that is no boolean.
    #[error("{name} must be true or false, not `{value}`")]
    NotBoolean {
        /// Name of the variable.
        name: &'static str,
        /// Value of the variable.
        value: String,
    },
}

impl ServerConfig {
    /// Combines flags, variables, the file and the defaults.
    ///
    /// # Errors
    /// [`ConfigError`] if they cannot be read or contradict each other.
    pub fn load(args: ServeArgs) -> Result<Self, ConfigError> {
        let file = read_file(args.config.as_deref())?;
        let sign_in = SignInConfig::read(&args, &file)?;
        let (anthropic, openai) = (ProviderConfig::of("ANTHROPIC"), ProviderConfig::of("OPENAI"));
        let claude = args.claude_binary.or(file.claude_binary);
        let claude = ClaudeCliConfig::find(claude.as_deref().unwrap_or(Path::new("claude")));
        let mut models = match args.model.or(file.model) {
            Some(names) => ModelChoice::parse_all(&names)?,
            None => ModelChoice::at_hand(&anthropic, &openai),
        };
        // An installed CLI can be chosen: listing it costs nothing.
        if claude.is_some() && !models.iter().any(|it| matches!(it, ModelChoice::Claude(_))) {
            models.push(ModelChoice::Claude(None));
        }
        let public_url = args.public_url.or(file.public_url).filter(|url| !url.is_empty());
        let mut allowed_hosts = args.allowed_host;
        allowed_hosts.extend(file.allowed_host);
        let node_url = args.node_url.or(file.node_url);
        // Other servers name it so, and browsers.
        for url in [&node_url, &public_url].into_iter().flatten() {
            let host = addresses::node_host(url);
            allowed_hosts.extend(host.map(|host| host.trim_matches(['[', ']']).to_owned()));
        }
        let config = Self {
            listen: args.listen.or(file.listen).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 4680))),
            tls: TlsFiles::of(
                args.tls_certificate.or(file.tls_certificate),
                args.tls_key.or(file.tls_key),
            )?,
            data: args.data.or(file.data).unwrap_or_else(|| PathBuf::from(DEFAULT_DATA)),
            database: database(args.database_url.or(file.database_url))?,
            cluster: args.cluster || file.cluster,
            node_url,
            node_ca: args.node_ca.or(file.node_ca),
            redis: args.redis_url.or(file.redis_url).map(|url| url.parse()).transpose()?,
            models,
            approval_timeout_s: args.approval_timeout.or(file.approval_timeout),
            approvals: boolean("TOOL_APPROVAL_ENABLED")?,
            token: args.token.or(file.token),
            public_url: public_url.map(|url| url.trim_end_matches('/').to_owned()),
            sign_in,
            no_auth: args.no_auth || file.no_auth,
            allow_bypass: args.allow_bypass || file.allow_bypass,
            allow_private_webhooks: args.allow_private_webhooks || file.allow_private_webhooks,
            workspace: args.workspace.or(file.workspace),
            enable_bash: args.enable_bash || file.enable_bash,
            file: args.config.unwrap_or_else(|| DEFAULT_FILE.into()),
            allowed_hosts,
            connection_memory: megabytes(
                args.connection_memory.or(file.connection_memory).unwrap_or(1024),
            )?,
            handshake_timeout: seconds(args.handshake_timeout.or(file.handshake_timeout), 10),
            stream_ping: seconds(args.stream_ping.or(file.stream_ping), 15),
            metrics_token: args.metrics_token.or(file.metrics_token),
            otlp_endpoint: args.otlp_endpoint.or(file.otlp_endpoint),
            open: args.open || file.open,
            prices: args.prices.or(file.prices),
            anthropic,
            openai,
            claude,
        };
        config.check()?;
        Ok(config)
    }

    /// Returns the place of the store.
    pub fn store(&self) -> StorePlace {
        match &self.database {
            Some(url) => StorePlace::Postgres(url.clone()),
            None => StorePlace::Directory(self.data.clone()),
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.check_cluster()?;
        self.check_sign_in()?;
        if self.otlp_endpoint.is_some() && !cfg!(feature = "otlp") {
            return Err(ConfigError::NoOtlp);
        }
        if self.enable_bash && self.workspace.is_none() {
            return Err(ConfigError::NoWorkspace);
        }
        if self.no_auth && !self.listen.ip().is_loopback() {
            return Err(ConfigError::OpenToAll(self.listen));
        }
        for model in &self.models {
            match model {
                ModelChoice::Anthropic(_) if self.anthropic.key.is_none() => {
                    return Err(ConfigError::NoKey);
                }
                ModelChoice::OpenAi(_) if !self.openai.is_there() => {
                    return Err(ConfigError::NoServer);
                }
                ModelChoice::Claude(_) if self.claude.is_none() => return Err(ConfigError::NoCli),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the address of a PostgreSQL database; `None` if it is missing or empty.
///
/// # Errors
/// [`StoreError::Address`], which does not repeat the address: it may have a password.
pub fn database(url: Option<String>) -> StoreResult<Option<DatabaseUrl>> {
    url.filter(|url| !url.is_empty()).map(|url| url.parse()).transpose()
}

/// Converts megabytes of the memory for connections into bytes.
fn megabytes(count: u32) -> Result<usize, ConfigError> {
    if count < LEAST_MEGABYTES {
        return Err(ConfigError::TooLittleMemory(count));
    }
    Ok((count as usize).saturating_mul(1024 * 1024))
}

impl ModelChoice {
    /// Returns the models for which there are credentials, and the offline editor. A key alone does
    /// not make `openai` the default, since it may be there for other programs.
    fn at_hand(anthropic: &ProviderConfig, openai: &ProviderConfig) -> Vec<Self> {
        let mut models = Vec::new();
        models.extend(anthropic.key.as_ref().map(|_| Self::Anthropic(None)));
        models.extend(openai.base_url.as_ref().map(|_| Self::OpenAi(None)));
        if HAS_HARPER || models.is_empty() {
            models.push(Self::Harper);
        }
        models
    }

    /// Reads names, separated by commas, the default first. The offline editor is added to a
    /// provider, as it costs nothing.
    fn parse_all(names: &str) -> Result<Vec<Self>, ConfigError> {
        // A path of a script may hold a comma.
        if names.starts_with("script:") {
            return Ok(vec![Self::parse(names)?]);
        }
        let mut models = Vec::new();
        for name in names.split(',') {
            let model = Self::parse(name.trim())?;
            if !models.contains(&model) {
                models.push(model);
            }
        }
        if HAS_HARPER && !models.contains(&Self::Harper) {
            models.push(Self::Harper);
        }
        Ok(models)
    }

    fn parse(name: &str) -> Result<Self, ConfigError> {
        match name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest))) {
            ("harper", None) => Ok(Self::Harper),
            ("anthropic", rest) => Ok(Self::Anthropic(rest.map(str::to_owned))),
            ("openai", rest) => Ok(Self::OpenAi(rest.map(str::to_owned))),
            ("claude-cli", rest) if rest != Some("") => Ok(Self::Claude(rest.map(str::to_owned))),
            ("script", Some(path)) if !path.is_empty() => Ok(Self::Script(path.into())),
            _ => Err(ConfigError::UnknownModel(name.to_owned())),
        }
    }
}

/// Reads the named file, or the default one if it exists.
fn read_file(named: Option<&Path>) -> Result<ServeArgs, ConfigError> {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ServeArgs::default());
        }
        Err(source) => return Err(ConfigError::Unreadable { path: path.into(), source }),
    };
    toml::from_str(&text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let (line, reason) = (before.matches('\n').count() + 1, error.message().to_owned());
        ConfigError::Invalid { path: path.into(), line, reason }
    })
}

/// Returns the place at which a test wants this process to die.
#[cfg(feature = "failpoints")]
pub fn failpoints() -> Option<String> {
    variable("COPYDESK_FAILPOINTS")
}

/// Returns `true` if colours are unwanted (<https://no-color.org>).
pub fn no_colour() -> bool {
    variable("NO_COLOR").is_some()
}

/// Returns the value of a variable, unless it is unset or empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the duration of an option: at least one second.
fn seconds(option: Option<u64>, default: u64) -> Duration {
    Duration::from_secs(option.unwrap_or(default).max(1))
}

fn boolean(name: &'static str) -> Result<Option<bool>, ConfigError> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(Some(true)),
        "false" | "0" | "no" | "off" => Ok(Some(false)),
        _ => Err(ConfigError::NotBoolean { name, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_options_the_server_is_private_and_asks() {
        let config = ServerConfig::load(ServeArgs::default()).unwrap();
        assert!(config.listen.ip().is_loopback());
        assert_eq!(config.approvals, None);
        assert!(!config.no_auth);
        assert_eq!(config.approval_timeout_s, None);
    }

    #[test]
    fn nodes_share_a_database_and_can_be_reached() {
        let url = Some("postgres://127.0.0.1/desk".to_owned());
        let args =
            || ServeArgs { cluster: true, database_url: url.clone(), ..ServeArgs::default() };
        let bound = "10.0.0.5:4680".parse().unwrap();
        assert_eq!(ServerConfig::load(args()).unwrap().node_address(bound), "http://10.0.0.5:4680");
        let refused = |args| ServerConfig::load(args).unwrap_err();
        let alone = ServeArgs { database_url: None, ..args() };
        assert!(matches!(refused(alone), ConfigError::NothingShared));
        let redis = Some("redis://:s3cret@127.0.0.1:6379".to_owned());
        let told = ServeArgs { redis_url: redis, ..args() };
        assert!(ServerConfig::load(told.clone()).unwrap().redis.is_some());
        let untold = refused(ServeArgs { cluster: false, ..told.clone() });
        assert!(matches!(untold, ConfigError::NobodyToTell));
        let alone = ServeArgs { database_url: None, ..told };
        assert!(matches!(refused(alone), ConfigError::NothingShared));
        let anywhere = || ServeArgs { listen: "0.0.0.0:1".parse().ok(), ..args() };
        assert!(matches!(refused(anywhere()), ConfigError::NoNodeAddress(_)));
        let named = |url: &str| ServeArgs { node_url: Some(url.to_owned()), ..anywhere() };
        let config = ServerConfig::load(named("https://a.desk:4680/")).unwrap();
        assert!(config.allowed_hosts.contains(&"a.desk".to_owned()), "{:?}", config.allowed_hosts);
        assert_eq!(addresses::node_host("http://[::1]:4680"), Some("[::1]"));
        for wrong in ["a.desk:4680", "ftp://a", "http://", "http://a/b", "http://me@a"] {
            assert!(matches!(refused(named(wrong)), ConfigError::NodeAddress(_)), "{wrong}");
        }
        let with_files = ServeArgs { workspace: Some(".".into()), ..args() };
        assert!(ServerConfig::load(with_files).unwrap().workspace.is_some());
    }

    #[test]
    fn browsers_that_sign_in_need_an_address_to_come_back_to() {
        let args = || ServeArgs {
            oidc_issuer: Some("https://id.example".into()),
            oidc_client_id: Some("desk".into()),
            oidc_role: vec!["viewer=anyone".into()],
            ..ServeArgs::default()
        };
        let bound = "127.0.0.1:4680".parse().unwrap();
        let config = ServerConfig::load(args()).unwrap();
        assert_eq!(config.public_address(bound), "http://127.0.0.1:4680");
        let listen = "0.0.0.0:4680".parse().ok();
        let refused = |args| ServerConfig::load(args).unwrap_err();
        let nowhere = refused(ServeArgs { listen, ..args() });
        assert!(matches!(nowhere, ConfigError::SignIn(SignInConfigError::NoPublicUrl(_))));
        let named = |url: &str| ServeArgs { listen, public_url: Some(url.into()), ..args() };
        let config = ServerConfig::load(named("https://desk.example/")).unwrap();
        assert_eq!(config.public_address(bound), "https://desk.example");
        assert!(config.allowed_hosts.contains(&"desk.example".to_owned()));
        let wrong = refused(named("https://desk.example/docs"));
        assert!(matches!(wrong, ConfigError::PublicUrl(_)));
        let open = refused(ServeArgs { no_auth: true, ..args() });
        assert!(matches!(open, ConfigError::SignIn(SignInConfigError::NoAuth)));
    }

    #[test]
    fn the_printed_link_has_an_address_that_a_browser_can_open() {
        let link = |args, bound: &str| {
            ServerConfig::load(args).unwrap().linked_address(bound.parse().unwrap())
        };
        let named = |url: &str| ServeArgs { public_url: Some(url.into()), ..ServeArgs::default() };
        assert_eq!(link(ServeArgs::default(), "127.0.0.1:81"), "http://127.0.0.1:81");
        assert_eq!(link(ServeArgs::default(), "10.0.0.5:81"), "http://10.0.0.5:81");
        assert_eq!(link(ServeArgs::default(), "0.0.0.0:81"), "http://127.0.0.1:81");
        assert_eq!(link(ServeArgs::default(), "[::]:81"), "http://[::1]:81");
        assert_eq!(link(named("https://desk.example/"), "0.0.0.0:81"), "https://desk.example");
    }

    #[test]
    fn no_auth_is_refused_where_others_could_come_in() {
        let listen = "0.0.0.0:4680".parse().unwrap();
        let args = ServeArgs { no_auth: true, listen: Some(listen), ..ServeArgs::default() };
        assert!(
            matches!(ServerConfig::load(args), Err(ConfigError::OpenToAll(at)) if at == listen)
        );
    }

    #[test]
    fn commands_need_a_folder_to_run_in() {
        let args = ServeArgs { enable_bash: true, ..ServeArgs::default() };
        assert!(matches!(ServerConfig::load(args.clone()), Err(ConfigError::NoWorkspace)));
        let args = ServeArgs { workspace: Some(".".into()), ..args };
        assert!(ServerConfig::load(args).unwrap().enable_bash);
    }

    #[test]
    fn the_claude_cli_is_offered_only_where_it_can_be_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claude");
        let args = || ServeArgs { claude_binary: Some(path.clone()), ..ServeArgs::default() };
        let offers = |args| {
            let models = ServerConfig::load(args).unwrap().models;
            models.contains(&ModelChoice::Claude(None))
        };
        assert!(!offers(args()));
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert!(!offers(args()), "it cannot be run");
        let asked = ServeArgs { model: Some("claude-cli".into()), ..args() };
        assert!(matches!(ServerConfig::load(asked), Err(ConfigError::NoCli)));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert!(offers(args()));
        }
    }

    #[test]
    fn models_are_named_as_in_the_contract() {
        assert_eq!(ModelChoice::parse("harper").unwrap(), ModelChoice::Harper);
        assert_eq!(
            ModelChoice::parse("script:a/b.json").unwrap(),
            ModelChoice::Script("a/b.json".into())
        );
        assert_eq!(
            ModelChoice::parse("anthropic:claude-x").unwrap(),
            ModelChoice::Anthropic(Some("claude-x".into()))
        );
        assert_eq!(ModelChoice::parse("claude-cli").unwrap(), ModelChoice::Claude(None));
        let opus = ModelChoice::Claude(Some("opus".into()));
        assert_eq!(ModelChoice::parse("claude-cli:opus").unwrap(), opus);
        // The model's name is everything after the first colon: Ollama's have colons.
        let ollama = ModelChoice::OpenAi(Some("qwen3:8b".into()));
        assert_eq!(ModelChoice::parse("openai:qwen3:8b").unwrap(), ollama);
        for wrong in ["", "gpt", "script:", "harper:x", "claude-cli:", "claude"] {
            assert!(ModelChoice::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn several_models_may_be_named_and_the_offline_one_is_always_there() {
        let parse = |names| ModelChoice::parse_all(names).unwrap();
        let (anthropic, openai) = (ModelChoice::Anthropic(None), ModelChoice::OpenAi(None));
        assert_eq!(parse("harper"), [ModelChoice::Harper]);
        let all = [openai.clone(), anthropic.clone(), ModelChoice::Harper];
        assert_eq!(parse("openai, anthropic,openai"), all);
        assert_eq!(parse("script:a,b"), [ModelChoice::Script("a,b".into())]);
        assert!(ModelChoice::parse_all("anthropic,").is_err());

        let (none, key) = (ProviderConfig::default(), || Some("k".to_owned()));
        let with_key = ProviderConfig { key: key(), base_url: None };
        let local = ProviderConfig { key: None, base_url: Some("http://localhost:11434".into()) };
        let at_hand = |a, o| ModelChoice::at_hand(a, o);
        assert_eq!(at_hand(&none, &none), [ModelChoice::Harper]);
        assert_eq!(at_hand(&none, &with_key), [ModelChoice::Harper]);
        assert_eq!(at_hand(&none, &local), [openai.clone(), ModelChoice::Harper]);
        assert_eq!(at_hand(&with_key, &local), [anthropic, openai, ModelChoice::Harper]);
    }

    #[test]
    fn a_misspelt_setting_in_the_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copydesk.toml");
        std::fs::write(&path, "listne = '127.0.0.1:1'").unwrap();
        let args = ServeArgs { config: Some(path), ..ServeArgs::default() };
        assert!(matches!(ServerConfig::load(args), Err(ConfigError::Invalid { .. })));
    }

    #[test]
    fn the_key_is_never_printed() {
        let shown = ProviderConfig { key: Some("sk-ant-x".into()), base_url: None };
        assert!(!format!("{shown:?}").contains("sk-ant"));
    }
}
