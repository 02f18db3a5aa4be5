//! Threads of comments, on the wire.

use copydesk_api::{AiWish, ThreadPage};
use copydesk_comments as comments;
use copydesk_ids::{DocumentId, ThreadId, Version};
use copydesk_protocol::client::Range;
use copydesk_protocol::comments::{
    Comment, CommentAuthor, CommentChanged, CommentThread, CommentUnread, CreateComment,
    PeopleToMention, ReadThread, ThreadAnswer, ThreadList, ThreadProposal,
};
use copydesk_protocol::names::PermissionMode;
use copydesk_rooms::command::{CommentInput, NewThread, ThreadSnapshot};
use copydesk_rooms::event::UnreadMentions;

use super::history::person;
use super::names::wanted_mode;
use super::time;

/// Returns the thread that a client begins.
///
/// # Errors
/// A message for half a passage, and for a hunk without its request.
pub fn new_thread(wish: CreateComment) -> Result<NewThread, &'static str> {
    let CreateComment { document_id: _, version, from, to, .. } = wish;
    let CreateComment { request_id, hunk_id, text, mentions, .. } = wish;
    if from.is_some() != to.is_some() {
        return Err("a passage has `from` and `to`");
    }
    if hunk_id.is_some() && request_id.is_none() {
        return Err("`hunk_id` needs `request_id`");
    }
    Ok(NewThread {
        id: None,
        version: version.map(Version),
        passage: from.zip(to),
        request: request_id.map(Into::into),
        hunk: hunk_id.map(Into::into),
        input: comment_input(text, mentions),
    })
}

/// Returns the comment that a client writes.
pub fn comment_input(text: String, mentions: Option<Vec<String>>) -> CommentInput {
    CommentInput { text, mentions: mentions.unwrap_or_default(), ..CommentInput::default() }
}

/// Returns the wish about an answer of the AI.
pub fn ai_wish(mode: Option<PermissionMode>, model: Option<String>) -> AiWish {
    AiWish { permission_mode: mode.map(wanted_mode), model }
}

/// Returns the people whom a comment can mention.
pub fn people_to_mention(people: Vec<copydesk_approvals::Person>) -> PeopleToMention {
    PeopleToMention { people: people.into_iter().map(person).collect() }
}

/// Returns a thread as it is.
pub fn thread_answer(document: &DocumentId, now: &ThreadSnapshot) -> ThreadAnswer {
    ThreadAnswer { version: now.version.0, thread: thread(document, &now.thread) }
}

/// Returns a part of the threads of a document.
pub fn thread_list(document: &DocumentId, found: &ThreadPage) -> ThreadList {
    let ThreadPage { version, page, unread } = found;
    ThreadList {
        version: version.0,
        threads: page.items.iter().map(|it| thread(document, it)).collect(),
        more: page.more,
        unread: unread.iter().map(ToString::to_string).collect(),
    }
}

pub(super) fn changed(
    document: &DocumentId,
    version: Version,
    changed: &comments::CommentThread,
) -> CommentChanged {
    let (document_id, thread) = (document.to_string(), thread(document, changed));
    CommentChanged { document_id, version: version.0, thread }
}

pub(super) fn thread(document: &DocumentId, of: &comments::CommentThread) -> CommentThread {
    let comments::CommentThread { id, version: _, anchor, content } = of;
    let comments::ThreadContent { quote, about, comments, resolved } = &**content;
    let range = |anchor: &comments::CommentAnchor| {
        let to = if anchor.is_orphaned { anchor.from } else { anchor.to };
        Range { from: anchor.from, to }
    };
    CommentThread {
        id: id.to_string(),
        document_id: document.to_string(),
        anchor: anchor.as_ref().map(range),
        quote: quote.clone(),
        status: of.status(),
        request_id: about.as_ref().map(|it| it.request.to_string()),
        hunk_id: about.as_ref().and_then(|it| it.hunk.as_ref()).map(ToString::to_string),
        run_id: of.run().map(ToString::to_string),
        comments: comments.iter().map(|it| comment(of, it)).collect(),
        resolved_by: resolved.as_ref().map(|it| person(it.by.clone())),
        resolved_at: resolved.as_ref().map(|it| time(it.at_ms)),
    }
}

/// Returns what a person has not read of a document.
pub(super) fn unread(of: &UnreadMentions) -> CommentUnread {
    let thread =
        |(id, comments): &(ThreadId, u64)| ReadThread { id: id.to_string(), comments: *comments };
    CommentUnread {
        document_id: of.document.to_string(),
        mentions: of.mentions,
        read: of.read.iter().map(thread).collect(),
    }
}

fn comment(in_thread: &comments::CommentThread, of: &comments::Comment) -> Comment {
    let comments::Comment { id, author, claimed_author, text, .. } = of;
    let comments::Comment { at_ms, edited_ms, deleted, mentions, question, ai, .. } = of;
    let run = ai.as_ref().map(|ai| &ai.run).or(question.as_ref().map(|question| &question.run));
    let waits = |question: &comments::AiQuestion| !deleted && !in_thread.has_answer(&question.run);
    let proposals = question.as_ref().map(|question| &question.proposals);
    Comment {
        id: id.to_string(),
        author: CommentAuthor {
            id: author.user.to_string(),
            name: author.name.clone(),
            ai: ai.is_some().then_some(true),
        },
        claimed_author: claimed_author.clone(),
        asked_by: ai.as_ref().map(|ai| person(ai.asked_by.clone())),
        request_id: run.map(ToString::to_string),
        waiting: question.as_ref().is_some_and(waits).then_some(true),
        proposals: proposals
            .filter(|made| !made.is_empty())
            .map(|made| made.iter().map(proposal).collect()),
        reason_code: ai.as_ref().and_then(|ai| ai.reason.clone()),
        text: text.clone(),
        at: time(*at_ms),
        edited_at: edited_ms.map(time),
        deleted: deleted.then_some(true),
        mentions: mentions.clone(),
    }
}

fn proposal(of: &comments::ThreadProposal) -> ThreadProposal {
    let comments::ThreadProposal { request, status, accepted, of } = of;
    ThreadProposal {
        request_id: request.to_string(),
        status: *status,
        accepted: *accepted as u64,
        of: *of as u64,
    }
}
