//! The audit chain shows what was done to it.

use super::*;

async fn three_lines(database: &TestDatabase) -> Store {
    let store = database.store().await;
    let batch = WriteBatch::from(line("one")).with(line("two")).with(line("three"));
    store.commit(batch).await.unwrap();
    store
}

/// Changes a log with three lines by this statement of a database shell, and returns what a check
/// finds.
async fn tamper(database: &TestDatabase, statement: &str) -> String {
    let store = three_lines(database).await;
    let unguard = match database {
        TestDatabase::Sqlite(_) => "DROP TRIGGER audit_stays; DROP TRIGGER audit_remains",
        TestDatabase::Postgres(_) => "ALTER TABLE audit DISABLE TRIGGER ALL",
    };
    database.run(&store, unguard).await.unwrap();
    database.run(&store, statement).await.unwrap();
    let message = store.verify_audit().await.unwrap_err().to_string();
    store.close().await;
    if matches!(database, TestDatabase::Postgres(_)) {
        let store = database.store().await;
        database.run(&store, "TRUNCATE audit; TRUNCATE settings").await.unwrap();
        database.run(&store, "ALTER TABLE audit ENABLE TRIGGER ALL").await.unwrap();
        store.close().await;
    }
    message
}

async fn every_line_follows_from_the_one_before(database: TestDatabase) {
    let store = three_lines(&database).await;
    let failing = WriteBatch::from(line("never happened")).with(append("doc_none", 0, 1));
    store.commit(failing).await.unwrap_err();
    store.commit(line("four")).await.unwrap();
    let lines = store.audit(None, None, 10).await.unwrap();
    let actions: Vec<_> = lines.iter().map(|line| line.entry.action.as_str()).collect();
    assert_eq!(actions, ["four", "three", "two", "one"]);
    assert_eq!(lines[3].prev_hash, GENESIS);
    let head = store.verify_audit().await.unwrap();
    assert_eq!(head, AuditHead { seq: 4, hash: lines[0].hash.clone() });
}

async fn lines_of_batches_that_are_written_together_follow_each_other_without_those_that_failed(
    database: TestDatabase,
) {
    let store = database.store().await;
    let failing = WriteBatch::from(line("never happened")).with(append("doc_none", 0, 1));
    let (first, refused, last, after) = tokio::join!(
        store.commit(line("one")),
        store.commit(failing),
        store.commit(WriteBatch::from(line("two")).with(line("three"))),
        store.commit(line("four")),
    );
    assert!(first.is_ok() && last.is_ok() && after.is_ok(), "{first:?} {last:?} {after:?}");
    assert!(matches!(refused, Err(StoreError::Missing { .. })), "{refused:?}");
    store.commit(line("five")).await.unwrap();
    assert_eq!(store.verify_audit().await.unwrap().seq, 5);
}

async fn an_empty_log_is_intact(database: TestDatabase) {
    let head = database.store().await.verify_audit().await.unwrap();
    assert_eq!(head, AuditHead { seq: 0, hash: GENESIS.to_owned() });
}

async fn a_changed_line_is_found(database: TestDatabase) {
    for change in [
        "UPDATE audit SET at_ms = 6 WHERE seq = 2",
        "UPDATE audit SET actor = 'usr_eve' WHERE seq = 2",
        "UPDATE audit SET action = 'twp' WHERE seq = 2",
        "UPDATE audit SET document = NULL WHERE seq = 2",
        "UPDATE audit SET request = 'req_1' WHERE seq = 2",
        "UPDATE audit SET detail = '{\"z\":2}' WHERE seq = 2",
        "UPDATE audit SET detail = detail || ' ' WHERE seq = 2",
    ] {
        let message = tamper(&database, change).await;
        assert!(message.contains("audit line 2"), "{change}: {message}");
        assert!(message.contains("content"), "{change}: {message}");
    }
}

async fn a_removed_line_is_found(database: TestDatabase) {
    let message = tamper(&database, "DELETE FROM audit WHERE seq = 2").await;
    assert!(message.contains("line 2 is missing"), "{message}");
    let hidden = "DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3";
    let message = tamper(&database, hidden).await;
    assert!(message.contains("does not follow"), "{message}");
}

async fn the_logs_refuse_changes(database: TestDatabase) {
    let store = three_lines(&database).await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 1))).await.unwrap();
    for statement in [
        "UPDATE audit SET actor = 'usr_eve'",
        "DELETE FROM audit",
        "UPDATE updates SET author = 'usr_eve'",
        "DELETE FROM updates",
    ] {
        let refused = database.run(&store, statement).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{statement}: {refused}");
    }
}

on_both_databases! {
    every_line_follows_from_the_one_before,
    lines_of_batches_that_are_written_together_follow_each_other_without_those_that_failed,
    an_empty_log_is_intact,
    a_changed_line_is_found,
    a_removed_line_is_found,
    the_logs_refuse_changes,
}
