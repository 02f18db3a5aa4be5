//! Recovery from a batch that could not be stored: the room goes back to what is durable, and
//! members get what they missed.

use std::sync::Arc;

use copydesk_store::StoreError;

use super::room_effects::{RoomEffect, RoomEffects};
use crate::actor::RoomActor;
use crate::event::{DocumentChange, RoomEvent};
use crate::persistence::loading;
use crate::state::{RoomState, deadlines, requests, streaming_previews};
use crate::{RoomError, RoomResult};

impl RoomActor {
    /// Goes back to what is durable after a batch that was not stored, then answers with the error.
    pub(crate) async fn roll_back_batch(
        &mut self,
        outputs: Vec<RoomEffect>,
        error: Arc<StoreError>,
    ) -> RoomError {
        tracing::error!(%error, room.id = %self.state.id(), "cannot store a change");
        let mut answers = Vec::new();
        for output in outputs {
            match output {
                RoomEffect::Answer(answer) | RoomEffect::LongAnswer(answer) => answers.push(answer),
                RoomEffect::Leave(member) => self.audience.retain(|other| *other != member),
                RoomEffect::Say(said) => self.publish(said),
                RoomEffect::Tell(..)
                | RoomEffect::TellOthers(..)
                | RoomEffect::TellOne(..)
                | RoomEffect::Join(_)
                | RoomEffect::Resolved(_) => {}
            }
        }
        self.broken = Some(Arc::clone(&error));
        self.reload().await;
        for answer in answers {
            answer(Err(Arc::clone(&error)));
        }
        RoomError::not_kept(error)
    }

    pub(crate) async fn reload(&mut self) {
        match self.load_again().await {
            Ok(fresh) => {
                // Streaming previews are shown again with the model's next words.
                for event in streaming_previews::forget(&mut self.state) {
                    self.notify(&self.audience, &event);
                }
                self.state.replace_with(fresh);
                self.state.presence.keep_only(&self.audience);
                let now = self.now();
                deadlines::agree_with_focus(&mut self.state, &now);
                self.broken = None;
                self.notify_missed().await;
                self.answer_the_forgotten().await;
            }
            Err(RoomError::NoDocument) => {
                // Another process deleted the document.
                self.state.record.deleted = true;
                self.state.open.clear();
                self.broken = None;
                self.notify(&self.audience, &RoomEvent::Changed(DocumentChange::Deleted));
                for reply in self.waiters.drain().flat_map(|(_, replies)| replies) {
                    reply.send(Err(RoomError::NoDocument));
                }
            }
            Err(error) => {
                tracing::error!(%error, room.id = %self.state.id(), "cannot reload the document");
            }
        }
    }

    /// Loads what is durable, once no write of unknown outcome is under way.
    async fn load_again(&mut self) -> RoomResult<RoomState> {
        self.shared.store.settle().await?;
        // Clients have sent updates that were made on recent versions.
        loading::load_recent(&self.shared.store, self.state.id(), self.announced_version).await
    }

    /// Sends the updates that another process wrote to the store, if any, and who is in the
    /// document.
    async fn notify_missed(&mut self) {
        let (from, newest) = (self.announced_version, self.state.version());
        if from != newest {
            let missed = loading::older(&self.shared.store, &self.state, from).await;
            let missed = missed.and_then(|older| requests::missed(&self.state, from, older));
            // If these are lost, the next update shows a gap, and clients load the document again.
            let updates = missed.unwrap_or_default();
            let (room, drop, put) = (self.state.number, Vec::new(), Vec::new());
            let event = RoomEvent::Updates { room, from, updates, drop, put };
            self.notify(&self.audience, &event);
            for request in self.state.open.values() {
                self.notify(&self.audience, &RoomEvent::Requested(Arc::clone(request)));
            }
            for thread in self.state.threads.unresolved() {
                let event = RoomEvent::ThreadChanged(newest, Box::new(thread.clone()));
                self.notify(&self.audience, &event);
            }
        }
        self.announced_version = newest;
        for event in self.state.presence.whole() {
            self.notify(&self.audience, &event);
        }
    }

    /// Answers those who wait for a request that is not open after all.
    async fn answer_the_forgotten(&mut self) {
        let open = &self.state.open;
        let gone: Vec<_> =
            self.waiters.extract_if(|request, _| !open.contains_key(request)).collect();
        let mut effects = RoomEffects::default();
        for (request, replies) in gone {
            for reply in replies {
                self.register(request.clone(), reply, &mut effects).await;
            }
        }
        let (_, outputs) = effects.into_parts();
        for output in outputs {
            self.deliver(output);
        }
    }
}
