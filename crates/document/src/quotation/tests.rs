use proptest::prelude::*;

use super::*;

/// Returns the text after the only look-alike of `old` in it became `new`.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    let QuotationPlace::Alike(range) = find(text, old, Folding::LookAlike) else { return None };
    let words = rewritten(&text[range.clone()], old, new, Folding::LookAlike);
    Some([&text[..range.start], &words, &text[range.end..]].concat())
}

fn whole_hint(text: &str, quoted: &str) -> String {
    hint(text, 0..text.len(), quoted, Folding::LookAlike)
}

#[test]
fn a_passage_that_looks_like_the_quotation_is_found() {
    let cases = [
        ("It’s the keeper’s lamp", "the keeper's"),
        ("the “ledger” lay", "\"ledger\""),
        ("das „Buch“ lag", "\"Buch\""),
        ("le «\u{a0}livre\u{a0}» est", "\" livre \""),
        ("the ‘ledger’ lay", "'ledger'"),
        ("Five\u{a0}km off", "Five km"),
        ("Five km off", "Five\u{202f}km"),
        ("wide\u{3000}blank", "wide blank"),
        ("rope — no more", "rope - no more"),
        ("rope – no more", "rope -- no more"),
        ("rope-no more", "rope\u{2011}no"),
        ("3 − 2", "3 - 2"),
        ("The cafe\u{301} is", "The café"),
        ("The café is", "The cafe\u{301}"),
        ("\u{1112}\u{1161}\u{11ab} and more", "한 and"),
        ("Wait for  two", "for two"),
        ("Wait for two", "for   two"),
        ("a\tb c", "a b"),
        ("one  \ntwo", "one\ntwo"),
        ("one\ntwo", "one \t\ntwo"),
        ("one\u{2028}two", "one\ntwo"),
        ("    indented\n    more", "  indented\n  more"),
        ("the end", "the end  "),
        ("the end\nis near", "the end  "),
    ];
    for (text, quoted) in cases {
        let found = find(text, quoted, Folding::LookAlike);
        assert!(matches!(found, QuotationPlace::Alike(_)), "{quoted:?} in {text:?}: {found:?}");
    }
}

#[test]
fn what_people_see_as_another_text_is_missing() {
    let cases = [
        ("the keeper", "the Keeper"),
        ("cafe", "café"),
        ("closed…", "closed..."),
        ("ab", "a b"),
        ("one two", "one\ntwo"),
        ("one\n\ntwo", "one\ntwo"),
        ("5' tall", "5\" tall"),
        ("a `code`", "a 'code'"),
        ("naive", "naïve"),
        ("e\u{301}a", "é\u{302}a"),
        ("the end", ""),
        ("the end", "\u{a0}"),
        ("fi", "ﬁ"),
    ];
    for (text, quoted) in cases {
        assert_eq!(find(text, quoted, Folding::LookAlike), QuotationPlace::Missing, "{quoted:?}");
    }
    // Part of a character is no match.
    assert_eq!(find("cafe\u{301}’s", "cafe's", Folding::LookAlike), QuotationPlace::Missing);
    assert_eq!(find("’\u{301}x", "'", Folding::LookAlike), QuotationPlace::Missing);
}

#[test]
fn the_exact_words_come_first_and_several_look_alikes_are_none() {
    let text = "It’s late. It's late. It’s late.";
    assert_eq!(find(text, "It's", Folding::LookAlike), QuotationPlace::Exact);
    let QuotationPlace::Several(found) = find("It’s\nand it’s\nIt’s", "It's", Folding::LookAlike)
    else {
        panic!("two")
    };
    assert_eq!(found.len(), 2);
    assert_eq!(
        whole_hint("It’s\nand it’s\nIt’s", "It's"),
        "2 passages look like it (lines 1, 3); quote one of them exactly, with more of the text around it"
    );
}

#[test]
fn only_line_ends_and_trailing_blanks_differ_in_files() {
    let is_alike =
        |text, quoted| matches!(find(text, quoted, Folding::LineEnds), QuotationPlace::Alike(_));
    assert!(is_alike("if x:  \n\tgo()\n", "if x:\n\tgo()"));
    assert!(is_alike("if x:\n\tgo()\n", "if x: \n\tgo()  \n"));
    assert!(is_alike("a\nb\n", "a\r\nb\r\n"));
    for (text, quoted) in [
        ("if x:\n\tgo()\n", "if x:\n    go()"),
        ("say(“x”)", "say(\"x\")"),
        ("a  b", "a b"),
        ("é", "e\u{301}"),
        ("a – b", "a - b"),
    ] {
        assert_eq!(find(text, quoted, Folding::LineEnds), QuotationPlace::Missing, "{quoted:?}");
    }
}

#[test]
fn only_what_the_model_changed_is_changed() {
    let cases = [
        (
            "It’s the keeper’s “ledger”.",
            "It's the keeper's",
            "It is the keeper's",
            "It is the keeper’s “ledger”.",
        ),
        (
            "It’s the keeper’s “ledger”.",
            "It's the keeper's",
            "It is the keeper’s",
            "It is the keeper’s “ledger”.",
        ),
        ("the keeper’s lamp", "the keeper's", "the guard's", "the guard’s lamp"),
        ("the “ledger” lay", "the \"ledger\" lay", "the \"book\" lay here", "the “book” lay here"),
        (
            "Five\u{a0}km of rope — no more.",
            "Five km of rope - no more",
            "Six km of rope, no more",
            "Six\u{a0}km of rope, no more.",
        ),
        ("Five\u{a0}km", "Five km", "Five miles", "Five\u{a0}miles"),
        ("The cafe\u{301} is", "The café", "The cafés", "The cafe\u{301}s is"),
        ("Wait for  two", "for two", "for three", "Wait for  three"),
        ("one  \ntwo", "one\ntwo", "one!\ntwo", "one!  \ntwo"),
        ("one  \ntwo", "one\ntwo", "one\nthree", "one  \nthree"),
        ("one \ntwo", "one  \ntwo", "one\ntwo", "one\ntwo"),
        ("say “a” and “b”", "say \"a\" and \"b\"", "say \"a\"", "say “a”"),
        ("rope — more", "rope -- more", "rope -- no more", "rope — no more"),
        ("It’s so", "It's so", "", ""),
        ("It’s so", "It's so", "It's so", "It’s so"),
        ("a\u{a0}b", "a b", "new words a b", "new words a\u{a0}b"),
    ];
    for (text, old, new, expected) in cases {
        assert_eq!(replaced(text, old, new).as_deref(), Some(expected), "{old:?} to {new:?}");
    }
}

#[test]
fn a_refusal_shows_the_nearest_passage() {
    let text = "# Lamp\n\nThe keeper went up the stairs at nine.\n\nIt was dark, and closed…\n";
    let said = |quoted| whole_hint(text, quoted);
    assert_eq!(
        said("the KEEPER went"),
        "The nearest passage, line 3, reads \"The keeper went\" and differs in upper and lower case"
    );
    assert!(
        said("closed...")
            .ends_with("reads \"closed…\" and differs in accents, ellipses or similar signs")
    );
    assert_eq!(
        said("The keeper walked up the stairs"),
        "The nearest passage, line 3, reads \"The keeper went up the stairs\""
    );
    assert_eq!(said("keepr"), "The nearest passage, line 3, reads \"keeper\"");
    assert_eq!(said("entirely other sentences here"), "");
    assert_eq!(said("…!"), "");
    // Blanks that look like spaces are visible in the sentence.
    assert!(whole_hint("A\u{a0}b.", "a b.").contains("A\\u{a0}b."));
    assert!(whole_hint(&"word ".repeat(100_000), &"word other ".repeat(100)).len() < 400);
}

#[test]
fn lines_are_named_in_words() {
    let text = "a\na\na\na\na\na\na";
    let places = |upto: usize| (0..upto).map(|line| line * 2);
    assert_eq!(lines(text, places(1)), "line 1");
    assert_eq!(lines(text, places(3)), "lines 1, 2, 3");
    assert_eq!(lines(text, places(7)), "lines 1, 2, 3, 4, 5 and 2 more");
}

/// Returns a text with other characters that look alike.
fn disguised(text: &str, choices: &[u8]) -> String {
    let mut choices = choices.iter().cycle();
    let mut other = |c: char| -> String {
        let choice = usize::from(*choices.next().unwrap_or(&0));
        let forms: &[&str] = match c {
            ' ' => &[" ", "\u{a0}", "  ", "\t", "\u{2009}"],
            '\'' => &["'", "’", "‘", "ʼ"],
            '"' => &["\"", "“", "”", "«", "„"],
            '-' => &["-", "–", "—", "--"],
            'é' => &["é", "e\u{301}"],
            '\n' => &["\n", " \n", "\u{2028}"],
            _ => return c.to_string(),
        };
        forms[choice % forms.len()].to_owned()
    };
    text.chars().map(&mut other).collect()
}

proptest! {
    #[test]
    fn a_disguised_text_is_found_and_keeps_what_is_not_changed(
        words in "[abé'\"\n -]{1,40}",
        choices in prop::collection::vec(any::<u8>(), 1..50),
    ) {
        let quoted = format!("x{words}y");
        let now = disguised(&quoted, &choices);
        let text = format!("before {now} after");
        match find(&text, &quoted, Folding::LookAlike) {
            QuotationPlace::Exact => prop_assert!(text.contains(&quoted)),
            QuotationPlace::Alike(range) => {
                prop_assert_eq!(&text[range.clone()], &now);
                let words = &text[range];
                prop_assert_eq!(rewritten(words, &quoted, &quoted, Folding::LookAlike), words);
                let longer = rewritten(words, &quoted, &format!("{quoted}!"), Folding::LookAlike);
                prop_assert_eq!(longer, format!("{words}!"));
            }
            other => prop_assert!(false, "{:?} in {:?}: {:?}", quoted, text, other),
        }
    }

    #[test]
    fn no_text_makes_it_panic(
        text in "\\PC{0,40}", quoted in "\\PC{0,12}", new in "\\PC{0,12}", cut in 0_usize..40,
    ) {
        let part: String = text.chars().skip(cut).take(8).collect();
        for quoted in [quoted, part] {
            for folding in [Folding::LineEnds, Folding::LookAlike, Folding::AnyCase, Folding::Loose] {
                for range in alike(&text, &quoted, folding) {
                    rewritten(&text[range], &quoted, &new, folding);
                }
                hint(&text, 0..text.len(), &quoted, folding);
            }
        }
    }
}
