//! Identifiers, versions and roles as columns of any database; a bad value there is an error.

use crate::permissions::Role;
use crate::{
    ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId, SessionId, ThreadId, TokenId,
    UserId, Version, WebhookId,
};

/// Reads types from columns of another type, each by a function; the lifetime is that of a row.
#[macro_export]
macro_rules! columns {
    ($row:lifetime; $($name:ident: $column:ty, $read:expr;)+) => {$(
        impl<$row, DB: ::sqlx::Database> ::sqlx::Type<DB> for $name
        where
            $column: ::sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$column as ::sqlx::Type<DB>>::type_info()
            }

            fn compatible(found: &DB::TypeInfo) -> bool {
                <$column as ::sqlx::Type<DB>>::compatible(found)
            }
        }

        impl<$row, DB: ::sqlx::Database> ::sqlx::Decode<$row, DB> for $name
        where
            $column: ::sqlx::Decode<$row, DB>,
        {
            fn decode(value: DB::ValueRef<$row>) -> Result<Self, ::sqlx::error::BoxDynError> {
                let read: fn($column) -> Result<Self, ::sqlx::error::BoxDynError> = $read;
                read(<$column as ::sqlx::Decode<$row, DB>>::decode(value)?)
            }
        }
    )+};
}

columns! {
    'r;
    ClientId: &'r str, |text| Ok(text.into());
    DeliveryId: &'r str, |text| Ok(text.into());
    DocumentId: &'r str, |text| Ok(text.into());
    RequestId: &'r str, |text| Ok(text.into());
    RuleId: &'r str, |text| Ok(text.into());
    RunId: &'r str, |text| Ok(text.into());
    SessionId: &'r str, |text| Ok(text.into());
    ThreadId: &'r str, |text| Ok(text.into());
    TokenId: &'r str, |text| Ok(text.into());
    UserId: &'r str, |text| Ok(text.into());
    WebhookId: &'r str, |text| Ok(text.into());
    Version: i64, |number| Ok(Self(number.try_into()?));
    Role: &'r str, |name| match name {
        "guest" => Ok(Self::Guest),
        _ => Self::parse(name).ok_or_else(|| format!("unknown role {name:?}").into()),
    };
}
