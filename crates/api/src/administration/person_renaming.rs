//! Names of a person in stored texts, and how they are replaced.

use std::collections::BTreeSet;

use serde_json::Value;

use copydesk_approvals::DeletedPerson;
use copydesk_comments::ThreadContent;
use copydesk_ids::SessionId;
use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_store::{PAST, PersonRow};

/// Fields of an entry with reports, which say who has done something.
const REPORTS: [&str; 2] = ["news", "answers"];

pub(super) fn add_names(body: &str, person: &DeletedPerson, names: &mut BTreeSet<String>) {
    if let Ok(mut value) = serde_json::from_str(body) {
        person.rename_in(&mut value, names);
    }
}

/// Returns a record without the names of a person; `None` if it has none.
pub(super) fn record(body: &str, person: &DeletedPerson) -> Option<String> {
    let mut value: Value = serde_json::from_str(body).ok()?;
    person.rename_in(&mut value, &mut BTreeSet::new()).then(|| value.to_string())
}

/// Returns the content of a thread of comments without the names and mentions of a person; `None`
/// if it has none.
pub(super) fn thread(body: &str, person: &DeletedPerson) -> Option<String> {
    let mut content: ThreadContent = serde_json::from_str(body).ok()?;
    content.forget(person).then(|| serde_json::to_string(&content).ok()).flatten()
}

/// Returns a stored answer, whose body is a text with JSON, without the names; `None` if it has
/// none.
pub(super) fn answer(body: &str, person: &DeletedPerson, names: &[String]) -> Option<String> {
    let mut stored: Value = serde_json::from_str(body).ok()?;
    let inner = stored.get_mut("body")?;
    let mut said: Value = serde_json::from_str(inner.as_str()?).ok()?;
    let is_named = person.rename_in(&mut said, &mut BTreeSet::new());
    let is_reported = remove_credits(&mut said, names);
    if !is_named && !is_reported {
        return None;
    }
    *inner = Value::String(said.to_string());
    Some(stored.to_string())
}

pub(super) fn own_session(row: &PersonRow) -> Option<SessionId> {
    if row.role != PAST {
        return None;
    }
    let value: Value = serde_json::from_str(&row.body).ok()?;
    // Of a conversation that had gone on from another one, each has added its own name in front.
    let (sessions, _) = value.get("run")?.as_str()?.rsplit_once('/')?;
    let session = sessions.rsplit('/').find(|part| part.starts_with("ses_"));
    Some(session.unwrap_or(sessions).into())
}

/// Returns an entry of a transcript without the names; unless it `is_own`, only reports have them.
pub(super) fn message(body: &str, is_own: bool, names: &[String]) -> Option<String> {
    let mut entry: Value = serde_json::from_str(body).ok()?;
    let mut is_any = false;
    if is_own
        && let Some(Value::String(name)) = entry.get_mut("name")
        && name != DELETED_PERSON
    {
        DELETED_PERSON.clone_into(name);
        is_any = true;
    }
    if let Some(fields) = entry.as_object_mut() {
        for (_, report) in fields.iter_mut().filter(|(key, _)| REPORTS.contains(&key.as_str())) {
            is_any = remove_credits(report, names) || is_any;
        }
    }
    is_any.then(|| entry.to_string())
}

/// Replaces the names in texts that say who has done something; returns `true` if there were any.
fn remove_credits(value: &mut Value, names: &[String]) -> bool {
    let mut is_any = false;
    match value {
        Value::String(text) => {
            for name in names {
                if let Some(renamed) = without_credit(text, name) {
                    *text = renamed;
                    is_any = true;
                }
            }
        }
        Value::Array(list) => {
            for element in list {
                is_any |= remove_credits(element, names);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                is_any |= remove_credits(field, names);
            }
        }
        _ => {}
    }
    is_any
}

/// Replaces a name where a report says who has done something; `None` if it does not name them. The
/// name may be an ordinary word, so it is left alone everywhere else.
fn without_credit(text: &str, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let mut renamed = String::with_capacity(text.len());
    let (mut rest, mut is_any) = (text, false);
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let ends = [":", ")", " and ", ",", "."].iter().any(|sign| after.starts_with(sign));
        let is_credited = [" by ", " and "].iter().any(|words| before.ends_with(words))
            && (ends || after.is_empty());
        let is_undoer = (before.is_empty() || before.ends_with('\n') || before.ends_with(' '))
            && after.starts_with(" has undone this since");
        renamed.push_str(before);
        if is_credited || is_undoer {
            renamed.push_str(DELETED_PERSON);
            is_any = true;
        } else {
            renamed.push_str(name);
        }
        rest = after;
    }
    renamed.push_str(rest);
    is_any.then_some(renamed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use copydesk_store::RowKey;

    #[test]
    fn a_name_is_replaced_where_a_report_gives_credit_and_nowhere_else() {
        let other = |text: &str| without_credit(text, "Will").unwrap_or_else(|| text.to_owned());
        let report = "- req_1 (Will it rain) was pending and is approved now, by Ana and Will:\n  Will they?";
        let expected = report.replace("and Will:", "and Deleted person:");
        assert_eq!(other(report), expected);
        assert_eq!(other("as before (undone by Will)"), "as before (undone by Deleted person)");
        assert_eq!(
            other("Done.\nWill has undone this since: a.txt is as it was before."),
            "Done.\nDeleted person has undone this since: a.txt is as it was before."
        );
        assert_eq!(without_credit("by nobody", ""), None);
        for plain in ["Will this do?", "by William: no", "It stands by Will power"] {
            assert_eq!(without_credit(plain, "Will"), None, "{plain}");
        }
    }

    #[test]
    fn a_repeated_question_of_the_person_has_the_neutral_name_and_its_text() {
        let entry =
            json!({"run": "ses_a/run_1", "kind": "prompt", "name": "Ana", "text": "Ana asks"});
        let row =
            PersonRow { body: entry.to_string(), role: PAST.to_owned(), key: RowKey::default() };
        assert_eq!(own_session(&row), Some("ses_a".into()));
        let twice = entry.to_string().replace("ses_a/", "ses_b/ses_a/");
        assert_eq!(own_session(&PersonRow { body: twice, ..row.clone() }), Some("ses_a".into()));
        let renamed = message(&row.body, true, &["Ana".to_owned()]).unwrap();
        let renamed: Value = serde_json::from_str(&renamed).unwrap();
        assert_eq!(
            (&renamed["name"], &renamed["text"]),
            (&json!(DELETED_PERSON), &json!("Ana asks"))
        );
        assert_eq!(message(&row.body, false, &["Ana".to_owned()]), None, "another Ana asked");
    }

    #[test]
    fn an_answer_has_its_json_in_a_text() {
        let person = DeletedPerson { users: vec!["usr_ana".into()] };
        let inner = json!({"details": {"by": {"id": "usr_ana", "name": "Ana"}}, "detail": "was rejected, by Ana"});
        let inner = inner.to_string();
        let stored = json!({"status": 200, "body": inner}).to_string();
        let renamed = answer(&stored, &person, &["Ana".to_owned()]).unwrap();
        assert_eq!((renamed.matches(DELETED_PERSON).count(), renamed.contains("Ana")), (2, false));
        assert_eq!(answer(&json!({"status": 200, "body": null}).to_string(), &person, &[]), None);
    }
}
