//! Tests of every tool that changes a file with every decision of people, and of the tools that
//! only read.

use copydesk_approvals::{PreviewKind, ReportState, RequestStatus};

use super::*;

/// Tool that changes `a.txt`, whose text is `one two one\n`.
struct FileToolCase {
    tool: &'static str,
    input: Value,
    /// Text of the file after an approval, and the result for the model.
    after: &'static str,
    tool_result: &'static str,
    /// Another input, and the text of the file with it.
    edited: Value,
    after_edited: &'static str,
}

const BEFORE: &str = "one two one\n";

fn cases() -> [FileToolCase; 3] {
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let of =
        |old: &str, new: &str| json!({"file_path": "a.txt", "old_string": old, "new_string": new});
    [
        FileToolCase {
            tool: "Write",
            input: json!({"file_path": "a.txt", "content": "new\n"}),
            after: "new\n",
            tool_result: "Wrote 4 characters to a.txt",
            edited: json!({"file_path": "a.txt", "content": "mine\n"}),
            after_edited: "mine\n",
        },
        FileToolCase {
            tool: "Edit",
            input: of("two", "2"),
            after: "one 2 one\n",
            tool_result: "Replaced 1 occurrence in a.txt",
            edited: of("two", "deux"),
            after_edited: "one deux one\n",
        },
        FileToolCase {
            tool: "MultiEdit",
            input: json!({"file_path": "a.txt", "edits": [edit("two", "2"), {"old_string": "one", "new_string": "1", "replace_all": true}]}),
            after: "1 2 1\n",
            tool_result: "Applied 2 edits to a.txt (3 occurrences)",
            edited: json!({"file_path": "a.txt", "edits": [edit("two", "zwei")]}),
            after_edited: "one zwei one\n",
        },
    ]
}

async fn asked(case: &FileToolCase) -> (TestAgent, Arc<ApprovalRequest>) {
    let mut stage = TestAgent::in_workspace(&[("a.txt", BEFORE)]).await;
    stage.model.plays([calls([(case.tool, case.input.clone())]), says("Done.")]);
    stage.run("Change it").await;
    let request = stage.request().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some(BEFORE), "{}", case.tool);
    (stage, request)
}

#[tokio::test]
async fn people_see_which_edit_is_made_everywhere_and_how_often() {
    let (_stage, request) = asked(&cases()[2]).await;
    let edits = &request.proposal.action.preview.data["edits"];
    let said: Vec<_> =
        (0..2).map(|at| (&edits[at]["replace_all"], &edits[at]["occurrences"])).collect();
    assert_eq!(said, [(&json!(false), &json!(1)), (&json!(true), &json!(2))]);
}

#[tokio::test]
async fn approved_it_is_done() {
    for case in cases() {
        let (mut stage, request) = asked(&case).await;
        assert_eq!(request.proposal.action.preview.new_content.as_deref(), Some(case.after));
        stage.decides(&request, approve()).await.unwrap();
        stage.result().await;
        assert_eq!(stage.file("a.txt").as_deref(), Some(case.after), "{}", case.tool);
        assert_eq!(tool_result(&stage), (case.tool_result.into(), false));
    }
}

#[tokio::test]
async fn rejected_cancelled_or_too_late_it_is_not() {
    for case in cases() {
        let (mut stage, request) = asked(&case).await;
        stage.decides(&request, reject()).await.unwrap();
        stage.result().await;
        assert_eq!(tool_result(&stage), ("User rejected the operation".into(), true));
        assert_eq!(stage.file("a.txt").as_deref(), Some(BEFORE), "{}", case.tool);

        let (mut stage, _) = asked(&case).await;
        stage
            .agents
            .cancel(StopFilter { session: Some(stage.session.clone()), run: None })
            .await
            .unwrap();
        assert_eq!(stage.result().await, "cancelled");
        assert_eq!(stage.file("a.txt").as_deref(), Some(BEFORE), "{}", case.tool);

        let (mut stage, request) = asked(&case).await;
        stage.clock.advance_ms(300_000);
        assert_eq!(code(stage.decides(&request, approve()).await), "expired");
        stage.result().await;
        assert!(tool_result(&stage).0.starts_with("Approval timed out after 300s"));
        assert_eq!(stage.file("a.txt").as_deref(), Some(BEFORE), "{}", case.tool);
    }
}

#[tokio::test]
async fn edited_it_is_done_as_edited() {
    for case in cases() {
        let (mut stage, request) = asked(&case).await;
        stage.decides(&request, edit(case.edited.clone())).await.unwrap();
        stage.result().await;
        assert_eq!(stage.file("a.txt").as_deref(), Some(case.after_edited), "{}", case.tool);
        assert!(
            tool_result(&stage).0.starts_with("Note: the user edited this call before it ran;")
        );
    }
}

#[tokio::test]
async fn on_a_file_that_changed_it_is_stale() {
    for case in cases() {
        let (mut stage, request) = asked(&case).await;
        stage.overwrites("a.txt", "one two one, else\n");
        assert_eq!(
            code(stage.decides(&request, approve()).await),
            "stale_preview",
            "{}",
            case.tool
        );
        let seen = Some(stage.news().await.request.preview_hash());
        let ended = stage.decides(&request, Decision { preview_hash: seen, ..approve() }).await;
        assert_eq!(ended.unwrap().status, RequestStatus::Approved);
        stage.result().await;
        assert!(!tool_result(&stage).1, "{}", case.tool);
        assert_ne!(stage.file("a.txt").as_deref(), Some("one two one, else\n"));
    }
}

#[tokio::test]
async fn several_edits_are_shown_step_by_step() {
    let case = cases().into_iter().nth(2).unwrap();
    let (_stage, request) = asked(&case).await;
    let preview = &request.proposal.action.preview;
    assert_eq!((preview.kind, &preview.data["edit_count"]), (PreviewKind::MultiDiff, &json!(2)));
    assert_eq!(preview.data["edits"][0]["old_string"], "two");
    let lines = ["--- a/a.txt", "+++ b/a.txt", "@@ -1 +1 @@", "-one two one", "+1 2 1"];
    assert_eq!(preview.diff_lines, lines);
}

#[tokio::test]
async fn what_cannot_be_edited_is_refused_before_anybody_is_asked() {
    let of = |path: &str, old: &str, new: &str| json!({"file_path": path, "old_string": old, "new_string": new});
    let cases = [
        ("Edit", of("a.txt", "three", "3"), "Error: old_string is not in the file"),
        ("Edit", of("a.txt", "one", "1"), "Error: old_string is in the file 2 times"),
        ("Edit", of("gone.txt", "a", "b"), "Error: gone.txt does not exist"),
        ("Edit", of("../a.txt", "a", "b"), "Error: \"../a.txt\" is not a path inside"),
        ("Edit", of("a.txt", "two", "a\0"), "Error: a.txt is not a text file"),
        (
            "Edit",
            json!({"file_path": "a.txt"}),
            "Invalid input for Edit: missing field `old_string`",
        ),
        (
            "MultiEdit",
            json!({"file_path": "a.txt", "edits": []}),
            "Error: there is nothing to replace",
        ),
        (
            "MultiEdit",
            json!({"file_path": "a.txt", "edits": [{}]}),
            "Invalid input for MultiEdit: ",
        ),
        (
            "MultiEdit",
            json!({"file_path": "a.txt", "edits": "all"}),
            "Invalid input for MultiEdit: ",
        ),
    ];
    let mut stage = TestAgent::in_workspace(&[("a.txt", BEFORE)]).await;
    for (tool, input, words) in cases {
        stage.model.plays([calls([(tool, input)]), says("I see.")]);
        stage.run("Change it").await;
        stage.result().await;
        let (text, is_error) = tool_result(&stage);
        assert!(is_error && text.starts_with(words), "{text}");
    }
    assert!(stage.workspace_inbox().await.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn looking_around_answers_at_once() {
    let files = [("a.md", "one\ntwo\nthree\n"), ("b/c.md", "two\n"), ("b/d.txt", "two\n")];
    let cases = [
        ("Read", json!({"file_path": "a.md"}), "one\ntwo\nthree\n"),
        (
            "Read",
            json!({"file_path": "a.md", "offset": 2, "limit": 1}),
            "two\n\n[1 more lines; read on with offset 3]",
        ),
        ("Glob", json!({"pattern": "**/*.md"}), "a.md\nb/c.md"),
        ("Glob", json!({"pattern": "*.md", "path": "b"}), "b/c.md"),
        ("Glob", json!({"pattern": "*.rs"}), "No files found"),
        ("Grep", json!({"pattern": "^t"}), "a.md:2:two\na.md:3:three\nb/c.md:1:two\nb/d.txt:1:two"),
        (
            "Grep",
            json!({"pattern": "TWO", "ignore_case": true, "glob": "*.md", "path": "b"}),
            "b/c.md:1:two",
        ),
        ("Grep", json!({"pattern": "four"}), "No matches found"),
        // Input in the form of Claude Code's Grep, which models know.
        (
            "Grep",
            json!({"pattern": "TWO", "-i": true, "-n": false, "type": "md", "output_mode": "content"}),
            "a.md:two\nb/c.md:two",
        ),
        (
            "Grep",
            json!({"pattern": "^t", "output_mode": "files_with_matches", "head_limit": 1}),
            "a.md\n[there is more; go on with offset 1]",
        ),
        (
            "Grep",
            json!({"pattern": "^t", "output_mode": "count", "offset": 1}),
            "b/c.md:1\nb/d.txt:1",
        ),
        ("Grep", json!({"pattern": "two", "path": "a.md", "-A": 1}), "a.md:2:two\na.md-3-three"),
        (
            "Grep",
            json!({"pattern": "one.two", "multiline": true, "-C": 0, "offset": 9}),
            "No more matches found",
        ),
    ];
    let mut stage = TestAgent::in_workspace(&files).await;
    for (tool, input, expected) in cases {
        stage.model.plays([calls([(tool, input)]), says("I see.")]);
        stage.run("Look").await;
        stage.result().await;
        assert_eq!(tool_result(&stage), (expected.into(), false));
    }
}

#[tokio::test]
async fn looking_where_nothing_may_be_seen_is_refused() {
    let cases = [
        ("Read", json!({"file_path": "/etc/passwd"}), "Error: "),
        ("Read", json!({"file_path": "gone"}), "Error: gone does not exist"),
        ("Read", json!({}), "Invalid input for Read: "),
        ("Glob", json!({"pattern": "*", "path": ".."}), "Error: "),
        ("Glob", json!({"pattern": "["}), "Error: the pattern cannot be read"),
        ("Grep", json!({"pattern": "("}), "Error: the pattern cannot be read"),
        ("Grep", json!({"pattern": "a", "path": "/etc"}), "Error: "),
        ("Grep", json!({"pattern": 3}), "Invalid input for Grep: "),
    ];
    let mut stage = TestAgent::in_workspace(&[]).await;
    for (tool, input, words) in cases {
        stage.model.plays([calls([(tool, input)]), says("I see.")]);
        stage.run("Look").await;
        stage.result().await;
        let (text, is_error) = tool_result(&stage);
        assert!(is_error && text.starts_with(words), "{text}");
    }
}

#[tokio::test]
async fn what_would_be_told_of_a_call_is_judged_as_the_call_would_be() {
    let [case, ..] = cases();
    let (stage, request) = asked(&case).await;
    let desk = stage.workspace_inbox().await;
    let would = async |decision: Decision| {
        stage.agents.report_in(&desk, request.id().clone(), decision, owner()).await
    };
    for bad in [json!({"file_path": "a.txt"}), json!({"file_path": "../a.txt", "content": "x"})] {
        assert_eq!(code(would(edit(bad)).await), "invalid_decision");
    }
    let (_, known) = would(edit(case.edited)).await.unwrap();
    let ReportState::Runs { before, .. } = known else { panic!("{known:?}") };
    assert!(before.contains("the user edited this call"), "{before}");
    stage.overwrites("a.txt", "Something else.\n");
    assert_eq!(code(would(approve()).await), "stale_preview");
    assert_eq!(kept(&stage, &request).await, *request, "nothing was decided or shown anew");
    assert_eq!(stage.file("a.txt").as_deref(), Some("Something else.\n"));
}
