//! Ends of runs that fail or are cancelled.

use serde_json::json;

use super::{OPENING, results_and_responses};
use crate::support::{Script, TestServer};

#[test]
fn every_way_a_model_can_fail_gives_one_result_and_one_response() {
    let copydesk = TestServer::playing("provider-errors");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let cases = [
        ("overloaded", "error"),
        ("overloaded later", "error"),
        ("key", "error"),
        ("cut", "error"),
        ("too long", "max_tokens"),
        ("refuse", "refusal"),
        ("nothing the script knows", "error"),
    ];
    for (prompt, subtype) in cases {
        let run = ana.asks(prompt);
        ana.answer(&run);
        let (results, responses) = results_and_responses(&ana, &run);
        assert_eq!(results, [subtype], "{prompt}");
        assert_eq!(responses.len(), 1, "{prompt}");
        assert_eq!(responses[0]["updateType"], "none", "{prompt}");
        assert!(responses[0]["error"]["code"].is_string(), "{prompt}: {}", responses[0]);
    }
    assert!(ana.saw("tool_approval_request").is_empty(), "half an answer is not executed");
    assert_eq!(ana.text(), OPENING);
}

#[test]
fn a_cancelled_run_gives_one_result_and_one_response() {
    let copydesk = TestServer::playing("slow");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Talk to me");
    ana.sees("claudeStreamChunk");
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    let (results, responses) = results_and_responses(&ana, &run);
    assert_eq!((results.as_slice(), responses.len()), (&["cancelled".to_owned()][..], 1));
}

#[test]
fn a_run_is_cancelled_by_its_name_from_another_window_and_by_no_one_else() {
    let copydesk = TestServer::playing("slow");
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(OPENING));
    let run = ana.asks("Talk to me");
    ana.sees("claudeStreamChunk");
    ben.emit("cancel", &json!({"requestId": run})).refused_with("not_found");
    let window = ana.second_window();
    assert_ne!(window.session(), ana.session());
    window.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    window.emit("cancel", &json!({"requestId": run})).refused_with("not_found");
}

#[test]
fn cancelling_by_a_name_that_two_windows_use_stops_the_run_of_this_window() {
    let copydesk = TestServer::playing("slow");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let window = ana.second_window();
    window.opens(&ana.document());
    for person in [&ana, &window] {
        let context = json!({"documentId": ana.document()});
        let ask = json!({"sessionId": person.session(), "prompt": "Talk to me", "requestId": "same", "context": context});
        person.emit("askClaudeCode", &ask).ok();
        person.sees_where("claudeStreamChunk", |it| it["sessionId"] == person.session());
    }
    window.emit("cancel", &json!({"requestId": "same"})).ok();
    let ended = ana.sees("claudeResponse");
    assert_eq!(ended["sessionId"], window.session(), "{ended}");
    window.emit("cancel", &json!({"requestId": "same"})).ok();
    let ended = ana.sees("claudeResponse");
    assert_eq!(ended["sessionId"], ana.session(), "{ended}");
}

#[test]
fn cancelling_while_people_look_at_a_change_takes_it_back() {
    let copydesk = TestServer::scripted(Script::rewriting("New.\n"));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(OPENING));
    let run = ana.asks("Rewrite this");
    let request = ben.sees_request();
    ana.emit("cancel", &json!({"sessionId": ana.session()})).ok();
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    ana.answer(&run);
    assert_eq!(results_and_responses(&ana, &run).0, ["cancelled"]);
    assert!(ben.pending().is_empty());
    ben.decides(&request, json!({"approved": true})).refused_with("already_resolved");
}
