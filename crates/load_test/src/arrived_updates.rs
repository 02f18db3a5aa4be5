//! Updates of a document as a client receives them.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// Updates of a document, from `document:updates` or `updates`.
#[derive(Deserialize)]
pub(super) struct ArrivedUpdates<'a> {
    /// Version before the first of them.
    pub from: u64,
    #[serde(borrow)]
    pub updates: Vec<ArrivedUpdate<'a>>,
}

#[derive(Deserialize)]
pub(super) struct ArrivedUpdate<'a> {
    #[serde(rename = "clientID", borrow)]
    pub client: Cow<'a, str>,
    /// Change set, as the wire has it.
    #[serde(borrow)]
    pub changes: &'a RawValue,
    /// Request that it came from.
    #[serde(borrow)]
    pub origin: Option<Cow<'a, str>>,
}

/// Payload of `updates`: the document's number, the version before, and editors with changes.
#[derive(Deserialize)]
struct ShortPayload<'a>(IgnoredAny, u64, #[serde(borrow)] Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> ArrivedUpdates<'a> {
    /// Reads the payload of either event; `None` if it has another form.
    pub fn parse(payload: &'a str) -> Option<Self> {
        if !payload.starts_with('[') {
            return serde_json::from_str(payload).ok();
        }
        let ShortPayload(_, from, updates) = serde_json::from_str(payload).ok()?;
        let whole = |(client, changes)| ArrivedUpdate { client, changes, origin: None };
        Some(Self { from, updates: updates.into_iter().map(whole).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let whole =
            r#"{"documentId":"doc_1","from":7,"updates":[{"clientID":"c","changes":[[0,"x"]]}]}"#;
        for payload in [whole, r#"[1,7,[["c",[[0,"x"]]]]]"#] {
            let arrived = ArrivedUpdates::parse(payload).unwrap();
            let [update] = &arrived.updates[..] else { panic!("one update") };
            assert_eq!((arrived.from, &*update.client), (7, "c"));
            assert_eq!((update.changes.get(), update.origin.is_none()), (r#"[[0,"x"]]"#, true));
        }
        assert!(ArrivedUpdates::parse("[1]").is_none() && ArrivedUpdates::parse("{}").is_none());
    }
}
