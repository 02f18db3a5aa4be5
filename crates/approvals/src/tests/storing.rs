//! A request that waits is stored in parts: its body, and what changed since.

use super::*;
use crate::{StoredPart, StoredRequest};

const OLD: &str = "One is dark. Two is dark. Three is dark. Four is dark.";
const NEW: &str = "One is lit. Two is bright. Three is lit. Four is bright.";

/// A review whose request is stored whenever something of it is decided, and the log.
struct StoredReview {
    fixture: ReviewFixture,
    body: ApprovalRequest,
    changed: Vec<StoredPart>,
    log: Vec<ChangeSet>,
}

impl StoredReview {
    fn of(fixture: ReviewFixture) -> Self {
        let body = fixture.request.clone();
        Self { fixture, body, changed: Vec::new(), log: Vec::new() }
    }

    fn types(&mut self, from: usize, to: usize, insert: &str) {
        let edit = TextEdit { from, to, insert: insert.to_owned() };
        self.log.push(ChangeSet::of(self.fixture.text.len(), &[edit]).unwrap());
        self.fixture.edit(from, to, insert);
    }

    /// Stores what an outcome names, and nothing else.
    fn store(&mut self, outcome: DecisionOutcome) {
        self.log.extend(outcome.changes);
        let request = &self.fixture.request;
        let ids = [outcome.decided, outcome.voted, outcome.put, outcome.displaced].concat();
        let is_kept = |part: &StoredPart| match part {
            StoredPart::Head(_) => false,
            StoredPart::Hunk(_, hunk) => !ids.contains(&hunk.id),
        };
        self.changed.retain(is_kept);
        let hunks = request.hunks_named(&ids).into_iter();
        let hunks = hunks.map(|hunk| StoredPart::Hunk(request.version, Box::new(hunk.clone())));
        self.changed.extend(hunks);
        self.changed.push(StoredPart::Head(Box::new(request.head())));
    }

    /// The request as it is read after a restart: mapped along the log from its oldest part on.
    fn restored(&self, first: &str) -> ApprovalRequest {
        let mut stored = StoredRequest::new(self.body.clone(), self.changed.clone());
        let mut text = Text::new(first);
        for change in &self.log {
            change.apply(&mut text).unwrap();
            stored.advance(|request| request.rebase(change, &text, 0));
        }
        assert_eq!(stored.newest(), stored.reached().version);
        stored.finish()
    }
}

#[test]
fn what_is_stored_in_parts_is_read_as_it_was_after_every_step() {
    let mut review = StoredReview::of(ReviewFixture::proposing(OLD, NEW));
    let hunks = review.fixture.request.hunks.len();
    assert!(hunks >= 4, "{hunks}");
    for step in 0..8 {
        let outcome = match step {
            0 => review.fixture.accept(1),
            1 => review.fixture.reject(0),
            4 => {
                let accepted = review.fixture.id(1);
                review.fixture.undo(Some(&[accepted]), TouchedPolicy::Refuse)
            }
            5 => review.fixture.accept(hunks - 1),
            _ => {
                let end = review.fixture.text.len();
                let at = if step % 2 == 0 { 0 } else { end };
                review.types(at, at, "Oh ");
                assert_eq!(review.restored(OLD), review.fixture.request, "step {step}");
                continue;
            }
        };
        review.store(outcome.unwrap());
        assert_eq!(review.restored(OLD), review.fixture.request, "step {step}");
    }
    assert!(review.changed.len() <= 4, "only what was touched is stored: {:?}", review.changed);
}

#[test]
fn insertions_that_keep_their_order_are_stored_with_the_one_that_was_accepted() {
    let (old, new) = ("ab", "a one two b");
    let mut review = StoredReview::of(ReviewFixture::proposing(old, new));
    let whole = review.fixture.request.hunks[0].clone();
    // Two insertions at one place, of which the later one is accepted first.
    let mut first = whole.clone();
    first.parts[0].insert = " one".to_owned();
    first.id = "req_1.8".into();
    let mut second = whole;
    second.parts[0].insert = " two ".to_owned();
    second.id = "req_1.9".into();
    review.fixture.request.hunks = vec![first, second];
    review.fixture.request.announced = review.fixture.request.compute_hash();
    review.body = review.fixture.request.clone();
    let outcome = review.fixture.accept(1).unwrap();
    assert_eq!(outcome.put, ["req_1.8".into()], "its place is before what was put in");
    review.store(outcome);
    assert_eq!(review.restored(old), review.fixture.request);
}

#[test]
fn a_part_of_a_hunk_that_is_not_there_is_left_out() {
    let fixture = ReviewFixture::proposing(OLD, NEW);
    let mut hunk = fixture.request.hunks[0].clone();
    hunk.id = "req_1.99".into();
    let part = StoredPart::Hunk(Version(0), Box::new(hunk));
    let stored = StoredRequest::new(fixture.request.clone(), vec![part]);
    assert_eq!(stored.finish(), fixture.request);
}
