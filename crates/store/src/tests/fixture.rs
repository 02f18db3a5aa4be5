//! Databases for tests: each story runs on SQLite and on PostgreSQL.
//!
//! `COPYDESK_TEST_POSTGRES` is the address of a PostgreSQL server on which databases may be created
//! (default: `postgres://postgres@127.0.0.1:5432/postgres`). Without one the stories on PostgreSQL
//! are skipped, loudly; with `COPYDESK_REQUIRE_ALL=1` that is a failure.

use std::env;
use std::io::Write as _;
use std::sync::Once;

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use sqlx_postgres::{PgConnectOptions, PgConnection};
use tempfile::TempDir;

use crate::database::reading::ReadDatabase;
use crate::{Store, StoreAccess, StorePlace};

const SERVER: &str = "postgres://postgres@127.0.0.1:5432/postgres";

/// Says it once for all tests.
static SKIPPED: Once = Once::new();

/// Database that goes away with the test.
pub(super) enum TestDatabase {
    Sqlite(TempDir),
    Postgres(TestPostgres),
}

/// Database on a PostgreSQL server.
pub(super) struct TestPostgres {
    server: String,
    name: String,
}

/// Declares the tests of stories that run on both databases.
macro_rules! on_both_databases {
    ($($story:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $story() {
                    super::$story(super::TestDatabase::sqlite()).await;
                }
            )+
        }

        mod on_postgres {
            $(
                #[tokio::test]
                async fn $story() {
                    if let Some(database) = super::TestDatabase::postgres().await {
                        super::$story(database).await;
                    }
                }
            )+
        }
    };
}
pub(super) use on_both_databases;

impl TestDatabase {
    pub(super) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A new database; `None` without a server.
    pub(super) async fn postgres() -> Option<Self> {
        Self::postgres_with("").await
    }

    /// A new database that is created with `options`.
    pub(super) async fn postgres_with(options: &str) -> Option<Self> {
        let server = env::var("COPYDESK_TEST_POSTGRES").unwrap_or_else(|_| SERVER.to_owned());
        let mut connection = match PgConnection::connect(&server).await {
            Ok(connection) => connection,
            Err(error) => {
                let required = env::var_os("COPYDESK_REQUIRE_ALL").is_some_and(|all| all == "1");
                assert!(!required, "no PostgreSQL ({error}), and COPYDESK_REQUIRE_ALL=1");
                SKIPPED.call_once(|| {
                    // Written past the test runner, which would keep it to itself.
                    let why = format!("no PostgreSQL at {server}: {error}");
                    let words = format!("\n*** SKIPPED: the store on PostgreSQL: {why}\n");
                    std::io::stderr().write_all(words.as_bytes()).ok();
                });
                return None;
            }
        };
        let name = format!("copydesk_test_{}", uuid::Uuid::new_v4().simple());
        let create = format!("CREATE DATABASE {name} TEMPLATE template0 {options}");
        connection.execute(sqlx::raw_sql(AssertSqlSafe(create))).await.unwrap();
        Some(Self::Postgres(TestPostgres { server, name }))
    }

    pub(super) fn place(&self) -> StorePlace {
        match self {
            Self::Sqlite(directory) => directory.path().into(),
            Self::Postgres(database) => StorePlace::Postgres(database.url().parse().unwrap()),
        }
    }

    pub(super) async fn open(&self, access: StoreAccess) -> Store {
        Store::open(self.place(), access).await.unwrap()
    }

    /// A store of a server; SQLite keeps it in memory.
    pub(super) async fn store(&self) -> Store {
        match self {
            Self::Sqlite(_) => Store::in_memory().await.unwrap(),
            Self::Postgres(_) => self.open(StoreAccess::Serve).await,
        }
    }

    /// Runs statements as a person with a database shell would.
    pub(super) async fn run(&self, store: &Store, sql: impl Into<String>) -> sqlx::Result<()> {
        let statements = sqlx::raw_sql(AssertSqlSafe(sql.into()));
        match (self, store.readers().database()) {
            (Self::Postgres(database), _) => {
                let mut shell = PgConnection::connect(&database.url()).await?;
                shell.execute(statements).await?;
            }
            (Self::Sqlite(_), ReadDatabase::Sqlite(pool)) => {
                pool.execute(statements).await?;
            }
            (Self::Sqlite(_), ReadDatabase::Postgres(_)) => unreachable!(),
        }
        Ok(())
    }
}

impl TestPostgres {
    pub(super) fn url(&self) -> String {
        let options: PgConnectOptions = self.server.parse().unwrap();
        let server = &self.server[..self.server.rfind('/').unwrap()];
        assert!(options.get_database().is_some(), "the address has a database");
        format!("{server}/{}", self.name)
    }
}

impl Drop for TestPostgres {
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
