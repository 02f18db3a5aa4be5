//! What happens to a tool without hunks, before and after people have said yes.

use super::*;

fn fresh(touched: &str) -> UpdatedPreview {
    UpdatedPreview { preview: Preview::generic(), touched: Some(touched.to_owned()) }
}

fn report(text: &str, is_error: bool) -> ToolReport {
    ToolReport { text: text.to_owned(), is_error }
}

#[test]
fn an_approved_call_begins_once_and_is_over_once() {
    let mut desk = ReviewFixture::asking("Write", Preview::generic());
    assert!(desk.request.begin(1).is_err(), "nobody said yes");
    desk.decide(&approve()).unwrap();
    desk.request.begin(2).unwrap();
    assert!(desk.request.begin(3).is_err());
    assert!(desk.request.done(report("Wrote it", false), 4));
    assert!(!desk.request.done(report("Wrote it twice", false), 5));
    assert!(desk.request.begin(6).is_err());
    assert_eq!(desk.request.report(), report("Wrote it", false));
}

#[test]
fn what_was_not_approved_never_begins() {
    for decision in [reject(), Decision::plain(RequestVerdict::Respond { message: "No".into() })] {
        let mut desk = ReviewFixture::asking("Write", Preview::generic());
        desk.decide(&decision).unwrap();
        assert!(desk.request.begin(1).is_err());
        assert!(!desk.request.done(report("Wrote it", false), 2));
    }
}

#[test]
fn a_call_that_fails_fails_the_request() {
    let mut desk = ReviewFixture::asking("Write", Preview::generic());
    desk.decide(&approve()).unwrap();
    desk.request.begin(1).unwrap();
    desk.request.done(report("Error: gone", true), 2);
    assert_eq!(desk.request.status, RequestStatus::Failed);
    assert_eq!(desk.request.report(), report("Error: gone", true));
}

#[test]
fn the_result_is_told_with_what_people_edited_and_said() {
    let mut desk = ReviewFixture::asking("Write", Preview::generic());
    let verdict = RequestVerdict::Edit { input: json!({ "x": 2 }) };
    let note = Some("Mind the tabs".to_owned());
    desk.decide(&Decision { note, ..Decision::plain(verdict) }).unwrap();
    desk.request.begin(1).unwrap();
    desk.request.done(report("Wrote it", false), 2);
    let told = "Note: the user edited this call before it ran; executed input: {\"x\":2}. Do not re-issue the original.\n\
                Wrote it\nUser note: Mind the tabs";
    assert_eq!(desk.request.report(), report(told, false));
}

#[test]
fn another_preview_takes_the_votes_back_and_needs_a_look() {
    let mut desk =
        ReviewFixture::asking("Write", Preview::generic()).with_policy(DecisionPolicy::Two);
    desk.decide_as(&bob(), &approve()).unwrap();
    assert!(desk.request.look_again(fresh("other"), &DecisionRequirements::default()));
    assert!(
        !desk.request.look_again(fresh("other"), &DecisionRequirements::default()),
        "nothing new"
    );
    assert_eq!(desk.request.votes().have, 0);
    assert_eq!(desk.request.contradictions(), [""; 0]);
    assert_eq!(desk.decide_as(&ann(), &approve()).unwrap_err().code(), "stale_preview");
    let preview_hash = Some(desk.request.preview_hash());
    desk.decide_as(&ann(), &Decision { preview_hash, ..approve() }).unwrap();
}

#[test]
fn what_has_ended_is_not_looked_at_again() {
    let mut desk = ReviewFixture::asking("Write", Preview::generic());
    desk.decide(&approve()).unwrap();
    let before = desk.request.clone();
    assert!(!desk.request.look_again(fresh("other"), &DecisionRequirements::default()));
    assert_eq!(desk.request, before);
}

#[test]
fn an_edited_call_is_bound_to_what_the_edited_input_would_do() {
    let mut desk = ReviewFixture::asking("Write", Preview::generic());
    let edit = Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) });
    desk.decide(&Decision { revised: Some(fresh("another file")), ..edit }).unwrap();
    assert_eq!(desk.request.proposal.touched.as_deref(), Some("another file"));
}

#[test]
fn a_request_concerns_who_may_decide_it_and_who_asked() {
    let desk = ReviewFixture::asking("Bash", Preview::command("ls", Vec::new()));
    let (owner, rex, vic) =
        (person("o", Role::Owner), person("rex", Role::Reviewer), person("vic", Role::Viewer));
    assert!(desk.request.concerns(&owner) && desk.request.concerns(&ann()));
    assert!(
        !desk.request.concerns(&bob())
            && !desk.request.concerns(&rex)
            && !desk.request.concerns(&vic)
    );
}
