//! Stories about several decisions in one message, about requests in documents of two servers: each
//! is taken where its document is, once, and the client that sent them hears of each, or that it is
//! not known.

use serde_json::{Value, json};

use crate::support::{
    OWNER, Person, Request, Role, Script, Server, StoryDatabase, TestServer, http,
};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// Two servers, a document on each, and a request that waits in each.
struct Nodes {
    first: TestServer,
    second: Server,
    /// Ana's document is on the first server, Ben's on the second.
    ana: Person,
    ben: Person,
    hers: Request,
    his: Request,
}

impl Nodes {
    /// `None` without PostgreSQL. With `place`, the first server dies there.
    fn start(place: Option<&str>) -> Option<Self> {
        let database = StoryDatabase::on_postgres()?;
        let plan = TestServer::plan().flags(&["--cluster"]).script(Script::rewriting(AFTER));
        let mut first = plan.start_on(Some(database));
        let second = first.another_node();
        if let Some(place) = place {
            assert!(first.stops().success());
            first.starts_to_die_at(place).expect("it serves first");
        }
        let ana = first.editor("Ana");
        let ben = Person::arrive(&second.url, &first.token("Ben", Role::Editor, &[]), "Ben");
        let [hers, his] = [&ana, &ben].map(|person| {
            person.creates(BEFORE);
            person.asks("Fix the spelling");
            person.sees_request()
        });
        Some(Self { first, second, ana, ben, hers, his })
    }
}

/// Decides several requests over REST at this server.
fn posts(address: &str, responses: &[Value]) -> http::Response {
    let bearer = format!("Bearer {OWNER}");
    let headers = [
        ("Host", address),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "k"),
    ];
    let body = json!({ "responses": responses }).to_string();
    http::send(address, "POST /api/v1/requests/decisions", &headers, &body)
}

/// Accepts all of a request.
fn accepted(request: &Request) -> Value {
    request.decision(json!({"approved": true}))
}

/// The results of several decisions, in short.
fn results(answer: &Value) -> Vec<(&str, &str)> {
    answer["results"]
        .as_array()
        .unwrap_or_else(|| panic!("no results: {answer}"))
        .iter()
        .map(|result| {
            let outcome =
                if result["ok"] == true { &result["status"] } else { &result["error"]["code"] };
            (
                result["request_id"].as_str().unwrap_or_default(),
                outcome.as_str().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn decisions_of_one_event_are_taken_where_their_documents_are() {
    let Some(nodes) = Nodes::start(None) else { return };
    let Nodes { ana, ben, hers, his, .. } = &nodes;
    let some = |request: &Request| {
        request.decision(json!({"approved": true, "hunks": request.each(&[1], "accept")}))
    };
    let responses = json!([{"responses": [
        some(his),
        some(hers),
        {"request_id": "nowhere", "approved": true},
        {"request_id": 7},
        hers.decision(json!({"approved": false})),
        his.decision(json!({"approved": false})),
        accepted(his),
    ]}]);
    // With a name that no client sends.
    let answer = ana.ack(ana.send_args("tool_approval_batch", &responses)).ok();
    let expected = [
        (his.id(), "pending"),
        (hers.id(), "pending"),
        ("nowhere", "not_found"),
        ("", "invalid_payload"),
        (hers.id(), "partly"),
        (his.id(), "partly"),
        (his.id(), "already_resolved"),
    ];
    assert_eq!(results(&answer), expected);
    for person in [ana, ben] {
        person.comes_to_read(&BEFORE.replace("Teh", "The"));
        assert_eq!(person.pending().len(), 0);
    }
}

#[test]
fn decisions_of_one_request_over_rest_are_taken_where_their_documents_are() {
    let Some(nodes) = Nodes::start(None) else { return };
    let Nodes { ana, ben, hers, his, first, .. } = &nodes;
    let responses = [accepted(his), accepted(hers), json!({"request_id": "nowhere"})];
    let answer = posts(first.address(), &responses);
    let reply: Value = serde_json::from_str(&answer.body).unwrap();
    let known = [(his.id(), "approved"), (hers.id(), "approved"), ("nowhere", "invalid_request")];
    assert_eq!((answer.status, results(&reply).as_slice()), (200, &known[..]), "{reply}");
    for person in [ana, ben] {
        person.comes_to_read(AFTER);
    }
    // Sent again, it is answered the same.
    let again = posts(first.address(), &responses);
    assert_eq!(again.body, answer.body);
    // All of them on the other server.
    let only = json!({"responses": [accepted(his)]});
    let answer = ana.emit("tool_approval_batch", &only).ok();
    assert_eq!(results(&answer), [(his.id(), "already_resolved")]);
}

#[test]
fn of_a_server_that_dies_no_one_says_that_a_decision_was_refused() {
    let Some(mut nodes) = Nodes::start(Some("room.decided>room.kept")) else { return };
    let responses = [accepted(&nodes.hers), accepted(&nodes.his)];
    let address = nodes.second.address().to_owned();
    let answer = posts(&address, &responses);
    let reply: Value = serde_json::from_str(&answer.body).unwrap();
    let known = [(nodes.hers.id(), "outcome_unknown"), (nodes.his.id(), "approved")];
    assert_eq!(results(&reply), known, "{reply}");
    nodes.first.dies();
    // It had been taken.
    let ana = nodes.ana.comes_back_to(&nodes.second.url);
    ana.opens_again();
    ana.comes_to_read(AFTER);
}

#[test]
fn a_person_whose_answer_is_lost_is_cut_off() {
    let Some(mut nodes) = Nodes::start(Some("room.decided>room.kept")) else { return };
    let Nodes { ben, hers, his, .. } = &nodes;
    let responses = json!({"responses": [accepted(his), accepted(hers)]});
    if let Some(answer) = ben.tries("tool_approval_batch", &responses) {
        let known = [(his.id(), "approved"), (hers.id(), "outcome_unknown")];
        assert_eq!(results(answer.body()), known);
    }
    ben.is_cut_off();
    nodes.first.dies();
    let ben = nodes.ben.comes_back_to(&nodes.second.url);
    ben.opens_again();
    ben.comes_to_read(AFTER);
    let ana = nodes.ana.comes_back_to(&nodes.second.url);
    ana.opens_again();
    ana.comes_to_read(AFTER);
}

#[test]
fn a_decision_follows_its_document_to_the_server_that_takes_over() {
    let Some(mut nodes) = Nodes::start(None) else { return };
    nodes.first.is_killed();
    let address = nodes.second.address().to_owned();
    let answer = posts(&address, &[accepted(&nodes.hers), accepted(&nodes.his)]);
    let reply: Value = serde_json::from_str(&answer.body).unwrap();
    let known = [(nodes.hers.id(), "approved"), (nodes.his.id(), "approved")];
    assert_eq!(results(&reply), known, "{reply}");
    let ana = nodes.ana.comes_back_to(&nodes.second.url);
    ana.opens_again();
    ana.comes_to_read(AFTER);
}
