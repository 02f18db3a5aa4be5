//! View of a request before anybody decides.

use serde_json::json;

use crate::support::script::full;
use crate::support::{Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

#[test]
fn everyone_in_the_document_sees_the_same_request() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    assert_eq!(request.0, ben.sees_request().0);
    assert_eq!(request["requestId"], run);
    assert_eq!(request["tool_input"], full(AFTER));
    assert_eq!(request["preview_type"], "diff");
    assert_eq!(
        (&request["original_content"], &request["new_content"]),
        (&json!(BEFORE), &json!(AFTER))
    );
    assert_eq!(request["author"], ana.user());
    assert_eq!(request["explanation"], "Rewrote it.");
    assert_eq!((&request["base_version"], &request["version"]), (&json!(0), &json!(0)));
    assert_eq!(request["approvals"], json!({"have": 0, "need": 1}));
}

#[test]
fn a_rewrite_becomes_changes_a_person_would_take_one_at_a_time() {
    let copydesk = TestServer::scripted(correcting());
    let (_ana, _ben, _, request) = three_changes(&copydesk);
    let words: Vec<_> = (1..=request.hunks().len()).map(|number| request.words(number)).collect();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        words,
        [pair("Teh", "The"), pair("recieved", "received"), pair("allways", "always")]
    );
    assert_eq!(request.statuses(), ["pending", "pending", "pending"]);
    let lines = request["diff_lines"].as_array().unwrap();
    assert!(lines.contains(&json!("-Teh keeper wrote every night.")), "{lines:?}");
    assert!(lines.contains(&json!("+The keeper wrote every night.")), "{lines:?}");
}

#[test]
fn nothing_is_in_the_text_before_someone_says_so() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, ..) = three_changes(&copydesk);
    assert_eq!((ana.text().as_str(), ben.text().as_str()), (BEFORE, BEFORE));
    assert_eq!(ben.opens(&ana.document())["document"]["version"], 0);
}

#[test]
fn a_change_that_changes_nothing_asks_no_one() {
    let copydesk = TestServer::scripted(Script::rewriting(BEFORE));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    assert_eq!(ana.answer(&run)["updateType"], "none");
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn a_person_outside_the_document_is_not_asked() {
    let copydesk = TestServer::scripted(correcting());
    let carl = copydesk.editor("Carl");
    let (..) = three_changes(&copydesk);
    assert!(carl.saw("tool_approval_request").is_empty());
}
