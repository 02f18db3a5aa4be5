//! Processor time and memory of a process, from Linux.

use std::collections::BTreeMap;
use std::time::Duration;

/// Use of the machine by a process.
#[derive(Clone, Debug)]
pub(super) struct ProcessUsage {
    /// Processor time of each thread in nanoseconds, by the number of the thread; that of the whole
    /// process is only known to a hundredth of a second.
    threads: BTreeMap<String, u64>,
    /// Memory in use, in bytes.
    pub memory: u64,
}

impl ProcessUsage {
    /// Reads the usage of a process of this machine; `None` if that is not known.
    pub fn of(process: &str) -> Option<Self> {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let threads = threads.filter_map(|thread| {
            let thread = thread.ok()?;
            let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((thread.file_name().into_string().ok()?, nanoseconds(&times)?))
        });
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        Some(Self { threads: threads.collect(), memory: resident_bytes(&status)? })
    }

    /// Reads the usage of several processes together; `None` without any, or if one is missing.
    pub fn of_all(processes: &[String]) -> Option<Self> {
        let mut usages = processes.iter().map(|process| Self::of(process));
        let mut all = usages.next()??;
        for usage in usages {
            let usage = usage?;
            // The numbers of threads differ on one machine.
            all.threads.extend(usage.threads);
            all.memory += usage.memory;
        }
        Some(all)
    }

    /// Returns the processor time since an earlier reading, without threads that have ended.
    pub fn cpu_since(&self, earlier: &Self) -> Duration {
        let used = self.threads.iter().map(|(thread, now)| {
            now.saturating_sub(earlier.threads.get(thread).copied().unwrap_or_default())
        });
        Duration::from_nanos(used.sum())
    }
}

/// Returns the first field of a `schedstat`: the time on a processor.
fn nanoseconds(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().next()?.parse().ok()
}

/// Returns the resident memory that the `status` of a process below `/proc` names, in bytes.
pub fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}

/// Returns the number of files that the system lets this process open; `None`: no limit known.
pub fn open_file_limit() -> Option<usize> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        limit.current.and_then(|limit| usize::try_from(limit).ok())
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_that_of_the_threads_there_are_with_those_that_came() {
        let usage = |threads: &[(&str, u64)]| ProcessUsage {
            threads: threads.iter().map(|(id, time)| ((*id).to_owned(), *time)).collect(),
            memory: 0,
        };
        let (before, after) = (usage(&[("1", 100), ("2", 50)]), usage(&[("1", 170), ("3", 20)]));
        assert_eq!(after.cpu_since(&before), Duration::from_nanos(90));
        assert_eq!(nanoseconds("175000 9 4\n"), Some(175_000));
        let status = "Name:\tx\nVmRSS:\t  2048 kB\nThreads: 3\n";
        assert_eq!(resident_bytes(status), Some(2_097_152));
        assert_eq!(resident_bytes("Name:\tx\n"), None);
        assert_eq!(nanoseconds("nonsense"), None);
    }
}
