//! HTTP as bytes: a story says every header itself, also those no client library would send.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The body as it came.
    pub bytes: Vec<u8>,
    /// The head as it came; `head` is in lower case.
    original_head: String,
}

impl Response {
    /// A header as it came.
    pub fn header(&self, name: &str) -> Option<String> {
        self.original_head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }

    /// Returns the address to which the answer leads.
    pub fn location(&self) -> Option<String> {
        self.header("location")
    }
}

/// Sends `METHOD /path` with these headers (and `Connection: close`), and reads the answer.
pub fn ask(address: &str, request: &str, headers: &[(&str, &str)]) -> Response {
    say(address, request, headers, b"")
}

/// The same with a body, and its length as a header.
pub fn send(address: &str, request: &str, headers: &[(&str, &str)], body: &str) -> Response {
    send_bytes(address, request, headers, body.as_bytes())
}

/// The same with a body that is no text.
pub fn send_bytes(address: &str, request: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let length = body.len().to_string();
    let headers = [headers, &[("Content-Length", length.as_str())]].concat();
    say(address, request, &headers, body)
}

fn say(address: &str, request: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout can be set");
    let mut text = format!("{request} HTTP/1.1\r\n");
    for (name, value) in headers {
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        text.push_str("Connection: close\r\n");
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).expect("the server reads");
    // What is refused before it is read may end the connection.
    stream.write_all(body).ok();
    let bytes = read(&mut stream);
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer to {request}: {answer:?}"));
    let start =
        bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    Response {
        status,
        head: head.to_ascii_lowercase(),
        original_head: head.to_owned(),
        body: body.to_owned(),
        bytes: bytes[start..].to_vec(),
    }
}

/// `GET path` as our own page would ask.
pub fn get(address: &str, path: &str) -> Response {
    ask(address, &format!("GET {path}"), &[("Host", address)])
}

/// Everything until the server closes or the promised length is there; of an upgraded connection
/// only the head.
fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..read]);
        if is_complete(&String::from_utf8_lossy(&bytes)) {
            break;
        }
    }
    bytes
}

fn is_complete(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    head.starts_with("http/1.1 101") || length.is_some_and(|length: usize| body.len() >= length)
}
