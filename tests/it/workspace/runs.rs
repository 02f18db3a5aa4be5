//! Work without a document: `run`, and an inbox that everybody who may decide sees.

use serde_json::{Value, json};

use crate::support::{Person, Request, Role, Script, TestServer, eventually, found};

const NEW: &str = "hello world";

/// The tool approval protocol's own example: the model creates `test.txt`, then says that it is
/// done.
fn writing() -> Script {
    Script::calling("Write", &json!({"file_path": "test.txt", "content": NEW}))
}

fn test_server(script: Script) -> TestServer {
    TestServer::plan().script(script).workspace(&[]).start()
}

/// Starts a run with what the tool approval protocol sends; its name.
fn runs(person: &Person) -> String {
    let run = json!({
        "prompt": "Create a file called test.txt with 'hello world'",
        "continue": false,
        "permission_mode": "sdk",
        "auto_approve_safe": true,
    });
    person.emit("run", &run).ok()["requestId"].as_str().expect("a run has a name").to_owned()
}

fn ends(person: &Person, run: &str) -> Value {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result")
}

fn pending(person: &Person) -> Vec<Request> {
    let ack = person.emit("list_pending_approvals", &json!({})).ok();
    ack["requests"].as_array().expect("requests").iter().cloned().map(Request).collect()
}

#[test]
fn the_example_of_a_written_file_is_byte_for_byte() {
    let copydesk = test_server(writing());
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    assert_eq!((&request["document_id"], &request["tool_name"]), (&Value::Null, &json!("Write")));
    assert_eq!(request["tool_input"], json!({"file_path": "test.txt", "content": NEW}));
    assert_eq!(
        request["preview_data"],
        json!({"file_path": "test.txt", "is_new_file": true, "original_lines": 0, "new_lines": 1})
    );
    assert_eq!(
        request["diff_lines"],
        json!(["--- a/test.txt", "+++ b/test.txt", "@@ -0,0 +1 @@", "+hello world"])
    );
    assert_eq!((&request["original_content"], &request["new_content"]), (&json!(""), &json!(NEW)));
    assert_eq!(copydesk.file("test.txt"), None);
    // As the tool approval protocol's client answers: no hash, no hunks.
    owner
        .emit("tool_approval_response", &json!({"request_id": request.id(), "approved": true}))
        .ok();
    let end = ends(&owner, &run);
    assert_eq!(
        (&end["subtype"], &end["content"]["message"]),
        (&json!("success"), &json!("Conversation complete"))
    );
    assert_eq!(copydesk.file("test.txt").as_deref(), Some(NEW));
    let tool_result = owner.tool_results(&run).remove(0);
    assert_eq!(tool_result["content"], "Wrote 11 characters to test.txt");
    assert_eq!(tool_result["is_error"], false);
}

#[test]
fn everybody_who_may_decide_sees_it_and_anybody_of_them_decides() {
    let copydesk = test_server(writing());
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let viewer = copydesk.person("Vic", Role::Viewer);
    let run = runs(&owner);
    let request = rex.sees_request_of(&run);
    rex.decides(&request, json!({"approved": false, "feedback": "Use another file"})).ok();
    assert_eq!(owner.sees_resolved(&request)["by"]["name"], "Rex");
    ends(&owner, &run);
    assert_eq!(owner.tool_results(&run)[0]["content"], "User rejected: Use another file");
    assert_eq!(viewer.saw("tool_approval_request"), [Value::Null; 0]);
    assert_eq!(copydesk.file("test.txt"), None);
}

#[test]
fn a_person_who_comes_later_is_told_of_what_waits() {
    let copydesk = test_server(writing());
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    let ed = copydesk.editor("Ed");
    assert_eq!(ed.sees_request().id(), request.id());
    assert_eq!(pending(&ed)[0].id(), request.id());
    let viewer = copydesk.person("Vic", Role::Viewer);
    assert!(pending(&viewer).is_empty());
    viewer.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    let document = owner.creates("Elsewhere.");
    let guest = copydesk.guest(Role::Reviewer, &document);
    assert!(pending(&guest).is_empty());
    guest.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(guest.saw("tool_approval_request"), [Value::Null; 0]);
}

#[test]
fn a_request_survives_a_power_cut_and_is_carried_out_after_it() {
    let mut copydesk = test_server(writing());
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    let owner = copydesk.owner();
    assert_eq!(owner.sees_request().id(), request.id());
    owner.decides(&request, json!({"approved": true})).ok();
    let update = owner.sees_where("tool_approval_update", |it| it["report"].is_string());
    assert_eq!(update["report"], "Wrote 11 characters to test.txt");
    assert_eq!(copydesk.file("test.txt").as_deref(), Some(NEW));
}

#[test]
fn of_two_who_decide_at_once_the_first_one_wins() {
    let copydesk = test_server(writing());
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let run = runs(&owner);
    let (mine, his) = (owner.sees_request_of(&run), ed.sees_request_of(&run));
    let yes = owner.send("tool_approval_response", &mine.decision(json!({"approved": true})));
    let no = ed.send("tool_approval_response", &his.decision(json!({"approved": false})));
    let (yes, no) = (owner.ack(yes), ed.ack(no));
    let approved = yes.body()["ok"] == true;
    if approved { no } else { yes }.refused_with("already_resolved");
    ends(&owner, &run);
    assert_eq!(copydesk.file("test.txt").is_some(), approved);
}

#[test]
fn a_stale_preview_is_answered_with_the_fresh_one_and_everybody_sees_it() {
    let copydesk = test_server(writing());
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    copydesk.overwrites("test.txt", "somebody was faster");
    let refused = owner.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(refused["details"].clone());
    assert_eq!(fresh["original_content"], "somebody was faster");
    let update = ed.sees_where("tool_approval_update", |it| it["fresh"].is_object());
    assert_eq!(update["fresh"]["preview_hash"], fresh["preview_hash"]);
    owner.decides(&fresh, json!({"approved": true})).ok();
    ends(&owner, &run);
    assert_eq!(copydesk.file("test.txt").as_deref(), Some(NEW));
}

#[test]
fn an_edited_call_and_an_answer_instead() {
    let copydesk = test_server(writing());
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    let edit = |input: Value| json!({"decision": "edit", "updated_input": input});
    owner.decides(&request, json!({"decision": "edit"})).refused_with("invalid_payload");
    owner
        .decides(&request, edit(json!({"file_path": "/etc/passwd", "content": ""})))
        .refused_with("invalid_decision");
    owner
        .decides(&request, json!({"approved": true, "hunks": []}))
        .refused_with("invalid_decision");
    owner.decides(&request, edit(json!({"file_path": "mine.txt", "content": "Mine."}))).ok();
    ends(&owner, &run);
    assert_eq!(
        (copydesk.file("test.txt"), copydesk.file("mine.txt").as_deref()),
        (None, Some("Mine."))
    );
}

#[test]
fn without_a_workspace_a_run_only_talks() {
    let copydesk = TestServer::scripted(writing());
    let owner = copydesk.owner();
    let run = runs(&owner);
    ends(&owner, &run);
    let tool_result = owner.tool_results(&run).remove(0);
    assert!(
        tool_result["content"].as_str().unwrap().starts_with("Unknown tool: Write"),
        "{tool_result}"
    );
}

#[test]
fn the_inbox_has_a_policy_of_its_own_that_survives_a_power_cut() {
    let mut copydesk = test_server(writing());
    let set = json!({"documentId": "desk", "policy": "owner", "timeoutSeconds": 100});
    copydesk.editor("Ed").emit("document:settings", &set).refused_with("not_allowed");
    let settings = copydesk.owner().emit("document:settings", &set).ok()["settings"].clone();
    assert_eq!((&settings["policy"], &settings["timeoutSeconds"]), (&json!("owner"), &json!(100)));
    copydesk.is_killed_and_restarted();
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let run = runs(&ed);
    let request = ed.sees_request_of(&run);
    ed.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    owner.decides(&request, json!({"approved": true})).ok();
    ends(&ed, &run);
    assert_eq!(copydesk.file("test.txt").as_deref(), Some(NEW));
}

fn commanding(command: &str) -> TestServer {
    let script = Script::calling("Bash", &json!({"command": command}));
    TestServer::plan().script(script).workspace(&[]).flags(&["--enable-bash"]).start()
}

#[test]
fn a_command_is_shown_to_owners_and_to_who_asked_and_decided_by_owners_only() {
    let copydesk = commanding("echo done > made.txt");
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let rex = copydesk.person("Rex", Role::Reviewer);
    let run = runs(&ed);
    let request = owner.sees_request_of(&run);
    assert_eq!(
        (&request["preview_type"], &request["default_to_no"]),
        (&json!("command"), &json!(true))
    );
    assert_eq!(request["preview_data"]["command"], "echo done > made.txt");
    assert_eq!(request["warnings"][0]["code"], "overwrites");
    let mine = ed.sees_request_of(&run);
    ed.decides(&mine, json!({"approved": true})).refused_with("not_allowed");
    rex.decides(&mine, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(rex.saw("tool_approval_request"), [Value::Null; 0]);
    assert!(pending(&rex).is_empty());
    let look = json!({"request_id": request.id(), "on": true});
    rex.emit("approval:focus", &look).refused_with("not_allowed");
    rex.emit("approval:extend", &json!({"request_id": request.id()})).refused_with("not_allowed");
    ed.emit("approval:focus", &look).ok();
    owner.decides(&request, json!({"approved": true})).ok();
    ends(&ed, &run);
    assert_eq!(copydesk.file("made.txt").as_deref(), Some("done\n"));
}

#[test]
fn a_command_is_not_run_again_after_a_power_cut_and_what_is_left_of_it_ends() {
    let mut copydesk = commanding("echo $$ >> pids; exec sleep 1000");
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    owner.decides(&request, json!({"approved": true})).ok();
    let pid = || copydesk.file("pids").filter(|it| it.ends_with('\n'));
    let pid = found(|| pid().ok_or("the process has not begun"));
    copydesk.is_killed_and_restarted();
    let owner = copydesk.owner();
    // No one is asked anything: the process ends, and no second one begins.
    let alive = || std::path::Path::new(&format!("/proc/{}", pid.trim())).exists();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while alive() && std::time::Instant::now() < until {
        owner.catches_up();
    }
    assert!(!alive(), "{pid}");
    assert_eq!(copydesk.file("pids").as_deref(), Some(pid.as_str()));
}

/// Waits until the workspace has a file that ends with a line end; its lines.
fn lines_of(copydesk: &TestServer, file: &str, count: usize) -> Vec<String> {
    found(|| {
        let text = copydesk.file(file).unwrap_or_default();
        if text.ends_with('\n') && text.lines().count() >= count {
            return Ok(text.lines().map(str::to_owned).collect());
        }
        Err(text)
    })
}

/// Returns `true` if a process is there, also as a zombie.
#[cfg(target_os = "linux")]
fn is_there(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

#[cfg(target_os = "linux")]
fn are_gone(pids: &[String]) {
    eventually("the end of the processes", || pids.iter().all(|pid| !is_there(pid)));
}

/// Leaves three processes behind: in a session of its own without the mark, that of a parent that
/// is gone, and one that cannot be asked to end. Their numbers are in `pids`.
#[cfg(target_os = "linux")]
const ESCAPES: &str = "cat > escape.sh <<'E'\ntrap '' TERM HUP INT\necho $$ >> pids\nexec sleep 1000\nE\n\
    setsid env -u COPYDESK_REQUEST bash escape.sh >/dev/null 2>&1 &\n\
    (setsid env -i /bin/bash -c 'setsid env -i /bin/bash escape.sh & exit' >/dev/null 2>&1 &)\n\
    env -u COPYDESK_REQUEST bash escape.sh &\n\
    until [ \"$(cat pids 2>/dev/null | wc -l)\" = 3 ]; do sleep 0.05; done\n";

#[cfg(target_os = "linux")]
#[test]
fn nothing_that_a_command_starts_outlives_it_whatever_it_takes_off() {
    let copydesk = commanding(&format!("{ESCAPES}echo done; exit 3"));
    let owner = copydesk.owner();
    // Of the server's user, and none of its command's.
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    owner.decides(&request, json!({"approved": true})).ok();
    ends(&owner, &run);
    let tool_result = owner.tool_results(&run).remove(0);
    assert_eq!(tool_result["content"], "Exit code 3\ndone");
    let pids = lines_of(&copydesk, "pids", 3);
    assert!(pids.iter().all(|pid| !is_there(pid)), "{pids:?}, nor is one a zombie");
    assert!(other.try_wait().expect("a child").is_none(), "no one else's was ended");
    other.kill().and_then(|()| other.wait()).expect("it ends");
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_that_a_command_starts_outlives_a_cancelled_run_or_the_server() {
    let mut copydesk = commanding(&format!("{ESCAPES}sleep 1000"));
    let owner = copydesk.owner();
    let run = runs(&owner);
    let request = owner.sees_request_of(&run);
    owner.decides(&request, json!({"approved": true})).ok();
    let pids = lines_of(&copydesk, "pids", 3);
    owner.emit("cancel", &json!({"requestId": run})).ok();
    ends(&owner, &run);
    assert!(pids.iter().all(|pid| !is_there(pid)), "{pids:?}");

    std::fs::remove_file(copydesk.folder().join("pids")).expect("there is one");
    // The script plays once in each session.
    let owner = copydesk.owner();
    let request = owner.sees_request_of(&runs(&owner));
    owner.decides(&request, json!({"approved": true})).ok();
    let pids = lines_of(&copydesk, "pids", 3);
    // The server can do nothing any more; what watches its command sees that it is gone.
    copydesk.is_killed_and_restarted();
    are_gone(&pids);
}

#[test]
fn no_one_opens_the_inbox_as_a_document() {
    let copydesk = test_server(writing());
    let owner = copydesk.owner();
    for event in ["document:open", "document:delete"] {
        owner.emit(event, &json!({"documentId": "desk"})).refused_with("not_found");
    }
    let listed = owner.emit("document:list", &json!({})).ok().to_string();
    assert!(!listed.contains("\"desk\""), "{listed}");
}
