//! People, agents and reviewers around one document, and what must hold after each of their steps.

use std::collections::{BTreeMap, HashSet};

use copydesk::document::diff::{DiffLimits, diff};
use copydesk::document::{ChangeSet, Edit, Text};
use copydesk::ids::{HunkId, Version};
use copydesk::review::{
    Arrival, Clock, Decision, DecisionError, Hunk, HunkStatus, Outcome, Policy, Request,
    RequestStatus, Touched, UndoScope, Verdict,
};
use fastrand::Rng;

use crate::chance;
use crate::oracle::{Cells, Shadow};

const OPENING: &str = "# Teh title\n\nIt was a bright cold day in April, and the clocks was striking thirteen. \
    She recieve 😀 letters on a morning. He go to store every day. Nobody knew why.\n\n- one itme\n- two item\n\nThan it ended.\n";

/// Everything that can happen, and how often it did; a simulation that never conflicts proves nothing.
const HAPPENINGS: [&str; 16] = [
    "steps",
    "typed",
    "proposed",
    "returned",
    "accepted",
    "edited",
    "forced",
    "rejected",
    "refused",
    "expired",
    "undone",
    "reopened",
    "conflicts",
    "cleared",
    "obsolete",
    "voted",
];

#[derive(Debug, Default)]
pub struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, what: &'static str, times: usize) {
        *self.0.entry(what).or_default() += times;
    }

    pub fn add(&mut self, other: &Self) {
        for (what, times) in &other.0 {
            self.count(what, *times);
        }
    }

    /// Only for runs long enough.
    pub fn assert_everything_happened(&self) {
        let of = |what| self.0.get(what).copied().unwrap_or_default();
        if of("steps") > 20_000 {
            assert!(HAPPENINGS.iter().all(|what| of(what) > 0), "{self:?}");
        }
    }
}

/// A request and what the oracle thinks of its hunks.
struct Case {
    request: Request,
    shadows: Vec<(HunkId, Shadow)>,
}

pub struct World {
    random: Rng,
    text: Text,
    cells: Cells,
    /// The texts so far and the changes between them.
    past: Vec<(Text, ChangeSet)>,
    cases: Vec<Case>,
    now_ms: u64,
    pub tally: Tally,
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            text: Text::new(OPENING),
            cells: Cells::new(OPENING),
            past: Vec::new(),
            cases: Vec::new(),
            now_ms: 1_000,
            tally: Tally::default(),
        }
    }

    /// Somebody does something.
    pub fn step(&mut self) {
        self.tally.count("steps", 1);
        self.now_ms += self.random.u64(0..20_000);
        match self.random.u8(0..20) {
            0..9 => self.types(),
            9..11 => self.proposes(),
            11..17 => self.decides(),
            17 => self.undoes(),
            18 => self.reopens(),
            _ => self.expires(),
        }
        self.check();
    }

    // What happens.

    fn types(&mut self) {
        let count = self.random.usize(1..=2);
        let mut edits: Vec<Edit> = Vec::new();
        let mut at = 0;
        for _ in 0..count {
            let len = self.text.len();
            // Edits touch neither each other, so that the oracle's simple mapping is exact.
            if at > len {
                break;
            }
            let from = self.near(at, len);
            let from = self.boundary(from);
            let to = self.random.usize(from..=(from + 12).min(len).max(from));
            let to = self.boundary(to);
            let insert = if self.random.u8(0..3) == 0 {
                String::new()
            } else {
                chance::words(&mut self.random, 2)
            };
            if from < at || to < from || from == to && insert.is_empty() {
                continue;
            }
            at = to + 1;
            edits.push(Edit { from, to, insert });
        }
        // Now and then a person takes the last change back, as with Ctrl+Z.
        if self.random.u8(0..4) == 0
            && let Some((before, change)) = self.past.last()
        {
            edits = edits_of(&change.invert(before).unwrap());
        }
        if !edits.is_empty() {
            self.tally.count("typed", 1);
            let change = ChangeSet::of(self.text.len(), &edits).unwrap();
            self.commit(&change, None);
        }
    }

    /// Mostly near a hunk, where it is interesting.
    fn near(&mut self, at: usize, len: usize) -> usize {
        let ranges: Vec<_> =
            self.cases.iter().flat_map(|c| &c.request.hunks).map(Hunk::range).collect();
        match self.random.choice(ranges) {
            Some(range) if self.random.u8(0..4) > 0 => (range.start
                + self.random.usize(0..=range.len() + 4))
            .saturating_sub(2)
            .clamp(at, len),
            _ => self.random.usize(at..=len),
        }
    }

    fn proposes(&mut self) {
        let back = self.random.usize(0..=self.past.len().min(4));
        let since = self.past.len() - back;
        let base = self.past.get(since).map_or_else(|| self.text.clone(), |(text, _)| text.clone());
        let old = base.to_string();
        let new = chance::rewrite(&mut self.random, &old);
        let drafts = diff(&old, &new, &DiffLimits::default());
        let id = format!("req_{}", self.cases.len());
        let changes: Vec<ChangeSet> = self.past[since..].iter().map(|(_, c)| c.clone()).collect();
        let arrival = Arrival::map(&id.as_str().into(), drafts, &base, &changes).unwrap();
        self.tally.count("returned", arrival.returned.len());
        if arrival.hunks.is_empty() {
            return;
        }
        self.tally.count("proposed", 1);
        let shadows = arrival.hunks.iter().map(|h| (h.id.clone(), Shadow::new(h, &self.cells)));
        let shadows = shadows.collect();
        let policy = [Policy::Any, Policy::Any, Policy::Two][self.random.usize(0..3)];
        let clock = Clock::start(self.now_ms, 300_000);
        let version = Version(self.past.len() as u64);
        let request = Request::open(chance::proposal(&id, policy), arrival, version, clock);
        self.cases.push(Case { request, shadows });
    }

    fn decides(&mut self) {
        let Some(case) = self.pick(|r| r.status.is_open()) else { return };
        let request = self.cases[case].request.clone();
        let decision = chance::decision(&mut self.random, &request, &self.text);
        let who = chance::person(&mut self.random);
        let before = request.clone();
        let mut request = request;
        match request.decide(&decision, &who, &self.text, self.now_ms) {
            Ok(outcome) => {
                self.count(&decision, &outcome);
                let stored = serde_json::to_string(&request).unwrap();
                assert_eq!(serde_json::from_str::<Request>(&stored).unwrap(), request);
                self.settle_case(case, request, &outcome, &decision);
            }
            Err(error) => {
                self.tally.count("refused", 1);
                assert_eq!(request, before, "a refused decision changes nothing");
                let plain = decision.hunks.is_none() && decision.verdict == Verdict::Approve;
                let pending = before.hunks.iter().any(|h| h.status == HunkStatus::Pending);
                let late = matches!(error, DecisionError::Expired { .. });
                assert!(late || !(plain && pending), "what is pending can be accepted: {error}");
            }
        }
    }

    fn settle_case(
        &mut self,
        case: usize,
        request: Request,
        outcome: &Outcome,
        decision: &Decision,
    ) {
        let may_remove: HashSet<u64> =
            outcome.decided.iter().flat_map(|id| self.removable(case, id, decision)).collect();
        self.cases[case].request = request;
        if let Some(change) = &outcome.changes {
            let gone = self.commit(change, Some(case));
            for name in gone {
                assert!(
                    may_remove.contains(&name),
                    "an accept removed a word nobody agreed to lose"
                );
            }
        }
        // Words added at one place keep their order, which the oracle does not know.
        self.watch_again(case, &outcome.put);
    }

    /// The units an accepted hunk may remove.
    fn removable(&self, case: usize, id: &HunkId, decision: &Decision) -> Vec<u64> {
        let Case { request, shadows } = &self.cases[case];
        let seen = decision.hunks.iter().flatten().find(|v| v.id == *id);
        let shadow = shadows.iter().find(|(other, _)| other == id);
        match (seen, shadow) {
            (None, Some((_, shadow))) => shadow.names().collect(),
            (Some(verdict), Some((_, shadow))) if !verdict.force && verdict.text.is_none() => {
                shadow.names().collect()
            }
            // The person saw all of it, or it is as it was when it was proposed.
            _ => {
                let range = request.hunk(id).unwrap().range();
                self.cells.cells[range].iter().map(|c| c.name).collect()
            }
        }
    }

    fn undoes(&mut self) {
        let some_accepted = |r: &Request| r.hunks.iter().any(|h| h.status == HunkStatus::Accepted);
        let Some(case) = self.pick(some_accepted) else { return };
        let mut request = self.cases[case].request.clone();
        let touched = if self.random.bool() { Touched::Refuse } else { Touched::Overwrite };
        let scope = UndoScope { hunks: None, touched };
        let Ok(outcome) =
            request.undo(scope, &chance::person(&mut self.random), &self.text, self.now_ms)
        else {
            self.tally.count("refused", 1);
            return;
        };
        self.tally.count("undone", 1);
        self.cases[case].request = request;
        if let Some(change) = &outcome.changes {
            self.commit(change, Some(case));
        }
        self.watch_again(case, &outcome.put);
    }

    fn reopens(&mut self) {
        let Some(case) = self.pick(|r| !r.status.is_open()) else { return };
        let who = chance::person(&mut self.random);
        if let Ok(ids) = self.cases[case].request.reopen(&who, &self.text) {
            self.tally.count("reopened", 1);
            self.watch_again(case, &ids);
        }
    }

    fn expires(&mut self) {
        for case in &mut self.cases {
            if case.request.expire(self.now_ms).is_some() {
                self.tally.count("expired", 1);
                assert!(!case.request.status.is_open());
                let open = case.request.hunks.iter().any(|h| h.status.is_open());
                assert!(!open, "an expired request has no open hunk");
            }
        }
    }

    // What it leads to.

    /// Commits a change; `by` has mapped itself already. Returns the units that went away.
    fn commit(&mut self, change: &ChangeSet, by: Option<usize>) -> Vec<u64> {
        let edits = edits_of(change);
        self.past.push((self.text.clone(), change.clone()));
        change.apply(&mut self.text).unwrap();
        let gone = self.cells.apply(&edits);
        for (index, case) in self.cases.iter_mut().enumerate() {
            let before: Vec<HunkStatus> = case.request.hunks.iter().map(|h| h.status).collect();
            if Some(index) != by {
                case.request.rebase(change, &self.text, self.now_ms);
            }
            for (_, shadow) in &mut case.shadows {
                shadow.see(&edits, &self.cells);
            }
            for (hunk, was) in case.request.hunks.iter().zip(before) {
                self.tally.count(
                    "conflicts",
                    usize::from(hunk.status == HunkStatus::Conflict && was != hunk.status),
                );
                self.tally.count(
                    "cleared",
                    usize::from(hunk.status == HunkStatus::Pending && was == HunkStatus::Conflict),
                );
                self.tally.count(
                    "obsolete",
                    usize::from(hunk.status == HunkStatus::Obsolete && was != hunk.status),
                );
            }
        }
        gone
    }

    /// The oracle begins anew with hunks that are open again or were moved for the sake of order.
    fn watch_again(&mut self, case: usize, ids: &[HunkId]) {
        let Case { request, shadows } = &mut self.cases[case];
        shadows.retain(|(id, _)| !ids.contains(id));
        for hunk in request.hunks.iter().filter(|h| ids.contains(&h.id)) {
            shadows.push((hunk.id.clone(), Shadow::new(hunk, &self.cells)));
        }
    }

    fn check(&mut self) {
        assert_eq!(self.text.to_string(), self.cells.text(0, self.cells.cells.len()));
        for Case { request, shadows } in &self.cases {
            assert_eq!(request.version, Version(self.past.len() as u64));
            let open = request.hunks.iter().any(|h| h.status.is_open());
            assert_eq!(open, request.status.is_open(), "a request is open as long as a hunk is");
            for hunk in &request.hunks {
                check_hunk(hunk, &self.text);
                let shadow = shadows.iter().find(|(id, _)| *id == hunk.id);
                if let Some((_, shadow)) = shadow.filter(|_| hunk.status.is_open()) {
                    assert_eq!(hunk.status, shadow.status(), "{hunk:?}\n{shadow:?}");
                    let ranges: Vec<_> = hunk.parts.iter().map(|p| (p.from, p.to)).collect();
                    assert_eq!(ranges, shadow.ranges(), "{hunk:?}");
                }
            }
            let pending = request.hunks.iter().filter(|h| h.status == HunkStatus::Pending);
            let parts = pending.flat_map(|h| &h.parts).filter(|p| !p.is_insertion());
            let mut parts: Vec<_> = parts.collect();
            parts.sort_by_key(|p| p.from);
            assert!(
                parts.windows(2).all(|p| p[0].to <= p[1].from),
                "pending hunks replace different words"
            );
        }
    }

    fn count(&mut self, decision: &Decision, outcome: &Outcome) {
        let verdicts =
            || decision.hunks.iter().flatten().filter(|v| outcome.decided.contains(&v.id));
        self.tally.count("accepted", usize::from(outcome.changes.is_some()));
        self.tally.count("edited", verdicts().filter(|v| v.text.is_some()).count());
        self.tally.count("forced", verdicts().filter(|v| v.force).count());
        self.tally
            .count("rejected", usize::from(outcome.resolved == Some(RequestStatus::Rejected)));
        self.tally.count("voted", usize::from(outcome.decided.is_empty()));
    }

    fn pick(&mut self, like: impl Fn(&Request) -> bool) -> Option<usize> {
        let found: Vec<usize> =
            (0..self.cases.len()).filter(|&i| like(&self.cases[i].request)).collect();
        self.random.choice(found)
    }

    /// The next place that is not inside a surrogate pair.
    fn boundary(&self, at: usize) -> usize {
        (at..=self.text.len()).find(|&at| self.text.is_boundary(at)).unwrap()
    }
}

fn check_hunk(hunk: &Hunk, text: &Text) {
    let parts = if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
    for part in parts {
        let stands = text.slice(part.from..part.to).unwrap();
        assert!(part.conflict || stands == part.base, "{hunk:?} stands on {stands:?}");
    }
    let conflict = hunk.parts.iter().any(|p| p.conflict);
    match hunk.status {
        HunkStatus::Pending => assert!(!conflict),
        HunkStatus::Conflict => assert!(conflict),
        _ => {}
    }
}

/// Read from the JSON, so that the oracle shares no code with what it checks.
fn edits_of(change: &ChangeSet) -> Vec<Edit> {
    let sections: Vec<serde_json::Value> = serde_json::from_str(&change.to_json()).unwrap();
    let (mut edits, mut at) = (Vec::new(), 0);
    for section in sections {
        if let Some(kept) = section.as_u64() {
            at += kept as usize;
            continue;
        }
        let section = section.as_array().unwrap();
        let to = at + section[0].as_u64().unwrap() as usize;
        let lines: Vec<&str> = section[1..].iter().map(|l| l.as_str().unwrap()).collect();
        edits.push(Edit { from: at, to, insert: lines.join("\n") });
        at = to;
    }
    edits
}
