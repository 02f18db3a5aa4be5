//! Data directories that an older server left behind open, and work goes on in them.

use serde_json::json;
use sqlx::ConnectOptions as _;
use sqlx_sqlite::SqliteConnectOptions;

use crate::support::{OWNER, RestClient, TestServer};

/// Database of the server at commit `e6d6a2e`, as SQL. Later migrations are applied when it opens.
const BEFORE_BUDGETS: &str = include_str!("../../fixtures/data/before-budgets.sql");
const TEXT: &str = "He could of slept. It were late.";
const DECIDED: (&str, &str) =
    ("doc_01a20edbbe9f71bf9b669a61418ad94e", "req_01a20edbbecf766bbd25514638977520");
const WAITING: (&str, &str) =
    ("doc_01a20edbbec070cf93f3b559334c4ee4", "req_01a20edbbf44707192327b5458a9e73d");

/// Starts a server on the data of an older one.
fn server_on(sql: &'static str) -> TestServer {
    let mut copydesk =
        TestServer::plan().on_sqlite("it looks into the file of the database").start();
    copydesk.stops();
    let database = copydesk.data().join("copydesk.sqlite");
    for end in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{end}", database.display())).ok();
    }
    let work = async {
        let options = SqliteConnectOptions::new().filename(&database).create_if_missing(true);
        let mut database = options.foreign_keys(false).connect().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    copydesk.starts();
    copydesk
}

#[test]
fn documents_and_requests_of_an_older_server_are_read_and_decided() {
    let copydesk = server_on(BEFORE_BUDGETS);
    let owner = RestClient::new(&copydesk, OWNER);

    let decided = owner.gets(&format!("documents/{}", DECIDED.0)).ok();
    assert_eq!(decided["title"], "Decided in part");
    assert_eq!(decided["text"], TEXT.replace("of slept", "have slept"));
    let waiting = owner.gets(&format!("documents/{}", WAITING.0)).ok();
    assert_eq!((&waiting["title"], &waiting["text"]), (&json!("Waiting"), &json!(TEXT)));

    let in_part = owner.gets(&format!("requests/{}", DECIDED.1)).ok();
    let hunk_statuses = [&in_part["hunks"][0]["status"], &in_part["hunks"][1]["status"]];
    assert_eq!(hunk_statuses, ["accepted", "pending"]);
    let rules = owner.gets("rules").ok();
    assert_eq!(rules["rules"][0]["tool"], "find_and_replace");
    let tokens = owner.gets("tokens").ok();
    assert!(tokens.to_string().contains("\"Rex\""), "{tokens}");

    let decision = json!({"request_id": WAITING.1, "approved": true});
    owner.posts(&format!("requests/{}/decision", WAITING.1), &decision).ok();
    let after = owner.gets(&format!("documents/{}", WAITING.0)).ok();
    assert_eq!(after["text"], "He could have slept. It was late.");
}
