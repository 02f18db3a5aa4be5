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

use crate::converge::{FragileDesk, Play, holds, people_on, play_on, setting};
use crate::support::{Host, PrivatePostgres, StoryDatabase, TestServer, in_namespaces};

/// Time for which the disk is full, or the clock is wrong.
const WHILE: Duration = Duration::from_secs(3);
/// Longest wait for something that is written to a log.
const PATIENCE: Duration = Duration::from_mins(1);

/// A small file system.
struct Disk {
    folder: TempDir,
}

impl Disk {
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

    /// Nothing more can be written.
    fn fills(&self) {
        let mut ballast = File::create(self.ballast()).expect("a file can be made");
        let mut piece = vec![0_u8; 1 << 20];
        while !piece.is_empty() {
            if ballast.write_all(&piece).is_err() {
                piece.truncate(piece.len() / 2);
            }
        }
    }

    fn has_room_again(&self) {
        std::fs::remove_file(self.ballast()).expect("it is there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(self.path()).status().ok();
    }
}

/// A desk whose disk is full for a while, or that of its database.
struct FullDesk {
    desk: TestServer,
    postgres: Option<PrivatePostgres>,
    disk: Disk,
}

impl FullDesk {
    /// How often something could not be stored. What is typed is then in the journal of updates.
    fn refusals(&self) -> usize {
        let said = self.desk.complaints();
        let refused = ["cannot store a change", "does not take the newest updates"];
        refused.iter().map(|words| said.matches(words).count()).sum()
    }
}

impl FragileDesk for FullDesk {
    fn cut(&mut self) -> Value {
        let refused = self.refusals();
        self.disk.fills();
        // People write until something could not be stored.
        let until = Instant::now() + PATIENCE;
        while self.refusals() == refused {
            assert!(Instant::now() < until, "everything could be stored");
            sleep(Duration::from_millis(20));
        }
        sleep(WHILE);
        self.disk.has_room_again();
        if let Some(postgres) = &mut self.postgres {
            postgres.starts_if_ended();
        }
        json!({"url": self.desk.url()})
    }
}

/// A session in which these happen so many times.
fn session(cuts: usize, governed: bool) -> Play {
    let seed = setting("COPYDESK_SEED").unwrap_or(50_000);
    let kind = json!({
        "cut": true, "cuts": cuts, "lasting": true, "reviewed": true, "racing": true, "undoes": true
    });
    Play { seeds: seed..seed + 1, kind, governed, ..Play::default() }
}

fn play(session: Play, desk: impl FragileDesk, mut place: Value) {
    place["isPatient"] = true.into();
    let cuts = session.kind["cuts"].as_u64();
    let (count, failures) = play_on(session, place.clone(), (&mut [desk], vec![place]));
    eprintln!("{count}");
    holds(&count, &failures);
    assert_eq!(count["cuts"].as_u64(), cuts, "{count}");
}

#[test]
fn a_server_whose_disk_was_full_goes_on() {
    in_namespaces("nodes_disk::full");
}

#[test]
#[ignore = "told in namespaces of its own"]
fn full() {
    let (disk, session) = (Disk::mounted(24), session(2, true));
    let plan = TestServer::plan().on_sqlite("its disk is full").playing(session.script());
    let server = plan.folder(disk.path()).start();
    let place = people_on(&server);
    play(session, FullDesk { desk: server, postgres: None, disk }, place);
}

#[test]
fn a_server_goes_on_after_the_disk_of_postgresql_was_full() {
    in_namespaces("nodes_disk::full_database");
}

#[test]
#[ignore = "told in namespaces of its own"]
fn full_database() {
    let (disk, session) = (Disk::mounted(160), session(2, true));
    let Some(postgres) = PrivatePostgres::start_on(&Host::default(), Some(disk.path())) else {
        return;
    };
    let plan = TestServer::plan().playing(session.script());
    let server = plan.start_on(Some(StoryDatabase::on(&postgres.url())));
    let place = people_on(&server);
    play(session, FullDesk { desk: server, postgres: Some(postgres), disk }, place);
}

/// Two servers, of which one has a clock of its own.
struct WrongClock {
    nodes: TestServer,
    #[expect(dead_code, reason = "ended after the servers")]
    postgres: PrivatePostgres,
    folder: TempDir,
    jumps: std::vec::IntoIter<&'static str>,
}

/// How far its clock is off.
fn set_clock(folder: &Path, off: &str) {
    // In one step: it is read at any moment.
    let fresh = folder.join("clock.new");
    std::fs::write(&fresh, off).expect("there is room for a file");
    std::fs::rename(fresh, folder.join("clock")).expect("it can be renamed");
}

impl FragileDesk for WrongClock {
    fn cut(&mut self) -> Value {
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
    let session = session(jumps.len(), false);
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
    let wrong = Host::with(environment);
    let plan = TestServer::plan().playing(session.script()).hosts(vec![Host::default(), wrong]);
    let nodes = plan.start_nodes(2, StoryDatabase::on(&postgres.url()));
    let mut place = people_on(&nodes);
    place["urls"] = json!(nodes.urls());
    let jumps = Vec::from(jumps).into_iter();
    play(session, WrongClock { nodes, postgres, folder, jumps }, place);
}
