//! `copydesk check` and rules: each thing about them that can be damaged is damaged, and named.

use std::sync::OnceLock;

use serde_json::json;
use tempfile::TempDir;

use crate::operations::check::{check, copy_of, is_found_in, left_by};
use crate::support::script::full;
use crate::support::{Script, TestServer};

const START: &str = "Teh keeper wrote. He recieved letters.\n";
const FIRST: &str = "The keeper wrote. He recieved letters.\n";
const SECOND: &str = "The keeper wrote. He received letters.\n";

/// Ana has made a rule, and it has let a change in; Bo has made one, and it was revoked; the
/// owner's has denied a change.
fn ruled() -> TempDir {
    let script = Script::default()
        .answering("first", "update_full_document", &full(FIRST))
        .answering("second", "update_full_document", &full(SECOND))
        .answering("back", "update_full_document", &full(FIRST))
        .answering("third", "update_full_document", &full(SECOND))
        .closing("Done.");
    let copydesk = TestServer::plan()
        .script(script)
        .on_sqlite("it looks into the file of the database")
        .start();
    let (ana, bo) = (copydesk.editor("Ana"), copydesk.editor("Bo"));
    bo.opens(&ana.creates(START));
    ana.asks("first");
    let remember = json!({"scope": "document", "max_units": 20});
    ana.decides(&ana.sees_request(), json!({"approved": true, "remember": remember})).ok();
    let second = ana.sees_request_of(&ana.asks("second"));
    ana.sees_resolved(&second);
    let listed = || ana.emit("rules:list", &json!({})).ok()["rules"].clone();
    let revoke = |id: &serde_json::Value| drop(bo.emit("rules:revoke", &json!({"id": id})).ok());
    ana.emit("rules:revoke", &json!({"id": listed()[0]["id"]})).ok();
    let back = bo.sees_request_of(&ana.asks("back"));
    bo.decides(&back, json!({"approved": true, "remember": {"scope": "session"}})).ok();
    revoke(&listed()[0]["id"]);
    let deny = json!({"documentId": ana.document(), "effect": "deny", "over": 2});
    copydesk.owner().emit("rules:add", &deny).ok();
    ana.answer(&ana.asks("third"));
    drop((ana, bo));
    left_by(copydesk)
}

fn data() -> (TempDir, std::path::PathBuf) {
    static LEFT: OnceLock<TempDir> = OnceLock::new();
    copy_of(LEFT.get_or_init(ruled))
}

/// The story fails unless this damage is found under this code, with these words.
#[track_caller]
fn is_found(statement: &str, code: &str, words: &str) {
    let (_directory, data) = data();
    is_found_in(&data, statement, code, words);
}

/// The rule that decided.
const ANAS: &str = "id = (SELECT min(id) FROM rules)";
const BOS: &str = "id = (SELECT id FROM rules ORDER BY id LIMIT 1 OFFSET 1)";
const OWNERS: &str = "id = (SELECT max(id) FROM rules)";
/// The line of what it decided.
const LINE: &str = "json_extract(detail, '$.decision.rule') IS NOT NULL";

#[test]
fn rules_that_decided_and_rules_that_were_revoked_are_fine() {
    assert_eq!(check(&data().1), (0, vec![]));
}

#[test]
fn a_damaged_rule_is_named() {
    for (set, words) in [
        ("body = 'no json'", "cannot be read"),
        ("body = '{}'", "cannot be read"),
        ("body = json_set(body, '$.path', '[a')", "this is not a path pattern"),
        ("document = NULL", "the same document"),
        ("session = 'ses_none'", "the same session"),
        ("created_ms = 1", "the same time of making"),
        ("ended_ms = NULL", "the same end"),
        ("id = 'rul_0'", "the same id"),
    ] {
        is_found(&format!("UPDATE rules SET {set} WHERE {BOS}"), "rule.row", words);
    }
    is_found(&format!("DELETE FROM rules WHERE {BOS}"), "rule.row", "says that it was made");
}

#[test]
fn a_rule_for_what_is_not_there_is_found() {
    let set = |path: &str, value: &str| {
        format!("UPDATE rules SET body = json_set(body, '{path}', '{value}') WHERE {BOS}")
    };
    is_found(&set("$.document", "doc_none"), "rule.document", "doc_none");
    is_found(&set("$.request", "req_none"), "rule.request", "req_none");
}

#[test]
fn a_rule_whose_life_the_audit_log_tells_otherwise_is_found() {
    for (statement, words) in [
        (
            format!(
                "UPDATE rules SET body = json_remove(body, '$.ended'), ended_ms = NULL WHERE {BOS}"
            ),
            "the audit log says that it ended",
        ),
        ("DELETE FROM audit WHERE action = 'rule.revoke'".to_owned(), "does not say that it ended"),
        (
            "DELETE FROM audit WHERE action = 'rule.create'".to_owned(),
            "does not say that it was made",
        ),
        (
            format!("UPDATE rules SET body = json_set(body, '$.by.user', 'usr_eve') WHERE {ANAS}"),
            "made it",
        ),
    ] {
        is_found(&statement, "rule.log", words);
    }
}

#[test]
fn what_a_rule_decided_without_being_allowed_to_is_found() {
    for (statement, words) in [
        (format!("DELETE FROM rules WHERE {ANAS}"), "which does not exist"),
        (
            format!(
                "UPDATE rules SET body = json_set(body, '$.ended.at_ms', 1), ended_ms = 1 WHERE {ANAS}"
            ),
            "after it had ended",
        ),
        (
            format!(
                "UPDATE rules SET body = json_set(body, '$.at_ms', 9000000000000000), created_ms = 9000000000000000 WHERE {ANAS}"
            ),
            "before it was made",
        ),
        (
            format!(
                "UPDATE audit SET detail = json_set(detail, '$.decision.rule', (SELECT max(id) FROM rules)) WHERE {LINE}"
            ),
            "before it was made",
        ),
        (format!("UPDATE audit SET actor = 'usr_eve' WHERE {LINE}"), "in the name of usr_eve"),
        (format!("UPDATE audit SET document = NULL WHERE {LINE}"), "for another document"),
        (
            format!("UPDATE rules SET body = json_set(body, '$.effect', 'ask') WHERE {OWNERS}"),
            "a rule denied it that denies nothing",
        ),
        (
            format!("UPDATE rules SET body = json_set(body, '$.effect', 'ask') WHERE {ANAS}"),
            "a rule decided it that allows nothing",
        ),
        (format!("DELETE FROM rules WHERE {OWNERS}"), "which does not exist"),
        ("UPDATE tokens SET role = 'viewer' WHERE name = 'Ana'".to_owned(), "could not"),
        ("UPDATE tokens SET revoked_ms = 1 WHERE name = 'Ana'".to_owned(), "could not"),
        (
            "UPDATE tokens SET created_ms = 9000000000000000 WHERE name = 'Ana'".to_owned(),
            "could not",
        ),
    ] {
        is_found(&statement, "rule.decision", words);
    }
}
