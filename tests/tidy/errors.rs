//! The section `# Errors` of every public function of the operations that can fail.

use std::collections::BTreeSet;

use super::{File, is_comment, settle, sources};

/// Heading of the section, as rustdoc and editors show it.
const HEADING: &str = "/// # Errors";

/// Public function, as far as this rule looks at it.
struct PublicFn<'f> {
    /// Number of its line, from 1.
    line: usize,
    /// Comments and attributes above it.
    above: Vec<&'f str>,
    /// Text of the declaration, in one line.
    declaration: String,
}

#[test]
fn functions_that_can_fail_say_how() {
    let sources = sources();
    let results = result_types(&sources);
    let mut complaints = Vec::new();
    for file in sources.iter().filter(|file| is_in_operations(file)) {
        for found in public_fns(file) {
            let can_fail = found.returned_type().is_some_and(|name| results.contains(name));
            if can_fail && !found.is_for_tests() && !found.above.contains(&HEADING) {
                complaints.push(format!("{}:{}", file.path, found.line));
            }
        }
    }
    settle(
        "A `pub fn` of an operation that returns a Result has a section `# Errors` that says which error comes when:",
        &complaints,
    );
}

/// Returns `true` for what transports call: they decide by its errors. Elsewhere the type of an
/// error says what can go wrong.
fn is_in_operations(file: &File) -> bool {
    ["api/", "operation_table/", "operations/"].iter().any(|of| file.place.starts_with(of))
}

/// Returns `Result` and the names of its aliases, also of aliases of aliases.
fn result_types(sources: &[File]) -> BTreeSet<&str> {
    let aliases: Vec<(&str, &str)> =
        sources.iter().flat_map(File::code).filter_map(alias).collect();
    let mut results = BTreeSet::from(["Result"]);
    loop {
        let known = results.len();
        let more = aliases.iter().filter(|(_, target)| results.contains(target));
        let more: Vec<&str> = more.map(|(name, _)| *name).collect();
        results.extend(more);
        if results.len() == known {
            return results;
        }
    }
}

/// Returns the name and the target of the alias that a line of code defines.
fn alias(line: &str) -> Option<(&str, &str)> {
    let (declared, target) = line.split_once(" = ")?;
    let (_, name) = declared.split_once("type ")?;
    Some((name.split('<').next()?, type_name(target)?))
}

/// Returns the last name of the path that a type begins with.
fn type_name(text: &str) -> Option<&str> {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let path = text.split(|c: char| !is_of_path(c)).next()?;
    path.rsplit("::").next()
}

fn public_fns(file: &File) -> Vec<PublicFn<'_>> {
    let lines: Vec<&str> = file.text.lines().take(file.code().count()).map(str::trim).collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| is_public_fn(line));
    let read = |(index, _): (usize, _)| {
        let mut rest = lines[index..].iter();
        let length = rest.position(|line| line.ends_with(['{', '}', ';'])).unwrap_or(0);
        let above = lines[..index].iter().rev().copied();
        PublicFn {
            line: index + 1,
            above: above.take_while(|line| belongs_to_next(line)).collect(),
            declaration: lines[index..=index + length].join(" "),
        }
    };
    starts.map(read).collect()
}

fn is_public_fn(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("pub ") else { return false };
    let mut words = rest.split(' ').skip_while(|word| ["async", "const", "unsafe"].contains(word));
    words.next() == Some("fn")
}

/// Returns `true` if a line may be a comment or a part of an attribute of what follows.
fn belongs_to_next(line: &str) -> bool {
    is_comment(line) || !(line.is_empty() || line.ends_with(['{', '}', ';']))
}

impl PublicFn<'_> {
    fn is_for_tests(&self) -> bool {
        self.above.contains(&"#[cfg(test)]")
    }

    /// Returns the name of the type that the function returns.
    fn returned_type(&self) -> Option<&str> {
        let mut depth = 0;
        let mut before = ' ';
        for (at, char) in self.declaration.char_indices() {
            match char {
                '(' | '[' | '<' => depth += 1,
                '>' if before == '-' && depth == 0 => {
                    return type_name(self.declaration[at + 1..].trim_start());
                }
                ')' | ']' => depth -= 1,
                '>' if before != '-' => depth -= 1,
                _ => {}
            }
            before = char;
        }
        None
    }
}
