//! Conversations that programs send again as they grow.

use serde_json::{Value, json};

use crate::support::messages_client::MessagesClient;
use crate::support::{Role, Script, TestServer};

use super::{text, user, words};

/// Turns that are used up one after the other in each session.
fn counting() -> Script {
    ["one", "two", "three"]
        .into_iter()
        .fold(Script::default(), |script, word| script.turn(json!({"content": [text(word)]})))
}

/// The same conversation as different clients write it down.
fn spelt(number: usize, said: &str) -> String {
    let ask = format!("Chat {number}");
    match number % 4 {
        0 => format!(
            r#"[{{"role":"user","content":"{ask}"}},{{"role":"assistant","content":[{{"type":"text","text":"{said}"}}]}},{{"role":"user","content":"On"}}]"#
        ),
        1 => format!(
            r#"[{{"content":[{{"text":"{ask}","type":"text"}}],"role":"user"}},{{"content":[{{"citations":null,"text":"{said}","type":"text"}}],"role":"assistant"}},{{"content":"On","role":"user"}}]"#
        ),
        2 => format!(
            r#"[{{"role":"system","content":[]}},{{"role":"user","content":[{{"type":"text","text":"{ask}","cache_control":{{"type":"ephemeral"}}}}]}},{{"role":"assistant","content":"{said}"}},{{"role":"user","content":[{{"type":"text","text":"On","cache_control":{{"type":"ephemeral"}}}}]}}]"#
        ),
        _ => format!(
            r#"[{{"role":"user","content":"{ask}"}},{{"role":"system","content":"Today."}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"x","signature":"y"}},{{"type":"text","text":"{said}","cache_control":{{"type":"ephemeral","ttl":"1h"}}}}]}},{{"role":"user","content":"On"}}]"#
        ),
    }
}

#[test]
fn two_principals_with_a_thousand_conversations_each_go_on_with_their_own() {
    const CONVERSATIONS: usize = 1_000;
    let copydesk = TestServer::scripted(counting());
    // The same words of both, at the same time: if they met, one of them would be at "three".
    let both: Vec<_> = ["Ana", "Ben"]
        .map(|name| MessagesClient::with(&copydesk, &copydesk.token(name, Role::Editor, &[])))
        .into_iter()
        .map(|program| {
            std::thread::spawn(move || {
                for number in 0..CONVERSATIONS {
                    let first =
                        program.asks(&json!([user(format!("Chat {number}"))]), &json!({})).ok();
                    assert_eq!(words(&first), "one", "{number}");
                }
                for number in (0..CONVERSATIONS).rev() {
                    let body = format!(
                        r#"{{"messages":{},"max_tokens":10,"model":{}}}"#,
                        spelt(number, "one"),
                        json!(program.model())
                    );
                    assert_eq!(words(&program.sends(&body).ok()), "two", "{number}");
                }
            })
        })
        .collect();
    for one in both {
        one.join().expect("every conversation goes on");
    }
}

#[test]
fn what_is_not_remembered_is_what_the_program_says() {
    let mut copydesk = TestServer::scripted(counting());
    let token = copydesk.token("Program", Role::Editor, &[]);
    let program = MessagesClient::with(&copydesk, &token);
    program.asks(&json!([user("Chat 0")]), &json!({})).ok();
    copydesk.is_killed_and_restarted();
    let program = MessagesClient::with(&copydesk, &token);
    let said: Value = serde_json::from_str(&spelt(0, "one")).expect("messages");
    // A new session, whose script begins at its beginning; the request is answered all the same.
    assert_eq!(words(&program.asks(&said, &json!({})).ok()), "one");
    // The same beginning may be gone on with more than once.
    let again: Vec<_> = (0..4)
        .map(|_| {
            let (program, said) = (program.clone(), json!([user("Chat 0"), {"role": "assistant", "content": "one"}, user("On"), {"role": "assistant", "content": "one"}, user("More")]));
            std::thread::spawn(move || program.call_once("POST /v1/messages", &program.request(&said, &json!({})).to_string()).status)
        })
        .collect();
    let mut statuses: Vec<_> =
        again.into_iter().map(|one| one.join().expect("an answer")).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 400, 400], "two turns were left of the session's script");
}
