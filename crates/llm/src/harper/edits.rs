//! Plain commands: text in, text out. None of them needs a dictionary.

use super::intent::{LetterCase, ListStyle, QuoteStyle, SortOrder};

/// Replaces `what` everywhere, minding letter case; returns the text and the number of
/// replacements. At a letter or digit the match must end its word, so that "art" leaves "party"
/// alone.
pub(super) fn replace(text: &str, what: &str, with: &str) -> (String, usize) {
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut count) = (text, 0);
    while let Some(at) = rest.find(what) {
        let (before, tail) = (&rest[..at], &rest[at + what.len()..]);
        let left = before.chars().next_back().or_else(|| result.chars().next_back());
        result.push_str(before);
        if joins(left, what.chars().next()) || joins(what.chars().next_back(), tail.chars().next())
        {
            // Not a word of its own: keep its first letter and search after it.
            let step = what.chars().next().map_or(1, char::len_utf8);
            result.push_str(&rest[at..at + step]);
            rest = &rest[at + step..];
        } else {
            result.push_str(with);
            rest = tail;
            count += 1;
        }
    }
    result.push_str(rest);
    (result, count)
}

fn joins(left: Option<char>, right: Option<char>) -> bool {
    let in_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    in_word(left) && in_word(right)
}

pub(super) fn recase(text: &str, case: LetterCase) -> String {
    match case {
        LetterCase::Upper => text.to_uppercase(),
        LetterCase::Lower => text.to_lowercase(),
        LetterCase::Title => text.split_inclusive('\n').map(title).collect(),
    }
}

/// Words that are not capitalised in a title, unless they stand first or last.
const SMALL_WORDS: &[&str] = &[
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "if", "in", "into", "nor", "of",
    "on", "or", "over", "per", "so", "than", "the", "to", "up", "via", "with", "yet",
];

fn title(line: &str) -> String {
    let words: Vec<&str> = line.split_inclusive(char::is_whitespace).collect();
    let letters = |word: &str| word.chars().any(char::is_alphabetic);
    let first = words.iter().position(|word| letters(word));
    let last = words.iter().rposition(|word| letters(word));
    let cased = words.iter().enumerate().map(|(at, word)| {
        let bare = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        if SMALL_WORDS.contains(&bare.as_str()) && Some(at) != first && Some(at) != last {
            word.to_lowercase()
        } else {
            capitalized(word)
        }
    });
    cased.collect()
}

/// Capitalises the first letter. The others stay as they are, for names such as `McKee`.
pub(super) fn capitalized(word: &str) -> String {
    let Some(at) = word.find(char::is_alphabetic) else { return word.to_owned() };
    let (marks, letters) = word.split_at(at);
    let mut letters = letters.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    marks.chars().chain(first).chain(letters).collect()
}

/// Returns the text as a list, or `None` when it has no separate items.
pub(super) fn make_list(text: &str, list: ListStyle) -> Option<String> {
    let items = items(text);
    if items.len() < 2 {
        return None;
    }
    let marked = items.iter().enumerate().map(|(at, item)| match list {
        ListStyle::Bulleted => format!("- {item}"),
        ListStyle::Numbered => format!("{}. {item}", at + 1),
    });
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Some(marked.collect::<Vec<_>>().join("\n") + end)
}

/// Splits the text into lines, or one line at its semicolons, commas or sentence ends.
fn items(text: &str) -> Vec<String> {
    let lines: Vec<_> = text
        .lines()
        .map(without_marker)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    if lines.len() != 1 {
        return lines;
    }
    let line = lines[0].as_str();
    let by_mark = [';', ','].into_iter().find(|mark| line.matches(*mark).count() > 0);
    match by_mark {
        Some(mark) if mark == ';' || !line.contains(". ") => series(line, mark),
        Some(_) | None => sentences(line),
    }
}

/// Splits "wick, horn, and lamp." into three items.
fn series(line: &str, mark: char) -> Vec<String> {
    let line = line.trim_end_matches('.');
    let mut items: Vec<String> = line.split(mark).map(|item| item.trim().to_owned()).collect();
    if let Some(last) = items.pop() {
        match last.strip_prefix("and ").or_else(|| last.strip_prefix("or ")) {
            Some(item) => items.push(item.to_owned()),
            None => items.extend(last.split(" and ").map(|item| item.trim().to_owned())),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

fn sentences(line: &str) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation;
    line.unicode_sentences().map(|sentence| sentence.trim().to_owned()).collect()
}

/// Removes an old bullet or number from the line.
fn without_marker(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (rest.len() < line.len())
        .then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")));
    let bulleted = ["- ", "* ", "+ ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet));
    numbered.flatten().or(bulleted).unwrap_or(line).trim()
}

/// Returns the text with single spaces between words, except in indentation, in code blocks, and
/// where two spaces break a Markdown line.
pub(super) fn single_spaces(text: &str) -> String {
    prose_lines(text, |line| {
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        let content = body.trim_end();
        let end = &body[content.len()..];
        let mut single = String::with_capacity(content.len());
        for letter in content.chars() {
            if letter != ' ' || !single.ends_with(' ') {
                single.push(letter);
            }
        }
        let breaks_line = end.trim_end_matches('\n') == "  ";
        let end = if breaks_line { end } else { end.trim_start_matches([' ', '\t']) };
        format!("{indent}{single}{end}")
    })
}

/// Returns the text with its lines sorted, letter case aside; blank lines go to the end.
pub(super) fn sort_lines(text: &str, order: SortOrder) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let key = |line: &str| without_marker(line).to_lowercase();
    lines.sort_by(|a, b| {
        let words = match order {
            SortOrder::Ascending => key(a).cmp(&key(b)),
            SortOrder::Descending => key(b).cmp(&key(a)),
        };
        a.trim().is_empty().cmp(&b.trim().is_empty()).then(words)
    });
    lines.join("\n") + if text.ends_with('\n') { "\n" } else { "" }
}

/// Returns the text with the other kind of quotation marks; code stays as it is.
pub(super) fn requote(text: &str, quotes: QuoteStyle) -> String {
    match quotes {
        QuoteStyle::Straight => prose_lines(text, straight),
        QuoteStyle::Curly => prose_lines(text, curly),
    }
}

fn straight(line: &str) -> String {
    line.replace(['“', '”', '„'], "\"").replace(['‘', '’', '‚'], "'")
}

fn curly(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let (mut before, mut in_code) = (None, false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        in_code ^= letter == '`';
        let opens = before.is_none_or(|c: char| c.is_whitespace() || "([{—–-*_“‘".contains(c))
            && letters.peek().is_some_and(|next| !next.is_whitespace());
        // 'twas, '90s: the mark of an omission looks like a closing one.
        let left_out = letters.peek().is_some_and(char::is_ascii_digit);
        result.push(match letter {
            '"' | '\'' if in_code => letter,
            '"' if opens => '“',
            '"' => '”',
            '\'' if opens && !left_out => '‘',
            '\'' => '’',
            _ => letter,
        });
        before = result.chars().next_back();
    }
    result
}

/// Applies `edit` to every line outside fenced code blocks; lines keep their line ends.
fn prose_lines(text: &str, edit: impl Fn(&str) -> String) -> String {
    let mut fenced = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        if fenced || fence { line.to_owned() } else { edit(line) }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced_in_their_letter_case() {
        let count = |text, what, with| replace(text, what, with);
        assert_eq!(
            count("art, party, Art, art", "art", "craft"),
            ("craft, party, Art, craft".into(), 2)
        );
        assert_eq!(count("a.b aab a.b", "a.b", "$1"), ("$1 aab $1".into(), 2));
        assert_eq!(count("aaa", "aa", "b"), ("aaa".into(), 0));
        assert_eq!(count("été étés", "été", "hiver"), ("hiver étés".into(), 1));
        assert_eq!(count("--x--", "--", "—"), ("—x—".into(), 2));
        assert_eq!(count("Ines’s Ines", "Ines", "Ines Marrow").0, "Ines Marrow’s Ines Marrow");
    }

    #[test]
    fn titles_keep_small_words_small() {
        let title = |text| recase(text, LetterCase::Title);
        assert_eq!(title("what the fog keeps"), "What the Fog Keeps");
        assert_eq!(
            title("## the winter of the long horn\nto be in"),
            "## The Winter of the Long Horn\nTo Be In"
        );
        assert_eq!(title("“old sport” by mcKee, don't"), "“Old Sport” by McKee, Don't");
    }

    #[test]
    fn items_are_lines_series_or_sentences() {
        let bullets = |text| make_list(text, ListStyle::Bulleted);
        assert_eq!(bullets("one\n\n2) two\n* three\n"), Some("- one\n- two\n- three\n".into()));
        assert_eq!(bullets("wick, horn, and lamp."), Some("- wick\n- horn\n- lamp".into()));
        assert_eq!(bullets("wick, horn and lamp"), Some("- wick\n- horn\n- lamp".into()));
        assert_eq!(
            bullets("It rose, then fell. It froze."),
            Some("- It rose, then fell.\n- It froze.".into())
        );
        assert_eq!(bullets("a, b; c"), Some("- a, b\n- c".into()));
        assert_eq!(bullets("one thing"), None);
        assert_eq!(make_list("a\nb", ListStyle::Numbered), Some("1. a\n2. b".into()));
    }

    #[test]
    fn spaces_are_single_except_where_they_mean_something() {
        let text = "a  b   c \n    indented  x\nbreak  \n```\na  b\n```\nx  y";
        let single = "a b c\n    indented x\nbreak  \n```\na  b\n```\nx y";
        assert_eq!(single_spaces(text), single);
    }

    #[test]
    fn lines_are_sorted_by_their_words() {
        assert_eq!(sort_lines("- b\n- A\n\n- c\n", SortOrder::Ascending), "- A\n- b\n- c\n\n");
        assert_eq!(sort_lines("a\nC\nb", SortOrder::Descending), "C\nb\na");
    }

    #[test]
    fn quotation_marks_turn_the_right_way() {
        let curl = |text| requote(text, QuoteStyle::Curly);
        assert_eq!(curl("\"It's,\" she said, \"a 'light'.\""), "“It’s,” she said, “a ‘light’.”");
        assert_eq!(
            curl("(\"a\")—\"b\" the '90s `let s = \"x\";`"),
            "(“a”)—“b” the ’90s `let s = \"x\";`"
        );
        assert_eq!(curl("```\n\"a\"\n```\n\"b\""), "```\n\"a\"\n```\n“b”");
        assert_eq!(requote("“It’s ‘a’ „b“”", QuoteStyle::Straight), "\"It's 'a' \"b\"\"");
    }
}
