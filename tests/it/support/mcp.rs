//! A raw MCP client: every message and every header as it goes over the wire.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::test_server::TestServer;

const TIMEOUT: Duration = Duration::from_secs(30);

/// One client with one token, in one session.
pub struct Mcp {
    address: String,
    token: String,
    session: Option<String>,
    /// The name of the bridge over which it calls.
    bridge: Option<String>,
    last: Cell<u64>,
}

/// An answer that comes message by message.
pub struct Answer {
    pub status: u16,
    pub head: String,
    id: Value,
    stream: TcpStream,
    messages: Receiver<Value>,
    /// The name of the newest event.
    event: Arc<Mutex<String>>,
}

/// `initialize` as clients of 2025-11-25 send it.
pub fn initialize(id: u64, client: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": client, "version": "1"},
    }})
}

impl Mcp {
    /// A client that has not said anything yet.
    pub fn silent(copydesk: &TestServer, token: &str) -> Self {
        Self::silent_at(copydesk.address(), token)
    }

    fn silent_at(address: &str, token: &str) -> Self {
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { address, token, session: None, bridge: None, last: Cell::new(0) }
    }

    /// A client in a session, of the server at this `HOST:PORT`.
    pub fn arrives_at(address: &str, token: &str, client: &str) -> Self {
        Self::silent_at(address, token).initialized(client)
    }

    /// Returns `true` if a server at this `HOST:PORT` knows the session.
    pub fn is_known_at(&self, address: &str) -> bool {
        let (address, token) = (address.to_owned(), self.token.clone());
        let asking = Self {
            address,
            token,
            session: self.session.clone(),
            bridge: None,
            last: Cell::new(500),
        };
        match asking.begins("tools/list", json!({})).status {
            200 => true,
            404 => false,
            status => panic!("{status}"),
        }
    }

    /// A client in a session.
    pub fn arrives(copydesk: &TestServer, token: &str, client: &str) -> Self {
        Self::silent(copydesk, token).initialized(client)
    }

    /// A client in a session, over a bridge with this name.
    pub fn arrives_over(bridge: &str, copydesk: &TestServer, token: &str, client: &str) -> Self {
        let mcp = Self::silent(copydesk, token);
        Self { bridge: Some(bridge.to_owned()), ..mcp }.initialized(client)
    }

    fn initialized(mut self, client: &str) -> Self {
        let mcp = &mut self;
        let answer = mcp.post(&initialize(0, client), &[]);
        assert_eq!(answer.status, 200, "{}", answer.head);
        let session = answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        mcp.session = Some(session.expect("a session").to_owned());
        assert_eq!(answer.ends()["result"]["serverInfo"]["name"], "copydesk");
        mcp.says("notifications/initialized", &json!({}));
        self
    }

    /// The same session with another token.
    pub fn with_token(&self, token: &str) -> Self {
        let (address, session) = (self.address.clone(), self.session.clone());
        let (token, bridge) = (token.to_owned(), self.bridge.clone());
        Self { address, token, session, bridge, last: Cell::new(1_000) }
    }

    /// Sends a message as it is.
    pub fn post(&self, message: &Value, more: &[(&str, &str)]) -> Answer {
        self.send("POST", Some(message), more)
    }

    /// Sends a request with any method.
    pub fn send(&self, method: &str, message: Option<&Value>, more: &[(&str, &str)]) -> Answer {
        let body = message.map(ToString::to_string).unwrap_or_default();
        let mut head = format!("{method} /mcp HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        let mut line = |name: &str, value: &str| {
            if !more.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                // Writing to a string cannot fail.
                let _ = write!(head, "{name}: {value}\r\n");
            }
        };
        line("Host", &self.address);
        line("Authorization", &format!("Bearer {}", self.token));
        line("Accept", "application/json, text/event-stream");
        line("Content-Type", "application/json");
        line("Connection", "close");
        if let Some(session) = &self.session {
            line("Mcp-Session-Id", session);
        }
        if let Some(bridge) = &self.bridge {
            line("Copydesk-Bridge", bridge);
        }
        for (name, value) in more.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout can be set");
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("the server reads");
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let head = read_head(&mut reader);
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let (sender, messages) = channel();
        let whole = !head.contains("text/event-stream");
        let chunked = head.contains("transfer-encoding: chunked");
        let event = Arc::<Mutex<String>>::default();
        let named = Arc::clone(&event);
        std::thread::spawn(move || {
            let body = Body { reader, chunked, left: 0 };
            if whole { read_whole(body, &sender) } else { read_events(body, &sender, &named) }
        });
        let id = message.map(|it| it["id"].clone()).unwrap_or_default();
        Answer { status, head, id, stream, messages, event }
    }

    /// Sends a request of the session.
    pub fn begins(&self, method: &str, params: Value) -> Answer {
        self.last.set(self.last.get() + 1);
        let id = self.last.get();
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), &[])
    }

    /// Sends a request and waits for its answer.
    pub fn asks(&self, method: &str, params: Value) -> Value {
        self.begins(method, params).ends()
    }

    /// Begins to call a tool, and wants to hear how it goes on. Each call has a name of its own, as
    /// a model gives it.
    pub fn calls(&self, tool: &str, arguments: Value) -> Answer {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("toolu_{}", LAST.fetch_add(1, Ordering::Relaxed));
        self.calls_as(&name, tool, arguments)
    }

    /// The same, under a name that it may have used before.
    pub fn calls_as(&self, name: &str, tool: &str, arguments: Value) -> Answer {
        let meta = json!({"progressToken": "p", "claudecode/toolUseId": name});
        self.begins("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}))
    }

    /// Makes a call; returns its text, and whether that is an error.
    pub fn gets(&self, tool: &str, arguments: Value) -> (String, bool) {
        self.calls(tool, arguments).result()
    }

    /// Sends a notification.
    pub fn says(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert_eq!(self.post(&message, &[]).status, 202);
    }

    /// The names of the tools it is offered.
    pub fn tools(&self) -> Vec<String> {
        let listed = self.asks("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().expect("tools");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Reads a document, as one must before one may change it.
    pub fn reads(&self, document: &str) -> String {
        let (text, is_error) = self.gets("read_document", json!({"document_id": document}));
        assert!(!is_error, "{text}");
        text
    }
}

impl Answer {
    /// The name of the request.
    pub fn id(&self) -> &Value {
        &self.id
    }

    /// The next message.
    pub fn next(&self) -> Value {
        self.messages.recv_timeout(TIMEOUT).expect("a message")
    }

    /// The next message, if the connection does not end first.
    pub fn may_go_on(&self) -> Option<Value> {
        self.messages.recv_timeout(TIMEOUT).ok()
    }

    /// The next message, if there is one by then.
    pub fn within(&self, patience: Duration) -> Option<Value> {
        self.messages.recv_timeout(patience).ok()
    }

    /// Returns what the caller is sent while people decide.
    pub fn progress(&self) -> String {
        let message = self.next();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        message["params"]["message"].as_str().expect("a message").to_owned()
    }

    /// The answer itself.
    pub fn ends(self) -> Value {
        loop {
            let message = self.next();
            if message["id"] == self.id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Returns the result of a call: text, and whether that is an error. Never anything besides the
    /// text.
    pub fn result(self) -> (String, bool) {
        let answer = self.ends();
        let result = &answer["result"];
        assert!(result.get("structuredContent").is_none(), "{answer}");
        let content = result["content"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
        assert_eq!(content.len(), 1, "{answer}");
        let text = content[0]["text"].as_str().expect("a text").to_owned();
        (text, result["isError"] == true)
    }

    /// The client is gone; the newest event that it has seen.
    pub fn disconnects(self) -> String {
        self.stream.shutdown(Shutdown::Both).ok();
        self.event.lock().clone()
    }
}

fn read_head(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the server answers");
        if line.trim().is_empty() {
            return head.to_ascii_lowercase();
        }
        // Session names are kept as they are: they have no capitals.
        head.push_str(line.trim_end());
        head.push('\n');
    }
}

/// A body, without its chunks.
struct Body<R> {
    reader: R,
    chunked: bool,
    left: usize,
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if !self.chunked {
            return self.reader.read(into);
        }
        while self.left == 0 {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Ok(0);
            }
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            self.left = usize::from_str_radix(line, 16).unwrap_or(0);
            if self.left == 0 {
                return Ok(0);
            }
        }
        let most = self.left.min(into.len());
        let read = self.reader.read(&mut into[..most])?;
        self.left -= read;
        Ok(read)
    }
}

fn read_whole(mut body: Body<impl BufRead>, to: &Sender<Value>) {
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes).ok();
    if let Ok(message) = serde_json::from_slice(&bytes) {
        to.send(message).ok();
    }
}

fn read_events(body: Body<impl BufRead>, to: &Sender<Value>, event: &Mutex<String>) {
    for line in BufReader::new(body).lines().map_while(Result::ok) {
        if let Some(name) = line.strip_prefix("id:") {
            name.trim().clone_into(&mut event.lock());
        }
        let Some(data) = line.strip_prefix("data:") else { continue };
        if let Ok(message) = serde_json::from_str(data.trim()) {
            to.send(message).ok();
        }
    }
}
