//! Tracked changes: all together make the accepted document, none of them the rejected one.

use proptest::prelude::*;

use super::super::document::WordDocument;
use super::super::package::Package;
use super::super::{Compared, compare};
use super::{Docx, left_out, p, para, r};

/// Returns words inside of an element such as `w:ins`.
fn by(element: &str, author: &str, content: &str) -> String {
    let attributes = format!("w:id=\"1\" w:author=\"{author}\" w:date=\"2026-01-02T03:04:00Z\"");
    format!("<w:{element} {attributes}>{content}</w:{element}>")
}

fn ins(author: &str, words: &str) -> String {
    by("ins", author, &r(words))
}

fn del(author: &str, words: &str) -> String {
    by("del", author, &r(words).replace("w:t", "w:delText"))
}

/// Returns properties of a paragraph whose end is tracked.
fn mark(element: &str, author: &str) -> String {
    format!("<w:rPr>{}</w:rPr>", by(element, author, ""))
}

fn compared(docx: &Docx) -> Compared {
    compare(WordDocument::read(&mut Package::open(&docx.bytes()).unwrap()).unwrap())
}

/// Returns the Markdown with all changes applied.
fn applied(compared: &Compared) -> String {
    let mut out = compared.rejected.markdown.clone();
    for replacement in compared.replacements.iter().rev() {
        out.replace_range(replacement.range.clone(), &replacement.insert);
    }
    out
}

/// Returns each change as its author, the words that it replaces and those it puts there.
fn changes(docx: &Docx) -> Vec<(String, Vec<(String, String)>)> {
    let read = docx.read();
    let units: Vec<u16> = read.markdown.encode_utf16().collect();
    let mut out = Vec::new();
    for suggestion in &read.suggestions {
        for change in &suggestion.changes {
            let parts = change.parts.iter().map(|part| {
                (String::from_utf16(&units[part.from..part.to]).unwrap(), part.insert.clone())
            });
            out.push((suggestion.author.clone(), parts.collect()));
        }
    }
    out
}

fn one(author: &str, old: &str, new: &str) -> (String, Vec<(String, String)>) {
    (author.to_owned(), vec![(old.to_owned(), new.to_owned())])
}

#[test]
fn each_change_is_one_of_its_author() {
    let docx = Docx::new(p(r("𝒳 The ")
        + &del("Bo", "old")
        + &ins("Bo", "new")
        + &r(" lamp")
        + &ins("Ana", " burns")
        + &r(".")));
    let read = docx.read();
    assert_eq!(read.markdown, "𝒳 The old lamp.");
    assert_eq!(changes(&docx), [one("Bo", "old", "new"), one("Ana", "", " burns")]);
    assert_eq!(read.suggestions[0].at.as_deref(), Some("2026-01-02T03:04:00Z"));
    assert_eq!(
        (read.suggestions[0].changes[0].parts[0].from, read.suggestions[0].changes[0].parts[0].to),
        (7, 10)
    );
    assert!(read.report.is_empty());
}

#[test]
fn paragraphs_that_come_and_go_take_their_ends_along() {
    let splitting = Docx::new(para(&mark("ins", "Ana"), r("one")) + &p(r("two")));
    assert_eq!(changes(&splitting), [one("Ana", "", "\n\n")]);
    let joining = Docx::new(para(&mark("del", "Ana"), r("one ")) + &p(r("two")));
    assert_eq!(joining.markdown(), "one\n\ntwo");
    assert_eq!(applied(&compared(&joining)), "one two");
    let inserted =
        Docx::new(p(r("a")) + &para(&mark("ins", "Ana"), ins("Ana", "new")) + &p(r("b")));
    assert_eq!(inserted.markdown(), "a\n\nb");
    assert_eq!(changes(&inserted), [one("Ana", "", "new\n\n")]);
    let deleted = Docx::new(p(r("a")) + &para(&mark("del", "Ana"), del("Ana", "old")) + &p(r("b")));
    assert_eq!(deleted.markdown(), "a\n\nold\n\nb");
    assert_eq!(changes(&deleted), [one("Ana", "old\n\n", "")]);
    // Word marks the end before when a person writes on after it.
    let styles =
        "<w:style w:type=\"paragraph\" w:styleId=\"H\"><w:name w:val=\"heading 1\"/></w:style>";
    let after = para(&format!("<w:pStyle w:val=\"H\"/>{}", mark("ins", "Ana")), r("Title"))
        + &p(ins("Ana", "body"));
    let after = Docx::new(after).part("styles", styles);
    assert_eq!(
        (after.markdown(), applied(&compared(&after))),
        ("# Title".to_owned(), "# Title\n\nbody".to_owned())
    );
}

#[test]
fn rows_come_and_go() {
    let row = |tracked: &str, words: &str| {
        format!(
            "<w:tr><w:trPr>{tracked}</w:trPr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>",
            p(r(words)),
            p(r("x"))
        )
    };
    let docx = Docx::new(
        format!(
            "<w:tbl>{}{}{}{}</w:tbl>",
            row("", "A"),
            row(&by("ins", "Ana", ""), "new"),
            row(&by("del", "Bo", ""), "old"),
            row("", "z")
        ) + &p(r("after")),
    );
    let head = "| A | x |\n| --- | --- |\n";
    let read = compared(&docx);
    assert_eq!(read.rejected.markdown, format!("{head}| old | x |\n| z | x |\n\nafter"));
    assert_eq!(applied(&read), format!("{head}| new | x |\n| z | x |\n\nafter"));
    assert_eq!(docx.read().suggestions.len(), 2);
}

#[test]
fn a_move_is_one_change_of_two_places() {
    let range = |kind: &str, content: &str| {
        format!(
            "<w:move{kind}RangeStart w:id=\"5\" w:name=\"move1\"/>{}<w:move{kind}RangeEnd w:id=\"5\"/>",
            by(&format!("move{kind}"), "Ana", &r(content))
        )
    };
    let docx = Docx::new(p(r("a ")
        + &range("From", "moved ")
        + &r("b ")
        + &ins("Ana", "x ")
        + &r("c ")
        + &range("To", "moved ")
        + &r("d")));
    let parts = |changes: &[(String, Vec<(String, String)>)]| {
        changes.iter().map(|it| it.1.len()).collect::<Vec<_>>()
    };
    assert_eq!(parts(&changes(&docx)), [2, 1]);
    assert_eq!(applied(&compared(&docx)), "a b x c moved d");
}

#[test]
fn what_one_deletes_of_anothers_insertion_is_reported() {
    let nested = by("ins", "Ana", &(r("kept ") + &del("Bo", "gone ") + &r("kept")));
    let docx = Docx::new(p(r("a ") + &nested + &r(" z")));
    assert_eq!(changes(&docx), [one("Ana", "", "kept kept")]);
    let read = docx.read();
    assert_eq!(left_out(&read), [("insertion that was deleted again", 1)]);
    assert_eq!(read.report.left_out[0].example.as_deref(), Some("gone"));
}

#[test]
fn notes_numbers_and_code_follow_their_changes() {
    let note = "<w:footnote w:id=\"2\"><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>";
    let reference = by("ins", "Ana", "<w:r><w:footnoteReference w:id=\"2\"/></w:r>");
    let docx = Docx::new(p(r("a") + &reference + &r(" z"))).part("footnotes", note);
    assert_eq!(docx.markdown(), "a z");
    assert_eq!(changes(&docx).len(), 1);
    assert_eq!(applied(&compared(&docx)), "a[^1] z\n\n[^1]: note");

    let numbering = "<w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl></w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>";
    let item = |tracked: &str, content: String| {
        para(
            &format!("<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>{tracked}"),
            content,
        )
    };
    let list = Docx::new(
        item("", r("a"))
            + &item(&mark("ins", "Ana"), ins("Ana", "b"))
            + &item("", r("c"))
            + &item("", r("d")),
    )
    .part("numbering", numbering);
    assert_eq!(
        (list.markdown(), applied(&compared(&list))),
        ("1. a\n2. c\n3. d".to_owned(), "1. a\n2. b\n3. c\n4. d".to_owned())
    );
    assert_eq!(changes(&list).len(), 1);

    let styles =
        "<w:style w:type=\"paragraph\" w:styleId=\"C\"><w:name w:val=\"Source Code\"/></w:style>";
    let line = |content: String| para("<w:pStyle w:val=\"C\"/>", content);
    let code = Docx::new(line(r("let ") + &del("Bo", "x") + &ins("Bo", "y")) + &line(r("end")))
        .part("styles", styles);
    assert_eq!(changes(&code), [one("Bo", "x", "y")]);
}

#[test]
fn changes_of_formatting_are_decided() {
    let change = "<w:rPrChange w:id=\"1\" w:author=\"Ana\"><w:rPr/></w:rPrChange>";
    let read = Docx::new(p(super::styled(&format!("<w:b/>{change}"), "bold"))).read();
    assert_eq!((read.markdown.as_str(), read.suggestions.len()), ("**bold**", 0));
    assert_eq!(super::decided(&read), [("tracked change of formatting", 1)]);
}

/// State of a piece in generated documents.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Stays,
    Inserted(&'static str),
    Deleted(&'static str),
}

impl State {
    fn is_in(self, is_accepted: bool) -> bool {
        match self {
            Self::Stays => true,
            Self::Inserted(_) => is_accepted,
            Self::Deleted(_) => !is_accepted,
        }
    }
}

#[derive(Clone, Debug)]
struct Piece {
    words: String,
    look: &'static str,
    state: State,
}

/// Paragraph: its pieces, the state of its end, and its properties.
type Generated = (Vec<Piece>, State, &'static str);

fn any_state() -> impl Strategy<Value = State> {
    prop_oneof![
        3 => Just(State::Stays),
        1 => Just(State::Inserted("Ana")),
        1 => Just(State::Inserted("Bo")),
        1 => Just(State::Deleted("Ana")),
        1 => Just(State::Deleted("Bo")),
    ]
}

fn any_piece() -> impl Strategy<Value = Piece> {
    let hard = prop_oneof!["[ab*_#1. |`~\\-]{1,6}", "[a-z]{1,5} ", Just("𝒳é".to_owned())];
    let plain = (hard, Just(""));
    // Bold beside signs cannot always be written, and then depends on where changes begin.
    let looks = prop_oneof![Just("<w:b/>"), Just("<w:i/>"), Just("<w:rStyle w:val=\"V\"/>")];
    let marked = (" [a-z]{1,5} ", looks);
    (prop_oneof![plain, marked], any_state()).prop_map(|((words, look), state)| Piece {
        words,
        look,
        state,
    })
}

const ENTRY: &str = "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>";

fn any_document() -> impl Strategy<Value = (Vec<Generated>, &'static str)> {
    let paragraph = (prop::collection::vec(any_piece(), 0..5), any_state());
    let kind = prop_oneof![
        Just(""),
        Just(ENTRY),
        Just("<w:pStyle w:val=\"C\"/>"),
        Just("<w:pStyle w:val=\"Q\"/>"),
        Just("<w:pStyle w:val=\"H\"/>")
    ];
    (prop::collection::vec(paragraph, 1..6), kind).prop_map(|(paragraphs, kind)| {
        (paragraphs.into_iter().map(|(pieces, state)| (pieces, state, kind)).collect(), kind)
    })
}

/// Returns the document with its changes, or one in which they are decided.
fn generated(paragraphs: &[Generated], decided: Option<bool>) -> Docx {
    let mut body = String::new();
    let mut content = String::new();
    let last = paragraphs.len() - 1;
    for (number, (pieces, end, kind)) in paragraphs.iter().enumerate() {
        let end = if number == last { State::Stays } else { *end };
        for piece in pieces {
            let run = super::styled(piece.look, &piece.words);
            match (decided, piece.state) {
                (Some(is_accepted), state) if !state.is_in(is_accepted) => {}
                (Some(_), _) | (None, State::Stays) => content += &run,
                (None, State::Inserted(author)) => content += &by("ins", author, &run),
                (None, State::Deleted(author)) => content += &by("del", author, &run),
            }
        }
        let tracked = match (decided, end) {
            (Some(is_accepted), end) if !end.is_in(is_accepted) => continue,
            (Some(_), _) | (None, State::Stays) => String::new(),
            (None, State::Inserted(author)) => mark("ins", author),
            (None, State::Deleted(author)) => mark("del", author),
        };
        body += &para(&format!("{kind}{tracked}"), std::mem::take(&mut content));
    }
    let styles = [("C", "Source Code"), ("Q", "Quote"), ("H", "heading 2"), ("V", "Verbatim Char")]
        .map(|(id, name)| {
            format!("<w:style w:styleId=\"{id}\"><w:name w:val=\"{name}\"/></w:style>")
        })
        .concat();
    let numbering = "<w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl></w:abstractNum><w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>";
    Docx::new(body).part("styles", styles).part("numbering", numbering)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn all_changes_make_the_accepted_document_and_none_the_rejected_one((paragraphs, _) in any_document()) {
        let read = compared(&generated(&paragraphs, None));
        let plain = generated(&paragraphs, Some(false)).markdown();
        prop_assert_eq!(&read.rejected.markdown, &plain);
        prop_assert_eq!(applied(&read), generated(&paragraphs, Some(true)).markdown());
        let places: Vec<_> = read.replacements.iter().flat_map(|it| [it.range.start, it.range.end]).collect();
        prop_assert!(places.is_sorted(), "{:?}", read.replacements);
    }
}

#[test]
fn another_kind_of_paragraph_is_a_change_of_its_author() {
    let restyled = |author: &str, before: &str, now: &str, content: &str| {
        let before = by("pPrChange", author, &format!("<w:pPr>{before}</w:pPr>"));
        para(&format!("{now}{before}"), content)
    };
    let heading = |level: u8| format!("<w:pStyle w:val=\"Heading{level}\"/>");
    let style = |level: u8| {
        let (id, name) = (format!("Heading{level}"), format!("heading {level}"));
        format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:name w:val=\"{name}\"/></w:style>"
        )
    };
    let styles = style(1) + &style(2);
    let body = p(r("One") + &ins("Ana", " two"))
        + &restyled("Bo", &heading(1), &heading(2), &r("Title"))
        + &p(r("Words") + &del("Ana", " here"))
        + &restyled("Bo", "", &heading(1), &r("Plain"))
        + &restyled("Bo", &heading(1), &heading(1), &r("Same"));
    let docx = Docx::new(body).part("styles", styles);
    let read = docx.read();
    assert_eq!(read.markdown, "One\n\n# Title\n\nWords here\n\nPlain\n\n# Same");
    assert_eq!(
        changes(&docx),
        [one("Ana", "", " two"), one("Ana", " here", ""), one("Bo", "", "#"), one("Bo", "", "# "),]
    );
    assert_eq!(super::decided(&read), [("tracked change of formatting", 1)]);
    let all = applied(&compared(&docx));
    assert_eq!(all, "One two\n\n## Title\n\nWords\n\n# Plain\n\n# Same");
}
