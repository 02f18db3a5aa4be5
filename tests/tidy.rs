//! Rules that are tests: who may know whom, how long files are, what they are called, what they
//! never contain.
//!
//! A rule that proves wrong is changed here and in `docs/architecture.md`, in the same commit and
//! with a reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot read its own sources fails"
)]

#[path = "tidy/ci.rs"]
mod ci;
#[path = "tidy/errors.rs"]
mod errors;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/readability.rs"]
mod readability;
#[path = "tidy/size.rs"]
mod size;
#[path = "tidy/source_archive.rs"]
mod source_archive;
#[path = "../build/web_sources.rs"]
mod web_sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with the sources of the product.
const SOURCES: [&str; 2] = ["src", "crates"];
/// Crates that hold several modules of [`docs/architecture.md`](../docs/architecture.md); every
/// other crate is one module.
const SEVERAL_MODULES: [&str; 2] = ["http", "commands"];

/// Places in which a crate may be used, or a part of the standard library that reaches outside the
/// process.
const WALLS: &[(&str, &str)] = &[
    ("ammonia", "export/html"),
    ("anyhow", "server commands commands.rs"),
    ("axum", "connections rest messages_api mcp cluster oidc server"),
    ("clap", "cli cli.rs server/command_line.rs"),
    ("clap_complete", "cli/generated.rs"),
    ("clap_mangen", "cli/generated.rs"),
    ("getrandom", "auth llm/retry.rs api/webhooks/signature.rs"),
    ("globset", "approvals/path_pattern.rs workspace"),
    (
        "hmac",
        "messages_api/conversation_hash.rs api/webhooks/signature.rs cluster/node/message_key.rs",
    ),
    ("hyper", "server rest/byte_accounting.rs"),
    ("hyper_util", "server"),
    ("lru", "rooms/request_index.rs messages_api/conversation_cache.rs"),
    ("open", "server/serving.rs"),
    ("opentelemetry", "telemetry/otlp.rs"),
    ("opentelemetry_otlp", "telemetry/otlp.rs"),
    ("opentelemetry_sdk", "telemetry/otlp.rs"),
    ("pulldown_cmark", "document/diff/structure export"),
    ("redis", "cluster/node/redis_channel.rs placement/redis_url.rs"),
    ("regex", "llm tools/document/find_and_replace.rs tools/pipeline/elisions.rs"),
    // Deliveries go to addresses that owners name, sign-ins to the identity provider, and spans to
    // the collector.
    ("reqwest", "http_client llm client webhooks api/webhooks/address.rs oidc telemetry/otlp.rs"),
    ("rmcp", "llm/claude_cli mcp"),
    // In the workspace for what a handle of a folder cannot do: a rename that replaces nothing, the
    // owner of a file. In the database for a file that is written past the page cache.
    (
        "rustix",
        "processes store/database workspace/atomic_write.rs server/serving.rs server/metrics.rs load_test/process_usage.rs connections/direct_writes.rs",
    ),
    ("rustls", "http_client"),
    ("tokio_rustls", "server/tls.rs"),
    (
        "schemars",
        "protocol operation_table rest tools llm/messages_api.rs ids/permissions.rs document/diff/draft.rs approvals comments/thread.rs marks",
    ),
    ("similar", "document/diff approvals/preview.rs"),
    ("socketioxide", "socketio server"),
    ("sqlx", "store ids/columns.rs"),
    // Each database in its own crate.
    ("sqlx_postgres", "store/database"),
    ("sqlx_sqlite", "store/database"),
    ("toml", "config.rs llm/prices.rs workspace/shell"),
    ("strsim", "rest/middleware/unknown_fields.rs"),
    ("tower", "rest server"),
    ("tower_http", "rest server/assets.rs"),
    ("tracing_opentelemetry", "telemetry/otlp.rs"),
    ("tracing_subscriber", "telemetry.rs telemetry/otlp.rs"),
    (
        "ts_rs",
        "protocol llm/messages_api.rs ids/permissions.rs document/diff/draft.rs approvals comments/thread.rs marks",
    ),
    ("unicode_normalization", "document/quotation marks"),
    (
        "unicode_segmentation",
        "document/diff llm/harper tools/document/find_and_replace.rs unseen_characters",
    ),
    // The server starts itself anew with a variable that its allocator reads.
    ("std::env", "config.rs server/allocator.rs"),
    // Which processes a program has left behind is in `/proc`, and what a server uses.
    (
        "std::fs",
        "auth/owner.rs config.rs llm/claude_cli llm/prices.rs llm/scripted.rs load_test/process_usage.rs processes server/metrics.rs store",
    ),
    // `copydesk export --out FILE` and `copydesk import FILE`; files that the options name, for
    // `copydesk doctor`. The certificate of the server, and those of authorities, are files too.
    (
        "tokio::fs",
        "commands/doctor/machine.rs commands/output.rs commands/remote/import.rs server/cluster.rs server/tls.rs store",
    ),
    // The lock of a data directory or database names its process; a failpoint ends it.
    (
        "std::process",
        "llm/claude_cli llm/harper load_test/local_server.rs main.rs server/allocator.rs server/command_line.rs processes/supervisor.rs store/data_directory.rs store/database/postgres/address.rs workspace/command.rs",
    ),
    // The code that spawns owns the task: composition root, drivers, the writer of the store, a
    // write that its caller left alone, the worker process of the grammar checker.
    (
        "tokio::spawn",
        "server.rs cluster/connections.rs server/tls.rs server/workspace.rs agent/service.rs llm/harper/worker_client.rs rest/middleware/idempotency.rs rooms/registry.rs socketio/connect.rs socketio/outbound.rs store/database/writer.rs",
    ),
];

/// Modules that neither wait nor look at a clock, and what would let them.
const PURE: &[&str] = &[
    "ids",
    "interrupt",
    "unseen_characters",
    "marks",
    "document",
    "approvals",
    "comments",
    "convert",
    "export",
    "messages_api/conversation_cache.rs",
    "messages_api/conversation_hash.rs",
    "messages_api/failure.rs",
    "messages_api/request",
    "messages_api/server_tool_loop.rs",
    "messages_api/sse_encoder.rs",
];
const IMPURE: [&str; 5] = ["tokio", "tracing", "std::net", "SystemTime", "std::thread"];

/// Lines of code (not blank, not comment, not tests) of a source file.
const LONGEST_FILE: usize = 400;
/// Fields of a struct outside of the wire and the store.
const MOST_FIELDS: usize = 12;
/// Structs with more fields, and why.
const LARGE_STRUCTS: &[(&str, &str)] = &[
    ("ServeArgs", "one field for each option of the command line"),
    ("BenchArgs", "one field for each option of the command line"),
    ("ServerConfig", "one field for each setting of the server"),
    ("Server", "the composition root: everything that is shut down in order"),
    ("Hunk", "stored and sent field by field"),
    ("RoomState", "a document with all that moves with its text"),
    ("AgentState", "what all runs of the server share; to be divided"),
    ("ClusterNode", "locks of one node, each of which is held by itself"),
    ("AgentQuestion", "the stored form of a question; to be divided"),
    ("ModelRequest", "one field for each parameter of a request to a model; to be divided"),
    ("AnswerWork", "one answer of the Messages API; to be divided"),
    ("PersonAccount", "counters of one person, which change independently of each other"),
    ("SocketClient", "counters of one client, which change independently of each other"),
    (
        "TcpConnection",
        "flags and times of one connection, which change independently of each other",
    ),
    ("Input", "one field for each parameter that a model may give a tool"),
];
/// Files of one folder of sources. A folder is divided where its subject is, not where a number
/// ends.
const MOST_FILES: usize = 30;
/// Places in which types may have the same name, one beside its counterpart in the protocol.
const MOST_NAMESAKES: usize = 2;
/// Names that a trait or a macro asks for, or that every tool has.
const SHARED_NAMES: [&str; 7] =
    ["Input", "Error", "Rejection", "Item", "Handle", "Subject", "Target"];
/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "common", "helpers", "helper", "manager", "misc"];

/// A file of the repository.
struct File {
    /// Relative to the root, with `/`.
    path: String,
    /// Path as if all crates were one, see [`place`].
    place: String,
    text: String,
}

/// Returns the path of a source as if all crates were one: `rooms/actor.rs` for
/// `crates/rooms/src/actor.rs`. A crate of several modules has no name there: `rest/mod.rs` for
/// `crates/http/src/rest/mod.rs`.
fn place(path: &str) -> String {
    let inside = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
    match inside {
        Some((module, file)) if SEVERAL_MODULES.contains(&module) => file.to_owned(),
        Some((module, file)) => format!("{module}/{file}"),
        None => path.strip_prefix("src/").unwrap_or(path).to_owned(),
    }
}

/// Returns a line of code as if all crates were one: `crate::llm::retry` for `crate::retry` in the
/// crate of the models, and for `copydesk_llm::retry` in another one.
fn in_one_crate(line: &str, file: &File) -> String {
    let own = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
    let mut line = match own.filter(|own| !SEVERAL_MODULES.contains(own)) {
        Some(own) => line.replace("crate::", &format!("crate::{own}::")),
        None => line.to_owned(),
    };
    for of_modules in SEVERAL_MODULES {
        line = line.replace(&format!("copydesk_{of_modules}::"), "crate::");
    }
    line.replace("copydesk_", "crate::")
}

impl File {
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
                found.push(File { place: place(&path), path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Conditions of modules that only tests have. Cargo.toml says so of the two features.
const FOR_TESTS: [&str; 4] = [
    "#[cfg(test)]",
    "#[cfg(feature = \"failpoints\")]",
    "#[cfg(feature = \"rehearsal\")]",
    "#[cfg(any(test, feature = \"rehearsal\"))]",
];

/// The sources that end up in the binary: without files that only tests have.
fn sources() -> Vec<File> {
    let all: Vec<_> = SOURCES.into_iter().flat_map(files).filter(is_rust).collect();
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

/// `src/client/tests` for a `#[cfg(test)] mod tests;` in `src/client/mod.rs` (or in
/// `src/client.rs`).
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
        FOR_TESTS.contains(&two[0]).then(|| format!("{folder}/{name}"))
    };
    lines.windows(2).filter_map(module).collect()
}

/// Fails with all complaints at once.
fn settle(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}\n  {}\n", complaints.join("\n  "));
}

/// Crates that the page leaves out, since most crates may use them.
const LEFT_OUT: [&str; 4] = ["clock", "failpoint", "macros", "metrics"];

/// Compares the page with the manifests, which say which crate may use which; the compiler holds
/// that.
#[test]
fn the_architecture_page_has_the_walls_of_the_manifests() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let quoted = |cell: &str| -> BTreeSet<String> {
        let names = cell.split('`').skip(1).step_by(2);
        names.filter(|name| !LEFT_OUT.contains(name)).map(str::to_owned).collect()
    };
    let mut complaints = Vec::new();
    let mut described = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let (names, stated, all_but) =
            (quoted(cells[0]), quoted(cells[2]), cells[2].contains("all but"));
        for name in names {
            let used: BTreeSet<String> = used_crates(&name);
            let holds = if all_but { used.is_disjoint(&stated) } else { used == stated };
            if !holds {
                complaints.push(format!("`{name}` uses {used:?}, the page says {:?}", cells[2]));
            }
            described.insert(name);
        }
    }
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let missing = crates.filter(|it| !LEFT_OUT.contains(&it.as_str()) && !described.contains(it));
    complaints.extend(missing.map(|name| format!("`{name}` is not on the page")));
    settle("docs/architecture.md has a row for each crate, with the crates it uses:", &complaints);
}

/// Returns the crates of the workspace that a crate uses outside of its tests.
fn used_crates(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
    let (_, rest) = manifest.split_once("[dependencies]").unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| {
        let end = line.find(['.', ' ', '='])?;
        Some(line[..end].strip_prefix("copydesk-")?.replace('-', "_"))
    });
    names.filter(|it| !LEFT_OUT.contains(&it.as_str())).collect()
}

#[test]
fn only_main_starts_the_server() {
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
            let inside = places.split(' ').any(|place| is_in(&file.place, place));
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
        "Each crate is known in one place. Ask the module behind the wall instead, or move the wall in WALLS (tests/tidy.rs) with a reason:",
        &complaints,
    );
}

/// `store` holds `store/…` and `store.rs`; `llm/harper` also `llm/harper.rs`.
fn is_in(file: &str, place: &str) -> bool {
    file.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest == ".rs")
}

/// Returns `true` if a line names a crate or module as such, not as the end of another word.
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
fn the_pure_modules_stay_pure() {
    let mut complaints = Vec::new();
    for file in sources().iter().filter(|file| PURE.iter().any(|module| is_in(&file.place, module)))
    {
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
        "A pure module has no clock, socket, disk or task; give it what it needs as a value:",
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
fn structs_have_few_fields() {
    let mut complaints = Vec::new();
    let mut unused: BTreeSet<&str> = LARGE_STRUCTS.iter().map(|(name, _)| *name).collect();
    for file in sources() {
        if ["store", "protocol"].iter().any(|place| is_in(&file.place, place)) {
            continue;
        }
        for (name, fields) in structs(&file).into_iter().filter(|(_, it)| *it > MOST_FIELDS) {
            if !unused.remove(name.as_str())
                && !LARGE_STRUCTS.iter().any(|(large, _)| *large == name)
            {
                complaints.push(format!("{}: {name} has {fields} fields", file.path));
            }
        }
    }
    complaints.extend(unused.into_iter().map(|name| format!("{name} is not large any more")));
    settle(
        &format!(
            "A struct has at most {MOST_FIELDS} fields. Name what belongs together, or give a reason in LARGE_STRUCTS:"
        ),
        &complaints,
    );
}

/// Names of the structs of a file, with the number of their fields.
fn structs(file: &File) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    // Indentation of the struct that is being read.
    let mut inside: Option<usize> = None;
    for line in file.code() {
        let indent = line.len() - line.trim_start().len();
        let is_struct = line.split_whitespace().any(|word| word == "struct") && line.ends_with('{');
        match inside {
            None if is_struct => {
                let name = readability::defined_type(line).unwrap_or_default();
                found.push((name.to_owned(), 0));
                inside = Some(indent);
            }
            Some(depth) if indent == depth && line.trim() == "}" => inside = None,
            Some(depth) if indent == depth + 4 => {
                let (name, _) = line.trim().split_once(':').unwrap_or_default();
                let name = name.rsplit(' ').next().unwrap_or_default();
                let is_field = !name.is_empty()
                    && name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                if let Some(last) = found.last_mut().filter(|_| is_field) {
                    last.1 += 1;
                }
            }
            None | Some(_) => {}
        }
    }
    found
}

#[test]
fn folders_are_small_enough_to_see_at_once() {
    let mut folders: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for file in ["src", "crates", "web/src"].into_iter().flat_map(files) {
        // Tests and style sheets stand beside what they are for.
        let is_beside = file.path.contains(".test.")
            || Path::new(&file.path).extension().is_some_and(|it| it == "css");
        if is_beside || (!is_rust(&file) && !file.path.starts_with("web/")) {
            continue;
        }
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder.to_owned()).or_default() += 1;
    }
    let complaints: Vec<_> = folders
        .into_iter()
        .filter(|(_, count)| *count > MOST_FILES)
        .map(|(folder, count)| format!("{folder}: {count} files"))
        .collect();
    settle(
        &format!(
            "A folder has at most {MOST_FILES} files. Give a part of it a folder with a name:"
        ),
        &complaints,
    );
}

#[test]
fn the_editors_folders_say_what_they_hold() {
    let list = fs::read_to_string(root().join("web/src/README.md")).unwrap();
    let listed: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("/`"))
        .map(|it| it.0)
        .collect();
    let sources = files("web/src");
    let folder = |file: &'_ File| {
        let place = file.path.strip_prefix("web/src/").unwrap().to_owned();
        place.rsplit_once('/').map(|(folder, _)| folder.to_owned())
    };
    let folders: BTreeSet<String> = sources.iter().filter_map(folder).collect();
    assert_eq!(
        folders.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        listed,
        "web/src/README.md has one line for each folder of the editor, and no other"
    );
}

#[test]
fn a_name_means_one_type() {
    let mut places: std::collections::BTreeMap<String, Vec<String>> =
        std::collections::BTreeMap::new();
    for file in sources() {
        for line in file.code() {
            let defined = readability::defined_type(line);
            if let Some(name) = defined.filter(|name| !SHARED_NAMES.contains(name)) {
                places.entry(name.to_owned()).or_default().push(file.path.clone());
            }
        }
    }
    let complaints: Vec<_> = places
        .into_iter()
        .filter(|(_, files)| files.len() > MOST_NAMESAKES)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    settle(
        "A type has a name of its own, at most shared with its counterpart in the protocol:",
        &complaints,
    );
}

#[test]
fn every_file_says_first_what_it_is() {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    let complaints: Vec<_> =
        sources().iter().filter(silent).map(|file| file.path.clone()).collect();
    settle(
        "The first line of a file is `//! ` and says in one sentence what the module is:",
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
    for file in ["src", "crates", "tests", "benches"].into_iter().flat_map(files).filter(is_rust) {
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
    let all: Vec<_> =
        ["src", "crates", "tests", "benches", "web/src"].into_iter().flat_map(files).collect();
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
        "No file names a package registry's host or a folder of someone's machine:",
        &complaints,
    );
}

#[test]
fn every_fixture_is_used() {
    // Read as a whole by tests/it/support/wire.rs, by `quality.rs` of the diff's tests, and by
    // tests/hunks.rs.
    let whole = ["fixtures/wire/", "fixtures/rewrites/", "fixtures/hunks/subsets/"];
    let readers: Vec<_> =
        ["src", "crates", "tests", "benches", "web/src", "web/vectors", "web/e2e"]
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

/// Code of others comes from a registry, with its version in the lock file.
#[test]
fn no_one_elses_code_is_in_the_tree() {
    let mut complaints: Vec<_> = files("")
        .into_iter()
        .map(|file| file.path)
        .filter(|path| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let vendored = folder.split('/').any(|it| ["vendor", "third_party"].contains(&it));
            vendored
                || (name == "Cargo.toml" && !folder.is_empty() && !folder.starts_with("crates/"))
        })
        .collect();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let patches = manifest.lines().filter(|line| line.starts_with("[patch"));
    complaints.extend(patches.map(|line| format!("Cargo.toml: {line}")));
    settle("Wait for a release, or do without; a copy is never kept up to date:", &complaints);
}

#[test]
fn the_editor_knows_the_sample_by_the_servers_title() {
    let quoted = |path: &str, before: &str, end: char| -> String {
        let text = fs::read_to_string(root().join(path)).expect("a source");
        let (_, after) = text.split_once(before).expect("the constant");
        after.split(end).next().expect("a title").to_owned()
    };
    assert_eq!(
        quoted("web/src/library/library.ts", "SAMPLE_TITLE = '", '\''),
        quoted("src/server.rs", "SAMPLE_TITLE: &str = \"", '"'),
    );
}
