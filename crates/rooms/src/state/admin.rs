//! Administration of a document: title, settings, deletion, recovery, and text of private
//! documents.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{ApprovalRequest, ToolPolicy};
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, Version};
use copydesk_store::StoreOp;

use super::text::check_length;
use super::{decisions, locked_ranges, requests, text_restore};
use crate::actor::room_effects::RoomEffects;
use crate::command::{DocumentSnapshot, RoomCommand, SettingsChange};
use crate::event::{DocumentChange, RoomEvent};
use crate::settings::model_access::ModelAccess;
use crate::settings::{DocumentSettings, LONGEST_TOOL};
use crate::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::title::{LONGEST_TITLE, stored_title};
use crate::{RoomError, settings};

/// Largest number of frozen ranges of a document.
const MOST_FROZEN: usize = 1_000;
/// Largest number of policies for tools and sizes of a document.
const MOST_POLICIES: usize = 50;

impl RoomState {
    pub(crate) fn administer(
        &mut self,
        command: RoomCommand,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        match command {
            RoomCommand::Rename(wanted, by, reply) => {
                let result = self.rename(&wanted, &by, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Configure(configure, by, reply) => {
                let result = self.configure(*configure, &by, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::TellSettings(reply) => {
                effects.queue_event(RoomEvent::Changed(DocumentChange::Settings(
                    self.in_force(now),
                    self.version(),
                )));
                effects.answer(reply, Ok(()));
            }
            RoomCommand::Delete(by, reply) => {
                let result = self.delete(&by, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Recover(by, reply) => {
                self.recover(&by, now, effects);
                effects.answer(reply, Ok(()));
            }
            RoomCommand::Replace(text, by, reply) => {
                let result = self.replace(&text, &by, now, effects);
                effects.answer(reply, result);
            }
            RoomCommand::Restore(wanted, by, reply) => {
                let result = text_restore::restore(self, &wanted, &by, now, effects);
                effects.answer(reply, result);
            }
            _ => {}
        }
    }

    fn rename(
        &mut self,
        wanted: &str,
        by: &Principal,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> Result<(), RoomError> {
        self.exists()?;
        let fits = wanted.trim().chars().count() <= LONGEST_TITLE;
        let title = stored_title(wanted)
            .filter(|_| fits)
            .ok_or_else(|| RoomError::Invalid("a title has 1 to 200 characters".to_owned()))?;
        self.record.title.clone_from(&title);
        self.record.updated_ms = now.ms;
        effects.keep(StoreOp::PutDocument(self.record.clone()));
        let detail = json!({ "title": title });
        effects.keep(self.audit("document.rename", by.user.as_str(), None, detail, now));
        effects.queue_event(RoomEvent::Changed(DocumentChange::Title(title)));
        Ok(())
    }

    pub(crate) fn configure(
        &mut self,
        configure: SettingsChange,
        by: &Principal,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> Result<DocumentSettings, RoomError> {
        self.exists()?;
        let SettingsChange { own, frozen } = configure;
        check_policies(own.policies.as_deref().unwrap_or_default())?;
        if let Some(fault) = own.models.as_ref().and_then(ModelAccess::fault) {
            return Err(RoomError::Invalid(fault));
        }
        let frozen = frozen.map(|(version, ranges)| self.freeze(version, ranges)).transpose()?;
        self.own.policy = own.policy.or(self.own.policy);
        self.own.policies = own.policies.or(self.own.policies.take());
        self.own.approvals = own.approvals.or(self.own.approvals);
        self.own.timeout_ms = own.timeout_ms.or(self.own.timeout_ms);
        self.own.models = own.models.or(self.own.models.take());
        if let Some(frozen) = frozen {
            self.own.frozen = frozen;
        }
        self.record.settings = self.settings_as_kept();
        self.record.updated_ms = now.ms;
        effects.keep(StoreOp::PutDocument(self.record.clone()));
        let detail = self.record.settings.clone();
        effects.keep(self.audit("document.configure", by.user.as_str(), None, detail, now));
        let settings = self.in_force(now);
        effects.queue_event(RoomEvent::Changed(DocumentChange::Settings(
            settings.clone(),
            self.version(),
        )));
        locked_ranges::update_lock_reasons(self, effects);
        self.apply_policies(&settings, by, now, effects);
        Ok(settings)
    }

    /// Applies the policies in force to open requests: the policy at the time of a decision counts.
    fn apply_policies(
        &mut self,
        settings: &DocumentSettings,
        by: &Principal,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        let requirements = self.requirements(settings, now);
        let other =
            |request: &&Arc<ApprovalRequest>| request.judge(&requirements) != request.judged();
        let others: Vec<_> = self.open.values().filter(other).cloned().collect();
        let follow = |mut request: Arc<ApprovalRequest>| {
            let before = Arc::clone(&request);
            Arc::make_mut(&mut request).follow_policy(&requirements);
            let changed = request.voted_otherwise(&before);
            (request, changed)
        };
        let others: Vec<_> = others.into_iter().map(follow).collect();
        for (request, changed) in others {
            requests::place(self, Arc::clone(&request), effects);
            requests::queue_request_event(self, &request, &changed, Some(by), now, effects);
        }
    }

    /// Returns the settings with the version their ranges are of, so that loading can map them.
    pub(crate) fn settings_as_kept(&self) -> serde_json::Value {
        json!({ "own": self.own, "version": self.document.version() })
    }

    fn freeze(
        &self,
        version: Version,
        mut ranges: Vec<(usize, usize)>,
    ) -> Result<Vec<(usize, usize)>, RoomError> {
        if version > self.version() {
            return Err(RoomError::Ahead { asked: version, newest: self.version() });
        }
        if ranges.len() > MOST_FROZEN || ranges.iter().any(|(from, to)| from >= to) {
            return Err(not_frozen());
        }
        for update in self.document.since(version).ok_or(RoomError::Resync)? {
            let change = update.change_set();
            let change = change.map_err(|source| RoomError::BadUpdate { index: 0, source })?;
            if ranges.iter().any(|(_, to)| *to > change.len()) {
                return Err(not_frozen());
            }
            settings::follow(&mut ranges, &change);
        }
        let text = self.document.text();
        if !ranges.iter().all(|(from, to)| text.is_boundary(*from) && text.is_boundary(*to)) {
            return Err(not_frozen());
        }
        ranges.sort_unstable();
        Ok(ranges)
    }

    fn delete(
        &mut self,
        by: &Principal,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> Result<(), RoomError> {
        self.exists()?;
        decisions::end_all(self, by, now, effects);
        self.record.deleted = true;
        self.record.updated_ms = now.ms;
        effects.keep(StoreOp::PutDocument(self.record.clone()));
        effects.keep(self.audit("document.delete", by.user.as_str(), None, json!({}), now));
        effects.queue_event(RoomEvent::Changed(DocumentChange::Deleted));
        Ok(())
    }

    fn recover(&mut self, by: &Principal, now: &ApplyContext, effects: &mut RoomEffects) {
        if !self.is_deleted() {
            return;
        }
        self.record.deleted = false;
        self.record.updated_ms = now.ms;
        effects.keep(StoreOp::PutDocument(self.record.clone()));
        effects.keep(self.audit("document.recover", by.user.as_str(), None, json!({}), now));
    }

    /// Replaces the text of a private document by the smallest single edit.
    fn replace(
        &mut self,
        wanted: &str,
        by: &Principal,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> Result<DocumentSnapshot, RoomError> {
        self.exists()?;
        if self.unlisted_owner().is_none() {
            return Err(RoomError::Invalid("people write this document themselves".to_owned()));
        }
        let wanted = Text::new(wanted);
        check_length(wanted.len())?;
        if let Some(edit) = replacement(&self.document.text().to_string(), &wanted.to_string()) {
            let changes = ChangeSet::of(self.document.text().len(), &[edit])
                .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
            let author = ChangeAuthor {
                moves: Vec::new(),
                client: ClientId::from("ai:context"),
                user: &by.user,
                origin: None,
                placements: None,
            };
            self.apply_server_change(&changes, &author, HunkChanges::default(), now, effects)?;
        }
        Ok(self.reading(now))
    }
}

fn check_policies(policies: &[ToolPolicy]) -> Result<(), RoomError> {
    let is_named = |policy: &ToolPolicy| {
        policy.tool.as_ref().is_none_or(|tool| (1..=LONGEST_TOOL).contains(&tool.len()))
    };
    let has_kinds = |it: &ToolPolicy| it.marks.as_ref().is_none_or(|kinds| !kinds.is_empty());
    let are_valid = policies.iter().all(|policy| is_named(policy) && has_kinds(policy));
    if policies.len() > MOST_POLICIES || !are_valid {
        let reason = format!(
            "`policies` are at most {MOST_POLICIES}, a tool's name has 1 to {LONGEST_TOOL} characters, and `marks` has a kind"
        );
        return Err(RoomError::Invalid(reason));
    }
    Ok(())
}

fn not_frozen() -> RoomError {
    RoomError::Invalid(format!(
        "frozen ranges are up to {MOST_FROZEN} places in the text, from before to"
    ))
}

/// Returns the edit without the common start and end of two texts; `None` if they are equal.
fn replacement(old: &str, new: &str) -> Option<TextEdit> {
    if old == new {
        return None;
    }
    let head: usize =
        old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let tail: usize = old[head..]
        .chars()
        .rev()
        .zip(new[head..].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let units = |text: &str| text.encode_utf16().count();
    Some(TextEdit {
        from: units(&old[..head]),
        to: units(&old[..old.len() - tail]),
        insert: new[head..new.len() - tail].to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_as_small_as_it_can_be() {
        let edit = |from, to, insert: &str| Some(TextEdit { from, to, insert: insert.to_owned() });
        assert_eq!(replacement("same", "same"), None);
        assert_eq!(replacement("one two three", "one 2 three"), edit(4, 7, "2"));
        assert_eq!(replacement("", "new"), edit(0, 0, "new"));
        assert_eq!(replacement("aaa", "aa"), edit(2, 3, ""));
    }

    #[test]
    fn a_replacement_never_splits_a_surrogate_pair() {
        // Both emoji share their first UTF-16 unit.
        let edit = TextEdit { from: 1, to: 3, insert: "😁".to_owned() };
        assert_eq!(replacement("a😀b", "a😁b"), Some(edit));
    }
}
