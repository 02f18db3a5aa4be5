//! Looking after the server, for owners: `/api/v1/spending`, `/api/v1/server` and `/api/v1/people`.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;

use super::problem::RestResult;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PathId, QueryParams};
use copydesk_engine::api::{ApiError, Caller};
use copydesk_engine::ids::UserId;
use copydesk_protocol::administration::{
    DeletePersonQuery, MonthSpending, PersonDeletion, PersonPreview, ReadSpending,
    SetSpendingLimit, StopRun, StoredSizes, WorkInProgress,
};
use copydesk_protocol::convert;

/// Returns what models have cost in a month, and the limits.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 400 `invalid_request` for what is no month; see
/// [`Caller::spending`].
pub async fn spending(
    caller: Caller,
    QueryParams(wish): QueryParams<ReadSpending>,
) -> RestResult<Json<MonthSpending>> {
    let month = convert::spending_month(&wish).map_err(ApiError::invalid);
    Ok(Json(convert::spending(caller.spending(month?).await?)))
}

/// Sets or removes a spending limit.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown person or
/// document, 422 `invalid_request` for an impossible limit; those of [`body::read`].
pub async fn set_spending_limit(
    caller: Caller,
    request: Request,
) -> RestResult<Json<MonthSpending>> {
    let wanted = async {
        let wish: SetSpendingLimit = body::read(request).await?;
        convert::wanted_limit(wish).map_err(ApiError::unprocessable)
    };
    Ok(Json(convert::spending(caller.set_spending_limit(wanted).await?)))
}

/// Returns the runs that have not ended, and the number of open requests.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::server_work`].
pub async fn work(caller: Caller) -> RestResult<Json<WorkInProgress>> {
    Ok(Json(convert::work(caller.server_work().await?)))
}

/// Stops anybody's run. An ended run stays as it is.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown run; those of
/// [`body::read`].
pub async fn stop_run(caller: Caller, request: Request) -> RestResult<StatusCode> {
    let named = async {
        let StopRun { session_id, request_id } = body::read(request).await?;
        Ok((session_id.into(), request_id.into()))
    };
    caller.stop_any_run(named).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Measures what is stored.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::storage_sizes`].
pub async fn storage(caller: Caller) -> RestResult<Json<StoredSizes>> {
    Ok(Json(convert::storage(caller.storage_sizes().await?)))
}

/// Returns what is stored of a person, and what a deletion would do with it.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 404 `not_found` for an unknown person; see
/// [`Caller::person`].
pub async fn person(
    caller: Caller,
    PathId(user): PathId<UserId>,
) -> RestResult<Json<PersonPreview>> {
    Ok(Json(convert::person_preview(caller.person(&user).await?)))
}

/// Deletes the data of a person. Answers once it is done, or after ten seconds.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, and for oneself and the holder of the owner's
/// token, 404 `not_found` for an unknown person; see [`Caller::delete_person`].
pub async fn delete_person(
    caller: Caller,
    PathId(user): PathId<UserId>,
    QueryParams(wish): QueryParams<DeletePersonQuery>,
) -> RestResult<Json<PersonDeletion>> {
    let wish = (user, convert::treatment(wish.private_documents));
    let deletion = caller.delete_person(async { Ok(wish) }).await?;
    Ok(Json(convert::person_deletion(&deletion)))
}
