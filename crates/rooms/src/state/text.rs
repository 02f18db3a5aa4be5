//! Changes of the text: updates of clients, changes made by the server, and all positions that move
//! with the text. No input or output.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use copydesk_document::{
    ChangeLimits, ChangeSet, IncomingUpdate, PushError, RebaseBudget, Text, Update,
};
use copydesk_failpoint as failpoint;
use copydesk_ids::{ClientId, HunkId, RequestId, UserId, Version};
use copydesk_store::{StoreOp, UpdateRecord};

use super::{comments, locked_ranges, requests};
use crate::actor::room_effects::RoomEffects;
use crate::command::PushRequest;
use crate::event::RoomEvent;
use crate::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::{RoomError, RoomResult};

/// Length of the longest text of a document, in UTF-16 code units.
const LONGEST_TEXT: usize = 8 * 1024 * 1024;
/// Limits of one push, for all its updates together.
pub(crate) const PUSH_LIMITS: ChangeLimits =
    ChangeLimits { max_sections: 100_000, max_inserted: LONGEST_TEXT, max_length: LONGEST_TEXT };
/// Largest number of updates of one push: fewer than the log at hand holds, so that all updates of
/// a push are still in it afterwards.
const MOST_UPDATES: usize = 5_000;
/// Largest number of editor instances of one push; a client is one, and continues at most a few
/// earlier ones after a reconnect.
pub(crate) const MOST_CLIENTS: usize = 32;
/// Number of editor instances whose owners a room remembers; of others it asks the store.
const KNOWN_CLIENTS: usize = 4_096;
/// Cost of rebasing one push at most: some 0.1 s. Beyond it the client must catch up first and move
/// its updates itself, which costs the room nothing.
pub(crate) const REBASING: RebaseBudget = RebaseBudget { steps: 10_000_000 };
/// Number of updates after which a snapshot is stored, so that loading replays few.
const SNAPSHOT_UPDATES: usize = 2_000;
/// Bytes of updates after which a snapshot is stored, so that loading replays few.
const SNAPSHOT_BYTES: usize = 8 * 1024 * 1024;

type TouchedHunks = BTreeMap<RequestId, Vec<HunkId>>;

/// Refuses a text that is too long; `len` is in UTF-16 code units.
pub(crate) fn check_length(len: usize) -> RoomResult<()> {
    if len > LONGEST_TEXT {
        let reason = format!("the text has {len} UTF-16 units; a document may have {LONGEST_TEXT}");
        return Err(RoomError::Invalid(reason));
    }
    Ok(())
}

impl RoomState {
    /// Commits updates of a client; returns the version after them.
    ///
    /// # Errors
    /// [`RoomError::TooCostly`], with nothing changed, if moving the updates to the newest version
    /// costs more than `budget`.
    pub(crate) fn push(
        &mut self,
        push: &PushRequest,
        budget: RebaseBudget,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> RoomResult<Version> {
        self.exists()?;
        self.check_clients(push)?;
        if push.updates.len() > MOST_UPDATES {
            let reason = format!("a push has at most {MOST_UPDATES} updates");
            return Err(RoomError::Invalid(reason));
        }
        let from = self.version();
        // A clone makes the next change of the text copy what both share, so it is avoided.
        let replayed = self.has_positions() && push.updates.len() > 1;
        let before = replayed.then(|| self.document.text().clone());
        let incoming: Vec<_> = push
            .updates
            .iter()
            .map(|(client, changes)| IncomingUpdate { client, changes })
            .collect();
        let committed =
            self.document.push(push.base, &incoming, &PUSH_LIMITS, budget).map_err(push_error)?;
        let updates: Vec<_> = committed.map(Arc::new).collect();
        self.claim_clients(push, now.ms, effects);
        if updates.is_empty() {
            // All updates had been committed before; only the answer to their author was lost.
            return Ok(self.version());
        }
        self.keep(from, &updates, &push.principal.user, now, effects);
        let touched = self.follow_all(before, from, &updates, now);
        let (drop, put) = (Vec::new(), Vec::new());
        effects.queue_event(RoomEvent::Updates { room: self.number, from, updates, drop, put });
        self.notify_touched(touched, now, effects);
        failpoint::pass("room.pushed");
        Ok(self.version())
    }

    /// Commits updates as [`Self::push`] does, and updates the reasons of hunks on frozen words.
    pub(crate) fn push_and_tell(
        &mut self,
        push: &PushRequest,
        budget: RebaseBudget,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> RoomResult<Version> {
        let pushed = self.push(push, budget, now, effects);
        if !self.own.frozen.is_empty() {
            locked_ranges::update_lock_reasons(self, effects);
        }
        pushed
    }

    pub(crate) fn knows_client(&self, client: &ClientId) -> bool {
        self.clients.contains_key(client)
    }

    /// Remembers the owner of an editor instance, as the store has it; `None`: not claimed yet.
    pub(crate) fn remember_client(&mut self, client: ClientId, owner: Option<UserId>) {
        self.clients.insert(client, owner);
    }

    /// Forgets the owners of editor instances when they are too many; the store has them. All
    /// claims must be stored.
    pub(crate) fn forget_clients(&mut self) {
        if self.clients.len() > KNOWN_CLIENTS {
            self.clients.clear();
        }
    }

    fn check_clients(&self, push: &PushRequest) -> RoomResult<()> {
        let clients: HashSet<_> = push.updates.iter().map(|(client, _)| client).collect();
        if clients.len() > MOST_CLIENTS {
            let reason = format!("the updates of a push have at most {MOST_CLIENTS} clientIDs");
            return Err(RoomError::Invalid(reason));
        }
        let foreign = |owner: &UserId| !push.principal.is(owner);
        let taken = clients
            .into_iter()
            .filter_map(|client| self.clients.get(client)?.as_ref())
            .any(foreign);
        if taken { Err(RoomError::ForeignClient) } else { Ok(()) }
    }

    /// Claims the editor instances of a push for its person, unless they are claimed.
    fn claim_clients(&mut self, push: &PushRequest, now_ms: u64, effects: &mut RoomEffects) {
        for (client, _) in &push.updates {
            if !matches!(self.clients.get(client), Some(Some(_))) {
                let user = push.principal.user.clone();
                self.clients.insert(client.clone(), Some(user.clone()));
                effects.keep(StoreOp::ClaimClient {
                    document: self.id().clone(),
                    client: client.clone(),
                    user,
                });
            }
            self.presence.writes_as(&push.member, client);
        }
        self.announce_peers(now_ms, effects);
    }

    /// Commits a change made by the server to the newest version, and announces it, together with
    /// the hunk changes that belong to it. Changes nothing if it is refused.
    pub(crate) fn apply_server_change(
        &mut self,
        change: &ChangeSet,
        author: &ChangeAuthor<'_>,
        hunks: HunkChanges,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) -> RoomResult<()> {
        if change.new_len() > change.len() {
            check_length(change.new_len())?;
        }
        let from = self.version();
        let origin = author.origin.map(RequestId::as_str);
        let committed = self.document.commit(change, &author.client, origin);
        let update =
            committed.map_err(|source| RoomError::BadUpdate { index: 0, source }).map(Arc::new)?;
        let updates = vec![update];
        self.keep(from, &updates, author.user, now, effects);
        if let Some(placements) = &author.placements {
            effects.keep(StoreOp::PutPlacements {
                document: self.id().clone(),
                version: from.next(),
                // Placements hold names and numbers: nothing that cannot be serialised.
                body: serde_json::to_value(placements).unwrap_or_default(),
            });
        }
        let HunkChanges { drop, put } = hunks;
        effects.queue_event(RoomEvent::Updates { room: self.number, from, updates, drop, put });
        let mut touched = TouchedHunks::new();
        let after = self.document.text().clone();
        self.follow(change, &after, author.origin, now, &mut touched);
        self.threads.follow(change, &after, origin, &author.moves);
        self.threads.keep_moved(&author.moves, effects);
        self.notify_touched(touched, now, effects);
        Ok(())
    }

    fn keep(
        &mut self,
        from: Version,
        updates: &[Arc<Update>],
        author: &UserId,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        let records = updates.iter().map(|update| UpdateRecord {
            client: update.client.clone(),
            changes: update.changes.clone(),
            author: author.clone(),
            at_ms: now.ms,
            origin: update.origin.clone(),
        });
        effects.append(&self.record.id, from, records);
        self.record.updated_ms = now.ms;
        for update in updates {
            self.unsnapshotted.add(update);
        }
    }

    fn has_positions(&self) -> bool {
        !self.open.is_empty()
            || !self.streaming_previews.is_empty()
            || !self.own.frozen.is_empty()
            || !self.threads.is_empty()
            || self.presence.caret_count() > 0
    }

    /// Moves all positions over updates that were just committed. `before` is the text before them;
    /// for a single update it is not needed.
    fn follow_all(
        &mut self,
        before: Option<Text>,
        from: Version,
        updates: &[Arc<Update>],
        now: &ApplyContext,
    ) -> TouchedHunks {
        let mut touched = TouchedHunks::new();
        if !self.has_positions() {
            return touched;
        }
        debug_assert_eq!(from.plus(updates.len()), self.version(), "nothing came between");
        let only_one = updates.len() == 1;
        let mut text = before.filter(|_| !only_one).unwrap_or_else(|| self.document.text().clone());
        for update in updates {
            // The document has just read and applied these bytes, so neither fails.
            let Ok(change) = update.change_set() else { continue };
            if !only_one && change.apply(&mut text).is_err() {
                continue;
            }
            self.follow(&change, &text, None, now, &mut touched);
            self.threads.follow(&change, &text, None, &[]);
        }
        touched
    }

    fn follow(
        &mut self,
        change: &ChangeSet,
        after: &Text,
        except: Option<&RequestId>,
        now: &ApplyContext,
        touched: &mut TouchedHunks,
    ) {
        self.presence.map(change);
        self.own.follow(change);
        self.streaming_previews.follow(change, after);
        for (id, request) in self.open.iter_mut().filter(|(id, _)| Some(*id) != except) {
            let request = Arc::make_mut(request);
            let mut changed = requests::advance(request, change, after, now.ms);
            if except.is_some() {
                // Another request may have proposed an equal change.
                changed.extend(request.close_duplicates(change, after, now.ms));
            }
            if !changed.is_empty() {
                touched.entry(id.clone()).or_default().extend(changed);
            }
        }
    }

    /// Announces the new state of requests and threads once, however many updates touched them.
    fn notify_touched(
        &mut self,
        touched: TouchedHunks,
        now: &ApplyContext,
        effects: &mut RoomEffects,
    ) {
        for (id, mut changed) in touched {
            let Some(request) = self.open.get(&id).cloned() else { continue };
            changed.sort_unstable();
            changed.dedup();
            let hunks = request.hunks_named(&changed);
            let done = hunks.iter().filter(|hunk| hunk.is_already_there());
            let done: Vec<HunkId> = done.map(|hunk| hunk.id.clone()).collect();
            if !request.status.is_open() || !done.is_empty() {
                // It has nothing left to decide, or less than a load from the text alone would
                // show.
                requests::place(self, Arc::clone(&request), effects);
            }
            let put = requests::put(&request, &done);
            requests::queue_hunk_changes(self, HunkChanges { drop: Vec::new(), put }, effects);
            requests::queue_request_event(self, &request, &changed, None, now, effects);
        }
        comments::announce_moved(self, effects);
    }

    pub(crate) fn snapshot_is_due(&self) -> bool {
        let since = self.unsnapshotted;
        !self.is_deleted() && (since.updates >= SNAPSHOT_UPDATES || since.bytes >= SNAPSHOT_BYTES)
    }

    /// Stores the text as it is now, and with it all stored positions, so that loading never has to
    /// reach further back.
    pub(crate) fn snapshot(&mut self, effects: &mut RoomEffects) {
        if self.unsnapshotted.updates == 0 || self.is_deleted() {
            return;
        }
        let since = std::mem::take(&mut self.unsnapshotted);
        effects.keep(StoreOp::PutSnapshot {
            document: self.id().clone(),
            version: self.version(),
            text: self.document.text().to_string(),
            replayed_bytes: since.bytes as u64,
            permanent: false,
        });
        for request in self.open.values() {
            effects.keep(requests::record(request));
        }
        self.threads.keep_all(effects);
        if !self.own.frozen.is_empty() {
            self.record.settings = self.settings_as_kept();
            effects.keep(StoreOp::PutDocument(self.record.clone()));
        }
        failpoint::pass("room.snapshot");
    }
}

fn push_error(error: PushError) -> RoomError {
    match error {
        PushError::Ahead { base, version } => RoomError::Ahead { asked: base, newest: version },
        // The client asks for the updates it missed and sends its own again on top of them.
        PushError::TooOld { .. } | PushError::NotTheSame { .. } => RoomError::Resync,
        PushError::TooCostly { .. } => RoomError::TooCostly,
        PushError::Invalid { index, source } => RoomError::BadUpdate { index, source },
        PushError::TooMany { .. } => RoomError::Invalid(error.to_string()),
    }
}
