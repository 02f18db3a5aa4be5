//! Documents: list, create, rename, delete, history, old versions, settings.

use serde_json::{Value, json};

use crate::support::{Person, Provider, Role, TestServer};

fn lines(person: &Person) -> Vec<Value> {
    person.emit("document:list", &json!({})).ok()["documents"].as_array().unwrap().clone()
}

fn line(person: &Person, document: &str) -> Option<Value> {
    lines(person).into_iter().find(|it| it["id"] == document)
}

#[test]
fn a_first_start_has_something_to_try() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let sample = &lines(&owner)[0];
    let text = owner.opens(sample["id"].as_str().unwrap())["document"]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.len() > 1_000, "prose with real mistakes: {text:?}");
}

#[test]
fn a_new_document_is_listed_for_everyone() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.person("Ben", Role::Viewer));
    let document = ana.creates("Hello.");
    let listed = line(&ben, &document).expect("it is listed");
    assert_eq!(
        (&listed["title"], &listed["version"], &listed["role"]),
        (&json!("A story"), &json!(0), &json!("viewer"))
    );
    ana.types(0, "x");
    assert_eq!(line(&ben, &document).unwrap()["version"], 1);
}

#[test]
fn a_copy_has_the_title_the_text_the_policies_and_the_models_and_nothing_frozen() {
    let copydesk = TestServer::quiet();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = owner.creates("Dear reader,\n");
    let wish = json!({
        "documentId": document, "policy": "owner", "policies": [{"over": 200, "policy": "owner"}],
        "modelAccess": {"allow": "local"}, "approvals": "off",
        "frozen": {"version": 0, "ranges": [{"from": 0, "to": 4}]},
    });
    owner.emit("document:settings", &wish).ok();
    let copied = ana.emit("document:duplicate", &json!({"documentId": document})).ok();
    let copy = copied["document"]["id"].as_str().unwrap();
    assert_ne!(copy, document);
    let opened = ana.opens(copy)["document"].clone();
    assert_eq!((&opened["title"], &opened["text"]), (&json!("A story"), &json!("Dear reader,\n")));
    let settings = &opened["settings"];
    assert_eq!(
        (&settings["policy"], &settings["modelAccess"]["allow"], &settings["approvals"]),
        (&json!("owner"), &json!("local"), &json!("on"))
    );
    assert_eq!(settings["policies"][0]["policy"], "owner");
    assert_eq!(settings["frozen"], json!([]));
}

#[test]
fn a_document_without_a_title_has_one_anyway() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    for payload in [json!({}), json!({"title": ""}), json!({"title": "  ", "text": "x"})] {
        let document = ana.emit("document:create", &payload).ok()["document"].clone();
        assert_eq!(
            (&document["title"], &document["version"]),
            (&json!("Untitled"), &json!(0)),
            "{payload}"
        );
    }
}

#[test]
fn line_ends_are_normalised_and_the_hash_is_of_the_text() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("one\r\ntwo\rthree\n");
    let opened = ana.opens(&document);
    assert_eq!(opened["document"]["text"], "one\ntwo\nthree\n");
    let hash = copydesk_document::Text::new("one\ntwo\nthree\n").hash();
    assert_eq!(opened["document"]["hash"], hash);
    assert_eq!(hash.len(), 64);
}

#[test]
fn a_document_tells_its_settings_and_who_is_there() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let opened = ana.opens(&document);
    assert_eq!(opened["role"], "editor");
    let settings = &opened["document"]["settings"];
    assert_eq!(
        settings,
        &json!({
            "policy": "any", "policies": [], "approvals": "on", "timeoutSeconds": 0, "frozen": [],
            "modelAccess": {"allow": "any"}
        })
    );
    assert_eq!(opened["peers"][0]["name"], "Ana");
    assert!(opened["requests"].as_array().unwrap().is_empty());
}

#[test]
fn every_open_gives_a_new_editor_name() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let names = [ana.client(), ana.opens(&document)["clientID"].as_str().unwrap().to_owned()];
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_document_that_is_not_there_is_not_found() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    for id in ["nowhere", "", "../../etc/passwd", "01939d7e-0000-7000-8000-000000000000"] {
        ana.emit("document:open", &json!({"documentId": id})).refused_with("not_found");
        ana.emit("document:history", &json!({"documentId": id})).refused_with("not_found");
        ana.emit("document:rename", &json!({"documentId": id, "title": "x"}))
            .refused_with("not_found");
    }
}

#[test]
fn a_new_title_is_told_to_everyone() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("Hello.");
    ben.opens(&document);
    ana.emit("document:rename", &json!({"documentId": document, "title": "  Another title "})).ok();
    assert_eq!(ben.sees("document:changed")["title"], "Another title");
    assert_eq!(line(&ben, &document).unwrap()["title"], "Another title");
}

#[test]
fn a_title_has_1_to_200_characters() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let rename =
        |title: &str| ana.emit("document:rename", &json!({"documentId": document, "title": title}));
    rename(&"é".repeat(200)).ok();
    rename(&"é".repeat(201)).refused_with("invalid_payload");
    assert_eq!(line(&ana, &document).unwrap()["title"], "é".repeat(200), "nothing is cut");
    rename("").refused_with("invalid_payload");
    rename(" \n ").refused_with("invalid_payload");
}

#[test]
fn a_deleted_document_is_gone_for_everyone() {
    let copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    let document = owner.creates("Hello.");
    ben.opens(&document);
    owner.emit("document:delete", &json!({"documentId": document})).ok();
    assert_eq!(ben.sees("document:changed")["deleted"], true);
    assert_eq!(line(&ben, &document), None);
    ben.emit("document:open", &json!({"documentId": document})).refused_with("not_found");
    ben.pushes(0, &[json!([6, [0, "x"]])]).refused_with("not_found");
}

#[test]
fn a_deleted_document_comes_back_from_the_trash_with_its_history() {
    let mut copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    let document = owner.creates("Hello.");
    ben.opens(&document);
    ben.types(0, "Well. ");
    let named = json!({"documentId": document});
    owner.emit("trash:recover", &named).refused_with("not_found");
    // While Ben is still in it, and then after a restart, when no one has it open.
    for restarts in [false, true] {
        owner.emit("document:delete", &named).ok();
        if restarts {
            copydesk.is_killed_and_restarted();
        }
        let owner = copydesk.owner();
        let trash = owner.emit("trash:list", &json!({})).ok();
        assert_eq!(trash["documents"][0]["id"], json!(document), "{trash}");
        copydesk.editor("Cy").emit("trash:recover", &named).refused_with("not_allowed");
        owner.emit("trash:recover", &named).ok();
        assert_eq!(owner.emit("trash:list", &json!({})).ok()["documents"], json!([]));
        let opened = owner.emit("document:open", &named).ok();
        assert_eq!(opened["document"]["text"], "Well. Hello.");
        assert!(line(&owner, &document).is_some());
        let versions = owner.emit("document:history", &named).ok();
        assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn what_is_removed_from_the_trash_does_not_come_back() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let [one, two, three] = ["One.", "Two.", "Three."].map(|text| owner.creates(text));
    let named = |document: &str| json!({"documentId": document});
    for document in [&one, &two] {
        owner.emit("document:delete", &named(document)).ok();
    }
    owner.emit("trash:empty", &named(&three)).refused_with("not_found");
    owner.emit("trash:empty", &named(&one)).ok();
    owner.emit("trash:recover", &named(&one)).refused_with("not_found");
    owner.emit("trash:empty", &json!({})).ok();
    owner.emit("trash:recover", &named(&two)).refused_with("not_found");
    assert_eq!(owner.emit("trash:list", &json!({})).ok()["documents"], json!([]));
    assert!(line(&owner, &three).is_some());
}

#[test]
fn each_role_may_do_what_it_may() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = owner.creates("Hello.");
    for (role, may_create, may_rename) in
        [(Role::Editor, true, true), (Role::Reviewer, false, false), (Role::Viewer, false, false)]
    {
        let person = copydesk.person("Pat", role);
        let verdict = |ack: crate::support::Ack, allowed: bool| {
            if allowed { ack.ok() } else { ack.refused_with("not_allowed") }
        };
        verdict(person.emit("document:create", &json!({"title": "x"})), may_create);
        verdict(
            person.emit("document:rename", &json!({"documentId": document, "title": "x"})),
            may_rename,
        );
        verdict(person.emit("settings:set", &json!({"timeoutSeconds": 9})), false);
        verdict(person.emit("document:history", &json!({"documentId": document})), true);
    }
}

#[test]
fn a_token_for_one_document_reaches_only_that() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let (one, other) = (owner.creates("One."), owner.creates("Other."));
    let guest = copydesk.guest(Role::Editor, &one);
    let ids: Vec<_> = lines(&guest).iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [json!(one)]);
    guest.opens(&one);
    guest.types(0, "x");
    for event in ["document:open", "document:history", "document:delete"] {
        guest.emit(event, &json!({"documentId": other})).refused_with("not_allowed");
    }
    guest.emit("document:create", &json!({"title": "Another"})).refused_with("not_allowed");
}

#[test]
fn history_names_every_version_and_who_made_it() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(""));
    ana.types(0, "a");
    ben.comes_to_version(1);
    ben.types(1, "b");
    let history = |more: Value| {
        let mut payload = json!({"documentId": ana.document()});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let ack = ana.emit("document:history", &payload).ok();
        let versions = ack["versions"].as_array().unwrap().clone();
        versions
            .iter()
            .map(|it| {
                (it["version"].as_u64().unwrap(), it["author"]["name"].as_str().unwrap().to_owned())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(history(json!({})), [(2, "Ben".to_owned()), (1, "Ana".to_owned())]);
    assert_eq!(history(json!({"before": 2})), [(1, "Ana".to_owned())]);
    assert_eq!(history(json!({"limit": 1})), [(2, "Ben".to_owned())]);
}

#[test]
fn history_names_the_updates_before_which_much_more_text_was_there() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("");
    let push = |version: u64, changes: Value| {
        let updates = json!([{"clientID": "c_ana", "changes": changes}]);
        let push = json!({"documentId": document, "version": version, "updates": updates});
        ana.emit("document:push", &push).ok();
    };
    let words = "word ".repeat(60);
    push(0, json!([[0, words]]));
    push(1, json!([[199], 101]));
    push(2, json!([101, [0, "x".repeat(10_000)]]));
    push(3, json!([[10_101, "Oops."]]));
    let history = ana.emit("document:history", &json!({"documentId": document})).ok();
    let large: Vec<_> = history["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["version"].as_u64().unwrap(), line["isLarge"] == true))
        .collect();
    // 199 units are few; of a long insertion it is not counted what it removed.
    assert_eq!(large, [(4, true), (3, true), (2, false), (1, false)]);
    assert!(history["versions"][3].get("isLarge").is_none(), "{history}");
}

#[test]
fn every_old_version_can_be_read() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("");
    for at in 0..5 {
        ana.types(at, "x");
    }
    let text = |version: u64| {
        ana.emit("document:at", &json!({"documentId": ana.document(), "version": version}))
    };
    for version in 0..=5 {
        assert_eq!(text(version).ok()["text"], "x".repeat(version as usize));
    }
    text(6).refused_with("invalid_payload");
}

#[test]
fn a_documents_settings_override_the_servers() {
    let copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates("Hello."));
    let set = json!({"documentId": owner.document(), "policy": "owner", "approvals": "off", "timeoutSeconds": 60});
    let settings = owner.emit("document:settings", &set).ok()["settings"].clone();
    assert_eq!(
        (&settings["policy"], &settings["approvals"], &settings["timeoutSeconds"]),
        (&json!("owner"), &json!("off"), &json!(60))
    );
    assert_eq!(ben.sees("document:changed")["settings"], settings);
    owner.emit("settings:set", &json!({"timeoutSeconds": 7})).ok();
    assert_eq!(ben.opens(&owner.document())["document"]["settings"]["timeoutSeconds"], 60);
}

#[test]
fn the_servers_settings_hold_where_a_document_says_nothing() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    owner.creates("Hello.");
    let settings =
        owner.emit("settings:set", &json!({"timeoutSeconds": 7})).ok()["settings"].clone();
    assert_eq!(settings["timeoutSeconds"], 7);
    assert_eq!(owner.opens(&owner.document())["document"]["settings"]["timeoutSeconds"], 7);
}

#[test]
fn the_servers_settings_are_told_to_everyone_and_kept_over_a_restart() {
    let mut copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates("Hello."));
    owner.emit("settings:set", &json!({"approvals": "off", "timeoutSeconds": 7})).ok();
    let event = ben.sees("document:changed")["settings"].clone();
    assert_eq!((&event["approvals"], &event["timeoutSeconds"]), (&json!("off"), &json!(7)));
    copydesk.is_killed_and_restarted();
    let back = copydesk.owner();
    let settings = back.emit("settings:get", &json!({})).ok()["settings"].clone();
    assert_eq!((&settings["approvals"], &settings["timeoutSeconds"]), (&json!("off"), &json!(7)));
}

#[test]
fn only_an_owner_sets_the_servers_settings_and_a_refused_wish_changes_nothing() {
    let copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.emit("settings:set", &json!({"approvals": "off"})).refused_with("not_allowed");
    let ack =
        owner.send_args("settings:set", &json!([{"approvals": "off", "permission_mode": "x"}]));
    owner.ack(ack).refused_with("invalid_payload");
    assert_eq!(ben.emit("settings:get", &json!({})).ok()["settings"]["approvals"], "on");
}

#[test]
fn frozen_ranges_move_with_the_text() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    owner.creates("One. Two. Three.");
    let frozen = json!({"version": 0, "ranges": [{"from": 5, "to": 9}]});
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "frozen": frozen}))
        .ok();
    owner.types(0, "Zero. ");
    let settings = &owner.opens(&owner.document())["document"]["settings"];
    assert_eq!(settings["frozen"], json!([{"from": 11, "to": 15}]));
}

#[test]
fn frozen_ranges_are_told_with_the_version_they_are_of() {
    let copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates("One. Two. Three."));
    ben.types(0, "Zero. ");
    let frozen = json!({"version": 0, "ranges": [{"from": 5, "to": 9}]});
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "frozen": frozen}))
        .ok();
    let event = ben.sees("document:changed");
    assert_eq!(
        (&event["version"], &event["settings"]["frozen"]),
        (&json!(1), &json!([{"from": 11, "to": 15}]))
    );
}

#[test]
fn who_was_away_is_told_the_title_and_the_settings_of_now() {
    let copydesk = TestServer::quiet();
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates("One. Two. Three."));
    let named = |more: Value| {
        let mut payload = json!({"documentId": owner.document()});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    ben.closes();
    owner.emit("document:rename", &named(json!({"title": "Three numbers"}))).ok();
    let frozen = json!({"version": 0, "ranges": [{"from": 5, "to": 9}]});
    owner.emit("document:settings", &named(json!({"frozen": frozen, "policy": "owner"}))).ok();
    let back = ben.emit("document:open", &named(json!({"since": 0}))).ok();
    assert_eq!(back["title"], "Three numbers");
    assert_eq!(
        (&back["settings"]["policy"], &back["settings"]["frozen"]),
        (&json!("owner"), &json!([{"from": 5, "to": 9}]))
    );
}

#[test]
fn a_setting_that_makes_no_sense_is_refused() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    owner.creates("Hello.");
    for setting in [
        json!({"policy": "anybody"}),
        json!({"approvals": "maybe"}),
        json!({"timeoutSeconds": -1}),
        json!({"frozen": {"version": 9, "ranges": []}}),
        json!({"frozen": {"version": 0, "ranges": [{"from": 5, "to": 2}]}}),
        json!({"frozen": {"version": 0, "ranges": [{"from": 0, "to": 99}]}}),
    ] {
        let mut payload = setting.clone();
        payload["documentId"] = json!(owner.document());
        let code =
            owner.ack(owner.send_args("document:settings", &json!([payload]))).refused()["code"]
                .clone();
        assert!(code == "invalid_payload" || code == "resync", "{setting}: {code}");
    }
}

#[test]
fn a_model_that_views_the_folder_sees_what_the_person_may_open() {
    let tool = "str_replace_based_edit_tool";
    let call = |input: Value| json!([{"type": "tool_use", "name": tool, "input": input}]);
    let done = json!([{"type": "text", "text": "Done."}]);
    let provider = Provider::answering(vec![
        call(json!({"command": "view", "path": "/"})),
        call(json!({"command": "create", "path": "/documents", "file_text": "x"})),
        done.clone(),
        call(json!({"command": "view", "path": "/documents"})),
        done,
    ]);
    let copydesk = TestServer::behind(&provider);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let other = owner.creates("Elsewhere.");
    let mine = ana.creates("Mine.");
    let run = ana.asks("What is there?");
    ana.answer(&run);
    let (listed, refused) = (provider.newest_text(2), provider.newest_text(3));
    for line in
        ["/document.md\t", &format!("/documents/{mine}.md\t"), &format!("/documents/{other}.md\t")]
    {
        assert!(listed.contains(line), "{listed}");
    }
    assert!(refused.contains("/documents is a directory"), "{refused}");
    let guest = copydesk.guest(Role::Editor, &mine);
    guest.opens(&mine);
    let run = guest.asks("And for me?");
    guest.answer(&run);
    let listed = provider.newest_text(5);
    assert!(listed.contains(&mine) && !listed.contains(&other), "{listed}");
}
