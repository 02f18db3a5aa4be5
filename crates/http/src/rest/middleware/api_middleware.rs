//! Middleware under `/api/v1`: authentication, rate limit, body quota and idempotency.

use axum::Router;
use axum::body::HttpBody as _;
use axum::extract::{DefaultBodyLimit, FromRequestParts as _, Request, State};
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;

use super::auth_session::AuthSession;
use super::idempotency::{KeysInFlight, once};
use crate::rest::http_state::HttpState;
use crate::rest::problem::{Problem, RestResult};
use copydesk_api::Caller;
use copydesk_connections::body_guard::BodyGuard;
use copydesk_ids::permissions::{Action, Principal};

/// Bytes of a body that are read for an idempotency key from a person who may not use a longer one.
const SHORT_BODY_BYTES: usize = 16 * 1024;
/// Prefix of the routes with answers as long as a document.
const LONG_ANSWERS: &str = "/api/v1/documents/";

/// State of the middleware. Clones share it.
#[derive(Clone)]
pub(crate) struct ApiMiddleware {
    app: HttpState,
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
    /// Returns the middleware, with no keys in use yet.
    pub(crate) fn new(app: HttpState) -> Self {
        Self { app, under_way: KeysInFlight::default() }
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
        if account.is_busy() { Err(Problem::busy()) } else { Ok(permit) }
    }
}

impl BodyPolicy {
    /// Returns the bytes of a body that are read for an idempotency key, before the route checks
    /// the caller.
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
    let counted = shared.app.limits.rest.count(&caller.principal.user);
    let counted = counted.map_err(|wait| Problem::too_many(wait.as_secs() + 1))?;
    // Every extractor finds it there, so a token is looked up once.
    parts.extensions.insert(caller.clone());
    let held = shared.app.reading.begin(&caller.principal.user);
    let (body, guard) = if body.is_end_stream() {
        (body, None)
    } else {
        let session = AuthSession::from_request_parts(&mut parts, &shared.app).await?;
        let guard = BodyGuard::new(session.pass, shared.app.application.clock.clone());
        (held.of(guard.of(body)), Some(guard))
    };
    let has_long_answer = parts.method == Method::GET && parts.uri.path().starts_with(LONG_ANSWERS);
    let request = Request::from_parts(parts, body);
    let _permit = if has_long_answer { shared.reading_permit(&caller).await? } else { None };
    let limit = bodies.limit_for(&caller.principal);
    let answer =
        once(&shared.app.application, &shared.under_way, &caller, request, next, limit).await;
    let answer = answer.map(|mut answer| {
        answer.extensions_mut().insert(counted);
        answer
    });
    // The reader found the body broken off, and so did nothing.
    if let Some(end) = guard.and_then(|guard| guard.end()) {
        return Err(Problem::unread(end));
    }
    if held.is_refused() { Err(Problem::busy()) } else { answer }
}
