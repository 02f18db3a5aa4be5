//! Settings of the allocator under which the server runs.
//!
//! The allocator of glibc returns freed blocks to the system only above a size that grows with the
//! largest block that was freed: once a long text was sent, texts of its length stay with the
//! process, next to small blocks that keep their pages in use. Forty people who each left long
//! answers unread and then left cost 400 to 600 MB until the server was restarted. With a fixed
//! size it is a few MB.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::{env, os::unix::process::CommandExt as _, process::Command};

/// Variable with the size from which a block is returned to the system once it is freed, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "1048576");

/// Starts this program anew in the same process, with a fixed size of large blocks: glibc reads the
/// size when a process starts. Returns if the size is fixed, or cannot be.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn fix_large_blocks() {
    let (name, bytes) = LARGE_BLOCK;
    if env::var_os(name).is_some() || env::var_os("GLIBC_TUNABLES").is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut arguments = env::args_os();
    let mut command = Command::new(program);
    if let Some(own_name) = arguments.next() {
        command.arg0(own_name);
    }
    // On success it does not return; otherwise memory stays longer, and nothing else is different.
    drop(command.args(arguments).env(name, bytes).exec());
}

/// Does nothing: other allocators have no such size.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn fix_large_blocks() {}
