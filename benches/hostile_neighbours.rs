//! Cost of two hostile editors to a person who types in a document of their own.
//!
//! Everything is real: the server is its own process, four socket.io clients talk to it over
//! loopback. First a bystander types alone, which is the control. Then two editors, each in a
//! document of their own, send as fast as they are answered what costs most: updates of thousands
//! of sections on a version that is long ago, and replacements of a long text. A viewer asks for
//! old versions, the history and the list meanwhile, also as fast as they are answered.
//!
//! Goal: the 99th percentile of the bystander's keystrokes is at most 50 ms worse than in the
//! control of the same run.
//!
//! The result names how many rounds of each were answered: without attacks there is nothing to see.
//!
//! `cargo bench --bench hostile_neighbours`

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::expect_used, reason = "a bench that cannot run says so by stopping")]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::{BenchClient, BenchServer};

/// Keystrokes of the bystander, alone and in company.
const KEYSTROKES: usize = 1_000;
/// Between two of them: a fast typist.
const PAUSE: Duration = Duration::from_millis(10);
/// UTF-16 units of the text that hostile editors change everywhere.
const LENGTH: usize = 80_000;
/// Updates that their late ones have to be moved over.
const BEHIND: u64 = 200;
const GOAL_MS: f64 = 50.0;

fn main() {
    let data = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let server = BenchServer::start(data.path(), &["--model", "harper"], &[]);
    let connect =
        |name: &str, role: &str| BenchClient::connect(&server, &server.token(name, role), name);
    let mut bystander = connect("Bystander", "editor");
    let page = bystander.create("A quiet page.");
    let mut version = 0;
    keystrokes(&mut bystander, &page, &mut version, 100);
    let alone = keystrokes(&mut bystander, &page, &mut version, KEYSTROKES);
    let stop = Arc::new(AtomicBool::new(false));
    let mut others: Vec<_> = ["Mallory", "Trudy"]
        .map(|name| {
            let client = connect(name, "editor");
            Neighbour::start(&stop, move |stop, done| attack(client, stop, done))
        })
        .into();
    let (viewer, read) = (connect("Eve", "viewer"), page.clone());
    others.push(Neighbour::start(&stop, move |stop, done| browse(viewer, &read, stop, done)));
    // Until all are at it.
    while others.iter().any(|it| it.done.load(Relaxed) < 2) {
        assert!(!others.iter().any(|it| it.thread.is_finished()), "a neighbour has given up");
        std::thread::sleep(PAUSE);
    }
    let rounds = || others.iter().map(|it| it.done.load(Relaxed)).collect::<Vec<_>>();
    let before = rounds();
    let company = keystrokes(&mut bystander, &page, &mut version, KEYSTROKES);
    let answered: Vec<_> = rounds().iter().zip(before).map(|(now, before)| now - before).collect();
    stop.store(true, Relaxed);
    for neighbour in others {
        neighbour.thread.join().expect("a neighbour ends in good order");
    }
    println!("{:<44} {:>9} {:>9} {:>9}", "a keystroke, milliseconds", "median", "99th", "worst");
    row("alone", &alone);
    row("with two hostile editors and a viewer", &company);
    let worse = percentile(&company, 99) - percentile(&alone, 99);
    let verdict = if worse <= GOAL_MS { "met" } else { "MISSED" };
    println!(
        "\n99th percentile worse by {worse:.1} ms (goal {GOAL_MS:.0} ms: {verdict}); rounds answered: {} and {} of the \
         editors, {} of the viewer",
        answered[0], answered[1], answered[2]
    );
}

/// A client in a thread of its own, and the rounds of it that were answered.
struct Neighbour {
    thread: JoinHandle<()>,
    done: Arc<AtomicUsize>,
}

impl Neighbour {
    fn start(
        stop: &Arc<AtomicBool>,
        work: impl FnOnce(&AtomicBool, &AtomicUsize) + Send + 'static,
    ) -> Self {
        let (stop, done) = (Arc::clone(stop), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&done);
        Self { thread: std::thread::spawn(move || work(&stop, &counted)), done }
    }
}

/// Reads what costs much until it is asked to stop; counts the answers.
fn browse(mut client: BenchClient, page: &str, stop: &AtomicBool, done: &AtomicUsize) {
    let opened = client.try_ask("document:open", &json!({"documentId": page}));
    let versions = opened["document"]["version"].as_u64().expect("a viewer may read").max(1);
    let mut version = 0;
    while !stop.load(Relaxed) {
        // Far from one another, so that none is near the one before.
        version = (version + 37) % versions;
        client.try_ask("document:at", &json!({"documentId": page, "version": version}));
        client.try_ask("document:compare", &json!({"documentId": page, "from": version}));
        client.try_ask("document:history", &json!({"documentId": page}));
        client.try_ask("document:list", &json!({}));
        done.fetch_add(1, Relaxed);
    }
}

/// Sends what costs much until it is asked to stop; counts the answers.
fn attack(mut client: BenchClient, stop: &AtomicBool, done: &AtomicUsize) {
    let page = client.create(&"x".repeat(LENGTH));
    let everywhere: Value = (0..LENGTH / 2).flat_map(|_| [json!([1, "y"]), json!(1)]).collect();
    let push = |version: u64, changes: &Value| {
        json!({"documentId": page, "version": version,
            "updates": [{"clientID": format!("c{version}"), "changes": changes}]})
    };
    let mut version = 0;
    while version < BEHIND {
        let ack = client.try_ask("document:push", &push(version, &everywhere));
        version = ack["version"].as_u64().unwrap_or_else(|| panic!("it is refused: {ack}"));
    }
    while !stop.load(Relaxed) {
        // Moved over two hundred such updates: refused, and what comes before the refusal is what
        // counts.
        client.try_ask("document:push", &push(0, &everywhere));
        client.try_ask("document:push", &push(version - 10, &everywhere));
        let whole = json!([[LENGTH, "z".repeat(LENGTH)]]);
        version =
            client.try_ask("document:open", &json!({"documentId": page}))["document"]["version"]
                .as_u64()
                .unwrap_or(version);
        client.try_ask("document:push", &push(version, &whole));
        client.try_ask("document:at", &json!({"documentId": page, "version": version / 2}));
        client.try_ask("document:compare", &json!({"documentId": page, "from": 1}));
        client.try_ask("document:list", &json!({}));
        done.fetch_add(1, Relaxed);
    }
}

/// Returns the time until each of `count` keystrokes was acknowledged, in milliseconds, sorted.
fn keystrokes(client: &mut BenchClient, page: &str, version: &mut u64, count: usize) -> Vec<f64> {
    let len = |version: u64| "A quiet page.".len() as u64 + version;
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let typed = json!([[0, "x"], len(*version)]);
            let push = json!({"documentId": page, "version": *version,
                "updates": [{"clientID": "typist", "changes": typed}]});
            let began = Instant::now();
            let ack = client.try_ask("document:push", &push);
            let took = began.elapsed().as_secs_f64() * 1_000.0;
            *version = ack["version"].as_u64().expect("it was taken");
            std::thread::sleep(PAUSE);
            took
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn row(name: &str, sorted: &[f64]) {
    let worst = percentile(sorted, 100);
    println!(
        "{name:<44} {:>9.2} {:>9.2} {worst:>9.2}",
        percentile(sorted, 50),
        percentile(sorted, 99)
    );
}
