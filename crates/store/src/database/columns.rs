//! Values of columns, as both databases read and write them; `copydesk_ids` says how identifiers,
//! versions and roles are read. Nothing else trusts the contents of the database; a bad value is
//! reported as [`StoreError::Corrupt`](crate::StoreError::Corrupt).

use std::borrow::Cow;

use serde_json::Value;
use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, FromRow};
use sqlx_postgres::{PgArguments, PgRow};
use sqlx_sqlite::{SqliteArguments, SqliteRow};

use crate::records::RunState;
use copydesk_ids::permissions::Role;
use copydesk_ids::{
    ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId, SessionId, ThreadId, TokenId,
    UserId, Version, WebhookId,
};

/// Record that can be read from a row of either database, by the names of its columns.
pub(crate) trait RowRecord:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>
{
}

impl<T> RowRecord for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> {}

/// Converts a time or version for the database: its largest is 292 million years from now.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Type of a column, which PostgreSQL wants to know of a missing value too.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnType {
    Text,
    Bytes,
    Integer,
    Boolean,
}

#[derive(Debug)]
pub(crate) enum ColumnData<'a> {
    Text(Cow<'a, str>),
    /// Text that may contain NUL.
    AnyText(&'a str),
    Integer(i64),
    Boolean(bool),
    Missing(ColumnType),
}

pub(crate) trait ColumnValue: Sync {
    fn data(&self) -> ColumnData<'_>;
}

/// Type whose values all belong into columns of one type.
pub(crate) trait TypedColumn {
    const COLUMN: ColumnType;
}

pub(crate) trait StatementValues: Default {
    fn push(&mut self, value: &dyn ColumnValue) -> Result<(), BoxDynError>;
}

impl StatementValues for SqliteArguments {
    fn push(&mut self, value: &dyn ColumnValue) -> Result<(), BoxDynError> {
        match value.data() {
            ColumnData::Text(text) => self.add(&*text),
            ColumnData::AnyText(text) => self.add(text),
            ColumnData::Integer(number) => self.add(number),
            ColumnData::Boolean(is) => self.add(is),
            ColumnData::Missing(_) => self.add(None::<&str>),
        }
    }
}

impl StatementValues for PgArguments {
    fn push(&mut self, value: &dyn ColumnValue) -> Result<(), BoxDynError> {
        match value.data() {
            // No text of PostgreSQL has NUL. Identifiers with it are looked up and not found.
            ColumnData::Text(text) if text.contains('\0') => {
                self.add(text.replace('\0', "\u{fffd}"))
            }
            ColumnData::Text(text) => self.add(&*text),
            ColumnData::AnyText(text) => self.add(text.as_bytes()),
            ColumnData::Integer(number) => self.add(number),
            ColumnData::Boolean(is) => self.add(is),
            ColumnData::Missing(ColumnType::Text) => self.add(None::<&str>),
            ColumnData::Missing(ColumnType::Bytes) => self.add(None::<&[u8]>),
            ColumnData::Missing(ColumnType::Integer) => self.add(None::<i64>),
            ColumnData::Missing(ColumnType::Boolean) => self.add(None::<bool>),
        }
    }
}

pub(crate) fn values<V: StatementValues>(all: &[&dyn ColumnValue]) -> sqlx::Result<V> {
    let mut values = V::default();
    all.iter().try_for_each(|value| values.push(*value)).map_err(sqlx::Error::Encode)?;
    Ok(values)
}

impl<T: ColumnValue + ?Sized> ColumnValue for &T {
    fn data(&self) -> ColumnData<'_> {
        T::data(self)
    }
}

impl<T: TypedColumn + ?Sized> TypedColumn for &T {
    const COLUMN: ColumnType = T::COLUMN;
}

impl<T: ColumnValue + TypedColumn> ColumnValue for Option<T> {
    fn data(&self) -> ColumnData<'_> {
        self.as_ref().map_or(ColumnData::Missing(T::COLUMN), ColumnValue::data)
    }
}

macro_rules! written {
    ($($column:ident: [$($name:ty),+]: |$value:ident| $data:expr;)+) => {$($(
        impl TypedColumn for $name {
            const COLUMN: ColumnType = ColumnType::$column;
        }

        impl ColumnValue for $name {
            fn data(&self) -> ColumnData<'_> {
                let $value = self;
                $data
            }
        }
    )+)+};
}

written! {
    Text: [ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId]: |id| text(id.as_str());
    Text: [SessionId, ThreadId, TokenId, UserId, WebhookId]: |id| text(id.as_str());
    Text: [Role, RunState]: |name| text(name.as_str());
    Text: [str, String, Box<str>]: |it| text(it);
    Text: [Value]: |json| ColumnData::Text(Cow::Owned(json.to_string()));
    Boolean: [bool]: |is| ColumnData::Boolean(*is);
    Integer: [i64]: |number| ColumnData::Integer(*number);
    Integer: [u32]: |number| ColumnData::Integer(i64::from(*number));
    Integer: [u64]: |number| ColumnData::Integer(int(*number));
    Integer: [Version]: |version| ColumnData::Integer(int(version.0));
    Bytes: [AnyText<'_>]: |it| ColumnData::AnyText(it.0);
}

fn text(text: &str) -> ColumnData<'_> {
    ColumnData::Text(Cow::Borrowed(text))
}

/// Text of a document to be written, which may contain NUL. PostgreSQL stores it as bytes.
pub(crate) struct AnyText<'a>(pub &'a str);

pub(crate) struct AnyTextColumn(String);

impl From<AnyTextColumn> for String {
    fn from(column: AnyTextColumn) -> Self {
        column.0
    }
}

pub(crate) struct JsonColumn(Value);

impl From<JsonColumn> for Value {
    fn from(column: JsonColumn) -> Self {
        column.0
    }
}

impl TryFrom<JsonColumn> for Vec<String> {
    type Error = serde_json::Error;

    fn try_from(column: JsonColumn) -> Result<Self, serde_json::Error> {
        serde_json::from_value(column.0)
    }
}

pub(crate) struct NumberColumn(u64);

impl From<NumberColumn> for u64 {
    fn from(column: NumberColumn) -> Self {
        column.0
    }
}

pub(crate) struct OptionalNumber(Option<u64>);

impl From<OptionalNumber> for Option<u64> {
    fn from(column: OptionalNumber) -> Self {
        column.0
    }
}

copydesk_ids::columns! {
    'r;
    RunState: &'r str, |text| Ok(text.into());
    JsonColumn: &'r str, |text| Ok(Self(serde_json::from_str(text)?));
    AnyTextColumn: &'r [u8], |bytes| Ok(Self(String::from_utf8(bytes.to_vec())?));
    NumberColumn: i64, |number| Ok(Self(number.try_into()?));
    OptionalNumber: Option<i64>, |number| Ok(Self(number.map(u64::try_from).transpose()?));
}

/// Returns a list as a statement takes it: as JSON for `json_each`, each element in an array of its
/// own, because the databases agree on the elements of arrays (`value ->> 0`) only.
pub(crate) fn list<T: serde::Serialize>(elements: &[T]) -> Value {
    elements.iter().map(|element| serde_json::json!([element])).collect()
}
