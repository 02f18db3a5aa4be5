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
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    assert!(fixture.request.begin(1).is_err(), "nobody said yes");
    fixture.decide(&approve()).unwrap();
    fixture.request.begin(2).unwrap();
    assert!(fixture.request.begin(3).is_err());
    assert!(fixture.request.done(report("Wrote it", false), 4));
    assert!(!fixture.request.done(report("Wrote it twice", false), 5));
    assert!(fixture.request.begin(6).is_err());
    assert_eq!(fixture.request.report(), report("Wrote it", false));
}

#[test]
fn what_was_not_approved_never_begins() {
    for decision in [reject(), Decision::plain(RequestVerdict::Respond { message: "No".into() })] {
        let mut fixture = ReviewFixture::asking("Write", Preview::generic());
        fixture.decide(&decision).unwrap();
        assert!(fixture.request.begin(1).is_err());
        assert!(!fixture.request.done(report("Wrote it", false), 2));
    }
}

#[test]
fn a_call_that_fails_fails_the_request() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.decide(&approve()).unwrap();
    fixture.request.begin(1).unwrap();
    fixture.request.done(report("Error: gone", true), 2);
    assert_eq!(fixture.request.status, RequestStatus::Failed);
    assert_eq!(fixture.request.report(), report("Error: gone", true));
}

#[test]
fn the_result_is_told_with_what_people_edited_and_said() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    let verdict = RequestVerdict::Edit { input: json!({ "x": 2 }) };
    let note = Some("Mind the tabs".to_owned());
    fixture.decide(&Decision { note, ..Decision::plain(verdict) }).unwrap();
    fixture.request.begin(1).unwrap();
    fixture.request.done(report("Wrote it", false), 2);
    let told = "Note: the user edited this call before it ran; executed input: {\"x\":2}. Do not re-issue the original.\n\
                Wrote it\nUser note: Mind the tabs";
    assert_eq!(fixture.request.report(), report(told, false));
}

#[test]
fn another_preview_takes_the_votes_back_and_needs_a_look() {
    let mut fixture =
        ReviewFixture::asking("Write", Preview::generic()).with_policy(DecisionPolicy::Two);
    fixture.decide_as(&bob(), &approve()).unwrap();
    assert!(fixture.request.refresh_preview(fresh("other"), &DecisionRequirements::default()));
    assert!(
        !fixture.request.refresh_preview(fresh("other"), &DecisionRequirements::default()),
        "nothing new"
    );
    assert_eq!(fixture.request.votes().have, 0);
    assert_eq!(fixture.request.contradictions(), [""; 0]);
    assert_eq!(fixture.decide_as(&ann(), &approve()).unwrap_err().code(), "stale_preview");
    let preview_hash = Some(fixture.request.preview_hash());
    fixture.decide_as(&ann(), &Decision { preview_hash, ..approve() }).unwrap();
}

#[test]
fn what_has_ended_is_not_looked_at_again() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.decide(&approve()).unwrap();
    let before = fixture.request.clone();
    assert!(!fixture.request.refresh_preview(fresh("other"), &DecisionRequirements::default()));
    assert_eq!(fixture.request, before);
}

#[test]
fn an_edited_call_is_bound_to_what_the_edited_input_would_do() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    let edit = Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) });
    fixture.decide(&Decision { revised: Some(fresh("another file")), ..edit }).unwrap();
    assert_eq!(fixture.request.proposal.action.touched.as_deref(), Some("another file"));
}

#[test]
fn a_request_concerns_who_may_decide_it_and_who_asked() {
    let fixture = ReviewFixture::asking("Bash", Preview::command("ls", Vec::new()));
    let (owner, rex, vic) =
        (person("o", Role::Owner), person("rex", Role::Reviewer), person("vic", Role::Viewer));
    assert!(fixture.request.concerns(&owner) && fixture.request.concerns(&ann()));
    assert!(
        !fixture.request.concerns(&bob())
            && !fixture.request.concerns(&rex)
            && !fixture.request.concerns(&vic)
    );
}
