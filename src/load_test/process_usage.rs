//! Processor time and memory of a process, as Linux tells them.

use std::time::Duration;

/// Unit of the times in `/proc/PID/stat`; the same on all systems of today.
const TICKS_PER_SECOND: f64 = 100.0;

/// Use of the machine by a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessUsage {
    /// Processor time since it started, of all its threads.
    pub cpu: Duration,
    /// Memory in use, in bytes.
    pub memory: u64,
}

impl ProcessUsage {
    /// Reads the usage of a process of this machine; `None` if there is no such process, or the
    /// system does not tell.
    pub fn of(process: &str) -> Option<Self> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).ok();
        Some(Self { cpu: cpu_time(&read("stat")?)?, memory: memory(&read("status")?)? })
    }
}

/// Returns the time in user and system mode. The name of the program may have spaces and brackets.
fn cpu_time(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(Duration::from_secs_f64((ticks()? + ticks()?) / TICKS_PER_SECOND))
}

fn memory(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 9 0 0 0 150 25 0 0 20 0 4 0 1 1 1";
        assert_eq!(cpu_time(stat), Some(Duration::from_millis(1_750)));
        assert_eq!(memory("Name:\tx\nVmRSS:\t  2048 kB\n"), Some(2_097_152));
        assert_eq!(cpu_time("nonsense"), None);
    }
}
