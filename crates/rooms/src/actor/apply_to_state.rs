//! Commands as work of the state: short work at once, long work on the pool ([`cpu_pool`]), away
//! from the threads that serve connections.
//!
//! The state is handed to the pool together with the work, and comes back with the result.
//! Meanwhile this room waits, as it does while the store works; other rooms do not.

use std::collections::BTreeMap;
use std::sync::Arc;

use copydesk_cpu_pool as cpu_pool;
use copydesk_cpu_pool::JobLost;
use copydesk_document::{Document, Text};
use copydesk_ids::Version;
use copydesk_store::StoreError;

use super::room_effects::RoomEffects;
use crate::actor::RoomActor;
use crate::command::{PushRequest, RequestCommand, RoomCommand};
use crate::settings::OwnSettings;
use crate::state::comments::RoomThreads;
use crate::state::suggestions;
use crate::state::text::REBASING;
use crate::state::{RoomState, SinceSnapshot};
use crate::work_size::{
    SHORT_BYTES, SHORT_HUNKS, SHORT_MOVES, SHORT_REBASING, SHORT_SECTIONS, SHORT_TEXT,
    is_long_answer,
};
use crate::{RoomError, RoomResult};

impl RoomState {
    pub(crate) fn hunk_count(&self) -> usize {
        let open: usize = self.open.values().map(|request| request.hunks.len()).sum();
        open + self.streaming_previews.hunk_count()
    }

    fn position_count(&self) -> usize {
        self.hunk_count() + self.presence.caret_count() + self.own.frozen.len() + self.threads.len()
    }

    fn is_long_push(&self, push: &PushRequest) -> bool {
        let bytes: usize = push.updates.iter().map(|(_, changes)| changes.len()).sum();
        if bytes > SHORT_BYTES || push.updates.len() * self.position_count() > SHORT_MOVES {
            return true;
        }
        // A comma may be text, not only between sections; then the push counts as longer than it
        // is.
        let commas = |json: &str| json.bytes().filter(|byte| *byte == b',').count() + 1;
        let sections: usize = push.updates.iter().map(|(_, changes)| commas(changes)).sum();
        sections > SHORT_SECTIONS
    }

    fn is_long(&self, command: &RoomCommand) -> bool {
        use RequestCommand::{Decide, RefreshPreview, Reopen, Split, Undo, Withdraw};
        let about = match command {
            RoomCommand::ReportDecision(untaken, _) => Some(&untaken.request),
            command => command.request(),
        };
        let about = about.and_then(|id| self.request(id));
        let hunks = about.map_or(0, |request| request.hunks.len());
        match command {
            RoomCommand::Merge(..) | RoomCommand::Replace(..) | RoomCommand::Restore(..) => {
                self.document.text().len() > SHORT_TEXT || self.hunk_count() > SHORT_HUNKS
            }
            RoomCommand::About(
                _,
                Decide(..) | Split(..) | Withdraw(_) | Undo(..) | Reopen(..) | RefreshPreview(_),
                _,
            )
            | RoomCommand::ReportDecision(..)
            | RoomCommand::Delete(..) => hunks > SHORT_HUNKS || self.position_count() > SHORT_MOVES,
            RoomCommand::Suggest(update, _) => {
                let live = suggestions::live(self, &update.by);
                update.changes.len() > SHORT_BYTES
                    || live.is_some_and(|request| request.hunks.len() > SHORT_HUNKS)
            }
            _ => false,
        }
    }

    /// Returns a placeholder for the state while it is on the pool, with what is read of it then.
    fn stand_in(&self) -> Self {
        let (own, open) = (OwnSettings::default(), BTreeMap::new());
        let document = Document::new(Text::default(), self.version());
        let (threads, since) = (RoomThreads::default(), SinceSnapshot::default());
        let mut stand_in = Self::new(self.record.clone(), own, document, open, threads, since);
        // If the work is lost, these people are still in the document.
        stand_in.presence = self.presence.clone();
        stand_in.focuses = self.focuses.clone();
        stand_in.file.clone_from(&self.file);
        stand_in
    }
}

impl RoomActor {
    pub(crate) async fn push(
        &mut self,
        push: PushRequest,
        effects: &mut RoomEffects,
    ) -> RoomResult<Version> {
        // A client that was not answered sends again what may have left the log at hand, because
        // the room was closed meanwhile.
        self.extend_log(push.base, effects).await?;
        let now = self.now();
        if !self.state.is_long_push(&push) {
            match self.state.push_and_tell(&push, SHORT_REBASING, &now, effects) {
                // Nothing was changed, so it can be tried again on the pool.
                Err(RoomError::TooCostly) => {}
                done => return done,
            }
        }
        let person = push.principal.user.to_string();
        let work = move |state: &mut RoomState, effects: &mut RoomEffects| {
            state.push_and_tell(&push, REBASING, &now, effects)
        };
        self.run_on_pool(&person, effects, work).await?
    }

    /// Lets the state carry out a command that needs nothing from the store, perhaps on the pool.
    pub(crate) async fn apply_to_state(&mut self, command: RoomCommand, effects: &mut RoomEffects) {
        let now = self.now();
        if !self.state.is_long(&command) {
            return self.state.apply(command, &now, effects);
        }
        let person = command.by().map_or_else(|| self.state.id().to_string(), ToString::to_string);
        let work = move |state: &mut RoomState, effects: &mut RoomEffects| {
            state.apply(command, &now, effects);
        };
        // If the work is lost, so is the command, which then answers with an error by itself.
        self.run_on_pool(&person, effects, work).await.ok();
    }

    /// Runs `work` with the state on a thread of the pool. `person`: see [`cpu_pool::run`].
    pub(crate) async fn run_on_pool<T: Send + 'static>(
        &mut self,
        person: &str,
        effects: &mut RoomEffects,
        work: impl FnOnce(&mut RoomState, &mut RoomEffects) -> T + Send + 'static,
    ) -> RoomResult<T> {
        let stand_in = self.state.stand_in();
        let mut state = std::mem::replace(&mut self.state, stand_in);
        let mut taken = std::mem::take(effects);
        let job = move || {
            let made = work(&mut state, &mut taken);
            (state, taken, made)
        };
        match cpu_pool::run(person, job).await {
            Ok((state, taken, made)) => {
                self.state = state;
                *effects = taken;
                Ok(made)
            }
            Err(lost) => Err(self.start_again(lost).await),
        }
    }

    /// Goes back to what is durable, because the state or the effects were lost with a job.
    pub(crate) async fn start_again(&mut self, lost: JobLost) -> RoomError {
        tracing::error!(error = %lost, room.id = %self.state.id(), "a job of the pool panicked");
        self.broken = Some(Arc::new(StoreError::Closed));
        self.reload().await;
        RoomError::Lost(lost)
    }

    /// Adds a snapshot of the text to this batch, if one is due or `now` is `true`.
    pub(crate) async fn snapshot(&mut self, now: bool, effects: &mut RoomEffects) {
        if !now && !self.state.snapshot_is_due() {
            return;
        }
        let state = &self.state;
        if !is_long_answer(state.document.text().len(), state.hunk_count()) {
            return self.state.snapshot(effects);
        }
        let room = self.state.id().to_string();
        self.run_on_pool(&room, effects, RoomState::snapshot).await.ok();
    }
}
