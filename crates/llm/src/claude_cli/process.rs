//! One process of the CLI: its start, its input, arguments and environment, and its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinSet;

use copydesk_processes::{EnvironmentTag, ProcessTree};

use super::super::{ModelError, ModelRequest, ModelResult};
use super::stdout_parser::failed;
use super::{ClaudeCliSettings, stdin};

/// Name of the environment variable that marks every process of one start of the CLI.
pub(super) const OF_PROCESS: &str = "COPYDESK_CLI";
/// Number of bytes of standard error that are kept: the last ones.
const COMPLAINTS: usize = 4 * 1024;
/// Tools of the CLI itself that it may not use, besides the allow-list with this server's tools.
const NATIVE: &str = "Write,Edit,MultiEdit,Bash,NotebookEdit,WebFetch,WebSearch,Task,Agent";

/// Way in which a [`CliProcess`] begins the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CliStart {
    /// The CLI knows the conversation and continues it.
    Resume,
    /// The CLI knows the conversation that this one continues, and copies it.
    Fork,
    /// The CLI begins the conversation, under the name that this server gave it.
    Begin,
    /// The CLI begins the conversation under a name that it chooses, because a process killed at
    /// the wrong moment has left something under the first name that can be neither resumed nor
    /// begun anew.
    Anew,
}

impl CliStart {
    /// Returns `true` if the CLI knows the earlier turns.
    pub(super) fn knows(self) -> bool {
        match self {
            Self::Resume | Self::Fork => true,
            Self::Begin | Self::Anew => false,
        }
    }
}

/// Running CLI. Dropping the value ends the process and everything it has started.
pub(super) struct CliProcess {
    child: Child,
    leftovers: Option<ProcessTree>,
    /// Standard output of the CLI.
    pub(super) output: ChildStdout,
    complaints: Arc<Mutex<Vec<u8>>>,
    /// [`PrivateFolder`] of the process; removed with it.
    _folder: PrivateFolder,
}

impl CliProcess {
    /// Starts the CLI. The tasks that write its input and read its standard error run in `tasks`.
    pub(super) fn start(
        settings: &ClaudeCliSettings,
        request: &ModelRequest,
        way: CliStart,
        folder: PrivateFolder,
        tasks: &mut JoinSet<()>,
    ) -> ModelResult<Self> {
        let mark = EnvironmentTag { name: OF_PROCESS, value: folder.name.clone() };
        let mut child = command(settings, request, way, &folder)
            .env(mark.name, &mark.value)
            .spawn()
            .map_err(|error| not_started(settings, &error))?;
        let leftovers = Some(ProcessTree::new(child.id(), mark));
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut input), Some(output), Some(mut errors)) = (input, output, errors) else {
            return Err(failed("The Claude CLI has no output"));
        };
        let prompt = stdin::prompt(request, way.knows());
        tasks.spawn(async move {
            // A CLI that does not read to the end reports the reason by itself.
            input.write_all(prompt.as_bytes()).await.ok();
            input.shutdown().await.ok();
        });
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaints);
        tasks.spawn(async move {
            let mut piece = vec![0; 1024];
            while let Ok(count @ 1..) = errors.read(&mut piece).await {
                let mut kept = kept.lock();
                kept.extend_from_slice(&piece[..count]);
                let excess = kept.len().saturating_sub(COMPLAINTS);
                kept.drain(..excess);
            }
        });
        Ok(Self { child, leftovers, output, complaints, _folder: folder })
    }

    /// Returns `true` while the process has not ended by itself.
    pub(super) fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until the process has ended, and returns its exit code; `None` if a signal ended it.
    pub(super) async fn ended(&mut self) -> Option<i32> {
        self.child.wait().await.ok()?.code()
    }

    /// Waits until the process has ended, and ignores the rest of its output.
    pub(super) async fn leave(&mut self) {
        let mut piece = vec![0; 4 * 1024];
        while let Ok(1..) = self.output.read(&mut piece).await {}
        self.child.wait().await.ok();
    }

    /// Returns the end of what the CLI wrote to standard error.
    pub(super) fn complaints(&self) -> String {
        let kept = self.complaints.lock();
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

impl Drop for CliProcess {
    fn drop(&mut self) {
        let Some(leftovers) = self.leftovers.take() else { return };
        leftovers.stop_group();
        // The search for processes that have left the group takes a moment: not on a shared thread.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || drop(leftovers));
        }
    }
}

/// Builds the command except for the prompt. Nothing in it is secret, because other users of the
/// machine can see arguments.
fn command(
    settings: &ClaudeCliSettings,
    request: &ModelRequest,
    way: CliStart,
    folder: &PrivateFolder,
) -> Command {
    let mut command = Command::new(&settings.program);
    command
        .args(["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"])
        .arg("--mcp-config")
        .arg(folder.config())
        .args(["--strict-mcp-config", "--setting-sources", ""])
        .args(["--tools", ""])
        .args(["--allowedTools", &format!("mcp__{}", stdin::SERVER)])
        .args(["--disallowedTools", NATIVE])
        .args(["--permission-mode", "dontAsk", "--restricted"])
        .args(["--system-prompt", &stdin::system(&request.system, &request.tools)]);
    if !request.model.is_empty() {
        command.args(["--model", &request.model]);
    }
    if let Some(thread) = &request.thread {
        match (way, &thread.from) {
            (CliStart::Resume, _) => command.args(["--resume", &thread.id]),
            (CliStart::Fork, Some(from)) => {
                command.args(["--resume", from, "--fork-session", "--session-id", &thread.id])
            }
            (CliStart::Begin, _) | (CliStart::Fork, None) => {
                command.args(["--session-id", &thread.id])
            }
            (CliStart::Anew, _) => &mut command,
        };
    }
    let (timeout_ms, of_server) = (stdin::CALL_TIMEOUT_MS.to_string(), settings.mark());
    command
        .env_clear()
        .envs(settings.environment.iter().cloned())
        .env("MCP_TOOL_TIMEOUT", timeout_ms)
        .env("MCP_TIMEOUT", "30000")
        .env("CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", "0")
        .env("MAX_MCP_OUTPUT_TOKENS", "200000")
        .env("DISABLE_AUTOUPDATER", "1")
        .env(of_server.name, of_server.value)
        .current_dir(settings.empty())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

fn not_started(settings: &ClaudeCliSettings, error: &std::io::Error) -> ModelError {
    let program = Path::new(&settings.program).display();
    if error.kind() == std::io::ErrorKind::NotFound {
        let message = format!(
            "The Claude CLI is not installed on the server ({program} does not exist); install it, or name its path with --claude-binary"
        );
        return ModelError::Program { code: "claude_not_found", message };
    }
    failed(&format!("The Claude CLI ({program}) cannot be started: {error}"))
}

/// Folder that only this user can read, with the MCP configuration and the socket of one process,
/// removed on drop.
pub(super) struct PrivateFolder {
    path: PathBuf,
    /// Random name that cannot be guessed.
    pub(super) name: String,
}

impl PrivateFolder {
    /// Creates a folder below `parent`.
    pub(super) fn make(parent: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let name = uuid::Uuid::new_v4().simple().to_string();
        let path = parent.join(&name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path, name })
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.path.join("tools")
    }

    fn config(&self) -> PathBuf {
        self.path.join("mcp.json")
    }

    /// Writes the CLI's MCP configuration: the program, the socket and the secret.
    pub(super) fn configure(&self, program: &Path, secret: &str) -> std::io::Result<()> {
        let (program, socket) = (program.to_string_lossy(), self.socket());
        let config = stdin::config(&program, &socket.to_string_lossy(), secret);
        std::fs::write(self.config(), config.to_string())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed has nothing that still gives access.
        std::fs::remove_dir_all(&self.path).ok();
    }
}

/// Returns `true` for a variable of the environment that the CLI may see: for its login, the
/// network and the language. It would use a key of this server instead of its own login.
pub fn may_see(name: &OsString) -> bool {
    const NAMES: &str = "HOME PATH USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR CLAUDE_CONFIG_DIR \
        CLAUDE_CODE_OAUTH_TOKEN HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
        SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS";
    let Some(name) = name.to_str() else { return false };
    let is_listed = NAMES.split_whitespace().any(|it| it == name);
    is_listed || name.starts_with("LC_") || name.starts_with("XDG_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelThread;
    use crate::testing::asks;

    fn line(way: CliStart, model: &str) -> Vec<String> {
        let folder = PrivateFolder::make(tempfile::tempdir().expect("a folder").keep().as_path());
        let settings = ClaudeCliSettings {
            program: "claude".into(),
            link: "copydesk".into(),
            environment: vec![("HOME".into(), "/somewhere".into())],
            folder: "/data/claude".into(),
        };
        let thread =
            Some(ModelThread { id: "uuid".into(), from: Some("earlier".into()), begun: false });
        let request = crate::ModelRequest { model: model.into(), thread, ..asks("secret words") };
        let command = command(&settings, &request, way, &folder.expect("a folder"));
        let command = command.as_std();
        let names: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        assert!(!names.iter().any(|name| name == "ANTHROPIC_API_KEY"));
        command.get_args().map(|it| it.to_string_lossy().into_owned()).collect()
    }

    fn value(line: &[String], flag: &str) -> Option<String> {
        let at = line.iter().position(|it| it == flag)?;
        line.get(at + 1).cloned()
    }

    #[test]
    fn the_cli_may_call_our_tools_and_nothing_else() {
        let line = line(CliStart::Begin, "");
        assert_eq!(value(&line, "--tools").as_deref(), Some(""));
        assert_eq!(value(&line, "--allowedTools").as_deref(), Some("mcp__atlas-tools"));
        assert_eq!(value(&line, "--permission-mode").as_deref(), Some("dontAsk"));
        assert_eq!(value(&line, "--setting-sources").as_deref(), Some(""));
        for flag in ["--restricted", "--strict-mcp-config"] {
            assert!(line.iter().any(|it| it == flag), "{flag}");
        }
        assert!(!line.iter().any(|it| it.contains("dangerously") || it.contains("secret words")));
    }

    #[test]
    fn a_conversation_is_begun_or_resumed_with_the_model_that_was_named() {
        let begun = line(CliStart::Begin, "opus");
        assert_eq!(value(&begun, "--session-id").as_deref(), Some("uuid"));
        assert_eq!(value(&begun, "--model").as_deref(), Some("opus"));
        let forked = line(CliStart::Fork, "");
        assert_eq!(value(&forked, "--resume").as_deref(), Some("earlier"));
        assert_eq!(value(&forked, "--fork-session").as_deref(), Some("--session-id"));
        assert_eq!(value(&forked, "--session-id").as_deref(), Some("uuid"));
        let resumed = line(CliStart::Resume, "");
        assert_eq!(value(&resumed, "--resume").as_deref(), Some("uuid"));
        assert!(value(&resumed, "--session-id").is_none() && value(&resumed, "--model").is_none());
        let anew = line(CliStart::Anew, "");
        assert!(value(&anew, "--session-id").is_none() && value(&anew, "--resume").is_none());
    }

    #[test]
    fn the_cli_sees_its_login_and_no_key_of_this_server() {
        for name in ["HOME", "PATH", "LC_ALL", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"] {
            assert!(may_see(&name.into()), "{name}");
        }
        for name in
            ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "COPYDESK_TOKEN", "IS_SANDBOX", "NODE_OPTIONS"]
        {
            assert!(!may_see(&name.into()), "{name}");
        }
    }
}
