//! Activities of the clients of a load test in their documents.

use std::ops::Range;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use copydesk_client::socketio::SocketIoClient;

use super::arrived_updates::ArrivedUpdate;
use super::delivery_log::DeliveryLog;
use super::reviewer::LoadReviewer;
use super::writer::LoadWriter;
use crate::{LoadTestError, LoadTestResult};

pub(super) struct LoadedDocument {
    /// Identifier on the server.
    pub id: String,
    /// Arrival of its versions.
    pub log: DeliveryLog,
}

/// Time in which clients type and decide.
#[derive(Clone, Debug)]
pub(super) struct WorkingTime {
    /// Beginning of the work.
    pub begin: Instant,
    /// Time in which it is measured; the work ends with it.
    pub measured: Range<Instant>,
}

impl WorkingTime {
    /// Returns the time of a client's first action: those of several are spread over one interval.
    pub fn first_action(&self, number: u32, interval: Duration) -> Instant {
        let share = f64::from(number) * 0.618_034;
        self.begin + interval.mul_f64(share.fract())
    }
}

/// Activity of a client in its document.
pub(super) enum ClientActivity {
    /// Only receives.
    Read,
    /// Types.
    Write(Box<LoadWriter>),
    /// Has changes proposed, and decides them.
    Review(Box<LoadReviewer>),
}

pub(super) enum ActivityEvent<'a> {
    /// The time to work begins.
    Begin(&'a WorkingTime),
    /// The time of the next action has come.
    Due,
    /// The version after `from` arrived.
    Update { from: u64, update: &'a ArrivedUpdate<'a> },
    /// An event was acknowledged.
    Answer {
        /// Number that the client gave the event.
        number: u64,
        /// Answer, accepted or refused.
        answer: Value,
        /// Time of its arrival.
        at: Instant,
    },
    /// A request for a decision arrived, as JSON.
    Request(&'a str),
}

impl ClientActivity {
    pub async fn on(
        &mut self,
        client: &mut SocketIoClient,
        event: ActivityEvent<'_>,
    ) -> LoadTestResult<()> {
        match self {
            Self::Read => Ok(()),
            Self::Write(writer) => writer.on(client, event).await,
            Self::Review(reviewer) => reviewer.on(client, event).await,
        }
    }

    /// Returns the time of the next action; `None` if something else must happen before it.
    pub fn next_action(&self) -> Option<Instant> {
        match self {
            Self::Read => None,
            Self::Write(writer) => writer.next_action(),
            Self::Review(reviewer) => reviewer.next_action(),
        }
    }

    /// Returns `true` if nothing is left to do and no answer is awaited.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Read => true,
            Self::Write(writer) => writer.is_done(),
            Self::Review(reviewer) => reviewer.is_done(),
        }
    }

    /// Waits for a failure outside of the client's connection.
    pub async fn failure(&mut self) -> LoadTestError {
        match self {
            Self::Review(reviewer) => reviewer.failure().await,
            Self::Read | Self::Write(_) => std::future::pending().await,
        }
    }
}
