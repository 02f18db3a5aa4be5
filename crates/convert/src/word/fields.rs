//! Fields: the result of one is text, and a field that names an address is a link.

use super::model::{Atom, Content, Look};
use super::story::StoryReader;
use super::symbols;
use crate::addresses::safe_url;

/// Field that has begun.
#[derive(Debug, Default)]
pub(super) struct Field {
    pub instruction: String,
    /// `true` if what comes now is its result.
    pub has_result: bool,
    /// Link that its result is, by its index.
    pub link: Option<usize>,
    /// `true` if its result stands for another reference to a note.
    pub is_note: bool,
    /// Label of that note, until the result is read.
    pub note: Option<String>,
    /// Atoms where its instruction is expected.
    pub swallowed: Vec<Atom>,
}

impl StoryReader<'_, '_, '_> {
    /// Begins a field.
    pub fn begin_field(&mut self) {
        self.fields.push(Field::default());
    }

    /// Takes in words of an instruction.
    pub fn instruct(&mut self, words: &str) {
        if let Some(field) = self.fields.last_mut().filter(|field| !field.has_result) {
            field.instruction.push_str(words);
        }
    }

    /// Begins the result of a field.
    pub fn begin_result(&mut self) {
        let Some(field) = self.fields.last() else { return };
        let instruction = field.instruction.clone();
        let (link, note) = (self.link_of(&instruction), self.note_of(&instruction));
        if let Some(field) = self.fields.last_mut() {
            field.has_result = true;
            field.link = link;
            (field.is_note, field.note) = (note.is_some(), note);
            // Results of inner fields are arguments.
            field.swallowed.clear();
        }
    }

    /// Ends a field.
    pub fn end_field(&mut self) {
        let Some(field) = self.fields.pop() else { return };
        if !field.has_result {
            self.show_without_result(&field.instruction);
        }
    }

    /// Ends fields whose result did not begin in their paragraph, and shows what they swallowed.
    pub fn give_up_fields(&mut self) {
        while let Some(at) = self.fields.iter().position(|field| !field.has_result) {
            let field = self.fields.remove(at);
            let tracked = self.tracked;
            for atom in field.swallowed {
                self.tracked = atom.tracked;
                self.push(atom.content, atom.look);
            }
            self.tracked = tracked;
        }
    }

    /// Returns the label of the note whose number a field shows.
    fn note_of(&self, instruction: &str) -> Option<String> {
        let words = arguments(instruction);
        let is_reference = words.first()?.eq_ignore_ascii_case("NOTEREF");
        self.findings.bookmarked_notes.get(words.get(1)?).filter(|_| is_reference).cloned()
    }

    /// Returns the link that a field makes of its result.
    pub fn link_of(&mut self, instruction: &str) -> Option<usize> {
        let words = arguments(instruction);
        if !words.first()?.eq_ignore_ascii_case("HYPERLINK") {
            return None;
        }
        let (mut address, mut anchor, mut title) = (None, None, String::new());
        let mut rest = words.into_iter().skip(1);
        while let Some(word) = rest.next() {
            match word.as_str() {
                "\\l" => anchor = rest.next(),
                "\\o" => title = rest.next().unwrap_or_default(),
                "\\t" => _ = rest.next(),
                switch if switch.starts_with('\\') => {}
                _ if address.is_none() => address = Some(word),
                _ => {}
            }
        }
        self.link_to(address.as_deref(), anchor.as_deref(), title)
    }

    /// Returns a link to an address, or nothing if it is not safe or within the document.
    pub fn link_to(
        &mut self,
        address: Option<&str>,
        anchor: Option<&str>,
        title: String,
    ) -> Option<usize> {
        let Some(address) = address.map(str::trim).filter(|address| !address.is_empty()) else {
            self.findings.report.decide("link within the document");
            return None;
        };
        let Some(mut url) = safe_url(address) else {
            self.findings.report.leave_out("link", Some(address));
            return None;
        };
        if let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty())
            && !url.contains('#')
        {
            url.push('#');
            url.push_str(anchor);
        }
        Some(self.findings.link(url, title))
    }

    /// Shows what Word shows of a field that has no stored result.
    fn show_without_result(&mut self, instruction: &str) {
        let words = arguments(instruction);
        let Some(kind) = words.first() else { return };
        match kind.to_ascii_uppercase().as_str() {
            "SYMBOL" => {
                let font = words.iter().position(|word| word.eq_ignore_ascii_case("\\f"));
                let font = font.and_then(|at| words.get(at + 1)).map_or("", String::as_str);
                let code = words.get(1).and_then(|code| match code.strip_prefix("0x") {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => code.parse().ok(),
                });
                match code.and_then(|code| symbols::character(font, code)) {
                    Some(c) => self.push(Content::Text(c.to_string()), Look::default()),
                    None => self.findings.report.leave_out("symbol", Some(instruction)),
                }
            }
            // They show nothing where they stand.
            "ADVANCE" | "ASK" | "FORMCHECKBOX" | "FORMDROPDOWN" | "FORMTEXT" | "PRINT"
            | "PRIVATE" | "RD" | "SET" | "TA" | "TC" | "XE" => {}
            _ => self.findings.report.leave_out("field without a result", Some(instruction)),
        }
    }
}

/// Returns the words of an instruction; quoted ones are one word.
fn arguments(instruction: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut signs = instruction.trim().chars().peekable();
    while let Some(first) = signs.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut word = String::new();
        if matches!(first, '"' | '“' | '”') {
            while let Some(c) = signs.next() {
                match c {
                    '"' | '“' | '”' => break,
                    '\\' => word.extend(signs.next()),
                    c => word.push(c),
                }
            }
        } else {
            word.push(first);
            while let Some(c) = signs.next_if(|c| !c.is_whitespace() && *c != '"') {
                word.push(c);
            }
        }
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn quoted_words_of_an_instruction_are_one_argument() {
        assert_eq!(
            arguments(r#" HYPERLINK "https://a.example/b c" \o "a \"tip\"" "#),
            ["HYPERLINK", "https://a.example/b c", "\\o", "a \"tip\""]
        );
        assert_eq!(arguments(r#"HYPERLINK "C:\\dir\\a.txt""#), ["HYPERLINK", r"C:\dir\a.txt"]);
        assert_eq!(arguments("REF _Ref1 \\h"), ["REF", "_Ref1", "\\h"]);
        assert_eq!(arguments("  "), Vec::<String>::new());
    }
}
