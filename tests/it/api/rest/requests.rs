//! Asking, and deciding.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{OWNER, RestClient, Role, Script, TestServer, eventually};

use super::{FIXED, TEXT, text, waits, with_document_at, with_request};

#[test]
fn a_program_asks_decides_and_reads_what_came_of_it() {
    let (_server, ana, document, run, request) = with_request();
    let open = ana.gets(&format!("requests?documentId={document}")).ok();
    assert_eq!(open["requests"][0], request);
    let here = format!("requests/{}", text(&request["request_id"]));
    let first = json!({"id": request["hunks"][0]["id"], "decision": "accept"});
    let preview = &request["preview_hash"];
    let some = json!({"hunks": [first], "preview_hash": preview});
    assert_eq!(ana.posts(&format!("{here}/decision"), &some).ok()["status"], "pending");
    let rest = json!({"approved": false, "feedback": "as he wrote it", "preview_hash": preview});
    let report = ana.posts(&format!("{here}/told"), &rest).ok();
    assert!(text(&report["text"]).starts_with("Partly applied"), "{report}");
    assert_eq!(ana.posts(&format!("{here}/decision"), &rest).ok()["status"], "partly");
    let over = ana.gets(&format!("{run}?wait=30")).ok();
    assert_eq!((&over["state"], &over["waiting"]), (&json!("success"), &json!([])));
    assert_eq!(over["result"]["conversationMessage"], "Done.");
    let now = TEXT.replace("Teh", "The");
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], now);
    let ended = ana.gets(&format!("requests?documentId={document}&state=ended")).ok();
    assert_eq!(ana.gets("requests?state=ended").ok()["requests"], ended["requests"]);
    assert_eq!(ended["requests"][0]["status"], "partly");
    assert_eq!(ana.gets(&here).ok()["status"], "partly");
    assert_eq!(ana.posts(&format!("{here}/undo"), &json!({})).ok()["status"], "pending");
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], TEXT);
    let no = json!({"approved": false, "preview_hash": preview});
    assert_eq!(ana.posts(&format!("{here}/decision"), &no).ok()["status"], "rejected");
    let one = json!({"hunks": [request["hunks"][0]["id"]]});
    let again = ana.posts(&format!("{here}/reopen"), &one).ok();
    assert_eq!((&again["status"], &again["unplaced"]), (&json!("pending"), &json!([])));
    let hunks = ana.gets(&here).ok()["hunks"].clone();
    assert_eq!((&hunks[0]["status"], &hunks[1]["status"]), (&json!("pending"), &json!("rejected")));
    let session = text(&over["sessionId"]);
    let said = ana.gets(&format!("sessions/{session}/transcript?documentId={document}")).ok();
    assert_eq!(said["entries"][0]["content"]["text"], "Fix the spelling");
    assert_eq!(ana.gets("sessions").ok()["sessions"][0]["id"], session);
}

#[test]
fn what_was_said_is_read_page_by_page_and_nothing_twice() {
    let copydesk = TestServer::scripted(Script::default().closing("Hello."));
    let (copydesk, ana, document) = with_document_at(copydesk);
    let ben = RestClient::new(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
    let ask = |hand: &RestClient, session: &Value, about: &Value| {
        let wish = json!({"prompt": "Hello there", "sessionId": session, "context": about, "continue": true});
        let run = hand.posts("runs", &wish).ok();
        let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap().to_owned();
        hand.gets(&format!("{url}?wait=30")).ok();
        run["sessionId"].clone()
    };
    let about = json!({"documentId": document});
    let mut session = Value::Null;
    for _ in 0..3 {
        session = ask(&ana, &session, &about);
        ask(&ben, &Value::Null, &about);
        ask(&ana, &session, &json!({}));
    }
    for about in [format!("documentId={document}&"), String::new()] {
        let here = format!("sessions/{}/transcript?{about}", text(&session));
        let whole = ana.gets(&format!("{here}limit=200")).ok();
        assert_eq!(whole.get("next"), None);
        let expected = whole["entries"].as_array().unwrap().clone();
        assert!(expected.len() >= 6, "{whole}");
        for limit in [1, 2, 5] {
            let mut path = Some(format!("{here}limit={limit}"));
            let mut entries = Vec::new();
            while let Some(this) = path {
                let page = ana.gets(&this).ok();
                let found = page["entries"].as_array().unwrap();
                assert!((1..=limit).contains(&found.len()), "{page}");
                assert!(entries.is_empty() || page["requests"] == json!([]));
                entries.extend(found.iter().cloned());
                let next = page["next"].as_str();
                path = next.map(|next| next.strip_prefix("/api/v1/").unwrap().to_owned());
            }
            assert_eq!(entries, expected, "{limit} at once");
        }
        for wrong in ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=e30"] {
            ana.gets(&format!("{here}{wrong}")).refused_with(400, "invalid_request");
        }
        assert!(whole["requests"].is_array());
    }
}

#[test]
fn what_has_ended_elsewhere_is_listed_for_those_whose_business_it_is() {
    let write = json!({"file_path": "a.txt", "content": "Hello."});
    let copydesk =
        TestServer::plan().script(Script::calling("Write", &write)).workspace(&[]).start();
    let of = |name: &str, role| RestClient::new(&copydesk, &copydesk.token(name, role, &[]));
    let (ana, ben, vic) =
        (of("Ana", Role::Editor), of("Ben", Role::Editor), of("Vic", Role::Viewer));
    let run = ana.posts("runs", &json!({"prompt": "Write it"})).ok();
    let request = waits(&ana, text(&run["url"]).strip_prefix("/api/v1/").unwrap());
    let no = json!({"approved": false, "feedback": "No"});
    ben.posts(&format!("requests/{request}/decision"), &no).ok();
    let ended = |hand: &RestClient| hand.gets("requests?state=ended&limit=1").ok();
    for hand in [&ana, &ben] {
        assert_eq!(ended(hand)["requests"][0]["request_id"], json!(request));
    }
    assert_eq!(ended(&vic)["requests"], json!([]));
}

#[test]
fn a_decision_by_rest_is_one_like_any_other_and_comes_too_late_like_any_other() {
    let (copydesk, ana, document, _, request) = with_request();
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    let here = format!("requests/{}", text(&request["request_id"]));
    let decision = format!("{here}/decision");
    let stale = json!({"approved": true, "preview_hash": "of something else"});
    let refused = ana.posts(&decision, &stale);
    refused.refused_with(409, "stale_preview");
    assert_eq!(refused.body["details"]["preview_hash"], request["preview_hash"]);
    assert_eq!(ana.posts(&decision, &json!({"approved": true})).ok()["status"], "approved");
    ben.comes_to_read(FIXED);
    assert_eq!(ben.sees("tool_approval_resolved")["by"]["name"], "Ana");
    let late = ana.posts(&decision, &json!({"approved": true}));
    late.refused_with(409, "already_resolved");
    assert_eq!(late.body["details"]["by"]["name"], "Ana");
    let many = json!({"responses": [{"request_id": request["request_id"], "approved": true}, 7]});
    let results = ana.posts("requests/decisions", &many).ok()["results"].clone();
    assert_eq!(results[0]["error"]["code"], "already_resolved");
    assert_eq!(results[1]["ok"], false);
}

#[test]
fn who_waits_for_a_request_is_answered_when_it_is_decided() {
    let (copydesk, ana, document, _, request) = with_request();
    let here = format!("requests/{}", text(&request["request_id"]));
    let begun = Instant::now();
    assert_eq!(ana.gets(&format!("{here}?wait=1")).ok()["status"], "pending");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let waiting = std::thread::spawn({
        let (ana, here) = (RestClient::new(&copydesk, OWNER), here.clone());
        move || ana.gets(&format!("{here}?wait=60")).ok()
    });
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    ben.accepts_all(&ben.sees_request());
    let seen = waiting.join().unwrap();
    assert_eq!((&seen["status"], &seen["by"]["name"]), (&json!("approved"), &json!("Ben")));
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[test]
fn who_waits_with_a_token_that_is_revoked_is_told_nothing_more() {
    let (copydesk, _, _, _, request) = with_request();
    let owner = RestClient::new(&copydesk, OWNER);
    let issued = owner.posts("tokens", &json!({"role": "viewer", "name": "Vic"})).ok();
    let here = format!("requests/{}?wait=60", text(&request["request_id"]));
    let waiting = std::thread::spawn({
        let vic = RestClient::new(&copydesk, text(&issued["token"]));
        move || vic.gets(&here)
    });
    // From then on the server knows who asks.
    eventually("a request with the token", || {
        let tokens = owner.gets("tokens").ok()["tokens"].clone();
        let mut tokens = tokens.as_array().expect("tokens").iter();
        tokens.any(|it| it["id"] == issued["id"] && it["lastUsedAt"].is_string())
    });
    owner.says(&format!("DELETE /api/v1/tokens/{}", text(&issued["id"])), &[], "");
    waiting.join().unwrap().refused_with(401, "unauthorized");
}

#[test]
fn someone_elses_session_is_not_ones_own() {
    let (copydesk, ana, _, run, _) = with_request();
    let ben = RestClient::new(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
    ben.gets(&run).refused_with(403, "not_allowed");
    ben.posts(&format!("{run}/cancel"), &json!({})).refused_with(403, "not_allowed");
    assert_eq!(ben.gets("sessions").ok()["sessions"], json!([]));
    assert_eq!(ana.posts(&format!("{run}/cancel"), &json!({})).status, 204);
    assert_eq!(ana.gets(&format!("{run}?wait=30")).ok()["state"], "cancelled");
}
