//! Files of the workspace as documents: people write, the file follows, and what someone else
//! writes there comes in.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{Person, Provider, Request, Role, Script, TestServer, eventually, found};

/// Number of lines that a program writes before the first of them has to be in the document.
const LINES_AHEAD: usize = 5;
const NOTES: &str = "The red lamp burns.\n\nNobody is there.\n";

fn test_server(files: &[(&str, &str)]) -> TestServer {
    TestServer::plan().workspace(files).start()
}

fn merged(person: &Person) -> Value {
    person.sees_where("document:file", |it| it["merged"].is_object())
}

#[test]
fn two_people_edit_a_file_and_the_file_follows() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    let document = ana.opens_file("notes.md");
    assert_eq!(bo.opens_file("notes.md"), document, "one file, one document");
    assert_eq!(ana.text(), NOTES);
    ana.overwrites("red", "blue");
    bo.overwrites("Nobody", "Somebody");
    copydesk.file_comes_to_read("notes.md", "The blue lamp burns.\n\nSomebody is there.\n");
    let saved = bo.sees_where("document:file", |it| it["file"]["version"] == 3);
    assert_eq!(saved["file"]["status"], "saved");
    let listed = ana.emit("document:list", &json!({})).ok()["documents"].clone();
    let line = listed.as_array().unwrap().iter().find(|it| it["id"] == document).unwrap();
    assert_eq!((&line["title"], &line["path"]), (&json!("notes.md"), &json!("notes.md")));
}

#[test]
fn what_someone_else_writes_comes_in_as_an_update_by_the_disk() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("notes.md");
    ana.types(0, "# Lamps\n\n");
    copydesk.file_comes_to_read("notes.md", &format!("# Lamps\n\n{NOTES}"));
    copydesk.overwrites("notes.md", &format!("# Lamps\n\n{NOTES}\nThe end.\n"));
    ana.comes_to_read(&format!("# Lamps\n\n{NOTES}\nThe end.\n"));
    assert_eq!(merged(&ana)["merged"]["kept"], json!([]));
    let named = json!({"documentId": document});
    let history = ana.emit("document:history", &named).ok()["versions"].clone();
    assert_eq!(history[0]["author"]["name"], "disk", "{history}");
    assert_eq!(history[1]["author"]["name"], "Ana");
    let spans = ana.emit("document:provenance", &named).ok()["spans"].clone();
    let authors: Vec<_> =
        spans.as_array().unwrap().iter().map(|it| &it["author"]["name"]).collect();
    assert!(authors.contains(&&json!("disk")) && authors.contains(&&json!("Ana")), "{spans}");
}

#[test]
fn where_both_changed_the_same_words_peoples_stay_and_they_are_told() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("notes.md");
    // Before the file has followed.
    ana.overwrites("red", "blue");
    copydesk.overwrites("notes.md", "The green lamp burns.\n\nNobody is there, they say.\n");
    ana.comes_to_read("The blue lamp burns.\n\nNobody is there, they say.\n");
    copydesk.file_comes_to_read("notes.md", "The blue lamp burns.\n\nNobody is there, they say.\n");
    let kept = merged(&ana)["merged"]["kept"].clone();
    assert_eq!(kept, json!([{"base": "red", "disk": "green", "kept": "blue"}]));
    let audit = crate::support::http::ask(
        copydesk.address(),
        &format!("GET /api/v1/documents/{document}/audit"),
        &[("Host", copydesk.address()), ("Authorization", &format!("Bearer {}", ana.token))],
    );
    let audit = audit.body;
    assert!(audit.contains("document.file_conflict") && audit.contains("green"), "{audit}");
}

#[test]
fn no_line_is_lost_while_people_type_and_programs_write_the_file() {
    let copydesk = test_server(&[("notes.md", "Log:\n")]);
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    let path = copydesk.folder().join("notes.md");
    let (next, turns) = std::sync::mpsc::channel();
    // Another program adds lines, as a shell does, while she types.
    let program = std::thread::spawn(move || {
        for line in turns {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            file.write_all(format!("appended {line}.\n").as_bytes()).unwrap();
        }
    });
    let mut typed = 0;
    for line in 1..=60_usize {
        next.send(line).unwrap();
        for _ in 0..3 {
            ana.types(0, "x");
            typed += 1;
        }
        // So that the file is read and written many times meanwhile.
        if let Some(earlier) = line.checked_sub(LINES_AHEAD).filter(|line| *line > 0) {
            let earlier = format!("appended {earlier}.\n");
            eventually("an earlier line", || ana.text().contains(&earlier));
        }
    }
    drop(next);
    program.join().unwrap();
    let expected = |text: &str| {
        (1..=60).all(|line| text.contains(&format!("appended {line}.\n")))
            && text.starts_with(&"x".repeat(typed))
    };
    found(|| {
        let (file, document) = (copydesk.file("notes.md").unwrap(), ana.text());
        if file == document && expected(&file) { Ok(()) } else { Err((file, document)) }
    });
    // A version that was set aside is looked at for a moment longer.
    found(|| {
        let names: Vec<_> = std::fs::read_dir(copydesk.folder()).unwrap().flatten().collect();
        if names.len() == 1 { Ok(()) } else { Err(names) }
    });
}

#[test]
fn what_a_power_cut_left_unwritten_is_caught_up_with() {
    for walk in [
        "room.pushed>room.told",
        "files.writing",
        "workspace.staged",
        "workspace.exchanged",
        "workspace.settling",
        "files.written",
    ] {
        let mut copydesk = test_server(&[("notes.md", NOTES)]);
        copydesk.stops();
        copydesk.starts_to_die_at(walk).expect("it serves before it dies");
        let ana = copydesk.editor("Ana");
        ana.opens_file("notes.md");
        let version = ana.version();
        let changes = crate::support::replacing(NOTES.len(), 4, 7, "blue");
        let push = json!({"documentId": ana.document(), "version": version,
            "updates": [{"clientID": ana.client(), "changes": changes}]});
        ana.tries("document:push", &push);
        copydesk.dies();
        copydesk.starts();
        // No one opens it: the start is enough.
        copydesk.file_comes_to_read("notes.md", &NOTES.replace("red", "blue"));
        let back = copydesk.owner();
        back.opens_file("notes.md");
        assert_eq!(back.text(), NOTES.replace("red", "blue"), "{walk}");
        copydesk.overwrites("notes.md", &NOTES.replace("red", "blue").replace("Nobody", "Who"));
        back.comes_to_read(&NOTES.replace("red", "blue").replace("Nobody", "Who"));
        assert_eq!(copydesk.stops().code(), Some(0));
    }
}

#[test]
fn a_file_that_changed_while_the_server_was_away_comes_in_when_it_is_opened() {
    let mut copydesk = test_server(&[("notes.md", NOTES)]);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("notes.md");
    ana.types(0, "# Lamps\n\n");
    assert_eq!(copydesk.stops().code(), Some(0), "what was typed a moment ago is written");
    assert_eq!(copydesk.file("notes.md").unwrap(), format!("# Lamps\n\n{NOTES}"));
    copydesk.overwrites("notes.md", &format!("# Lanterns\n\n{NOTES}"));
    copydesk.starts();
    let ana = copydesk.owner();
    assert_eq!(ana.opens_file("notes.md"), document, "the same document as before");
    assert_eq!(ana.text(), format!("# Lanterns\n\n{NOTES}"));
}

#[test]
fn line_ends_marks_and_permissions_stay_as_they_were() {
    let copydesk =
        test_server(&[("dos.txt", "\u{feff}one\r\ntwo\r\nthree"), ("mixed.txt", "a\r\nb\nc\r\n")]);
    let path = copydesk.folder().join("dos.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let ana = copydesk.editor("Ana");
    ana.opens_file("dos.txt");
    assert_eq!(ana.text(), "one\ntwo\nthree");
    ana.overwrites("two", "two\nand a half");
    copydesk.file_comes_to_read("dos.txt", "\u{feff}one\r\ntwo\r\nand a half\r\nthree");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    ana.opens_file("mixed.txt");
    ana.overwrites("c", "sea");
    copydesk.file_comes_to_read("mixed.txt", "a\r\nb\nsea\r\n");
}

#[test]
fn a_file_that_is_gone_is_made_again_only_when_someone_writes() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("notes.md");
    std::fs::remove_file(copydesk.folder().join("notes.md")).unwrap();
    ana.sees_where("document:file", |it| it["file"]["status"] == "missing");
    let bo = copydesk.editor("Bo");
    let ack = bo.emit("document:open", &json!({"path": "notes.md"})).ok();
    assert_eq!(
        (&ack["document"]["id"], &ack["file"]["status"]),
        (&json!(document), &json!("missing"))
    );
    assert_eq!(copydesk.file("notes.md"), None);
    ana.overwrites("red", "blue");
    copydesk.file_comes_to_read("notes.md", &NOTES.replace("red", "blue"));
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_written_when_it_can_be() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    // A folder in its place: whatever user runs the tests, that cannot be written.
    std::fs::remove_file(copydesk.folder().join("notes.md")).unwrap();
    std::fs::create_dir(copydesk.folder().join("notes.md")).unwrap();
    ana.overwrites("red", "blue");
    let failed = ana.sees_where("document:file", |it| it["file"]["status"] == "failed");
    assert_eq!(failed["file"]["reason"], "notes.md is not a regular file");
    std::fs::remove_dir(copydesk.folder().join("notes.md")).unwrap();
    copydesk.file_comes_to_read("notes.md", &NOTES.replace("red", "blue"));
}

#[test]
fn what_is_no_text_file_inside_is_refused_and_says_why() {
    let copydesk = test_server(&[("a.txt", "a"), ("nul.bin", "a\0b"), ("long.txt", "")]);
    let folder = copydesk.folder();
    std::fs::create_dir_all(folder.join("sub/.git")).unwrap();
    std::fs::write(folder.join("sub/.git/config"), "secret").unwrap();
    std::fs::write(folder.join("latin.txt"), [0xe9, 0x0a]).unwrap();
    std::fs::File::options()
        .write(true)
        .open(folder.join("long.txt"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
    std::fs::hard_link(folder.join("a.txt"), folder.join("twice.txt")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success()
    );
    let ana = copydesk.editor("Ana");
    let cases = [
        ("../data/copydesk.db", "invalid_payload"),
        ("/etc/passwd", "invalid_payload"),
        ("", "invalid_payload"),
        (".", "invalid_payload"),
        ("a.txt/../../x", "invalid_payload"),
        ("a\0b", "invalid_payload"),
        ("nowhere.md", "not_found"),
        ("sub", "unsupported"),
        ("link.txt", "unsupported"),
        ("up/data", "unsupported"),
        ("twice.txt", "unsupported"),
        ("pipe", "unsupported"),
        ("nul.bin", "unsupported"),
        ("latin.txt", "unsupported"),
        ("long.txt", "unsupported"),
        ("a.txt/b", "unsupported"),
        ("sub/.git/config", "not_allowed"),
    ];
    for (path, code) in cases {
        let error = ana.emit("document:open", &json!({"path": path})).refused();
        assert_eq!(error["code"], code, "{path}: {error}");
    }
    let listed = ana.emit("workspace:files", &json!({})).ok()["files"].clone();
    let paths: Vec<_> =
        listed.as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a.txt", "twice.txt"]);
    assert_eq!(
        ana.emit("document:list", &json!({})).ok()["documents"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn files_are_listed_by_words_of_their_path_without_what_is_ignored() {
    let copydesk = test_server(&[
        ("Chapter One.md", "a"),
        ("two.md", "b"),
        ("made.log", "c"),
        (".gitignore", "*.log\n"),
    ]);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("two.md");
    let list = |pattern: &str| ana.emit("workspace:files", &json!({"pattern": pattern})).ok();
    assert_eq!(list("MD one")["files"], json!([{"path": "Chapter One.md"}]));
    assert_eq!(list("two")["files"], json!([{"path": "two.md", "documentId": document}]));
    assert_eq!(list("log")["files"], json!([]));
    ana.emit("workspace:files", &json!({"pattern": "x".repeat(2_000)}))
        .refused_with("invalid_payload");
}

#[test]
fn files_are_for_people_who_may_create_documents() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let owner = copydesk.owner();
    let document = owner.creates("Elsewhere.");
    let guest = copydesk.guest(Role::Editor, &document);
    for outsider in
        [&guest, &copydesk.person("Rex", Role::Reviewer), &copydesk.person("Vic", Role::Viewer)]
    {
        outsider.emit("document:open", &json!({"path": "notes.md"})).refused_with("not_allowed");
        outsider.emit("workspace:files", &json!({})).refused_with("not_allowed");
    }
    // Once it is a document, it is one like any other.
    let file = owner.opens_file("notes.md");
    let vic = copydesk.person("Vic", Role::Viewer);
    vic.opens(&file);
    assert_eq!(vic.text(), NOTES);
    guest.emit("document:open", &json!({"documentId": file})).refused_with("not_allowed");
}

#[test]
fn a_deleted_document_leaves_its_file_and_the_file_can_be_opened_anew() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let owner = copydesk.owner();
    let document = owner.opens_file("notes.md");
    owner.overwrites("red", "blue");
    owner.emit("document:delete", &json!({"documentId": document})).ok();
    assert_eq!(copydesk.file("notes.md").unwrap(), NOTES.replace("red", "blue"));
    let again = owner.opens_file("notes.md");
    assert_ne!(again, document);
    assert_eq!(owner.text(), NOTES.replace("red", "blue"));
}

fn working(tool: &str, input: Value) -> TestServer {
    let script = Script::default()
        .answering("read", "Read", &json!({"file_path": "notes.md"}))
        .answering("work", tool, &input)
        .closing("Done.");
    TestServer::plan().script(script).workspace(&[("notes.md", NOTES)]).start()
}

fn runs(person: &Person, prompt: &str) -> String {
    let ack = person.emit("run", &json!({"prompt": prompt})).ok();
    ack["requestId"].as_str().expect("a run has a name").to_owned()
}

/// Returns what the model was sent last.
fn last_result(person: &Person, run: &str) -> Value {
    person.tool_results(run).pop().expect("a call was answered")
}

fn ends(person: &Person, run: &str) {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
}

#[test]
fn the_agent_reads_what_people_have_written_a_moment_ago() {
    let copydesk = working("Read", json!({"file_path": "./notes.md"}));
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    ana.overwrites("red", "blue");
    let run = runs(&ana, "read");
    ends(&ana, &run);
    assert_eq!(ana.tool_results(&run)[0]["content"], NOTES.replace("red", "blue"));
}

#[test]
fn what_the_agent_writes_to_an_open_file_is_decided_by_its_people() {
    let new = "The red lamp glows.\n\nSomebody is there.\n";
    let cases = [
        (
            "Write",
            json!({"file_path": "notes.md", "content": new}),
            "Wrote 40 characters to notes.md",
        ),
        (
            "Edit",
            json!({"file_path": "notes.md", "old_string": "burns", "new_string": "glows"}),
            "Replaced 1 occurrence in notes.md",
        ),
        (
            "MultiEdit",
            json!({"file_path": "notes.md", "edits": [
            {"old_string": "burns.\r\n", "new_string": "glows.\r\n"},
            {"old_string": "Nobody", "new_string": "Somebody"}]}),
            "Applied 2 edits to notes.md (2 occurrences)",
        ),
    ];
    for (tool, input, words) in cases {
        let copydesk = working(tool, input);
        let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
        let document = ana.opens_file("notes.md");
        bo.opens_file("notes.md");
        let run = runs(&ana, "work");
        let request = bo.sees_request_of(&run);
        assert_eq!(
            (&request["document_id"], &request["tool_name"]),
            (&json!(document), &json!(tool))
        );
        assert!(!request["hunks"].as_array().unwrap().is_empty());
        let waits = ana.sees_where("agent_event", |it| it["subtype"] == "waiting");
        assert_eq!(waits["content"]["document_id"], document, "the desk learns where");
        ana.types(0, "# Lamps\n\n");
        bo.accepts_all(&request);
        ends(&ana, &run);
        assert_eq!(last_result(&ana, &run)["content"], words);
        let text = ana.text();
        assert!(text.starts_with("# Lamps\n\nThe red lamp glows.\n"), "{text}");
        copydesk.file_comes_to_read("notes.md", &text);
    }
}

#[test]
fn a_rejected_change_of_an_open_file_is_told_in_the_usual_words() {
    let copydesk = working(
        "Edit",
        json!({"file_path": "notes.md", "old_string": "burns", "new_string": "glows"}),
    );
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    let run = runs(&ana, "work");
    let request = ana.sees_request_of(&run);
    ana.rejects(&request, "It burns");
    ends(&ana, &run);
    assert_eq!(last_result(&ana, &run)["content"], "User rejected: It burns");
    assert_eq!(copydesk.file("notes.md").as_deref(), Some(NOTES));
}

#[test]
fn a_change_of_an_open_file_waits_through_a_power_cut() {
    let edit = json!({"file_path": "notes.md", "old_string": "burns", "new_string": "glows"});
    let mut copydesk = working("Edit", edit);
    let ana = copydesk.editor("Ana");
    let document = ana.opens_file("notes.md");
    let run = runs(&ana, "work");
    let request = ana.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    let owner = copydesk.owner();
    owner.opens(&document);
    let again = owner.pending().remove(0);
    assert_eq!(again.id(), request.id());
    owner.accepts_all(&again);
    copydesk.file_comes_to_read("notes.md", &NOTES.replace("burns", "glows"));
    let pending = owner.emit("list_pending_approvals", &json!({})).ok();
    assert_eq!(pending["requests"], json!([]), "no one is asked twice");
}

#[test]
fn a_file_that_no_one_has_open_is_written_as_before_and_comes_in_later() {
    let new = "The red lamp glows.\n";
    let copydesk = working("Write", json!({"file_path": "notes.md", "content": new}));
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    ana.closes();
    let run = runs(&ana, "work");
    let request = ana.sees_request_of(&run);
    assert_eq!(request["document_id"], Value::Null);
    ana.decides(&request, json!({"approved": true})).ok();
    ends(&ana, &run);
    ana.opens_file("notes.md");
    assert_eq!(ana.text(), new);
}

#[test]
fn what_is_frozen_in_a_file_stays_so_while_no_one_has_it_open() {
    let input = json!({"file_path": "notes.md", "content": NOTES.replace("red", "blue")});
    let copydesk = working("Write", input);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = owner.opens_file("notes.md");
    let frozen = json!({"version": owner.version(), "ranges": [{"from": 0, "to": 12}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    owner.closes();
    let run = runs(&ana, "work");
    ends(&ana, &run);
    let last_result = last_result(&ana, &run);
    assert_eq!(last_result["is_error"], true, "{last_result}");
    assert!(last_result["content"].as_str().unwrap().contains("The red lamp"), "{last_result}");
    assert_eq!(copydesk.file("notes.md").as_deref(), Some(NOTES));
}

#[test]
fn rules_of_a_file_hold_while_no_one_has_it_open() {
    let input = json!({"file_path": "notes.md", "content": NOTES.replace("red", "blue")});
    let copydesk = working("Write", input);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = owner.opens_file("notes.md");
    owner.emit("document:settings", &json!({"documentId": document, "policy": "owner"})).ok();
    owner.closes();
    let run = runs(&ana, "work");
    ana.sees_where("agent_event", |it| it["requestId"] == run && it["subtype"] == "waiting");
    owner.opens(&document);
    let request = owner.sees_request_of(&run);
    assert_eq!((&request["document_id"], &request["policy"]), (&json!(document), &json!("owner")));
    ana.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    owner.decides(&request, json!({"approved": true})).ok();
    copydesk.file_comes_to_read("notes.md", &NOTES.replace("red", "blue"));
}

#[test]
fn what_owners_forbid_in_the_inbox_is_forbidden_in_a_file_that_is_open() {
    let input = json!({"file_path": "notes.md", "content": NOTES.replace("red", "blue")});
    let copydesk = working("Write", input);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let rule = json!({"documentId": "desk", "effect": "deny", "tool": "Write", "path": "*.md"});
    owner.emit("rules:add", &rule).ok();
    ana.opens_file("notes.md");
    let run = runs(&ana, "work");
    ends(&ana, &run);
    let last_result = last_result(&ana, &run);
    assert_eq!(last_result["is_error"], true, "{last_result}");
    assert!(
        last_result["content"].as_str().unwrap().starts_with("Denied by a rule of this workspace"),
        "{last_result}"
    );
    assert_eq!(copydesk.file("notes.md").as_deref(), Some(NOTES));
}

#[test]
fn what_owners_say_of_a_path_holds_for_the_document_that_the_file_is() {
    let provider = Provider::answering(vec![json!([])]);
    let copydesk =
        TestServer::plan().provider(&provider).workspace(&[("private.md", NOTES)]).start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let file = owner.opens_file("private.md");
    let rule = json!({"documentId": "desk", "effect": "deny", "tool": "*", "path": "private*"});
    owner.emit("rules:add", &rule).ok();
    ana.creates("Mine.\n");
    let call =
        |tool: &str, input: Value| json!([{"type": "tool_use", "name": tool, "input": input}]);
    let view = json!({"command": "view", "path": format!("/documents/{file}.md")});
    let rewrite = json!({"document_id": file, "new_content": "Leaked", "explanation": "All."});
    provider.plays(vec![
        call("read_document", json!({"document_id": file})),
        call("str_replace_based_edit_tool", view),
        call("update_document_by_id", rewrite),
        json!([{"type": "text", "text": "Done."}]),
    ]);
    let run = ana.asks("Look there");
    ana.answer(&run);
    assert!(
        ana.tool_results(&run).iter().all(|it| it["is_error"] == true),
        "{:?}",
        ana.tool_results(&run)
    );
    assert!((1..=4).all(|call| !provider.asked(call).to_string().contains("lamp burns")));
    // A person who has it open may not ask there: a model would be shown the text.
    ana.opens(&file);
    let context = json!({"documentId": file});
    let question =
        json!({"sessionId": ana.session(), "prompt": "Make it blue", "context": context});
    ana.emit("askClaudeCode", &question).refused_with("not_allowed");
    assert_eq!(provider.all_asked().len(), 4);
    assert_eq!(copydesk.file("private.md").as_deref(), Some(NOTES));
}

#[test]
fn a_file_that_may_not_be_read_is_not_read_as_a_document_nor_by_guessing_its_words() {
    let edit = |old: &str| json!({"file_path": "private.md", "old_string": old, "new_string": "x"});
    let script = Script::default()
        .answering("right", "Edit", &edit("red"))
        .answering("wrong", "Edit", &edit("green"))
        .answering(
            "several",
            "MultiEdit",
            &json!({"file_path": "./private.md", "edits":
            [{"old_string": "red", "new_string": "x"}]}),
        )
        .answering("linked", "Read", &json!({"file_path": "open.md"}))
        .answering("search", "Grep", &json!({"pattern": "lamp"}))
        .answering("plain", "Read", &json!({"file_path": "other.md"}))
        .closing("Done.");
    let files = [("private.md", NOTES), ("other.md", "Other.\n")];
    let copydesk = TestServer::plan().script(script).workspace(&files).start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let said = |prompt: &str| {
        let run = runs(&ana, prompt);
        ends(&ana, &run);
        last_result(&ana, &run)["content"].as_str().unwrap_or_default().to_owned()
    };
    let rule = json!({"documentId": "desk", "effect": "deny", "tool": "Read", "path": "private*"});
    owner.emit("rules:add", &rule).ok();
    let denial = said("right");
    assert!(denial.starts_with("Denied by a rule"), "{denial}");
    assert_eq!(said("wrong"), denial, "what is in it is not said");
    assert_eq!(said("several"), denial);
    let path = |name: &str| copydesk.folder().join(name);
    std::fs::hard_link(path("private.md"), path("open.md")).expect("the file system has links");
    assert!(said("linked").contains("hard links"), "another name of it");
    assert!(!said("search").contains("red"), "nor are its words found under another name");
    assert_eq!(said("plain"), "Other.\n");
    std::fs::remove_file(path("open.md")).expect("it is there");
    let file = ana.opens_file("private.md");
    let context = json!({"documentId": file});
    let question = json!({"sessionId": ana.session(), "prompt": "Read it", "context": context});
    ana.emit("askClaudeCode", &question).refused_with("not_allowed");
}

#[test]
fn what_protects_a_file_is_not_lifted_by_deleting_its_document() {
    let copydesk = test_server(&[("notes.md", NOTES)]);
    let owner = copydesk.owner();
    let document = owner.opens_file("notes.md");
    let deletes = || owner.emit("document:delete", &json!({"documentId": document}));
    let sets = |setting: &str, value: Value| {
        owner.emit("document:settings", &json!({"documentId": document, setting: value})).ok();
    };
    let frozen = |ranges: Value| json!({"version": owner.version(), "ranges": ranges});
    for (setting, value, usual) in [
        ("modelAccess", json!({"allow": "local"}), json!({"allow": "any"})),
        ("policy", json!("owner"), json!("any")),
        ("frozen", frozen(json!([{"from": 0, "to": 3}])), frozen(json!([]))),
    ] {
        sets(setting, value);
        let message = deletes().refused_with("invalid_payload");
        assert!(message.to_string().contains(setting), "{message}");
        sets(setting, usual);
    }
    deletes().ok();
}

#[test]
fn who_asked_for_a_change_of_an_open_file_is_told_of_the_request_itself() {
    let copydesk = working("Write", json!({"file_path": "notes.md", "content": "New.\n"}));
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    bo.opens_file("notes.md");
    let run = runs(&ana, "work");
    let waits = ana.sees_where("agent_event", |it| it["subtype"] == "waiting");
    let request = ana.sees_request_of(&run);
    assert_eq!(waits["content"]["request_id"], request.id());
    assert_eq!(ana.accepts_all(&request)["status"], "approved");
    ends(&ana, &run);
    copydesk.file_comes_to_read("notes.md", "New.\n");
}

#[test]
fn the_agent_reads_what_was_written_to_the_disk_a_moment_ago() {
    let copydesk = working("Read", json!({"file_path": "notes.md"}));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = owner.opens_file("notes.md");
    // Its own policy makes the file the room's business, also while no one has it open.
    owner.emit("document:settings", &json!({"documentId": document, "policy": "owner"})).ok();
    owner.closes();
    copydesk.overwrites("notes.md", "Written elsewhere.\n");
    let run = runs(&ana, "read");
    ends(&ana, &run);
    assert_eq!(ana.tool_results(&run)[0]["content"], "Written elsewhere.\n");
}

/// A `Write` waits in the workspace inbox; then the notes are opened, their first words are frozen,
/// and people write there.
fn opened_behind_a_request(copydesk: &TestServer) -> (Person, Person, String, Request) {
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let run = runs(&ana, "work");
    let request = ana.sees_request_of(&run);
    assert_eq!((&request["document_id"], &request["tool_name"]), (&Value::Null, &json!("Write")));
    let document = owner.opens_file("notes.md");
    let frozen = json!({"version": owner.version(), "ranges": [{"from": 0, "to": 12}]});
    let settings = json!({"documentId": document, "policy": "owner", "frozen": frozen});
    owner.emit("document:settings", &settings).ok();
    owner.overwrites("Nobody", "Somebody");
    (owner, ana, run, request)
}

#[test]
fn a_call_that_waits_in_the_inbox_is_not_carried_out_once_its_file_is_open() {
    let input = json!({"file_path": "notes.md", "content": "Gone.\n"});
    let copydesk = working("Write", input);
    let (owner, ana, run, request) = opened_behind_a_request(&copydesk);
    let refused = ana.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(refused["details"].clone());
    let words = "notes.md is open as a document now";
    assert!(fresh["warnings"].to_string().contains(words), "{}", fresh["warnings"]);
    // A person who approves what can only fail learns so with the model, and nothing is written.
    ana.decides(&fresh, json!({"approved": true})).ok();
    ends(&ana, &run);
    let last_result = last_result(&ana, &run);
    assert_eq!(last_result["is_error"], true, "{last_result}");
    assert!(last_result["content"].as_str().unwrap().contains(words), "{last_result}");
    let text = NOTES.replace("Nobody", "Somebody");
    assert_eq!(owner.text(), text);
    copydesk.file_comes_to_read("notes.md", &text);
}

#[test]
fn a_call_in_the_inbox_is_not_led_to_a_file_that_is_open() {
    let input = json!({"file_path": "other.md", "content": "Gone.\n"});
    let copydesk = working("Write", input);
    let (owner, ana, _, request) = opened_behind_a_request(&copydesk);
    for path in ["notes.md", "./notes.md"] {
        let there = json!({"file_path": path, "content": "Gone.\n"});
        let refused = ana
            .decides(&request, json!({"decision": "edit", "updated_input": there}))
            .refused_with("invalid_decision");
        assert!(refused.to_string().contains("is open as a document now"), "{refused}");
    }
    ana.decides(&request, json!({"approved": true})).ok();
    copydesk.file_comes_to_read("other.md", "Gone.\n");
    let text = NOTES.replace("Nobody", "Somebody");
    assert_eq!(owner.text(), text);
    copydesk.file_comes_to_read("notes.md", &text);
}

#[test]
fn what_the_agent_has_not_read_of_an_open_file_it_does_not_take_away() {
    let call =
        |tool: &str, input: Value| json!([{"type": "tool_use", "name": tool, "input": input}]);
    let write = || call("Write", json!({"file_path": "notes.md", "content": "Gone.\n"}));
    let provider = Provider::answering(vec![
        call("Read", json!({"file_path": "notes.md", "limit": 1})),
        write(),
        call("Read", json!({"file_path": "notes.md", "offset": 2})),
        write(),
        json!([{"type": "text", "text": "Done."}]),
    ]);
    let copydesk = TestServer::plan().provider(&provider).workspace(&[("notes.md", NOTES)]).start();
    let ana = copydesk.editor("Ana");
    ana.opens_file("notes.md");
    let run = runs(&ana, "work");
    // It has read everything by then, if not at once.
    let request = ana.sees_request_of(&run);
    assert_eq!(request["warnings"], json!([]));
    ana.accepts_all(&request);
    ends(&ana, &run);
    let last_result = ana.tool_results(&run);
    let refusal = last_result[1]["content"].as_str().unwrap();
    assert!(
        refusal.contains("that you have not read, at units 20 to 38 of version 1"),
        "{refusal}"
    );
    assert!(refusal.ends_with("Read them with Read first"), "{refusal}");
    assert_eq!(last_result[3]["content"], "Wrote 6 characters to notes.md");
    copydesk.file_comes_to_read("notes.md", "Gone.\n");
}

#[test]
fn people_are_told_where_a_file_is_replaced_that_the_agent_has_never_read() {
    let warned = |tool: &str, input: Value| {
        let copydesk = working(tool, input);
        let ana = copydesk.editor("Ana");
        ana.opens_file("notes.md");
        let request = ana.sees_request_of(&runs(&ana, "work"));
        let codes = request["warnings"].as_array().expect("warnings").iter();
        codes.map(|it| it["code"].clone()).collect::<Vec<_>>()
    };
    let write = json!({"file_path": "notes.md", "content": "Gone.\n"});
    assert_eq!(warned("Write", write), [json!("unread")]);
    // It names the words.
    let edit = json!({"file_path": "notes.md", "old_string": "red", "new_string": "green"});
    assert_eq!(warned("Edit", edit), [json!(null); 0]);
}
