//! Encoding of the events that a room sends: long ones on the pool ([`cpu_pool`]).

use std::sync::Arc;

use copydesk_cpu_pool as cpu_pool;
use copydesk_cpu_pool::JobLost;
use copydesk_ids::{DocumentId, MemberId};

use super::room_effects::RoomEffect;
use crate::EventSink;
use crate::actor::RoomActor;
use crate::event::RoomEvent;
use crate::work_size::{SHORT_BYTES, SHORT_HUNKS};

fn is_long_event(event: &RoomEvent) -> bool {
    match event {
        RoomEvent::Updates { updates, drop, put, .. } => {
            let bytes: usize = updates.iter().map(|update| update.changes.len()).sum();
            bytes > SHORT_BYTES || drop.len() + put.len() > SHORT_HUNKS
        }
        RoomEvent::Requested(request)
        | RoomEvent::RequestedAgain(request)
        | RoomEvent::Resolved(request) => request.hunks.len() > SHORT_HUNKS,
        RoomEvent::RequestUpdated(update) => update.changed.len() > SHORT_HUNKS,
        RoomEvent::ThreadChanged(_, thread) => thread.text_len() > SHORT_BYTES,
        _ => false,
    }
}

impl RoomActor {
    /// Sends an event to one member; a long event is encoded on the pool.
    pub(crate) async fn notify_one(&mut self, one: MemberId, event: RoomEvent) {
        if !is_long_event(&event) {
            return self.notify(&[one], &event);
        }
        let (sink, document) = (Arc::clone(&self.shared.sink), self.state.id().clone());
        let room = document.to_string();
        let encode = move || {
            let encoded = sink.encode(&document, &event);
            (event, encoded)
        };
        if let Ok((event, encoded)) = cpu_pool::run(&room, encode).await {
            self.notify_encoded(&[one], &event, encoded.as_ref());
        }
    }

    /// Lets the event sink encode the events to send; long ones on the pool.
    pub(crate) fn make_ready(
        &self,
        outputs: Vec<RoomEffect>,
    ) -> impl Future<Output = Result<Vec<RoomEffect>, JobLost>> + Send + use<> {
        let (sink, document) = (Arc::clone(&self.shared.sink), self.state.id().clone());
        async move { encode(sink, document, outputs).await }
    }
}

async fn encode(
    sink: Arc<dyn EventSink>,
    document: DocumentId,
    outputs: Vec<RoomEffect>,
) -> Result<Vec<RoomEffect>, JobLost> {
    if outputs.is_empty() {
        return Ok(outputs);
    }
    // The store's writer goes first.
    tokio::task::yield_now().await;
    let long =
        |output: &RoomEffect| matches!(output, RoomEffect::Tell(event, _) if is_long_event(event));
    let (long, room) = (outputs.iter().any(long), document.to_string());
    let encode = move || {
        let mut outputs = outputs;
        for output in &mut outputs {
            if let RoomEffect::Tell(event, encoded) = output {
                *encoded = sink.encode(&document, event);
            }
        }
        outputs
    };
    cpu_pool::run_if(long, &room, encode).await
}
