//! Routes of the operations under `/api/v1`: those of a function are done here, the others by
//! handlers.

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use futures_util::FutureExt as _;
use serde::Deserialize;

use super::http_state::HttpState;
use super::problem::{Problem, RestResult};
use super::{
    documents, export, lists, openapi, proxy_headers, requests, runs, tokens, transcripts,
};
use crate::rest::middleware::body;
use copydesk_api::{ApiError, Caller};
use copydesk_operation_table::{
    BASE, BodyKind, Operation, OperationTable, PathFields, RawInput, Route,
};

/// Builds the routes whose bodies are of one of these kinds.
pub(super) fn routes(operations: &'static OperationTable, kinds: &[BodyKind]) -> Router<HttpState> {
    let all = operations.all().iter();
    all.filter_map(|it| it.route.as_ref().map(|route| (it, route)))
        .filter(|(_, route)| kinds.contains(&route.body))
        .fold(Router::new(), |routes, (it, route)| routes.route(&route.url(), service(it, route)))
}

fn service(operation: &'static Operation, route: &'static Route) -> MethodRouter<HttpState> {
    if !operation.is_transport_handled() {
        let run = move |caller: Caller, path: PathParams, request: Request| {
            perform(operation, route, caller, path, request)
        };
        return on(filter(route.method), run);
    }
    // Each operation has one, as the test below checks.
    let handler = handler(route.id).unwrap_or_default();
    if route.body == BodyKind::NoBodyNoToken {
        return handler;
    }
    handler.route_layer(from_fn(move |path: PathParams, request: Request, next: Next| {
        check(operation, route, path, request, next)
    }))
}

type PathParams = Result<RawPathParams, RawPathParamsRejection>;

fn filter(method: &str) -> MethodFilter {
    match method {
        "get" => MethodFilter::GET,
        "post" => MethodFilter::POST,
        "put" => MethodFilter::PUT,
        "patch" => MethodFilter::PATCH,
        _ => MethodFilter::DELETE,
    }
}

/// Returns the handler of an operation that is declared as `transport_handled`.
fn handler(id: &str) -> Option<MethodRouter<HttpState>> {
    let handler = match id {
        "getOpenapi" => get(openapi::document),
        "getAudit" => get(lists::server_audit),
        "getProxyHeaders" => get(proxy_headers::read),
        "listDocuments" => get(lists::documents),
        "importDocument" => post(documents::import),
        "convertHtml" => post(documents::convert),
        "listVersions" => get(lists::versions),
        "getVersion" => get(documents::text),
        "exportDocument" => get(export::download),
        "getDocumentAudit" => get(lists::document_audit),
        "listFiles" => get(lists::files),
        "listRequests" => get(requests::list),
        "decideRequests" => post(requests::batch),
        "getRequest" => get(requests::read),
        "listSessions" => get(lists::sessions),
        "getTranscript" => get(transcripts::transcript),
        "getRun" => get(runs::read),
        "getSignIn" => get(tokens::sign_in_offer),
        _ => return None,
    };
    Some(handler)
}

/// Does an operation. Its body is read once the caller is known to be allowed.
async fn perform(
    operation: &'static Operation,
    route: &'static Route,
    caller: Caller,
    path: PathParams,
    request: Request,
) -> RestResult<Response> {
    let path = path_fields(route, path)?;
    let input = if route.body.is_json() {
        let body = body::fields(request, operation.input_schema(), path.clone());
        RawInput::Body(path, body.boxed())
    } else {
        RawInput::PathAndQuery(path, request.uri().query().unwrap_or_default().to_owned())
    };
    let output = operation.run(caller, input).await?;
    answer(operation, route, output)
}

async fn check(
    operation: &'static Operation,
    route: &'static Route,
    path: PathParams,
    request: Request,
    next: Next,
) -> RestResult<Response> {
    let path = path_fields(route, path)?;
    let name = path.into_iter().find(|(field, _)| Some(*field) == operation.right.field);
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(Problem::token_needed)?;
    operation.check(caller, name.map(|(_, value)| value)).await?;
    Ok(next.run(request).await)
}

fn path_fields(route: &Route, path: PathParams) -> RestResult<PathFields> {
    // A name that is no text matches nothing.
    let path = path.map_err(|_| Problem::not_found("thing"))?;
    let field = |(name, value): (&str, &str)| {
        let field = route.fields().find(|(known, _)| *known == name);
        field.map(|(_, field)| (field, value.to_owned()))
    };
    Ok(path.iter().filter_map(field).collect())
}

#[derive(Deserialize)]
struct Created {
    id: String,
}

#[derive(Deserialize)]
struct RunAddress {
    url: String,
}

fn answer(operation: &Operation, route: &Route, output: String) -> RestResult<Response> {
    let status = StatusCode::from_u16(route.status).unwrap_or_default();
    if !operation.has_output() {
        return Ok(status.into_response());
    }
    let location = match route.collection {
        Some(collection) => {
            let Created { id } = serde_json::from_str(&output).map_err(|_| ApiError::internal())?;
            HeaderValue::try_from(format!("{BASE}{collection}/{id}")).ok()
        }
        None if status == StatusCode::ACCEPTED => {
            let RunAddress { url } =
                serde_json::from_str(&output).map_err(|_| ApiError::internal())?;
            HeaderValue::try_from(url).ok()
        }
        None => None,
    };
    let json = HeaderValue::from_static("application/json");
    let mut response = (status, [(header::CONTENT_TYPE, json)], output).into_response();
    let headers = response.headers_mut();
    if let Some(location) = location {
        headers.insert(header::LOCATION, location);
    }
    if route.is_secret {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_without_a_function_has_a_handler() {
        let handled = copydesk_operations::table()
            .all()
            .iter()
            .filter(|operation| operation.is_transport_handled());
        let routes = handled.filter_map(|operation| operation.route.as_ref());
        let missing: Vec<_> =
            routes.map(|route| route.id).filter(|id| handler(id).is_none()).collect();
        assert!(missing.is_empty(), "`handler` in this file has no arm for {missing:?}");
    }
}
