//! Replay of a log from a version whose provenance is known.

use std::collections::{BTreeMap, HashMap};

use copydesk_ids::{RequestId, UserId, Version};

use super::runs::SourceRun;
use super::{
    ChangeSet, FormerPlace, InsertedWords, PlacementOrigin, Provenance, SpanSource,
    UpdatePlacements, WordPlacement,
};
use crate::ChangeError;

/// One update of the log, with the words it put into the text.
#[derive(Clone, Copy, Debug)]
pub struct ReplayEntry<'a> {
    /// Change of the text.
    pub change: &'a ChangeSet,
    /// Person the update is attributed to.
    pub author: &'a UserId,
    /// Time of the commit, in milliseconds since 1970.
    pub at_ms: u64,
    /// Request it came from.
    pub origin: Option<&'a RequestId>,
    /// Placements stored beside the update.
    pub placements: Option<&'a UpdatePlacements>,
}

/// Replay of a log, which computes the [`Provenance`] of each version it reaches.
#[derive(Debug)]
pub struct ProvenanceReplay {
    provenance: Provenance,
    version: Version,
    /// Words that will come back, by the version they are in: position and length in units.
    wanted: BTreeMap<Version, Vec<(usize, usize)>>,
    taken: HashMap<(Version, usize, usize), Vec<SourceRun>>,
    misplaced: Vec<Version>,
}

impl ProvenanceReplay {
    /// Starts from `provenance`, which is that of `version`. `placements` are those of all updates
    /// that will be replayed.
    pub fn new<'a>(
        provenance: Provenance,
        version: Version,
        placements: impl IntoIterator<Item = &'a UpdatePlacements>,
    ) -> Self {
        let mut wanted: BTreeMap<Version, Vec<(usize, usize)>> = BTreeMap::new();
        for (stood, len) in placements.into_iter().flat_map(returns) {
            wanted.entry(stood.version).or_default().push((stood.at, len));
        }
        let mut new =
            Self { provenance, version, wanted, taken: HashMap::new(), misplaced: Vec::new() };
        new.take();
        new
    }

    /// Returns the oldest version with words that come back by these placements; the replay must
    /// begin there or earlier.
    pub fn reaches_back_to<'a>(
        placements: impl IntoIterator<Item = &'a UpdatePlacements>,
    ) -> Option<Version> {
        placements.into_iter().flat_map(returns).map(|(stood, _)| stood.version).min()
    }

    /// Applies the next update.
    ///
    /// # Errors
    /// [`ChangeError`] if it is not an update of this text; the provenance is then unchanged.
    pub fn follow(&mut self, entry: &ReplayEntry<'_>) -> Result<(), ChangeError> {
        let author = author(entry);
        let mut words = Vec::new();
        let placed = entry.placements.map_or(&[][..], |it| &it.placed);
        for placement in placed {
            words.extend(self.words(placement, entry));
        }
        let found = self.provenance.follow(entry.change, author, &words)?;
        self.version = self.version.next();
        if found < placed.len() {
            self.misplaced.push(self.version);
        }
        self.take();
        Ok(())
    }

    /// Returns the provenance at the version that was reached.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Returns the version that was reached.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the versions whose placements are wrong: words that the update does not insert, or
    /// that were never at the stated place. Those words count as the author's own.
    pub fn misplaced(&self) -> &[Version] {
        &self.misplaced
    }

    fn take(&mut self) {
        for (at, len) in self.wanted.remove(&self.version).into_iter().flatten() {
            let runs = self.provenance.runs.slice(at..at + len);
            self.taken.insert((self.version, at, len), runs);
        }
    }

    fn words(
        &mut self,
        placement: &WordPlacement,
        entry: &ReplayEntry<'_>,
    ) -> Option<InsertedWords> {
        let WordPlacement { from, to, hunk, origin } = placement;
        let len = to.checked_sub(*from)?;
        let runs = match origin {
            PlacementOrigin::Stood(FormerPlace { version, at }) => {
                self.taken.get(&(*version, *at, len))?.clone()
            }
            PlacementOrigin::Proposed | PlacementOrigin::Edited => {
                let mut source = author(entry);
                if let SpanSource::Request { hunk: of, edited, .. } = &mut source {
                    (*of, *edited) = (hunk.clone(), *origin == PlacementOrigin::Edited);
                }
                vec![SourceRun { len: len as u32, source: self.provenance.number(source) }]
            }
        };
        let found: usize = runs.iter().map(|run| run.len as usize).sum();
        (found == len).then_some(InsertedWords { from: *from, runs })
    }
}

/// Returns the words that come back: former place and length in units.
fn returns(placements: &UpdatePlacements) -> impl Iterator<Item = (FormerPlace, usize)> {
    placements.placed.iter().filter_map(|WordPlacement { from, to, origin, .. }| match origin {
        PlacementOrigin::Stood(stood) => Some((*stood, to.saturating_sub(*from))),
        PlacementOrigin::Proposed | PlacementOrigin::Edited => None,
    })
}

/// Returns the source of the words of an update that no placement covers.
fn author(entry: &ReplayEntry<'_>) -> SpanSource {
    let Some(request) = entry.origin else { return SpanSource::person(entry.author, entry.at_ms) };
    let unasked = entry.placements.is_some_and(|it| it.unasked);
    SpanSource::Request {
        request: request.clone(),
        hunk: None,
        edited: false,
        requester: entry.placements.and_then(|it| it.requester.clone()),
        claimed_author: entry.placements.and_then(|it| it.claimed_author.clone()),
        suggested: entry.placements.is_some_and(|it| it.suggested),
        approver: (!unasked).then(|| entry.author.clone()),
        rule: entry.placements.and_then(|it| it.rule.clone()),
        at_ms: entry.at_ms,
    }
}
