//! The audit chain shows what was done to it.

use super::*;

async fn three_lines() -> Store {
    let store = memory().await;
    let batch = WriteBatch::from(line("one")).with(line("two")).with(line("three"));
    store.commit(batch).await.unwrap();
    store
}

/// What somebody with the file and a database shell would do.
async fn tamper(store: &Store, statement: &'static str) -> String {
    sqlx::raw_sql("DROP TRIGGER audit_stays; DROP TRIGGER audit_remains")
        .execute(store.readers())
        .await
        .unwrap();
    sqlx::raw_sql(statement).execute(store.readers()).await.unwrap();
    store.verify_audit().await.unwrap_err().to_string()
}

#[tokio::test]
async fn every_line_follows_from_the_one_before() {
    let store = three_lines().await;
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

#[tokio::test]
async fn lines_of_batches_that_are_written_together_follow_each_other_without_those_that_failed() {
    let store = memory().await;
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

#[tokio::test]
async fn an_empty_log_is_intact() {
    let head = memory().await.verify_audit().await.unwrap();
    assert_eq!(head, AuditHead { seq: 0, hash: GENESIS.to_owned() });
}

#[tokio::test]
async fn a_changed_line_is_found() {
    for change in [
        "UPDATE audit SET at_ms = 6 WHERE seq = 2",
        "UPDATE audit SET actor = 'usr_eve' WHERE seq = 2",
        "UPDATE audit SET action = 'twp' WHERE seq = 2",
        "UPDATE audit SET document = NULL WHERE seq = 2",
        "UPDATE audit SET request = 'req_1' WHERE seq = 2",
        "UPDATE audit SET detail = '{\"z\":2}' WHERE seq = 2",
        "UPDATE audit SET detail = detail || ' ' WHERE seq = 2",
    ] {
        let told = tamper(&three_lines().await, change).await;
        assert!(told.contains("audit line 2"), "{change}: {told}");
        assert!(told.contains("content"), "{change}: {told}");
    }
}

#[tokio::test]
async fn a_removed_line_is_found() {
    let told = tamper(&three_lines().await, "DELETE FROM audit WHERE seq = 2").await;
    assert!(told.contains("line 2 is missing"), "{told}");
    let hidden = "DELETE FROM audit WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3";
    let told = tamper(&three_lines().await, hidden).await;
    assert!(told.contains("does not follow"), "{told}");
}

#[tokio::test]
async fn the_logs_refuse_changes() {
    let store = three_lines().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 1))).await.unwrap();
    for statement in [
        "UPDATE audit SET actor = 'usr_eve'",
        "DELETE FROM audit",
        "UPDATE updates SET author = 'usr_eve'",
        "DELETE FROM updates",
    ] {
        let refused = sqlx::query(statement).execute(store.readers()).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{statement}: {refused}");
    }
}
