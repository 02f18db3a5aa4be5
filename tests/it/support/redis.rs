//! Redis of one story, which may be killed and started again.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::namespaces::Host;
use super::skip::{skip, story};

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
            skip(story(), format_args!("there is no redis-server: {error}"));
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

    /// Publishes messages in the channel in which all servers of its one database are.
    pub fn publishes(&self, messages: impl Iterator<Item = String>) {
        let address = (&*self.host.address, self.port);
        let mut connection = BufReader::new(TcpStream::connect(address).expect("it answers"));
        let auth = format!("AUTH {REDIS_PASSWORD}\r\nPUBSUB CHANNELS copydesk:*\r\n");
        connection.get_mut().write_all(auth.as_bytes()).expect("it listens");
        let mut line = || {
            let mut line = String::new();
            connection.read_line(&mut line).expect("it answers");
            line.trim_end().to_owned()
        };
        assert_eq!(line(), "+OK");
        let count: usize = line()[1..].parse().expect("a number");
        let names = (0..count).map(|_| (line(), line()).1).collect::<Vec<_>>();
        // Each server has one of its own besides, whose name is longer.
        let channel = names.into_iter().min_by_key(String::len).expect("a server is connected");
        let mut sent = 0;
        let mut batch = String::new();
        for message in messages {
            let (name, text) = (channel.len(), message.len());
            write!(
                batch,
                "*3\r\n$7\r\nPUBLISH\r\n${name}\r\n{channel}\r\n${text}\r\n{message}\r\n"
            )
            .expect("a string takes it");
            sent += 1;
        }
        let mut writer = connection.get_ref().try_clone().expect("it is open");
        let writing = std::thread::spawn(move || writer.write_all(batch.as_bytes()));
        for _ in 0..sent {
            let mut line = String::new();
            connection.read_line(&mut line).expect("it answers");
            assert!(line.starts_with(':'), "{line}");
        }
        writing.join().expect("it ends").expect("it listens");
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
