//! Applying all hunks gives exactly the new text, and no hunk is cut where no one would cut it.

mod moving;
mod quality;

use unicode_segmentation::UnicodeSegmentation;

use super::{
    DiffLimits, HunkDraft, HunkKind, PartialDraft, diff, diff_in_order, diff_so_far, diff_whole,
    word_edits,
};

/// Applies hunks to a text the naive way, and checks that they are in order, disjoint and true to
/// the old text.
fn apply(old: &str, hunks: &[HunkDraft]) -> String {
    let old: Vec<u16> = old.encode_utf16().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    assert!(hunks.iter().all(|h| h.kind == Some(HunkKind::Moved) || is_in_order(h)), "{hunks:?}");
    let mut parts: Vec<_> = hunks.iter().flat_map(|h| &h.parts).collect();
    if hunks.iter().any(|h| h.kind == Some(HunkKind::Moved)) {
        // Stable: what is put in at one place is in the order of the hunks.
        parts.sort_by_key(|part| (part.from, part.to));
    }
    for part in parts {
        assert!(at <= part.from && part.from <= part.to, "parts in order: {part:?}");
        assert_eq!(String::from_utf16(&old[part.from..part.to]).unwrap(), part.base);
        assert!(part.base != part.insert, "a part changes something: {part:?}");
        new.extend_from_slice(&old[at..part.from]);
        new.extend(part.insert.encode_utf16());
        at = part.to;
    }
    new.extend_from_slice(&old[at..]);
    String::from_utf16(&new).unwrap()
}

fn is_in_order(hunk: &HunkDraft) -> bool {
    hunk.parts.windows(2).all(|pair| pair[0].to <= pair[1].from)
}

fn hunks(old: &str, new: &str) -> Vec<HunkDraft> {
    let hunks = diff(old, new, &DiffLimits::default());
    assert_eq!(apply(old, &hunks), new, "from {old:?}");
    assert!(hunks.iter().all(|h| !h.parts.is_empty()));
    hunks
}

const WORDS: &[&str] = &[
    "the",
    "a",
    "cat",
    "sat",
    "on",
    "mat",
    "Teh",
    "recieve",
    "don't",
    "3.14",
    "naïve",
    "cafe\u{301}",
    "👍🏽",
    "👩‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "東京",
    "へ",
    "行く",
    "カタカナ",
    "한국어",
    "ภาษาไทย",
    "นำ้",
    "नमस्ते",
    "क्षि",
    "\u{600}12",
    "العربية",
    "𝒳𝒴",
    "—",
    "(x)",
    "*bold*",
    "`code`",
    "e.g.",
    "Mr.",
    "\u{200d}",
    "\u{301}",
    "\u{2028}",
];
const GAPS: &[&str] = &[
    " ", " ", " ", " ", "  ", ", ", ". ", ". ", "! ", "? ", "。", "", "\t", "\n", "\n\n", "\n\n\n",
    "\u{a0}",
];
const STARTS: &[&str] = &[
    "",
    "",
    "",
    "# ",
    "- ",
    "1. ",
    "> ",
    "| ",
    "```\n",
    "    ",
    "~~~~ rust\n",
    "---\n",
    "==\n",
    "\n",
];

fn text(random: &mut fastrand::Rng, size: usize) -> String {
    let mut text = String::new();
    for _ in 0..random.usize(0..=size) {
        if text.is_empty() || text.ends_with('\n') {
            text += random.choice(STARTS.iter().copied()).unwrap();
        }
        text += random.choice(WORDS.iter().copied()).unwrap();
        text += random.choice(GAPS.iter().copied()).unwrap();
    }
    text
}

/// A rewrite of a text: pieces removed, added, replaced, moved, or only its white space changed.
fn rewrite(random: &mut fastrand::Rng, old: &str) -> String {
    let mut pieces: Vec<String> = old.split_word_bounds().map(str::to_owned).collect();
    for _ in 0..random.usize(0..=6) {
        let at = random.usize(0..=pieces.len());
        match random.u8(0..6) {
            0 => pieces.insert(at, text(random, 3)),
            1 if at < pieces.len() => drop(pieces.remove(at)),
            2 if at < pieces.len() => pieces[at] = text(random, 2),
            3 if at < pieces.len() => {
                let moved = pieces.remove(at);
                let to = random.usize(0..=pieces.len());
                pieces.insert(to, moved);
            }
            4 => pieces.truncate(pieces.len() - random.usize(0..=pieces.len().min(3))),
            _ => {
                for piece in pieces.iter_mut().filter(|p| p.trim().is_empty()) {
                    if random.u8(0..4) == 0 {
                        *piece = random.choice([" ", "  ", "\n", "\n\n", ""]).unwrap().to_owned();
                    }
                }
            }
        }
    }
    pieces.concat()
}

fn check_pairs(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let old = text(&mut random, 40);
        let new = if seed % 5 == 0 { text(&mut random, 40) } else { rewrite(&mut random, &old) };
        let found = std::panic::catch_unwind(|| hunks(&old, &new));
        assert!(found.is_ok(), "seed {seed}: {old:?} → {new:?}");
    }
}

#[test]
fn applying_all_hunks_gives_exactly_the_proposed_text() {
    // A hundred thousand take half a minute without optimisation.
    let pairs = std::env::var("COPYDESK_DIFF_PAIRS").map_or(12_000, |pairs| pairs.parse().unwrap());
    check_pairs(0..pairs);
}

#[test]
fn no_hunk_begins_or_ends_inside_a_word_or_a_grapheme() {
    for seed in 0..4_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let old = text(&mut random, 30);
        let new = rewrite(&mut random, &old);
        let graphemes = boundaries(&old, old.grapheme_indices(true).map(|(at, _)| at));
        let words = boundaries(&old, old.split_word_bound_indices().map(|(at, _)| at));
        for part in hunks(&old, &new).iter().flat_map(|h| &h.parts) {
            for at in [part.from, part.to] {
                assert!(graphemes.contains(&at), "seed {seed}: {at} cuts a grapheme of {old:?}");
                assert!(words.contains(&at), "seed {seed}: {at} cuts a word of {old:?}: {part:?}");
            }
        }
    }
}

fn boundaries(text: &str, starts: impl Iterator<Item = usize>) -> Vec<usize> {
    starts.chain([text.len()]).map(|at| text[..at].encode_utf16().count()).collect()
}

/// Hunks as `base→insert` with `+` between parts.
fn described(old: &str, new: &str) -> Vec<String> {
    let part = |p: &super::DraftPart| format!("{}→{}", p.base, p.insert);
    let hunk = |h: &HunkDraft| h.parts.iter().map(part).collect::<Vec<_>>().join(" + ");
    hunks(old, new).iter().map(hunk).collect()
}

#[test]
fn equal_texts_have_no_hunks() {
    assert!(described("Same.\n", "Same.\n").is_empty());
    assert!(described("", "").is_empty());
}

#[test]
fn empty_texts_and_missing_line_ends_are_texts_like_others() {
    assert_eq!(described("", "One. Two.\n\nThree."), ["→One. Two.\n\n", "→Three."]);
    assert_eq!(described("Gone.", ""), ["Gone.→"]);
    assert_eq!(described("End", "End\n"), ["→\n"]);
    assert_eq!(described("End\n", "End"), ["\n→"]);
}

#[test]
fn each_corrected_word_is_a_hunk_of_its_own() {
    let old = "She recieve the letter on a very cold morning in teh month of May. It were long.";
    let new = "She received the letter on a very cold morning in the month of May. It was long.";
    assert_eq!(described(old, new), ["recieve→received", "teh→the", "were→was"]);
}

#[test]
fn corrections_of_one_sentence_are_hunks_of_their_own() {
    assert_eq!(
        described(
            "He go to store every single day of the week.",
            "He goes to the store every single day of the week."
        ),
        ["go→goes", "→the "]
    );
}

#[test]
fn changes_never_join_across_the_end_of_a_sentence() {
    assert_eq!(
        described("It stoped. Than we left.", "It stopped. Then we left."),
        ["stoped→stopped", "Than→Then"]
    );
}

#[test]
fn changes_never_join_across_a_paragraph() {
    assert_eq!(
        described("One too\n\nthree fore\n", "One two\n\nthree four\n"),
        ["too→two", "fore→four"]
    );
}

#[test]
fn a_sentence_with_any_other_change_is_one_hunk_of_several_parts() {
    let old =
        "She recieve the letter on a very cold morning in the month of May, and read it twice.";
    let new = "She received the letter on a cold morning in early May, and read it twice.";
    assert_eq!(described(old, new), ["recieve→received + very → + the month of→early"]);
    let kinds = |old, new| -> Vec<_> { hunks(old, new).iter().map(|it| it.kind).collect() };
    assert_eq!(kinds(old, new), [Some(HunkKind::Rewrite)]);
    assert_eq!(kinds("Teh cat sat there.", "The cat sat there."), [Some(HunkKind::Correction)]);
}

#[test]
fn corrections_that_need_each_other_are_one_hunk() {
    let commas = "My brother who lives in Olm is a baker and sings.";
    let with = "My brother, who lives in Olm, is a baker and sings.";
    assert_eq!(described(commas, with), ["→, + →,"]);
    let moved = "He had seen only the lamp of his neighbour that night.";
    let words = "He had only seen the lamp of his neighbour that night.";
    assert_eq!(described(moved, words).len(), 1);
}

#[test]
fn sentences_that_split_merge_or_change_places_are_one_hunk() {
    let one =
        "It rained. The old keeper lit the lamp and he wrote a letter to his sister. He slept.";
    let two = "It rained. The old keeper lit the lamp. He wrote a letter to his sister. He slept.";
    assert_eq!(hunks(one, two).len(), 1, "{:?}", described(one, two));
    assert_eq!(hunks(two, one).len(), 1, "{:?}", described(two, one));
    let turned =
        "It rained. He slept. The old keeper lit the lamp and he wrote a letter to his sister.";
    assert_eq!(hunks(one, turned).len(), 1, "{:?}", described(one, turned));
}

#[test]
fn a_deletion_and_the_words_that_replace_it_are_one_hunk() {
    let old = "It was late. People cared about the museum a great deal. They gave it their coats. Snow fell.";
    let new = "It was late. People gave the museum their coats. Snow fell.";
    assert_eq!(hunks(old, new).len(), 1, "{:?}", described(old, new));
    let several = "It was late. Nobody cared. The lamp had gone out. Snow fell.";
    let other = "It was late. Every window in town was dark by eight. Snow fell.";
    assert_eq!(hunks(several, other).len(), 1, "{:?}", described(several, other));
}

#[test]
fn a_sentence_that_becomes_a_phrase_of_the_next_one_is_one_change() {
    let old = "It was late. Ruth sat down on the arm. She looked tired. Snow fell.";
    let new = "It was late. Ruth, looking tired, sat down on the arm. Snow fell.";
    assert_eq!(hunks(old, new).len(), 1, "{:?}", described(old, new));
    assert_eq!(hunks(new, old).len(), 1, "{:?}", described(new, old));
    let (old, new) = ("It rained. Sit, Please. He sat.", "It rained. Sit. Please. He sat.");
    assert_eq!(hunks(old, new).len(), 1, "{:?}", described(old, new));
    let old = "I lay there. The hat was above me. There was a face under it. He spoke.";
    let new = "I lay there. Above me was the hat, and under it a face. He spoke.";
    assert_eq!(hunks(old, new).len(), 1, "{:?}", described(old, new));
}

#[test]
fn a_paragraph_that_becomes_a_list_beside_a_changed_one_is_one_hunk() {
    let (rest, other) = ("Then cal your sister about it.", "Then call your sister about it.");
    let old = format!("You need three things: a code, a calendar and some space.\n\n{rest}\n");
    let new = format!("You need:\n\n- a code\n- a calendar\n- some space\n\n{other}\n");
    assert_eq!(hunks(&old, &new).len(), 2, "{:?}", described(&old, &new));
    assert_eq!(hunks(&new, &old).len(), 2, "{:?}", described(&new, &old));
}

#[test]
fn half_a_quotation_is_never_a_change_of_its_own() {
    let old = "He stood there. The lamp is out, he said. Nobody will light it, he said. Snow fell.";
    let new = "He stood there. “The lamp is out. Nobody will light it,” he said. Snow fell.";
    let hunks = hunks(old, new);
    for hunk in &hunks {
        let count =
            |c: char| hunk.parts.iter().map(|it| it.insert.matches(c).count()).sum::<usize>();
        assert_eq!(count('“'), count('”'), "{hunks:?}");
    }
}

#[test]
fn sentences_end_where_a_reader_ends_them() {
    let ends = |text: &str| -> Vec<String> {
        let mut from = 0;
        let cut = |to| {
            let sentence = text[from..to].trim_end().to_owned();
            from = to;
            sentence
        };
        super::blocks::sentence_ends(text).into_iter().map(cut).collect()
    };
    for text in [
        "Mr. Halloran met Mrs. Lee, Dr. A. J. Rohmer and Prof. K. L. Simms at St. Mary's.",
        "Some of it, e.g. No. 7 and i.e. Fig. 3, cost 3.50 or 16.5 mm.",
        "“Stop!” he said.",
        "„Halt!“ rief er.",
        "« Arrête ! » dit-il.",
        "He waited (it was late. It rained.) and left.",
        "Well... she thought so.",
        "Am 3. Mai kam Hr. Weber, z. B. um 8.30 Uhr, bzw. Dr. Klein.",
        "M. Petit et Mme. Roux vivent av. Foch.",
        "Nobody could tell Cllr. Swann why.",
    ] {
        assert_eq!(ends(text), [text], "one sentence");
    }
    assert_eq!(ends("It was 3.5. He left. So did I. Then “Yes.” She slept!").len(), 5);
    assert_eq!(ends("It began at 8 p.m. The lamp was lit.").len(), 2);
}

#[test]
fn a_sentence_whose_words_live_on_two_changes_further_is_one_change_with_them() {
    let old = "The shop closed on a Sunday. People cared about Halloran's a great deal. It had a \
               bell above the door. The owner knew every name. Then it rained.";
    let new = "The shop closed on a Sunday. Above its door hung a bell. The owner, whom people \
               cared about a great deal, knew every name. Then it rained.";
    assert_eq!(described(old, new).len(), 1, "{:#?}", described(old, new));
    assert_eq!(described(new, old).len(), 1, "{:#?}", described(new, old));
    // A few words in common do not make one change of two.
    let other = new.replace(", whom people cared about a great deal,", ", a great talker,");
    assert!(described(old, &other).len() > 1, "{:#?}", described(old, &other));
}

#[test]
fn hunks_name_their_paragraph() {
    let old = "Teh cat sat. It were old.\n\nA paragraph stays.\n\nHe recieved it. She slept.\n";
    let new = "The cat sat. It was old.\n\nA paragraph stays.\n\nA new one comes in.\n\nHe received it. She slept. So did he.\n";
    let groups: Vec<_> = hunks(old, new).iter().map(|it| it.group.unwrap()).collect();
    assert_eq!(groups, [1, 1, 2, 3, 3]);
}

#[test]
fn a_sentence_less_than_half_alike_is_one_hunk() {
    let old = "Stay here. The committee deliberated for several hours on procedure. Then go.";
    let new = "Stay here. Nobody could agree about how to vote. Then go.";
    assert_eq!(
        described(old, new),
        [
            "The committee deliberated for several hours on procedure.→Nobody could agree about how to vote."
        ]
    );
}

#[test]
fn sentences_are_aligned_by_likeness_when_their_counts_differ() {
    let old = "The first point stands. The third point is weak here. The fourth point holds.";
    let new = "The first point stands. A wholly new remark comes in between. The third point is weak there. The fourth point holds.";
    assert_eq!(described(old, new), ["→A wholly new remark comes in between. ", "here→there"]);
}

#[test]
fn sentences_added_at_the_end_of_a_paragraph_come_with_the_space_before_them() {
    assert_eq!(described("One.\n\nNext.\n", "One. Two. Three.\n\nNext.\n"), ["→ Two.", "→ Three."]);
    assert_eq!(described("One", "One\n\nTwo\n\nThree"), ["→\n\nTwo", "→\n\nThree"]);
    assert_eq!(described("One. Two. Three.\n\nNext.", "One.\n\nNext."), [" Two.→", " Three.→"]);
}

#[test]
fn splitting_and_joining_paragraphs_changes_only_the_space() {
    assert_eq!(
        described("One here. Two here. Three here.", "One here. Two here.\n\nThree here."),
        [" →\n\n"]
    );
    assert_eq!(described("One here.\n\nTwo here.", "One here. Two here."), ["\n\n→ "]);
}

#[test]
fn space_goes_with_the_words_it_belongs_to() {
    let old = "A one is here. Completely different words follow.\n\nB one is here.";
    let new = "A one is here.\n\nYour new ending stands elsewhere. B one is here.";
    assert_eq!(
        described(old, new),
        [" Completely different words follow.→", "→Your new ending stands elsewhere. "]
    );
}

#[test]
fn headings_and_list_items_are_whole_units() {
    let old = "# A titel with many many many words and an eror\n\n- frist item has some words and than more\n- second item\n";
    let new = "# A title with many many many words and an error\n\n- first item has some words and then more\n- second item\n";
    assert_eq!(described(old, new), ["titel→title", "eror→error", "frist→first", "than→then"]);
}

#[test]
fn code_changes_by_the_line() {
    let old = "Text.\n\n```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\n";
    let new = "Text.\n\n```rust\nlet a = 1;\nlet b = 20;\nlet c = 30;\n```\n";
    assert_eq!(described(old, new), ["let b = 2;→let b = 20; + let c = 3;→let c = 30;"]);
}

#[test]
fn a_paragraph_that_becomes_a_list_is_one_hunk_and_so_is_the_way_back() {
    let (paragraph, list) = (
        "Bring eggs, milk and bread.\n\nCome early.\n",
        "Bring:\n\n- eggs\n- milk\n- bread\n\nCome early.\n",
    );
    assert_eq!(hunks(paragraph, list).len(), 1);
    assert_eq!(hunks(list, paragraph).len(), 1);
    let (sentences, steps) = (
        "Open the box. Take the lamp out. Light it.\n",
        "- Open the box.\n- Take the lamp out.\n- Light it.\n",
    );
    assert_eq!(hunks(sentences, steps).len(), 1);
    assert_eq!(hunks(steps, sentences).len(), 1);
}

#[test]
fn a_list_that_says_something_else_is_not_the_paragraph_it_replaces() {
    let hunks = hunks("The fog came in and stayed.\n", "- Buy some oil\n- Call your sister\n");
    assert!(hunks.len() > 1, "{hunks:?}");
}

#[test]
fn a_long_block_of_code_changes_in_pieces_that_can_be_read() {
    let code = |word: &str| {
        let lines = (0..60)
            .map(|line| format!("let {word}_{line} = {line};\n"))
            .collect::<Vec<_>>()
            .concat();
        format!("Before.\n\n```rust\n{lines}```\n\nAfter.\n")
    };
    let hunks = hunks(&code("old"), &code("new"));
    let sizes: Vec<_> = hunks.iter().map(|hunk| hunk.parts.len()).collect();
    assert_eq!(sizes, [24, 24, 12]);
}

#[test]
fn what_is_written_so_far_is_compared_block_by_block() {
    let old = "Teh cat.\n\nIt sat.\n\n- one\n- two\n";
    let described = |written: &str| {
        let PartialDraft { hunks, blocks } = diff_so_far(old, written, &DiffLimits::default());
        (hunks.iter().map(|hunk| hunk.parts[0].insert.clone()).collect::<Vec<_>>(), blocks)
    };
    assert_eq!(described(""), (vec![], 0));
    assert_eq!(described("The cat."), (vec![], 0));
    assert_eq!(described("The cat.\n\nIt"), (vec!["The".to_owned()], 1));
    // What was left out is seen only when something stands behind it again.
    assert_eq!(described("The cat.\n\n- one\n- t").0, ["The", ""]);
    assert_eq!(described("The cat.\n\nIt sat.\n\n- one\n- 2\n- ").0, ["The", "2"]);
    assert_eq!(
        described("The cat.\n\nIt sat.\n\n- one\n- two\n\nMore."),
        (vec!["The".to_owned(), "\n".to_owned()], 4)
    );
}

#[test]
fn hunks_never_cross_a_block_boundary() {
    let old = "# Headin\nSom text.\n- ietm\n```\ncod\n```\n";
    let new = "# Heading\nSome text.\n- item\n```\ncode\n```\n";
    assert_eq!(described(old, new), ["Headin→Heading", "Som→Some", "ietm→item", "cod→code"]);
}

#[test]
fn a_line_wrapped_by_hand_goes_on() {
    let old = "This sentence was wrapped by hand at some width, so it\nwent on in teh next line. And here is more of the\nsame.\n";
    let new = old.replace("teh", "the");
    assert_eq!(described(old, &new), ["teh→the"]);
    let joined = old.replace("so it\nwent", "so it went");
    assert_eq!(described(old, &joined), ["\n→ "]);
}

#[test]
fn scripts_without_spaces_change_by_graphemes() {
    assert_eq!(described("私は東京へ行きました。", "私は京都へ行きました。"), ["東→ + →都"]);
    assert_eq!(described("今日は天気が悪い。", "今日は天気が良い。"), ["悪→良"]);
}

#[test]
fn emoji_are_replaced_whole() {
    assert_eq!(described("Well done 👍🏽 all of you", "Well done 👍🏿 all of you"), ["👍🏽→👍🏿"]);
    assert_eq!(hunks("😀 ab", "😀 ac")[0].parts[0].from, 3);
}

#[test]
fn an_expired_deadline_still_gives_exactly_the_proposed_text() {
    let limits = DiffLimits { deadline: Some(std::time::Instant::now()) };
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut long = || {
            let mut long = String::new();
            while long.len() < 33 * 1024 {
                long += &text(&mut random, 2_000);
            }
            long
        };
        let (old, new) = (long(), long());
        assert_eq!(apply(&old, &diff(&old, &new, &limits)), new, "seed {seed}");
    }
}

#[test]
fn short_texts_are_compared_to_the_end_whatever_the_clock_says() {
    let limits = DiffLimits { deadline: Some(std::time::Instant::now()) };
    let (old, new) = ("Ana wrote one. Bo came late.", "Ana wrote two. Bo came soon.");
    for hunks in
        [diff(old, new, &limits), diff_in_order(old, new, &limits), diff_whole(old, new, &limits)]
    {
        let words: Vec<_> = hunks.iter().flat_map(|it| &it.parts).map(|it| &*it.base).collect();
        assert_eq!(words, ["one", "late"]);
    }
    let edits = word_edits(old, new, &limits);
    assert_eq!(edits.iter().map(|it| &*it.base).collect::<Vec<_>>(), ["one", "late"]);
}
