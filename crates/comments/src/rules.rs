//! Rules of threads: who may write, edit, delete and resolve, and how much.

use std::collections::BTreeSet;
use std::sync::Arc;

use copydesk_approvals::{ClaimedAuthor, DeletedPerson, Person};
use copydesk_ids::permissions::{DELETED_PERSON, Principal};
use copydesk_ids::{CommentId, RequestId, RunId, SessionId, ThreadId, UserId, Version};

use crate::anchor::CommentAnchor;
use crate::thread::{
    AI, AiOrigin, AiQuestion, Comment, CommentThread, CommentedChange, Resolution, ThreadContent,
    ThreadProposal,
};

/// Longest comment, in characters.
pub const LONGEST_COMMENT: usize = 10_000;
/// Largest number of comments of a thread.
pub const MOST_COMMENTS: usize = 200;
/// Largest number of threads of a document that are not resolved.
pub const MOST_OPEN_THREADS: usize = 1_000;
/// Largest number of threads of a document.
pub const MOST_THREADS: usize = 10_000;
/// Largest number of comments that the AI writes in one run, beside its answer.
pub const MOST_OF_A_RUN: usize = 10;
/// Largest number of people whom a comment mentions.
const MOST_MENTIONS: usize = 50;
/// Longest identifier of a person who is mentioned, in bytes.
const LONGEST_MENTION: usize = 100;

/// Reason why a command about comments is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommentError {
    /// Unknown thread in this document.
    #[error("there is no such thread")]
    NoThread,
    /// Unknown comment in the thread, or a deleted one.
    #[error("there is no such comment")]
    NoComment,
    /// Unknown change of the request.
    #[error("there is no such change")]
    NoChange,
    /// Comment of another person.
    #[error("this comment is another person's")]
    NotAllowed,
    /// Text that is empty or too long.
    #[error("a comment has 1 to {LONGEST_COMMENT} characters")]
    Text,
    /// Too many people, or ones that cannot exist.
    #[error("a comment mentions at most {MOST_MENTIONS} people, each by the id of the person")]
    Mentions,
    /// Range that is not a passage of the text.
    #[error("`from` and `to` are a passage of the text at `version`, of one character or more")]
    Passage,
    /// Passage whose words were deleted since the version that was named.
    #[error("the words were deleted meanwhile")]
    WordsGone,
    /// Thread with the largest number of comments.
    #[error("a thread has at most {MOST_COMMENTS} comments; begin another one")]
    ThreadFull,
    /// Document with the largest number of threads.
    #[error(
        "a document has at most {MOST_OPEN_THREADS} threads that are not resolved, and \
         {MOST_THREADS} in all"
    )]
    TooManyThreads,
    /// Run with the largest number of comments.
    #[error("you have written {MOST_OF_A_RUN} comments, which is the most in one answer")]
    TooManyOfRun,
}

/// Text of a comment, as a person sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentInput {
    /// Text of the comment.
    pub text: String,
    /// Users who are mentioned, or `ai`.
    pub mentions: Vec<String>,
    /// Part that the AI has in the comment.
    pub part_of_ai: PartOfAi,
}

/// Part that the AI has in a new comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PartOfAi {
    /// None: a person wrote the comment, and asks the AI nothing.
    #[default]
    None,
    /// The AI is asked: the comment is to be answered by this run.
    Asked(AiQuestion),
    /// The AI wrote the comment, in this run, by this call of a tool.
    Wrote(RunId, RequestId),
}

impl CommentInput {
    /// Returns `true` if the comment mentions the AI.
    pub fn asks_ai(&self) -> bool {
        self.mentions.iter().any(|name| name == AI)
    }

    fn check(mut self) -> Result<Self, CommentError> {
        check_text(&self.text)?;
        let mut known = BTreeSet::new();
        self.mentions.retain(|name| known.insert(name.clone()));
        let is_possible = |name: &String| {
            (1..=LONGEST_MENTION).contains(&name.len()) && !name.chars().any(char::is_control)
        };
        let is_possible =
            self.mentions.len() <= MOST_MENTIONS && self.mentions.iter().all(is_possible);
        if is_possible { Ok(self) } else { Err(CommentError::Mentions) }
    }
}

fn check_text(text: &str) -> Result<(), CommentError> {
    let is_text = !text.trim().is_empty() && text.chars().count() <= LONGEST_COMMENT;
    if is_text { Ok(()) } else { Err(CommentError::Text) }
}

/// Place of a new thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadPlace {
    /// Identifier of the thread; `None`: a new one.
    pub id: Option<ThreadId>,
    /// Version of the document.
    pub version: Version,
    /// Passage; `None`: the whole document, or a whole request.
    pub anchor: Option<CommentAnchor>,
    /// Words of the passage, at most [`LONGEST_QUOTE`](crate::LONGEST_QUOTE).
    pub quote: String,
    /// Change that the thread is about.
    pub about: Option<CommentedChange>,
}

impl CommentThread {
    /// Begins a thread.
    pub fn begin(
        place: ThreadPlace,
        input: CommentInput,
        by: &Principal,
        now_ms: u64,
    ) -> Result<Self, CommentError> {
        let mut thread = Self::empty(place);
        thread.reply(input, by, now_ms)?;
        Ok(thread)
    }

    fn empty(place: ThreadPlace) -> Self {
        let ThreadPlace { id, version, anchor, quote, about } = place;
        let content = ThreadContent { quote, about, ..ThreadContent::default() };
        let id = id.unwrap_or_else(ThreadId::generate);
        Self { id, version, anchor, content: Arc::new(content) }
    }

    /// Returns the thread of an imported file, which names the authors of its comments. `by` has
    /// imported it.
    pub fn imported(
        place: ThreadPlace,
        comments: Vec<(ClaimedAuthor, String)>,
        by: &Principal,
        now_ms: u64,
    ) -> Result<Self, CommentError> {
        let mut thread = Self::empty(place);
        if comments.is_empty() {
            return Err(CommentError::Text);
        }
        for (author, text) in comments {
            check_text(&text)?;
            if thread.content.comments.len() == MOST_COMMENTS {
                return Err(CommentError::ThreadFull);
            }
            let comment = Comment::new(Person::from(by), text, now_ms);
            thread.add(Comment { claimed_author: Some(author), ..comment });
        }
        Ok(thread)
    }

    /// Adds a comment.
    pub fn reply(
        &mut self,
        input: CommentInput,
        by: &Principal,
        now_ms: u64,
    ) -> Result<CommentId, CommentError> {
        let CommentInput { text, mut mentions, part_of_ai } = input.check()?;
        let (mut author, mut question, mut ai) = (Person::from(by), None, None);
        // The answers that are still to come have their places.
        let mut answers = self.content.unanswered();
        match part_of_ai {
            PartOfAi::None => {}
            PartOfAi::Asked(of) => (question, answers) = (Some(of), answers + 1),
            PartOfAi::Wrote(run, call) => {
                // Comments of the AI notify no one.
                mentions.clear();
                let asked_by = std::mem::replace(&mut author, the_ai());
                ai = Some(AiOrigin { asked_by, run, call: Some(call), reason: None });
            }
        }
        if self.content.comments.len() + 1 + answers > MOST_COMMENTS {
            return Err(CommentError::ThreadFull);
        }
        Ok(self.add(Comment { mentions, question, ai, ..Comment::new(author, text, now_ms) }))
    }

    /// Adds the answer to a question, cut to [`LONGEST_COMMENT`]; `reason` says by a code why there
    /// is none. Returns `None` if the thread has an answer, or the question is gone.
    pub fn answer(
        &mut self,
        run: &RunId,
        text: &str,
        reason: Option<String>,
        now_ms: u64,
    ) -> Option<CommentId> {
        if self.has_answer(run) {
            return None;
        }
        let asked_by = self.question(run)?.author.clone();
        let mut cut: String = text.trim().chars().take(LONGEST_COMMENT).collect();
        if cut.len() < text.trim().len() {
            cut.pop();
            cut.push('…');
        }
        let ai = Some(AiOrigin { asked_by, run: run.clone(), call: None, reason });
        Some(self.add(Comment { ai, ..Comment::new(the_ai(), cut, now_ms) }))
    }

    fn add(&mut self, mut comment: Comment) -> CommentId {
        comment.id = CommentId::of(&self.id, self.content.comments.len() + 1);
        let id = comment.id.clone();
        Arc::make_mut(&mut self.content).comments.push(comment);
        id
    }

    /// Notes the state of a request that the answer to a question made; returns `false` if it is
    /// known, or if the run answers no comment here.
    pub fn note_proposal(
        &mut self,
        session: &SessionId,
        run: &RunId,
        proposal: ThreadProposal,
    ) -> bool {
        let is_of_run = |it: &AiQuestion| it.run == *run && it.session == *session;
        let is_of_run = |it: &Comment| it.question.as_ref().is_some_and(is_of_run);
        let Some(index) = self.content.comments.iter().position(is_of_run) else { return false };
        let known = self.content.comments[index].question.iter().flat_map(|it| &it.proposals);
        if known.clone().any(|known| *known == proposal) {
            return false;
        }
        let comment = &mut Arc::make_mut(&mut self.content).comments[index];
        let Some(question) = &mut comment.question else { return false };
        match question.proposals.iter_mut().find(|it| it.request == proposal.request) {
            Some(known) => *known = proposal,
            None => question.proposals.push(proposal),
        }
        true
    }

    /// Replaces the text of a comment, which only its writer may. The words of an author whom an
    /// imported file names stay as they are.
    pub fn edit(
        &mut self,
        id: &CommentId,
        text: String,
        by: &Principal,
        now_ms: u64,
    ) -> Result<(), CommentError> {
        let comment = self.comment(id)?;
        let is_anothers = comment.claimed_author.is_some() || comment.ai.is_some();
        if is_anothers || !by.is(&comment.author.user) {
            return Err(CommentError::NotAllowed);
        }
        check_text(&text)?;
        (comment.text, comment.edited_ms) = (text, Some(now_ms));
        Ok(())
    }

    /// Deletes the text of a comment, which its writer and, with `overrules`, an owner may.
    pub fn delete(
        &mut self,
        id: &CommentId,
        by: &Principal,
        overrules: bool,
    ) -> Result<(), CommentError> {
        let comment = self.comment(id)?;
        let is_own = comment.ai.is_none() && by.is(&comment.author.user);
        if !overrules && !is_own {
            return Err(CommentError::NotAllowed);
        }
        (comment.text, comment.mentions, comment.deleted) = (String::new(), Vec::new(), true);
        Ok(())
    }

    /// Resolves the thread, or reopens it; returns `false` if it was that already.
    pub fn resolve(&mut self, resolved: bool, by: &Principal, now_ms: u64) -> bool {
        if self.content.resolved.is_some() == resolved {
            return false;
        }
        let resolution = resolved.then(|| Resolution { by: Person::from(by), at_ms: now_ms });
        Arc::make_mut(&mut self.content).resolved = resolution;
        true
    }

    /// Removes a deleted person as [`ThreadContent::forget`] does.
    pub fn forget(&mut self, person: &DeletedPerson) -> bool {
        self.content.names(person) && Arc::make_mut(&mut self.content).forget(person)
    }

    fn comment(&mut self, id: &CommentId) -> Result<&mut Comment, CommentError> {
        let found = self.content.comments.iter().position(|it| it.id == *id && !it.deleted);
        let index = found.ok_or(CommentError::NoComment)?;
        Ok(&mut Arc::make_mut(&mut self.content).comments[index])
    }
}

/// Returns the AI as the author of a comment.
fn the_ai() -> Person {
    Person { user: UserId::from(AI), name: "AI".to_owned() }
}

impl Comment {
    fn new(author: Person, text: String, at_ms: u64) -> Self {
        Self {
            id: CommentId::from(""),
            author,
            claimed_author: None,
            text,
            at_ms,
            edited_ms: None,
            deleted: false,
            mentions: Vec::new(),
            question: None,
            ai: None,
        }
    }
}

impl ThreadContent {
    /// Returns `true` if the name of a deleted person is in the thread, or a mention that goes with
    /// it.
    fn names(&self, person: &DeletedPerson) -> bool {
        let is_named = |of: &Person| person.is(of.user.as_str()) && of.name != DELETED_PERSON;
        let is_mentioned = |comment: &Comment| {
            let is_own = person.is(comment.author.user.as_str());
            comment.mentions.iter().any(|user| is_own || person.is(user))
                || comment.ai.as_ref().is_some_and(|ai| is_named(&ai.asked_by))
        };
        self.comments.iter().any(|it| is_named(&it.author) || is_mentioned(it))
            || self.resolved.as_ref().is_some_and(|it| is_named(&it.by))
    }

    /// Replaces the name of a deleted person; their comments keep their text and lose their
    /// mentions, and others no longer mention them. Returns `true` if anything was replaced.
    pub fn forget(&mut self, person: &DeletedPerson) -> bool {
        if !self.names(person) {
            return false;
        }
        for comment in &mut self.comments {
            let is_own = person.is(comment.author.user.as_str());
            comment.mentions.retain(|user| !is_own && !person.is(user));
        }
        let authors = self.comments.iter_mut().map(|comment| match &mut comment.ai {
            Some(ai) => &mut ai.asked_by,
            None => &mut comment.author,
        });
        for known in authors.chain(self.resolved.as_mut().map(|it| &mut it.by)) {
            if person.is(known.user.as_str()) {
                DELETED_PERSON.clone_into(&mut known.name);
            }
        }
        true
    }
}
