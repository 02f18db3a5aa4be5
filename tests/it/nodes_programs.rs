//! Stories about programs that listen over MCP on one server to documents that another one has.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{OWNER, Person, Role, Server, StoryDatabase, TestServer};

const UPDATED: &str = "notifications/resources/updated";

/// Two servers, Ana with a document on the first, and a program of the owner on the second.
struct Nodes {
    first: TestServer,
    second: Server,
    ana: Person,
    program: Mcp,
}

impl Nodes {
    /// `None` without PostgreSQL.
    fn start() -> Option<Self> {
        let database = StoryDatabase::on_postgres()?;
        let first = TestServer::plan().flags(&["--cluster"]).start_on(Some(database));
        let second = first.another_node();
        let ana = first.editor("Ana");
        ana.creates("Mine.\n");
        let program = Mcp::arrives_at(second.address(), OWNER, "coder");
        Some(Self { first, second, ana, program })
    }
}

fn subscription(document: &str) -> Value {
    json!({"uri": format!("copydesk://documents/{document}")})
}

#[test]
fn a_program_hears_of_texts_that_change_on_another_server() {
    let Some(nodes) = Nodes::start() else { return };
    let Nodes { ana, program, .. } = &nodes;
    let heard = program.send("GET", None, &[("Accept", "text/event-stream")]);
    let document = ana.document();
    program.asks("resources/subscribe", subscription(&document));
    // At once, and whenever it changes again.
    for at in 0..3 {
        ana.types(at, "x");
        let told = heard.next();
        assert_eq!(told["method"], UPDATED);
        assert_eq!(told["params"], subscription(&document));
        assert!(program.reads(&document).contains(&ana.text()));
    }
    // The change of a document to which it does not listen comes before one to which it does.
    let mine = ana.creates("Another.\n");
    assert_eq!(heard.next()["method"], "notifications/resources/list_changed");
    ana.types(0, "x");
    ana.opens(&document);
    ana.types(0, "y");
    assert_eq!(heard.next()["params"], subscription(&document), "not {mine}");
    program.asks("resources/unsubscribe", subscription(&document));
    ana.types(0, "z");
    assert_eq!(heard.within(Duration::from_secs(3)), None);
}

#[test]
fn a_program_hears_of_texts_after_their_server_was_lost() {
    let Some(mut nodes) = Nodes::start() else { return };
    let document = nodes.ana.document();
    let heard = nodes.program.send("GET", None, &[("Accept", "text/event-stream")]);
    nodes.program.asks("resources/subscribe", subscription(&document));
    nodes.first.is_killed();
    // What was not told any more may be anything.
    let told = std::iter::repeat_with(|| heard.next()).find(|told| told["method"] == UPDATED);
    assert_eq!(told.expect("it never ends")["params"], subscription(&document));
    let ana = nodes.ana.comes_back_to(&nodes.second.url);
    ana.opens_again();
    ana.types(0, "x");
    assert_eq!(heard.next()["params"], subscription(&document));
}

#[test]
fn a_program_listens_to_nothing_on_another_server_that_it_may_not_read() {
    let Some(nodes) = Nodes::start() else { return };
    let Nodes { ana, first, second, program } = &nodes;
    let hers = ana.document();
    ana.creates("Another.\n");
    let other = ana.document();
    let token = first.token("Guest", Role::Viewer, &["--document", &other]);
    let guest = Mcp::arrives_at(second.address(), &token, "guest");
    let refused = |answer: Value| {
        let words = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(words.contains("there is no resource"), "{answer}");
    };
    refused(guest.asks("resources/subscribe", subscription(&hers)));
    assert_eq!(guest.asks("resources/subscribe", subscription(&other))["result"], json!({}));
    first.owner().emit("document:delete", &json!({"documentId": other})).ok();
    for gone in [&other, "nowhere"] {
        refused(program.asks("resources/subscribe", subscription(gone)));
    }
}
