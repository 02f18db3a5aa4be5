//! Convergence of distant editors: seeded sessions of two to six real CodeMirror states, each with
//! its own socket.io client, which type at the same time, receive late, send twice and lose
//! connections, while hunks are proposed and decided and faults are injected. Review sessions use
//! every rule of review: requests expire, people vote and focus requests, policies change, text is
//! frozen, owners add rules.
//!
//! `COPYDESK_SESSIONS=500 cargo test --test it converge` runs more of them,
//! `COPYDESK_SIMULATION_SECONDS=150` goes on for so long; `COPYDESK_SEED=7` runs that seed, or
//! starts there. The invariants of a session are in `support/converge/reference_document.mjs`;
//! those of review sessions also in `review_replica.mjs` and `audit_oracle.mjs`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{OWNER, Role, TestServer, modules};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/converge.mjs");
/// Number of sessions by default: some seconds on two busy cores.
const SESSIONS: u64 = 100;
/// Number of sessions with everything at once and up to three faults.
const FAULT_SESSIONS: u64 = 6;
/// Number of review sessions; each takes seconds, because requests really expire in it.
const REVIEW_SESSIONS: u64 = 12;
/// Number of review sessions in which every event happens.
const ENOUGH_REVIEW_SESSIONS: u64 = 48;
/// Servers with faults for review sessions.
const FAULTY_SERVERS: usize = 2;
/// Largest number of times that connections may end although neither side ended them: machines
/// stall for longer than a heartbeat now and then. A server that loses connections does so again
/// and again.
const MAX_LOST_CONNECTIONS: u64 = 1;
/// Number of sessions with the wrong client. Half of them fail, and the first failure ends them.
const ALL_AT_ONCE_SESSIONS: u64 = 20;

/// Longest wait for a turn during a fault; one is taken five times in a second.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The way in which a client applies received updates.
#[derive(Clone, Copy)]
pub enum UpdateApplication {
    /// One `receiveUpdates` for each, as ours.
    OneByOne,
    /// All at once, as in CodeMirror's example.
    AllAtOnce,
}

/// A selection of sessions to run.
pub struct SessionPlan {
    pub seeds: Range<u64>,
    /// Seconds for which further seeds are run.
    pub seconds: u64,
    pub update_application: UpdateApplication,
    /// The profile of all sessions, if not that of their seeds.
    pub profile: Value,
    /// Use every rule of review.
    pub review_rules: bool,
}

/// One or several servers with faults in the middle of a session.
pub trait FaultInjector {
    /// Injects a fault, which may last while people take turns. Returns the addresses afterwards,
    /// `{url}` or `{urls}`.
    fn inject_fault(&mut self, people: &mut EditorProcess) -> Value;
}

impl FaultInjector for TestServer {
    fn inject_fault(&mut self, _: &mut EditorProcess) -> Value {
        self.is_killed_and_restarted();
        json!({"url": self.url()})
    }
}

impl Default for SessionPlan {
    fn default() -> Self {
        Self {
            seeds: 0..0,
            seconds: 0,
            update_application: UpdateApplication::OneByOne,
            profile: Value::Null,
            review_rules: false,
        }
    }
}

impl SessionPlan {
    /// Returns the name of the models' script in `fixtures/scripts`.
    pub fn script(&self) -> &'static str {
        if self.review_rules { "review-rules" } else { "converge" }
    }
}

/// The process of the editors.
pub struct EditorProcess {
    process: Child,
    input: ChildStdin,
    messages: mpsc::Receiver<Value>,
    /// Messages that came while turns were awaited.
    kept: VecDeque<Value>,
}

impl EditorProcess {
    fn start() -> Self {
        let modules = modules().unwrap_or_else(|why| crate::support::give_up(&why));
        let mut process = Command::new("node")
            .arg(SCRIPT)
            .arg(modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                crate::support::give_up(&format!("`node` cannot be started: {error}"))
            });
        let input = process.stdin.take().expect("stdin is piped");
        let output = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let line = line.expect("the editors speak UTF-8");
                sender.send(serde_json::from_str(&line).expect("they speak JSON")).ok();
            }
        });
        Self { process, input, messages, kept: VecDeque::new() }
    }

    fn send(&mut self, line: &Value) {
        // After a failure the process has ended, and has reported the reason.
        writeln!(self.input, "{line}").ok();
    }

    fn receive(&mut self) -> Value {
        loop {
            let kept = self.kept.pop_front();
            let message = kept.or_else(|| self.messages.recv().ok());
            let message = message.expect("the editors speak until they are done");
            if !is_turn(&message) {
                return message;
            }
        }
    }

    /// Waits until people have taken so many turns from now on, or have failed.
    pub fn take_turns(&mut self, count: usize) {
        self.kept.extend(self.messages.try_iter().filter(|message| !is_turn(message)));
        let mut taken = 0;
        while taken < count && self.kept.iter().all(|message| message["done"].is_null()) {
            let message = self.messages.recv_timeout(TIMEOUT).expect("people take turns");
            if is_turn(&message) { taken += 1 } else { self.kept.push_back(message) }
        }
    }
}

/// Returns `true` if a message says that a person wrote or decided during a fault.
fn is_turn(message: &Value) -> bool {
    !message["turn"].is_null()
}

impl Drop for EditorProcess {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn start_server(script: &str) -> (TestServer, Value) {
    let copydesk = TestServer::playing(script);
    let description = describe_server(&copydesk);
    (copydesk, description)
}

/// Issues tokens on a server: for three people who write, one who only decides, one who only reads.
/// Returns the description of the server for the editor process.
pub fn describe_server(copydesk: &TestServer) -> Value {
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

/// Runs the sessions. Returns the number of each event, and the failures. A server with faults is
/// checked like every test server when it is dropped.
fn run_sessions(plan: SessionPlan) -> (Value, Vec<Value>) {
    let name = plan.script();
    let (_server, options) = start_server(name);
    let killed = if plan.review_rules { FAULTY_SERVERS } else { 1 };
    let (mut faulty, descriptions): (Vec<_>, Vec<_>) =
        std::iter::repeat_with(|| start_server(name)).take(killed).unzip();
    run_sessions_on(plan, options, (&mut faulty, descriptions))
}

/// Runs the sessions as `run_sessions` does, on the server in `options` and on these servers with
/// faults, each with its description.
pub fn run_sessions_on(
    plan: SessionPlan,
    mut options: Value,
    (faulty, descriptions): (&mut [impl FaultInjector], Vec<Value>),
) -> (Value, Vec<Value>) {
    let mut editors = EditorProcess::start();
    let name = plan.script();
    let SessionPlan { seeds, seconds, update_application, profile, review_rules } = plan;
    let script = format!("{}/fixtures/scripts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    options["faultyServers"] = descriptions.into();
    options["script"] = script.into();
    options["seeds"] = seeds.collect::<Vec<_>>().into();
    options["seconds"] = seconds.into();
    options["allAtOnce"] = matches!(update_application, UpdateApplication::AllAtOnce).into();
    options["profile"] = profile;
    options["reviewRules"] = review_rules.into();
    editors.send(&options);
    loop {
        let line = editors.receive();
        if let Some(index) = line["fault"].as_u64() {
            let copydesk = &mut faulty[usize::try_from(index).expect("it is one of them")];
            let reply = copydesk.inject_fault(&mut editors);
            editors.send(&reply);
            continue;
        }
        let failures = line["done"]["failures"].as_array().expect("failures").clone();
        return (line["done"]["count"].clone(), failures);
    }
}

pub fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn selected_seeds() -> Range<u64> {
    let sessions = number_from_environment("COPYDESK_SESSIONS");
    match number_from_environment("COPYDESK_SEED") {
        Some(seed) => seed..seed + sessions.unwrap_or(1),
        None => 0..sessions.unwrap_or(SESSIONS),
    }
}

/// Formats the last events of a failed session for people.
fn describe_trace(failure: &Value) -> String {
    let trace: Vec<_> =
        failure["trace"].as_array().expect("a trace").iter().filter_map(Value::as_str).collect();
    format!("session {}:\n  {}", failure["seed"].as_str().expect("a seed"), trace.join("\n  "))
}

/// Formats the reason of a failure for people.
fn describe_failure(failure: &Value) -> String {
    let seed = failure["seed"].as_str().expect("a seed");
    let reason = failure["why"].as_str().expect("a reason");
    format!("session {seed} failed (COPYDESK_SEED={seed}): {reason}")
}

/// Asserts that there are no failures. Otherwise the last events are printed, and the reasons are
/// the message, so that they are there if only the end of a long report is kept.
pub fn assert_no_failures(count: &Value, failures: &[Value]) {
    for failure in failures {
        eprintln!("{}\n", describe_trace(failure));
    }
    let descriptions: Vec<_> = failures.iter().map(describe_failure).collect();
    assert!(descriptions.is_empty(), "{}", descriptions.join("\n"));
    assert!(
        count["lostConnections"].as_u64() <= Some(MAX_LOST_CONNECTIONS),
        "connections were lost: {count}"
    );
}

/// Returns the events that never happened.
fn events_that_never_happened<'w>(all: &[&'w str], count: &Value) -> Vec<&'w str> {
    let happened = |what: &&&str| count[**what].as_u64().is_some_and(|times| times > 0);
    all.iter().filter(|what| !happened(what)).copied().collect()
}

#[test]
fn distant_editors_always_converge() {
    let seeds = selected_seeds();
    let seconds = number_from_environment("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let (count, failures) =
        run_sessions(SessionPlan { seeds: seeds.clone(), seconds, ..SessionPlan::default() });
    println!("seeds {seeds:?} and {seconds} s more: {count}");
    assert_no_failures(&count, &failures);
    let events = [
        "updates",
        "resent",
        "unansweredPushes",
        "resyncs",
        "proposals",
        "decisions",
        "undone",
        "faults",
        "disconnects",
    ];
    let missing = events_that_never_happened(&events, &count);
    assert!(missing.is_empty() || seeds.count() < 50, "{missing:?} never happened: {count}");
}

/// Events that happen if enough review sessions are run. A simulation in which an event never
/// happens proves nothing about it.
const REVIEW_EVENTS: [&str; 27] = [
    "already_resolved",
    "concurrentDecisions",
    "conflicted",
    "decisions",
    "disconnects",
    "edited",
    "expired",
    "extended",
    "faults",
    "focused",
    "forced",
    "freezes",
    "frozenRefusals",
    "invalid_decision",
    "not_allowed",
    "previewsChecked",
    "proposals",
    "remembered",
    "reopened",
    "resent",
    "ruleDecisions",
    "settingsChanged",
    "stale_preview",
    "unansweredPushes",
    "undone",
    "voted",
    "withdrawn",
];

/// Requests expire while others are focused, people vote under policies that change, text is
/// frozen, owners add rules. Everyone receives, and finds afterwards, what was decided first, once,
/// by a person with the right.
#[test]
fn no_rule_of_review_is_broken_while_people_type_and_the_server_is_killed() {
    let sessions = number_from_environment("COPYDESK_SESSIONS");
    let seeds = match number_from_environment("COPYDESK_SEED") {
        Some(seed) => seed..seed + sessions.unwrap_or(1),
        None => 0..sessions.unwrap_or(REVIEW_SESSIONS),
    };
    let seconds = number_from_environment("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let plan =
        SessionPlan { seeds: seeds.clone(), seconds, review_rules: true, ..SessionPlan::default() };
    let (count, failures) = run_sessions(plan);
    println!("review sessions, seeds {seeds:?} and {seconds} s more: {count}");
    assert_no_failures(&count, &failures);
    let missing = events_that_never_happened(&REVIEW_EVENTS, &count);
    let is_enough = count["sessions"].as_u64() >= Some(ENOUGH_REVIEW_SESSIONS);
    assert!(missing.is_empty() || !is_enough, "{missing:?} never happened: {count}");
}

/// Typing, asking, deciding and undoing go on while the server is killed, at any moment.
#[test]
fn whatever_is_acknowledged_survives_a_server_that_is_killed_at_any_moment() {
    let first = number_from_environment("COPYDESK_SEED").unwrap_or(10_000);
    let seconds = number_from_environment("COPYDESK_SIMULATION_SECONDS").unwrap_or_default();
    let profile =
        json!({"hasFaults": true, "hasProposals": true, "concurrent": true, "hasUndo": true});
    let seeds = first..first + FAULT_SESSIONS;
    let (count, failures) =
        run_sessions(SessionPlan { seeds, seconds, profile, ..SessionPlan::default() });
    println!("from seed {first}: {count}");
    assert_no_failures(&count, &failures);
    assert!(count["faults"].as_u64() >= Some(FAULT_SESSIONS), "{count}");
}

/// The sessions are hard enough to detect a wrong client.
#[test]
fn a_client_that_applies_all_updates_at_once_is_detected() {
    let seeds = 0..ALL_AT_ONCE_SESSIONS;
    let (count, failures) = run_sessions(SessionPlan {
        seeds,
        update_application: UpdateApplication::AllAtOnce,
        ..SessionPlan::default()
    });
    assert!(!failures.is_empty(), "no session failed: {count}");
}
