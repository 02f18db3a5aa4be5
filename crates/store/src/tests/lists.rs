//! Lists read what is asked for, by an index, however much else there is.

use super::*;

/// Returns the database's plan for a statement, step by step.
async fn plan(store: &Store, sql: &str) -> String {
    let sql = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<(i64, i64, i64, String)> = store.readers().all(sql, &[]).await.unwrap();
    steps.into_iter().map(|(.., step)| step).collect::<Vec<_>>().join("; ")
}

async fn with_documents(database: &TestDatabase, count: u64) -> Store {
    let store = database.store().await;
    let documents = (0..count).map(|number| {
        let id = format!("doc_{number:03}");
        let record = DocumentRecord { updated_ms: number / 2, ..record(&id) };
        StoreOp::CreateDocument { record, text: String::new() }
    });
    let mut batch = WriteBatch::new();
    batch.extend(documents);
    store.commit(batch).await.unwrap();
    store
}

async fn documents_come_page_by_page_last_changed_first_without_gap_or_double(
    database: TestDatabase,
) {
    let store = with_documents(&database, 25).await;
    let mut met: Vec<String> = Vec::new();
    let mut after: Option<ListPlace> = None;
    loop {
        let page = store.documents(None, after.as_ref(), 4).await.unwrap();
        assert!(page.len() <= 4);
        let Some(last) = page.last() else { break };
        after = Some((last.updated_ms, last.id.to_string()));
        met.extend(page.iter().map(|it| it.id.to_string()));
    }
    let expected: Vec<_> = (0..25).rev().map(|number| format!("doc_{number:03}")).collect();
    assert_eq!(met, expected);
    let only = DocumentId::from("doc_007");
    let one = store.documents(Some(std::slice::from_ref(&only)), None, 100).await.unwrap();
    assert_eq!(one.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["doc_007"]);
    let past: ListPlace = (3, "doc_007".to_owned());
    assert!(
        store
            .documents(Some(std::slice::from_ref(&only)), Some(&past), 100)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn lists_and_look_ups_walk_an_index_and_sort_nothing() {
    let store = with_documents(&TestDatabase::sqlite(), 3).await;
    for (sql, index) in [
        (
            "SELECT * FROM documents WHERE unlisted_owner IS NULL AND deleted = FALSE
             AND (updated_ms, id) < (5, '~') ORDER BY updated_ms DESC, id DESC LIMIT 9",
            "documents_listed",
        ),
        (
            "SELECT DISTINCT document FROM requests
             WHERE is_open AND document IS NOT NULL ORDER BY document",
            "requests_open_by_document",
        ),
        (
            "SELECT id FROM requests WHERE is_open AND session = 's' AND run = 'r' ORDER BY id",
            "requests_open_by_run",
        ),
        (
            "SELECT * FROM tokens WHERE revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > 1)
             ORDER BY created_ms, id",
            "tokens_not_revoked",
        ),
    ] {
        let plan = plan(&store, sql).await;
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan} for {sql}");
    }
}

async fn only_the_tokens_that_are_asked_for_are_read(database: TestDatabase) {
    let store = database.store().await;
    let token = |number: u64, expires_ms: Option<u64>| TokenRecord {
        id: format!("tok_{number}").into(),
        hash: format!("hash_{number}"),
        user: format!("usr_{}", number % 3).into(),
        name: format!("Name {number}"),
        role: copydesk_ids::permissions::Role::Editor,
        document: None,
        created_ms: number,
        expires_ms,
        revoked_ms: None,
        used_ms: None,
        login: None,
        former_user: None,
        changed_ms: None,
    };
    let mut batch = WriteBatch::new();
    batch.extend((0..6).map(|number| StoreOp::PutToken(token(number, None))));
    batch.extend([StoreOp::PutToken(token(6, Some(50)))]);
    store.commit(batch).await.unwrap();
    store.commit(StoreOp::RevokeToken { token: "tok_2".into(), at_ms: 7 }).await.unwrap();
    let ids = |tokens: Vec<TokenRecord>| {
        let mut ids: Vec<_> = tokens.into_iter().map(|token| token.id.to_string()).collect();
        ids.sort();
        ids
    };
    let good = ids(store.tokens_in_force(49).await.unwrap());
    assert_eq!(good, ["tok_0", "tok_1", "tok_3", "tok_4", "tok_5", "tok_6"]);
    assert_eq!(ids(store.tokens_in_force(50).await.unwrap()).len(), 5);
    let asked_for = store.tokens_named(&["tok_2".into(), "tok_9".into(), "tok_4".into()]).await;
    assert_eq!(ids(asked_for.unwrap()), ["tok_2", "tok_4"]);
    let names = store.names_of(&["usr_0".into(), "usr_2".into(), "usr_9".into()]).await.unwrap();
    let called = |user: &str| names.get(&copydesk_ids::UserId::from(user)).map(String::as_str);
    assert_eq!(
        (called("usr_0"), called("usr_2"), called("usr_9")),
        (Some("Name 6"), Some("Name 5"), None)
    );
}

on_both_databases! {
    documents_come_page_by_page_last_changed_first_without_gap_or_double,
    only_the_tokens_that_are_asked_for_are_read,
}
