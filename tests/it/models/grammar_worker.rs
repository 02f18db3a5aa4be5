//! The process that checks grammar for the server: one for all questions, replaced when it is
//! lost, gone with the server.

use std::process::Command;

use crate::support::{Person, TestServer, eventually};

const MISTAKES: &str = "They was late.\n";
const MEGABYTE: usize = 1024 * 1024;

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status();
    assert!(sent.expect("there is a `kill`").success());
}

/// Waits until a process has ended.
fn is_gone(process: u32) {
    let command = || std::fs::read_to_string(format!("/proc/{process}/cmdline"));
    eventually("the end of the process", || {
        !command().is_ok_and(|it| it.contains("grammar-worker"))
    });
}

/// The only process that checks grammar.
fn worker(copydesk: &TestServer) -> u32 {
    let workers = copydesk.grammar_workers();
    assert_eq!(workers.len(), 1, "{workers:?}");
    workers[0]
}

/// The process that has checked a document which this person has made and left as it was.
fn worker_after_a_question(copydesk: &TestServer, person: &Person) -> u32 {
    person.creates(MISTAKES);
    let run = person.asks("Fix the grammar");
    person.rejects(&person.sees_request_of(&run), "not yet");
    person.answer(&run);
    worker(copydesk)
}

#[test]
fn people_who_ask_at_once_share_one_process_and_the_server_stays_small() {
    let copydesk = TestServer::plan().model("harper").start();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    for person in [&ana, &ben] {
        person.creates(MISTAKES);
    }
    assert!(copydesk.grammar_workers().is_empty(), "no one has asked yet");
    let before = copydesk.memory();
    let (of_ana, of_ben) = (ana.asks("Fix the grammar"), ben.asks("Fix the grammar"));
    for (person, run) in [(&ana, &of_ana), (&ben, &of_ben)] {
        person.accepts_all(&person.sees_request_of(run));
        assert_eq!(person.answer(run)["documentUpdate"], "They were late.\n");
    }
    let process = worker(&copydesk);
    let grown = copydesk.memory().saturating_sub(before) / MEGABYTE;
    assert!(grown < 40, "the server has grown by {grown} MB");
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap();
    assert_eq!(String::from_utf8_lossy(&environment), "", "nothing secret, and nothing else");
}

#[test]
fn what_needs_no_dictionary_starts_no_process() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    ana.creates("quiet words\n");
    let run = ana.asks("Replace “quiet” with “loud”");
    ana.accepts_all(&ana.sees_request_of(&run));
    ana.answer(&run);
    assert_eq!(ana.text(), "loud words\n");
    assert!(copydesk.grammar_workers().is_empty());
}

#[test]
fn a_question_outlives_the_process_that_it_was_asked() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    let process = worker_after_a_question(&copydesk, &ana);
    // It cannot answer any more, and then it is killed.
    signal("-STOP", process);
    let second = ana.asks("Fix the grammar");
    signal("-KILL", process);
    ana.accepts_all(&ana.sees_request_of(&second));
    ana.answer(&second);
    assert_eq!(ana.text(), "They were late.\n");
    assert_ne!(worker(&copydesk), process);
    assert!(copydesk.complaints().contains("lost the process of the grammar checker"));
}

#[test]
fn a_stopped_question_holds_up_no_other() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    let process = worker_after_a_question(&copydesk, &ana);
    signal("-STOP", process);
    let stopped = ana.asks("Fix the grammar");
    ana.emit("cancel", &serde_json::json!({"requestId": stopped})).ok();
    ana.answer(&stopped);
    signal("-CONT", process);
    let next = ana.asks("Fix the grammar");
    ana.accepts_all(&ana.sees_request_of(&next));
    ana.answer(&next);
    assert_eq!(worker(&copydesk), process);
}

#[test]
fn the_process_ends_with_the_server_however_that_ends() {
    let mut copydesk = TestServer::plan().model("harper").start();
    let process = worker_after_a_question(&copydesk, &copydesk.editor("Ana"));
    assert!(copydesk.stops().success());
    is_gone(process);
    copydesk.starts();
    let process = worker_after_a_question(&copydesk, &copydesk.editor("Ana"));
    copydesk.is_killed_and_restarted();
    is_gone(process);
}
