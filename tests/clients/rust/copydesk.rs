//! A Copydesk server for tests, and people who talk to it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

const TOKEN: &str = "a-token-only-these-tests-know";
const TIMEOUT: Duration = Duration::from_secs(20);

/// A server of its own; it ends when it goes out of scope.
pub struct Server {
    process: Child,
    address: String,
    _data: TempDir,
}

impl Server {
    /// A server whose model plays `script`; `flags` are more of its options.
    pub fn start(script: &str, flags: &[&str]) -> Self {
        let data = tempfile::tempdir().expect("there is room for a data directory");
        let mut process = Command::new(binary())
            .args(["--listen", "127.0.0.1:0", "--token", TOKEN, "--model"])
            .arg(format!("script:{script}"))
            .arg("--data")
            .arg(data.path())
            .args(flags)
            // What it logs would stand between the results.
            .env("COPYDESK_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("COPYDESK names the binary, or it is on the PATH");
        let mut line = String::new();
        // Only borrowed: the pipe stays open as long as the process.
        let output = process.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says where it is");
        let address = line.trim().strip_prefix("copydesk listening on http://");
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}")).to_owned();
        Self { process, address, _data: data }
    }

    /// Connects a person.
    pub fn person(&self, name: &str) -> Person {
        Person::connect(&self.address, name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Returns the program that `COPYDESK` names, that this package builds, or that is on the `PATH`.
fn binary() -> String {
    let built = option_env!("CARGO_BIN_EXE_copydesk").unwrap_or("copydesk");
    std::env::var("COPYDESK").unwrap_or_else(|_| built.to_owned())
}

/// A person connected: what they hear is kept in order until a test asks for it.
pub struct Person {
    socket: WebSocket<TcpStream>,
    session: String,
    heard: VecDeque<(String, Value)>,
    asked: u64,
}

impl Person {
    fn connect(address: &str, name: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("an option of TCP");
        let url = format!("ws://{address}/socket.io/?EIO=4&transport=websocket");
        let (socket, _) = tungstenite::client(url, stream).expect("a web socket");
        let (session, heard) = (String::new(), VecDeque::new());
        let mut person = Self { socket, session, heard, asked: 0 };
        person.sends(format!("40{}", json!({"token": TOKEN, "name": name})));
        let registered = person.hears("sessionRegistered");
        registered["sessionId"].as_str().expect("a name").clone_into(&mut person.session);
        person
    }

    /// The next event of this name that no one has taken yet.
    pub fn hears(&mut self, event: &str) -> Value {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(at) = self.heard.iter().position(|(name, _)| name == event) {
                return self.heard.remove(at).expect("it was found").1;
            }
            let waiting = || self.heard.iter().map(|(name, _)| name).collect::<Vec<_>>();
            assert!(Instant::now() < until, "{event} was never heard; waiting: {:?}", waiting());
            self.receives();
        }
    }

    /// Sends an event; what the server acknowledges.
    pub fn asks(&mut self, event: &str, payload: &Value) -> Value {
        self.asked += 1;
        self.sends(format!("42{}{}", self.asked, json!([event, payload])));
        loop {
            if let Some((number, answer)) = self.receives()
                && number == self.asked
            {
                return answer;
            }
        }
    }

    /// A new document, opened; its id.
    pub fn opens(&mut self, text: &str) -> String {
        let made = self.asks("document:create", &json!({"title": "Test", "text": text}));
        let document = made["document"]["id"].as_str().expect("a name").to_owned();
        self.asks("document:open", &json!({"documentId": document}));
        document
    }

    /// Asks the model about a document.
    pub fn prompts(&mut self, document: &str, prompt: &str) -> Value {
        let context = json!({"documentId": document});
        let asked = json!({"sessionId": self.session, "prompt": prompt, "context": context});
        self.asks("askClaudeCode", &asked)
    }

    /// Returns the present text of a document.
    pub fn reads(&mut self, document: &str) -> String {
        let opened = self.asks("document:open", &json!({"documentId": document}));
        opened["document"]["text"].as_str().expect("a text").to_owned()
    }

    fn sends(&mut self, packet: String) {
        self.socket.send(Message::text(packet)).expect("the connection is open");
    }

    /// Takes in one packet, of engine.io or of the socket.io inside it. Events are kept; an
    /// acknowledgement is returned with the number of what it answers.
    fn receives(&mut self) -> Option<(u64, Value)> {
        let message = self.socket.read().expect("the server has something to say");
        let packet = message.to_text().expect("no event is binary");
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
        if packet == "2" {
            self.sends("3".to_owned());
        } else if let Some(event) = packet.strip_prefix("42") {
            let mut event = json(event);
            let name = event[0].as_str().expect("a name").to_owned();
            self.heard.push_back((name, event[1].take()));
        } else if let Some(answer) = packet.strip_prefix("43") {
            let begin = answer.find('[').expect("a list of one");
            let number = answer[..begin].parse().expect("the number of a question");
            return Some((number, json(&answer[begin..])[0].take()));
        } else {
            assert!(!packet.starts_with("44"), "no one is let in: {packet}");
            assert!(packet != "1" && packet != "41", "the server has closed the connection");
        }
        None
    }
}
