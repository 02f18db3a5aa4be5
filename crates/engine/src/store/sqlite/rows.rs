//! Values of columns; `copydesk_core` says how identifiers, versions and roles are read. Nothing
//! else trusts the contents of the database; a bad value is reported as
//! [`StoreError::Corrupt`](crate::store::StoreError::Corrupt).

use serde_json::Value;
use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, FromRow, Row as _};
use sqlx_sqlite::{SqliteArguments, SqliteRow};

use crate::ids::{
    ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId, SessionId, TokenId, UserId,
    Version, WebhookId,
};
use crate::permissions::Role;
use crate::store::records::{FileRecord, RunState};

/// Record that can be read from a row, by the names of its columns.
pub(crate) trait RowRecord: for<'r> FromRow<'r, SqliteRow> {}

impl<T: for<'r> FromRow<'r, SqliteRow>> RowRecord for T {}

/// Converts a time or version for the database. Databases have no unsigned integers; the largest
/// signed one is 292 million years from now.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Value that is written to a column or compared with one.
pub(crate) trait ColumnValue: Sync {
    /// Adds this value to those of a statement.
    fn add_to(&self, values: &mut SqliteArguments) -> Result<(), BoxDynError>;
}

/// Returns the values of a statement, that of `$1` first.
pub(crate) fn values(all: &[&dyn ColumnValue]) -> sqlx::Result<SqliteArguments> {
    let mut values = SqliteArguments::default();
    all.iter().try_for_each(|value| value.add_to(&mut values)).map_err(sqlx::Error::Encode)?;
    Ok(values)
}

impl<T: ColumnValue + ?Sized> ColumnValue for &T {
    fn add_to(&self, values: &mut SqliteArguments) -> Result<(), BoxDynError> {
        T::add_to(self, values)
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    fn add_to(&self, values: &mut SqliteArguments) -> Result<(), BoxDynError> {
        match self {
            Some(value) => value.add_to(values),
            None => values.add(None::<&str>),
        }
    }
}

/// Writes types to columns, each list of them by an expression.
macro_rules! written {
    ($([$($name:ty),+]: |$value:ident| $column:expr;)+) => {$($(
        impl ColumnValue for $name {
            fn add_to(&self, values: &mut SqliteArguments) -> Result<(), BoxDynError> {
                let $value = self;
                values.add($column)
            }
        }
    )+)+};
}

written! {
    [ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId]: |id| id.as_str();
    [SessionId, TokenId, UserId, WebhookId]: |id| id.as_str();
    [Role, RunState]: |name| name.as_str();
    [str]: |text| text;
    [String]: |text| text.as_str();
    [Box<str>]: |text| &**text;
    [bool, i64, u32]: |it| *it;
    [u64]: |number| int(*number);
    [Version]: |version| int(version.0);
    [Value]: |json| json.to_string();
}

/// Column with a value as JSON.
pub(crate) struct JsonColumn(Value);

impl From<JsonColumn> for Value {
    fn from(column: JsonColumn) -> Self {
        column.0
    }
}

copydesk_core::columns! {
    'r;
    RunState: &'r str, |text| Ok(text.into());
    JsonColumn: &'r str, |text| Ok(Self(serde_json::from_str(text)?));
}

impl FromRow<'_, SqliteRow> for FileRecord {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        let next: Option<Version> = row.try_get("next_version")?;
        Ok(Self {
            document: row.try_get("document")?,
            path: row.try_get("path")?,
            version: row.try_get("version")?,
            stamp: row.try_get("stamp")?,
            disk: row.try_get("disk")?,
            form: row.try_get("form")?,
            writing: next.zip(row.try_get("next_stamp")?),
        })
    }
}
