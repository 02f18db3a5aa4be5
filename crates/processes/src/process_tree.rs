//! Descendants of this process, read from `/proc`. Linux only.

use std::collections::HashSet;

use rustix::process::{Pid, getpid};

use super::{all, end};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcInfo {
    /// Process that started it, or that adopted it after that one ended.
    parent: i32,
    /// Start, in ticks since the machine's.
    pub(super) began: u64,
    /// `true` if it has ended and its parent has not collected it yet.
    has_ended: bool,
}

impl ProcInfo {
    pub(super) fn of(process: Pid) -> Option<Self> {
        let path = format!("/proc/{}/stat", process.as_raw_pid());
        Self::read(&std::fs::read_to_string(path).ok()?)
    }

    /// Parses `number (name) state parent …`; the name may contain brackets and spaces.
    fn read(stat: &str) -> Option<Self> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
            has_ended: matches!(*fields.first()?, "Z" | "X"),
        })
    }
}

/// Ends all descendants of this process, once, oldest first. A process that one of them has just
/// started is met later in the same round, or is a child of this process by the next.
pub(super) fn end_all() {
    let mut family = HashSet::from([getpid().as_raw_pid()]);
    for process in all() {
        let Some(kin) = ProcInfo::of(process).filter(|kin| family.contains(&kin.parent)) else {
            continue;
        };
        family.insert(process.as_raw_pid());
        if !kin.has_ended {
            // The parent may have changed, but only to one of the family; the start has not.
            let is_same = |now: ProcInfo| now.began == kin.began && family.contains(&now.parent);
            end(process, || ProcInfo::of(process).is_some_and(is_same));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_hides_nothing() {
        let rest = " S 41 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99887 1 2 3";
        for name in ["(sleep)", "(a) Z 1 (b)", "())", "( )"] {
            let read = ProcInfo::read(&format!("42 {name}{rest}"));
            assert_eq!(
                read,
                Some(ProcInfo { parent: 41, began: 99_887, has_ended: false }),
                "{name}"
            );
        }
        assert_eq!(ProcInfo::read("42 (sleep) S"), None);
        let own = ProcInfo::of(getpid());
        assert!(own.is_some_and(|own| own.began > 0 && !own.has_ended), "{own:?}");
    }
}
