//! Cost of keeping pending changes true while people type, and of accepting many at once.
//!
//! CPU time of this thread, best of a few rounds. Goals: 100 hunks over 10,000 updates in 4 ms; 50
//! of 100 accepted in 100 µs.

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::expect_used, reason = "a bench that cannot run says so by stopping")]

use copydesk_approvals::{
    ApprovalRequest, ArrivedHunks, CallOrigin, CommittedUpdate, Decision, DecisionPolicy,
    DecisionRequirements, HunkChoice, HunkVerdict, Person, Preview, ProposedAction, ProposedCall,
    RequestSource, RequestTimes, RequestVerdict,
};
use copydesk_document::diff::DraftPart;
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::Version;
use copydesk_ids::permissions::{Principal, Role};
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 9;
const LENGTH: usize = 100_000;

fn main() {
    println!("{:<40} {:>10} {:>10} {:>7}", "work", "measured", "goal", "");
    for (hunks, updates, goal_us) in
        [(1, 10_000, 1_000.0), (100, 10_000, 4_000.0), (1_000, 10_000, 40_000.0)]
    {
        let typed = typing(updates);
        let request = request(hunks, &Text::new(&text()));
        let mut conflicts = 0;
        let us = best(
            || request.clone(),
            |mut request| {
                for (change, after) in &typed {
                    let update = CommittedUpdate::new(change, after);
                    for hunk in &mut request.hunks {
                        hunk.rebase_over(&update);
                    }
                }
                conflicts =
                    request.hunks.iter().flat_map(|h| &h.parts).filter(|p| p.conflict).count();
            },
        );
        row(&format!("{hunks} hunks over {updates} updates"), us, goal_us);
        println!("  {conflicts} conflicts, {:.0} ns an update", us * 1e3 / updates as f64);
    }
    let text = Text::new(&text());
    let ready = request(100, &text);
    let half = ready.hunks.iter().step_by(2);
    let verdicts = half.map(|h| HunkVerdict::plain(h.id.clone(), HunkChoice::Accept)).collect();
    let decision = Decision { hunks: Some(verdicts), ..Decision::plain(RequestVerdict::Approve) };
    let who = Principal::new("ann", "Ann", Role::Owner);
    let us = best(
        || ready.clone(),
        |mut request| {
            let outcome = request.judge_and_carry_out(
                &decision,
                &who,
                &text,
                1,
                &DecisionRequirements::default(),
            );
            let outcome = outcome.expect("it can be accepted");
            assert_eq!(outcome.decided.len(), 50);
        },
    );
    row("50 of 100 hunks accepted", us, 100.0);
}

fn row(name: &str, us: f64, goal_us: f64) {
    let verdict = if us <= goal_us { "met" } else { "MISSED" };
    println!("{name:<40} {us:>7.0} µs {goal_us:>7.0} µs {verdict:>7}");
}

fn best<T>(mut ready: impl FnMut() -> T, mut work: impl FnMut(T)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let subject = ready();
        let start = cpu();
        work(subject);
        (cpu() - start) * 1e6
    });
    rounds.fold(f64::INFINITY, f64::min)
}

/// Seconds this thread has worked.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn text() -> String {
    "lorem ipsum ".repeat(LENGTH / 12)
}

/// Hunks of one or two words, evenly spread.
fn request(count: usize, text: &Text) -> ApprovalRequest {
    let step = text.len() / count / 12 * 12;
    let part = |from: usize| DraftPart {
        from,
        to: from + 5,
        base: "lorem".into(),
        insert: "LOREM".into(),
    };
    let drafts = (0..count).map(|n| vec![part(n * step)].into()).collect();
    let id = "req_1".into();
    let arrival = ArrivedHunks::map(&id, drafts, text, []).expect("the drafts fit the text");
    let proposal = ProposedCall {
        origin: CallOrigin {
            id,
            tool: "update_full_document".into(),
            input: serde_json::Value::Null,
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
        },
        action: ProposedAction {
            prompt: String::new(),
            base_version: Version(0),
            scope: None,
            explanation: String::new(),
            preview: Preview::generic(),
            touched: None,
            source: RequestSource::Unknown,
        },
        document: None,
        requester: Person { user: "ann".into(), name: "Ann".into() },
        requester_former: Vec::new(),
        claimed_author: None,
        policy: DecisionPolicy::Any.into(),
        again_of: None,
    };
    ApprovalRequest::open(proposal, arrival, Version(0), RequestTimes::start(0, 0))
}

/// Returns the updates of a person who types in runs at random places; every fourth key takes a
/// letter back.
fn typing(updates: usize) -> Vec<(ChangeSet, Text)> {
    let mut random = Rng::with_seed(1);
    let mut text = Text::new(&text());
    let mut at = 0;
    let mut typed = Vec::with_capacity(updates);
    for n in 0..updates {
        if n % 20 == 0 {
            at = random.usize(1..text.len());
        }
        let edit = if random.u8(0..4) == 0 && at > 0 {
            at -= 1;
            TextEdit { from: at, to: at + 1, insert: String::new() }
        } else {
            at += 1;
            TextEdit { from: at - 1, to: at - 1, insert: "x".into() }
        };
        let change = ChangeSet::of(text.len(), &[edit]).expect("the edit fits the text");
        change.apply(&mut text).expect("the change fits the text");
        typed.push((change, text.clone()));
    }
    typed
}
