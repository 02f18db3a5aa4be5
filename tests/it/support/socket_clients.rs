//! The Node process that holds the real socket.io clients of all stories of this binary.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::log::{Entry, Kind, Log};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/socket_clients.mjs");

/// The process with the clients.
pub struct SocketClients {
    input: Mutex<ChildStdin>,
    logs: Arc<Mutex<HashMap<u64, Arc<Log>>>>,
    sockets: AtomicU64,
    acks: AtomicU64,
}

/// Message of the process.
#[derive(Deserialize)]
struct Line {
    socket: u64,
    kind: Kind,
    name: String,
    ack: Option<u64>,
    #[serde(default)]
    body: Value,
}

/// The one process, started by the test that needs it first.
pub fn socket_clients() -> &'static SocketClients {
    static SOCKET_CLIENTS: OnceLock<SocketClients> = OnceLock::new();
    SOCKET_CLIENTS.get_or_init(|| {
        match modules().and_then(|modules| SocketClients::start(&modules)) {
            Ok(clients) => clients,
            Err(why) => give_up(&why),
        }
    })
}

/// Returns the folder in which `socket.io-client` is installed: the editor's modules, as the build
/// script says, or that of the environment.
pub fn modules() -> Result<PathBuf, String> {
    let folder = std::env::var("COPYDESK_WEB_MODULES").ok();
    let built = option_env!("COPYDESK_WEB_MODULES").map(str::to_owned);
    let directory =
        folder.or(built).ok_or("COPYDESK_WEB_MODULES is not set: the editor was not built")?;
    let directory = PathBuf::from(directory);
    if directory.join("socket.io-client/package.json").is_file() {
        Ok(directory)
    } else {
        Err(format!("there is no socket.io-client in {}", directory.display()))
    }
}

/// Without a real client the stories prove nothing. They are left out, and everybody hears of it;
/// where everything is required that is a failure.
pub fn give_up(why: &str) -> ! {
    let required = std::env::var("COPYDESK_REQUIRE_ALL").is_ok_and(|it| it == "1");
    let verdict = if required { "FAILED" } else { "SKIPPED" };
    // Written past the test runner, which would keep it to itself.
    let _ = writeln!(
        std::io::stderr(),
        "\n*** tests/it {verdict}: no story ran, because no socket.io client could be started.\n*** {why}\n\
         *** Install Node.js 20 or newer with npm and build again; COPYDESK_REQUIRE_ALL=1 makes this a failure.\n"
    );
    std::process::exit(i32::from(required));
}

impl SocketClients {
    fn start(modules: &std::path::Path) -> Result<Self, String> {
        let mut child = Command::new("node")
            .arg(PROGRAM)
            .arg(modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`node` cannot be started: {error}"))?;
        let input = child.stdin.take().expect("stdin is piped");
        let output = child.stdout.take().expect("stdout is piped");
        let logs: Arc<Mutex<HashMap<u64, Arc<Log>>>> = Arc::default();
        let readers = Arc::clone(&logs);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let line: Line =
                    serde_json::from_str(&line).expect("the process writes JSON lines");
                let log = readers.lock().get(&line.socket).cloned();
                if let Some(log) = log {
                    let Line { kind, name, ack, body, .. } = line;
                    log.add(Entry { kind, name, ack, body });
                }
            }
        });
        // The process ends when this one does: its input closes.
        Ok(Self {
            input: Mutex::new(input),
            logs,
            sockets: AtomicU64::new(1),
            acks: AtomicU64::new(1),
        })
    }

    /// A new socket towards `url`; what happens to it is in its log.
    pub fn connect(&self, url: &str, options: &Value) -> (u64, Arc<Log>) {
        let socket = self.sockets.fetch_add(1, Ordering::Relaxed);
        let log = Arc::new(Log::default());
        self.logs.lock().insert(socket, Arc::clone(&log));
        self.say(&json!({"op": "connect", "socket": socket, "url": url, "options": options}));
        (socket, log)
    }

    /// Numbers for acknowledgements, `count` in a row; the first is returned.
    pub fn acks(&self, count: u64) -> u64 {
        self.acks.fetch_add(count, Ordering::Relaxed)
    }

    /// Disconnects a socket and forgets it. Also while a story fails, so without a complaint.
    pub fn leave(&self, socket: u64) {
        self.logs.lock().remove(&socket);
        writeln!(self.input.lock(), "{}", json!({"op": "disconnect", "socket": socket})).ok();
    }

    /// One line to the process.
    pub fn say(&self, message: &Value) {
        let mut input = self.input.lock();
        let written = writeln!(input, "{message}").and_then(|()| input.flush());
        drop(input);
        written.expect("the process is there");
    }
}
