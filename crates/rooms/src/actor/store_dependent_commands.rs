//! Commands that need something of the store besides the state: missed updates, requests that have
//! ended, people who may decide now, sessions that are over, the end of a rule.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, ApprovalRule};
use copydesk_auth as auth;
use copydesk_document::Update;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, RequestId, RuleId, Version};

use super::room_effects::RoomEffects;
use crate::actor::RoomActor;
use crate::command::{
    NewApprovalRequest, OriginRequests, PositionsOf, ProposalOutcome, ReplySender, RequestCommand,
    ResolvedRequest, RoomCommand, SettingsChange, SnapshotWithUpdates, SuggestionUpdate,
};
use crate::event::StreamingPreview;
use crate::persistence::{history, loading, restore};
use crate::settings::DocumentSettings;
use crate::state::{RoomState, proposals, requests, rules, streaming_previews, suggestions, votes};
use crate::work_size::is_long_arrival;
use crate::{RoomError, RoomResult};

/// Number of requests that are named as the causes of missed updates.
const MOST_CAUSES: usize = 64;

impl RoomActor {
    /// Holds a change for people to decide, or lets a rule decide it whose maker may still decide.
    pub async fn propose(
        &mut self,
        new: NewApprovalRequest,
        effects: &mut RoomEffects,
    ) -> RoomResult<ProposalOutcome> {
        let older = self.older(new.action.base_version, effects).await?;
        let people = if self.state.rules.is_empty() {
            Vec::new()
        } else {
            self.end_rules_of_old_sessions(effects).await?;
            // Permissions may have been taken away since the rules were made, or this run began.
            auth::holders(&self.shared.store, self.now().ms).await?
        };
        let now = self.now();
        let behind = self.state.version().0.saturating_sub(new.action.base_version.0);
        if !is_long_arrival(new.hunks.len(), behind) {
            return proposals::propose(&mut self.state, new, older, &people, &now, effects);
        }
        let person = new.requester.user.to_string();
        let work = move |state: &mut RoomState, effects: &mut RoomEffects| {
            proposals::propose(state, new, older, &people, &now, effects)
        };
        self.run_on_pool(&person, effects, work).await?
    }

    pub async fn streaming_preview(
        &mut self,
        streaming_preview: StreamingPreview,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        let older = self.older(streaming_preview.base_version, effects).await?;
        let behind = self.state.version().0.saturating_sub(streaming_preview.base_version.0);
        if !is_long_arrival(streaming_preview.hunks.len(), behind) {
            return streaming_previews::show(&mut self.state, streaming_preview, older, effects);
        }
        let room = self.state.id().to_string();
        let work = move |state: &mut RoomState, effects: &mut RoomEffects| {
            streaming_previews::show(state, streaming_preview, older, effects)
        };
        self.run_on_pool(&room, effects, work).await?
    }

    /// Makes sure that the state has the request a command is about, if there is one.
    pub async fn ensure_request_loaded(
        &mut self,
        id: &RequestId,
        positions: PositionsOf,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        if self.state.open.contains_key(id) {
            return Ok(());
        }
        let known = self.state.request(id).cloned();
        if known.is_some() && positions == PositionsOf::AsTheyWere {
            return Ok(());
        }
        // Mapping the request reads the log from the store, so all of it must be there.
        if positions == PositionsOf::OfToday {
            self.flush(effects).await?;
        }
        let found = match known {
            Some(known) => Ok(Arc::unwrap_or_clone(known)),
            None => loading::request(&self.shared.store, &self.state, id).await,
        };
        let mut found = match found {
            Ok(found) => found,
            // The state refuses the command itself, or creates the request.
            Err(RoomError::NoRequest) => return Ok(()),
            Err(error) => return Err(error),
        };
        if positions == PositionsOf::OfToday {
            found = loading::caught_up(&self.shared.store, &self.state, found).await?;
        }
        self.state.remember(Arc::new(found));
        Ok(())
    }

    pub async fn register(
        &mut self,
        request: RequestId,
        reply: ReplySender<ResolvedRequest>,
        effects: &mut RoomEffects,
    ) {
        if self.state.open.contains_key(&request) {
            self.waiters.entry(request).or_default().push(reply);
            return;
        }
        let found = match self.state.request(&request) {
            Some(known) => Ok(Arc::clone(known)),
            None => loading::request(&self.shared.store, &self.state, &request).await.map(Arc::new),
        };
        let settled = found.and_then(|request| {
            requests::settled(&self.state, &request, &self.now()).ok_or(RoomError::NoRequest)
        });
        effects.answer(reply, settled);
    }

    pub async fn recognise(&mut self, clients: Vec<ClientId>) -> RoomResult<()> {
        if clients.is_empty() {
            return Ok(());
        }
        let mut owners = self.shared.store.client_owners(self.state.id(), &clients).await?;
        for client in clients {
            let owner = owners.remove(&client);
            self.state.remember_client(client, owner);
        }
        Ok(())
    }

    /// Returns `true` if votes that were cast earlier matter to a command.
    pub fn counts_votes(&self, command: &RoomCommand) -> bool {
        match command {
            RoomCommand::About(id, RequestCommand::Decide(..), _) => {
                votes::any_vote(&self.state, id)
            }
            RoomCommand::ReportDecision(untaken, _) => {
                votes::any_vote(&self.state, &untaken.request)
            }
            RoomCommand::Recount => self.has_votes() || suggestions::any_live(&self.state),
            _ => false,
        }
    }

    /// Takes back the votes of people who may no longer decide, and of rules that have ended. This
    /// is checked again when the votes are needed, and when a token ends.
    pub async fn recount(&mut self, effects: &mut RoomEffects) -> RoomResult<()> {
        self.end_rules_of_old_sessions(effects).await?;
        let now = self.now();
        let people = auth::holders(&self.shared.store, now.ms).await?;
        votes::recount(&mut self.state, &people, &now, effects);
        suggestions::end_lost(&mut self.state, &people, &now, effects);
        Ok(())
    }

    fn has_votes(&self) -> bool {
        self.state.open.keys().any(|id| votes::any_vote(&self.state, id))
    }

    /// Changes the settings, and takes back the votes of people whom a new policy excludes.
    pub async fn configure(
        &mut self,
        configure: SettingsChange,
        by: &Principal,
        effects: &mut RoomEffects,
    ) -> RoomResult<DocumentSettings> {
        if let Some((version, _)) = &configure.frozen {
            self.extend_log(*version, effects).await?;
        }
        let settings = self.state.configure(configure, by, &self.now(), effects)?;
        if self.has_votes() {
            // If the votes cannot be checked now, they are with the next decision.
            self.recount(effects).await.ok();
        }
        Ok(settings)
    }

    pub async fn older(
        &mut self,
        since: Version,
        effects: &mut RoomEffects,
    ) -> RoomResult<Option<Vec<Arc<Update>>>> {
        if since < self.state.document.tail_start() {
            self.flush(effects).await?;
        }
        loading::older(&self.shared.store, &self.state, since).await
    }

    /// Lets the log at hand reach back to a version, as that of a room that was never closed does.
    pub async fn extend_log(
        &mut self,
        since: Version,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        if since >= self.state.document.tail_start() {
            return Ok(());
        }
        self.flush(effects).await?;
        loading::extend_log(&self.shared.store, &mut self.state, since).await
    }

    /// Reads what a suggestion of an older version needs: the updates since, and the text of that
    /// version if others may have changed its words.
    pub async fn read_base(
        &mut self,
        update: &mut SuggestionUpdate,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        self.extend_log(update.version, effects).await?;
        if suggestions::is_overtaken(&self.state, update) {
            self.flush(effects).await?;
            let (store, id, person) = (&self.shared.store, self.state.id(), &update.by.user);
            let base = history::text_at(store, id, update.version, person.as_str()).await?;
            update.base = Some(base);
        }
        Ok(())
    }

    /// Returns the document with its missed updates and, if wanted, the requests that caused them.
    pub async fn catch_up(
        &mut self,
        missed: RoomResult<Vec<Arc<Update>>>,
        wanted: OriginRequests,
    ) -> RoomResult<SnapshotWithUpdates> {
        let missed = missed?;
        let mut causes: Vec<Arc<ApprovalRequest>> = Vec::new();
        let asked_about = missed.iter().rev().filter(|_| wanted == OriginRequests::Named);
        for origin in asked_about.filter_map(|update| update.origin.as_deref()) {
            let id = RequestId::from(origin);
            if causes.len() == MOST_CAUSES || causes.iter().any(|known| *known.id() == id) {
                continue;
            }
            let cause = match self.state.request(&id) {
                Some(known) => Ok(Arc::clone(known)),
                None => loading::request(&self.shared.store, &self.state, &id).await.map(Arc::new),
            };
            match cause {
                Ok(cause) => causes.push(cause),
                // The document was created by a request of the workspace inbox.
                Err(RoomError::NoRequest) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(SnapshotWithUpdates { now: self.state.reading(&self.now()), missed, causes })
    }

    /// Ends the rules whose session can no longer be continued.
    pub async fn end_rules_of_old_sessions(&mut self, effects: &mut RoomEffects) -> RoomResult<()> {
        let now = self.now();
        let for_sessions = self.state.rules.values().filter(|rule| rules::is_for_session(rule));
        let mut sessions: Vec<_> = for_sessions.map(|rule| rule.session.clone()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let over = loading::sessions_over(&self.shared.store, sessions, now.ms).await?;
        rules::end_with_sessions(&mut self.state, &over, &now, effects);
        Ok(())
    }

    pub async fn check_in_force(
        &mut self,
        id: &RuleId,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        if self.state.rules.contains_key(id) {
            return Ok(());
        }
        // The rule may have ended in this very batch.
        self.flush(effects).await?;
        let record = self.shared.store.rule(id).await?;
        let record = record.filter(|record| record.document == self.state.about());
        let ApprovalRule { ended, .. } = restore::rule(record.ok_or(RoomError::NoRule)?)?;
        Err(ended.map_or(RoomError::NoRule, RoomError::RuleEnded))
    }
}
