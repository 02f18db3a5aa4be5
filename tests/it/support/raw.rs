//! A client without a library: it reads when it wants to, and may leave what it sends unfinished.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Maximum time of an answer on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A connection that was switched to a WebSocket, or only opened.
pub struct RawClient {
    stream: TcpStream,
}

impl RawClient {
    /// A connection on which nothing was said.
    pub fn silent(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket has timeouts");
        Self { stream }
    }

    /// A WebSocket whose client has not shown a token.
    pub fn unknown(address: &str) -> Self {
        let (client, answer) =
            Self::asks_to_switch(address, "/socket.io/?EIO=4&transport=websocket");
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        client
    }

    /// A client that has asked for a WebSocket, and the head of the answer.
    pub fn asks_to_switch(address: &str, path: &str) -> (Self, String) {
        let mut client = Self::silent(address);
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        client.sends_bytes(head.as_bytes());
        let answer = client.reads_head();
        (client, answer)
    }

    /// A client that was let in with this token.
    pub fn arrives(address: &str, token: &str) -> Self {
        let mut client = Self::unknown(address);
        client.sends(&format!("40{}", json!({"token": token})));
        client.reads_until(|text| text.starts_with("42[\"sessionRegistered\""));
        client
    }

    /// Sends bytes; false if the connection has ended.
    pub fn sends_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends a message; false if the connection has ended.
    pub fn sends(&mut self, text: &str) -> bool {
        self.begins_message(text.len()) && self.sends_bytes(text.as_bytes())
    }

    /// Sends the header of a message alone. The mask is zero, so that what follows stands as it is.
    pub fn begins_message(&mut self, length: usize) -> bool {
        let mut header = vec![0x81];
        match length {
            0..126 => header.push(0x80 + u8::try_from(length).expect("it is small")),
            126..65_536 => {
                header.push(0x80 + 126);
                header.extend(u16::try_from(length).expect("it is small").to_be_bytes());
            }
            _ => {
                header.push(0x80 + 127);
                header.extend(u64::try_from(length).expect("it is a length").to_be_bytes());
            }
        }
        header.extend([0; 4]);
        self.sends_bytes(&header)
    }

    /// Sends an event; false if the connection has ended.
    pub fn emits(&mut self, ack: u64, event: &str, payload: &Value) -> bool {
        self.sends(&format!("42{ack}{}", json!([event, payload])))
    }

    /// The answer to an event; nothing if the connection ends before.
    pub fn is_answered(&mut self, ack: u64) -> Option<Value> {
        let prefix = format!("43{ack}[");
        let answer = self.reads_until(|text| text.starts_with(&prefix))?;
        let answers: Value = serde_json::from_str(&answer[prefix.len() - 1..]).expect("JSON");
        Some(answers[0].clone())
    }

    /// The next answers, so many, in the order they come; fewer if the connection ends before.
    pub fn answers(&mut self, count: usize) -> Vec<Value> {
        let answer = |text: String| {
            let body = &text[text.find('[')?..];
            serde_json::from_str::<Value>(body).ok().map(|answers| answers[0].clone())
        };
        let next = |_| self.reads_until(|text| text.starts_with("43")).and_then(answer);
        (0..count).map_while(next).collect()
    }

    /// Reads on until such a message; nothing if the connection ends before.
    pub fn reads_until(&mut self, fits: impl Fn(&str) -> bool) -> Option<String> {
        loop {
            let text = self.reads()?;
            if fits(&text) {
                return Some(text);
            }
        }
    }

    /// The next message; nothing if the connection has ended.
    fn reads(&mut self) -> Option<String> {
        let [_, length] = self.reads_exactly()?;
        let length = match length {
            126 => u64::from(u16::from_be_bytes(self.reads_exactly()?)),
            127 => u64::from_be_bytes(self.reads_exactly()?),
            length => u64::from(length),
        };
        let mut payload = vec![0; usize::try_from(length).expect("it fits into memory")];
        self.stream.read_exact(&mut payload).ok()?;
        Some(String::from_utf8_lossy(&payload).into_owned())
    }

    fn reads_exactly<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).ok().map(|()| bytes)
    }

    /// The head of an HTTP answer.
    pub fn reads_head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Some([byte]) = self.reads_exactly() else { break };
            head.push(byte);
        }
        String::from_utf8_lossy(&head).into_owned()
    }

    /// Returns `true` if the server ends the connection in this time; what it still sends is thrown
    /// away.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut piece = vec![0; 65_536];
        while let Some(left) =
            until.checked_duration_since(Instant::now()).filter(|it| !it.is_zero())
        {
            self.stream.set_read_timeout(Some(left)).expect("a socket has timeouts");
            match self.stream.read(&mut piece) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => {
                    use std::io::ErrorKind::{TimedOut, WouldBlock};
                    return !matches!(error.kind(), TimedOut | WouldBlock);
                }
            }
        }
        false
    }
}
