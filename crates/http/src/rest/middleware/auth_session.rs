//! Authentication over HTTP: an extractor of the person behind the request's token.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};

use crate::rest::http_state::HttpState;
use crate::rest::problem::{Problem, RestResult};
use copydesk_api::Caller;
use copydesk_auth::AccessGuard;
use copydesk_connections::RequestOwner;
use copydesk_protocol_conversion as wire;

/// Extractor of a caller with a valid token, from `Authorization: Bearer …` or `x-api-key: …`, not
/// from the address: addresses end up in logs and histories.
impl FromRequestParts<HttpState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &HttpState) -> RestResult<Self> {
        // The middleware has identified the caller already.
        if let Some(known) = parts.extensions.get::<Self>() {
            return Ok(known.clone());
        }
        let secret = token(&parts.headers);
        let caller = app.application.identify(secret).await?;
        let mut caller = caller.ok_or_else(Problem::token_needed)?;
        caller.reached_at = reached_at(&parts.headers);
        if let Some(owner) = parts.extensions.get::<RequestOwner>().cloned() {
            owner.is(&caller.principal).map_err(|_| Problem::busy())?;
            if app.application.everyone.is_none() && !owner.transport.ends_with(&caller.token) {
                let access =
                    app.application.admit(secret).await?.ok_or_else(Problem::token_needed)?;
                owner.transport.end_with(caller.token.clone(), Arc::new(access));
            }
        }
        Ok(caller)
    }
}

/// [`Caller`] whose wait for the answer ends with the person's token.
pub(crate) struct AuthSession {
    pub(crate) caller: Caller,
    pub(crate) pass: AccessGuard,
}

impl FromRequestParts<HttpState> for AuthSession {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &HttpState) -> RestResult<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let pass = app.application.admit(token(&parts.headers)).await?;
        let pass = pass.ok_or_else(Problem::token_needed)?;
        Ok(Self { caller, pass })
    }
}

/// Returns the address by which the caller reaches the server, for links.
fn reached_at(headers: &HeaderMap) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    wire::reached_at(text(header::ORIGIN), text(header::HOST))
}

/// Returns the token's secret. Two headers of one name count as no secret.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    if headers.contains_key(header::AUTHORIZATION) {
        let (scheme, token) = one(header::AUTHORIZATION.as_str())?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then_some(token.trim());
    }
    one("x-api-key").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(headers: &'a mut HeaderMap, lines: &[(&'static str, &str)]) -> Option<&'a str> {
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        token(headers)
    }

    #[test]
    fn a_token_comes_in_either_header() {
        for line in [
            ("authorization", "Bearer abc"),
            ("authorization", "bearer  abc"),
            ("x-api-key", "abc"),
        ] {
            assert_eq!(read(&mut HeaderMap::new(), &[line]), Some("abc"), "{line:?}");
        }
    }

    #[test]
    fn the_authorization_header_counts_where_both_are_sent() {
        let both = [("x-api-key", "other"), ("authorization", "Bearer abc")];
        assert_eq!(read(&mut HeaderMap::new(), &both), Some("abc"));
        let basic = [("x-api-key", "abc"), ("authorization", "Basic YTpi")];
        assert_eq!(read(&mut HeaderMap::new(), &basic), None);
    }

    #[test]
    fn two_headers_of_the_same_name_are_no_token() {
        let twice = [("authorization", "Bearer abc"), ("authorization", "Bearer def")];
        assert_eq!(read(&mut HeaderMap::new(), &twice), None);
        assert_eq!(read(&mut HeaderMap::new(), &[("x-api-key", "a"), ("x-api-key", "b")]), None);
        assert_eq!(read(&mut HeaderMap::new(), &[]), None);
    }
}
