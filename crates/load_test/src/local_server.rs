//! Server that a load test starts for itself, on data that goes away with it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::{LoadTestError, LoadTestResult};

/// Maximum time until the server says its address.
const START: Duration = Duration::from_secs(30);

/// Server in a process of its own; ended, and its data removed, when it goes out of scope.
pub(super) struct LocalServer {
    process: Child,
    /// Kept open: the server has more to say than its address.
    _output: Lines<BufReader<ChildStdout>>,
    pub url: String,
    pub token: String,
    /// Data directory; removed after the process has ended.
    data: TempDir,
}

impl LocalServer {
    /// Starts a program as a server on a new directory below `parent`, or the system's temporary
    /// one.
    pub async fn start(program: &Path, parent: Option<&Path>) -> LoadTestResult<Self> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("copydesk-bench-");
        let data = match parent {
            Some(parent) => builder.tempdir_in(parent),
            None => builder.tempdir(),
        };
        let data = data.map_err(LoadTestError::Data)?;
        let token = format!("bench-{}", uuid::Uuid::new_v4());
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--model", "harper", "--data"])
            .arg(data.path())
            .current_dir(data.path())
            // Options in the environment are not meant for this server.
            .env_clear()
            .env("COPYDESK_TOKEN", &token)
            .env("COPYDESK_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(LoadTestError::Data)?;
        let output = process.stdout.take().ok_or(LoadTestError::Start)?;
        let mut output = BufReader::new(output).lines();
        let line = timeout(START, output.next_line()).await;
        let line = line.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let url = line.strip_prefix("copydesk listening on ").ok_or(LoadTestError::Start)?;
        Ok(Self { url: url.to_owned(), token, process, _output: output, data })
    }

    /// Returns the number of its process; `None` if it has ended.
    pub fn process(&self) -> Option<u32> {
        self.process.id()
    }

    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Ends the server and removes its data.
    pub async fn stop(mut self) {
        // Nothing of it is needed any more.
        self.process.kill().await.ok();
    }
}
