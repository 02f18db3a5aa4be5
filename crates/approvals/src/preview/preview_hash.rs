//! Preview hash, to which an approval is bound: a hash over everything that was shown.

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{ApprovalRequest, Hunk};
use copydesk_ids::{HunkId, hex};

/// Preview hash, computed when it is first needed; does not count when requests are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedHash(OnceLock<Box<str>>);

impl PartialEq for CachedHash {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl ApprovalRequest {
    /// Returns `sha256:` and the hash of the tool, its stored input (and with it a command), each
    /// hunk's id with the words it deletes and inserts, and the content of a touched file.
    /// Positions, versions and other decisions are not included, so people who type elsewhere never
    /// make a preview stale.
    pub fn preview_hash(&self) -> String {
        let cached = self.shown.0.get_or_init(|| self.compute_hash().into_boxed_str());
        debug_assert_eq!(**cached, *self.compute_hash(), "what is shown changed: `forget_hash`");
        cached.to_string()
    }

    pub(crate) fn compute_hash(&self) -> String {
        self.hash_of(|hunk| &hunk.id)
    }

    /// Forgets the computed hash, because something that is shown is about to change.
    pub(crate) fn forget_hash(&mut self) {
        self.shown = CachedHash::default();
    }

    /// Returns the hash of the preview before any hunk was split.
    pub(crate) fn unsplit_hash(&self) -> String {
        self.hash_of(|hunk| hunk.split_of.as_ref().unwrap_or(&hunk.id))
    }

    /// Returns the hash with hunks of one name as one; the parts of a split hunk are neighbours.
    fn hash_of(&self, name: impl Fn(&Hunk) -> &HunkId) -> String {
        let proposal = &self.proposal;
        let mut shown = Vec::with_capacity(4096);
        quote(&proposal.origin.tool, &mut shown);
        canonical(&proposal.origin.input, &mut shown);
        for hunks in self.hunks.chunk_by(|left, right| name(left) == name(right)) {
            // Each string ends with its quotation mark, so no two previews give equal bytes.
            shown.push(b'[');
            quote(name(&hunks[0]).as_str(), &mut shown);
            for part in hunks.iter().flat_map(|hunk| &hunk.parts) {
                quote(&part.base, &mut shown);
                quote(&part.insert, &mut shown);
            }
            shown.push(b']');
        }
        if let Some(content) = &proposal.action.touched {
            quote(content, &mut shown);
        }
        format!("sha256:{}", hex(&Sha256::digest(&shown)))
    }
}

/// Writes JSON with sorted keys and no white space, so that the hash is the same after loading.
fn canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(yes) => out.extend_from_slice(yes.to_string().as_bytes()),
        Value::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::String(text) => quote(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                canonical(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (key, item) in fields {
                quote(key, out);
                canonical(item, out);
            }
            out.push(b'}');
        }
    }
}

pub(crate) fn quote(text: &str, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail, and every string can be written as JSON.
    let _ = serde_json::to_writer(out, text);
}
