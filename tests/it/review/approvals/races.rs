//! Several people who decide at once.

use serde_json::json;

use crate::support::TestServer;

use super::{AFTER, BEFORE, correcting, three_changes};

#[test]
fn the_second_decision_hears_who_was_first_and_when() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    let error = ben.decides(&request, json!({"approved": false})).refused_with("already_resolved");
    assert_eq!(error["details"]["by"], ana.user(), "{error}");
    assert!(error["details"]["at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{error}");
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn a_change_that_was_decided_is_decided() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts(&request, &[1]);
    let again = json!({"approved": false, "hunks": request.each(&[1], "reject")});
    let error = ben.decides(&request, again).refused_with("already_resolved");
    assert_eq!(error["details"]["by"], ana.user(), "{error}");
    let both = json!({"approved": true, "hunks": request.each(&[1, 2], "accept")});
    ben.decides(&request, both).refused_with("already_resolved");
    assert_eq!(ben.pending()[0].statuses(), ["accepted", "pending", "pending"], "all or nothing");
}

#[test]
fn of_two_decisions_at_once_exactly_one_counts() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    let yes = ana.send("tool_approval_response", &request.decision(json!({"approved": true})));
    let no = ben.send("tool_approval_response", &request.decision(json!({"approved": false})));
    let (yes, no) = (ana.ack(yes), ben.ack(no));
    let (won, lost) = if yes.body()["ok"] == true { (yes, no) } else { (no, yes) };
    let status = won.ok()["status"].clone();
    lost.refused_with("already_resolved");
    assert_eq!(ana.sees_resolved(&request)["status"], status);
    assert_eq!(ana.text(), if status == "approved" { AFTER } else { BEFORE });
}

#[test]
fn of_ten_sockets_racing_exactly_one_wins() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let racers: Vec<_> = (0..10).map(|_| ana.second_window()).collect();
    let decision = request.decision(json!({"approved": true}));
    let sent: Vec<_> =
        racers.iter().map(|it| it.send("tool_approval_response", &decision)).collect();
    let acks: Vec<_> = racers.iter().zip(sent).map(|(it, pending)| it.ack(pending)).collect();
    let won = acks.iter().filter(|ack| ack.body()["ok"] == true).count();
    assert_eq!(won, 1);
    ana.comes_to_read(AFTER);
    assert_eq!(ana.version(), 1, "it was applied once");
}
