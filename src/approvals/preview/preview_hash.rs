//! What an approval is bound to: a hash over everything that was shown.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::approvals::ApprovalRequest;

impl ApprovalRequest {
    /// `sha256:` and the hash of the tool, its stored input (and with it a command), each hunk's id with what it takes away
    /// and puts in, and the content of a touched file. Neither positions nor versions nor other decisions are in it, so
    /// people who type elsewhere never make a preview stale.
    pub fn preview_hash(&self) -> String {
        let proposal = &self.proposal;
        let mut shown = Vec::with_capacity(4096);
        quote(&proposal.tool, &mut shown);
        canonical(&proposal.input, &mut shown);
        for hunk in &self.hunks {
            // Every string ends where its quotation marks do, so no two previews read alike.
            shown.push(b'[');
            quote(hunk.id.as_str(), &mut shown);
            for part in &hunk.parts {
                quote(&part.base, &mut shown);
                quote(&part.insert, &mut shown);
            }
            shown.push(b']');
        }
        if let Some(content) = &proposal.touched {
            quote(content, &mut shown);
        }
        let mut hash = String::with_capacity(71);
        hash.push_str("sha256:");
        for byte in Sha256::digest(&shown) {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        hash
    }
}

/// JSON with sorted keys and no white space, so that the hash survives storing and loading.
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

/// A JSON string.
fn quote(text: &str, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail, nor can a string be no JSON.
    let _ = serde_json::to_writer(out, text);
}
