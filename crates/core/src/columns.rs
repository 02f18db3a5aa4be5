//! Identifiers, versions and roles as columns of any database, because only the crate that has a
//! type can say so. Nothing else trusts the contents of the database; a bad value is an error.

use sqlx::database::Database;
use sqlx::error::BoxDynError;
use sqlx::{Decode, Type};

use crate::ids::{
    ClientId, DeliveryId, DocumentId, RequestId, RuleId, RunId, SessionId, TokenId, UserId,
    Version, WebhookId,
};
use crate::permissions::Role;

/// Reads types from columns of another type, each by a function.
macro_rules! columns {
    ($($name:ident: $column:ty, $read:expr;)+) => {$(
        impl<DB: Database> Type<DB> for $name
        where
            $column: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$column as Type<DB>>::type_info()
            }

            fn compatible(found: &DB::TypeInfo) -> bool {
                <$column as Type<DB>>::compatible(found)
            }
        }

        impl<'r, DB: Database> Decode<'r, DB> for $name
        where
            $column: Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                let read: fn($column) -> Result<Self, BoxDynError> = $read;
                read(<$column as Decode<'r, DB>>::decode(value)?)
            }
        }
    )+};
}

columns! {
    ClientId: String, |text| Ok(text.into());
    DeliveryId: String, |text| Ok(text.into());
    DocumentId: String, |text| Ok(text.into());
    RequestId: String, |text| Ok(text.into());
    RuleId: String, |text| Ok(text.into());
    RunId: String, |text| Ok(text.into());
    SessionId: String, |text| Ok(text.into());
    TokenId: String, |text| Ok(text.into());
    UserId: String, |text| Ok(text.into());
    WebhookId: String, |text| Ok(text.into());
    Version: i64, |number| Ok(Self(number.try_into()?));
    Role: String, |name| Self::parse(&name).ok_or_else(|| format!("unknown role {name:?}").into());
}
