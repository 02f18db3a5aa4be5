//! Supervisor (`copydesk supervise`): a small process between the server and a command.
//!
//! The kernel makes it the parent of every orphan below it (it is their *subreaper*), whatever they
//! did with their session, group or environment. So when it has no child left, no process of the
//! command remains. When the server ends, however suddenly, the connection to it closes, and
//! everything ends.

use std::ffi::OsString;
use std::io::{Error, Read as _, Result, Write as _, stdin};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::process_tree;

/// Longest wait until all processes of a command have ended: another user's cannot be ended.
pub const END_TIMEOUT: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(2);

/// Report of [`supervise`] to the server about a command that has ended, sent as one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupervisorReport {
    /// Exit code of the command; `None`: a signal ended it.
    pub code: Option<i32>,
    /// `true` if no process of the command is left.
    pub is_clean: bool,
}

impl SupervisorReport {
    fn line(self) -> String {
        let code = self.code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        format!("{code} {}\n", if self.is_clean { "clean" } else { "left" })
    }

    /// Parses a line; `None` if the supervisor did not finish.
    pub fn read(line: &str) -> Option<Self> {
        let (code, end) = line.trim_end().split_once(' ')?;
        let code = if code == "signal" { None } else { Some(code.parse().ok()?) };
        Some(Self { code, is_clean: end == "clean" })
    }
}

enum SupervisorEvent {
    /// A child has ended, its own or an adopted one.
    Ended(Pid, WaitStatus),
    Alone,
    Stop,
}

/// Runs a command, with `mark` in its environment, until it ends or standard input closes; then
/// ends all of its descendants, and reports there. On an error nothing is running.
pub fn supervise(mark: &str, command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().ok_or_else(|| Error::other("no command"))?;
    let mut line = UnixStream::from(stdin().as_fd().try_clone_to_owned()?);
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new(program)
        .args(arguments)
        .envs(mark.split_once('='))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()?;
    let (events, happening) = channel();
    let closes = events.clone();
    let mut server = line.try_clone()?;
    // Both threads end with the process.
    thread::spawn(move || reap(&events));
    thread::spawn(move || {
        while let Ok(1..) = server.read(&mut [0; 64]) {}
        closes.send(SupervisorEvent::Stop).ok();
    });
    let report = watch(child.id(), &happening);
    line.write_all(report.line().as_bytes()).ok();
    Ok(())
}

/// Collects every child that ends, so that none stays as a zombie.
fn reap(events: &Sender<SupervisorEvent>) {
    loop {
        let event = match wait(WaitOptions::empty()) {
            Ok(Some((process, status))) => SupervisorEvent::Ended(process, status),
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(_) => SupervisorEvent::Alone,
        };
        let is_last = matches!(event, SupervisorEvent::Alone);
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

fn watch(command: u32, happening: &Receiver<SupervisorEvent>) -> SupervisorReport {
    let mut code = None;
    let is_command = |process: Pid| u32::try_from(process.as_raw_pid()) == Ok(command);
    for event in happening {
        match event {
            SupervisorEvent::Ended(process, status) if is_command(process) => {
                code = status.exit_status();
                break;
            }
            SupervisorEvent::Ended(..) => {}
            SupervisorEvent::Alone => return SupervisorReport { code, is_clean: true },
            SupervisorEvent::Stop => break,
        }
    }
    let (until, mut next) = (Instant::now() + END_TIMEOUT, Instant::now());
    loop {
        match happening.recv_timeout(PAUSE) {
            Ok(SupervisorEvent::Alone) | Err(RecvTimeoutError::Disconnected) => {
                return SupervisorReport { code, is_clean: true };
            }
            Ok(SupervisorEvent::Ended(process, status)) if is_command(process) => {
                code = status.exit_status();
            }
            Ok(SupervisorEvent::Ended(..) | SupervisorEvent::Stop)
            | Err(RecvTimeoutError::Timeout) => {}
        }
        if Instant::now() > until {
            return SupervisorReport { code, is_clean: false };
        }
        if Instant::now() >= next {
            process_tree::end_all();
            next = Instant::now() + PAUSE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_told() {
        for code in [None, Some(0), Some(255)] {
            for is_clean in [true, false] {
                let report = SupervisorReport { code, is_clean };
                assert_eq!(SupervisorReport::read(&report.line()), Some(report));
            }
        }
        assert_eq!((SupervisorReport::read(""), SupervisorReport::read("x clean\n")), (None, None));
    }
}
