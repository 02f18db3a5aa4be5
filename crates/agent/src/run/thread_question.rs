//! Question that a person asks in a comment: what of its thread the model is shown, and the answer
//! that the thread gets.

use copydesk_comments::{Comment, CommentThread};
use copydesk_ids::RunId;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_store::RunEndKind;

use super::state_machine::RunEnd;
use crate::SelectedRange;
use crate::conversation::response::response;
use crate::conversation::transcript::TranscriptEntry;

/// Answer without words, after a run that only proposed changes.
const NO_WORDS: &str = "There is nothing to add.";

/// Returns the passage that a question is about; `None`: the whole document. Words that were
/// deleted are no passage, which is an error.
pub fn passage(
    thread: &CommentThread,
    now: &DocumentSnapshot,
) -> Result<Option<SelectedRange>, ()> {
    let Some(anchor) = &thread.anchor else { return Ok(None) };
    if anchor.is_orphaned {
        return Err(());
    }
    let text = now.text.slice(anchor.from..anchor.to).map_err(drop)?;
    Ok(Some(SelectedRange { start: anchor.from, end: anchor.to, text: Some(text) }))
}

/// Returns what was said in the thread before the question of a run, oldest first, as a role and
/// a text, without the questions and answers that are in the conversation (`known`).
/// People are numbered: their names may have to be removed one day, and the model needs none.
pub fn said_before(
    thread: &CommentThread,
    run: &RunId,
    known: &[TranscriptEntry],
) -> Vec<(String, String)> {
    let comments = &thread.content.comments;
    let is_asked = |it: &Comment| it.question.as_ref().is_some_and(|it| it.run == *run);
    let Some(index) = comments.iter().position(is_asked) else { return Vec::new() };
    let asker = &comments[index].author.user;
    let is_known = |it: &Comment| {
        thread.asked(&it.id).is_some_and(|(_, run)| known.iter().any(|entry| entry.run == *run))
    };
    let (mut people, mut said) = (vec![asker], Vec::new());
    if thread.content.about.is_some() && !thread.content.quote.is_empty() {
        let words = format!("These comments are about a proposed change: {}", thread.content.quote);
        said.push(("user".to_owned(), words));
    }
    for comment in comments[..index].iter().filter(|it| !it.deleted && !is_known(it)) {
        if comment.ai.is_some() {
            said.push(("assistant".to_owned(), comment.text.clone()));
            continue;
        }
        let number = people.iter().position(|known| *known == &comment.author.user);
        let number = number.unwrap_or_else(|| {
            people.push(&comment.author.user);
            people.len() - 1
        });
        let who = if number == 0 { String::new() } else { format!("person {number} wrote: ") };
        said.push(("user".to_owned(), format!("{who}{}", comment.text)));
    }
    said
}

/// Returns the words of an answer, and the code of the reason if it is none or not complete.
pub fn answer(said: &[TranscriptEntry], end: &RunEnd) -> (String, Option<String>) {
    let words = response(said, None).message;
    let reason = end.reason.as_ref().map(|reason| reason.as_str().to_owned());
    let text = match (words.trim(), end.kind) {
        ("", RunEndKind::Success) => NO_WORDS.to_owned(),
        (words, RunEndKind::Success) => words.to_owned(),
        ("", _) => end.message.clone(),
        (words, _) => format!("{words}\n\n{}", end.message),
    };
    (text, reason)
}
