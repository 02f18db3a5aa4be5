//! Copy of everything that is stored from one database to another, which may be of the other kind.
//!
//! Tables are copied one by one within one transaction on either side, and read again from the
//! copy: the rows must have the same digest. So a copy is complete, or nothing is there.

pub(crate) mod side;
pub(crate) mod tables;
pub(crate) mod values;

use crate::database::columns::ColumnType;
use crate::{StoreError, StoreResult};
use side::{TransferColumn, TransferSide};
use values::{CarriedValue, TableDigest};

/// Values in one statement: fewer than SQLite and PostgreSQL take.
const MOST_VALUES: usize = 10_000;
/// Bytes of text in one statement, unless a single row has more.
const MOST_BYTES: usize = 1024 * 1024;

/// Rows that were copied.
#[derive(Clone, Debug, Default)]
pub struct TransferCounts {
    /// Rows by their tables.
    pub rows: Vec<(&'static str, u64)>,
    /// Values with a NUL character, which PostgreSQL does not have. They have U+FFFD instead.
    pub replaced: u64,
}

/// Copies all tables. Both sides have begun transactions; `to` is empty, and not committed yet.
pub async fn copy(from: &mut TransferSide, to: &mut TransferSide) -> StoreResult<TransferCounts> {
    for side in [&mut *from, &mut *to] {
        check_tables(side).await?;
    }
    let mut counts = TransferCounts::default();
    for table in tables::COPIED {
        let columns = common_columns(from, to, table).await?;
        let written = copy_table(from, to, table, &columns, &mut counts).await?;
        let mut read = TableDigest::default();
        to.each_row(table, &columns, async |row| {
            if !is_own_setting(table, &columns, &row) {
                read.add(&row);
            }
            Ok(())
        })
        .await?;
        if read != written {
            let reason =
                format!("{} rows were written, {} read differently", written.rows, read.rows);
            return Err(StoreError::corrupt(format!("the copy of {table}"), &reason));
        }
        counts.rows.push((table, written.rows));
    }
    for table in tables::NUMBERED {
        let last = from.last_number(table).await?;
        to.number_after(table, last).await?;
    }
    Ok(counts)
}

/// Checks that all tables of SQLite are known; a schema of PostgreSQL may have those of others.
async fn check_tables(side: &mut TransferSide) -> StoreResult<()> {
    if matches!(side, TransferSide::Postgres(_)) {
        return Ok(());
    }
    let found = side.tables().await?;
    let is_known =
        |name: &str| tables::COPIED.contains(&name) || tables::LEFT_IN_SQLITE.contains(&name);
    match found.iter().find(|name| !is_known(name)) {
        Some(unknown) => Err(StoreError::corrupt(
            format!("the table {unknown}"),
            "it is not known, so it would not be copied",
        )),
        None => Ok(()),
    }
}

/// Returns the columns of a table, as `to` has them, which must be those of `from`.
async fn common_columns(
    from: &mut TransferSide,
    to: &mut TransferSide,
    table: &str,
) -> StoreResult<Vec<TransferColumn>> {
    let (here, there) = (from.columns(table).await?, to.columns(table).await?);
    let is_same = here.iter().map(|(name, _)| name).eq(there.iter().map(|(name, _)| name));
    if !is_same || there.is_empty() {
        let what = format!("the table {table}");
        return Err(StoreError::corrupt(what, "both databases have it with other columns"));
    }
    Ok(there)
}

async fn copy_table(
    from: &mut TransferSide,
    to: &mut TransferSide,
    table: &'static str,
    columns: &[TransferColumn],
    counts: &mut TransferCounts,
) -> StoreResult<TableDigest> {
    let (mut digest, mut waiting, mut bytes) = (TableDigest::default(), Vec::new(), 0);
    let takes_no_nul = matches!(to, TransferSide::Postgres(_));
    from.each_row(table, columns, async |mut row: Vec<CarriedValue>| {
        if is_own_setting(table, columns, &row) {
            return Ok(());
        }
        for (value, (name, column)) in row.iter_mut().zip(columns) {
            if takes_no_nul && matches!(column, ColumnType::Text) && value.replace_nul() {
                if table == tables::HASHED {
                    let what = format!("{table}.{name}");
                    return Err(StoreError::corrupt(what, "it has a NUL character"));
                }
                counts.replaced += 1;
            }
        }
        digest.add(&row);
        bytes += row.iter().map(CarriedValue::size).sum::<usize>();
        waiting.push(row);
        if bytes >= MOST_BYTES || (waiting.len() + 1) * columns.len() > MOST_VALUES {
            to.insert(table, columns, &waiting).await?;
            waiting.clear();
            bytes = 0;
        }
        Ok(())
    })
    .await?;
    to.insert(table, columns, &waiting).await?;
    Ok(digest)
}

/// Returns `true` for the row of one of [`tables::OWN_SETTINGS`].
pub fn is_own_setting(table: &str, columns: &[TransferColumn], row: &[CarriedValue]) -> bool {
    let is_it = |(value, (name, _)): (&CarriedValue, &TransferColumn)| {
        name == "key"
            && matches!(value, CarriedValue::Text(key) if tables::OWN_SETTINGS.contains(&key.as_str()))
    };
    table == "settings" && row.iter().zip(columns).any(is_it)
}
