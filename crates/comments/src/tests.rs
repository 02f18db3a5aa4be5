//! Stories and properties of threads.

use copydesk_approvals::{DeletedPerson, RequestStatus};
use copydesk_document::{ChangeSet, Text, TextEdit, utf16_len};
use copydesk_ids::permissions::{DELETED_PERSON, Principal, Role};
use copydesk_ids::{CommentId, Version};
use proptest::prelude::*;

use super::*;

const TEXT: &str = "The keeper wrote every night. The lamp was lit at six. Nobody came.";

/// A document with one thread.
struct Desk {
    text: Text,
    thread: CommentThread,
}

fn person(user: &str) -> Principal {
    Principal::new(user, user, Role::Editor)
}

fn input(text: &str) -> CommentInput {
    CommentInput { text: text.to_owned(), ..CommentInput::default() }
}

fn thread(anchor: Option<CommentAnchor>, quote: &str) -> CommentThread {
    let place = ThreadPlace { anchor, quote: quote.to_owned(), ..ThreadPlace::default() };
    CommentThread::begin(place, input("Why?"), &person("ana"), 1).unwrap()
}

/// Returns the range of `words` in a text without characters outside of ASCII.
fn range_of(text: &str, words: &str) -> (usize, usize) {
    let from = text.find(words).unwrap();
    (from, from + words.len())
}

impl Desk {
    fn on(words: &str) -> Self {
        let (from, to) = range_of(TEXT, words);
        let anchor = Some(CommentAnchor::new(from, to));
        Self { text: Text::new(TEXT), thread: thread(anchor, words) }
    }

    fn about_hunk(words: &str, at: (usize, usize)) -> Self {
        let about = CommentedChange {
            request: "req_1".into(),
            hunk: Some("hnk_1".into()),
            run: Some("run_1".into()),
        };
        let anchor = Some(CommentAnchor::new(at.0, at.1));
        let place = ThreadPlace {
            anchor,
            quote: words.to_owned(),
            about: Some(about),
            ..ThreadPlace::default()
        };
        let thread = CommentThread::begin(place, input("Why?"), &person("ana"), 1).unwrap();
        Self { text: Text::new(TEXT), thread }
    }

    fn changes(&mut self, edits: &[TextEdit], from: Option<&str>) -> AnchorMove {
        self.moves(edits, from, &[])
    }

    fn moves(
        &mut self,
        edits: &[TextEdit],
        from: Option<&str>,
        moves: &[MovedPassage],
    ) -> AnchorMove {
        let change = ChangeSet::of(self.text.len(), edits).unwrap();
        change.apply(&mut self.text).unwrap();
        self.thread.follow(&AnchorUpdate::new(&change, &self.text, from, moves))
    }

    /// Replaces the first `old` by `new`.
    fn replaces(&mut self, old: &str, new: &str) -> AnchorMove {
        let (from, to) = range_of(&self.text.to_string(), old);
        self.changes(&[TextEdit { from, to, insert: new.to_owned() }], None)
    }

    fn covers(&self) -> String {
        let anchor = self.thread.anchor.as_ref().unwrap();
        self.text.slice(anchor.from..anchor.to).unwrap()
    }

    fn status(&self) -> ThreadStatus {
        self.thread.status()
    }
}

#[test]
fn words_typed_at_the_edges_stay_outside() {
    let mut desk = Desk::on("The lamp");
    assert_eq!(desk.replaces("night. ", "night. Then "), AnchorMove::Mapped);
    let (from, to) = range_of(&desk.text.to_string(), "The lamp");
    let at = |at| TextEdit { from: at, to: at, insert: "!".into() };
    desk.changes(&[at(from)], None);
    desk.changes(&[at(to + 1)], None);
    assert_eq!((desk.covers().as_str(), desk.status()), ("The lamp", ThreadStatus::Open));
    assert_eq!(desk.thread.version, Version(3));
}

#[test]
fn a_thread_moves_to_what_replaces_all_its_words() {
    let mut desk = Desk::on("The lamp was lit");
    desk.replaces("The lamp was lit", "A light burned");
    assert_eq!(desk.covers(), "A light burned");
    desk.replaces("night. A light burned at six.", "hour.");
    assert_eq!((desk.covers().as_str(), desk.status()), ("hour.", ThreadStatus::Open));
    assert_eq!(desk.thread.content.quote, "The lamp was lit", "the quotation stays");
}

#[test]
fn of_a_longer_replacement_a_thread_takes_its_own_words() {
    let mut desk = Desk::on("lamp");
    let other = "At six, as on every day, the lamp was lit again. Nobody came.";
    assert_eq!(desk.replaces(&TEXT[30..], other), AnchorMove::Changed);
    assert_eq!(desk.covers(), "lamp");
}

#[test]
fn only_deletion_makes_a_thread_orphaned_and_undo_brings_it_back() {
    let mut desk = Desk::on("The lamp was lit at six.");
    desk.replaces("lit", "lighted");
    assert_eq!(desk.covers(), "The lamp was lighted at six.");
    assert_eq!(desk.replaces("The lamp was lighted at six. ", ""), AnchorMove::Changed);
    assert_eq!((desk.covers().as_str(), desk.status()), ("", ThreadStatus::Orphaned));
    desk.replaces("night. ", "night. Dark. ");
    assert_eq!(desk.status(), ThreadStatus::Orphaned);
    desk.replaces("Nobody", "Lit. The lamp was lighted at six. Nobody");
    assert_eq!(desk.covers(), "The lamp was lighted at six.");
    assert_eq!(
        (desk.status(), desk.thread.anchor.as_ref().unwrap().offset),
        (ThreadStatus::Open, None)
    );
}

#[test]
fn words_deleted_letter_by_letter_come_back_as_a_whole() {
    let mut desk = Desk::on("lamp");
    for left in ["lam", "la", "l", ""] {
        let last = 34 + left.len();
        desk.changes(&[TextEdit { from: last, to: last + 1, insert: String::new() }], None);
        assert_eq!(desk.covers(), left);
    }
    assert_eq!(desk.status(), ThreadStatus::Orphaned);
    desk.replaces("The  was", "The lamp was");
    assert_eq!((desk.covers().as_str(), desk.status()), ("lamp", ThreadStatus::Open));
}

#[test]
fn of_equal_words_those_that_were_deleted_come_back() {
    let text = "No no no no, he said.";
    let anchor = Some(CommentAnchor::new(6, 11));
    let mut desk = Desk { text: Text::new(text), thread: thread(anchor, "no no") };
    desk.replaces("no no no, ", "");
    assert_eq!(desk.status(), ThreadStatus::Orphaned);
    desk.replaces("he", "no no no, he");
    assert_eq!((desk.covers().as_str(), desk.thread.anchor.unwrap().from), ("no no", 6));
}

#[test]
fn what_is_typed_elsewhere_brings_no_orphan_back() {
    let mut desk = Desk::on("lamp");
    desk.replaces("lamp ", "");
    assert_eq!(desk.replaces("Nobody", "The lamp smoked. Nobody"), AnchorMove::Mapped);
    assert_eq!(desk.status(), ThreadStatus::Orphaned);
}

#[test]
fn a_resolved_thread_stays_resolved_when_its_words_go_and_is_orphaned_when_reopened() {
    let mut desk = Desk::on("lamp");
    assert!(desk.thread.resolve(true, &person("ben"), 2));
    assert!(!desk.thread.resolve(true, &person("ana"), 3), "once");
    desk.replaces("lamp ", "");
    assert_eq!(desk.status(), ThreadStatus::Resolved);
    assert!(desk.thread.resolve(false, &person("ana"), 4));
    assert_eq!(desk.status(), ThreadStatus::Orphaned);
}

#[test]
fn words_that_one_update_takes_elsewhere_take_the_thread_along() {
    let sentence = "The lamp was lit at six. ";
    let (from, to) = range_of(TEXT, sentence);
    let cut = TextEdit { from, to, insert: String::new() };
    let put = |insert: &str| TextEdit { from: 0, to: 0, insert: insert.to_owned() };
    let mut desk = Desk::on("lamp");
    desk.changes(&[put("No lamp. "), cut.clone()], None);
    assert_eq!(desk.status(), ThreadStatus::Orphaned, "a short word may be another one");
    for (words, at) in [("lamp", 4), ("The lamp was lit", 0), (sentence, 0)] {
        let mut desk = Desk::on(words);
        assert_eq!(desk.changes(&[put(sentence), cut.clone()], None), AnchorMove::Changed);
        assert_eq!((desk.covers().as_str(), desk.thread.anchor.unwrap().from), (words, at));
    }

    // A moved change may have other words in its new place.
    let mut desk = Desk::on("lamp");
    let known = MovedPassage { from, to, at: 0 };
    desk.moves(&[put("A lamp was lit at seven. "), cut.clone()], Some("req_1"), &[known]);
    assert_eq!((desk.covers().as_str(), desk.thread.anchor.as_ref().unwrap().from), ("lamp", 2));
    let mut desk = Desk::on("lit at six");
    desk.moves(&[put("They lit it at six. "), cut], Some("req_1"), &[known]);
    assert_eq!(desk.covers(), "They lit it at six. ");
}

#[test]
fn a_thread_on_a_change_that_only_inserts_covers_its_words_once_they_are_there() {
    let mut desk = Desk::about_hunk("Rain fell. ", (30, 30));
    let typed = TextEdit { from: 30, to: 30, insert: "So. ".into() };
    assert_eq!(desk.changes(&[typed], None), AnchorMove::Mapped);
    assert_eq!((desk.covers().as_str(), desk.status()), ("", ThreadStatus::Open));
    let accepted = TextEdit { from: 34, to: 34, insert: "Rain fell. ".into() };
    assert_eq!(desk.changes(std::slice::from_ref(&accepted), Some("req_1")), AnchorMove::Changed);
    assert_eq!(desk.covers(), "Rain fell. ");
    // Its own undo is no deletion by others.
    let undone = TextEdit { from: 34, to: 45, insert: String::new() };
    desk.changes(&[undone], Some("req_1"));
    assert_eq!((desk.covers().as_str(), desk.status()), ("", ThreadStatus::Open));
    desk.changes(&[accepted], Some("req_1"));
    assert_eq!(desk.covers(), "Rain fell. ");
}

#[test]
fn a_thread_on_the_whole_document_does_not_move() {
    let mut desk = Desk { text: Text::new(TEXT), thread: thread(None, "") };
    desk.replaces(TEXT, "");
    assert_eq!((desk.status(), desk.thread.version), (ThreadStatus::Open, Version(1)));
}

#[test]
fn only_its_writer_edits_a_comment_and_an_owner_deletes_it_too() {
    let mut thread = thread(None, "");
    let first = CommentId::of(&thread.id, 1);
    assert_eq!(first.thread(), Some(thread.id.clone()));
    let (ana, ben) = (person("ana"), person("ben"));
    let foreign = thread.edit(&first, "Mine".into(), &ben, 2);
    assert_eq!(foreign, Err(CommentError::NotAllowed));
    thread.edit(&first, "Why so?".into(), &ana, 2).unwrap();
    assert_eq!(thread.content.comments[0].edited_ms, Some(2));
    let second = thread.reply(input("Because."), &ben, 3).unwrap();
    assert_eq!(thread.delete(&second, &ana, false), Err(CommentError::NotAllowed));
    thread.delete(&second, &ana, true).unwrap();
    assert_eq!(thread.delete(&second, &ben, false), Err(CommentError::NoComment), "once");
    assert_eq!(thread.edit(&second, "Again".into(), &ben, 4), Err(CommentError::NoComment));
    assert!(!thread.is_deleted() && thread.content.comments[1].text.is_empty());
    thread.delete(&first, &ana, false).unwrap();
    assert!(thread.is_deleted());
}

#[test]
fn too_long_too_many_and_nothing_are_refused() {
    let ana = person("ana");
    let mut thread = thread(None, "");
    for text in ["", " \n\t", &"é".repeat(LONGEST_COMMENT + 1)] {
        assert_eq!(thread.reply(input(text), &ana, 2), Err(CommentError::Text));
    }
    let mentions = |names: Vec<String>| CommentInput {
        text: "x".into(),
        mentions: names,
        ..CommentInput::default()
    };
    for names in [vec![String::new()], vec!["a\n".into()], vec!["x".repeat(101)]] {
        assert_eq!(thread.reply(mentions(names), &ana, 2), Err(CommentError::Mentions));
    }
    let many = (0..51).map(|number| format!("usr_{number}")).collect();
    assert_eq!(thread.reply(mentions(many), &ana, 2), Err(CommentError::Mentions));
    thread.reply(mentions(vec!["ai".into(), "ai".into()]), &ana, 2).unwrap();
    assert_eq!(thread.content.comments[1].mentions, ["ai"]);
    thread.reply(input(&"é".repeat(LONGEST_COMMENT)), &ana, 2).unwrap();
    while thread.content.comments.len() < MOST_COMMENTS {
        thread.reply(input("Yes"), &ana, 2).unwrap();
    }
    assert_eq!(thread.reply(input("Yes"), &ana, 2), Err(CommentError::ThreadFull));
    assert_eq!(thread.contradictions(), Vec::<String>::new());
}

#[test]
fn the_comments_of_a_deleted_person_keep_their_text_and_lose_name_and_mentions() {
    let (ana, ben) = (person("usr_ana"), person("usr_ben"));
    let said = |text: &str, who: &str| CommentInput {
        text: text.into(),
        mentions: vec![who.into()],
        ..CommentInput::default()
    };
    let begin = CommentThread::begin(ThreadPlace::default(), said("Ben?", "usr_ben"), &ana, 1);
    let mut thread = begin.unwrap();
    thread.reply(said("Ana!", "usr_ana"), &ben, 2).unwrap();
    thread.resolve(true, &ana, 3);
    let deleted = DeletedPerson { users: vec!["usr_ana".into()] };
    assert!(thread.forget(&deleted));
    let [hers, his] = thread.content.comments.as_slice() else { panic!("two comments") };
    assert_eq!((hers.author.name.as_str(), hers.text.as_str()), (DELETED_PERSON, "Ben?"));
    assert_eq!((his.author.name.as_str(), his.text.as_str()), ("usr_ben", "Ana!"));
    assert!(hers.mentions.is_empty() && his.mentions.is_empty());
    assert_eq!(thread.content.resolved.as_ref().unwrap().by.name, DELETED_PERSON);
    assert!(!thread.forget(&deleted), "once");
}

fn asks(run: &str) -> CommentInput {
    let part_of_ai = PartOfAi::Asked(AiQuestion::new("ses_1".into(), run.into()));
    CommentInput { part_of_ai, mentions: vec![AI.to_owned()], ..input("Is it?") }
}

#[test]
fn a_question_has_one_answer_which_nobody_edits_and_a_deleted_person_no_longer_asked_for() {
    let ana = person("usr_ana");
    let mut thread = thread(None, "");
    thread.reply(asks("run_1"), &ana, 2).unwrap();
    assert_eq!(thread.answer(&"run_2".into(), "No.", None, 3), None, "nobody asked that");
    let long = "é".repeat(LONGEST_COMMENT + 1);
    let answer = thread.answer(&"run_1".into(), &long, None, 3).unwrap();
    assert_eq!(thread.answer(&"run_1".into(), "Again", None, 4), None);
    let mut the_ai = person(AI);
    assert_eq!(thread.edit(&answer, "x".into(), &ana, 5), Err(CommentError::NotAllowed));
    the_ai.former.push(ana.user.clone());
    assert_eq!(thread.edit(&answer, "x".into(), &the_ai, 5), Err(CommentError::NotAllowed));
    assert_eq!(thread.contradictions(), Vec::<String>::new());
    assert!(thread.forget(&DeletedPerson { users: vec![ana.user] }));
    let ai = thread.content.comments[2].ai.as_ref().unwrap();
    assert_eq!(ai.asked_by.name, DELETED_PERSON);
    assert_eq!(thread.content.comments[2].author.name, "AI");
}

#[test]
fn an_answer_that_is_to_come_has_its_place_in_a_full_thread() {
    let ana = person("ana");
    let mut thread = thread(None, "");
    thread.reply(asks("run_1"), &ana, 2).unwrap();
    while thread.content.comments.len() < MOST_COMMENTS - 1 {
        thread.reply(input("Yes"), &ana, 2).unwrap();
    }
    assert_eq!(thread.reply(input("Yes"), &ana, 2), Err(CommentError::ThreadFull));
    assert_eq!(thread.reply(asks("run_2"), &ana, 2), Err(CommentError::ThreadFull));
    thread.answer(&"run_1".into(), "It is.", None, 3).unwrap();
    assert_eq!(thread.contradictions(), Vec::<String>::new());
}

#[test]
fn a_proposal_is_noted_where_its_run_was_asked_for_in_its_session() {
    let mut thread = thread(None, "");
    thread.reply(asks("run_1"), &person("ana"), 2).unwrap();
    let (session, run) = ("ses_1".into(), "run_1".into());
    let proposal =
        |status, accepted| ThreadProposal { request: "req_1".into(), status, accepted, of: 2 };
    let pending = proposal(RequestStatus::Pending, 0);
    assert!(!thread.note_proposal(&"ses_other".into(), &run, pending.clone()));
    assert!(thread.note_proposal(&session, &run, pending.clone()));
    assert!(!thread.note_proposal(&session, &run, pending), "nothing new");
    assert!(thread.note_proposal(&session, &run, proposal(RequestStatus::Partly, 1)));
    let question = thread.content.comments[1].question.as_ref().unwrap();
    assert_eq!(question.proposals, [proposal(RequestStatus::Partly, 1)]);
}

#[test]
fn people_are_mentioned_by_others_and_not_by_the_ai() {
    let mut thread = thread(None, "");
    let said = |who: &[&str], part_of_ai: PartOfAi| CommentInput {
        mentions: who.iter().map(|&who| who.to_owned()).collect(),
        part_of_ai,
        ..input("x")
    };
    thread.reply(said(&["ana", "ben", AI], PartOfAi::None), &person("ana"), 2).unwrap();
    let wrote = PartOfAi::Wrote("run_1".into(), "req_1".into());
    thread.reply(said(&["cy"], wrote), &person("ana"), 2).unwrap();
    thread.reply(said(&["ben"], PartOfAi::None), &person("ana"), 2).unwrap();
    let mentioned: Vec<_> = thread.mentioned().into_iter().collect();
    assert_eq!(mentioned, [("ben".into(), 4)]);
    let last = thread.content.comments[3].id.clone();
    thread.delete(&last, &person("ana"), false).unwrap();
    assert_eq!(thread.mentioned().into_iter().collect::<Vec<_>>(), [("ben".into(), 2)]);
}

#[test]
fn a_thread_is_read_as_it_was_stored() {
    let mut desk = Desk::on("lamp");
    desk.replaces("lamp ", "");
    let CommentThread { id, version, .. } = desk.thread.clone();
    let stored = (desk.thread.anchor_json(), desk.thread.content_json());
    let read = CommentThread::read(id, version, &stored.0, &stored.1).unwrap();
    assert_eq!(read, desk.thread);
}

/// Words of a text, and edits of it: begin, length and insertion, in hundredths of the text.
fn edit() -> impl Strategy<Value = (usize, usize, String)> {
    (0..=100_usize, 0..=60_usize, prop_oneof![Just(String::new()), "[a-e 😀é]{1,12}"])
}

fn edit_of(text: &Text, (from, len, insert): &(usize, usize, String)) -> TextEdit {
    let boundary = |at: usize| (0..=at).rev().find(|at| text.is_boundary(*at)).unwrap_or(0);
    let from = boundary(text.len() * from / 100);
    let to = boundary((from + text.len() * len / 100).min(text.len()));
    TextEdit { from, to, insert: insert.clone() }
}

proptest! {
    #[test]
    fn a_thread_is_always_on_a_passage_and_orphaned_only_without_one(
        text in "[a-e 😀é]{4,60}",
        passage in edit(),
        edits in prop::collection::vec(prop::collection::vec(edit(), 1..3), 1..12),
    ) {
        let mut text = Text::new(&text);
        let TextEdit { from, to, .. } = edit_of(&text, &passage);
        prop_assume!(from < to);
        let quote = text.slice(from..to).unwrap();
        let mut thread = thread(Some(CommentAnchor::new(from, to)), &quote);
        for update in &edits {
            let before = text.clone();
            let made: Vec<_> = update.iter().map(|it| edit_of(&before, it)).collect();
            let change = ChangeSet::of(before.len(), &made).unwrap();
            change.apply(&mut text).unwrap();
            let was = thread.clone();
            let moved = thread.follow(&AnchorUpdate::new(&change, &text, None, &[]));
            prop_assert_eq!(thread.misplaced_in(&text), None);
            let (old, new) = (was.anchor.clone().unwrap(), thread.anchor.clone().unwrap());
            if moved == AnchorMove::Mapped && !old.is_orphaned {
                use copydesk_document::InsertSide::{After, Before};
                let mapped = change.map_pos(old.from, After);
                let end = change.map_pos(old.to, Before).max(mapped);
                prop_assert_eq!((new.from, new.to), (mapped, end), "as clients map it");
            }
            let gone = change.changed_ranges().any(|range| {
                range.insert.is_empty() && range.from_a <= old.from && old.to <= range.to_a
            });
            let is_new = new.is_orphaned && !old.is_orphaned;
            prop_assert!(!is_new || gone, "only deletion makes it orphaned");
        }
    }

    #[test]
    fn the_inverse_of_a_deletion_brings_the_thread_back(
        text in "[a-e 😀é]{4,60}",
        passage in edit(),
        (before, after) in (0..10_usize, 0..10_usize),
    ) {
        let start = Text::new(&text);
        let TextEdit { from, to, .. } = edit_of(&start, &passage);
        prop_assume!(from < to);
        let quote = start.slice(from..to).unwrap();
        let mut thread = thread(Some(CommentAnchor::new(from, to)), &quote);
        let mut cut = TextEdit { insert: String::new(), from, to };
        cut.from = (0..=from.saturating_sub(before)).rev().find(|at| start.is_boundary(*at)).unwrap();
        cut.to = (to + after).min(start.len());
        prop_assume!(start.is_boundary(cut.to));
        let change = ChangeSet::of(start.len(), &[cut]).unwrap();
        let mut text = start.clone();
        change.apply(&mut text).unwrap();
        thread.follow(&AnchorUpdate::new(&change, &text, None, &[]));
        prop_assert_eq!(thread.status(), ThreadStatus::Orphaned);
        let inverse = change.invert(&start).unwrap();
        inverse.apply(&mut text).unwrap();
        thread.follow(&AnchorUpdate::new(&inverse, &text, None, &[]));
        prop_assert_eq!(thread.status(), ThreadStatus::Open);
        let anchor = thread.anchor.unwrap();
        prop_assert_eq!((anchor.from, anchor.to), (from, from + utf16_len(&quote)));
    }
}
