//! What people and agents come up with.

use copydesk::document::Text;
use copydesk::ids::{UserId, Version};
use copydesk::review::{
    Choice, Decision, Finish, Hunk, HunkStatus, HunkVerdict, Person, Policy, Preview, Proposal,
    Request, Verdict,
};
use copydesk::who::{Principal, Role};
use fastrand::Rng;

const WORDS: [&str; 12] =
    ["the", "a", "cat", "sat", "😀", "naïve", "recieve", "then", "東京", "x", "more", "ö"];

/// A decision that may make sense.
pub fn decision(random: &mut Rng, request: &Request, text: &Text) -> Decision {
    let verdict = if random.u8(0..3) == 0 { Verdict::Reject } else { Verdict::Approve };
    let mut decision = Decision::plain(verdict);
    if random.u8(0..3) > 0 {
        let open: Vec<&Hunk> = request.hunks.iter().filter(|h| h.status.is_open()).collect();
        let count = random.usize(1..=2);
        let picked = random.choose_multiple(open, count);
        decision.hunks = Some(picked.into_iter().map(|h| hunk_verdict(random, h, text)).collect());
        decision.finish =
            [None, None, Some(Finish::Accept), Some(Finish::Reject)][random.usize(0..4)];
    }
    decision
}

fn hunk_verdict(random: &mut Rng, hunk: &Hunk, text: &Text) -> HunkVerdict {
    let choice = if random.u8(0..4) == 0 { Choice::Reject } else { Choice::Accept };
    let mut verdict = HunkVerdict::plain(hunk.id.clone(), choice);
    if choice == Choice::Accept {
        verdict.text = (random.u8(0..3) == 0).then(|| words(random, 3));
        if hunk.status == HunkStatus::Conflict && random.bool() {
            verdict.force = true;
            verdict.seen = Some(text.slice(hunk.range()).unwrap());
        }
    }
    verdict
}

/// One of three editors.
pub fn person(random: &mut Rng) -> Principal {
    let name = random.choice(["ann", "bob", "cem"]).unwrap();
    Principal {
        user: UserId::from(name),
        name: name.to_owned(),
        role: Role::Editor,
        document: None,
    }
}

/// A few words, perhaps with the end of a sentence or a paragraph.
pub fn words(random: &mut Rng, most: usize) -> String {
    let count = random.usize(1..=most);
    let words: Vec<&str> = (0..count).map(|_| random.choice(WORDS).unwrap()).collect();
    words.join(" ") + random.choice(["", "", " ", ". ", "\n", "\n\n"]).unwrap()
}

/// A rewrite of a text.
pub fn rewrite(random: &mut Rng, old: &str) -> String {
    let mut pieces: Vec<String> = old.split_inclusive(' ').map(str::to_owned).collect();
    for _ in 0..random.usize(1..=6) {
        let at = random.usize(0..=pieces.len());
        match random.u8(0..3) {
            0 => pieces.insert(at, words(random, 2) + " "),
            1 if at < pieces.len() => drop(pieces.remove(at)),
            _ if at < pieces.len() => pieces[at] = words(random, 1) + " ",
            _ => {}
        }
    }
    pieces.concat()
}

/// What an agent wants; Ann asked for it.
pub fn proposal(id: &str, policy: Policy) -> Proposal {
    Proposal {
        id: id.into(),
        tool: "update_full_document".to_owned(),
        input: serde_json::json!({}),
        tool_use: "toolu_1".into(),
        session: "ses_1".into(),
        run: "run_1".into(),
        document: None,
        requester: Person { user: "ann".into(), name: "Ann".to_owned() },
        prompt: String::new(),
        base_version: Version(0),
        scope: None,
        explanation: String::new(),
        preview: Preview::generic(),
        touched: None,
        source: String::new(),
        policy,
    }
}
