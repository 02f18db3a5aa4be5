//! A shell command in the workspace: a process group of its own, a clean environment, no input, limits, and nothing left behind.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::processes::{self, Leftovers};

/// The shell, by a name that no folder on a path can take over.
const SHELL: &str = "/bin/bash";
/// Characters of what a command writes that are kept.
const OUTPUT_CHARS: usize = 30_000;
/// How long what was stopped may go on holding its output.
const GRACE: Duration = Duration::from_secs(2);
/// Marks every process of a command, also one that has left its group.
const MARK: &str = "COPYDESK_REQUEST";

/// A command to run.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// For the shell.
    pub command: String,
    /// How long it may take.
    pub limit: Duration,
    /// What tells its processes from all others: the name of the request.
    pub mark: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code; `None`: a signal ended it.
    Itself(Option<i32>),
    /// It took too long.
    TooLong,
    /// The run was stopped.
    Stopped,
}

/// What came of a command.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote, and after it what it complained of.
    pub output: String,
}

/// Runs a command in `folder`. When this returns, or is dropped, none of its processes is left.
pub(super) async fn run(
    folder: &Path,
    wanted: &Wanted,
    cancel: &CancellationToken,
) -> std::io::Result<Ran> {
    let mut child = Command::new(SHELL)
        .args(["-c", &wanted.command])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "dumb")])
        .env("HOME", folder)
        .env(MARK, &wanted.mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let leftovers = Leftovers::new(child.id(), mark(&wanted.mark));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let over = CancellationToken::new();
    let working = async {
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(Ended::Stopped),
            () = sleep(wanted.limit) => Ok(Ended::TooLong),
            status = child.wait() => status.map(|status| Ended::Itself(status.code())),
        };
        // Looking for them takes a moment, so not on a thread that serves others.
        tokio::task::spawn_blocking(move || drop(leftovers)).await.ok();
        child.wait().await.ok();
        over.cancel();
        ended
    };
    let reading = async {
        tokio::select! {
            _ = async { tokio::join!(read(stdout, &mut out), read(stderr, &mut err)) } => {}
            // Nobody should be left to hold the other end; if somebody is, they are not waited for.
            () = async { over.cancelled().await; sleep(GRACE).await } => {}
        }
    };
    let (ended, ()) = tokio::join!(working, reading);
    Ok(Ran { ended: ended?, output: output(&out, &err) })
}

/// Reads to the end, and keeps the beginning.
async fn read(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut piece = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = from.read(&mut piece).await {
        let room = (4 * OUTPUT_CHARS).saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..count.min(room)]);
    }
}

/// What was written, then what was complained of; cut if it is long.
fn output(out: &[u8], err: &[u8]) -> String {
    let (out, err) = (String::from_utf8_lossy(out), String::from_utf8_lossy(err));
    let between = if out.is_empty() || err.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    let mut output = format!("{out}{between}{err}");
    if let Some((end, _)) = output.char_indices().nth(OUTPUT_CHARS) {
        output.truncate(end);
        output.push_str("\n[the rest of the output was cut]");
    }
    output
}

/// Ends every process of the command that was marked so, wherever it has moved to.
pub(super) fn stop_marked(value: &str) {
    processes::stop_marked(&mark(value));
}

fn mark(value: &str) -> processes::Mark {
    processes::Mark { name: MARK, value: value.to_owned() }
}
