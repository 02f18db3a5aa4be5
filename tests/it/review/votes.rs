//! Policies of two people: everybody sees for each change who approved it and who is still needed.

use serde_json::json;

use crate::support::{Person, Request, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

/// Ana has asked in a document in which two people decide, and Ben looks on.
fn two_people() -> (TestServer, Person, Person, Person, Request) {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    owner.creates(BEFORE);
    let two = json!({"documentId": owner.document(), "policy": "two"});
    owner.emit("document:settings", &two).ok();
    ana.opens(&owner.document());
    ben.opens(&owner.document());
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    assert_eq!(ben.sees_request().id(), request.id());
    assert!(request.hunks().iter().all(|hunk| hunk.get("votes").is_none()), "{}", request.0);
    (copydesk, owner, ana, ben, request)
}

/// The names of those who approved a change, by number.
fn approved_by(request: &Request, number: usize) -> Vec<&str> {
    let votes = request.hunks()[number - 1]["votes"].as_array();
    votes.into_iter().flatten().filter_map(|vote| vote["name"].as_str()).collect()
}

#[test]
fn another_window_sees_at_once_who_approved_a_change_and_after_a_reload_too() {
    let (mut copydesk, _owner, ana, ben, request) = two_people();
    ana.accepts(&request, &[1]);
    let event = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let hunk = &event["hunks"][0];
    assert_eq!(event["hunks"].as_array().map(Vec::len), Some(1), "only what was voted on: {event}");
    assert_eq!((hunk["id"].as_str(), &hunk["status"]), (Some(request.hunk(1)), &json!("pending")));
    let vote = &hunk["votes"][0];
    assert_eq!(
        (&vote["user"], &vote["name"], &vote["decision"]),
        (&ana.user()["id"], &json!("Ana"), &json!("accept")),
    );
    let again = ben.second_window();
    let opened = again.opens(&ben.document());
    assert_eq!(opened["requests"][0]["hunks"][0]["votes"], hunk["votes"]);
    assert_eq!(approved_by(&again.pending()[0], 2), [""; 0]);

    copydesk.is_killed_and_restarted();
    let ben = ben.comes_back(&copydesk);
    ben.opens_again();
    assert_eq!(approved_by(&ben.pending()[0], 1), ["Ana"]);
    // The second approval is the decision, and both are named.
    ben.accepts(&request, &[1]);
    let decided = ben.pending();
    assert_eq!(decided[0].statuses(), ["accepted", "pending"]);
    assert_eq!(approved_by(&decided[0], 1), ["Ana", "Ben"]);
}

#[test]
fn an_approval_of_words_that_someone_changed_since_is_gone_until_they_are_back() {
    let (_copydesk, _owner, ana, ben, request) = two_people();
    ana.accepts(&request, &[1]);
    ben.sees_where("tool_approval_update", |it| it["hunks"][0]["votes"].is_array());
    ben.overwrites("Teh", "Tehh");
    let event = ana.sees_where("tool_approval_update", |it| it["hunks"][0]["status"] == "conflict");
    assert_eq!(event["hunks"][0].get("votes"), None, "{event}");
    let now = ana.pending();
    assert_eq!((now[0].statuses()[0], approved_by(&now[0], 1)), ("conflict", vec![]));
    ben.overwrites("Tehh", "Teh");
    let event = ana.sees_where("tool_approval_update", |it| it["hunks"][0]["status"] == "pending");
    assert_eq!(event["hunks"][0]["votes"][0]["name"], "Ana", "{event}");
}

#[test]
fn approvals_of_different_words_are_told_apart() {
    let (_copydesk, _owner, ana, ben, request) = two_people();
    let own = json!([{"id": request.hunk(1), "decision": "accept", "text": "Our"}]);
    ana.decides(&request, json!({"approved": true, "hunks": own})).ok();
    ben.accepts(&request, &[1]);
    let votes = ana.pending()[0].hunks()[0]["votes"].clone();
    assert_eq!((&votes[0]["name"], &votes[0]["text"]), (&json!("Ana"), &json!("Our")), "{votes}");
    assert_eq!((&votes[1]["name"], votes[1].get("text")), (&json!("Ben"), None), "{votes}");
}

#[test]
fn approvals_that_a_milder_policy_clears_disappear_from_every_window() {
    let (_copydesk, owner, ana, ben, request) = two_people();
    ana.accepts(&request, &[1]);
    ben.sees_where("tool_approval_update", |it| it["hunks"][0]["votes"].is_array());
    let any = json!({"documentId": owner.document(), "policy": "any"});
    owner.emit("document:settings", &any).ok();
    let event = ben.sees_where("tool_approval_update", |it| it["policies"] == json!(["any"]));
    assert_eq!(event["hunks"], json!([{"id": request.hunk(1), "status": "pending"}]));
    assert_eq!(approved_by(&ben.pending()[0], 1), [""; 0]);
}

#[test]
fn the_reason_of_a_rejection_is_seen_at_once_in_other_windows() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    let reject = json!([{"id": request.hunk(1), "decision": "reject"}]);
    ana.decides(&request, json!({"approved": false, "hunks": reject, "feedback": "It is a name"}))
        .ok();
    let event = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let hunk = &event["hunks"][0];
    assert_eq!((&hunk["status"], &hunk["feedback"]), (&json!("rejected"), &json!("It is a name")));
    let again = ben.second_window();
    let opened = again.opens(&ben.document());
    assert_eq!(opened["requests"][0]["hunks"][0]["decided"]["feedback"], "It is a name");
    // Only the change that was rejected has the reason.
    ben.accepts(&request, &[2]);
    let end = ana.sees_resolved(&request);
    assert_eq!(
        (&end["hunks"][0]["feedback"], end["hunks"][1].get("feedback")),
        (&json!("It is a name"), None),
    );
}

#[test]
fn an_approval_is_withdrawn_by_the_person_who_gave_it_and_by_no_one_else() {
    let (mut copydesk, owner, ana, ben, request) = two_people();
    let undo = |numbers: &[usize]| {
        let hunks: Vec<_> = numbers.iter().map(|number| request.hunk(*number)).collect();
        json!({"request_id": request.id(), "hunks": hunks})
    };
    ana.accepts(&request, &[1, 2]);
    ben.emit("approval:undo", &undo(&[1])).refused_with("invalid_decision");
    ana.emit("approval:undo", &undo(&[1])).ok();
    let event = ben.sees_where("tool_approval_update", |it| {
        it["hunks"][0]["id"] == request.hunk(1) && it["hunks"][0].get("votes").is_none()
    });
    assert_eq!(event["hunks"].as_array().map(Vec::len), Some(1), "{event}");
    ana.emit("approval:undo", &undo(&[1])).refused_with("invalid_decision");
    // Ben alone is not enough for the first change now, and he is for the second.
    ben.accepts_all(&request);
    assert_eq!(ben.pending()[0].statuses(), ["pending", "accepted"]);
    assert_eq!(approved_by(&ana.pending()[0], 1), ["Ben"]);

    copydesk.is_killed_and_restarted();
    let (ana, ben) = (ana.comes_back(&copydesk), ben.comes_back(&copydesk));
    ana.opens_again();
    ben.opens_again();
    assert_eq!(approved_by(&ana.pending()[0], 1), ["Ben"]);
    ana.accepts(&request, &[1]);
    assert_eq!(ana.text(), AFTER);
    // What was accepted with one's vote is undone like any accepted change.
    ana.emit("approval:undo", &undo(&[1])).ok();
    assert_eq!(ben.pending()[0].statuses(), ["pending", "accepted"]);
    assert_eq!(approved_by(&ben.pending()[0], 1), [""; 0]);
    drop(owner);
}

#[test]
fn without_changes_named_all_ones_approvals_are_withdrawn_where_nothing_was_accepted() {
    let (_copydesk, _owner, ana, ben, request) = two_people();
    let undo = json!({"request_id": request.id()});
    ana.emit("approval:undo", &undo).refused_with("invalid_decision");
    ana.accepts_all(&request);
    ana.emit("approval:undo", &undo).ok();
    let now = ben.pending();
    assert_eq!((approved_by(&now[0], 1), approved_by(&now[0], 2)), (vec![], vec![]));
    assert_eq!(ben.accepts_all(&request)["approvals"], json!({"have": 1, "need": 2}));
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn an_approval_that_made_a_decision_meanwhile_is_not_withdrawn_with_the_decision() {
    let (_copydesk, _owner, ana, ben, request) = two_people();
    let mine = |numbers: &[usize]| {
        let hunks: Vec<_> = numbers.iter().map(|number| request.hunk(*number)).collect();
        json!({"request_id": request.id(), "hunks": hunks, "votes_only": true})
    };
    let all = json!({"request_id": request.id(), "votes_only": true});
    ana.accepts(&request, &[1, 2]);
    // Ben's approval is there before she takes hers back, and she has not seen it.
    ben.accepts(&request, &[1]);
    let refused = ana.emit("approval:undo", &mine(&[1, 2])).refused_with("already_resolved");
    let hunk = json!({"id": request.hunk(1), "status": "accepted"});
    assert_eq!(
        (&refused["details"]["hunk"], &refused["details"]["by"]["name"]),
        (&hunk, &json!("Ben")),
        "{refused}"
    );
    assert_eq!(ana.pending()[0].statuses(), ["accepted", "pending"]);
    assert_eq!(approved_by(&ana.pending()[0], 2), ["Ana"], "nothing of it is withdrawn");
    ben.emit("approval:undo", &mine(&[2])).refused_with("invalid_decision");
    ana.emit("approval:undo", &mine(&[2])).ok();
    assert_eq!(approved_by(&ben.pending()[0], 2), [""; 0]);
    ana.accepts(&request, &[2]);
    ana.emit("approval:undo", &all).ok();
    assert_eq!(ben.pending()[0].statuses(), ["accepted", "pending"]);
    ana.accepts(&request, &[2]);
    ben.accepts(&request, &[2]);
    ana.emit("approval:undo", &mine(&[2])).refused_with("already_resolved");
    ana.emit("approval:undo", &all).refused_with("already_resolved");
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn the_list_says_how_many_changes_wait_and_how_many_of_them_for_the_person() {
    let (copydesk, owner, ana, ben, request) = two_people();
    let viewer = copydesk.guest(Role::Viewer, &owner.document());
    let counts = |person: &Person| {
        let list = person.emit("document:list", &json!({})).ok();
        let line = list["documents"][0].clone();
        (line["waiting"].clone(), line["waitingForYou"].clone())
    };
    assert_eq!(counts(&ana), (json!(2), json!(2)));
    assert_eq!(counts(&viewer), (json!(2), json!(0)), "who only reads decides nothing");
    ana.accepts(&request, &[1]);
    assert_eq!(counts(&ana), (json!(2), json!(1)), "one waits for others now");
    assert_eq!(counts(&ben), (json!(2), json!(2)));
    let settings = json!({"documentId": owner.document(), "policy": "owner"});
    owner.emit("document:settings", &settings).ok();
    assert_eq!((counts(&ben), counts(&owner)), ((json!(2), json!(0)), (json!(2), json!(2))));
}
