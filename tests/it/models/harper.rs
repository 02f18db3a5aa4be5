//! Without a key and without a network: the offline editor behind the same tools and the same
//! approvals.

use serde_json::json;

use crate::support::TestServer;

const MISTAKES: &str =
    "This is an test of the offline editor.\n\nHe recieved the the letter on monday.\n";

#[test]
fn the_offline_editor_proposes_corrections_that_people_decide() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    ana.creates(MISTAKES);
    let run = ana.asks("Fix the grammar and the spelling");
    let request = ana.sees_request_of(&run);
    assert!(request.hunks().len() >= 2, "{:?}", request.hunks());
    ana.accepts_all(&request);
    let response = ana.answer(&run);
    assert_eq!(response["documentUpdate"], ana.text());
    assert!(ana.text().starts_with("This is a test"), "{}", ana.text());
    assert!(!ana.text().contains("recieved the the"), "{}", ana.text());
}

#[test]
fn what_the_offline_editor_cannot_do_it_says() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    ana.creates(MISTAKES);
    let context = json!({"documentId": ana.document()});
    let response = ana.is_answered("Write a sonnet about the sea", &context);
    assert_eq!(response["updateType"], "none");
    assert!(!response["conversationMessage"].as_str().unwrap().is_empty());
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn a_plain_command_is_done_to_the_selection_only() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    ana.creates("quiet words, loud words\n");
    let selection = json!({"text": "loud", "start": 13, "end": 17});
    let context = json!({"documentId": ana.document(), "selection": selection});
    let run = ana.asks_about("UPPERCASE this", &context);
    ana.accepts_all(&ana.sees_request_of(&run));
    assert_eq!(ana.answer(&run)["updateType"], "partial");
    assert_eq!(ana.text(), "quiet words, LOUD words\n");
}
