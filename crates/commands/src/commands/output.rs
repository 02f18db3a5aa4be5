//! Output of commands: into a file, or to standard output.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

pub(super) async fn write_out(path: Option<&Path>, content: &[u8]) -> Result<()> {
    if let Some(path) = path {
        return tokio::fs::write(path, content)
            .await
            .with_context(|| format!("cannot write {}", path.display()));
    }
    write_to_stdout(content)
}

/// Prints text on standard output and flushes it: a reader may take it line by line.
pub(super) fn say(text: &str) -> Result<()> {
    write_to_stdout(text.as_bytes())
}

fn write_to_stdout(content: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(content)?;
    Ok(out.flush()?)
}
