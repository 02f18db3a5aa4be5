//! Proxies in front of several servers, with the configuration that the documentation has.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const DOCUMENTATION: &str = include_str!("../../../docs/scaling.md");
/// Addresses that the documentation gives to its two servers.
const DOCUMENTED: [&str; 2] = ["10.0.0.5:4680", "10.0.0.6:4680"];

/// Program that can stand in front of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProgram {
    Nginx,
    Haproxy,
}

impl ProxyProgram {
    fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
        }
    }

    /// The place of a file by the name; Debian has some programs of servers outside of the `PATH`.
    fn command(self) -> Command {
        let beside = Path::new("/usr/sbin").join(self.name());
        if beside.is_file() { Command::new(beside) } else { Command::new(self.name()) }
    }

    /// What the documentation shows, with the servers of this story, on a free port and without
    /// TLS, for which a story has no certificate. Everything else is as it is written.
    fn configuration(self, servers: [&str; 2], port: u16, folder: &Path) -> String {
        let begin = format!("```{}\n", self.name());
        let (_, rest) = DOCUMENTATION.split_once(&begin).expect("the documentation has it");
        let (written, _) = rest.split_once("```").expect("it ends");
        let replaced = |text: String, (old, new): (&str, &str)| {
            assert!(text.contains(old), "the documentation of {} has no {old}", self.name());
            text.replace(old, new)
        };
        let text = DOCUMENTED.into_iter().zip(servers).fold(written.to_owned(), replaced);
        let folder = folder.display();
        match self {
            Self::Nginx => {
                let text =
                    replaced(text, ("listen 443 ssl;", &format!("listen 127.0.0.1:{port};")));
                format!(
                    "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n\
                     events {{}}\nhttp {{\naccess_log off;\nclient_body_temp_path {folder}/body;\n\
                     proxy_temp_path {folder}/proxy;\nfastcgi_temp_path {folder}/fastcgi;\n\
                     uwsgi_temp_path {folder}/uwsgi;\nscgi_temp_path {folder}/scgi;\n{text}}}\n"
                )
            }
            Self::Haproxy => {
                let bound = format!("bind 127.0.0.1:{port}");
                replaced(text, ("bind :443 ssl crt /etc/haproxy/desk.pem", &bound))
            }
        }
    }
}

/// Proxy that runs as long as its story.
pub struct Proxy {
    process: Child,
    _directory: TempDir,
    /// `http://127.0.0.1:PORT`
    pub url: String,
}

impl Proxy {
    /// Starts the program in front of two servers, given by their `HOST:PORT`. Where it is not
    /// installed the story is skipped, loudly, which is a failure with `COPYDESK_REQUIRE_ALL=1`.
    pub fn start(program: ProxyProgram, servers: [&str; 2]) -> Option<Self> {
        if let Err(error) = program.command().arg("-v").output() {
            let required = std::env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
            let name = program.name();
            assert!(!required, "there is no {name} ({error}), and COPYDESK_REQUIRE_ALL=1");
            eprintln!("\n*** SKIPPED: there is no {name}: {error}\n");
            return None;
        }
        let directory = tempfile::tempdir().expect("there is room for a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let text = program.configuration(servers, port, directory.path());
        let file = directory.path().join("configuration");
        std::fs::write(&file, text).expect("there is room for a file");
        let mut command = program.command();
        match program {
            ProxyProgram::Nginx => command.arg("-p").arg(directory.path()).arg("-c").arg(&file),
            ProxyProgram::Haproxy => command.arg("-db").arg("-f").arg(&file),
        };
        let process = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn();
        let process = process.expect("it can be run");
        let url = format!("http://127.0.0.1:{port}");
        let mut proxy = Self { process, _directory: directory, url };
        let until = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = proxy.process.try_wait().expect("it was started");
            assert!(ended.is_none(), "{} does not take the configuration", program.name());
            assert!(Instant::now() < until, "{} does not listen", program.name());
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(proxy)
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
