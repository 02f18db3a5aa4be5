//! `copydesk claude-tools`: the small program that the CLI starts to reach its tools. It passes on what it reads.
//!
//! Its life hangs on the server's: when the server goes, however suddenly, the CLI must not go on without anybody who
//! watches, so it is ended with all its processes.

use std::io::{Read, Result, Write, stdin, stdout};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::processes::{EnvironmentTag, stop_marked};

use super::process::OF_PROCESS;

/// Connects standard input and output with the server, until the server is done; blocks until then. `of` marks the CLI that
/// started this.
pub fn connect(socket: &Path, secret: &str, of: Option<String>) -> Result<()> {
    let mut server = UnixStream::connect(socket)?;
    server.write_all(format!("{secret}\n").as_bytes())?;
    let mut to_server = server.try_clone()?;
    let (done, is_done) = (Arc::new(AtomicBool::new(false)), Ordering::SeqCst);
    let cli = Arc::clone(&done);
    thread::spawn(move || {
        pass_on(&mut stdin(), &mut to_server).ok();
        // The CLI is done: the server hears of it, and closes too.
        cli.store(true, is_done);
        to_server.shutdown(Shutdown::Write).ok();
    });
    let ended = pass_on(&mut server, &mut stdout());
    if let Some(value) = of.filter(|_| !done.load(is_done)) {
        stop_marked(&EnvironmentTag { name: OF_PROCESS, value });
    }
    ended
}

/// Each piece at once: somebody waits for it.
fn pass_on(from: &mut impl Read, to: &mut impl Write) -> Result<()> {
    let mut piece = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&piece[..count])?;
        to.flush()?;
    }
}
