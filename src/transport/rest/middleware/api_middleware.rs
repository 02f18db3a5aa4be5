//! What every request under `/api/v1` passes: who is it, not too fast, not too much at once, and no write twice.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody as _;
use axum::extract::{DefaultBodyLimit, FromRequestParts as _, Request, State};
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::sync::OwnedSemaphorePermit;

use super::auth_session::{AuthSession, Authenticated};
use super::idempotency::{KeysInFlight, once};
use crate::ids::UserId;
use crate::permissions::{Action, Principal};
use crate::transport::body_guard::BodyGuard;
use crate::transport::rest::HttpState;
use crate::transport::rest::problem::Problem;

/// Requests of one person in a second, in the long run.
const PACE: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// Requests of one person at once.
const BURST: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// Bytes that are read for a key from somebody who could do nothing with more.
const SHORT_BODY_BYTES: usize = 16 * 1024;
/// Where answers may be as long as a document.
const LONG_ANSWERS: &str = "/api/v1/documents/";
/// Seconds after which somebody may come again of whom too much is being read.
const BUSY_S: u64 = 1;

/// What is remembered between requests. Clones share it.
#[derive(Clone)]
pub(crate) struct ApiMiddleware {
    door: HttpState,
    pace: Arc<RateLimiter<UserId, HashMapStateStore<UserId>, DefaultClock>>,
    under_way: KeysInFlight,
}

/// The bodies that some routes take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPolicy {
    /// The longest, in bytes.
    pub(crate) limit: usize,
    /// What somebody must be allowed to do somewhere who has use for one that is not short.
    pub(crate) of: Action,
}

impl ApiMiddleware {
    /// Nobody has come in yet.
    pub(crate) fn new(door: HttpState) -> Self {
        let pace = Arc::new(RateLimiter::hashmap(Quota::per_second(PACE).allow_burst(BURST)));
        Self { door, pace, under_way: KeysInFlight::default() }
    }

    /// Leads to these routes, whose bodies are like this.
    pub(crate) fn to(&self, routes: Router<HttpState>, bodies: BodyPolicy) -> Router<HttpState> {
        routes
            .layer(DefaultBodyLimit::max(bodies.limit))
            .route_layer(middleware::from_fn_with_state((self.clone(), bodies), pass))
    }

    async fn enter(
        &self,
        bodies: BodyPolicy,
        request: Request,
        next: Next,
    ) -> Result<Response, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = Authenticated::from_request_parts(&mut parts, &self.door).await?;
        if let Err(late) = self.pace.check_key(&caller.principal.user) {
            let wait = late.wait_time_from(DefaultClock::default().now());
            return Err(Problem::too_many(wait.as_secs() + 1));
        }
        // Found by every extractor: a token is looked up once.
        parts.extensions.insert(caller.clone());
        let held = self.door.reading.begin(&caller.principal.user);
        let (body, guard) = if body.is_end_stream() {
            (body, None)
        } else {
            let session = AuthSession::from_request_parts(&mut parts, &self.door).await?;
            let guard = BodyGuard::new(session.pass, self.door.clock.clone());
            (held.of(guard.of(body)), Some(guard))
        };
        let has_long_answer =
            parts.method == Method::GET && parts.uri.path().starts_with(LONG_ANSWERS);
        let request = Request::from_parts(parts, body);
        let _turn = if has_long_answer { self.turn_to_read(&caller).await? } else { None };
        let limit = bodies.limit_for(&caller.principal);
        let answer = once(&self.door, &self.under_way, &caller, request, next, limit).await;
        // The reader found the body broken off, and so did nothing.
        if let Some(end) = guard.and_then(|guard| guard.end()) {
            return Err(Problem::unread(end));
        }
        if held.is_refused() { Err(Problem::too_many(BUSY_S)) } else { answer }
    }
}

impl ApiMiddleware {
    /// Answers about documents may be as long as those: few of one person are prepared at once, and none for whom too
    /// much waits to be sent already.
    async fn turn_to_read(
        &self,
        caller: &Authenticated,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        let account = self.door.reading.account(&caller.principal.user);
        let turn = account.turn_to_read().await;
        if account.is_busy() { Err(Problem::too_many(BUSY_S)) } else { Ok(turn) }
    }
}

impl BodyPolicy {
    /// Bytes of a body that are read for a key, before the route itself sees who asks.
    fn limit_for(self, who: &Principal) -> usize {
        if who.may(self.of, who.document.as_ref()) {
            self.limit
        } else {
            self.limit.min(SHORT_BODY_BYTES)
        }
    }
}

/// The middleware.
async fn pass(
    State((way_in, bodies)): State<(ApiMiddleware, BodyPolicy)>,
    request: Request,
    next: Next,
) -> Response {
    way_in.enter(bodies, request, next).await.unwrap_or_else(IntoResponse::into_response)
}
