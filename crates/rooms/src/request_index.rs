//! Index from requests to their documents. A request never changes its document, so the newest ones
//! need not be looked up in the store for each decision.

use std::num::NonZeroUsize;

use lru::LruCache;

use copydesk_ids::{DocumentId, RequestId};

/// Number of requests that are remembered; others are looked up.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

pub(super) struct RequestIndex(LruCache<RequestId, Option<DocumentId>>);

impl Default for RequestIndex {
    fn default() -> Self {
        Self(LruCache::new(REMEMBERED))
    }
}

impl RequestIndex {
    pub(super) fn note(&mut self, request: &RequestId, document: Option<&DocumentId>) {
        self.0.put(request.clone(), document.cloned());
    }

    pub(super) fn of(&mut self, request: &RequestId) -> Option<&Option<DocumentId>> {
        self.0.get(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_remembered_and_the_desk_is_a_place_too() {
        let mut known = RequestIndex::default();
        let id = |n: usize| RequestId::from(format!("req_{n}"));
        known.note(&id(0), None);
        known.note(&id(0), None);
        assert_eq!(known.of(&id(0)), Some(&None));
        for n in 1..=REMEMBERED.get() {
            known.note(&id(n), Some(&"doc_a".into()));
        }
        assert_eq!(known.of(&id(0)), None);
        assert_eq!(known.of(&id(1)), Some(&Some("doc_a".into())));
    }
}
