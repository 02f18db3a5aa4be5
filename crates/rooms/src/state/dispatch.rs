//! Dispatch of commands to the functions that apply them.

use copydesk_ids::{MemberId, RequestId};

use super::text::REBASING;
use super::{
    comments, deadlines, decisions, inbox_undo, locked_ranges, person_deletion, rules,
    streaming_previews, suggestions, undo, workspace_inbox,
};
use crate::actor::room_effects::{RoomEffect, RoomEffects};
use crate::command::{RequestCommand, RoomCommand};
use crate::event::{CaretPosition, RoomEvent};
use crate::state::presence::PeerAnnouncement;
use crate::state::{ApplyContext, RoomState};
use crate::{RequestResult, file};

impl RoomState {
    pub(crate) fn apply(
        &mut self,
        command: RoomCommand,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        let words_are_frozen = !self.own.frozen.is_empty();
        // Carets and events of runs are frequent, and they and comments change no words.
        let only_tells = matches!(
            command,
            RoomCommand::Move(..)
                | RoomCommand::Say(_)
                | RoomCommand::Read(_)
                | RoomCommand::Comment(..)
                | RoomCommand::Threads(_)
        );
        self.apply_to_document(command, now, effects);
        if words_are_frozen && !only_tells {
            locked_ranges::update_lock_reasons(self, effects);
        }
    }

    fn apply_to_document(
        &mut self,
        command: RoomCommand,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        match command {
            RoomCommand::Leave(member) => self.leave(&member, now, effects),
            RoomCommand::Move(member, caret) => self.place(&member, caret, effects),
            RoomCommand::EndPreviews(scope) => streaming_previews::end(self, &scope, effects),
            RoomCommand::TellFile(news) => file::queue_file_event(self, *news, effects),
            RoomCommand::Merge(merge, reply) => {
                let result = file::merge(self, *merge, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::People(_)
            | RoomCommand::Read(_)
            | RoomCommand::Requests(_)
            | RoomCommand::Rules(_)
            | RoomCommand::ReportDecision(..)
            | RoomCommand::Threads(_) => self.answer(command, now, effects),
            RoomCommand::Say(said) => effects.then(RoomEffect::Say(said)),
            RoomCommand::Comment(command, reply) => {
                let result = comments::apply(self, command, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Suggest(update, reply) => {
                let result = suggestions::update(self, &update, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::ForgetPerson(person, reply) => {
                person_deletion::forget(self, &person, now, effects);
                effects.answer(reply, Ok(()));
            }
            RoomCommand::AddRule(new, by, reply) => {
                let result = rules::add(self, *new, &by, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Revoke(rule, by, reply) => {
                let result = rules::revoke(self, &rule, &by, now, effects);
                effects.answer(reply, result);
            }
            // Only simulations get here (`rooms::simulated_room`); the actor pushes by itself,
            // because a long push goes to the pool.
            RoomCommand::Push(push, reply) => {
                let result = self.push(&push, REBASING, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Rename(..)
            | RoomCommand::Configure(..)
            | RoomCommand::TellSettings(..)
            | RoomCommand::Delete(..)
            | RoomCommand::Recover(..)
            | RoomCommand::Replace(..)
            | RoomCommand::Restore(..) => self.administer(command, now, effects),
            RoomCommand::About(id, command, reply) => {
                let result = apply_to_request(self, &id, command, now, effects);
                effects.answer(reply, result);
            }
            // The actor handles these, with what it fetched for them.
            RoomCommand::Open(..)
            | RoomCommand::Propose(..)
            | RoomCommand::ShowPreview(..)
            | RoomCommand::CatchUp(..)
            | RoomCommand::Await(..)
            | RoomCommand::Witness(..)
            | RoomCommand::Recount
            | RoomCommand::HandOver => {}
        }
    }

    /// Answers a command that only reads.
    fn answer(&self, command: RoomCommand, now: &ApplyContext, effects: &mut RoomEffects) {
        match command {
            RoomCommand::People(reply) => effects.answer(reply, Ok(self.presence.peers().to_vec())),
            RoomCommand::Read(reply) => {
                effects.answer(reply, self.exists().map(|()| self.reading(now)));
            }
            RoomCommand::Requests(reply) => {
                effects.answer(reply, Ok(self.open.values().cloned().collect()));
            }
            RoomCommand::Rules(reply) => {
                let rules = self.exists().map(|()| self.rules.values().cloned().collect());
                effects.answer(reply, rules);
            }
            RoomCommand::ReportDecision(untaken, reply) => {
                effects.answer(reply, decisions::report(self, &untaken, now));
            }
            RoomCommand::Threads(reply) => effects.answer(reply, self.thread_list()),
            _ => {}
        }
    }

    pub(crate) fn leave(
        &mut self,
        member: &MemberId,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        effects.then(RoomEffect::Leave(member.clone()));
        self.presence.leave(member);
        self.announce_peers(now.ms, effects);
        deadlines::stop_viewing_all(self, member, now, effects);
    }

    /// Announces who came, changed and left, as far as that is due.
    pub(crate) fn announce_peers(&mut self, now_ms: u64, effects: &mut RoomEffects) {
        for PeerAnnouncement { event, except } in self.presence.announcements(now_ms) {
            match except {
                Some(member) => effects.then(RoomEffect::TellOthers(member, event)),
                None => effects.queue_event(event),
            }
        }
    }

    fn place(&mut self, member: &MemberId, caret: CaretPosition, effects: &mut RoomEffects) {
        let version = self.version();
        if self.presence.place(member, caret, version, self.document.text()) {
            effects.then(RoomEffect::TellOthers(
                member.clone(),
                RoomEvent::Caret(member.clone(), caret),
            ));
        }
    }
}

fn apply_to_request(
    state: &mut RoomState,
    id: &RequestId,
    command: RequestCommand,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    use RequestCommand as Command;
    match command {
        Command::Decide(decision, by) => decisions::decide(state, id, &decision, &by, now, effects),
        Command::Split(hunk, by) => decisions::split(state, id, &hunk, &by, now, effects),
        Command::Defer(hunk, on, by) => decisions::defer(state, id, &hunk, on, &by, now, effects),
        Command::Withdraw(by) => decisions::withdraw(state, id, by.as_ref(), now, effects),
        Command::Focus(member, focus) => deadlines::look(state, id, &member, focus, now, effects),
        Command::Extend(by) => deadlines::extend(state, id, &by, now, effects),
        Command::MoveDeadline(deadline_ms) => {
            deadlines::move_deadline(state, id, deadline_ms, now, effects)
        }
        Command::Undo(wish, by) => undo::undo(state, &wish, &by, now, effects),
        Command::Reopen(wish, by) => undo::reopen(state, &wish, &by, now, effects),
        Command::RefreshPreview(fresh) => {
            workspace_inbox::refresh_preview(state, id, *fresh, now, effects)
        }
        Command::Begin => workspace_inbox::begin(state, id, now, effects),
        Command::Done(report) => workspace_inbox::done(state, id, report, now, effects),
        Command::BeginUndo(undoing, by) => inbox_undo::begin(state, *undoing, &by, now, effects),
        Command::EndUndo(reversed) => inbox_undo::end(state, id, &reversed, now, effects),
        Command::Repeated(again, by) => inbox_undo::repeated(state, id, again, &by, now, effects),
    }
}
