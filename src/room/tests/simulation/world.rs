//! People, agents and reviewers in one room, and what must hold after each turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::json;

use super::disk::Disk;
use super::mirror::Mirror;
use crate::document::diff::{DiffLimits, diff};
use crate::document::{ChangeSet, Edit, Text};
use crate::ids::{ClientId, RequestId, Version};
use crate::review::{
    Choice, Decision, Finish, Hunk, HunkStatus, HunkVerdict, Policy, Preview, Request, Verdict,
};
use crate::room::command::{
    Command, Configure, Focus, Gate, NewRequest, Proposed, Push, Reply, Undo,
};
use crate::room::event::Caret;
use crate::room::settings::{Approvals, OwnSettings, ServerSettings};
use crate::room::state::{Now, RoomState};
use crate::room::step::{Output, Step};
use crate::room::tests::{member, person};
use crate::room::{RoomError, proposals, time};
use crate::store::DocumentRecord;
use crate::who::{Principal, Role};

const OPENING: &str = "It was a bright cold day in April, and the clocks was striking thirteen. She \
    recieve 😀 letters on a morning. He go to store every day. Nobody knew why.\n\nThan it ended.\n";
const WORDS: &[&str] =
    &["the", "a cat", "sat.", "😀", "naïve", "then", "東京", "x", "\n\n", "more"];
const PEOPLE: [&str; 2] = ["ana", "bo"];
/// How far back people and agents may be, in versions.
const LAG: u64 = 12;

/// How often each thing happened.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<&'static str, usize>);

const EVERYTHING: &[&str] = &[
    "typed",
    "typed late",
    "sent again",
    "proposed",
    "proposed late",
    "returned",
    "frozen",
    "at once",
    "accepted",
    "conflicted",
    "refused",
    "voted",
    "edited",
    "forced",
    "expired",
    "looked",
    "undone",
    "reopened",
    "lost",
    "crashed",
    "withdrawn",
    "configured",
];

impl Tally {
    fn count(&mut self, what: &'static str) {
        debug_assert!(EVERYTHING.contains(&what), "{what}");
        *self.0.entry(what).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub(super) fn never(&self) -> Vec<&'static str> {
        EVERYTHING.iter().filter(|what| !self.0.contains_key(*what)).copied().collect()
    }
}

/// Updates, and the version they were made on.
type Sent = (Version, Vec<(ClientId, Box<str>)>);

/// A person's editor: it pushes on what it has seen, and nothing older.
struct Editor {
    client: ClientId,
    seen: Version,
    latest: Option<Sent>,
    /// It waits for an answer.
    waits: bool,
}

pub(super) struct World {
    random: Rng,
    state: RoomState,
    disk: Disk,
    mirror: Mirror,
    editors: Vec<Editor>,
    now_ms: u64,
    requests: usize,
    pub(super) tally: Tally,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let record = DocumentRecord {
            id: "doc_1".into(),
            title: "Draft".into(),
            created_ms: 0,
            updated_ms: 0,
            version: Version(0),
            settings: json!({}),
            unlisted_owner: None,
            deleted: false,
        };
        let disk = Disk::new(record, OPENING);
        let editor = |name: &str| Editor {
            client: ClientId::from(name),
            seen: Version(0),
            latest: None,
            waits: false,
        };
        let mut world = Self {
            random: Rng::with_seed(seed),
            state: disk.room(Version(0)),
            mirror: Mirror::new(OPENING),
            disk,
            editors: ["c1", "c2", "c3"].map(editor).into(),
            now_ms: 1_000,
            requests: 0,
            tally: Tally::default(),
        };
        world.everybody_comes_in();
        world
    }

    /// A few commands, kept together; or lost together.
    pub(super) fn turn(&mut self) {
        self.now_ms += self.random.u64(0..20_000);
        let mut step = Step::default();
        let open_before = self.state.open.len();
        let now = self.now();
        time::expire(&mut self.state, &now, &mut step);
        if self.state.open.len() < open_before {
            self.tally.count("expired");
        }
        // Commands see what was told up to now, like people do; what they send arrives together.
        for _ in 0..self.random.usize(1..4) {
            self.command(&mut step);
        }
        if self.random.u8(0..100) < 20 {
            self.state.snapshot(&mut step);
        }
        if self.random.u8(0..100) < 6 {
            self.lose(step);
        } else {
            self.keep(step);
        }
        if self.random.u8(0..100) < 5 {
            self.crash();
        }
        self.check();
    }

    fn now(&self) -> Now {
        let server = ServerSettings { approvals: Approvals::On, timeout_ms: 300_000 };
        Now { ms: self.now_ms, server }
    }

    fn keep(&mut self, step: Step) {
        let (batch, outputs) = step.into_parts();
        self.disk.keep(&batch);
        for output in outputs {
            match output {
                Output::Tell(event) => self.mirror.hear(&event),
                Output::Answer(answer) => answer(Ok(())),
                Output::Resolved(settled) => {
                    assert!(!settled.resolution.status.is_open());
                }
                Output::TellOne(..)
                | Output::TellOthers(..)
                | Output::Join(_)
                | Output::Leave(_) => {}
            }
        }
        for editor in self.editors.iter_mut().filter(|editor| editor.waits) {
            editor.waits = false;
            editor.seen = self.mirror.version;
        }
    }

    /// The store fails: nothing is told, and the room is loaded again.
    fn lose(&mut self, step: Step) {
        self.tally.count("lost");
        drop(step);
        for editor in self.editors.iter_mut().filter(|editor| editor.waits) {
            (editor.waits, editor.latest) = (false, None);
        }
        self.state.replace_with(self.disk.room(Version(0)));
        let now = self.now();
        time::agree_with_focus(&mut self.state, &now);
    }

    /// The server stops at once and starts again; people come back.
    fn crash(&mut self) {
        self.tally.count("crashed");
        let before = std::mem::replace(&mut self.state, self.disk.room(Version(u64::MAX)));
        assert_eq!(self.state.own, before.own, "the settings are not what they were");
        for (id, request) in &before.open {
            // Since when somebody looks is of no use any more.
            let unwatched = |request: &Request| {
                let clock = crate::review::Clock { paused_ms: None, ..request.clock };
                Request { clock, ..request.clone() }
            };
            let after = &self.state.open[id];
            assert_eq!(unwatched(after), unwatched(request), "{id} is not what it was");
        }
        assert_eq!(self.state.open.len(), before.open.len());
        let now = self.now();
        time::agree_with_focus(&mut self.state, &now);
        self.everybody_comes_in();
    }

    fn everybody_comes_in(&mut self) {
        for name in PEOPLE {
            let (reply, _) = Reply::channel();
            let mut step = Step::default();
            self.state.open(member(name), None, None, reply, &self.now(), &mut step);
        }
    }

    fn command(&mut self, step: &mut Step) {
        match self.random.u8(0..100) {
            0..=29 => self.types(step),
            30..=32 => self.sends_again(step),
            33..=37 => self.moves(step),
            38..=55 => self.proposes(step),
            56..=77 => self.decides(step),
            78..=83 => self.looks(step),
            84..=89 => self.undoes(step),
            90..=93 => self.reopens(step),
            94..=95 => self.withdraws(step),
            _ => self.configures(step),
        }
    }

    fn who(&mut self) -> Principal {
        let name = PEOPLE[self.random.usize(..PEOPLE.len())];
        let role = if name == "ana" { Role::Owner } else { Role::Editor };
        person(name, role)
    }

    /// A version that was told, not too long ago.
    fn past(&mut self, not_before: Version) -> (Version, Text) {
        let newest = self.mirror.version.0;
        let oldest = newest.saturating_sub(LAG).max(not_before.0);
        let version = self.random.u64(oldest..=newest);
        (Version(version), self.mirror.texts[version as usize].clone())
    }

    fn types(&mut self, step: &mut Step) {
        let index = self.random.usize(..self.editors.len());
        if self.editors[index].waits {
            return;
        }
        let (base, mut text) = self.past(self.editors[index].seen);
        let client = self.editors[index].client.clone();
        let mut updates = Vec::new();
        for _ in 0..self.random.usize(1..4) {
            let edits = self.edits(&text);
            let change = ChangeSet::of(text.len(), &edits).unwrap();
            change.apply(&mut text).unwrap();
            updates.push((client.clone(), Box::<str>::from(change.to_json())));
        }
        self.tally.count(if base < self.state.version() { "typed late" } else { "typed" });
        let push =
            Push { member: "ana".into(), principal: person("ana", Role::Owner), base, updates };
        let before = self.state.version();
        if base < self.state.document.tail_start() {
            assert!(matches!(self.state.push(&push, &self.now(), step), Err(RoomError::Resync)));
            self.editors[index].seen = self.mirror.version;
            return;
        }
        let after = self.state.push(&push, &self.now(), step).unwrap();
        assert_eq!(after, before.plus(push.updates.len()));
        let editor = &mut self.editors[index];
        editor.latest = Some((base, push.updates));
        editor.waits = true;
    }

    /// The answer was lost on the way: the same updates again are no news.
    fn sends_again(&mut self, step: &mut Step) {
        let index = self.random.usize(..self.editors.len());
        let Some((base, updates)) = self.editors[index].latest.clone() else { return };
        if base < self.state.document.tail_start() {
            return;
        }
        self.tally.count("sent again");
        let push =
            Push { member: "ana".into(), principal: person("ana", Role::Owner), base, updates };
        let before = self.state.version();
        assert_eq!(self.state.push(&push, &self.now(), step).unwrap(), before);
    }

    fn moves(&mut self, step: &mut Step) {
        let text = self.state.document.text();
        let head = (0..=text.len()).rev().find(|at| text.is_boundary(*at) && at % 7 == 0).unwrap();
        let caret = Caret { version: self.state.version(), anchor: 0, head };
        self.state.apply(Command::Move("bo".into(), caret), &self.now(), step);
    }

    /// One or two edits at places that are between characters.
    fn edits(&mut self, text: &Text) -> Vec<Edit> {
        let mut places: Vec<usize> = (0..4).map(|_| self.place(text)).collect();
        places.sort_unstable();
        let mut edits = Vec::new();
        for pair in places.chunks(2).take(self.random.usize(1..3)) {
            let to = pair[1].min(pair[0] + 12);
            let to = if text.is_boundary(to) { to } else { to - 1 };
            let to = if self.random.bool() { pair[0] } else { to };
            let insert = if self.random.u8(0..3) == 0 { "" } else { self.word() };
            edits.push(Edit { from: pair[0], to, insert: insert.to_owned() });
        }
        edits
    }

    fn place(&mut self, text: &Text) -> usize {
        let at = self.random.usize(0..=text.len());
        if text.is_boundary(at) { at } else { at - 1 }
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.random.usize(..WORDS.len())]
    }

    fn proposes(&mut self, step: &mut Step) {
        let (base_version, base) = self.past(Version(0));
        let mut text = base.clone();
        for _ in 0..self.random.usize(1..4) {
            let edits = self.edits(&text);
            ChangeSet::of(text.len(), &edits).unwrap().apply(&mut text).unwrap();
        }
        let hunks = diff(&base.to_string(), &text.to_string(), &DiffLimits::default());
        if hunks.is_empty() {
            return;
        }
        let gate = if self.random.u8(0..12) == 0 { Gate::Bypass } else { Gate::Ask };
        self.requests += 1;
        let id = RequestId::from(format!("req_{:04}", self.requests));
        let scope = Some((0, base.len()));
        let new = NewRequest {
            id,
            tool: "update_full_document".into(),
            input: json!({}),
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
            requester: self.who(),
            prompt: String::new(),
            base_version,
            base,
            hunks,
            scope,
            explanation: String::new(),
            preview: Preview::generic(),
            source: "sdk".into(),
            gate,
        };
        let frozen = self.frozen_words();
        let late = base_version < self.state.version();
        let now = self.now();
        let older = self.disk.older(base_version, self.state.document.tail_start());
        let proposed = proposals::propose(&mut self.state, new, Some(older), &[], &now, step);
        match proposed.unwrap() {
            Proposed::Waiting(request) => {
                self.tally.count(if late { "proposed late" } else { "proposed" });
                assert_eq!(request.version, self.state.version());
                let (_, to) = request.proposal.scope.unwrap();
                assert_eq!(to, self.state.document.text().len(), "the whole text is its scope");
            }
            Proposed::Resolved(settled) => {
                self.tally.count("at once");
                assert_eq!(settled.scope, Some((0, self.state.document.text().len())));
                assert_eq!(self.frozen_words(), frozen);
            }
            Proposed::Conflicted(_) => self.tally.count("returned"),
            Proposed::Frozen(_) => self.tally.count("frozen"),
            Proposed::Unchanged => {}
        }
    }

    fn some_open(&mut self) -> Option<Arc<Request>> {
        let open: Vec<_> = self.state.open.values().cloned().collect();
        (!open.is_empty()).then(|| open[self.random.usize(..open.len())].clone())
    }

    fn decides(&mut self, step: &mut Step) {
        let Some(request) = self.some_open() else { return };
        let by = self.who();
        let decision = self.decision(&request);
        let frozen = self.frozen_words();
        let before = self.state.version();
        let (reply, mut answer) = Reply::channel();
        let command = Command::Decide(request.id().clone(), Box::new(decision), by, reply);
        self.state.apply(command, &self.now(), step);
        assert_eq!(self.frozen_words(), frozen, "a tool changed frozen words");
        let after = self.state.request(request.id()).unwrap().clone();
        let accepted = newly(&request, &after, HunkStatus::Accepted);
        let rejected = newly(&request, &after, HunkStatus::Rejected);
        for hunk in accepted.iter().chain(&rejected) {
            assert!(request.hunk(&hunk.id).unwrap().status.is_open(), "{} was decided", hunk.id);
        }
        self.check_words(&accepted);
        if after == request {
            self.tally.count("conflicted");
            assert_eq!(self.state.version(), before, "it was refused");
        } else if !accepted.is_empty() {
            self.tally.count("accepted");
        } else if !rejected.is_empty() {
            self.tally.count("refused");
        } else {
            self.tally.count("voted");
        }
        if accepted.iter().any(|hunk| hunk.decided.as_ref().unwrap().text.is_some()) {
            self.tally.count("edited");
        }
        if accepted.iter().any(|hunk| hunk.decided.as_ref().unwrap().forced_over.is_some()) {
            self.tally.count("forced");
        }
        assert!(answer.try_recv().is_err(), "nobody is answered before it is kept");
    }

    fn decision(&mut self, request: &Request) -> Decision {
        let mut decision = Decision::plain(match self.random.u8(0..5) {
            0 => Verdict::Reject,
            _ => Verdict::Approve,
        });
        if self.random.bool() {
            return decision;
        }
        let open: Vec<_> = request.hunks.iter().filter(|hunk| hunk.status.is_open()).collect();
        let count = self.random.usize(1..=open.len());
        let named = open.into_iter().take(count).map(|hunk| self.verdict(hunk)).collect();
        decision.hunks = Some(named);
        decision.finish = match self.random.u8(0..4) {
            0 => Some(Finish::Accept),
            1 => Some(Finish::Reject),
            _ => None,
        };
        decision
    }

    fn verdict(&mut self, hunk: &Hunk) -> HunkVerdict {
        let choice = if self.random.u8(0..4) == 0 { Choice::Reject } else { Choice::Accept };
        let mut verdict = HunkVerdict::plain(hunk.id.clone(), choice);
        if choice == Choice::Accept && self.random.u8(0..3) == 0 {
            verdict.text = Some(self.word().to_owned());
        }
        if hunk.status == HunkStatus::Conflict && self.random.bool() {
            verdict.force = true;
            verdict.seen = self.state.document.text().slice(hunk.range()).ok();
        }
        verdict
    }

    fn looks(&mut self, step: &mut Step) {
        let Some(request) = self.some_open() else { return };
        let focus = if self.random.u8(0..3) == 0 { Focus::Off } else { Focus::On };
        let name = PEOPLE[self.random.usize(..PEOPLE.len())];
        let (reply, _) = Reply::channel();
        let command = Command::Focus(request.id().clone(), name.into(), focus, reply);
        self.state.apply(command, &self.now(), step);
        self.tally.count("looked");
        let stands_still = self.state.open[request.id()].clock.paused_ms.is_some();
        assert_eq!(stands_still, self.state.focuses.any(request.id()));
    }

    /// A request that has ended and is known to the disk, as the driver brings it.
    fn recall(&mut self) -> Option<RequestId> {
        let ended = self.disk.ended();
        let mut ids: Vec<_> =
            ended.into_iter().filter(|id| !self.state.open.contains_key(id)).collect();
        ids.extend(self.state.open.keys().cloned());
        if ids.is_empty() {
            return None;
        }
        let id = ids.swap_remove(self.random.usize(..ids.len()));
        if !self.state.open.contains_key(&id) {
            // The driver keeps the turn so far before it reads the log.
            if self.disk.version() != self.state.version() {
                return None;
            }
            self.state.remember(Arc::new(self.disk.caught_up(&id)));
        }
        Some(id)
    }

    fn undoes(&mut self, step: &mut Step) {
        let kept = std::mem::take(step);
        self.keep(kept);
        let Some(id) = self.recall() else { return };
        let undo = Undo { request: id.clone(), hunks: None, force: self.random.bool() };
        let (reply, _) = Reply::channel();
        let by = self.who();
        let before = self.state.request(&id).unwrap().clone();
        self.state.apply(Command::Undo(undo, by, reply), &self.now(), step);
        let after = self.state.request(&id).unwrap().clone();
        if after != before {
            self.tally.count("undone");
            assert!(after.hunks.iter().all(|hunk| hunk.status != HunkStatus::Accepted));
        }
    }

    fn reopens(&mut self, step: &mut Step) {
        let kept = std::mem::take(step);
        self.keep(kept);
        let Some(id) = self.recall() else { return };
        let (reply, _) = Reply::channel();
        let by = self.who();
        let version = self.state.version();
        let before = self.state.request(&id).unwrap().clone();
        self.state.apply(Command::Reopen(id.clone(), by, reply), &self.now(), step);
        assert_eq!(self.state.version(), version, "no word changes");
        if *self.state.request(&id).unwrap() != before {
            self.tally.count("reopened");
        }
    }

    fn withdraws(&mut self, step: &mut Step) {
        let Some(request) = self.some_open() else { return };
        let (reply, _) = Reply::channel();
        let by = Some(person("ana", Role::Owner));
        self.state.apply(Command::Withdraw(request.id().clone(), by, reply), &self.now(), step);
        self.tally.count("withdrawn");
        assert!(!self.state.open.contains_key(request.id()));
    }

    fn configures(&mut self, step: &mut Step) {
        let (version, text) = self.past(self.state.document.tail_start());
        let frozen = (self.random.u8(0..3) == 0).then(|| {
            let from = self.place(&text).min(text.len().saturating_sub(1));
            let from = if text.is_boundary(from) { from } else { from - 1 };
            let to = (from + 9).min(text.len());
            let to = if text.is_boundary(to) { to } else { to + 1 };
            let range = (from < to && self.random.bool()).then_some((from, to));
            (version, range.into_iter().collect())
        });
        let policies = [Policy::Any, Policy::Any, Policy::Two, Policy::Owner, Policy::NotRequester];
        let policy = Some(policies[self.random.usize(..policies.len())]);
        let own = OwnSettings { policy, ..OwnSettings::default() };
        let (reply, _) = Reply::channel();
        let configure = Box::new(Configure { own, frozen });
        let command = Command::Configure(configure, person("ana", Role::Owner), reply);
        self.state.apply(command, &self.now(), step);
        self.tally.count("configured");
        assert_eq!(self.state.own.policy, policy, "it was refused");
        assert!(self.state.open.values().all(|request| Some(request.proposal.policy) == policy));
    }

    fn frozen_words(&self) -> Vec<String> {
        let text = self.state.document.text();
        let frozen = self.state.own.frozen.iter();
        frozen.map(|(from, to)| text.slice(*from..*to).unwrap()).collect()
    }

    /// What was accepted stands in the text.
    fn check_words(&self, accepted: &[Hunk]) {
        for hunk in accepted {
            for part in hunk.inverse.iter().filter(|part| !part.conflict) {
                let words = self.state.document.text().slice(part.from..part.to).unwrap();
                assert_eq!(words, part.base, "{} is not where it was accepted", hunk.id);
            }
        }
    }

    fn check(&self) {
        self.mirror.agrees_with(&self.state);
        assert_eq!(self.disk.version(), self.state.version());
        let text = self.state.document.text();
        for request in self.state.open.values() {
            assert_eq!(request.version, self.state.version(), "{} is behind", request.id());
            assert!(request.status.is_open());
            let some_open = request.hunks.iter().any(|hunk| hunk.status.is_open());
            assert!(some_open, "nothing of {request:?} is open");
            for hunk in request.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Pending) {
                for part in &hunk.parts {
                    let stands = text.slice(part.from..part.to).unwrap();
                    assert_eq!(stands, part.base, "the words of {} are elsewhere", hunk.id);
                }
            }
            let accepted = request.hunks.iter().filter(|it| it.status == HunkStatus::Accepted);
            self.check_words(&accepted.cloned().collect::<Vec<_>>());
        }
        for caret in self.state.presence.peers().iter().filter_map(|peer| peer.caret) {
            assert_eq!(caret.version, self.state.version());
            assert!(text.is_boundary(caret.anchor) && text.is_boundary(caret.head));
        }
    }
}

/// The hunks that have this status now and had another.
fn newly(before: &Request, after: &Request, status: HunkStatus) -> Vec<Hunk> {
    let is_new = |hunk: &&Hunk| before.hunk(&hunk.id).unwrap().status != status;
    after.hunks.iter().filter(|hunk| hunk.status == status).filter(is_new).cloned().collect()
}
