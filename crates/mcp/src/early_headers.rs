//! Answer that begins at once. Without sessions, the library below first waits for something to
//! answer with; a caller without progress messages would receive nothing while people decide, and
//! some give up on an answer that does not begin within a minute.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::time::timeout;

/// Time within which an answer has its own status: every error in a request is known by then.
const STATUS: Duration = Duration::from_secs(1);
/// Interval of comments that show a waiting caller that the connection lives.
const ALIVE: Duration = Duration::from_secs(10);
/// Comment of an event stream, which every client ignores.
const COMMENT: &[u8] = b":\n\n";

/// Source of the next part of an [`answer`].
enum ResponseRest {
    Waiting(BoxFuture<'static, Response>),
    Passing(BodyDataStream),
}

/// Returns the answer, or the beginning of one. Dropping it drops the future that it waits for.
pub(crate) async fn answer(running: impl Future<Output = Response> + Send + 'static) -> Response {
    let mut running = running.boxed();
    if let Ok(response) = timeout(STATUS, &mut running).await {
        return response;
    }
    let pieces = stream::unfold(ResponseRest::Waiting(running), |mut rest| async move {
        loop {
            match rest {
                ResponseRest::Waiting(mut running) => match timeout(ALIVE, &mut running).await {
                    Ok(response) if is_stream(&response) => {
                        rest = ResponseRest::Passing(response.into_body().into_data_stream());
                    }
                    Ok(response) => {
                        let event = event(response).await;
                        let over = Body::empty().into_data_stream();
                        return Some((Ok(event), ResponseRest::Passing(over)));
                    }
                    Err(_) => {
                        let comment = Bytes::from_static(COMMENT);
                        return Some((Ok(comment), ResponseRest::Waiting(running)));
                    }
                },
                ResponseRest::Passing(mut pieces) => {
                    let piece = pieces.next().await?;
                    return Some((piece, ResponseRest::Passing(pieces)));
                }
            }
        }
    });
    // The first comment is sent at once, so that the answer begins.
    let first = stream::once(async { Ok(Bytes::from_static(COMMENT)) });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, Body::from_stream(first.chain(pieces))).into_response()
}

/// Returns `true` if an answer is an event stream.
pub(crate) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Returns an answer in one piece as an event.
async fn event(response: Response) -> Bytes {
    const MOST: usize = 64 * 1024 * 1024;
    let body = axum::body::to_bytes(response.into_body(), MOST).await.unwrap_or_default();
    [b"data: ", body.as_ref(), b"\n\n"].concat().into()
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    async fn heard(response: Response) -> Vec<String> {
        let pieces = response.into_body().into_data_stream();
        let pieces = pieces.map(|piece| String::from_utf8(piece.unwrap().to_vec()).unwrap());
        pieces.collect().await
    }

    async fn after(wait: Duration, response: Response) -> Response {
        sleep(wait).await;
        response
    }

    fn events(text: &'static str) -> Response {
        ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_soon_is_answered_as_it_is() {
        let refused = (axum::http::StatusCode::BAD_REQUEST, "{}").into_response();
        let response = answer(after(Duration::from_millis(900), refused)).await;
        assert_eq!(response.status(), 400);
        assert_eq!(heard(response).await, ["{}"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_begins_at_once_and_lives_until_there_is_one() {
        let slow = after(Duration::from_mins(6), events("data: {}\n\n"));
        let response = answer(slow).await;
        assert_eq!(response.status(), 200);
        assert!(is_stream(&response));
        let pieces = heard(response).await;
        assert_eq!(pieces.last().map(String::as_str), Some("data: {}\n\n"));
        let comments = pieces.iter().filter(|piece| *piece == ":\n\n").count();
        assert_eq!(comments, pieces.len() - 1);
        assert!((36..=38).contains(&comments), "{comments}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_one_piece_becomes_an_event() {
        let json = ([(header::CONTENT_TYPE, "application/json")], "{\"id\":1}").into_response();
        let response = answer(after(Duration::from_secs(5), json)).await;
        assert_eq!(heard(response).await, [":\n\n", "data: {\"id\":1}\n\n"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_who_goes_away_takes_back_what_was_waited_for() {
        let (gone, waits) = tokio::sync::oneshot::channel::<()>();
        let running = async move {
            let _gone = gone;
            std::future::pending::<Response>().await
        };
        drop(answer(running).await);
        assert!(waits.await.is_err());
    }
}
