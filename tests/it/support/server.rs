//! The real server: started, killed, stopped and started again on the same data.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::database;
use super::namespaces::Host;
use super::waiting::found;

const BINARY: &str = env!("CARGO_BIN_EXE_copydesk");
/// A debug build on a busy machine opens its database in well under a second.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A running server; killed when it goes out of scope.
pub struct Server {
    process: Child,
    /// `http://127.0.0.1:PORT`
    pub url: String,
    /// Address after `open` in what it printed.
    pub link: String,
    complaints: Arc<Mutex<String>>,
}

/// The binary, without anything of the developer's own environment that would change what it does.
pub fn copydesk_command() -> Command {
    let mut command = Command::new(BINARY);
    for (name, _) in std::env::vars() {
        let foreign = ["COPYDESK_", "ANTHROPIC_", "OPENAI_", "TOOL_APPROVAL_"];
        if foreign.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    // One that is installed here is no part of any story.
    command.env("COPYDESK_CLAUDE", "/nonexistent/claude");
    if let Some(url) = database::of_this_story() {
        command.env("COPYDESK_DATABASE_URL", url);
    }
    command
}

/// Returns the output of a process and its complaints, if it ended with this code.
#[track_caller]
pub fn output_of(output: &Output, code: i32) -> (String, String) {
    let [said, complaint] =
        [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
    assert_eq!(output.status.code(), Some(code), "{said}\n{complaint}");
    (said, complaint)
}

impl Server {
    /// Starts it on a free port and waits for its two lines.
    pub fn start(data: &Path, flags: &[String], environment: &[(String, String)]) -> Self {
        Self::start_on(&Host::default(), data, flags, environment)
    }

    /// As `start`, on another machine.
    pub fn start_on(
        host: &Host,
        data: &Path,
        flags: &[String],
        environment: &[(String, String)],
    ) -> Self {
        Self::try_start_on(host, data, flags, environment)
            .unwrap_or_else(|why| panic!("the server did not start:\n{why}"))
    }

    /// As `start`; where it refuses to start, what it said.
    pub fn try_start(
        data: &Path,
        flags: &[String],
        environment: &[(String, String)],
    ) -> Result<Self, String> {
        Self::try_start_on(&Host::default(), data, flags, environment)
    }

    fn try_start_on(
        host: &Host,
        data: &Path,
        flags: &[String],
        environment: &[(String, String)],
    ) -> Result<Self, String> {
        let mut process = host
            .runs(copydesk_command())
            .args(["--listen", &format!("{}:0", host.address), "--data"])
            .arg(data)
            .args(flags)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .current_dir(data.parent().unwrap_or(data))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary is built");
        let complaints = collect(process.stderr.take().expect("stderr is piped"));
        let output = process.stdout.take().expect("stdout is piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                sender.send(line).ok();
            }
        });
        let line = |prefix: &str| {
            let line = lines.recv_timeout(TIMEOUT).ok()?;
            line.strip_prefix(prefix).map(str::to_owned)
        };
        let said = (line("copydesk listening on "), line("open "));
        if let (Some(url), Some(link)) = said {
            return Ok(Self { process, url, link, complaints });
        }
        process.kill().ok();
        process.wait().expect("it was started");
        // Read to its end by a thread, which then lets go of it.
        let until = Instant::now() + TIMEOUT;
        while Arc::strong_count(&complaints) > 1 && Instant::now() < until {
            std::thread::yield_now();
        }
        let complaints = complaints.lock().clone();
        Err(complaints)
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// As a power cut: SIGKILL.
    pub fn kill(&mut self) {
        self.process.kill().ok();
        self.process.wait().expect("it was started");
    }

    /// Politely: SIGTERM.
    pub fn stop(&mut self) -> ExitStatus {
        let id = self.process.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("there is a `kill`");
        self.ends()
    }

    /// As `Ctrl C` in a terminal: SIGINT.
    pub fn interrupt(&mut self) -> ExitStatus {
        self.receives("-INT");
        self.ends()
    }

    /// Stands still from now on, with all its connections open: SIGSTOP.
    pub fn stands_still(&self) {
        self.receives("-STOP");
    }

    /// Goes on after it stood still: SIGCONT.
    pub fn goes_on(&self) {
        self.receives("-CONT");
    }

    fn receives(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.id().to_string()]).status();
        assert!(status.expect("there is a `kill`").success(), "{signal}");
    }

    /// Waits until it has written this to stderr so many times.
    pub fn complains(&self, words: &str, times: usize) {
        found(|| {
            let written = self.complaints();
            let is_written = written.matches(words).count() >= times;
            if is_written { Ok(()) } else { Err(format!("{words:?} was not written:\n{written}")) }
        });
    }

    /// Waits for its end.
    pub fn ends(&mut self) -> ExitStatus {
        found(|| {
            let ended = self.process.try_wait().expect("it was started");
            ended.ok_or("the server goes on")
        })
    }

    /// The sockets it has open.
    pub fn open_sockets(&self) -> usize {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.process.id()));
        let links = files.expect("the server runs").filter_map(|file| {
            let link = std::fs::read_link(file.ok()?.path()).ok()?;
            link.to_string_lossy().starts_with("socket:").then_some(())
        });
        links.count()
    }

    /// Returns `true` if nothing of what was sent to its port is unread.
    pub fn has_read_all(&self) -> bool {
        let (_, port) = self.address().rsplit_once(':').expect("an address has a port");
        let end = format!(":{:04X}", port.parse::<u16>().expect("a port"));
        let connections = std::fs::read_to_string("/proc/net/tcp").expect("there is a list");
        connections.lines().skip(1).all(|line| {
            let fields: Vec<_> = line.split_whitespace().collect();
            let (unsent, unread) = fields[4].split_once(':').expect("the lengths of two queues");
            let is_empty = |length: &str| length.bytes().all(|digit| digit == b'0');
            // The state of a listening socket is 0A, and its queue is of connections.
            (!fields[1].ends_with(&end) || fields[3] == "0A" || is_empty(unread))
                && (!fields[2].ends_with(&end) || is_empty(unsent))
        })
    }

    /// The memory it has now, in bytes.
    pub fn memory(&self) -> usize {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        kilobytes.map_or(0, |kilobytes: usize| kilobytes * 1024)
    }

    /// The numbers of its processes that check grammar.
    pub fn grammar_workers(&self) -> Vec<u32> {
        let processes = std::fs::read_dir("/proc").expect("there is a list of processes");
        let numbers = processes.filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter(|number| is_grammar_worker(*number, self.process.id())).collect()
    }

    /// Returns what it wrote to stderr so far.
    pub fn complaints(&self) -> String {
        self.complaints.lock().clone()
    }
}

/// Returns `true` if this process was started by that one to check grammar, and has not ended.
fn is_grammar_worker(number: u32, server: u32) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{number}/{name}"));
    let parent = format!("PPid:\t{server}\n");
    // An ended process that was not collected yet has no arguments any more.
    read("cmdline").is_ok_and(|it| it.contains("grammar-worker"))
        && read("status").is_ok_and(|it| it.contains(&parent))
}

fn collect(mut from: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text: Arc<Mutex<String>> = Arc::default();
    let into = Arc::clone(&text);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut piece) {
            into.lock().push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    });
    text
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            // Shown by the test runner below the story that failed.
            eprintln!("the server wrote:\n{}", self.complaints());
        }
    }
}
