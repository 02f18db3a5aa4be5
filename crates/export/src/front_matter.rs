//! Front matter: a few lines of YAML between `---` at the beginning of a text, which say title,
//! author and more.
//!
//! Of YAML only what front matter is made of is read: keys with a word, a quoted text, a list or
//! indented lines. What is nested deeper stays as it was written.

/// Longest front matter, in bytes; what is longer is text.
const LONGEST: usize = 64 * 1024;

/// Fields at the beginning of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Names and values, in their order. The values of a list are separated by commas.
    pub fields: Vec<(String, String)>,
    /// Length with both lines of hyphens, in bytes; the text begins behind it.
    pub len: usize,
}

impl FrontMatter {
    /// Reads the front matter of a text; it is empty if there is none.
    pub fn of(source: &str) -> Self {
        Self::read(source).unwrap_or_default()
    }

    /// Returns the value of the first of these fields that there is.
    pub fn get(&self, names: &[&str]) -> Option<&str> {
        let value = |name: &&str| {
            let field = self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
            field.map(|(_, value)| value.as_str())
        };
        names.iter().find_map(value).filter(|value| !value.is_empty())
    }

    fn read(source: &str) -> Option<Self> {
        let mut lines = source.split_inclusive('\n');
        let first = lines.next().filter(|line| line.trim_end() == "---")?;
        let mut len = first.len();
        let mut found = Self::default();
        for line in lines {
            len += line.len();
            if len > LONGEST {
                return None;
            }
            let line = line.trim_end();
            if matches!(line, "---" | "...") {
                let is_empty = found.fields.is_empty();
                found.fields.iter_mut().for_each(|(_, value)| *value = scalar(value));
                return (!is_empty).then_some(Self { len, ..found });
            }
            found.line(line)?;
        }
        None
    }

    /// Takes one line; `None` if it is no line of front matter.
    fn line(&mut self, line: &str) -> Option<()> {
        if line.trim_start().is_empty() || line.starts_with('#') {
            return Some(());
        }
        if line.starts_with([' ', '\t', '-', ']', '}']) {
            let (_, value) = self.fields.last_mut()?;
            append(value, line.trim());
            return Some(());
        }
        let (name, value) = line.split_once(':')?;
        let is_name = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        let is_field = name.chars().all(is_name) && (value.is_empty() || value.starts_with(' '));
        let value = value.trim();
        // Signs for indented lines that follow.
        let value = if matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+") { "" } else { value };
        is_field.then(|| self.fields.push((name.trim().to_owned(), value.to_owned())))
    }
}

/// Appends an indented line to a value; the entries of a list become one line.
fn append(value: &mut String, line: &str) {
    let entry = line.strip_prefix("- ");
    if !value.is_empty() {
        value.push_str(if entry.is_some() { ", " } else { " " });
    }
    match entry {
        Some(entry) => value.push_str(&unquoted(entry.trim())),
        None => value.push_str(line),
    }
}

/// Returns a value without quotation marks, brackets of a list, and a comment at its end.
fn scalar(value: &str) -> String {
    if let Some(list) = value.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        let entries: Vec<String> = list.split(',').map(|entry| unquoted(entry.trim())).collect();
        return entries.join(", ");
    }
    unquoted(value)
}

fn unquoted(value: &str) -> String {
    let within = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    if let Some(text) = within('"') {
        return text.replace("\\\"", "\"").replace("\\\\", "\\");
    }
    if let Some(text) = within('\'') {
        return text.replace("''", "'");
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(source: &str) -> Vec<(String, String)> {
        FrontMatter::of(source).fields
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn fields_of_every_usual_form_are_read() {
        let source = "---\ntitle: \"The \\\"Ledger\\\": a tale\"\nauthor: 'Ana''s'\ntags: [oil, \"wicks\"]\n\
            keywords:\n  - sea\n  - 'fog'\nabstract: >\n  Two\n  lines.\ndate: 2026-11-28 # today\n\n# note\n---\nText.\n";
        assert_eq!(
            fields(source),
            [
                pair("title", "The \"Ledger\": a tale"),
                pair("author", "Ana's"),
                pair("tags", "oil, wicks"),
                pair("keywords", "sea, fog"),
                pair("abstract", "Two lines."),
                pair("date", "2026-11-28"),
            ]
        );
        let found = FrontMatter::of(source);
        assert_eq!(&source[found.len..], "Text.\n");
        assert_eq!(found.get(&["authors", "Author"]), Some("Ana's"));
    }

    #[test]
    fn what_is_no_front_matter_stays_text() {
        for source in [
            "",
            "---\n",
            "---\n---\nText\n",
            "---\nDear all, come.\n---\n",
            "---\nkey: a\nand prose\n---\n",
            "---\ntitle: never closed\n",
            "Text\n\n---\ntitle: x\n---\n",
            " ---\ntitle: x\n---\n",
            "---\nhttp://a.example/\n---\n",
        ] {
            assert_eq!(FrontMatter::of(source), FrontMatter::default(), "{source:?}");
        }
        let long = format!("---\ntitle: {}\n---\n", "x".repeat(LONGEST));
        assert_eq!(FrontMatter::of(&long), FrontMatter::default());
    }

    #[test]
    fn every_end_of_line_and_of_the_block_counts() {
        assert_eq!(FrontMatter::of("---\r\ntitle: a\r\n...\r\nb").len, 20);
        assert_eq!(FrontMatter::of("---  \ntitle: a\n---").len, 18);
    }
}
