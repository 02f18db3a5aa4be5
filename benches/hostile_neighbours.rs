//! What two hostile editors cost somebody who types in a document of their own.
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

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, connect, stream::MaybeTlsStream};

const TOKEN: &str = "the-token-of-the-bench-0123456789";
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
    let server = Server::start(data.path());
    let mut bystander = Client::connect(&server, "Bystander", "editor");
    let page = bystander.create("A quiet page.");
    let mut version = 0;
    keystrokes(&mut bystander, &page, &mut version, 100);
    let alone = keystrokes(&mut bystander, &page, &mut version, KEYSTROKES);
    let stop = Arc::new(AtomicBool::new(false));
    let mut others: Vec<_> = ["Mallory", "Trudy"]
        .map(|name| {
            let client = Client::connect(&server, name, "editor");
            Neighbour::start(&stop, move |stop, done| attack(client, stop, done))
        })
        .into();
    let (viewer, read) = (Client::connect(&server, "Eve", "viewer"), page.clone());
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

/// Reads what costs much until it is told to stop; counts the answers.
fn browse(mut client: Client, page: &str, stop: &AtomicBool, done: &AtomicUsize) {
    let opened = client.ask("document:open", &json!({"documentId": page}));
    let versions = opened["document"]["version"].as_u64().expect("a viewer may read").max(1);
    let mut version = 0;
    while !stop.load(Relaxed) {
        // Far from one another, so that none is near the one before.
        version = (version + 37) % versions;
        client.ask("document:at", &json!({"documentId": page, "version": version}));
        client.ask("document:compare", &json!({"documentId": page, "from": version}));
        client.ask("document:history", &json!({"documentId": page}));
        client.ask("document:list", &json!({}));
        done.fetch_add(1, Relaxed);
    }
}

/// Sends what costs much until it is told to stop; counts the answers.
fn attack(mut client: Client, stop: &AtomicBool, done: &AtomicUsize) {
    let page = client.create(&"x".repeat(LENGTH));
    let everywhere: Value = (0..LENGTH / 2).flat_map(|_| [json!([1, "y"]), json!(1)]).collect();
    let push = |version: u64, changes: &Value| {
        json!({"documentId": page, "version": version,
            "updates": [{"clientID": format!("c{version}"), "changes": changes}]})
    };
    let mut version = 0;
    while version < BEHIND {
        let ack = client.ask("document:push", &push(version, &everywhere));
        version = ack["version"].as_u64().unwrap_or_else(|| panic!("it is refused: {ack}"));
    }
    while !stop.load(Relaxed) {
        // Moved over two hundred such updates: refused, and what comes before the refusal is what
        // counts.
        client.ask("document:push", &push(0, &everywhere));
        client.ask("document:push", &push(version - 10, &everywhere));
        let whole = json!([[LENGTH, "z".repeat(LENGTH)]]);
        version = client.ask("document:open", &json!({"documentId": page}))["document"]["version"]
            .as_u64()
            .unwrap_or(version);
        client.ask("document:push", &push(version, &whole));
        client.ask("document:at", &json!({"documentId": page, "version": version / 2}));
        client.ask("document:compare", &json!({"documentId": page, "from": 1}));
        client.ask("document:list", &json!({}));
        done.fetch_add(1, Relaxed);
    }
}

/// How long each of so many keystrokes took until it was acknowledged, in milliseconds, sorted.
fn keystrokes(client: &mut Client, page: &str, version: &mut u64, count: usize) -> Vec<f64> {
    let len = |version: u64| "A quiet page.".len() as u64 + version;
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let typed = json!([[0, "x"], len(*version)]);
            let push = json!({"documentId": page, "version": *version,
                "updates": [{"clientID": "typist", "changes": typed}]});
            let began = Instant::now();
            let ack = client.ask("document:push", &push);
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

/// A server in a process of its own; killed when it goes out of scope.
struct Server {
    process: Child,
    address: String,
    /// Kept open: the server has more to say than its address.
    _output: BufReader<ChildStdout>,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_copydesk"))
            .args(["--listen", "127.0.0.1:0", "--model", "harper", "--token", TOKEN, "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says where it is");
        let address = line.trim().strip_prefix("copydesk listening on http://").expect("a link");
        Self { process, address: address.to_owned(), _output: output }
    }

    /// A token of somebody's own.
    fn token(&self, name: &str, role: &str) -> String {
        let issued = Command::new(env!("CARGO_BIN_EXE_copydesk"))
            .args(["token", "--role", role, "--name", name, "--token", TOKEN, "--url"])
            .arg(format!("http://{}", self.address))
            .output()
            .expect("a token");
        String::from_utf8(issued.stdout).expect("letters and digits").trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A socket.io client.
struct Client {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    acks: u64,
}

impl Client {
    fn connect(server: &Server, name: &str, role: &str) -> Self {
        let url = format!("ws://{}/socket.io/?EIO=4&transport=websocket", server.address);
        let (mut socket, _) = connect(url).expect("a websocket");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_nodelay(true).expect("an option of TCP");
        }
        socket.read().expect("engine.io opens");
        let mut client = Self { socket, acks: 0 };
        client.send(&format!("40{}", json!({"token": server.token(name, role), "name": name})));
        // Events that come before the token was checked are refused.
        while !client.receive().starts_with("42[\"sessionRegistered\"") {}
        client
    }

    /// Makes a document and opens it; its id.
    fn create(&mut self, text: &str) -> String {
        let made = self.ask("document:create", &json!({"title": "Page", "text": text}));
        let id = made["document"]["id"].as_str().expect("a document").to_owned();
        self.ask("document:open", &json!({"documentId": id}));
        id
    }

    /// Sends, and waits for the answer, whichever it is.
    fn ask(&mut self, event: &str, payload: &Value) -> Value {
        self.acks += 1;
        self.send(&format!("42{}{}", self.acks, json!([event, payload])));
        let start = format!("43{}[", self.acks);
        loop {
            if let Some(rest) = self.receive().strip_prefix(&start) {
                let answer: Value = serde_json::from_str(&format!("[{rest}")).expect("JSON");
                return answer[0].clone();
            }
        }
    }

    fn send(&mut self, packet: &str) {
        self.socket.send(Message::text(packet)).expect("it is open");
    }

    /// Returns the next packet. Pings are answered: without that, the server ends the client.
    fn receive(&mut self) -> String {
        loop {
            match self.socket.read().expect("it is open") {
                Message::Text(text) if text.as_str() == "2" => self.send("3"),
                Message::Text(text) => return text.as_str().to_owned(),
                _ => {}
            }
        }
    }
}
