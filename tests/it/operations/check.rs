//! `copydesk check`: each thing that can be damaged is damaged, and named.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use sqlx_sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;

use crate::support::{Person, Script, TestServer, copydesk_command};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";
/// Statements by which a database shell can change a log at all.
const UNGUARD: &str = "DROP TRIGGER audit_stays; DROP TRIGGER audit_remains; DROP TRIGGER updates_stay; \
    DROP TRIGGER updates_remain; DROP TRIGGER decisions_stay; DROP TRIGGER decisions_remain; \
    DROP TRIGGER placements_stay; DROP TRIGGER placements_remain; PRAGMA foreign_keys = OFF; \
    DROP TRIGGER updates_stay_in_view; DROP TRIGGER updates_remain_in_view; \
    CREATE TRIGGER updates_change INSTEAD OF UPDATE ON updates BEGIN \
        INSERT INTO names (name) VALUES (NEW.author) ON CONFLICT (name) DO NOTHING; \
        UPDATE update_log SET changes = NEW.changes, at_ms = NEW.at_ms, origin = NEW.origin, \
            author = (SELECT number FROM names WHERE name = NEW.author) \
            WHERE document = (SELECT number FROM names WHERE name = OLD.document) \
                AND version = OLD.version; \
    END; \
    CREATE TRIGGER updates_go INSTEAD OF DELETE ON updates BEGIN \
        DELETE FROM update_log WHERE version = OLD.version \
            AND document = (SELECT number FROM names WHERE name = OLD.document); \
    END;";

/// Ana and Bo write, Ana has asked for three changes, one is accepted, one rejected, one is open.
/// Bo has begun a thread of comments.
fn busy_server() -> (TestServer, Person, Person) {
    let copydesk = TestServer::plan()
        .script(Script::rewriting(AFTER))
        .on_sqlite("it looks into the file of the database")
        .start();
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    bo.opens(&ana.creates(BEFORE));
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    bo.sees_request();
    ana.types(0, "So: ");
    bo.accepts(&request, &[1]);
    ana.rejects_some(&request, &[2], "It is how he speaks.");
    bo.comes_to_version(2);
    bo.types(0, "And ");
    let wish = json!({"documentId": bo.document(), "from": 0, "to": 3, "text": "Why?"});
    bo.emit("comment:create", &wish).ok();
    (copydesk, ana, bo)
}

/// The data such a server leaves behind; made once, copied for each story.
fn data() -> (TempDir, PathBuf) {
    static LEFT: OnceLock<TempDir> = OnceLock::new();
    copy_of(LEFT.get_or_init(|| {
        let (copydesk, ana, bo) = busy_server();
        drop((ana, bo));
        left_by(copydesk)
    }))
}

/// The data that a server leaves behind when it stops.
pub fn left_by(mut copydesk: TestServer) -> TempDir {
    let kept = tempfile::tempdir().unwrap();
    copydesk.stops();
    copy(&copydesk.data(), kept.path());
    kept
}

/// A copy to be damaged.
pub fn copy_of(left: &TempDir) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    copy(left.path(), &data);
    (directory, data)
}

fn copy(from: &Path, to: &Path) {
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Changes the database as a person with the file and a database shell would.
fn tamper(data: &Path, statement: &str) {
    tamper_only(data, &format!("{UNGUARD} {statement}"));
}

/// The same, with the triggers that are there.
fn tamper_only(data: &Path, script: &str) {
    tamper_file(&data.join("copydesk.sqlite"), script);
}

/// The same to a file that is a database.
pub fn tamper_file(file: &Path, script: &str) {
    in_database(file, async |database| {
        let script = sqlx::AssertSqlSafe(script.to_owned());
        sqlx::raw_sql(script).execute(database).await.unwrap();
    });
}

/// Number that a query gives.
fn counted(data: &Path, query: &'static str) -> i64 {
    in_database(&data.join("copydesk.sqlite"), async |database| {
        sqlx::query_scalar(query).fetch_one(database).await.unwrap()
    })
}

fn in_database<T>(file: &Path, work: impl AsyncFnOnce(&mut SqliteConnection) -> T) -> T {
    let work = async {
        let options = SqliteConnectOptions::new().filename(file);
        work(&mut options.connect().await.unwrap()).await
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// `copydesk check --json`: its exit code and what it found, without what [`UNGUARD`] has done to
/// the triggers.
pub fn check(data: &Path) -> (i32, Vec<Value>) {
    let output = copydesk_command().args(["check", "--json", "--data"]).arg(data).output().unwrap();
    let code = output.status.code().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let found = report["findings"].as_array().cloned().unwrap_or_default();
    let of_triggers = ["database.guard", "database.schema"];
    let is_other = |it: &Value| !of_triggers.iter().any(|code| it["code"] == *code);
    (code, found.into_iter().filter(is_other).collect())
}

/// The story fails unless this damage, done to data that was fine, is found under this code, with
/// these words.
#[track_caller]
fn is_found(statement: &str, code: &str, words: &str) {
    let (_directory, data) = data();
    is_found_in(&data, statement, code, words);
}

/// The same for other data.
#[track_caller]
pub fn is_found_in(data: &Path, statement: &str, code: &str, words: &str) {
    tamper(data, statement);
    let (status, found) = check(data);
    assert_eq!(status, 1, "{statement}");
    let says = |it: &Value| {
        let text = format!("{} {}", it["subject"], it["message"]);
        it["code"] == code && text.contains(words)
    };
    assert!(found.iter().any(says), "{statement}: {code} {words:?} is not in {found:#?}");
}

#[test]
fn a_server_where_people_worked_is_fine() {
    let (_directory, data) = data();
    assert_eq!(check(&data), (0, vec![]));
    let said = copydesk_command().args(["check", "--data"]).arg(&data).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    // The sample, theirs, and the workspace inbox, which keeps its requests like a document.
    assert_eq!(said, "nothing wrong in 3 documents, 3 updates, 1 request, 0 rules, 1 thread\n");
}

#[test]
fn it_looks_while_the_server_runs_and_after_it_was_killed() {
    let (mut copydesk, ana, _bo) = busy_server();
    assert_eq!(check(&copydesk.data()), (0, vec![]));
    ana.types(0, "Now ");
    copydesk.is_killed_and_restarted();
    assert_eq!(check(&copydesk.data()), (0, vec![]));
}

#[test]
fn it_reads_what_is_pending_after_a_crash_and_finds_damage_there() {
    let (mut copydesk, ana, bo) = busy_server();
    ana.comes_to_version(3);
    for _ in 0..3 {
        ana.types(0, "Now ");
    }
    drop((ana, bo));
    copydesk.is_killed();
    let data = copydesk.data();
    let output = copydesk_command().args(["check", "--data"]).arg(&data).output().unwrap();
    let words = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.code() == Some(0) && words.contains(" 6 updates"), "{words}");
    let pending = "SELECT COUNT(*) FROM pending_updates";
    assert!(counted(&data, pending) > 0, "the story needs something that is pending");
    tamper_only(&data, "UPDATE pending_updates SET body = replace(body, 'Now', 'N\"w')");
    let (status, found) = check(&data);
    assert!(status != 0, "{found:?}");
    let mut serve = copydesk_command();
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    let refused = serve.output().unwrap();
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && words.contains("JSON"), "{words}");
    // Nothing was lost but the damage.
    tamper_only(&data, "DELETE FROM pending_updates");
    copydesk.starts();
}

#[test]
fn what_is_not_copydesks_is_found_in_the_schema() {
    let (_directory, data) = data();
    for statement in [
        "CREATE TRIGGER owned AFTER INSERT ON tokens BEGIN UPDATE documents SET title = 'OWNED'; END",
        "CREATE TABLE notes (text TEXT)",
        "CREATE INDEX quicker ON documents (title)",
        "CREATE VIEW titles AS SELECT title FROM documents",
    ] {
        tamper_only(&data, statement);
        let output =
            copydesk_command().args(["check", "--json", "--data"]).arg(&data).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = statement.split_whitespace().nth(2).unwrap();
        let is_named = |it: &Value| {
            it["code"] == "database.schema" && it["message"].as_str().unwrap().contains(name)
        };
        assert!(
            report["findings"].as_array().unwrap().iter().any(is_named),
            "{statement} {report}"
        );
    }
}

#[test]
fn it_changes_nothing() {
    let (_directory, data) = data();
    let before = std::fs::read(data.join("copydesk.sqlite")).unwrap();
    check(&data);
    assert!(std::fs::read(data.join("copydesk.sqlite")).unwrap() == before);
}

#[test]
fn data_that_cannot_be_read_ends_with_two() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(check(directory.path()).0, 2, "nothing is there");
    std::fs::write(directory.path().join("copydesk.sqlite"), "no database at all").unwrap();
    assert_eq!(check(directory.path()).0, 2, "no database");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn a_damaged_page_is_found() {
    let (_directory, data) = data();
    let file = data.join("copydesk.sqlite");
    let mut bytes = std::fs::read(&file).unwrap();
    let page = bytes.len() / 4096 / 2 * 4096;
    bytes[page..page + 4096].fill(0xa5);
    std::fs::write(&file, bytes).unwrap();
    let (status, found) = check(&data);
    assert!(status == 1 && !found.is_empty() || status == 2, "{status} {found:?}");
}

#[test]
fn a_changed_audit_line_is_found() {
    is_found(
        "UPDATE audit SET actor = 'usr_eve' WHERE seq = 3",
        "audit.chain",
        "its content does not match its hash",
    );
    is_found("UPDATE audit SET detail = 'no json' WHERE seq = 3", "audit.chain", "cannot be read");
}

#[test]
fn a_deleted_audit_line_is_found() {
    is_found("DELETE FROM audit WHERE seq = 3", "audit.chain", "line 3 is missing");
}

#[test]
fn two_swapped_audit_lines_are_found() {
    let swap = "UPDATE audit SET seq = -1 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = -1";
    is_found(swap, "audit.chain", "audit line 3");
    is_found(swap, "audit.chain", "audit line 4");
}

#[test]
fn an_audit_log_that_was_cut_off_is_found() {
    let cut = "DELETE FROM audit WHERE seq > 4";
    is_found(cut, "audit.chain", "the log ends here, but it is known to reach to line");
    is_found("DELETE FROM audit", "audit.chain", "the log ends here");
}

#[test]
fn a_decision_that_the_audit_log_does_not_know_is_found() {
    let more = "INSERT INTO decisions (request, user_id, name, at_ms, body) SELECT request, user_id, name, at_ms, body FROM decisions LIMIT 1";
    is_found(more, "audit.decisions", "3 decisions were taken, the audit log accounts for 2");
    is_found("DELETE FROM decisions", "request.decision", "no decision by usr_");
}

#[test]
fn a_decision_that_the_audit_log_tells_otherwise_is_found() {
    for (statement, words) in [
        ("UPDATE decisions SET user_id = 'usr_eve' WHERE seq = 1", "decided by somebody else"),
        ("UPDATE decisions SET at_ms = 5 WHERE seq = 1", "decided at another time"),
        (
            "UPDATE decisions SET body = replace(body, '\"accept\"', '\"reject\"') WHERE seq = 1",
            "decided otherwise",
        ),
        (
            "UPDATE decisions SET body = replace(body, 'how he speaks', 'how I speak')",
            "decided otherwise",
        ),
    ] {
        is_found(statement, "audit.decision", words);
    }
}

#[test]
fn a_request_that_the_audit_log_tells_otherwise_is_found() {
    let set = |what: &str| format!("UPDATE requests SET body = json_set(body, {what})");
    for (what, words) in [
        ("'$.requester.user', 'usr_eve'", "asked for it"),
        ("'$.hunks[0].decided.text', 'x'", "another text was put there"),
        ("'$.hunks[0].decided.at_ms', 5", "decided it then"),
        ("'$.hunks[0].decided.rule', 'rul_x'", "names another rule"),
        ("'$.remarks[0].feedback', 'Well done.'", "is said to have remarked"),
        ("'$.remarks', json('[]')", "has a remark that is gone"),
    ] {
        is_found(&set(what), "audit.request", words);
    }
}

#[test]
fn an_end_that_the_audit_log_tells_otherwise_is_found() {
    let copydesk = TestServer::plan()
        .script(Script::rewriting(AFTER))
        .on_sqlite("it looks into the file of the database")
        .start();
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    bo.opens(&ana.creates(BEFORE));
    ana.asks("Fix the spelling");
    bo.accepts_all(&bo.sees_request());
    drop((ana, bo));
    let left = left_by(copydesk);
    for (what, words) in [
        ("'$.closed.by.user', 'usr_eve'", "that usr_eve ended it then"),
        ("'$.closed.at_ms', 5", "ended it then"),
        ("'$.closed.by', json('null')", "ended it"),
    ] {
        let (_directory, data) = copy_of(&left);
        assert_eq!(check(&data), (0, vec![]));
        let statement = format!("UPDATE requests SET body = json_set(body, {what})");
        is_found_in(&data, &statement, "audit.request", words);
    }
}

#[test]
fn an_update_that_the_audit_log_tells_otherwise_is_found() {
    let set = |what: &str| format!("UPDATE placements SET body = json_set(body, {what})");
    for (statement, words) in [
        (
            "UPDATE updates SET author = 'usr_eve' WHERE version = 2".to_owned(),
            "no audit line says that usr_eve decided then",
        ),
        ("UPDATE updates SET at_ms = 5 WHERE version = 2".to_owned(), "decided then"),
        (set("'$.requester', 'usr_eve'"), "somebody other than"),
        (set("'$.rule', 'rul_x'"), "names another rule"),
        (set("'$.placed[0].origin', 'edited'"), "was put there like this"),
        (
            set("'$.placed[0].to', json_extract(body, '$.placed[0].to') - 1"),
            "was put there like this",
        ),
    ] {
        is_found(&statement, "audit.update", words);
    }
}

#[test]
fn a_missing_update_is_found() {
    is_found(
        "DELETE FROM updates WHERE version = 2",
        "log.gap",
        "update 2 is missing; the log goes on with 3",
    );
    is_found(
        "DELETE FROM updates WHERE version = 3",
        "log.end",
        "the log ends here, but the document is at version 3",
    );
}

#[test]
fn a_changed_update_is_found() {
    is_found(
        "UPDATE updates SET changes = '[99,[0,\"x\"]]' WHERE version = 2",
        "log.update",
        "cannot be applied",
    );
    is_found(
        "UPDATE updates SET changes = replace(changes, 'So', 'Oh') WHERE version = 1",
        "snapshot",
        "the stored text differs from the log",
    );
    is_found("UPDATE updates SET changes = 'no json' WHERE version = 1", "log.update", "expected");
}

#[test]
fn an_update_by_someone_else_is_found() {
    is_found(
        "UPDATE updates SET author = 'usr_eve' WHERE version = 1",
        "log.author",
        "it is by usr_eve",
    );
    is_found("DELETE FROM clients", "log.author", "belongs to nobody");
}

#[test]
fn an_update_without_its_request_is_found() {
    is_found(
        "UPDATE updates SET origin = 'req_none' WHERE version = 2",
        "log.origin",
        "caused by req_none",
    );
    is_found("UPDATE updates SET origin = 'req_none' WHERE version = 2", "log.origin", "req_none");
}

#[test]
fn a_changed_text_is_found() {
    is_found(
        "UPDATE snapshots SET content = content || '!' WHERE version = 3",
        "snapshot",
        "version 3",
    );
    is_found("DELETE FROM snapshots WHERE version = 0", "log.start", "version 0");
    let other = "UPDATE snapshots SET content = CAST(replace(CAST(content AS TEXT), 'visitors', 'visitorz') AS BLOB)
        WHERE version = 0 AND document IN (SELECT document FROM updates)";
    is_found(other, "log.start", "not the one the document was created with");
    let ends = "UPDATE runs SET finished_ms = CASE WHEN finished_ms IS NULL THEN 5 END";
    is_found(ends, "run", "contradict");
    is_found(
        "INSERT INTO snapshots SELECT document, 9, content FROM snapshots WHERE version = 3",
        "snapshot",
        "which the log does not reach",
    );
}

#[test]
fn a_changed_request_is_found() {
    for (statement, code, words) in [
        ("UPDATE requests SET status = 'approved'", "request.row", "the same status"),
        ("UPDATE requests SET is_open = FALSE", "request.row", "the same openness"),
        ("UPDATE requests SET body = '{}'", "request.row", "cannot be read"),
        ("UPDATE requests SET body = 'no json'", "request.row", "cannot be read"),
        (
            "UPDATE requests SET body = json_set(body, '$.status', 'approved')",
            "request",
            "it is approved with 1 of 3",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.closed', json('{\"by\":null,\"at_ms\":1}'))",
            "request",
            "was closed all the same",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.explanation', 'x', '$.tool', 'y')",
            "request",
            "preview_hash",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[2].parts[0].insert', 'never')",
            "request",
            "preview_hash",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[0].inverse', json('[]'))",
            "request",
            "cannot be taken back",
        ),
        (
            "UPDATE requests SET body = json_remove(body, '$.hunks[1].decided')",
            "request",
            "nothing says by whom",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[2].parts[0].from', 1)",
            "request.fit",
            "stands at 1..",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[2].parts[0].to', 9000)",
            "request.fit",
            "no place in a text of",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[0].inverse[0].base', 'Thx')",
            "request.fit",
            "accepted change",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.version', 99)",
            "request.fit",
            "of version 99",
        ),
        ("UPDATE requests SET document = 'doc_none'", "request.document", "doc_none"),
        ("UPDATE documents SET deleted = TRUE", "request.document", "its document is deleted"),
    ] {
        is_found(statement, code, words);
    }
}

#[test]
fn a_frozen_range_outside_the_text_is_found() {
    let freeze = "UPDATE documents SET settings = '{\"own\":{\"frozen\":[[3,9000]]},\"version\":3}' WHERE version = 3";
    is_found(freeze, "document.frozen", "[3,9000]");
}

#[test]
fn a_thread_that_makes_no_sense_is_found() {
    for (change, code, words) in [
        (r#"anchor = '{"from":3,"to":9000}'"#, "comment.place", "3 to 9000"),
        (r#"anchor = '{"from":3,"to":3}'"#, "comment.place", "3 to 3"),
        ("version = 70", "comment.place", "version 70, which does not exist"),
        ("resolved = TRUE", "comment.row", "another status"),
        ("body = 'no json'", "comment.row", "cannot be read"),
        ("body = replace(body, 'Why?', '')", "comment.thread", "has none and is not"),
        ("body = replace(body, 'cmt_', 'cmt_0')", "comment.thread", "in the place of comment 1"),
    ] {
        is_found(&format!("UPDATE comment_threads SET {change}"), code, words);
    }
}

#[test]
fn a_mention_in_a_comment_that_is_not_there_is_found() {
    let insert = "INSERT INTO comment_mentions SELECT 'usr_owner', id, 9 FROM comment_threads";
    is_found(insert, "comment.row", "comment 9 is read, or mentions a person");
}

#[test]
fn a_document_at_another_version_is_found() {
    is_found("UPDATE documents SET version = 7 WHERE version = 3", "log.end", "at version 7");
    is_found(
        "DELETE FROM documents WHERE version = 3",
        "database.integrity",
        "refers to nothing in documents",
    );
}

#[test]
fn a_token_that_makes_no_sense_is_found() {
    for (statement, words) in [
        ("UPDATE tokens SET hash = 'x' WHERE id = 'tok_owner'", "not a SHA-256 hash"),
        (
            "UPDATE tokens SET document = 'doc_none' WHERE role = 'editor'",
            "its document does not exist",
        ),
        ("UPDATE tokens SET expires_ms = 1", "it expired before it was issued"),
        ("UPDATE tokens SET revoked_ms = 1", "it was revoked before it was issued"),
    ] {
        is_found(statement, "token", words);
    }
    is_found("UPDATE tokens SET role = 'king' WHERE role = 'editor'", "token.row", "king");
    is_found("UPDATE sessions SET seen_ms = 1", "session", "before it began");
}

#[test]
fn a_role_in_a_document_that_no_one_can_give_is_found() {
    let given = |document: &str, role: &str| {
        format!(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO document_roles
             SELECT {document}, 'group', 'press', '{role}', 'usr_owner', 1 FROM documents LIMIT 1"
        )
    };
    is_found(&given("id", "owner"), "role", "cannot be given in one document");
    is_found(&given("'doc_none'", "viewer"), "role", "its document does not exist");
    is_found(&given("id", "king"), "role.row", "king");
}

#[test]
fn a_log_that_could_be_rewritten_is_found() {
    let (_directory, data) = data();
    tamper(&data, "");
    let said = copydesk_command().args(["check", "--data"]).arg(&data).output().unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert!(text.contains("the database: the trigger audit_remains is gone"), "{text}");
}

#[test]
fn who_wrote_what_is_worked_out_again_and_compared() {
    for (statement, code, words) in [
        ("DELETE FROM placements", "provenance.row", "its placements are not stored"),
        ("DELETE FROM placements", "request.update", "no update of the document brought it"),
        ("UPDATE placements SET body = 'no json'", "provenance.row", "cannot be read"),
        ("UPDATE placements SET version = 99", "provenance.row", "missing version 99"),
        (
            "UPDATE placements SET body = json_set(body, '$.placed[0].from', 0, '$.placed[0].to', 2)",
            "provenance",
            "stored placements do not match the text",
        ),
        (
            "UPDATE placements SET body = json_set(body, '$.placed[0].origin', json('{\"stood\":{\"version\":1,\"at\":9000}}'))",
            "provenance",
            "stored placements do not match the text",
        ),
        (
            "INSERT INTO placements SELECT document, 3, body FROM placements",
            "request.update",
            "was applied twice",
        ),
        (
            "INSERT INTO provenance SELECT document, 3, '{\"sources\":[\"beginning\"],\"runs\":[[5,0]]}' FROM placements",
            "provenance.kept",
            "stored provenance differs from the log",
        ),
        (
            "INSERT INTO provenance SELECT document, 3, 'no json' FROM placements",
            "provenance.kept",
            "cannot be read",
        ),
        (
            "UPDATE requests SET body = json_set(body, '$.hunks[0].status', 'rejected', '$.hunks[0].inverse', json('[]'))",
            "request.update",
            "is not accepted, and an update brought it",
        ),
    ] {
        is_found(statement, code, words);
    }
}
