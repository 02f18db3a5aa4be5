//! Rest of a body whose request was refused before it was read: read and thrown away for a while. A
//! client, or another server, that is still writing would find a broken connection instead of the
//! refusal.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::runtime::Handle;

/// Number of bytes that are read of a rest before the connection is closed.
const LONGEST_REST: usize = 64 * 1024 * 1024;
/// Time for which a rest is read before the connection is closed.
const LONGEST_TIME: Duration = Duration::from_secs(10);
/// Longest pause between two pieces of a rest.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

struct DrainedBody {
    /// Pieces to come; `None` if there are no more.
    pieces: Option<BodyDataStream>,
    /// `true` if the client waits to be asked for the body.
    is_expecting: bool,
}

/// Returns the body of a request with these headers so that its rest is read when it is dropped.
pub(crate) fn drained(headers: &HeaderMap, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    // Reading is what asks such a client for it.
    let is_expecting = headers.contains_key(header::EXPECT);
    Body::from_stream(DrainedBody { pieces: Some(body.into_data_stream()), is_expecting })
}

impl Stream for DrainedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.is_expecting = false;
        let Some(pieces) = &mut self.pieces else { return Poll::Ready(None) };
        let piece = pieces.poll_next_unpin(context);
        if let Poll::Ready(None | Some(Err(_))) = piece {
            self.pieces = None;
        }
        piece
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        // Without a runtime, the connection is over as well.
        if let (Some(pieces), false) = (self.pieces.take(), self.is_expecting)
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(drain(pieces));
        }
    }
}

/// Reads a body until it ends, pauses too long, or is too long.
async fn drain(mut pieces: BodyDataStream) {
    let read = async {
        let mut left = LONGEST_REST;
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(LONGEST_PAUSE, pieces.next()).await {
            let Some(rest) = left.checked_sub(piece.len()) else { return };
            left = rest;
        }
    };
    tokio::time::timeout(LONGEST_TIME, read).await.ok();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::HeaderValue;
    use futures_util::stream;

    use super::*;

    const PIECE: usize = 1024 * 1024;

    /// Returns a body of so many pieces, and the number of those that were read.
    fn counted(pieces: usize) -> (Body, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&read);
        let pieces = stream::iter(0..pieces).map(move |_| {
            counting.fetch_add(1, Ordering::Relaxed);
            Ok::<_, axum::Error>(Bytes::from(vec![b'x'; PIECE]))
        });
        (Body::from_stream(pieces), read)
    }

    async fn is_read(read: &AtomicUsize) -> usize {
        tokio::time::sleep(2 * LONGEST_TIME).await;
        read.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_refusal_left_is_read_to_its_end() {
        let (body, read) = counted(20);
        let mut pieces = drained(&HeaderMap::new(), body).into_data_stream();
        pieces.next().await.unwrap().unwrap();
        drop(pieces);
        assert_eq!(is_read(&read).await, 20);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rest_without_end_is_left() {
        let (body, read) = counted(1_000);
        drop(drained(&HeaderMap::new(), body));
        assert_eq!(is_read(&read).await, LONGEST_REST / PIECE + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_waits_to_be_asked_is_not_asked() {
        let (body, read) = counted(20);
        let expecting = HeaderValue::from_static("100-continue");
        drop(drained(&HeaderMap::from_iter([(header::EXPECT, expecting)]), body));
        assert_eq!(is_read(&read).await, 0);
    }
}
