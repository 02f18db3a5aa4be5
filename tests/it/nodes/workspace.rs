//! Stories about a workspace among several servers on one database: one of those that were given
//! the folder works in it, people decide on any server, and what waits outlives the server that
//! worked.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{
    ClaudeStandIn, OWNER, Person, Request, Role, Script, Server, StoryDatabase, TestServer, found,
    http,
};

/// Time within which another server has the workspace of one that was killed.
const TAKEOVER: Duration = Duration::from_secs(10);
/// Maximum time of a message between servers on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

const NEW: &str = "hello world";

fn writing() -> Script {
    Script::calling("Write", &json!({"file_path": "test.txt", "content": NEW}))
}

fn approval() -> Value {
    json!({"approved": true})
}

/// A server with a workspace, which is one of several; `None` without PostgreSQL.
fn one_with_workspace(script: Script, files: &[(&str, &str)]) -> Option<TestServer> {
    let database = StoryDatabase::on_postgres()?;
    let plan = TestServer::plan().flags(&["--cluster", "--enable-bash"]).script(script);
    Some(plan.workspace(files).start_on(Some(database)))
}

/// A server with a workspace, and one without.
fn two(script: Script, files: &[(&str, &str)]) -> Option<(TestServer, Server)> {
    let first = one_with_workspace(script, files)?;
    let second = first.another_node_without_workspace();
    Some((first, second))
}

fn editor_on(first: &TestServer, server: &Server, name: &str) -> Person {
    Person::arrive(&server.url, &first.token(name, Role::Editor, &[]), name)
}

fn owner_on(server: &Server) -> Person {
    Person::arrive(&server.url, OWNER, "Owner")
}

/// The payload of a run in the workspace.
fn run() -> Value {
    json!({
        "prompt": "Work in the folder",
        "continue": false,
        "permission_mode": "sdk",
        "auto_approve_safe": true,
    })
}

fn runs(person: &Person) -> String {
    person.emit("run", &run()).ok()["requestId"].as_str().expect("a run has a name").to_owned()
}

fn ends(person: &Person, run: &str) -> Value {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result")
}

fn pending(person: &Person) -> Vec<Request> {
    let ack = person.emit("list_pending_approvals", &json!({})).ok();
    ack["requests"].as_array().expect("requests").iter().cloned().map(Request).collect()
}

/// Sends an event until it is answered otherwise than that no server has the workspace.
fn once_it_is_back(person: &Person, event: &str, payload: &Value) -> Value {
    found(|| {
        let answer = person.emit(event, payload);
        if answer.body()["error"]["code"] == "unavailable" {
            return Err(answer.body().clone());
        }
        Ok(answer.ok())
    })
}

/// Waits until a server has noticed that the one with the workspace is gone.
fn comes_to_miss_it(person: &Person) -> Value {
    let until = Instant::now() + TIMEOUT;
    loop {
        let refused = person.emit("workspace:files", &json!({})).refused_with("unavailable");
        let said = refused["message"].as_str().unwrap_or_default();
        if said.contains("no server that has the workspace") {
            return refused;
        }
        assert!(Instant::now() < until, "{refused}");
    }
}

#[test]
fn a_run_asked_on_one_server_works_where_the_workspace_is() {
    let Some((first, second)) = two(writing(), &[]) else { return };
    let (owner, ben) = (first.owner(), editor_on(&first, &second, "Ben"));
    for needed in ["workspace", "files"] {
        let capabilities = ben.registered()["capabilities"].as_array().unwrap();
        assert!(capabilities.iter().any(|name| name == needed), "{capabilities:?}");
    }
    let run = runs(&ben);
    let request = ben.sees_request_of(&run);
    assert_eq!(request["tool_name"], "Write");
    assert_eq!(owner.sees_request().id(), request.id(), "both servers show it");
    assert_eq!((pending(&ben)[0].id(), pending(&owner)[0].id()), (request.id(), request.id()));
    assert_eq!(first.file("test.txt"), None);
    ben.decides(&request, approval()).ok();
    assert_eq!(owner.sees_resolved(&request)["by"]["name"], "Ben");
    assert_eq!(ends(&ben, &run)["subtype"], "success");
    assert_eq!(ben.tool_results(&run)[0]["content"], "Wrote 11 characters to test.txt");
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    owner.decides(&request, approval()).refused_with("already_resolved");
}

#[test]
fn a_workspace_that_comes_later_is_found_by_those_who_are_there() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let writes = TestServer::plan().flags(&["--cluster"]).script(writing());
    let plain = writes.start_on(Some(database));
    // Ben and the workspace inbox are on the server without a folder.
    let ben = plain.editor("Ben");
    let first = runs(&ben);
    ends(&ben, &first);
    let tool_result = ben.tool_results(&first).remove(0);
    assert!(
        tool_result["content"].as_str().unwrap().starts_with("Unknown tool: Write"),
        "{tool_result}"
    );
    ben.emit("document:open", &json!({"path": "notes.md"})).refused_with("unsupported");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "A note.\n").unwrap();
    let path = folder.path().display().to_string();
    let _second = plain.another_node_with(&["--workspace", &path]).expect("it starts");
    ben.is_cut_off();
    // A session of its own: the script is played once for each.
    let ben = ben.second_window();
    let run = once_it_is_back(&ben, "run", &run())["requestId"].as_str().unwrap().to_owned();
    let request = ben.sees_request_of(&run);
    ben.decides(&request, approval()).ok();
    ends(&ben, &run);
    assert_eq!(std::fs::read_to_string(folder.path().join("test.txt")).unwrap(), NEW);
    ben.opens_file("notes.md");
    ben.comes_to_read("A note.\n");
}

#[test]
fn what_is_held_outlives_the_only_server_with_the_workspace() {
    let Some((mut first, second)) = two(writing(), &[]) else { return };
    let ben = editor_on(&first, &second, "Ben");
    let request = ben.sees_request_of(&runs(&ben));
    first.is_killed();
    ben.is_cut_off();
    let ben = ben.comes_back_to(&second.url);
    let refused = comes_to_miss_it(&ben);
    // It is shown, it can neither be decided nor begun, and no one is sent anything wrong.
    assert_eq!(pending(&ben)[0].id(), request.id());
    for answer in [ben.decides(&request, approval()), ben.emit("run", &run())] {
        assert_eq!(answer.refused_with("unavailable")["message"], refused["message"]);
    }
    ben.decides(&request, json!({"approved": false})).refused_with("unavailable");
    assert_eq!(pending(&ben)[0].hash(), request.hash());
    // Documents go on meanwhile.
    let document = ben.creates("a");
    ben.types(1, "b");
    ben.comes_to_read("ab");
    first.starts();
    // No one has to connect again.
    assert_eq!(ben.sees_request().id(), request.id());
    ben.decides(&request, approval()).ok();
    let update = ben.sees_where("tool_approval_update", |it| it["report"].is_string());
    assert_eq!(update["report"], "Wrote 11 characters to test.txt");
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    assert_eq!(ben.document(), document);
}

#[test]
fn another_server_with_the_folder_takes_over() {
    let Some(mut first) = one_with_workspace(writing(), &[("notes.md", "A note.\n")]) else {
        return;
    };
    let (second, plain) = (first.another_node(), first.another_node_without_workspace());
    let (ben, mia) = (editor_on(&first, &second, "Ben"), editor_on(&first, &plain, "Mia"));
    mia.opens_file("notes.md");
    mia.types(7, "!");
    first.file_comes_to_read("notes.md", "A note.!\n");
    let request = ben.sees_request_of(&runs(&ben));
    let killed = Instant::now();
    first.is_killed();
    ben.is_cut_off();
    mia.is_cut_off();
    let (ben, mia) = (ben.comes_back_to(&second.url), mia.comes_back_to(&plain.url));
    assert_eq!(ben.sees_request().id(), request.id());
    let took = killed.elapsed();
    println!("the workspace was taken over after {took:?}");
    assert!(took < TAKEOVER, "{took:?}");
    assert_eq!(mia.sees_request().id(), request.id());
    mia.decides(&request, approval()).ok();
    let update = ben.sees_where("tool_approval_update", |it| it["report"].is_string());
    assert_eq!(update["report"], "Wrote 11 characters to test.txt");
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    // Files that are documents are synchronised there, too.
    mia.opens_again();
    mia.types(8, "?");
    first.file_comes_to_read("notes.md", "A note.!?\n");
    first.overwrites("notes.md", "Another note.!?\n");
    mia.comes_to_read("Another note.!?\n");
    // The one that comes back leaves the workspace where it is.
    first.starts();
    first.overwrites("test.txt", "old");
    let owner = first.owner();
    let run = runs(&owner);
    let again = owner.sees_request_of(&run);
    ben.decides(&again, json!({"approved": false, "feedback": "It is there already"})).ok();
    ends(&owner, &run);
}

#[test]
fn a_server_that_stood_still_for_long_ends_and_overwrites_nothing() {
    let Some(mut first) = one_with_workspace(writing(), &[("notes.md", "A note.\n")]) else {
        return;
    };
    let second = first.another_node();
    let ben = editor_on(&first, &second, "Ben");
    ben.opens_file("notes.md");
    let request = ben.sees_request_of(&runs(&ben));
    // He types and approves. The server has the one before it stands still, perhaps not yet in the
    // file; it reads the other when it goes on.
    ben.types(7, "!");
    first.node(0).stands_still();
    ben.tries("tool_approval_response", &request.decision(approval()));
    ben.is_cut_off();
    let ben = ben.comes_back_to(&second.url);
    assert_eq!(ben.sees_request().id(), request.id());
    ben.opens_again();
    ben.comes_to_read("A note.!\n");
    ben.types(8, "?");
    first.file_comes_to_read("notes.md", "A note.!?\n");
    ben.decides(&request, json!({"approved": false, "feedback": "I changed my mind"})).ok();
    first.overwrites("notes.md", "Another note.!?\n");
    ben.comes_to_read("Another note.!?\n");
    first.node(0).goes_on();
    assert_eq!(first.node(0).ends().code(), Some(1), "{}", first.complaints());
    let complaints = first.complaints();
    assert!(complaints.contains("have removed this one"), "{complaints}");
    assert_eq!(first.file("notes.md").as_deref(), Some("Another note.!?\n"));
    assert_eq!(first.file("test.txt"), None, "he has rejected it");
    // It comes back, and leaves the workspace where it is.
    first.starts();
    let owner = first.owner();
    owner.opens_file("notes.md");
    assert_eq!(owner.text(), "Another note.!?\n");
    owner.types(0, "> ");
    first.file_comes_to_read("notes.md", "> Another note.!?\n");
    assert_eq!(pending(&owner).len(), 0);
}

#[test]
fn of_two_people_on_two_servers_who_approve_at_once_one_runs_the_command() {
    let command = json!({"command": "echo once >> log.txt", "description": "Notes it"});
    let Some((first, second)) = two(Script::calling("Bash", &command), &[]) else { return };
    let (owner, other) = (first.owner(), owner_on(&second));
    for round in 1..=5 {
        let asker = other.second_window();
        let run = runs(&asker);
        let is_of = |it: &Value| it["requestId"] == *run;
        let mine = Request(owner.sees_where("tool_approval_request", is_of));
        let theirs = Request(other.sees_where("tool_approval_request", is_of));
        let one = owner.send("tool_approval_response", &mine.decision(approval()));
        let two = other.send("tool_approval_response", &theirs.decision(approval()));
        let (one, two) = (owner.ack(one), other.ack(two));
        let won = [&one, &two].map(|ack| ack.body()["ok"] == true);
        assert!(won[0] != won[1], "{:?} {:?}", one.body(), two.body());
        if won[0] { two } else { one }.refused_with("already_resolved");
        assert_eq!(ends(&asker, &run)["subtype"], "success");
        assert_eq!(first.file("log.txt").unwrap(), "once\n".repeat(round));
    }
}

/// Returns the result of the one call of a run that has ended, as the model read it.
fn final_result(person: &Person) -> String {
    let read = json!({"sessionId": person.session()});
    found(|| {
        let answer = once_it_is_back(person, "transcript:get", &read);
        let entries = answer["entries"].as_array().unwrap();
        if !entries.iter().any(|it| it["type"] == "result") {
            return Err(answer);
        }
        let results: Vec<_> = entries.iter().filter(|it| it["subtype"] == "tool_result").collect();
        assert_eq!(results.len(), 1, "{results:?}");
        Ok(results[0]["content"]["content"].to_string())
    })
}

#[test]
fn a_call_that_had_begun_is_not_begun_again_by_the_server_that_takes_over() {
    let outcomes = [
        ("tools.begun", "It is as it was before; nothing was repeated", None),
        ("tools.acted", "was written before the server stopped", Some(NEW)),
    ];
    for (walk, outcome, text) in outcomes {
        let Some(mut first) = one_with_workspace(writing(), &[]) else { return };
        assert!(first.stops().success());
        first.starts_to_die_at(walk).expect("it serves first");
        let second = first.another_node();
        let owner = owner_on(&second);
        let request = owner.sees_request_of(&runs(&owner));
        owner.tries("tool_approval_response", &request.decision(approval()));
        first.dies();
        owner.is_cut_off();
        let owner = owner.comes_back_to(&second.url);
        let tool_result = final_result(&owner);
        assert!(tool_result.contains(outcome), "{walk}: {tool_result}");
        assert_eq!(first.file("test.txt").as_deref(), text, "{walk}");
        owner.decides(&request, approval()).refused_with("already_resolved");
    }
}

#[test]
fn a_server_that_stops_leaves_the_workspace_to_the_other_at_once() {
    let Some(mut first) = one_with_workspace(writing(), &[("notes.md", "A note.\n")]) else {
        return;
    };
    let second = first.another_node();
    let ben = editor_on(&first, &second, "Ben");
    ben.opens_file("notes.md");
    let run = runs(&ben);
    let request = ben.sees_request_of(&run);
    // What was typed last is in the file before the other one has it.
    ben.types(7, "!");
    assert_eq!(first.stops().code(), Some(0));
    assert_eq!(first.file("notes.md").as_deref(), Some("A note.!\n"));
    ben.is_cut_off();
    let ben = ben.comes_back_to(&second.url);
    assert_eq!(ben.sees_request().id(), request.id());
    ben.decides(&request, approval()).ok();
    assert_eq!(ends(&ben, &run)["subtype"], "success");
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    ben.opens_again();
    ben.types(8, "?");
    first.file_comes_to_read("notes.md", "A note.!?\n");
}

#[test]
fn a_program_writes_a_file_over_mcp_through_the_server_without_the_folder() {
    let Some((mut first, second)) = two(Script::talking(), &[("a.txt", "one\n")]) else { return };
    let coder = Mcp::arrives_at(second.address(), OWNER, "coder");
    assert!(coder.tools().iter().any(|name| name == "atlas_write"), "{:?}", coder.tools());
    let (read, _) = coder.gets("atlas_read", json!({"file_path": "a.txt"}));
    assert!(read.contains("one"), "{read}");
    let ben = editor_on(&first, &second, "Ben");
    let file = json!({"file_path": "test.txt", "content": NEW});
    let call = coder.calls("atlas_write", file.clone());
    ben.decides(&ben.sees_request(), approval()).ok();
    assert_eq!(call.result(), ("Successfully wrote to test.txt".to_owned(), false));
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    first.is_killed();
    ben.is_cut_off();
    comes_to_miss_it(&ben.comes_back_to(&second.url));
    for (tool, arguments) in [("atlas_write", file), ("atlas_read", json!({"file_path": "a.txt"}))]
    {
        let (tool_result, is_error) = coder.gets(tool, arguments);
        assert!(
            is_error && tool_result.contains("no server that has the workspace"),
            "{tool}: {tool_result}"
        );
    }
}

#[test]
fn the_claude_cli_works_where_the_workspace_is_and_is_missed_elsewhere() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let input = json!({"file_path": "test.txt", "content": NEW});
    let write = json!({"content": [{"type": "tool_use", "name": "atlas_write", "input": input}]});
    let says = json!({"content": [{"type": "text", "text": "Written."}]});
    let cli = ClaudeStandIn::playing(&[(".", json!([write, says]))]);
    let plan = cli.plan().flags(&["--cluster"]).workspace(&[]);
    let first = plan.start_on(Some(database));
    let second = first.another_node_without_workspace();
    let ben = editor_on(&first, &second, "Ben");
    let asked =
        json!({"prompt": "Create test.txt", "continue": false, "permission_mode": "mcpProxy"});
    let run = ben.emit("run", &asked).ok()["requestId"].as_str().unwrap().to_owned();
    let request = ben.sees_request_of(&run);
    assert_eq!((&request["tool_name"], &request["source"]), (&json!("Write"), &json!("mcpProxy")));
    ben.decides(&request, approval()).ok();
    ends(&ben, &run);
    assert_eq!(first.file("test.txt").as_deref(), Some(NEW));
    assert_eq!(cli.noted("call").len(), 1, "it was called once");
    // A document of the other server has no CLI.
    let document = ben.creates("Mine.");
    let asked = json!({
        "sessionId": ben.session(),
        "prompt": "Fix it",
        "permission_mode": "mcpProxy",
        "context": {"documentId": document},
    });
    let refused = ben.emit("askClaudeCode", &asked).refused_with("unsupported");
    assert!(refused["message"].as_str().unwrap().contains("needs the Claude CLI"), "{refused}");
}

#[test]
fn a_workspace_is_taken_away_by_a_server_alone() {
    let Some((mut first, mut second)) = two(writing(), &[]) else { return };
    assert!(second.stop().success() && first.stops().success());
    let missing = first.another_node_without_workspace();
    comes_to_miss_it(&owner_on(&missing));
    drop(missing);
    first.starts_without("--cluster");
    assert!(first.stops().success());
    let plain = first.another_node_with(&["--cluster"]).expect("it starts");
    let owner = owner_on(&plain);
    let run = runs(&owner);
    ends(&owner, &run);
    let tool_result = owner.tool_results(&run).remove(0);
    assert!(
        tool_result["content"].as_str().unwrap().starts_with("Unknown tool: Write"),
        "{tool_result}"
    );
}

#[test]
fn files_are_opened_through_any_server_as_documents() {
    let files = [("notes.md", "A note.\n"), ("secret.md", "A secret.\n")];
    let Some((first, second)) = two(Script::talking(), &files) else { return };
    let (owner, ben) = (first.owner(), editor_on(&first, &second, "Ben"));
    let listed = ben.emit("workspace:files", &json!({})).ok();
    let paths: Vec<_> = listed["files"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!(paths, ["notes.md", "secret.md"]);
    let document = ben.opens_file("notes.md");
    ben.types(7, "!");
    first.file_comes_to_read("notes.md", "A note.!\n");
    assert_eq!(owner.opens_file("notes.md"), document);
    owner.types(0, "> ");
    ben.comes_to_read("> A note.!\n");
    // Carets and leaving reach the other server as well.
    ben.emit("document:close", &json!({"documentId": document})).ok();
    let listed = ben.emit("document:list", &json!({})).ok();
    let lines = listed["documents"].as_array().unwrap();
    let line = lines.iter().find(|it| it["id"] == *document).expect("it is listed");
    assert_eq!(line["path"], "notes.md", "{line}");
    // Over REST, too.
    let headers =
        [("Host", second.address().to_owned()), ("Authorization", format!("Bearer {OWNER}"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    let read = http::ask(second.address(), "GET /api/v1/files", &headers);
    assert_eq!(read.status, 200, "{}", read.body);
    assert!(read.body.contains("secret.md"), "{}", read.body);
}

#[test]
fn rules_about_a_path_hold_for_runs_on_the_server_without_the_folder() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let files = [("secret.md", "A secret.\n")];
    // The name of the document is known only later: the model reads every document it learns of.
    let script = Script::calling("list_documents", &json!({}));
    let plan = TestServer::plan().flags(&["--cluster"]).script(script);
    let first = plan.workspace(&files).start_on(Some(database));
    let secret = first.owner().opens_file("secret.md");
    let deny = json!({"documentId": "desk", "effect": "deny", "tool": "Read", "path": "secret.md"});
    first.owner().emit("rules:add", &deny).ok();
    let reading = Script::calling("read_document", &json!({"document_id": secret}));
    let second = first.another_node_playing(&reading);
    let ben = editor_on(&first, &second, "Ben");
    ben.creates("Mine.");
    let run = ben.asks("Read the other one");
    ben.answer(&run);
    let tool_result = ben.tool_results(&run).remove(0);
    assert!(!tool_result.to_string().contains("A secret."), "{tool_result}");
    let transcript = json!({"sessionId": ben.session(), "documentId": ben.document()});
    let transcript = ben.emit("transcript:get", &transcript).ok().to_string();
    assert!(!transcript.contains("A secret."), "{transcript}");
    assert!(
        tool_result.to_string().contains("Denied by a rule of this workspace"),
        "{tool_result}"
    );
}

#[test]
fn what_cannot_be_read_or_is_not_there_is_refused_through_any_server() {
    let Some((first, second)) = two(writing(), &[("notes.md", "A note.\n")]) else { return };
    let ben = editor_on(&first, &second, "Ben");
    let refused = [
        (json!({"path": "../outside"}), "invalid_payload"),
        (json!({"path": ""}), "invalid_payload"),
        (json!({"path": "missing.md"}), "not_found"),
        (json!({"path": ".git/config"}), "not_allowed"),
    ];
    for (payload, code) in refused {
        ben.emit("document:open", &payload).refused_with(code);
    }
    ben.emit("run", &json!({"prompt": " "})).refused_with("invalid_payload");
    let request = ben.sees_request_of(&runs(&ben));
    ben.decides(&request, json!({"approved": true, "preview_hash": "another"}))
        .refused_with("stale_preview");
    let unknown = json!({"request_id": "req_unknown", "approved": true});
    ben.emit("tool_approval_response", &unknown).refused_with("not_found");
    let viewer = Person::arrive(&second.url, &first.token("Vic", Role::Viewer, &[]), "Vic");
    viewer.decides(&request, approval()).refused_with("not_allowed");
    viewer.emit("run", &run()).refused_with("not_allowed");
    viewer.emit("document:open", &json!({"path": "notes.md"})).refused_with("not_allowed");
    assert_eq!(first.file("test.txt"), None);
    // A server does not join with a folder that is not there.
    let refused = first.another_node_with(&["--workspace", "/no/such/folder"]);
    let complaint = refused.err().expect("it does not start");
    assert!(complaint.contains("cannot use the workspace"), "{complaint}");
}

#[test]
fn a_path_that_was_remembered_on_one_server_is_written_by_a_run_on_the_other() {
    let write = |script: Script, file: &str| {
        let input = json!({"file_path": file, "content": format!("This is {file}.\n")});
        script.answering(&file.replace('.', "\\."), "Write", &input)
    };
    let script = ["a.txt", "b.txt", "c.txt", "d.md"].into_iter().fold(Script::default(), write);
    let Some(mut first) = one_with_workspace(script.closing("Done."), &[]) else { return };
    let second = first.another_node();
    // Ed is on the other server, and everything he does passes through it.
    let ed = editor_on(&first, &second, "Ed");
    let asks = |ed: &Person, file: &str| {
        let run = ed.emit("run", &json!({"prompt": file})).ok()["requestId"].clone();
        run.as_str().expect("a run has a name").to_owned()
    };
    let run = asks(&ed, "a.txt");
    let request = ed.sees_request_of(&run);
    let remember = json!({"approved": true, "remember": {"scope": "session", "path": "*.txt"}});
    ed.decides(&request, remember).ok();
    ends(&ed, &run);
    let folder = first.folder();
    let is_written_unasked = |ed: &Person, file: &str| {
        let run = asks(ed, file);
        assert_eq!(ends(ed, &run)["subtype"], "success");
        let resolved = ed.sees_resolved(&ed.sees_request_of(&run));
        let rule = ed.emit("rules:list", &json!({})).ok()["rules"][0]["id"].clone();
        assert_eq!((&resolved["by"], &resolved["rule"]), (&ed.user(), &rule), "{file}");
        let written = std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(written, format!("This is {file}.\n"));
    };
    is_written_unasked(&ed, "b.txt");
    // From now on his runs are on the other server.
    assert_eq!(first.stops().code(), Some(0));
    ed.is_cut_off();
    let ed = ed.comes_back_to(&second.url);
    once_it_is_back(&ed, "workspace:files", &json!({}));
    is_written_unasked(&ed, "c.txt");
    let run = asks(&ed, "d.md");
    ed.rejects(&ed.sees_request_of(&run), "No");
    ends(&ed, &run);
    assert_eq!(first.file("d.md"), None);
}
