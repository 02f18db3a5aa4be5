//! Limits: too much at once is refused and answered, never left hanging, and hurts only the one who
//! sent it.

use serde_json::{Value, json};

use crate::support::{Ack, Provider, TestServer};

/// Returns how many were accepted, and the codes of those that were not.
fn sort(acks: Vec<Ack>) -> (usize, Vec<Value>) {
    let refused: Vec<_> = acks
        .iter()
        .filter(|ack| ack.body()["ok"] == false)
        .map(|ack| ack.body()["error"]["code"].clone())
        .collect();
    (acks.len() - refused.len(), refused)
}

#[test]
fn a_burst_of_a_thousand_events_is_answered_completely() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("Hello."));
    let (accepted, refused) = sort(ana.sends_many("settings:get", &json!({}), 1_000));
    assert_eq!(accepted + refused.len(), 1_000, "every event has its ack");
    assert!(accepted >= 256, "{accepted} accepted");
    assert!(refused.iter().all(|code| code == "rate_limited"), "{refused:?}");
    ana.is_fine();
    ana.types(0, "x");
    ben.comes_to_read("xHello.");
}

#[test]
fn more_than_a_burst_is_refused_and_the_others_are_not() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.creates("Hello.");
    let (accepted, refused) = sort(ana.sends_many("settings:get", &json!({}), 5_000));
    assert_eq!(accepted + refused.len(), 5_000);
    assert!(!refused.is_empty() && refused.iter().all(|code| code == "rate_limited"));
    ben.types(0, "x");
    assert_eq!(ben.text(), "xHello.");
}

#[test]
fn three_hundred_slow_events_at_once_are_answered_or_refused_but_never_left_hanging() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(&"A long line of words to be read.\n".repeat(2_000));
    let (accepted, refused) =
        sort(ana.sends_many("document:open", &json!({"documentId": ana.document()}), 300));
    assert_eq!(accepted + refused.len(), 300);
    assert!(accepted >= 200, "{accepted} accepted");
    assert!(refused.iter().all(|code| code == "rate_limited"), "{refused:?}");
}

#[test]
fn a_thousand_pushes_at_once_keep_their_order() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(""));
    let push = |at: u64| {
        let changes = if at == 0 { json!([[0, "x"]]) } else { json!([at, [0, "x"]]) };
        json!({"documentId": ana.document(), "version": at, "updates": [{"clientID": ana.client(), "changes": changes}]})
    };
    let sent: Vec<_> = (0..1_000).map(|at| ana.send("document:push", &push(at))).collect();
    let acks: Vec<_> = sent.into_iter().map(|pending| ana.ack(pending)).collect();
    let accepted = acks.iter().take_while(|ack| ack.body()["ok"] == true).count();
    assert!(accepted >= 256, "{accepted} accepted");
    // Once one is refused those built on it cannot be taken either: nothing is applied out of
    // order.
    ben.comes_to_version(accepted as u64);
    assert_eq!(ben.text(), "x".repeat(accepted));
    assert!(acks[accepted..].iter().all(|ack| ack.body()["ok"] == false));
}

#[test]
fn a_message_that_is_too_big_ends_only_its_own_connection() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.creates("Hello.");
    ana.send_args("document:create", &json!([{"text": "x".repeat(40 * 1024 * 1024)}]));
    ana.is_cut_off();
    ben.types(0, "x");
    assert_eq!(ben.text(), "xHello.");
    copydesk.editor("Ana").is_fine();
}

#[test]
fn a_large_document_is_fine() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let text = "A line of sixteen characters, at least.\n".repeat(25_000);
    ben.opens(&ana.creates(&text));
    ana.types(500_000, "x");
    ben.comes_to_version(1);
    assert_eq!(ben.text().len(), text.len() + 1);
}

#[test]
fn waiting_runs_are_limited() {
    let provider = Provider::answering(vec![json!([
        {"type": "tool_use", "name": "update_full_document", "input": {"new_content": "New.", "explanation": "e"}}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    let ask = json!({"sessionId": ana.session(), "prompt": "Again", "context": {"documentId": ana.document()}});
    let (accepted, refused) = sort((0..200).map(|_| ana.emit("askClaudeCode", &ask)).collect());
    assert!(accepted >= 1 && !refused.is_empty(), "{accepted} of 200 accepted, without a limit");
    ana.is_fine();
}
