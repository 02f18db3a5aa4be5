//! Cost of an edit: read, check, apply and log a change, against the same edit on a bare rope.
//!
//! Replays recorded editing sessions (the sequential ones of josephg/editing-traces, gzipped JSON)
//! from the folder in `COPYDESK_TRACES`. Both sides run in turns and the best round of each counts,
//! in CPU time of this thread.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use copydesk_document::{ChangeLimits, Document, IncomingUpdate, RebaseBudget, TailLimits, Text};
use copydesk_ids::{ClientId, Version};
use flate2::read::GzDecoder;
use ropey::Rope;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::Value;

const LIMITS: ChangeLimits =
    ChangeLimits { max_sections: 10_000, max_inserted: 1_000_000, max_length: 10_000_000 };
const ROUNDS: usize = 9;
/// Bytes a committed update may take in memory besides its JSON.
const LOG_GOAL: f64 = 30.0;
/// Nanoseconds to move a change over one missed update.
const REBASE_GOAL: f64 = 100.0;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    kind: Option<String>,
    #[serde(default)]
    start_content: String,
    end_content: String,
    txns: Vec<Transaction>,
}

#[derive(Deserialize)]
struct Transaction {
    /// Position, deleted, inserted; in characters of the text after the patch before.
    patches: Vec<(usize, usize, String)>,
}

/// Kind of text in which a trace is played.
#[derive(Clone, Copy)]
enum Script {
    AsRecorded,
    /// An emoji at the very start, so that no two kinds of position agree.
    OneEmoji,
    /// Every hundredth inserted character is an emoji.
    ManyEmoji,
}

impl Script {
    const ALL: [(Self, &'static str, f64); 3] = [
        (Self::AsRecorded, "as recorded", 1.5),
        (Self::OneEmoji, "one emoji", 2.5),
        (Self::ManyEmoji, "1 % emoji", 2.5),
    ];
}

/// A trace as both sides take it. Texts lie one after the other, as they do when they come from a
/// socket.
struct Session {
    start: String,
    edits: Vec<Edit>,
    inserts: String,
    changes: String,
}

struct Edit {
    at: usize,
    delete: usize,
    insert: Range<usize>,
    change: Range<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = std::env::var_os("COPYDESK_TRACES") else {
        println!("set COPYDESK_TRACES to a folder of editing traces (*.json.gz)");
        return Ok(());
    };
    println!(
        "{:<16} {:<12} {:>7} {:>8} {:>10} {:>6} {:>5} {:>13}",
        "trace", "text", "edits", "rope ns", "engine ns", "ratio", "goal", "log B/update"
    );
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut longest: Option<Session> = None;
    for path in files.iter().map(fs::DirEntry::path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = name.strip_suffix(".json.gz") else { continue };
        let trace = read(&path)?;
        if trace.kind.as_deref() == Some("concurrent") {
            continue;
        }
        for (script, label, goal) in Script::ALL {
            let session = prepare(&trace, script);
            compare(&format!("{name:<16} {label:<12}"), goal, &session);
            if longest.as_ref().is_none_or(|most| most.edits.len() < session.edits.len()) {
                longest = Some(session);
            }
        }
    }
    if let Some(session) = longest {
        rebase(&session);
    }
    Ok(())
}

fn read(path: &Path) -> Result<Trace, Box<dyn Error>> {
    Ok(serde_json::from_reader(BufReader::new(GzDecoder::new(File::open(path)?)))?)
}

fn prepare(trace: &Trace, script: Script) -> Session {
    let mut start = trace.start_content.clone();
    if matches!(script, Script::OneEmoji) {
        start.insert(0, '😀');
    }
    let shift = start.chars().count() - trace.start_content.chars().count();
    let (mut rope, mut typed) = (Rope::from_str(&start), 0_usize);
    let (mut edits, mut inserts, mut changes) = (Vec::new(), String::new(), String::new());
    for (at, delete, insert) in trace.txns.iter().flat_map(|transaction| &transaction.patches) {
        let (at, delete) = (at + shift, *delete);
        let starts = (inserts.len(), changes.len());
        inserts.extend(insert.chars().map(|char| {
            typed += 1;
            let emoji = matches!(script, Script::ManyEmoji) && typed % 100 == 1;
            if emoji { '🎉' } else { char }
        }));
        let insert = starts.0..inserts.len();
        changes.push_str(&change_json(&rope, at, delete, &inserts[insert.clone()]));
        replace(&mut rope, at, delete, &inserts[insert.clone()]);
        edits.push(Edit { at, delete, insert, change: starts.1..changes.len() });
    }
    let as_recorded = matches!(script, Script::AsRecorded);
    assert!(!as_recorded || rope == trace.end_content, "the trace was not understood");
    Session { start, edits, inserts, changes }
}

fn change_json(rope: &Rope, at: usize, delete: usize, insert: &str) -> String {
    let from = rope.char_to_utf16_cu(at);
    let to = rope.char_to_utf16_cu(at + delete);
    let mut change = vec![Value::from(to - from)];
    if !insert.is_empty() {
        change.extend(insert.split('\n').map(Value::from));
    }
    let mut sections = vec![Value::from(change)];
    if from > 0 {
        sections.insert(0, from.into());
    }
    if to < rope.len_utf16_cu() {
        sections.push((rope.len_utf16_cu() - to).into());
    }
    Value::from(sections).to_string()
}

fn replace(rope: &mut Rope, at: usize, delete: usize, insert: &str) {
    if delete > 0 {
        rope.remove(at..at + delete);
    }
    if !insert.is_empty() {
        rope.insert(at, insert);
    }
}

fn compare(label: &str, goal: f64, session: &Session) {
    let writer = ClientId::from("writer");
    let (edits, count) = (&session.edits, session.edits.len());
    let (mut bare, mut engine, mut log_bytes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let mut rope = Rope::from_str(&session.start);
        bare = bare.min(cpu_time(|| {
            for edit in edits {
                replace(&mut rope, edit.at, edit.delete, &session.inserts[edit.insert.clone()]);
            }
        }));
        let mut document = Document::with_tail(
            Text::new(&session.start),
            Version(0),
            TailLimits { updates: count, bytes: usize::MAX },
        );
        engine = engine.min(cpu_time(|| {
            for edit in edits {
                push(&mut document, &writer, &session.changes[edit.change.clone()]);
            }
        }));
        assert!(rope == document.text().to_string(), "both sides did the same");
        log_bytes = document.log_size_bytes();
    }
    let ratio = engine.as_secs_f64() / bare.as_secs_f64();
    let overhead = (log_bytes - session.changes.len()) as f64 / count as f64;
    let verdict = if ratio <= goal && overhead <= LOG_GOAL { "" } else { "  MISSED" };
    let [bare, engine] = [bare, engine].map(|time| time.as_nanos() as f64 / count as f64);
    println!(
        "{label} {count:>7} {bare:>8.0} {engine:>10.0} {ratio:>6.2} {goal:>5} {overhead:>13.1}{verdict}"
    );
}

/// Moves a change over more and more missed updates.
fn rebase(session: &Session) {
    println!("\n{:<16} {:>10} {:>18} {:>5}", "rebase over", "push ns", "ns/further update", "goal");
    let (writer, me) = (ClientId::from("writer"), ClientId::from("me"));
    let (before, missed) = session.edits.split_at(session.edits.len() / 2);
    let mut document = Document::new(Text::new(&session.start), Version(0));
    let type_all = |document: &mut Document, edits: &[Edit]| {
        for edit in edits {
            push(document, &writer, &session.changes[edit.change.clone()]);
        }
    };
    type_all(&mut document, before);
    let (base, len) = (document.version(), document.text().len());
    let mine = format!(r#"[{},[0,"x"],{}]"#, len / 3, len - len / 3);
    let incoming = [IncomingUpdate { client: &me, changes: &mine }];
    let mut over_one = 0.0;
    for count in [0, 1, 10, 100, 1000, 10_000_u32] {
        let done = (document.version().0 - base.0) as usize;
        type_all(&mut document, &missed[done..count as usize]);
        let repeats = (20_000 / (count + 10)).max(20);
        let once = |mut document: Document| {
            assert!(
                document
                    .push(base, &incoming, &LIMITS, RebaseBudget::UNLIMITED)
                    .is_ok_and(|committed| committed.len() == 1)
            );
        };
        let round = |_| {
            let fresh: Vec<_> = (0..repeats).map(|_| document.clone()).collect();
            cpu_time(|| fresh.into_iter().for_each(once))
        };
        let best = (0..ROUNDS).map(round).min();
        let each = best.unwrap_or_default().as_nanos() as f64 / f64::from(repeats);
        if count <= 1 {
            over_one = each;
            println!("{count:<16} {each:>10.0}");
        } else {
            let further = (each - over_one) / f64::from(count - 1);
            let verdict = if further <= REBASE_GOAL { "" } else { "  MISSED" };
            println!("{count:<16} {each:>10.0} {further:>18.0} {REBASE_GOAL:>5}{verdict}");
        }
    }
}

fn push(document: &mut Document, client: &ClientId, changes: &str) {
    let committed = document.push(
        document.version(),
        &[IncomingUpdate { client, changes }],
        &LIMITS,
        RebaseBudget::UNLIMITED,
    );
    assert!(committed.is_ok_and(|committed| committed.len() == 1), "{changes}");
}

/// CPU time of this thread, which other work on the machine does not lengthen.
fn cpu_time(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
    };
    let start = now();
    work();
    now().saturating_sub(start)
}
