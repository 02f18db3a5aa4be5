//! Replacement of what a PostgreSQL database has: it moves into a schema of its own, and the tables
//! are made anew, in one transaction.

use sqlx::AssertSqlSafe;
use sqlx_core::transaction::TransactionManager as _;
use sqlx_postgres::{PgConnection, PgTransactionManager};

use super::address::DatabaseUrl;
use super::{NO_RIGHTS, migrate, shape};
use crate::database::migrations;
use crate::database::transfer::tables::{COPIED, LEFT_IN_POSTGRES};
use crate::{StoreError, StoreResult};
use copydesk_failpoint as failpoint;

/// Functions that the migrations create.
const FUNCTIONS: [&str; 3] = ["json_each(text)", "refuse_change()", "refuse_other_change()"];

/// Code of the error for a lock that another session has had for too long.
const LOCKED: &str = "55P03";

/// Begins the transaction in which everything is replaced: moves all that is there into a new
/// schema, whose name is returned, and makes empty tables. What follows is written on the same
/// connection, which has the lock of the server, and then committed.
pub(crate) async fn begin_replacing(
    url: &DatabaseUrl,
    connection: &mut PgConnection,
) -> StoreResult<String> {
    check_objects(url, connection).await?;
    // However long the other side takes.
    sqlx::raw_sql("SET idle_in_transaction_session_timeout = 0").execute(&mut *connection).await?;
    // Known to the library, so that each migration is a part of it.
    PgTransactionManager::begin(connection, None).await?;
    let last_node = last_node(connection).await?;
    let schema = set_aside(connection).await.map_err(|error| explained(url, error))?;
    migrate(url, connection).await?;
    if let Some(last) = last_node {
        // A server that has lost its session knows itself by its number, which must stay its own.
        let sql = "SELECT setval(pg_get_serial_sequence('nodes', 'number')::regclass, $1)";
        sqlx::query(sql).bind(last).execute(&mut *connection).await?;
    }
    failpoint::pass("transfer.set_aside");
    Ok(schema)
}

/// Checks that everything in the schema that a newer version may have made is known.
async fn check_objects(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    if shape(connection).await? <= migrations::newest(&migrations::POSTGRES) {
        // What is not known belongs to others, and stays.
        return Ok(());
    }
    let mut unknown = tables(connection).await?;
    unknown.extend(functions(connection).await?);
    unknown.retain(|name| !is_known(name));
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown = unknown.join(", ");
    let reason = format!(
        "a newer version has used it, and this one does not know {unknown}; restore into another database"
    );
    Err(StoreError::Unsuitable { database: url.to_string(), reason })
}

fn is_known(name: &str) -> bool {
    COPIED.contains(&name) || LEFT_IN_POSTGRES.contains(&name) || FUNCTIONS.contains(&name)
}

async fn tables(connection: &mut PgConnection) -> StoreResult<Vec<String>> {
    let sql = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
         AND relnamespace = current_schema()::regnamespace AND NOT EXISTS
             (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')";
    Ok(sqlx::query_scalar(sql).fetch_all(connection).await?)
}

async fn functions(connection: &mut PgConnection) -> StoreResult<Vec<String>> {
    let sql = "SELECT pg_proc.oid::regprocedure::text FROM pg_proc
         WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS
             (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')";
    Ok(sqlx::query_scalar(sql).fetch_all(connection).await?)
}

async fn last_node(connection: &mut PgConnection) -> StoreResult<Option<i64>> {
    if !tables(connection).await?.iter().any(|table| table == "nodes") {
        return Ok(None);
    }
    let sql = "SELECT pg_sequence_last_value(pg_get_serial_sequence('nodes', 'number')::regclass)";
    Ok(sqlx::query_scalar(sql).fetch_one(connection).await?)
}

/// Moves all known tables, with what belongs to them, and functions into a new schema.
async fn set_aside(connection: &mut PgConnection) -> StoreResult<String> {
    let sql = "SELECT 'copydesk_replaced_' ||
         to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS')";
    let schema: String = sqlx::query_scalar(sql).fetch_one(&mut *connection).await?;
    run(connection, format!("CREATE SCHEMA {schema}")).await?;
    for table in tables(connection).await?.iter().filter(|name| is_known(name)) {
        run(connection, format!("ALTER TABLE {table} SET SCHEMA {schema}")).await?;
    }
    for function in functions(connection).await?.iter().filter(|name| is_known(name)) {
        run(connection, format!("ALTER FUNCTION {function} SET SCHEMA {schema}")).await?;
    }
    Ok(schema)
}

async fn run(connection: &mut PgConnection, sql: String) -> StoreResult<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

fn explained(url: &DatabaseUrl, error: StoreError) -> StoreError {
    let StoreError::Database(sqlx::Error::Database(cause)) = &error else { return error };
    let reason = match cause.code().as_deref() {
        Some(NO_RIGHTS) => {
            format!("its user may not set aside what is there: {}", cause.message())
        }
        Some(LOCKED) => "something else uses its tables, such as a backup; try again".to_owned(),
        _ => return error,
    };
    StoreError::Unsuitable { database: url.to_string(), reason }
}
