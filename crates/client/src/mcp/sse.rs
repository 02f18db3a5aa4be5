//! Messages of an answer: the events of a stream, or a single message.

use std::collections::VecDeque;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;

/// Maximum bytes of one message; the server's own limit is lower.
const LONGEST: usize = 64 * 1024 * 1024;

/// Reader of messages as they come.
pub(super) struct SseEvents {
    stream: Option<BoxStream<'static, Vec<u8>>>,
    is_stream: bool,
    buffer: Vec<u8>,
    ready: VecDeque<String>,
    data: String,
}

impl SseEvents {
    pub(super) fn of(answer: Response) -> Self {
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        // A broken connection ends the answer.
        let bytes = answer.bytes_stream().take_while(|piece| std::future::ready(piece.is_ok()));
        let bytes = bytes.filter_map(|piece| async move { piece.ok().map(|it| it.to_vec()) });
        let (buffer, ready, data) = (Vec::new(), VecDeque::new(), String::new());
        Self { stream: Some(bytes.boxed()), is_stream, buffer, ready, data }
    }

    /// Returns the next message; `None` if there is no more.
    pub(super) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            match self.stream.as_mut()?.next().await {
                Some(piece) => self.feed(&piece),
                None => self.end(),
            }
        }
    }

    fn feed(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
        if self.buffer.len() + self.data.len() > LONGEST {
            self.stream = None;
            return;
        }
        if !self.is_stream {
            return;
        }
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']));
        }
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            // The first event of a stream may be empty, and only names the stream.
            if !data.trim().is_empty() {
                self.ready.push_back(data);
            }
        } else if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
    }

    fn end(&mut self) {
        self.stream = None;
        if !self.is_stream {
            let body = std::mem::take(&mut self.buffer);
            let body = String::from_utf8_lossy(&body).into_owned();
            if !body.trim().is_empty() {
                self.ready.push_back(body);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(is_stream: bool, pieces: &[&str]) -> Vec<String> {
        let (buffer, ready, data) = (Vec::new(), VecDeque::new(), String::new());
        let mut events = SseEvents { stream: None, is_stream, buffer, ready, data };
        for piece in pieces {
            events.feed(piece.as_bytes());
        }
        events.end();
        events.ready.into()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let whole = "id: 0\nretry: 3000\ndata:\n\n: keepalive\n\nevent: message\ndata: {\"a\":1}\n\ndata: {\r\ndata: }\r\n\r\n";
        let expected = ["{\"a\":1}".to_owned(), "{\n}".to_owned()];
        assert_eq!(read(true, &[whole]), expected);
        let bytes: Vec<String> = whole.chars().map(String::from).collect();
        let pieces: Vec<&str> = bytes.iter().map(String::as_str).collect();
        assert_eq!(read(true, &pieces), expected);
    }

    #[test]
    fn an_event_that_was_cut_off_is_no_message() {
        assert!(read(true, &["data: {\"a\":"]).is_empty());
    }

    #[test]
    fn a_body_is_one_message() {
        assert_eq!(read(false, &["{\"a\"", ":1}"]), ["{\"a\":1}"]);
        assert!(read(false, &[]).is_empty());
    }
}
