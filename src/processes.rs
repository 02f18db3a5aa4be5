//! Other programs that this one starts, and how nothing of them is left behind. Unix only.
//!
//! Each gets a process group of its own, and a mark in its environment, which its children inherit: so also one that has
//! left the group, or that an earlier process of this server started, is found and ended.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How often everything that is left of a program is looked for until nothing is.
const SWEEPS: usize = 20;
/// Between two looks.
const SWEEP_PAUSE: Duration = Duration::from_millis(5);

/// What tells the processes of one program from all others: a variable of their environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The variable.
    pub name: &'static str,
    /// What it says.
    pub value: String,
}

/// The processes of a program. They end when this is dropped, which takes a moment.
#[derive(Debug)]
pub struct Leftovers {
    group: Option<Pid>,
    mark: Mark,
}

impl Leftovers {
    /// Those of a child that leads a group of its own.
    pub fn new(child: Option<u32>, mark: Mark) -> Self {
        let group = child.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { group, mark }
    }

    /// Ends the group at once; who has left it ends with the rest of this.
    pub fn stop_group(&self) {
        if let Some(group) = self.group {
            // An error means that there is none left.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.stop_group();
        stop_marked(&self.mark);
    }
}

/// Ends every process that carries this mark, wherever it has moved to; not the caller itself.
pub fn stop_marked(mark: &Mark) {
    let mark = format!("{}={}", mark.name, mark.value);
    for _ in 0..SWEEPS {
        let marked = marked(&mark);
        if marked.is_empty() {
            return;
        }
        for process in marked {
            kill_process(process, Signal::KILL).ok();
        }
        std::thread::sleep(SWEEP_PAUSE);
    }
}

/// Where there is no `/proc`, the group is all that is known.
fn marked(mark: &str) -> Vec<Pid> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = rustix::process::getpid();
    let carries = |process: std::fs::DirEntry| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let marked = environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes());
        (marked && pid != own).then_some(pid)
    };
    processes.flatten().filter_map(carries).collect()
}
