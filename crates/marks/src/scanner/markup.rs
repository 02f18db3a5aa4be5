//! Code, links and tags, which are read as one token each or passed over.

use super::super::reading::TokenKind;
use super::Scanner;

/// Bytes within which inline code, a tag or the target of a link ends.
const LONGEST_SPAN: usize = 2048;
const LONGEST_TARGET: usize = 256;
const LONGEST_REFERENCE: usize = 80;
/// Beginnings of addresses.
const SCHEMES: [&str; 7] = ["http://", "https://", "www.", "mailto:", "ftp://", "doi:", "file://"];
/// Ends of names of hosts.
const DOMAINS: &str = " com org net io de fr eu edu gov uk at ch ";
/// Ends of names of files.
const FILES: &str =
    " rs py js ts json yaml yml toml md txt html css csv xml pdf sh exe ini log png ";

impl Scanner<'_> {
    /// Reads code, a link or a tag. Returns `false` if none begins with the character.
    pub(super) fn markup(&mut self, c: char) -> bool {
        match c {
            '`' => self.code('`'),
            '~' if self.rest().starts_with("~~~") => self.code('~'),
            '[' => self.reference(),
            ']' => self.target(),
            '<' => self.tag(),
            '-' => self.option(),
            _ if c.is_alphabetic() => self.address() || self.dotted_name(),
            _ => false,
        }
    }

    fn skip(&mut self, bytes: usize) -> bool {
        self.at += bytes;
        true
    }

    fn code(&mut self, tick: char) -> bool {
        let rest = self.rest();
        let count = rest.len() - rest.trim_start_matches(tick).len();
        let fence = rest.get(..count).unwrap_or_default();
        let body = rest.get(count..).unwrap_or_default();
        let is_block = count >= 3 && self.previous().is_none_or(|c| c == '\n');
        let paragraph = prefix(body, LONGEST_SPAN).split("\n\n").next().unwrap_or_default();
        let end = if is_block {
            let line = ["\n", fence].concat();
            Some(body.find(&line).map_or(body.len(), |at| at + 1))
        } else {
            closing_ticks(paragraph, fence)
        };
        let Some(end) = end else { return self.skip(count) };
        let inside = body.get(..end).unwrap_or_default();
        let trimmed = if is_block { inside } else { inside.trim_matches(' ') };
        let from = self.at + count + (inside.len() - inside.trim_start_matches(' ').len());
        let from = if is_block { self.at + count } else { from };
        self.push(TokenKind::Code, from..from + trimmed.len());
        self.skip((count + end + count).min(rest.len()))
    }

    /// Reads `[12]`, `[^note]`, `[@key]` and the `[key]` of a link.
    fn reference(&mut self) -> bool {
        let rest = prefix(self.rest(), LONGEST_REFERENCE);
        let Some((inside, after)) = rest.get(1..).and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        let is_key = self.previous() == Some(']');
        let is_number = inside.starts_with(|c: char| c.is_ascii_digit())
            && inside.chars().all(|c| c.is_ascii_digit() || ", -–".contains(c));
        if after.starts_with('(') || !(is_key || is_number || inside.starts_with(['^', '@'])) {
            return false;
        }
        if !after.starts_with(':') {
            self.push(TokenKind::Link, self.at + 1..self.at + 1 + inside.len());
        }
        self.skip(inside.len() + 2)
    }

    /// Reads the target of `[words](target "title")`.
    fn target(&mut self) -> bool {
        let rest = prefix(self.rest(), LONGEST_TARGET);
        let Some(inside) = rest.strip_prefix("](") else { return false };
        let mut depth = 0;
        let end = inside.find(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0 || c.is_whitespace()
        });
        let Some(end) = end else { return false };
        let title = inside.get(end..).unwrap_or_default();
        let Some(close) = title.find(')') else { return false };
        self.push(TokenKind::Link, self.at + 2..self.at + 2 + end);
        self.skip(2 + end + close + 1)
    }

    /// Passes over a tag of HTML, and reads an address in angle brackets or in the tag.
    fn tag(&mut self) -> bool {
        let rest = prefix(self.rest(), LONGEST_TARGET);
        let inside = rest.get(1..).unwrap_or_default();
        let Some(end) = inside.find('>') else { return false };
        let tag = inside.get(..end).unwrap_or_default();
        if !tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!') {
            return false;
        }
        if SCHEMES.iter().any(|scheme| tag.starts_with(scheme)) || is_mail(tag) {
            self.push(TokenKind::Link, self.at + 1..self.at + 1 + end);
        }
        for name in ["href=", "src="] {
            let Some(at) = tag.find(name).map(|at| at + name.len()) else { continue };
            let value = tag.get(at..).unwrap_or_default();
            let quoted = value.trim_start_matches(['"', '\'']);
            let from = self.at + 1 + at + (value.len() - quoted.len());
            let length = quoted.find(['"', '\'', ' ']).unwrap_or(quoted.len());
            self.push(TokenKind::Link, from..from + length);
        }
        self.skip(end + 2)
    }

    /// Reads an option of a command, such as `--force`.
    fn option(&mut self) -> bool {
        let is_free = self.previous().is_none_or(|c| c.is_whitespace() || c == '(');
        let rest = prefix(self.rest(), LONGEST_REFERENCE);
        let Some(name) = rest.strip_prefix("--").filter(|_| is_free) else { return false };
        let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '=';
        let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            return false;
        }
        self.push(TokenKind::Code, self.at..self.at + 2 + length);
        self.skip(2 + length)
    }

    /// Reads an address that is written out.
    fn address(&mut self) -> bool {
        let rest = prefix(self.rest(), LONGEST_TARGET);
        let head = rest.as_bytes();
        let is_scheme = |scheme: &&str| {
            head.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        let may_be = matches!(head.first(), Some(b'h' | b'w' | b'm' | b'f' | b'd' | b'H' | b'W'));
        let length = head.iter().position(u8::is_ascii_whitespace).unwrap_or(head.len());
        let may_be = may_be
            && head.get(1..length).is_some_and(|it| it.contains(&b'.') || it.contains(&b':'));
        if !may_be && !head.get(..length).is_some_and(|it| it.contains(&b'@')) {
            return false;
        }
        let end = rest.find(|c: char| c.is_whitespace() || "<>\"`|«»“”".contains(c));
        let found = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let known = may_be && SCHEMES.iter().any(is_scheme);
        if !known && !is_mail(found) {
            return false;
        }
        let found = found.trim_end_matches(|c: char| ".,;:!?*_'’)".contains(c));
        self.push(TokenKind::Link, self.at..self.at + found.len());
        self.skip(found.len().max(1))
    }

    /// Reads a name with dots, such as `example.org/path` or `notes.md`, and one with underscores.
    fn dotted_name(&mut self) -> bool {
        let rest = prefix(self.rest(), LONGEST_REFERENCE);
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        let end = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let is_plain = rest.bytes().take(end).all(|byte| byte.is_ascii_alphanumeric());
        if is_plain && !rest.get(end..).is_some_and(|after| after.starts_with("()")) {
            return false;
        }
        let name = rest.get(..end).unwrap_or_default().trim_end_matches(['.', '-', '/', '_']);
        let is_call = rest.get(name.len()..).is_some_and(|after| after.starts_with("()"));
        let host = name.split('/').next().unwrap_or_default();
        let last = |name: &str, ends: &str| {
            let last = name.rsplit_once('.').filter(|(first, _)| first.len() > 1);
            last.is_some_and(|(_, last)| {
                !last.is_empty() && ends.contains(&[" ", last, " "].concat())
            })
        };
        let is_code = last(name, FILES) || is_call || name.contains('_');
        let kind = if last(host, DOMAINS) { TokenKind::Link } else { TokenKind::Code };
        if !is_code && kind == TokenKind::Code {
            return false;
        }
        self.push(kind, self.at..self.at + name.len());
        self.skip(name.len() + if is_call { 2 } else { 0 })
    }
}

/// Returns the beginning of a text, up to some bytes.
fn prefix(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns the place of as many backticks as opened the code.
fn closing_ticks(text: &str, fence: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('`').map(|at| from + at) {
        let rest = text.get(at..)?;
        let count = rest.len() - rest.trim_start_matches('`').len();
        if count == fence.len() {
            return Some(at);
        }
        from = at + count;
    }
    None
}

fn is_mail(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
        let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.contains('.');
        !name.is_empty() && name.chars().all(is_part) && is_host
    })
}
