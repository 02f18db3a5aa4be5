//! Authentication over HTTP: the person behind the request's token, as an extractor for every route
//! that needs one.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::auth::{AccessGuard, Authenticator};
use crate::connections::RequestOwner;
use crate::ids::{DocumentId, TokenId};
use crate::permissions::{Action, Principal};
use crate::rooms::{DESK, RoomHandle};
use crate::transport::rest::HttpState;
use crate::transport::rest::problem::Problem;

/// Person with a valid token, from `Authorization: Bearer …` or `x-api-key: …`.
///
/// The token is never taken from the address: addresses end up in logs and histories.
#[derive(Clone, Debug)]
pub(crate) struct Authenticated {
    /// Person behind the token.
    pub(crate) principal: Principal,
    /// Token of the request; under `--no-auth` the owner's.
    pub(crate) token: TokenId,
}

impl FromRequestParts<HttpState> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, door: &HttpState) -> Result<Self, Problem> {
        // The middleware has identified the caller already.
        if let Some(known) = parts.extensions.get::<Self>() {
            return Ok(known.clone());
        }
        let caller = Self::identify(&parts.headers, door).await?;
        if let Some(owner) = parts.extensions.get::<RequestOwner>() {
            owner.is(&caller.principal);
        }
        Ok(caller)
    }
}

/// [`Authenticated`] person who may have to wait for the answer; the wait ends with the person's
/// token.
pub(crate) struct AuthSession {
    /// Person who asks.
    pub(crate) caller: Authenticated,
    /// Guard that ends with the token.
    pub(crate) pass: AccessGuard,
}

impl FromRequestParts<HttpState> for AuthSession {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, door: &HttpState) -> Result<Self, Problem> {
        let caller = Authenticated::from_request_parts(parts, door).await?;
        let pass = if let Some(everyone) = &door.everyone {
            Authenticator::everyone(everyone.clone())
        } else {
            let secret = token(&parts.headers).ok_or_else(Problem::token_needed)?;
            door.auth.admit(secret, door.clock.now_ms()).await?
        };
        Ok(Self { caller, pass })
    }
}

impl Authenticated {
    async fn identify(headers: &HeaderMap, door: &HttpState) -> Result<Self, Problem> {
        if let Some(everyone) = &door.everyone {
            let pass = Authenticator::everyone(everyone.clone());
            return Ok(Self { principal: everyone.clone(), token: pass.token().clone() });
        }
        let secret = token(headers).ok_or_else(Problem::token_needed)?;
        let verified = door.auth.verify(secret, door.clock.now_ms()).await?;
        Ok(Self { principal: verified.principal, token: verified.token })
    }

    /// Refuses a caller who may not do `action` to the server as a whole.
    pub(crate) fn must(&self, action: Action) -> Result<(), Problem> {
        if self.principal.may(action, None) { Ok(()) } else { Err(Problem::not_allowed()) }
    }

    /// Returns the [`RoomHandle`] of a document to which the caller may do `action`. Another
    /// person's private document counts as missing.
    pub(crate) async fn room(
        &self,
        door: &HttpState,
        document: &str,
        action: Action,
    ) -> Result<RoomHandle, Problem> {
        let id = DocumentId::from(document);
        if !self.principal.may(action, Some(&id)) {
            return Err(Problem::not_allowed());
        }
        let room = door.rooms.open(&id).await?;
        let Some(owner) = room.unlisted_owner() else { return Ok(room) };
        match door.store.session(owner).await? {
            Some(session) if session.user == self.principal.user => Ok(room),
            _ => Err(Problem::not_found("document")),
        }
    }

    /// Returns the room of a document, or the workspace inbox: no connection opens the inbox, but
    /// its owner sets its policy.
    pub(crate) async fn room_or_desk(
        &self,
        door: &HttpState,
        document: &str,
        action: Action,
    ) -> Result<RoomHandle, Problem> {
        if document == DESK {
            self.must(action)?;
            return Ok(door.rooms.desk().await?);
        }
        self.room(door, document, action).await
    }
}

/// Returns the token's secret. Two headers of one name count as no secret.
fn token(headers: &HeaderMap) -> Option<&str> {
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
