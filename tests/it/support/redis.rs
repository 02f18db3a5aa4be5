//! Redis of one story, which may be killed and started again.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::namespaces::Host;

/// Its password, which must show nowhere.
pub const REDIS_PASSWORD: &str = "hunter2-of-redis";

/// Redis server of one story.
pub struct PrivateRedis {
    directory: TempDir,
    host: Host,
    port: u16,
    process: Option<Child>,
}

impl PrivateRedis {
    /// Starts one, if the program is on this machine. Without it the story is skipped, loudly,
    /// which is a failure with `COPYDESK_REQUIRE_ALL=1`.
    pub fn start() -> Option<Self> {
        Self::start_on(&Host::default())
    }

    /// As `start`, on another machine.
    pub fn start_on(host: &Host) -> Option<Self> {
        if let Err(error) = Command::new("redis-server").arg("--version").output() {
            let required = std::env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "there is no redis-server ({error}), and COPYDESK_REQUIRE_ALL=1");
            eprintln!("\n*** SKIPPED: there is no redis-server: {error}\n");
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let directory = tempfile::tempdir().expect("there is room for a folder");
        let mut redis = Self { directory, host: host.clone(), port, process: None };
        redis.starts();
        Some(redis)
    }

    /// Starts it, and waits until it answers.
    pub fn starts(&mut self) {
        let port = self.port.to_string();
        let mut command = self.host.runs(Command::new("redis-server"));
        let address = &self.host.address;
        command.args(["--port", &port, "--bind", address, "--requirepass", REDIS_PASSWORD]);
        command.args(["--save", "", "--appendonly", "no"]).current_dir(self.directory.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.process = Some(command.spawn().expect("it can be run"));
        let until = Instant::now() + Duration::from_mins(1);
        while !self.answers() {
            assert!(Instant::now() < until, "Redis does not start");
        }
    }

    fn answers(&self) -> bool {
        let Ok(mut connection) = TcpStream::connect((&*self.host.address, self.port)) else {
            return false;
        };
        let mut answer = [0];
        // It asks for the password, which is an answer.
        connection.write_all(b"PING\r\n").is_ok()
            && connection.read_exact(&mut answer).is_ok()
            && answer == *b"-"
    }

    /// As a power cut.
    pub fn is_killed(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it runs");
            process.wait().expect("it was started");
        }
    }

    /// Its address, with the password.
    pub fn url(&self) -> String {
        format!("redis://:{REDIS_PASSWORD}@{}:{}", self.host.address, self.port)
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        self.is_killed();
    }
}
