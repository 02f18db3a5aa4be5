//! The power is cut at a named place (`failpoint.rs`), wherever that is in an afternoon's work;
//! people come back, do again what was not answered, and find everything there once.

use std::collections::BTreeSet;

use copydesk_failpoint::PLACES;
use copydesk_ids::RequestId;
use copydesk_store::{Store, StoreAccess};
use serde_json::{Value, json};

use crate::support::{Person, Request, Script, TestServer, found, replacing};

const BEFORE: &str = "Teh first line.\n\nThe secnd line.\n\nThe third lien.";
const AFTER: &str = "The first line.\n\nThe second line.\n\nThe third line.\n";
const RUN: &str = "run-of-the-afternoon";
/// Updates of one paste: enough that the room keeps a snapshot.
const PASTED: usize = 2_000;
/// Updates of the afternoon: four of people, two accepts, one undo, the paste.
const VERSION: u64 = 4 + 2 + 1 + PASTED as u64;

/// Places of a power cut, one afternoon each; after a comma: the place of another one while the
/// server starts.
const WALKS: [&str; 32] = [
    "room.pushed>room.keeping",
    "room.pushed>store.committed",
    "room.pushed>room.kept",
    "room.pushed>room.told",
    "room.pushed>room.told>store.written",
    "room.pushed>room.told>pending.logged",
    "agent.asked",
    "agent.answering",
    "agent.answered",
    "tools.proposing",
    "room.proposed",
    "room.proposed>room.keeping",
    "room.proposed>store.written",
    "room.proposed>store.committed",
    "room.proposed>room.kept",
    "room.proposed>room.told",
    "room.decided>room.keeping",
    "room.decided>store.written",
    "room.decided>store.committed",
    "room.decided>room.kept",
    "room.decided>room.told",
    "room.decided>room.decided>store.written",
    "room.decided>room.decided>room.kept",
    "tools.settled",
    "agent.reported",
    "agent.ended",
    "room.undone>store.written",
    "room.undone>room.kept",
    "room.snapshot>store.written",
    "room.proposed>room.kept,app.opened",
    "room.decided>room.decided>room.kept,agent.resuming",
    "tools.settled,room.loading",
];

/// Work of two people on a server that dies once or twice.
struct Afternoon {
    copydesk: TestServer,
    ana: Person,
    ben: Person,
    /// Connections that are gone, for what was heard on them.
    gone: Vec<Person>,
    /// Places where else it is to die.
    walks: Vec<String>,
}

impl Afternoon {
    fn begin(walks: &str) -> Self {
        let mut walks: Vec<String> = walks.split(',').rev().map(str::to_owned).collect();
        let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
        let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
        ben.opens(&ana.creates(BEFORE));
        assert!(copydesk.stops().success());
        copydesk.starts_to_die_at(&walks.pop().unwrap()).expect("it serves before it dies");
        let mut afternoon = Self { copydesk, ana, ben, gone: Vec::new(), walks };
        afternoon.everybody_comes_back();
        afternoon
    }

    /// Does something until it is answered, however often the server dies meanwhile.
    fn insists<T>(&mut self, attempt: impl Fn(&Self) -> Option<T>) -> T {
        loop {
            if let Some(done) = attempt(self) {
                return done;
            }
            self.copydesk.dies();
            self.starts_again();
            self.everybody_comes_back();
        }
    }

    fn starts_again(&mut self) {
        if let Some(walk) = self.walks.pop()
            && self.copydesk.starts_to_die_at(&walk).is_some()
        {
            self.copydesk.dies();
        }
        self.copydesk.starts();
    }

    fn everybody_comes_back(&mut self) {
        for person in [&mut self.ana, &mut self.ben] {
            let back = person.comes_back(&self.copydesk);
            back.opens_again();
            self.gone.push(std::mem::replace(person, back));
        }
    }

    /// Types: the same updates of the same editor until they are acknowledged.
    fn types(&mut self, who: fn(&Self) -> &Person, words: &str, count: usize) {
        // What others were answered before is here when this is.
        self.insists(|it| who(it).tries("settings:get", &json!({})));
        let (version, len) = who(self).page();
        let units = words.encode_utf16().count();
        let changes = (0..count)
            .map(|at| replacing(len + at * units, len + at * units, len + at * units, words));
        let client = who(self).client();
        let updates: Vec<_> =
            changes.map(|it| json!({"clientID": client, "changes": it})).collect();
        let push =
            json!({"documentId": who(self).document(), "version": version, "updates": updates});
        let ack = self.insists(|it| who(it).tries("document:push", &push)).ok();
        assert_eq!(ack["version"], version + count as u64, "it is in the log once");
        // The power may be cut after the answer and before it has reached everybody.
        self.insists(|it| it.ana.tries("settings:get", &json!({})));
        self.insists(|it| it.ben.tries("settings:get", &json!({})));
        for person in [&self.ana, &self.ben] {
            person.comes_to_version(version + count as u64);
        }
    }

    fn asks(&mut self) -> Request {
        let ask = json!({"sessionId": self.ana.session(), "prompt": "Fix the spelling", "requestId": RUN,
            "context": {"documentId": self.ana.document()}});
        let ack = self.insists(|it| it.ana.tries("askClaudeCode", &ask));
        assert_eq!(ack.ok()["requestId"], RUN);
        Request(self.insists(|it| it.ana.may_see("tool_approval_request")))
    }

    /// Decides until it is answered, if only by hearing that it was done.
    fn decides(&mut self, who: fn(&Self) -> &Person, request: &Request, decision: Value) {
        let decision = request.decision(decision);
        let ack = self.insists(|it| who(it).tries("tool_approval_response", &decision));
        if ack.body()["ok"] == false {
            let name = &who(self).name;
            let error = ack.refused_with("already_resolved");
            assert!(error["message"].as_str().unwrap().ends_with(name), "{error}");
        }
    }

    fn undoes(&mut self, request: &Request, hunk: &str) {
        let undo = json!({"request_id": request.id(), "hunks": [hunk]});
        let ack = self.insists(|it| it.ben.tries("approval:undo", &undo));
        if ack.body()["ok"] == false {
            ack.refused_with("invalid_decision");
        }
    }

    fn transcript(&self) -> Option<Vec<Value>> {
        let read = json!({"sessionId": self.ana.session(), "documentId": self.ana.document()});
        let ack = self.ana.tries("transcript:get", &read)?.ok();
        Some(ack["entries"].as_array().unwrap().clone())
    }

    /// Waits until the run is over; its transcript.
    fn run_ends(&mut self) -> Vec<Value> {
        self.insists(|it| {
            found(|| {
                let Some(entries) = it.transcript() else { return Ok(None) };
                let is_over = entries.iter().any(|entry| entry["type"] == "result");
                if is_over { Ok(Some(entries)) } else { Err(entries) }
            })
        })
    }

    /// Returns how often each connection of Ana's received the end of the run.
    fn ends_heard(&self) -> Vec<usize> {
        let all = self.gone.iter().filter(|it| it.name == "Ana").chain([&self.ana]);
        let ends = |person: &Person| {
            person.heard("claudeResponse").iter().filter(|it| it["requestId"] == RUN).count()
        };
        all.map(ends).collect()
    }
}

fn afternoon(walks: &str) {
    let mut it = Afternoon::begin(walks);
    it.types(|it| &it.ana, "\n", 1);
    let request = it.asks();
    it.types(|it| &it.ben, "Ben was here.\n", 1);
    let some = request.each(&[1], "accept");
    it.decides(|it| &it.ben, &request, json!({"approved": true, "hunks": some}));
    it.types(|it| &it.ana, "So was Ana.\n", 1);
    it.decides(|it| &it.ana, &request, json!({"approved": true}));
    let transcript = it.run_ends();
    it.undoes(&request, request.hunk(1));
    it.types(|it| &it.ana, "x", PASTED);
    it.types(|it| &it.ben, "The end.\n", 1);
    assert!(it.walks.is_empty(), "nothing of the afternoon walks by {walks}");
    assert!(!it.gone.is_empty() && it.gone.len() > 2, "nothing of the afternoon walks by {walks}");

    // Everything there, once.
    let text = AFTER.replace("The first", "Teh first")
        + "Ben was here.\nSo was Ana.\n"
        + &"x".repeat(PASTED)
        + "The end.\n";
    for person in [&it.ana, &it.ben] {
        assert_eq!((person.version(), person.text()), (VERSION, text.clone()));
    }
    let pending = it.ana.pending();
    assert_eq!(pending[0].statuses(), ["pending", "accepted", "accepted"]);
    let results = transcript.iter().filter(|entry| entry["subtype"] == "tool_result");
    let tool_results: Vec<_> =
        results.map(|entry| entry["content"]["content"].to_string()).collect();
    assert_eq!(tool_results.len(), 1, "{tool_results:?}");
    assert!(tool_results[0].contains("Applied: 3 accepted."), "{tool_results:?}");
    let ends = transcript.iter().filter(|entry| entry["type"] == "result").count();
    assert_eq!(ends, 1, "a run ends once");
    // An end is stored as heard after it was sent; the power may be cut between the two. Then the
    // next connection is sent it again, and none after that.
    let heard = it.ends_heard();
    let (most, connections) = (heard.iter().max(), heard.iter().filter(|it| **it > 0).count());
    assert!(most <= Some(&1) && connections <= 2, "{heard:?}");
    assert!(it.copydesk.stops().success());
    let kept = kept(&it.copydesk, &request);
    let once = |what: &str| kept.iter().filter(|it| *it == what).count();
    let counts = ["request.create", "request.decide", "request.undo", "decision"].map(once);
    assert_eq!(counts, [1, 2, 1, 2], "{kept:?}");
}

/// Returns the stored events of a request, each as one word; the audit chain must hold.
fn kept(copydesk: &TestServer, request: &Request) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(copydesk.store(), StoreAccess::Serve).await.unwrap();
        store.verify_audit().await.unwrap();
        let id = RequestId::from(request.id());
        let lines = store.audit(None, None, 1_000).await.unwrap();
        let lines = lines.into_iter().filter(|line| line.entry.request.as_ref() == Some(&id));
        let mut kept: Vec<String> = lines.map(|line| line.entry.action).collect();
        let decisions = store.decisions(&id).await.unwrap();
        kept.extend(decisions.iter().map(|_| "decision".to_owned()));
        store.close().await;
        kept
    })
}

/// One test for each kind of place, so that they run beside each other.
fn afternoons(like: impl Fn(&str) -> bool) {
    // Only in SQLite are updates pending.
    let on_postgres = std::env::var("COPYDESK_STORIES_DATABASE").is_ok_and(|it| it == "postgres");
    let is_there = |walk: &&str| !(on_postgres && walk.contains("pending."));
    for walk in WALKS.into_iter().filter(is_there).filter(|walk| like(walk)) {
        eprintln!("the power is cut at {walk}");
        afternoon(walk);
    }
}

#[test]
fn an_edit_is_there_once_wherever_the_power_is_cut() {
    afternoons(|walk| walk.starts_with("room.pushed") || walk.starts_with("room.snapshot"));
}

#[test]
fn a_proposal_is_made_once_wherever_the_power_is_cut() {
    let first = |walk: &str| {
        ["agent.as", "agent.answer", "tools.proposing", "room.proposed"]
            .iter()
            .any(|it| walk.starts_with(it))
    };
    afternoons(|walk| first(walk) && !walk.contains(','));
}

#[test]
fn a_decision_is_taken_once_wherever_the_power_is_cut() {
    afternoons(|walk| walk.starts_with("room.decided") && !walk.contains(','));
}

#[test]
fn a_run_hears_of_a_decision_once_wherever_the_power_is_cut() {
    afternoons(|walk| ["tools.settled", "agent.reported", "agent.ended"].contains(&walk));
}

#[test]
fn an_undo_is_done_once_wherever_the_power_is_cut() {
    afternoons(|walk| walk.starts_with("room.undone"));
}

#[test]
fn the_power_may_be_cut_again_while_the_server_recovers() {
    afternoons(|walk| walk.contains(','));
}

/// Two rooms share a transaction; the power is cut between what the one wrote and what the other
/// would. Titles change with the words: words alone are kept in one row for all rooms.
#[test]
fn a_group_commit_is_kept_for_all_rooms_or_for_none() {
    let mut copydesk = TestServer::quiet();
    let people = ["Ana", "Ben", "Cleo"].map(|name| copydesk.editor(name));
    for person in &people {
        person.creates("");
        person.types(0, "x");
    }
    assert!(copydesk.stops().success());
    copydesk.starts_to_die_at("store.grouped").expect("it serves before it dies");
    let people = people.map(|person| person.comes_back(&copydesk));
    for person in &people {
        person.opens_again();
    }
    let mut acknowledged = [Acknowledged { version: 1, title: 0 }; 3];
    'typing: for at in 1..500_usize {
        let changes_both = |person: &Person| {
            let document = person.document();
            let title = json!({"documentId": document, "title": format!("{at}")});
            let push = json!({"documentId": document, "version": at,
                "updates": [{"clientID": person.client(), "changes": replacing(at, at, at, "x")}]});
            (person.send("document:rename", &title), person.send("document:push", &push))
        };
        let sent: Vec<_> = people.iter().map(changes_both).collect();
        for (person, ((title, push), acknowledged)) in
            people.iter().zip(sent.into_iter().zip(&mut acknowledged))
        {
            let Some(renamed) = person.may_be_answered(title) else { break 'typing };
            renamed.ok();
            acknowledged.title = at;
            let Some(pushed) = person.may_be_answered(push) else { break 'typing };
            acknowledged.version = pushed.ok()["version"].as_u64().unwrap();
        }
    }
    copydesk.dies();
    copydesk.starts();
    for (person, acknowledged) in people.iter().zip(acknowledged) {
        let back = person.comes_back(&copydesk);
        let opened = back.opens(&person.document());
        let (text, version) =
            (&opened["document"]["text"], opened["document"]["version"].as_u64().unwrap());
        assert_eq!(*text, json!("x".repeat(version as usize)));
        // What was on its way may be there or not; nothing else.
        let Acknowledged { version: known, title } = acknowledged;
        assert!((known..=known + 1).contains(&version), "{known} {version}");
        let found = opened["document"]["title"].as_str().unwrap().parse().unwrap_or(0);
        assert!((title..=title + 1).contains(&found), "{title} {found}");
    }
}

/// State that was reported to a person as stored: the version of the text, and the number in the
/// title.
#[derive(Clone, Copy)]
struct Acknowledged {
    version: u64,
    title: usize,
}

/// Has a person approve a call that acts outside of documents; the power is cut on the way. Returns
/// what the model is sent after the restart.
fn execution(walk: &str, tool: &str, input: &Value) -> (TestServer, String) {
    let plan = TestServer::plan().script(Script::calling(tool, input)).workspace(&[]);
    let mut copydesk = plan.flags(&["--enable-bash"]).start();
    let owner = copydesk.owner();
    assert!(copydesk.stops().success());
    copydesk.starts_to_die_at(walk).expect("it serves before it dies");
    let owner = owner.comes_back(&copydesk);
    owner.emit("run", &json!({"prompt": "Do it", "requestId": RUN})).ok();
    let request = owner.sees_request();
    let decision = request.decision(json!({"approved": true}));
    owner.tries("tool_approval_response", &decision);
    copydesk.dies();
    copydesk.starts();
    let owner = owner.comes_back(&copydesk);
    if owner.decides(&request, json!({"approved": true})).body()["ok"] == false {
        owner.decides(&request, json!({"approved": true})).refused_with("already_resolved");
    }
    let result_text = found(|| {
        let read = json!({"sessionId": owner.session()});
        let entries = owner.emit("transcript:get", &read).ok()["entries"].clone();
        let of = |kind: &str, value: &str| {
            let entries = entries.as_array().unwrap().iter();
            entries.filter(|it| it[kind] == value).cloned().collect::<Vec<_>>()
        };
        if of("type", "result").is_empty() {
            return Err(entries.clone());
        }
        let results = of("subtype", "tool_result");
        assert_eq!(results.len(), 1, "{results:?}");
        Ok(results[0]["content"]["content"].to_string())
    });
    (copydesk, result_text)
}

#[test]
fn what_was_approved_and_not_begun_is_done_after_a_power_cut() {
    for walk in ["room.decided>room.kept", "room.decided>room.told"] {
        let (copydesk, result_text) =
            execution(walk, "Write", &json!({"file_path": "a.txt", "content": "new"}));
        assert!(result_text.contains("Wrote 3 characters to a.txt"), "{walk}: {result_text}");
        assert_eq!(copydesk.file("a.txt").as_deref(), Some("new"));
    }
}

#[test]
fn what_was_begun_is_reported_as_it_is_and_never_done_again() {
    let write = json!({"file_path": "a.txt", "content": "new"});
    let (copydesk, result_text) = execution("tools.begun", "Write", &write);
    assert!(result_text.contains("It is as it was before; nothing was repeated"), "{result_text}");
    assert_eq!(copydesk.file("a.txt"), None);
    let (copydesk, result_text) = execution("tools.acted", "Write", &write);
    assert!(result_text.contains("was written before the server stopped"), "{result_text}");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("new"));
    let (copydesk, result_text) =
        execution("tools.acted", "Bash", &json!({"command": "echo once >> log.txt"}));
    assert!(result_text.contains("it was not repeated"), "{result_text}");
    assert_eq!(copydesk.file("log.txt").as_deref(), Some("once\n"));
}

#[test]
fn every_failpoint_is_in_a_story() {
    let walked: BTreeSet<&str> = WALKS
        .iter()
        .flat_map(|walk| walk.split(['>', ',']))
        // Other stories walk these (`tests/it/documents/files.rs`, …).
        .chain(["store.grouped", "tools.begun", "tools.acted", "files.writing", "files.written"])
        .chain(["tools.undoing", "tools.undone"])
        .chain([
            "workspace.staged",
            "workspace.exchanged",
            "workspace.settling",
            "workspace.put_back",
        ])
        .chain(["transfer.tables", "transfer.marked", "transfer.set_aside"])
        .chain(["transfer.copied", "transfer.committed"])
        // `nodes/calls.rs`.
        .chain(["agent.forwarded", "agent.returned"])
        // `comment_questions.rs`.
        .chain(["agent.commented"])
        // `deleted_people.rs`.
        .chain(["people.begun", "people.renamed", "people.ending"])
        .collect();
    assert!(PLACES.iter().all(|place| walked.contains(place)), "{walked:?}");
}
