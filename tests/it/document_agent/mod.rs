//! The document agent protocol, line by line: sessions, the three tools, the hooks, the context,
//! the streamed answer, the response.

use serde_json::{Value, json};

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
