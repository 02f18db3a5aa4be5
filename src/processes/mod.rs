//! Other programs that this one starts, and how nothing of them is left behind. Unix only.
//!
//! Each gets a process group of its own, and a mark in its environment, which its children inherit: so also one that has
//! left the group, or that an earlier process of this server started, is found and ended. A child can take off its mark. So a
//! command runs under a [`supervisor`] where there can be one (Linux), which no process that comes of it gets away from.

#[cfg(target_os = "linux")]
mod process_tree;
#[cfg(target_os = "linux")]
pub mod supervisor;
#[cfg(target_os = "linux")]
pub mod writers;

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How often everything that is left of a program is looked for until nothing is.
const SWEEPS: usize = 20;
/// Between two looks.
const SWEEP_PAUSE: Duration = Duration::from_millis(5);

/// What tells the processes of one program from all others: a variable of their environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentTag {
    /// The variable.
    pub name: &'static str,
    /// What it says.
    pub value: String,
}

/// The processes of a program. They end when this is dropped, which takes a moment.
#[derive(Debug)]
pub struct ProcessTree {
    leader: Option<GroupLeader>,
    mark: EnvironmentTag,
}

/// Which process leads the group; its number alone may be another's by and by.
#[derive(Debug)]
struct GroupLeader {
    pid: Pid,
    began: Option<u64>,
}

impl ProcessTree {
    /// Those of a child that leads a group of its own, or is none of theirs.
    pub fn new(child: Option<u32>, mark: EnvironmentTag) -> Self {
        let pid = child.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { leader: pid.map(|pid| GroupLeader { pid, began: began(pid) }), mark }
    }

    /// Ends the group at once; who has left it ends with the rest of this.
    pub fn stop_group(&self) {
        let Some(GroupLeader { pid, began: then }) = self.leader else { return };
        let now = began(pid);
        if now.is_none() || now == then {
            // An error means that there is none left.
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

/// Ends every process that carries this mark, wherever it has moved to; not the caller itself.
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

/// Every process that can be seen but the caller, by its number. Where there is no `/proc`, the group is all that is known.
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

/// When a process began, in ticks since the machine did; `None`: it is gone, or nobody knows.
#[cfg(target_os = "linux")]
fn began(process: Pid) -> Option<u64> {
    Some(process_tree::ProcInfo::of(process)?.began)
}

/// Nobody knows.
#[cfg(not(target_os = "linux"))]
fn began(_: Pid) -> Option<u64> {
    None
}

/// Ends a process if it still is the one that is meant, and no other that got its number meanwhile.
#[cfg(target_os = "linux")]
fn end(process: Pid, is_meant: impl FnOnce() -> bool) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    match pidfd_open(process, PidfdFlags::empty()) {
        // Asked after it was opened, so what is true now is true of the process that gets the signal.
        Ok(handle) => {
            if is_meant() {
                pidfd_send_signal(handle, Signal::KILL).ok();
            }
        }
        Err(rustix::io::Errno::SRCH) => {}
        // A kernel that has no such descriptors.
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
