//! What calls did to files is taken back, and calls are proposed again.

use super::*;

/// A file that was written: `old` to `new`, as people approved it.
fn written(old: Option<&str>, new: &str) -> ReviewFixture {
    let preview = Preview::diff("a.txt", old, new, &DiffLimits::default());
    let mut fixture = ReviewFixture::asking("Write", preview);
    fixture.request.proposal.document = None;
    fixture.request.proposal.action.touched = Some("before".to_owned());
    fixture.request.announced = fixture.request.preview_hash();
    fixture.decide(&Decision::plain(RequestVerdict::Approve)).unwrap();
    fixture.request.begin(1).unwrap();
    fixture.request.done(ToolReport { text: "Wrote it".into(), is_error: false }, 2);
    fixture
}

fn ended(verdict: RequestVerdict) -> ReviewFixture {
    let preview = Preview::diff("a.txt", Some("old"), "new", &DiffLimits::default());
    let mut fixture = ReviewFixture::asking("Write", preview);
    fixture.decide(&Decision::plain(verdict)).unwrap();
    fixture
}

fn begin(fixture: &mut ReviewFixture, who: &Principal) -> Result<(), DecisionError> {
    let found = FoundFile { stamp: "after".to_owned(), units: 1, forced: false };
    fixture.request.begin_reversal(who, found, 5, &DecisionRequirements::default())
}

fn reason(refused: Result<(), DecisionError>) -> String {
    match refused {
        Err(DecisionError::InvalidDecision { reason }) => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_call_wrote_is_known_with_what_was_there_before() {
    let fixture = written(Some("old\r\n"), "new\r\n");
    let found = fixture.request.written().unwrap();
    assert_eq!((found.path, found.before, found.after), ("a.txt", Some("old\r\n"), "new\r\n"));
    assert_eq!(written(None, "new").request.written().unwrap().before, None);
    assert_eq!(written(Some(""), "new").request.written().unwrap().before, Some(""));
}

#[test]
fn it_is_taken_back_once_by_somebody_who_may_decide() {
    let mut fixture = written(Some("old"), "new");
    let viewer = person("vic", Role::Viewer);
    assert_eq!(begin(&mut fixture, &viewer).unwrap_err().code(), "not_allowed");
    begin(&mut fixture, &bob()).unwrap();
    assert_eq!(reason(begin(&mut fixture, &ann())), "it is being undone");
    assert!(fixture.request.is_being_undone() && fixture.request.undone().is_none());
    assert!(fixture.request.end_reversal(&FileUndoOutcome::Done, 6));
    assert!(!fixture.request.end_reversal(&FileUndoOutcome::Done, 7), "it is no news");
    assert_eq!(reason(begin(&mut fixture, &ann())), "it was already undone");
    let undone = fixture.request.undone().unwrap();
    assert_eq!((&undone.by, undone.at_ms, undone.done_ms), (&Person::from(&bob()), 5, Some(6)));
    assert_eq!(fixture.request.contradictions(), [""; 0]);
    let told = fixture.request.report().text;
    assert_eq!(told, "Wrote it\nBOB has undone this since: a.txt is as it was before.");
}

#[test]
fn what_came_to_nothing_can_be_tried_again() {
    let mut fixture = written(Some("old"), "new");
    begin(&mut fixture, &bob()).unwrap();
    assert!(fixture.request.end_reversal(&FileUndoOutcome::Not("the disk is full".into()), 6));
    assert!(fixture.request.can_be_undone());
    assert_eq!(fixture.request.report().text, "Wrote it");
    begin(&mut fixture, &bob()).unwrap();
}

#[test]
fn what_was_not_done_or_changed_no_file_cannot_be_taken_back() {
    let nothing = "nothing was done, so there is nothing to undo";
    assert_eq!(reason(begin(&mut ended(RequestVerdict::Reject), &bob())), nothing);
    let mut approved = ended(RequestVerdict::Approve);
    assert_eq!(reason(begin(&mut approved, &bob())), nothing);
    approved.request.begin(1).unwrap();
    assert_eq!(reason(begin(&mut approved, &bob())), "it is still running");
    approved.request.done(ToolReport { text: "Error".into(), is_error: true }, 2);
    assert_eq!(reason(begin(&mut approved, &bob())), nothing);

    let mut command = written(Some("old"), "new");
    command.request.proposal.action.preview = Preview::command("rm -r .", Vec::new());
    let owner = person("olga", Role::Owner);
    assert!(reason(begin(&mut command, &owner)).starts_with("a command cannot be undone"));
    let mut document = written(None, "new");
    document.request.proposal.action.touched = None;
    assert!(reason(begin(&mut document, &bob())).starts_with("this changed no file"));
}

#[test]
fn what_came_to_nothing_can_be_proposed_again_by_whoever_could_ask_for_it() {
    let fixture = ended(RequestVerdict::Reject);
    assert!(fixture.request.can_be_proposed_again());
    fixture.request.check_repeatable(&bob()).unwrap();
    for role in [Role::Reviewer, Role::Viewer] {
        let refused = fixture.request.check_repeatable(&person("rex", role));
        assert_eq!(refused.unwrap_err().code(), "not_allowed");
    }
}

#[test]
fn a_command_is_proposed_again_by_an_owner_or_whoever_had_asked_for_it() {
    let mut fixture = ReviewFixture::asking("Bash", Preview::command("ls", Vec::new()));
    fixture.request.expire(START_MS + 300_000).unwrap();
    fixture.request.check_repeatable(&ann()).unwrap();
    fixture.request.check_repeatable(&person("olga", Role::Owner)).unwrap();
    let refused = fixture.request.check_repeatable(&bob()).unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
}

#[test]
fn what_waits_was_done_or_was_proposed_again_already_is_not_proposed_again() {
    let check = |fixture: &ReviewFixture| reason(fixture.request.check_repeatable(&bob()));
    let open =
        ReviewFixture::asking("Write", Preview::diff("a", None, "b", &DiffLimits::default()));
    assert_eq!(check(&open), "it still waits for people");
    let mut done = written(Some("old"), "new");
    assert_eq!(check(&done), "it was done; it can be proposed again once it is undone");
    begin(&mut done, &bob()).unwrap();
    done.request.end_reversal(&FileUndoOutcome::Done, 6);
    done.request.check_repeatable(&bob()).unwrap();
    done.request.repeated_as("req_2".into());
    assert_eq!(check(&done), "it was already proposed again; use the newer request");
    let mut plan = ReviewFixture::asking("ExitPlanMode", Preview::generic());
    plan.decide(&Decision::plain(RequestVerdict::Reject)).unwrap();
    assert_eq!(check(&plan), "this cannot be proposed again: the run that requested it has ended");
    assert!(!plan.request.can_be_proposed_again());
}

#[test]
fn a_request_that_was_undone_and_not_done_contradicts_itself() {
    let mut fixture = written(Some("old"), "new");
    begin(&mut fixture, &bob()).unwrap();
    fixture.request.aftermath.execution = None;
    let found = fixture.request.contradictions();
    assert_eq!(found, ["it was undone, and nothing says that it was done"]);
}

#[test]
fn an_ended_request_stands_as_decided_until_it_is_undone_or_proposed_again() {
    let open = ReviewFixture::asking("Write", Preview::generic());
    assert!(!open.request.stands_as_decided());
    assert_eq!(open.request.last_decided_ms(), 0);

    let mut fixture = written(Some("old"), "new");
    assert!(fixture.request.stands_as_decided());
    begin(&mut fixture, &bob()).unwrap();
    assert!(!fixture.request.stands_as_decided(), "its undo may end at any time");
    let (decided_ms, undone_ms) = (fixture.request.last_decided_ms(), 2_000_000);
    assert!(fixture.request.end_reversal(&FileUndoOutcome::Done, undone_ms));
    assert!(decided_ms < undone_ms && fixture.request.last_decided_ms() == undone_ms);
    assert!(!fixture.request.stands_as_decided());

    let mut rejected = ended(RequestVerdict::Reject);
    assert!(rejected.request.stands_as_decided());
    rejected.request.repeated_as("req_2".into());
    assert!(!rejected.request.stands_as_decided());
}
