//! Rules that are tests: who may know whom, how long files are, what they are called, what they never contain.
//!
//! A rule that proves wrong is changed here and in `docs/architecture.md`, in the same commit and with a reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot read its own sources fails"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms each room may name by `crate::`. `all` is everything but what is listed after a `!`.
const ROOMS: &[(&str, &str)] = &[
    ("failpoint", ""),
    ("cpu_pool", ""),
    ("ids", ""),
    ("who", "ids"),
    ("document", "ids"),
    ("review", "ids who document"),
    ("export", "ids who document review"),
    ("store", "ids who failpoint"),
    ("auth", "ids who store"),
    ("room", "ids who document review store auth failpoint cpu_pool"),
    ("connections", "ids who"),
    ("processes", ""),
    ("workspace", "processes failpoint"),
    ("files", "ids who document room store workspace failpoint"),
    ("check", "ids who document review store"),
    ("llm", "ids processes wire::messages"),
    ("messages", "ids llm wire::messages"),
    ("tools", "ids who document review room workspace files wire::messages failpoint"),
    (
        "agent",
        "ids who document review store auth room workspace llm tools wire::messages failpoint",
    ),
    ("wire", "ids who"),
    ("webhook", "ids review room store wire"),
    ("socket", "all !http !mcp !app !cli !config"),
    ("http", "all !socket !mcp !app !cli !config"),
    ("mcp", "all !socket !http !app !cli !config"),
    ("client", "wire::client wire::server"),
    ("telemetry", ""),
    ("config", "cli"),
    ("cli", "export who"),
    ("app", "all"),
];

/// Files that may name more than their room, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The one place where values of the rooms become types of the wire.
    ("wire/convert", "document review room agent store auth"),
];

/// Where what may be used: a crate, or a part of the standard library that reaches outside the process.
const WALLS: &[(&str, &str)] = &[
    ("ammonia", "export/html.rs"),
    ("anyhow", "app main.rs"),
    ("axum", "http mcp app"),
    ("base64", "http/page.rs webhook/signature.rs"),
    ("cap_fs_ext", "workspace"),
    ("cap_std", "workspace"),
    ("clap", "cli.rs main.rs"),
    ("clap_complete", "cli.rs"),
    ("getrandom", "auth llm/retry.rs webhook/signature.rs"),
    ("globset", "review/pattern.rs workspace"),
    ("governor", "http/messages http/way_in.rs socket"),
    ("grep_matcher", "workspace"),
    ("grep_regex", "workspace"),
    ("grep_searcher", "workspace"),
    ("harper_core", "llm"),
    ("hmac", "messages/canonical.rs webhook/signature.rs"),
    ("hyper", "app http/transfer.rs"),
    ("hyper_util", "app"),
    ("ignore", "workspace"),
    ("open", "app.rs"),
    ("pulldown_cmark", "export"),
    ("regex", "llm tools/find_and_replace.rs"),
    // Deliveries go to addresses that owners name, and nothing else does.
    ("reqwest", "llm client webhook"),
    ("rmcp", "llm/claude mcp"),
    ("ropey", "document"),
    // In the workspace for what a handle of a folder cannot do: a rename that replaces nothing, the owner of a file.
    ("rustix", "processes workspace/beside.rs cpu_pool.rs app/serving.rs"),
    ("schemars", "http tools wire"),
    ("similar", "document/diff review/preview.rs"),
    ("socketioxide", "socket app"),
    ("sqlx", "store"),
    ("toml", "config.rs"),
    ("tower", "http app"),
    ("tower_http", "http"),
    ("tracing_subscriber", "telemetry.rs"),
    ("tree_sitter", "workspace/shell"),
    ("tree_sitter_bash", "workspace/shell"),
    ("ts_rs", "wire"),
    ("unicode_segmentation", "document/diff llm/harper tools/find_and_replace.rs"),
    ("zip", "export"),
    ("std::env", "config.rs"),
    // Which processes a program has left behind is in `/proc`.
    ("std::fs", "auth/owner.rs config.rs llm/claude llm/scripted.rs processes store"),
    // `copydesk export --out FILE` and `copydesk import FILE`.
    ("tokio::fs", "app.rs app/remote/import.rs store"),
    // The lock of a data directory names its process; a failpoint ends it.
    (
        "std::process",
        "llm/claude main.rs processes/supervisor.rs store/files.rs workspace/command.rs failpoint.rs",
    ),
    // Whoever spawns owns the task: composition root, drivers, the writer of the store, a write that its caller left alone.
    (
        "tokio::spawn",
        "app.rs app/workspace.rs agent/session.rs http/once.rs room/rooms.rs socket/connect.rs socket/outbound.rs store/writer.rs",
    ),
];

/// Rooms that neither wait nor look at a clock, and what would let them.
const PURE: &[&str] = &["ids.rs", "who.rs", "document", "export", "messages", "review"];
const IMPURE: [&str; 5] = ["tokio", "tracing", "std::net", "SystemTime", "std::thread"];

/// Lines of code (not blank, not comment, not tests) of a source file.
const LONGEST_FILE: usize = 400;
/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] =
    ["utils", "util", "common", "helpers", "helper", "manager", "service", "misc"];

/// A file of the repository.
struct File {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl File {
    /// Relative to `src/`.
    fn place(&self) -> &str {
        self.path.strip_prefix("src/").unwrap_or(&self.path)
    }

    fn room(&self) -> &str {
        self.place().split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    /// The text without its tests and without comments, line for line.
    fn code(&self) -> impl Iterator<Item = &str> {
        let mut lines: Vec<&str> = self.text.lines().collect();
        let tests = lines.windows(2).position(|two| {
            two[0].trim() == "#[cfg(test)]"
                && two[1].trim_start().starts_with("mod ")
                && two[1].ends_with('{')
        });
        lines.truncate(tests.unwrap_or(lines.len()));
        lines.into_iter().map(|line| if is_comment(line) { "" } else { line })
    }

    fn code_lines(&self) -> usize {
        self.code().filter(|line| !line.trim().is_empty()).count()
    }
}

fn is_rust(file: &File) -> bool {
    Path::new(&file.path).extension().is_some_and(|it| it == "rs")
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every text file below a folder, sorted; what tools put there is left out.
fn files(folder: &str) -> Vec<File> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let made = ["target", "node_modules", ".git", "dist", "copydesk-data"]
                .contains(&name.as_str());
            if path.is_dir() && !made {
                folders.push(path);
            } else if path.is_file()
                && !made
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                found.push(File { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The sources that end up in the binary: without files that only tests have.
fn sources() -> Vec<File> {
    let all: Vec<_> = files("src").into_iter().filter(is_rust).collect();
    let tests: Vec<String> = all.iter().flat_map(test_modules).collect();
    let is_test = |file: &File| {
        tests.iter().any(|module| {
            file.path
                .strip_prefix(module.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    };
    all.into_iter().filter(|file| !is_test(file)).collect()
}

/// `src/room/tests` for a `#[cfg(test)] mod tests;` in `src/room/mod.rs` (or in `src/room.rs`).
fn test_modules(file: &File) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let folder =
        file.path.trim_end_matches("/mod.rs").trim_end_matches("/lib.rs").trim_end_matches(".rs");
    let module = |two: &[&str]| {
        let name = two[1]
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub ");
        let name = name.strip_prefix("mod ")?.strip_suffix(';')?;
        (two[0] == "#[cfg(test)]").then(|| format!("{folder}/{name}"))
    };
    lines.windows(2).filter_map(module).collect()
}

/// Fails with all complaints at once.
fn settle(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}\n  {}\n", complaints.join("\n  "));
}

#[test]
fn rooms_name_only_the_rooms_they_may() {
    let mut complaints = Vec::new();
    for file in sources() {
        if ["lib", "main"].contains(&file.room()) {
            continue;
        }
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == file.room()) else {
            complaints.push(format!(
                "{}: the room `{}` is not in the table",
                file.path,
                file.room()
            ));
            continue;
        };
        let more = EXCEPTIONS
            .iter()
            .find(|(path, _)| is_in(file.place(), path))
            .map_or("", |(_, more)| more);
        for (line, name) in named_rooms(&file) {
            if !may(allowed, &name)
                && !may(more, &name)
                && name != file.room()
                && !name.starts_with(&format!("{}::", file.room()))
            {
                complaints.push(format!("{}:{line} names crate::{name}", file.path));
            }
        }
    }
    settle(
        "A room names only what stands above it. Move the code to the room that owns it, or change ROOMS in tests/tidy.rs \
         and docs/architecture.md together:",
        &complaints,
    );
}

fn may(allowed: &str, name: &str) -> bool {
    let room = name.split("::").next().unwrap_or_default();
    let listed = |word: &str| allowed.split(' ').any(|it| it == word);
    if listed("all") { !listed(&format!("!{room}")) } else { listed(room) || listed(name) }
}

/// Every `crate::room::module` in the code, with its line.
fn named_rooms(file: &File) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    for (index, line) in file.code().enumerate() {
        for rest in line.split("crate::").skip(1) {
            let group =
                rest.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or_default());
            let paths: Vec<&str> =
                group.map_or_else(|| vec![rest], |group| group.split(',').collect());
            for path in paths {
                let end = path.trim().find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                let path = &path.trim()[..end.unwrap_or(path.trim().len())];
                let two: Vec<&str> = path.split("::").filter(|it| !it.is_empty()).take(2).collect();
                if !two.is_empty() {
                    names.push((index + 1, two.join("::")));
                }
            }
        }
    }
    names
}

#[test]
fn the_table_has_every_room_once() {
    let rooms: BTreeSet<String> = sources()
        .iter()
        .map(|file| file.room().to_owned())
        .filter(|room| room != "lib" && room != "main")
        .collect();
    let table: BTreeSet<String> = ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(
        rooms, table,
        "every room of src/ has one line in ROOMS (tests/tidy.rs), and nothing else has"
    );
}

#[test]
fn only_main_starts_the_house() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(
        main.lines().filter(|line| !is_comment(line)).count() <= 40,
        "src/main.rs parses, starts, runs: at most 40 lines"
    );
}

#[test]
fn crates_stay_behind_their_walls() {
    let mut complaints = Vec::new();
    for file in sources() {
        for (what, places) in WALLS {
            let inside = places.split(' ').any(|place| is_in(file.place(), place));
            if inside {
                continue;
            }
            for (index, line) in file.code().enumerate().filter(|(_, line)| uses(line, what)) {
                complaints.push(format!(
                    "{}:{} uses {what}: {}",
                    file.path,
                    index + 1,
                    line.trim()
                ));
            }
        }
    }
    settle(
        "Each crate is known in one place. Ask the room behind the wall instead, or move the wall in WALLS (tests/tidy.rs) with a reason:",
        &complaints,
    );
}

/// `store` holds `store/…` and `store.rs`; `llm/harper` also `llm/harper.rs`.
fn is_in(file: &str, place: &str) -> bool {
    file.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest == ".rs")
}

/// Whether a line names a crate or module as such, not as the end of another word.
fn uses(line: &str, what: &str) -> bool {
    line.match_indices(what).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + what.len()..];
        let starts = before
            .is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':' && c != '.' && c != '"');
        let is_path =
            what.contains("::") && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        starts && (after.starts_with("::") || is_path)
    })
}

#[test]
fn the_pure_rooms_stay_pure() {
    let mut complaints = Vec::new();
    for file in sources().iter().filter(|file| PURE.iter().any(|room| is_in(file.place(), room))) {
        for (index, line) in file.code().enumerate() {
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                complaints.push(format!(
                    "{}:{} says {word}: {}",
                    file.path,
                    index + 1,
                    line.trim()
                ));
            }
        }
    }
    settle(
        "A pure room has no clock, socket, disk or task; give it what it needs as a value:",
        &complaints,
    );
}

#[test]
fn files_are_short_enough_to_read() {
    let long = |file: &File| {
        let lines = file.code_lines();
        (lines > LONGEST_FILE).then(|| format!("{}: {lines} lines of code", file.path))
    };
    let complaints: Vec<_> = sources().iter().filter_map(long).collect();
    settle(
        &format!(
            "A file has at most {LONGEST_FILE} lines of code. Find the second idea in it and give it a file:"
        ),
        &complaints,
    );
}

#[test]
fn every_file_says_first_what_it_is() {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    let complaints: Vec<_> =
        sources().iter().filter(silent).map(|file| file.path.clone()).collect();
    settle(
        "The first line of a file is `//! ` and says in one sentence what the room is:",
        &complaints,
    );
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
    ];
    let mut complaints = Vec::new();
    for file in ["src", "tests", "benches"].into_iter().flat_map(files).filter(is_rust) {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                complaints.push(format!("{}:{} {word}", file.path, index + 1));
            }
        }
    }
    settle("Finish it, or leave it out:", &complaints);
}

#[test]
fn names_say_what_is_inside() {
    let empty = |file: &&File| {
        file.path.split('/').any(|part| {
            EMPTY_NAMES
                .contains(&part.split('.').next().unwrap_or_default().to_lowercase().as_str())
        })
    };
    let all: Vec<_> = ["src", "tests", "benches", "web/src"].into_iter().flat_map(files).collect();
    let complaints: Vec<_> = all.iter().filter(empty).map(|file| file.path.clone()).collect();
    settle("A file is named after the thing in it, not after being useful:", &complaints);
}

#[test]
fn nothing_tells_where_it_was_made() {
    // Written in two halves, so that this file does not find itself.
    let hosts = [
        concat!("registry.", "npmjs"),
        concat!("static.", "crates.io"),
        concat!("index.", "crates.io"),
        concat!("files.", "pythonhosted"),
        concat!("arti", "factory"),
    ];
    let places = [
        env!("CARGO_MANIFEST_DIR"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let mut complaints = Vec::new();
    for file in files("") {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(word) = hosts.iter().chain(&places).find(|word| line.contains(**word)) {
                complaints.push(format!("{}:{} {word}", file.path, index + 1));
            }
        }
    }
    settle(
        "No file names a package registry's host or a folder of somebody's machine:",
        &complaints,
    );
}

#[test]
fn every_fixture_is_used() {
    // Read as a whole by tests/it/support/wire.rs.
    let whole = ["fixtures/wire/"];
    let readers: Vec<_> = ["src", "tests", "benches", "web/src", "web/vectors", "web/e2e"]
        .into_iter()
        .filter(|folder| root().join(folder).is_dir())
        .flat_map(files)
        .collect();
    let is_used = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = format!("\"{}\"", name.split('.').next().unwrap_or_default());
        whole.iter().any(|folder| path.starts_with(folder))
            || readers.iter().any(|file| file.text.contains(name) || file.text.contains(&stem))
    };
    let complaints: Vec<_> = files("fixtures")
        .iter()
        .map(|file| file.path.clone())
        .filter(|path| !is_used(path))
        .collect();
    settle("A fixture that no test reads is rubbish; use it or delete it:", &complaints);
}

#[test]
fn comments_are_neither_rare_nor_in_the_way() {
    let (mut comments, mut lines) = (0, 0);
    for file in sources() {
        let inner = file.text.lines().filter(|line| {
            let line = line.trim_start();
            line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
        });
        let inner = inner.count();
        let docs = file.text.lines().filter(|line| is_comment(line)).count() - inner;
        comments += inner + docs;
        lines += file.code_lines() + inner + docs;
    }
    let share = 100 * comments / lines;
    println!("{share} % of {lines} lines are comments");
    // Documented public items count, so this is above the 10 to 20 % that a reader of code alone would see.
    assert!((8..=35).contains(&share), "{share} % of the lines are comments; say why, not what");
}
