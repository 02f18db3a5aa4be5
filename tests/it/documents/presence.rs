//! Presence: who is here, and where their caret is.

use serde_json::{Value, json};

use crate::support::{Person, Role, TestServer};

fn names(peers: &Value) -> Vec<String> {
    let mut names: Vec<_> = peers
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn names_of<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn moves(person: &Person, version: u64, anchor: usize, head: usize) {
    let caret = json!({"documentId": person.document(), "version": version, "anchor": anchor, "head": head});
    person.emit("presence:update", &caret).ok();
}

#[test]
fn people_see_each_other_come_and_go() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let ben = copydesk.editor("Ben");
    assert_eq!(names(&ben.opens(&document)["peers"]), ["Ana", "Ben"]);
    ana.sees_where("presence:peers", |it| names(&it["peers"]) == ["Ana", "Ben"]);
    ben.loses_connection();
    ana.sees_where("presence:peers", |it| names(&it["peers"]) == ["Ana"]);
}

#[test]
fn a_client_that_takes_differences_is_told_who_came_and_who_went() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor_with("Ana", &["presence-changes"]);
    let cy = copydesk.editor("Cy");
    let opened = ana.opens(&cy.creates("Hello."));
    assert_eq!(
        (names(&opened["peers"]), &opened["peerCount"]),
        (names_of(["Ana", "Cy"]), &json!(2))
    );
    let ben = copydesk.editor("Ben");
    ben.opens(&ana.document());
    let came = ana.sees_where("presence:changes", |it| it["count"] == 3);
    assert_eq!((names(&came["put"]), &came["left"]), (names_of(["Ben"]), &json!([])));
    let member = came["put"][0]["id"].clone();
    ben.types(0, "x");
    ana.sees_where("presence:changes", |it| {
        it["put"][0]["clientIDs"].as_array().is_some_and(|ids| ids.contains(&json!(ben.client())))
    });
    ben.loses_connection();
    let went = ana.sees_where("presence:changes", |it| it["count"] == 2);
    assert_eq!((names(&went["put"]), &went["left"]), (names_of([]), &json!([member])));
    assert!(ana.saw("presence:peers").is_empty(), "the whole list is for others");
}

#[test]
fn in_a_crowd_who_only_reads_is_counted() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor_with("Ana", &["presence-changes"]);
    let document = ana.creates("Hello.");
    let token = copydesk.token("Reader", Role::Viewer, &["--document", &document]);
    let readers: Vec<_> = (0..102)
        .map(|_| Person::arrive_with(copydesk.url(), &token, &["presence-changes"]))
        .collect();
    let opened = readers.iter().map(|reader| reader.opens(&document)).last().unwrap();
    assert_eq!(opened["peerCount"], 103);
    assert_eq!(opened["peers"].as_array().unwrap().len(), 100);
    ana.sees_where("presence:changes", |it| it["count"] == 103);
    let event = ana.saw("presence:changes");
    let put: usize = event.iter().map(|it| it["put"].as_array().unwrap().len()).sum();
    assert_eq!(put, 99, "all who are listed, once");
}

#[test]
fn closing_a_document_is_leaving_it() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("Hello."));
    ben.closes();
    ana.sees_where("presence:peers", |it| names(&it["peers"]) == ["Ana"]);
}

#[test]
fn two_windows_are_two_peers_of_one_person() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let window = ana.second_window();
    let peers = window.opens(&document)["peers"].clone();
    assert_eq!(names(&peers), ["Ana", "Ana"]);
    assert_eq!(peers[0]["user"], peers[1]["user"]);
    assert_ne!(peers[0]["id"], peers[1]["id"]);
    assert_eq!(peers[0]["color"], peers[1]["color"], "a person has one colour");
}

#[test]
fn a_caret_is_seen_by_the_others() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("Hello."));
    moves(&ana, 0, 2, 5);
    let caret = ben.sees("presence:update");
    assert_eq!(
        (&caret["anchor"], &caret["head"], &caret["version"]),
        (&json!(2), &json!(5), &json!(0))
    );
    assert!(ana.saw("presence:update").is_empty(), "no one needs their own caret back");
}

#[test]
fn who_comes_later_sees_the_carets_that_are_there() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("Hello.");
    moves(&ana, 0, 2, 5);
    let peers = ben.opens(&document)["peers"].clone();
    let her = peers.as_array().unwrap().iter().find(|it| it["name"] == "Ana").unwrap();
    assert_eq!((&her["caret"]["anchor"], &her["caret"]["head"]), (&json!(2), &json!(5)));
}

#[test]
fn the_editor_behind_an_update_is_known_by_its_peer() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("Hello."));
    ana.types(0, "x");
    let knows = |it: &Value| {
        let peers = it["peers"].as_array().unwrap();
        peers.iter().any(|it| {
            it["name"] == "Ana"
                && it["clientIDs"].as_array().unwrap().contains(&json!(ana.client()))
        })
    };
    ben.sees_where("presence:peers", knows);
}

#[test]
fn a_caret_nowhere_harms_no_one() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("Hello."));
    moves(&ana, 99, 1_000_000, 2_000_000);
    moves(&ana, 0, 7, 0);
    ana.types(0, "x");
    ben.comes_to_read("xHello.");
    ben.is_fine();
}

#[test]
fn a_caret_in_a_document_that_is_not_open_is_no_ones_business() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.creates("Hello.");
    let caret = json!({"documentId": ben.document(), "version": 0, "anchor": 1, "head": 1});
    ana.emit("presence:update", &caret).body();
    assert!(ben.saw("presence:update").is_empty());
}

#[test]
fn a_client_that_takes_short_updates_is_told_plain_ones_in_short() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let ben = copydesk.editor_with("Ben", &["short-updates"]);
    let number = ben.opens(&document)["shortId"].clone();
    assert!(number.is_u64(), "{number}");
    assert_eq!(copydesk.editor("Cy").opens(&document).get("shortId"), None);
    ana.types(6, "!");
    ben.sees_where("updates", |it| *it == json!([number, 0, [[ana.client(), [6, [0, "!"]]]]]));
    ana.types(0, "A");
    ben.sees_where("updates", |it| it[1] == 1);
    assert!(ben.saw("document:updates").is_empty(), "each update comes in one form");
    assert!(ana.saw("updates").is_empty(), "the short form is for those who ask for it");
}
