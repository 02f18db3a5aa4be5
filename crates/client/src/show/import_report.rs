//! Outcome of an import, in words. Pure.

use serde_json::Value;

use super::{clean, word};

/// Words before which a kind's noun ends: "tables without a heading".
const AFTER_NOUN: [&str; 7] = [" without ", " of ", " with ", " in ", " read ", " that ", " as "];

/// Returns what a person who imported a file should know, one line for each matter; none if nothing
/// was lost and nothing waits.
pub fn import_report(answer: &Value) -> Vec<String> {
    let report = &answer["report"];
    let lists = [("Left out", &report["leftOut"]), ("Decided", &report["decided"])];
    let mut lines: Vec<String> = lists
        .into_iter()
        .filter_map(|(title, kinds)| {
            let kinds: Vec<_> = kinds.as_array()?.iter().map(counted).collect();
            (!kinds.is_empty()).then(|| format!("{title}: {}.", kinds.join(", ")))
        })
        .collect();
    lines.extend(answer["requests"].as_array().into_iter().flatten().map(|request| {
        let count = request["hunks"].as_array().map_or(0, Vec::len);
        let (changes, wait) =
            if count == 1 { ("tracked change", "waits") } else { ("tracked changes", "wait") };
        let author = word(&request["claimedAuthor"], "name");
        format!(
            "{count} {changes} by {author} {wait} for a decision: {}",
            word(request, "request_id")
        )
    }));
    match answer["comments"].as_u64().unwrap_or_default() {
        0 => {}
        1 => lines.push("1 comment is beside the text.".to_owned()),
        count => lines.push(format!("{count} comments are beside the text.")),
    }
    lines
}

fn counted(kind: &Value) -> String {
    let (name, count) = (word(kind, "kind"), kind["count"].as_u64().unwrap_or_default());
    clean(&format!("{count} {}", if count == 1 { name } else { plural(&name) }))
}

/// Returns the plural of a kind.
fn plural(kind: &str) -> String {
    let end = AFTER_NOUN.iter().filter_map(|it| kind.find(it)).min().unwrap_or(kind.len());
    let (noun, rest) = kind.split_at(end);
    let ends = |endings: &[&str]| endings.iter().any(|ending| noun.ends_with(ending));
    match noun.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy"]) => format!("{stem}ies{rest}"),
        _ if ends(&["s", "x", "ch"]) => format!("{noun}es{rest}"),
        _ => format!("{noun}s{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_lost_and_what_waits_is_said_and_silence_means_nothing() {
        let nothing =
            json!({"requests": [], "comments": 0, "report": {"leftOut": [], "decided": []}});
        assert_eq!(import_report(&nothing), Vec::<String>::new());
        let hunk = json!({});
        let answer = json!({
            "comments": 2,
            "requests": [{"request_id": "req_1", "claimedAuthor": {"name": "B\u{1b}o"}, "hunks": [hunk, hunk]}],
            "report": {
                "leftOut": [{"kind": "comment", "count": 1}, {"kind": "picture", "count": 2}],
                "decided": [{"kind": "table without a heading", "count": 3}],
            },
        });
        assert_eq!(
            import_report(&answer),
            [
                "Left out: 1 comment, 2 pictures.",
                "Decided: 3 tables without a heading.",
                "2 tracked changes by B\u{fffd}o wait for a decision: req_1",
                "2 comments are beside the text.",
            ]
        );
    }

    #[test]
    fn kinds_have_plurals() {
        for (one, many) in [
            ("text box", "text boxes"),
            ("property", "properties"),
            ("key of a field", "keys of a field"),
        ] {
            assert_eq!(plural(one), many);
        }
    }
}
