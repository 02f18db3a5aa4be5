//! Client that types into a document as the editor does: one push at a time, with all keystrokes
//! made while the one before was on its way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use copydesk_client::socketio::{SocketIoClient, accepted};
use copydesk_document::{ChangeLimits, ChangeSet, InsertSide};

use super::activity::{ActivityEvent, LoadedDocument, WorkingTime};
use super::arrived_updates::ArrivedUpdate;
use super::delivery_log::{VersionCause, milliseconds};
use super::test_text::{letter, writer_mark};
use crate::{LoadTestError, LoadTestResult};

/// Pause before keystrokes are sent again that the server refused for now.
const PAUSE: Duration = Duration::from_millis(100);

/// Client that types at its own place in a document.
pub(super) struct LoadWriter {
    document: Arc<LoadedDocument>,
    pub number: u32,
    client_id: String,
    interval: Duration,
    place: TypingPlace,
    time: Option<WorkingTime>,
    next: Option<Instant>,
    /// Time before which nothing is sent, after the server has refused a push for now.
    retry: Option<Instant>,
    /// Times of keystrokes that were not sent.
    waiting: VecDeque<Instant>,
    push: Option<RunningPush>,
    /// Keystrokes that it has made.
    pub typed: TypedKeystrokes,
}

struct TypingPlace {
    version: u64,
    /// Length of the text at that version, in UTF-16 units.
    length: usize,
    /// Position in the text, in UTF-16 units.
    cursor: usize,
}

/// Keystrokes of a writer.
#[derive(Default)]
pub(super) struct TypedKeystrokes {
    /// Number of acknowledged keystrokes.
    pub acknowledged: usize,
    /// Times from a keystroke to its acknowledgement, in milliseconds.
    pub times: Vec<f64>,
    /// Number of pushes that the server refused for now.
    pub refused: u64,
}

/// Push that was not acknowledged yet.
struct RunningPush {
    number: u64,
    keystrokes: VecDeque<Instant>,
    /// Number of them that came back as updates.
    arrived: usize,
}

impl LoadWriter {
    /// Returns the writer with this number in a document; `opened` is the answer to
    /// `document:open`.
    pub fn new(
        document: Arc<LoadedDocument>,
        number: u32,
        interval: Duration,
        opened: &Value,
    ) -> Self {
        // All of it is ASCII: bytes are UTF-16 units.
        let text = opened["document"]["text"].as_str().unwrap_or_default();
        let mark = writer_mark(number);
        let cursor = text.find(&mark).map_or(text.len(), |at| at + mark.len());
        Self {
            document,
            number,
            client_id: opened["clientID"].as_str().unwrap_or_default().to_owned(),
            interval,
            place: TypingPlace {
                version: opened["document"]["version"].as_u64().unwrap_or_default(),
                length: text.len(),
                cursor,
            },
            time: None,
            next: None,
            retry: None,
            waiting: VecDeque::new(),
            push: None,
            typed: TypedKeystrokes::default(),
        }
    }

    pub async fn on(
        &mut self,
        client: &mut SocketIoClient,
        event: ActivityEvent<'_>,
    ) -> LoadTestResult<()> {
        match event {
            ActivityEvent::Begin(time) => {
                self.next = Some(time.first_action(self.number, self.interval));
                self.time = Some(time.clone());
                Ok(())
            }
            ActivityEvent::Due => {
                self.press_keys();
                self.retry.take_if(|retry| *retry <= Instant::now());
                self.push_waiting(client).await
            }
            ActivityEvent::Update { from, update } => self.apply(from, update),
            ActivityEvent::Answer { number, answer, at } => {
                self.answered(number, answer, at)?;
                self.push_waiting(client).await
            }
            ActivityEvent::Request(_) => Ok(()),
        }
    }

    /// Returns the time of the next keystroke, or of the next attempt to send some.
    pub fn next_action(&self) -> Option<Instant> {
        [self.next, self.retry].into_iter().flatten().min()
    }

    /// Returns `true` if its time is over and every keystroke was acknowledged.
    pub fn is_done(&self) -> bool {
        self.time.is_some() && self.next.is_none() && self.waiting.is_empty() && self.push.is_none()
    }

    /// Makes the keystrokes whose time has come.
    fn press_keys(&mut self) {
        let Some(end) = self.time.as_ref().map(|time| time.measured.end) else { return };
        while let Some(due) = self.next.take_if(|due| *due <= Instant::now()) {
            if due < end {
                self.waiting.push_back(due);
                self.next = Some(end.min(due + self.interval));
            }
        }
    }

    async fn push_waiting(&mut self, client: &mut SocketIoClient) -> LoadTestResult<()> {
        if self.push.is_some() || self.retry.is_some() || self.waiting.is_empty() {
            return Ok(());
        }
        let keystrokes = std::mem::take(&mut self.waiting);
        let updates: Vec<_> = (0..keystrokes.len()).map(|index| self.keystroke(index)).collect();
        let push = json!({"documentId": self.document.id, "version": self.place.version, "updates": updates});
        let number = client.send("document:push", &push).await?;
        self.push = Some(RunningPush { number, keystrokes, arrived: 0 });
        Ok(())
    }

    /// Returns the update that types the next letter after `index` others.
    fn keystroke(&self, index: usize) -> Value {
        let (before, after) = (self.place.cursor + index, self.place.length - self.place.cursor);
        let letter = letter(self.typed.acknowledged + index).to_string();
        let mut changes = vec![json!(before), json!([0, letter])];
        if after > 0 {
            changes.push(json!(after));
        }
        json!({"clientID": self.client_id, "changes": changes})
    }

    fn apply(&mut self, from: u64, update: &ArrivedUpdate<'_>) -> LoadTestResult<()> {
        let changes = ChangeSet::parse(update.changes.get(), &ChangeLimits::NONE);
        let changes = changes.map_err(|_| LoadTestError::Strange)?;
        let is_own = update.client == self.client_id;
        let side = if is_own { InsertSide::After } else { InsertSide::Before };
        self.place.cursor = changes.map_pos(self.place.cursor, side);
        self.place.length = changes.new_len();
        self.place.version = from + 1;
        if let Some(push) = self.push.as_mut().filter(|_| is_own)
            && let Some(at) = push.keystrokes.get(push.arrived)
        {
            self.document.log.caused(from, VersionCause::Keystroke(*at));
            push.arrived += 1;
        }
        Ok(())
    }

    fn answered(&mut self, number: u64, answer: Value, at: Instant) -> LoadTestResult<()> {
        let Some(mut push) = self.push.take_if(|push| push.number == number) else { return Ok(()) };
        match accepted(answer) {
            Ok(_) => {
                self.typed.acknowledged += push.keystrokes.len();
                let measured = self.time.as_ref().map(|time| &time.measured);
                let counted =
                    |it: &&Instant| measured.is_some_and(|measured| measured.contains(it));
                let times = push.keystrokes.iter().filter(counted);
                self.typed.times.extend(times.map(|begun| milliseconds(*begun, at)));
                Ok(())
            }
            Err(refusal) if matches!(&*refusal.code, "resync" | "rate_limited") => {
                self.typed.refused += 1;
                push.keystrokes.append(&mut self.waiting);
                self.waiting = push.keystrokes;
                self.retry = Some(at + PAUSE);
                Ok(())
            }
            Err(refusal) => Err(refusal.into()),
        }
    }
}
