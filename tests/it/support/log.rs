//! Log of what one socket saw, in order, and ways to wait for more of it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::Deserialize;
use serde_json::Value;

use super::mirror::Mirror;
use super::wire;

/// Time that a story waits for something that should happen at once: far longer than a loaded
/// machine takes.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Something a socket saw.
#[derive(Clone, Debug)]
pub struct Entry {
    pub kind: Kind,
    /// The event; of a refusal the message, of a disconnect the reason.
    pub name: String,
    /// Number of the acknowledgement.
    pub ack: Option<u64>,
    pub body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Connected,
    Refused,
    Event,
    Ack,
    Disconnected,
}

impl Entry {
    /// Returns `true` for an event or an acknowledgement of this shape.
    pub fn is_like(&self, shape: &wire::Shape) -> bool {
        let refused = self.body["ok"] == false;
        let (direction, name) = match self.kind {
            Kind::Event => ("server", self.name.as_str()),
            Kind::Ack if refused => ("ack", "refused"),
            Kind::Ack => ("ack", self.name.as_str()),
            Kind::Connected | Kind::Refused | Kind::Disconnected => return false,
        };
        shape.is_for(direction, name, &self.body) && shape.admits(&self.body).is_ok()
    }
}

/// Everything one socket saw.
#[derive(Default)]
pub struct Log {
    seen: Mutex<Seen>,
    more: Condvar,
}

#[derive(Default)]
struct Seen {
    entries: Vec<Entry>,
    /// Entries a story has already asked for.
    taken: Vec<bool>,
    mirrors: HashMap<String, Mirror>,
    /// Document of each acknowledgement that has not come yet.
    joining: HashMap<u64, String>,
    /// Broken promises of the server; the next wait fails with them.
    faults: Vec<String>,
}

impl Log {
    /// Adds what the socket saw now; checks it against the wire's samples and the order of
    /// versions.
    pub fn add(&self, entry: Entry) {
        let mut seen = self.seen.lock();
        match entry.kind {
            Kind::Event => {
                seen.faults.extend(wire::check_event(&entry.name, &entry.body).err());
                if entry.name == "document:updates" {
                    seen.follow(&entry.body);
                }
            }
            Kind::Ack => {
                seen.faults.extend(wire::check_ack(&entry.name, &entry.body).err());
                seen.join(entry.ack, &entry.body);
            }
            Kind::Connected | Kind::Refused | Kind::Disconnected => {}
        }
        seen.entries.push(entry);
        seen.taken.push(false);
        drop(seen);
        self.more.notify_all();
    }

    /// Waits for the first entry that fits and was not asked for before.
    pub fn take(&self, what: &str, fits: impl Fn(&Entry) -> bool) -> Entry {
        self.wait(what, |seen| {
            let at =
                (0..seen.entries.len()).find(|&at| !seen.taken[at] && fits(&seen.entries[at]))?;
            seen.taken[at] = true;
            Some(seen.entries[at].clone())
        })
    }

    /// As `take`; nothing if the connection ends before.
    pub fn take_before_the_end(&self, what: &str, fits: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let end = |it: &Entry| it.kind == Kind::Disconnected;
        self.wait(what, |seen| {
            let at = (0..seen.entries.len()).find(|&at| !seen.taken[at] && fits(&seen.entries[at]));
            if let Some(at) = at {
                seen.taken[at] = true;
                return Some(Some(seen.entries[at].clone()));
            }
            seen.entries.iter().any(end).then_some(None)
        })
    }

    /// Waits until the mirror of a document fits.
    pub fn mirror<T>(&self, document: &str, what: &str, read: impl Fn(&Mirror) -> Option<T>) -> T {
        self.wait(what, |seen| seen.mirrors.get(document).and_then(&read))
    }

    /// Everything seen so far.
    pub fn entries(&self) -> Vec<Entry> {
        let seen = self.seen.lock();
        seen.complain();
        seen.entries.clone()
    }

    /// The ack that will come is of `document:open` or `document:resync`: it brings the mirror of
    /// `document` on.
    pub fn join(&self, ack: u64, document: &str) {
        self.seen.lock().joining.insert(ack, document.to_owned());
    }

    /// Goes on with what another socket of the same editor knew.
    pub fn inherit(&self, document: &str, mirror: Mirror) {
        self.seen.lock().mirrors.insert(document.to_owned(), mirror);
    }

    /// From now on the document's updates are not checked for gaps (it was closed, and will be
    /// opened again).
    pub fn forget(&self, document: &str) {
        self.seen.lock().mirrors.remove(document);
    }

    fn wait<T>(&self, what: &str, mut ready: impl FnMut(&mut Seen) -> Option<T>) -> T {
        let until = Instant::now() + TIMEOUT;
        let mut seen = self.seen.lock();
        loop {
            seen.complain();
            if let Some(it) = ready(&mut seen) {
                return it;
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                let story = seen.tell();
                drop(seen);
                panic!("waited {TIMEOUT:?} for {what}; the socket saw:\n{story}");
            };
            self.more.wait_for(&mut seen, left);
        }
    }
}

impl Seen {
    fn follow(&mut self, body: &Value) {
        let Some(mirror) = body["documentId"].as_str().and_then(|id| self.mirrors.get_mut(id))
        else {
            return;
        };
        self.faults.extend(mirror.follow(body).err());
    }

    fn join(&mut self, ack: Option<u64>, body: &Value) {
        let Some(document) = ack.and_then(|ack| self.joining.remove(&ack)) else { return };
        if body["ok"] != true {
            return;
        }
        if body["document"].is_object() {
            self.mirrors.insert(document, Mirror::whole(&body["document"]));
        } else if let Some(mirror) = self.mirrors.get_mut(&document) {
            self.faults.extend(mirror.catch_up(body).err());
        }
    }

    fn complain(&self) {
        assert!(self.faults.is_empty(), "the server broke a promise:\n{}", self.faults.join("\n"));
    }

    fn tell(&self) -> String {
        let mut story = String::new();
        for entry in self.entries.iter().rev().take(40).rev() {
            let body: String = entry.body.to_string().chars().take(300).collect();
            let _ = writeln!(story, "  {:?} {} {body}", entry.kind, entry.name);
        }
        story
    }
}
