//! JSON: the text with version and hash, and the open requests with their hunks.

use std::sync::Arc;

use serde::Serialize;

use super::time::rfc3339 as time;
use super::{ExportError, Manuscript};
use crate::ids::HunkId;
use crate::review::{
    Author as Writer, Credit, Hunk, Part, PathPattern, Person, Remember, Request, Rule,
};

/// The shape's number; it grows when a field changes its meaning or goes.
const SHAPE: u32 = 1;

/// A document. Positions are UTF-16 code units of `version`.
#[derive(Serialize)]
struct Document<'a> {
    copydesk_export: u32,
    id: &'a str,
    title: &'a str,
    version: u64,
    /// SHA-256 of the text as UTF-8.
    hash: String,
    text: String,
    requests: Vec<Asked<'a>>,
    /// Who wrote every span of the text.
    provenance: Vec<Span<'a>>,
}

/// A stretch of the text with one author.
#[derive(Serialize)]
struct Span<'a> {
    from: usize,
    to: usize,
    /// `person`, `ai`, or `beginning`.
    kind: &'static str,
    author: Author<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunk: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approver: Option<Author<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Ruled<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    edited: bool,
    at: String,
}

/// The rule that let words in, in the approver's place.
#[derive(Serialize)]
struct Ruled<'a> {
    id: &'a str,
    by: Author<'a>,
    tool: &'a str,
    remember: Allowed<'a>,
}

/// What a rule allows.
#[derive(Serialize)]
struct Allowed<'a> {
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_units: Option<usize>,
}

/// An open request.
#[derive(Serialize)]
struct Asked<'a> {
    request_id: &'a str,
    tool_name: &'a str,
    status: &'a str,
    author: Author<'a>,
    explanation: &'a str,
    prompt: &'a str,
    base_version: u64,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    preview_hash: String,
    hunks: Vec<Change<'a>>,
}

/// The person who asked for it.
#[derive(Serialize)]
struct Author<'a> {
    id: &'a str,
    name: &'a str,
}

/// A hunk; decided ones too, so that what was accepted of a request is known.
#[derive(Serialize)]
struct Change<'a> {
    id: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<Decided<'a>>,
    parts: Vec<Words<'a>>,
}

/// Who decided.
#[derive(Serialize)]
struct Decided<'a> {
    by: Author<'a>,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Words that would be replaced.
#[derive(Serialize)]
struct Words<'a> {
    from: usize,
    to: usize,
    base: &'a str,
    insert: &'a str,
}

/// The file's content, indented for people, with a line break at its end.
pub(super) fn write(manuscript: &Manuscript) -> Result<Vec<u8>, ExportError> {
    let Manuscript { id, title, version, text, requests, credits } = manuscript;
    let document = Document {
        copydesk_export: SHAPE,
        id: id.as_str(),
        title,
        version: version.0,
        hash: text.hash(),
        text: text.to_string(),
        requests: requests.iter().map(asked).collect(),
        provenance: credits.iter().map(span).collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn span(credit: &Credit) -> Span<'_> {
    let Credit { from, to, author: written_by, at_ms } = credit;
    let (kind, by) = match written_by {
        Writer::Beginning(by) => ("beginning", by),
        Writer::Person(by) => ("person", by),
        Writer::Ai(credit) => ("ai", &credit.requester),
    };
    let ai = match written_by {
        Writer::Ai(credit) => Some(credit),
        Writer::Beginning(_) | Writer::Person(_) => None,
    };
    Span {
        from: *from,
        to: *to,
        kind,
        author: author(by),
        request: ai.map(|credit| credit.request.as_str()),
        hunk: ai.and_then(|credit| credit.hunk.as_ref()).map(HunkId::as_str),
        approver: ai.and_then(|credit| credit.approver.as_ref()).map(author),
        rule: ai.and_then(|credit| credit.rule.as_deref()).map(ruled),
        edited: ai.is_some_and(|credit| credit.edited),
        at: time(*at_ms),
    }
}

fn ruled(rule: &Rule) -> Ruled<'_> {
    let Remember { id, scope, path, max_units } = &rule.remember;
    let path = path.as_ref().map(PathPattern::as_str);
    let remember = Allowed { scope: scope.as_str(), path, max_units: *max_units };
    Ruled { id: id.as_str(), by: author(&rule.by), tool: &rule.tool, remember }
}

fn asked(request: &Arc<Request>) -> Asked<'_> {
    let proposal = &request.proposal;
    Asked {
        request_id: proposal.id.as_str(),
        tool_name: &proposal.tool,
        status: request.status.as_str(),
        author: author(&proposal.requester),
        explanation: &proposal.explanation,
        prompt: &proposal.prompt,
        base_version: proposal.base_version.0,
        created_at: time(request.clock.created_ms),
        expires_at: request.clock.ends_ms().map(time),
        preview_hash: request.preview_hash(),
        hunks: request.hunks.iter().map(change).collect(),
    }
}

fn change(hunk: &Hunk) -> Change<'_> {
    let words = hunk.parts.iter().map(|part| {
        let Part { from, to, base, insert, conflict: _, stood: _ } = part;
        Words { from: *from, to: *to, base, insert }
    });
    Change {
        id: hunk.id.as_str(),
        status: hunk.status.as_str(),
        reason: hunk.reason.as_deref(),
        explanation: hunk.explanation.as_deref(),
        decided: hunk.decided.as_ref().map(|decision| Decided {
            by: author(&decision.by),
            at: time(decision.at_ms),
            text: decision.text.as_deref(),
        }),
        parts: words.collect(),
    }
}

fn author(person: &Person) -> Author<'_> {
    Author { id: person.user.as_str(), name: &person.name }
}
