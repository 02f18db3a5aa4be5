//! Scanner of shell commands: finds the commands in a line and splits them into words. It knows
//! quotes, operators and keywords, not the whole grammar.

use std::collections::BTreeSet;

use super::argv::unquoted;

/// Parts of a line that a warning may be about. Words are as they are written.
#[derive(Default)]
pub(super) struct ShellParts<'s> {
    /// Commands of which each feeds the next; usually one.
    pub(super) pipelines: Vec<Vec<Vec<&'s str>>>,
    /// Redirections: operator and file.
    pub(super) redirections: Vec<&'s str>,
    /// Codes of the warnings about other parts of the syntax.
    pub(super) syntax: BTreeSet<&'static str>,
}

/// Way in which the characters of a [`Frame`] are read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum FrameKind {
    #[default]
    Commands,
    /// Arithmetic, a condition, or a parameter in braces.
    Expression,
    /// Text between double quotes.
    Quoted,
}

/// Texts that begin a frame within any other, the kind of the frame, and the text that ends it.
const OPENINGS: [(&str, FrameKind, &str); 4] = [
    ("$((", FrameKind::Expression, "))"),
    ("${", FrameKind::Expression, "}"),
    ("$(", FrameKind::Commands, ")"),
    ("`", FrameKind::Commands, "`"),
];
/// Texts that begin a frame outside of double quotes.
const UNQUOTED_OPENINGS: [(&str, FrameKind, &str); 3] = [
    ("\"", FrameKind::Quoted, "\""),
    ("<(", FrameKind::Commands, ")"),
    (">(", FrameKind::Commands, ")"),
];
/// Operators. Of two with the same beginning, the longer one is first.
const OPERATORS: [&str; 22] = [
    "&>>", "<<<", "<<-", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">", "&&", "||", "|&", "|",
    "&", ";", "\n", "((", "(", ")",
];
/// Keywords that begin a compound command, those that end one, and those between.
const KEYWORDS: [&[&str]; 3] = [
    &["if", "while", "until", "for", "select", "case", "{"],
    &["fi", "done", "esac", "}"],
    &["then", "else", "elif", "do", "!", "function"],
];

/// Part of the line that ends by itself: a substitution, a subshell, a quoted text.
#[derive(Default)]
struct Frame<'s> {
    kind: FrameKind,
    /// Text that ends the frame; empty for the outermost one.
    end: &'static str,
    /// `true` between double quotes, where single quotes are text.
    is_quoted: bool,
    /// Start of the word that is being read.
    word: Option<usize>,
    /// Start of the redirection whose file is the next word.
    redirection: Option<usize>,
    words: Vec<&'s str>,
    pipeline: Vec<Vec<&'s str>>,
    /// `true` while the words are no command, as those between `for` and `do`.
    passes_words: bool,
}

#[derive(Default)]
struct Scanner<'s> {
    line: &'s str,
    at: usize,
    frame: Frame<'s>,
    /// Frames around the present one, on the heap: a command may be nested as deeply as it is long.
    outer: Vec<Frame<'s>>,
    /// Compound commands that have begun, less those that have ended.
    compounds: i32,
    /// Here-documents that begin on the next line: operator and last line.
    here_documents: Vec<(&'s str, &'s str)>,
    parts: ShellParts<'s>,
}

/// Returns the parts of a line. A command within another one comes before it.
pub(super) fn scan(line: &str) -> ShellParts<'_> {
    let mut scanner = Scanner { line, ..Scanner::default() };
    while let Some(first) = scanner.rest().chars().next() {
        scanner.step(first);
    }
    let is_open = !scanner.outer.is_empty();
    while !scanner.outer.is_empty() {
        scanner.leave();
    }
    scanner.leave();
    if is_open || scanner.compounds != 0 {
        scanner.parts.syntax.insert("unparsed");
    }
    scanner.parts
}

impl<'s> Scanner<'s> {
    fn rest(&self) -> &'s str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self, first: char) {
        let (kind, end, rest) = (self.frame.kind, self.frame.end, self.rest());
        if first == '\\' {
            return self.escape(rest);
        }
        if !end.is_empty() && rest.starts_with(end) {
            self.leave();
            self.at += end.len();
            return;
        }
        let unquoted_openings = UNQUOTED_OPENINGS.iter().filter(|_| kind != FrameKind::Quoted);
        let mut openings = OPENINGS.iter().chain(unquoted_openings);
        if let Some((text, kind, end)) = openings.find(|(text, ..)| rest.starts_with(text)) {
            self.begin_word();
            if *kind == FrameKind::Commands {
                self.parts.syntax.insert("substitution");
            }
            return self.enter(text.len(), *kind, end);
        }
        let is_in_command = kind == FrameKind::Commands;
        if first == '\'' && !self.frame.is_quoted {
            self.pass_quotes(rest);
        } else if first == '(' && kind == FrameKind::Expression {
            self.enter(1, kind, ")");
        } else if is_in_command && matches!(first, ' ' | '\t') {
            self.end_word();
            self.at += 1;
        } else if is_in_command && first == '#' && self.frame.word.is_none() {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(operator) = OPERATORS.iter().find(|it| rest.starts_with(**it))
            && is_in_command
        {
            self.operator(operator);
        } else {
            self.begin_word();
            self.at += first.len_utf8();
        }
    }

    /// Passes over a backslash and what it quotes. An escaped end of a line is no part of a word.
    fn escape(&mut self, rest: &str) {
        if !rest.starts_with("\\\n") {
            self.begin_word();
        }
        // Between backquotes, escaped ones are a command within that command.
        let mut frames = self.outer.iter().chain([&self.frame]);
        if rest.starts_with("\\`") && frames.any(|frame| frame.end == "`") {
            self.parts.syntax.insert("unparsed");
        }
        self.at += rest.chars().take(2).map(char::len_utf8).sum::<usize>();
    }

    /// Passes over single quotes and the text between them. In `$'…'`, a backslash quotes.
    fn pass_quotes(&mut self, rest: &str) {
        let has_escapes = self.line.get(..self.at).is_some_and(|it| it.ends_with('$'));
        self.begin_word();
        let mut is_escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, character)| {
            let ends = *character == '\'' && !is_escaped;
            is_escaped = has_escapes && *character == '\\' && !is_escaped;
            ends
        });
        if end.is_none() {
            self.parts.syntax.insert("unparsed");
        }
        self.at += end.map_or(rest.len(), |(at, _)| at + 1);
    }

    fn begin_word(&mut self) {
        self.frame.word.get_or_insert(self.at);
    }

    /// Goes on behind `length` bytes, in a frame of its own.
    fn enter(&mut self, length: usize, kind: FrameKind, end: &'static str) {
        self.at += length;
        let is_quoted = match kind {
            FrameKind::Commands => false,
            FrameKind::Expression => self.frame.is_quoted,
            FrameKind::Quoted => true,
        };
        let frame = Frame { kind, end, is_quoted, ..Frame::default() };
        self.outer.push(std::mem::replace(&mut self.frame, frame));
    }

    fn leave(&mut self) {
        if self.frame.kind == FrameKind::Commands {
            self.end_pipeline();
        }
        if let Some(outer) = self.outer.pop() {
            self.frame = outer;
        }
    }

    fn operator(&mut self, operator: &'static str) {
        match operator {
            "((" | "(" => return self.parenthesis(operator),
            // The end of a pattern of `case`, or an error.
            ")" => {
                self.parts.syntax.insert("unparsed");
                self.end_pipeline();
            }
            "|" | "|&" => self.end_command(),
            "&&" | "||" | ";" => self.end_pipeline(),
            "&" => {
                self.parts.syntax.insert("background");
                self.end_pipeline();
            }
            "\n" => {
                self.end_pipeline();
                self.at += 1;
                return self.pass_here_documents();
            }
            _ => {
                // A number before the operator is part of it.
                let word = self.frame.word.and_then(|from| self.line.get(from..self.at));
                if word.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit())) {
                    self.frame.redirection = self.frame.word.take();
                } else {
                    self.end_word();
                    self.frame.redirection = Some(self.at);
                }
            }
        }
        self.at += operator.len();
    }

    /// Begins a function, an array, a subshell or arithmetic.
    fn parenthesis(&mut self, operator: &str) {
        let is_array = self.line.get(..self.at).is_some_and(|it| it.ends_with('='));
        self.end_word();
        let words = &mut self.frame.words;
        if words.len() < 2 && self.line.get(self.at + 1..).is_some_and(|it| it.starts_with(')')) {
            self.parts.syntax.insert("function");
            words.clear();
            self.at += 2;
        } else if operator == "((" && words.is_empty() {
            self.enter(2, FrameKind::Expression, "))");
        } else {
            if !words.is_empty() {
                self.parts.syntax.insert("unparsed");
            }
            self.enter(1, FrameKind::Commands, ")");
            self.frame.passes_words = is_array;
        }
    }

    fn end_word(&mut self) {
        let Some(from) = self.frame.word.take() else { return };
        let word = self.line.get(from..self.at).unwrap_or_default();
        if let Some(from) = self.frame.redirection.take() {
            let text = self.line.get(from..self.at).unwrap_or_default();
            return self.redirect(text, word);
        }
        let [begins, ends, between] = KEYWORDS.map(|keywords| keywords.contains(&word));
        if self.frame.passes_words || !self.frame.words.is_empty() {
            self.frame.words.push(word);
        } else if begins || ends {
            self.compounds += if begins { 1 } else { -1 };
            self.frame.passes_words = matches!(word, "for" | "select" | "case");
        } else if word == "[[" {
            self.enter(0, FrameKind::Expression, "]]");
        } else if !between && !is_assignment(word) {
            self.frame.words.push(word);
        }
        if word == "function" {
            self.parts.syntax.insert("function");
        }
    }

    fn redirect(&mut self, text: &'s str, file: &'s str) {
        let operator = text.trim_start_matches(|it: char| it.is_ascii_digit());
        if !operator.starts_with("<<") {
            return self.parts.redirections.push(text);
        }
        self.parts.syntax.insert("heredoc");
        if !operator.starts_with("<<<") {
            self.here_documents.push((operator, file));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.frame.words);
        if !words.is_empty() && !self.frame.passes_words {
            self.frame.pipeline.push(words);
        }
        self.frame.passes_words = false;
        if self.frame.redirection.take().is_some() {
            self.parts.syntax.insert("unparsed");
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        let pipeline = std::mem::take(&mut self.frame.pipeline);
        self.parts.pipelines.extend(Some(pipeline).filter(|it| !it.is_empty()));
    }

    /// Passes over the here-documents that begin on this line.
    fn pass_here_documents(&mut self) {
        for (operator, word) in std::mem::take(&mut self.here_documents) {
            let tabs: &[char] = if operator.starts_with("<<-") { &['\t'] } else { &[] };
            let last = unquoted(word);
            let is_ended = self.rest().split_inclusive('\n').any(|line| {
                self.at += line.len();
                if last == word && (line.contains("$(") || line.contains('`')) {
                    self.parts.syntax.insert("substitution");
                }
                line.trim_end_matches('\n').trim_start_matches(tabs) == last
            });
            if !is_ended {
                self.parts.syntax.insert("unparsed");
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '[' | ']' | '+');
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_of_name))
}
