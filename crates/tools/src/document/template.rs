//! Replacement text of a match: words, and groups of the match among them.
//!
//! The `regex` crate treats a group that a pattern does not have as an empty one. Then `$1ur` and
//! `$50` would silently remove words. So every group that a replacement names is looked up first.

/// Parsed replacement text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacementTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Words(String),
    /// Group by its number; 0 is the whole match.
    Group(usize),
}

impl ReplacementTemplate {
    /// Returns a template of words without groups.
    pub fn plain(words: &str) -> Self {
        Self(vec![TemplatePiece::Words(words.to_owned())])
    }

    /// Parses a replacement. `$1`, `${1}`, `$name`, `${name}` and `\1` to `\9` are groups, `$$` is
    /// a dollar sign. `groups` are the names of the pattern's groups in order, `None` for a group
    /// without a name; the first is the whole match.
    pub fn read(template: &str, groups: &[Option<&str>]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find(['$', '\\']) {
            push(&mut pieces, &rest[..at]);
            rest = &rest[at..];
            let (len, name) = reference(rest);
            match name {
                Some("$") => push(&mut pieces, "$"),
                Some(name) => pieces.push(TemplatePiece::Group(group(name, &rest[..len], groups)?)),
                None => push(&mut pieces, &rest[..len]),
            }
            rest = &rest[len..];
        }
        push(&mut pieces, rest);
        Ok(Self(pieces))
    }

    /// Returns the replacement for one match. `group` returns the words of a group, if it took part
    /// in the match.
    pub fn fill<'m>(&self, group: impl Fn(usize) -> Option<&'m str>) -> String {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Words(words) => filled.push_str(words),
                TemplatePiece::Group(number) => filled.push_str(group(*number).unwrap_or_default()),
            }
        }
        filled
    }
}

/// Returns the length in bytes of the reference at the beginning of `text`, and the group it names:
/// `$` for a dollar sign, `None` if the characters stand for themselves.
///
/// Syntax that names a group only in other tools (`$&`, `$<name>`, `\g<name>`, `\0`) counts as a
/// reference to a group that does not exist: it is not meant literally.
fn reference(text: &str) -> (usize, Option<&str>) {
    let after = &text[1..];
    if text.starts_with('\\') {
        if let Some(len) = after.strip_prefix('g').and_then(bracketed) {
            return (2 + len, Some(&after[..=len]));
        }
        return match after.chars().next() {
            Some('1'..='9') => (2, Some(&after[..1])),
            Some('0') => (2, Some(&text[..2])),
            _ => (1, None),
        };
    }
    if after.starts_with('$') {
        return (2, Some("$"));
    }
    if after.starts_with('&') {
        return (2, Some("&"));
    }
    if let Some(len) = bracketed(after) {
        return (1 + len, Some(&after[..len]));
    }
    if let Some(inner) = after.strip_prefix('{')
        && let Some(end) = inner.find('}')
    {
        return (end + 3, Some(&inner[..end]));
    }
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    if end == 0 { (1, None) } else { (1 + end, Some(&after[..end])) }
}

fn bracketed(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    (end > 0 && inner[end..].starts_with('>')).then_some(end + 2)
}

fn group(name: &str, written: &str, groups: &[Option<&str>]) -> Result<usize, String> {
    let known = match name.parse::<usize>() {
        Ok(number) => Some(number).filter(|number| *number < groups.len()),
        Err(_) => groups.iter().position(|known| *known == Some(name)),
    };
    known.ok_or_else(|| {
        let named: Vec<&str> = groups.iter().copied().flatten().collect();
        let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
        format!(
            "`{written}` in `replace` names a group that `find` does not have; it has {}{named}. Write ${{1}} where letters or \
             digits follow a group, $0 for the whole match, and $$ for a dollar sign",
            groups.len().saturating_sub(1)
        )
    })
}

fn push(pieces: &mut Vec<TemplatePiece>, words: &str) {
    match pieces.last_mut() {
        _ if words.is_empty() => {}
        Some(TemplatePiece::Words(before)) => before.push_str(words),
        _ => pieces.push(TemplatePiece::Words(words.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a template with groups named nothing, `host` and nothing, which matched `M` (all),
    /// `A`, `B`, and nothing.
    fn filled(template: &str) -> Result<String, String> {
        let groups = [None, None, Some("host"), None];
        let template = ReplacementTemplate::read(template, &groups)?;
        Ok(template.fill(|number| ["M", "A", "B"].get(number).copied()))
    }

    #[test]
    fn groups_stand_where_they_are_named() {
        let cases = [
            ("$1-${2}-$host-${host}-$0", "A-B-B-B-M"),
            (r"\2\1", "BA"),
            (r"\2nd", "Bnd"),
            ("${1}ur", "Aur"),
            ("$1 ur", "A ur"),
            ("$3|", "|"),
            ("$$1 and $$$1", "$1 and $A"),
            ("5 $ for $-", "5 $ for $-"),
            (r"\textbf{$1} \\ \n \g", r"\textbf{A} \\ \n \g"),
            ("$$& $< $<b $<a b>", "$& $< $<b $<a b>"),
            ("${1", "${1"),
            ("", ""),
        ];
        for (template, expected) in cases {
            assert_eq!(filled(template).as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn a_group_that_is_not_there_is_never_taken_for_an_empty_one() {
        for (template, written) in [
            ("colo$1ur", "`$1ur`"),
            ("$1USD", "`$1USD`"),
            ("$50", "`$50`"),
            ("$4", "`$4`"),
            (r"\4", r"`\4`"),
            ("${}", "`${}`"),
            ("${1 }", "`${1 }`"),
            ("[$&]", "`$&`"),
            ("$<host>", "`$<host>`"),
            (r"\g<host>", r"`\g<host>`"),
            (r"\g<1>", r"`\g<1>`"),
            (r"\0", r"`\0`"),
            ("$99999999999999999999", "`$99999999999999999999`"),
        ] {
            let refused = filled(template).unwrap_err();
            assert!(refused.starts_with(written), "{template}: {refused}");
            assert!(
                refused.contains("it has 3 (host)")
                    && refused.contains("${1}")
                    && refused.contains("$$")
            );
        }
    }

    #[test]
    fn plain_words_mean_themselves() {
        assert_eq!(ReplacementTemplate::plain(r"$1 \1").fill(|_| None), r"$1 \1");
    }
}
