//! People, agents and reviewers around one room, and what must hold after each batch of it.

use std::collections::{BTreeMap, BTreeSet};

use copydesk::approvals::DecisionPolicy;
use copydesk::ids::{HunkId, MemberId, RequestId, Version};
use copydesk::rooms::command::{
    ClientCapabilities, JoiningMember, NewApprovalRequest, PushRequest, RoomCommand,
};
use fastrand::Rng;

use crate::book::Book;
use crate::chance::{self, PEOPLE};
use crate::editor::{Editor, Unsent};
use crate::ledger::Ledger;
use crate::mutations::Mutation;
use crate::rules::Held;
use crate::served::{Answer, Desk};
use crate::shadow::Shadow;
use crate::statutes::Statutes;

mod agents;
mod batches;
mod checks;
mod owners;
mod reviewers;

const OPENING: &str = "It was a bright cold day. She recieve 😀 letters.\n\n- one itme\n- two item\n\nThan it ended.\n";
const POLICIES: [DecisionPolicy; 6] = [
    DecisionPolicy::Any,
    DecisionPolicy::Any,
    DecisionPolicy::Two,
    DecisionPolicy::Two,
    DecisionPolicy::NotRequester,
    DecisionPolicy::Owner,
];
/// What people put in place of what was proposed; few texts, so that two may want the same, and one
/// that is long.
const TEXTS: [&str; 3] = ["the cat", "東京 😀 and a cat that sat on the mat", ""];
/// A look counts for so long.
const LOOK_MS: u64 = 15_000;

/// How often each thing happened.
pub type Tally = BTreeMap<&'static str, u64>;

/// A call of an agent.
struct Call {
    new: NewApprovalRequest,
    state: CallState,
    /// Whether a rule might deny it when it was made last.
    deniable: bool,
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
    pub copydesk: Desk,
    ledger: Ledger,
    editors: Vec<Editor>,
    calls: Vec<Call>,
    /// Connections that are told.
    audience: BTreeSet<MemberId>,
    /// Requests that agents have open at a time, and how far behind they may be.
    crowd: usize,
    lag: usize,
    /// What the oracle thinks of open hunks.
    shadows: BTreeMap<HunkId, Shadow>,
    book: Book,
    statutes: Statutes,
    /// How many rules were asked for.
    ruled: usize,
    /// Requests whose hunks were accepted in this batch.
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
        let editors = (0..random.usize(1..=5)).map(editor).collect();
        let (crowd, lag) = (random.usize(1..=9), random.usize(0..=24));
        Self {
            copydesk: Desk::new(OPENING, wrong),
            random,
            editors,
            ledger,
            calls: Vec::new(),
            crowd,
            lag,
            audience: BTreeSet::new(),
            shadows: BTreeMap::new(),
            book: Book::default(),
            statutes: Statutes::default(),
            ruled: 0,
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
            700..745 => self.proposes()?,
            745..830 => self.decides(at)?,
            830..850 => self.undoes(at)?,
            850..865 => self.reopens(at)?,
            865..870 => self.withdraws(),
            870..875 => self.extends(),
            875..895 => self.looks(at),
            895..905 => self.configures(),
            905..915 => self.freezes(),
            915..920 => self.copydesk.now_ms += self.random.u64(..400_000),
            920..925 => self.copydesk.room.snapshot(),
            925..931 => self.is_cut()?,
            931..937 => self.loses()?,
            937..945 => self.rules()?,
            _ => self.take_batch()?,
        }
        if self.busy && self.random.u8(..3) == 0 { self.take_batch() } else { Ok(()) }
    }

    // People.

    fn types(&mut self, at: usize) {
        self.editors[at].types(&mut self.random, &mut self.ledger);
        self.count("typed");
    }

    /// Everything that is not confirmed, perhaps for the second time.
    fn sends(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let (true, Some(unsent)) = (editor.is_here(), editor.unsent()) else { return };
        let Unsent { base, updates, made } = unsent;
        let member = editor.line.as_ref().unwrap().member.clone();
        let again = std::mem::replace(&mut editor.waits, true);
        let late = base < self.copydesk.room.version();
        let push =
            PushRequest { member: member.clone(), principal: editor.who.clone(), base, updates };
        let reply = self.copydesk.reply(move |result| Answer::Pushed(at, member, made, result));
        self.copydesk.push(push, reply);
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
            self.editors[at].shown.agrees(self.copydesk.room.open())?;
        }
        Ok(())
    }

    fn parts(&mut self, at: usize) {
        let unsent = self.editors[at].unsent().is_some();
        let Some(member) = self.editors[at].parts() else { return };
        self.looks.values_mut().for_each(|looks| looks.retain(|other, _| *other != member));
        self.copydesk.take(RoomCommand::Leave(member));
        self.busy = true;
        self.count(if unsent { "parted with unsent edits" } else { "parted" });
    }

    fn comes_back(&mut self, at: usize) {
        let editor = &mut self.editors[at];
        let since = Version(editor.version as u64);
        let member = editor.connects();
        let joins = JoiningMember {
            id: member.clone(),
            principal: editor.who.clone(),
            capabilities: ClientCapabilities::default(),
        };
        let reply = self.copydesk.reply(move |result| Answer::Opened(at, member, result));
        self.copydesk.take_with(RoomCommand::Open(joins, Some(since), reply), since);
        self.busy = true;
        self.count("came");
    }
}
