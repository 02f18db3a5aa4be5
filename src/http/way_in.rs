//! What every request under `/api/v1` passes: who is it, not too fast, and no write twice.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use super::Door;
use super::once::{UnderWay, once};
use super::principal::Caller;
use super::problem::Problem;
use crate::ids::UserId;

/// Requests of one person in a second, in the long run.
const PACE: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// Requests of one person at once.
const BURST: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// What is remembered between requests. Clones share it.
#[derive(Clone)]
pub(super) struct WayIn {
    door: Door,
    pace: Arc<RateLimiter<UserId, HashMapStateStore<UserId>, DefaultClock>>,
    under_way: UnderWay,
    largest_body: usize,
}

impl WayIn {
    /// Nobody has come in yet. `largest_body`: in bytes, of any route.
    pub(super) fn new(door: Door, largest_body: usize) -> Self {
        let pace = Arc::new(RateLimiter::hashmap(Quota::per_second(PACE).allow_burst(BURST)));
        Self { door, pace, under_way: UnderWay::default(), largest_body }
    }

    async fn enter(&self, request: Request, next: Next) -> Result<Response, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, &self.door).await?;
        if let Err(late) = self.pace.check_key(&caller.principal.user) {
            let wait = late.wait_time_from(DefaultClock::default().now());
            return Err(Problem::too_many(wait.as_secs() + 1));
        }
        // Found by every extractor: a token is looked up once.
        parts.extensions.insert(caller.clone());
        let request = Request::from_parts(parts, body);
        once(&self.door, &self.under_way, &caller, request, next, self.largest_body).await
    }
}

/// The middleware.
pub(super) async fn pass(State(way_in): State<WayIn>, request: Request, next: Next) -> Response {
    way_in.enter(request, next).await.unwrap_or_else(IntoResponse::into_response)
}
