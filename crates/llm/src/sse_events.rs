//! Splits a byte stream into server-sent events, at whatever bytes it was cut on the way.
//!
//! Follows
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>
//! without `id` and `retry`. (The `eventsource-stream` crate panics on a byte order mark, so any
//! server could stop a run with three bytes.)

use super::{ModelResult, malformed};

/// One server-sent event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// Name of the event; `message` when the server gave none.
    pub(super) name: String,
    /// Data lines, joined by line ends.
    pub(super) data: String,
}

/// Splitter into [`SseEvent`]s, with the part of a stream that is not an event yet.
#[derive(Default)]
pub(super) struct SseSplitter {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// `true` if the last byte was a carriage return: a line feed after it ends no second line.
    after_return: bool,
    /// `true` after the first line, at whose start a byte order mark may stand.
    under_way: bool,
}

impl SseSplitter {
    /// Adds the events that the next piece of the stream completes. A line that is not UTF-8 is an
    /// error; the events before it are added.
    pub(super) fn feed(&mut self, piece: &[u8], events: &mut Vec<SseEvent>) -> ModelResult<()> {
        for byte in piece {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()?),
                other => self.line.push(*other),
            }
        }
        Ok(())
    }

    /// Returns the event at the end of a stream that lacks its last empty line.
    pub(super) fn rest(mut self) -> ModelResult<Option<SseEvent>> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        Ok(self.dispatch())
    }

    fn end_line(&mut self) -> ModelResult<Option<SseEvent>> {
        let bytes = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&bytes).map_err(|_| malformed("not UTF-8"))?;
        let first = !std::mem::replace(&mut self.under_way, true);
        let line = line.strip_prefix('\u{feff}').filter(|_| first).unwrap_or(line);
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("event", _) => value.clone_into(&mut self.name),
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data @ None) => *data = Some(value.to_owned()),
            // Not in the standard: llama.cpp reported failures in this way until 2025.
            ("error", _) => {
                self.name = "error".into();
                self.data = Some(value.to_owned());
            }
            // Comments have an empty name, and fields of other names are ignored.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        Some(SseEvent { name: if name.is_empty() { "message".into() } else { name }, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(stream: &str) -> Vec<(String, String)> {
        let mut events = Vec::new();
        SseSplitter::default().feed(stream.as_bytes(), &mut events).expect("UTF-8");
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn every_line_end_is_a_line_end() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = "event: a|data: 1|data:2||data:  3||".replace('|', end);
            assert_eq!(split(&stream), [event("a", "1\n2"), event("message", " 3")], "{end:?}");
        }
    }

    #[test]
    fn comments_other_fields_and_events_without_data_are_nothing() {
        assert_eq!(split(": hi\nid: 1\nretry: 2\nevent: lost\n\ndata\n\n"), [event("message", "")]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_only() {
        let stream = "\u{feff}data: a\n\n\u{feff}data: b\n\ndata: c\n\n";
        assert_eq!(split(stream), [event("message", "a"), event("message", "c")]);
    }

    #[test]
    fn an_event_without_its_empty_line_is_not_over() {
        let mut splitter = SseSplitter::default();
        let mut events = Vec::new();
        splitter.feed(b"data: a\n", &mut events).expect("UTF-8");
        assert_eq!(events, []);
        splitter.feed(b"\n", &mut events).expect("UTF-8");
        assert_eq!(events, [SseEvent { name: "message".into(), data: "a".into() }]);
    }

    #[test]
    fn the_last_event_may_lack_its_end() {
        for stream in ["data: a\n\ndata: b", "data: a\n\ndata: b\n", "data: a\n\ndata: b\r\n"] {
            let mut splitter = SseSplitter::default();
            splitter.feed(stream.as_bytes(), &mut Vec::new()).expect("UTF-8");
            let rest = splitter.rest().expect("UTF-8");
            assert_eq!(rest, Some(SseEvent { name: "message".into(), data: "b".into() }));
        }
        assert_eq!(SseSplitter::default().rest().expect("nothing"), None);
    }

    #[test]
    fn an_error_field_is_an_event_of_its_own() {
        assert_eq!(split("error: {}\n\n"), [event("error", "{}")]);
    }

    #[test]
    fn what_came_before_broken_text_still_came() {
        let mut events = Vec::new();
        assert!(SseSplitter::default().feed(b"data: a\n\ndata: \xff\n\n", &mut events).is_err());
        assert_eq!(events, [SseEvent { name: "message".into(), data: "a".into() }]);
    }
}
