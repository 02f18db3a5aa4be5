//! Life of a request, and its time.

use super::*;

fn sentence() -> ReviewFixture {
    ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.")
}

#[test]
fn the_request_resolves_when_no_hunk_is_open() {
    let mut fixture = sentence();
    assert_eq!(fixture.accept(0).unwrap().resolved, None);
    assert!(fixture.request.resolution().is_none());
    assert_eq!(fixture.accept(1).unwrap().resolved, Some(RequestStatus::Approved));
    let closed = fixture.request.decisions.closed.clone().unwrap();
    assert_eq!(closed, ClosedBy::by(Some(Person::from(&ann())), fixture.now_ms));
    assert_eq!(fixture.request.resolution().unwrap().version, Version(2));
}

#[test]
fn a_request_expires_when_its_time_is_over_and_not_before() {
    let mut fixture = sentence();
    assert_eq!(fixture.request.expire(START_MS + 299_999), None);
    assert_eq!(fixture.request.expire(START_MS + 300_000).map(|h| h.len()), Some(2));
    assert_eq!(fixture.request.status, RequestStatus::Expired);
    assert_eq!(fixture.request.expire(START_MS + 300_001), None);
    assert_eq!(fixture.decide(&approve()).unwrap_err().code(), "expired");
}

#[test]
fn a_decision_after_the_time_is_refused_even_if_nobody_has_noticed_yet() {
    let mut fixture = sentence();
    fixture.now_ms = START_MS + 300_000;
    let refused = fixture.decide(&approve()).unwrap_err();
    assert_eq!(refused, DecisionError::Expired { at_ms: START_MS + 300_000 });
}

#[test]
fn zero_seconds_wait_for_ever() {
    let clock = RequestTimes::start(5, 0);
    assert_eq!((clock.due_ms(), clock.is_due(u64::MAX)), (None, false));
}

#[test]
fn the_countdown_stands_still_while_somebody_looks() {
    let mut clock = RequestTimes::start(0, 300);
    clock.pause(100);
    clock.pause(150);
    assert!(!clock.is_due(1_000));
    clock.resume(1_000);
    assert_eq!(clock.due_ms(), Some(1_200));
    clock.resume(2_000);
    clock.extend(300);
    assert_eq!(clock.due_ms(), Some(1_500));
}

#[test]
fn neither_looking_nor_more_time_goes_past_an_outside_callers_deadline() {
    let mut clock = RequestTimes { deadline_ms: Some(400), ..RequestTimes::start(0, 300) };
    clock.extend(1_000);
    assert_eq!(clock.due_ms(), Some(400));
    clock.pause(100);
    assert!(!clock.is_due(399) && clock.is_due(400));
}

#[test]
fn a_cancelled_request_keeps_what_was_accepted() {
    let mut fixture = sentence();
    assert_eq!(fixture.request.cancel(None, 5).map(|h| h.len()), Some(2));
    assert_eq!(fixture.request.status, RequestStatus::Cancelled);

    let mut fixture = sentence();
    fixture.accept(0).unwrap();
    fixture.request.cancel(None, 5).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Partly);
    assert_eq!(fixture.request.cancel(None, 6), None);
}

#[test]
fn nothing_can_be_decided_while_the_model_still_writes() {
    let mut fixture = sentence();
    fixture.request.status = RequestStatus::Streaming;
    for hunk in &mut fixture.request.hunks {
        hunk.status = HunkStatus::Streaming;
    }
    assert_eq!(fixture.decide(&approve()).unwrap_err().code(), "invalid_decision");
}

#[test]
fn requests_stored_by_an_older_version_can_be_read() {
    let mut stored = serde_json::to_value(sentence().request).unwrap();
    let fields = stored.as_object_mut().unwrap();
    for added in ["returned", "edited_input", "answer", "remarks", "votes", "closed", "touched"] {
        fields.remove(added);
    }
    let loaded: ApprovalRequest = serde_json::from_value(stored).unwrap();
    assert_eq!(loaded, sentence().request);
}
