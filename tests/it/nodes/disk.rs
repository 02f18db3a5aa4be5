//! Stories about a disk that is full for a while, of the server or of PostgreSQL, and about a clock
//! that jumps, while editors and reviewers go on. What is acknowledged is there afterwards, once;
//! what was refused as "nothing was changed" was not done.
//!
//! The disk is a small file system in memory that the story mounts. The clock of one server is
//! moved by libfaketime, which stands between it and the system's: a namespace moves only the clock
//! that counts from the start of the machine, and setting the real one would move it for everybody.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documents::converge::{
    EditorProcess, FaultInjector, SessionPlan, assert_no_failures, describe_server,
    number_from_environment, run_sessions_on,
};
use crate::support::http::{ask, get};
use crate::support::{
    Host, OWNER, Person, PrivatePostgres, RestClient, Role, StoryDatabase, TestServer, eventually,
    in_namespaces, skip,
};

/// Turns that people take while the disk is full, or the clock is wrong: about three seconds.
const TURNS: usize = 15;

/// A small file system.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mounted(megabytes: usize) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let options = format!("size={megabytes}m,mode=1777");
        let mounting = ["-t", "tmpfs", "-o", &options, "story"];
        let mounted = Command::new("mount").args(mounting).arg(folder.path()).status();
        assert!(mounted.expect("there is `mount`").success(), "nothing can be mounted");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    /// Fills the disk, so that nothing more can be written.
    fn fill(&self) {
        let mut ballast = File::create(self.ballast()).expect("a file can be made");
        let mut piece = vec![0_u8; 1 << 20];
        while !piece.is_empty() {
            if ballast.write_all(&piece).is_err() {
                piece.truncate(piece.len() / 2);
            }
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.ballast()).expect("it is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.path()).status().ok();
    }
}

/// A server whose disk is full for a while, or that of its database.
struct FullDiskServer {
    server: TestServer,
    postgres: Option<PrivatePostgres>,
    disk: SmallDisk,
}

impl FullDiskServer {
    /// Returns how often something could not be stored. What is typed is then only pending.
    fn refusals(&self) -> usize {
        let logs = self.server.complaints();
        let refused = ["cannot store a change", "does not take the newest updates"];
        refused.iter().map(|words| logs.matches(words).count()).sum()
    }
}

impl FaultInjector for FullDiskServer {
    fn inject_fault(&mut self, people: &mut EditorProcess) -> Value {
        let refused = self.refusals();
        self.disk.fill();
        // People write until something could not be stored.
        eventually("something that cannot be stored", || {
            // A file of its log has room for more than people write in a minute.
            if let Some(postgres) = &self.postgres {
                postgres.begins_next_log_file().ok();
            }
            self.refusals() > refused
        });
        people.take_turns(TURNS);
        self.disk.free();
        if let Some(postgres) = &mut self.postgres {
            postgres.starts_if_ended();
        }
        json!({"url": self.server.url()})
    }
}

/// Plans a session with this number of faults.
fn session_plan(faults: usize, review_rules: bool) -> SessionPlan {
    let seed = number_from_environment("COPYDESK_SEED").unwrap_or(50_000);
    let profile = json!({
        "hasFaults": true, "faults": faults, "faultsLast": true, "hasProposals": true, "concurrent": true, "hasUndo": true
    });
    SessionPlan { seeds: seed..seed + 1, profile, review_rules, ..SessionPlan::default() }
}

fn run_session(plan: SessionPlan, injector: impl FaultInjector, mut description: Value) {
    description["mayRefuse"] = true.into();
    let faults = plan.profile["faults"].as_u64();
    let (count, failures) =
        run_sessions_on(plan, description.clone(), (&mut [injector], vec![description]));
    eprintln!("{count}");
    assert_no_failures(&count, &failures);
    assert_eq!(count["faults"].as_u64(), faults, "{count}");
}

#[test]
fn a_server_whose_disk_was_full_goes_on() {
    in_namespaces("nodes::disk::full");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn full() {
    let (disk, plan) = (SmallDisk::mounted(24), session_plan(2, true));
    let servers = TestServer::plan().on_sqlite("its disk is full").playing(plan.script());
    let server = servers.folder(disk.path()).start();
    let description = describe_server(&server);
    run_session(plan, FullDiskServer { server, postgres: None, disk }, description);
}

#[test]
fn what_was_typed_is_read_while_the_disk_is_full_and_after_a_start_on_it() {
    in_namespaces("nodes::disk::full_and_read");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn full_and_read() {
    let disk = SmallDisk::mounted(24);
    let plan = TestServer::plan().on_sqlite("its disk is full");
    let mut copydesk = plan.folder(disk.path()).start();
    let reader = copydesk.token("Vera", Role::Viewer, &[]);
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Kept words.\n");
    let mut text = String::from("Kept words.\n");
    let mut version = 0;
    let push = |version: u64, text: &str, words: &str| {
        ana.pushes(version, &[json!([text.len(), [0, words]])])
    };
    for number in 0..4_000 {
        if number == 20 {
            disk.fill();
        }
        let words = format!("{number} {}", "x".repeat(400));
        let ack = push(version, &text, &words);
        if ack.body()["ok"] != true {
            let refused = ack.refused_with("unavailable");
            assert!(number >= 20 && refused["message"].to_string().contains("stored"), "{refused}");
            break;
        }
        version = ack.ok()["version"].as_u64().unwrap();
        text += &words;
    }
    is_read(&copydesk, &reader, &document, &text);

    copydesk.is_killed();
    copydesk.starts();
    is_read(&copydesk, &reader, &document, &text);
    disk.free();
    eventually("a server that is ready", || get(copydesk.address(), "/readyz").status == 200);
    let owner = RestClient::new(&copydesk, OWNER);
    let more = json!({"version": version, "text": format!("{text} Room.")});
    owner.posts(&format!("documents/{document}/edits"), &more).ok();
    assert_eq!(owner.gets(&format!("documents/{document}")).ok()["text"], more["text"]);
    copydesk.checks_its_data();
}

/// The story fails unless a document is read in all ways while nothing can be stored, and the
/// server says so.
fn is_read(copydesk: &TestServer, reader: &str, document: &str, text: &str) {
    assert_eq!(get(copydesk.address(), "/readyz").status, 503);
    let owner = RestClient::new(copydesk, OWNER);
    assert_eq!(owner.gets(&format!("documents/{document}")).ok()["text"], text);
    let viewer = RestClient::new(copydesk, reader);
    assert_eq!(viewer.gets(&format!("documents/{document}")).ok()["text"], text);
    let export = format!("GET /api/v1/documents/{document}/export?format=md");
    let (host, token) = (copydesk.address(), format!("Bearer {reader}"));
    let exported = ask(host, &export, &[("Host", host), ("Authorization", &token)]);
    assert_eq!((exported.status, exported.body.as_str()), (200, text));
    let vera = Person::arrive(copydesk.url(), reader, "Vera");
    vera.opens(document);
    assert_eq!(vera.text(), text);
    let listed = viewer.gets("documents").ok();
    assert!(listed.to_string().contains(document), "{listed}");
    let edit = json!({"version": 0, "text": "z".repeat(9_000)});
    let refused = owner.posts(&format!("documents/{document}/edits"), &edit);
    assert!(refused.status >= 500, "{refused:?}");
}

#[test]
fn a_server_goes_on_after_the_disk_of_postgresql_was_full() {
    in_namespaces("nodes::disk::full_database");
}

#[test]
#[ignore = "runs in namespaces of its own"]
fn full_database() {
    let (disk, plan) = (SmallDisk::mounted(160), session_plan(2, true));
    let Some(postgres) = PrivatePostgres::start_on(&Host::default(), Some(disk.path())) else {
        return;
    };
    let servers = TestServer::plan().playing(plan.script());
    let server = servers.start_on(Some(StoryDatabase::on(&postgres.url())));
    let description = describe_server(&server);
    run_session(plan, FullDiskServer { server, postgres: Some(postgres), disk }, description);
}

/// Two servers, of which one has a clock of its own.
struct ClockFault {
    nodes: TestServer,
    #[expect(dead_code, reason = "ended after the servers")]
    postgres: PrivatePostgres,
    folder: TempDir,
    jumps: std::vec::IntoIter<&'static str>,
}

/// Sets how far the clock of a server is off.
fn set_clock(folder: &Path, off: &str) {
    // In one step: it is read at any moment.
    let fresh = folder.join("clock.new");
    std::fs::write(&fresh, off).expect("there is room for a file");
    std::fs::rename(fresh, folder.join("clock")).expect("it can be renamed");
}

impl FaultInjector for ClockFault {
    fn inject_fault(&mut self, people: &mut EditorProcess) -> Value {
        let off = self.jumps.next().expect("there are as many as sessions have");
        set_clock(self.folder.path(), off);
        people.take_turns(TURNS);
        eprintln!("clock: {off}");
        json!({"urls": self.nodes.urls()})
    }
}

#[test]
fn a_clock_that_jumps_changes_nothing_that_was_written_or_decided() {
    // Where Debian has it.
    let machine = std::env::consts::ARCH;
    let faketime = format!("/usr/lib/{machine}-linux-gnu/faketime/libfaketimeMT.so.1");
    if !Path::new(&faketime).is_file() {
        return skip("a clock that jumps", format_args!("there is no libfaketime at {faketime}"));
    }
    let jumps = ["+3600", "-7200", "+0"];
    let plan = session_plan(jumps.len(), false);
    let folder = tempfile::tempdir().unwrap();
    set_clock(folder.path(), "+0");
    let Some(postgres) = PrivatePostgres::start() else { return };
    let clock = folder.path().join("clock").display().to_string();
    let variables: [(&str, &str); 4] = [
        ("LD_PRELOAD", &*faketime),
        ("FAKETIME_TIMESTAMP_FILE", &clock),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let skewed = Host::with(environment);
    let servers = TestServer::plan().playing(plan.script()).hosts(vec![Host::default(), skewed]);
    let nodes = servers.start_nodes(2, StoryDatabase::on(&postgres.url()));
    let mut description = describe_server(&nodes);
    description["urls"] = json!(nodes.urls());
    let jumps = Vec::from(jumps).into_iter();
    run_session(plan, ClockFault { nodes, postgres, folder, jumps }, description);
}
