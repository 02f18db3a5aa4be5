//! Changes that a person puts at the end of their own list.

use super::*;

const OLD: &str =
    "Teh first one is here. The keeper of the lamp wrote a long letter every night.\n";
const NEW: &str = "The first one is here. The keeper of the old lamp wrote a letter each night.\n";

fn deferred(fixture: &ReviewFixture, who: &Principal) -> Vec<HunkId> {
    fixture.request.deferred_by(who).map(|hunk| hunk.id.clone()).collect()
}

#[test]
fn a_hunk_is_deferred_for_one_person_until_they_take_it_back() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    let (id, now) = (fixture.id(0), fixture.now_ms);
    assert!(fixture.request.would_defer(&id, true, &ann(), now).unwrap());
    fixture.request.defer(&id, true, &ann());
    assert!(!fixture.request.would_defer(&id, true, &ann(), now).unwrap(), "it is already");
    fixture.request.defer(&id, true, &ann());
    fixture.request.defer(&id, true, &bob());
    assert_eq!(deferred(&fixture, &ann()), std::slice::from_ref(&id));
    let stored = serde_json::to_string(&fixture.request).unwrap();
    let stored: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored, fixture.request);
    fixture.request.defer(&id, false, &ann());
    assert!(deferred(&fixture, &ann()).is_empty());
    assert_eq!(deferred(&fixture, &bob()), [id]);
    // A person who signs in is the one that they were before.
    let login = Principal { former: vec!["bob".into()], ..person("login", Role::Editor) };
    assert_eq!(deferred(&fixture, &login).len(), 1);
    let none = fixture.request.would_defer(&"none".into(), true, &ann(), now);
    assert!(matches!(none, Err(DecisionError::NotFound { .. })), "{none:?}");
}

#[test]
fn the_parts_of_a_split_hunk_keep_it_and_the_joined_one_too() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    let (whole, now) = (fixture.id(1), fixture.now_ms);
    fixture.request.defer(&whole, true, &ann());
    let parts = fixture.request.split(&whole, &bob(), now).unwrap();
    assert_eq!(deferred(&fixture, &ann()), parts);
    let old = fixture.request.would_defer(&whole, false, &ann(), now);
    assert!(matches!(old, Err(DecisionError::StalePreview { .. })), "{old:?}");
    fixture.request.undo_open(Some(std::slice::from_ref(&whole)), &bob(), now).unwrap();
    assert_eq!(deferred(&fixture, &ann()), [whole]);
}

#[test]
fn it_ends_with_the_hunk() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    let (id, now) = (fixture.id(0), fixture.now_ms);
    fixture.request.defer(&id, true, &ann());
    fixture.accept(0).unwrap();
    assert!(deferred(&fixture, &ann()).is_empty());
    let late = fixture.request.would_defer(&id, true, &ann(), now);
    assert!(matches!(late, Err(DecisionError::AlreadyResolved { .. })), "{late:?}");
    fixture.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.statuses()[0], HunkStatus::Pending);
    assert!(deferred(&fixture, &ann()).is_empty(), "it is open again, and not for later");
    fixture.request.defer(&id, true, &ann());
    fixture.reject(0).unwrap();
    fixture.reopens(&[0]).unwrap();
    assert_eq!(fixture.statuses()[0], HunkStatus::Pending);
    assert!(deferred(&fixture, &ann()).is_empty());
}
