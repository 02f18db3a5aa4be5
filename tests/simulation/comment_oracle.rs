//! An oracle for threads of comments. It says again, slowly and by unit identifiers, where each
//! thread is after an update, and shares no code with the core. Of what people wrote it knows what
//! was acknowledged.

use std::collections::BTreeMap;
use std::ops::Range;

use copydesk_comments::{CommentThread, ThreadContent};
use copydesk_ids::{ThreadId, Version};

use crate::invariants::Invariant::{
    AcknowledgedIsDurable, OnlyDeletionOrphans, ThreadsFollowTheirWords, UpdatesHaveNoGap,
};
use crate::invariants::{CheckResult, ensure};
use crate::rebase_oracle::{MapSide, map_position};
use crate::reference_document::{ReferenceDocument, ReferenceUpdate, UnitId};

/// Length from which words are recognised in another place, whatever stands around them there.
const LONG_ENOUGH: usize = 12;

/// A place where an update changed the text.
struct Edited {
    /// The replaced range, in positions before the update.
    from: usize,
    to: usize,
    /// Position of the inserted text after the update, and the text.
    at: usize,
    insert: String,
}

/// Event in the life of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageEvent {
    /// All its words were replaced, or moved.
    Moved,
    /// All its words were deleted.
    Orphaned,
    /// Its words were inserted where they had been.
    CameBack,
}

/// The passage of a thread as the oracle computes it.
#[derive(Clone, Debug)]
pub struct PassageOracle {
    from: usize,
    to: usize,
    units: Vec<UnitId>,
    is_orphaned: bool,
    /// Units that were deleted before the words, together with them.
    offset: usize,
    quote: String,
    /// The words as they were edited.
    words: String,
    /// The request that the thread is about.
    request: Option<String>,
}

fn units_of(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns where an update changed the text: sections that touch each other are one place.
fn places(update: &ReferenceUpdate) -> Vec<Edited> {
    let mut places: Vec<Edited> = Vec::new();
    let (mut grown, mut shrunk) = (0, 0);
    for &(from, to, inserted) in &update.sections {
        let at = from + grown - shrunk;
        let insert = update.after.slice(at..at + inserted).unwrap_or_default();
        grown += inserted;
        shrunk += to - from;
        match places.last_mut().filter(|last| last.to == from) {
            Some(last) => {
                last.to = to;
                last.insert += &insert;
            }
            None => places.push(Edited { from, to, at, insert }),
        }
    }
    places
}

impl PassageOracle {
    /// Creates the oracle of a thread whose positions are in the text of these units.
    fn new(thread: &CommentThread, reference: &ReferenceDocument) -> Option<Self> {
        let anchor = thread.anchor.as_ref()?;
        let text = reference.text(reference.version());
        let content = &thread.content;
        Some(Self {
            from: anchor.from,
            to: anchor.to,
            units: reference.units.get(anchor.from..anchor.to)?.to_vec(),
            is_orphaned: anchor.is_orphaned,
            offset: anchor.offset.unwrap_or(0),
            quote: content.quote.clone(),
            words: match &anchor.words {
                Some(words) => words.clone(),
                None if anchor.is_orphaned => content.quote.clone(),
                None => text.slice(anchor.from..anchor.to).ok()?,
            },
            request: content.about.as_ref().map(|about| about.request.to_string()),
        })
    }

    fn matches(&self, thread: &CommentThread) -> bool {
        thread.anchor.as_ref().is_some_and(|anchor| {
            (anchor.from, anchor.to, anchor.is_orphaned) == (self.from, self.to, self.is_orphaned)
        })
    }

    /// Applies an update that led to the text of these units.
    fn apply(&mut self, update: &ReferenceUpdate, units: &[UnitId]) -> Option<PassageEvent> {
        let places = places(update);
        if self.is_orphaned {
            return self.come_back(update, &places, units);
        }
        let (old_from, old_to) = (self.from, self.to);
        let is_inside = |(from, to, _): &(usize, usize, usize)| {
            *from < old_to && *to > old_from || *from == *to && old_from < *from && *from < old_to
        };
        self.from = map_position(old_from, MapSide::After, &update.sections);
        self.to = map_position(old_to, MapSide::Before, &update.sections).max(self.from);
        let is_own = self.request.as_deref().is_some_and(|own| {
            update.update.origin.as_ref().is_some_and(|origin| origin.as_ref() == own)
        });
        if self.from < self.to {
            if update.sections.iter().any(is_inside) {
                self.words = update.after.slice(self.from..self.to).unwrap_or_default();
            }
            self.units = units[self.from..self.to].to_vec();
            return None;
        }
        if old_from == old_to {
            let touches = |it: &&Edited| it.from <= old_from && old_from <= it.to;
            let place = places.iter().filter(touches).find(|it| !it.insert.is_empty());
            return place.filter(|_| is_own).map(|it| self.take(it, 0, update, units));
        }
        let covering = places.iter().find(|it| it.from <= old_from && old_to <= it.to)?;
        let offset = old_from - covering.from;
        let elsewhere = || places.iter().find(|it| self.is_moved_to(it, covering, offset));
        let place = Some(covering).filter(|it| !it.insert.is_empty()).or_else(elsewhere);
        if let Some(place) = place {
            return Some(self.take(place, offset, update, units));
        }
        self.units.clear();
        self.is_orphaned = !is_own;
        self.offset = if is_own { 0 } else { offset };
        self.is_orphaned.then_some(PassageEvent::Orphaned)
    }

    /// Puts the passage on its words in an inserted text, or on all of it.
    fn take(
        &mut self,
        place: &Edited,
        offset: usize,
        update: &ReferenceUpdate,
        units: &[UnitId],
    ) -> PassageEvent {
        let found = self.find(&place.insert, offset).unwrap_or(0..units_of(&place.insert));
        (self.from, self.to) = (place.at + found.start, place.at + found.end);
        self.words = update.after.slice(self.from..self.to).unwrap_or_default();
        self.units = units[self.from..self.to].to_vec();
        (self.is_orphaned, self.offset) = (false, 0);
        PassageEvent::Moved
    }

    /// Returns whether an update that deletes the passage inserts its words in another place.
    fn is_moved_to(&self, place: &Edited, gone: &Edited, offset: usize) -> bool {
        let inserted = units_of(&place.insert);
        self.find(&place.insert, offset).is_some_and(|found| {
            found.len() == inserted
                || found.len() >= LONG_ENOUGH
                || inserted == gone.to - gone.from && found.start == offset
        })
    }

    fn come_back(
        &mut self,
        update: &ReferenceUpdate,
        places: &[Edited],
        units: &[UnitId],
    ) -> Option<PassageEvent> {
        let mut here = places.iter().filter(|it| it.from <= self.to && self.from <= it.to);
        let found = here.find_map(|it| Some((it, self.find(&it.insert, self.offset)?)));
        if let Some((place, found)) = found {
            (self.from, self.to) = (place.at + found.start, place.at + found.end);
            self.units = units[self.from..self.to].to_vec();
            (self.is_orphaned, self.offset) = (false, 0);
            return Some(PassageEvent::CameBack);
        }
        self.from = map_position(self.from, MapSide::Before, &update.sections);
        self.to = map_position(self.to, MapSide::After, &update.sections);
        None
    }

    /// Returns where the words are in a text: the quotation, or what became of it, unless that is
    /// only a rest of it. Of several places the one nearest to `near`.
    fn find(&self, text: &str, near: usize) -> Option<Range<usize>> {
        let is_rest = 2 * units_of(&self.words) < units_of(&self.quote);
        let edited = Some(&self.words).filter(|_| !is_rest);
        [Some(&self.quote), edited].into_iter().flatten().find_map(|words| {
            let starts = text.match_indices(words.as_str()).map(|(at, _)| units_of(&text[..at]));
            let starts = starts.collect::<Vec<_>>();
            let units: Vec<u16> = text.encode_utf16().collect();
            let wanted: Vec<u16> = words.encode_utf16().collect();
            let is_near = units.get(near..).is_some_and(|rest| rest.starts_with(&wanted));
            let nearest = starts.into_iter().min_by_key(|start| start.abs_diff(near));
            let start = if is_near { Some(near) } else { nearest }.filter(|_| !words.is_empty())?;
            Some(start..start + wanted.len())
        })
    }
}

/// Threads as the oracle knows them.
#[derive(Default)]
pub struct CommentOracle {
    passages: BTreeMap<ThreadId, PassageOracle>,
    /// The content of each thread, as it was last acknowledged.
    acknowledged: BTreeMap<ThreadId, ThreadContent>,
}

/// Returns the content of all threads.
pub fn contents(threads: &[CommentThread]) -> BTreeMap<ThreadId, ThreadContent> {
    threads
        .iter()
        .map(|thread| (thread.id.clone(), ThreadContent::clone(&thread.content)))
        .collect()
}

impl CommentOracle {
    /// Applies the newest update of the log. Returns what happened to passages.
    pub fn apply(
        &mut self,
        reference: &ReferenceDocument,
    ) -> Result<Vec<(ThreadId, PassageEvent)>, crate::invariants::InvariantViolation> {
        let update = reference.entries.last().unwrap();
        let mut events = Vec::new();
        for (id, passage) in &mut self.passages {
            let before = passage.clone();
            let event = passage.apply(update, &reference.units);
            events.extend(event.map(|event| (id.clone(), event)));
            // Whatever the rules say in detail.
            let here = reference.units.get(passage.from..passage.to).unwrap_or_default();
            let lives = |unit: &&UnitId| reference.units.contains(unit);
            let is_kept = before.units.iter().filter(lives).all(|unit| here.contains(unit));
            ensure(ThreadsFollowTheirWords, before.is_orphaned || is_kept, || {
                format!("{before:?} lost words that stand, now {passage:?}")
            })?;
            let lost = event == Some(PassageEvent::Orphaned);
            let stands = before.units.iter().any(|unit| reference.units.contains(unit));
            ensure(OnlyDeletionOrphans, !lost || !stands, || format!("{before:?}"))?;
        }
        Ok(events)
    }

    /// Notes an event about a thread, and checks it.
    pub fn changed(
        &mut self,
        version: Version,
        thread: &CommentThread,
        reference: &ReferenceDocument,
    ) -> CheckResult {
        let known = reference.version() as u64;
        ensure(UpdatesHaveNoGap, version.0 == known && thread.version == version, || {
            format!("{thread:?} is of {version}, known is {known}")
        })?;
        if thread.is_deleted() {
            self.passages.remove(&thread.id);
            return Ok(());
        }
        if let Some(passage) = self.passages.get(&thread.id) {
            return ensure(ThreadsFollowTheirWords, passage.matches(thread), || {
                format!("told was {thread:?}, the oracle has {passage:?}")
            });
        }
        self.begin(thread, reference);
        Ok(())
    }

    fn begin(&mut self, thread: &CommentThread, reference: &ReferenceDocument) {
        let passage = PassageOracle::new(thread, reference);
        self.passages.extend(passage.map(|passage| (thread.id.clone(), passage)));
    }

    /// Notes an answer to a person who wrote.
    pub fn acknowledge(&mut self, thread: &CommentThread) {
        if thread.is_deleted() {
            self.acknowledged.remove(&thread.id);
        } else {
            self.acknowledged.insert(thread.id.clone(), ThreadContent::clone(&thread.content));
        }
    }

    /// Notes that nothing is left of a thread.
    pub fn remove(&mut self, id: &ThreadId) {
        self.passages.remove(id);
        self.acknowledged.remove(id);
    }

    /// Takes over what was stored and told to nobody before the power was cut.
    pub fn adopt(
        &mut self,
        content: BTreeMap<ThreadId, ThreadContent>,
        threads: &[CommentThread],
        reference: &ReferenceDocument,
    ) {
        self.acknowledged = content;
        self.passages.retain(|id, _| self.acknowledged.contains_key(id));
        for thread in threads {
            if !self.passages.contains_key(&thread.id) {
                self.begin(thread, reference);
            }
        }
    }

    /// Returns whether the person who resolved the thread has not reopened it.
    pub fn is_resolved(&self, id: &ThreadId) -> bool {
        self.acknowledged.get(id).is_some_and(|content| content.resolved.is_some())
    }

    /// Checks the threads of a room that has committed everything.
    pub fn check(&self, threads: &[CommentThread]) -> CheckResult {
        let now = contents(threads);
        ensure(AcknowledgedIsDurable, now == self.acknowledged, || {
            format!("acknowledged was {:?}\nthe room has {now:?}", self.acknowledged)
        })?;
        for thread in threads {
            let passage = self.passages.get(&thread.id);
            let is_right =
                passage.map_or_else(|| thread.anchor.is_none(), |passage| passage.matches(thread));
            ensure(ThreadsFollowTheirWords, is_right, || format!("{thread:?}\n{passage:?}"))?;
        }
        Ok(())
    }
}
