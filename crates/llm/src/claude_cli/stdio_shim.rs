//! `copydesk claude-tools`: the small program that the CLI starts to reach its tools. It copies
//! bytes between standard input and output and the server's socket. When the server ends, however
//! suddenly, it stops the CLI with all its processes: that must not continue unwatched.

use std::io::{Read, Result, Write, stdin, stdout};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use copydesk_processes::{EnvironmentTag, stop_marked};

use super::process::OF_PROCESS;

/// Connects standard input and output with the server until it is done. `of` is the mark of the CLI
/// that started this process.
pub fn connect(socket: &Path, secret: &str, of: Option<String>) -> Result<()> {
    let mut server = UnixStream::connect(socket)?;
    server.write_all(format!("{secret}\n").as_bytes())?;
    let mut to_server = server.try_clone()?;
    let (done, is_done) = (Arc::new(AtomicBool::new(false)), Ordering::SeqCst);
    let cli = Arc::clone(&done);
    thread::spawn(move || {
        pass_on(&mut stdin(), &mut to_server).ok();
        // The CLI is done: the server notices the end of its input, and closes too.
        cli.store(true, is_done);
        to_server.shutdown(Shutdown::Write).ok();
    });
    let ended = pass_on(&mut server, &mut stdout());
    if let Some(value) = of.filter(|_| !done.load(is_done)) {
        stop_marked(&EnvironmentTag { name: OF_PROCESS, value });
    }
    ended
}

/// Copies bytes, and flushes after each read because the other side waits.
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
