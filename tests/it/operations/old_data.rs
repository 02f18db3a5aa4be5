//! Data directories that an older server left behind open, and work goes on in them.

use serde_json::json;
use sqlx::ConnectOptions as _;
use sqlx_sqlite::SqliteConnectOptions;

use crate::support::{OWNER, RestClient, TestServer};

/// Database of the server at commit `e6d6a2e`, as SQL. Later migrations are applied when it opens.
const BEFORE_BUDGETS: &str = include_str!("../../../fixtures/data/before-budgets.sql");
/// Database of the server at commit `dbfed5a`, as a kill left it: typed updates are in a journal
/// beside it.
const BEFORE_PENDING_UPDATES: &str =
    include_str!("../../../fixtures/data/before-pending-updates.sql");
const JOURNAL: &[u8] = include_bytes!("../../../fixtures/data/before-pending-updates.journal");
/// Size of the file of that journal, in bytes.
const JOURNAL_SIZE: usize = 1 << 20;
/// Database of the server at commit `30a76c7`, as a kill left it: typed updates are in a table of
/// their own. Data of this state and later ones open for ever.
const BEFORE_FIRST_RELEASE: &str = include_str!("../../../fixtures/data/before-first-release.sql");
/// Database of a server with comments, as a kill left it.
const WITH_COMMENTS: &str = include_str!("../../../fixtures/data/with-comments.sql");
const TEXT: &str = "He could of slept. It were late.";
const DECIDED: (&str, &str) =
    ("doc_01a20edbbe9f71bf9b669a61418ad94e", "req_01a20edbbecf766bbd25514638977520");
const WAITING: (&str, &str) =
    ("doc_01a20edbbec070cf93f3b559334c4ee4", "req_01a20edbbf44707192327b5458a9e73d");

/// Starts a server on the data of an older one, which may have a journal beside its database.
fn server_on(sql: &'static str, journal: Option<&[u8]>) -> TestServer {
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
    if let Some(journal) = journal {
        let mut journal = journal.to_vec();
        journal.resize(JOURNAL_SIZE, 0);
        std::fs::write(copydesk.data().join("copydesk.sqlite-updates"), journal).unwrap();
    }
    copydesk.starts();
    copydesk
}

fn text_of(copydesk: &TestServer, document: &str) -> String {
    let read = RestClient::new(copydesk, OWNER).gets(&format!("documents/{document}")).ok();
    read["text"].as_str().unwrap().to_owned()
}

/// The owner types into the documents, the server is killed, and nothing is lost or wrong.
fn people_go_on_writing(mut copydesk: TestServer, documents: &[&str]) {
    let before: Vec<_> = documents.iter().map(|it| text_of(&copydesk, it)).collect();
    let owner = copydesk.owner();
    for document in documents {
        owner.opens(document);
        owner.types(0, "New words. ");
    }
    copydesk.is_killed_and_restarted();
    for (document, before) in documents.iter().zip(before) {
        assert_eq!(text_of(&copydesk, document), format!("New words. {before}"));
    }
    copydesk.checks_its_data();
}

#[test]
fn documents_and_requests_of_an_older_server_are_read_and_decided() {
    let copydesk = server_on(BEFORE_BUDGETS, None);
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
    people_go_on_writing(copydesk, &[DECIDED.0, WAITING.0]);
}

#[test]
fn words_in_the_journal_of_an_older_server_are_read_and_written_on() {
    let copydesk = server_on(BEFORE_PENDING_UPDATES, Some(JOURNAL));
    let list = RestClient::new(&copydesk, OWNER).gets("documents").ok();
    let named = |title: &str| {
        let mut documents = list["documents"].as_array().unwrap().iter();
        documents.find(|it| it["title"] == title).unwrap()["id"].as_str().unwrap()
    };
    let (one, two) = (named("One"), named("Two"));
    let waiting = " Waiting 0 “é”. Waiting 1 “é”. Waiting 2 “é”.";
    for document in [one, two] {
        let text = text_of(&copydesk, document);
        assert!(text.ends_with(waiting), "{text}");
    }
    people_go_on_writing(copydesk, &[one, two]);
}

#[test]
fn data_of_the_state_before_the_first_release_are_read_decided_and_written_on() {
    let copydesk = server_on(BEFORE_FIRST_RELEASE, None);
    let owner = RestClient::new(&copydesk, OWNER);
    let decided = "doc_01a220764bf071f5af5ecf5de6d49c60";
    assert_eq!(text_of(&copydesk, decided), TEXT.replace("of slept", "have slept"));
    let typed = "doc_01a22076b8577356ab8e455c45ccf089";
    let added = " Typed 0 “é” 😀. Typed 1 “é” 😀. Typed 2 “é” 😀.";
    assert_eq!(text_of(&copydesk, typed), format!("{TEXT}{added}"));

    let waiting = "doc_01a22076b119740589d8f724d1aa3d33";
    let request = "req_01a22076b5dd77b494f2881c998b3a84";
    let decision = json!({"request_id": request, "approved": true});
    owner.posts(&format!("requests/{request}/decision"), &decision).ok();
    assert_eq!(text_of(&copydesk, waiting), "He could have slept. It was late.");
    assert_eq!(owner.gets("rules").ok()["rules"][0]["effect"], "ask");
    assert_eq!(owner.gets("spending").ok()["personLimitUsd"], 20.0);
    people_go_on_writing(copydesk, &[decided, waiting, typed]);
}

#[test]
fn comments_of_an_older_server_are_where_they_were_and_answered() {
    let copydesk = server_on(WITH_COMMENTS, None);
    let owner = RestClient::new(&copydesk, OWNER);
    let list = owner.gets("documents").ok();
    let document = list["documents"][0]["id"].as_str().unwrap();
    let text = text_of(&copydesk, document);
    assert_eq!(text, "Really. He could of dreamt.");
    let comments = owner.gets(&format!("documents/{document}/comments")).ok();
    let threads = comments["threads"].as_array().unwrap();
    let found: Vec<_> = threads.iter().map(|it| (&it["quote"], &it["status"])).collect();
    let of = |quote: &str, status: &str| (json!(quote), json!(status));
    let expected = [of("", "open"), of("late", "orphaned"), of("slept", "resolved")];
    assert!(found.iter().copied().eq(expected.iter().map(|(a, b)| (a, b))), "{found:?}");
    let at = |edge: &str| usize::try_from(threads[2]["anchor"][edge].as_u64().unwrap()).unwrap();
    assert_eq!(&text[at("from")..at("to")], "dreamt");
    assert_eq!(threads[0]["comments"].as_array().unwrap().len(), 2);
    assert_eq!(comments["unread"], json!([threads[0]["id"]]));
    let thread = format!("comments/{}", threads[1]["id"].as_str().unwrap());
    owner.posts(&thread, &json!({"text": "Gone."})).ok();
    people_go_on_writing(copydesk, &[document]);
}
