//! Exports: every format on one manuscript, and what must hold for any.

use proptest::collection::vec;
use proptest::prelude::*;
use regex::{Captures, Regex};
use serde_json::json;

use super::*;
use copydesk_approvals::{
    ApprovalRequirement, ApprovalRule, ArrivedHunks, CallOrigin, HunkStatus, Person, Preview,
    ProposedAction, ProposedCall, RememberWish, RequestCredit, RequestSource, RequestStatus,
    RequestTimes, RuleEffect, RuleScope, SpanAuthor,
};
use copydesk_comments::{CommentAnchor, CommentInput, CommentThread, CommentedChange, ThreadPlace};
use copydesk_document::diff::{DiffLimits, diff};
use copydesk_document::utf16_len;
use copydesk_ids::UserId;
use copydesk_ids::permissions::{Principal, Role};

/// 20 November 2026, 10:15:30.
const ASKED_MS: u64 = 1_795_169_730_000;

/// Request of a person for whom the model would write `new`.
pub(super) fn request(number: u32, who: &str, old: &str, new: &str) -> ApprovalRequest {
    let id = format!("req_{number}").into();
    let text = Text::new(old);
    let arrival =
        ArrivedHunks::map(&id, diff(old, new, &DiffLimits::default()), &text, []).unwrap();
    let proposal = ProposedCall {
        origin: CallOrigin {
            id,
            tool: "update_full_document".to_owned(),
            input: json!({ "new_content": new }),
            tool_use: "toolu_1".into(),
            session: "ses_1".into(),
            run: "run_1".into(),
        },
        action: ProposedAction {
            prompt: "Fix it".to_owned(),
            base_version: Version(7),
            scope: None,
            explanation: format!("{who} asked."),
            preview: Preview::generic(),
            touched: None,
            source: RequestSource::Ask,
        },
        document: Some("doc_lamp".into()),
        requester: Person { user: UserId::from(who.to_lowercase()), name: who.to_owned() },
        requester_former: Vec::new(),
        policy: ApprovalRequirement::default(),
        claimed_author: None,
        again_of: None,
    };
    let clock = RequestTimes::start(ASKED_MS + u64::from(number) * 1_000, 300_000);
    ApprovalRequest::open(proposal, arrival, Version(7), clock)
}

/// Returns a document with threads on passages, on changes, on deleted words and on all of it, at
/// places that two numbers choose.
pub(super) fn discussed(manuscript: ExportInput, places: &[(usize, usize)]) -> ExportInput {
    let text = &manuscript.text;
    let boundary = |at: usize| {
        let at = at % (text.len() + 1);
        if text.is_boundary(at) { at } else { at - 1 }
    };
    let hunks: Vec<_> = manuscript
        .requests
        .iter()
        .flat_map(|request| request.hunks.iter().map(move |hunk| (request, hunk)))
        .collect();
    let thread = |(number, &(one, other)): (usize, &(usize, usize))| {
        let (from, to) = (boundary(one).min(boundary(other)), boundary(one).max(boundary(other)));
        let mut place = ThreadPlace { quote: "gone\nwords".to_owned(), ..ThreadPlace::default() };
        match number % 4 {
            0 => place.anchor = Some(CommentAnchor::new(from, to)),
            1 if !hunks.is_empty() => {
                let (request, hunk) = hunks[one % hunks.len()];
                let (request, hunk) = (request.id().clone(), Some(hunk.id.clone()));
                place.about = Some(CommentedChange { request, hunk, run: None });
                place.anchor = Some(CommentAnchor::new(from, from));
            }
            2 => {
                let orphaned = CommentAnchor::new(from, from);
                place.anchor = Some(CommentAnchor { is_orphaned: true, ..orphaned });
            }
            _ => {}
        }
        let input = |text: &str| CommentInput { text: text.to_owned(), ..CommentInput::default() };
        let ana = Principal::new("ana", "Ana {++", Role::Editor);
        let mut thread = CommentThread::begin(place, input("Why? ==}"), &ana, 1).unwrap();
        thread.reply(input("So.\n\n<<} <w:t>"), &ana, 2).unwrap();
        thread
    };
    let threads = places.iter().enumerate().map(thread).collect();
    ExportInput { threads, ..manuscript }
}

/// Places of threads.
pub(super) fn any_places() -> impl Strategy<Value = Vec<(usize, usize)>> {
    vec((0..400_usize, 0..400_usize), 0..12)
}

/// A document with what some people asked for.
pub(super) fn manuscript(text: &str, requests: Vec<ApprovalRequest>) -> ExportInput {
    ExportInput {
        id: "doc_lamp".into(),
        title: "The <lamp>".to_owned(),
        version: Version(7),
        text: Text::new(text),
        requests: requests.into_iter().map(Arc::new).collect(),
        threads: Vec::new(),
        author_spans: Vec::new(),
    }
}

/// The manuscript of the golden files: a grammar fix, and a rewrite that partly overlaps it.
pub(super) fn lamp() -> ExportInput {
    let text = include_str!("../../../fixtures/exports/lamp.md");
    let fixed = text
        .replace("sleeped", "slept")
        .replace("has wrote", "wrote")
        .replace("## What", "# What")
        .replace("- wicks\n", "- wicks\n- matches\n")
        .replace("8. Wind the clock.\n", "");
    let expected =
        text.replace("sleeped before", "went to bed before").replace("none.", "none at all.");
    assert!(fixed != text && expected != text);
    let requests = vec![request(1, "Ana", text, &fixed), request(2, "Ben", text, &expected)];
    ExportInput { author_spans: author_spans(utf16_len(text)), ..manuscript(text, requests) }
}

/// Some words that Ana typed, some that an AI wrote for her, in a text of `len` units that Ben
/// began.
fn author_spans(len: usize) -> Vec<AuthorSpan> {
    let person = |name: &str| Person { user: format!("usr_{name}").into(), name: name.to_owned() };
    let ai = RequestCredit {
        requester: person("Ana"),
        request: "req_0".into(),
        hunk: Some("req_0.1".into()),
        approver: Some(person("Ben")),
        rule: Some(Arc::new(rule(person("Ben")))),
        edited: true,
    };
    let credit = |from, to, author, at_ms| AuthorSpan { from, to, author, at_ms };
    vec![
        credit(0, 2, SpanAuthor::Person(person("Ana")), 60_000),
        credit(2, 6, SpanAuthor::Ai(ai), 61_234),
        credit(6, len, SpanAuthor::Beginning(person("Ben")), 0),
    ]
}

/// A rule for small corrections.
fn rule(by: Person) -> ApprovalRule {
    let max_units = Some(40);
    ApprovalRule {
        remember: RememberWish {
            id: "rul_1".into(),
            scope: RuleScope::Document,
            path: None,
            max_units,
            author: None,
            unmarked: false,
        },
        effect: RuleEffect::Allow,
        over: None,
        tool: "update_full_document".into(),
        session: "ses_1".into(),
        document: Some("doc_1".into()),
        request: Some("req_0".into()),
        by,
        at_ms: 0,
        ended: None,
    }
}

fn exported(manuscript: &ExportInput, format: ExportFormat) -> String {
    String::from_utf8(manuscript.export(format).unwrap()).unwrap()
}

/// Compares with a file of `fixtures/exports`; `COPYDESK_BLESS=1` writes it anew.
pub(super) fn is_as_in(name: &str, made: &str) {
    let path = format!("{}/../../fixtures/exports/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("COPYDESK_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "{name} is not what is exported now; look at it with COPYDESK_BLESS=1 and git diff"
    );
}

#[test]
fn the_golden_files_are_what_is_exported() {
    let lamp = lamp();
    assert_eq!(
        exported(&lamp, ExportFormat::Markdown),
        include_str!("../../../fixtures/exports/lamp.md")
    );
    is_as_in("lamp.html", &exported(&lamp, ExportFormat::Html));
    is_as_in("lamp.critic.md", &exported(&lamp, ExportFormat::CriticMarkup));
    is_as_in("lamp.json", &exported(&lamp, ExportFormat::Json));
}

#[test]
fn a_page_runs_nothing() {
    let text = "<script>alert(1)</script><img src=x onerror=alert(1)><a href=\"javascript:alert(1)\">a</a>\n\n\
        [b](javascript:alert(1)) [c](JaVaScRiPt:alert(1)) [d](data:text/html,x) <svg onload=alert(1)></svg>\n\n\
        <iframe src=x></iframe><form action=x><input></form><style>*{}</style><base href=x><p style=\"x\">e</p>";
    let page = exported(&manuscript(text, vec![]), ExportFormat::Html);
    let body = page.split_once("<main>").unwrap().1;
    for word in [
        "script", "onerror", "onload", "data:", "<iframe", "<form", "<input", "<style", "<base",
        "<svg", "style=",
    ] {
        assert!(!body.contains(word), "{word}: {body}");
    }
    assert!(page.contains("<title>The &lt;lamp&gt;</title>"), "{page}");
}

#[test]
fn each_format_is_found_by_its_name_and_nothing_else_is() {
    for format in ExportFormat::ALL {
        assert_eq!(ExportFormat::parse(format.as_str()), Some(format));
    }
    assert_eq!(ExportFormat::parse("MD"), None);
    assert_eq!(ExportFormat::parse(""), None);
}

#[test]
fn files_are_named_after_the_title() {
    assert_eq!(lamp().file_name(ExportFormat::CriticMarkup), "The -lamp-.critic.md");
    assert_eq!(lamp().file_name(ExportFormat::Docx), "The -lamp-.docx");
}

const RAIN: &str = "It do rain on the old roof. We waits under it until evening.";

#[test]
fn every_pending_change_is_marked_with_its_author() {
    let fixed = "It does rain on the old roof. We wait under it until the evening.";
    let made = exported(
        &manuscript(RAIN, vec![request(1, "Ana", RAIN, fixed)]),
        ExportFormat::CriticMarkup,
    );
    assert_eq!(
        made,
        "It {~~do~>does~~}{>>AI for Ana: Ana asked.<<} rain on the old roof. \
         We {~~waits~>wait~~}{>>AI for Ana<<} under it until {++the ++}{>>AI for Ana<<}evening."
    );
}

#[test]
fn of_two_changes_that_overlap_the_later_is_a_remark() {
    let fixed = RAIN.replace("do rain", "does rain");
    let expected = RAIN.replace("do rain", "rains");
    let requests = vec![request(1, "Ana", RAIN, &fixed), request(2, "Ben", RAIN, &expected)];
    let made = exported(&manuscript(RAIN, requests), ExportFormat::CriticMarkup);
    assert_eq!(
        made,
        "It {>>AI for Ben: would write “rains” instead of “do rain”: Ben asked.<<}{~~do~>does~~}\
         {>>AI for Ana: Ana asked.<<} rain on the old roof. We waits under it until evening."
    );
}

#[test]
fn a_change_in_conflict_is_a_remark() {
    let mut asked = request(1, "Ana", "It do rain.", "It does rain.");
    asked.hunks[0].status = HunkStatus::Conflict;
    let made = exported(&manuscript("It do rain.", vec![asked]), ExportFormat::CriticMarkup);
    assert!(!made.contains("~>") && made.contains("would write “does” instead of “do”"), "{made}");
}

#[test]
fn what_was_decided_is_not_pending() {
    let fixed = RAIN.replace("do rain", "does rain").replace("waits", "wait");
    let mut asked = request(1, "Ana", RAIN, &fixed);
    asked.hunks[0].status = HunkStatus::Rejected;
    let made = exported(&manuscript(RAIN, vec![asked.clone()]), ExportFormat::CriticMarkup);
    assert!(made.starts_with("It do rain on the old roof. We {~~waits~>wait~~}"), "{made}");
    asked.status = RequestStatus::Expired;
    assert_eq!(exported(&manuscript(RAIN, vec![asked]), ExportFormat::CriticMarkup), RAIN);
}

/// Work that grew with the square of the length would never end here.
#[test]
fn long_and_deep_texts_are_exported_too() {
    for piece in [
        "{++",
        "--}",
        "[",
        "*",
        "> ",
        "- ",
        "`",
        "![](",
        "<b>",
        "<blockquote>",
        "\n\n<div>",
        "| a ",
        "\n1. a",
        "&amp;",
        "😀",
        "&nbsp; ",
        "[^a]",
        "\n[^a]: b\n",
        "![a](b)",
        "<!--",
        "<a \"",
        "$a$",
        "**a** ",
        "|a\n",
        "> - 1. ",
        "<!-- a -->",
        "\n---\n",
        "א a ",
    ] {
        let manuscript = manuscript(&piece.repeat(60_000 / piece.len()), vec![]);
        for format in ExportFormat::ALL {
            assert!(manuscript.export(format).is_ok(), "{piece} as {format:?}");
        }
    }
}

#[test]
fn words_too_deep_in_quotations_are_still_there() {
    let page =
        exported(&manuscript(&format!("{}deep", "> ".repeat(300)), vec![]), ExportFormat::Html);
    assert_eq!((page.matches("deep").count(), page.matches("<blockquote>").count()), (1, 100));
    assert_eq!(page.matches("</blockquote>").count(), 100);
}

#[test]
fn a_name_cannot_end_its_remark() {
    let asked = request(1, "A<<}{++x++}\u{202e}na", "a b", "a c");
    let made = exported(&manuscript("a b", vec![asked]), ExportFormat::CriticMarkup);
    assert_eq!(
        (read(&made, TrackedView::Accept), read(&made, TrackedView::Reject)),
        ("a c".to_owned(), "a b".to_owned()),
        "{made}"
    );
}

#[derive(Clone, Copy)]
enum TrackedView {
    Accept,
    Reject,
}

/// A program that knows CriticMarkup: one pass from left to right, each mark up to its nearest end.
fn read(file: &str, take: TrackedView) -> String {
    let marks =
        r"(?s)\{\+\+(.*?)\+\+\}|\{--(.*?)--\}|\{~~(.*?)~>(.*?)~~\}|\{>>.*?<<\}|\{==(.*?)==\}";
    let kept = match take {
        TrackedView::Accept => [1, 4, 5],
        TrackedView::Reject => [2, 3, 5],
    };
    let words = |found: &Captures| -> String {
        kept.iter()
            .filter_map(|group| found.get(*group))
            .map(|found| found.as_str().to_owned())
            .collect()
    };
    Regex::new(marks).unwrap().replace_all(file, words).into_owned()
}

/// Words, and everything that means something in CriticMarkup or Markdown.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "{++",
        "++}",
        "{--",
        "--}",
        "{~~",
        "~>",
        "~~}",
        "{>>",
        "<<}",
        "{==",
        "==}",
        "{",
        "}",
        "+",
        "-",
        "~",
        ">",
        "=",
        "<",
        "the ",
        "ship ",
        "was ",
        "late. ",
        "é",
        "😀",
        "\n",
        "\n\n",
        "\n# ",
        "\n- ",
        "\n> ",
        "\n3. ",
        "**",
        "*",
        "`",
        "[a](b)",
        "\n```\n",
        "|",
        "&amp;",
        "\\",
        "<b>",
        "    ",
        "\n|a|b|\n|-|:-:|\n|c|d|\n",
        "|e||\n",
        "|-|-|-|\n",
        "[^1]",
        "\n[^1]: ",
        "\n\n    ",
        "![",
        "<!-- ",
        " -->",
        "$",
        "שלום ",
        "天\n",
        "- [x] ",
        "<br>",
        "---\ntitle: ",
    ];
    vec(proptest::sample::select(pieces.to_vec()), 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn accepting_all_gives_the_proposed_text_and_rejecting_all_the_present(old in any_text(), new in any_text()) {
        let manuscript = manuscript(&old, vec![request(1, "Ana", &old, &new)]);
        let made = exported(&manuscript, ExportFormat::CriticMarkup);
        prop_assert_eq!(read(&made, TrackedView::Reject), old, "{}", &made);
        prop_assert_eq!(read(&made, TrackedView::Accept), new, "{}", &made);
    }

    #[test]
    fn overlapping_requests_and_threads_never_harm_the_text(
        old in any_text(), new in any_text(), other in any_text(), places in any_places(),
    ) {
        let requests = vec![request(1, "Ana", &old, &new), request(2, "Ben", &old, &other)];
        let manuscript = discussed(manuscript(&old, requests), &places);
        let marked = manuscript.marked().unwrap();
        let made = exported(&manuscript, ExportFormat::CriticMarkup);
        prop_assert_eq!(read(&made, TrackedView::Reject), old.as_str(), "{}", &made);
        prop_assert_eq!(read(&made, TrackedView::Accept), marked.proposed(), "{}", &made);
        prop_assert_eq!(marked.present(), old);
    }
}
