//! Ends of runs that cannot be stored: no one is notified before they are, and then once.

use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx_sqlite::SqliteConnectOptions;

use crate::support::{Person, RestClient, Script, TestServer, found};

/// Lets the database refuse the ends of runs, as a full disk does.
const REFUSE_ENDS: &str = "CREATE TRIGGER full BEFORE UPDATE ON runs
    WHEN new.finished_ms IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
/// Lets it store them again.
const STORE_ENDS: &str = "DROP TRIGGER full";

/// A server with a model that talks, and Ana in a document.
fn test_server() -> (TestServer, Person) {
    let copydesk =
        TestServer::plan().script(Script::talking()).on_sqlite("it changes the database").start();
    let ana = copydesk.editor("Ana");
    ana.creates("One sentence.\n");
    (copydesk, ana)
}

fn execute(copydesk: &TestServer, statement: &'static str) {
    let file = copydesk.data().join("copydesk.sqlite");
    let work = async {
        let mut database = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
        sqlx::raw_sql(statement).execute(&mut database).await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}

/// Waits until the server has said that it could not store the end of a run.
fn end_is_refused(copydesk: &TestServer) {
    found(|| {
        let said = copydesk.complaints();
        if said.contains("cannot store the end of a run") { Ok(()) } else { Err(said) }
    });
}

/// Returns how often a person was sent the `result` of a run, and its `claudeResponse`.
fn endings(person: &Person, run: &str) -> (usize, usize) {
    let of_run = |event: &str, fits: fn(&Value) -> bool| {
        let all = person.saw(event).into_iter();
        all.filter(|it| it["requestId"] == run && fits(it)).count()
    };
    (of_run("agent_event", |it| it["type"] == "result"), of_run("claudeResponse", |_| true))
}

fn state(copydesk: &TestServer, ana: &Person, run: &str) -> Value {
    let program = RestClient::new(copydesk, &ana.token);
    program.gets(&format!("sessions/{}/runs/{run}?wait=30", ana.session())).ok()["state"].clone()
}

#[test]
fn an_end_that_cannot_be_stored_is_told_once_it_is() {
    let (mut copydesk, ana) = test_server();
    execute(&copydesk, REFUSE_ENDS);
    let run = ana.asks("Talk to me");
    let next = ana.asks("And then?");
    end_is_refused(&copydesk);
    assert_eq!(endings(&ana, &run), (0, 0), "no one is sent what a restart would undo");
    execute(&copydesk, STORE_ENDS);
    assert_eq!(ana.answer(&run)["conversationMessage"], "I see.");
    assert_eq!(ana.answer(&next)["conversationMessage"], "I see.");
    assert_eq!(state(&copydesk, &ana, &run), "success");
    assert_eq!((endings(&ana, &run), endings(&ana, &next)), ((1, 1), (1, 1)));
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    back.opens_again();
    assert_eq!(state(&copydesk, &back, &run), "success");
    assert_eq!(endings(&back, &run), (0, 0), "a run that is over is not resumed");
}

#[test]
fn a_run_whose_end_could_not_be_stored_before_a_stop_ends_once_after_it() {
    let (mut copydesk, ana) = test_server();
    execute(&copydesk, REFUSE_ENDS);
    let run = ana.asks("Talk to me");
    end_is_refused(&copydesk);
    assert!(copydesk.stops().success(), "{}", copydesk.complaints());
    assert_eq!(ana.heard("claudeResponse"), [] as [Value; 0]);
    execute(&copydesk, STORE_ENDS);
    copydesk.starts();
    let back = ana.comes_back(&copydesk);
    back.opens_again();
    assert_eq!(back.answer(&run)["conversationMessage"], "I see.");
    assert_eq!(endings(&back, &run), (1, 1));
}

#[test]
fn a_person_who_cancels_does_not_wait_for_an_end_that_cannot_be_stored() {
    let (copydesk, ana) = test_server();
    execute(&copydesk, REFUSE_ENDS);
    let run = ana.asks("Talk to me");
    end_is_refused(&copydesk);
    let next = ana.asks("And then?");
    ana.emit("cancel", &json!({"requestId": next})).ok();
    execute(&copydesk, STORE_ENDS);
    ana.answer(&run);
    assert_eq!(ana.answer(&next)["error"]["code"], "cancelled");
    assert_eq!((endings(&ana, &run), endings(&ana, &next)), ((1, 1), (1, 1)));
}
