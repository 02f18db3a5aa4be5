//! Who comes of whom, as `/proc` tells it: every process that a process has started, and theirs. Linux only.

use std::collections::HashSet;

use rustix::process::{Pid, getpid};

use super::{all, end};

/// What `/proc` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcInfo {
    /// Who started it, or who took it in after that one ended.
    parent: i32,
    /// When it began, in ticks since the machine did.
    pub(super) began: u64,
    /// It has ended, and its parent has not looked.
    has_ended: bool,
}

impl ProcInfo {
    pub(super) fn of(process: Pid) -> Option<Self> {
        let path = format!("/proc/{}/stat", process.as_raw_pid());
        Self::read(&std::fs::read_to_string(path).ok()?)
    }

    /// `number (name) state parent …`; the name may hold anything, also brackets and spaces.
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

/// Ends everything that comes of this process, once. It ends each as it meets it, the oldest first: what has just been
/// started by one of them is met later in the same round, or belongs to this process by the next.
pub(super) fn end_all() {
    let mut family = HashSet::from([getpid().as_raw_pid()]);
    for process in all() {
        let Some(kin) = ProcInfo::of(process).filter(|kin| family.contains(&kin.parent)) else {
            continue;
        };
        family.insert(process.as_raw_pid());
        if !kin.has_ended {
            // It may belong to another by now, but to one of the family; what it does not is when it began.
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
