//! Bodies of HTTP requests, read only while the sender's token is good and only while they arrive.
//!
//! A body may take as long as the sender likes, so the token is checked again when it has arrived:
//! what a request does, it does with a token that is good then.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use futures_util::{Stream, StreamExt as _, stream};

use copydesk_auth::{AccessEnd, AccessGuard};
use copydesk_clock::WallClock;

/// Longest pause between two pieces of a body.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Reason why a body was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The sender's token ended meanwhile.
    Access(AccessEnd),
    /// Nothing came for [`LONGEST_PAUSE`].
    Stalled,
}

/// Guard of one request body. Clones share what became of it.
#[derive(Clone, Debug)]
pub struct BodyGuard {
    access: AccessGuard,
    clock: WallClock,
    end: Arc<OnceLock<BodyEnd>>,
}

impl BodyGuard {
    /// Makes a guard for the body of a request with this token.
    pub fn new(access: AccessGuard, clock: WallClock) -> Self {
        Self { access, clock, end: Arc::default() }
    }

    /// Wraps a body so that it breaks off with an error once the token ends or nothing comes. The
    /// token is checked after the last byte, before the reader learns of the end.
    pub fn of(&self, body: Body) -> Body {
        if body.is_end_stream() {
            return body;
        }
        let pieces = body.into_data_stream();
        Body::from_stream(stream::unfold(Some((self.clone(), pieces)), async |state| {
            let (guard, mut pieces) = state?;
            match guard.next(&mut pieces).await {
                Ok(Some(Ok(piece))) => Some((Ok(piece), Some((guard, pieces)))),
                Ok(Some(Err(error))) => Some((Err(axum::BoxError::from(error)), None)),
                Ok(None) => None,
                Err(end) => {
                    guard.end.set(end).ok();
                    Some((Err("the rest of the request is not read".into()), None))
                }
            }
        }))
    }

    /// Returns why the body was not read to its end, if the guard ended it.
    pub fn end(&self) -> Option<BodyEnd> {
        self.end.get().copied()
    }

    async fn next<E>(
        &self,
        pieces: &mut (impl Stream<Item = Result<Bytes, E>> + Unpin),
    ) -> Result<Option<Result<Bytes, E>>, BodyEnd> {
        let piece = tokio::select! {
            biased;
            end = self.access.ended() => return Err(BodyEnd::Access(end)),
            piece = tokio::time::timeout(LONGEST_PAUSE, pieces.next()) => piece,
        };
        let piece = piece.map_err(|_| BodyEnd::Stalled)?;
        self.access.check(self.clock.now_ms()).map_err(BodyEnd::Access)?;
        Ok(piece)
    }
}
