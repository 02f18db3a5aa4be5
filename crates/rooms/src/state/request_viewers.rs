//! Viewers of requests: the countdown of a request is paused while it has one.

use std::collections::HashMap;

use copydesk_ids::{MemberId, RequestId};

/// Time in ms after which a view lapses; clients repeat it more often than that.
const LAPSE_MS: u64 = 15_000;

/// Time, in milliseconds since 1970, at which each connection last said that it views a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestViewers(HashMap<RequestId, HashMap<MemberId, u64>>);

impl RequestViewers {
    /// Notes that a connection views a request; returns `true` if it did not before.
    pub(crate) fn look(&mut self, request: &RequestId, member: &MemberId, now_ms: u64) -> bool {
        let lookers = self.0.entry(request.clone()).or_default();
        lookers.insert(member.clone(), now_ms).is_none()
    }

    /// Notes that a connection no longer views a request; returns `true` if it did before.
    pub(crate) fn stop_viewing(&mut self, request: &RequestId, member: &MemberId) -> bool {
        let Some(lookers) = self.0.get_mut(request) else { return false };
        let was_there = lookers.remove(member).is_some();
        if lookers.is_empty() {
            self.0.remove(request);
        }
        was_there
    }

    pub(crate) fn any(&self, request: &RequestId) -> bool {
        self.0.contains_key(request)
    }

    pub(crate) fn of(&self, member: &MemberId) -> Vec<RequestId> {
        let looked_at = self.0.iter().filter(|(_, lookers)| lookers.contains_key(member));
        looked_at.map(|(request, _)| request.clone()).collect()
    }

    pub(crate) fn on(&self, request: &RequestId) -> Vec<MemberId> {
        self.0.get(request).into_iter().flat_map(HashMap::keys).cloned().collect()
    }

    /// Forgets views that were not repeated; returns the requests that lost a viewer by that.
    pub(crate) fn lapse(&mut self, now_ms: u64) -> Vec<RequestId> {
        let mut lapsed = Vec::new();
        self.0.retain(|request, lookers| {
            let before = lookers.len();
            lookers.retain(|_, at_ms| now_ms < at_ms.saturating_add(LAPSE_MS));
            if lookers.len() < before {
                lapsed.push(request.clone());
            }
            !lookers.is_empty()
        });
        lapsed
    }

    pub(crate) fn next_lapse_ms(&self) -> Option<u64> {
        let looks = self.0.values().flat_map(HashMap::values);
        looks.map(|at_ms| at_ms.saturating_add(LAPSE_MS)).min()
    }

    pub(crate) fn forget(&mut self, request: &RequestId) {
        self.0.remove(request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_one_looks_once_the_last_one_looks_away() {
        let mut focuses = RequestViewers::default();
        let request = RequestId::from("r");
        assert!(focuses.look(&request, &"ana".into(), 0));
        assert!(!focuses.look(&request, &"ana".into(), 1));
        assert!(focuses.look(&request, &"bo".into(), 0));
        assert!(focuses.stop_viewing(&request, &"ana".into()));
        assert!(focuses.any(&request));
        assert!(focuses.stop_viewing(&request, &"bo".into()));
        assert!(!focuses.any(&request));
        assert!(!focuses.stop_viewing(&request, &"bo".into()));
    }

    #[test]
    fn a_look_that_is_not_repeated_lapses() {
        let mut focuses = RequestViewers::default();
        let request = RequestId::from("r");
        focuses.look(&request, &"ana".into(), 1_000);
        assert_eq!(focuses.next_lapse_ms(), Some(16_000));
        assert_eq!(focuses.lapse(15_999), []);
        assert_eq!(focuses.lapse(16_000), [request]);
        assert_eq!(focuses.next_lapse_ms(), None);
    }
}
