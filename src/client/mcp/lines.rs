//! Standard input and output, line by line.

use std::io::{BufRead as _, Write as _};

use tokio::sync::mpsc;

/// Lines that may wait to be carried.
const WAITING: usize = 64;

/// Lines of standard input.
///
/// Read by a thread of its own: one that waits for input must not keep the process from ending.
#[derive(Debug)]
pub struct Lines(mpsc::Receiver<String>);

impl Lines {
    /// Begins to read.
    pub fn of_input() -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                // What is not UTF-8 is no JSON, and ends the conversation.
                let Ok(line) = line else { return };
                if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(lines)
    }

    /// The next line; `None`: the client is done.
    pub async fn next(&mut self) -> Option<String> {
        self.0.recv().await
    }
}

/// Writes one message to standard output.
pub fn write_line(message: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(message.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
