//! A request for approval as a person sees it.

use std::ops::Index;

use serde_json::{Value, json};

use super::mirror::Mirror;

/// A `tool_approval_request`.
#[derive(Clone, Debug)]
pub struct Request(pub Value);

impl Request {
    /// Its `request_id`.
    pub fn id(&self) -> &str {
        self.0["request_id"].as_str().expect("a request has an id")
    }

    /// Its `preview_hash`.
    pub fn hash(&self) -> &str {
        self.0["preview_hash"].as_str().expect("a request has a preview hash")
    }

    /// Its changes, from left to right.
    pub fn hunks(&self) -> &[Value] {
        self.0["hunks"].as_array().expect("a request has hunks")
    }

    /// The id of a change, counted from 1.
    pub fn hunk(&self, number: usize) -> &str {
        self.hunks()[number - 1]["id"].as_str().expect("a hunk has an id")
    }

    /// The change, counted from 1, as one part: `(base, insert)`.
    pub fn words(&self, number: usize) -> (String, String) {
        let text =
            |part: &Value, name: &str| part[name].as_str().expect("a part has text").to_owned();
        let parts = self.hunks()[number - 1]["parts"].as_array().expect("a hunk has parts");
        assert_eq!(parts.len(), 1, "change {number} has more than one part: {parts:?}");
        (text(&parts[0], "base"), text(&parts[0], "insert"))
    }

    /// The story fails if a pending change would replace other words than it says, or splits a
    /// character.
    pub fn fits(&self, page: &Mirror) {
        for hunk in self.hunks().iter().filter(|hunk| hunk["status"] == "pending") {
            for part in hunk["parts"].as_array().expect("a hunk has parts") {
                let at = |name: &str| part[name].as_u64().and_then(|it| usize::try_from(it).ok());
                let here = at("from").zip(at("to")).and_then(|(from, to)| page.slice(from, to));
                assert_eq!(
                    here.as_deref(),
                    part["base"].as_str(),
                    "{part} at version {}",
                    page.version
                );
            }
        }
    }

    /// The statuses of all changes.
    pub fn statuses(&self) -> Vec<&str> {
        self.hunks()
            .iter()
            .map(|hunk| hunk["status"].as_str().expect("a hunk has a status"))
            .collect()
    }

    /// The same decision on some changes.
    pub fn each(&self, numbers: &[usize], decision: &str) -> Value {
        numbers
            .iter()
            .map(|&number| json!({"id": self.hunk(number), "decision": decision}))
            .collect()
    }

    /// A decision with this request's name and preview.
    pub fn decision(&self, mut decision: Value) -> Value {
        decision["request_id"] = self.id().into();
        if decision.get("preview_hash").is_none() {
            decision["preview_hash"] = self.hash().into();
        }
        decision
    }
}

impl Index<&str> for Request {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        &self.0[field]
    }
}
