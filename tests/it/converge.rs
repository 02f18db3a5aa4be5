//! Editors far from each other: seeded sessions of two to six real CodeMirror states, each with its
//! own socket.io client, which type at the same time, hear late, send twice and lose connections,
//! while changes are proposed and decided and the server is killed. Governed sessions are under
//! every rule of review: requests run out of time, people vote and look, policies change, words are
//! frozen, owners rule.
//!
//! `COPYDESK_SESSIONS=500 cargo test --test it converge` plays more of them,
//! `COPYDESK_SIMULATION_SECONDS=150` goes on for so long; `COPYDESK_SEED=7` plays that one, or from
//! there on. What a session must come to is in `support/converge/ledger.mjs`; what a governed one
//! must, in `hearing.mjs` and `docket.mjs` too.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{OWNER, Role, TestServer, modules};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/converge.mjs");
/// Some seconds on two busy cores.
const SESSIONS: u64 = 100;
/// Sessions in which everything happens at once and the server is killed up to three times.
const CUT_SESSIONS: u64 = 6;
/// Governed sessions; each takes seconds, because time really runs out in it.
const GOVERNED_SESSIONS: u64 = 12;
/// In so many of them everything happens.
const ENOUGH_GOVERNED_SESSIONS: u64 = 48;
/// Servers for governed sessions in which it is killed.
const FRAGILE: usize = 2;
/// Lines that may end while somebody comes, although neither side ended them: machines stand still
/// for longer than a heartbeat now and then. A server that loses lines does so again and again.
const MOST_CUT_OFF: u64 = 1;
/// Half of the sessions of the wrong client go wrong, and the first that does ends them.
const WRONG_SESSIONS: u64 = 20;

/// How a client takes the updates it has heard.
#[derive(Clone, Copy)]
pub enum Client {
    /// One `receiveUpdates` for each, as ours.
    OneByOne,
    /// All at once, as in CodeMirror's example.
    AllAtOnce,
}

/// Which sessions to play.
pub struct Play {
    pub seeds: Range<u64>,
    /// Further ones until so many seconds are over.
    pub seconds: u64,
    pub client: Client,
    /// What all of them are about, if not what their seeds say.
    pub kind: Value,
    /// Under every rule of review.
    pub governed: bool,
}

/// One or several servers to which something happens in the middle of a session.
pub trait FragileDesk {
    /// Lets it happen. Returns `{url}` or `{urls}`: where the servers are afterwards.
    fn cut(&mut self) -> Value;
}

impl FragileDesk for TestServer {
    fn cut(&mut self) -> Value {
        self.is_killed_and_restarted();
        json!({"url": self.url()})
    }
}

impl Default for Play {
    fn default() -> Self {
        Self {
            seeds: 0..0,
            seconds: 0,
            client: Client::OneByOne,
            kind: Value::Null,
            governed: false,
        }
    }
}

impl Play {
    /// The script of the models, as it is called in `fixtures/scripts`.
    pub fn script(&self) -> &'static str {
        if self.governed { "governed" } else { "converge" }
    }
}

/// The process in which the editors live.
struct Editors {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editors {
    fn start() -> Self {
        let modules = modules().unwrap_or_else(|why| crate::support::give_up(&why));
        let mut process = Command::new("node")
            .arg(PROGRAM)
            .arg(modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                crate::support::give_up(&format!("`node` cannot be started: {error}"))
            });
        let input = process.stdin.take().expect("stdin is piped");
        let output = BufReader::new(process.stdout.take().expect("stdout is piped"));
        Self { process, input, output }
    }

    fn say(&mut self, line: &Value) {
        // Where a session has failed meanwhile, they are gone, and have said why.
        writeln!(self.input, "{line}").ok();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the editors speak UTF-8");
        serde_json::from_str(&line).expect("the editors speak until they are done")
    }
}

impl Drop for Editors {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn peopled(script: &str) -> (TestServer, Value) {
    let copydesk = TestServer::playing(script);
    let place = people_on(&copydesk);
    (copydesk, place)
}

/// The people on a server: three who write, one who only decides, one who only reads.
pub fn people_on(copydesk: &TestServer) -> Value {
    let [ana, ben] = ["Ana", "Ben"].map(|name| copydesk.token(name, Role::Editor, &[]));
    let [rea, vic] = [("Rea", Role::Reviewer), ("Vic", Role::Viewer)]
        .map(|(name, role)| copydesk.token(name, role, &[]));
    let people = json!([
        {"name": "Owner", "role": "owner", "token": OWNER},
        {"name": "Ana", "role": "editor", "token": ana},
        {"name": "Ben", "role": "editor", "token": ben},
        {"name": "Rea", "role": "reviewer", "token": rea},
        {"name": "Vic", "role": "viewer", "token": vic},
    ]);
    json!({"url": copydesk.url(), "tokens": [OWNER, ana, ben], "people": people})
}

/// Plays the sessions; what happened how often, and what failed. What the server that was killed
/// leaves behind is checked like every desk's.
fn play(wanted: Play) -> (Value, Vec<Value>) {
    let name = wanted.script();
    let (_desk, told) = peopled(name);
    let killed = if wanted.governed { FRAGILE } else { 1 };
    let (mut fragile, places): (Vec<_>, Vec<_>) =
        std::iter::repeat_with(|| peopled(name)).take(killed).unzip();
    play_on(wanted, told, (&mut fragile, places))
}

/// As `play`, at the place that is `told` and on these fragile desks, each with its place.
pub fn play_on(
    wanted: Play,
    mut told: Value,
    (fragile, places): (&mut [impl FragileDesk], Vec<Value>),
) -> (Value, Vec<Value>) {
    let mut editors = Editors::start();
    let name = wanted.script();
    let Play { seeds, seconds, client, kind, governed } = wanted;
    let script = format!("{}/fixtures/scripts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    told["cut"] = places.into();
    told["script"] = script.into();
    told["seeds"] = seeds.collect::<Vec<_>>().into();
    told["seconds"] = seconds.into();
    told["stock"] = matches!(client, Client::AllAtOnce).into();
    told["kind"] = kind;
    told["governed"] = governed.into();
    editors.say(&told);
    loop {
        let line = editors.hear();
        if let Some(cut) = line["cut"].as_u64() {
            let copydesk = &mut fragile[usize::try_from(cut).expect("it is one of them")];
            editors.say(&copydesk.cut());
            continue;
        }
        let failures = line["done"]["failures"].as_array().expect("failures").clone();
        return (line["done"]["count"].clone(), failures);
    }
}

pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn chosen() -> Range<u64> {
    let sessions = setting("COPYDESK_SESSIONS");
    match setting("COPYDESK_SEED") {
        Some(seed) => seed..seed + sessions.unwrap_or(1),
        None => 0..sessions.unwrap_or(SESSIONS),
    }
}

/// A failure as a person reads it: the end of what led to it, then the reason, so that the reason
/// is there where only the end of a long report is kept.
fn tell(failure: &Value) -> String {
    let trace: Vec<_> =
        failure["trace"].as_array().expect("a trace").iter().filter_map(Value::as_str).collect();
    let seed = failure["seed"].as_str().expect("a seed");
    format!(
        "session {seed} (COPYDESK_SEED={seed}):\n  {}\nsession {seed} failed: {}",
        trace.join("\n  "),
        failure["why"].as_str().expect("a reason")
    )
}

pub fn holds(count: &Value, failures: &[Value]) {
    let told: Vec<_> = failures.iter().map(tell).collect();
    assert!(told.is_empty(), "{} sessions failed\n{}", told.len(), told.join("\n\n"));
    assert!(count["cutOff"].as_u64() <= Some(MOST_CUT_OFF), "lines were lost: {count}");
}

/// What never happened.
fn missing<'w>(all: &[&'w str], count: &Value) -> Vec<&'w str> {
    let happened = |what: &&&str| count[**what].as_u64().is_some_and(|times| times > 0);
    all.iter().filter(|what| !happened(what)).copied().collect()
}

#[test]
fn editors_far_from_each_other_always_come_to_the_same_text() {
    let seeds = chosen();
    let seconds = setting("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let (count, failures) = play(Play { seeds: seeds.clone(), seconds, ..Play::default() });
    println!("seeds {seeds:?} and {seconds} s more: {count}");
    holds(&count, &failures);
    let everything = [
        "updates",
        "resent",
        "lost",
        "resyncs",
        "proposals",
        "decisions",
        "undone",
        "cuts",
        "parted",
    ];
    let missing = missing(&everything, &count);
    assert!(missing.is_empty() || seeds.count() < 50, "{missing:?} never happened: {count}");
}

/// What happens if enough governed sessions are played. A simulation in which something never
/// happens proves nothing about it.
const UNDER_ALL_RULES: [&str; 27] = [
    "already_resolved",
    "configured",
    "conflicted",
    "cuts",
    "decisions",
    "edited",
    "expired",
    "extended",
    "forced",
    "froze",
    "frozen",
    "invalid_decision",
    "looked",
    "lost",
    "not_allowed",
    "parted",
    "proposals",
    "remembered",
    "reopened",
    "resent",
    "rivals",
    "ruled",
    "shown",
    "stale_preview",
    "undone",
    "voted",
    "withdrawn",
];

/// Requests run out of time while others are looked at, people vote under policies that change,
/// words are frozen, owners rule, and everybody is told and finds again afterwards what was decided
/// first, once, by whoever may.
#[test]
fn no_rule_of_review_is_broken_while_people_type_and_the_server_is_killed() {
    let sessions = setting("COPYDESK_SESSIONS");
    let seeds = match setting("COPYDESK_SEED") {
        Some(seed) => seed..seed + sessions.unwrap_or(1),
        None => 0..sessions.unwrap_or(GOVERNED_SESSIONS),
    };
    let seconds = setting("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let play_all = Play { seeds: seeds.clone(), seconds, governed: true, ..Play::default() };
    let (count, failures) = play(play_all);
    println!("governed, seeds {seeds:?} and {seconds} s more: {count}");
    holds(&count, &failures);
    let missing = missing(&UNDER_ALL_RULES, &count);
    let is_enough = count["sessions"].as_u64() >= Some(ENOUGH_GOVERNED_SESSIONS);
    assert!(missing.is_empty() || !is_enough, "{missing:?} never happened: {count}");
}

/// Typing, asking, deciding and undoing go on while the server is killed, at any moment.
#[test]
fn whatever_is_acknowledged_survives_a_server_that_is_killed_at_any_moment() {
    let first = setting("COPYDESK_SEED").unwrap_or(10_000);
    let seconds = setting("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let kind = json!({"cut": true, "reviewed": true, "racing": true, "undoes": true});
    let seeds = first..first + CUT_SESSIONS;
    let (count, failures) = play(Play { seeds, seconds, kind, ..Play::default() });
    println!("from seed {first}: {count}");
    holds(&count, &failures);
    assert!(count["cuts"].as_u64() >= Some(CUT_SESSIONS), "{count}");
}

/// The sessions are hard enough to find what they are for.
#[test]
fn a_client_that_takes_all_updates_at_once_is_found_out() {
    let seeds = 0..WRONG_SESSIONS;
    let (count, failures) = play(Play { seeds, client: Client::AllAtOnce, ..Play::default() });
    assert!(!failures.is_empty(), "nobody noticed: {count}");
}
