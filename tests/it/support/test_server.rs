//! A server of its own for each story: its data directory, its process, and the people who connect
//! to it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use copydesk_store::StorePlace;
use serde_json::json;
use tempfile::TempDir;

use super::database::StoryDatabase;
use super::namespaces::Host;
use super::nodes;
use super::person::Person;
use super::provider::Provider;
use super::script::Script;
use super::server::{Server, copydesk_command};
use super::waiting::found;

/// The owner's token of every server.
pub const OWNER: &str = "owner-secret-of-the-stories";

/// Role that a token gives.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    Editor,
    Reviewer,
    Suggester,
    Viewer,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::Editor => "editor",
            Self::Reviewer => "reviewer",
            Self::Suggester => "suggester",
            Self::Viewer => "viewer",
        }
    }
}

/// A server and its data directory; with `COPYDESK_STORIES_NODES=2`, two servers on one database,
/// and a client that connects or asks comes to one of them by chance.
pub struct TestServer {
    server: Server,
    /// The other servers on the database.
    others: Vec<Server>,
    directory: TempDir,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    database: Option<StoryDatabase>,
    /// The machines of the servers, if not this one.
    hosts: Vec<Host>,
}

/// Options with which a server is started.
#[derive(Default)]
pub struct TestServerBuilder {
    model: Option<Model>,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    files: Option<Vec<(String, String)>>,
    only_on_sqlite: Option<&'static str>,
    hosts: Vec<Host>,
    data: Option<PathBuf>,
}

enum Model {
    File(PathBuf),
    Script(Script),
    Named(String),
}

impl TestServerBuilder {
    /// More flags of `copydesk serve`.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(ToString::to_string));
        self
    }

    /// Each server on a machine of its own.
    pub fn hosts(mut self, hosts: Vec<Host>) -> Self {
        self.hosts = hosts;
        self
    }

    /// With its data directory in this folder.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.data = Some(folder.to_owned());
        self
    }

    /// A variable of its environment.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Plays a script.
    pub fn script(mut self, script: Script) -> Self {
        self.model = Some(Model::Script(script));
        self
    }

    /// Plays a script of `fixtures/scripts`.
    pub fn playing(mut self, name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/scripts")
            .join(format!("{name}.json"));
        assert!(file.is_file(), "there is no script {}", file.display());
        self.model = Some(Model::File(file));
        self
    }

    /// A workspace with these files.
    pub fn workspace(mut self, files: &[(&str, &str)]) -> Self {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        self.files = Some(files.iter().map(owned).collect());
        self
    }

    /// Asks a provider of the Messages API that is played.
    pub fn provider(self, provider: &Provider) -> Self {
        let keyed = self.model("anthropic").variable("ANTHROPIC_API_KEY", "sk-story");
        keyed.variable("ANTHROPIC_BASE_URL", &provider.url)
    }

    /// Another model, as `--model` names it.
    pub fn model(mut self, name: &str) -> Self {
        self.model = Some(Model::Named(name.to_owned()));
        self
    }

    /// With SQLite, also when stories run on PostgreSQL; says why.
    pub fn on_sqlite(mut self, reason: &'static str) -> Self {
        self.only_on_sqlite = Some(reason);
        self
    }

    /// Starts the server, or as many as stories run on. A workspace belongs to one.
    pub fn start(self) -> TestServer {
        let nodes = if self.files.is_some() { 1 } else { nodes::count() };
        if self.only_on_sqlite.is_some() {
            return self.start_on(None);
        }
        if nodes == 1 {
            // A story may have servers of both kinds, each with a database of its own.
            let database = match nodes::asked() {
                1 => StoryDatabase::of_all_stories(),
                _ => StoryDatabase::on_postgres(),
            };
            return self.start_on(database);
        }
        match StoryDatabase::on_postgres() {
            Some(database) => self.start_nodes(nodes, database),
            None => panic!("stories on several servers need PostgreSQL"),
        }
    }

    /// Starts several servers on one database in PostgreSQL.
    pub fn start_nodes(self, count: usize, database: StoryDatabase) -> TestServer {
        let mut copydesk = self.flags(&["--cluster"]).start_on(Some(database));
        copydesk.others = (1..count).map(|number| copydesk.start_node(number)).collect();
        copydesk
    }

    /// Starts the server on a database in PostgreSQL.
    pub fn start_on(mut self, database: Option<StoryDatabase>) -> TestServer {
        if let Some(database) = &database {
            self.environment.push(("COPYDESK_DATABASE_URL".to_owned(), database.url()));
        }
        let directory = match self.data {
            Some(folder) => tempfile::tempdir_in(folder),
            None => tempfile::tempdir(),
        };
        let directory = directory.expect("there is room for a data directory");
        let model = match self.model {
            Some(Model::File(file)) => format!("script:{}", file.display()),
            Some(Model::Script(script)) => script.write(directory.path()),
            Some(Model::Named(name)) => name,
            None => Script::talking().write(directory.path()),
        };
        let mut flags = vec!["--model".to_owned(), model, "--token".to_owned(), OWNER.to_owned()];
        flags.extend(self.flags);
        if let Some(files) = self.files {
            let folder = directory.path().join("workspace");
            std::fs::create_dir(&folder).expect("there is room for a workspace");
            for (name, text) in files {
                std::fs::write(folder.join(name), text).expect("there is room for a file");
            }
            flags.extend(["--workspace".to_owned(), folder.display().to_string()]);
        }
        let host = self.hosts.first().cloned().unwrap_or_default();
        let data = directory.path().join("data");
        let server = Server::start_on(&host, &data, &flags, &self.environment);
        let (environment, others, hosts) = (self.environment, Vec::new(), self.hosts);
        TestServer { server, others, directory, flags, environment, database, hosts }
    }
}

impl TestServer {
    /// A server that is not asked to do more than talk.
    pub fn quiet() -> Self {
        TestServerBuilder::default().start()
    }

    /// A server whose model plays `fixtures/scripts/NAME.json`.
    pub fn playing(name: &str) -> Self {
        TestServerBuilder::default().playing(name).start()
    }

    /// A server whose model plays this.
    pub fn scripted(script: Script) -> Self {
        TestServerBuilder::default().script(script).start()
    }

    /// A server that asks this provider.
    pub fn behind(provider: &Provider) -> Self {
        TestServerBuilder::default().provider(provider).start()
    }

    /// To say more about it before it starts.
    pub fn plan() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    /// Returns its address: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.any().url
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        self.any().address()
    }

    /// One of the servers, by chance.
    fn any(&self) -> &Server {
        match nodes::chance(self.others.len() + 1) {
            0 => &self.server,
            number => &self.others[number - 1],
        }
    }

    fn start_node(&self, number: usize) -> Server {
        let data = self.directory.path().join(format!("data-{number}"));
        let host = self.hosts.get(number).cloned().unwrap_or_default();
        Server::start_on(&host, &data, &self.flags, &self.environment)
    }

    /// The link that was printed.
    pub fn link(&self) -> &str {
        &self.server.link
    }

    /// The memory the server has now, in bytes.
    pub fn memory(&self) -> usize {
        self.server.memory()
    }

    /// The numbers of the server's processes that check grammar.
    pub fn grammar_workers(&self) -> Vec<u32> {
        self.server.grammar_workers()
    }

    /// The sockets the server has open.
    pub fn open_sockets(&self) -> usize {
        self.server.open_sockets()
    }

    /// Returns `true` if the server has read all that its clients have sent.
    pub fn has_read_all(&self) -> bool {
        self.server.has_read_all()
    }

    /// Returns what the server wrote to stderr.
    pub fn complaints(&self) -> String {
        let all = std::iter::once(&self.server).chain(&self.others);
        all.map(Server::complaints).collect()
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// The place of what is stored.
    pub fn store(&self) -> StorePlace {
        match &self.database {
            Some(database) => StorePlace::Postgres(database.url().parse().expect("an address")),
            None => StorePlace::Directory(self.data()),
        }
    }

    /// A command with the place of the data in its environment.
    fn command(&self) -> Command {
        let mut command = copydesk_command();
        command.env("COPYDESK_DATA", self.data());
        command.envs(self.database.iter().map(|it| ("COPYDESK_DATABASE_URL", it.url())));
        command
    }

    /// Stops the server, and has its data checked; the story fails if anything is wrong.
    pub fn checks_its_data(mut self) {
        self.stops();
        let output = self.command().arg("check").output().expect("the binary is built");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.starts_with("nothing wrong"), "{said}");
    }

    /// Returns the text of a file of the workspace; `None`: it is not there.
    pub fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.path().join("workspace").join(name)).ok()
    }

    /// The folder of the workspace.
    pub fn folder(&self) -> PathBuf {
        self.directory.path().join("workspace")
    }

    /// Waits until a file of the workspace reads like this.
    pub fn file_comes_to_read(&self, name: &str, text: &str) {
        found(|| {
            let reads = self.file(name);
            let is_so = reads.as_deref() == Some(text);
            if is_so { Ok(()) } else { Err(format!("{name} reads {reads:?}, not {text:?}")) }
        });
    }

    /// Writes to a file of the workspace, as someone else would.
    pub fn overwrites(&self, name: &str, text: &str) {
        let path = self.directory.path().join("workspace").join(name);
        std::fs::write(path, text).expect("there is room for a file");
    }

    /// A connected person with a token of their own.
    pub fn person(&self, name: &str, role: Role) -> Person {
        Person::arrive(self.url(), &self.token(name, role, &[]), name)
    }

    /// Shorthand: most people in the stories write.
    pub fn editor(&self, name: &str) -> Person {
        self.person(name, Role::Editor)
    }

    /// As [`Self::editor`], with a client that understands additions to the protocol.
    pub fn editor_with(&self, name: &str, capabilities: &[&str]) -> Person {
        let token = self.token(name, Role::Editor, &[]);
        Person::arrive_with(self.url(), &token, capabilities)
    }

    /// A person connected who may go to one document and nowhere else.
    pub fn guest(&self, role: Role, document: &str) -> Person {
        let token = self.token("Guest", role, &["--document", document]);
        Person::arrive(self.url(), &token, "Guest")
    }

    /// The connected owner.
    pub fn owner(&self) -> Person {
        Person::arrive(self.url(), OWNER, "Owner")
    }

    /// A token, as `copydesk token` prints it.
    pub fn token(&self, name: &str, role: Role, more: &[&str]) -> String {
        let output = self
            .command()
            .args(["token", "--role", role.as_str(), "--name", name])
            .args(more)
            .output()
            .expect("the binary is built");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "no token was issued: {complaint}");
        String::from_utf8(output.stdout).expect("a token is text").trim().to_owned()
    }

    /// A socket that was not let in: its code and message.
    pub fn refuses(&self, auth: &serde_json::Value) -> (String, String) {
        Person::turned_away(self.url(), &json!({"auth": auth, "transports": ["websocket"]}))
    }

    /// A power cut, and the server is there again; people have to come back.
    pub fn is_killed_and_restarted(&mut self) {
        self.server.kill();
        self.others.iter_mut().for_each(Server::kill);
        self.starts();
    }

    /// SIGTERM.
    pub fn stops(&mut self) -> ExitStatus {
        for other in &mut self.others {
            other.stop();
        }
        self.server.stop()
    }

    /// SIGINT.
    pub fn is_interrupted(&mut self) -> ExitStatus {
        for other in &mut self.others {
            other.interrupt();
        }
        self.server.interrupt()
    }

    /// Starts on the same data, to die at a failpoint; nothing if it died before it could serve.
    pub fn starts_to_die_at(&mut self, walk: &str) -> Option<()> {
        let mut environment = self.environment.clone();
        environment.push(("COPYDESK_FAILPOINTS".to_owned(), walk.to_owned()));
        self.server = Server::try_start(&self.data(), &self.flags, &environment).ok()?;
        Some(())
    }

    /// Waits until the server has died by itself.
    pub fn dies(&mut self) {
        let status = self.server.ends();
        assert!(!status.success(), "it stopped in good order");
    }

    /// On the same data, without a flag from now on.
    pub fn starts_without(&mut self, flag: &str) {
        self.flags.retain(|known| known != flag);
        self.starts();
    }

    /// On the same data, with an environment variable from now on.
    pub fn starts_with(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
        self.starts();
    }

    /// Another server on the same database, with the same options.
    pub fn another_node(&self) -> Server {
        Server::start(&self.directory.path().join("other"), &self.flags, &self.environment)
    }

    /// Another server on the same database, without the workspace.
    pub fn another_node_without_workspace(&self) -> Server {
        let data = self.directory.path().join("plain");
        Server::start(&data, &self.flags_of_plain_node(), &self.environment)
    }

    /// Another server on the same database, without the workspace, whose model plays this.
    pub fn another_node_playing(&self, script: &Script) -> Server {
        let directory = self.directory.path().join("playing");
        std::fs::create_dir(&directory).expect("there is room for a script");
        let model = ["--model".to_owned(), script.write(&directory)];
        let mut flags = self.flags_of_plain_node();
        flags.splice(0..2, model);
        Server::start(&directory.join("data"), &flags, &self.environment)
    }

    /// Another server on the same database, without the workspace but with these options; where it
    /// refuses to start, what it said.
    pub fn another_node_with(&self, options: &[&str]) -> Result<Server, String> {
        let mut flags = self.flags_of_plain_node();
        flags.extend(options.iter().map(ToString::to_string));
        Server::try_start(&self.directory.path().join("more"), &flags, &self.environment)
    }

    /// The options without those for a folder and the Claude CLI.
    fn flags_of_plain_node(&self) -> Vec<String> {
        let mut flags = self.flags.clone();
        flags.retain(|flag| flag != "--enable-bash");
        for option in ["--workspace", "--claude-binary"] {
            if let Some(at) = flags.iter().position(|flag| flag == option) {
                flags.drain(at..at + 2);
            }
        }
        flags
    }

    /// Returns the addresses of all of its servers.
    pub fn urls(&self) -> Vec<&str> {
        std::iter::once(&self.server).chain(&self.others).map(|it| it.url.as_str()).collect()
    }

    /// A power cut of one of several servers, which then starts again.
    pub fn one_is_killed_and_restarted(&mut self, number: usize) {
        self.node(number).kill();
        self.restarts(number);
    }

    /// SIGTERM for one of several servers, which then starts again.
    pub fn one_stops_and_restarts(&mut self, number: usize) {
        let status = self.node(number).stop();
        assert_eq!(status.code(), Some(0), "{}", self.node(number).complaints());
        self.restarts(number);
    }

    /// One of several servers that others have removed ends by itself; it starts again.
    pub fn one_ends_and_restarts(&mut self, number: usize) {
        let status = self.node(number).ends();
        assert_eq!(status.code(), Some(1), "{}", self.node(number).complaints());
        self.restarts(number);
    }

    /// One of several servers.
    pub fn node(&mut self, number: usize) -> &mut Server {
        if number == 0 { &mut self.server } else { &mut self.others[number - 1] }
    }

    fn restarts(&mut self, number: usize) {
        if number == 0 {
            let host = self.hosts.first().cloned().unwrap_or_default();
            self.server = Server::start_on(&host, &self.data(), &self.flags, &self.environment);
        } else {
            self.others[number - 1] = self.start_node(number);
        }
    }

    /// A power cut.
    pub fn is_killed(&mut self) {
        self.server.kill();
    }

    /// On the same data, after it was killed or stopped.
    pub fn starts(&mut self) {
        self.server = Server::start(&self.data(), &self.flags, &self.environment);
        let others = 1..=self.others.len();
        self.others = others.map(|number| self.start_node(number)).collect();
    }
}

impl Drop for TestServer {
    /// Whatever happened on it: what a server leaves behind holds together.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.server.kill();
        self.others.iter_mut().for_each(Server::kill);
        let checked = self.command().arg("check").output();
        let checked = checked.expect("the binary is built");
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "the data does not hold together:\n{said}");
    }
}
