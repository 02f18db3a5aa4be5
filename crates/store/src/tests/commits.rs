//! Batches: together or not at all, grouped, and never at each other's cost.

use futures_util::future::join_all;

use super::*;

async fn batches_that_wait_together_share_one_transaction(database: TestDatabase) {
    let store = database.store().await;
    let before = store.counts();
    // One thread: every commit is queued before the writer runs. Fifty stay below the number of
    // channel operations after which tokio makes a task pause.
    let done = join_all((0..50).map(|n| store.commit(setting(&n.to_string())))).await;
    assert!(done.iter().all(Result::is_ok));
    let after = store.counts();
    assert_eq!(after.batches - before.batches, 50);
    assert_eq!(after.transactions - before.transactions, 1);
}

async fn one_bad_batch_does_not_fail_the_others(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    let bad = WriteBatch::from(setting("half")).with(append("doc_a", 7, 1));
    let (first, bad, last) = tokio::join!(
        store.commit(append("doc_a", 0, 2)),
        store.commit(bad),
        store.commit(append("doc_a", 2, 1)),
    );
    assert!(first.is_ok() && last.is_ok(), "{first:?} {last:?}");
    assert!(matches!(bad, Err(StoreError::Conflict { .. })), "{bad:?}");
    assert_eq!(version(&store, "doc_a").await, 3);
    assert_eq!(store.setting("half").await.unwrap(), None, "nothing of a failed batch stays");
    assert_eq!(store.counts().failed, 1);
}

async fn updates_of_many_documents_share_a_transaction_and_not_their_failures(
    database: TestDatabase,
) {
    let store = database.store().await;
    let names: Vec<String> = (0..40).map(|n| format!("doc_{n}")).collect();
    for name in &names {
        store.commit(create(name)).await.unwrap();
    }
    let before = store.counts();
    let first = join_all(names.iter().map(|name| store.commit(append(name, 0, 2)))).await;
    assert!(first.iter().all(Result::is_ok));
    assert_eq!(store.counts().transactions - before.transactions, 1);
    assert_eq!(store.counts().split_groups, before.split_groups);
    let loaded = store.load(&"doc_39".into()).await.unwrap().unwrap();
    let changes: Vec<_> = loaded.updates.iter().map(|update| &*update.changes).collect();
    assert_eq!(changes, ["[1,[0,\"é\"]]", "[2,[0,\"é\"]]"]);
    // One of them is not where it should be.
    let from = |at| if at == 7 { 5 } else { 2 };
    let second = (0..).zip(&names).map(|(at, name)| store.commit(append(name, from(at), 1)));
    let second = join_all(second).await;
    let refused: Vec<_> = (0..).zip(&second).filter(|(_, it)| it.is_err()).collect();
    assert!(matches!(refused[..], [(7, Err(StoreError::Conflict { .. }))]), "{refused:?}");
    assert_eq!((version(&store, "doc_7").await, version(&store, "doc_8").await), (2, 3));
}

async fn batches_of_one_document_share_a_transaction(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    store.commit(create("doc_b")).await.unwrap();
    let before = store.counts();
    let batches = [("doc_a", 0), ("doc_b", 0), ("doc_a", 1), ("doc_a", 2), ("doc_b", 1)];
    let commits = batches.map(|(name, from)| store.commit(append(name, from, 1)));
    assert!(join_all(commits).await.iter().all(Result::is_ok));
    assert_eq!(store.counts().transactions - before.transactions, 1);
    assert_eq!(store.counts().split_groups, before.split_groups, "each was tried on its own");
    assert_eq!((version(&store, "doc_a").await, version(&store, "doc_b").await), (3, 2));
    // The second one leaves a gap.
    let commits =
        [("doc_a", 3), ("doc_a", 5)].map(|(name, from)| store.commit(append(name, from, 1)));
    let outcomes = join_all(commits).await;
    assert!(matches!(outcomes[..], [Ok(()), Err(StoreError::Conflict { .. })]), "{outcomes:?}");
    assert_eq!(version(&store, "doc_a").await, 4);
}

async fn a_batch_that_breaks_the_transaction_does_not_fail_the_others(database: TestDatabase) {
    let store = database.store().await;
    // What a full disk looks like: each statement succeeds and COMMIT fails.
    let table =
        "CREATE TABLE poison (x TEXT REFERENCES documents (id) DEFERRABLE INITIALLY DEFERRED);";
    let trigger = match &database {
        TestDatabase::Sqlite(_) => {
            "CREATE TRIGGER poisoned AFTER INSERT ON settings WHEN new.key = 'poison'
             BEGIN INSERT INTO poison VALUES ('nowhere'); END;"
        }
        TestDatabase::Postgres(_) => {
            "CREATE FUNCTION poison() RETURNS TRIGGER LANGUAGE plpgsql AS
                 $$ BEGIN INSERT INTO poison VALUES ('nowhere'); RETURN NEW; END $$;
             CREATE TRIGGER poisoned AFTER INSERT ON settings FOR EACH ROW
             WHEN (new.key = 'poison') EXECUTE FUNCTION poison();"
        }
    };
    database.run(&store, format!("{table} {trigger}")).await.unwrap();
    let (good, bad, late) = tokio::join!(
        store.commit(setting("good")),
        store.commit(setting("poison")),
        store.commit(setting("late")),
    );
    assert!(good.is_ok() && late.is_ok(), "{good:?} {late:?}");
    assert!(matches!(bad, Err(StoreError::Write(_))), "{bad:?}");
    assert_eq!(store.setting("good").await.unwrap().as_deref(), Some("1"));
    assert_eq!(store.setting("poison").await.unwrap(), None);
    store.commit(setting("afterwards")).await.unwrap();
}

#[tokio::test]
async fn a_database_without_space_refuses_what_does_not_fit_and_goes_on() {
    let database = TestDatabase::sqlite();
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    database.run(&store, "PRAGMA max_page_count = 200").await.unwrap();
    let huge = snapshot("doc_a", 0, &"x".repeat(2 << 20), 0);
    let (good, bad) = tokio::join!(store.commit(setting("good")), store.commit(huge));
    assert!(good.is_ok(), "{good:?}");
    assert!(matches!(bad, Err(StoreError::Write(_))), "{bad:?}");
    store.commit(append("doc_a", 0, 1)).await.unwrap();
    assert_eq!(version(&store, "doc_a").await, 1);
}

async fn a_version_is_taken_once(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    store.commit(append("doc_a", 0, 3)).await.unwrap();
    let late = store.commit(append("doc_a", 2, 2)).await;
    let Err(StoreError::Conflict { document, expected, found }) = late else {
        panic!("{late:?}");
    };
    assert_eq!((document.as_str(), expected, found), ("doc_a", Version(2), Version(3)));
    let gap = store.commit(append("doc_a", 4, 1)).await;
    assert!(matches!(gap, Err(StoreError::Conflict { .. })), "{gap:?}");
    let nowhere = store.commit(append("doc_b", 0, 1)).await;
    assert!(matches!(nowhere, Err(StoreError::Missing { kind: "document", .. })), "{nowhere:?}");
}

async fn an_update_longer_than_one_statement_arrives_whole(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    store.commit(append("doc_a", 0, 5_000)).await.unwrap();
    let loaded = store.load(&"doc_a".into()).await.unwrap().unwrap();
    assert_eq!(loaded.updates.len(), 5_000);
    assert_eq!(&*loaded.updates[4_999].changes, "[5000,[0,\"é\"]]");
}

async fn an_empty_batch_costs_nothing(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::new()).await.unwrap();
    assert_eq!(store.counts(), CommitCounts::default());
}

async fn closing_writes_what_is_queued_and_refuses_the_rest(database: TestDatabase) {
    let store = database.open(StoreAccess::Serve).await;
    let (queued, ()) = tokio::join!(store.commit(setting("queued")), store.close());
    assert!(queued.is_ok(), "{queued:?}");
    assert!(matches!(store.commit(setting("late")).await, Err(StoreError::Closed)));
    assert!(matches!(store.setting("queued").await, Err(StoreError::Closed)));
    store.close().await;
}

on_both_databases! {
    batches_that_wait_together_share_one_transaction,
    one_bad_batch_does_not_fail_the_others,
    updates_of_many_documents_share_a_transaction_and_not_their_failures,
    batches_of_one_document_share_a_transaction,
    a_batch_that_breaks_the_transaction_does_not_fail_the_others,
    a_version_is_taken_once,
    an_update_longer_than_one_statement_arrives_whole,
    an_empty_batch_costs_nothing,
    closing_writes_what_is_queued_and_refuses_the_rest,
}
