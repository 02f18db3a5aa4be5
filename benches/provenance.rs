//! Cost of working out who wrote every span: following a recorded history, update by update, and
//! what is kept of it.
//!
//! Replays the editing sessions of the folder in `COPYDESK_TRACES`, as if three people had taken
//! turns every half minute and each of their updates had come two seconds after the one before.
//! Nothing of this is paid for while a person types.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use copydesk_document::provenance::{Provenance, ProvenanceReplay, ReplayEntry, UpdatePlacements};
use copydesk_document::{ChangeSet, TextEdit};
use copydesk_ids::{UserId, Version};
use flate2::read::GzDecoder;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;

/// Nanoseconds to follow one update.
const GOAL: f64 = 1_000.0;
const BETWEEN_MS: u64 = 2_000;
const TURN: usize = 15;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    kind: Option<String>,
    #[serde(default)]
    start_content: String,
    txns: Vec<Transaction>,
}

#[derive(Deserialize)]
struct Transaction {
    /// Position, deleted, inserted; in characters of the text after the patch before.
    patches: Vec<(usize, usize, String)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = std::env::var_os("COPYDESK_TRACES") else {
        println!("set COPYDESK_TRACES to a folder of editing traces (*.json.gz)");
        return Ok(());
    };
    println!(
        "{:<16} {:>8} {:>8} {:>10} {:>5} {:>9} {:>9}",
        "trace", "updates", "spans", "ns/update", "goal", "kept KB", "read ms"
    );
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    for path in files.iter().map(fs::DirEntry::path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name.strip_suffix(".json.gz") else { continue };
        let trace: Trace =
            serde_json::from_reader(BufReader::new(GzDecoder::new(File::open(&path)?)))?;
        if trace.kind.as_deref() != Some("concurrent") {
            measure(name, &path, &trace)?;
        }
    }
    Ok(())
}

fn measure(name: &str, path: &Path, trace: &Trace) -> Result<(), Box<dyn Error>> {
    // Characters stand for units: the traces have nothing outside the basic plane that would matter
    // here.
    let start = trace.start_content.chars().count();
    let mut len = start;
    let mut changes = Vec::new();
    for (at, deleted, inserted) in trace.txns.iter().flat_map(|it| &it.patches) {
        let insert: String =
            inserted.chars().map(|c| if c.len_utf16() == 1 { c } else { '?' }).collect();
        let edit = TextEdit { from: *at, to: at + deleted, insert };
        let change =
            ChangeSet::of(len, &[edit]).map_err(|error| format!("{}: {error}", path.display()))?;
        len = change.new_len();
        changes.push(change);
    }
    let people = ["ana", "bo", "cas"].map(UserId::from);
    let before = cpu_ns();
    let mut replay =
        ProvenanceReplay::new(Provenance::beginning(start), Version(0), &[] as &[UpdatePlacements]);
    for (number, change) in changes.iter().enumerate() {
        let author = &people[number / TURN % people.len()];
        let at_ms = number as u64 * BETWEEN_MS;
        replay.follow(&ReplayEntry { change, author, at_ms, origin: None, placements: None })?;
    }
    let each = (cpu_ns() - before) / changes.len().max(1) as f64;
    let provenance = replay.provenance();
    let kept = provenance.to_json();
    let before = cpu_ns();
    let read = Provenance::from_json(&kept)?;
    let read_ms = (cpu_ns() - before) / 1e6;
    assert_eq!(read, *provenance, "{name}: what is kept is not what was");
    let spans = provenance.spans(0..provenance.len()).len();
    println!(
        "{name:<16} {:>8} {spans:>8} {each:>10.0} {GOAL:>5.0} {:>9.1} {read_ms:>9.2}",
        changes.len(),
        kept.len() as f64 / 1024.0,
    );
    Ok(())
}

/// CPU time of this thread: other programs on the machine do not count.
fn cpu_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}
