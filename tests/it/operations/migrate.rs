//! Stories about moving everything between a data directory and PostgreSQL, about backups of both,
//! and about the way back from an upgrade.

use std::path::Path;
use std::process::Output;

use copydesk_document::Text;
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx_sqlite::SqliteConnectOptions;

use crate::support::{
    OWNER, Person, Request, Role, Script, Server, StoryDatabase, TestServer, copydesk_command,
    output_of,
};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// Runs a command that finds no database in its environment.
fn run(words: &[&str]) -> Output {
    let mut command = copydesk_command();
    command.args(words).env_remove("COPYDESK_DATABASE_URL").env_remove("COPYDESK_DATA");
    command.output().expect("the binary is built")
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the output of a command that has to succeed.
#[track_caller]
fn said(words: &[&str]) -> String {
    output_of(&run(words), 0).0
}

/// Returns the complaint of a command that has to fail.
#[track_caller]
fn refused(words: &[&str]) -> String {
    output_of(&run(words), 1).1
}

/// Returns the counts of `copydesk check`, which must find nothing wrong.
#[track_caller]
fn seen(place: &[&str]) -> Value {
    let report: Value =
        serde_json::from_str(&said(&[&["check", "--json"], place].concat())).unwrap();
    assert_eq!(report["findings"], json!([]), "{report}");
    report["seen"].clone()
}

/// Starts a server whose database is in its data directory, whatever else this story has.
fn in_directory(data: &Path) -> Server {
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    Server::start(data, &flags, &[("COPYDESK_DATABASE_URL".to_owned(), String::new())])
}

/// Data of Ana: her token, a document with a decided and an open request, and one in the trash.
struct AnasWork {
    token: String,
    session: String,
    document: String,
    open: String,
    deleted: String,
}

/// A server on SQLite on which Ana has worked.
fn worked_on() -> (TestServer, AnasWork) {
    let script = Script::default()
        .answering(
            "first",
            "update_full_document",
            &json!({"new_content": AFTER, "explanation": "x"}),
        )
        .answering(
            "second",
            "update_full_document",
            &json!({"new_content": BEFORE, "explanation": "x"}),
        )
        .closing("Done.");
    let copydesk = TestServer::plan().script(script).start_on(None);
    let token = copydesk.token("Ana", Role::Editor, &[]);
    let ana = Person::arrive(copydesk.url(), &token, "Ana");
    let deleted = ana.creates("Thrown away.\n");
    copydesk.owner().emit("document:delete", &json!({"documentId": deleted})).ok();
    let document = ana.creates(BEFORE);
    let run = ana.asks("first");
    ana.accepts_all(&ana.sees_request_of(&run));
    ana.answer(&run);
    let run = ana.asks("second");
    let open = ana.sees_request_of(&run).id().to_owned();
    ana.types(0, "x");
    let session = ana.session();
    (copydesk, AnasWork { token, session, document, open, deleted })
}

/// Ana finds her work at a server, and goes on with it.
fn goes_on(url: &str, work: &AnasWork, typed: &str) {
    let ana = Person::arrive(url, &work.token, "Ana");
    let opened = ana.opens(&work.document);
    assert_eq!(ana.text(), format!("{typed}{AFTER}"), "{opened}");
    let pending: Vec<Request> = ana.pending();
    assert!(pending.iter().any(|request| request.id() == work.open), "{pending:?}");
    let trash = Person::arrive(url, OWNER, "Owner").emit("trash:list", &json!({})).ok();
    assert!(trash.to_string().contains(&work.deleted), "{trash}");
    let history = ana.emit("document:history", &json!({"documentId": work.document})).ok();
    assert!(history["versions"].as_array().unwrap().len() >= 2, "{history}");
    let conversation = json!({"sessionId": work.session, "documentId": work.document});
    let transcript = ana.emit("transcript:get", &conversation).ok();
    assert!(transcript.to_string().contains("\"first\""), "{transcript}");
    ana.types(0, "y");
}

#[test]
fn a_server_moves_to_postgres_and_back_and_no_one_misses_anything() {
    let (mut copydesk, work) = worked_on();
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let (url, data) = (database.url(), text(&copydesk.data()));
    let running = refused(&["migrate", "--from", &data, "--to", &url]);
    assert!(running.contains("in use by another copydesk server"), "{running}");
    copydesk.stops();
    let message = said(&["migrate", "--from", &data, "--to", &url]);
    assert!(message.contains("which reads the same") && message.contains("  audit\n"), "{message}");
    let before = seen(&["--data", &data]);
    assert_eq!(seen(&["--database-url", &url]), before);
    assert!(before["requests"].as_u64().unwrap() >= 2, "{before}");
    let again = refused(&["migrate", "--from", &data, "--to", &url]);
    assert!(again.contains("there is already data in postgres://"), "{again}");

    let home = tempfile::tempdir().unwrap();
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    let mut server = Server::start(&home.path().join("data"), &flags, &[]);
    goes_on(&server.url, &work, "x");
    let back = text(&home.path().join("back"));
    let used = refused(&["migrate", "--from", &url, "--to", &back]);
    assert!(used.contains("in use by another copydesk server"), "{used}");
    server.stop();
    said(&["migrate", "--from", &url, "--to", &back]);
    assert_eq!(seen(&["--data", &back]), seen(&["--database-url", &url]));
    let server = in_directory(Path::new(&back));
    goes_on(&server.url, &work, "yx");
    drop(database);
}

#[test]
fn a_migration_says_what_is_wrong_and_never_a_password() {
    let home = tempfile::tempdir().unwrap();
    let nowhere = text(&home.path().join("nowhere"));
    let target = text(&home.path().join("target"));
    let none = refused(&["migrate", "--from", &nowhere, "--to", &target]);
    assert!(none.contains("there is no copydesk data in"), "{none}");
    assert!(!Path::new(&nowhere).exists() && !Path::new(&target).exists());
    for wrong in ["postgres://anna:hunter2@127.0.0.1:1/desk", "postgresql://anna:hunter2@h:x/desk"]
    {
        let message = refused(&["migrate", "--from", wrong, "--to", &target]);
        assert!(!message.contains("hunter2"), "{message}");
    }
    output_of(&run(&["migrate", "--from", &nowhere]), 2);
}

#[test]
fn no_server_starts_on_a_copy_that_was_interrupted() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("copydesk.sqlite.incomplete"), "half").unwrap();
    let flags = ["--model", "harper"].map(str::to_owned);
    let empty = [("COPYDESK_DATABASE_URL".to_owned(), String::new())];
    let refused = Server::try_start(&data, &flags, &empty).err().expect("it is refused");
    assert!(refused.contains("was interrupted, so it is not complete"), "{refused}");
    let checked = run(&["check", "--data", &text(&data)]);
    let (_, complaint) = output_of(&checked, 2);
    assert!(complaint.contains("was interrupted"), "{complaint}");
    // The same command makes it anew.
    let (mut copydesk, work) = worked_on();
    copydesk.stops();
    said(&["migrate", "--from", &text(&copydesk.data()), "--to", &text(&data)]);
    assert!(!data.join("copydesk.sqlite.incomplete").exists());
    goes_on(&in_directory(&data).url, &work, "x");
}

#[test]
fn a_backup_of_postgres_is_made_while_servers_run_and_restores_into_either() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let url = database.url();
    let first = TestServer::plan().flags(&["--cluster"]).start_on(Some(database));
    let second = first.another_node();
    let token = first.token("Ben", Role::Editor, &[]);
    let ben = Person::arrive(&second.url, &token, "Ben");
    let document = ben.creates("Dear reader,\n");
    ben.types(0, "y");
    let home = tempfile::tempdir().unwrap();
    let file = text(&home.path().join("backup.sqlite"));
    let made = said(&["backup", "--database-url", &url, "--out", &file]);
    assert!(made.starts_with(&file), "{made}");
    let twice = refused(&["backup", "--database-url", &url, "--out", &file]);
    assert!(twice.contains("cannot back up into"), "{twice}");
    ben.types(0, "z");
    let full = refused(&["restore", "--from", &file, "--database-url", &url]);
    assert!(full.contains("in use") || full.contains("already data"), "{full}");

    let data = text(&home.path().join("restored"));
    said(&["restore", "--from", &file, "--data", &data]);
    let Some(other) = StoryDatabase::on_postgres() else { return };
    let into = other.url();
    let message = said(&["restore", "--from", &file, "--database-url", &into]);
    assert!(message.contains("restored into postgres://"), "{message}");
    let counted = seen(&["--data", &data]);
    assert_eq!(seen(&["--database-url", &into]), counted);
    let server = in_directory(Path::new(&data));
    let back = Person::arrive(&server.url, &token, "Ben");
    back.opens(&document);
    assert_eq!(back.text(), "yDear reader,\n", "it is of the moment of the backup");
}

/// Runs statements on the database of a data directory, as a newer version would.
fn changes(data: &Path, sql: &'static str) {
    let work = async {
        let options = SqliteConnectOptions::new().filename(data.join("copydesk.sqlite"));
        let mut database = options.foreign_keys(false).connect().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}

/// A newer version has migrated the data. This one refuses it, and goes on with the backup that was
/// made before.
#[test]
fn an_upgrade_is_undone_with_the_backup_that_was_made_before_it() {
    let (mut copydesk, work) = worked_on();
    let data = copydesk.data();
    let home = tempfile::tempdir().unwrap();
    let file = text(&home.path().join("before-upgrade.sqlite"));
    said(&["backup", "--data", &text(&data), "--out", &file]);
    copydesk.stops();
    changes(
        &data,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'of a newer version', TRUE, x'00', 0)",
    );
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    let empty = [("COPYDESK_DATABASE_URL".to_owned(), String::new())];
    let refused_start = Server::try_start(&data, &flags, &empty).err().expect("it is refused");
    assert!(refused_start.contains("newer version"), "{refused_start}");
    let words = ["backup", "--data", &text(&data), "--out", &text(&home.path().join("new.sqlite"))];
    assert!(refused(&words).contains("9999"));
    let message = said(&["restore", "--from", &file, "--data", &text(&data), "--replace"]);
    assert!(message.contains("what was there before is in"), "{message}");
    copydesk.starts();
    goes_on(copydesk.url(), &work, "x");
}

/// The data of an older backup grows past the version of a page that was away.
#[test]
fn a_page_can_tell_that_the_restored_text_at_its_version_is_another() {
    let (mut copydesk, work) = worked_on();
    let data = text(&copydesk.data());
    let home = tempfile::tempdir().unwrap();
    let file = text(&home.path().join("backup.sqlite"));
    said(&["backup", "--data", &data, "--out", &file]);
    let page = Person::arrive(copydesk.url(), &work.token, "Ana");
    page.opens(&work.document);
    let version = page.types(0, "1 ");
    let before = page.text();
    copydesk.stops();
    said(&["restore", "--from", &file, "--data", &data, "--replace"]);
    copydesk.starts();
    let other = Person::arrive(copydesk.url(), &work.token, "Ana");
    other.opens(&work.document);
    let back = Person::arrive(copydesk.url(), &work.token, "Ana");
    for (newer, typed) in ["2 ", "3 "].into_iter().enumerate() {
        other.types(0, typed);
        for (event, field) in [("document:open", "since"), ("document:resync", "version")] {
            let payload = json!({"documentId": work.document, field: version});
            let answer = back.emit(event, &payload).ok();
            assert_eq!(answer["version"], version + newer as u64);
            assert_eq!(answer["updates"].as_array().map(Vec::len), Some(newer), "{answer}");
            assert_eq!(answer["hash"], Text::new(&other.text()).hash());
            // As the updates leave the text of the page.
            let page = format!("{}{before}", "3 ".repeat(newer));
            assert_ne!(answer["hash"], Text::new(&page).hash(), "{page}");
        }
    }
}

/// A backup that an older version made is brought up to date, also in PostgreSQL.
#[test]
fn a_backup_of_an_older_version_restores_into_postgres() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("copydesk.sqlite");
    let work = async {
        let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
        let mut database = options.foreign_keys(false).connect().await.unwrap();
        let sql = include_str!("../../../fixtures/data/before-budgets.sql");
        sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    let before = std::fs::read(&file).unwrap();
    let url = database.url();
    said(&["restore", "--from", &text(&file), "--database-url", &url]);
    assert!(seen(&["--database-url", &url])["documents"].as_u64().unwrap() >= 2);
    assert_eq!(std::fs::read(&file).unwrap(), before, "the backup stays as it is");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// Runs a command that dies at this failpoint.
#[track_caller]
fn killed_at(place: &str, words: &[&str]) {
    let mut command = copydesk_command();
    command.args(words).env("COPYDESK_FAILPOINTS", place);
    command.env_remove("COPYDESK_DATABASE_URL").env_remove("COPYDESK_DATA");
    let output = command.output().expect("the binary is built");
    assert_eq!(output.status.code(), None, "{place}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the complaint of a server that does not start on the database of this story.
fn no_server_starts(home: &Path) -> String {
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    Server::try_start(&home.join("data"), &flags, &[]).err().expect("it is refused")
}

#[test]
fn a_migration_that_is_killed_leaves_nothing_that_a_server_takes_for_a_new_database() {
    let (mut copydesk, work) = worked_on();
    copydesk.stops();
    let (home, from) = (tempfile::tempdir().unwrap(), text(&copydesk.data()));
    let file = text(&home.path().join("backup.sqlite"));
    let before = seen(&["--data", &from]);
    for place in ["transfer.tables", "transfer.marked", "transfer.copied"] {
        let Some(database) = StoryDatabase::on_postgres() else { return };
        let url = database.url();
        let migrate = ["migrate", "--from", &from, "--to", &url];
        killed_at(place, &migrate);
        let (_, checked) = output_of(&run(&["check", "--database-url", &url]), 2);
        if place == "transfer.tables" {
            // Not even a table.
            assert!(checked.contains("there is no copydesk data in"), "{checked}");
        } else {
            assert!(checked.contains("was interrupted"), "{place}: {checked}");
            let start = no_server_starts(home.path());
            assert!(start.contains("run the same `copydesk migrate`"), "{place}: {start}");
            let backup = refused(&["backup", "--database-url", &url, "--out", &file]);
            assert!(backup.contains("was interrupted"), "{place}: {backup}");
            let onwards = text(&home.path().join("onwards"));
            let onwards = refused(&["migrate", "--from", &url, "--to", &onwards]);
            assert!(onwards.contains("was interrupted"), "{place}: {onwards}");
        }
        let message = said(&migrate);
        let is_anew = message.contains("an earlier copy into postgres://");
        assert_eq!(is_anew, place != "transfer.tables", "{message}");
        assert_eq!(seen(&["--database-url", &url]), before);
    }
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let url = database.url();
    killed_at("transfer.committed", &["migrate", "--from", &from, "--to", &url]);
    assert_eq!(seen(&["--database-url", &url]), before, "it was complete");
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    let server = Server::start(&home.path().join("data"), &flags, &[]);
    goes_on(&server.url, &work, "x");
}

#[test]
fn a_restore_over_a_database_leaves_the_old_data_or_the_new_whenever_it_is_killed() {
    let (mut copydesk, work) = worked_on();
    let home = tempfile::tempdir().unwrap();
    let file = text(&home.path().join("backup.sqlite"));
    said(&["backup", "--data", &text(&copydesk.data()), "--out", &file]);
    copydesk.stops();
    let restored = text(&home.path().join("restored"));
    said(&["restore", "--from", &file, "--data", &restored]);
    let new = seen(&["--data", &restored]);

    let Some(database) = StoryDatabase::on_postgres() else { return };
    let (url, data) = (database.url(), home.path().join("data"));
    let flags = ["--model", "harper", "--token", OWNER].map(str::to_owned);
    let mut server = Server::start(&data, &flags, &[]);
    let document = Person::arrive(&server.url, OWNER, "Owner").creates("Written before.\n");
    let replace = ["restore", "--from", &file, "--database-url", &url, "--replace"];
    let used = refused(&replace);
    assert!(used.contains("in use by another copydesk server"), "{used}");
    server.stop();
    let old = seen(&["--database-url", &url]);
    let full = refused(&replace[..replace.len() - 1]);
    assert!(full.contains("already data") && full.contains("--replace"), "{full}");
    for place in ["transfer.set_aside", "transfer.copied"] {
        killed_at(place, &replace);
        assert_eq!(seen(&["--database-url", &url]), old, "{place}");
        let mut server = Server::start(&data, &flags, &[]);
        let owner = Person::arrive(&server.url, OWNER, "Owner");
        owner.opens(&document);
        assert_eq!(owner.text(), "Written before.\n", "{place}");
        server.stop();
    }
    killed_at("transfer.committed", &replace);
    assert_eq!(seen(&["--database-url", &url]), new);
    let message = said(&replace);
    let schema =
        message.split_once("what was there before is in the schema ").expect("it says so").1;
    let schema = schema.lines().next().unwrap();
    let server = Server::start(&data, &flags, &[]);
    goes_on(&server.url, &work, "x");

    // What was set aside can be read where it is.
    let mut check = copydesk_command();
    check.args(["check", "--json", "--database-url", &url]);
    check.env("PGOPTIONS", format!("-c search_path={schema}"));
    let report: Value = serde_json::from_str(&output_of(&check.output().unwrap(), 0).0).unwrap();
    assert_eq!(report["seen"], new, "it is what the restore before has made");
}
