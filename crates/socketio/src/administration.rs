//! Events for looking after the server. For owners.

use std::future::ready;

use copydesk_engine::api::{ApiError, Caller};
use copydesk_protocol::administration::{
    DeletePerson, MonthSpending, NamePerson, PersonDeletion, PersonPreview, ReadSpending,
    SetSpendingLimit, StopRun, StoredSizes, WorkInProgress,
};
use copydesk_protocol::client::Nothing;
use copydesk_protocol::convert;

use super::given;
use super::socket_error::SocketResult;

/// Answers `spending:get`: returns what models have cost in a month, and the limits.
///
/// # Errors
/// `not_allowed` for people other than owners, `invalid_payload` for what is no month; see
/// [`Caller::spending`].
pub async fn spending(caller: &Caller, payload: ReadSpending) -> SocketResult<MonthSpending> {
    let month = convert::spending_month(&payload).map_err(ApiError::invalid)?;
    Ok(convert::spending(caller.spending(month).await?))
}

/// Answers `spending:limit`: sets or removes a spending limit.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown person or document,
/// `invalid_payload` for an impossible limit; see [`Caller::set_spending_limit`].
pub async fn set_limit(caller: &Caller, payload: SetSpendingLimit) -> SocketResult<MonthSpending> {
    let wanted = convert::wanted_limit(payload).map_err(ApiError::invalid);
    Ok(convert::spending(caller.set_spending_limit(ready(wanted)).await?))
}

/// Answers `server:work`: returns the runs that have not ended, and the number of open requests.
///
/// # Errors
/// `not_allowed` for people other than owners; see [`Caller::server_work`].
pub async fn work(caller: &Caller, _: Nothing) -> SocketResult<WorkInProgress> {
    Ok(convert::work(caller.server_work().await?))
}

/// Answers `server:stop`: stops anybody's run. An ended run stays as it is.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown run; see
/// [`Caller::stop_any_run`].
pub async fn stop_run(caller: &Caller, payload: StopRun) -> SocketResult<()> {
    let StopRun { session_id, request_id } = payload;
    Ok(caller.stop_any_run(given((session_id.into(), request_id.into()))).await?)
}

/// Answers `server:storage`: measures what is stored.
///
/// # Errors
/// `not_allowed` for people other than owners; see [`Caller::storage_sizes`].
pub async fn storage(caller: &Caller, _: Nothing) -> SocketResult<StoredSizes> {
    Ok(convert::storage(caller.storage_sizes().await?))
}

/// Answers `person:preview`: returns what is stored of a person, and what a deletion would do.
///
/// # Errors
/// `not_allowed` for people other than owners, `not_found` for an unknown person; see
/// [`Caller::person`].
pub async fn person(caller: &Caller, payload: NamePerson) -> SocketResult<PersonPreview> {
    Ok(convert::person_preview(caller.person(&payload.id.into()).await?))
}

/// Answers `person:delete`: deletes the data of a person.
///
/// # Errors
/// `not_allowed` for people other than owners, and for oneself and the holder of the owner's token,
/// `not_found` for an unknown person; see [`Caller::delete_person`].
pub async fn delete(caller: &Caller, payload: DeletePerson) -> SocketResult<PersonDeletion> {
    let deletion = caller.delete_person(given(convert::person_to_delete(payload))).await?;
    Ok(convert::person_deletion(&deletion))
}
