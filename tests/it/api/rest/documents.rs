//! Documents, and lists of them.

use serde_json::json;

use crate::support::{OWNER, RestClient, Role, TestServer};

use super::{FIXED, TEXT, text, with_document};

#[test]
fn a_document_is_made_read_renamed_and_deleted() {
    let (copydesk, ana, document) = with_document();
    let here = format!("documents/{document}");
    let read = ana.gets(&here).ok();
    assert_eq!((&read["title"], &read["text"]), (&json!("A story"), &json!(TEXT)));
    let renamed = ana.says(&format!("PATCH /api/v1/{here}"), &[], r#"{"title": "Another"}"#);
    assert_eq!(renamed.status, 204);
    assert_eq!(ana.gets("documents").ok()["documents"][0]["title"], "Another");
    let owner = RestClient::new(&copydesk, OWNER);
    assert_eq!(owner.says(&format!("DELETE /api/v1/{here}"), &[], "").status, 204);
    ana.gets(&here).refused_with(404, "not_found");
}

#[test]
fn an_edit_leaves_alone_what_others_wrote_since() {
    let (copydesk, ana, document) = with_document();
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    ben.types(0, "So: ");
    let edits = format!("documents/{document}/edits");
    let made = ana.posts(&edits, &json!({"version": 0, "text": TEXT.replace("Teh", "The")})).ok();
    assert_eq!(made["version"], 2);
    // Made on the same version, by the same person: another edit.
    let more = json!({"version": 0, "text": TEXT.replace("recieved", "received")});
    assert_eq!(ana.posts(&edits, &more).ok()["version"], 3);
    ben.comes_to_read(&format!("So: {FIXED}"));
    let versions = ana.gets(&format!("documents/{document}/versions")).ok();
    assert_eq!(versions["versions"][0]["author"]["name"], "Ana");
    assert_eq!(ana.posts(&edits, &json!({"version": 3, "text": ben.text()})).ok()["version"], 3);
}

#[test]
fn words_typed_between_two_words_stay_there_when_both_words_are_edited() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let made = ana.posts("documents", &json!({"title": "Words", "text": "start  end"})).ok();
    let here = format!("documents/{}", made["id"].as_str().unwrap());
    let ben = copydesk.editor("Ben");
    ben.opens(made["id"].as_str().unwrap());
    ben.types(6, "日本");
    ana.posts(&format!("{here}/edits"), &json!({"version": 0, "text": "START  END"})).ok();
    ben.comes_to_read("START 日本 END");
    ana.posts(&format!("{here}/restore"), &json!({"version": 1})).ok();
    ben.comes_to_read("start 日本 end");
}

#[test]
fn a_large_reordering_is_taken_however_many_places_change() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let mut sentences: Vec<_> =
        (0..30_000).map(|at| format!("Sentence {at} has words such as {}.\n", at * 7919)).collect();
    let ordered = sentences.concat();
    fastrand::Rng::with_seed(1).shuffle(&mut sentences);
    let shuffled = sentences.concat();
    let made = ana.posts("documents", &json!({"title": "Sentences", "text": ordered})).ok();
    let here = format!("documents/{}", made["id"].as_str().unwrap());
    let edit = json!({"version": 0, "text": shuffled});
    assert_eq!(ana.posts(&format!("{here}/edits"), &edit).ok()["version"], 1);
    assert!(ana.gets(&here).ok()["text"] == shuffled);
    let restored = ana.posts(&format!("{here}/restore"), &json!({"version": 0})).ok();
    assert_eq!(restored["version"], 2);
    assert!(ana.gets(&here).ok()["text"] == ordered);
}

#[test]
fn older_texts_are_read_compared_and_brought_back() {
    let (_server, ana, document) = with_document();
    let here = |rest: &str| format!("documents/{document}/{rest}");
    ana.posts(&here("edits"), &json!({"version": 0, "text": FIXED})).ok();
    assert_eq!(ana.gets(&here("versions/0")).ok()["text"], TEXT);
    let parts = ana.gets(&here("compare?from=0")).ok()["parts"].clone();
    assert_eq!((&parts[0]["base"], &parts[0]["insert"]), (&json!("Teh"), &json!("The")));
    assert_eq!(ana.posts(&here("restore"), &json!({"version": 0})).ok()["version"], 2);
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], TEXT);
    ana.posts(&here("restore"), &json!({"version": 0, "onlyAt": 1})).refused_with(409, "resync");
    ana.gets(&here("versions/9")).refused_with(404, "not_found");
}

#[test]
fn settings_are_read_and_changed_by_an_owner() {
    let (copydesk, ana, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let patch = |hand: &RestClient, path: &str, body: &str| {
        hand.says(&format!("PATCH /api/v1/{path}"), &[], body)
    };
    let here = format!("documents/{document}/settings");
    assert_eq!(patch(&owner, &here, r#"{"policy": "owner"}"#).ok()["policy"], "owner");
    assert_eq!(ana.gets(&here).ok()["policy"], "owner");
    patch(&ana, &here, r#"{"policy": "any"}"#).refused_with(403, "not_allowed");
    assert_eq!(patch(&owner, "settings", r#"{"timeoutSeconds": 7}"#).ok()["timeoutSeconds"], 7);
    assert_eq!(ana.gets("settings").ok()["timeoutSeconds"], 7);
}

#[test]
fn lists_are_read_to_their_end_page_by_page() {
    let (copydesk, ana, document) = with_document();
    for title in ["One", "Two", "Three", "Four"] {
        ana.posts("documents", &json!({"title": title})).ok();
    }
    let walk = |hand: &RestClient, first: &str, field: &str| {
        let (mut all, mut path) = (Vec::new(), Some(first.to_owned()));
        while let Some(here) = path {
            let page = hand.gets(&here).ok();
            let entries = page[field].as_array().unwrap();
            assert!(entries.len() <= 2, "{page}");
            all.extend(entries.clone());
            let next = page["next"].as_str();
            path = next.map(|next| next.strip_prefix("/api/v1/").unwrap().to_owned());
        }
        all
    };
    let all = walk(&ana, "documents?limit=2", "documents");
    assert_eq!(json!(all), ana.gets("documents?limit=200").ok()["documents"]);
    assert_eq!(all.len(), 6, "and the one that is there from the beginning");
    for version in 0..4 {
        let edit = json!({"version": version, "text": "x".repeat(version + 1)});
        ana.posts(&format!("documents/{document}/edits"), &edit).ok();
    }
    let versions = walk(&ana, &format!("documents/{document}/versions?limit=2"), "versions");
    let numbers: Vec<_> = versions.iter().map(|it| it["version"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    let files: Vec<_> = ["a", "a-b", "b", "c", "d"].map(|name| (name, "x")).into();
    let with_files = TestServer::plan().workspace(&files).start();
    for folder in ["a.d", "e"] {
        std::fs::create_dir(with_files.folder().join(folder)).unwrap();
        with_files.overwrites(&format!("{folder}/b"), "x");
    }
    let listed = walk(&RestClient::new(&with_files, OWNER), "files?limit=2", "files");
    let paths: Vec<_> = listed.iter().map(|it| text(&it["path"])).collect();
    assert_eq!(paths, ["a", "a-b", "a.d/b", "b", "c", "d", "e/b"]);
    let owner = RestClient::new(&copydesk, OWNER);
    let lines = walk(&owner, "audit?limit=2", "lines");
    let last = lines.last().unwrap();
    assert_eq!(last["seq"], 1, "to the first line there is");
    assert!(lines.iter().any(|line| line["document"] == json!(document)));
    let here = format!("documents/{document}/audit?limit=2");
    assert!(walk(&ana, &here, "lines").iter().all(|line| line["document"] == json!(document)));
}
