//! The document agent protocol, line by line: sessions, the three tools, the hooks, the context,
//! the streamed answer, the response.

use serde_json::{Value, json};

use crate::support::Person;

mod answers;
mod endings;
mod prompts;
mod runs;
mod sessions;
mod shown_documents;
mod validation;

const OPENING: &str = "It was a dark night. The keeper slept.\n";

/// A private document with this text, and nothing else.
fn about(text: &str) -> Value {
    json!({"documentContent": text})
}

/// Subtypes of the results of a run that was answered, and its responses.
fn results_and_responses(person: &Person, run: &str) -> (Vec<String>, Vec<Value>) {
    let mine = |it: &Value| it["requestId"] == run;
    let results =
        person.saw("agent_event").into_iter().filter(|it| mine(it) && it["type"] == "result");
    let responses = person.saw("claudeResponse").into_iter().filter(mine).collect();
    (results.map(|it| it["subtype"].as_str().unwrap().to_owned()).collect(), responses)
}
