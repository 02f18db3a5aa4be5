//! The command line as a client: the real binary, beside a running server.

use std::io::{BufRead, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{
    OWNER, Person, RestClient, Role, Script, TestServer, copydesk_command, eventually, output_of,
};

const TEXT: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const FIXED: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// A server, an editor's token, and a document.
fn test_server(flags: &[&str]) -> (TestServer, String, String) {
    with_document(TestServer::plan().script(Script::rewriting(FIXED)).flags(flags).start())
}

/// A server whose database can be backed up.
fn server_in_a_file() -> (TestServer, String, String) {
    with_document(TestServer::plan().on_sqlite("its stories name the data directory").start())
}

fn with_document(copydesk: TestServer) -> (TestServer, String, String) {
    let token = copydesk.token("Ana", Role::Editor, &[]);
    let wish = serde_json::json!({"title": "A \u{1b}[31mstory", "text": TEXT});
    let made = RestClient::new(&copydesk, &token).posts("documents", &wish).ok();
    let document = made["id"].as_str().unwrap().to_owned();
    (copydesk, token, document)
}

fn command(copydesk: &TestServer, token: &str, words: &[&str]) -> Command {
    let mut command = copydesk_command();
    command.args(words).env("COPYDESK_URL", copydesk.url()).env("COPYDESK_TOKEN", token);
    command
}

fn runs(copydesk: &TestServer, token: &str, words: &[&str]) -> Output {
    command(copydesk, token, words).output().expect("the binary is built")
}

/// Returns the output of a process, if it ended with this code.
#[track_caller]
fn said(output: &Output, code: i32) -> String {
    output_of(output, code).0
}

/// A command that waits.
struct Waiting {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Waiting {
    fn start(mut command: Command) -> Self {
        let mut process =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it is built");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("another line").unwrap()
    }

    /// The next line as JSON.
    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The rest of what it says, and how it ends.
    fn ends(mut self) -> (String, Option<i32>) {
        let rest: Vec<String> = self.lines.by_ref().map(Result::unwrap).collect();
        (rest.join("\n"), self.process.wait().unwrap().code())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A run that waits for people: the command, and the line of its request.
fn asks(copydesk: &TestServer, token: &str, document: &str, more: &[&str]) -> (Waiting, String) {
    let words = [&["ask", document, "Fix the spelling", "--wait"], more].concat();
    let mut waiting = Waiting::start(command(copydesk, token, &words));
    let line = waiting.line();
    (waiting, line)
}

fn name(line: &str) -> &str {
    line.split_whitespace().next().unwrap()
}

#[test]
fn documents_are_listed_for_people_and_for_programs() {
    let (copydesk, token, document) = test_server(&[]);
    let list = said(&runs(&copydesk, &token, &["docs"]), 0);
    let line = list.lines().next().unwrap();
    assert!(line.starts_with(&document) && line.ends_with("story"), "{list}");
    assert!(!list.contains('\u{1b}'), "no one writes to the terminal by a title: {list:?}");
    let list: Value =
        serde_json::from_str(&said(&runs(&copydesk, &token, &["docs", "--json"]), 0)).unwrap();
    assert_eq!(list["documents"].as_array().unwrap().len(), 2);
}

#[test]
fn someone_asks_and_another_approves() {
    let (copydesk, token, document) = test_server(&[]);
    let (mut ask, line) = asks(&copydesk, &token, &document, &[]);
    assert!(line.contains("pending") && line.contains("2 changes"), "{line}");
    assert!(ask.line().ends_with("[-Teh-]{+The+} keeper wrote every night."));
    assert!(ask.line().contains("He [-recieved-]{+received+} few visitors there."));
    let request = name(&line);
    let list = said(&runs(&copydesk, &token, &["requests", "--document", &document]), 0);
    assert_eq!(list.trim_end(), line);
    let whole = said(&runs(&copydesk, &token, &["requests", request]), 0);
    assert!(whole.contains("[-Teh-]{+The+}"), "{whole}");
    let decided = runs(&copydesk, &token, &["approve", request, "--note", "Thank you"]);
    assert_eq!(said(&decided, 0), "approved\n");
    let (rest, code) = ask.ends();
    assert_eq!(code, Some(0));
    assert_eq!(rest, format!("Done.\n{request}  approved"));
    let words = ["export", "--document", &document, "--format", "md"];
    assert_eq!(said(&runs(&copydesk, &token, &words), 0), FIXED);
    // Too late, and says so.
    let late = runs(&copydesk, &token, &["reject", request, "--reason", "No"]);
    said(&late, 1);
    assert!(String::from_utf8_lossy(&late.stderr).contains("the server refused"));
}

#[test]
fn changes_are_decided_one_by_one_and_a_rejection_is_a_failure_of_the_asker() {
    let (copydesk, token, document) = test_server(&[]);
    let (ask, line) = asks(&copydesk, &token, &document, &[]);
    let request = name(&line);
    let seen = said(&runs(&copydesk, &token, &["requests", request, "--json"]), 0);
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let hunk = |number: usize| seen["hunks"][number]["id"].as_str().unwrap();
    let first = ["reject", request, "--hunk", hunk(0), "--reason", "As he wrote it", "--json"];
    let decided: Value = serde_json::from_str(&said(&runs(&copydesk, &token, &first), 0)).unwrap();
    assert_eq!(decided["status"], "pending");
    let stale = ["approve", request, "--preview", "of something else"];
    said(&runs(&copydesk, &token, &stale), 1);
    let preview = seen["preview_hash"].as_str().unwrap();
    let second = ["reject", request, "--hunk", hunk(1), "--reason", "No", "--json"];
    assert!(!preview.is_empty());
    said(&runs(&copydesk, &token, &second), 0);
    let (rest, code) = ask.ends();
    assert_eq!(code, Some(1), "{rest}");
    assert!(rest.contains("rejected"), "{rest}");
}

#[test]
fn what_was_accepted_in_part_is_done_and_what_was_taken_back_is_not() {
    let (copydesk, token, document) = test_server(&[]);
    let hand = RestClient::new(&copydesk, &token);
    let (ask, line) = asks(&copydesk, &token, &document, &[]);
    let request = name(&line);
    let seen = hand.gets(&format!("requests/{request}")).ok();
    let hunk = |number: usize| seen["hunks"][number]["id"].as_str().unwrap();
    said(&runs(&copydesk, &token, &["approve", request, "--hunk", hunk(0)]), 0);
    said(&runs(&copydesk, &token, &["reject", request, "--hunk", hunk(1), "--reason", "No"]), 0);
    let (rest, code) = ask.ends();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.ends_with(&format!("{request}  partly")), "{rest}");
    for ends in ["withdrawn", "deleted"] {
        let wish = serde_json::json!({"title": "Another", "text": TEXT});
        let document = hand.posts("documents", &wish).ok();
        let document = document["id"].as_str().unwrap();
        let (ask, line) = asks(&copydesk, &token, document, &[]);
        if ends == "withdrawn" {
            hand.posts(&format!("requests/{}/withdraw", name(&line)), &json!({})).ok();
        } else {
            let delete = format!("DELETE /api/v1/documents/{document}");
            assert_eq!(RestClient::new(&copydesk, OWNER).says(&delete, &[], "").status, 204);
        }
        let (rest, code) = ask.ends();
        assert_eq!(code, Some(1), "{ends}: {rest}");
    }
}

#[test]
fn files_become_documents_and_nothing_else_does() {
    let (copydesk, token, _) = test_server(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, two) =
        (file("The keeper.md", "\u{feff}Teh keeper.\n".as_bytes()), file("b.txt", b"Two."));
    let made = said(&runs(&copydesk, &token, &["import", &one, &two]), 0);
    let hand = RestClient::new(&copydesk, &token);
    let read = |id: &str| hand.gets(&format!("documents/{id}")).ok();
    let stored: Vec<_> =
        made.lines().map(read).map(|it| (it["title"].clone(), it["text"].clone())).collect();
    let expected = [("The keeper", "Teh keeper.\n"), ("b", "Two.")];
    assert_eq!(stored, expected.map(|(title, text)| (json!(title), json!(text))));
    let named = ["import", one.as_str(), "--title", "A story", "--json"];
    let made: Value = serde_json::from_str(&said(&runs(&copydesk, &token, &named), 0)).unwrap();
    let made = &made["documents"][0];
    assert_eq!((&made["title"], &made["version"]), (&json!("A story"), &json!(0)));
    let before = hand.gets("documents").ok()["documents"].as_array().unwrap().len();
    let latin = file("d.txt", b"caf\xe9");
    let output = runs(&copydesk, &token, &["import", &latin]);
    let id = said(&output, 0);
    assert_eq!(read(id.trim())["text"], "caf\u{e9}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("d.txt: Decided: 1 text read as Windows-1252."), "{message}");
    let before = before + 1;
    let (picture, word) = (file("c.png", b"PNG"), file("c.docx", b"no ZIP file"));
    let folder = folder.path().to_str().unwrap();
    for (wrong, why) in [
        (vec![one.as_str(), &picture], "not a supported file"),
        (vec![&word], "not a Word document"),
        (vec![&one, "nowhere.md"], "cannot read nowhere.md"),
        (vec![&one, folder], "not a supported file"),
        (vec![&one, &two, "--title", "Both"], "--title is for one file"),
    ] {
        let output = runs(&copydesk, &token, &[&["import"], &wrong[..]].concat());
        said(&output, 1);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains(why), "{complaint}");
    }
    let after = hand.gets("documents").ok()["documents"].as_array().unwrap().len();
    assert_eq!(before, after, "all are read before the first is made");
    let viewer = copydesk.token("Vic", Role::Viewer, &[]);
    said(&runs(&copydesk, &viewer, &["import", &one]), 1);
    said(&runs(&copydesk, &token, &["import"]), 2);
}

#[test]
fn what_runs_out_of_time_ends_with_three() {
    let (copydesk, token, document) = test_server(&["--approval-timeout", "1"]);
    let (ask, line) = asks(&copydesk, &token, &document, &[]);
    let (rest, code) = ask.ends();
    assert_eq!(code, Some(3), "{rest}");
    // Where the machine is slow, nothing was seen to wait; how it ended is said all the same.
    let said_all = format!("{line}\n{rest}");
    let request = said_all.split_whitespace().find(|word| word.starts_with("req_")).unwrap();
    let late = runs(&copydesk, &token, &["approve", request]);
    said(&late, 3);
}

#[test]
fn who_waits_gives_up_when_they_said_and_the_run_goes_on() {
    let (copydesk, token, document) = test_server(&[]);
    let words = ["ask", &document, "Fix the spelling", "--wait", "--timeout", "2"];
    said(&runs(&copydesk, &token, &words), 3);
    // Where the machine is slow, it gave up before anything waited.
    let request = loop {
        let list = said(&runs(&copydesk, &token, &["requests", "--document", &document]), 0);
        let first = list.split_whitespace().find(|word| word.starts_with("req_"));
        if let Some(request) = first {
            break request.to_owned();
        }
    };
    said(&runs(&copydesk, &token, &["approve", &request]), 0);
}

#[test]
fn without_waiting_one_is_told_where_the_run_is() {
    let (copydesk, token, document) = test_server(&[]);
    let url = said(&runs(&copydesk, &token, &["ask", &document, "Fix it"]), 0);
    let run = RestClient::new(&copydesk, &token).gets(url.trim().strip_prefix("/api/v1/").unwrap());
    assert_eq!(run.ok()["prompt"], "Fix it");
}

#[test]
fn who_watches_is_told_what_waits_and_how_it_ends() {
    let (copydesk, token, document) = test_server(&[]);
    let words = ["watch", "--document", document.as_str(), "--json"];
    let mut watch = Waiting::start(command(&copydesk, &token, &words));
    said(&runs(&copydesk, &token, &["ask", &document, "Fix it"]), 0);
    let waits = watch.json();
    assert_eq!(waits["type"], "tool_approval_request");
    let request = waits["request"]["request_id"].as_str().unwrap();
    said(&runs(&copydesk, OWNER, &["approve", request]), 0);
    let over = watch.json();
    assert_eq!(
        (over["type"].as_str(), over["request"]["status"].as_str()),
        (Some("tool_approval_resolved"), Some("approved"))
    );
}

/// Passes connections on to a server that is at another address after each start.
struct Relay {
    url: String,
    to: Arc<Mutex<String>>,
    /// Number of connections for which there was no server.
    in_vain: Arc<AtomicUsize>,
}

impl Relay {
    fn to(copydesk: &TestServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let to = Arc::new(Mutex::new(copydesk.address().to_owned()));
        let there = Arc::clone(&to);
        let in_vain = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&in_vain);
        std::thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                let there = there.lock().clone();
                let Ok(there) = TcpStream::connect(there) else {
                    counted.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                let (from, back) = (here.try_clone().unwrap(), there.try_clone().unwrap());
                for (mut from, mut to) in [(from, there), (back, here)] {
                    std::thread::spawn(move || {
                        std::io::copy(&mut from, &mut to).ok();
                        to.shutdown(Shutdown::Both).ok();
                    });
                }
            }
        });
        Self { url, to, in_vain }
    }
}

#[test]
fn who_watches_misses_nothing_that_comes_and_goes_between_two_looks_or_while_the_server_is_away() {
    let turn = json!({"when": {"user": "."}, "content": [{"type": "tool_use", "name": "update_full_document", "input": full(FIXED)}], "repeat": true});
    let mut copydesk = TestServer::scripted(Script::default().turn(turn).closing("Done."));
    let relay = Relay::to(&copydesk);
    let ana = copydesk.editor("Ana");
    let mut started = command(&copydesk, &ana.token, &["watch", "--json"]);
    started.env("COPYDESK_URL", &relay.url);
    let mut watch = Waiting::start(started);
    // Each waits only for a moment.
    let rejects = |ana: &Person| {
        let run = ana.asks("Fix it");
        let request = ana.sees_request_of(&run);
        ana.rejects(&request, "No");
        ana.answer(&run);
        request.id().to_owned()
    };
    ana.creates(TEXT);
    let first = ana.sees_request_of(&ana.asks("Fix it"));
    assert_eq!(watch.json()["request"]["request_id"], json!(first.id()));
    let document = ana.creates(TEXT);
    let short: Vec<_> = (0..3).map(|_| rejects(&ana)).collect();
    let mut ends = |wanted: &[String]| {
        let mut over: Vec<String> = Vec::new();
        while over.len() < wanted.len() {
            let line = watch.json();
            if line["type"] == "tool_approval_resolved" {
                assert_eq!(line["request"]["status"], "rejected");
                over.push(line["request"]["request_id"].as_str().unwrap().to_owned());
            }
        }
        assert_eq!(over, wanted);
    };
    ends(&short);
    copydesk.is_killed_and_restarted();
    eventually("looks in vain", || relay.in_vain.load(Ordering::Relaxed) >= 2);
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    let later = vec![rejects(&ana)];
    copydesk.address().clone_into(&mut relay.to.lock());
    ends(&later);
}

#[test]
fn nonsense_is_refused_with_two_and_whatever_fails_with_one() {
    let (copydesk, token, document) = test_server(&[]);
    for wrong in [
        &["ask"][..],
        &["approve"],
        &["reject", "req_1"],
        &["requests", "req_1", "--document", "doc_1"],
        &["watch", "--loud"],
        &["completions", "sh"],
    ] {
        said(&runs(&copydesk, &token, wrong), 2);
    }
    said(&runs(&copydesk, &token, &["requests", "req_none"]), 1);
    said(&runs(&copydesk, &token, &["ask", "doc_none", "Fix it"]), 1);
    said(&runs(&copydesk, "no token at all", &["docs"]), 1);
    let viewer = copydesk.token("Vic", Role::Viewer, &[]);
    said(&runs(&copydesk, &viewer, &["ask", &document, "Fix it"]), 1);
    let unreachable =
        copydesk_command().args(["docs", "--url", "http://127.0.0.1:1"]).output().unwrap();
    said(&unreachable, 1);
    assert!(String::from_utf8_lossy(&unreachable.stderr).contains("is it running?"));
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = copydesk_command().args(["completions", shell]).output().unwrap();
        let script = said(&script, 0);
        for word in ["approve", "requests", "preview", "watch", "import", "listen"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        for hidden in ["claude-tools", "supervise", "grammar-worker"] {
            assert!(!script.contains(hidden), "{shell} offers {hidden}");
        }
    }
}

/// Changes a copy of a backup as a flipped bit would, once behind the sum in it and once as in a
/// backup of a former version, which has none.
fn a_damaged_backup_is_refused(backup: &Path, program: &dyn Fn(&[&str]) -> Output) {
    let forget =
        "DELETE FROM settings WHERE key = 'backup.content_sum'; PRAGMA application_id = 0;";
    let rename = "UPDATE documents SET title = 'Anothes' WHERE title <> 'Anothes'";
    let gap = "UPDATE documents SET version = version + 1";
    for (number, (damage, words, is_restored)) in [
        (rename.to_owned(), "its content is not what was backed up", true),
        (format!("{forget} {gap}"), "`copydesk check` finds", true),
        (format!("CREATE TABLE notes (text TEXT); {forget}"), "notes is not copydesk's", false),
    ]
    .into_iter()
    .enumerate()
    {
        let damaged = backup.with_file_name("damaged.sqlite");
        std::fs::copy(backup, &damaged).unwrap();
        crate::operations::check::tamper_file(&damaged, &damage);
        let into = format!("damaged-{number}");
        let restore = ["restore", "--from", "damaged.sqlite", "--data", &into];
        let refused = program(&restore);
        said(&refused, 1);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains(words), "{damage}: {message}");
        assert!(!backup.with_file_name(&into).exists(), "{damage}");
        let anyway = program(&[&restore[..], &["--despite-damage"]].concat());
        said(&anyway, i32::from(!is_restored));
    }
    // Without a sum and without damage, it is restored with a notice.
    let former = backup.with_file_name("former.sqlite");
    std::fs::copy(backup, &former).unwrap();
    crate::operations::check::tamper_file(&former, forget);
    let restored = program(&["restore", "--from", "former.sqlite", "--data", "former"]);
    said(&restored, 0);
    let message = String::from_utf8_lossy(&restored.stderr);
    assert!(message.contains("no sum over its content"), "{message}");
}

#[test]
fn a_backup_of_a_running_server_becomes_another_server() {
    let (copydesk, token, document) = server_in_a_file();
    let home = tempfile::tempdir().unwrap();
    let program =
        |words: &[&str]| copydesk_command().args(words).current_dir(home.path()).output().unwrap();
    let data = copydesk.data().display().to_string();
    let made = said(&program(&["backup", "--data", &data, "--out", "."]), 0);
    let file = made.split_whitespace().next().unwrap();
    assert!(file.starts_with("./copydesk-backup-") && file.ends_with(".sqlite"), "{made}");
    let again = program(&["backup", "--data", &data, "--out", file]);
    said(&again, 1);
    assert!(String::from_utf8_lossy(&again.stderr).contains("cannot back up into"), "{again:?}");
    let none = program(&["backup", "--data", "nowhere", "--out", "x.sqlite"]);
    said(&none, 1);
    // Not over a server that runs.
    let running = program(&["restore", "--from", file, "--data", &data, "--replace"]);
    said(&running, 1);
    assert!(String::from_utf8_lossy(&running.stderr).contains("in use"), "{running:?}");
    let message = said(&program(&["restore", "--from", file, "--data", "copy"]), 0);
    assert!(message.contains("restored into copy") && message.contains("new token"), "{message}");
    let checked = said(&program(&["check", "--data", "copy"]), 0);
    assert!(checked.contains("nothing wrong"), "{checked}");
    a_damaged_backup_is_refused(&home.path().join(file), &program);
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    let server = crate::support::Server::start(&home.path().join("copy"), &flags, &[]);
    let ana = Person::arrive(&server.url, &token, "Ana");
    ana.opens(&document);
    assert_eq!(ana.text(), TEXT, "her token and her document are there");
}

#[test]
fn a_backup_that_is_interrupted_or_finds_no_room_leaves_no_half_file_under_its_name() {
    let (copydesk, _, _) = server_in_a_file();
    let home = tempfile::tempdir().unwrap();
    // Files may have 16 blocks at most; a process that writes more is ended, or gets an error if it
    // does not listen to that signal.
    let limited = |first: &str| {
        let script = format!("{first} ulimit -f 16; exec \"$0\" \"$@\"");
        Command::new("sh")
            .args(["-c", &script])
            .arg(copydesk_command().get_program())
            .args(["backup", "--out", "backup.sqlite", "--data"])
            .arg(copydesk.data())
            .current_dir(home.path())
            .output()
            .unwrap()
    };
    let names = || {
        let entries = std::fs::read_dir(home.path()).unwrap().flatten();
        entries.map(|it| it.file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let message = limited("trap '' XFSZ;");
    said(&message, 1);
    let complaint = String::from_utf8_lossy(&message.stderr);
    assert!(complaint.contains("cannot back up into backup.sqlite"), "{complaint}");
    assert!(names().is_empty(), "{:?}", names());
    let ended = limited("");
    assert_eq!(ended.status.code(), None, "a signal ended it");
    assert!(names().iter().all(|name| name.starts_with("backup.sqlite.part-")), "{:?}", names());
    let data = copydesk.data().display().to_string();
    let words = ["backup", "--out", "backup.sqlite", "--data", &data];
    said(&copydesk_command().args(words).current_dir(home.path()).output().unwrap(), 0);
    copydesk.owner().is_fine();
}
