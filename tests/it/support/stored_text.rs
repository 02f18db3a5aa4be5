//! Everything that a database stores, as text: for stories about what must not be in it any more.

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use sqlx_postgres::PgConnection;
use sqlx_sqlite::SqliteConnectOptions;

use super::TestServer;

/// Every row of every table, whatever tables and columns there are: the table and the row.
pub fn stored_rows(copydesk: &TestServer) -> Vec<(String, String)> {
    let runtime = tokio::runtime::Runtime::new().expect("there is a runtime");
    runtime.block_on(async {
        match super::database::of_this_story() {
            Some(url) => in_postgres(&url).await,
            None => in_sqlite(copydesk).await,
        }
    })
}

async fn in_sqlite(copydesk: &TestServer) -> Vec<(String, String)> {
    let options = SqliteConnectOptions::new().filename(copydesk.data().join("copydesk.sqlite"));
    let mut database = options.read_only(true).connect().await.expect("there is data");
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let tables: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut database).await.unwrap();
    let mut rows = Vec::new();
    for table in tables {
        let sql = "SELECT name FROM pragma_table_info($1)";
        let columns: Vec<String> =
            sqlx::query_scalar(sql).bind(&table).fetch_all(&mut database).await.unwrap();
        let texts = columns.iter().map(|it| format!("COALESCE(CAST(\"{it}\" AS TEXT), '')"));
        let texts = texts.collect::<Vec<_>>().join(" || ' | ' || ");
        // Checksums of migrations are no text.
        let sql = AssertSqlSafe(format!("SELECT CAST({texts} AS BLOB) FROM \"{table}\""));
        let found: Vec<Vec<u8>> = sqlx::query_scalar(sql).fetch_all(&mut database).await.unwrap();
        let found = found.iter().map(|row| String::from_utf8_lossy(row).into_owned());
        rows.extend(found.map(|row| (table.clone(), row)));
    }
    rows
}

async fn in_postgres(url: &str) -> Vec<(String, String)> {
    let mut database = PgConnection::connect(url).await.expect("there is PostgreSQL");
    let sql = "SELECT relname::text FROM pg_class WHERE relkind = 'r'
         AND relnamespace = current_schema()::regnamespace";
    let tables: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut database).await.unwrap();
    let mut rows = Vec::new();
    for table in tables {
        let text = match table.as_str() {
            "snapshots" => "document || ' ' || convert_from(content, 'UTF8')",
            _ => "rows::text",
        };
        let sql = AssertSqlSafe(format!("SELECT {text} FROM \"{table}\" AS rows"));
        let found: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut database).await.unwrap();
        rows.extend(found.into_iter().map(|row| (table.clone(), row)));
    }
    rows
}
