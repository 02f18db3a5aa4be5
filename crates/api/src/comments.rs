//! Threads of comments: what a person may see of them and do with them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use copydesk_agent::{AgentQuestion, AskKind, PermissionMode, StopFilter};
use copydesk_approvals::Person;
use copydesk_comments::{AiQuestion, CommentError, CommentThread, PartOfAi, ThreadStatus};
use copydesk_ids::permissions::{Action, DELETED_PERSON, Principal};
use copydesk_ids::{CommentId, DocumentId, SessionId, ThreadId, UserId, Version};
use copydesk_macros::boxed;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::{
    CommentCommand, CommentInput, NewThread, ThreadList, ThreadSnapshot,
};
use copydesk_store::StoreOp;

use super::{ApiError, ApiResult, Caller, ErrorCode, ErrorDetails, ListPage};

/// Comments that a person may write in [`MINUTE_MS`].
const MOST_A_MINUTE: usize = 30;
/// Time in which comments are counted, in milliseconds.
const MINUTE_MS: u64 = 60_000;
/// Number of people whose comments are counted at a time, before those of the last minute are kept
/// only.
const COUNTED: usize = 1_000;
/// Largest number of people who are offered to be mentioned.
const MOST_PEOPLE: usize = 1_000;
/// Bytes of comments after which a page of threads ends.
const LONGEST_PAGE: usize = 1024 * 1024;

/// Count of the comments that each person has written in the last minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommentAllowance(Arc<Mutex<HashMap<UserId, VecDeque<u64>>>>);

impl CommentAllowance {
    /// Counts one more comment of a person, or refuses it.
    fn count(&self, user: &UserId, now_ms: u64) -> ApiResult<()> {
        let mut people = self.0.lock();
        let is_over = |at: &u64| at.abs_diff(now_ms) >= MINUTE_MS;
        if people.len() > COUNTED {
            people.retain(|_, times| times.back().is_some_and(|at| !is_over(at)));
        }
        let times = people.entry(user.clone()).or_default();
        while times.front().is_some_and(is_over) {
            times.pop_front();
        }
        if times.len() >= MOST_A_MINUTE {
            let message = format!("a person writes at most {MOST_A_MINUTE} comments a minute");
            let details = ErrorDetails::Limit(MOST_A_MINUTE);
            return Err(ApiError::new(ErrorCode::RateLimited, message).with(details));
        }
        times.push_back(now_ms);
        Ok(())
    }
}

/// Part of the threads of a document, newest first.
#[derive(Debug)]
pub struct ThreadPage {
    /// Version that the positions are of.
    pub version: Version,
    /// Threads of this part.
    pub page: ListPage<CommentThread>,
    /// Threads of this part with comments of others that the caller has not read.
    pub unread: Vec<ThreadId>,
}

#[boxed]
impl Caller {
    /// Returns the room of the document that a thread is in, if the caller may do `action` there.
    ///
    /// # Errors
    /// Those of [`Self::room`], and [`NotFound`](super::ErrorCode::NotFound) for an unknown thread.
    pub async fn room_of_thread(&self, thread: &ThreadId, action: Action) -> ApiResult<RoomHandle> {
        let document = self.application.rooms.document_of_thread(thread).await?;
        self.room(&document, action).await
    }

    /// Returns the room of the document that a comment is in, if the caller may do `action` there.
    ///
    /// # Errors
    /// Those of [`Self::room_of_thread`].
    pub async fn room_of_comment(
        &self,
        comment: &CommentId,
        action: Action,
    ) -> ApiResult<RoomHandle> {
        let thread = comment.thread().ok_or_else(|| ApiError::not_found("comment"))?;
        self.room_of_thread(&thread, action).await
    }

    /// Returns the newest threads of a document, or the newest before `before`, at most `limit`.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the room or the store does not answer.
    pub async fn threads(
        &self,
        room: &RoomHandle,
        status: Option<ThreadStatus>,
        before: Option<&ThreadId>,
        limit: usize,
    ) -> ApiResult<ThreadPage> {
        let ThreadList { version, threads } = room.threads().await?;
        let is_wanted = |thread: &CommentThread| {
            status.is_none_or(|status| thread.status() == status)
                && before.is_none_or(|before| thread.id < *before)
        };
        let mut bytes = 0;
        let mut page = ListPage { items: Vec::new(), more: false };
        for thread in threads.into_iter().rev().filter(is_wanted) {
            if page.items.len() == limit || bytes > LONGEST_PAGE {
                page.more = true;
                break;
            }
            bytes += thread.text_len();
            page.items.push(thread);
        }
        let reads =
            self.application.store.comment_reads(room.document(), &self.principal.user).await?;
        let is_unread = |thread: &&CommentThread| {
            let read = reads.get(&thread.id).copied().unwrap_or(0) as usize;
            let mut comments = thread.content.comments.iter().skip(read);
            comments.any(|it| !it.deleted && !self.principal.is(&it.author.user))
        };
        let unread = page.items.iter().filter(is_unread).map(|it| it.id.clone()).collect();
        Ok(ThreadPage { version, page, unread })
    }

    /// Returns a thread.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown thread,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the room does not answer.
    pub async fn thread(&self, room: &RoomHandle, id: &ThreadId) -> ApiResult<ThreadSnapshot> {
        let ThreadList { version, threads } = room.threads().await?;
        let found = threads.into_iter().find(|thread| thread.id == *id);
        let thread = found.ok_or_else(|| ApiError::from(CommentError::NoThread))?;
        Ok(ThreadSnapshot { version, thread, mentioned: Vec::new() })
    }

    /// Begins a thread. A comment that mentions the AI asks it ([`AiWish`]).
    ///
    /// # Errors
    /// [`RateLimited`](super::ErrorCode::RateLimited) after too many comments, those of
    /// [`RoomHandle::comment`], and of a comment that mentions the AI those of
    /// [`AgentService::ask_in_comment`](copydesk_agent::AgentService::ask_in_comment).
    pub async fn begin_thread(
        &self,
        room: &RoomHandle,
        mut new: NewThread,
        wish: AiWish,
    ) -> ApiResult<ThreadSnapshot> {
        let id = new.id.get_or_insert_with(ThreadId::generate).clone();
        let input = std::mem::take(&mut new.input);
        let command = |input, by| CommentCommand::Create(Box::new(NewThread { input, ..new }), by);
        self.write_comment(room, (id, None), input, wish, command).await
    }

    /// Answers in a thread, as [`Self::begin_thread`] begins one. All questions of a person to the
    /// AI in a thread are one conversation.
    ///
    /// # Errors
    /// As there.
    pub async fn reply(
        &self,
        room: &RoomHandle,
        thread: ThreadId,
        input: CommentInput,
        wish: AiWish,
    ) -> ApiResult<ThreadSnapshot> {
        let session = if input.asks_ai() {
            let asked = self.thread(room, &thread).await?.thread;
            let own = asked.content.comments.iter().filter(|it| self.principal.is(&it.author.user));
            own.rev().find_map(|it| it.question.as_ref().map(|it| it.session.clone()))
        } else {
            None
        };
        let command = |input, by| CommentCommand::Reply(thread.clone(), input, by);
        self.write_comment(room, (thread.clone(), session), input, wish, command).await
    }

    /// Counts one more comment of the caller, or refuses it.
    fn count_comment(&self) -> ApiResult<()> {
        let application = &self.application;
        application.limits.comments.count(&self.principal.user, application.clock.now_ms())
    }

    async fn write_comment(
        &self,
        room: &RoomHandle,
        (thread, session): (ThreadId, Option<SessionId>),
        mut input: CommentInput,
        wish: AiWish,
        command: impl FnOnce(CommentInput, Principal) -> CommentCommand,
    ) -> ApiResult<ThreadSnapshot> {
        self.count_comment()?;
        let by = self.principal.clone();
        if !input.asks_ai() {
            return self.comment(room, command(input, by)).await;
        }
        let document = room.document();
        self.require_asking(Some(document)).await?;
        let known = match session {
            Some(session) => self.own_session(session).await.ok(),
            None => None,
        };
        let session = match known {
            Some(session) => session,
            None => self.application.begin_session(&by.user).await?.id,
        };
        self.application.use_session(&by.user, &session).await?;
        let default = || self.application.agents.default_mode(&by, Some(document));
        let permission_mode = wish.permission_mode.unwrap_or_else(default);
        let (kind, prompt) = (AskKind::Comment(thread), input.text.clone());
        let asked = AgentQuestion {
            document: Some(document.clone()),
            model: wish.model,
            permission_mode,
            ..AgentQuestion::new(session.clone(), by.clone(), prompt, kind)
        };
        input.part_of_ai = PartOfAi::Asked(AiQuestion::new(session, asked.run.clone()));
        let (command, there) = (command(input, by), room.clone());
        let written = async move { there.comment(command).await };
        let changed = self.application.agents.ask_in_comment(asked, written).await?;
        self.tell_mentioned(room, changed).await
    }

    /// Changes a thread, and tells those whom it mentions or mentioned.
    async fn comment(
        &self,
        room: &RoomHandle,
        command: CommentCommand,
    ) -> ApiResult<ThreadSnapshot> {
        let changed = room.comment(command).await?;
        self.tell_mentioned(room, changed).await
    }

    async fn tell_mentioned(
        &self,
        room: &RoomHandle,
        changed: ThreadSnapshot,
    ) -> ApiResult<ThreadSnapshot> {
        let (document, people) = (room.document(), changed.mentioned.clone());
        // The comment is written, whatever happens to the notice: lists show what is stored.
        let announced = self.application.rooms.tell_mentions(document, people, Vec::new());
        if let Err(error) = announced.await {
            tracing::warn!(%error, "cannot tell people that a comment mentions them");
        }
        Ok(changed)
    }

    /// Replaces the text of a comment.
    ///
    /// # Errors
    /// As [`Self::begin_thread`].
    pub async fn edit_comment(
        &self,
        room: &RoomHandle,
        comment: CommentId,
        text: String,
    ) -> ApiResult<ThreadSnapshot> {
        self.count_comment()?;
        self.comment(room, CommentCommand::Edit(comment, text, self.principal.clone())).await
    }

    /// Deletes a comment; a thread without comments is gone. A run that is to answer it is stopped.
    ///
    /// # Errors
    /// Those of [`RoomHandle::comment`].
    pub async fn delete_comment(
        &self,
        room: &RoomHandle,
        comment: CommentId,
    ) -> ApiResult<ThreadSnapshot> {
        let by = self.principal.clone();
        let changed = self.comment(room, CommentCommand::Delete(comment.clone(), by)).await?;
        let deleted = changed.thread.content.comments.iter().find(|it| it.id == comment);
        if let Some(AiQuestion { session, run, .. }) = deleted.and_then(|it| it.question.clone()) {
            let stop = StopFilter { session: Some(session), run: Some(run) };
            // Without a run under way there is nothing to stop.
            self.application.agents.cancel(stop).await.ok();
        }
        Ok(changed)
    }

    /// Resolves a thread, or reopens it.
    ///
    /// # Errors
    /// Those of [`RoomHandle::comment`].
    pub async fn resolve_thread(
        &self,
        room: &RoomHandle,
        thread: ThreadId,
        resolved: bool,
    ) -> ApiResult<ThreadSnapshot> {
        let by = self.principal.clone();
        self.comment(room, CommentCommand::Resolve(thread, resolved, by)).await
    }

    /// Notes that the caller has read these threads, or all of the document. Unknown ones are left
    /// out.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the room or the store does not answer.
    pub async fn read_threads(
        &self,
        room: &RoomHandle,
        only: Option<&[ThreadId]>,
    ) -> ApiResult<()> {
        let (store, user) = (&self.application.store, self.principal.user.clone());
        let known = store.comment_reads(room.document(), &user).await?;
        let threads = room.threads().await?.threads.into_iter();
        let threads = threads.filter(|it| only.is_none_or(|only| only.contains(&it.id)));
        let threads = threads.map(|it| (it.id, it.content.comments.len() as u64));
        let news = threads.filter(|(id, count)| known.get(id).is_none_or(|read| read < count));
        let threads: Vec<_> = news.collect();
        if threads.is_empty() {
            return Ok(());
        }
        let read = StoreOp::PutThreadReads { user: user.clone(), threads: threads.clone() };
        store.commit(read).await?;
        let rooms = &self.application.rooms;
        Ok(rooms.tell_mentions(room.document(), vec![user], threads).await?)
    }

    /// Returns the people whom a comment can mention, by name, at most [`MOST_PEOPLE`]: those who
    /// may read the document, and those who have commented on it. The caller is left out.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the room or the store does not answer.
    pub async fn people_to_mention(&self, room: &RoomHandle) -> ApiResult<Vec<Person>> {
        let readers = self.application.rooms.readers(room.document()).await?;
        let threads = room.threads().await?.threads;
        let comments = threads.iter().flat_map(|thread| &thread.content.comments);
        let authors = comments.filter(|it| it.ai.is_none()).map(|it| it.author.clone());
        let people = authors.chain(readers.all().iter().map(Person::from));
        let people = people.filter(|it| !self.principal.is(&it.user) && it.name != DELETED_PERSON);
        let people: HashMap<_, _> = people.map(|it| (it.user.clone(), it)).collect();
        let mut people: Vec<_> = people.into_values().collect();
        people.sort_by(|a, b| (&a.name, &a.user).cmp(&(&b.name, &b.user)));
        people.truncate(MOST_PEOPLE);
        Ok(people)
    }

    /// Returns in how many threads of each document the caller is mentioned in comments that they
    /// have not read.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the store does not answer.
    pub async fn unread_mentions(&self) -> ApiResult<HashMap<DocumentId, u64>> {
        Ok(self.application.store.unread_mentions(&self.principal.user, None).await?)
    }
}

/// Wish about the answer to a comment that mentions the AI.
#[derive(Clone, Debug, Default)]
pub struct AiWish {
    /// Way in which the changes of the run are approved; the default one if missing.
    pub permission_mode: Option<PermissionMode>,
    /// Model; the default one if missing.
    pub model: Option<String>,
}

impl From<CommentError> for ApiError {
    fn from(error: CommentError) -> Self {
        let message = error.to_string();
        match error {
            CommentError::NoThread => Self::not_found("thread"),
            CommentError::NoComment => Self::not_found("comment"),
            CommentError::NoChange => Self::not_found("change"),
            CommentError::NotAllowed => Self::new(ErrorCode::NotAllowed, message),
            CommentError::WordsGone => Self::new(ErrorCode::Conflicted, message),
            CommentError::Text
            | CommentError::Mentions
            | CommentError::Passage
            | CommentError::ThreadFull
            | CommentError::TooManyThreads
            | CommentError::TooManyOfRun => Self::unprocessable(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_writes_thirty_comments_a_minute_whatever_others_write() {
        let allowance = CommentAllowance::default();
        let (ana, ben) = (UserId::from("usr_ana"), UserId::from("usr_ben"));
        for number in 0..MOST_A_MINUTE as u64 {
            allowance.count(&ana, 1_000 + number).unwrap();
        }
        let refused = allowance.count(&ana, 60_999).unwrap_err();
        assert_eq!(refused.code, ErrorCode::RateLimited);
        allowance.count(&ben, 60_999).unwrap();
        allowance.count(&ana, 61_000).unwrap();
        assert!(allowance.count(&ana, 61_000).is_err(), "one has become free");
    }
}
