//! Several servers on one PostgreSQL database: what each may write, and who has a document.

use std::env;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use sqlx_postgres::PgConnection;

use copydesk_client::TrustedAuthorities;
use copydesk_ids::{DocumentId, Version};
use copydesk_placement::{PeerMessage, Placement as _, RedisUrl};
use copydesk_store::node_tables::NodeTables as _;
use copydesk_store::{
    AuditEntry, DatabaseUrl, DocumentRecord, NodeConnections, Store, StoreAccess, StoreError,
    StoreOp, StorePlace, UpdateRecord, WriteBatch,
};

use super::{ClusterNode, LeaseHolder};
use crate::Cluster;

const SERVER: &str = "postgres://postgres@127.0.0.1:5432/postgres";

/// A database on a PostgreSQL server, which goes away with the test.
struct TestDatabase {
    server: String,
    name: String,
}

/// A server and its store.
struct Node {
    store: Store,
    node: Arc<ClusterNode>,
}

impl Deref for Node {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// A new database; without a server the story is skipped.
macro_rules! postgres {
    () => {
        match TestDatabase::new().await {
            Some(database) => database,
            None => return,
        }
    };
}

impl TestDatabase {
    async fn new() -> Option<Self> {
        let server = env::var("COPYDESK_TEST_POSTGRES").unwrap_or_else(|_| SERVER.to_owned());
        let mut connection = match PgConnection::connect(&server).await {
            Ok(connection) => connection,
            Err(error) => {
                let required = env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
                assert!(!required, "no PostgreSQL ({error}), and COPYDESK_REQUIRE_ALL=1");
                eprintln!("\n*** SKIPPED: no PostgreSQL at {server}: {error}\n");
                return None;
            }
        };
        let name = format!("copydesk_test_{}", uuid::Uuid::new_v4().simple());
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(create))).await.unwrap();
        Some(Self { server, name })
    }

    fn address(&self) -> String {
        format!("{}/{}", &self.server[..self.server.rfind('/').unwrap()], self.name)
    }

    fn url(&self) -> DatabaseUrl {
        self.address().parse().unwrap()
    }

    /// A server that is the only one.
    async fn alone(&self) -> Result<Store, StoreError> {
        Store::open(StorePlace::Postgres(self.url()), StoreAccess::Serve).await
    }

    /// Runs statements as a person with a database shell would.
    async fn run(&self, sql: &str) {
        let mut shell = PgConnection::connect(&self.address()).await.unwrap();
        shell.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.unwrap();
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // The test's own runtime is busy with this drop.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut connection = PgConnection::connect(&server).await?;
                let drop = format!("DROP DATABASE {name} WITH (FORCE)");
                connection.execute(sqlx::raw_sql(AssertSqlSafe(drop))).await
            })
        });
        if let Err(error) = dropped.join().unwrap() {
            eprintln!("a test database is left behind: {error}");
        }
    }
}

fn create(id: &str) -> StoreOp {
    let record = DocumentRecord::new(id.into(), format!("About {id}"), 1_000);
    StoreOp::CreateDocument { record, text: "Dear reader,\n".to_owned() }
}

/// An update that can be distinguished by the version it makes.
fn append(id: &str, from: u64) -> StoreOp {
    let version = from + 1;
    let update = UpdateRecord {
        client: "c_1".into(),
        changes: format!("[{version},[0,\"é\"]]").into(),
        author: "usr_anna".into(),
        at_ms: 1_000 + version,
        origin: None,
    };
    StoreOp::AppendUpdates { document: id.into(), from: Version(from), updates: vec![update] }
}

fn line(action: &str) -> StoreOp {
    let detail = json!({"z": 1, "a": "ß", "n": 0.1});
    let entry = AuditEntry::new(action, &"usr_anna".into(), detail, 5);
    StoreOp::Audit(AuditEntry { document: Some("doc_a".into()), ..entry })
}

async fn version(store: &Store, id: &str) -> u64 {
    store.load(&DocumentId::from(id)).await.unwrap().unwrap().record.version.0
}

async fn node(database: &TestDatabase) -> Node {
    joined(database, None).await
}

/// A node with a Redis that is not there: nothing carries its messages.
async fn node_without_carrier(database: &TestDatabase) -> Node {
    let redis = "redis://127.0.0.1:1".parse().ok();
    joined(database, redis).await
}

async fn joined(database: &TestDatabase, redis: Option<RedisUrl>) -> Node {
    let (address, authorities) = ("http://127.0.0.1:1", TrustedAuthorities::default());
    let joined = Cluster::join(database.url(), redis, address, authorities).await;
    let (store, cluster) = joined.unwrap();
    Node { store, node: cluster.node() }
}

async fn holder(server: &Node, document: &str) -> Option<LeaseHolder> {
    server.node.lease_document(&DocumentId::from(document)).await.unwrap()
}

#[tokio::test]
async fn nodes_write_in_turn_and_the_audit_log_stays_one_chain() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(WriteBatch::from(create("doc_a")).with(line("one"))).await.unwrap();
    for number in 0..5 {
        let (one, two) = (line("a"), line("b"));
        let (one, two) = tokio::join!(
            first.commit(WriteBatch::from(append("doc_a", number)).with(one)),
            second.commit(two)
        );
        one.unwrap();
        two.unwrap();
    }
    assert_eq!(second.verify_audit().await.unwrap().seq, 11);
    assert_eq!(first.counts().split_groups, 0, "no one's line was in the way of another's");
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
    let of_first = first.node.address().clone();
    assert_eq!(elsewhere, Some(LeaseHolder::Elsewhere(of_first)));
    first.node.release(&"doc_a".into()).await;
    second.node.forget(&"doc_a".into());
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
    second.close().await;
    // With the node, its leases end.
    first.node.forget(&"doc_a".into());
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
}

#[tokio::test]
async fn a_document_that_is_given_back_late_stays_where_it_was_taken_again() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    let number = first.node.address().number;
    let on_its_way = NodeConnections::open(&database.url(), number).await.unwrap();
    let name = "document/doc_a";
    let before = on_its_way.lease(name, None).await.unwrap().unwrap();
    // No one knows what became of the statement that gives it back, and someone opens it again.
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
    on_its_way.release(name, before.term).await.unwrap();
    let elsewhere = holder(&second, "doc_a").await;
    assert!(matches!(elsewhere, Some(LeaseHolder::Elsewhere(_))), "{elsewhere:?}");
    first.node.release(&"doc_a".into()).await;
    second.node.forget(&"doc_a".into());
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
}

#[tokio::test]
async fn a_node_that_was_removed_writes_nothing_more() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    assert_eq!(holder(&first, "doc_a").await, Some(LeaseHolder::Here));
    let number = first.node.address().number;
    let remove = format!("DELETE FROM nodes WHERE number = {number}");
    database.run(&remove).await;
    assert_eq!(holder(&second, "doc_a").await, Some(LeaseHolder::Here));
    let refused = first.commit(append("doc_a", 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Replaced), "{refused:?}");
    let refused = first.node.lease_document(&"doc_a".into()).await;
    assert!(matches!(refused, Ok(Some(LeaseHolder::Elsewhere(_)))), "{refused:?}");
    second.commit(append("doc_a", 0)).await.unwrap();
    assert_eq!(version(&second, "doc_a").await, 1);
}

#[tokio::test]
async fn nodes_and_a_server_alone_exclude_each_other() {
    let database = postgres!();
    let alone = database.alone().await.unwrap();
    let refused = Store::join(database.url(), "http://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    alone.close().await;
    let (first, second) = (node(&database).await, node(&database).await);
    let refused = database.alone().await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    first.close().await;
    second.close().await;
    database.alone().await.unwrap().commit(create("doc_a")).await.unwrap();
}

#[tokio::test]
async fn a_lost_session_of_a_node_is_made_up_for() {
    let database = postgres!();
    let (first, second) = (node(&database).await, node(&database).await);
    first.commit(create("doc_a")).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_locks
        JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND datname = current_database()";
    database.run(end).await;
    first.commit(append("doc_a", 0)).await.unwrap();
    second.commit(append("doc_a", 1)).await.unwrap();
    assert_eq!(version(&first, "doc_a").await, 2);
}

#[tokio::test]
async fn what_nothing_carries_is_found_in_the_database_once_and_in_order() {
    let database = postgres!();
    let first = node_without_carrier(&database).await;
    first.node.tell(&PeerMessage::Cancel("before".into())).await;
    let second = node_without_carrier(&database).await;
    let attending = Arc::clone(&second.node);
    let mut news = attending.news();
    let task = tokio::spawn(async move { attending.attend().await });
    let expected = ["a", "b", "c"].map(|session| PeerMessage::Cancel(session.into()));
    for message in &expected {
        first.node.tell(message).await;
    }
    for message in expected {
        let heard = tokio::time::timeout(Duration::from_secs(10), news.recv()).await;
        assert_eq!(heard.unwrap().unwrap(), (first.node.address().number, message));
    }
    // Another look finds nothing new.
    let more = tokio::time::timeout(Duration::from_millis(1_500), news.recv()).await;
    assert!(more.is_err(), "{more:?}");
    task.abort();
}
