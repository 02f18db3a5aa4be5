//! Deciding change by change.

use serde_json::json;

use crate::support::{Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

#[test]
fn some_are_accepted_and_the_rest_rejected_with_a_reason() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    assert_eq!(ana.accepts(&request, &[1, 3])["status"], "pending");
    assert_eq!(ben.text(), AFTER.replace("received", "recieved"));
    assert_eq!(ben.rejects_some(&request, &[2], "an old spelling")["status"], "partly");
    assert_eq!(ana.sees_resolved(&request)["status"], "partly");
    ana.answer(&run);
    let tool_result = &ana.tool_results(&run)[0];
    let text = tool_result["content"].as_str().unwrap();
    assert!(text.starts_with("Partly applied: 2 accepted, 1 rejected"), "{text}");
    assert!(text.contains("User feedback: an old spelling"), "{text}");
    assert_eq!(tool_result["is_error"], false);
}

#[test]
fn finish_decides_the_rest() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let hunks = request.each(&[2], "accept");
    let decided =
        ana.decides(&request, json!({"approved": true, "hunks": hunks, "finish": "reject"})).ok();
    assert_eq!(decided["status"], "partly");
    assert_eq!(ana.text(), BEFORE.replace("recieved", "received"));
}

#[test]
fn a_change_can_be_edited_before_it_is_accepted() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, run, request) = three_changes(&copydesk);
    let hunks = json!([{"id": request.hunk(2), "decision": "accept", "text": "welcomed"}]);
    ana.decides(&request, json!({"approved": true, "hunks": hunks, "finish": "reject"})).ok();
    assert_eq!(ana.text(), BEFORE.replace("recieved", "welcomed"));
    ana.answer(&run);
    let tool_result = ana.tool_results(&run)[0]["content"].as_str().unwrap().to_owned();
    assert!(
        tool_result.contains("welcomed"),
        "the model learns what stands there now: {tool_result}"
    );
}

#[test]
fn the_others_are_told_which_changes_are_left() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts(&request, &[2]);
    let message = ben.sees("document:updates");
    assert_eq!(message["hunks"]["drop"], json!([request.hunk(2)]));
    let left = &ben.pending()[0];
    let open: Vec<_> = (1..=3).filter(|&number| left.statuses()[number - 1] == "pending").collect();
    assert_eq!(open, [1, 3]);
    ben.accepts_all(left);
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn rejecting_one_change_is_told_without_an_update_of_the_text() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.rejects_some(&request, &[2], "");
    let update = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let hunk = &update["hunks"][0];
    assert_eq!((&hunk["id"], &hunk["status"]), (&json!(request.hunk(2)), &json!("rejected")));
    assert_eq!(hunk["by"], ana.user());
    ben.accepts_all(&request);
    assert_eq!(ana.text(), AFTER.replace("received", "recieved"));
}

#[test]
fn deciding_all_one_by_one_approves_the_request() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts(&request, &[3]);
    ben.accepts(&request, &[1]);
    assert_eq!(ana.accepts(&request, &[2])["status"], "approved");
    assert_eq!(ana.answer(&run)["documentUpdate"], AFTER);
}

#[test]
fn positions_count_utf16_units_also_behind_emoji() {
    let (before, after) =
        ("😀😀 teh cat 😀 saw teh dog run away.\n", "😀😀 the cat 😀 saw the dog run away.\n");
    let copydesk = TestServer::scripted(Script::rewriting(after));
    let ana = copydesk.editor("Ana");
    ana.creates(before);
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    for hunk in request.hunks() {
        for part in hunk["parts"].as_array().unwrap() {
            let units: Vec<u16> = before.encode_utf16().collect();
            let (from, to) =
                (part["from"].as_u64().unwrap() as usize, part["to"].as_u64().unwrap() as usize);
            assert_eq!(
                String::from_utf16(&units[from..to]).unwrap(),
                part["base"].as_str().unwrap()
            );
        }
    }
    ana.accepts_all(&request);
    assert_eq!(ana.text(), after);
}
