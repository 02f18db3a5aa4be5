//! Cost of the gate: from the last byte of a call in the provider's stream to the card at a client,
//! and from a decision to the change at another client.
//!
//! Everything is real: the server is its own process, the provider and two socket.io clients talk
//! to it over loopback. The document has 20 KB. Once with the data on the disk of the target
//! directory, once in memory (`/dev/shm`), so that the difference is the disk. Goals for the
//! median: 5 ms with it, 1 ms without.
//!
//! And what long conversations cost: from a question to its answer, with a change that is approved
//! at once in between, and the most memory the server ever had.
//!
//! `cargo bench --bench room`

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::expect_used, reason = "a bench that cannot run says so by stopping")]

#[path = "support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::{BenchClient, BenchServer, TOKEN};

const ROUNDS: usize = 200;
/// Rounds before anything is counted.
const WARM_UP: usize = 20;
const SENTENCE: &str = "The lamp was lit at dusk, and nobody had asked why it burned. ";
const TIMEOUT: Duration = Duration::from_secs(20);

fn main() {
    println!(
        "{:<44} {:>9} {:>9} {:>7}",
        "median (99th percentile), milliseconds", "measured", "", "goal"
    );
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        measure("without the disk", memory, 1.0);
    }
    let disk = Path::new(env!("CARGO_TARGET_TMPDIR"));
    measure("with the disk", disk, 5.0);
    println!("\n{:<44} {:>9} {:>9} {:>7}", "median, milliseconds", "first 20", "last 20", "MB");
    converse("200 turns about 20 KB", disk, 20_000, 200);
    converse("200 turns about 1 MB", disk, 1_000_000, 200);
    read_on("200 turns that read 100 KB each", disk, 200);
}

/// One conversation that goes on and on.
fn converse(name: &str, place: &Path, bytes: usize, turns: usize) {
    let mut scene = Scene::set(place, bytes);
    let times: Vec<_> = (0..turns)
        .map(|turn| {
            let began = Instant::now();
            scene.ask(turn > 0);
            let (_, request) = scene.ana.hears("tool_approval_request");
            scene.approve(&request);
            scene.ana.hears("claudeResponse");
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    let (first, last) = (times[..20].to_vec(), times[turns - 20..].to_vec());
    let (first, last) = (sorted(first)[10], sorted(last)[10]);
    println!("{name:<44} {first:>9.1} {last:>9.1} {:>7.0}", scene.server.memory_mb("VmHWM"));
}

/// The file that the provider reads where it works on files.
const LONG_FILE: &str = "long.txt";
/// Bytes of it.
const LONG: usize = 100_000;

/// One conversation without a document, in which a long file is read again and again.
fn read_on(name: &str, place: &Path, turns: usize) {
    let mut scene = Scene::set(place, 1_000);
    let times: Vec<_> = (0..turns)
        .map(|turn| {
            let began = Instant::now();
            scene.ana.ask("run", &json!({"prompt": "Read it", "continue": turn > 0}));
            while scene.ana.hears("agent_event").1["type"] != "result" {}
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    let read = json!({"sessionId": scene.ana.session()});
    let page = scene.ana.ask("transcript:get", &read).to_string().len();
    let (first, last) = (times[..20].to_vec(), times[turns - 20..].to_vec());
    let (first, last) = (sorted(first)[10], sorted(last)[10]);
    println!("{name:<44} {first:>9.1} {last:>9.1} {:>7.0}", scene.server.memory_mb("VmHWM"));
    println!("{:<44} {:>9}", "  bytes of the newest page of its transcript", page);
}

/// A server with a document, and two people in it.
struct Scene {
    ana: BenchClient,
    bo: BenchClient,
    document: String,
    provider: Provider,
    server: BenchServer,
    /// Outlives the server.
    _data: tempfile::TempDir,
}

impl Scene {
    fn set(place: &Path, bytes: usize) -> Self {
        let data = tempfile::tempdir_in(place).expect("a directory");
        let files = data.path().join("files");
        std::fs::create_dir(&files).expect("a directory");
        let line = "A line that is read again and again.\n";
        std::fs::write(files.join(LONG_FILE), line.repeat(LONG / line.len())).expect("a file");
        let provider = Provider::start();
        let options = ["--model", "anthropic", "--workspace", "files"];
        let variables = [("ANTHROPIC_API_KEY", "sk-bench"), ("ANTHROPIC_BASE_URL", &*provider.url)];
        let server = BenchServer::start(data.path(), &options, &variables);
        let connect = |name| BenchClient::connect(&server, TOKEN, name);
        let (mut ana, mut bo) = (connect("Ana"), connect("Bo"));
        let text: String = (0..bytes / paragraph(0).len()).map(paragraph).collect();
        let made = ana.ask("document:create", &json!({"title": "Bench", "text": text}));
        let document = made["document"]["id"].as_str().expect("an id").to_owned();
        ana.ask("document:open", &json!({"documentId": document}));
        bo.ask("document:open", &json!({"documentId": document}));
        Self { ana, bo, document, provider, server, _data: data }
    }

    fn ask(&mut self, goes_on: bool) {
        let context = json!({"documentId": self.document});
        let session = self.ana.session().to_owned();
        let prompt = "Change one word";
        let question = json!({"sessionId": session, "prompt": prompt, "continue": goes_on, "context": context});
        self.ana.ask("askClaudeCode", &question);
    }

    fn approve(&mut self, request: &Value) {
        let decision = json!({"request_id": request["request_id"], "approved": true});
        self.ana.send("tool_approval_response", &decision);
    }
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

fn measure(name: &str, place: &Path, goal_ms: f64) {
    let mut scene = Scene::set(place, 20_000);
    let (mut shown, mut applied) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        scene.ask(false);
        let called = scene.provider.called.recv_timeout(TIMEOUT).expect("the model is called");
        let (at, request) = scene.bo.hears("tool_approval_request");
        let decided = Instant::now();
        scene.approve(&request);
        let (changed, _) = scene.bo.hears("document:updates");
        scene.ana.hears("claudeResponse");
        scene.bo.hears("claudeResponse");
        if round >= WARM_UP {
            shown.push((at - called).as_secs_f64() * 1_000.0);
            applied.push((changed - decided).as_secs_f64() * 1_000.0);
        }
    }
    row(&format!("call → card, {name}"), shown, goal_ms);
    row(&format!("decision → change, {name}"), applied, goal_ms);
}

fn row(name: &str, times: Vec<f64>, goal_ms: f64) {
    let times = sorted(times);
    let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    let verdict = if median <= goal_ms { "met" } else { "MISSED" };
    println!("{name:<44} {median:>9.2} {late:>9.2} {goal_ms:>7.1} {verdict}");
}

/// No two of a text are the same, as in people's texts; all are of one length.
fn paragraph(number: usize) -> String {
    format!("{number:05} {}\n\n", SENTENCE.repeat(5).trim_end())
}

/// A provider that calls `find_and_replace` once in each turn, and `Read` where it works on
/// files, and tells when the call had been sent.
struct Provider {
    url: String,
    called: Receiver<Instant>,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (tell, called) = channel();
        std::thread::spawn(move || {
            let calls = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming().map_while(Result::ok) {
                let (tell, calls) = (tell.clone(), Arc::clone(&calls));
                std::thread::spawn(move || converse_with(stream, &calls, &tell));
            }
        });
        Self { url, called }
    }
}

/// Answers on a connection for as long as it is kept, as providers do.
fn converse_with(mut stream: TcpStream, calls: &AtomicUsize, tell: &Sender<Instant>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (kind, body, is_call) = match asked(&mut reader)? {
            Asked::Else(answer) => ("application/json", answer, false),
            Asked::After => ("text/event-stream", said(), false),
            Asked::About => ("text/event-stream", call(calls.fetch_add(1, Relaxed) + 1), true),
            Asked::AtDesk => ("text/event-stream", read(calls.fetch_add(1, Relaxed) + 1), true),
        };
        let size = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).ok()?;
        if is_call {
            tell.send(Instant::now()).ok()?;
        }
    }
}

/// Request to the provider.
enum Asked {
    /// A question about a document.
    About,
    /// One without.
    AtDesk,
    /// Request after a call.
    After,
    /// No message: how many tokens it has, or which models there are. With the answer.
    Else(String),
}

/// Reads a request. `None`: there are no more.
fn asked(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let counts = first.starts_with("POST /v1/messages/count_tokens");
    if counts {
        return Some(Asked::Else(json!({"input_tokens": length / 4}).to_string()));
    }
    if first.starts_with("GET ") {
        return Some(Asked::Else(json!({"data": [], "has_more": false}).to_string()));
    }
    let body: Value = serde_json::from_slice(&body).ok()?;
    let last = body["messages"].as_array()?.last()?.to_string();
    let tools = body["tools"].as_array()?;
    Some(if last.contains("\"tool_result\"") {
        Asked::After
    } else if tools.iter().any(|tool| tool["name"] == "Read") {
        Asked::AtDesk
    } else {
        Asked::About
    })
}

fn read(number: usize) -> String {
    stream(
        &json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "Read", "input": {}}),
        &json!({"type": "input_json_delta", "partial_json": json!({"file_path": LONG_FILE}).to_string()}),
        "tool_use",
    )
}

fn call(number: usize) -> String {
    // There and back, so that the document stays as it is; one of many occurrences, in the middle.
    let (find, replace) = if number % 2 == 1 { ("dusk", "dawn") } else { ("dawn", "dusk") };
    let start = 32 * paragraph(0).len();
    let range = json!({"start": start, "end": start + SENTENCE.len()});
    let input =
        json!({"find": find, "replace": replace, "range": range, "explanation": "One word."});
    stream(
        &json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "find_and_replace", "input": {}}),
        &json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        "tool_use",
    )
}

fn said() -> String {
    let text = json!({"type": "text_delta", "text": "Done."});
    stream(&json!({"type": "text", "text": ""}), &text, "end_turn")
}

fn stream(block: &Value, delta: &Value, stop: &str) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "bench",
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let ended = json!({"stop_reason": stop, "stop_sequence": null});
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": ended, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let line = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    events.iter().map(line).collect()
}
