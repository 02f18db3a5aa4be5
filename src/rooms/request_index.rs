//! Index from requests to their documents. A request never changes its document, so the newest ones
//! need not be looked up in the store each time somebody decides.

use std::collections::{HashMap, VecDeque};

use crate::ids::{DocumentId, RequestId};

/// Number of requests that are remembered; others are looked up.
const REMEMBERED: usize = 4_096;

/// Documents of the newest requests.
#[derive(Default)]
pub(super) struct RequestIndex {
    known: HashMap<RequestId, Option<DocumentId>>,
    /// Known requests, oldest first.
    order: VecDeque<RequestId>,
}

impl RequestIndex {
    /// Remembers a request; `None` is the workspace inbox.
    pub(super) fn note(&mut self, request: &RequestId, document: Option<&DocumentId>) {
        if self.known.insert(request.clone(), document.cloned()).is_some() {
            return;
        }
        self.order.push_back(request.clone());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Returns the document of a request, if the request is remembered.
    pub(super) fn of(&self, request: &RequestId) -> Option<&Option<DocumentId>> {
        self.known.get(request)
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
        for n in 1..=REMEMBERED {
            known.note(&id(n), Some(&"doc_a".into()));
        }
        assert_eq!(known.of(&id(0)), None);
        assert_eq!(known.of(&id(1)), Some(&Some("doc_a".into())));
        assert_eq!(known.known.len(), known.order.len());
    }
}
