//! Middleware of every request under `/api/v1`: authentication, rate limit, body quota and
//! idempotency.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::Router;
use axum::body::HttpBody as _;
use axum::extract::{DefaultBodyLimit, FromRequestParts as _, Request, State};
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::Response;
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::sync::OwnedSemaphorePermit;

use super::auth_session::AuthSession;
use super::idempotency::{KeysInFlight, once};
use crate::rest::http_state::HttpState;
use crate::rest::problem::{Problem, RestResult};
use copydesk_connections::body_guard::BodyGuard;
use copydesk_engine::api::Caller;
use copydesk_engine::ids::UserId;
use copydesk_engine::permissions::{Action, Principal};

/// Sustained requests of one person per second.
const PACE: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// Maximum requests of one person in a burst.
const BURST: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// Bytes of a body that are read for an idempotency key from a person who may not use a longer one.
const SHORT_BODY_BYTES: usize = 16 * 1024;
/// Prefix of the routes with answers as long as a document.
const LONG_ANSWERS: &str = "/api/v1/documents/";
/// Seconds after which a person with too many bytes being read may try again.
const BUSY_S: u64 = 1;

/// State of the middleware. Clones share it.
#[derive(Clone)]
pub(crate) struct ApiMiddleware {
    app: HttpState,
    pace: Arc<RateLimiter<UserId, HashMapStateStore<UserId>, DefaultClock>>,
    under_way: KeysInFlight,
}

/// Bodies that some routes take, for [`ApiMiddleware::to`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPolicy {
    /// Maximum length, in bytes.
    pub(crate) limit: usize,
    /// Action that a person must be allowed to do somewhere to send a body that is not short.
    pub(crate) of: Action,
}

impl ApiMiddleware {
    /// Returns the middleware, with nothing counted yet.
    pub(crate) fn new(app: HttpState) -> Self {
        let pace = Arc::new(RateLimiter::hashmap(Quota::per_second(PACE).allow_burst(BURST)));
        Self { app, pace, under_way: KeysInFlight::default() }
    }

    /// Adds the middleware and this body policy to `routes`.
    pub(crate) fn to(&self, routes: Router<HttpState>, bodies: BodyPolicy) -> Router<HttpState> {
        routes
            .layer(DefaultBodyLimit::max(bodies.limit))
            .route_layer(middleware::from_fn_with_state((self.clone(), bodies), pass))
    }

    /// Waits for a permit to prepare a long answer. Answers about documents may be as long as
    /// those: few of one person are prepared at once, and none for a person with too much waiting
    /// to be sent.
    async fn reading_permit(&self, caller: &Caller) -> RestResult<Option<OwnedSemaphorePermit>> {
        let account = self.app.reading.account(&caller.principal.user);
        let permit = account.reading_permit().await;
        if account.is_busy() { Err(Problem::too_many(BUSY_S)) } else { Ok(permit) }
    }
}

impl BodyPolicy {
    /// Returns the bytes of a body that are read for an idempotency key, before the route itself
    /// checks the caller.
    fn limit_for(self, who: &Principal) -> usize {
        if who.may_somewhere(self.of) { self.limit } else { self.limit.min(SHORT_BODY_BYTES) }
    }
}

/// Admits a request, and passes it on.
async fn pass(
    State((shared, bodies)): State<(ApiMiddleware, BodyPolicy)>,
    request: Request,
    next: Next,
) -> RestResult<Response> {
    let (mut parts, body) = request.into_parts();
    let caller = Caller::from_request_parts(&mut parts, &shared.app).await?;
    if let Err(late) = shared.pace.check_key(&caller.principal.user) {
        let wait = late.wait_time_from(DefaultClock::default().now());
        return Err(Problem::too_many(wait.as_secs() + 1));
    }
    // Every extractor finds it there, so a token is looked up once.
    parts.extensions.insert(caller.clone());
    let held = shared.app.reading.begin(&caller.principal.user);
    let (body, guard) = if body.is_end_stream() {
        (body, None)
    } else {
        let session = AuthSession::from_request_parts(&mut parts, &shared.app).await?;
        let guard = BodyGuard::new(session.pass, shared.app.api.clock.clone());
        (held.of(guard.of(body)), Some(guard))
    };
    let has_long_answer = parts.method == Method::GET && parts.uri.path().starts_with(LONG_ANSWERS);
    let request = Request::from_parts(parts, body);
    let _permit = if has_long_answer { shared.reading_permit(&caller).await? } else { None };
    let limit = bodies.limit_for(&caller.principal);
    let answer = once(&shared.app.api, &shared.under_way, &caller, request, next, limit).await;
    // The reader found the body broken off, and so did nothing.
    if let Some(end) = guard.and_then(|guard| guard.end()) {
        return Err(Problem::unread(end));
    }
    if held.is_refused() { Err(Problem::too_many(BUSY_S)) } else { answer }
}
