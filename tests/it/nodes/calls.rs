//! Stories about calls of a run that are about something on another server: the change of a
//! document there, a new document or a reading that people are asked about in the workspace inbox
//! there. They are proposed, decided and reported as on one server, once, whichever server is lost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    OWNER, Person, Provider, Request, Role, Server, StoryDatabase, TestServer, found,
};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// Two servers whose model answers as the story says.
struct Nodes {
    first: TestServer,
    second: Server,
    provider: Provider,
}

impl Nodes {
    /// `None` without PostgreSQL.
    fn start() -> Option<Self> {
        let database = StoryDatabase::on_postgres()?;
        let provider = Provider::answering(vec![json!([])]);
        let plan = TestServer::plan().flags(&["--cluster"]).provider(&provider);
        let first = plan.start_on(Some(database));
        let second = first.another_node();
        Some(Self { first, second, provider })
    }

    fn on_second(&self, name: &str) -> Person {
        Person::arrive(&self.second.url, &self.first.token(name, Role::Editor, &[]), name)
    }

    /// Ana's document on the first server, whose node has the inbox, and Ben's on the second.
    fn two_documents(&self) -> (Person, Person) {
        let ana = self.first.editor("Ana");
        ana.creates("Mine.\n");
        let ben = self.on_second("Ben");
        ben.creates(BEFORE);
        (ana, ben)
    }

    /// From now on the model reads this document and rewrites it.
    fn rewrites(&self, document: &str) {
        let rewrite =
            json!({"document_id": document, "new_content": AFTER, "explanation": "Spelling."});
        self.plays(&[
            ("read_document", json!({"document_id": document})),
            ("update_document_by_id", rewrite),
        ]);
    }

    /// Ana has the AI rewrite Ben's document: her run, and the request as he sees it.
    fn has_a_change_proposed(&self, ana: &Person, ben: &Person) -> (String, Request) {
        self.rewrites(&ben.document());
        let run = ana.asks("Fix the spelling there");
        let request = ben.sees_request_of(&run);
        (run, request)
    }

    /// From now on the model makes these calls and says that it is done.
    fn plays(&self, calls: &[(&str, Value)]) {
        let called = self.provider.all_asked().len();
        let mut answers = vec![json!([]); called];
        answers.extend(calls.iter().map(|(tool, input)| calling(tool, input)));
        answers.push(json!([{"type": "text", "text": "Done."}]));
        self.provider.plays(answers);
    }

    /// Returns what the model was sent last.
    fn last_sent(&self) -> String {
        self.provider.newest_text(self.provider.all_asked().len())
    }
}

fn calling(tool: &str, input: &Value) -> Value {
    json!([{"type": "tool_use", "name": tool, "input": input}])
}

fn approval() -> Value {
    json!({"approved": true})
}

/// Nothing that a person has seen or can read is of a run that no one asked for.
fn knows_one_run(person: &Person, run: &str) {
    let heard = person.events();
    let strange = heard.iter().find(|(_, event)| event.to_string().contains("forwarded_"));
    assert!(strange.is_none(), "{strange:?}");
    let runs = heard.iter().filter(|(name, _)| name == "agent_event");
    assert!(runs.clone().all(|(_, event)| event["requestId"] == run), "{heard:?}");
    let transcript = json!({"sessionId": person.session(), "documentId": person.document()});
    let transcript = person.emit("transcript:get", &transcript).ok().to_string();
    assert!(!transcript.contains("forwarded_"), "{transcript}");
}

/// Opens a document until a server has it that answers, after another one was lost.
fn opens_in_the_end(person: &Person, document: &str) -> Value {
    found(|| {
        let answer = person.emit("document:open", &json!({"documentId": document}));
        if answer.body()["ok"] == true { Ok(answer.ok()) } else { Err(answer.body().clone()) }
    })
}

/// The requests that wait in a document.
fn waiting(person: &Person, document: &str) -> Vec<Request> {
    let ack = person.emit("list_pending_approvals", &json!({"documentId": document})).ok();
    ack["requests"].as_array().expect("requests").iter().cloned().map(Request).collect()
}

/// Waits until exactly one request waits in a document.
fn the_one_that_waits(person: &Person, document: &str) -> Request {
    found(|| {
        let mut requests = waiting(person, document);
        assert!(requests.len() < 2, "it was proposed more than once");
        requests.pop().ok_or("nothing waits")
    })
}

/// Ana asks for a change of Ben's document, and he decides. The request is that of one server, and
/// so is what the model is sent and what the people of Ana's document see.
fn is_decided(
    nodes: &Nodes,
    (ana, ben): (&Person, &Person),
    status: &str,
    decide: fn(&Person, &Request),
) {
    let (asking, other) = (ana.document(), ben.document());
    let (run, request) = nodes.has_a_change_proposed(ana, ben);
    let shown = ["source", "session_id", "document_id"].map(|field| request[field].clone());
    assert_eq!(shown, [json!("sdk"), json!(ana.session()), json!(other)]);
    assert_eq!(request["author"]["name"], "Ana");
    let waits = ana.sees_where("agent_event", |it| {
        it["subtype"] == "waiting" && it["content"]["request_id"] == request.id()
    });
    assert_eq!((&waits["requestId"], &waits["documentId"]), (&json!(run), &json!(asking)));
    assert_eq!(waits["content"]["text"], format!("“A story” ({other}): pending."));
    // Owners see one run at work.
    let owner = Person::arrive(&nodes.second.url, OWNER, "Owner");
    let work = owner.emit("server:work", &json!({})).ok();
    assert_eq!(work["runs"].as_array().map(Vec::len), Some(1), "{work}");
    decide(ben, &request);
    assert_eq!(ben.sees_resolved(&request)["status"], status);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    let shown = ana.tool_results(&run).pop().expect("a result");
    assert_eq!(shown["content"], format!("“A story” ({other}): {status}."));
    assert_eq!((&shown["status"], &shown["request_id"]), (&json!(status), &json!(request.id())));
}

#[test]
fn a_change_of_another_nodes_document_is_decided_by_its_people() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    is_decided(&nodes, (&ana, &ben), "partly", |ben, request| {
        ben.accepts(request, &[1]);
        ben.rejects_some(request, &[2], "Leave it");
    });
    assert!(
        nodes.last_sent().contains("Partly applied: 1 accepted, 1 rejected"),
        "{}",
        nodes.last_sent()
    );
    assert_eq!(ben.text(), BEFORE.replace("Teh", "The"));
    is_decided(&nodes, (&ana, &ben), "rejected", |ben, request| {
        ben.rejects(request, "Not now");
    });
    assert!(nodes.last_sent().contains("User rejected: Not now"), "{}", nodes.last_sent());
    is_decided(&nodes, (&ana, &ben), "approved", |ben, request| {
        ben.accepts_all(request);
    });
    assert!(nodes.last_sent().contains("reads as you proposed"), "{}", nodes.last_sent());
    assert_eq!((ana.text(), ben.text()), ("Mine.\n".to_owned(), AFTER.to_owned()));
    assert_eq!(waiting(&ben, &ben.document()).len(), 0);
}

#[test]
fn no_one_is_told_of_a_second_run() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    nodes.rewrites(&ben.document());
    let run = ana.asks("Fix the spelling there");
    ben.accepts_all(&ben.sees_request_of(&run));
    ana.answer(&run);
    knows_one_run(&ana, &run);
    knows_one_run(&ben, &run);
    // Nor is the session that comes back.
    let back = ana.comes_back_to(&nodes.second.url);
    back.opens_again();
    back.catches_up();
    knows_one_run(&back, &run);
}

#[test]
fn the_model_goes_on_with_what_it_was_told_of_the_other_document() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let other = ben.document();
    let rewrite =
        |text: &str| json!({"document_id": other, "new_content": text, "explanation": "Spelling."});
    let last = AFTER.replace("few", "no");
    nodes.plays(&[
        ("update_document_by_id", rewrite(AFTER)),
        ("read_document", json!({"document_id": other})),
        ("update_document_by_id", rewrite(AFTER)),
        // Of the version that it was sent with the decision; nothing is read again.
        ("update_document_by_id", rewrite(&last)),
    ]);
    let run = ana.asks("Fix the spelling there");
    let request = ben.sees_request_of(&run);
    ben.types(0, "Today. ");
    ben.accepts_all(&request);
    let request = ben.sees_request_of(&run);
    // What a person typed meanwhile was reported, so the rewrite may take it away.
    ben.accepts_all(&request);
    ana.answer(&run);
    ben.comes_to_read(&last);
    assert!(
        nodes.provider.newest_text(2).contains("Read that document first"),
        "it had read nothing"
    );
}

#[test]
fn a_document_is_created_while_another_node_has_the_inbox() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let create = json!({"title": "Log", "new_content": "Fog.\n", "explanation": "A log."});
    for (decision, status) in
        [(json!({"approved": false, "feedback": "No"}), "rejected"), (approval(), "approved")]
    {
        nodes.plays(&[("create_new_document", create.clone())]);
        let run = ben.asks("Make a log");
        let request = ana.sees_request_of(&run);
        assert_eq!(
            (&request["tool_name"], &request["source"]),
            (&json!("create_new_document"), &json!("sdk"))
        );
        assert_eq!(ben.sees_request_of(&run).id(), request.id());
        ana.decides(&request, decision).ok();
        assert_eq!(ana.sees_resolved(&request)["status"], status);
        assert_eq!(ben.answer(&run)["conversationMessage"], "Done.");
        let last_sent = ben.tool_results(&run).pop().expect("a result");
        assert_eq!(
            (&last_sent["status"], &last_sent["request_id"]),
            (&json!(status), &json!(request.id()))
        );
        if status == "rejected" {
            assert!(nodes.last_sent().contains("User rejected: No"), "{}", nodes.last_sent());
        } else {
            let created = ben.sees_where("document:created", |it| it["document"]["title"] == "Log");
            let id = created["document"]["id"].as_str().unwrap();
            assert!(
                nodes.last_sent().contains(&format!("its id is {id}")),
                "{}",
                nodes.last_sent()
            );
            ben.opens(id);
            ben.comes_to_read("Fog.\n");
        }
    }
    let list = ana.emit("document:list", &json!({})).ok().to_string();
    assert_eq!(list.matches("\"Log\"").count(), 1, "{list}");
}

#[test]
fn reading_waits_for_consent_in_the_inbox_of_another_node() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (other, asking) = (ana.document(), ben.document());
    ana.replaces(0, 6, "Her secret.\n");
    // A person who may not read Ana's document reads the one in which Ben asks.
    let document = ["--document", &asking];
    let token = nodes.first.token("Guest", Role::Viewer, &document);
    let guest = Person::arrive(&nodes.second.url, &token, "Guest");
    guest.opens(&asking);
    for approved in [false, true] {
        nodes.plays(&[("read_document", json!({"document_id": other}))]);
        let run = ben.asks("What does she say?");
        let request = ana.sees_request_of(&run);
        assert_eq!(request["tool_name"], "read_document");
        guest.sees_where("agent_event", |it| it["subtype"] == "waiting" && it["requestId"] == run);
        ana.decides(&request, json!({"approved": approved})).ok();
        ben.answer(&run);
        assert_eq!(nodes.last_sent().contains("Her secret."), approved, "{}", nodes.last_sent());
        guest.answer(&run);
    }
    let heard = guest.events().iter().map(|(_, it)| it.to_string()).collect::<String>();
    assert!(!heard.contains("secret"), "{heard}");
    assert_eq!(guest.heard("tool_approval_request"), [] as [Value; 0]);
}

#[test]
fn a_run_that_is_cancelled_withdraws_its_request_on_the_other_node() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    let began = Instant::now();
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    ben.decides(&request, approval()).refused();
    assert_eq!(ben.text(), BEFORE);
}

#[test]
fn a_request_that_its_asker_withdraws_ends_the_call() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    ana.emit("approval:withdraw", &json!({"request_id": request.id()})).ok();
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
}

#[test]
fn a_change_waits_on_when_the_node_of_its_document_is_killed() {
    let Some(mut nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (asking, other) = (ana.document(), ben.document());
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    ana.sees_request_of(&run);
    nodes.second.kill();
    // Ana was notified of the request from there.
    ana.is_cut_off();
    ben.is_cut_off();
    let (ana, ben) = (ana.comes_back_to(nodes.first.url()), ben.comes_back_to(nodes.first.url()));
    ana.opens(&asking);
    let opened = opens_in_the_end(&ben, &other);
    assert_eq!(opened["requests"][0]["request_id"], request.id());
    ben.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    assert!(nodes.last_sent().contains("version 1"), "{}", nodes.last_sent());
    assert_eq!(ben.opens(&other)["document"]["version"], 1);
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn a_change_is_made_once_when_the_node_of_the_run_is_killed() {
    let Some(mut nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (asking, other) = (ana.document(), ben.document());
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    nodes.first.is_killed();
    // Ben was notified of the inbox from there.
    ana.is_cut_off();
    ben.is_cut_off();
    let (ana, ben) = (ana.comes_back_to(&nodes.second.url), ben.comes_back_to(&nodes.second.url));
    ben.opens(&other);
    opens_in_the_end(&ana, &asking);
    assert_eq!(the_one_that_waits(&ben, &other).id(), request.id());
    ben.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    assert_eq!(nodes.provider.all_asked().len(), 3, "the model is asked nothing twice");
    assert!(nodes.last_sent().contains("reads as you proposed"), "{}", nodes.last_sent());
    ben.comes_to_version(1);
    assert_eq!(ben.text(), AFTER);
}

/// The first server dies at a place of the way of a call; the one who asks is on it, or the one who
/// decides. Nothing is proposed, applied or asked of the model twice.
fn dies_at(place: &str, dies_with_run: bool) {
    let Some(mut nodes) = Nodes::start() else { return };
    assert!(nodes.first.stops().success());
    nodes.first.starts_to_die_at(place).expect("it serves first");
    let (ana, ben) = nodes.two_documents();
    ana.overwrites("Mine.\n", BEFORE);
    let (asker, decider) = if dies_with_run { (ana, ben) } else { (ben, ana) };
    let (asking, other, before) = (asker.document(), decider.document(), decider.version());
    nodes.rewrites(&other);
    let run = asker.asks("Fix the spelling there");
    let request = (!dies_with_run).then(|| decider.sees_request_of(&run));
    if let Some(request) = &request {
        decider.tries("tool_approval_response", &request.decision(approval()));
    }
    nodes.first.dies();
    asker.is_cut_off();
    decider.is_cut_off();
    let decider = decider.comes_back_to(&nodes.second.url);
    let asker = asker.comes_back_to(&nodes.second.url);
    opens_in_the_end(&asker, &asking);
    opens_in_the_end(&decider, &other);
    decider.opens(&other);
    if request.is_none() {
        decider.accepts_all(&the_one_that_waits(&decider, &other));
    }
    assert_eq!(asker.answer(&run)["conversationMessage"], "Done.");
    assert_eq!(waiting(&decider, &other).len(), 0);
    assert_eq!(decider.opens(&other)["document"]["version"], before + 1, "{place}");
    decider.comes_to_read(AFTER);
    assert_eq!(nodes.provider.all_asked().len(), 3, "{place}");
    assert!(nodes.last_sent().contains("The document is now at version"), "{}", nodes.last_sent());
}

#[test]
fn a_call_that_is_stored_and_not_told_is_made_once() {
    dies_at("agent.forwarded", true);
}

#[test]
fn a_result_that_is_stored_and_not_told_is_read() {
    dies_at("agent.returned", false);
}

#[test]
fn a_decision_that_was_stored_when_its_node_died_is_reported() {
    dies_at("room.decided>room.kept", false);
}

#[test]
fn a_document_is_created_once_when_the_node_of_the_run_is_killed() {
    let Some(mut nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let asking = ben.document();
    let create = json!({"title": "Log", "new_content": "Fog.\n", "explanation": "A log."});
    nodes.plays(&[("create_new_document", create)]);
    let run = ben.asks("Make a log");
    let request = ana.sees_request_of(&run);
    nodes.second.kill();
    ben.is_cut_off();
    let ben = ben.comes_back_to(nodes.first.url());
    opens_in_the_end(&ben, &asking);
    ana.decides(&request, approval()).ok();
    assert_eq!(ben.answer(&run)["conversationMessage"], "Done.");
    assert!(nodes.last_sent().contains("Created “Log”"), "{}", nodes.last_sent());
    let list = ana.emit("document:list", &json!({})).ok().to_string();
    assert_eq!(list.matches("\"Log\"").count(), 1, "{list}");
}

#[test]
fn a_run_reads_its_result_though_both_nodes_were_stopped_meanwhile() {
    let Some(mut nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (asking, other) = (ana.document(), ben.document());
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    assert!(nodes.second.stop().success() && nodes.first.stops().success());
    ana.is_cut_off();
    ben.is_cut_off();
    nodes.first.starts();
    let (ana, ben) = (ana.comes_back_to(nodes.first.url()), ben.comes_back_to(nodes.first.url()));
    opens_in_the_end(&ana, &asking);
    ben.opens(&other);
    assert_eq!(the_one_that_waits(&ben, &other).id(), request.id());
    ben.accepts_all(&request);
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    ben.comes_to_read(AFTER);
}

#[test]
fn a_person_who_may_not_ask_there_is_refused_as_on_one_server() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (asking, other) = (ana.document(), ben.document());
    let editor = nodes.first.guest(Role::Editor, &asking);
    editor.opens(&asking);
    let rewrite = json!({"document_id": other, "new_content": AFTER, "explanation": "Spelling."});
    nodes.plays(&[("update_document_by_id", rewrite)]);
    let run = editor.asks("Fix the spelling there");
    editor.answer(&run);
    assert!(
        nodes.last_sent().contains(&format!("There is no document {other}")),
        "{}",
        nodes.last_sent()
    );
    assert_eq!(editor.tool_results(&run)[0]["permissionDecision"], "deny");
    assert_eq!(waiting(&ben, &other).len(), 0);
    assert_eq!(ben.text(), BEFORE);
}

#[test]
fn frozen_words_of_another_nodes_document_stay() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let other = ben.document();
    let frozen = json!({"version": ben.version(), "ranges": [{"from": 0, "to": 3}]});
    let owner = nodes.first.owner();
    owner.emit("document:settings", &json!({"documentId": other, "frozen": frozen})).ok();
    nodes.rewrites(&other);
    let run = ana.asks("Fix the spelling there");
    ana.answer(&run);
    assert!(nodes.last_sent().contains("Teh"), "the model learns which: {}", nodes.last_sent());
    assert_eq!(waiting(&ben, &other).len(), 0);
}

#[test]
fn settings_of_another_nodes_document_hold() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let (other, owner) = (ben.document(), nodes.first.owner());
    let sets = |name: &str, value: Value| {
        let mut settings = json!({"documentId": other});
        settings[name] = value;
        owner.emit("document:settings", &settings).ok();
    };
    // Its models.
    sets("modelAccess", json!({"allow": "named", "names": ["harper"]}));
    nodes.rewrites(&other);
    ana.answer(&ana.asks("Fix the spelling there"));
    assert!(
        nodes.last_sent().contains("may only be shown to these models: harper"),
        "{}",
        nodes.last_sent()
    );
    sets("modelAccess", json!({"allow": "any"}));
    // No one is asked.
    sets("approvals", json!("off"));
    nodes.rewrites(&other);
    let run = ana.asks("Fix the spelling there");
    ana.answer(&run);
    assert!(nodes.last_sent().contains("reads as you proposed"), "{}", nodes.last_sent());
    assert_eq!(ana.tool_results(&run).pop().expect("a result")["status"], "approved");
    ben.comes_to_read(AFTER);
    // What was applied without asking can be taken back by its people.
    let request = ben.sees_request_of(&run);
    ben.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    ben.comes_to_read(BEFORE);
}

#[test]
fn people_of_the_asking_document_who_may_read_the_other_one_are_told_of_the_request() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    // Mia is on the node of the other document, and has the asking one open.
    let mia = nodes.on_second("Mia");
    mia.opens(&ana.document());
    let (run, request) = nodes.has_a_change_proposed(&ana, &ben);
    for person in [&ana, &mia] {
        assert_eq!(person.sees_request_of(&run).id(), request.id());
    }
    ben.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    for person in [&ana, &mia] {
        person.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    }
    assert_eq!(ana.accepts_all(&request)["status"], "approved");
    for person in [&ana, &mia, &ben] {
        assert_eq!(person.sees_resolved(&request)["status"], "approved");
        assert_eq!(person.saw("tool_approval_request").len(), 1, "no one is asked twice");
    }
    ana.answer(&run);
}

/// Ana's run waits for Ben's document on the second server, and his for hers on the first.
fn wait_for_each_other(nodes: &Nodes) -> (Person, Person, [(String, Request); 2]) {
    let (ana, ben) = nodes.two_documents();
    ana.overwrites("Mine.\n", BEFORE);
    let waits = [(&ana, &ben), (&ben, &ana)].map(|(asker, decider)| {
        nodes.rewrites(&decider.document());
        let run = asker.asks("Fix the spelling there");
        let request = decider.sees_request_of(&run);
        (run, request)
    });
    (ana, ben, waits)
}

#[test]
fn two_runs_that_wait_for_each_others_node_both_end() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben, [(hers, in_his), (his, in_hers)]) = wait_for_each_other(&nodes);
    // Each goes on as soon as its own request is decided.
    ana.accepts_all(&in_hers);
    assert_eq!(ben.answer(&his)["conversationMessage"], "Done.");
    assert_eq!(waiting(&ben, &ben.document())[0].id(), in_his.id());
    ben.rejects(&in_his, "Not now");
    assert_eq!(ana.answer(&hers)["conversationMessage"], "Done.");
    assert!(nodes.last_sent().contains("User rejected: Not now"), "{}", nodes.last_sent());
    ana.comes_to_read(AFTER);
    assert_eq!((ben.text().as_str(), ana.version()), (BEFORE, 2));
}

#[test]
fn two_runs_that_wait_for_each_others_node_both_end_though_one_is_killed() {
    let Some(mut nodes) = Nodes::start() else { return };
    let (ana, ben, [(hers, in_his), (his, in_hers)]) = wait_for_each_other(&nodes);
    let documents = [ana.document(), ben.document()];
    nodes.first.is_killed();
    ana.is_cut_off();
    ben.is_cut_off();
    let [ana, ben] = [ana, ben].map(|person| person.comes_back_to(&nodes.second.url));
    for (person, document, request) in
        [(&ana, &documents[0], &in_hers), (&ben, &documents[1], &in_his)]
    {
        opens_in_the_end(person, document);
        person.opens(document);
        assert_eq!(the_one_that_waits(person, document).id(), request.id());
        person.accepts_all(request);
    }
    assert_eq!(ana.answer(&hers)["conversationMessage"], "Done.");
    assert_eq!(ben.answer(&his)["conversationMessage"], "Done.");
    for (person, version) in [(&ana, 2), (&ben, 1)] {
        person.comes_to_read(AFTER);
        assert_eq!(person.version(), version);
    }
    assert_eq!(nodes.provider.all_asked().len(), 6, "the model is asked nothing twice");
}

#[test]
fn what_a_person_on_one_node_remembered_decides_the_next_call_of_a_run_on_another() {
    let Some(nodes) = Nodes::start() else { return };
    let (ana, ben) = nodes.two_documents();
    let creates = |title: &str| {
        let create = json!({"title": title, "new_content": "Fog.\n", "explanation": "A log."});
        nodes.plays(&[("create_new_document", create)]);
        ben.asks("Make a log")
    };
    let first = creates("Log");
    let request = ana.sees_request_of(&first);
    // Ana is on the node of the inbox; Ben's runs are on the other one.
    let remember = json!({"approved": true, "remember": {"scope": "session"}});
    ana.decides(&request, remember).ok();
    ben.answer(&first);
    let second = creates("Second log");
    assert_eq!(ben.answer(&second)["conversationMessage"], "Done.");
    assert!(nodes.last_sent().contains("Created “Second log”"), "{}", nodes.last_sent());
    let resolved = ana.sees_resolved(&ana.sees_request_of(&second));
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("approved"), &ana.user()));
    let rules = ana.emit("rules:list", &json!({})).ok()["rules"].clone();
    assert_eq!((&resolved["rule"], rules.as_array().map(Vec::len)), (&rules[0]["id"], Some(1)));
    // Another session is not meant.
    let other = ben.second_window();
    other.opens(&ben.document());
    let create = json!({"title": "Third log", "new_content": "Fog.\n", "explanation": "A log."});
    nodes.plays(&[("create_new_document", create)]);
    let third = other.asks("Make a log");
    let request = ana.sees_request_of(&third);
    ana.rejects(&request, "No");
    assert_eq!(other.answer(&third)["conversationMessage"], "Done.");
}
