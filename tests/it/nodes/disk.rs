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
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::converge::{
    FaultInjector, SessionPlan, assert_no_failures, describe_server, number_from_environment,
    run_sessions_on,
};
use crate::support::{Host, PrivatePostgres, StoryDatabase, TestServer, in_namespaces};

/// Time for which the disk is full, or the clock is wrong.
const WHILE: Duration = Duration::from_secs(3);
/// Longest wait for something that is written to a log.
const PATIENCE: Duration = Duration::from_mins(1);

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
    /// Returns how often something could not be stored. What is typed is then in the journal of
    /// updates.
    fn refusals(&self) -> usize {
        let logs = self.server.complaints();
        let refused = ["cannot store a change", "does not take the newest updates"];
        refused.iter().map(|words| logs.matches(words).count()).sum()
    }
}

impl FaultInjector for FullDiskServer {
    fn inject_fault(&mut self) -> Value {
        let refused = self.refusals();
        self.disk.fill();
        // People write until something could not be stored.
        let until = Instant::now() + PATIENCE;
        while self.refusals() == refused {
            assert!(Instant::now() < until, "everything could be stored");
            // A file of its log has room for more than people write in a minute.
            if let Some(postgres) = &self.postgres {
                postgres.begins_next_log_file().ok();
            }
            sleep(Duration::from_millis(100));
        }
        sleep(WHILE);
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
#[ignore = "told in namespaces of its own"]
fn full() {
    let (disk, plan) = (SmallDisk::mounted(24), session_plan(2, true));
    let servers = TestServer::plan().on_sqlite("its disk is full").playing(plan.script());
    let server = servers.folder(disk.path()).start();
    let description = describe_server(&server);
    run_session(plan, FullDiskServer { server, postgres: None, disk }, description);
}

#[test]
fn a_server_goes_on_after_the_disk_of_postgresql_was_full() {
    in_namespaces("nodes::disk::full_database");
}

#[test]
#[ignore = "told in namespaces of its own"]
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
    fn inject_fault(&mut self) -> Value {
        let off = self.jumps.next().expect("there are as many as sessions have");
        set_clock(self.folder.path(), off);
        sleep(WHILE);
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
        let required = std::env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(!required, "there is no libfaketime, and COPYDESK_REQUIRE_ALL=1");
        return eprintln!("\n*** SKIPPED: there is no libfaketime at {faketime}\n");
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
