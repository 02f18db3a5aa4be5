//! A shell command in the workspace: a process group of its own, a clean environment, no input, limits, and nothing left behind.
//!
//! On Linux the server starts a supervisor of its own, which starts the shell and ends everything that comes of it. Elsewhere,
//! and where there is no program to supervise with, the shell's group and the mark are what is ended.

mod output;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::processes::{self, ProcessTree};

use output::OutputBuffer;

/// The shell, by a name that no folder on a path can take over.
const SHELL: &str = "/bin/bash";
/// How long what was stopped may go on holding its output.
const GRACE: Duration = Duration::from_secs(2);
/// How long a supervisor may take to end everything; it gives up before.
const PATIENCE: Duration = Duration::from_secs(6);
/// Marks every process of a command, also one that has left its group.
const MARK: &str = "COPYDESK_REQUEST";

/// A command to run.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// For the shell.
    pub command: String,
    /// How long it may take.
    pub limit: Duration,
    /// What tells its processes from all others: the name of the request.
    pub mark: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this code; `None`: a signal ended it.
    Itself(Option<i32>),
    /// It took too long.
    TooLong,
    /// The run was stopped.
    Stopped,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// How it ended.
    pub ended: CommandEnd,
    /// What it wrote, and after it what it complained of.
    pub output: String,
}

/// A command that was started.
struct RunningCommand {
    child: Child,
    /// To its supervisor, which ends everything when this closes.
    line: Option<UnixStream>,
    leftovers: ProcessTree,
}

/// How the command itself ended, and whether what it left could be ended.
struct ExitReport {
    code: Option<i32>,
    is_clean: bool,
}

/// Runs a command in `folder`, under `supervisor` if there is one. When this returns, none of its processes is left; when it
/// is dropped, they end.
pub(super) async fn run(
    folder: &Path,
    supervisor: Option<&Path>,
    wanted: &CommandSpec,
    cancel: &CancellationToken,
) -> std::io::Result<CommandResult> {
    let mut started = start(folder, supervisor, wanted)?;
    let (stdout, stderr) = (started.child.stdout.take(), started.child.stderr.take());
    let (mut out, mut err) = (OutputBuffer::default(), OutputBuffer::default());
    let over = CancellationToken::new();
    let working = async {
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok((CommandEnd::Stopped, true)),
            () = sleep(wanted.limit) => Ok((CommandEnd::TooLong, true)),
            end = started.ends() => end.map(|end| (CommandEnd::Itself(end.code), end.is_clean)),
        };
        started.end().await;
        over.cancel();
        ended
    };
    let reading = async {
        tokio::select! {
            _ = async { tokio::join!(out.read(stdout), err.read(stderr)) } => {}
            // Nobody should be left to hold the other end; if somebody is, they are not waited for.
            () = async { over.cancelled().await; sleep(GRACE).await } => {}
        }
    };
    let (ended, ()) = tokio::join!(working, reading);
    let (ended, is_clean) = ended?;
    let mut output = output::told(&out, &err);
    if !is_clean {
        let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        output.push_str(end);
        output.push_str("[not everything that it started may have ended]");
    }
    Ok(CommandResult { ended, output })
}

/// Starts the shell in a group of its own; what is to see its environment sees nothing of the server's.
fn start(
    folder: &Path,
    supervisor: Option<&Path>,
    wanted: &CommandSpec,
) -> std::io::Result<RunningCommand> {
    let mark = mark(&wanted.mark);
    let shell = [OsStr::new(SHELL), OsStr::new("-c"), OsStr::new(&wanted.command)];
    let (mut command, line) = if let Some(program) = supervisor {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(program);
        // The supervisor does not carry the mark: after a crash it ends the rest, and must not be ended before it has.
        let marked = format!("{}={}", mark.name, mark.value);
        command.arg0("copydesk").args(["supervise", "--mark", &marked, "--"]).args(shell);
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        (command, Some(UnixStream::from_std(ours)?))
    } else {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).stdin(Stdio::null());
        (command, None)
    };
    command
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "dumb")])
        .env("HOME", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if line.is_none() {
        command.env(mark.name, &mark.value);
    }
    let child = command.spawn()?;
    // The group of a supervisor is its own: it is the last to end.
    let leader = if line.is_none() { child.id() } else { None };
    Ok(RunningCommand { leftovers: ProcessTree::new(leader, mark), child, line })
}

impl RunningCommand {
    /// Waits for the command to end by itself.
    async fn ends(&mut self) -> std::io::Result<ExitReport> {
        let Some(line) = &mut self.line else {
            let status = self.child.wait().await?;
            return Ok(ExitReport { code: status.code(), is_clean: true });
        };
        let mut report = String::new();
        line.take(64).read_to_string(&mut report).await.ok();
        match reported(&report) {
            Some(end) => Ok(end),
            None => unreported(self.child.wait().await?),
        }
    }

    /// Sees to it that nothing of it is left.
    async fn end(self) {
        let Self { mut child, line, leftovers } = self;
        if let Some(line) = line {
            drop(line);
            if timeout(PATIENCE, child.wait()).await.is_err() {
                child.start_kill().ok();
            }
        }
        // Looking for them takes a moment, so not on a thread that serves others.
        tokio::task::spawn_blocking(move || drop(leftovers)).await.ok();
        child.wait().await.ok();
    }
}

#[cfg(target_os = "linux")]
fn reported(line: &str) -> Option<ExitReport> {
    let processes::supervisor::SupervisorReport { code, is_clean } =
        processes::supervisor::SupervisorReport::read(line)?;
    Some(ExitReport { code, is_clean })
}

/// There is no supervisor.
#[cfg(not(target_os = "linux"))]
fn reported(_: &str) -> Option<ExitReport> {
    None
}

/// A supervisor that ended without a word was ended, by its command or somebody else, or could not start it.
fn unreported(status: ExitStatus) -> std::io::Result<ExitReport> {
    match status.code() {
        None => Ok(ExitReport { code: None, is_clean: false }),
        Some(code) => Err(std::io::Error::other(format!("its supervisor ended with {code}"))),
    }
}

/// Ends every process of the command that was marked so, wherever it has moved to.
pub(super) fn stop_marked(value: &str) {
    processes::stop_marked(&mark(value));
}

fn mark(value: &str) -> processes::EnvironmentTag {
    processes::EnvironmentTag { name: MARK, value: value.to_owned() }
}
