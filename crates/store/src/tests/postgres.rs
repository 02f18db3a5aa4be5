//! Faults that only PostgreSQL has: connections get lost, servers are not what is needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use sqlx::{Connection as _, Executor as _};
use sqlx_postgres::PgConnection;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A new database; without a server the story is skipped.
macro_rules! postgres {
    () => {
        match TestDatabase::postgres().await {
            Some(database) => database,
            None => return,
        }
    };
}

/// Ends the sessions of `copydesk` that hold a lock, which is the one that writes.
const END_THE_WRITER: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks
    JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE locktype = 'advisory' AND datname = current_database()";

#[tokio::test]
async fn a_server_whose_connection_was_ended_goes_on() {
    let database = postgres!();
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(line("one"))).await.unwrap();
    database.run(&store, END_THE_WRITER).await.unwrap();
    store.commit(WriteBatch::from(append("doc_a", 0, 1)).with(line("two"))).await.unwrap();
    assert_eq!(version(&store, "doc_a").await, 1);
    assert_eq!(store.verify_audit().await.unwrap().seq, 2);
    // It has the lock again.
    let second = Store::open(database.place(), StoreAccess::Serve).await.unwrap_err();
    assert!(matches!(second, StoreError::InUse { .. }), "{second:?}");
}

#[tokio::test]
async fn of_two_servers_only_the_one_with_the_lock_writes() {
    let database = postgres!();
    let first = database.store().await;
    first.commit(create("doc_a")).await.unwrap();
    // The lock of the first one is gone before it notices.
    let take_over = async {
        loop {
            database.run(&first, END_THE_WRITER).await.unwrap();
            if let Ok(second) = Store::open(database.place(), StoreAccess::Serve).await {
                return second;
            }
        }
    };
    let second = take_over.await;
    second.commit(append("doc_a", 0, 1)).await.unwrap();
    let refused = first.commit(append("doc_a", 1, 1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused:?}");
    // Nor afterwards: what it holds in memory is out of date.
    second.close().await;
    let refused = first.commit(append("doc_a", 1, 1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Replaced), "{refused:?}");
    let third = database.store().await;
    assert_eq!(version(&third, "doc_a").await, 1);
}

/// Action of a proxy at the next `COMMIT` that passes.
#[derive(Clone, Copy)]
enum Cut {
    Nothing,
    /// The connection ends before the server has it.
    Before,
    /// The connection ends after the server has answered.
    After,
    /// As `After`, and no one is let in any more.
    ForGood,
    /// The connection ends on this side, while the server has not answered yet.
    Here,
    /// Connections on which a view begins stay open, and carry nothing any more.
    Silent,
}

/// Network between a store and PostgreSQL that loses connections when it is asked to.
struct Proxy {
    port: u16,
    cut: Arc<AtomicU8>,
}

impl Proxy {
    async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(Cut::Nothing as u8));
        let armed = Arc::clone(&cut);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if armed.load(Ordering::SeqCst) == u8::MAX {
                    continue;
                }
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(pass(client, server, Arc::clone(&armed)));
            }
        });
        Self { port, cut }
    }

    fn cuts(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }
}

/// Passes bytes both ways until a connection is to be lost.
async fn pass(mut client: TcpStream, mut server: TcpStream, armed: Arc<AtomicU8>) {
    let (mut from_client, mut from_server) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(read @ 1..) = read else { return };
                let message = &from_client[..read];
                let begins = message.windows(6).any(|it| it == b"BEGIN ");
                if begins && armed.load(Ordering::SeqCst) == Cut::Silent as u8 {
                    // No one learns that the other end is gone.
                    std::future::pending::<()>().await;
                }
                let is_commit = message.windows(7).any(|it| it == b"COMMIT\0");
                let cut = armed.load(Ordering::SeqCst);
                if is_commit && cut == Cut::Before as u8 {
                    armed.store(Cut::Nothing as u8, Ordering::SeqCst);
                    return;
                }
                server.write_all(message).await.unwrap();
                if is_commit && cut == Cut::Here as u8 {
                    armed.store(Cut::Nothing as u8, Ordering::SeqCst);
                    drop(client);
                    // No one learns what the database answers.
                    drop(server.read(&mut from_server).await);
                    return;
                }
                if is_commit && cut != Cut::Nothing as u8 {
                    let is_last = cut == Cut::ForGood as u8;
                    armed.store(if is_last { u8::MAX } else { 0 }, Ordering::SeqCst);
                    assert!(server.read(&mut from_server).await.unwrap() > 0);
                    return;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(read @ 1..) = read else { return };
                if client.write_all(&from_server[..read]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn behind_a_proxy(database: &TestDatabase) -> (Store, Proxy) {
    let TestDatabase::Postgres(postgres) = database else { unreachable!() };
    let url = postgres.url();
    let (address, name) = url.rsplit_once('/').unwrap();
    let (user, server) = address.rsplit_once('@').unwrap();
    let proxy = Proxy::start(server.to_owned()).await;
    let url = format!("{user}@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
    let place = StorePlace::Postgres(url.parse().unwrap());
    (Store::open(place, StoreAccess::Serve).await.unwrap(), proxy)
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_looked_up_and_made_once() {
    let database = postgres!();
    let (store, proxy) = behind_a_proxy(&database).await;
    store.commit(create("doc_a")).await.unwrap();
    for (from, cut) in [(0, Cut::After), (1, Cut::Before), (2, Cut::Nothing), (3, Cut::After)] {
        proxy.cuts(cut);
        let batch = WriteBatch::from(append("doc_a", from, 1)).with(line("edited"));
        store.commit(batch).await.unwrap();
        assert_eq!(version(&store, "doc_a").await, from + 1);
    }
    assert_eq!(store.verify_audit().await.unwrap().seq, 4);
}

#[tokio::test]
async fn a_group_whose_answer_is_lost_is_not_written_twice() {
    let database = postgres!();
    let (store, proxy) = behind_a_proxy(&database).await;
    store.commit(create("doc_a")).await.unwrap();
    proxy.cuts(Cut::After);
    // The group is split, as one batch is refused.
    let (first, refused, last) = tokio::join!(
        store.commit(WriteBatch::from(append("doc_a", 0, 1)).with(line("one"))),
        store.commit(append("doc_a", 7, 1)),
        store.commit(WriteBatch::from(append("doc_a", 1, 1)).with(line("two"))),
    );
    assert!(first.is_ok() && last.is_ok(), "{first:?} {last:?}");
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    assert_eq!(version(&store, "doc_a").await, 2);
    assert_eq!(store.verify_audit().await.unwrap().seq, 2);
}

#[tokio::test]
async fn what_no_one_can_know_is_told_as_that() {
    let database = postgres!();
    let (store, proxy) = behind_a_proxy(&database).await;
    store.commit(create("doc_a")).await.unwrap();
    proxy.cuts(Cut::ForGood);
    let unknown = store.commit(append("doc_a", 0, 1)).await.unwrap_err();
    assert!(matches!(unknown, StoreError::OutcomeUnknown { .. }), "{unknown:?}");
    assert!(unknown.in_plain_words().contains("unknown"), "{unknown}");
    // Later ones fail at once: the connection was not there when they began.
    let later = tokio::time::timeout(Duration::from_secs(8), store.commit(setting("later")));
    let later = later.await.unwrap().unwrap_err();
    assert!(matches!(later, StoreError::Unreachable { .. }), "{later:?}");
    proxy.cuts(Cut::Nothing);
    store.commit(setting("again")).await.unwrap();
    assert_eq!(version(&store, "doc_a").await, 1, "it had been stored");
}

/// Lets commits wait for a lock, however long.
const COMMITS_WAIT: &str = "CREATE FUNCTION wait_for_story() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM set_config('lock_timeout', '0', true);
        PERFORM pg_advisory_xact_lock_shared(4711, 1);
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER updates_wait AFTER INSERT ON updates
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_for_story()";

#[tokio::test]
async fn what_may_still_be_committed_is_settled_before_anything_is_read() {
    let database = postgres!();
    let (store, proxy) = behind_a_proxy(&database).await;
    store.commit(create("doc_a")).await.unwrap();
    database.run(&store, COMMITS_WAIT).await.unwrap();
    let TestDatabase::Postgres(there) = &database else { unreachable!() };
    let mut shell = PgConnection::connect(&there.url()).await.unwrap();
    shell.execute("SELECT pg_advisory_lock(4711, 1)").await.unwrap();
    proxy.cuts(Cut::Here);
    let unknown = store.commit(append("doc_a", 0, 1)).await.unwrap_err();
    assert!(matches!(unknown, StoreError::OutcomeUnknown { .. }), "{unknown:?}");
    // Nothing of it can be read yet, and it is going to be there.
    assert_eq!(version(&store, "doc_a").await, 0);
    assert!(store.settle().await.is_err(), "it is committing all the while");
    shell.execute("SELECT pg_advisory_unlock(4711, 1)").await.unwrap();
    while store.settle().await.is_err() {}
    assert_eq!(version(&store, "doc_a").await, 1);
    store.commit(append("doc_a", 1, 1)).await.unwrap();
}

#[tokio::test]
async fn readers_whose_database_fell_silent_are_replaced() {
    let database = postgres!();
    let (store, proxy) = behind_a_proxy(&database).await;
    store.commit(create("doc_a")).await.unwrap();
    let all = || futures_util::future::join_all((0..20).map(|_| version(&store, "doc_a")));
    all().await;
    proxy.cuts(Cut::Silent);
    // Given up, as after the longest wait for an answer.
    tokio::time::timeout(Duration::from_millis(300), all()).await.unwrap_err();
    proxy.cuts(Cut::Nothing);
    let read_again = async { while store.load(&DocumentId::from("doc_a")).await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(30), read_again).await.unwrap();
}

#[tokio::test]
async fn a_visitor_changes_no_tables_under_a_running_server() {
    let database = postgres!();
    // A server of another version: it has the lock, and no table that this program knows.
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    let mut server = super::super::database::postgres::session::connect(&url).await.unwrap();
    assert!(super::super::database::postgres::server::try_lock(&mut server).await.unwrap());
    let refused = Store::open(database.place(), StoreAccess::Visit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Shape { found: 0, .. }), "{refused:?}");
    assert!(!Store::is_at(&database.place()).await.unwrap());
}

#[tokio::test]
async fn an_inspection_finds_what_a_database_shell_has_done() {
    let database = postgres!();
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    let statements = "ALTER TABLE updates DISABLE TRIGGER updates_stay;
        DROP TRIGGER audit_remains ON audit;
        SET session_replication_role = replica;
        INSERT INTO clients (document, client, user_id) VALUES ('doc_none', 'c_1', 'usr_anna')";
    database.run(&store, statements).await.unwrap();
    let inspector = database.open(StoreAccess::Inspect).await;
    let mut moment = inspector.inspect().await.unwrap();
    assert_eq!(moment.missing_guards().await.unwrap(), ["updates_stay", "audit_remains"]);
    let found = moment.integrity().await.unwrap();
    assert_eq!(found, ["1 rows of clients refer to nothing in documents"]);
    let refused = inspector.commit(setting("changed")).await.unwrap_err();
    assert!(refused.to_string().contains("read-only"), "{refused}");
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_refused_with_the_reason() {
    let Some(database) =
        TestDatabase::postgres_with("ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'").await
    else {
        return;
    };
    let TestDatabase::Postgres(postgres) = &database else { unreachable!() };
    let url = postgres.url();
    let (server, name) = url.rsplit_once('/').unwrap();
    let user = format!("reader_{}", uuid::Uuid::new_v4().simple());
    let host = server.rsplit_once('@').unwrap().1;
    let other = postgres!();
    let shell = other.store().await;
    other.run(&shell, format!("CREATE ROLE {user} LOGIN")).await.unwrap();
    let TestDatabase::Postgres(there) = &other else { unreachable!() };
    let fresh = there.url().rsplit_once('/').unwrap().1.to_owned();
    shell.close().await;
    other.run(&shell, "DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    other.run(&shell, format!("GRANT USAGE ON SCHEMA public TO {user}")).await.unwrap();
    let cases = [
        (format!("{server}/{name}"), "SQL_ASCII"),
        (format!("{server}/copydesk_none"), "does not exist"),
        ("postgres://postgres:hunter2@127.0.0.1:1/desk".to_owned(), "cannot reach"),
        (format!("postgres://{user}:hunter2@{host}/{fresh}"), "may not create tables"),
        (format!("postgres://nobody_at_all:hunter2@{host}/{fresh}"), "nobody_at_all"),
    ];
    for (url, reason) in cases {
        let place = StorePlace::Postgres(url.parse().unwrap());
        let shown = format!("{place:?}");
        let refused = Store::open(place, StoreAccess::Serve).await.unwrap_err();
        let message = format!("{shown} {refused}");
        assert!(message.contains(reason), "{url}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    other.run(&shell, format!("DROP OWNED BY {user}; DROP ROLE {user}")).await.unwrap();
}

#[test]
fn an_address_that_is_wrong_is_refused_without_being_repeated() {
    for url in [
        "",
        "hunter2",
        "mysql://anna:hunter2@db.example/desk",
        "sqlite://hunter2",
        "postgres://anna:hunter2@db.example:port/desk",
        "postgres://anna@db.example/desk?pasword=hunter2",
        "postgres://anna@db.example/desk?sslmode=hunter2",
    ] {
        let message = url.parse::<DatabaseUrl>().unwrap_err().to_string();
        assert!(
            message.contains("address of the database") && !message.contains("hunter2"),
            "{message}"
        );
    }
    let url: DatabaseUrl = "postgresql://anna:hunter2@db.example/desk".parse().unwrap();
    assert_eq!(url.to_string(), "postgres://db.example:5432/desk");
    assert!(!format!("{url:?}").contains("hunter2"));
}
