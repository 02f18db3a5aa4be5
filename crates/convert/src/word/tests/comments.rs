//! Comments: threads on their passages and changes, with answers and authors.

use super::{Docx, left_out, p, r};
use crate::{Converted, ImportedThread};

fn start(id: u8) -> String {
    format!("<w:commentRangeStart w:id=\"{id}\"/>")
}

fn end(id: u8) -> String {
    format!("<w:commentRangeEnd w:id=\"{id}\"/><w:r><w:commentReference w:id=\"{id}\"/></w:r>")
}

/// Returns words with the range of a comment around them.
fn on(id: u8, content: &str) -> String {
    start(id) + content + &end(id)
}

fn comment(id: u8, author: &str, words: &str) -> String {
    remark(id, author, "B", words)
}

fn remark(id: u8, author: &str, initials: &str, words: &str) -> String {
    let date = "2026-01-02T03:04:00Z";
    format!(
        "<w:comment w:id=\"{id}\" w:author=\"{author}\" w:date=\"{date}\" w:initials=\"{initials}\">\
         <w:p w14:paraId=\"0000000{id}\">{}</w:p></w:comment>",
        r(words)
    )
}

fn changed(element: &str, author: &str, content: &str) -> String {
    format!("<w:{element} w:id=\"9\" w:author=\"{author}\">{content}</w:{element}>")
}

fn ins(words: &str) -> String {
    changed("ins", "Bo", &r(words))
}

fn del(words: &str) -> String {
    changed("del", "Bo", &r(words).replace("w:t", "w:delText"))
}

fn words<'a>(read: &'a Converted, thread: &ImportedThread) -> Option<&'a str> {
    thread.range.map(|(from, to)| &read.markdown[from..to])
}

/// Words that a thread is on, and what it is about.
type Place<'a> = (Option<&'a str>, Option<(usize, usize)>);

fn places(read: &Converted) -> Vec<Place<'_>> {
    read.threads.iter().map(|it| (words(read, it), it.about)).collect()
}

#[test]
fn a_comment_is_a_thread_on_its_words_and_answers_follow() {
    let body = p(r("The ") + &on(0, &(r("old ") + &r("lamp"))) + &on(1, &r(" burns"))) + &p(r("."));
    let extended = "<w15:commentEx w15:paraId=\"00000000\" w15:done=\"0\"/>\
                    <w15:commentEx w15:paraId=\"00000001\" w15:done=\"1\"/>\
                    <w15:commentEx w15:paraId=\"00000002\" w15:paraIdParent=\"00000000\" w15:done=\"0\"/>\
                    <w15:commentEx w15:paraId=\"00000003\" w15:paraIdParent=\"00000002\" w15:done=\"0\"/>";
    let comments = comment(0, "Bo", "Which?")
        + &comment(1, "Ana", "Good.")
        + &comment(2, "Ana", "The left one.")
        + &comment(3, "Bo", "I see.");
    let read = Docx::new(body).part("comments", comments).part("commentsExtended", extended).read();
    assert_eq!(read.markdown, "The old lamp burns\n\n.");
    assert_eq!(places(&read), [(Some("old lamp"), None), (Some(" burns"), None)]);
    assert!(left_out(&read).is_empty());
    let said: Vec<_> = read.threads[0].comments.iter().map(|it| (&*it.author, &*it.text)).collect();
    assert_eq!(said, [("Bo", "Which?"), ("Ana", "The left one."), ("Bo", "I see.")]);
    assert_eq!(read.threads[0].comments[0].at.as_deref(), Some("2026-01-02T03:04:00Z"));
    assert_eq!(read.threads.iter().map(|it| it.is_resolved).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_comment_over_paragraphs_lists_and_cells_ends_where_its_words_end() {
    let cell = |content: &str| format!("<w:tc>{}</w:tc>", p(content));
    let body = start(0)
        + &p(r("one"))
        + &p(r("two"))
        + &end(0)
        + &format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell(&on(1, &r("a"))), cell(&r("b")))
        + &p(r("last"));
    let read = Docx::new(body)
        .part("comments", comment(0, "Bo", "Both.") + &comment(1, "Bo", "Cell."))
        .read();
    assert_eq!(places(&read), [(Some("one\n\ntwo"), None), (Some("a"), None)]);
}

#[test]
fn a_comment_without_a_range_is_on_the_whole_document() {
    let body = p(r("one") + "<w:r><w:commentReference w:id=\"0\"/></w:r>" + &on(1, "") + &start(2));
    let comments = comment(0, "Bo", "All.") + &comment(1, "Bo", "Here.") + &comment(2, "", "Half.");
    let read = Docx::new(body).part("comments", comments + &comment(7, "Bo", " ")).read();
    assert_eq!(places(&read), [(None, None); 3]);
    assert_eq!(left_out(&read), [("comment without words", 1)]);
}

#[test]
fn comments_on_changes_are_about_them() {
    let body = p(r("The ")
        + &on(0, &(del("old") + &ins("new")))
        + &r(" lamp ")
        + &on(1, &ins("slowly "))
        + &on(2, &(ins("burns") + &r(" out")))
        + &on(3, &del("."))
        + &r(" At ")
        + &on(4, &del("six"))
        + &ins("seven"));
    let comments: String = (0..5).map(|id| comment(id, "Ana", "Why?")).collect();
    let read = Docx::new(body).part("comments", comments).read();
    assert_eq!(read.markdown, "The old lamp  out. At six");
    let places = places(&read);
    assert_eq!(places[0], (Some("old"), Some((0, 0))));
    assert_eq!(places[1], (None, Some((0, 1))), "on words that are not there yet");
    assert_eq!(places[2], (Some(" out"), None), "on the words that stay");
    assert_eq!(places[3], (Some("."), Some((0, 2))));
    assert_eq!(places[4], (Some("six"), None), "on the present words only");
}

#[test]
fn edges_of_comments_do_not_divide_changes() {
    let changes = |body: String| {
        let read = Docx::new(p(body)).part("comments", comment(0, "Bo", "Why?")).read();
        (read.markdown, read.suggestions)
    };
    let bold = |words: &str| super::styled("<w:b/>", words);
    let plain = r("a ") + &changed("ins", "Bo", &(bold("new") + &bold(" words"))) + &r(" b");
    let with = r("a ")
        + &changed("ins", "Bo", &(start(0) + &bold("new") + &end(0) + &bold(" words")))
        + &r(" b");
    assert_eq!(changes(with), changes(plain.clone()));
    let around = r("a ")
        + &start(0)
        + &changed("ins", "Bo", &(bold("new") + &bold(" words")))
        + &end(0)
        + &r(" b");
    assert_eq!(changes(around), changes(plain));
}

#[test]
fn remarks_of_an_export_explain_their_changes() {
    let body = p(r("The ") + &ins("new ") + &on(0, "") + &r("lamp") + &ins(".") + &on(1, ""));
    let comments =
        remark(0, "Bo", "AI", "Clearer.") + &remark(1, "Bo", "AI", "Changes the meaning: number.");
    let read = Docx::new(body.clone()).part("comments", comments.clone()).read();
    let changes = &read.suggestions[0].changes;
    let said: Vec<_> = changes.iter().map(|it| it.explanation.as_deref()).collect();
    assert_eq!((said, read.threads.len()), (vec![Some("Clearer."), None], 0));
    let of_others = comments.replace("w:author=\"Bo\"", "w:author=\"Ana\"");
    let read = Docx::new(body).part("comments", of_others).read();
    assert_eq!(places(&read), [(None, None); 2], "others' words are comments");
}

#[test]
fn a_thread_whose_words_were_deleted_keeps_them() {
    let said = "<w:comment w:id=\"0\" w:author=\"Bo\"><w:p><w:pPr><w:pStyle w:val=\"DeletedWords\"/></w:pPr>";
    let said = format!("{said}{}</w:p>{}</w:comment>", r("gone"), p(r("Why?")));
    let read = Docx::new(p(r("a ") + &on(0, "") + &r("b"))).part("comments", said).read();
    let thread = &read.threads[0];
    assert_eq!((thread.range, thread.deleted_words.as_deref()), (Some((2, 2)), Some("gone")));
    assert_eq!(thread.comments[0].text, "Why?");
}

#[test]
fn bookmarks_of_an_export_tell_changes_apart_and_join_their_parts() {
    let change = |part: u8, content: &str| {
        format!(
            "<w:bookmarkStart w:id=\"7{part}\" w:name=\"_Change1_{part}\"/>{content}\
             <w:bookmarkEnd w:id=\"7{part}\"/>"
        )
    };
    let parts = |body: String| -> Vec<Vec<String>> {
        let read = Docx::new(p(body)).read();
        let changes = read.suggestions[0].changes.iter();
        changes.map(|it| it.parts.iter().map(|part| part.insert.clone()).collect()).collect()
    };
    let body = r("a") + &ins("b") + &change(0, &ins("c")) + &r("d") + &change(1, &ins("e"));
    assert_eq!(parts(body), [vec!["b"], vec!["c", "e"]]);
    // As LibreOffice writes them.
    let begin = "<w:bookmarkStart w:id=\"5\" w:name=\"_Change1_0\"/>";
    let inside = changed("ins", "Bo", &(begin.to_owned() + &r("c")))
        + &changed("ins", "Bo", &("<w:bookmarkEnd w:id=\"5\"/>".to_owned() + &r("d")));
    assert_eq!(parts(r("a") + &ins("b") + &inside + &ins("e")), [["b"], ["cd"], ["e"]]);
}

#[test]
fn a_comment_in_code_is_on_its_words() {
    let code = |content: &str| super::para("<w:pStyle w:val=\"SourceCode\"/>", content);
    let styles = "<w:style w:type=\"paragraph\" w:styleId=\"SourceCode\"><w:name w:val=\"Source Code\"/></w:style>\
                  <w:style w:type=\"character\" w:styleId=\"VerbatimChar\"><w:name w:val=\"Verbatim Char\"/></w:style>";
    let verbatim = |words: &str| super::styled("<w:rStyle w:val=\"VerbatimChar\"/>", words);
    let body = code(&(r("let x = ") + &on(0, &r("oil"))))
        + &code(&(start(1) + &r("lamp()")))
        + &code(&(r("end") + &end(1)))
        + &p(r("See ") + &verbatim("let ") + &on(2, &verbatim("y")) + &verbatim(" = 2") + &r("."));
    let comments: String = (0..3).map(|id| comment(id, "Ana", "Why?")).collect();
    let read = Docx::new(body).part("styles", styles).part("comments", comments).read();
    assert_eq!(read.markdown, "```\nlet x = oil\nlamp()\nend\n```\n\nSee `let y = 2`.");
    let places: Vec<_> = places(&read).into_iter().map(|(words, _)| words.unwrap()).collect();
    assert_eq!(places, ["oil", "lamp()\nend", "y"]);
}
