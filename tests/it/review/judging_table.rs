//! Every way to decide, and what is judged when: one table of real calls. A request comes through
//! each door that makes one, and each refusal is tried through each door that decides.
//!
//! Everywhere the same is in force: an owner decides about more than 100 units, a rule denies more
//! than 1,000, and in the workspace inbox another rule denies `secret*`. Each proposal is small, so
//! by what was proposed anybody would decide it.

use std::collections::BTreeSet;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::api::samples::{events, routes};
use crate::support::http::send;
use crate::support::mcp::{self, Mcp};
use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{ClaudeStandIn, OWNER, Person, Request, Role, Script, TestServer};

const TEXT: &str = "one two three\n";
const CHANGED: &str = "one TWO three\n";

/// Way in which a request comes to be. A new one does not compile before it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPath {
    /// `run` over the socket: a file.
    Run,
    /// A tool of MCP: a file.
    McpFile,
    /// The Claude CLI: a file.
    CliFile,
    /// The Messages API with tools of the server: a file.
    MessagesFile,
    /// `askClaudeCode`: a change of the text.
    Ask,
    /// A tool of MCP: a change of the text.
    McpText,
    /// The Claude CLI: a change of the text.
    CliText,
    /// The Messages API with tools of the server: a change of the text.
    MessagesText,
    /// A plan, in plan mode.
    Plan,
    /// A document that is to be made.
    NewDocument,
}

/// Content of a decision.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// So many units of one's own: as another input, or as the text of the change.
    Own(usize),
    /// The same, with a word for the changes that are not named.
    OwnAndFinish(usize),
    /// Another file, with so many units.
    File(&'static str, usize),
    /// As it was proposed.
    Plain,
    /// An answer instead.
    Respond,
}

/// Rule that must judge for the answer that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judged {
    Role,
    PolicyBySize,
    RuleBySize,
    RuleByPath,
    Nothing,
}

use Form::{File, Own, OwnAndFinish, Plain, Respond};
use Judged::{Nothing, PolicyBySize, Role as ByRole, RuleByPath, RuleBySize};

const FILES: &[CallPath] =
    &[CallPath::Run, CallPath::McpFile, CallPath::CliFile, CallPath::MessagesFile];
const TEXTS: &[CallPath] =
    &[CallPath::Ask, CallPath::McpText, CallPath::CliText, CallPath::MessagesText];
const OTHERS: &[CallPath] = &[CallPath::Plan, CallPath::NewDocument];

/// (requests of these doors, who decides, how, what that must be refused by). The last line of each
/// is taken.
#[rustfmt::skip]
const TABLE: &[(&[CallPath], char, Form, Judged)] = &[
    (FILES,  'v', Plain,                    ByRole),
    (FILES,  'r', Own(5),                   ByRole),
    (FILES,  'r', File("other.txt", 5),     ByRole),
    (FILES,  'e', Own(101),                 PolicyBySize),
    (FILES,  'e', File("other.txt", 101),   PolicyBySize),
    (FILES,  'o', Own(1_001),               RuleBySize),
    (FILES,  'e', File("secret.txt", 5),    RuleByPath),
    (FILES,  'o', File("secret.txt", 5),    RuleByPath),
    (FILES,  'e', File("other.txt", 100),   Nothing),
    (TEXTS,  'v', Plain,                    ByRole),
    (TEXTS,  'r', Own(5),                   ByRole),
    (TEXTS,  'r', OwnAndFinish(5),          ByRole),
    (TEXTS,  'e', Own(98),                  PolicyBySize),
    (TEXTS,  'e', OwnAndFinish(98),         PolicyBySize),
    (TEXTS,  'o', Own(998),                 RuleBySize),
    (TEXTS,  'o', OwnAndFinish(998),        RuleBySize),
    (TEXTS,  'e', Own(97),                  Nothing),
    (OTHERS, 'v', Plain,                    ByRole),
    (OTHERS, 'r', Own(5),                   ByRole),
    (OTHERS, 'e', Own(101),                 PolicyBySize),
    (OTHERS, 'o', Own(1_001),               RuleBySize),
    (OTHERS, 'r', Respond,                  Nothing),
];

/// A server with everybody there is, and one request.
struct Stage {
    people: Vec<(char, Person)>,
    request: Request,
    /// The caller that waits for what comes of it.
    _caller: Caller,
    copydesk: TestServer,
    _cli: Option<ClaudeStandIn>,
}

fn call(tool: &str, input: Value) -> Value {
    json!({"type": "tool_use", "name": tool, "input": input})
}

fn file(content: &str) -> Value {
    json!({"file_path": "a.txt", "content": content})
}

/// Returns the script of the model of a door, once it is asked.
fn script(call_path: CallPath) -> Script {
    let once = |tool: &str, input: &Value| Script::calling(tool, input);
    match call_path {
        CallPath::Run | CallPath::MessagesFile => once("Write", &file("short")),
        CallPath::Ask => Script::rewriting(CHANGED),
        CallPath::MessagesText => Script::default()
            .answering(".", "read_document", &json!({}))
            .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [call("update_full_document", full(CHANGED))]}))
            .closing("Done."),
        CallPath::Plan => once("ExitPlanMode", &json!({"plan": "Tidy."})),
        CallPath::NewDocument => {
            once("create_new_document", &json!({"title": "N", "new_content": "short", "explanation": "x"}))
        }
        CallPath::McpFile | CallPath::McpText | CallPath::CliFile | CallPath::CliText => Script::talking(),
    }
}

fn cli(call_path: CallPath) -> Option<ClaudeStandIn> {
    let called = match call_path {
        CallPath::CliFile => call("atlas_write", file("short")),
        CallPath::CliText => call("update_full_document", full(CHANGED)),
        _ => return None,
    };
    let says = json!({"content": [{"type": "text", "text": "Done."}]});
    Some(ClaudeStandIn::playing(&[(".", json!([{"content": [called]}, says]))]))
}

impl Stage {
    /// Lets a request come through a door.
    fn set(call_path: CallPath) -> Self {
        let cli = cli(call_path);
        let plan = match &cli {
            Some(cli) => cli.plan().model("claude-cli"),
            None => TestServer::plan().script(script(call_path)),
        };
        let copydesk = plan.workspace(&[]).start();
        let owner = copydesk.owner();
        let document = owner.creates(TEXT);
        for place in ["desk", document.as_str()] {
            let policies = json!([{"over": 100, "policy": "owner"}]);
            owner
                .emit("document:settings", &json!({"documentId": place, "policies": policies}))
                .ok();
            let deny = json!({"documentId": place, "effect": "deny", "over": 1_000});
            owner.emit("rules:add", &deny).ok();
        }
        let deny = json!({"documentId": "desk", "effect": "deny", "path": "secret*"});
        owner.emit("rules:add", &deny).ok();
        let caller = asks(call_path, &copydesk, &owner);
        let request = owner.sees_request();
        assert_eq!(request["policies"], json!(["any"]), "{call_path:?}");
        assert!(request["units"].as_u64().unwrap() < 20, "{call_path:?}: {}", request["units"]);
        let mut people = vec![
            ('v', copydesk.person("Vic", Role::Viewer)),
            ('r', copydesk.person("Rex", Role::Reviewer)),
            ('e', copydesk.editor("Ed")),
            ('o', owner),
        ];
        for (_, person) in &mut people {
            person.opens(&document);
        }
        Self { people, request, _caller: caller, copydesk, _cli: cli }
    }

    fn person(&self, letter: char) -> &Person {
        &self.people.iter().find(|(it, _)| *it == letter).expect("someone").1
    }

    /// A decision in this form.
    fn decision(&self, form: Form) -> Value {
        let edit = |input: Value| json!({"decision": "edit", "updated_input": input});
        let own = |units: usize| "Z".repeat(units);
        let decision = match (form, self.request["tool_name"].as_str().unwrap()) {
            (Plain, _) => json!({"approved": true}),
            (Respond, _) => json!({"decision": "respond", "message": "Later."}),
            (Own(units), "Write") => edit(json!({"file_path": "a.txt", "content": own(units)})),
            (File(path, units), _) => edit(json!({"file_path": path, "content": own(units)})),
            (Own(units), "ExitPlanMode") => edit(json!({"plan": own(units)})),
            (Own(units), "create_new_document") => {
                edit(json!({"title": "N", "new_content": own(units), "explanation": "x"}))
            }
            (Own(units) | OwnAndFinish(units), _) => {
                let id = self.request.hunk(1);
                let hunks = json!([{"id": id, "decision": "accept", "text": own(units)}]);
                let mut decision = json!({"approved": true, "hunks": hunks});
                if let OwnAndFinish(_) = form {
                    decision["finish"] = json!("accept");
                }
                decision
            }
        };
        self.request.decision(decision)
    }

    /// Returns the answer of each door that decides: the code of the refusal, and its words.
    fn answers(&self, person: &Person, decision: &Value) -> Vec<(&'static str, Value)> {
        let of_batch = |answer: &Value| answer["results"][0]["error"].clone();
        let batch = json!({"responses": [decision]});
        let one = format!("POST /api/v1/requests/{}/decision", self.request.id());
        vec![
            ("socket", person.emit("tool_approval_response", decision).body()["error"].clone()),
            ("batch", of_batch(person.emit("tool_approval_batch", &batch).body())),
            ("REST", self.posts(person, &one, decision)),
            (
                "REST batch",
                of_batch(&self.posts(person, "POST /api/v1/requests/decisions", &batch)),
            ),
        ]
    }

    fn posts(&self, person: &Person, route: &str, body: &Value) -> Value {
        let address = self.copydesk.address();
        let bearer = format!("Bearer {}", person.token);
        let headers =
            [("Host", address), ("Authorization", &bearer), ("Content-Type", "application/json")];
        serde_json::from_str(&send(address, route, &headers, &body.to_string()).body).unwrap()
    }
}

/// Program or person that makes a call, and waits as long as this is kept.
enum Caller {
    Socket,
    Messages(#[expect(dead_code, reason = "it is waited with, not for")] JoinHandle<()>),
    Mcp(#[expect(dead_code, reason = "it is waited with, not for")] (Mcp, mcp::Answer)),
}

/// Makes the call, through its door.
fn asks(call_path: CallPath, copydesk: &TestServer, owner: &Person) -> Caller {
    let runs = |mode: &str| {
        owner.emit("run", &json!({"prompt": "Do it", "permission_mode": mode})).ok();
        Caller::Socket
    };
    let asks = |mode: &str| {
        let context = json!({"documentId": owner.document()});
        let ask = json!({"sessionId": owner.session(), "prompt": "Do it", "permission_mode": mode, "context": context});
        owner.emit("askClaudeCode", &ask).ok();
        Caller::Socket
    };
    let messages = |tools: &str| {
        let program = MessagesClient::with(copydesk, OWNER);
        program.opts_in(&json!([tools]));
        let document = owner.document();
        let program = match tools {
            "document" => program.header("x-copydesk-document", &document),
            _ => program,
        };
        let said = json!([{"role": "user", "content": "Do it"}]);
        Caller::Messages(std::thread::spawn(move || drop(program.asks(&said, &json!({})))))
    };
    match call_path {
        CallPath::Run => runs("sdk"),
        CallPath::CliFile => runs("mcpProxy"),
        CallPath::Ask | CallPath::NewDocument => asks("sdk"),
        CallPath::CliText => asks("mcpProxy"),
        CallPath::Plan => asks("toolApproval"),
        CallPath::MessagesFile => messages("workspace"),
        CallPath::MessagesText => messages("document"),
        CallPath::McpFile => {
            let coder = Mcp::arrives(copydesk, OWNER, "coder");
            let answer = coder.calls("atlas_write", file("short"));
            Caller::Mcp((coder, answer))
        }
        CallPath::McpText => {
            let coder = Mcp::arrives(copydesk, OWNER, "coder");
            coder.reads(&owner.document());
            let rewrite = json!({"document_id": owner.document(), "new_content": CHANGED, "explanation": "x"});
            let answer = coder.calls("update_full_document", rewrite);
            Caller::Mcp((coder, answer))
        }
    }
}

/// The word by which people know what refused them.
fn words(judged: Judged) -> &'static str {
    match judged {
        PolicyBySize => "so large that only an owner",
        RuleBySize | RuleByPath => "a rule denies this",
        ByRole | Nothing => "",
    }
}

fn plays(call_path: CallPath) {
    let stage = Stage::set(call_path);
    let rows = TABLE.iter().filter(|(call_paths, ..)| call_paths.contains(&call_path));
    let mut wrong = Vec::new();
    let mut taken = 0;
    for &(_, letter, form, judged) in rows {
        let (person, decision) = (stage.person(letter), stage.decision(form));
        if judged == Nothing {
            person.emit("tool_approval_response", &decision).ok();
            taken += 1;
            continue;
        }
        for (through, error) in stage.answers(person, &decision) {
            // A problem of REST says it by its type.
            let code = error["code"].as_str().or(error["type"].as_str()).unwrap_or("taken");
            let said = error["message"].as_str().or(error["detail"].as_str()).unwrap_or_default();
            if !code.ends_with("not_allowed") || !said.contains(words(judged)) {
                wrong.push(format!(
                    "{call_path:?} {letter} {form:?} {judged:?} by {through}: {error}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(taken, 1, "{call_path:?}: one decision of the table is taken");
}

macro_rules! stories {
    ($($name:ident: $call_path:ident,)*) => {
        $(#[test]
        fn $name() {
            plays(CallPath::$call_path);
        })*

        /// Every door has a story, or its way of asking is never used, which does not compile.
        #[test]
        fn every_door_is_in_the_table() {
            for call_path in [$(CallPath::$call_path),*] {
                let judged: Vec<_> = TABLE
                    .iter()
                    .filter(|(call_paths, ..)| call_paths.contains(&call_path))
                    .map(|(.., judged)| *judged)
                    .collect();
                for each in [ByRole, PolicyBySize, RuleBySize, Nothing] {
                    assert!(judged.contains(&each), "{call_path:?} and {each:?}");
                }
            }
        }
    };
}

stories! {
    a_file_that_a_run_writes: Run,
    a_file_over_mcp: McpFile,
    a_file_of_the_cli: CliFile,
    a_file_over_the_messages_api: MessagesFile,
    a_change_of_a_text: Ask,
    a_change_over_mcp: McpText,
    a_change_of_the_cli: CliText,
    a_change_over_the_messages_api: MessagesText,
    a_plan: Plan,
    a_document_that_is_made: NewDocument,
}

/// Events and routes that decide something, and where they are judged; `None`: they decide nothing.
#[rustfmt::skip]
const WAYS: &[(&str, Option<&str>)] = &[
    ("tool_approval_response", Some("the table, judging.rs")),
    ("tool_approval_batch", Some("the table")),
    ("approval:undo", Some("judging.rs: undo")),
    ("approval:reopen", Some("judging.rs: proposed again")),
    ("approval:list", None),
    ("approval:told", None),
    // It applies nothing; what it leaves to decide is judged like the rest.
    ("approval:split", None),
    ("approval:defer", None),
    ("approval:deferred", None),
    ("approval:focus", None),
    ("approval:extend", None),
    ("approval:withdraw", None),
    ("list_pending_approvals", None),
    ("/api/v1/requests", None),
    ("/api/v1/requests/decisions", Some("the table")),
    ("/api/v1/requests/{id}", None),
    ("/api/v1/requests/{id}/decision", Some("the table")),
    ("/api/v1/requests/{id}/told", None),
    ("/api/v1/requests/{id}/split", None),
    ("/api/v1/requests/{id}/defer", None),
    ("/api/v1/requests/{id}/extend", None),
    ("/api/v1/requests/{id}/undo", Some("judging.rs: undo")),
    ("/api/v1/requests/{id}/reopen", Some("judging.rs: proposed again")),
    ("/api/v1/requests/{id}/withdraw", None),
];

#[test]
fn every_way_to_decide_is_known_here() {
    let is_about = |name: &&str| name.contains("approval");
    let routes = routes().into_iter().filter(|route| route.starts_with("/api/v1/requests"));
    let events = events().into_iter().filter(is_about).map(str::to_owned);
    let known: BTreeSet<_> = WAYS.iter().map(|(way, _)| (*way).to_owned()).collect();
    assert_eq!(
        known,
        events.chain(routes).collect(),
        "tests/it/review/judging_table.rs and crates/operations/src"
    );
}
