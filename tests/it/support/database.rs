//! The database of a story: SQLite in the data directory, or, with
//! `COPYDESK_STORIES_DATABASE=postgres`, one of its own in PostgreSQL.
//!
//! `COPYDESK_TEST_POSTGRES` is the address of a PostgreSQL server on which databases may be created
//! (default: `postgres://postgres@127.0.0.1:5432/postgres`).

use std::cell::RefCell;
use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use sqlx_postgres::PgConnection;
use tempfile::TempDir;

use super::namespaces::Host;
use super::skip::{skip, story};

const SERVER: &str = "postgres://postgres@127.0.0.1:5432/postgres";

thread_local! {
    /// Address of the database of the story that runs on this thread.
    static OF_THIS_STORY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The address of the database of the story on this thread; `None`: it is in the data directory.
pub fn of_this_story() -> Option<String> {
    OF_THIS_STORY.with_borrow(Clone::clone)
}

fn server() -> String {
    env::var("COPYDESK_TEST_POSTGRES").unwrap_or_else(|_| SERVER.to_owned())
}

/// Database in PostgreSQL that goes away with the story.
pub struct StoryDatabase {
    server: String,
    name: String,
}

impl StoryDatabase {
    /// A new database for any story; `None` if they run on SQLite.
    pub fn of_all_stories() -> Option<Self> {
        let database = env::var("COPYDESK_STORIES_DATABASE");
        database.is_ok_and(|database| database == "postgres").then(|| Self::on(&server()))
    }

    /// A new database on PostgreSQL, whatever stories run on. Without a server the story is
    /// skipped, loudly, which is a failure with `COPYDESK_REQUIRE_ALL=1`.
    pub fn on_postgres() -> Option<Self> {
        if let Err(error) = run(&server(), "SELECT 1".to_owned()) {
            skip(story(), format_args!("no PostgreSQL at {}: {error}", server()));
            return None;
        }
        Some(Self::on(&server()))
    }

    /// A new database on the PostgreSQL server at this address.
    pub fn on(server: &str) -> Self {
        let name = format!("copydesk_story_{}", uuid::Uuid::new_v4().simple());
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        run(server, create).expect("there is PostgreSQL");
        let database = Self { server: server.to_owned(), name };
        OF_THIS_STORY.set(Some(database.url()));
        database
    }

    /// Its address.
    pub fn url(&self) -> String {
        let end = self.server.rfind('/').expect("the address has a database");
        format!("{}/{}", &self.server[..end], self.name)
    }
}

impl Drop for StoryDatabase {
    fn drop(&mut self) {
        OF_THIS_STORY.set(None);
        if let Err(error) = run(&self.server, format!("DROP DATABASE {} WITH (FORCE)", self.name)) {
            eprintln!("a database is left behind: {error}");
        }
    }
}

/// Runs a statement on the server, on a thread of its own: the story may be in a runtime.
fn run(server: &str, sql: String) -> sqlx::Result<()> {
    let server = server.to_owned();
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("there is a runtime").block_on(async {
            let mut connection = PgConnection::connect(&server).await?;
            connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
            connection.close().await
        })
    };
    std::thread::spawn(work).join().expect("it ends")
}

/// PostgreSQL server of one story, which may be killed.
pub struct PrivatePostgres {
    programs: PathBuf,
    directory: TempDir,
    host: Host,
    port: u16,
    process: Option<Child>,
}

impl PrivatePostgres {
    /// Starts one, if the programs of PostgreSQL are on this machine. Without them the story is
    /// skipped, loudly, which is a failure with `COPYDESK_REQUIRE_ALL=1`.
    pub fn start() -> Option<Self> {
        Self::start_on(&Host::default(), None)
    }

    /// As `start`, on another machine, or with its data in this folder.
    pub fn start_on(host: &Host, folder: Option<&Path>) -> Option<Self> {
        let Some(programs) = programs() else {
            skip(story(), "there is no initdb of PostgreSQL");
            return None;
        };
        let directory = folder.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
        let directory = directory.expect("there is room for a database");
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = free.local_addr().expect("it has an address").port();
        let host = host.clone();
        let mut postgres = Self { programs, directory, host, port, process: None };
        if rustix::process::geteuid().is_root() {
            let folder = postgres.directory.path();
            let owned = Command::new("chown").arg("postgres").arg(folder).status();
            assert!(owned.expect("there is `chown`").success(), "there is no user postgres");
        }
        let arguments = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"];
        let made = postgres.command("initdb").args(arguments).status();
        assert!(made.expect("it can be run").success(), "initdb failed");
        drop(free);
        // Everyone who can reach it is let in, also from another machine of the story.
        let hosts = postgres.directory.path().join("data/pg_hba.conf");
        let mut hosts = std::fs::File::options().append(true).open(hosts).expect("it was made");
        writeln!(hosts, "host all all samenet trust\nhost all all 10.0.0.0/8 trust").unwrap();
        postgres.starts();
        Some(postgres)
    }

    /// Starts it on the data that it has, and waits until it answers.
    pub fn starts(&mut self) {
        let folder = self.directory.path().display().to_string();
        let port = self.port.to_string();
        let mut command = self.command("postgres");
        let addresses = format!("listen_addresses={}", self.host.address);
        command.args(["-p", &port, "-k", &folder, "-c", &addresses]);
        self.process = Some(self.host.runs(command).spawn().expect("it can be run"));
        let until = Instant::now() + Duration::from_mins(1);
        while let Err(error) = run(&self.url(), "SELECT 1".to_owned()) {
            assert!(Instant::now() < until, "PostgreSQL does not start: {error}");
        }
    }

    /// As a power cut of the database: all of its processes end at once.
    pub fn is_killed(&mut self) {
        let Some(mut main) = self.process.take() else { return };
        let children = Command::new("pgrep").args(["-P", &main.id().to_string()]).output();
        let children = String::from_utf8(children.expect("there is `pgrep`").stdout);
        let children = children.expect("numbers");
        main.kill().expect("it runs");
        Command::new("kill").arg("-9").args(children.lines()).status().expect("there is `kill`");
        main.wait().expect("it was started");
        let runs = |id: &str| {
            let state = std::fs::read_to_string(format!("/proc/{id}/stat"));
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        while children.lines().any(runs) {
            std::thread::yield_now();
        }
    }

    /// Starts it again if it has ended by itself.
    pub fn starts_if_ended(&mut self) {
        let process = self.process.as_mut().expect("it was started");
        if process.try_wait().expect("it was started").is_some() {
            self.starts();
        }
    }

    /// Makes it need space: it goes on in the next file of its log. Fails where there is none.
    pub fn begins_next_log_file(&self) -> sqlx::Result<()> {
        run(&self.url(), "SELECT pg_switch_wal()".to_owned())
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}:{}/postgres", self.host.address, self.port)
    }

    /// One of its programs, as another user where this one is root, which it refuses.
    fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.arg("-D").arg(self.directory.path().join("data")).current_dir("/");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        self.is_killed();
    }
}

/// The folder with the programs of PostgreSQL: on Debian they are not on the `PATH`.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin"));
    env::split_paths(&path).chain(debian).find(|folder| folder.join("initdb").is_file())
}
