//! Stories of questions to worker processes that are played by a shell, so that they fail as
//! wanted.
#![cfg(unix)]

use std::path::Path;

use tokio::time::{advance, pause, resume};

use super::*;

/// Lines of shell that set `id` to the number of the next question, and `line` to all of it.
const READ: &str = r#"
answer() { echo "{\"id\":$id,\"corrections\":[]}"; }
ask() { IFS= read -r line || exit 0; id=${line#*:}; id=${id%%,*}; }
"#;

/// Worker that does what these lines of shell say, with `$1` a folder of the test.
fn worker(folder: &Path, lines: &str) -> WorkerClient {
    let script = format!("{READ}\necho $$ >> \"$1/started\"\n{lines}");
    let arguments = vec!["-c".into(), script.into(), "sh".into(), folder.into()];
    WorkerClient::start(WorkerCommand { program: "/bin/sh".into(), arguments })
}

/// Number of processes that were started.
fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("started")).map_or(0, |it| it.lines().count())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

const NOTHING: Result<Vec<TextCorrection>, CheckError> = Ok(vec![]);
const ANSWERS: &str = "while true; do ask; answer; done";

async fn ask(worker: &WorkerClient, text: &str) -> Result<Vec<TextCorrection>, CheckError> {
    worker.check(text.into()).await
}

/// Waits until the process is gone, and the next one would be another.
async fn is_given_back(worker: &WorkerClient) {
    let mut process = worker.process_id.clone();
    process.wait_for(Option::is_none).await.expect("the task goes on");
}

#[tokio::test]
async fn many_questions_at_once_share_one_process() {
    let folder = folder();
    let worker = worker(folder.path(), ANSWERS);
    assert_eq!(starts(folder.path()), 0, "nobody has asked yet");
    let long = "x".repeat(LONG_TEXT);
    let (one, two, three, four) = tokio::join!(
        ask(&worker, "a"),
        ask(&worker, &long),
        ask(&worker, &long),
        ask(&worker, "b")
    );
    assert_eq!([one, two, three, four], [NOTHING; 4]);
    assert_eq!(ask(&worker, "c").await, NOTHING);
    assert_eq!(starts(folder.path()), 1);
}

#[tokio::test]
async fn an_idle_process_is_given_back_and_the_next_question_starts_another() {
    let folder = folder();
    let worker = worker(folder.path(), ANSWERS);
    assert_eq!(ask(&worker, "a").await, NOTHING);
    let first = worker.process_id.borrow().expect("it waits for more questions");
    pause();
    advance(IDLE_LIMIT).await;
    is_given_back(&worker).await;
    resume();
    assert!(!Path::new(&format!("/proc/{first}")).exists(), "ended and collected");
    assert_eq!(ask(&worker, "b").await, NOTHING);
    assert_eq!(starts(folder.path()), 2);
}

#[tokio::test]
async fn a_long_text_leaves_room_for_short_ones() {
    let folder = folder();
    // Long texts are answered only when the short one was.
    let lines = "while true; do ask; case $line in *xxx*) later=$id;; *) answer; id=$later; answer;; esac; done";
    let worker = worker(folder.path(), lines);
    let long = "x".repeat(LONG_TEXT);
    let mut first = Box::pin(ask(&worker, &long));
    let second = Box::pin(ask(&worker, &long));
    assert!(futures_util::poll!(&mut first).is_pending());
    let waits = Box::pin(second);
    let (short, first) = tokio::join!(ask(&worker, "short"), first);
    assert_eq!([short, first], [NOTHING; 2]);
    let (short, second) = tokio::join!(waits, async {
        tokio::task::yield_now().await;
        ask(&worker, "short").await
    });
    assert_eq!([short, second], [NOTHING; 2]);
    assert_eq!(starts(folder.path()), 1);
}

#[tokio::test]
async fn a_question_is_asked_again_when_its_process_was_killed() {
    let folder = folder();
    let lines =
        "ask; if [ ! -e \"$1/killed\" ]; then touch \"$1/killed\"; kill -9 $$; fi; answer; ask";
    let worker = worker(folder.path(), lines);
    assert_eq!(ask(&worker, "a").await, NOTHING);
    assert_eq!(starts(folder.path()), 2);
}

#[tokio::test]
async fn a_text_that_ends_every_process_fails_and_takes_no_other_with_it() {
    let folder = folder();
    let lines = "while true; do ask; case $line in *bad*) exit 3;; *) answer;; esac; done";
    let worker = worker(folder.path(), lines);
    let (bad, good) = tokio::join!(ask(&worker, "bad"), ask(&worker, "good"));
    assert_eq!((bad, good), (Err(CheckError::Lost), NOTHING));
    let so_far = starts(folder.path());
    assert!((2..=3).contains(&so_far), "{so_far}");
    assert_eq!(ask(&worker, "good").await, NOTHING);
}

#[tokio::test]
async fn a_process_that_writes_rubbish_is_replaced_once() {
    let beyond = r#"{"from":0,"to":9,"wrong":"","right":"","kind":"Spelling","rank":0}"#;
    let rubbish = [
        "echo rubbish".to_owned(),
        "echo '{\"id\":99,\"corrections\":[]}'".to_owned(),
        format!("echo '{{\"id\":0,\"corrections\":[{beyond}]}}'"),
        "head -c 20000000 /dev/zero".to_owned(),
        "exec 1>&-; read -r line".to_owned(),
    ];
    for lines in rubbish {
        let folder = folder();
        let worker = worker(folder.path(), &format!("ask; {lines}; ask"));
        assert_eq!(ask(&worker, "a").await, Err(CheckError::Lost), "{lines}");
        assert_eq!(starts(folder.path()), 2, "{lines}");
    }
}

#[tokio::test]
async fn a_check_that_takes_too_long_fails_and_its_process_is_ended() {
    let folder = folder();
    let lines = "while true; do ask; case $line in *slow*) echo read > \"$1/read\";; *) answer;; esac; done";
    let worker = worker(folder.path(), lines);
    assert_eq!(ask(&worker, "a").await, NOTHING);
    let mut slow = Box::pin(ask(&worker, "slow"));
    assert!(futures_util::poll!(&mut slow).is_pending());
    tokio::task::yield_now().await;
    pause();
    advance(QUESTION_LIMIT).await;
    assert_eq!(slow.await, Err(CheckError::TooLong));
    is_given_back(&worker).await;
    resume();
    assert_eq!(ask(&worker, "b").await, NOTHING);
    assert_eq!(starts(folder.path()), 2);
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_any_more_holds_up_nobody() {
    let folder = folder();
    let worker = worker(folder.path(), ANSWERS);
    for _ in 0..2 * QUESTIONS_AT_A_TIME {
        let mut left = Box::pin(ask(&worker, "left"));
        assert!(futures_util::poll!(&mut left).is_pending());
    }
    assert_eq!(ask(&worker, "a").await, NOTHING);
    assert_eq!(starts(folder.path()), 1);
}

#[tokio::test]
async fn without_a_handle_there_is_no_process() {
    let folder = folder();
    let worker = worker(folder.path(), ANSWERS);
    assert_eq!(ask(&worker, "a").await, NOTHING);
    let mut process = worker.process_id.clone();
    drop(worker);
    // The task has ended the process and then itself.
    assert_eq!(process.wait_for(Option::is_none).await.map(|it| *it).ok(), Some(None));
}

#[tokio::test]
async fn what_cannot_be_started_is_reported_and_the_text_checked_here() {
    let command = WorkerCommand { program: "/nonexistent/copydesk".into(), arguments: vec![] };
    let worker = WorkerClient::start(command.clone());
    assert_eq!(ask(&worker, "a").await, Err(CheckError::NotStarted));
    let checker = super::super::grammar_checker::GrammarChecker::in_worker(command);
    let corrections = checker.check("They was late.".into()).await.expect("corrections");
    assert_eq!(corrections[0].right, "were");
}

#[tokio::test]
async fn a_worker_gets_nothing_of_the_environment() {
    let folder = folder();
    let lines = "env > \"$1/environment\"; while true; do ask; answer; done";
    let worker = worker(folder.path(), lines);
    assert_eq!(ask(&worker, "a").await, NOTHING);
    let environment = std::fs::read_to_string(folder.path().join("environment")).expect("a file");
    // The shell sets these by itself.
    let foreign: Vec<_> = environment
        .lines()
        .filter(|line| !["PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|it| line.starts_with(it)))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}
