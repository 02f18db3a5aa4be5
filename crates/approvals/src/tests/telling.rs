//! What the model is sent, and what people are shown.

use super::*;
use copydesk_document::diff::DiffLimits;

fn three() -> ReviewFixture {
    ReviewFixture::proposing(
        "Teh first one is here. Than a second came along. It were a third.",
        "The first one is here. Then a second came along. It was a third.",
    )
}

fn error(text: &str) -> ToolReport {
    ToolReport { text: text.to_owned(), is_error: true }
}

#[test]
fn a_rejection_is_told_with_its_feedback() {
    let mut fixture = three();
    fixture.decide(&Decision { feedback: Some("Too formal.".into()), ..reject() }).unwrap();
    assert_eq!(fixture.request.report(), error("User rejected: Too formal."));
}

#[test]
fn a_rejection_without_feedback_is_told_so() {
    let mut fixture = three();
    fixture.decide(&reject()).unwrap();
    assert_eq!(fixture.request.report(), error("User rejected the operation"));
}

#[test]
fn feedback_and_notes_both_reach_the_model() {
    let mut fixture = three();
    let (feedback, note) = (Some("No.".to_owned()), Some("Ask Bob.".to_owned()));
    fixture.decide(&Decision { feedback, note, ..reject() }).unwrap();
    assert_eq!(fixture.request.report(), error("User rejected: No.\nUser note: Ask Bob."));

    let mut fixture = three();
    fixture.decide(&Decision { note: Some("Nice.".into()), ..approve() }).unwrap();
    assert_eq!(fixture.request.report().text, "Applied: 3 accepted.\nUser note: Nice.");
}

#[test]
fn a_partial_decision_is_told_change_by_change() {
    let mut fixture = three();
    fixture.types("T|eh", "x");
    let mut decision = named(vec![
        HunkVerdict {
            text: Some("Thereupon".into()),
            ..HunkVerdict::plain(fixture.id(1), HunkChoice::Accept)
        },
        HunkVerdict::plain(fixture.id(2), HunkChoice::Reject),
    ]);
    decision.feedback = Some("Leave the tense.".into());
    fixture.decide(&decision).unwrap();
    fixture.request.expire(START_MS + 300_000).unwrap();
    let report = fixture.request.report();
    assert!(!report.is_error);
    assert_eq!(
        report.text,
        "Partly applied: 1 accepted, 1 rejected, 1 conflicted.\n\
         - conflicted: \"Teh\" → \"The\"\n\
         - accepted, edited by the user: \"Than\" → \"Thereupon\" (proposed \"Then\")\n\
         - rejected: \"were\" → \"was\"\n\
         User feedback: Leave the tense."
    );
}

#[test]
fn an_expiry_is_told_as_a_timeout_and_not_as_a_rejection() {
    let mut fixture = three();
    fixture.request.expire(START_MS + 310_000).unwrap();
    assert_eq!(
        fixture.request.report(),
        error(
            "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks."
        )
    );
}

const LATE: &str =
    "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks.";

fn rejected_with_feedback(fixture: &mut ReviewFixture, index: usize, feedback: &str) {
    let decision = one(fixture.id(index), HunkChoice::Reject);
    fixture.decide(&Decision { feedback: Some(feedback.into()), ..decision }).unwrap();
}

#[test]
fn an_expiry_tells_what_people_had_rejected_and_why() {
    let mut fixture = three();
    rejected_with_feedback(&mut fixture, 1, "I like \"than\".");
    fixture.request.expire(START_MS + 300_000).unwrap();
    let told = format!(
        "{LATE}\n- expired: \"Teh\" → \"The\"\n- rejected: \"Than\" → \"Then\"\n- expired: \"were\" → \"was\"\n\
         User feedback: I like \"than\"."
    );
    assert_eq!(fixture.request.report(), error(&told));
}

#[test]
fn a_withdrawal_tells_what_people_had_rejected_and_why() {
    let mut fixture = three();
    rejected_with_feedback(&mut fixture, 0, "Not there.");
    fixture.request.cancel(Some(Person::from(&ann())), fixture.now_ms).unwrap();
    let told = fixture.request.report().text;
    assert!(told.starts_with("The request was withdrawn; the tool was not executed.\n"), "{told}");
    assert!(told.contains("- rejected: \"Teh\" → \"The\"\n"), "{told}");
    assert!(told.ends_with("User feedback: Not there."), "{told}");
}

#[test]
fn what_people_said_with_a_vote_that_was_not_enough_is_told() {
    let mut fixture =
        ReviewFixture::asking("Write", Preview::generic()).with_policy(DecisionPolicy::Two);
    fixture.decide(&Decision { note: Some("If Bob agrees.".into()), ..approve() }).unwrap();
    assert_eq!(fixture.request.report().text, "Waiting for approval.\nUser note: If Bob agrees.");
    fixture.request.expire(START_MS + 300_000).unwrap();
    assert_eq!(fixture.request.report(), error(&format!("{LATE}\nUser note: If Bob agrees.")));
}

#[test]
fn an_answer_is_told_with_what_was_decided_and_said_before() {
    let mut fixture = three();
    fixture.accept(0).unwrap();
    rejected_with_feedback(&mut fixture, 1, "I like it.");
    let respond = RequestVerdict::Respond { message: "Ask Bob about the rest.".into() };
    fixture
        .decide(&Decision { note: Some("He is in.".into()), ..Decision::plain(respond) })
        .unwrap();
    assert_eq!(
        fixture.request.report(),
        ToolReport {
            text: "Ask Bob about the rest.\nPartly applied: 1 accepted, 2 rejected.\n\
                   - accepted: \"Teh\" → \"The\"\n- rejected: \"Than\" → \"Then\"\n- rejected: \"were\" → \"was\"\n\
                   User feedback: I like it.\nUser note: He is in."
                .into(),
            is_error: false
        }
    );
}

#[test]
fn once_it_is_proposed_again_the_answer_is_no_longer_what_became_of_it() {
    let mut fixture = three();
    fixture.decide(&Decision::plain(RequestVerdict::Respond { message: "No.".into() })).unwrap();
    fixture.request.reopen(None, &ann(), &fixture.text).unwrap();
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.request.report().text, "Applied: 3 accepted.");
}

#[test]
fn changes_that_nobody_was_shown_are_told_however_the_rest_ends() {
    let (base, now) = (Text::new("Teh first one. Than a second."), "My first one. Than a second.");
    let change = ChangeSet::of(base.len(), &[TextEdit { from: 0, to: 3, insert: "My".into() }]);
    let drafts = drafts(&base.to_string(), "The first one. Then a second.");
    let arrival = ArrivedHunks::map(&"req_1".into(), drafts, &base, [&change.unwrap()]).unwrap();
    let waiting = || {
        let proposal = proposal("update_full_document", json!({}), Preview::generic());
        let clock = RequestTimes::start(START_MS, 300_000);
        let request = ApprovalRequest::open(proposal, arrival.clone(), Version(1), clock);
        ReviewFixture { text: Text::new(now), request, now_ms: START_MS + 1 }
    };
    let line = "- conflicted: you read \"Teh\", proposed \"The\"; it now reads \"My\"";

    let mut fixture = waiting();
    fixture.decide(&Decision { feedback: Some("No.".into()), ..reject() }).unwrap();
    assert_eq!(fixture.request.report(), error(&format!("User rejected: No.\n{line}")));
    let mut fixture = waiting();
    fixture.request.expire(START_MS + 300_000).unwrap();
    assert_eq!(fixture.request.report(), error(&format!("{LATE}\n{line}")));
    let mut fixture = waiting();
    fixture.decide(&Decision::plain(RequestVerdict::Respond { message: "Later.".into() })).unwrap();
    assert_eq!(fixture.request.report().text, format!("Later.\n{line}"));
}

#[test]
fn an_edited_call_is_told_with_the_input_that_ran() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.decide(&Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) })).unwrap();
    let result = ToolReport { text: "Wrote 1 character".into(), is_error: false };
    assert_eq!(
        fixture.request.report_result(&result).text,
        "Note: the user edited this call before it ran; executed input: {\"x\":2}. Do not re-issue the original.\n\
         Wrote 1 character"
    );
}

#[test]
fn a_report_is_complete_once_everything_is_decided() {
    let mut fixture = three();
    let decision = Decision { feedback: Some("No.".into()), ..reject() };
    assert!(matches!(fixture.request.report_state(), ReportState::Waiting { .. }));
    fixture.decide(&decision).unwrap();
    assert_eq!(fixture.request.report_state(), ReportState::Complete);
}

#[test]
fn what_is_not_known_before_the_end_is_left_open_in_the_report() {
    let state = |fixture: &ReviewFixture, decision: &Decision| {
        let ReviewFixture { request, text, now_ms } = fixture;
        let (mut copy, nothing) = (request.clone(), DecisionRequirements::default());
        copy.judge_and_carry_out(decision, &ann(), text, *now_ms, &nothing).unwrap();
        copy.report_state()
    };
    let fixture = three();
    let one = one(fixture.id(0), HunkChoice::Reject);
    let one = Decision { feedback: Some("No.".into()), ..one };
    let ReportState::Waiting { so_far } = state(&fixture, &one) else { panic!("waits for two") };
    assert!(so_far.ends_with("\nUser feedback: No.") && so_far.lines().count() > 3, "{so_far}");

    let note = || Some("Approved.".to_owned());
    let approved = Decision { note: note(), ..approve() };
    let after = "\nUser note: Approved.".to_owned();
    let expected = ReportState::Runs { before: String::new(), after: after.clone() };
    let call = ReviewFixture::asking("Write", Preview::generic());
    assert_eq!(state(&call, &approved), expected);
    let verdict = RequestVerdict::Edit { input: json!({ "x": 2 }) };
    let edited = Decision { note: note(), ..Decision::plain(verdict) };
    let ReportState::Runs { before, after: behind } = state(&call, &edited) else {
        panic!("it runs")
    };
    assert!(before.starts_with("Note: the user edited this call"), "{before}");
    assert_eq!(behind, after);
}

#[test]
fn no_refusal_sounds_like_a_permission_problem() {
    let mut fixture = three();
    fixture.decide(&reject()).unwrap();
    let mut late = three();
    late.request.expire(START_MS + 300_000).unwrap();
    let mut gone = three();
    gone.request.cancel(None, 1).unwrap();
    for request in [fixture.request, late.request, gone.request] {
        let told = request.report().text.to_lowercase();
        assert!(!told.contains("permission") && !told.contains("denied"), "{told}");
    }
}

#[test]
fn a_new_file_is_shown_as_the_tool_approval_protocol_has_it() {
    let preview = Preview::diff("/path/to/test.txt", None, "hello world", &DiffLimits::default());
    assert_eq!(preview.kind, PreviewKind::Diff);
    assert_eq!(
        preview.diff_lines,
        ["--- a//path/to/test.txt", "+++ b//path/to/test.txt", "@@ -0,0 +1 @@", "+hello world"]
    );
    assert_eq!(
        preview.data,
        json!({ "file_path": "/path/to/test.txt", "is_new_file": true, "original_lines": 0, "new_lines": 1 })
    );
    assert_eq!(preview.original_content.as_deref(), Some(""));
}

#[test]
fn a_change_is_shown_with_three_lines_around_it_as_difflib_does() {
    let lines: Vec<String> = (1..=14).map(|n| format!("line {n}")).collect();
    let old = lines.join("\n") + "\n";
    let new = old.replace("line 2\n", "").replace("line 11\n", "line eleven\nand more\n");
    let lines = diff_lines("f", &old, &new, &DiffLimits::default());
    assert_eq!(
        lines.join("\n"),
        "--- a/f\n+++ b/f\n@@ -1,5 +1,4 @@\n line 1\n-line 2\n line 3\n line 4\n line 5\n\
         @@ -8,7 +7,8 @@\n line 8\n line 9\n line 10\n-line 11\n+line eleven\n+and more\n line 12\n line 13\n line 14"
    );
    assert!(diff_lines("f", &old, &old, &DiffLimits::default()).is_empty());
}

#[test]
fn several_steps_are_shown_one_by_one() {
    let limits = DiffLimits::default();
    let step =
        |from, to, everywhere, occurrences| PreviewStep { from, to, everywhere, occurrences };
    let steps = [step("a", "x", false, 1), step("b", "y", true, 2)];
    let preview = Preview::multi_diff("f", "a\nb\nb\n", "x\ny\ny\n", &steps, &limits);
    assert_eq!(preview.kind, PreviewKind::MultiDiff);
    assert_eq!(preview.data["edit_count"], 2);
    let edits = &preview.data["edits"];
    assert_eq!(edits[1]["diff_lines"][3], "-b");
    assert_eq!((&edits[0]["replace_all"], &edits[0]["occurrences"]), (&json!(false), &json!(1)));
    assert_eq!((&edits[1]["replace_all"], &edits[1]["occurrences"]), (&json!(true), &json!(2)));
}

#[test]
fn a_command_is_shown_with_its_warnings() {
    let warning = PreviewWarning { code: "deletes".into(), text: "This deletes files.".into() };
    let preview = Preview::command("rm -r x", vec![warning.clone()]);
    assert_eq!(preview.kind, PreviewKind::Command);
    assert_eq!((preview.data, preview.warnings), (json!({ "command": "rm -r x" }), vec![warning]));
}
