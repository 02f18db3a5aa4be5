//! One client of a load test: it is in one document, and receives what happens there.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use copydesk_client::socketio::{SocketIoClient, SocketIoPacket};

use super::activity::{ActivityEvent, ClientActivity, LoadedDocument, WorkingTime};
use super::arrived_updates::ArrivedUpdates;
use super::patient_ask::ask_patiently;
use crate::{LoadTestError, LoadTestResult};

/// Phase of a load test, which all clients follow.
#[derive(Clone, Debug)]
pub(super) enum TestPhase {
    /// Clients arrive; none does anything.
    Arriving,
    /// Writers type and reviewers decide.
    Working(WorkingTime),
    /// All clients wait for the last version of their document, in the order of the documents.
    Ending(Arc<Vec<u64>>),
}

/// Client of a load test.
pub(super) struct LoadParticipant {
    client: SocketIoClient,
    document: Arc<LoadedDocument>,
    /// Index of the document among all.
    document_index: usize,
    version: u64,
    activity: ClientActivity,
    /// Dropped when the client has nothing more to do than to receive.
    busy: Option<mpsc::Sender<()>>,
    measured: Option<Range<Instant>>,
    received: ReceivedUpdateCounts,
}

/// Updates that a client received in the measured time.
#[derive(Clone, Copy, Default)]
pub(super) struct ReceivedUpdateCounts {
    pub updates: u64,
    /// Bytes of their messages on the connection.
    pub bytes: u64,
}

pub(super) struct ParticipantResult {
    pub document_index: usize,
    /// Activity with its results.
    pub activity: ClientActivity,
    pub received: ReceivedUpdateCounts,
}

impl LoadParticipant {
    /// Opens the document, and begins the activity that `activity` makes of its text and version.
    pub async fn open(
        mut client: SocketIoClient,
        (document_index, document): (usize, Arc<LoadedDocument>),
        busy: mpsc::Sender<()>,
        activity: impl FnOnce(&Value) -> LoadTestResult<ClientActivity>,
    ) -> LoadTestResult<Self> {
        let id = json!({"documentId": document.id});
        let opened = ask_patiently(&mut client, "document:open", &id).await?;
        let version = opened["document"]["version"].as_u64().unwrap_or_default();
        let (activity, busy) = (activity(&opened)?, Some(busy));
        let (measured, received) = (None, ReceivedUpdateCounts::default());
        Ok(Self { client, document, document_index, version, activity, busy, measured, received })
    }

    /// Takes part until the end of the test.
    pub async fn take_part(
        mut self,
        mut phase: watch::Receiver<TestPhase>,
    ) -> LoadTestResult<ParticipantResult> {
        loop {
            let next = self.activity.next_action();
            let due = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                packet = self.client.receive() => self.take(&packet?).await?,
                failure = self.activity.failure() => return Err(failure),
                () = due => self.activity.on(&mut self.client, ActivityEvent::Due).await?,
                changed = phase.changed() => changed.map_err(|_| LoadTestError::Stopped)?,
            }
            let phase = phase.borrow_and_update().clone();
            if self.follow(&phase).await? {
                let Self { document_index, activity, received, .. } = self;
                return Ok(ParticipantResult { document_index, activity, received });
            }
        }
    }

    /// Does what a phase asks for; returns `true` at the end of the test.
    async fn follow(&mut self, phase: &TestPhase) -> LoadTestResult<bool> {
        match phase {
            TestPhase::Arriving => return Ok(false),
            TestPhase::Working(time) => {
                if self.measured.is_none() {
                    self.measured = Some(time.measured.clone());
                    self.activity.on(&mut self.client, ActivityEvent::Begin(time)).await?;
                }
            }
            TestPhase::Ending(versions) => {
                let is_there = self.version >= versions[self.document_index];
                return Ok(is_there && self.activity.is_done());
            }
        }
        if self.activity.is_done() {
            self.busy = None;
        }
        Ok(false)
    }

    async fn take(&mut self, packet: &SocketIoPacket) -> LoadTestResult<()> {
        let event = match packet.event() {
            Some(("updates" | "document:updates", payload)) => {
                let arrived = ArrivedUpdates::parse(payload).ok_or(LoadTestError::Strange)?;
                return self.take_updates(&arrived, packet).await;
            }
            Some(("tool_approval_request", payload)) => ActivityEvent::Request(payload),
            Some(_) => return Ok(()),
            None => {
                let (number, answer) = packet.acknowledgement().ok_or(LoadTestError::Strange)?;
                let answer = serde_json::from_str(answer).map_err(|_| LoadTestError::Strange)?;
                ActivityEvent::Answer { number, answer, at: packet.at }
            }
        };
        self.activity.on(&mut self.client, event).await
    }

    async fn take_updates(
        &mut self,
        arrived: &ArrivedUpdates<'_>,
        packet: &SocketIoPacket,
    ) -> LoadTestResult<()> {
        let count = arrived.updates.len();
        if count == 0 {
            return Ok(());
        }
        if arrived.from != self.version {
            return Err(LoadTestError::Gap);
        }
        self.version += count as u64;
        self.document.log.received(arrived.from, count, packet.at);
        if self.measured.as_ref().is_some_and(|time| time.contains(&packet.at)) {
            self.received.updates += count as u64;
            self.received.bytes += packet.wire_bytes() as u64;
        }
        for (from, update) in (arrived.from..).zip(&arrived.updates) {
            let event = ActivityEvent::Update { from, update };
            self.activity.on(&mut self.client, event).await?;
        }
        Ok(())
    }
}
