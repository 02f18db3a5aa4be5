//! Path and query of an address, read with a problem document for each error; and pages of lists.

use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::rest::problem::{Problem, RestResult};
use copydesk_protocol::queries::{ListPart, WaitQuery};

/// Default number of entries of a page.
const DEFAULT: u32 = 50;
/// Maximum number of entries of a page.
const MOST: u32 = 200;
/// Maximum wait, in seconds.
const LONGEST_WAIT_S: u64 = 60;

/// Parameters of the path.
pub(crate) struct PathId<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> RestResult<Self> {
        let read = Path::<T>::from_request_parts(parts, state).await;
        // A version that is no number or a name that is no text matches nothing.
        read.map(|Path(names)| Self(names)).map_err(|_| Problem::not_found("thing"))
    }
}

/// Parameters of the query.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> RestResult<Self> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked))
            .map_err(|rejection: QueryRejection| Problem::invalid(rejection.body_text()))
    }
}

/// Size and start of a page.
pub(crate) struct PageQuery<K> {
    pub(crate) limit: usize,
    /// Last entry of the previous page.
    pub(crate) after: Option<K>,
}

impl<K: DeserializeOwned> PageQuery<K> {
    /// Reads a page as [`Self::read`] does.
    pub(crate) fn of(part: &ListPart) -> RestResult<Self> {
        Self::read(part.limit, part.cursor.as_deref())
    }

    /// Reads `limit` and `cursor`.
    pub(crate) fn read(limit: Option<u32>, cursor: Option<&str>) -> RestResult<Self> {
        let limit = limit.unwrap_or(DEFAULT);
        if !(1..=MOST).contains(&limit) {
            return Err(Problem::invalid(format!("`limit` is 1 to {MOST}")));
        }
        let wrong = || Problem::invalid("`cursor` must be a value taken from `next`");
        let after = cursor.map(|text| {
            let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
            serde_json::from_slice(&bytes).map_err(|_| wrong())
        });
        Ok(Self { limit: limit as usize, after: after.transpose()? })
    }
}

/// Returns the address of the page after the entry `last`: this address with another cursor.
pub(crate) fn next(here: &Uri, last: &impl Serialize) -> String {
    // Cursors are identifiers and numbers, so they can always be written.
    let cursor = URL_SAFE_NO_PAD.encode(serde_json::to_vec(last).unwrap_or_default());
    let kept = here.query().unwrap_or_default().split('&');
    let mut query: Vec<&str> =
        kept.filter(|pair| !pair.is_empty() && !pair.starts_with("cursor=")).collect();
    let cursor = format!("cursor={cursor}");
    query.push(&cursor);
    format!("{}?{}", here.path(), query.join("&"))
}

/// Returns the longest time to wait for an end; zero if it is missing.
pub(crate) fn wait(query: &WaitQuery) -> RestResult<Duration> {
    match query.wait.unwrap_or(0) {
        seconds if seconds <= LONGEST_WAIT_S => Ok(Duration::from_secs(seconds)),
        _ => Err(Problem::invalid(format!("`wait` is 0 to {LONGEST_WAIT_S} seconds"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_on_from_where_the_page_ended_and_keeps_the_rest_of_the_address() {
        let here = Uri::from_static("/api/v1/documents?limit=2&cursor=old&q=x");
        let there: Uri = next(&here, &(7_u64, "doc_1")).parse().unwrap();
        let query = there.query().unwrap();
        assert!(query.starts_with("limit=2&q=x&cursor=") && !query.contains("old"), "{query}");
        let cursor = query.rsplit('=').next();
        let page = PageQuery::<(u64, String)>::read(Some(2), cursor).unwrap_or_else(|_| panic!());
        assert_eq!((page.limit, page.after), (2, Some((7, "doc_1".to_owned()))));
    }

    #[test]
    fn a_cursor_that_was_made_up_is_refused() {
        for wrong in ["", "x", "!!", "e30", "bnVsbA==", &"A".repeat(10_000)] {
            assert!(PageQuery::<(u64, String)>::read(None, Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_page_has_bounds() {
        for wrong in [0, MOST + 1, u32::MAX] {
            assert!(PageQuery::<String>::read(Some(wrong), None).is_err(), "{wrong}");
        }
        assert!(wait(&WaitQuery { wait: Some(LONGEST_WAIT_S + 1) }).is_err());
        assert_eq!(wait(&WaitQuery { wait: None }).ok(), Some(Duration::ZERO));
    }
}
