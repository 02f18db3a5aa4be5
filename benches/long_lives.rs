//! Cost of long lives: long logs, many documents, many waiting requests, and requests of many
//! changes.
//!
//! Everything is real: the server is its own process, and socket.io clients talk to it over
//! loopback. A cost is processor time of the server, all its threads together, so that other work
//! on the machine does not lengthen it. Each is measured for a few of something and for many, on
//! the same machine in the same run: what is flat has a ratio near 1, and what is bounded stays
//! below its goal. Times are marked as such; they depend on what else the machine does.
//!
//! `cargo bench --bench long_lives` takes some minutes; `-- documents` runs one part of `log`,
//! `documents` and `hunks`. `-- documents 1000 100` has 1,000 documents and 100 waiting requests in
//! place of 10,000 and 1,000.

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::expect_used, reason = "a bench that cannot run says so by stopping")]

#[path = "support/mod.rs"]
mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copydesk_client::ServerClient;
use copydesk_client::mcp::{StdioBridge, tool_call};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use support::{BenchClient, BenchServer, TOKEN};

/// Updates of one push; the most that a push may have.
const OF_A_PUSH: u64 = 5_000;
/// Keystrokes or questions of one measurement.
const ROUNDS: usize = 200;
const SENTENCE: &str = "The lamp was lit at dusk, and nobody had asked why it burned. ";

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let (numbers, chosen): (Vec<String>, Vec<String>) =
        given.into_iter().partition(|it| it.parse::<usize>().is_ok());
    let many: Vec<usize> = numbers.iter().filter_map(|it| it.parse().ok()).collect();
    let runs = |part: &str| chosen.is_empty() || chosen.iter().any(|it| it == part);
    println!(
        "{:<66} {:>10} {:>10} {:>7}",
        "processor time in ms, unless it is said", "few", "many", "ratio"
    );
    if runs("log") {
        long_logs();
    }
    if runs("documents") {
        many_documents(
            many.first().copied().unwrap_or(DOCUMENTS[1]),
            many.get(1).copied().unwrap_or(WAITING[1]),
        );
    }
    if runs("hunks") {
        many_hunks();
    }
}

/// Condition that a figure must meet.
enum Goal {
    /// Many cost at most so many times as much as few.
    Ratio(f64),
    /// Many cost at most so much.
    Most(f64),
}

fn row(name: &str, few: f64, many: f64, goal: &Goal) {
    let ratio = many / few;
    let (is_met, goal) = match goal {
        Goal::Ratio(most) => (ratio <= *most, format!("ratio ≤ {most}")),
        Goal::Most(most) => (many <= *most, format!("≤ {most}")),
    };
    let verdict = if is_met { "met" } else { "MISSED" };
    println!("{name:<66} {few:>10.3} {many:>10.3} {ratio:>7.2}  {goal}: {verdict}");
}

/// Processor time of the server for one of `count` pieces of work, in milliseconds.
fn cost(server: &BenchServer, count: usize, mut work: impl FnMut(usize)) -> f64 {
    // What still runs from before is not counted.
    std::thread::sleep(Duration::from_millis(300));
    let before = server.cpu();
    (0..count).for_each(&mut work);
    spent_since(server, before) / count as f64
}

/// Processor time of the server since it had used `before`, in milliseconds.
fn spent_since(server: &BenchServer, before: Duration) -> f64 {
    server.cpu().saturating_sub(before).as_secs_f64() * 1_000.0
}

/// Waits until a server that was just started has resumed what waits for people; on a busy machine
/// that takes a while.
fn settle(server: &BenchServer) {
    for _ in 0..60 {
        let before = server.cpu();
        std::thread::sleep(Duration::from_secs(1));
        if spent_since(server, before) < 20.0 {
            return;
        }
    }
}

fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

fn serve(data: &Path) -> BenchServer {
    // Otherwise the requests of programs outside end after five minutes, while others are made.
    BenchServer::start(data, &["--model", "harper", "--approval-timeout", "0"], &[])
}

fn owner(server: &BenchServer) -> BenchClient {
    BenchClient::connect(server, TOKEN, "Owner")
}

/// A person who types in a document of this length, and replaces letters, so that it stays.
struct Typist {
    client: BenchClient,
    document: String,
    length: usize,
    version: u64,
    /// Bytes of the change sets that were pushed.
    bytes: usize,
}

impl Typist {
    fn in_document(mut client: BenchClient, document: &str) -> Self {
        let opened = client.ask("document:open", &json!({"documentId": document}));
        let text = opened["document"]["text"].as_str().expect("a text");
        let version = opened["document"]["version"].as_u64().expect("a version");
        Self { client, document: document.to_owned(), length: text.len(), version, bytes: 0 }
    }

    /// Pushes so many keystrokes, each of which replaces a letter somewhere.
    fn types(&mut self, count: u64) {
        let updates: Vec<Value> = (0..count)
            .map(|number| {
                let at = (self.version + number) as usize * 7_919 % (self.length - 2) + 1;
                let changes = json!([at, [1, "y"], self.length - at - 1]);
                self.bytes += changes.to_string().len();
                json!({"clientID": "typist", "changes": changes})
            })
            .collect();
        let push =
            json!({"documentId": self.document, "version": self.version, "updates": updates});
        let answer = self.client.ask("document:push", &push);
        self.version = answer["version"].as_u64().expect("a version");
    }
}

/// Times in milliseconds, sorted.
fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1_000.0
}

// Long logs.

/// Updates of a long document, and of one that is not; beyond 20,000 nothing should cost more.
const UPDATES: [u64; 2] = [20_000, 100_000];
/// Characters of both.
const LENGTH: usize = 20_000;

/// Costs of one document with a long log.
struct LogCosts {
    first_open: f64,
    open: f64,
    keystroke: f64,
    at: f64,
    resync: f64,
    history: f64,
    provenance: f64,
    /// Bytes on the disk for each byte of the text and of the change sets.
    disk: f64,
    /// The same, with who made each change and when.
    disk_with_authors: f64,
}

fn long_logs() {
    let [few, many] = UPDATES.map(log_costs);
    println!("\na document with {} updates, and with {}", UPDATES[0], UPDATES[1]);
    let flat = Goal::Ratio(1.5);
    row("first document:open after a start", few.first_open, many.first_open, &Goal::Most(50.0));
    row("document:open", few.open, many.open, &flat);
    row("a keystroke", few.keystroke, many.keystroke, &flat);
    row("document:at, anywhere in the log", few.at, many.at, &Goal::Most(100.0));
    row("document:resync, 1,000 updates behind", few.resync, many.resync, &flat);
    row("document:history, a page in the middle", few.history, many.history, &flat);
    row("document:provenance", few.provenance, many.provenance, &Goal::Most(100.0));
    row("disk: bytes for each of text and change sets", few.disk, many.disk, &Goal::Most(3.0));
    let (few, many) = (few.disk_with_authors, many.disk_with_authors);
    row("disk: the same, authors, editors and times counted", few, many, &Goal::Most(3.0));
}

fn log_costs(updates: u64) -> LogCosts {
    let data = directory();
    let server = serve(data.path());
    let mut client = owner(&server);
    let text: String = SENTENCE.chars().cycle().take(LENGTH).collect();
    let document = client.create(&text);
    let mut typist = Typist::in_document(client, &document);
    for _ in 0..updates / OF_A_PUSH {
        typist.types(OF_A_PUSH);
    }
    let change_sets = typist.bytes;
    // Killed: it starts from what is on the disk.
    drop((typist, server));
    let server = serve(data.path());
    let mut client = owner(&server);
    let id = json!({"documentId": document});
    let first_open = cost(&server, 1, |_| drop(client.ask("document:open", &id)));
    let open = cost(&server, ROUNDS, |_| drop(client.ask("document:open", &id)));
    let at = cost(&server, ROUNDS, |round| {
        let version = (round as u64 * 7_919) % updates;
        client.ask("document:at", &json!({"documentId": document, "version": version}));
    });
    let behind = json!({"documentId": document, "version": updates - 1_000});
    let resync = cost(&server, ROUNDS, |_| drop(client.ask("document:resync", &behind)));
    let page = json!({"documentId": document, "before": updates / 2, "limit": 100});
    let history = cost(&server, ROUNDS, |_| drop(client.ask("document:history", &page)));
    client.ask("document:provenance", &id);
    let provenance = cost(&server, 10, |_| drop(client.ask("document:provenance", &id)));
    let mut typist = Typist::in_document(client, &document);
    typist.types(1);
    let keystroke = cost(&server, ROUNDS, |_| typist.types(1));
    // Everything is in the database itself when it is closed.
    server.stop();
    let bytes = std::fs::metadata(data.path().join("copydesk.sqlite")).expect("a database").len();
    let bytes = bytes as f64;
    let content = change_sets + LENGTH;
    // An author and an editor have some 20 characters together, and a time has 6 bytes.
    let authors = updates as usize * 26;
    LogCosts {
        first_open,
        open,
        keystroke,
        at,
        resync,
        history,
        provenance,
        disk: bytes / content as f64,
        disk_with_authors: bytes / (content + authors) as f64,
    }
}

// Many documents.

const DOCUMENTS: [usize; 2] = [100, 10_000];
const WAITING: [usize; 2] = [10, 1_000];
/// Calls of one person that are made together; one person may have 32 that wait.
const CALLS_OF_PERSON: usize = 30;
/// Longest time in which nothing more is proposed.
const TIMEOUT: Duration = Duration::from_mins(4);

/// Costs of a server with many documents, and with many waiting requests.
struct ServerCosts {
    start: f64,
    start_ms: f64,
    memory_mb: f64,
    idle: f64,
    page: f64,
    list_of_one: f64,
    list_for_each: f64,
    pending_of_one: f64,
    pending_page: f64,
    keystroke: f64,
    keystroke_anywhere: f64,
}

fn many_documents(documents: usize, waiting: usize) {
    assert!(documents >= DOCUMENTS[0] && waiting <= documents, "many are not few");
    let few = server_costs(DOCUMENTS[0], WAITING[0]);
    let many = server_costs(documents, waiting);
    println!(
        "\na server with {} documents and {} waiting requests, and with {documents} and {waiting}",
        DOCUMENTS[0], WAITING[0]
    );
    let flat = Goal::Ratio(1.5);
    row("start, until it listens", few.start, many.start, &Goal::Most(500.0));
    row(
        "start, until it listens: milliseconds that pass",
        few.start_ms,
        many.start_ms,
        &Goal::Most(1_000.0),
    );
    row("memory after the start, MB", few.memory_mb, many.memory_mb, &Goal::Most(100.0));
    row("a second in which nothing happens", few.idle, many.idle, &Goal::Most(5.0));
    row("GET /documents?limit=50", few.page, many.page, &flat);
    row("document:list with a token of one document", few.list_of_one, many.list_of_one, &flat);
    row("document:list, for each document", few.list_for_each, many.list_for_each, &flat);
    row(
        "list_pending_approvals with a token of one document",
        few.pending_of_one,
        many.pending_of_one,
        &flat,
    );
    row("GET /requests?limit=10", few.pending_page, many.pending_page, &flat);
    row("a keystroke in one document", few.keystroke, many.keystroke, &flat);
    row(
        "a keystroke, each in another of 100 open documents",
        few.keystroke_anywhere,
        many.keystroke_anywhere,
        &flat,
    );
}

/// Data of so many documents and waiting requests, and the documents.
fn documents_that_wait(documents: usize, waiting: usize) -> (TempDir, Vec<String>) {
    let data = directory();
    let server = serve(data.path());
    let mut client = owner(&server);
    let text = format!("{}\n\nThe lamp is dark.\n", SENTENCE.repeat(16));
    let ids: Vec<String> = (0..documents)
        .map(|number| {
            let wish = json!({"title": format!("Page {number}"), "text": text});
            let made = client.ask("document:create", &wish);
            made["document"]["id"].as_str().expect("a document").to_owned()
        })
        .collect();
    drop(client);
    let mut server = Some(server);
    // Each proposal keeps a connection.
    for (round, documents) in ids[..waiting].chunks(500).enumerate() {
        let running = server.take().unwrap_or_else(|| serve(data.path()));
        let proposals = propose(&running, documents, round * 500 + documents.len());
        // Killed, so that the requests stay; whose program ends first withdraws its request.
        drop(running);
        drop(proposals);
    }
    drop(server);
    (data, ids)
}

fn server_costs(documents: usize, waiting: usize) -> ServerCosts {
    let (data, ids) = documents_that_wait(documents, waiting);
    let mut started = None;
    let start_ms = timed(|| started = Some(serve(data.path())));
    let server = started.expect("it listens");
    let start = server.cpu().as_secs_f64() * 1_000.0;
    settle(&server);
    let memory_mb = server.memory_mb("VmRSS");
    let idle = cost(&server, 3, |_| std::thread::sleep(Duration::from_secs(1)));
    let rest = Rest::of(&server, TOKEN);
    let page = cost(&server, ROUNDS, |_| drop(rest.get(&["documents"], &[("limit", "50")])));
    let pending_page = cost(&server, ROUNDS, |_| drop(rest.get(&["requests"], &[("limit", "10")])));
    let issued =
        rest.post(&["tokens"], &json!({"role": "viewer", "name": "Vic", "documentId": ids[0]}));
    let one = issued["token"].as_str().expect("a token");
    let mut viewer = BenchClient::connect(&server, one, "Vic");
    let list_of_one = cost(&server, ROUNDS, |_| drop(viewer.ask("document:list", &json!({}))));
    let pending_of_one =
        cost(&server, ROUNDS, |_| drop(viewer.ask("list_pending_approvals", &json!({}))));
    let mut client = owner(&server);
    let list = cost(&server, 10, |_| drop(client.ask("document:list", &json!({}))));
    let anywhere = &ids[documents - 100..];
    let mut typists: Vec<_> = anywhere
        .iter()
        .map(|id| {
            let mut typist = Typist::in_document(owner(&server), id);
            typist.types(1);
            typist
        })
        .collect();
    let keystroke = cost(&server, ROUNDS, |_| typists[0].types(1));
    let keystroke_anywhere = cost(&server, ROUNDS, |round| typists[round % 100].types(1));
    ServerCosts {
        start,
        start_ms,
        memory_mb,
        idle,
        page,
        list_of_one,
        list_for_each: list / documents as f64,
        pending_of_one,
        pending_page,
        keystroke,
        keystroke_anywhere,
    }
}

/// Has a change proposed in each of these documents, of `expected` with those before; returns the
/// programs that wait for the decisions.
fn propose(server: &BenchServer, documents: &[String], expected: usize) -> Proposals {
    let proposals = Proposals::of(server);
    let rest = Rest::of(server, TOKEN);
    let mut made = expected - documents.len();
    for (group, documents) in documents.chunks(CALLS_OF_PERSON).enumerate() {
        let token = server.token(&format!("Proposer {group}"), "editor");
        for document in documents {
            let arguments = json!({"document_id": document, "base_version": 0, "find": "is dark",
                "replace": "is bright", "explanation": "It burns."});
            proposals.call(&token, "find_and_replace", &arguments);
        }
        made += documents.len();
        // On a busy machine, connections of more programs would be closed before the server has
        // read who they are.
        proposals.wait(&rest, made);
    }
    proposals
}

/// Programs that propose changes over MCP and wait for decisions.
struct Proposals {
    runtime: Runtime,
    url: String,
    bridges: std::cell::RefCell<Vec<Arc<StdioBridge>>>,
    /// Answers before a decision, which are refusals.
    refused: Arc<Mutex<Vec<String>>>,
}

impl Proposals {
    fn of(server: &BenchServer) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (bridges, refused) = (std::cell::RefCell::default(), Arc::default());
        Self { runtime, url: server.url.clone(), bridges, refused }
    }

    /// Waits until so many requests wait for people.
    ///
    /// # Panics
    /// If a proposal is refused, with the refusal, or if for a long time no more are made.
    fn wait(&self, rest: &Rest, expected: usize) {
        let (mut most, mut until) = (0, Instant::now() + TIMEOUT);
        loop {
            let waiting = rest.all(&["requests"], "requests");
            if waiting >= expected {
                return;
            }
            let refused = self.refused.lock();
            assert!(refused.is_empty(), "a proposal was refused: {}", refused[0]);
            drop(refused);
            if waiting > most {
                (most, until) = (waiting, Instant::now() + TIMEOUT);
            }
            assert!(Instant::now() < until, "{waiting} of {expected} were proposed");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Calls a tool; the call is withdrawn when the proposals go out of scope.
    fn call(&self, token: &str, tool: &str, arguments: &Value) {
        self.runtime.block_on(async {
            let client = ServerClient::patient(&self.url, Some(token)).expect("an address");
            let (out, mut answers) = mpsc::unbounded_channel::<String>();
            let refused = Arc::clone(&self.refused);
            tokio::spawn(async move {
                while let Some(answer) = answers.recv().await {
                    if answer.contains("isError\":true") || answer.contains("\"error\":") {
                        refused.lock().push(answer);
                    }
                }
            });
            let bridge = StdioBridge::new(client, None, out).expect("an address");
            bridge.carry(&tool_call(1, "bench", tool, arguments).to_string()).await;
            self.bridges.borrow_mut().push(bridge);
        });
    }
}

/// The REST API, with a thread that waits.
struct Rest {
    runtime: Runtime,
    client: ServerClient,
}

impl Rest {
    fn of(server: &BenchServer, token: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let client = ServerClient::new(&server.url, token).expect("an address");
        Self { runtime, client }
    }

    fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Value {
        self.runtime.block_on(self.client.get(path, query)).expect("an answer")
    }

    fn post(&self, path: &[&str], body: &Value) -> Value {
        self.runtime.block_on(self.client.post(path, body)).expect("an answer")
    }

    /// Number of all entries of a list.
    fn all(&self, path: &[&str], field: &str) -> usize {
        self.runtime.block_on(self.client.all(path, &[], field)).expect("a list").len()
    }
}

// Requests of many changes.

const HUNKS: [usize; 2] = [50, 5_000];

/// Costs of a request with many hunks.
struct HunkCosts {
    propose: f64,
    others_ms: f64,
    keystroke: f64,
    keystroke_p99_ms: f64,
    accept_one: f64,
    reject_one: f64,
    undo_one: f64,
    resync: f64,
    finish: f64,
}

fn many_hunks() {
    let [few, many] = HUNKS.map(hunk_costs);
    println!("\na request with {} hunks, and with {}, in one document", HUNKS[0], HUNKS[1]);
    let flat = Goal::Ratio(1.5);
    row("the proposal", few.propose, many.propose, &Goal::Most(1_000.0));
    row(
        "others' keystrokes meanwhile: the longest, ms that pass",
        few.others_ms,
        many.others_ms,
        &Goal::Most(50.0),
    );
    row("a keystroke in the document", few.keystroke, many.keystroke, &flat);
    row(
        "a keystroke in the document: 99 %, ms that pass",
        few.keystroke_p99_ms,
        many.keystroke_p99_ms,
        &Goal::Most(20.0),
    );
    row("accepting one hunk", few.accept_one, many.accept_one, &Goal::Ratio(3.0));
    row("rejecting one hunk", few.reject_one, many.reject_one, &Goal::Ratio(3.0));
    row("undoing one hunk", few.undo_one, many.undo_one, &Goal::Ratio(3.0));
    row("document:open with the request", few.resync, many.resync, &Goal::Most(100.0));
    row("accepting all that is left, for each hunk", few.finish, many.finish, &flat);
}

/// Text whose every paragraph says this.
fn paragraphs(count: usize, word: &str) -> String {
    let paragraphs: Vec<_> =
        (0..count).map(|number| format!("{number:05} is {word}.\n\n")).collect();
    paragraphs.concat()
}

/// Waits for the first request of a document while a person types elsewhere; returns it and the
/// times of the keystrokes.
fn first_request(
    client: &mut BenchClient,
    document: &str,
    elsewhere: &mut Typist,
) -> (Value, Vec<f64>) {
    let mut others = Vec::new();
    loop {
        others.push(timed(|| elsewhere.types(1)));
        let waiting = client.ask("list_pending_approvals", &json!({"documentId": document}));
        if let Some(request) = waiting["requests"].as_array().and_then(|it| it.first()) {
            return (request.clone(), others);
        }
    }
}

fn hunk_costs(hunks: usize) -> HunkCosts {
    let data = directory();
    let server = serve(data.path());
    let mut client = owner(&server);
    let document = client.create(&paragraphs(hunks, "dark"));
    // Long enough that no one types into a hunk: in the first number.
    let mut elsewhere = owner(&server);
    let other = elsewhere.create(&SENTENCE.repeat(16));
    let mut elsewhere = Typist::in_document(elsewhere, &other);
    let proposals = Proposals::of(&server);
    let arguments = json!({"document_id": document, "base_version": 0, "explanation": "It burns.",
        "new_content": paragraphs(hunks, "lit")});
    std::thread::sleep(Duration::from_millis(300));
    let before = server.cpu();
    proposals.call(TOKEN, "update_full_document", &arguments);
    let (request, others) = first_request(&mut client, &document, &mut elsewhere);
    let propose = spent_since(&server, before);
    let ids: Vec<_> =
        request["hunks"].as_array().expect("hunks").iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids.len(), hunks, "each paragraph is a hunk of its own");
    let request = request["request_id"].clone();
    let mut typist = Typist::in_document(owner(&server), &document);
    let mut first_letter = || {
        let push = json!({"documentId": document, "version": typist.version,
            "updates": [{"clientID": "typist", "changes": [[1, "0"], typist.length - 1]}]});
        let answer = typist.client.ask("document:push", &push);
        typist.version = answer["version"].as_u64().expect("a version");
    };
    first_letter();
    let mut times = Vec::new();
    let keystroke = cost(&server, ROUNDS, |_| times.push(timed(&mut first_letter)));
    let keystroke_p99_ms = sorted(times)[ROUNDS * 99 / 100];
    let id = json!({"documentId": document});
    let resync = cost(&server, 20, |_| drop(client.ask("document:open", &id)));
    let mut decide = |at: usize, decision: &str| {
        let hunks = json!([{"id": ids[at], "decision": decision}]);
        let decision =
            json!({"request_id": request, "approved": decision == "accept", "hunks": hunks});
        client.ask("tool_approval_response", &decision);
    };
    let accept_one = cost(&server, 10, |round| decide(1 + round, "accept"));
    let reject_one = cost(&server, 10, |round| decide(21 + round, "reject"));
    let undo_one = cost(&server, 10, |round| {
        client.ask("approval:undo", &json!({"request_id": request, "hunks": [ids[1 + round]]}));
    });
    let all = json!({"request_id": request, "approved": true});
    let finish = cost(&server, 1, |_| drop(client.ask("tool_approval_response", &all)));
    HunkCosts {
        propose,
        others_ms: sorted(others).pop().expect("someone typed"),
        keystroke,
        keystroke_p99_ms,
        accept_one,
        reject_one,
        undo_one,
        resync,
        finish: finish / (hunks - 20) as f64,
    }
}
