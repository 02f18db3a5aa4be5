//! Several servers on one PostgreSQL database: what each may write, and who has a document.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::database::postgres::nodes::NodeConnections;
use crate::nodes::tables::NodeTables as _;

/// A new database; without a server the story is skipped.
macro_rules! postgres {
    () => {
        match TestDatabase::postgres().await {
            Some(database) => database,
            None => return,
        }
    };
}

async fn node(database: &TestDatabase) -> Store {
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    Store::join(url, None, "http://127.0.0.1:1").await.unwrap()
}

/// A node with a Redis that is not there: nothing carries its messages.
async fn node_without_carrier(database: &TestDatabase) -> Store {
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    let redis = "redis://127.0.0.1:1".parse().ok();
    Store::join(url, redis, "http://127.0.0.1:1").await.unwrap()
}

async fn holder(store: &Store, document: &str) -> Option<LeaseHolder> {
    store.node().unwrap().lease_document(&DocumentId::from(document)).await.unwrap()
}

#[tokio::test]
async fn nodes_write_in_turn_and_the_audit_log_stays_one_chain() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(WriteBatch::from(create("doc_a")).with(line("one"))).await.unwrap();
    for number in 0..5 {
        let (one, two) = (line("a"), line("b"));
        let (one, two) = tokio::join!(
            first.commit(WriteBatch::from(append("doc_a", number, 1)).with(one)),
            second.commit(two)
        );
        one.unwrap();
        two.unwrap();
    }
    assert_eq!(second.verify_audit().await.unwrap().seq, 11);
    assert_eq!(first.counts().split_groups, 0, "nobody's line was in the way of another's");
    assert_eq!(version(&second, "doc_a").await, 5);
}

#[tokio::test]
async fn one_node_has_a_document_until_it_gives_it_back() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    assert_eq!(holder(&first, "doc_a").await, None, "there is no such document");
    first.commit(create("doc_a")).await.unwrap();
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
    let elsewhere = holder(&second, "doc_a").await;
    let of_first = first.node().unwrap().address().clone();
    assert_eq!(elsewhere, Some(LeaseHolder::Elsewhere(of_first)));
    first.node().unwrap().release(&"doc_a".into()).await;
    second.node().unwrap().forget(&"doc_a".into());
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
    second.close().await;
    // With the node, its leases end.
    first.node().unwrap().forget(&"doc_a".into());
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
}

#[tokio::test]
async fn a_document_that_is_given_back_late_stays_where_it_was_taken_again() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    let number = first.node().unwrap().address().number;
    let on_its_way = NodeConnections::open(&url, number).await.unwrap();
    let name = "document/doc_a";
    let before = on_its_way.lease(name, None).await.unwrap().unwrap();
    // Nobody knows what became of the statement that gives it back, and somebody opens it again.
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
    on_its_way.release(name, before.term).await.unwrap();
    let elsewhere = holder(&second, "doc_a").await;
    assert!(matches!(elsewhere, Some(LeaseHolder::Elsewhere(_))), "{elsewhere:?}");
    first.node().unwrap().release(&"doc_a".into()).await;
    second.node().unwrap().forget(&"doc_a".into());
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
    on_its_way.pool().close().await;
}

#[tokio::test]
async fn a_node_that_was_removed_writes_nothing_more() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
    let number = first.node().unwrap().address().number;
    let remove = format!("DELETE FROM nodes WHERE number = {number}");
    database.run(&second, &remove).await.unwrap();
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
    let refused = first.commit(append("doc_a", 0, 1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Replaced), "{refused:?}");
    let refused = first.node().unwrap().lease_document(&"doc_a".into()).await;
    assert!(matches!(refused, Ok(Some(LeaseHolder::Elsewhere(_)))), "{refused:?}");
    second.commit(append("doc_a", 0, 1)).await.unwrap();
    assert_eq!(version(&second, "doc_a").await, 1);
}

#[tokio::test]
async fn nodes_and_a_server_alone_exclude_each_other() {
    let database = postgres!();
    let alone = database.store().await;
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    let refused = Store::join(url, None, "http://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    alone.close().await;
    let (first, second) = (node(&database).await, node(&database).await);
    let refused = Store::open(database.place(), StoreAccess::Serve).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    first.close().await;
    second.close().await;
    database.store().await.commit(create("doc_a")).await.unwrap();
}

#[tokio::test]
async fn a_lost_session_of_a_node_is_made_up_for() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks
        JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND datname = current_database()";
    database.run(&second, end).await.unwrap();
    first.commit(append("doc_a", 0, 1)).await.unwrap();
    second.commit(append("doc_a", 1, 1)).await.unwrap();
    assert_eq!(version(&first, "doc_a").await, 2);
}

#[tokio::test]
async fn what_nothing_carries_is_found_in_the_database_once_and_in_order() {
    let database = postgres!();
    let first = node_without_carrier(&database).await;
    first.node().unwrap().tell(&NodeNews::Cancel("before".into())).await;
    let second = node_without_carrier(&database).await;
    let attending = Arc::clone(second.node().unwrap());
    let mut news = attending.news();
    let task = tokio::spawn(async move { attending.attend().await });
    let told = ["a", "b", "c"].map(|session| NodeNews::Cancel(session.into()));
    for message in &told {
        first.node().unwrap().tell(message).await;
    }
    for message in told {
        let heard = tokio::time::timeout(Duration::from_secs(10), news.recv()).await;
        assert_eq!(heard.unwrap().unwrap(), (first.node().unwrap().address().number, message));
    }
    // Another look finds nothing new.
    let more = tokio::time::timeout(Duration::from_millis(1_500), news.recv()).await;
    assert!(more.is_err(), "{more:?}");
    task.abort();
}
