//! Owners' rules in a room: what they deny cannot be accepted either.

use super::fixture::{RoomFixture, code, hunk};
use super::who;
use crate::command::NewRule;
use copydesk_approvals::{
    Decision, EVERY_TOOL, HunkChoice, HunkVerdict, RememberWish, RequestStatus, RequestVerdict,
    RuleEffect, RuleScope,
};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

/// Adds a rule of Ana's about every tool.
async fn rules(fixture: &RoomFixture, effect: RuleEffect) {
    let remember = RememberWish {
        id: "rul_1".into(),
        scope: RuleScope::Document,
        path: None,
        max_units: None,
        author: None,
        unmarked: false,
    };
    let tool = EVERY_TOOL.to_owned();
    let new = NewRule { remember, effect, over: None, tool, session: "ses_1".into() };
    fixture.room.add_rule(new, who("ana")).await.unwrap();
}

/// Found by history 6170 of the simulation.
#[tokio::test]
async fn what_is_denied_is_not_accepted_either_also_where_no_word_would_change() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    rules(&fixture, RuleEffect::Deny).await;
    let first = HunkVerdict::plain(hunk(&request, 1), HunkChoice::Accept);
    for text in [None, Some("warm"), Some("cold")] {
        let verdict = HunkVerdict { text: text.map(Into::into), ..first.clone() };
        let some =
            Decision { hunks: Some(vec![verdict]), ..Decision::plain(RequestVerdict::Approve) };
        assert_eq!(code(fixture.decides("ana", &request, some).await), "not_allowed", "{text:?}");
    }
    assert_eq!(fixture.rejects("ana", &request).await, RequestStatus::Rejected);
    assert_eq!(fixture.text().await, OLD);
}
