//! Commit of a batch: its effects are stored, and then announced and answered in order.

use std::sync::Arc;

use copydesk_cpu_pool as cpu_pool;
use copydesk_failpoint as failpoint;
use copydesk_ids::MemberId;

use super::room_effects::{RoomEffect, RoomEffects};
use crate::RoomResult;
use crate::actor::RoomActor;
use crate::command::ResolvedRequest;
use crate::event::RoomEvent;

impl RoomActor {
    pub(crate) async fn flush(&mut self, effects: &mut RoomEffects) -> RoomResult<()> {
        if effects.is_empty() { Ok(()) } else { self.commit(std::mem::take(effects)).await }
    }

    /// Stores, then sends events and answers. If storing fails, nothing is sent, and the state goes
    /// back to what is durable.
    pub(crate) async fn commit(&mut self, mut effects: RoomEffects) -> RoomResult<()> {
        if self.broken.is_none() {
            self.snapshot(false, &mut effects).await;
        }
        let told_and_answered = effects.take_told_and_answered();
        let (batch, mut outputs) = effects.into_parts();
        outputs.retain(|output| !self.is_untaken(output));
        failpoint::pass("room.keeping");
        let has_audience = !batch.is_empty() && !self.audience.is_empty();
        let (announced, unannounced) =
            if has_audience { (outputs, Vec::new()) } else { (Vec::new(), outputs) };
        let ready = self.make_ready(announced);
        let (stored, ready) = tokio::join!(self.shared.store.commit(batch), ready);
        let outputs = match ready {
            Ok(announced) if has_audience => announced,
            Ok(_) => unannounced,
            Err(lost) => return Err(self.start_again(lost).await),
        };
        if let Err(error) = stored {
            return Err(self.roll_back_batch(outputs, Arc::new(error)).await);
        }
        failpoint::pass("room.kept");
        if self.broken.is_none() && self.state.is_workspace_inbox() {
            // Before the change is announced.
            self.shared.put_inbox_policies(&self.state);
        }
        self.deliver_all(outputs, &told_and_answered).await;
        self.state.forget_clients();
        failpoint::pass("room.told");
        if self.broken.is_none() {
            self.announced_version = self.state.version();
        }
        self.publish_status();
        Ok(())
    }

    /// Sends the events and answers of a batch that is stored, in order; the frames for one of
    /// `members` go out together.
    async fn deliver_all(&mut self, outputs: Vec<RoomEffect>, members: &[MemberId]) {
        let sink = Arc::clone(&self.shared.sink);
        let mut outputs = outputs.into_iter().peekable();
        while outputs.peek().is_some() {
            sink.gather(members, &mut || {
                while let Some(output) = outputs.next_if(|output| !output.is_long()) {
                    self.deliver(output);
                }
            });
            match outputs.next() {
                Some(RoomEffect::LongAnswer(answer)) => {
                    let room = self.state.id().to_string();
                    // A lost answer reports that itself.
                    cpu_pool::run(&room, move || answer(Ok(()))).await.ok();
                }
                Some(RoomEffect::TellOne(one, event)) => self.notify_one(one, event).await,
                Some(output) => self.deliver(output),
                None => {}
            }
        }
    }

    fn is_untaken(&self, output: &RoomEffect) -> bool {
        match output {
            RoomEffect::Tell(RoomEvent::RequestedAgain(request), _) => {
                self.state.presence.all_take_hunk_changes()
                    && !self.witnesses.contains_key(request.id())
            }
            _ => false,
        }
    }

    pub(crate) fn deliver(&mut self, output: RoomEffect) {
        match output {
            RoomEffect::Answer(answer) | RoomEffect::LongAnswer(answer) => answer(Ok(())),
            RoomEffect::Leave(member) => self.audience.retain(|other| *other != member),
            RoomEffect::Say(said) => self.publish(said),
            RoomEffect::Resolved(settled) => {
                let waiting = self.waiters.remove(&settled.resolution.request);
                for reply in waiting.into_iter().flatten() {
                    reply.send(Ok(ResolvedRequest::clone(&settled)));
                }
            }
            RoomEffect::Tell(event, encoded) => {
                if let RoomEvent::Requested(request) = &event {
                    let document = request.proposal.document.as_ref();
                    self.shared.request_index().note(request.id(), document);
                }
                self.notify_encoded(&self.audience, &event, encoded.as_ref());
                self.notify_witnesses(&event, encoded.as_ref());
            }
            RoomEffect::TellOthers(one, event) => {
                // The order of the audience does not matter, so the one can be moved to its end.
                let at = self.audience.iter().position(|member| *member == one);
                let others = at.map_or(self.audience.len(), |at| {
                    let last = self.audience.len() - 1;
                    self.audience.swap(at, last);
                    last
                });
                self.notify(&self.audience[..others], &event);
            }
            RoomEffect::TellOne(one, event) => self.notify(&[one], &event),
            RoomEffect::Join(member) => {
                if !self.audience.contains(&member) {
                    self.audience.push(member);
                }
            }
        }
    }
}
