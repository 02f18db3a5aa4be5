//! A server in a process of its own, and people who talk to it, for benchmarks.
//!
//! Everything panics where it cannot go on: a bench that cannot run says so by stopping.
#![allow(dead_code, reason = "no bench uses all of it")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use copydesk_client::socketio::{SocketIoClient, SocketIoPacket, SocketIoServer, accepted};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// Token of the owner of every server.
pub const TOKEN: &str = "the-token-of-the-bench-0123456789";

/// A server in a process of its own; killed when it goes out of scope.
pub struct BenchServer {
    process: Child,
    /// Address, such as `http://127.0.0.1:4680`.
    pub url: String,
    /// Kept open: the server has more to say than its address.
    _output: BufReader<ChildStdout>,
}

impl BenchServer {
    /// Starts a server on the data in a directory, with further options and variables.
    pub fn start(data: &Path, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_copydesk"))
            .args(["--listen", "127.0.0.1:0", "--token", TOKEN, "--data"])
            .arg(data)
            .args(options)
            .envs(variables.iter().copied())
            .current_dir(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says where it is");
        let url = line.trim().strip_prefix("copydesk listening on ").expect("a link").to_owned();
        Self { process, url, _output: output }
    }

    /// Processor time of its threads since it started.
    pub fn cpu(&self) -> Duration {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let nanoseconds = |task: std::io::Result<std::fs::DirEntry>| {
            let times = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            times.split(' ').next()?.parse::<u64>().ok()
        };
        Duration::from_nanos(tasks.expect("Linux").filter_map(nanoseconds).sum())
    }

    /// Memory in megabytes: `VmRSS` now, `VmHWM` at most so far. Not a number without `/proc`.
    pub fn memory_mb(&self, kind: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kilobytes.map_or(f64::NAN, |kilobytes| kilobytes / 1_000.0)
    }

    /// Issues a token to a person of this name.
    pub fn token(&self, name: &str, role: &str) -> String {
        let issued = Command::new(env!("CARGO_BIN_EXE_copydesk"))
            .args(["token", "--role", role, "--name", name, "--token", TOKEN, "--url", &self.url])
            .output()
            .expect("a token");
        String::from_utf8(issued.stdout).expect("letters and digits").trim().to_owned()
    }

    /// Ends the server as an operator does; what it has is then in the database itself.
    pub fn stop(mut self) {
        let process = self.process.id().to_string();
        Command::new("kill").args(["-TERM", &process]).status().expect("there is a `kill`");
        self.process.wait().expect("it ends");
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A person connected to a server, who waits in the thread that asks.
pub struct BenchClient {
    runtime: Runtime,
    client: SocketIoClient,
}

impl BenchClient {
    /// Connects under a token, with the capabilities of the editor.
    pub fn connect(server: &BenchServer, token: &str, name: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let capabilities = ["presence-changes", "short-updates", "hunk-changes"];
        let auth = json!({"token": token, "name": name, "capabilities": capabilities});
        let sockets = SocketIoServer::new(&server.url).expect("an address");
        let client = runtime.block_on(sockets.connect(&auth)).expect("it is admitted");
        Self { runtime, client }
    }

    /// Session of the connection.
    pub fn session(&self) -> &str {
        self.client.greeting()["sessionId"].as_str().expect("a session")
    }

    /// Sends an event; returns the number of its acknowledgement.
    pub fn send(&mut self, event: &str, payload: &Value) -> u64 {
        self.runtime.block_on(self.client.send(event, payload)).expect("it is open")
    }

    /// Sends, and waits for the answer, whichever it is.
    pub fn try_ask(&mut self, event: &str, payload: &Value) -> Value {
        self.runtime.block_on(self.client.ask(event, payload)).expect("it is open")
    }

    /// Sends, and waits for the answer, which must not be a refusal.
    pub fn ask(&mut self, event: &str, payload: &Value) -> Value {
        accepted(self.try_ask(event, payload)).expect(event)
    }

    /// Waits for the next packet.
    pub fn receive(&mut self) -> SocketIoPacket {
        self.runtime.block_on(self.client.receive()).expect("it is open")
    }

    /// Waits for an event; when it came, and what it says. What comes before is discarded.
    pub fn hears(&mut self, event: &str) -> (std::time::Instant, Value) {
        loop {
            let packet = self.receive();
            if let Some((_, payload)) = packet.event().filter(|(name, _)| *name == event) {
                return (packet.at.into_std(), serde_json::from_str(payload).expect("JSON"));
            }
        }
    }

    /// Makes a document and opens it; its id.
    pub fn create(&mut self, text: &str) -> String {
        let made = self.ask("document:create", &json!({"title": "Page", "text": text}));
        let id = made["document"]["id"].as_str().expect("a document").to_owned();
        self.ask("document:open", &json!({"documentId": id}));
        id
    }
}
