//! A document as one socket knows it: applies every update it is sent, and notices gaps.
//!
//! It is not the server's own code on purpose: the simplest reading of `ChangeSet.toJSON()`, over
//! UTF-16 units.

use copydesk_document::Text;
use serde_json::Value;

/// The text of a document at a version.
#[derive(Clone, Debug)]
pub struct Mirror {
    units: Vec<u16>,
    pub version: u64,
}

impl Mirror {
    /// From the `document` of an ack.
    pub fn whole(document: &Value) -> Self {
        let text = document["text"].as_str().unwrap_or_default();
        let version = document["version"].as_u64().unwrap_or_default();
        Self { units: text.encode_utf16().collect(), version }
    }

    pub fn text(&self) -> String {
        String::from_utf16(&self.units).expect("a document is whole characters")
    }

    /// A part of the text, if it is one and whole characters.
    pub fn slice(&self, from: usize, to: usize) -> Option<String> {
        self.units.get(from..to).and_then(|units| String::from_utf16(units).ok())
    }

    /// Length in UTF-16 units.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// A message of `document:updates`: it must begin where the last one ended.
    pub fn follow(&mut self, message: &Value) -> Result<(), String> {
        if message["from"].as_u64() != Some(self.version) {
            return Err(format!("a gap: at version {}, received {message}", self.version));
        }
        for update in message["updates"].as_array().into_iter().flatten() {
            self.apply(&update["changes"])?;
        }
        Ok(())
    }

    /// The ack of `document:open` or `document:resync` with updates: those after the known version
    /// are new.
    pub fn catch_up(&mut self, ack: &Value) -> Result<(), String> {
        let from = ack["from"].as_u64().unwrap_or(u64::MAX);
        let updates = ack["updates"].as_array().cloned().unwrap_or_default();
        for (version, update) in (from..).zip(&updates) {
            if version == self.version {
                self.apply(&update["changes"])?;
            }
        }
        if ack["version"].as_u64() != Some(self.version) {
            return Err(format!("at version {} after being brought on by {ack}", self.version));
        }
        if ack["hash"] == Text::new(&self.text()).hash() {
            Ok(())
        } else {
            Err(format!("another text after being brought on by {ack}"))
        }
    }

    fn apply(&mut self, changes: &Value) -> Result<(), String> {
        let bad = || format!("an update that does not fit version {}: {changes}", self.version);
        let mut after = Vec::with_capacity(self.units.len());
        let mut at = 0;
        for section in changes.as_array().ok_or_else(bad)? {
            let (length, insert) = match section {
                Value::Array(parts) => (parts.first().and_then(Value::as_u64), Some(&parts[1..])),
                keep => (keep.as_u64(), None),
            };
            let end = at + usize::try_from(length.ok_or_else(bad)?).map_err(|_| bad())?;
            let old = self.units.get(at..end).ok_or_else(bad)?;
            match insert {
                None => after.extend_from_slice(old),
                Some(lines) => {
                    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                    after.extend(lines.join("\n").encode_utf16());
                }
            }
            at = end;
        }
        if at != self.units.len() {
            return Err(bad());
        }
        self.units = after;
        self.version += 1;
        Ok(())
    }
}

/// The JSON of a change that replaces `from..to` by `text` in a document of `len` units.
pub fn replacing(len: usize, from: usize, to: usize, text: &str) -> Value {
    let mut sections = Vec::new();
    if from > 0 {
        sections.push(Value::from(from));
    }
    let mut change = vec![Value::from(to - from)];
    if !text.is_empty() {
        change.extend(text.split('\n').map(Value::from));
    }
    sections.push(Value::from(change));
    if to < len {
        sections.push(Value::from(len - to));
    }
    Value::from(sections)
}
