//! Values of any column, as a transfer carries them, and digests of rows.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};
use sqlx::{Column as _, Row as _, TypeInfo as _, ValueRef as _};
use sqlx_postgres::PgRow;
use sqlx_sqlite::SqliteRow;

use crate::database::columns::{ColumnData, ColumnType, ColumnValue};
use crate::{StoreError, StoreResult};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CarriedValue {
    Missing,
    Text(String),
    /// Number, or 0 or 1 for a boolean.
    Number(i64),
}

pub(crate) struct FittedValue<'a>(pub &'a CarriedValue, pub ColumnType);

/// Number of rows of a table, and a sum of their hashes, which does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableDigest {
    pub rows: u64,
    sum: [u64; 4],
}

impl CarriedValue {
    pub(crate) fn of_sqlite(row: &SqliteRow, column: usize) -> StoreResult<Self> {
        let value = row.try_get_raw(column)?;
        if value.is_null() {
            return Ok(Self::Missing);
        }
        Ok(match value.type_info().name() {
            "INTEGER" | "BOOLEAN" => Self::Number(row.try_get_unchecked(column)?),
            "TEXT" => Self::Text(row.try_get_unchecked(column)?),
            other => return Err(unknown(row.column(column).name(), other)),
        })
    }

    pub(crate) fn of_postgres(row: &PgRow, column: usize) -> StoreResult<Self> {
        let of = row.column(column);
        let read = match of.type_info().name() {
            "TEXT" => row.try_get::<Option<String>, _>(column)?.map(Self::Text),
            "INT8" => row.try_get::<Option<i64>, _>(column)?.map(Self::Number),
            "BOOL" => row.try_get::<Option<bool>, _>(column)?.map(|is| Self::Number(is.into())),
            "BYTEA" => match row.try_get::<Option<Vec<u8>>, _>(column)? {
                Some(bytes) => {
                    let text = String::from_utf8(bytes);
                    Some(Self::Text(text.map_err(|error| StoreError::corrupt(of.name(), &error))?))
                }
                None => None,
            },
            other => return Err(unknown(of.name(), other)),
        };
        Ok(read.unwrap_or(Self::Missing))
    }

    pub(crate) fn size(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { size_of::<i64>() }
    }

    /// Replaces NUL, which no text of PostgreSQL can have; returns `true` if there was one.
    pub(crate) fn replace_nul(&mut self) -> bool {
        match self {
            Self::Text(text) if text.contains('\0') => {
                *text = text.replace('\0', "\u{fffd}");
                true
            }
            _ => false,
        }
    }

    fn hash(&self, into: &mut Sha256) {
        match self {
            Self::Missing => into.update(b"-"),
            Self::Text(text) => {
                into.update(b"t");
                into.update((text.len() as u64).to_be_bytes());
                into.update(text);
            }
            Self::Number(number) => {
                into.update(b"n");
                into.update(number.to_be_bytes());
            }
        }
    }
}

fn unknown(column: &str, kind: &str) -> StoreError {
    StoreError::corrupt(column, &format!("it has a value of the unknown type {kind}"))
}

impl ColumnValue for FittedValue<'_> {
    fn data(&self) -> ColumnData<'_> {
        match (self.0, self.1) {
            (CarriedValue::Missing, column) => ColumnData::Missing(column),
            (CarriedValue::Text(text), ColumnType::Bytes) => ColumnData::AnyText(text),
            (CarriedValue::Text(text), _) => ColumnData::Text(Cow::Borrowed(text)),
            (CarriedValue::Number(number), ColumnType::Boolean) => {
                ColumnData::Boolean(*number != 0)
            }
            (CarriedValue::Number(number), _) => ColumnData::Integer(*number),
        }
    }
}

impl TableDigest {
    pub(crate) fn add(&mut self, row: &[CarriedValue]) {
        let mut hasher = Sha256::new();
        for value in row {
            value.hash(&mut hasher);
        }
        let hash = hasher.finalize();
        for (sum, part) in self.sum.iter_mut().zip(hash.chunks_exact(8)) {
            let part = part.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
        self.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str, number: i64) -> Vec<CarriedValue> {
        vec![CarriedValue::Text(text.to_owned()), CarriedValue::Number(number)]
    }

    fn digest(rows: &[Vec<CarriedValue>]) -> TableDigest {
        let mut digest = TableDigest::default();
        for row in rows {
            digest.add(row);
        }
        digest
    }

    #[test]
    fn a_digest_is_of_the_rows_and_not_of_their_order() {
        let all = digest(&[row("a", 1), row("b", 2)]);
        assert_eq!(all, digest(&[row("b", 2), row("a", 1)]));
        for other in [
            &[row("a", 2), row("b", 1)][..],
            &[row("a", 1)],
            &[row("a", 1), row("b", 2), row("b", 2)],
            &[row("a", 1), vec![CarriedValue::Text("b".into()), CarriedValue::Missing]],
        ] {
            assert_ne!(all, digest(other));
        }
        let (one, other) = (["ab", "c"], ["a", "bc"]);
        let texts = |all: [&str; 2]| all.map(|it| CarriedValue::Text(it.into())).to_vec();
        assert_ne!(digest(&[texts(one)]), digest(&[texts(other)]));
    }
}
