//! The database of a story: SQLite in the data directory, or, with
//! `COPYDESK_STORIES_DATABASE=postgres`, one of its own in PostgreSQL.
//!
//! `COPYDESK_TEST_POSTGRES` is the address of a PostgreSQL server on which databases may be created
//! (default: `postgres://postgres@127.0.0.1:5432/postgres`).

use std::cell::RefCell;
use std::env;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use sqlx_postgres::PgConnection;

const SERVER: &str = "postgres://postgres@127.0.0.1:5432/postgres";

thread_local! {
    /// Address of the database of the story that is told on this thread.
    static OF_THIS_STORY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The address of the database of the story on this thread; `None`: it is in the data directory.
pub fn of_this_story() -> Option<String> {
    OF_THIS_STORY.with_borrow(Clone::clone)
}

/// Returns `true`, loudly, if stories are told on PostgreSQL and this one cannot be.
pub fn needs_sqlite(reason: &str) -> bool {
    if on_postgres() {
        eprintln!("\n*** SKIPPED on PostgreSQL: {reason}\n");
    }
    on_postgres()
}

fn on_postgres() -> bool {
    env::var("COPYDESK_STORIES_DATABASE").is_ok_and(|database| database == "postgres")
}

fn server() -> String {
    env::var("COPYDESK_TEST_POSTGRES").unwrap_or_else(|_| SERVER.to_owned())
}

/// Database in PostgreSQL that goes away with the story.
pub struct StoryDatabase {
    name: String,
}

impl StoryDatabase {
    /// A new database; `None` if stories are told on SQLite.
    pub fn create() -> Option<Self> {
        on_postgres().then(Self::on_server)
    }

    /// A new database on the PostgreSQL server.
    pub fn on_server() -> Self {
        let name = format!("copydesk_story_{}", uuid::Uuid::new_v4().simple());
        run(format!("CREATE DATABASE {name} TEMPLATE template0")).expect("there is PostgreSQL");
        let database = Self { name };
        OF_THIS_STORY.set(Some(database.url()));
        database
    }

    /// Its address.
    pub fn url(&self) -> String {
        let server = server();
        let end = server.rfind('/').expect("the address has a database");
        format!("{}/{}", &server[..end], self.name)
    }
}

impl Drop for StoryDatabase {
    fn drop(&mut self) {
        OF_THIS_STORY.set(None);
        if let Err(error) = run(format!("DROP DATABASE {} WITH (FORCE)", self.name)) {
            eprintln!("a database is left behind: {error}");
        }
    }
}

/// Runs a statement on the server, on a thread of its own: the story may be in a runtime.
fn run(sql: String) -> sqlx::Result<()> {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("there is a runtime").block_on(async {
            let mut connection = PgConnection::connect(&server()).await?;
            connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
            connection.close().await
        })
    };
    std::thread::spawn(work).join().expect("it ends")
}
