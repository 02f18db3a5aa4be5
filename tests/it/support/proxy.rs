//! Proxies in front of servers, with the configuration that the documentation has.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::skip::{skip, story};
use super::waiting::found;

/// Page about one server, and the address that it gives to the server.
const ONE_SERVER: (&str, &[&str]) = (include_str!("../../../docs/proxies.md"), &["127.0.0.1:4680"]);
/// Page about two servers, and the addresses that it gives to them.
const TWO_SERVERS: (&str, &[&str]) =
    (include_str!("../../../docs/scaling.md"), &["10.0.0.5:4680", "10.0.0.6:4680"]);

/// Program that can stand in front of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProgram {
    Nginx,
    Haproxy,
    Caddy,
}

impl ProxyProgram {
    fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Caddy => "caddy",
        }
    }

    /// The place of a file by the name; Debian has some programs of servers outside of the `PATH`.
    fn command(self) -> Command {
        let beside = Path::new("/usr/sbin").join(self.name());
        if beside.is_file() { Command::new(beside) } else { Command::new(self.name()) }
    }

    fn is_there(self) -> std::io::Result<()> {
        let argument = if self == Self::Caddy { "version" } else { "-v" };
        self.command().arg(argument).output().map(drop)
    }

    /// The command that runs the program with a configuration file.
    fn start(self, file: &Path, folder: &Path) -> Command {
        let mut command = self.command();
        match self {
            Self::Nginx => command.arg("-p").arg(folder).arg("-c").arg(file),
            Self::Haproxy => command.arg("-db").arg("-f").arg(file),
            // It keeps certificates in the home folder.
            Self::Caddy => command
                .args(["run", "--adapter", "caddyfile", "--config"])
                .arg(file)
                .env("HOME", folder)
                .env_remove("XDG_DATA_HOME")
                .env_remove("XDG_CONFIG_HOME"),
        };
        command
    }

    /// Returns the configuration of the documentation, with the servers of this story, on a free
    /// port and without TLS, for which a story has no certificate. Everything else is as it is
    /// written.
    fn configuration(self, servers: &[&str], port: u16, folder: &Path) -> String {
        let (page, documented) = if servers.len() == 1 { ONE_SERVER } else { TWO_SERVERS };
        let begin = format!("```{}\n", self.name());
        let (_, rest) = page.split_once(&begin).expect("the documentation has it");
        let (written, _) = rest.split_once("```").expect("it ends");
        let replaced = |text: String, (old, new): (&str, &str)| {
            assert!(text.contains(old), "the documentation of {} has no {old}", self.name());
            text.replace(old, new)
        };
        let addresses = documented.iter().copied().zip(servers.iter().copied());
        let text = addresses.fold(written.to_owned(), replaced);
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
            Self::Caddy => {
                let site = format!("http://127.0.0.1:{port} {{");
                let text = replaced(text, ("desk.example.org {", &site));
                format!("{{\nadmin off\ndefault_bind 127.0.0.1\n}}\n{text}")
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
    /// Starts the program in front of one or two servers, given by their `HOST:PORT`. Where it is
    /// not installed the story is skipped, loudly, which is a failure with
    /// `COPYDESK_REQUIRE_ALL=1`.
    pub fn start(program: ProxyProgram, servers: &[&str]) -> Option<Self> {
        if let Err(error) = program.is_there() {
            skip(story(), format_args!("there is no {}: {error}", program.name()));
            return None;
        }
        let directory = tempfile::tempdir().expect("there is room for a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = free.local_addr().expect("it has an address").port();
        drop(free);
        let text = program.configuration(servers, port, directory.path());
        let file = directory.path().join("configuration");
        std::fs::write(&file, text).expect("there is room for a file");
        let mut command = program.start(&file, directory.path());
        let errors = Stdio::from(
            std::fs::File::create(directory.path().join("errors")).expect("there is room"),
        );
        let process = command.stdout(Stdio::null()).stderr(errors).spawn();
        let process = process.expect("it can be run");
        let url = format!("http://127.0.0.1:{port}");
        let mut proxy = Self { process, _directory: directory, url };
        found(|| {
            let ended = proxy.process.try_wait().expect("it was started");
            assert!(ended.is_none(), "{} does not take the configuration", program.name());
            std::net::TcpStream::connect(("127.0.0.1", port))
        });
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
