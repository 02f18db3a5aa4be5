//! Review settings of a document: policies, votes, frozen ranges.

use std::sync::Arc;

use super::desk::{RoomFixture, code, edit, hunk, issue, issue_as};
use super::who;
use crate::approvals::{
    ApprovalRequest, Decision, DecisionPolicy, FinishRest, HunkChoice, HunkStatus, HunkVerdict,
    RequestStatus, RequestVerdict, ToolPolicy,
};
use crate::ids::Version;
use crate::permissions::Role;
use crate::rooms::RoomError;
use crate::rooms::command::SettingsChange;
use crate::rooms::settings::{DocumentSettings, OwnSettings};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

async fn policy(desk: &RoomFixture, policy: DecisionPolicy) -> Result<DocumentSettings, RoomError> {
    let own = OwnSettings { policy: Some(policy), ..OwnSettings::default() };
    desk.room.configure(SettingsChange { own, frozen: None }, who("ana")).await
}

async fn freeze(desk: &RoomFixture, version: u64, range: (usize, usize)) -> Result<(), RoomError> {
    let frozen = Some((Version(version), vec![range]));
    let configure = SettingsChange { own: OwnSettings::default(), frozen };
    desk.room.configure(configure, who("ana")).await.map(|_| ())
}

#[tokio::test]
async fn two_have_to_agree_only_where_two_could() {
    let desk = RoomFixture::with(OLD).await;
    issue(&desk, "ana", None).await;
    issue(&desk, "vic", None).await;
    issue(&desk, "cy", Some(1)).await;
    assert!(matches!(policy(&desk, DecisionPolicy::Two).await, Err(RoomError::Invalid(_))));
    issue(&desk, "rex", None).await;
    assert_eq!(policy(&desk, DecisionPolicy::Two).await.unwrap().policy, DecisionPolicy::Two);
}

/// Sets the document's policy, and another one for large changes.
async fn policies(
    desk: &RoomFixture,
    policy: DecisionPolicy,
    large: DecisionPolicy,
) -> Result<(), RoomError> {
    let large = ToolPolicy { tool: None, over: Some(100), policy: large };
    let (policy, policies) = (Some(policy), Some(vec![large]));
    let own = OwnSettings { policy, policies, ..OwnSettings::default() };
    desk.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.map(drop)
}

fn why(refused: Result<(), RoomError>) -> String {
    refused.unwrap_err().to_string()
}

#[tokio::test]
async fn policies_that_need_more_people_together_than_there_are_are_refused() {
    let desk = RoomFixture::with(OLD).await;
    for name in ["ana", "bo"] {
        issue(&desk, name, None).await;
    }
    let owners = policies(&desk, DecisionPolicy::Two, DecisionPolicy::Owner).await;
    assert!(why(owners).starts_with("`two` and `owner` together need two owners who could decide"));
    let others = policies(&desk, DecisionPolicy::NotRequester, DecisionPolicy::Two).await;
    assert!(why(others).starts_with("`not_requester` and `two` together need three people"));
    issue(&desk, "cy", None).await;
    policies(&desk, DecisionPolicy::NotRequester, DecisionPolicy::Two).await.unwrap();
    // The new policy alone does not need two people; with the policies in force it does.
    let owner = policy(&desk, DecisionPolicy::Owner).await.map(drop);
    assert!(why(owner).starts_with("`two` and `owner` together need two owners"));
    issue_as(&desk, "dee", Role::Owner, None).await;
    policy(&desk, DecisionPolicy::Owner).await.unwrap();
}

/// Creates a request that needs two of Ana, Bo and Cy.
async fn two_of_three_decide() -> (RoomFixture, Arc<ApprovalRequest>) {
    let desk = RoomFixture::with(OLD).await;
    for name in ["ana", "bo", "cy"] {
        issue(&desk, name, None).await;
    }
    policy(&desk, DecisionPolicy::Two).await.unwrap();
    let request = desk.proposes(NEW).await;
    (desk, request)
}

#[tokio::test]
async fn fewer_people_can_be_asked_for_however_few_there_are_now() {
    let desk = RoomFixture::with(OLD).await;
    for (name, role) in [("ana", Role::Owner), ("dee", Role::Owner)] {
        issue_as(&desk, name, role, None).await;
    }
    policies(&desk, DecisionPolicy::Two, DecisionPolicy::Owner).await.unwrap();
    issue_as(&desk, "dee", Role::Owner, Some(1)).await;
    let own = OwnSettings { policies: Some(Vec::new()), ..OwnSettings::default() };
    let configure = SettingsChange { own, frozen: None };
    assert_eq!(
        desk.room.configure(configure, who("ana")).await.unwrap().policy,
        DecisionPolicy::Two
    );
}

#[tokio::test]
async fn votes_of_people_whom_a_stricter_policy_leaves_out_are_gone_and_people_see_it() {
    let (desk, request) = two_of_three_decide().await;
    assert_eq!(desk.accepts("bo", &request).await, RequestStatus::Pending);
    desk.forget();
    let all = ToolPolicy { tool: None, over: None, policy: DecisionPolicy::NotRequester };
    let own = OwnSettings { policies: Some(vec![all]), ..OwnSettings::default() };
    desk.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.unwrap();
    assert_eq!(desk.heard("ana"), ["settings", "changed", "changed"]);
    assert_eq!(desk.room.requests().await.unwrap()[0].votes().have, 0);
    assert_eq!(desk.accepts("cy", &request).await, RequestStatus::Pending);
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn a_vote_that_is_not_enough_leaves_the_request_pending_and_is_told() {
    let desk = RoomFixture::with(OLD).await;
    issue(&desk, "ana", None).await;
    issue(&desk, "bo", None).await;
    policy(&desk, DecisionPolicy::Two).await.unwrap();
    let request = desk.proposes(NEW).await;
    desk.forget();
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Pending);
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Pending);
    assert_eq!(desk.heard("ana"), ["changed", "changed"]);
    assert_eq!(desk.text().await, OLD);
    assert_eq!(desk.accepts("bo", &request).await, RequestStatus::Approved);
    assert_eq!(desk.text().await, NEW);
}

#[tokio::test]
async fn the_policy_of_the_moment_of_the_decision_counts() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.forget();
    policy(&desk, DecisionPolicy::NotRequester).await.unwrap();
    assert_eq!(desk.heard("ana"), ["settings", "changed"]);
    let refused = desk.decides("bo", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(refused), "not_allowed");
    policy(&desk, DecisionPolicy::Owner).await.unwrap();
    let refused = desk.decides("cy", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(refused), "not_allowed");
    assert_eq!(desk.kept(&request).await.proposal.policy, DecisionPolicy::Owner.into());
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn frozen_ranges_are_of_a_version_and_move_with_their_words_also_over_a_restart() {
    let mut desk = RoomFixture::with(OLD).await;
    let base = desk.now().await.text;
    desk.writes("bo", 0, 0, "Yes! ").await;
    freeze(&desk, 0, (0, 12)).await.unwrap();
    desk.pushes("cy", Version(0), &[edit(&base, 0, 0, "Oh. ")]).await.unwrap();
    let frozen = async |desk: &RoomFixture| desk.now().await.settings.frozen;
    assert_eq!(frozen(&desk).await, [(9, 21)]);
    desk.starts().await;
    assert_eq!(frozen(&desk).await, [(9, 21)]);
    assert_eq!(desk.now().await.text.slice(9..21).unwrap(), "It was cold.");
}

#[tokio::test]
async fn frozen_ranges_that_are_no_places_in_the_text_are_refused() {
    let desk = RoomFixture::with("a😀b").await;
    for range in [(0, 2), (0, 5), (3, 3), (4, 1)] {
        let refused = freeze(&desk, 0, range).await;
        assert!(matches!(refused, Err(RoomError::Invalid(_))), "{range:?} {refused:?}");
    }
    assert!(matches!(freeze(&desk, 1, (0, 1)).await, Err(RoomError::Ahead { .. })));
}

#[tokio::test]
async fn what_was_frozen_after_it_was_proposed_cannot_be_accepted() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    freeze(&desk, 0, (0, 12)).await.unwrap();
    assert_eq!(code(desk.takes("ana", &request, 1).await), "invalid_decision");
    desk.takes("ana", &request, 2).await.unwrap();
    assert_eq!(desk.text().await, "It was cold. It was early.");
}

#[tokio::test]
async fn the_vote_of_somebody_who_was_let_go_counts_no_more_and_people_see_it() {
    let (desk, request) = two_of_three_decide().await;
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Pending);
    issue(&desk, "ana", Some(1)).await;
    desk.forget();
    // Nobody has told the room: votes are checked when they are needed.
    assert_eq!(desk.accepts("bo", &request).await, RequestStatus::Pending);
    assert_eq!(desk.room.requests().await.unwrap()[0].votes().have, 1);
    issue(&desk, "bo", Some(1)).await;
    desk.forget();
    desk.rooms.recount().await;
    assert_eq!(desk.room.requests().await.unwrap()[0].votes().have, 0);
    assert_eq!(desk.heard("ana"), ["changed"]);
    issue(&desk, "bo", None).await;
    assert_eq!(desk.accepts("bo", &request).await, RequestStatus::Pending);
    assert_eq!(desk.accepts("cy", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn what_was_frozen_stays_open_and_says_why_while_the_rest_is_accepted() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.forget();
    freeze(&desk, 0, (0, 12)).await.unwrap();
    assert_eq!(desk.heard("ana"), ["settings", "updates 0..0 +1"]);
    let open = desk.room.requests().await.unwrap().remove(0);
    let reason = "These words were frozen after this was proposed.";
    assert_eq!(open.hunks[0].reason.as_deref(), Some(reason));
    let decided =
        desk.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    assert_eq!(desk.text().await, "It was cold. It was early.");
    let statuses = decided.hunks.iter().map(|hunk| (hunk.status, hunk.reason.as_deref()));
    let expected = [(HunkStatus::Pending, Some(reason)), (HunkStatus::Accepted, None)];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
    assert!(decided.contradictions().is_empty());
    // Named, the frozen hunk is still refused; and so is everything once nothing else is left.
    assert_eq!(code(desk.takes("ana", &request, 1).await), "invalid_decision");
    let again = desk.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(again), "invalid_decision");
    let configure =
        SettingsChange { own: OwnSettings::default(), frozen: Some((Version(1), vec![])) };
    desk.room.configure(configure, who("ana")).await.unwrap();
    assert_eq!(desk.room.requests().await.unwrap()[0].hunks[0].reason, None);
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn what_was_frozen_says_why_again_after_a_conflict_and_a_restart() {
    let mut desk = RoomFixture::with(OLD).await;
    desk.proposes(NEW).await;
    freeze(&desk, 0, (0, 12)).await.unwrap();
    // The text is now "It was coXld."
    desk.writes("bo", 9, 9, "X").await;
    let open = desk.room.requests().await.unwrap().remove(0);
    assert_eq!(open.hunks[0].status, HunkStatus::Conflict);
    desk.forget();
    desk.writes("bo", 9, 10, "").await;
    let open = desk.room.requests().await.unwrap().remove(0);
    let why = Some("These words were frozen after this was proposed.");
    assert_eq!((open.hunks[0].status, open.hunks[0].reason.as_deref()), (HunkStatus::Pending, why));
    assert!(desk.heard("ana").contains(&"updates 2..2 +1".to_owned()));
    desk.restarts().await;
    assert_eq!(desk.room.requests().await.unwrap()[0].hunks, open.hunks);
    // The insertion is at the edge of the hunk.
    desk.writes("bo", 11, 11, "er").await;
    assert_eq!(desk.room.requests().await.unwrap()[0].hunks[0].reason.as_deref(), why);
}

#[tokio::test]
async fn finishing_by_accepting_leaves_frozen_changes_open_too() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    freeze(&desk, 0, (0, 12)).await.unwrap();
    let no = HunkVerdict::plain(hunk(&request, 2), HunkChoice::Reject);
    let finish = Some(FinishRest::Accept);
    let decision =
        Decision { hunks: Some(vec![no]), finish, ..Decision::plain(RequestVerdict::Approve) };
    let decided = desk.decides("ana", &request, decision).await.unwrap();
    let statuses: Vec<_> = decided.hunks.iter().map(|hunk| hunk.status).collect();
    assert_eq!(statuses, [HunkStatus::Pending, HunkStatus::Rejected]);
}

#[tokio::test]
async fn votes_that_would_be_enough_under_a_milder_policy_are_cleared_and_people_see_it() {
    let (desk, request) = two_of_three_decide().await;
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Pending);
    desk.forget();
    policy(&desk, DecisionPolicy::Any).await.unwrap();
    assert_eq!(desk.heard("ana"), ["settings", "changed"]);
    let votes = desk.room.requests().await.unwrap()[0].votes();
    assert_eq!((votes.have, votes.need), (0, 1));
    assert_eq!(desk.accepts("bo", &request).await, RequestStatus::Approved);
}
