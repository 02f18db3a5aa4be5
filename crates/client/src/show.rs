//! Requests, runs and lists as people read them in a terminal. Pure.
//!
//! Texts of models and people are shown without control characters: they must not move the cursor
//! or overwrite earlier output.

mod import_report;

use std::fmt::Write as _;

use serde_json::{Value, json};

pub use import_report::import_report;

/// Number of characters of the text around a change.
const AROUND: usize = 40;

/// Style that tells old words from new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffStyle {
    /// Colours, for a terminal.
    Coloured,
    /// Marks: `[-old-]{+new+}`.
    Plain,
}

impl DiffStyle {
    fn removed(self, words: &str) -> String {
        match (words, self) {
            ("", _) => String::new(),
            (words, Self::Coloured) => format!("\u{1b}[31;9m{words}\u{1b}[0m"),
            (words, Self::Plain) => format!("[-{words}-]"),
        }
    }

    fn added(self, words: &str) -> String {
        match (words, self) {
            ("", _) => String::new(),
            (words, Self::Coloured) => format!("\u{1b}[32m{words}\u{1b}[0m"),
            (words, Self::Plain) => format!("{{+{words}+}}"),
        }
    }

    fn line(self, line: &str) -> String {
        let line = clean(line);
        match (line.as_bytes().first(), self) {
            (Some(b'-'), Self::Coloured) => format!("\u{1b}[31m{line}\u{1b}[0m"),
            (Some(b'+'), Self::Coloured) => format!("\u{1b}[32m{line}\u{1b}[0m"),
            _ => line,
        }
    }
}

/// Formats a request in one line: identifier, status, tool, place, number of changes, reason.
pub fn request_line(request: &Value) -> String {
    let hunks = request["hunks"].as_array().map_or(0, Vec::len);
    let changes = match hunks {
        0 => String::new(),
        1 => "  1 change".to_owned(),
        count => format!("  {count} changes"),
    };
    let [id, status, tool] = ["request_id", "status", "tool_name"].map(|name| word(request, name));
    let place = word(request, "file_path");
    let why = clean(request["explanation"].as_str().unwrap_or_default()).replace('\n', " ");
    format!("{id}  {status}  {tool}  {place}{changes}  {why}").trim_end().to_owned()
}

/// Formats a request with all its changes; `text` is that of the version to which its positions
/// refer.
pub fn request(request: &Value, text: Option<&str>, style: DiffStyle) -> String {
    let mut said = format!("{}\n", request_line(request));
    for warning in request["warnings"].as_array().into_iter().flatten() {
        let text = clean(warning["text"].as_str().unwrap_or_default());
        // Writing to a string cannot fail.
        writeln!(said, "  ! {text}").ok();
    }
    let hunks = request["hunks"].as_array().map_or(&[][..], Vec::as_slice);
    let units: Option<Vec<u16>> = text.map(|text| text.encode_utf16().collect());
    for hunk in hunks {
        let status = word(hunk, "status");
        let state = if status == "pending" { String::new() } else { format!(" ({status})") };
        let words = hunk_words(hunk, units.as_deref(), style);
        writeln!(said, "  {}{state}  {words}", word(hunk, "id")).ok();
    }
    if hunks.is_empty() {
        let lines = request["diff_lines"].as_array().into_iter().flatten();
        let lines: Vec<_> = lines.filter_map(Value::as_str).collect();
        for line in &lines {
            writeln!(said, "  {}", style.line(line.trim_end_matches('\n'))).ok();
        }
        if lines.is_empty() {
            // For example a command: everything that would run is shown, with nothing left out.
            writeln!(said, "  {}", clean(&request["tool_input"].to_string())).ok();
        }
    }
    said
}

/// Formats the spending of a month: sums with their limits, people and documents in columns.
pub fn spending(spending: &Value) -> String {
    let dollars = |value: &Value| value.as_f64().map(|usd| format!("${usd:.2}"));
    let some = |value: &Value| dollars(value).unwrap_or_else(|| "-".to_owned());
    let mut said = format!("{}: {}", word(spending, "month"), some(&spending["usd"]));
    // Writing to a string cannot fail.
    if let Some(limit) = dollars(&spending["limitUsd"]) {
        write!(said, " of {limit}").ok();
    }
    writeln!(said, "; limits renew at {}", word(spending, "renewsAt")).ok();
    if let Some(limit) = dollars(&spending["personLimitUsd"]) {
        writeln!(said, "Each person without a limit of their own: {limit}").ok();
    }
    for (list, head) in [("people", "PERSON"), ("documents", "DOCUMENT")] {
        let lines = spending[list].as_array().map_or(&[][..], Vec::as_slice);
        if !lines.is_empty() {
            writeln!(said, "\n{:>10}  {:>10}  {:>6}  {head}", "COST", "LIMIT", "CALLS").ok();
        }
        for line in lines {
            let (cost, limit) = (some(&line["usd"]), some(&line["limitUsd"]));
            let id = line["id"].as_str().map_or_else(|| "none".to_owned(), clean);
            let name = clean(line["name"].as_str().unwrap_or_default());
            let calls = line["calls"].as_u64().unwrap_or_default();
            let row = format!("{cost:>10}  {limit:>10}  {calls:>6}  {id}  {name}");
            writeln!(said, "{}", row.trim_end()).ok();
        }
    }
    for model in spending["unpriced"].as_array().into_iter().flatten() {
        let (name, calls) = (word(model, "model"), &model["calls"]);
        writeln!(said, "\nNo price is known for {name}: {calls} calls count as nothing").ok();
    }
    said
}

/// Returns all people of a list of tokens and logins: the identifier, the newest name, the mail
/// address, and whether they have access.
pub fn people(list: &Value) -> Vec<Value> {
    let mut people: Vec<Value> = Vec::new();
    for token in list["tokens"].as_array().into_iter().flatten() {
        let (id, is_active) = (&token["user"], token["status"] == "active");
        let known = people.iter_mut().find(|person| person["id"] == *id);
        if let Some(person) = known {
            person["name"] = token["name"].clone();
            person["access"] = json!(is_active || person["access"] == true);
        } else {
            let mut logins = list["logins"].as_array().into_iter().flatten();
            let email = logins.find(|login| login["id"] == *id).map(|login| &login["email"]);
            let (name, email) = (&token["name"], email.unwrap_or(&Value::Null));
            people.push(json!({"id": id, "name": name, "email": email, "access": is_active}));
        }
    }
    people
}

/// Formats people in columns: the name, which may have spaces, comes last.
pub fn people_table(people: &[Value]) -> String {
    let mut said = format!("{:<36}  {:<6}  {:<24}  NAME\n", "ID", "ACCESS", "EMAIL");
    for person in people {
        let access = if person["access"] == true { "yes" } else { "no" };
        let (id, email, name) = (word(person, "id"), word(person, "email"), word(person, "name"));
        // Writing to a string cannot fail.
        writeln!(said, "{id:<36}  {access:<6}  {email:<24}  {name}").ok();
    }
    said
}

/// Formats what is stored of a person, and what a deletion would do with it.
pub fn person_preview(preview: &Value) -> String {
    let mut said = format!("{}  {}", word(preview, "id"), word(preview, "name"));
    // Writing to a string cannot fail.
    if let Some(email) = preview["email"].as_str() {
        write!(said, "  {}", clean(email)).ok();
    }
    said.push('\n');
    if preview["state"] != "stored" {
        writeln!(said, "State: {}", word(preview, "state")).ok();
    }
    if let Some(obstacle) = preview["obstacle"].as_str() {
        writeln!(said, "Cannot be deleted: {}", clean(obstacle)).ok();
    }
    said.push_str(&person_records(preview));
    let count = |name: &str| preview[name].as_u64().unwrap_or_default();
    let (runs, requests) = (count("unfinishedRuns"), count("waitingRequests"));
    writeln!(said, "Under way: {runs} runs, {requests} requests that wait for people").ok();
    for document in preview["privateDocuments"].as_array().into_iter().flatten() {
        let (id, title) = (word(document, "id"), word(document, "title"));
        writeln!(said, "Private document: {id}  {title}").ok();
    }
    said
}

/// Formats the deletion of a person's data.
pub fn person_deletion(deletion: &Value) -> String {
    let mut said = format!("{}  {}\n", word(deletion, "id"), word(deletion, "state"));
    said.push_str(&person_records(deletion));
    said
}

fn person_records(of: &Value) -> String {
    let mut said = String::new();
    for (group, head) in [("deleted", "Deleted"), ("renamed", "Renamed"), ("kept", "Kept")] {
        let counts = of[group].as_object().into_iter().flatten();
        let counts: Vec<_> =
            counts.map(|(name, count)| format!("{count} {}", word_of(name))).collect();
        writeln!(said, "{head}: {}", counts.join(", ")).ok();
    }
    said
}

/// Returns the name of a field as words.
fn word_of(field: &str) -> String {
    let mut words = String::new();
    for char in field.chars() {
        if char.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(char.to_ascii_lowercase());
    }
    words
}

/// Formats the roles that were given in a document, one a line: the role, to whom, their name.
pub fn document_roles(list: &Value) -> String {
    let mut said = String::new();
    for line in list["roles"].as_array().into_iter().flatten() {
        let kinds = ["login", "email", "group"];
        let named = kinds.into_iter().find_map(|kind| Some((kind, line[kind].as_str()?)));
        let (kind, whom) = named.unwrap_or_default();
        let name = clean(line["name"].as_str().unwrap_or_default());
        let row = format!("{:<8}  {kind:<5}  {}  {name}", word(line, "role"), clean(whom));
        // Writing to a string cannot fail.
        writeln!(said, "{}", row.trim_end()).ok();
    }
    said
}

/// Formats a change among the words around it.
fn hunk_words(hunk: &Value, text: Option<&[u16]>, style: DiffStyle) -> String {
    let parts = hunk["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let mut said = String::new();
    let mut at: Option<usize> = None;
    for part in parts {
        let (from, to) = (place(part, "from"), place(part, "to"));
        let before = match at {
            Some(at) => slice(text, at, from),
            None => around(&slice(text, from.saturating_sub(AROUND), from), DiffSide::Before),
        };
        let (base, insert) = (shown(part, "base"), shown(part, "insert"));
        said.push_str(&before);
        said.push_str(&style.removed(&base));
        said.push_str(&style.added(&insert));
        at = Some(to);
    }
    if let Some(at) = at {
        said.push_str(&around(&slice(text, at, at.saturating_add(AROUND)), DiffSide::After));
    }
    said
}

#[derive(Clone, Copy)]
enum DiffSide {
    Before,
    After,
}

/// Returns the words around a change that are on its own line.
fn around(words: &str, side: DiffSide) -> String {
    let line = match side {
        DiffSide::Before => words.rsplit('⏎').next(),
        DiffSide::After => words.split('⏎').next(),
    };
    line.unwrap_or_default().to_owned()
}

fn slice(text: Option<&[u16]>, from: usize, to: usize) -> String {
    let Some(text) = text else { return String::new() };
    let to = to.min(text.len());
    let words = String::from_utf16_lossy(text.get(from..to).unwrap_or_default());
    // Half a character at the edge is dropped.
    clean(words.trim_matches('\u{fffd}')).replace('\n', "⏎")
}

fn place(part: &Value, name: &str) -> usize {
    part[name].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0)
}

fn shown(part: &Value, name: &str) -> String {
    clean(part[name].as_str().unwrap_or_default()).replace('\n', "⏎")
}

/// Returns a field that is one word, or a dash.
fn word(of: &Value, name: &str) -> String {
    of[name].as_str().map_or_else(|| "-".to_owned(), |text| clean(text).replace('\n', " "))
}

/// Replaces characters that a terminal obeys, or that change the direction of the text after them.
pub fn clean(text: &str) -> String {
    let obeyed = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect()
}

/// Formats documents in columns, for people and for `awk`: the title, which may have spaces, comes
/// last.
pub fn documents(list: &[Value]) -> String {
    let mut said = String::new();
    for line in list {
        let version = line["version"].as_u64().unwrap_or(0);
        let [id, at, title] = ["id", "updatedAt", "title"].map(|name| word(line, name));
        writeln!(said, "{id}  {version:>6}  {at}  {title}").ok();
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "One line.\nTeh keeper 🕯 wrote every night.\nAnother.";

    fn fixed() -> Value {
        let part = json!({"from": 10, "to": 13, "base": "Teh", "insert": "The"});
        let hunk = json!({"id": "hnk_1", "status": "pending", "parts": [part]});
        json!({
            "request_id": "req_1", "status": "pending", "tool_name": "update_full_document", "file_path": "A story",
            "explanation": "Fixed\nit.", "hunks": [hunk], "warnings": [],
        })
    }

    #[test]
    fn a_change_stands_among_the_words_of_its_line() {
        let said = request(&fixed(), Some(TEXT), DiffStyle::Plain);
        assert_eq!(
            said,
            "req_1  pending  update_full_document  A story  1 change  Fixed it.\n  \
             hnk_1  [-Teh-]{+The+} keeper 🕯 wrote every night.\n"
        );
        let coloured = request(&fixed(), Some(TEXT), DiffStyle::Coloured);
        assert!(coloured.contains("\u{1b}[31;9mTeh\u{1b}[0m\u{1b}[32mThe\u{1b}[0m keeper"));
        assert!(request(&fixed(), None, DiffStyle::Plain).contains("hnk_1  [-Teh-]{+The+}\n"));
    }

    #[test]
    fn nothing_that_was_written_reaches_the_terminal_as_a_command() {
        let mut evil = fixed();
        evil["explanation"] = json!("\u{1b}[2J\u{7}gone\u{202e}");
        evil["hunks"][0]["parts"][0]["insert"] = json!("The\u{1b}]0;title\u{7}\r");
        let said = request(&evil, Some(TEXT), DiffStyle::Plain);
        assert!(!said.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']), "{said:?}");
    }

    #[test]
    fn a_call_without_changes_shows_its_lines_or_its_whole_input() {
        let mut file = fixed();
        file["hunks"] = json!([]);
        file["diff_lines"] = json!(["-old", "+new"]);
        assert!(request(&file, None, DiffStyle::Plain).ends_with("\n  -old\n  +new\n"));
        let mut command = file.clone();
        command["diff_lines"] = json!([]);
        command["tool_input"] = json!({"command": "rm x"});
        assert!(request(&command, None, DiffStyle::Plain).contains("\"rm x\""));
    }
}
