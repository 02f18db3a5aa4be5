//! Answers and events of another server for one client, passed back to it.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{mpsc, oneshot};

use copydesk_connections::EndReason;
use copydesk_ids::DocumentId;
use copydesk_metrics as metrics;

use crate::connections::NodePacket;
use copydesk_api::Application;
use copydesk_socketio::{AckReply, ClientLink, FollowedRequest, TO_FOLLOW};

/// Longest time for the notice to a client that its token has ended.
const GOODBYE: Duration = Duration::from_secs(1);

/// Event that another server has not answered yet.
pub(super) enum WaitingEvent {
    /// Event of the client, passed on.
    Passed {
        ack: AckReply,
        then: EventFollower,
        /// `true` if the answer says which document was opened: the event names a file.
        names_file: bool,
    },
    /// Part of an event of the client, which takes the answer.
    Part(oneshot::Sender<Box<RawValue>>),
}

/// Receiver of the end of an event.
pub(super) enum EventFollower {
    /// The next event of the client, for which this one has to be answered.
    Next(oneshot::Sender<PassedOutcome>),
    /// The next event that is no push.
    AfterPushes(oneshot::Sender<()>),
}

/// Outcome of an event that was passed on.
pub(super) enum PassedOutcome {
    /// The client has its answer, which may say which document a file is.
    Answered(Option<DocumentId>),
    /// The other server does not have the document.
    Moved(AckReply),
}

/// Passes back what another server sends, until the connection is lost, which ends the client.
pub(super) async fn pass_back(
    application: &Application,
    (client, follows): (ClientLink, UnboundedSender<Box<FollowedRequest>>),
    mut packets: mpsc::Receiver<NodePacket>,
    waiting: &Mutex<HashMap<u64, WaitingEvent>>,
) {
    loop {
        let packet = tokio::select! {
            () = client.client().ended() => None,
            packet = packets.recv() => packet,
        };
        match packet {
            // This server has greeted its client.
            Some(NodePacket::Event(name, _)) if name == "sessionRegistered" => {}
            Some(NodePacket::Event(name, _)) if name == "sessionEnded" => {
                // The token has ended: this server says so, too, and ends the client.
                if let Err(error) = application.auth.sweep(application.clock.now_ms()).await {
                    tracing::warn!(%error, "cannot check the tokens");
                }
                drop(tokio::time::timeout(GOODBYE, client.client().ended()).await);
                break;
            }
            Some(NodePacket::Event(name, payload)) if name == TO_FOLLOW => {
                if let Ok(followed) = serde_json::from_str(payload.get()) {
                    follows.send(followed).ok();
                }
            }
            Some(NodePacket::Event(name, payload)) => {
                client.emit_directly(&name, &payload);
            }
            Some(NodePacket::Answer(number, body)) => {
                let Some((ack, then, names_file, body)) = answered(waiting, number, body) else {
                    continue;
                };
                match (is_elsewhere(&body), then) {
                    (false, EventFollower::Next(done)) => {
                        let opened = names_file.then(|| opened_document(&body)).flatten();
                        ack.give_raw(&body);
                        done.send(PassedOutcome::Answered(opened)).ok();
                    }
                    (false, EventFollower::AfterPushes(over)) => {
                        let age = ack.age();
                        ack.give_raw(&body);
                        metrics::RELAYED_KEYSTROKE_SECONDS.took(age);
                        over.send(()).ok();
                    }
                    (true, EventFollower::Next(done)) => drop(done.send(PassedOutcome::Moved(ack))),
                    (true, EventFollower::AfterPushes(_)) => {
                        // What came after it was passed on, too. The client sends all of it again.
                        ack.leave_unanswered();
                        break;
                    }
                }
            }
            None => break,
        }
    }
    // First of all: no client may be led to believe that nothing was changed, for that is not
    // known.
    client.client().end(EndReason::NodeLost);
    let unanswered = std::mem::take(&mut *waiting.lock());
    for event in unanswered.into_values() {
        if let WaitingEvent::Passed { ack, .. } = event {
            ack.leave_unanswered();
        }
    }
}

/// Gives the answer to a part of an event to its taker. Returns the event that was passed on, with
/// its answer, if that was answered.
fn answered(
    waiting: &Mutex<HashMap<u64, WaitingEvent>>,
    number: u64,
    body: Box<RawValue>,
) -> Option<(AckReply, EventFollower, bool, Box<RawValue>)> {
    match waiting.lock().remove(&number)? {
        WaitingEvent::Passed { ack, then, names_file } => Some((ack, then, names_file, body)),
        WaitingEvent::Part(taker) => {
            // Without a taker, the client has ended.
            taker.send(body).ok();
            None
        }
    }
}

/// Returns `true` for the answer of a server that does not have the document.
fn is_elsewhere(answer: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Refused {
        error: RefusalCode,
    }
    #[derive(Deserialize)]
    struct RefusalCode {
        code: String,
    }
    answer.get().starts_with("{\"ok\":false")
        && serde_json::from_str::<Refused>(answer.get())
            .is_ok_and(|refused| refused.error.code == "elsewhere")
}

/// Returns the document that an answer to `document:open` names.
fn opened_document(answer: &RawValue) -> Option<DocumentId> {
    #[derive(Deserialize)]
    struct Opened {
        document: OpenedLine,
    }
    #[derive(Deserialize)]
    struct OpenedLine {
        id: String,
    }
    let opened: Opened = serde_json::from_str(answer.get()).ok()?;
    Some(opened.document.id.into())
}
