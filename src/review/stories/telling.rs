//! What the model is told, and what people are shown.

use super::*;
use crate::document::diff::DiffLimits;

fn three() -> Desk {
    Desk::proposing(
        "Teh first one is here. Than a second came along. It were a third.",
        "The first one is here. Then a second came along. It was a third.",
    )
}

fn error(text: &str) -> Report {
    Report { text: text.to_owned(), is_error: true }
}

#[test]
fn a_rejection_is_told_with_its_feedback() {
    let mut desk = three();
    desk.decide(&Decision { feedback: Some("Too formal.".into()), ..reject() }).unwrap();
    assert_eq!(desk.request.report(), error("User rejected: Too formal."));
}

#[test]
fn a_rejection_without_feedback_is_told_so() {
    let mut desk = three();
    desk.decide(&reject()).unwrap();
    assert_eq!(desk.request.report(), error("User rejected the operation"));
}

#[test]
fn feedback_and_notes_both_reach_the_model() {
    let mut desk = three();
    let (feedback, note) = (Some("No.".to_owned()), Some("Ask Bob.".to_owned()));
    desk.decide(&Decision { feedback, note, ..reject() }).unwrap();
    assert_eq!(desk.request.report(), error("User rejected: No.\nUser note: Ask Bob."));

    let mut desk = three();
    desk.decide(&Decision { note: Some("Nice.".into()), ..approve() }).unwrap();
    assert_eq!(desk.request.report().text, "Applied: 3 accepted.\nUser note: Nice.");
}

#[test]
fn a_partial_decision_is_told_change_by_change() {
    let mut desk = three();
    desk.types("T|eh", "x");
    let mut decision = named(vec![
        HunkVerdict {
            text: Some("Thereupon".into()),
            ..HunkVerdict::plain(desk.id(1), Choice::Accept)
        },
        HunkVerdict::plain(desk.id(2), Choice::Reject),
    ]);
    decision.feedback = Some("Leave the tense.".into());
    desk.decide(&decision).unwrap();
    desk.request.expire(START_MS + 300_000).unwrap();
    let report = desk.request.report();
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
    let mut desk = three();
    desk.request.expire(START_MS + 310_000).unwrap();
    assert_eq!(
        desk.request.report(),
        error(
            "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks."
        )
    );
}

#[test]
fn an_edited_call_is_told_with_the_input_that_ran() {
    let mut desk = Desk::asking("Write", Preview::generic());
    desk.decide(&Decision::plain(Verdict::Edit { input: json!({ "x": 2 }) })).unwrap();
    let result = Report { text: "Wrote 1 character".into(), is_error: false };
    assert_eq!(
        desk.request.report_result(&result).text,
        "Note: the user edited this call before it ran; executed input: {\"x\":2}. Do not re-issue the original.\n\
         Wrote 1 character"
    );
}

#[test]
fn people_can_read_what_the_model_will_be_told_before_they_send_it() {
    let mut desk = three();
    let decision = Decision { feedback: Some("No.".into()), ..reject() };
    let told = desk.request.would_report(&decision, &ann(), &desk.text, desk.now_ms).unwrap();
    assert_eq!(desk.request.status, RequestStatus::Pending);
    desk.decide(&decision).unwrap();
    assert_eq!(desk.request.report(), told);
}

#[test]
fn no_refusal_sounds_like_a_permission_problem() {
    let mut desk = three();
    desk.decide(&reject()).unwrap();
    let mut late = three();
    late.request.expire(START_MS + 300_000).unwrap();
    let mut gone = three();
    gone.request.cancel(None, 1).unwrap();
    for request in [desk.request, late.request, gone.request] {
        let told = request.report().text.to_lowercase();
        assert!(!told.contains("permission") && !told.contains("denied"), "{told}");
    }
}

#[test]
fn a_new_file_is_shown_as_in_the_first_seed() {
    let preview = Preview::diff("/path/to/test.txt", None, "hello world", &DiffLimits::default());
    assert_eq!(preview.kind.as_str(), "diff");
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
    let preview = Preview::multi_diff("f", "a\nb\n", "x\ny\n", &[("a", "x"), ("b", "y")], &limits);
    assert_eq!(preview.kind.as_str(), "multi_diff");
    assert_eq!(preview.data["edit_count"], 2);
    assert_eq!(preview.data["edits"][1]["diff_lines"][3], "-b");
}

#[test]
fn a_command_is_shown_with_its_warnings() {
    let warning = Warning { code: "deletes".into(), text: "This deletes files.".into() };
    let preview = Preview::command("rm -r x", vec![warning.clone()]);
    assert_eq!(preview.kind.as_str(), "command");
    assert_eq!((preview.data, preview.warnings), (json!({ "command": "rm -r x" }), vec![warning]));
}
