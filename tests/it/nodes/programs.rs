//! Stories about programs that listen over MCP on one server to documents that another one has.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::mcp::{Answer, Mcp};
use crate::support::{OWNER, Person, PrivateRedis, Role, Server, StoryDatabase, TestServer};

const UPDATED: &str = "notifications/resources/updated";
/// Line of the log about a message that was carried to a server before it was found in the
/// database, where servers look once a second. A busy machine may be late with some.
const CARRIED: &str = "was carried here";
/// Changes of a text, and how many of them at least are announced by messages that were carried.
const CHANGES: u64 = 10;
const MOST: usize = 5;
/// Maximum time in which a server on a busy machine must notice something.
const TIMEOUT: Duration = Duration::from_mins(1);

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
        Self::start_with(&[])
    }

    /// The same, with these variables in the environment of both.
    fn start_with(variables: &[(&str, &str)]) -> Option<Self> {
        let database = StoryDatabase::on_postgres()?;
        let plan = TestServer::plan().flags(&["--cluster"]);
        let plan = variables.iter().fold(plan, |plan, (name, value)| plan.variable(name, value));
        let first = plan.start_on(Some(database));
        let second = first.another_node();
        let ana = first.editor("Ana");
        ana.creates("Mine.\n");
        let program = Mcp::arrives_at(second.address(), OWNER, "coder");
        Some(Self { first, second, ana, program })
    }
}

impl Nodes {
    /// Ana changes her document several times; the program hears of each change at once.
    fn tell_over_redis(&self, heard: &Answer) {
        let carried = || self.second.complaints().matches(CARRIED).count();
        let before = carried();
        for _ in 0..CHANGES {
            types_and_hears(&self.ana, heard);
        }
        let carried = carried() - before;
        assert!(carried >= MOST, "{carried} of {CHANGES}");
    }

    /// Waits until both servers have written something to their logs.
    fn both_complain(&self, words: &str) {
        let until = Instant::now() + TIMEOUT;
        while !self.first.complaints().contains(words) {
            assert!(Instant::now() < until, "{words:?} was not written");
        }
        self.second.complains(words, 1);
    }
}

fn subscription(document: &str) -> Value {
    json!({"uri": format!("copydesk://documents/{document}")})
}

/// A program listens to this document.
fn subscribes(program: &Mcp, document: &str) {
    assert_eq!(program.asks("resources/subscribe", subscription(document))["result"], json!({}));
}

/// Has a person change the document they have open, and a program hear of it.
fn types_and_hears(person: &Person, heard: &Answer) {
    person.types(0, "x");
    hears_of(heard, &person.document());
}

fn hears_of(heard: &Answer, document: &str) {
    assert_eq!(hears_of_text(heard), subscription(document));
}

/// The next text that a program hears of.
fn hears_of_text(heard: &Answer) -> Value {
    let mut all = std::iter::repeat_with(|| heard.next());
    all.find(|event| event["method"] == UPDATED).expect("it never ends")["params"].clone()
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
        let event = heard.next();
        assert_eq!(event["method"], UPDATED);
        assert_eq!(event["params"], subscription(&document));
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
    // What was not announced any more may be anything.
    let event = std::iter::repeat_with(|| heard.next()).find(|event| event["method"] == UPDATED);
    assert_eq!(event.expect("it never ends")["params"], subscription(&document));
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

#[test]
fn a_program_hears_of_texts_over_redis_and_without_it_while_it_is_away() {
    let Some(mut redis) = PrivateRedis::start() else { return };
    let variables = [("COPYDESK_LOG", "debug"), ("COPYDESK_REDIS_URL", &*redis.url())];
    let Some(nodes) = Nodes::start_with(&variables) else { return };
    let Nodes { ana, program, .. } = &nodes;
    let heard = program.send("GET", None, &[("Accept", "text/event-stream")]);
    let mine = ana.document();
    subscribes(program, &mine);
    nodes.tell_over_redis(&heard);
    redis.is_killed();
    nodes.both_complain("Redis is lost");
    types_and_hears(ana, &heard);
    assert!(program.reads(&mine).contains(&ana.text()));
    // What a program begins to listen to meanwhile is known to the other server, too.
    let other = ana.creates("Another.\n");
    subscribes(program, &other);
    types_and_hears(ana, &heard);
    redis.starts();
    nodes.both_complain("Redis is back");
    nodes.tell_over_redis(&heard);
    assert!(program.reads(&other).contains(&ana.text()));
}

#[test]
fn programs_on_three_servers_hear_of_texts_of_each_of_them_and_of_those_that_are_left() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let mut nodes = TestServer::plan().start_nodes(3, database);
    let urls: Vec<_> = nodes.urls().into_iter().map(str::to_owned).collect();
    let token = nodes.token("Ana", Role::Editor, &[]);
    // On each server a document that it has, and a program that listens to all of them.
    let writers: Vec<_> = urls.iter().map(|url| Person::arrive(url, &token, "Ana")).collect();
    let documents: Vec<_> = writers.iter().map(|ana| ana.creates("Mine.\n")).collect();
    let programs: Vec<_> = urls
        .iter()
        .map(|url| Mcp::arrives_at(url.trim_start_matches("http://"), OWNER, "coder"))
        .collect();
    let listening: Vec<_> = programs
        .iter()
        .map(|program| {
            let heard = program.send("GET", None, &[("Accept", "text/event-stream")]);
            for document in &documents {
                subscribes(program, document);
            }
            heard
        })
        .collect();
    for ana in &writers {
        ana.types(0, "x");
        for heard in &listening {
            hears_of(heard, &ana.document());
        }
    }
    nodes.node(0).kill();
    let heard = &listening[2];
    // What was not announced any more may be about any document.
    let mut untold: BTreeSet<_> = documents.iter().map(|it| subscription(it).to_string()).collect();
    while !untold.is_empty() {
        untold.remove(&hears_of_text(heard).to_string());
    }
    // Its document goes to the second server, and the program on the third hears of it.
    let ana = writers[0].comes_back_to(&urls[1]);
    ana.opens(&documents[0]);
    ana.types(0, "y");
    hears_of(heard, &documents[0]);
    assert!(programs[2].reads(&documents[0]).contains("yx"));
}
