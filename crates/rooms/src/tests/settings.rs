//! Review settings of a document: policies, votes, frozen ranges.

use std::sync::Arc;

use super::fixture::{RoomFixture, code, edit, hunk, issue, issue_as};
use super::who;
use crate::RoomError;
use crate::command::SettingsChange;
use crate::settings::{DocumentSettings, OwnSettings};
use copydesk_approvals::{
    ApprovalRequest, Decision, DecisionPolicy, FinishRest, HunkChoice, HunkReason, HunkStatus,
    HunkVerdict, RequestStatus, RequestVerdict, ToolPolicy,
};
use copydesk_ids::Version;
use copydesk_ids::permissions::Role;

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

async fn policy(
    fixture: &RoomFixture,
    policy: DecisionPolicy,
) -> Result<DocumentSettings, RoomError> {
    let own = OwnSettings { policy: Some(policy), ..OwnSettings::default() };
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await
}

async fn freeze(
    fixture: &RoomFixture,
    version: u64,
    range: (usize, usize),
) -> Result<(), RoomError> {
    let frozen = Some((Version(version), vec![range]));
    let configure = SettingsChange { own: OwnSettings::default(), frozen };
    fixture.room.configure(configure, who("ana")).await.map(|_| ())
}

#[tokio::test]
async fn two_have_to_agree_only_where_two_could() {
    let fixture = RoomFixture::with(OLD).await;
    issue(&fixture, "ana", None).await;
    issue(&fixture, "vic", None).await;
    issue(&fixture, "cy", Some(1)).await;
    assert!(matches!(policy(&fixture, DecisionPolicy::Two).await, Err(RoomError::Invalid(_))));
    issue(&fixture, "rex", None).await;
    assert_eq!(policy(&fixture, DecisionPolicy::Two).await.unwrap().policy, DecisionPolicy::Two);
}

/// Sets the document's policy, and another one for large changes.
async fn policies(
    fixture: &RoomFixture,
    policy: DecisionPolicy,
    large: DecisionPolicy,
) -> Result<(), RoomError> {
    let large = ToolPolicy { tool: None, over: Some(100), policy: large, marks: None };
    let (policy, policies) = (Some(policy), Some(vec![large]));
    let own = OwnSettings { policy, policies, ..OwnSettings::default() };
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.map(drop)
}

fn why(refused: Result<(), RoomError>) -> String {
    refused.unwrap_err().to_string()
}

#[tokio::test]
async fn policies_that_need_more_people_together_than_there_are_are_refused() {
    let fixture = RoomFixture::with(OLD).await;
    for name in ["ana", "bo"] {
        issue(&fixture, name, None).await;
    }
    let owners = policies(&fixture, DecisionPolicy::Two, DecisionPolicy::Owner).await;
    assert!(why(owners).starts_with("`two` and `owner` together need two owners who could decide"));
    let others = policies(&fixture, DecisionPolicy::NotRequester, DecisionPolicy::Two).await;
    assert!(why(others).starts_with("`not_requester` and `two` together need three people"));
    issue(&fixture, "cy", None).await;
    policies(&fixture, DecisionPolicy::NotRequester, DecisionPolicy::Two).await.unwrap();
    // The new policy alone does not need two people; with the policies in force it does.
    let owner = policy(&fixture, DecisionPolicy::Owner).await.map(drop);
    assert!(why(owner).starts_with("`two` and `owner` together need two owners"));
    issue_as(&fixture, "dee", Role::Owner, None).await;
    policy(&fixture, DecisionPolicy::Owner).await.unwrap();
}

/// Creates a request that needs two of Ana, Bo and Cy.
async fn two_of_three_decide() -> (RoomFixture, Arc<ApprovalRequest>) {
    let fixture = RoomFixture::with(OLD).await;
    for name in ["ana", "bo", "cy"] {
        issue(&fixture, name, None).await;
    }
    policy(&fixture, DecisionPolicy::Two).await.unwrap();
    let request = fixture.proposes(NEW).await;
    (fixture, request)
}

#[tokio::test]
async fn fewer_people_can_be_asked_for_however_few_there_are_now() {
    let fixture = RoomFixture::with(OLD).await;
    for (name, role) in [("ana", Role::Owner), ("dee", Role::Owner)] {
        issue_as(&fixture, name, role, None).await;
    }
    policies(&fixture, DecisionPolicy::Two, DecisionPolicy::Owner).await.unwrap();
    issue_as(&fixture, "dee", Role::Owner, Some(1)).await;
    let own = OwnSettings { policies: Some(Vec::new()), ..OwnSettings::default() };
    let configure = SettingsChange { own, frozen: None };
    assert_eq!(
        fixture.room.configure(configure, who("ana")).await.unwrap().policy,
        DecisionPolicy::Two
    );
}

#[tokio::test]
async fn votes_of_people_whom_a_stricter_policy_leaves_out_are_gone_and_people_see_it() {
    let (fixture, request) = two_of_three_decide().await;
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Pending);
    fixture.forget();
    let all =
        ToolPolicy { tool: None, over: None, policy: DecisionPolicy::NotRequester, marks: None };
    let own = OwnSettings { policies: Some(vec![all]), ..OwnSettings::default() };
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["settings", "changed", "changed pending pending"]);
    assert_eq!(fixture.room.requests().await.unwrap()[0].votes().have, 0);
    assert_eq!(fixture.accepts("cy", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn a_vote_that_is_not_enough_leaves_the_request_pending_and_is_told() {
    let fixture = RoomFixture::with(OLD).await;
    issue(&fixture, "ana", None).await;
    issue(&fixture, "bo", None).await;
    policy(&fixture, DecisionPolicy::Two).await.unwrap();
    let request = fixture.proposes(NEW).await;
    fixture.forget();
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.heard("ana"), ["changed pending pending", "changed"]);
    assert_eq!(fixture.text().await, OLD);
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, NEW);
}

#[tokio::test]
async fn the_policy_of_the_moment_of_the_decision_counts() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.forget();
    policy(&fixture, DecisionPolicy::NotRequester).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["settings", "changed"]);
    let refused = fixture.decides("bo", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(refused), "not_allowed");
    policy(&fixture, DecisionPolicy::Owner).await.unwrap();
    let refused = fixture.decides("cy", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(refused), "not_allowed");
    assert_eq!(fixture.kept(&request).await.proposal.policy, DecisionPolicy::Owner.into());
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn frozen_ranges_are_of_a_version_and_move_with_their_words_also_over_a_restart() {
    let mut fixture = RoomFixture::with(OLD).await;
    let base = fixture.now().await.text;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    fixture.pushes("cy", Version(0), &[edit(&base, 0, 0, "Oh. ")]).await.unwrap();
    let frozen = async |fixture: &RoomFixture| fixture.now().await.settings.frozen;
    assert_eq!(frozen(&fixture).await, [(9, 21)]);
    fixture.starts().await;
    assert_eq!(frozen(&fixture).await, [(9, 21)]);
    assert_eq!(fixture.now().await.text.slice(9..21).unwrap(), "It was cold.");
}

#[tokio::test]
async fn words_are_frozen_as_they_were_read_before_a_stop() {
    let mut fixture = RoomFixture::with(OLD).await;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.restarts().await;
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    assert_eq!(fixture.now().await.settings.frozen, [(5, 17)]);
}

#[tokio::test]
async fn frozen_ranges_that_are_no_places_in_the_text_are_refused() {
    let fixture = RoomFixture::with("a😀b").await;
    for range in [(0, 2), (0, 5), (3, 3), (4, 1)] {
        let refused = freeze(&fixture, 0, range).await;
        assert!(matches!(refused, Err(RoomError::Invalid(_))), "{range:?} {refused:?}");
    }
    assert!(matches!(freeze(&fixture, 1, (0, 1)).await, Err(RoomError::Ahead { .. })));
}

#[tokio::test]
async fn what_was_frozen_after_it_was_proposed_cannot_be_accepted() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    assert_eq!(code(fixture.takes("ana", &request, 1).await), "invalid_decision");
    fixture.takes("ana", &request, 2).await.unwrap();
    assert_eq!(fixture.text().await, "It was cold. It was early.");
}

#[tokio::test]
async fn the_vote_of_someone_who_was_let_go_counts_no_more_and_people_see_it() {
    let (fixture, request) = two_of_three_decide().await;
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Pending);
    issue(&fixture, "ana", Some(1)).await;
    fixture.forget();
    // No one has notified the room: votes are checked when they are needed.
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.room.requests().await.unwrap()[0].votes().have, 1);
    issue(&fixture, "bo", Some(1)).await;
    fixture.forget();
    fixture.rooms.recount().await;
    assert_eq!(fixture.room.requests().await.unwrap()[0].votes().have, 0);
    assert_eq!(fixture.heard("ana"), ["changed pending pending"]);
    issue(&fixture, "bo", None).await;
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.accepts("cy", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn what_was_frozen_stays_open_and_says_why_while_the_rest_is_accepted() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.forget();
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["settings", "updates 0..0 +1"]);
    let open = fixture.room.requests().await.unwrap().remove(0);
    let reason = "These words were frozen after this was proposed.";
    assert_eq!(open.hunks[0].reason.as_ref().map(HunkReason::as_str), Some(reason));
    let decided =
        fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    assert_eq!(fixture.text().await, "It was cold. It was early.");
    let statuses = decided
        .hunks
        .iter()
        .map(|hunk| (hunk.status, hunk.reason.as_ref().map(HunkReason::as_str)));
    let expected = [(HunkStatus::Pending, Some(reason)), (HunkStatus::Accepted, None)];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
    assert!(decided.contradictions().is_empty());
    // Named, the frozen hunk is still refused; and so is everything once nothing else is left.
    assert_eq!(code(fixture.takes("ana", &request, 1).await), "invalid_decision");
    let again = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(again), "invalid_decision");
    let configure =
        SettingsChange { own: OwnSettings::default(), frozen: Some((Version(1), vec![])) };
    fixture.room.configure(configure, who("ana")).await.unwrap();
    assert_eq!(fixture.room.requests().await.unwrap()[0].hunks[0].reason, None);
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn what_was_frozen_says_why_again_after_a_conflict_and_a_restart() {
    let mut fixture = RoomFixture::with(OLD).await;
    fixture.proposes(NEW).await;
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    // The text is now "It was coXld."
    fixture.writes("bo", 9, 9, "X").await;
    let open = fixture.room.requests().await.unwrap().remove(0);
    assert_eq!(open.hunks[0].status, HunkStatus::Conflict);
    fixture.forget();
    fixture.writes("bo", 9, 10, "").await;
    let open = fixture.room.requests().await.unwrap().remove(0);
    let why = Some("These words were frozen after this was proposed.");
    assert_eq!(
        (open.hunks[0].status, open.hunks[0].reason.as_ref().map(HunkReason::as_str)),
        (HunkStatus::Pending, why)
    );
    assert!(fixture.heard("ana").contains(&"updates 2..2 +1".to_owned()));
    fixture.restarts().await;
    assert_eq!(fixture.room.requests().await.unwrap()[0].hunks, open.hunks);
    // The insertion is at the edge of the hunk.
    fixture.writes("bo", 11, 11, "er").await;
    assert_eq!(
        fixture.room.requests().await.unwrap()[0].hunks[0].reason.as_ref().map(HunkReason::as_str),
        why
    );
}

#[tokio::test]
async fn finishing_by_accepting_leaves_frozen_changes_open_too() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    freeze(&fixture, 0, (0, 12)).await.unwrap();
    let no = HunkVerdict::plain(hunk(&request, 2), HunkChoice::Reject);
    let finish = Some(FinishRest::Accept);
    let decision =
        Decision { hunks: Some(vec![no]), finish, ..Decision::plain(RequestVerdict::Approve) };
    let decided = fixture.decides("ana", &request, decision).await.unwrap();
    let statuses: Vec<_> = decided.hunks.iter().map(|hunk| hunk.status).collect();
    assert_eq!(statuses, [HunkStatus::Pending, HunkStatus::Rejected]);
}

#[tokio::test]
async fn votes_that_would_be_enough_under_a_milder_policy_are_cleared_and_people_see_it() {
    let (fixture, request) = two_of_three_decide().await;
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Pending);
    fixture.forget();
    policy(&fixture, DecisionPolicy::Any).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["settings", "changed pending pending"]);
    let votes = fixture.room.requests().await.unwrap()[0].votes();
    assert_eq!((votes.have, votes.need), (0, 1));
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Approved);
}
