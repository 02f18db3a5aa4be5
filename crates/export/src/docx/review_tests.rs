//! Pending changes and threads, exported as a Word document and imported again: the same review.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, ArrivedHunks, DraftPart, HunkDraft};
use copydesk_comments::{
    CommentAnchor, CommentInput, CommentThread, CommentedChange, PartOfAi, ThreadPlace,
};
use copydesk_convert::{Converted, from_word};
use copydesk_ids::Version;
use copydesk_ids::permissions::{Principal, Role};

use super::super::tests::{manuscript, request};
use super::super::{ExportFormat, ExportInput};
use super::tests::part as part_of;

const TEXT: &str = "# The lamp\n\nThe old lamp burned all night. Nobody came to see it. It was 😀 lit at six.\n\n\
                    - oil\n- wicks\n\nThe end is near[^1].\n\n[^1]: Not yet.";

fn at(words: &str) -> (usize, usize) {
    let from = TEXT[..TEXT.find(words).unwrap()].encode_utf16().count();
    (from, from + words.encode_utf16().count())
}

fn part(words: &str, insert: &str) -> DraftPart {
    let (from, to) = at(words);
    DraftPart { from, to, base: words.to_owned(), insert: insert.to_owned() }
}

/// Returns an insertion behind words.
fn behind(words: &str, insert: &str) -> DraftPart {
    let (_, to) = at(words);
    DraftPart { from: to, to, base: String::new(), insert: insert.to_owned() }
}

fn insertion_before(words: &str, insert: &str) -> DraftPart {
    let (from, _) = at(words);
    DraftPart { from, to: from, base: String::new(), insert: insert.to_owned() }
}

/// Returns a request with these hunks, each a list of parts and its explanation.
fn asked(number: u32, who: &str, hunks: Vec<(Vec<DraftPart>, Option<&str>)>) -> ApprovalRequest {
    let mut request = request(number, who, TEXT, TEXT);
    request.proposal.action.explanation.clear();
    let draft = |(parts, said): (Vec<DraftPart>, Option<&str>)| HunkDraft {
        parts,
        explanation: said.map(str::to_owned),
        kind: None,
        group: None,
    };
    let text = copydesk_document::Text::new(TEXT);
    let hunks = hunks.into_iter().map(draft).collect();
    request.hunks = ArrivedHunks::map(request.id(), hunks, &text, []).unwrap().hunks;
    request
}

fn person(name: &str) -> Principal {
    Principal::new(name.to_lowercase(), name, Role::Editor)
}

fn input(text: &str) -> CommentInput {
    CommentInput { text: text.to_owned(), ..CommentInput::default() }
}

/// Returns a thread that Ana begins and Bo answers.
fn thread(place: ThreadPlace) -> CommentThread {
    let mut thread =
        CommentThread::begin(place, input("Is this so?\n\nI doubt it."), &person("Ana"), 61_000);
    thread.as_mut().unwrap().reply(input("It is."), &person("Bo"), 62_000).unwrap();
    thread.unwrap()
}

fn on(words: &str) -> CommentThread {
    let (from, to) = at(words);
    thread(ThreadPlace { anchor: Some(CommentAnchor::new(from, to)), ..ThreadPlace::default() })
}

fn about(request: &ApprovalRequest, hunk: usize) -> CommentThread {
    let hunk = &request.hunks[hunk];
    thread(ThreadPlace {
        anchor: Some(CommentAnchor::new(hunk.range().start, hunk.range().end)),
        about: Some(CommentedChange {
            request: request.id().clone(),
            hunk: Some(hunk.id.clone()),
            run: None,
        }),
        ..ThreadPlace::default()
    })
}

fn deleted(words: &str, place: usize) -> CommentThread {
    let anchor = CommentAnchor { is_orphaned: true, ..CommentAnchor::new(place, place) };
    thread(ThreadPlace { anchor: Some(anchor), quote: words.to_owned(), ..ThreadPlace::default() })
}

fn review(requests: Vec<ApprovalRequest>, mut threads: Vec<CommentThread>) -> ExportInput {
    for thread in &mut threads {
        thread.version = Version(7);
    }
    ExportInput { threads, ..manuscript(TEXT, requests) }
}

type Parts = Vec<(usize, usize, String)>;
type Changes = Vec<(String, Parts, Option<String>)>;

/// Returns each change with its author and explanation, in order of the text.
fn changes_before(review: &ExportInput) -> Changes {
    let of = |request: &Arc<ApprovalRequest>| {
        let author = format!("AI for {}", request.proposal.requester.name);
        let hunks = request.hunks.clone().into_iter();
        hunks
            .map(|hunk| {
                let parts = hunk.parts.iter().map(|it| (it.from, it.to, it.insert.clone()));
                (author.clone(), parts.collect(), hunk.explanation.clone())
            })
            .collect::<Vec<_>>()
    };
    let mut changes: Changes = review.requests.iter().flat_map(of).collect();
    changes.sort_by_key(|it| it.1.clone());
    changes
}

fn changes_after(read: &Converted) -> Changes {
    let mut changes = Vec::new();
    for suggestion in &read.suggestions {
        for change in &suggestion.changes {
            let parts = change.parts.iter().map(|it| (it.from, it.to, it.insert.clone()));
            changes.push((suggestion.author.clone(), parts.collect(), change.explanation.clone()));
        }
    }
    changes.sort_by_key(|it: &(String, Parts, Option<String>)| it.1.clone());
    changes
}

/// Place of a thread: its passage, the first part of its change, or the words that were deleted.
type Place = (Option<(usize, usize)>, Option<(usize, usize, String)>, Option<String>);
/// Place of a thread, its comments, and whether it is resolved.
type Discussion = (Place, Vec<(String, String)>, bool);

fn threads_before(review: &ExportInput) -> Vec<Discussion> {
    let of = |thread: &CommentThread| {
        let content = &thread.content;
        let said = content.comments.iter().map(|it| (it.author.name.clone(), it.text.clone()));
        let hunk = content.about.as_ref().map(|about| {
            let mut hunks = review.requests.iter().flat_map(|it| &it.hunks);
            let hunk = hunks.find(|it| Some(&it.id) == about.hunk.as_ref()).unwrap();
            (hunk.parts[0].from, hunk.parts[0].to, hunk.parts[0].insert.clone())
        });
        let anchor = thread.anchor.as_ref().filter(|_| hunk.is_none());
        let is_deleted = anchor.is_some_and(|it| it.is_orphaned);
        let words = is_deleted.then(|| content.quote.clone());
        let place = (anchor.map(|it| (it.from, it.to)), hunk, words);
        (place, said.collect(), content.resolved.is_some())
    };
    review.threads.iter().map(of).collect()
}

fn threads_after(read: &Converted) -> Vec<Discussion> {
    let of = |thread: &copydesk_convert::ImportedThread| {
        let said = thread.comments.iter().map(|it| (it.author.clone(), it.text.clone()));
        let hunk = thread.about.map(|(suggestion, change)| {
            let part = &read.suggestions[suggestion].changes[change].parts[0];
            (part.from, part.to, part.insert.clone())
        });
        let range = thread.range.filter(|_| hunk.is_none());
        ((range, hunk, thread.deleted_words.clone()), said.collect(), thread.is_resolved)
    };
    read.threads.iter().map(of).collect()
}

/// Exports a review as a Word document, reads it, and compares.
fn comes_back(review: &ExportInput) -> Converted {
    let file = review.export(ExportFormat::Docx).unwrap();
    let read = from_word(&file).unwrap();
    assert_eq!(read.markdown, review.text.to_string());
    assert_eq!(changes_after(&read), changes_before(review));
    assert_eq!(threads_after(&read), threads_before(review));
    assert!(read.report.is_empty(), "{:?}", read.report);
    read
}

#[test]
fn changes_and_threads_of_several_people_come_back() {
    let ana = asked(
        1,
        "Ana",
        vec![
            (vec![part("old", "new")], Some("The lamp is new.")),
            (vec![behind("all night", ", every night")], None),
            (vec![part("Nobody came to see it. ", "")], Some("Not so.")),
            (vec![part("wicks", "wicks\n- matches")], None),
        ],
    );
    let bo =
        asked(2, "Bo", vec![(vec![part("lit", "dark")], None), (vec![part("end", "sun")], None)]);
    let mut resolved = on("It was 😀");
    resolved.resolve(true, &person("Bo"), 63_000);
    let threads = vec![
        on("burned"),
        on("The old lamp burned"),
        on("came"),
        on("lamp burned all night. Nobody"),
        on("lit at"),
        on("oil"),
        on("Not"),
        about(&ana, 0),
        about(&ana, 1),
        about(&ana, 2),
        about(&bo, 0),
        resolved,
        deleted("gone\nand over", at("near").0),
        thread(ThreadPlace::default()),
    ];
    let read = comes_back(&review(vec![ana, bo], threads));
    assert_eq!(read.threads[0].comments[0].at.as_deref(), Some("1970-01-01T00:01:01Z"));
}

#[test]
fn changes_side_by_side_stay_apart_and_parts_stay_together() {
    let gone = part(" Nobody came to see it.", "");
    let moved = behind("at six.", " Nobody came to see it.");
    let ana = asked(
        1,
        "Ana",
        vec![
            (vec![part("old ", "")], None),
            (vec![part("lamp burned", "lantern")], None),
            (vec![gone, moved], None),
            (vec![part("oil", "salt")], None),
        ],
    );
    let bo = asked(2, "Bo", vec![(vec![behind("oil", " and peat")], None)]);
    let threads = vec![about(&ana, 1), about(&ana, 2), about(&ana, 3), about(&bo, 0)];
    comes_back(&review(vec![ana, bo], threads));
}

#[test]
fn a_thread_is_on_the_words_that_stand_there_now() {
    let ana = asked(1, "Ana", vec![(vec![part("old", "new")], None)]);
    let review = review(vec![ana.clone()], vec![on("old")]);
    comes_back(&review);
    // On all that is deleted it cannot be told from one about the change.
    let ana = asked(1, "Ana", vec![(vec![part("old ", "")], None)]);
    let file = ExportInput { threads: vec![on("old ")], ..manuscript(TEXT, vec![ana]) };
    let read = from_word(&file.export(ExportFormat::Docx).unwrap()).unwrap();
    assert_eq!(read.threads[0].about, Some((0, 0)));
}

#[test]
fn a_comment_of_the_ai_names_who_asked() {
    let mut thread = on("old");
    let part_of_ai = PartOfAi::Wrote("run_1".into(), "req_1".into());
    thread.reply(CommentInput { part_of_ai, ..input("It is.") }, &person("Cem"), 62_000).unwrap();
    let file = review(Vec::new(), vec![thread.clone()]);
    let text = String::from_utf8(file.export(ExportFormat::CriticMarkup).unwrap()).unwrap();
    assert!(text.contains("{>>AI for Cem: It is.<<}"), "{text}");
    let json = String::from_utf8(file.export(ExportFormat::Json).unwrap()).unwrap();
    assert!(json.contains("askedBy"), "{json}");
}

#[test]
fn criticmarkup_marks_passages_and_says_who_said_what() {
    let ana = asked(1, "Ana", vec![(vec![part("old", "new")], None)]);
    let mut resolved = on("oil\n- wicks");
    resolved.resolve(true, &person("Bo"), 63_000);
    let threads = vec![on("The old lamp"), resolved, about(&ana, 0), deleted("gone", 0)];
    let file = review(vec![ana], threads).export(ExportFormat::CriticMarkup).unwrap();
    let text = String::from_utf8(file).unwrap();
    for part in [
        "{==The ==}{~~old~>new~~}{>>AI for Ana<<}{>>Ana: Is this so? I doubt it.<<}{>>Bo: It is.<<}{== lamp==}{>>Ana: ",
        "- {==oil==}\n- {==wicks==}{>>Ana (resolved): Is this so?",
        "{>>Ana on deleted words “gone”: Is this so?",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn threads_are_in_json_with_their_places() {
    let mut one = on("old lamp");
    one.resolve(true, &person("Bo"), 63_000);
    let file = review(Vec::new(), vec![one]).export(ExportFormat::Json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let thread = &json["threads"][0];
    assert_eq!(thread["anchor"], serde_json::json!({"from": 16, "to": 24}));
    assert_eq!(
        (&thread["status"], &thread["resolved"]["by"]["name"]),
        (&"resolved".into(), &"Bo".into())
    );
    assert_eq!(thread["comments"][1]["text"], "It is.");
    assert_eq!(thread["comments"][1]["author"]["id"], "bo");
}

#[test]
fn changes_of_the_kind_of_a_paragraph_come_back() {
    let ana = asked(
        1,
        "Ana",
        vec![
            (vec![behind("#", "#")], None),
            (vec![part("burned", "glowed")], None),
            (vec![insertion_before("The end", "## ")], Some("A title.")),
        ],
    );
    let threads = vec![about(&ana, 1), on("lamp"), on("end")];
    comes_back(&review(vec![ana], threads));
}

#[test]
fn what_would_be_inserted_at_the_edges_of_a_passage_is_not_in_it() {
    let hunks = [insertion_before("all", "almost "), behind("all night", " long")];
    let ana = asked(1, "Ana", hunks.into_iter().map(|it| (vec![it], None)).collect());
    let review = review(vec![ana], vec![on("all night")]);
    let document = part_of(&review.export(ExportFormat::Docx).unwrap(), "word/document.xml");
    let at = |words: &str| document.find(words).unwrap();
    assert!(
        at("almost ") < at("<w:commentRangeStart") && at("commentRangeStart") < at("all night")
    );
    assert!(at("all night") < at("<w:commentRangeEnd") && at("commentRangeEnd") < at(" long"));
    comes_back(&review);
}
