//! The document of a session, private or shared, and the text that clients send of it.

use serde_json::json;

use super::about;
use crate::support::script::selection;
use crate::support::{Provider, Script, TestServer};

#[test]
fn the_shared_documents_own_text_is_the_one_that_counts() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.creates("What the server knows.\n");
    let context =
        json!({"documentId": ana.document(), "documentContent": "What the client thinks.\n"});
    ana.is_answered("Are you there?", &context);
    assert!(provider.newest_text(1).contains("What the server knows."));
    assert!(!provider.newest_text(1).contains("What the client thinks."));
}

#[test]
fn a_session_without_a_shared_document_has_a_private_one() {
    let copydesk = TestServer::scripted(Script::rewriting("Mine, better.\n"));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let run = ana.asks_about("Rewrite this", &about("Mine.\n"));
    let request = ana.sees_request();
    assert!(ben.saw("tool_approval_request").is_empty(), "no one else is asked");
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["documentUpdate"], "Mine, better.\n");
    let listed = ben.emit("document:list", &json!({})).ok();
    assert!(
        listed["documents"].as_array().unwrap().iter().all(|it| it["title"] != "Private"),
        "{listed}"
    );
}

#[test]
fn the_private_document_is_brought_to_the_text_that_is_sent() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("One?", &about("The first text.\n"));
    ana.is_answered("Two?", &about("The second text.\n"));
    assert!(provider.newest_text(1).contains("The first text."));
    assert!(provider.newest_text(2).contains("The second text."));
}

#[test]
fn line_ends_are_normalised_before_positions_count() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(4, 7, "TWO")));
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Shout", &about("one\r\ntwo\r\n"));
    let request = ana.sees_request();
    assert_eq!(request["original_content"], "one\ntwo\n");
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["documentUpdate"], "TWO");
}
