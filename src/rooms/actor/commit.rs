//! Commit of a turn: its effects are stored, and then announced and answered in order.

use std::sync::Arc;

use crate::{cpu_pool, failpoint};

use super::turn_effects::{TurnEffect, TurnEffects};
use crate::rooms::RoomError;
use crate::rooms::actor::RoomActor;
use crate::rooms::command::ResolvedRequest;
use crate::rooms::event::RoomEvent;

impl RoomActor {
    /// Stores the effects of this turn so far, and announces them.
    pub(crate) async fn flush(&mut self, effects: &mut TurnEffects) -> Result<(), RoomError> {
        if effects.is_empty() { Ok(()) } else { self.commit(std::mem::take(effects)).await }
    }

    /// Stores, then tells and answers. If storing fails, nothing is told, and the state goes back
    /// to what is durable.
    pub(crate) async fn commit(&mut self, mut effects: TurnEffects) -> Result<(), RoomError> {
        if self.broken.is_none() {
            self.snapshot(false, &mut effects).await;
        }
        let (batch, outputs) = effects.into_parts();
        failpoint::pass("room.keeping");
        let heard = !batch.is_empty() && !self.audience.is_empty();
        let (told, untold) = if heard { (outputs, Vec::new()) } else { (Vec::new(), outputs) };
        let ready = self.make_ready(told);
        let (stored, ready) = tokio::join!(self.shared.store.commit(batch), ready);
        let outputs = match ready {
            Ok(told) if heard => told,
            Ok(_) => untold,
            Err(lost) => return Err(self.start_again(lost).await),
        };
        if let Err(error) = stored {
            return Err(self.roll_back_turn(outputs, Arc::new(error)).await);
        }
        failpoint::pass("room.kept");
        if self.broken.is_none() && self.state.is_workspace_inbox() {
            // Before anybody hears that it is done.
            self.shared.put_inbox(&self.state);
        }
        for output in outputs {
            match output {
                TurnEffect::LongAnswer(answer) => {
                    let room = self.state.id().to_string();
                    // A lost answer reports that itself.
                    cpu_pool::run(&room, move || answer(Ok(()))).await.ok();
                }
                TurnEffect::TellOne(one, event) => self.notify_one(one, event).await,
                output => self.deliver(output),
            }
        }
        self.state.forget_clients();
        failpoint::pass("room.told");
        if self.broken.is_none() {
            self.announced_version = self.state.version();
        }
        self.publish_status();
        Ok(())
    }

    /// Sends an event or an answer of a turn that is stored.
    pub(crate) fn deliver(&mut self, output: TurnEffect) {
        match output {
            TurnEffect::Answer(answer) | TurnEffect::LongAnswer(answer) => answer(Ok(())),
            TurnEffect::Leave(member) => self.audience.retain(|other| *other != member),
            TurnEffect::Say(said) => self.publish(said),
            TurnEffect::Resolved(settled) => {
                let waiting = self.waiters.remove(&settled.resolution.request);
                for reply in waiting.into_iter().flatten() {
                    reply.send(Ok(ResolvedRequest::clone(&settled)));
                }
            }
            TurnEffect::Tell(event, encoded) => {
                if let RoomEvent::Requested(request) = &event {
                    let document = request.proposal.document.as_ref();
                    self.shared.request_index().note(request.id(), document);
                }
                self.notify_encoded(&self.audience, &event, encoded.as_ref());
                self.notify_witnesses(&event, encoded.as_ref());
            }
            TurnEffect::TellOthers(one, event) => {
                // The order of the audience does not matter, so the one can be moved to its end.
                let at = self.audience.iter().position(|member| *member == one);
                let others = at.map_or(self.audience.len(), |at| {
                    let last = self.audience.len() - 1;
                    self.audience.swap(at, last);
                    last
                });
                self.notify(&self.audience[..others], &event);
            }
            TurnEffect::TellOne(one, event) => self.notify(&[one], &event),
            TurnEffect::Join(member) => {
                if !self.audience.contains(&member) {
                    self.audience.push(member);
                }
            }
        }
    }
}
