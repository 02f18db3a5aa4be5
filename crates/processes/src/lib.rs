//! Other programs that this one starts, and ways to end all of their processes. Unix only.
//!
//! Each program gets a process group, and a tag in its environment, which its children inherit: so
//! a process that has left the group, or that an earlier server started, is found too. A child can
//! remove its tag, so on Linux commands run under a [`supervisor`], which they cannot escape.

#[cfg(target_os = "linux")]
mod process_tree;
#[cfg(target_os = "linux")]
pub mod supervisor;
#[cfg(target_os = "linux")]
pub mod writers;

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const SWEEPS: usize = 20;
const SWEEP_PAUSE: Duration = Duration::from_millis(5);
/// Priority of long work on Linux, from -20 (first) to 19 (last); connections are served at 0.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Environment variable that distinguishes the processes of one program from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentTag {
    /// Name of the variable.
    pub name: &'static str,
    /// Value of the variable.
    pub value: String,
}

/// All processes of a program, by group and [`EnvironmentTag`]. Its drop ends them, and blocks.
#[derive(Debug)]
pub struct ProcessTree {
    leader: Option<GroupLeader>,
    mark: EnvironmentTag,
}

/// Leader of the group, with its start: its number alone may later be another's.
#[derive(Debug)]
struct GroupLeader {
    pid: Pid,
    began: Option<u64>,
}

impl ProcessTree {
    /// Returns the processes of a child that leads a group, if any, and those with the tag.
    pub fn new(child: Option<u32>, mark: EnvironmentTag) -> Self {
        let pid = child.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { leader: pid.map(|pid| GroupLeader { pid, began: began(pid) }), mark }
    }

    /// Ends the group at once; processes that have left it end when this is dropped.
    pub fn stop_group(&self) {
        let Some(GroupLeader { pid, began: then }) = self.leader else { return };
        let now = began(pid);
        if now.is_none() || now == then {
            kill_process_group(pid, Signal::KILL).ok();
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.stop_group();
        stop_marked(&self.mark);
    }
}

/// Gives the calling thread and its later threads a low priority: their work delays no other.
#[cfg(target_os = "linux")]
pub fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "cannot lower the priority of this thread");
    }
}

/// Ends every process with this tag, whatever its group; not the caller itself.
pub fn stop_marked(mark: &EnvironmentTag) {
    let mark = format!("{}={}", mark.name, mark.value);
    let is_marked = |process| carries(process, &mark);
    for _ in 0..SWEEPS {
        let marked: Vec<Pid> = all().filter(|process| is_marked(*process)).collect();
        if marked.is_empty() {
            return;
        }
        for process in marked {
            end(process, || is_marked(process));
        }
        std::thread::sleep(SWEEP_PAUSE);
    }
}

fn all() -> impl Iterator<Item = Pid> {
    let own = rustix::process::getpid();
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(move |process| *process != own)
}

fn carries(process: Pid, mark: &str) -> bool {
    std::fs::read(format!("/proc/{}/environ", process.as_raw_pid()))
        .is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == mark.as_bytes()))
}

/// Returns the start of a process, in ticks since the machine's; `None` if it is gone or unknown.
#[cfg(target_os = "linux")]
fn began(process: Pid) -> Option<u64> {
    Some(process_tree::ProcInfo::of(process)?.began)
}

#[cfg(not(target_os = "linux"))]
fn began(_: Pid) -> Option<u64> {
    None
}

/// Ends a process if it is still the intended one, and not another that got its number meanwhile.
#[cfg(target_os = "linux")]
fn end(process: Pid, is_meant: impl FnOnce() -> bool) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    match pidfd_open(process, PidfdFlags::empty()) {
        // Checked after it was opened, so the result is about the process that gets the signal.
        Ok(handle) => {
            if is_meant() {
                pidfd_send_signal(handle, Signal::KILL).ok();
            }
        }
        Err(rustix::io::Errno::SRCH) => {}
        // The kernel does not support process descriptors.
        Err(_) => end_by_number(process, is_meant),
    }
}

#[cfg(not(target_os = "linux"))]
use end_by_number as end;

fn end_by_number(process: Pid, is_meant: impl FnOnce() -> bool) {
    if is_meant() {
        kill_process(process, Signal::KILL).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeper(mark: Option<&EnvironmentTag>) -> Child {
        let mut command = Command::new("sleep");
        command.arg("1000").process_group(0).stdin(Stdio::null());
        command.envs(mark.map(|it| (it.name, it.value.as_str())));
        command.spawn().unwrap()
    }

    fn mark(value: &str) -> EnvironmentTag {
        EnvironmentTag { name: "COPYDESK_TEST", value: format!("{value}-{}", std::process::id()) }
    }

    #[test]
    fn only_what_carries_the_whole_mark_is_ended() {
        let (mine, longer) = (mark("mine"), mark("mine"));
        let longer = EnvironmentTag { value: format!("{}0", longer.value), ..longer };
        let (mut meant, mut other) = (sleeper(Some(&mine)), sleeper(Some(&longer)));
        stop_marked(&mine);
        assert_eq!(meant.wait().unwrap().code(), None);
        assert!(other.try_wait().unwrap().is_none());
        stop_marked(&longer);
        assert_eq!(other.wait().unwrap().code(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_number_that_another_process_has_by_now_is_left_alone() {
        let mut other = sleeper(None);
        let mut leftovers = ProcessTree::new(Some(other.id()), mark("reused"));
        if let Some(leader) = &mut leftovers.leader {
            leader.began = leader.began.map(|began| began - 1);
        }
        drop(leftovers);
        assert!(other.try_wait().unwrap().is_none(), "it began later than the one that was meant");
        let pid = Pid::from_raw(i32::try_from(other.id()).unwrap()).unwrap();
        end(pid, || false);
        assert!(other.try_wait().unwrap().is_none());
        drop(ProcessTree::new(Some(other.id()), mark("reused")));
        assert_eq!(other.wait().unwrap().code(), None);
    }
}
