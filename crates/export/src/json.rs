//! JSON export: the text with version and hash, the open requests with their hunks, and threads.

use std::sync::Arc;

use serde::Serialize;

use super::time::rfc3339 as time;
use super::{ExportError, ExportInput};
use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, AuthorSpan, ClaimedAuthor, Hunk, HunkPart, HunkReason, Mark,
    PathPattern, Person, RememberWish, SpanAuthor as Writer,
};
use copydesk_comments::{Comment, CommentThread, ThreadStatus};
use copydesk_ids::HunkId;

/// Number of the format; it grows when a field changes its meaning or is removed.
const SHAPE: u32 = 1;

/// Exported document. Positions are UTF-16 code units of `version`.
#[derive(Serialize)]
struct JsonDocument<'a> {
    copydesk_export: u32,
    id: &'a str,
    title: &'a str,
    version: u64,
    /// SHA-256 of the text as UTF-8.
    hash: String,
    text: String,
    requests: Vec<JsonRequest<'a>>,
    /// Threads of comments, oldest first.
    threads: Vec<JsonThread<'a>>,
    /// Provenance of every span of the text.
    provenance: Vec<JsonSpan<'a>>,
}

/// Span of the text with one author.
#[derive(Serialize)]
struct JsonSpan<'a> {
    from: usize,
    to: usize,
    /// `person`, `ai`, `import` (a tracked change of an imported file), or `beginning`.
    kind: &'static str,
    author: JsonAuthor<'a>,
    #[serde(rename = "claimedAuthor", skip_serializing_if = "Option::is_none")]
    claimed_author: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunk: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approver: Option<JsonAuthor<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<JsonRuleRef<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    edited: bool,
    at: String,
}

/// Rule that approved words in place of a person.
#[derive(Serialize)]
struct JsonRuleRef<'a> {
    id: &'a str,
    by: JsonAuthor<'a>,
    tool: &'a str,
    remember: JsonRuleScope<'a>,
}

/// Scope of a rule.
#[derive(Serialize)]
struct JsonRuleScope<'a> {
    scope: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_units: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unmarked: bool,
}

/// Open request.
#[derive(Serialize)]
struct JsonRequest<'a> {
    request_id: &'a str,
    tool_name: &'a str,
    status: &'a str,
    author: JsonAuthor<'a>,
    #[serde(rename = "claimedAuthor", skip_serializing_if = "Option::is_none")]
    claimed_author: Option<&'a ClaimedAuthor>,
    explanation: &'a str,
    prompt: &'a str,
    base_version: u64,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    preview_hash: String,
    hunks: Vec<JsonChange<'a>>,
}

/// Person with identifier and name.
#[derive(Serialize)]
struct JsonAuthor<'a> {
    id: &'a str,
    name: &'a str,
}

/// Hunk of a request; decided ones are included, to show what was accepted.
#[derive(Serialize)]
struct JsonChange<'a> {
    id: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Mark]>::is_empty")]
    marks: &'a [Mark],
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<JsonDecision<'a>>,
    parts: Vec<JsonWords<'a>>,
}

/// Decision about a hunk.
#[derive(Serialize)]
struct JsonDecision<'a> {
    by: JsonAuthor<'a>,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Thread of comments.
#[derive(Serialize)]
struct JsonThread<'a> {
    id: &'a str,
    status: ThreadStatus,
    /// Passage, or the place where its words were; `null`: the whole document, or a whole request.
    anchor: Option<JsonRange>,
    quote: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hunk: Option<&'a str>,
    comments: Vec<JsonComment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved: Option<JsonResolution<'a>>,
}

/// Range of the text.
#[derive(Serialize)]
struct JsonRange {
    from: usize,
    to: usize,
}

/// Comment; deleted ones are left out.
#[derive(Serialize)]
struct JsonComment<'a> {
    id: &'a str,
    author: JsonAuthor<'a>,
    #[serde(rename = "claimedAuthor", skip_serializing_if = "Option::is_none")]
    claimed_author: Option<&'a ClaimedAuthor>,
    /// Person who asked the AI for a comment that it wrote.
    #[serde(rename = "askedBy", skip_serializing_if = "Option::is_none")]
    asked_by: Option<JsonAuthor<'a>>,
    text: &'a str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    mentions: &'a [String],
}

/// End of a discussion.
#[derive(Serialize)]
struct JsonResolution<'a> {
    by: JsonAuthor<'a>,
    at: String,
}

/// Words that would be replaced.
#[derive(Serialize)]
struct JsonWords<'a> {
    from: usize,
    to: usize,
    base: &'a str,
    insert: &'a str,
}

/// Returns the content of the file, indented for people, with a line break at its end.
pub(super) fn write(manuscript: &ExportInput) -> Result<Vec<u8>, ExportError> {
    let ExportInput { id, title, version, text, requests, threads, author_spans } = manuscript;
    let document = JsonDocument {
        copydesk_export: SHAPE,
        id: id.as_str(),
        title,
        version: version.0,
        hash: text.hash(),
        text: text.to_string(),
        requests: requests.iter().map(asked).collect(),
        threads: threads.iter().map(thread).collect(),
        provenance: author_spans.iter().map(span).collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn span(credit: &AuthorSpan) -> JsonSpan<'_> {
    let AuthorSpan { from, to, author: written_by, at_ms } = credit;
    let (kind, by) = match written_by {
        Writer::Beginning(by) => ("beginning", by),
        Writer::Person(by) => ("person", by),
        Writer::Ai(credit) => ("ai", &credit.requester),
        Writer::Claimed(_, credit) => ("import", &credit.requester),
        Writer::Suggested(credit) => ("suggestion", &credit.requester),
    };
    let ai = match written_by {
        Writer::Ai(credit) | Writer::Claimed(_, credit) | Writer::Suggested(credit) => Some(credit),
        Writer::Beginning(_) | Writer::Person(_) => None,
    };
    JsonSpan {
        from: *from,
        to: *to,
        kind,
        author: author(by),
        claimed_author: match written_by {
            Writer::Claimed(name, _) => Some(name),
            Writer::Beginning(_) | Writer::Person(_) | Writer::Ai(_) | Writer::Suggested(_) => None,
        },
        request: ai.map(|credit| credit.request.as_str()),
        hunk: ai.and_then(|credit| credit.hunk.as_ref()).map(HunkId::as_str),
        approver: ai.and_then(|credit| credit.approver.as_ref()).map(author),
        rule: ai.and_then(|credit| credit.rule.as_deref()).map(ruled),
        edited: ai.is_some_and(|credit| credit.edited),
        at: time(*at_ms),
    }
}

fn ruled(rule: &ApprovalRule) -> JsonRuleRef<'_> {
    let RememberWish { id, scope, path, max_units, author: asker, unmarked } = &rule.remember;
    let remember = JsonRuleScope {
        scope: scope.as_str(),
        path: path.as_ref().map(PathPattern::as_str),
        max_units: *max_units,
        author: asker.as_ref().map(|asker| asker.user.as_str()),
        unmarked: *unmarked,
    };
    JsonRuleRef { id: id.as_str(), by: author(&rule.by), tool: &rule.tool, remember }
}

fn asked(request: &Arc<ApprovalRequest>) -> JsonRequest<'_> {
    let proposal = &request.proposal;
    JsonRequest {
        request_id: proposal.origin.id.as_str(),
        tool_name: &proposal.origin.tool,
        status: request.status.as_str(),
        author: author(&proposal.requester),
        claimed_author: proposal.claimed_author.as_ref(),
        explanation: &proposal.action.explanation,
        prompt: &proposal.action.prompt,
        base_version: proposal.action.base_version.0,
        created_at: time(request.clock.created_ms),
        expires_at: request.clock.ends_ms().map(time),
        preview_hash: request.preview_hash(),
        hunks: request.hunks.iter().map(change).collect(),
    }
}

fn change(hunk: &Hunk) -> JsonChange<'_> {
    let words = hunk.parts.iter().map(|part| {
        let HunkPart { from, to, base, insert, conflict: _, stood: _, rank: _ } = part;
        JsonWords { from: *from, to: *to, base, insert }
    });
    JsonChange {
        id: hunk.id.as_str(),
        status: hunk.status.as_str(),
        reason: hunk.reason.as_ref().map(HunkReason::as_str),
        explanation: hunk.explanation.as_deref(),
        marks: hunk.marks(),
        decided: hunk.decided.as_ref().map(|decision| JsonDecision {
            by: author(&decision.by),
            at: time(decision.at_ms),
            text: decision.text.as_deref(),
        }),
        parts: words.collect(),
    }
}

fn author(person: &Person) -> JsonAuthor<'_> {
    JsonAuthor { id: person.user.as_str(), name: &person.name }
}

fn thread(thread: &CommentThread) -> JsonThread<'_> {
    let CommentThread { id, version: _, anchor, content } = thread;
    let comments = content.comments.iter().filter(|comment| !comment.deleted);
    let about = content.about.as_ref();
    JsonThread {
        id: id.as_str(),
        status: thread.status(),
        anchor: anchor.as_ref().map(|it| JsonRange { from: it.from, to: it.to }),
        quote: &content.quote,
        request: about.map(|about| about.request.as_str()),
        hunk: about.and_then(|about| about.hunk.as_ref()).map(HunkId::as_str),
        comments: comments.map(comment).collect(),
        resolved: content
            .resolved
            .as_ref()
            .map(|it| JsonResolution { by: author(&it.by), at: time(it.at_ms) }),
    }
}

fn comment(comment: &Comment) -> JsonComment<'_> {
    JsonComment {
        id: comment.id.as_str(),
        author: author(&comment.author),
        claimed_author: comment.claimed_author.as_ref(),
        asked_by: comment.ai.as_ref().map(|ai| author(&ai.asked_by)),
        text: &comment.text,
        at: time(comment.at_ms),
        edited_at: comment.edited_ms.map(time),
        mentions: &comment.mentions,
    }
}
