//! Threads of comments: lists, answers, edits, resolution.

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::permissions::Action::{self, Read};
use copydesk_ids::{CommentId, ThreadId};
use copydesk_operation_table::{OnComment, OnDocument, OnThread, Operation, operation};
use copydesk_protocol::client::NameDocument;
use copydesk_protocol::comments::{
    CreateComment, DeleteComment, EditComment, ListComments, NameThread, PeopleToMention,
    ReadThreads, ReplyToComment, ResolveThread, ThreadAnswer, ThreadList,
};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::RoomHandle;

/// Default number of threads of a page.
const PAGE: u32 = 100;
/// Maximum number of threads of a page, and of threads that are read at once.
const MOST_THREADS: u32 = 1_000;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Threads of comments in a document, newest first", OnDocument(Read), list).event("comment:list").get("/documents/{id=documentId}/comments", "listComments"),
        operation("Begin a thread on a passage, on a change, or on the whole document", OnDocument(Action::Comment), create).event("comment:create").post("/documents/{id=documentId}/comments", "createComment"),
        operation("Note that you have read threads, or all", OnDocument(Read), read).event("comment:read").post("/documents/{id=documentId}/comments/read", "readComments"),
        operation("People whom a comment can mention", OnDocument(Action::Comment), people).event("comment:people").get("/documents/{id=documentId}/comments/people", "listPeopleToMention"),
        operation("A thread of comments", OnThread(Read), thread).get("/comments/{threadId}", "getThread"),
        operation("Answer in a thread", OnThread(Action::Comment), reply).event("comment:reply").post("/comments/{threadId}", "replyToComment"),
        operation("Resolve a thread, or reopen it", OnThread(Action::Comment), resolve).event("comment:resolve").patch("/comments/{threadId}", "resolveThread"),
        operation("Change the text of your comment", OnComment(Action::Comment), edit).event("comment:edit").patch("/comments/{threadId}/{commentId}", "editComment"),
        operation("Delete your comment; an owner deletes any", OnComment(Action::Comment), delete).event("comment:delete").delete("/comments/{threadId}/{commentId}", "deleteComment"),
    ]
}

async fn list(caller: Caller, room: RoomHandle, input: ListComments) -> ApiResult<ThreadList> {
    let limit = input.limit.unwrap_or(PAGE);
    if !(1..=MOST_THREADS).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` is 1 to {MOST_THREADS}")));
    }
    let before = input.before.map(ThreadId::from);
    let found = caller.threads(&room, input.status, before.as_ref(), limit as usize).await?;
    Ok(wire::thread_list(room.document(), &found))
}

async fn create(caller: Caller, room: RoomHandle, input: CreateComment) -> ApiResult<ThreadAnswer> {
    let wish = wire::ai_wish(input.permission_mode, input.model.clone());
    let new = wire::new_thread(input).map_err(ApiError::unprocessable)?;
    let begun = caller.begin_thread(&room, new, wish).await?;
    Ok(wire::thread_answer(room.document(), &begun))
}

async fn read(caller: Caller, room: RoomHandle, input: ReadThreads) -> ApiResult<()> {
    let only = input.thread_ids.map(|ids| ids.into_iter().map(ThreadId::from).collect::<Vec<_>>());
    if only.as_ref().is_some_and(|only| only.len() > MOST_THREADS as usize) {
        return Err(ApiError::invalid(format!("`threadIds` are at most {MOST_THREADS}")));
    }
    caller.read_threads(&room, only.as_deref()).await
}

async fn people(caller: Caller, room: RoomHandle, _: NameDocument) -> ApiResult<PeopleToMention> {
    Ok(wire::people_to_mention(caller.people_to_mention(&room).await?))
}

async fn thread(
    caller: Caller,
    (id, room): (ThreadId, RoomHandle),
    _: NameThread,
) -> ApiResult<ThreadAnswer> {
    let found = caller.thread(&room, &id).await?;
    Ok(wire::thread_answer(room.document(), &found))
}

async fn reply(
    caller: Caller,
    (id, room): (ThreadId, RoomHandle),
    input: ReplyToComment,
) -> ApiResult<ThreadAnswer> {
    let ReplyToComment { thread_id: _, text, mentions, permission_mode, model } = input;
    let wish = wire::ai_wish(permission_mode, model);
    let changed = caller.reply(&room, id, wire::comment_input(text, mentions), wish).await?;
    Ok(wire::thread_answer(room.document(), &changed))
}

async fn resolve(
    caller: Caller,
    (id, room): (ThreadId, RoomHandle),
    input: ResolveThread,
) -> ApiResult<ThreadAnswer> {
    let changed = caller.resolve_thread(&room, id, input.resolved).await?;
    Ok(wire::thread_answer(room.document(), &changed))
}

async fn edit(
    caller: Caller,
    (id, room): (CommentId, RoomHandle),
    input: EditComment,
) -> ApiResult<ThreadAnswer> {
    check_thread(&id, input.thread_id)?;
    let changed = caller.edit_comment(&room, id, input.text).await?;
    Ok(wire::thread_answer(room.document(), &changed))
}

async fn delete(
    caller: Caller,
    (id, room): (CommentId, RoomHandle),
    input: DeleteComment,
) -> ApiResult<ThreadAnswer> {
    check_thread(&id, input.thread_id)?;
    let changed = caller.delete_comment(&room, id).await?;
    Ok(wire::thread_answer(room.document(), &changed))
}

/// Checks that a comment is in the thread that the address names.
fn check_thread(comment: &CommentId, named: Option<String>) -> ApiResult<()> {
    let thread = comment.thread();
    let is_other = named.is_some_and(|named| thread.is_none_or(|it| it.as_str() != named));
    if is_other { Err(ApiError::not_found("comment")) } else { Ok(()) }
}
