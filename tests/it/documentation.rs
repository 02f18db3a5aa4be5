//! The documentation: commands and snippets run as they are written, links lead somewhere, pages
//! name what there is.
//!
//! A fenced block whose first line ends in `test` (```` ```sh test ````) is run. The blocks of a
//! page share one shell, one server and one document; see [`Page::script`] for what they find.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    OWNER, RestClient, TestServer, copydesk_command, give_up, modules, python, skip,
};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The address that pages name; the test's own server replaces it.
const WRITTEN_URL: &str = "http://127.0.0.1:4680";
/// Longest time that the blocks of one page may take.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Bytes of the longest README.
const README_LIMIT: usize = 8 * 1024;
/// Bytes of the longest page on architecture.
const ARCHITECTURE_LIMIT: usize = 12_000;

/// Blocks that are not run: page, language, how the block begins, and why.
const NOT_RUN: &[(&str, &str, &str, &str)] = &[
    (
        "docs/postgresql.md",
        "sh",
        "createdb",
        "needs a PostgreSQL server; tests/it/operations/postgres.rs does it",
    ),
    (
        "docs/postgresql.md",
        "sh",
        "copydesk backup",
        "needs two PostgreSQL databases; tests/it/operations/migrate.rs does it",
    ),
    ("docs/postgresql.md", "sh", "pg_dump", "needs two PostgreSQL databases"),
    (
        "docs/scaling.md",
        "sh",
        "# on 10.0.0.5",
        "needs two machines; tests/it/nodes/mod.rs does it on one",
    ),
    ("docs/operations.md", "yaml", "# prometheus.yml", "needs Prometheus"),
    ("docs/scaling.md", "sh", "copydesk --cluster --redis-url", "tests/it/nodes/redis.rs does it"),
    (
        "docs/scaling.md",
        "sh",
        "python3 benches/nodes",
        "builds the server, and measures for minutes",
    ),
    ("docs/scaling.md", "nginx", "upstream", "tests/it/nodes/proxies.rs starts it"),
    ("docs/scaling.md", "haproxy", "defaults", "tests/it/nodes/proxies.rs starts it"),
    ("docs/proxies.md", "sh", "copydesk --public-url", "serves until it is stopped"),
    (
        "docs/proxies.md",
        "sh",
        "copydesk doctor",
        "needs a name; tests/it/transports/proxies.rs runs it",
    ),
    ("docs/proxies.md", "nginx", "map", "tests/it/transports/proxies.rs starts it"),
    ("docs/proxies.md", "caddy", "desk.example.org", "tests/it/transports/proxies.rs starts it"),
    ("docs/proxies.md", "yaml", "# traefik.yml", "Traefik is not tried"),
    ("docs/proxies.md", "yaml", "# copydesk.yml", "Traefik is not tried"),
    ("README.md", "sh", "cargo run --release", "builds the server"),
    ("CONTRIBUTING.md", "sh", "cargo run ", "builds the server"),
    ("CONTRIBUTING.md", "sh", "cd web && npm ci", "serves until it is stopped"),
    ("docs/getting-started.md", "sh", "cargo run --release", "builds the server"),
    ("docs/getting-started.md", "sh", "cargo test", "this is that command"),
    ("docs/grammar.md", "sh", "COPYDESK_PROSE=", "measures a folder of the reader's own"),
    ("docs/cli.md", "sh", "export COPYDESK_URL=", "has a placeholder for a token"),
    ("examples/README.md", "sh", "cargo run --release", "builds the server"),
    ("examples/README.md", "sh", "export TOKEN=cdk_…", "has a placeholder for a token"),
    ("examples/README.md", "sh", "cargo run --example", "tests/it/agent/custom_tool.rs runs it"),
    (
        "tests/clients/README.md",
        "sh",
        "cd tests/clients/",
        "tests/it/api/clients.rs runs the suites",
    ),
    ("tests/clients/README.md", "sh", "cargo add --dev", "tests/it/api/clients.rs runs the suites"),
];

/// A page of documentation.
struct Page {
    /// Relative to the root of the repository.
    path: String,
    text: String,
}

/// A fenced block of a page.
struct Block<'a> {
    /// The line of its fence, from 1.
    line: usize,
    /// Words behind the fence: the language, and `test` if it is run.
    info: &'a str,
    text: String,
}

impl Page {
    fn read(path: &str) -> Self {
        let text = fs::read_to_string(Path::new(ROOT).join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path: path.to_owned(), text }
    }

    /// Every page, the README first.
    fn all() -> Vec<Self> {
        let mut paths = vec!["README.md", "CONTRIBUTING.md", "SECURITY.md"];
        paths.extend(["examples/README.md", "tests/clients/README.md", "tests/clients/scripts.md"]);
        let mut pages: Vec<_> = paths.into_iter().map(Self::read).collect();
        for folder in ["docs", "docs/api", "docs/decisions"] {
            let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let is_page = |name: &String| Path::new(name).extension().is_some_and(|it| it == "md");
            let mut names: Vec<_> = names.filter(is_page).collect();
            names.sort();
            pages.extend(names.iter().map(|name| Self::read(&format!("{folder}/{name}"))));
        }
        pages
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut is_inside = false;
        for (index, line) in self.text.lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), is_inside) {
                (Some(info), false) => {
                    is_inside = true;
                    blocks.push(Block { line: index + 1, info, text: String::new() });
                }
                (Some(_), true) => is_inside = false,
                (None, true) => {
                    if let Some(block) = blocks.last_mut() {
                        block.text.push_str(line);
                        block.text.push('\n');
                    }
                }
                (None, false) => {}
            }
        }
        assert!(!is_inside, "{}: a fenced block does not end", self.path);
        blocks
    }

    fn has_tests(&self) -> bool {
        self.blocks().iter().any(|block| block.info.ends_with(" test"))
    }

    /// One shell script of all blocks that are run. JavaScript becomes a file beside it, JSON is
    /// only read.
    ///
    /// The script finds `TOKEN` and `COPYDESK_TOKEN` (the owner's), `COPYDESK_URL`, `DOCUMENT`,
    /// `DATA`, the folder `examples`, the package `socket.io-client`, and `copydesk` on the `PATH`.
    fn script(&self, url: &str, folder: &Path) -> String {
        let mut script = String::from("set -euo pipefail\n");
        for Block { line, info, text } in self.blocks() {
            let Some(language) = info.strip_suffix(" test") else { continue };
            let text = text.replace(WRITTEN_URL, url);
            // Writing to a string cannot fail.
            writeln!(script, "echo '== {}:{line}'", self.path).ok();
            match language {
                "sh" => script.push_str(&text),
                "js" => {
                    let name = format!("block-{line}.mjs");
                    fs::write(folder.join(&name), text).unwrap();
                    writeln!(script, "node {name}").ok();
                }
                "json" => {
                    let read = serde_json::from_str::<Value>(&text);
                    read.unwrap_or_else(|error| panic!("{}:{line}: {error}", self.path));
                }
                other => panic!("{}:{line}: blocks of `{other}` are not run", self.path),
            }
        }
        script
    }

    /// Runs its blocks against a server of its own; what they printed, if they failed.
    fn run(&self, packages: &Path) -> Result<(), String> {
        let copydesk =
            TestServer::plan().model("harper").workspace(&[("notes.md", "Teh notes.\n")]);
        // A page makes a backup.
        let copydesk = copydesk.on_sqlite("a page backs up a data directory").start();
        let folder = tempfile::tempdir().unwrap();
        symlink(packages, folder.path().join("node_modules")).unwrap();
        copy_examples(&folder.path().join("examples"));
        let document = imported(&copydesk, folder.path());
        let script = self.script(copydesk.url(), folder.path());
        let output = folder.path().join("output.txt");
        let to_file = || Stdio::from(fs::File::options().append(true).open(&output).unwrap());
        fs::write(&output, "").unwrap();
        let binary = Path::new(env!("CARGO_BIN_EXE_copydesk"));
        let search = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("PATH", format!("{}:{search}", binary.parent().unwrap().display()))
            .env("TOKEN", OWNER)
            .env("COPYDESK_TOKEN", OWNER)
            .env("COPYDESK_URL", copydesk.url())
            .env("DOCUMENT", document)
            .env("DATA", copydesk.data())
            .env_remove("COPYDESK_DATA")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(to_file())
            .stderr(to_file())
            .spawn()
            .map_err(|error| format!("bash cannot be started: {error}"))?;
        let group = format!("-{}", shell.id());
        let (ended, end) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || ended.send(shell.wait().unwrap()));
        let status = end.recv_timeout(TIMEOUT).ok();
        // Whatever a block has left running ends with it.
        Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().ok();
        waiting.join().unwrap().ok();
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let printed = fs::read_to_string(&output).unwrap();
        Err(format!("{} ended with {status:?}:\n{printed}", self.path))
    }
}

/// The examples, where packages are found beside them.
fn copy_examples(to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(Path::new(ROOT).join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// A new document with mistakes in it; its id.
fn imported(copydesk: &TestServer, folder: &Path) -> String {
    let file = folder.join("sample.md");
    fs::write(&file, "He could of slept untill noon, but it were to late.\n").unwrap();
    let output = copydesk_command()
        .args(["import", "--url", copydesk.url(), "--token", OWNER])
        .arg(&file)
        .output()
        .expect("the binary is built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Returns `true` if `curl` is missing, which is said loudly; where everything is required, that
/// fails.
fn is_without_curl() -> bool {
    let is_there = Command::new("curl").arg("--version").output().is_ok();
    if !is_there {
        skip("the commands of the documentation", "curl is not installed");
    }
    !is_there
}

#[test]
fn commands_and_snippets_run_as_they_are_written() {
    if is_without_curl() {
        return;
    }
    let packages = modules().unwrap_or_else(|why| give_up(&why));
    let pages: Vec<_> = Page::all().into_iter().filter(Page::has_tests).collect();
    assert!(pages.len() >= 8, "only {} pages have blocks that are run", pages.len());
    let failures: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            pages.iter().map(|page| scope.spawn(|| page.run(&packages).err())).collect();
        runs.into_iter().filter_map(|run| run.join().expect("a page is run")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_block_is_run_or_read_or_has_a_reason() {
    let mut unused: BTreeSet<usize> = (0..NOT_RUN.len()).collect();
    for page in Page::all() {
        for Block { line, info, text } in page.blocks() {
            let place = format!("{}:{line}", page.path);
            let (language, is_run) =
                info.strip_suffix(" test").map_or((info, false), |it| (it, true));
            match language {
                "toml" => {
                    let read = toml::from_str::<toml::Table>(&text);
                    read.unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                "json" => {
                    let read = serde_json::from_str::<Value>(&text);
                    read.unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                // See `the_python_block_talks_to_this_server`.
                "python" => {}
                "text" | "" => assert!(!is_run, "{place}: only programs are run"),
                _ if is_run => {}
                _ => {
                    let is_it = |(path, of, begins, _): &(&str, &str, &str, &str)| {
                        *path == page.path && *of == language && text.starts_with(begins)
                    };
                    let reason = NOT_RUN.iter().position(is_it);
                    let reason = reason.unwrap_or_else(|| {
                        panic!(
                            "{place}: mark the block `{language} test`, or say in NOT_RUN why not"
                        )
                    });
                    unused.remove(&reason);
                }
            }
        }
    }
    assert!(unused.is_empty(), "these reasons of NOT_RUN are about no block: {unused:?}");
}

/// No one decides, so the request of the block ends with its time.
#[test]
fn the_python_block_talks_to_this_server() {
    let Some(python) = python("the Python block of docs/api/messages.md") else { return };
    let page = Page::read("docs/api/messages.md");
    let blocks: Vec<_> = page.blocks().into_iter().filter(|it| it.info == "python").collect();
    let [block] = blocks.as_slice() else { panic!("{} has one Python block", page.path) };
    let copydesk = TestServer::plan().model("harper").flags(&["--approval-timeout", "1"]).start();
    let folder = tempfile::tempdir().unwrap();
    let document = imported(&copydesk, folder.path());
    // The page does this in an earlier block.
    let offered = json!({"tools": ["document"]}).to_string();
    RestClient::new(&copydesk, OWNER).says("PUT /api/v1/server-tools", &[], &offered).ok();
    let program = block.text.replace(WRITTEN_URL, copydesk.url());
    let output = Command::new(python)
        .args(["-c", &program])
        .env("TOKEN", OWNER)
        .env("DOCUMENT", document)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("message_stop"), "{printed}{complaints}");
}

#[test]
fn links_lead_to_files_and_headings_that_are_there() {
    let mut complaints = Vec::new();
    for page in Page::all() {
        for link in links(&page.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => PathBuf::from(&page.path),
                file => Path::new(&page.path).parent().unwrap().join(file),
            };
            let target = Path::new(ROOT).join(target);
            if !target.exists() {
                complaints.push(format!("{}: {link} is not there", page.path));
            } else if !anchor.is_empty() && !has_heading(&target, anchor) {
                complaints.push(format!("{}: {link} names no heading", page.path));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The addresses in `[words](address)`, outside of fenced blocks and inline code.
fn links(text: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_inside = !is_inside;
        }
        if is_inside {
            continue;
        }
        for rest in line.split("](").skip(1) {
            if let Some((link, _)) = rest.split_once(')') {
                found.push(link.to_owned());
            }
        }
    }
    found
}

/// Returns `true` if a page has a heading with this anchor, as GitHub makes it.
fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(page).unwrap_or_default();
    let slug = |heading: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let words: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        words.replace(' ', "-")
    };
    text.lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| slug(line.trim_start_matches('#')) == anchor)
}

#[test]
fn files_that_pages_name_are_there() {
    // Pages shorten the paths of modules and tools.
    let folders = [
        "",
        "src",
        "crates",
        "crates/http/src",
        "crates/commands/src",
        "web/src",
        "tests/clients",
        "examples",
    ];
    // Files that a reader or a package makes.
    let elsewhere = [
        "copydesk.toml",
        "/etc/copydesk/copydesk.toml",
        "/etc/traefik/traefik.yml",
        "tests/review/main.rs",
    ];
    let mut complaints = Vec::new();
    for page in Page::all() {
        for name in page.text.split('`').filter(|name| is_file_name(name)) {
            let is_in_folder =
                folders.iter().any(|it| Path::new(ROOT).join(it).join(name).is_file());
            // `mcp/tools.rs` is in the crate `mcp`.
            let in_crate = name.split_once('/').is_some_and(|(name, file)| {
                Path::new(ROOT).join("crates").join(name).join("src").join(file).is_file()
            });
            let is_there = is_in_folder || in_crate;
            if !is_there && !elsewhere.contains(&name) {
                complaints.push(format!("{}: {name} is not there", page.path));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Returns `true` for the name of a source file: `rooms/state/workspace_inbox.rs`, not a sentence
/// or a pattern.
fn is_file_name(text: &str) -> bool {
    let endings = [".rs", ".ts", ".tsx", ".mjs", ".toml", ".yml"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.chars().all(is_plain)
        && endings.iter().any(|end| text.len() > end.len() && text.ends_with(end))
}

#[test]
fn the_tests_that_the_threat_model_names_are_there() {
    let page = Page::read("docs/security.md").text;
    let named: BTreeSet<_> = page.split('`').filter_map(named_test).collect();
    assert!(named.len() > 100, "the names were not found: {named:?}");
    let missing: Vec<_> =
        named.into_iter().filter(|(module, test)| !has_function(module, test)).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that are not there: {missing:?}");
}

/// Splits `judging::a_test` or `src/cli::a_test` at the name; `None` for `judging::NAME`.
fn named_test(text: &str) -> Option<(&str, &str)> {
    let (module, name) = text.rsplit_once("::")?;
    let is_name =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '/' | ':');
    text.chars().all(is_name).then_some((module, name))
}

/// Returns `true` if a file of `tests/it`, or one in or under a folder that
/// is named from the root, has this function.
fn has_function(module: &str, name: &str) -> bool {
    let module = module.replace("::", "/");
    let base = if module.contains("src/") || module.ends_with("/src") {
        module
    } else {
        format!("tests/it/{module}")
    };
    let declaration = format!("fn {name}(");
    let mut waiting = vec![Path::new(ROOT).join(format!("{base}.rs")), Path::new(ROOT).join(base)];
    while let Some(path) = waiting.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        } else if fs::read_to_string(&path).is_ok_and(|source| source.contains(&declaration)) {
            return true;
        }
    }
    false
}

#[test]
fn the_readme_and_the_architecture_stay_short() {
    for (path, limit) in [("README.md", README_LIMIT), ("docs/architecture.md", ARCHITECTURE_LIMIT)]
    {
        let length = Page::read(path).text.len();
        assert!(length <= limit, "{path} has {length} bytes; the limit is {limit}");
    }
}

#[test]
fn every_option_and_command_is_documented() {
    let configuration = Page::read("docs/configuration.md").text;
    let commands = Page::read("docs/cli.md").text;
    let output = copydesk_command().args(["--help"]).output().expect("the binary is built");
    let help = String::from_utf8(output.stdout).unwrap();
    let flags = help.lines().filter_map(|line| {
        let flag = line.trim_start().trim_start_matches("-h, ").trim_start_matches("-V, ");
        flag.starts_with("--").then(|| flag.split([' ', '=']).next().unwrap_or_default())
    });
    let variables = help.split("[env: ").skip(1).filter_map(|rest| rest.split(['=', ']']).next());
    let wanted: BTreeSet<&str> =
        flags.filter(|flag| !matches!(*flag, "--help" | "--version")).chain(variables).collect();
    assert!(wanted.len() > 20, "the help was not understood: {wanted:?}");
    let mut missing: Vec<&str> =
        wanted.into_iter().filter(|name| !configuration.contains(&format!("`{name}"))).collect();
    let listed = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let names =
        listed.unwrap_or_default().lines().filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "the help was not understood: {names:?}");
    missing.extend(names.iter().filter(|name| !commands.contains(&format!("copydesk {name}"))));
    assert!(missing.is_empty(), "docs/configuration.md or docs/cli.md lack {missing:?}");
}

#[test]
fn every_event_is_documented() {
    let page = Page::read("docs/api/socketio.md").text;
    let names = |folder: &str| {
        let entries = fs::read_dir(Path::new(ROOT).join("fixtures/wire").join(folder)).unwrap();
        let samples = entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        let events = samples.map(|text| {
            let sample: Value = serde_json::from_str(&text).unwrap();
            sample["event"].as_str().unwrap_or_default().to_owned()
        });
        events.collect::<BTreeSet<String>>()
    };
    let all: BTreeSet<String> = names("client").union(&names("server")).cloned().collect();
    assert!(all.len() > 50, "the samples were not found: {all:?}");
    let missing: Vec<_> =
        all.into_iter().filter(|event| !page.contains(&format!("`{event}"))).collect();
    assert!(missing.is_empty(), "docs/api/socketio.md lacks {missing:?}");
}

#[test]
fn every_route_is_documented() {
    let copydesk = TestServer::quiet();
    let answer = crate::support::http::get(copydesk.address(), "/api/v1/openapi.json");
    let described: Value = serde_json::from_str(&answer.body).unwrap();
    let page = Page::read("docs/api/operations.md").text;
    let paths = described["paths"].as_object().unwrap().keys();
    // `/documents/{id}/edits` is documented by its first name and its last.
    let is_there = |path: &&String| {
        let names = path.trim_start_matches("/api/v1/").split('/');
        names.filter(|name| !name.starts_with('{')).all(|name| page.contains(name))
    };
    let missing: Vec<_> = paths.filter(|path| !is_there(path)).collect();
    assert!(missing.is_empty(), "docs/api/operations.md lacks {missing:?}");
}
