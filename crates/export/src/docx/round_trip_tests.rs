//! Markdown, exported as a Word document and imported again: the same, or with a listed reason.

use copydesk_convert::{Converted, from_word};

use super::super::ExportFormat;
use super::super::tests::{manuscript, request};

/// Texts that come back as they were.
const SAME: &[&str] = &[
    // Paragraphs and headings.
    "The keeper wrote every night.\n\nNobody read it.",
    "# The lamp\n\nIt burned.\n\n## Oil\n\nTwo barrels.\n\n###### Small print\n\nNone.",
    "# The *lighthouse* keeper’s `log`\n\nWords.",
    "1999 was dry. So was 2001.\n\n1\\. No list.\n\n\\# No heading.\n\n\\> No quotation.",
    // Hard breaks.
    "Roses are red,\\\nviolets are blue,\\\nthe lamp is lit.",
    "- One\\\n  line\n- Two",
    // Marks, also beside words and signs.
    "He **wrote** it *every* night, ~~never~~ ***always***.",
    "un**believ**able, *a*b, x*y*z",
    "**Note:** read. **Bold *and italic* words**, *italic **and bold** words*.",
    "「*強調*」だ。**注意**：正文",
    "A [**bold** link](https://a.example/) and [*a whole one*](https://b.example/).",
    "Snake_case, 2 * 3 * 4, a~b, \\*stars\\*, \\_lines\\_ and \\`ticks\\`.",
    "AT&T, a < b, `<b>`, \\<b> and \\&amp; stay.",
    "C:\\Users\\Ana, \\[brackets\\](not a link), [x] and \\[^no note].",
    // Lists.
    "- oil\n- wicks\n  - long\n    - white\n  - short\n- matches",
    "1. Trim\n2. Fill\n   1. Oil\n   2. Water\n3. Light",
    "3. Three\n4. Four\n\nBetween.\n\n7. Seven\n8. Eight",
    "1. Numbered\n   - bullet\n   - bullet\n2. Numbered",
    "- bullet\n  1. one\n  2. two\n- bullet",
    "- [ ] Trim the wick\n- [x] Fill the lamp\n- Plain",
    "- [x] Done\n  - [ ] Part of it\n  - [x] Another",
    "Before:\n\n- a\n- b\n\nAfter.",
    // Quotations, lines, code.
    "> A storm came.\n>\n> It went.\n\nCalm.",
    "Before.\n\n---\n\nAfter.",
    "Use `cargo test`, ``a`b`` and `a  b`.",
    "```\nplain\n  indented\n\nafter an empty line\n```",
    "```rust\nfn main() {\n    println!(\"*no mark*\");\n}\n```\n\nWords.\n\n```js\nlet x = 1;\n```",
    "```C++\nint main() { return 0; }\n```",
    "- Entry\n  ```sh\n  make\n  ```\n- Next",
    // Tables.
    "| Name | Oil |\n| --- | --- |\n| Lamp | 2 |\n| Buoy | 1 |",
    "| Left | Middle | Right | Unset |\n| :-- | :-: | --: | --- |\n| a | b | c | d |\n| e | f | g | h |",
    "| A | B |\n| --- | --- |\n| a \\| b | `c` |\n| **bold** | [link](https://a.example/) |\n|  | last |",
    "| A | B |\n| --- | --- |\n| one<br>two | x |",
    "| A |\n| --- |\n| a |\n\n| B |\n| --- |\n| b |",
    // Footnotes.
    "The lamp[^1] burned.[^2]\n\n[^1]: A *Fresnel* lens.\n\n[^2]: All night.",
    "A note[^1] of two paragraphs.\n\n[^1]: First.\n\n    Second.",
    "- In a list[^1]\n\n> And in a quotation.[^2]\n\n[^1]: One.\n\n[^2]: Two, with [a link](https://a.example/).",
    // Lists in notes, empty entries.
    "A[^1].\n\n[^1]: Note with\n\n    - a list\n    - of two",
    "-\n- a\n-",
    "Twice[^1], and again.[^1]\n\n[^1]: Note.",
    // Links and addresses.
    "A [link](https://a.example/x?a=1&b=2), <https://b.example/> and [mail](mailto:ana@a.example).",
    "[*Emphasis*, `code` and words](https://a.example/).",
    // Other scripts.
    "שלום עולם\n\nThe word שלום is *Hebrew*.\n\n- אחד\n- שתיים",
    "مرحبا **بالعالم**\n\n| اسم | زيت |\n| --- | --- |\n| مصباح | ٢ |",
    "灯塔看守人每晚都写日记。\n\n**注意**：油快用完了。",
    "灯台守は毎晩日記を書いた。\\\n「*風*が強い」と彼は言った。",
    "Ünïcödé, emoji 🙂🏳️‍🌈, “quotes”, 1\u{a0}000\u{a0}€ and «\u{a0}guillemets\u{a0}».",
    // Pictures and formulas.
    "![A lamp](https://a.example/lamp.png)",
    "Beside ![a lamp, lit](https://a.example/lamp.png) words, **![bold](https://a.example/b.png)**.",
    "![](https://a.example/lamp.png)",
    "Euler: $e^{i\\pi} + 1 = 0$.",
    "$$\na^2 + b^2 = c^2\n$$",
    "It costs $5 to $10, or 5 $.",
    "\\$a\\$ is no formula.",
    "$$\n\\int_0^1 x\n$$\n\nWords with $x$ and $y$.\n\n- $a_1 * b_1$",
];

/// Text that comes back otherwise, and why.
struct Difference {
    text: &'static str,
    back: &'static str,
    reason: &'static str,
}

const DIFFERENT: &[Difference] = &[
    Difference {
        text: "# Title\n\n---\ntitle: No front matter\n---",
        back: "# Title\n\n---\n\n## title: No front matter",
        reason: "After the first line, lines between dashes are a heading.",
    },
    Difference {
        text: "---\ntitle: The lamp\nauthor: Ana\n---\n\nWords.",
        back: "Words.",
        reason: "Front matter becomes properties of the file; its title is the title of the document.",
    },
    Difference {
        text: "Title\n=====\n\nSub\n---\n\nWords.",
        back: "# Title\n\n## Sub\n\nWords.",
        reason: "A heading is written with signs before it.",
    },
    Difference {
        text: "* a\n* b\n\n+ c\n+ d",
        back: "- a\n- b\n- c\n- d",
        reason: "Lists in a row are one to a reader of paragraphs; bullets are dashes.",
    },
    Difference {
        text: "1) one\n2) two",
        back: "1. one\n2. two",
        reason: "Numbers end with a full stop.",
    },
    Difference {
        text: "_emphasis_ and __strong__ and ~one tilde~",
        back: "*emphasis* and **strong** and ~~one tilde~~",
        reason: "Each mark is written in one way.",
    },
    Difference {
        text: "    indented code\n\nWords.",
        back: "```\nindented code\n```\n\nWords.",
        reason: "Code has a fence.",
    },
    Difference {
        text: "~~~ text\ncode\n~~~",
        back: "```text\ncode\n```",
        reason: "Fences are backticks.",
    },
    Difference {
        text: "```\na\n```\n\n```\nb\n```",
        back: "```\na\nb\n```",
        reason: "Lines of code in a row are one block.",
    },
    Difference {
        text: "```rust,ignore\na\n```",
        back: "```\na\n```",
        reason: "A name of a language with a comma can be no name of a style.",
    },
    Difference {
        text: "A [reference][1] and https://bare.example/ here.\n\n[1]: https://a.example/ \"Title\"",
        back: "A [reference](https://a.example/) and https://bare.example/ here.",
        reason: "An address stands with its words, and a title of a link is not exported.",
    },
    Difference {
        text: "[Titled](https://a.example/ \"A title\") and ![x](https://a.example/x.png \"Its title\").",
        back: "[Titled](https://a.example/) and ![x](https://a.example/x.png).",
        reason: "Titles of links and pictures are not exported.",
    },
    Difference {
        text: "[Relative](notes/today.md), [anchor](#lamp) and [bad](javascript:alert(1)).",
        back: "Relative, anchor and bad.",
        reason: "Addresses within a folder or a page lead nowhere from another file; others are not safe.",
    },
    Difference {
        text: "![Relative](lamp.png)",
        back: "Relative (lamp.png)",
        reason: "Addresses within a folder lead nowhere from another file.",
    },
    Difference {
        text: "[![Picture](https://a.example/p.png)](https://b.example/)",
        back: "![Picture](https://a.example/p.png)",
        reason: "A run in Word has one address.",
    },
    Difference {
        text: "*[A link](https://a.example/)* in emphasis.",
        back: "[*A link*](https://a.example/) in emphasis.",
        reason: "A link is the outermost mark.",
    },
    Difference {
        text: "![a *lamp*](https://a.example/lamp.png)",
        back: "![a lamp](https://a.example/lamp.png)",
        reason: "The description of a picture has no marks.",
    },
    Difference {
        text: "One line\nand another.\n\n第一行\n第二行。",
        back: "One line and another.\n\n第一行第二行。",
        reason: "Line ends within a paragraph are blanks, or nothing between Chinese characters.",
    },
    Difference {
        text: "Two blanks  \nbreak a line.",
        back: "Two blanks\\\nbreak a line.",
        reason: "A line break is a backslash.",
    },
    Difference {
        text: "- a\n\n- b\n\n- c",
        back: "- a\n- b\n- c",
        reason: "Word has no lists with blank lines between the entries.",
    },
    Difference {
        text: "- a\n\n  second paragraph\n- b",
        back: "- a\n\n  second paragraph\n\n- b",
        reason: "A list with several paragraphs in an entry has blank lines everywhere.",
    },
    Difference {
        text: "- a\n\n<!-- apart -->\n\n- b",
        back: "- a\n- b",
        reason: "Comments are left out.",
    },
    Difference {
        text: "> - a\n> - b\n>\n> words",
        back: "- a\n- b\n\n> words",
        reason: "A paragraph in Word is an entry or a quotation.",
    },
    Difference {
        text: "> outer\n>\n> > inner",
        back: "> outer\n>\n> inner",
        reason: "Quotations in Word are not within each other.",
    },
    Difference {
        text: "> One.\n\n<!-- -->\n\n> Two.",
        back: "> One.\n>\n> Two.",
        reason: "Comments are left out, and quotations in a row are one.",
    },
    Difference {
        text: "> # Heading\n>\n> ```\n> code\n> ```",
        back: "# Heading\n\n```\ncode\n```",
        reason: "A paragraph in Word is a heading, code or a quotation.",
    },
    Difference {
        text: "- # Heading\n- > quoted\n- | a |\n  | --- |\n  | b |",
        back: "# Heading\n\n- quoted\n\n| a |\n| --- |\n| b |\n\n-",
        reason: "A paragraph in Word is an entry, a heading or a quotation; tables are in no entry.",
    },
    Difference {
        text: "- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              - h\n                - i\n                  - j",
        back: "- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              - h\n                - i\n                - j",
        reason: "Word has nine levels.",
    },
    Difference {
        text: "1. a\n\n   ---\n\n2. b",
        back: "1. a\n\n---\n\n2. b",
        reason: "A line is in no entry.",
    },
    Difference {
        text: "| a | b |\n|---|---|\n| **x** |\n| `y` | z | more |",
        back: "| a | b |\n| --- | --- |\n| **x** |  |\n| `y` | z |",
        reason: "All rows have as many cells as the heading.",
    },
    Difference {
        text: "| | |\n|---|---|\n| a | b |",
        back: "|  |  |\n| --- | --- |\n| a | b |",
        reason: "Tables are set out in one way.",
    },
    Difference {
        text: "A[^note] and b[^1], again[^note].\n\n[^1]: One.\n[^note]: Note.",
        back: "A[^1] and b[^2], again[^1].\n\n[^1]: Note.\n\n[^2]: One.",
        reason: "Notes have numbers in the order of their references.",
    },
    Difference {
        text: "Words.\n\n[^lost]: A note without a reference.",
        back: "Words.\n\n\\[^lost\\]: A note without a reference.",
        reason: "A note without a reference is text, so that its words stay.",
    },
    Difference {
        text: "A[^1].\n\n[^1]: Note with a note.[^2]\n\n[^2]: Inner.",
        back: "A[^1].\n\n\\[^2\\]: Inner.\n\n[^1]: Note with a note.\\[^2]",
        reason: "Word has no notes in notes, so the inner one is text.",
    },
    Difference {
        text: "Words <!-- a comment --> go on.\n\n<!-- alone -->\n\nEnd.",
        back: "Words  go on.\n\nEnd.",
        reason: "Comments are left out.",
    },
    Difference {
        text: "<div align=\"center\">\n  <b>HTML</b>\n</div>\n\nA <kbd>key</kbd> and a<br>break.",
        back: "```\n<div align=\"center\">\n  <b>HTML</b>\n</div>\n```\n\nA `<kbd>`key`</kbd>` and a\\\nbreak.",
        reason: "HTML in a text is shown as code, so that none of it is lost.",
    },
    Difference {
        text: "&copy; 2026 &mdash; caf&eacute; &#9731;",
        back: "© 2026 — café ☃",
        reason: "Entities are the characters that they name.",
    },
    Difference {
        text: "\\*Unneeded\\* \\- \\! \\. escapes",
        back: "\\*Unneeded\\* - ! . escapes",
        reason: "A backslash stands only where it is needed.",
    },
    Difference {
        text: "Display $$a + b$$ within words.",
        back: "Display $a + b$ within words.",
        reason: "A formula in a line of words is one within a line.",
    },
    Difference {
        text: "#\n\nAfter an empty heading.",
        back: "After an empty heading.",
        reason: "Nothing is to be seen of an empty heading.",
    },
    Difference {
        text: "- [ ] \n- [x] a",
        back: "- ☐\n- [x] a",
        reason: "A box without words is a sign like others.",
    },
    Difference {
        text: "```\n```\n\nAfter empty code.",
        back: "After empty code.",
        reason: "Nothing is to be seen of empty code.",
    },
    Difference {
        text: "***\n\n- - -",
        back: "***\n\n---",
        reason: "A line is dashes, and stars only where dashes would begin front matter.",
    },
    Difference {
        text: "☐ no task\n\n☑ no task either",
        back: "- [ ] no task\n- [x] no task either",
        reason: "Boxes to tick are tasks.",
    },
    Difference {
        text: "Trailing blanks   \n\n\n\nMany empty lines.\n",
        back: "Trailing blanks\n\nMany empty lines.",
        reason: "Blanks and empty lines that no one sees are not kept.",
    },
    Difference {
        text: "Caf\u{301}e\u{200b}x\u{ad}y\tz",
        back: "Caf\u{301}e\u{200b}x\u{ad}y z",
        reason: "A tab is a blank.",
    },
];

fn back(text: &str) -> String {
    read(&manuscript(text, vec![]).export(ExportFormat::Docx).unwrap()).markdown
}

fn read(file: &[u8]) -> Converted {
    from_word(file).unwrap()
}

#[test]
fn what_word_can_hold_comes_back_as_the_same_markdown() {
    let mut wrong = Vec::new();
    for text in SAME {
        let back = back(text);
        if back != *text {
            wrong.push(format!("{text}\n-- came back as --\n{back}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n=======\n"));
}

#[test]
fn what_comes_back_otherwise_has_a_reason() {
    for Difference { text, back: expected, reason } in DIFFERENT {
        assert!(!reason.is_empty());
        assert_eq!(back(text), *expected, "{reason}");
    }
}

#[test]
fn tracked_changes_come_back_as_changes() {
    for (old, new) in [
        ("The lamp burned.", "The old lamp did not burn."),
        ("# Title\n\nWords and *more* words.", "# Title\n\nWords and more **words**."),
        ("- a\n- b\n- c", "- a\n- c\n- d"),
        ("1. a\n2. b", "1. a\n2. new\n3. b"),
        ("| a | b |\n| --- | --- |\n| c | d |", "| a | b |\n| --- | --- |\n| e | f |\n| c | d |"),
        ("```rust\nlet a = 1;\n```", "```rust\nlet b = 1;\n```"),
        ("See ![a lamp](https://a.example/l.png).", "See ![an old lamp](https://a.example/l.png)."),
        ("So $x + 1$ it is.", "So $y + 1$ it is."),
        ("Words.[^1]\n\n[^1]: Note.", "Words.[^1]\n\n[^1]: Another note."),
        ("One.\n\nTwo.\n\nThree.", "One.\n\nThree."),
    ] {
        let file = manuscript(old, vec![request(1, "Ana", old, new)]).export(ExportFormat::Docx);
        let read = read(&file.unwrap());
        assert_eq!(read.markdown, old);
        assert_eq!(with_changes(&read), new);
    }
}

#[test]
fn another_kind_of_paragraph_is_a_change_too() {
    let (old, new) = ("# Title\n\nWords.", "## Title\n\nWords.");
    let file = manuscript(old, vec![request(1, "Ana", old, new)]).export(ExportFormat::Docx);
    let read = read(&file.unwrap());
    assert_eq!((read.markdown.as_str(), read.suggestions.len()), (old, 1));
    assert_eq!(with_changes(&read), new);
    assert!(read.report.is_empty());
}

/// Returns the Markdown with all tracked changes accepted.
fn with_changes(read: &Converted) -> String {
    let mut parts: Vec<_> = read
        .suggestions
        .iter()
        .flat_map(|suggestion| &suggestion.changes)
        .flat_map(|change| &change.parts)
        .collect();
    parts.sort_by_key(|part| part.from);
    let mut units: Vec<u16> = read.markdown.encode_utf16().collect();
    for part in parts.into_iter().rev() {
        units.splice(part.from..part.to, part.insert.encode_utf16());
    }
    String::from_utf16(&units).unwrap()
}
