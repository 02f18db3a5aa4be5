//! People, agents and reviewers around one room, and what must hold after each turn of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use copydesk::document::{ChangeSet, Limits};
use copydesk::ids::{HunkId, MemberId, RequestId, Version};
use copydesk::review::{
    Choice, Decision, Finish, Hunk, HunkStatus, HunkVerdict, Policy, Preview, Request, Verdict,
};
use copydesk::room::command::{
    Command, Configure, Focus, Gate, Member, NewRequest, Proposed, Push, Reply, Undo,
};
use copydesk::room::event::Event;
use copydesk::room::rehearsal::Told;
use copydesk::room::settings::OwnSettings;
use copydesk::who::{Principal, Role};
use fastrand::Rng;

use crate::book::{Book, Case};
use crate::chance;
use crate::desk::{Answer, Desk, Out};
use crate::editor::{Editor, Message};
use crate::ledger::Ledger;
use crate::mutations::Mutation;
use crate::rules::Rule::{
    AcknowledgedMeansDurable, LookingStopsTheClock, OpenAsLongAsAHunkIs, PeopleSeeWhatTheRoomHas,
    RebaseIsAsWritten, TellingHasNoGap, TextsAreEqual, UndoLeavesTouchedWords,
    UntouchedCanBeUndone, WordsAreWhatWasPreviewed,
};
use crate::rules::{Broken, Held, must};
use crate::shadow::Shadow;

const OPENING: &str = "It was a bright cold day. She recieve 😀 letters.\n\n- one itme\n- two item\n\nThan it ended.\n";
const PEOPLE: [&str; 5] = ["ana", "bob", "cem", "rex", "vic"];
const POLICIES: [Policy; 6] =
    [Policy::Any, Policy::Any, Policy::Two, Policy::Two, Policy::NotRequester, Policy::Owner];
/// What people put in place of what was proposed; few texts, so that two may want the same.
const TEXTS: [&str; 3] = ["the cat", "東京 😀", ""];
/// A look counts for so long.
const LOOK_MS: u64 = 15_000;
/// Requests that agents have open at a time.
const OPEN: usize = 4;

/// How often each thing happened.
pub type Tally = BTreeMap<&'static str, u64>;

/// A call of an agent.
struct Call {
    new: NewRequest,
    state: CallState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallState {
    /// On its way, or waiting for people.
    Waiting,
    /// The agent was told how it ended.
    Over,
}

pub struct World {
    random: Rng,
    pub desk: Desk,
    ledger: Ledger,
    editors: Vec<Editor>,
    calls: Vec<Call>,
    /// Connections that are told.
    audience: BTreeSet<MemberId>,
    /// What the oracle thinks of open hunks.
    shadows: BTreeMap<HunkId, Shadow>,
    book: Book,
    /// Requests whose hunks were accepted in this turn.
    accepted: BTreeSet<RequestId>,
    /// Since when which connections look at a request.
    looks: BTreeMap<RequestId, BTreeMap<MemberId, u64>>,
    /// Something waits to be kept.
    busy: bool,
    pub operations: u64,
    pub tally: Tally,
    /// Whether to say what happens.
    pub loud: bool,
}

impl World {
    pub fn new(seed: u64, wrong: Option<Mutation>) -> Self {
        let mut random = Rng::with_seed(seed);
        let ledger = Ledger::new(OPENING);
        let editor =
            |at: usize| Editor::new(chance::person(PEOPLE[at % 3]), &format!("c{at}"), &ledger);
        let editors = (0..random.usize(2..=4)).map(editor).collect();
        Self {
            desk: Desk::new(OPENING, wrong),
            random,
            editors,
            ledger,
            calls: Vec::new(),
            audience: BTreeSet::new(),
            shadows: BTreeMap::new(),
            book: Book::default(),
            accepted: BTreeSet::new(),
            looks: BTreeMap::new(),
            busy: false,
            operations: 0,
            tally: Tally::new(),
            loud: false,
        }
    }

    /// Lives through so many steps, and then everybody comes together.
    pub fn plays(&mut self, steps: usize) -> Held {
        for at in 0..self.editors.len() {
            self.comes_back(at);
        }
        for _ in 0..steps {
            self.step()?;
        }
        self.comes_together()
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
        if self.loud {
            eprintln!("{} {what}", self.operations);
        }
    }

    fn step(&mut self) -> Held {
        self.operations += 1;
        let at = self.random.usize(..self.editors.len());
        let here = self.editors[at].line.is_some();
        match self.random.u16(..1000) {
            0..250 => self.types(at),
            250..330 => self.sends(at),
            330..620 => self.hears(at)?,
            620..640 if here => self.parts(at),
            620..700 if !here => self.comes_back(at),
            700..745 => self.proposes(),
            745..830 => self.decides(at)?,
            830..850 => self.undoes(at)?,
            850..865 => self.reopens(at)?,
            865..870 => self.withdraws(),
            870..875 => self.extends(),
            875..895 => self.looks(at),
            895..905 => self.configures(),
            905..915 => self.freezes(),
            915..920 => self.desk.now_ms += self.random.u64(..400_000),
            920..925 => self.desk.room.snapshot(),
            925..931 => self.is_cut()?,
            931..937 => self.loses()?,
            _ => self.turn()?,
        }
        if self.busy && self.random.u8(..3) == 0 { self.turn() } else { Ok(()) }
    }

    // People.

    fn types(&mut self, at: usize) {
        self.editors[at].types(&mut self.random, &mut self.ledger);
        self.count("typed");
    }

    /// Everything that is not confirmed, perhaps for the second time.
    fn sends(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let (true, Some((base, updates, made))) = (editor.is_here(), editor.push()) else { return };
        let member = editor.line.as_ref().unwrap().member.clone();
        let again = std::mem::replace(&mut editor.waits, true);
        let late = base < self.desk.room.version();
        let push = Push { member: member.clone(), principal: editor.who.clone(), base, updates };
        let reply = self.desk.reply(move |result| Answer::Pushed(at, member, made, result));
        self.desk.push(push, reply);
        self.busy = true;
        self.count(if again {
            "sent again"
        } else if late {
            "sent late"
        } else {
            "sent"
        });
    }

    fn hears(&mut self, at: usize) -> Held {
        if self.editors[at].hears(&self.ledger)? {
            self.count("heard");
        }
        if !self.busy && self.editors[at].is_up_to_date() {
            self.editors[at].shown.agrees(self.desk.room.open())?;
        }
        Ok(())
    }

    fn parts(&mut self, at: usize) {
        let unsent = self.editors[at].push().is_some();
        let Some(member) = self.editors[at].parts() else { return };
        self.looks.values_mut().for_each(|looks| looks.retain(|other, _| *other != member));
        self.desk.take(Command::Leave(member));
        self.busy = true;
        self.count(if unsent { "parted with unsent edits" } else { "parted" });
    }

    fn comes_back(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let since = Version(editor.version as u64);
        let member = editor.connects();
        let joins = Member { id: member.clone(), principal: editor.who.clone() };
        let reply = self.desk.reply(move |result| Answer::Opened(at, member, result));
        self.desk.take_with(Command::Open(joins, Some(since), reply), since);
        self.busy = true;
        self.count("came");
    }

    // Agents.

    fn proposes(&mut self) {
        if self.desk.room.open().len() >= OPEN {
            return;
        }
        let back = self.random.usize(..=8.min(self.ledger.version()));
        let version = self.ledger.version() - back;
        let base = self.ledger.text(version).clone();
        let hunks = chance::drafts(&mut self.random, &base);
        if hunks.is_empty() {
            return;
        }
        let gate = if self.random.u8(..24) == 0 { Gate::Bypass } else { Gate::Ask };
        let new = NewRequest {
            id: RequestId::from(format!("req_{}", self.calls.len())),
            tool: "update_full_document".into(),
            input: serde_json::Value::Null,
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
            requester: chance::person(PEOPLE[self.random.usize(..3)]),
            prompt: String::new(),
            base_version: Version(version as u64),
            scope: Some((0, base.len())),
            base,
            hunks,
            explanation: String::new(),
            preview: Preview::generic(),
            source: "sdk".into(),
            gate,
        };
        self.calls.push(Call { new, state: CallState::Waiting });
        self.count(if back > 0 { "proposed late" } else { "proposed" });
        self.sends_call(self.calls.len() - 1);
    }

    fn sends_call(&mut self, call: usize) {
        let new = self.calls[call].new.clone();
        let base = new.base_version;
        let reply = self.desk.reply(move |result| Answer::Proposed(call, result));
        self.desk.take_with(Command::Propose(Box::new(new), reply), base);
        self.busy = true;
    }

    /// After a restart every call is made again, or learns how it ended.
    fn takes_up_calls(&mut self) {
        for call in 0..self.calls.len() {
            if self.calls[call].state == CallState::Over {
                continue;
            }
            let id = self.calls[call].new.id.clone();
            let known = self.desk.disk.requests.contains_key(&id);
            let ledger = &self.ledger;
            if known && self.desk.has_settled(&id, |version| ledger.text(version).clone()) {
                self.calls[call].state = CallState::Over;
                self.count("settled after a restart");
            } else {
                self.sends_call(call);
                self.count("taken up");
            }
        }
    }

    // Reviewers.

    fn some_open(&mut self) -> Option<RequestId> {
        let ids: Vec<_> = self.desk.room.open().keys().collect();
        (!ids.is_empty()).then(|| ids[self.random.usize(..ids.len())].clone())
    }

    fn somebody(&mut self) -> Principal {
        chance::person(PEOPLE[self.random.usize(..PEOPLE.len())])
    }

    /// Somebody decides what they see, which may be of a moment ago.
    fn decides(&mut self, at: usize) -> Held {
        let Some(id) = self.some_open() else { return Ok(()) };
        let by = self.somebody();
        let decision = self.decision(at, &id);
        let before = Arc::clone(&self.desk.room.open()[&id]);
        let (text, version) = (self.desk.room.text().clone(), self.desk.room.version());
        let frozen = self.desk.room.frozen().to_vec();
        self.desk.decide(&id, decision.clone(), by.clone());
        self.busy = true;
        let after = Arc::clone(self.desk.room.request(&id).unwrap());
        let made = self.desk.room.since(version).unwrap();
        let change = made.first().map(|it| ChangeSet::parse(&it.changes, &Limits::NONE).unwrap());
        self.book.judge(&Case {
            before: &before,
            after: &after,
            decision: &decision,
            by: &by,
            text: &text,
            change: change.as_ref(),
            now_ms: self.desk.now_ms,
            frozen: &frozen,
        })?;
        self.count_decision(&before, &after);
        self.accepted.insert(id);
        Ok(())
    }

    fn count_decision(&mut self, before: &Request, after: &Request) {
        let newly = |status| {
            let changed =
                before.hunks.iter().zip(&after.hunks).filter(|(was, is)| was.status != is.status);
            changed.map(|(_, is)| is).filter(move |is| is.status == status)
        };
        let accepted: Vec<_> =
            newly(HunkStatus::Accepted).filter_map(|hunk| hunk.decided.as_ref()).collect();
        let happened = [
            ("accepted", !accepted.is_empty()),
            ("edited", accepted.iter().any(|it| it.text.is_some())),
            ("forced", accepted.iter().any(|it| it.forced_over.is_some())),
            ("rejected", newly(HunkStatus::Rejected).count() > 0),
            (
                "voted",
                accepted.is_empty()
                    && before.hunks.iter().zip(&after.hunks).any(|(was, is)| was.votes != is.votes),
            ),
            ("refused", before == after),
        ];
        for (what, _) in happened.into_iter().filter(|(_, did)| *did) {
            self.count(what);
        }
    }

    fn decision(&mut self, at: usize, id: &RequestId) -> Decision {
        let verdict = if self.random.u8(..4) == 0 { Verdict::Reject } else { Verdict::Approve };
        let mut decision = Decision::plain(verdict);
        let announced = self.desk.room.open()[id].announced.clone();
        decision.preview_hash = match self.random.u8(..16) {
            0 => Some(format!("{announced}?")),
            1..9 => Some(announced),
            _ => None,
        };
        if self.random.u8(..3) == 0 {
            return decision;
        }
        // Now and then what has been decided meanwhile.
        let all = self.random.u8(..4) == 0;
        let hunks =
            self.desk.room.open()[id].hunks.iter().filter(|hunk| all || hunk.status.is_open());
        let hunks: Vec<HunkId> = hunks.map(|hunk| hunk.id.clone()).collect();
        let first = self.random.usize(..hunks.len());
        let named = hunks[first..].iter().take(self.random.usize(1..=2));
        let named: Vec<_> = named.map(|hunk| self.verdict(at, hunk)).collect();
        decision.hunks = Some(named);
        decision.finish =
            [None, None, None, Some(Finish::Accept), Some(Finish::Reject)][self.random.usize(..5)];
        decision
    }

    fn verdict(&mut self, at: usize, id: &HunkId) -> HunkVerdict {
        let choice = if self.random.u8(..4) == 0 { Choice::Reject } else { Choice::Accept };
        let mut verdict = HunkVerdict::plain(id.clone(), choice);
        if choice == Choice::Reject {
            return verdict;
        }
        let edits = self.random.u8(..4) == 0;
        verdict.text = edits.then(|| TEXTS[self.random.usize(..TEXTS.len())].to_owned());
        let editor = &self.editors[at];
        let Some(hunk) = editor.shown.hunks.get(id) else { return verdict };
        let conflict = hunk.status == HunkStatus::Conflict;
        if conflict && self.random.u8(..4) > 0 || self.random.u8(..16) == 0 {
            verdict.seen = editor.confirmed(&self.ledger).slice(hunk.range()).ok();
            verdict.force = verdict.seen.is_some();
        }
        verdict
    }

    fn undoes(&mut self, at: usize) -> Held {
        let Some(id) = self.some_ended_or_open()? else { return Ok(()) };
        let before = Arc::clone(self.desk.room.request(&id).unwrap());
        let accepted: Vec<&Hunk> =
            before.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted).collect();
        let hunks = match accepted.as_slice() {
            [] => return Ok(()),
            [one, ..] if self.random.bool() => Some(vec![one.id.clone()]),
            _ => None,
        };
        let meant = |hunk: &&&Hunk| hunks.as_ref().is_none_or(|ids| ids.contains(&hunk.id));
        let meant: Vec<&Hunk> = accepted.iter().filter(meant).copied().collect();
        let force = self.random.u8(..4) == 0;
        let untouched = meant.iter().all(|hunk| self.stands(hunk));
        let (text, version) = (self.desk.room.text().clone(), self.desk.room.version());
        let by = self.editors[at].who.clone();
        // An owner may under every policy, but for what they asked for themselves.
        let may = by.role == Role::Owner && before.proposal.requester.user != by.user;
        let undo = Undo { request: id.clone(), hunks: hunks.clone(), force };
        self.desk.undo(undo, by);
        self.busy = true;
        let after = Arc::clone(self.desk.room.request(&id).unwrap());
        let done = after != before;
        must(UntouchedCanBeUndone, done || !untouched || !may, || {
            format!("{meant:?} could not be undone in {:?}", text.to_string())
        })?;
        if !done {
            self.count("undo refused");
            return Ok(());
        }
        self.count(if force { "undone by force" } else { "undone" });
        for hunk in &after.hunks {
            if before.hunk(&hunk.id).unwrap().status == HunkStatus::Accepted
                && hunk.status != HunkStatus::Accepted
            {
                self.book.open_again(&hunk.id);
            }
        }
        let made = self.desk.room.since(version).unwrap();
        let Some(update) = made.first().filter(|_| !force) else { return Ok(()) };
        let change = ChangeSet::parse(&update.changes, &Limits::NONE).unwrap();
        let put_in: usize =
            meant.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.len()).sum();
        let gone = crate::ledger::edits(&change)
            .into_iter()
            .map(|(from, to, _)| text.slice(from..to).unwrap());
        let gone: Vec<String> = gone.filter(|words| !words.is_empty()).collect();
        let all: String =
            meant.iter().flat_map(|hunk| &hunk.inverse).map(|part| part.base.as_str()).collect();
        let known = gone.iter().all(|words| {
            all.contains(words.as_str()) || words.len() <= put_in && adjoining(words, &meant)
        });
        must(UndoLeavesTouchedWords, known, || format!("{gone:?} were taken, accepted was {all:?}"))
    }

    /// Whether what an accept put in stands as it was, unit by unit.
    fn stands(&self, hunk: &Hunk) -> bool {
        let Some(pieces) = self.book.line(&hunk.id).stands else { return false };
        let names = &self.ledger.names;
        pieces.iter().all(|piece| {
            let start = names.iter().position(|name| *name == piece[0]);
            start.is_some_and(|at| names[at..].starts_with(piece))
        })
    }

    fn reopens(&mut self, at: usize) -> Held {
        let Some(id) = self.some_ended_or_open()? else { return Ok(()) };
        let before = Arc::clone(self.desk.room.request(&id).unwrap());
        let (reply, _) = Reply::channel();
        let version = self.desk.room.version();
        let by = self.editors[at].who.clone();
        self.desk.take(Command::Reopen(id.clone(), by, reply));
        self.busy = true;
        must(TextsAreEqual, self.desk.room.version() == version, || {
            "proposing again changed a word".to_owned()
        })?;
        let after = Arc::clone(self.desk.room.request(&id).unwrap());
        if after != before {
            self.count("reopened");
        }
        for (was, hunk) in before.hunks.iter().zip(&after.hunks) {
            if was.status != hunk.status {
                self.book.open_again(&hunk.id);
            }
        }
        Ok(())
    }

    /// Everything is kept first, as the driver does before it reads the log.
    fn some_ended_or_open(&mut self) -> Result<Option<RequestId>, Broken> {
        self.turn()?;
        let ids: Vec<_> = self.desk.disk.requests.keys().cloned().collect();
        if ids.is_empty() || self.desk.room.open().len() > OPEN + 4 {
            return Ok(None);
        }
        let id = ids[self.random.usize(..ids.len())].clone();
        if self.desk.disk.version() == self.desk.room.version() {
            let ledger = &self.ledger;
            self.desk.recall(&id, |version| ledger.text(version).clone());
        }
        Ok(self.desk.room.request(&id).is_some().then_some(id))
    }

    fn withdraws(&mut self) {
        let Some(id) = self.some_open() else { return };
        let (reply, _) = Reply::channel();
        self.desk.take(Command::Withdraw(id, Some(chance::person("ana")), reply));
        self.busy = true;
        self.count("withdrawn");
    }

    fn extends(&mut self) {
        let Some(id) = self.some_open() else { return };
        let (reply, _) = Reply::channel();
        self.desk.take(Command::Extend(id, chance::person("bob"), reply));
        self.busy = true;
        self.count("given more time");
    }

    fn looks(&mut self, at: usize) {
        let (Some(id), Some(line)) = (self.some_open(), &self.editors[at].line) else { return };
        let member = line.member.clone();
        if !self.audience.contains(&member) {
            return;
        }
        let off = self.random.u8(..4) == 0;
        let looks = self.looks.entry(id.clone()).or_default();
        if off {
            looks.remove(&member);
        } else {
            looks.insert(member.clone(), self.desk.now_ms);
        }
        let (reply, _) = Reply::channel();
        let focus = if off { Focus::Off } else { Focus::On };
        self.desk.take(Command::Focus(id, member, focus, reply));
        self.busy = true;
        self.count("looked");
    }

    fn configures(&mut self) {
        let policy = Some(POLICIES[self.random.usize(..POLICIES.len())]);
        let own = OwnSettings { policy, ..OwnSettings::default() };
        self.configure(Configure { own, frozen: None });
        self.count("configured");
    }

    fn freezes(&mut self) {
        let text = self.ledger.text(self.ledger.version());
        let from = chance::boundary(text, self.random.usize(..=text.len()));
        let to = chance::boundary(text, from + 6);
        let range = (from < to && self.random.u8(..3) > 0).then_some((from, to));
        let version = Version(self.ledger.version() as u64);
        let frozen = Some((version, range.into_iter().collect()));
        self.configure(Configure { own: OwnSettings::default(), frozen });
        self.count("froze");
    }

    fn configure(&mut self, configure: Configure) {
        let (reply, _) = Reply::channel();
        self.desk.take(Command::Configure(Box::new(configure), chance::person("ana"), reply));
        self.busy = true;
    }

    // The server.

    /// The turn is kept and told, and the next one begins.
    fn turn(&mut self) -> Held {
        self.end_turn()?;
        let looking = self.desk.now_ms;
        self.desk.now_ms += self.random.u64(..8_000);
        let before = self.desk.room.open().clone();
        self.desk.expire();
        let after = self.desk.room.open().clone();
        for (id, was) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
            let looks = self.looks.remove(id).unwrap_or_default();
            let now_ms = self.desk.now_ms;
            let looked = looks.values().any(|at_ms| now_ms < at_ms + LOOK_MS);
            must(LookingStopsTheClock, !looked, || format!("{was:?} expired after {looking}"))?;
            self.busy = true;
            self.count("expired");
        }
        Ok(())
    }

    fn end_turn(&mut self) -> Held {
        let out = self.desk.turn();
        self.busy = false;
        self.book.keep();
        for out in out {
            self.deliver(out)?;
        }
        self.note_what_stands();
        self.check()
    }

    fn loses(&mut self) -> Held {
        self.count("lost");
        self.book.lose();
        self.accepted.clear();
        self.busy = false;
        for out in self.desk.loses()? {
            self.deliver(out)?;
        }
        self.check()
    }

    fn is_cut(&mut self) -> Held {
        let kept = self.random.bool();
        self.count(if kept { "cut after it was kept" } else { "cut before it was kept" });
        if kept {
            self.book.keep()
        } else {
            self.book.lose()
        }
        self.busy = false;
        self.desk.is_cut(kept)?;
        self.is_cut_off();
        // What was kept and told to nobody.
        let (known, newest) = (Version(self.ledger.version() as u64), self.desk.disk.version());
        must(AcknowledgedMeansDurable, known <= newest, || {
            format!("{known} was told, kept is {newest}")
        })?;
        for update in self.desk.disk.older(known, newest) {
            self.ledger.follow(&update)?;
        }
        if kept {
            self.shadows.clear();
            let open: Vec<_> = self.desk.room.open().values().cloned().collect();
            open.iter().for_each(|request| self.watch(request));
        }
        self.note_what_stands();
        self.check_open()?;
        self.takes_up_calls();
        Ok(())
    }

    /// Every connection is gone.
    fn is_cut_off(&mut self) {
        self.audience.clear();
        self.looks.clear();
        for editor in &mut self.editors {
            editor.parts();
        }
    }

    fn deliver(&mut self, out: Out) -> Held {
        match out {
            Out::Told(Told::All(event)) => self.tell_all(event)?,
            Out::Told(Told::Others(one, event)) => {
                self.pass_on(&Arc::new(event), |member| *member != one)
            }
            Out::Told(Told::One(one, event)) => {
                self.pass_on(&Arc::new(event), |member| *member == one)
            }
            Out::Told(Told::Joined(member)) => drop(self.audience.insert(member)),
            Out::Told(Told::Left(member)) => drop(self.audience.remove(&member)),
            Out::Told(Told::Ended(settled)) => {
                let id = &settled.resolution.request;
                let waits =
                    |call: &&mut Call| call.new.id == *id && call.state == CallState::Waiting;
                for call in self.calls.iter_mut().filter(waits) {
                    call.state = CallState::Over;
                }
            }
            Out::Answer(Answer::Pushed(at, member, made, result)) => {
                self.pushed(at, &member, made, result.is_ok())?
            }
            Out::Answer(Answer::Opened(at, member, result)) => {
                let line = self.editors[at].line.as_mut().filter(|line| line.member == member);
                match (line, result) {
                    (Some(line), Ok(opened)) => {
                        line.inbox.push_back(Message::Opened(Box::new(opened)))
                    }
                    (Some(_), Err(_)) => drop(self.editors[at].parts()),
                    (None, _) => {}
                }
            }
            Out::Answer(Answer::Proposed(call, result)) => self.proposed(call, result),
        }
        Ok(())
    }

    fn pushed(&mut self, at: usize, member: &MemberId, made: usize, taken: bool) -> Held {
        let editor = &mut self.editors[at];
        if editor.line.as_ref().is_some_and(|line| line.member == *member) {
            editor.waits = false;
        }
        let committed = self.ledger.committed(&editor.client);
        must(AcknowledgedMeansDurable, !taken || committed >= made, || {
            format!(
                "{made} updates of {} were acknowledged, {committed} are in the log",
                editor.client
            )
        })
    }

    fn proposed(&mut self, call: usize, result: Result<Proposed, copydesk::room::RoomError>) {
        let what = match result {
            Ok(Proposed::Waiting(_)) => return,
            Ok(Proposed::Resolved(_)) => "applied at once",
            Ok(Proposed::Conflicted(_)) => "returned to the agent",
            Ok(Proposed::Frozen(_)) => "frozen",
            Ok(_) => "nothing to propose",
            Err(_) => "could not be proposed",
        };
        self.calls[call].state = CallState::Over;
        self.count(what);
    }

    fn tell_all(&mut self, event: Event) -> Held {
        if self.loud {
            eprintln!("  told at {}: {event:?}", self.ledger.version());
        }
        match &event {
            Event::Updates { from, updates, drop, put } => {
                let newest = from.0 as usize + updates.len();
                must(TellingHasNoGap, from.0 as usize == self.ledger.version(), || {
                    format!("told from {from}, known is {}", self.ledger.version())
                })?;
                must(
                    AcknowledgedMeansDurable,
                    self.desk.disk.version().0 as usize >= newest,
                    || format!("version {newest} is told, kept is {}", self.desk.disk.version()),
                )?;
                let by_request = updates.iter().any(|update| update.origin.is_some());
                must(
                    PeopleSeeWhatTheRoomHas,
                    !by_request || !drop.is_empty() || !put.is_empty(),
                    || "an accept was told without its hunks".to_owned(),
                )?;
                for update in updates {
                    self.follow(update)?;
                }
                drop.iter().for_each(|id| std::mem::drop(self.shadows.remove(id)));
                for (_, hunk) in put {
                    self.shadows.insert(hunk.id.clone(), Shadow::new(hunk, &self.ledger.names));
                }
            }
            Event::Requested(request) => self.watch(request),
            Event::Resolved(request) => {
                request.hunks.iter().for_each(|hunk| drop(self.shadows.remove(&hunk.id)));
            }
            _ => {}
        }
        self.pass_on(&Arc::new(event), |_| true);
        Ok(())
    }

    fn follow(&mut self, update: &Arc<copydesk::document::Update>) -> Held {
        self.ledger.follow(update)?;
        let entry = self.ledger.entries.last().unwrap();
        for shadow in self.shadows.values_mut() {
            shadow.see(entry, &self.ledger.names);
        }
        Ok(())
    }

    fn watch(&mut self, request: &Request) {
        for hunk in request.hunks.iter().filter(|hunk| hunk.status.is_open()) {
            self.shadows.insert(hunk.id.clone(), Shadow::new(hunk, &self.ledger.names));
        }
    }

    fn pass_on(&mut self, event: &Arc<Event>, to: impl Fn(&MemberId) -> bool) {
        for line in self.editors.iter_mut().filter_map(|editor| editor.line.as_mut()) {
            if self.audience.contains(&line.member) && to(&line.member) {
                line.inbox.push_back(Message::Told(Arc::clone(event)));
            }
        }
    }

    /// Which units were put in by what was accepted in this turn.
    fn note_what_stands(&mut self) {
        for id in std::mem::take(&mut self.accepted) {
            let Some(request) = self.desk.room.request(&id).cloned() else { continue };
            if request.version.0 as usize != self.ledger.version() {
                continue;
            }
            for hunk in request.hunks.iter().filter(|hunk| hunk.status == HunkStatus::Accepted) {
                let mut line = self.book.line(&hunk.id);
                let pieces =
                    hunk.inverse.iter().map(|part| self.ledger.names[part.from..part.to].to_vec());
                let pieces: Vec<_> = pieces.collect();
                if line.stands.is_none()
                    && !pieces.is_empty()
                    && pieces.iter().all(|piece| !piece.is_empty())
                {
                    line.stands = Some(pieces);
                    self.book.write(&hunk.id, line);
                }
            }
        }
        self.book.keep();
    }

    // What must hold.

    fn check(&self) -> Held {
        let known = (self.ledger.version() as u64, self.ledger.names.len());
        let room = (self.desk.room.version().0, self.desk.room.text().len());
        must(TextsAreEqual, known == room, || {
            format!("the log is at {known:?}, the room at {room:?}")
        })?;
        self.check_open()
    }

    fn check_open(&self) -> Held {
        for request in self.desk.room.open().values() {
            let is_open = request.hunks.iter().any(|hunk| hunk.status.is_open());
            must(OpenAsLongAsAHunkIs, is_open && request.status.is_open(), || {
                format!("{request:?}")
            })?;
            must(RebaseIsAsWritten, request.version == self.desk.room.version(), || {
                format!("{request:?}")
            })?;
            for hunk in &request.hunks {
                self.check_hunk(hunk)?;
                self.book.stays(hunk)?;
            }
        }
        Ok(())
    }

    fn check_hunk(&self, hunk: &Hunk) -> Held {
        let text = self.desk.room.text();
        let parts = if hunk.status == HunkStatus::Accepted { &hunk.inverse } else { &hunk.parts };
        let watched = hunk.status.is_open() || hunk.status == HunkStatus::Accepted;
        for part in parts.iter().filter(|part| watched && !part.conflict) {
            let stands = text.slice(part.from..part.to);
            must(
                WordsAreWhatWasPreviewed,
                stands.as_ref().is_ok_and(|it| *it == part.base),
                || format!("{hunk:?} stands on {stands:?}"),
            )?;
        }
        let shadow = self.shadows.get(&hunk.id).filter(|_| hunk.status.is_open());
        must(RebaseIsAsWritten, shadow.is_none_or(|it| it.agrees(hunk)), || {
            format!("{hunk:?}\n{shadow:?}")
        })
    }

    /// Everybody comes back, sends what is left and hears everything; then all have the same.
    fn comes_together(&mut self) -> Held {
        self.turn()?;
        for at in 0..self.editors.len() {
            if self.editors[at].line.is_none() {
                self.comes_back(at);
            }
        }
        // What was sent may be answered by what has to be heard first.
        for _ in 0..3 {
            self.end_turn()?;
            for at in 0..self.editors.len() {
                while self.editors[at].hears(&self.ledger)? {}
                self.sends(at);
            }
        }
        self.end_turn()?;
        for at in 0..self.editors.len() {
            while self.editors[at].hears(&self.ledger)? {}
            self.editors[at].agrees(&self.ledger)?;
            self.editors[at].shown.agrees(self.desk.room.open())?;
        }
        self.ledger.settle()?;
        let text = self.ledger.text(self.ledger.version()).to_string();
        must(TextsAreEqual, text == self.desk.room.text().to_string(), || text.clone())?;
        self.desk.disk.check(|version| self.ledger.text(version).clone());
        for record in self.desk.disk.requests.values() {
            let request: Request = serde_json::from_value(record.body.clone()).unwrap();
            for hunk in &request.hunks {
                self.book.stays(hunk)?;
            }
        }
        Ok(())
    }
}

/// Whether words that were taken in one piece are what neighbouring parts had put in.
fn adjoining(words: &str, hunks: &[&Hunk]) -> bool {
    let mut parts: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.inverse).collect();
    parts.sort_by_key(|part| part.from);
    let joined: String = parts.iter().map(|part| part.base.as_str()).collect();
    joined.contains(words)
}
