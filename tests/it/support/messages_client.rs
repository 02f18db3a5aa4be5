//! A program that speaks the Messages API, one connection for each request.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::TestServer;
use super::waiting::found;

/// A program with a person's token.
#[derive(Clone)]
pub struct MessagesClient {
    address: String,
    /// Sent with every request.
    headers: Vec<(String, String)>,
    model: String,
}

/// An answer in one piece.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Lower case.
    pub head: String,
    pub body: Value,
}

impl Answer {
    /// The answer must be one.
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }

    /// The answer must be this error; its words.
    pub fn refused(self, status: u16, kind: &str) -> String {
        let error = &self.body["error"];
        assert_eq!((self.status, error["type"].as_str()), (status, Some(kind)), "{}", self.body);
        assert_eq!(self.body["type"], "error");
        let name = self.header("request-id");
        assert_eq!(self.body["request_id"].as_str(), Some(name), "{}", self.head);
        error["message"].as_str().expect("words").to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("there is no {name} in {}", self.head))
    }
}

impl MessagesClient {
    /// A program with this token, whose requests ask the server's own model.
    pub fn with(copydesk: &TestServer, token: &str) -> Self {
        let mut program = Self {
            address: copydesk.address().to_owned(),
            headers: vec![
                ("Host".into(), copydesk.address().to_owned()),
                ("Connection".into(), "close".into()),
                ("anthropic-version".into(), "2026-10-21".into()),
            ],
            model: String::new(),
        };
        program = program.header("Authorization", &format!("Bearer {token}"));
        let models = program.call("GET /v1/models", "");
        if models.status == 200 {
            let first = models.body["data"][0]["id"].as_str().expect("a model");
            first.clone_into(&mut program.model);
        }
        program
    }

    /// With one more header, or another value of it.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// May use the tools of the server for this document from now on.
    pub fn opts_in(&self, tools: &Value) {
        let body = json!({"tools": tools});
        assert_eq!(self.call("PUT /api/v1/server-tools", &body.to_string()).ok(), body);
    }

    /// A request with these messages and further fields.
    pub fn request(&self, messages: &Value, more: &Value) -> Value {
        let mut body = json!({"model": self.model, "max_tokens": 100, "messages": messages});
        let fields = more.as_object().expect("fields").clone();
        body.as_object_mut().expect("an object").extend(fields);
        body
    }

    /// Asks, in one piece.
    pub fn asks(&self, messages: &Value, more: &Value) -> Answer {
        self.sends(&self.request(messages, more).to_string())
    }

    /// A body as it is.
    pub fn sends(&self, body: &str) -> Answer {
        self.call("POST /v1/messages", body)
    }

    /// Any request; again after a while where there were too many.
    pub fn call(&self, request: &str, body: &str) -> Answer {
        found(|| {
            let answer = self.call_once(request, body);
            let too_soon = answer.status == 429;
            if too_soon { Err(answer.header("retry-after").to_owned()) } else { Ok(answer) }
        })
    }

    pub fn call_once(&self, request: &str, body: &str) -> Answer {
        let mut stream = self.open(request, body);
        let mut bytes = Vec::new();
        // A body that is too long is refused before it is read.
        stream.read_to_end(&mut bytes).ok();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer to {request}: {text:?}"));
        Answer {
            status,
            head: head.to_ascii_lowercase(),
            body: serde_json::from_str(body).unwrap_or_default(),
        }
    }

    /// Asks for a stream of events.
    pub fn streams(&self, messages: &Value, more: &Value) -> Events {
        let mut body = self.request(messages, more);
        body["stream"] = json!(true);
        let stream = self.open("POST /v1/messages?beta=true", &body.to_string());
        Events::of(stream)
    }

    /// A request whose answer no one has read yet.
    pub fn open(&self, request: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout can be set");
        let mut text = format!("{request} HTTP/1.1\r\n");
        for (name, value) in &self.headers {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        if !body.is_empty() {
            let length = body.len();
            let _ = write!(text, "Content-Type: application/json\r\nContent-Length: {length}\r\n");
        }
        stream.write_all((text + "\r\n").as_bytes()).expect("the server reads");
        // It may have answered and closed already.
        stream.write_all(body.as_bytes()).ok();
        stream
    }
}

/// A stream of events, read as they come. Dropping it hangs up.
pub struct Events {
    reader: BufReader<TcpStream>,
    /// Lower case.
    pub head: String,
    /// Of the chunk that is being read.
    left: usize,
    line: Vec<u8>,
}

impl Events {
    fn of(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while reader.read_line(&mut head).expect("an answer") > 2 {}
        Self { reader, head: head.to_ascii_lowercase(), left: 0, line: Vec::new() }
    }

    /// Everything until the end.
    pub fn rest(self) -> Vec<Value> {
        self.collect()
    }

    fn line(&mut self) -> Option<String> {
        loop {
            match self.byte()? {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    return Some(String::from_utf8(line).expect("UTF-8"));
                }
                byte => self.line.push(byte),
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        if self.left == 0 {
            let mut size = String::new();
            self.reader.read_line(&mut size).ok()?;
            if size.trim().is_empty() {
                // The end of the chunk before.
                size.clear();
                self.reader.read_line(&mut size).ok()?;
            }
            self.left = usize::from_str_radix(size.trim(), 16).ok()?;
            if self.left == 0 {
                return None;
            }
        }
        let mut byte = [0];
        self.reader.read_exact(&mut byte).ok()?;
        self.left -= 1;
        Some(byte[0])
    }
}

impl Iterator for Events {
    type Item = Value;

    /// The next event; `None` after the last.
    fn next(&mut self) -> Option<Value> {
        let name = self.line()?.strip_prefix("event: ").expect("an event").to_owned();
        let data = self.line()?;
        let data: Value =
            serde_json::from_str(data.strip_prefix("data: ").expect("data")).expect("JSON");
        assert_eq!((self.line()?.as_str(), data["type"].as_str()), ("", Some(name.as_str())));
        Some(data)
    }
}
