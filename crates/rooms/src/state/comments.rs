//! Threads of comments in a room: how they begin, change, move with the text, and are announced. No
//! input or output.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use copydesk_approvals::{ApprovalRequest, CallOrigin, DeletedPerson, Hunk, HunkPart, HunkStatus};
use copydesk_comments::{
    AnchorMove, AnchorUpdate, CommentAnchor, CommentError, CommentThread, CommentedChange,
    LONGEST_QUOTE, MOST_OF_A_RUN, MOST_OPEN_THREADS, MOST_THREADS, MovedPassage, PartOfAi,
    ThreadPlace, ThreadProposal, ThreadStatus,
};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{CommentId, DocumentId, HunkId, RequestId, RunId, ThreadId, Version};
use copydesk_store::{StoreOp, ThreadAnchor, ThreadRecord};

use crate::actor::room_effects::RoomEffects;
use crate::command::{AiAnswer, CommentCommand, NewThread, ThreadSnapshot};
use crate::event::RoomEvent;
use crate::state::{ApplyContext, RoomState};
use crate::{RoomError, RoomResult};

/// Threads of a document, each at the document's version.
#[derive(Default)]
pub(crate) struct RoomThreads {
    pub(crate) threads: BTreeMap<ThreadId, CommentThread>,
    /// Threads with a question, by the run that answers it.
    asked: BTreeMap<RunId, ThreadId>,
    /// Threads that updates have moved elsewhere, or orphaned; not announced yet.
    changed: BTreeSet<ThreadId>,
}

impl RoomThreads {
    pub(crate) fn new(threads: impl IntoIterator<Item = CommentThread>) -> Self {
        let mut found = Self::default();
        for thread in threads {
            found.index(&thread);
            found.threads.insert(thread.id.clone(), thread);
        }
        found
    }

    fn index(&mut self, thread: &CommentThread) {
        let questions = thread.content.comments.iter().filter_map(|it| it.question.as_ref());
        self.asked.extend(questions.map(|it| (it.run.clone(), thread.id.clone())));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(crate) fn all(&self) -> Vec<CommentThread> {
        self.threads.values().cloned().collect()
    }

    /// Returns the threads that are not resolved.
    pub(crate) fn unresolved(&self) -> impl Iterator<Item = &CommentThread> {
        self.threads.values().filter(|thread| thread.status() != ThreadStatus::Resolved)
    }

    /// Moves all threads over one update that led to `after`.
    pub(crate) fn follow(
        &mut self,
        change: &ChangeSet,
        after: &Text,
        origin: Option<&str>,
        moves: &[MovedPassage],
    ) {
        if self.threads.is_empty() {
            return;
        }
        let update = AnchorUpdate::new(change, after, origin, moves);
        for (id, thread) in &mut self.threads {
            if thread.follow(&update) == AnchorMove::Changed {
                self.changed.insert(id.clone());
            }
        }
    }

    /// Returns the operation that stores where these threads are.
    fn anchors<'t>(threads: impl Iterator<Item = &'t CommentThread>) -> StoreOp {
        let anchor = |thread: &CommentThread| ThreadAnchor {
            thread: thread.id.clone(),
            version: thread.version,
            anchor: thread.anchor_json(),
        };
        StoreOp::MoveThreads(threads.map(anchor).collect())
    }

    /// Stores where threads are that the last update moved, if it moved them otherwise than its
    /// change set alone says.
    pub(crate) fn keep_moved(&self, moves: &[MovedPassage], effects: &mut RoomEffects) {
        if !moves.is_empty() && !self.changed.is_empty() {
            effects.keep(Self::anchors(self.changed.iter().filter_map(|id| self.threads.get(id))));
        }
    }

    /// Stores where all threads are, so that loading never reaches further back.
    pub(crate) fn keep_all(&self, effects: &mut RoomEffects) {
        if !self.threads.is_empty() {
            effects.keep(Self::anchors(self.threads.values().filter(|it| it.anchor.is_some())));
        }
    }

    fn get_mut(&mut self, id: &ThreadId) -> Result<&mut CommentThread, CommentError> {
        self.threads.get_mut(id).ok_or(CommentError::NoThread)
    }

    fn of_comment(&mut self, comment: &CommentId) -> Result<&mut CommentThread, CommentError> {
        let thread = comment.thread().ok_or(CommentError::NoComment)?;
        self.threads.get_mut(&thread).ok_or(CommentError::NoComment)
    }

    /// Returns the thread that this call of the AI began, if it was made before.
    ///
    /// # Errors
    /// [`CommentError::TooManyOfRun`] if it was not, and the run has begun enough.
    fn of_call(&self, run: &RunId, call: &RequestId) -> Result<Option<ThreadId>, CommentError> {
        let mut count = 0;
        for thread in self.threads.values() {
            let first = thread.content.comments.first().and_then(|it| it.ai.as_ref());
            let Some(first) = first.filter(|ai| ai.run == *run) else { continue };
            if first.call.as_ref() == Some(call) {
                return Ok(Some(thread.id.clone()));
            }
            count += 1;
        }
        if count < MOST_OF_A_RUN { Ok(None) } else { Err(CommentError::TooManyOfRun) }
    }

    /// Checks that one thread more may be open, of at most `most` in all.
    fn check_count(&self, most: usize) -> Result<(), CommentError> {
        let is_full = self.len() >= most || self.unresolved().count() >= MOST_OPEN_THREADS;
        if is_full { Err(CommentError::TooManyThreads) } else { Ok(()) }
    }
}

/// Announces the threads that updates have moved elsewhere, or orphaned.
pub(crate) fn announce_moved(state: &mut RoomState, effects: &mut RoomEffects) {
    let version = state.version();
    for id in std::mem::take(&mut state.threads.changed) {
        if let Some(thread) = state.threads.threads.get(&id) {
            effects.queue_event(RoomEvent::ThreadChanged(version, Box::new(thread.clone())));
        }
    }
}

/// Applies a command about comments.
pub(crate) fn apply(
    state: &mut RoomState,
    command: CommentCommand,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<ThreadSnapshot> {
    state.exists()?;
    let mut mentioned = BTreeMap::new();
    let (id, comment, action, by) = match command {
        CommentCommand::Create(new, by) => {
            if let PartOfAi::Wrote(run, call) = &new.input.part_of_ai
                && let Some(known) = state.threads.of_call(run, call)?
            {
                return as_it_is(state, &known);
            }
            let thread = begin(state, *new, &by, now)?;
            let id = thread.id.clone();
            state.threads.threads.insert(id.clone(), thread);
            (id, None, "comment.create", by.user)
        }
        CommentCommand::Reply(id, input, by) => {
            let comment = state.threads.get_mut(&id)?.reply(input, &by, now.ms)?;
            (id, Some(comment), "comment.reply", by.user)
        }
        CommentCommand::Edit(comment, text, by) => {
            let thread = state.threads.of_comment(&comment)?;
            thread.edit(&comment, text, &by, now.ms)?;
            (thread.id.clone(), Some(comment), "comment.edit", by.user)
        }
        CommentCommand::Delete(comment, by) => {
            let document = state.id().clone();
            let overrules = by.may(Action::Overrule, Some(&document));
            let thread = state.threads.of_comment(&comment)?;
            mentioned = thread.mentioned();
            thread.delete(&comment, &by, overrules)?;
            if let Some((session, run)) = thread.asked(&comment) {
                let (session, run) = (session.clone(), run.clone());
                effects.keep(StoreOp::ForgetRun { document, session, run });
            }
            (thread.id.clone(), Some(comment), "comment.delete", by.user)
        }
        CommentCommand::Answer(AiAnswer { thread: id, run, text, reason }) => {
            let thread = state.threads.get_mut(&id)?;
            let by = thread.question(&run).map(|question| question.author.user.clone());
            let answered = thread.answer(&run, &text, reason, now.ms);
            let Some((comment, by)) = answered.zip(by) else { return as_it_is(state, &id) };
            (id, Some(comment), "comment.answer", by)
        }
        CommentCommand::Resolve(id, resolved, by) => {
            if !resolved && state.threads.get_mut(&id)?.content.resolved.is_some() {
                state.threads.check_count(usize::MAX)?;
            }
            if !state.threads.get_mut(&id)?.resolve(resolved, &by, now.ms) {
                return as_it_is(state, &id);
            }
            (id, None, if resolved { "comment.resolve" } else { "comment.reopen" }, by.user)
        }
    };
    // Without the text, which can be deleted.
    let detail = json!({ "thread": id, "comment": comment });
    effects.keep(state.audit(action, by.as_str(), None, detail, now));
    let changed = keep_and_announce(state, &id, effects)?;
    mentioned.extend(changed.thread.mentioned());
    Ok(ThreadSnapshot { mentioned: mentioned.into_keys().collect(), ..changed })
}

/// Returns a thread that a command did not change.
fn as_it_is(state: &mut RoomState, id: &ThreadId) -> RoomResult<ThreadSnapshot> {
    let version = state.version();
    let thread = state.threads.get_mut(id)?.clone();
    Ok(ThreadSnapshot { version, thread, mentioned: Vec::new() })
}

/// Notes the state of a request in the thread with the question that it answers, if there is one.
pub(crate) fn note_request(
    state: &mut RoomState,
    request: &ApprovalRequest,
    effects: &mut RoomEffects,
) {
    let CallOrigin { id, session, run, .. } = &request.proposal.origin;
    let Some(thread) = state.threads.asked.get(run).cloned() else { return };
    let Ok(known) = state.threads.get_mut(&thread) else { return };
    let accepted = request.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted);
    let (accepted, of) = (accepted.count(), request.hunks.len());
    let proposal = ThreadProposal { request: id.clone(), status: request.status, accepted, of };
    if known.note_proposal(session, run, proposal) {
        // It has just been found.
        keep_and_announce(state, &thread, effects).ok();
    }
}

/// Stores and announces the new state of a thread, or its end.
fn keep_and_announce(
    state: &mut RoomState,
    id: &ThreadId,
    effects: &mut RoomEffects,
) -> RoomResult<ThreadSnapshot> {
    let (version, document) = (state.version(), state.id().clone());
    let thread = state.threads.get_mut(id)?.clone();
    state.threads.index(&thread);
    effects.keep(if thread.is_deleted() {
        state.threads.threads.remove(id);
        StoreOp::RemoveThread(id.clone())
    } else {
        StoreOp::PutThread(record(&thread, document))
    });
    effects.queue_event(RoomEvent::ThreadChanged(version, Box::new(thread.clone())));
    Ok(ThreadSnapshot { version, thread, mentioned: Vec::new() })
}

pub(crate) fn record(thread: &CommentThread, document: DocumentId) -> ThreadRecord {
    ThreadRecord {
        id: thread.id.clone(),
        document,
        resolved: thread.content.resolved.is_some(),
        version: thread.version,
        anchor: thread.anchor_json(),
        body: thread.content_json(),
        mentions: thread.mentioned().into_iter().collect(),
    }
}

fn begin(
    state: &RoomState,
    new: NewThread,
    by: &Principal,
    now: &ApplyContext,
) -> RoomResult<CommentThread> {
    state.threads.check_count(MOST_THREADS)?;
    let NewThread { id, version, passage, request, hunk, input } = new;
    if id.as_ref().is_some_and(|id| state.threads.threads.contains_key(id)) {
        return Err(CommentError::NoThread.into());
    }
    let mut place = ThreadPlace { id, version: state.version(), ..ThreadPlace::default() };
    if let Some(request) = request {
        (place.anchor, place.quote, place.about) = about_change(state, &request, hunk)?;
    }
    if let Some(passage) = passage {
        let anchor = current_passage(state, version.unwrap_or(state.version()), passage)?;
        place.quote = quote(state.document.text(), &anchor);
        place.anchor = Some(anchor);
    }
    Ok(CommentThread::begin(place, input, by, now.ms)?)
}

/// Maps a passage of a version that clients had to the newest one.
fn current_passage(
    state: &RoomState,
    version: Version,
    (from, to): (usize, usize),
) -> RoomResult<CommentAnchor> {
    let newest = state.version();
    if version > newest {
        return Err(RoomError::Ahead { asked: version, newest });
    }
    let (text, mut anchor) = (state.document.text(), CommentAnchor::new(from, to));
    for update in state.document.since(version).ok_or(RoomError::Resync)? {
        let change = update.change_set();
        let change = change.map_err(|source| RoomError::BadUpdate { index: 0, source })?;
        if from >= to || anchor.to > change.len() {
            return Err(CommentError::Passage.into());
        }
        anchor.follow("", false, &AnchorUpdate::new(&change, text, None, &[]));
        if anchor.is_orphaned {
            return Err(CommentError::WordsGone.into());
        }
        anchor = CommentAnchor::new(anchor.from, anchor.to);
    }
    let is_passage =
        anchor.from < anchor.to && text.is_boundary(anchor.from) && text.is_boundary(anchor.to);
    if is_passage { Ok(anchor) } else { Err(CommentError::Passage.into()) }
}

type AboutChange = (Option<CommentAnchor>, String, Option<CommentedChange>);

/// Returns where a change is, and its words: those that stand there, or those that it would insert.
fn about_change(
    state: &RoomState,
    id: &RequestId,
    hunk: Option<HunkId>,
) -> RoomResult<AboutChange> {
    let request: &ApprovalRequest = state.request(id).ok_or(RoomError::NoRequest)?;
    let proposal = &request.proposal;
    let run = proposal.action.source.is_run().then(|| proposal.origin.run.clone());
    let about = Some(CommentedChange { request: id.clone(), hunk: hunk.clone(), run });
    let Some(hunk) = hunk else { return Ok((None, String::new(), about)) };
    let found = request.hunks.iter().find(|it| it.id == hunk).ok_or(CommentError::NoChange)?;
    // An ended request that was not mapped to the newest version has no place there.
    let is_placed = request.version == state.version();
    let text = is_placed.then(|| state.document.text());
    let (anchor, words) = anchor_and_words(found, text);
    Ok((anchor, words, about))
}

/// Returns where a hunk is in the text that it is placed in, and its words: those that stand there,
/// or those that it would insert.
pub(crate) fn anchor_and_words(
    hunk: &Hunk,
    text: Option<&Text>,
) -> (Option<CommentAnchor>, String) {
    let found = text.and_then(|text| Some((text, place_of(hunk)?)));
    let mut words = found.as_ref().map_or_else(String::new, |(text, it)| quote(text, it));
    if words.is_empty() {
        words = hunk.proposed().chars().take(LONGEST_QUOTE).collect();
    }
    (found.map(|(_, anchor)| anchor), words)
}

fn place_of(hunk: &Hunk) -> Option<CommentAnchor> {
    let is_accepted = hunk.status == HunkStatus::Accepted;
    let parts = if is_accepted { &hunk.inverse } else { &hunk.parts };
    let removed = parts.iter().find(|part| hunk.is_moved() && !part.is_insertion());
    let (first, last) = (removed.or(parts.first())?, removed.or(parts.last())?);
    Some(CommentAnchor::new(first.from, last.to.max(first.from)))
}

/// Returns the words of a passage, cut to [`LONGEST_QUOTE`].
pub(crate) fn quote(text: &Text, passage: &CommentAnchor) -> String {
    let end = passage.to.min(passage.from + LONGEST_QUOTE);
    let end = if text.is_boundary(end) { end } else { end - 1 };
    text.slice(passage.from..end).unwrap_or_default()
}

/// Returns the passages that moved hunks take elsewhere when these parts of theirs are applied.
pub(crate) fn moved_passages<'h>(
    parts: impl IntoIterator<Item = &'h [HunkPart]>,
) -> Vec<MovedPassage> {
    let of_hunk = |parts: &'h [HunkPart]| {
        let at = parts.iter().find(|part| part.is_insertion()).map(|part| part.from);
        let removed = parts.iter().filter(|part| !part.is_insertion());
        removed.filter_map(move |part| Some(MovedPassage { from: part.from, to: part.to, at: at? }))
    };
    parts.into_iter().flat_map(of_hunk).collect()
}

/// Replaces the name of a deleted person in all threads.
pub(crate) fn forget(state: &mut RoomState, person: &DeletedPerson, effects: &mut RoomEffects) {
    let named = state.threads.threads.values_mut().filter_map(|thread| {
        let is_named = thread.forget(person);
        is_named.then(|| thread.id.clone())
    });
    for id in named.collect::<Vec<_>>() {
        // It has just been found.
        keep_and_announce(state, &id, effects).ok();
    }
}
