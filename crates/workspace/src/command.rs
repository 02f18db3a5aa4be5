//! A shell command in the workspace: a process group of its own, a clean environment, no input,
//! limits, and no process left behind. On Linux it runs below a supervisor, which ends every
//! process that comes of it. Elsewhere the shell's group and the processes with the mark are ended.

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

use copydesk_processes::ProcessTree;

use output::OutputBuffer;

/// Shell, by an absolute path that no folder in `PATH` can replace.
const SHELL: &str = "/bin/bash";
/// Longest time to wait for output after the processes were stopped.
const GRACE: Duration = Duration::from_secs(2);
/// Longest time that a supervisor may take to end all processes; its own limit is shorter.
const SUPERVISOR_TIMEOUT: Duration = Duration::from_secs(6);
/// Environment variable that marks every process of a command, also one that has left its group.
const MARK: &str = "COPYDESK_REQUEST";

/// Command for [`Workspace::run`](super::Workspace::run).
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Command line for the shell.
    pub command: String,
    /// Longest time that the command may take.
    pub limit: Duration,
    /// Name of the request, which marks the command's processes.
    pub mark: String,
}

/// Reason for the end of a [`CommandSpec`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// The command ended by itself, with this exit code; `None` if a signal ended it.
    Itself(Option<i32>),
    /// The command took too long.
    TooLong,
    /// The run was stopped.
    Stopped,
}

/// Result of a [`CommandSpec`].
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// Reason for the end.
    pub ended: CommandEnd,
    /// Standard output, and after it standard error.
    pub output: String,
}

/// Command that was started.
struct RunningCommand {
    child: Child,
    /// Connection to the supervisor, which ends all processes when it closes.
    line: Option<UnixStream>,
    leftovers: ProcessTree,
}

/// End of a [`RunningCommand`] itself, and `is_clean`: `true` if its processes could be ended.
struct ExitReport {
    code: Option<i32>,
    is_clean: bool,
}

/// Runs a [`CommandSpec`] in `folder`, under `supervisor` if there is one. When the function
/// returns, none of the command's processes is left; when its future is dropped, they are ended.
pub(super) async fn run(
    folder: &Path,
    supervisor: Option<&Path>,
    spec: &CommandSpec,
    cancel: &CancellationToken,
) -> std::io::Result<CommandResult> {
    let mut started = start(folder, supervisor, spec)?;
    let (stdout, stderr) = (started.child.stdout.take(), started.child.stderr.take());
    let (mut out, mut err) = (OutputBuffer::default(), OutputBuffer::default());
    let over = CancellationToken::new();
    let working = async {
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok((CommandEnd::Stopped, true)),
            () = sleep(spec.limit) => Ok((CommandEnd::TooLong, true)),
            end = started.ends() => end.map(|end| (CommandEnd::Itself(end.code), end.is_clean)),
        };
        started.end().await;
        over.cancel();
        ended
    };
    let reading = async {
        tokio::select! {
            _ = async { tokio::join!(out.read(stdout), err.read(stderr)) } => {}
            // No process should be left to hold the other end; if one does, it is not waited for.
            () = async { over.cancelled().await; sleep(GRACE).await } => {}
        }
    };
    let (ended, ()) = tokio::join!(working, reading);
    let (ended, is_clean) = ended?;
    let mut output = output::combined(&out, &err);
    if !is_clean {
        let end = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        output.push_str(end);
        output.push_str("[not everything that it started may have ended]");
    }
    Ok(CommandResult { ended, output })
}

/// Starts the shell in a group of its own, with nothing of the server's environment.
fn start(
    folder: &Path,
    supervisor: Option<&Path>,
    spec: &CommandSpec,
) -> std::io::Result<RunningCommand> {
    let mark = mark(&spec.mark);
    let shell = [OsStr::new(SHELL), OsStr::new("-c"), OsStr::new(&spec.command)];
    let (mut command, line) = if let Some(program) = supervisor {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(program);
        // Without the mark: after a crash the supervisor must not be ended before the others.
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
    // A supervisor has a group of its own, because it is the last to end.
    let leader = if line.is_none() { child.id() } else { None };
    Ok(RunningCommand { leftovers: ProcessTree::new(leader, mark), child, line })
}

impl RunningCommand {
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

    async fn end(self) {
        let Self { mut child, line, leftovers } = self;
        if let Some(line) = line {
            drop(line);
            if timeout(SUPERVISOR_TIMEOUT, child.wait()).await.is_err() {
                child.start_kill().ok();
            }
        }
        // The search for them takes a moment, so it does not run on a thread that serves others.
        tokio::task::spawn_blocking(move || drop(leftovers)).await.ok();
        child.wait().await.ok();
    }
}

#[cfg(target_os = "linux")]
fn reported(line: &str) -> Option<ExitReport> {
    let copydesk_processes::supervisor::SupervisorReport { code, is_clean } =
        copydesk_processes::supervisor::SupervisorReport::read(line)?;
    Some(ExitReport { code, is_clean })
}

/// Returns `None`, because there is no supervisor.
#[cfg(not(target_os = "linux"))]
fn reported(_: &str) -> Option<ExitReport> {
    None
}

/// Interprets the end of a supervisor without a report: it was killed, or did not start.
fn unreported(status: ExitStatus) -> std::io::Result<ExitReport> {
    match status.code() {
        None => Ok(ExitReport { code: None, is_clean: false }),
        Some(code) => Err(std::io::Error::other(format!("its supervisor ended with {code}"))),
    }
}

/// Ends every process of the command with this mark, also those that have left its group.
pub(super) fn stop_marked(value: &str) {
    copydesk_processes::stop_marked(&mark(value));
}

fn mark(value: &str) -> copydesk_processes::EnvironmentTag {
    copydesk_processes::EnvironmentTag { name: MARK, value: value.to_owned() }
}
