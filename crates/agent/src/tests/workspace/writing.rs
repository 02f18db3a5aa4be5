//! Tests of `Write` with every decision of people.

use copydesk_approvals::{DecisionPolicy, PreviewKind, RequestStatus};
use copydesk_rooms::command::{ClientCapabilities, JoiningMember, SettingsChange, ViewerChange};
use copydesk_rooms::event::RequestNews;
use copydesk_rooms::settings::OwnSettings;

use super::*;

#[tokio::test]
async fn an_approved_file_is_written_and_the_model_is_told_so() {
    let (mut stage, request) = writing(&[], "test.txt", "hello world").await;
    assert_eq!(stage.file("test.txt"), None, "nothing is written before anybody said yes");
    assert_eq!((request.proposal.document.clone(), request.hunks.len()), (None, 0));
    let preview = &request.proposal.action.preview;
    let expected =
        json!({"file_path": "test.txt", "is_new_file": true, "original_lines": 0, "new_lines": 1});
    assert_eq!((preview.kind, &preview.data), (PreviewKind::Diff, &expected));
    assert_eq!(
        preview.diff_lines,
        ["--- a/test.txt", "+++ b/test.txt", "@@ -0,0 +1 @@", "+hello world"]
    );
    stage.decides(&request, approve()).await.unwrap();
    assert_eq!(stage.result().await, "success");
    assert_eq!(stage.file("test.txt").as_deref(), Some("hello world"));
    assert_eq!(tool_result(&stage), ("Wrote 11 characters to test.txt".into(), false));
}

#[tokio::test]
async fn a_rejected_file_is_not_written_and_the_reason_reaches_the_model() {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    let feedback = Some("Use another file".to_owned());
    stage.decides(&request, Decision { feedback, ..reject() }).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("old"));
    assert_eq!(tool_result(&stage), ("User rejected: Use another file".into(), true));
}

#[tokio::test]
async fn an_edited_call_runs_as_edited_and_the_model_is_told() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    let input = json!({"file_path": "b.txt", "content": "mine"});
    stage.decides(&request, edit(input)).await.unwrap();
    stage.result().await;
    assert_eq!((stage.file("a.txt"), stage.file("b.txt").as_deref()), (None, Some("mine")));
    let note = "Note: the user edited this call before it ran; executed input: \
                {\"content\":\"mine\",\"file_path\":\"b.txt\"}. Do not re-issue the original.\nWrote 4 characters to b.txt";
    assert_eq!(tool_result(&stage), (note.into(), false));
}

#[tokio::test]
async fn an_edited_input_is_validated_again() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    let inputs = [
        json!({}),
        json!([]),
        json!({"file_path": "a.txt"}),
        json!({"file_path": "../a.txt", "content": "x"}),
        json!({"file_path": ".git/config", "content": "x"}),
        json!({"file_path": "a.txt", "content": "x", "mode": 777}),
    ];
    for input in inputs {
        assert_eq!(
            code(stage.decides(&request, edit(input.clone())).await),
            "invalid_decision",
            "{input}"
        );
    }
    stage.decides(&request, approve()).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn an_answer_is_given_instead_of_running_the_tool() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    let message = "The notes are in b.txt".to_owned();
    stage.decides(&request, Decision::plain(RequestVerdict::Respond { message })).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt"), None);
    assert_eq!(tool_result(&stage), ("The notes are in b.txt".into(), false));
}

#[tokio::test]
async fn a_request_that_no_one_decides_expires() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    stage.clock.advance_ms(300_000);
    assert_eq!(code(stage.decides(&request, approve()).await), "expired");
    stage.result().await;
    assert_eq!(stage.file("a.txt"), None);
    let words = "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks.";
    assert_eq!(tool_result(&stage), (words.into(), true));
}

#[tokio::test]
async fn more_time_and_a_look_keep_a_request_open() {
    let (stage, request) = writing(&[], "a.txt", "new").await;
    let fixture = stage.workspace_inbox().await;
    let longer = fixture.extend(request.id().clone(), owner()).await.unwrap();
    assert!(longer.clock.expires_ms > request.clock.expires_ms);
    let (id, principal) = ("m".into(), owner());
    fixture
        .open(JoiningMember { id, principal, capabilities: ClientCapabilities::default() }, None)
        .await
        .unwrap();
    let looked = fixture.focus(request.id().clone(), "m".into(), ViewerChange::On).await.unwrap();
    assert!(looked.clock.paused_ms.is_some());
    stage.decides(&request, approve()).await.unwrap();
}

#[tokio::test]
async fn a_file_that_changed_makes_the_preview_stale_until_someone_has_seen_it_anew() {
    let (mut stage, request) = writing(&[("a.txt", "old\n")], "a.txt", "new\n").await;
    stage.overwrites("a.txt", "else\n");
    assert_eq!(code(stage.decides(&request, approve()).await), "stale_preview");
    let update = stage.news().await;
    assert_eq!(update.news, RequestNews::Preview);
    let fresh = update.request;
    assert!(fresh.proposal.action.preview.diff_lines.contains(&"-else".to_owned()));
    let seen = Some(fresh.preview_hash());
    assert_ne!(seen, Some(request.preview_hash()));
    stage.decides(&request, Decision { preview_hash: seen, ..approve() }).await.unwrap();
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new\n"));
}

#[tokio::test]
async fn a_plain_no_stands_whatever_the_file_is_now() {
    let (stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    stage.overwrites("a.txt", "else");
    let ended = stage.decides(&request, reject()).await.unwrap();
    assert_eq!(ended.status, RequestStatus::Rejected);
}

#[tokio::test]
async fn a_call_that_can_no_longer_be_done_says_so_before_anybody_approves_it() {
    let (mut stage, request) = writing(&[("a.txt", "old")], "a.txt", "new").await;
    stage.overwrites("a.txt", "\0");
    assert_eq!(code(stage.decides(&request, approve()).await), "stale_preview");
    let fresh = stage.news().await.request;
    assert_eq!(fresh.proposal.action.preview.warnings[0].code, "cannot_run");
    let seen = Some(fresh.preview_hash());
    stage.decides(&request, Decision { preview_hash: seen, ..approve() }).await.unwrap();
    stage.result().await;
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.contains("is not a text file"), "{text}");
    assert_eq!(stage.file("a.txt").as_deref(), Some("\0"));
    let kept = stage.store.request(request.id()).await.unwrap().unwrap();
    assert_eq!((kept.status.as_str(), kept.open), ("failed", false));
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_before_anybody_is_asked() {
    let long = "x".repeat(2_000_000);
    let cases = [
        (json!({"file_path": "../a", "content": ""}), "is not a path inside the workspace"),
        (json!({"file_path": "/etc/passwd", "content": ""}), "is not a path inside the workspace"),
        (json!({"file_path": ".git/hooks/x", "content": ""}), "belongs to version control"),
        (json!({"file_path": "a\0b", "content": ""}), "Error: "),
        (json!({"file_path": "a", "content": "a\0b"}), "is not a text file"),
        (json!({"file_path": "a", "content": long}), "has 2000000 bytes"),
        (json!({"file_path": "same", "content": "same"}), "already reads like this"),
        (json!({"path": "a"}), "Invalid input for Write: "),
        (json!("a"), "Invalid input for Write: "),
    ];
    let mut stage = TestAgent::in_workspace(&[("same", "same")]).await;
    for (input, words) in cases {
        stage.model.plays([calls([("Write", input)]), says("I see.")]);
        stage.run("Write").await;
        stage.result().await;
        let (text, is_error) = tool_result(&stage);
        assert!(is_error && text.contains(words), "{text}");
    }
    assert!(stage.workspace_inbox().await.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_cancelled_run_takes_its_request_back() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    let stop = StopFilter { session: Some(stage.session.clone()), run: None };
    stage.agents.cancel(stop).await.unwrap();
    assert_eq!(stage.result().await, "cancelled");
    assert_eq!(code(stage.decides(&request, approve()).await), "already_resolved");
    assert_eq!(stage.file("a.txt"), None);
}

#[tokio::test]
async fn the_first_of_two_deciders_wins() {
    let (mut stage, request) = writing(&[], "a.txt", "new").await;
    let (yes, no) =
        tokio::join!(stage.decides(&request, approve()), stage.decides(&request, reject()));
    let (won, lost) = if yes.is_ok() { (yes, no) } else { (no, yes) };
    assert_eq!(code(lost), "already_resolved");
    let approved = won.unwrap().status == RequestStatus::Approved;
    stage.result().await;
    assert_eq!(stage.file("a.txt").is_some(), approved);
}

#[tokio::test]
async fn a_person_who_may_not_decide_does_not() {
    let (stage, request) = writing(&[], "a.txt", "new").await;
    let elsewhere = Principal { document: Some("doc_1".into()), ..person(Role::Owner) };
    for outsider in [person(Role::Viewer), elsewhere] {
        let decided = stage.decides_as(outsider, &request, approve()).await;
        assert_eq!(code(decided), "not_allowed");
    }
    let reviewer = stage.decides_as(person(Role::Reviewer), &request, approve()).await;
    assert_eq!(reviewer.unwrap().status, RequestStatus::Approved);
}

#[tokio::test]
async fn two_people_must_agree_where_the_inbox_asks_for_two() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    let auth = copydesk_auth::Authenticator::new(stage.store.clone());
    for name in ["One", "Two"] {
        let grant = copydesk_auth::TokenGrant {
            role: Role::Reviewer,
            name: name.into(),
            document: None,
            expires_ms: None,
            user: None,
        };
        auth.issue(grant, &owner().user, 0).await.unwrap();
    }
    let own = OwnSettings { policy: Some(DecisionPolicy::Two), ..OwnSettings::default() };
    stage
        .workspace_inbox()
        .await
        .configure(SettingsChange { own, frozen: None }, owner())
        .await
        .unwrap();
    stage.restart().await;
    stage.model.plays(writes("a.txt", "new"));
    stage.run("Write it").await;
    let request = stage.request().await;
    let first = stage.decides(&request, approve()).await.unwrap();
    assert_eq!((first.status, first.votes().have), (RequestStatus::Pending, 1));
    assert_eq!(stage.file("a.txt"), None);
    let second = stage.decides_as(person(Role::Editor), &request, approve()).await;
    assert_eq!(second.unwrap().status, RequestStatus::Approved);
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn a_run_that_bypasses_approvals_writes_at_once_and_it_is_seen() {
    let mut stage = TestAgent::in_workspace(&[]).await;
    stage.model.plays(writes("a.txt", "new"));
    let ask = AgentQuestion {
        permission_mode: PermissionMode::Bypass,
        ..stage.conversation_question("Write")
    };
    stage.agents.ask(ask).await.unwrap();
    assert_eq!(stage.request().await.status, RequestStatus::Pending);
    stage.result().await;
    assert_eq!(stage.file("a.txt").as_deref(), Some("new"));
}

#[tokio::test]
async fn reading_is_not_asked_about_unless_someone_wants_to_be() {
    let mut stage = TestAgent::in_workspace(&[("a.txt", "secret")]).await;
    let reads = || [calls([("Read", json!({"file_path": "a.txt"}))]), says("Done.")];
    stage.model.plays(reads());
    stage.run("Read").await;
    stage.result().await;
    assert_eq!(tool_result(&stage), ("secret".into(), false));
    stage.model.plays(reads());
    let ask =
        AgentQuestion { read_tools: ReadToolPolicy::Ask, ..stage.conversation_question("Read") };
    stage.agents.ask(ask.clone()).await.unwrap();
    let request = stage.settles(RequestVerdict::Reject).await;
    let preview = &request.proposal.action.preview;
    assert_eq!(preview.kind, PreviewKind::Generic);
    assert_eq!(
        preview.data,
        json!({"file_path": "a.txt"}),
        "its input, as the tool approval protocol has it"
    );
    stage.result().await;
    assert_eq!(tool_result(&stage), ("User rejected the operation".into(), true));
    stage.model.plays(reads());
    stage.agents.ask(AgentQuestion { run: "again".into(), ..ask }).await.unwrap();
    stage.settles(RequestVerdict::Approve).await;
    stage.result().await;
    assert_eq!(tool_result(&stage), ("secret".into(), false));
}

#[tokio::test]
async fn tools_of_the_workspace_are_there_for_runs_only() {
    let mut stage = TestAgent::in_workspace(&[("a.txt", "secret")]).await;
    stage.model.plays([calls([("Read", json!({"file_path": "a.txt"}))]), says("I see.")]);
    stage.ask("Read a.txt").await;
    stage.response().await;
    let offered: Vec<_> = stage.model.asked()[0].tools.iter().map(|it| it.name.clone()).collect();
    assert!(!offered.contains(&"Read".to_owned()), "{offered:?}");
    let (text, is_error) = tool_result(&stage);
    assert!(is_error && text.starts_with("Unknown tool: Read"), "{text}");
}
