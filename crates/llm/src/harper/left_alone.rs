//! Finds the parts of a text that are never corrected: identifiers, names, words quoted as words,
//! words marked `[sic]`, and what Markdown does not show as prose.

use std::ops::Range;

use super::quoted::QuotedRanges;

/// Most words of a quotation that mentions words instead of quoting speech.
const MOST_MENTIONED_WORDS: usize = 3;

/// Number of scalars after a word in which `[sic]` speaks of it.
const SIC_DISTANCE: usize = 40;

/// Ranges of a text that are left alone, in Unicode scalars.
pub(super) struct LeftAlone<'a> {
    text: &'a [char],
    ranges: Vec<Range<usize>>,
}

impl<'a> LeftAlone<'a> {
    /// Finds front matter, math, HTML tags, link targets, footnote labels, and short quotations.
    pub(super) fn in_text(text: &'a [char], quoted: &QuotedRanges) -> Self {
        let mut ranges: Vec<_> = front_matter(text).into_iter().collect();
        for (open, close) in [("$$", "$$"), ("<!--", "-->"), ("](", ")"), ("[^", "]"), ("{{", "}}")]
        {
            between(text, open, close, &mut ranges);
        }
        in_lines(text, &mut ranges);
        ranges.extend(quoted.ranges().filter(|range| is_mention(&text[(*range).clone()])).cloned());
        Self { text, ranges }
    }

    pub(super) fn covers(&self, from: usize, to: usize) -> bool {
        self.ranges.iter().any(|range| from < range.end && range.start < to)
            || is_shouted(&self.text[from..to])
            || self.is_in_single_quotes(from, to)
            || self.is_marked_sic(to)
            || self.runs(from, to).any(is_identifier)
    }

    /// Returns `true` if a capitalised word at `from` is inside a sentence: a name, most likely.
    pub(super) fn is_name(&self, from: usize) -> bool {
        let is_mark = |letter: &&char| " \"'“‘([*_".contains(**letter);
        let before = self.text[..from].iter().rev().skip_while(is_mark);
        let in_sentence =
            before.clone().next().is_some_and(|c| c.is_alphanumeric() || ",;".contains(*c));
        let line: Vec<&char> = self.text[..from].iter().rev().take_while(|c| **c != '\n').collect();
        let heading = line.iter().rev().find(|c| ***c != ' ').is_some_and(|c| **c == '#');
        let word = self.text[from].is_uppercase()
            && self.text.get(from + 1).is_some_and(|letter| letter.is_alphabetic());
        word && in_sentence && !heading
    }

    /// Returns the runs without white space that `from..to` touches.
    fn runs(&self, from: usize, to: usize) -> impl Iterator<Item = &[char]> {
        let is_space = |letter: &&char| letter.is_whitespace();
        let before = self.text[..from].iter().rev().take_while(|it| !is_space(it)).count();
        let after = self.text[to..].iter().take_while(|it| !is_space(it)).count();
        self.text[from - before..to + after].split(|letter| letter.is_whitespace())
    }

    fn is_in_single_quotes(&self, from: usize, to: usize) -> bool {
        let opens = from > 0 && matches!(self.text[from - 1], '\'' | '‘');
        opens && self.text.get(to).is_some_and(|letter| matches!(letter, '\'' | '’'))
    }

    fn is_marked_sic(&self, to: usize) -> bool {
        let rest = self.text[to..].iter().take(SIC_DISTANCE);
        let sentence: String = rest.take_while(|letter| !".!?\n".contains(**letter)).collect();
        ["[sic", "(sic", "[*sic", "(*sic", "[_sic"].iter().any(|mark| sentence.contains(mark))
    }
}

/// Returns `true` for words in capitals only: a name, an abbreviation or a heading.
fn is_shouted(letters: &[char]) -> bool {
    let mut letters = letters.iter().filter(|letter| letter.is_alphabetic());
    letters.clone().count() > 1 && letters.all(|letter| letter.is_uppercase())
}

/// Returns `true` for handles, tags, flags, paths, addresses, versions and names in program code.
fn is_identifier(run: &[char]) -> bool {
    let is_edge = |letter: &char| "\"'“”‘’()[]{}<>*_,;:!?.…|".contains(*letter);
    let from = run.iter().take_while(|it| is_edge(it) && **it != '<').count();
    let tail = run[from..].iter().rev().take_while(|it| is_edge(it)).count();
    let core = &run[from..run.len() - tail];
    let starts = matches!(core, ['@' | '#' | '$' | '~' | '%' | '/', ..])
        || matches!(core, ['-', '-', ..])
        || matches!(core, ['-', letter, ..] if letter.is_alphanumeric())
        || (from > 0 && run[from - 1] == '.' && core.len() < run.len() - tail);
    let joined = core.windows(3).any(|around| {
        let [left, mark, right] = [around[0], around[1], around[2]];
        left.is_alphanumeric()
            && "_.@=\\:".contains(mark)
            && (right.is_alphanumeric() || right == mark)
    });
    let camel = core.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    let digits = core.iter().any(char::is_ascii_digit) && core.iter().any(|it| it.is_alphabetic());
    let paths = core.iter().any(|letter| "/\\=@<$".contains(*letter));
    !core.is_empty() && (starts || joined || camel || digits || paths)
}

/// Returns `true` for a quotation of a few words that does not end like speech.
fn is_mention(quotation: &[char]) -> bool {
    let inside: String = quotation.iter().filter(|c| !"\"“”‘’«»„".contains(**c)).collect();
    let words = inside.split_whitespace().count();
    let is_speech = inside.trim_end().ends_with(['.', ',', '!', '?', '…', '—', '–', ';']);
    (1..=MOST_MENTIONED_WORDS).contains(&words)
        && !is_speech
        && !inside.starts_with('>')
        && quotation.len() > 1
        && quotation.last().is_some_and(|last| "\"”’«»“".contains(*last))
}

/// Returns the block between two lines `---` or `+++` at the start of the text.
fn front_matter(text: &[char]) -> Option<Range<usize>> {
    let mut end = 0;
    let mut fence: Option<String> = None;
    for line in text.split_inclusive(|letter| *letter == '\n') {
        end += line.len();
        let line: String = line.iter().collect();
        match &fence {
            None if matches!(line.trim_end(), "---" | "+++") => {
                fence = Some(line.trim_end().into());
            }
            None => return None,
            Some(fence) if line.trim_end() == fence => return Some(0..end),
            Some(_) => {}
        }
    }
    None
}

/// Adds the ranges from each `open` to the next `close` in the same paragraph.
fn between(text: &[char], open: &str, close: &str, ranges: &mut Vec<Range<usize>>) {
    let (open, close): (Vec<char>, Vec<char>) = (open.chars().collect(), close.chars().collect());
    let mut at = 0;
    while at < text.len() {
        if !text[at..].starts_with(&open) {
            at += 1;
            continue;
        }
        let inside = at + open.len();
        let limit = text[inside..].windows(2).position(|pair| pair == ['\n', '\n']);
        let limit = limit.map_or(text.len(), |length| inside + length);
        let length = text[inside..limit].windows(close.len()).position(|part| part == close);
        let Some(length) = length else {
            at = inside;
            continue;
        };
        let end = inside + length + close.len();
        ranges.push(at..end);
        at = end;
    }
}

/// Adds what stands in one line: math between dollars, HTML tags, and definitions of link targets.
fn in_lines(text: &[char], ranges: &mut Vec<Range<usize>>) {
    let mut from = 0;
    for line in text.split_inclusive(|letter| *letter == '\n') {
        let first = line.iter().position(|letter| *letter != ' ').unwrap_or(0);
        let label_end = line.windows(2).position(|pair| pair == [']', ':']);
        if line[first..].starts_with(&['[']) && !line[first..].starts_with(&['[', '^']) {
            ranges.extend(label_end.map(|_| from..from + line.len()));
        }
        in_line(line, from, ranges);
        from += line.len();
    }
}

fn in_line(line: &[char], from: usize, ranges: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while at + 1 < line.len() {
        let (mark, next) = (line[at], line[at + 1]);
        let close = match mark {
            '$' if !next.is_whitespace() && next != '$' => '$',
            '<' if next.is_ascii_alphabetic() || next == '/' => '>',
            _ => {
                at += 1;
                continue;
            }
        };
        let end = (at + 2..line.len())
            .find(|end| line[*end] == close && (close == '>' || is_end_of_math(line, *end)));
        ranges.extend(end.map(|end| from + at..from + end + 1));
        at = end.unwrap_or(at) + 1;
    }
}

/// Returns `true` if the dollar ends math: no space before it and no digit after it ("$5 or $6").
fn is_end_of_math(line: &[char], at: usize) -> bool {
    !line[at - 1].is_whitespace() && !line.get(at + 1).is_some_and(char::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says whether the word between the bars is left alone.
    fn is_left_alone(text: &str) -> bool {
        let parts: Vec<&str> = text.split('¦').collect();
        let length = |part: &str| part.chars().count();
        let (from, to) = (length(parts[0]), length(parts[0]) + length(parts[1]));
        let letters: Vec<char> = parts.concat().chars().collect();
        let quoted = QuotedRanges::in_text(&letters);
        LeftAlone::in_text(&letters, &quoted).covers(from, to)
    }

    #[test]
    fn identifiers_are_left_alone() {
        for text in [
            "ask @¦teh¦ now",
            "the tag #¦recieve¦",
            "see /usr/¦teh¦/x",
            "see ./¦teh¦",
            "pass --¦recieve¦",
            "pass -¦teh¦",
            "set ¦teh¦=1",
            "set TEH_¦recieve¦",
            "call ¦recieve¦_all",
            "call get¦Recieve¦",
            "read (¦recieve¦.txt)",
            "mail ¦teh¦@example.org",
            "at https://a.example/¦teh¦",
            "C:\\¦teh¦\\x",
            "std::¦recieve¦",
            "in ¦teh¦2",
            "$¦teh¦ is set",
            "a .¦teh¦ file",
        ] {
            assert!(is_left_alone(text), "{text}");
        }
    }

    #[test]
    fn words_of_prose_are_not() {
        for text in [
            "**¦teh¦** boat",
            "(¦teh¦ boat)",
            "“¦Teh¦ fog,” he said",
            "- ¦teh¦ boat",
            "# ¦Teh¦ boat",
            "well-¦recieved¦ boat",
            "[the ¦recieve¦ page](x)",
            "it cost $5 ¦teh¦ and $6",
            "| ¦teh¦ |",
            "2 < 3 and ¦teh¦ > 1",
            "¦teh¦: one",
        ] {
            assert!(!is_left_alone(text), "{text}");
        }
    }

    #[test]
    fn mentions_and_sic_and_capitals_are_left_alone() {
        for text in [
            "the word “¦teh¦” is",
            "the word \"¦teh¦\" is",
            "the word '¦teh¦' is",
            "the word ‘¦teh¦’ is",
            "¦teh¦ [sic] boat",
            "he ¦recieve¦ it (sic)",
            "¦TEH¦ END",
        ] {
            assert!(is_left_alone(text), "{text}");
        }
    }

    #[test]
    fn what_markdown_does_not_show_is_left_alone() {
        for text in [
            "---\na: ¦teh¦\n---\nb",
            "+++\na = ¦teh¦\n+++\n",
            "$$\na ¦teh¦ b\n$$",
            "$a ¦teh¦ b$ c",
            "<p title=\"a ¦teh¦ b\">",
            "<!-- a ¦teh¦ b -->",
            "[a](b \"c ¦teh¦\")",
            "a[^the ¦teh¦]",
            "[a]: b \"c ¦teh¦ d\"",
            "{{ a ¦teh¦ b }}",
        ] {
            assert!(is_left_alone(text), "{text}");
        }
        assert!(!is_left_alone("[^1]: A note on ¦teh¦ boat."));
    }

    #[test]
    fn capitalised_words_inside_a_sentence_are_names() {
        let is_name = |text: &str, at: usize| {
            let letters: Vec<char> = text.chars().collect();
            LeftAlone::in_text(&letters, &QuotedRanges::in_text(&letters)).is_name(at)
        };
        assert!(is_name("to Recieve", 3) && is_name("to “Teh", 4));
        assert!(!is_name("to recieve", 3) && !is_name("End. Teh", 5) && !is_name("# A Teh", 4));
    }
}
